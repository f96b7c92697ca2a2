//! Task instances: where the time went, in shares, and whose share was decisive.

mod body;
mod cut;
mod held;
mod outside;
mod signals;
mod timer;
mod wait;

pub(super) use held::{blame as blame_of, by as actor_words, stopper};

use super::hold::{self, Silent};
use super::occupancy::Lost;
use super::{Blame, Cause, Context, Mark, Miss, Party, Root, Stage, Subject, timeline};
use crate::record::{InstanceRecord, Left, Outcome};
use leveret_types::Nanos;
use outside::Explained;
use std::collections::{HashMap, HashSet};

/// Longest chain of waits that is followed; beyond it a wait is unproven.
const CHAIN_MAX: u32 = 64;
/// What the record says in place of the priority of a `SCHED_DEADLINE` thread.
const DEADLINE: u8 = 100;
/// Lateness below this is the grain of the stamps.
const GRAIN: Nanos = Nanos(100);

/// A part of the delay of an instance.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub stage: Stage,
    pub cause: Cause,
    pub blame: Blame,
    pub amount: Nanos,
    pub sentence: String,
    pub root: Option<Root>,
}

/// The decisive share of a delay and the evidence of all of them.
pub(super) struct Decision {
    pub stage: Stage,
    pub cause: Cause,
    pub blame: Blame,
    pub root: Option<Root>,
    pub evidence: Vec<String>,
}

impl Decision {
    /// The instance at the end of the chain: this one, where it does not follow from another.
    pub fn root_of(&self, context: &Context<'_>, task: usize, instance: u64) -> Root {
        let own = || {
            let (name, cause, blame) = (context.index.task_name(task), self.cause, self.blame.clone());
            Root { task, name, instance, cause, blame }
        };
        self.root.clone().unwrap_or_else(own)
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
            context.remember(task, place, Some(decision.root_of(context, task, instance.instance)));
            misses.push(Miss {
                phase: context.phase_number,
                subject: Subject::Task(task),
                name: context.index.task_name(task),
                instance: instance.instance,
                deadline: instance.deadline,
                late_by,
                stage: decision.stage,
                cause: decision.cause,
                party: decision.blame.party,
                unproven: decision.blame.unproven,
                culprit: decision.blame.culprit,
                root: decision.root,
                evidence: decision.evidence,
                timeline: timeline::of_task(context, task, place),
            });
        }
        misses.extend(miss_of_unended(context, task));
    }
    misses
}

/// The instance of a task that began and never ended, with when it began and what kept it.
pub(super) fn unended(context: &Context<'_>, task: usize) -> Option<(Root, Nanos)> {
    let (instance, at) = context.index.unended(task)?;
    let (cause, blame, _) = what_kept(context, task, at);
    Some((Root { task, name: context.index.task_name(task), instance, cause, blame }, at))
}

/// Why the body of a task that began at `at` never ended: whoever holds its member, or the member's death. Else it computed, unless it was last
/// seen to leave its core.
fn what_kept(context: &Context<'_>, task: usize, at: Nanos) -> (Cause, Blame, Option<String>) {
    if let Some(hold) = hold::of(context, Silent { task, from: at, has_begun: true }) {
        return (hold.cause, hold.blame, Some(hold.words));
    }
    let died = context.index.member(task).and_then(|member| hold::death(context, member));
    if let Some((_, words)) = died.filter(|(died, _)| *died <= at + hold::DYING) {
        return (Cause::MemberDied, Blame::job(), Some(words));
    }
    let thread = context.phase().tasks.get(task).map_or(0, |record| record.thread);
    match context.log.left_last(thread) {
        None | Some(Left::Runnable | Left::Ended) => (Cause::Overrun, Blame::job(), None),
        Some(Left::Stopped) => (Cause::StoppedMember, Blame::unproven(), None),
        Some(Left::Traced) => (Cause::Traced, Blame::unproven(), None),
        Some(_) => (Cause::Blocked, Blame::unproven(), None),
    }
}

