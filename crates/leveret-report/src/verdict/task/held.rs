//! What keeps a thread from running without taking its core: a signal, a debugger, a frozen control group, a quota that is used up.

use super::timer::WAY_OUT_OF_IDLE;
use super::{Case, DEADLINE, Share};
use crate::record::{Actor, Event, EventKind, InstanceRecord, Left, ThreadKind};
use crate::verdict::occupancy::Stretch;
use crate::verdict::{Blame, Cause, Context, Culprit, Stage};
use leveret_types::Nanos;

/// A thread that leaves its core again after less than this for its debugger is led step by step.
const STEP: Nanos = Nanos::from_millis(1);
/// From what somebody does to the thread's leaving its core.
const AT_ONCE: Nanos = Nanos::from_millis(1);
/// How often the agent asks a thread whether a debugger holds it.
const LOOKED_EVERY: Nanos = Nanos::from_millis(20);
/// The agent notes a member's stop up to 2 ms before it, since it hears of it afterwards.
const SINCE_EARLY: Nanos = Nanos::from_millis(3);
/// A quota that is found so long after a wait is that of the wait.
const FOUND_WITHIN: Nanos = Nanos::from_secs(1);

/// A control group that is frozen, and by whose doing the member is in it then.
struct Frozen<'a> {
    group: &'a str,
    by: &'a Actor,
    /// Whether that one put the member into the group, and did not freeze it.
    is_put: bool,
}

impl Culprit {
    fn of(actor: &Actor, what: &str) -> Self {
        let (pid, thread) = (Some(actor.process), Some(actor.thread));
        Self { name: actor.name.clone(), pid, thread, rank: String::new(), what: what.to_owned() }
    }
}

/// Whose it is that an actor did something; of some, which ended before they could be asked, nobody knows.
pub(in crate::verdict) fn blame(actor: Option<&Actor>, what: &str) -> Blame {
    match actor {
        Some(actor) if actor.is_own == Some(true) => Blame::job_by(Culprit::of(actor, what)),
        Some(actor) if actor.is_own == Some(false) => Blame::process(Culprit::of(actor, what)),
        _ => Blame::unproven(),
    }
}

pub(in crate::verdict) fn by(actor: Option<&Actor>) -> String {
    let Some(actor) = actor else { return "nobody knows by whom".to_owned() };
    match (actor.is_own, actor.name.as_str()) {
        (None, _) => format!("by process {}, of which nobody knows whose it is", actor.process),
        (Some(true), name) => format!("by {name} (pid {}), a process of this job", actor.process),
        (Some(false), name) => format!("by {name} (pid {})", actor.process),
    }
}

fn signal(number: u8) -> &'static str {
    match number {
        19 => "SIGSTOP",
        20 => "SIGTSTP",
        21 => "SIGTTIN",
        22 => "SIGTTOU",
        _ => "a signal",
    }
}

/// Whose it is that a member was stopped at `since`, and in words by which signal and by whom.
pub(in crate::verdict) fn stopper(
    context: &Context<'_>,
    member: Option<u16>,
    since: Nanos,
) -> (Blame, &'static str, String) {
    let sent = context.phase().events.iter().rev().find_map(|event| match &event.kind {
        EventKind::StopSent { member: of, signal, by }
            if Some(*of) == member && event.at <= since + SINCE_EARLY =>
        {
            Some((*signal, by))
        }
        _ => None,
    });
    let actor = sent.map(|(_, by)| by);
    let name = sent.map_or("a signal", |(number, _)| signal(number));
    (blame(actor, "stopped the member"), name, by(actor))
}

