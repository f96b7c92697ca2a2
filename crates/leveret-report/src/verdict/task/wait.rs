//! Before the wake-up: who had the core while the instance should have been woken, or took it from a body.

use super::{Case, GRAIN, Share, decide_instance};
use crate::record::{InstanceRecord, Outcome, ThreadKind};
use crate::verdict::occupancy::Stretch;
use crate::verdict::{Blame, Cause, Root, Stage};
use leveret_types::Nanos;

/// A thread ranked below us that holds the core longer than this while we wait is not in a section of the kernel but has
/// been given the core (the fair server's runtime is 50 ms).
const SECTION_MAX: Nanos = Nanos::from_millis(25);

impl Case<'_> {
    pub(super) fn wake(&self, shares: &mut Vec<Share>) {
        let late = self.record.woken - self.record.planned;
        let skipped = self.record.outcome == Outcome::SkippedOverrun;
        if late <= GRAIN && !skipped {
            return;
        }
        let amount = late.max(Nanos(1));
        let due = self.wake_due();
        let previous = self.place.checked_sub(1).and_then(|place| {
            let instances = &self.context.phase().tasks.get(self.task)?.instances;
            instances.get(place).map(|record| (place, record))
        });
        if let Some((place, previous)) = previous
            && previous.ended > due
            && let Some(root) = self.decide_other(self.task, place)
        {
            shares.push(self.after_previous(root, previous, amount));
            return;
        }
        if skipped && previous.is_none() {
            let sentence = "the instance before it overran (it was not recorded)".to_owned();
            shares.push(self.share(Stage::Wake, Cause::Overrun, Blame::job(), amount, sentence));
            return;
        }
        let stretches = self.context.log.stretches(self.core, self.thread, due, self.record.woken);
        let whole = (self.record.woken - due).0.max(1);
        let mut before: Option<Share> = None;
        for stretch in stretches.iter().flat_map(|stretch| self.by_instance(stretch)) {
            let part = i128::from(stretch.length().0) * i128::from(amount.0) / i128::from(whole);
            let part = Nanos(i64::try_from(part).unwrap_or(i64::MAX));
            let share = self.waiting(&stretch, part, late, before.as_ref());
            before = Some(share.clone());
            shares.push(share);
        }
    }

    /// Cuts the time that another task of the job had without a pause at the wake-ups of its instances: one may have
    /// been off its plan, and the next, which then began at once, not.
    fn by_instance(&self, stretch: &Stretch) -> Vec<Stretch> {
        let mut parts = vec![stretch.clone()];
        let ThreadKind::Task(other) = stretch.who.kind else { return parts };
        let other = usize::from(other);
        if other == self.task {
            return parts;
        }
        let instances = self.context.phase().tasks.get(other).map_or(&[][..], |record| &record.instances);
        let first = instances.partition_point(|record| record.woken <= stretch.from);
        for (place, record) in instances.iter().enumerate().skip(first) {
            if record.woken >= stretch.to {
                break;
            }
            // One that was over before the thread came was long asleep: the way out of its sleep is the next one's.
            let began_at_once =
                place.checked_sub(1).is_some_and(|place| instances[place].ended > stretch.from);
            if began_at_once && let Some(open) = parts.last_mut() {
                let rest = Stretch { from: record.woken, ..open.clone() };
                (open.to, open.gave_way_to) = (record.woken, None);
                parts.push(rest);
            }
        }
        parts
    }

    /// The instance before had not ended: its root is this one's too.
    fn after_previous(&self, root: (Cause, Blame), previous: &InstanceRecord, amount: Nanos) -> Share {
        let (cause, blame) = root;
        let name = self.context.index.task_name(self.task);
        let sentence = format!(
            "instance {} of {name} ended at {}, this one's wake-up was due at {}; its delay: {cause}",
            previous.instance,
            previous.ended,
            self.wake_due(),
        );
        let root = Root { task: self.task, name, instance: previous.instance, cause, blame: blame.clone() };
        let share = self.share(Stage::Wake, Cause::PreviousInstance, blame, amount, sentence);
        Share { root: Some(root), ..share }
    }

    /// Cause and party of another instance's delay; `None` when it kept its plan or the chain is too long.
    fn decide_other(&self, task: usize, place: usize) -> Option<(Cause, Blame)> {
        decide_instance(self.context, task, place, self.depth + 1)
    }

    /// Who had the core while we should have been woken.
    fn waiting(&self, stretch: &Stretch, amount: Nanos, late: Nanos, before: Option<&Share>) -> Share {
        let who = stretch.who.describe();
        let head = format!(
            "woken {late} after the planned start; {who} had core {} for {} of the wait{}",
            self.core,
            stretch.length(),
            self.coarse()
        );
        match stretch.who.kind {
            ThreadKind::Idle => {
                let seen = if stretch.who.may_be_unseen() { " that can be seen" } else { "" };
                let sentence =
                    format!("{head}: nobody else{seen} wanted it, so the timer's interrupt came late");
                self.share(Stage::Wake, Cause::LateTimer, Blame::machine(), amount, sentence)
            }
            ThreadKind::Task(task) if usize::from(task) == self.task => {
                self.on_core(Stage::Wake, stretch.from, stretch.to, amount)
            }
            _ if self.first_in_line(stretch, self.awake(stretch)) => {
                let sentence = format!(
                    "{head}: it ranks below us ({}), so only an interrupt or the kernel held us up",
                    self.rank()
                );
                self.share(Stage::Wake, Cause::KernelSection, Blame::machine(), amount, sentence)
            }
            _ => self.run_queue(Stage::Wake, stretch, amount, head, before),
        }
    }

    /// Whether we come before whoever had the core for that long.
    pub(super) fn first_in_line(&self, stretch: &Stretch, length: Nanos) -> bool {
        let scheduling = &self.context.record.machine.scheduling;
        let real_time = scheduling.starts_with("SCHED_FIFO") || scheduling.starts_with("SCHED_DEADLINE");
        // It still wanted the core, and the scheduler gave it to us: that is what ranking below us means.
        let gave_way = stretch.gave_way_to == Some(self.thread);
        match stretch.who.kind {
            ThreadKind::Kernel => real_time,
            ThreadKind::Foreign { priority } => {
                real_time && length <= SECTION_MAX && (priority == 0 || self.priority > priority)
            }
            // It ended before it could be asked. Where no thread that goes before us was seen, it was ordinary too.
            ThreadKind::Unknown => {
                let ordinary = self.priority > self.context.log.foreign_priority_max;
                real_time && stretch.who.thread.is_some() && length <= SECTION_MAX && (gave_way || ordinary)
            }
            _ => false,
        }
    }

    /// How long the core can have run with our wake-up due. Before the first timer interrupt that came after it, nobody could
    /// have been chosen instead; and between two that are far apart it stood still, for a core that runs a thread takes a
    /// tick of its clock every few milliseconds. The whole stretch where none was logged.
    fn awake(&self, stretch: &Stretch) -> Nanos {
        let timers = self.context.log.timers(self.core, stretch.from, stretch.to);
        let Some(first) = timers.first() else { return stretch.length() };
        let from = if stretch.from <= self.wake_due() { *first } else { stretch.from };
        let ends = timers.iter().copied().chain([stretch.to]);
        let longest = ends.scan(from, |last, at| Some(at - std::mem::replace(last, at))).max();
        stretch.to - from - longest.unwrap_or(Nanos::ZERO).max(Nanos::ZERO)
    }

    fn rank(&self) -> String {
        let scheduling = &self.context.record.machine.scheduling;
        if self.priority == 0 { scheduling.clone() } else { format!("{scheduling} {}", self.priority) }
    }

    /// A wait behind a thread that is not of the job.
    fn behind_foreign(&self, stage: Stage, stretch: &Stretch, amount: Nanos, head: &str) -> Share {
        let process = || Blame::process(stretch.who.culprit("preempted"));
        let (why, blame) = match stretch.who.kind {
            ThreadKind::Foreign { priority: 0 } => (
                "the scheduler let it run, by its fair server or because this thread is ordinary too",
                process(),
            ),
            ThreadKind::Foreign { .. } => ("it goes before this thread", process()),
            _ => ("who it was, or for whom, is not proven, so it counts as the job's", Blame::unproven()),
        };
        let sentence = format!("run-queue wait behind {}: {head}; {why}", stretch.who.describe());
        self.share(stage, Cause::RunQueueWait, blame, amount, sentence)
    }

    /// A wait behind a thread that may go before us; a task of the job passes on who delayed it. `before` is what
    /// had held us up until then.
    pub(super) fn run_queue(
        &self,
        stage: Stage,
        stretch: &Stretch,
        amount: Nanos,
        head: String,
        before: Option<&Share>,
    ) -> Share {
        if stretch.who.kind == ThreadKind::Unknown
            && let Some(share) = self.evidence_lost(stage, stretch.from, stretch.to, amount)
        {
            return share;
        }
        let ThreadKind::Task(other) = stretch.who.kind else {
            return self.behind_foreign(stage, stretch, amount, &head);
        };
        let other = usize::from(other);
        let name = self.context.index.task_name(other);
        let index = &self.context.index;
        if let Some((_, record)) = index.running_at(other, stretch.from)
            && record.ended <= stretch.from
            && index.idle_until(other, record.instance) >= stretch.from + Nanos(stretch.length().0 / 2)
        {
            let sentence = format!(
                "{head}: its instance {} had ended at {}, and it was on its way to sleep, so only an interrupt, the kernel \
                 or a stall of the core held it there",
                record.instance, record.ended
            );
            return self.share(stage, Cause::KernelSection, Blame::machine(), amount, sentence);
        }
        let last = stretch.to.max(stretch.from + Nanos(1)) - Nanos(1);
        let found = index.running_at(other, last);
        let chained = found.and_then(|(place, record)| Some((self.decide_other(other, place)?, record)));
        if let Some(((cause, blame), record)) = chained {
            let sentence = format!(
                "run-queue wait behind the job's own {name}, instance {}, which was itself off its plan by: {cause}; {head}",
                record.instance
            );
            let root = Root { task: other, name, instance: record.instance, cause, blame: blame.clone() };
            return Share {
                root: Some(root),
                ..self.share(stage, Cause::RunQueueWait, blame, amount, sentence)
            };
        }
        match before {
            Some(before) => {
                let sentence = format!(
                    "run-queue wait behind the job's own {name}, which kept its plan: what had held us up until then put us \
                     into its time ({}); {head}",
                    before.root.as_ref().map_or(before.cause, |root| root.cause)
                );
                let share = self.share(stage, Cause::RunQueueWait, before.blame.clone(), amount, sentence);
                Share { root: before.root.clone(), ..share }
            }
            None => {
                let sentence =
                    format!("run-queue wait behind the job's own {name}, which kept its plan: {head}");
                self.share(stage, Cause::RunQueueWait, Blame::job(), amount, sentence)
            }
        }
    }
}