/// The miss of such an instance.
fn miss_of_unended(context: &Context<'_>, task: usize) -> Option<Miss> {
    let (instance, at) = context.index.unended(task)?;
    let (cause, blame, why) = what_kept(context, task, at);
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    Some(Miss {
        phase: context.phase_number,
        subject: Subject::Task(task),
        evidence: vec![format!("it began at {at} and never ended{why}")],
        timeline: vec![Mark { at, what: format!("measured: instance {instance} began; it never ended") }],
        name: context.index.task_name(task),
        instance,
        deadline: context.index.deadline(task, instance),
        late_by: None,
        stage: Stage::Execution,
        cause,
        party: blame.party,
        unproven: blame.unproven,
        culprit: blame.culprit,
        root: None,
    })
}

/// Whether an instance did not keep its window.
pub(super) fn missed(instance: &InstanceRecord) -> bool {
    is_skipped(instance) || instance.ended > instance.deadline
}

/// Whether an instance never ran.
pub(super) fn is_skipped(instance: &InstanceRecord) -> bool {
    matches!(instance.outcome, Outcome::SkippedCritical | Outcome::SkippedOverrun)
}

/// Whose the delay is, by the sums of job, process and machine (see [`super`]).
fn decisive([job, process, machine]: [Nanos; 3], late_by: Option<Nanos>) -> Party {
    let others = process + machine;
    let job_alone = match late_by {
        _ if others <= Nanos::ZERO => true,
        _ if job <= Nanos::ZERO => false,
        Some(late) if late > others => true,
        Some(late) if late > job => false,
        _ => job >= others,
    };
    match late_by {
        _ if job_alone => Party::Job,
        _ if machine <= Nanos::ZERO => Party::Process,
        _ if process <= Nanos::ZERO => Party::Machine,
        Some(late) if late > machine => Party::Process,
        Some(late) if late > process => Party::Machine,
        _ if process >= machine => Party::Process,
        _ => Party::Machine,
    }
}

/// Applies that rule to the shares of a delay.
pub(super) fn decide(shares: Vec<Share>, late_by: Option<Nanos>) -> Decision {
    let sums = [Party::Job, Party::Process, Party::Machine].map(|party| {
        let of_party = shares.iter().filter(|share| share.blame.party == party);
        of_party.fold(Nanos::ZERO, |sum, share| sum + share.amount)
    });
    let party = decisive(sums, late_by);
    let mut shares = shares;
    // What took most, in however many stretches, and of it the longest.
    let mut sums_by: HashMap<(Cause, Blame), Nanos> = HashMap::new();
    for share in &shares {
        let sum = sums_by.entry((share.cause, share.blame.clone())).or_default();
        *sum = *sum + share.amount;
    }
    shares.sort_by_cached_key(|share| {
        let sum = sums_by.get(&(share.cause, share.blame.clone())).copied().unwrap_or_default();
        (share.blame.party != party, std::cmp::Reverse(sum), std::cmp::Reverse(share.amount))
    });
    let greatest = shares.iter().map(|share| share.amount.0).max().unwrap_or(0);
    let tells = |share: &&Share| share.amount.0 > greatest / 100 && share.amount > Nanos::ZERO;
    let mut told = HashSet::new();
    let mut evidence: Vec<String> = shares.iter().filter(tells).map(|share| share.sentence.clone()).collect();
    // Two stretches may have one story.
    evidence.retain(|sentence| told.insert(sentence.clone()));
    let Some(main) = shares.into_iter().next() else {
        let sentence =
            "no stage took longer than planned, yet the window was not kept: the plan left too little room";
        return Decision {
            stage: Stage::Execution,
            cause: Cause::PlanOrRuntime,
            blame: Blame::job(),
            root: None,
            evidence: vec![sentence.to_owned()],
        };
    };
    if sums.iter().filter(|sum| **sum > Nanos::ZERO).count() > 1 {
        let [job, process, machine] = sums;
        evidence.push(format!(
            "of the delay {job} are the job's, {process} other processes' and {machine} the machine's: the miss is {}",
            party.possessive()
        ));
    }
    Decision { stage: main.stage, cause: main.cause, blame: main.blame, root: main.root, evidence }
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
    let planned = context.index.core(task).unwrap_or(u32::MAX);
    // A `SCHED_DEADLINE` thread is not pinned: where it was is what the log says.
    let found = (tasks.priority >= DEADLINE).then(|| context.log.core_of(tasks.thread, record.started));
    // Somebody may have put it on another core.
    let queued = context.log.queued_on(task, record.planned - context.phase().plan.costs.guard, record.woken);
    let core = found.flatten().or(queued).unwrap_or(planned);
    let case =
        Case { context, task, place, record, core, thread: tasks.thread, priority: tasks.priority, depth };
    let mut shares = Vec::new();
    match case.outside_cause(&mut shares) {
        Some(Explained::All) => return shares,
        Some(Explained::Wake) => {}
        None => case.wake(&mut shares),
    }
    case.start(&mut shares);
    case.execution(&mut shares);
    case.plan(&mut shares);
    case.scheduling_changed(&mut shares);
    shares
}

