//! Task instances: where the time went, in shares, and whose share was decisive.

use super::occupancy::{Occupant, Stretch};
use super::{Cause, Context, Door, Miss, Root, Stage, Subject, timeline};
use crate::format::plural;
use crate::record::{EventKind, InstanceRecord, Outcome, ThreadKind};
use leveret_types::Nanos;

/// Longest chain of waits that is followed; beyond it a wait is ours.
const CHAIN_MAX: u32 = 64;
/// A thread ranked below us that holds the core longer than this while we wait is not in a section of the kernel but has
/// been given the core (the fair server's runtime is 50 ms).
const SECTION_MAX: Nanos = Nanos::from_millis(25);
/// Lateness below this is the grain of the stamps.
const GRAIN: Nanos = Nanos(100);

/// A part of the delay of an instance.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub stage: Stage,
    pub cause: Cause,
    pub door: Door,
    pub amount: Nanos,
    pub sentence: String,
    pub root: Option<Root>,
}

/// The decisive share of a delay and the evidence of all of them.
pub(super) struct Decision {
    pub stage: Stage,
    pub cause: Cause,
    pub door: Door,
    pub root: Option<Root>,
    pub evidence: Vec<String>,
}

impl Decision {
    /// The cause at the end of the chain.
    pub fn root_cause(&self) -> Cause {
        self.root.as_ref().map_or(self.cause, |root| root.cause)
    }
}

/// Every task instance that did not keep its window.
pub(super) fn misses(context: &Context<'_>) -> Vec<Miss> {
    let mut misses = Vec::new();
    for (task, record) in context.phase().tasks.iter().enumerate() {
        for (place, instance) in record.instances.iter().enumerate() {
            if !missed(instance) {
                continue;
            }
            let skipped = is_skipped(instance);
            let late_by = (!skipped).then(|| instance.ended - instance.deadline);
            let decision = decide(shares(context, task, place, 0), late_by);
            context.remember(task, place, Some((decision.root_cause(), decision.door)));
            misses.push(Miss {
                phase: context.phase_number,
                subject: Subject::Task(task),
                name: context.index.task_name(task),
                instance: instance.instance,
                deadline: instance.deadline,
                late_by,
                stage: decision.stage,
                cause: decision.cause,
                door: decision.door,
                root: decision.root,
                evidence: decision.evidence,
                timeline: timeline::of_task(context, task, place),
            });
        }
    }
    misses
}

/// Whether an instance did not keep its window.
pub(super) fn missed(instance: &InstanceRecord) -> bool {
    is_skipped(instance) || instance.ended > instance.deadline
}

/// Whether an instance never ran.
pub(super) fn is_skipped(instance: &InstanceRecord) -> bool {
    matches!(instance.outcome, Outcome::SkippedCritical | Outcome::SkippedOverrun)
}

/// Applies the rule of the two doors (see [`super`]).
pub(super) fn decide(shares: Vec<Share>, late_by: Option<Nanos>) -> Decision {
    let sum = |door: Door| {
        let of_door = shares.iter().filter(|share| share.door == door);
        of_door.fold(Nanos::ZERO, |sum, share| sum + share.amount)
    };
    let (ours, machine) = (sum(Door::Ours), sum(Door::Machine));
    let door = match late_by {
        _ if machine <= Nanos::ZERO => Door::Ours,
        _ if ours <= Nanos::ZERO => Door::Machine,
        Some(late) if late > machine => Door::Ours,
        Some(late) if late > ours => Door::Machine,
        _ if machine > ours => Door::Machine,
        _ => Door::Ours,
    };
    let mut shares = shares;
    shares.sort_by_key(|share| (share.door != door, std::cmp::Reverse(share.amount)));
    let greatest = shares.iter().map(|share| share.amount.0).max().unwrap_or(0);
    let tells = |share: &&Share| share.amount.0 > greatest / 100 && share.amount > Nanos::ZERO;
    let mut evidence: Vec<String> = shares.iter().filter(tells).map(|share| share.sentence.clone()).collect();
    let Some(main) = shares.into_iter().next() else {
        let sentence =
            "no stage took longer than planned, yet the window was not kept: the plan left too little room";
        return Decision {
            stage: Stage::Execution,
            cause: Cause::PlanOrRuntime,
            door: Door::Ours,
            root: None,
            evidence: vec![sentence.to_owned()],
        };
    };
    if ours > Nanos::ZERO && machine > Nanos::ZERO {
        evidence.push(format!(
            "of the delay {machine} lie with the machine and {ours} with us: the verdict is {door}"
        ));
    }
    Decision { stage: main.stage, cause: main.cause, door, root: main.root, evidence }
}