impl Case<'_> {
    /// The share of a stretch in which this thread was kept from running by other means than its core's being another's.
    pub(super) fn held(&self, stage: Stage, stretch: &Stretch, amount: Nanos, head: &str) -> Option<Share> {
        let middle = stretch.from + Nanos(stretch.length().0 / 2);
        if let Some(at) = self.stepped(middle) {
            return Some(self.traced(stage, at, amount, head));
        }
        if let Some(at) = self.found_traced(stretch) {
            return Some(self.traced(stage, at, amount, head));
        }
        let (since, left) = self.context.log.absence(self.thread, middle)?;
        // One that is frozen may want a core, and stops as soon as it has one: it runs no sooner, whoever has the core.
        let frozen = self.frozen(middle);
        if frozen.is_none() && self.wants_a_core(stretch) == Some(true) {
            return None;
        }
        match left {
            Left::Stopped => return Some(self.stopped(stage, since, amount, head)),
            Left::Traced => return Some(self.traced(stage, since, amount, head)),
            _ => {}
        }
        if let Some(frozen) = frozen {
            let (how, what) = match frozen.is_put {
                true => ("it had been put into it", "put the member into a frozen control group"),
                false => ("it was frozen", "froze the control group"),
            };
            let by = by(Some(frozen.by));
            let sentence = format!("{head}: its control group {} was frozen: {how} {by}", frozen.group);
            return Some(self.share(stage, Cause::Frozen, blame(Some(frozen.by), what), amount, sentence));
        }
        if left == Left::Uninterruptible && stage == Stage::Wake {
            let sentence = format!(
                "{head}: it was not in its planned sleep but in one that no signal ends: its control group was frozen, or the kernel \
                 made it wait; by whom is not known, so it counts as the job's"
            );
            return Some(self.share(stage, Cause::Frozen, Blame::unproven(), amount, sentence));
        }
        if left == Left::Asleep && stage == Stage::Wake {
            return self.asleep_past_its_time(stretch, since, amount, head);
        }
        None
    }

    /// The share of a stretch in which this thread, asleep since `since`, was kept asleep though its timer had expired.
    fn asleep_past_its_time(
        &self,
        stretch: &Stretch,
        since: Nanos,
        amount: Nanos,
        head: &str,
    ) -> Option<Share> {
        let (cause, how) = if let Some((at, by)) = self.let_go(stretch) {
            let how = format!(
                "it was no timer that let it go on, but a call of {by} at {at}: so it treats what its control group (of version 1) has frozen, or a \
                 supervisor of its system calls holds; by whom is not known"
            );
            (Cause::Frozen, how)
        } else if self.sleeps_past_its_timer(stretch, since) {
            let how = "the timer that ends its planned sleep had expired, and the kernel did not wake it: its control group (of version 1) \
                       was frozen, or the interrupt had other work to do first; which is not known";
            (Cause::Unexplained, how.to_owned())
        } else {
            return None;
        };
        let sentence = format!("{head}: {how}, so it counts as the job's");
        Some(self.share(Stage::Wake, cause, Blame::unproven(), amount, sentence))
    }

    /// When the planned sleep was ended long after its time by what another thread did, and by which: only of a frozen thread does the end
    /// of the timer leave that to somebody.
    fn let_go(&self, stretch: &Stretch) -> Option<(Nanos, String)> {
        let middle = stretch.from + Nanos(stretch.length().0 / 2);
        let wake = self.context.log.woken_from(self.task, self.thread, middle)?;
        let by = wake.by.filter(|_| wake.at > self.wake_due() + WAY_OUT_OF_IDLE && wake.at >= middle)?;
        Some((wake.at, self.context.log.occupant(by).describe()))
    }

    /// Whether the thread, asleep since `since`, was not woken though its timer had expired: the core on which it fell asleep took a timer
    /// interrupt after that.
    fn sleeps_past_its_timer(&self, stretch: &Stretch, since: Nanos) -> bool {
        let log = &self.context.log;
        let slept_on = log.core_of(self.thread, since - Nanos(1));
        let expired = slept_on.and_then(|core| log.first_timer(core, false, self.wake_due()));
        let middle = stretch.from + Nanos(stretch.length().0 / 2);
        expired.is_some_and(|at| at + WAY_OUT_OF_IDLE < middle) && self.wants_a_core(stretch) == Some(false)
    }

    /// When this thread was found to be held by a debugger within a stretch in which it did not run, where the log does not say why a thread leaves
    /// its core: if it was found so for most of it.
    fn found_traced(&self, stretch: &Stretch) -> Option<Nanos> {
        if self.context.log.whole_core {
            return None;
        }
        let is_own = |event: &&Event| {
            let is_trap =
                matches!(event.kind, EventKind::Trapped { task, .. } if usize::from(task) == self.task);
            is_trap && event.at >= stretch.from && event.at <= stretch.to
        };
        let mut finds = self.context.phase().events.iter().filter(is_own).map(|event| event.at);
        let first = finds.next()?;
        let last = finds.next_back().unwrap_or(first);
        (last - first + LOOKED_EVERY >= Nanos(stretch.length().0 / 2)).then_some(first)
    }

    /// Whether this thread wants a core while it has none; `None` where nobody knows.
    pub(super) fn wants_a_core(&self, stretch: &Stretch) -> Option<bool> {
        let middle = stretch.from + Nanos(stretch.length().0 / 2);
        self.context.log.is_waiting(self.task, self.thread, middle)
    }

    /// Whether this thread, which has a core at `at`, is led step by step: it left for its debugger just before, and does so again right after.
    fn stepped(&self, at: Nanos) -> Option<Nanos> {
        let log = &self.context.log;
        if log.absence(self.thread, at).is_some() {
            return None;
        }
        let [(before, was), (after, is)] = log.absences_about(self.thread, at)?;
        (was == Left::Traced && is == Left::Traced && after - at < STEP).then_some(before)
    }

    /// When this thread, which wants a core in this stretch, last left one for its debugger, if that was the last that it did before, or it got no
    /// further than a step since.
    pub(super) fn led_until(&self, stretch: &Stretch) -> Option<Nanos> {
        let log = &self.context.log;
        let (since, left) = log.absence(self.thread, stretch.from + Nanos(stretch.length().0 / 2))?;
        if left == Left::Traced {
            return Some(since);
        }
        let [(before, was), _] = log.absences_about(self.thread, since - Nanos(1))?;
        (was == Left::Traced && since - before < STEP).then_some(before)
    }

    /// When this thread first left its core for its debugger in the body of an instance, if it was led through it step by step: what it ran there
    /// is the debugger's traps too.
    pub(super) fn led_through(&self, record: &InstanceRecord) -> Option<Nanos> {
        let log = &self.context.log;
        let (first, times) = log.left_for_debugger(self.thread, record.started, record.ended)?;
        let ran = record.ended - record.started - log.time_off(self.thread, record.started, record.ended);
        (times > 1 && ran < STEP.saturating_mul(times)).then_some(first)
    }

    fn stopped(&self, stage: Stage, since: Nanos, amount: Nanos, head: &str) -> Share {
        let (blame, name, whom) = self.stopper(since);
        let sentence = format!("{head}: it had been stopped by {name} at {since}, {whom}");
        self.share(stage, Cause::StoppedMember, blame, amount, sentence)
    }

    /// Whose it is that the member was stopped at `since`, and in words by which signal and by whom.
    pub(super) fn stopper(&self, since: Nanos) -> (Blame, &'static str, String) {
        stopper(self.context, self.context.index.member(self.task), since)
    }

    /// Whether the kernel's log knows of any signal that stopped this member.
    pub(super) fn knows_stops(&self) -> bool {
        let member = self.context.index.member(self.task);
        let of_it = |event: &Event| matches!(event.kind, EventKind::StopSent { member: of, .. } if Some(of) == member);
        self.context.phase().events.iter().any(of_it)
    }

    pub(super) fn traced(&self, stage: Stage, since: Nanos, amount: Nanos, head: &str) -> Share {
        let actor = self.context.phase().events.iter().rev().find_map(|event| match &event.kind {
            EventKind::Trapped { task, by }
                if usize::from(*task) == self.task && event.at <= since + AT_ONCE =>
            {
                Some(by)
            }
            _ => None,
        });
        let sentence = format!("{head}: a debugger or tracer held it, {}", by(actor));
        self.share(stage, Cause::Traced, blame(actor, "debugger"), amount, sentence)
    }

    /// A control group of this member that was frozen at `at`: of several the first.
    fn frozen(&self, at: Nanos) -> Option<Frozen<'_>> {
        let member = self.context.index.member(self.task);
        let mut all: Vec<Frozen<'_>> = Vec::new();
        for event in self.context.phase().events.iter().take_while(|event| event.at <= at) {
            match &event.kind {
                EventKind::Frozen { member: of, group, by } if Some(*of) == member => {
                    all.push(Frozen { group, by, is_put: false });
                }
                EventKind::PutIntoFrozen { member: of, group, by } if Some(*of) == member => {
                    all.push(Frozen { group, by, is_put: true });
                }
                EventKind::Thawed { member: of, group } if Some(*of) == member => {
                    all.retain(|each| each.group != group);
                }
                _ => {}
            }
        }
        all.into_iter().next()
    }

    /// The share of a stretch in which this thread was runnable, and a quota kept it from running, whoever had its core meanwhile.
    pub(super) fn out_of_quota(
        &self,
        stage: Stage,
        stretch: &Stretch,
        amount: Nanos,
        head: &str,
    ) -> Option<Share> {
        let sentence = if self.priority == 0 { self.quota(stretch)? } else { self.real_time_quota(stretch)? };
        let sentence = format!("{head}: {sentence}; who used it up is not known, so it counts as the job's");
        Some(self.share(stage, Cause::Throttled, Blame::unproven(), amount, sentence))
    }

    fn quota(&self, stretch: &Stretch) -> Option<String> {
        let (from, to) = (stretch.from, stretch.to);
        self.context.phase().events.iter().find_map(|event| match &event.kind {
            EventKind::QuotaUsedUp { task, group, since, length }
                if usize::from(*task) == self.task
                    && *since <= to
                    && event.at >= from
                    && (*length >= stretch.length() || stretch.who.kind == ThreadKind::Idle) =>
            {
                Some(format!(
                    "the quota of its control group {group} was used up, and the kernel kept the group's threads from running for {length} \
                     between {since} and {}",
                    event.at
                ))
            }
            _ => None,
        })
    }

    fn real_time_quota(&self, stretch: &Stretch) -> Option<String> {
        let below = match stretch.who.kind {
            ThreadKind::Idle => !stretch.who.may_be_unseen(),
            ThreadKind::Foreign { priority } | ThreadKind::Own { priority } => priority < self.priority,
            _ => false,
        };
        if !below || self.priority >= DEADLINE || self.wants_a_core(stretch) == Some(false) {
            return None;
        }
        self.context.phase().events.iter().rev().find_map(|event| match &event.kind {
            EventKind::RealTimeQuota { task, group, quota, period }
                if usize::from(*task) == self.task && event.at <= stretch.to + FOUND_WITHIN =>
            {
                Some(format!(
                    "the kernel passes over real-time threads whose group has used up its quota, and that of {group} was {quota} in {period}"
                ))
            }
            _ => None,
        })
    }
}