impl Case<'_> {
    /// When the planned sleep should have ended.
    fn wake_due(&self) -> Nanos {
        self.record.planned - self.context.phase().plan.costs.guard
    }

    /// From when on this instance could no longer end in time.
    fn too_late(&self) -> Nanos {
        self.record.deadline - self.context.index.budget(self.task)
    }

    /// Everything by which this instance exceeded its plan.
    fn total_delay(&self) -> Nanos {
        let last = self.record.ended.max(self.record.started).max(self.record.woken);
        let budget = if is_skipped(self.record) { Nanos::ZERO } else { self.context.index.budget(self.task) };
        (last - self.record.planned - budget).max(Nanos(1))
    }

    fn share(&self, stage: Stage, cause: Cause, blame: Blame, amount: Nanos, sentence: String) -> Share {
        Share { stage, cause, blame, amount: amount.max(Nanos(1)), sentence, root: None }
    }

    /// What cannot be proven because records were lost within `[from, to]`.
    fn evidence_lost(&self, stage: Stage, from: Nanos, to: Nanos, amount: Nanos) -> Option<Share> {
        let Lost { since, until, records } = self.context.log.lost(from, to)?;
        let why = match records {
            Some(records) => format!(
                "nobody read the kernel's log from {since} to {until} (was `leveret run` stopped, or kept from running?), {records} records \
                 of it were lost, and threads that ended meanwhile cannot be named"
            ),
            None => format!("of the kernel's log from {since} to {until} there was more than is remembered"),
        };
        let sentence = format!(
            "{amount} lost between {from} and {to}, and who had core {} is not known: {why}; what cannot be proven counts as the job's",
            self.core
        );
        Some(self.share(stage, Cause::EvidenceLost, Blame::unproven(), amount, sentence))
    }

    fn coarse(&self) -> &'static str {
        if self.context.log.whole_core { "" } else { " (coarse: only our own threads could be watched)" }
    }

    /// A plan that ends after the window's end.
    fn plan(&self, shares: &mut Vec<Share>) {
        let beyond = self.record.planned + self.context.index.budget(self.task) - self.record.deadline;
        if beyond > Nanos::ZERO && !is_skipped(self.record) {
            let sentence = format!("the planned start plus the budget lies {beyond} after the window's end");
            shares.push(self.share(Stage::Execution, Cause::PlanOrRuntime, Blame::job(), beyond, sentence));
        }
    }
}

/// Cause (at the end of its chain) and party of an instance's delay; `None` when it kept its plan or the chain is
/// too long to follow.
pub(super) fn decide_instance(context: &Context<'_>, task: usize, place: usize, depth: u32) -> Option<Root> {
    if let Some(known) = context.recall(task, place) {
        return known;
    }
    if depth >= CHAIN_MAX {
        return None;
    }
    context.remember(task, place, None);
    let shares = shares(context, task, place, depth);
    let instance = context.phase().tasks.get(task)?.instances.get(place)?.instance;
    let decided = (!shares.is_empty()).then(|| decide(shares, None).root_of(context, task, instance));
    context.remember(task, place, decided.clone());
    decided
}