/// What is examined: one instance, its thread and its core.
struct Case<'a> {
    context: &'a Context<'a>,
    task: usize,
    place: usize,
    record: &'a InstanceRecord,
    core: u32,
    thread: u32,
    priority: u8,
    depth: u32,
}

/// The delay of an instance against its plan, cut into shares.
pub(super) fn shares(context: &Context<'_>, task: usize, place: usize, depth: u32) -> Vec<Share> {
    let Some(tasks) = context.phase().tasks.get(task) else { return Vec::new() };
    let Some(record) = tasks.instances.get(place) else { return Vec::new() };
    let core = context.index.core(task).unwrap_or(u32::MAX);
    let case =
        Case { context, task, place, record, core, thread: tasks.thread, priority: tasks.priority, depth };
    let mut shares = Vec::new();
    if case.outside_cause(&mut shares) {
        return shares;
    }
    case.wake(&mut shares);
    case.start(&mut shares);
    case.execution(&mut shares);
    case.plan(&mut shares);
    shares
}

impl Case<'_> {
    /// When the planned sleep should have ended.
    fn wake_due(&self) -> Nanos {
        self.record.planned - self.context.phase().plan.costs.guard
    }

    /// Everything by which this instance exceeded its plan.
    fn total_delay(&self) -> Nanos {
        let last = self.record.ended.max(self.record.started).max(self.record.woken);
        let budget = if is_skipped(self.record) { Nanos::ZERO } else { self.context.index.budget(self.task) };
        (last - self.record.planned - budget).max(Nanos(1))
    }

    fn share(&self, stage: Stage, cause: Cause, door: Door, amount: Nanos, sentence: String) -> Share {
        Share { stage, cause, door, amount: amount.max(Nanos(1)), sentence, root: None }
    }

    /// Clock steps and stopped members explain the whole instance; `true` when one was found.
    fn outside_cause(&self, shares: &mut Vec<Share>) -> bool {
        let (from, to) = (self.wake_due(), self.record.ended.max(self.record.woken));
        let mut stopped_at = None;
        let member = self.context.index.member(self.task);
        for event in &self.context.phase().events {
            match event.kind {
                EventKind::ClockStepped { by } => {
                    let reach = Nanos(by.0.saturating_abs());
                    if event.at >= from - reach && event.at <= to {
                        let sentence =
                            format!("the clock moved by {by} at {} without time passing", event.at);
                        let amount = self.total_delay();
                        shares.push(self.share(Stage::Wake, Cause::ClockStep, Door::Ours, amount, sentence));
                        return true;
                    }
                }
                EventKind::MemberStopped { member: rank } if Some(rank) == member && event.at <= to => {
                    stopped_at = Some(event.at);
                }
                EventKind::MemberContinued { member: rank } if Some(rank) == member && event.at < from => {
                    stopped_at = None;
                }
                _ => {}
            }
        }
        let (Some(at), Some(rank)) = (stopped_at, member) else { return false };
        let name = self.context.index.member_name(rank);
        let sentence = format!(
            "member {name} was stopped by a signal at {at} and had not gone on when this instance was due"
        );
        let stage = if at > self.record.started { Stage::Execution } else { Stage::Wake };
        shares.push(self.share(stage, Cause::StoppedMember, Door::Ours, self.total_delay(), sentence));
        true
    }

    fn wake(&self, shares: &mut Vec<Share>) {
        let late = self.record.woken - self.record.planned;
        let skipped = self.record.outcome == Outcome::SkippedOverrun;
        if late <= GRAIN && !skipped {
            return;
        }
        let amount = late.max(Nanos(1));
        let due = self.wake_due();
        let before = self.place.checked_sub(1).and_then(|place| {
            let instances = &self.context.phase().tasks.get(self.task)?.instances;
            instances.get(place).map(|record| (place, record))
        });
        if let Some((place, previous)) = before
            && (previous.ended > due || skipped)
            && let Some(root) = self.decide_other(self.task, place)
        {
            shares.push(self.after_previous(root, previous, amount));
            return;
        }
        if skipped {
            let sentence = "the instance before it overran (it was not recorded)".to_owned();
            shares.push(self.share(Stage::Wake, Cause::Overrun, Door::Ours, amount, sentence));
            return;
        }
        let stretches = self.context.log.stretches(self.core, self.thread, due, self.record.woken);
        let whole = (self.record.woken - due).0.max(1);
        for stretch in stretches {
            let part = i128::from(stretch.length().0) * i128::from(amount.0) / i128::from(whole);
            let part = Nanos(i64::try_from(part).unwrap_or(i64::MAX));
            shares.push(self.waiting(&stretch, part, late));
        }
    }

    /// The instance before had not ended: its root is ours to name.
    fn after_previous(&self, root: (Cause, Door), previous: &InstanceRecord, amount: Nanos) -> Share {
        let (cause, door) = root;
        let name = self.context.index.task_name(self.task);
        let sentence = format!(
            "instance {} of {name} ended at {}, this one's wake-up was due at {}; its delay: {cause}",
            previous.instance,
            previous.ended,
            self.wake_due(),
        );
        let root = Root { task: self.task, name, instance: previous.instance, cause, door };
        let share = self.share(Stage::Wake, Cause::PreviousInstance, door, amount, sentence);
        Share { root: Some(root), ..share }
    }

    /// Cause and door of another instance's delay; `None` when it kept its plan or the chain is too long.
    fn decide_other(&self, task: usize, place: usize) -> Option<(Cause, Door)> {
        decide_instance(self.context, task, place, self.depth + 1)
    }

    /// Who had the core while we should have been woken.
    fn waiting(&self, stretch: &Stretch, amount: Nanos, late: Nanos) -> Share {
        let who = stretch.who.describe();
        let head = format!(
            "woken {late} after the planned start; {who} had core {} for {} of the wait{}",
            self.core,
            stretch.length(),
            self.coarse()
        );
        match stretch.who.kind {
            ThreadKind::Idle => {
                let sentence = format!("{head}: nobody else wanted it, so the timer's interrupt came late");
                self.share(Stage::Wake, Cause::LateTimer, Door::Machine, amount, sentence)
            }
            ThreadKind::Task(task) if usize::from(task) == self.task => {
                self.on_core(Stage::Wake, stretch.from, stretch.to, amount)
            }
            _ if self.first_in_line(&stretch.who, stretch.length()) => {
                let sentence = format!(
                    "{head}: it ranks below us ({}), so only an interrupt or the kernel held us up",
                    self.rank()
                );
                self.share(Stage::Wake, Cause::KernelSection, Door::Machine, amount, sentence)
            }
            _ => self.run_queue(Stage::Wake, stretch, amount, head),
        }
    }

    /// Whether we come before `who` on the run queue.
    fn first_in_line(&self, who: &Occupant, length: Nanos) -> bool {
        let scheduling = &self.context.record.machine.scheduling;
        let real_time = scheduling.starts_with("SCHED_FIFO") || scheduling.starts_with("SCHED_DEADLINE");
        match who.kind {
            ThreadKind::Kernel => real_time,
            ThreadKind::Foreign { priority } => {
                real_time && length <= SECTION_MAX && (priority == 0 || self.priority > priority)
            }
            // It ended before it could be asked. Where no thread that goes before us was seen, it was ordinary too.
            ThreadKind::Unknown => {
                real_time
                    && who.thread.is_some()
                    && length <= SECTION_MAX
                    && self.priority > self.context.log.foreign_priority_max
            }
            _ => false,
        }
    }

    fn rank(&self) -> String {
        let scheduling = &self.context.record.machine.scheduling;
        if self.priority == 0 { scheduling.clone() } else { format!("{scheduling} {}", self.priority) }
    }

    fn coarse(&self) -> &'static str {
        if self.context.log.whole_core { "" } else { " (coarse: only our own threads could be watched)" }
    }

    /// A wait behind a thread that may go before us; a task of the job passes its own delay's door on.
    fn run_queue(&self, stage: Stage, stretch: &Stretch, amount: Nanos, head: String) -> Share {
        let ThreadKind::Task(other) = stretch.who.kind else {
            let why = match stretch.who.kind {
                ThreadKind::Unknown => "who ran could not be proven, so it counts as ours",
                ThreadKind::Foreign { priority: 0 } => {
                    "the scheduler let it run, by its fair server or because we are ordinary too"
                }
                _ => "it goes before us",
            };
            let sentence = format!("run-queue wait behind {}: {head}; {why}", stretch.who.describe());
            return self.share(stage, Cause::RunQueueWait, Door::Ours, amount, sentence);
        };
        let other = usize::from(other);
        let found = self.context.index.running_at(other, stretch.to);
        let name = self.context.index.task_name(other);
        if let Some((_, record)) = self.context.index.running_at(other, stretch.from)
            && record.ended <= stretch.from
            && self.context.index.idle_until(other, record.instance)
                >= stretch.from + Nanos(stretch.length().0 / 2)
        {
            let sentence = format!(
                "{head}: its instance {} had ended at {}, and it was on its way to sleep, so only an interrupt, the kernel \
                 or a stall of the core held it there",
                record.instance, record.ended
            );
            return self.share(stage, Cause::KernelSection, Door::Machine, amount, sentence);
        }
        let chained = found.and_then(|(place, record)| Some((self.decide_other(other, place)?, record)));
        match chained {
            Some(((cause, door), record)) => {
                let sentence = format!(
                    "run-queue wait behind the job's own {name}, instance {}, which was itself off its plan by: {cause}; {head}",
                    record.instance
                );
                let root = Root { task: other, name, instance: record.instance, cause, door };
                Share { root: Some(root), ..self.share(stage, Cause::RunQueueWait, door, amount, sentence) }
            }
            None => {
                let sentence =
                    format!("run-queue wait behind the job's own {name}, which kept its plan: {head}");
                self.share(stage, Cause::RunQueueWait, Door::Ours, amount, sentence)
            }
        }
    }

    /// Between wake-up and body.
    fn start(&self, shares: &mut Vec<Share>) {
        let ready = self.record.woken.max(self.record.planned);
        let gap_end = self.record.gap_at + self.record.gap;
        let by_gap = self.record.gap > GRAIN && gap_end > ready && self.record.woken <= gap_end;
        let late = if is_skipped(self.record) {
            if by_gap { gap_end - ready } else { Nanos::ZERO }
        } else {
            self.record.started - ready
        };
        if late <= GRAIN {
            return;
        }
        let (from, to) = if by_gap && self.record.gap >= Nanos(late.0 / 2) {
            (self.record.gap_at, gap_end)
        } else {
            (ready, self.record.started)
        };
        self.split(Stage::Start, from, to, late, shares);
    }

    /// The body.
    fn execution(&self, shares: &mut Vec<Share>) {
        let wall = self.record.ended - self.record.started;
        let excess = wall - self.context.index.budget(self.task);
        if excess <= Nanos::ZERO || is_skipped(self.record) {
            return;
        }
        self.split(Stage::Execution, self.record.started, self.record.ended, excess, shares);
    }

    /// Cuts `amount` of delay within `[from, to]` into time off the core, by who had it, and time on it.
    fn split(&self, stage: Stage, from: Nanos, to: Nanos, amount: Nanos, shares: &mut Vec<Share>) {
        let stretches = self.context.log.stretches(self.core, self.thread, from, to);
        let mut left = amount;
        let mut blocked = false;
        let mut known = false;
        for stretch in &stretches {
            let own = stretch.who.thread == Some(self.thread)
                || stretch.who.kind == ThreadKind::Task(u16::try_from(self.task).unwrap_or(u16::MAX));
            if own || (stretch.who.kind == ThreadKind::Unknown && stretch.who.thread.is_none()) {
                (blocked, known) = (false, known || own);
                continue;
            }
            known = true;
            let left_by_itself = stretch.preempted == Some(false) && (stretch.from > from || blocked);
            blocked = blocked || left_by_itself;
            let part = stretch.length().min(left);
            if part > Nanos::ZERO {
                shares.push(self.off_core(stage, stretch, part, blocked));
                left = left - part;
            }
        }
        let off = self.off_by_clock(stage, to - from);
        if left > Nanos::ZERO && off > Nanos::ZERO && left == amount {
            let part = off.min(left);
            shares.push(self.off_by_clock_share(stage, part));
            left = left - part;
        }
        if left > Nanos::ZERO {
            if !known && self.record.switches != 0 {
                shares.push(self.unknown(stage, left));
            } else {
                shares.push(self.on_core(stage, from, to, left));
            }
        }
    }

    /// Time off the core by the thread's own clock, when the log shows none.
    fn off_by_clock(&self, stage: Stage, length: Nanos) -> Nanos {
        let measured = stage == Stage::Execution && self.record.cpu > Nanos::ZERO;
        if measured { (length - self.record.cpu).max(Nanos::ZERO) } else { Nanos::ZERO }
    }

    fn off_by_clock_share(&self, stage: Stage, part: Nanos) -> Share {
        if self.record.switches == 0 {
            let sentence = format!(
                "{part} of the body were not charged to the thread though it was never switched out: stolen from the core"
            );
            return self.share(stage, Cause::StallInExecution, Door::Machine, part, sentence);
        }
        let sentence = format!(
            "the thread's own clock misses {part} of the body and it was switched in {} times; who ran meanwhile is not \
             in the log{}",
            known_count(self.record.switches),
            self.coarse()
        );
        self.share(stage, Cause::RunQueueWait, Door::Ours, part, sentence)
    }

    fn unknown(&self, stage: Stage, amount: Nanos) -> Share {
        if let Some(fault) = self.faults(self.record.woken, self.record.ended) {
            return self.share(
                stage,
                Cause::PageFault,
                Door::Ours,
                amount,
                format!("{amount} lost, with {fault}"),
            );
        }
        let sentence = format!(
            "{amount} lost and nothing proves that the thread kept core {}: switches {}{}",
            self.core,
            known_count(self.record.switches),
            self.coarse()
        );
        self.share(stage, Cause::Unexplained, Door::Ours, amount, sentence)
    }

    /// Somebody else had the core after we were woken.
    fn off_core(&self, stage: Stage, stretch: &Stretch, part: Nanos, blocked: bool) -> Share {
        let who = stretch.who.describe();
        let head = format!(
            "off core {} for {} from {} while {who} had it{}",
            self.core,
            stretch.length(),
            stretch.from,
            self.coarse()
        );
        if blocked {
            let sentence =
                format!("{head}: the thread went to sleep by itself (a blocking call or a lock in the body)");
            return self.share(stage, Cause::Blocked, Door::Ours, part, sentence);
        }
        match stretch.who.kind {
            ThreadKind::Kernel if self.first_in_line(&stretch.who, part) => {
                let sentence = format!("{head}: a kernel thread took a core on which we were first in line");
                self.share(stage, Cause::KernelSection, Door::Machine, part, sentence)
            }
            ThreadKind::Idle => {
                let sentence =
                    format!("{head}: ready, yet the kernel left the core idle (its limit on real-time time)");
                self.share(stage, Cause::Throttled, Door::Ours, part, sentence)
            }
            _ => self.run_queue(stage, stretch, part, head),
        }
    }

    /// The thread had the core all the time and yet lost `amount` within `[from, to]`.
    fn on_core(&self, stage: Stage, from: Nanos, to: Nanos, amount: Nanos) -> Share {
        if let Some(fault) = self.faults(from, to) {
            let sentence = format!("{amount} lost between {from} and {to} with {fault}");
            return self.share(stage, Cause::PageFault, Door::Ours, amount, sentence);
        }
        if stage != Stage::Execution {
            let sentence = format!(
                "the thread had core {} from {from} to {to} and only read the clock, yet {} passed between two readings; \
                 no switch, no fault{}",
                self.core,
                to - from,
                self.coarse()
            );
            return self.share(stage, Cause::StallInSpin, Door::Machine, amount, sentence);
        }
        let body = if self.record.cpu > Nanos::ZERO { self.record.cpu } else { to - from };
        let judgement = self.context.stalls.judge(self.task, self.core, body);
        let budget = self.context.index.budget(self.task);
        let head =
            format!("executed for {} with a budget of {budget}, on the core throughout, no fault", to - from);
        if judgement.machine && judgement.beyond >= amount {
            let sentence = format!("{head}: {}", judgement.sentence);
            return self.share(stage, Cause::StallInExecution, Door::Machine, amount, sentence);
        }
        let policed = self.context.phase().events.iter().any(|event| {
            matches!(event.kind, EventKind::Overrun { task, instance }
                if usize::from(task) == self.task && instance == self.record.instance)
        });
        let policed = if policed { "; its overrun was policed" } else { "" };
        let sentence = format!("{head}: {}{policed}", judgement.sentence);
        self.share(stage, Cause::Overrun, Door::Ours, amount, sentence)
    }

    /// Page faults of this task in `[from, to]`, in words.
    fn faults(&self, from: Nanos, to: Nanos) -> Option<String> {
        let mut within = 0_u64;
        let (mut elsewhere, mut first) = (0_u32, None);
        // The count covers at most the time from the wake-up before to the wake-up after.
        let instances = self.context.phase().tasks.get(self.task).map_or(&[][..], |tasks| &tasks.instances);
        let previous = self.place.checked_sub(1).and_then(|place| instances.get(place));
        let since = previous.map_or(Nanos(i64::MIN), |record| record.woken);
        let until = instances.get(self.place + 1).map_or(Nanos::MAX, |record| record.woken);
        for event in &self.context.phase().events {
            let EventKind::PageFault { task, address } = event.kind else { continue };
            if usize::from(task) != self.task {
                continue;
            }
            if event.at >= from && event.at <= to {
                within += 1;
                first = first.or(Some(address));
            } else if event.at >= since && event.at <= until {
                elsewhere = elsewhere.saturating_add(1);
            }
        }
        if let Some(address) = first {
            return Some(format!(
                "{}, the first at address {address:#x}",
                plural(within, "page fault", "page faults")
            ));
        }
        let counted = if self.record.faults == u32::MAX { 0 } else { self.record.faults };
        let unplaced = counted.saturating_sub(elsewhere);
        (unplaced > 0).then(|| {
            let faults = plural(u64::from(unplaced), "page fault", "page faults");
            format!("{faults} counted about this instance (addresses not logged)")
        })
    }

    /// A plan that ends after the window's end.
    fn plan(&self, shares: &mut Vec<Share>) {
        let beyond = self.record.planned + self.context.index.budget(self.task) - self.record.deadline;
        if beyond > Nanos::ZERO && !is_skipped(self.record) {
            let sentence = format!("the planned start plus the budget lies {beyond} after the window's end");
            shares.push(self.share(Stage::Execution, Cause::PlanOrRuntime, Door::Ours, beyond, sentence));
        }
    }
}

/// Cause (at the end of its chain) and door of an instance's delay; `None` when it kept its plan or the chain is
/// too long to follow.
pub(super) fn decide_instance(
    context: &Context<'_>,
    task: usize,
    place: usize,
    depth: u32,
) -> Option<(Cause, Door)> {
    if let Some(known) = context.recall(task, place) {
        return known;
    }
    if depth >= CHAIN_MAX {
        return None;
    }
    context.remember(task, place, None);
    let shares = shares(context, task, place, depth);
    let decided = (!shares.is_empty()).then(|| decide(shares, None)).map(|d| (d.root_cause(), d.door));
    context.remember(task, place, decided);
    decided
}

fn known_count(count: u32) -> String {
    if count == u32::MAX { "unknown".to_owned() } else { count.to_string() }
}
