//! What keeps a member from running until nothing is recorded any more: nothing of it tells afterwards what that was.

use super::occupancy::rank;
use super::task::{actor_words, blame_of, stopper};
use super::{Blame, Cause, Context};
use crate::format::instant;
use crate::record::{Actor, EventKind, Left, Phase, ThreadKind};
use leveret_types::Nanos;

/// From a hold to the last that a thread says before it: its stamp may be on the way.
const AT_ONCE: Nanos = Nanos::from_millis(1);

/// The longest time between the end of a member's threads and the instant at which the agent records its death: in between, the kernel frees the
/// process's memory, and the agent may wait for a core. On a busy machine that took 0.24 s; a panic that tells its calls takes as long.
pub(super) const DYING: Nanos = Nanos::from_secs(1);

/// The death of a member, in words, and since when it did nothing, or else when that was noticed.
pub(super) fn death(context: &Context<'_>, member: u16) -> Option<(Nanos, String)> {
    let name = || context.index.member_name(member);
    let failed = context.left_off.get(&member).filter(|left| left.failed);
    if let Some(LeftOff { since, why, .. }) = failed {
        return Some((*since, format!("member {} failed {} ({why})", name(), instant(*since))));
    }
    context.phase().events.iter().find_map(|event| match &event.kind {
        EventKind::MemberDied { member: of, how } if *of == member => {
            Some((event.at, format!("member {} died {} ({how})", name(), instant(event.at))))
        }
        EventKind::MemberEnded { member: of, how } if *of == member => Some((
            event.at,
            format!("member {} ended {} while the run was being ended ({how})", name(), instant(event.at)),
        )),
        _ => None,
    })
}

/// Who or what holds a member, and in words.
pub(super) struct Hold {
    pub cause: Cause,
    pub blame: Blame,
    pub words: String,
}

/// What a task was about when its record ends.
#[derive(Clone, Copy)]
pub(super) struct Silent {
    pub task: usize,
    /// When its next instance was to begin, or the one that never ended began.
    pub from: Nanos,
    /// Whether it had begun.
    pub has_begun: bool,
}

/// What held the member of a task whose record ends, if that is known to have come in time and not to have gone.
pub(super) fn of(context: &Context<'_>, silent: Silent) -> Option<Hold> {
    let member = context.index.member(silent.task)?;
    let budget = context.index.budget(silent.task);
    let by = silent.from + if silent.has_begun { budget.max(AT_ONCE) } else { Nanos::ZERO };
    stopped(context, member, by)
        .or_else(|| frozen(context, member, by))
        .or_else(|| trapped(context, member, by))
        .or_else(|| outranked(context, silent))
}

/// Whose it is that a member stood still at `at`, stopped by a signal, and that in words.
pub(super) fn stopped(context: &Context<'_>, member: u16, at: Nanos) -> Option<Hold> {
    let before = context.phase().events.iter().take_while(|event| event.at <= at);
    let since = before.fold(None, |since, event| match event.kind {
        EventKind::MemberStopped { member: of } if of == member => Some(event.at),
        EventKind::MemberContinued { member: of } if of == member => None,
        _ => since,
    })?;
    let (blame, signal, whom) = stopper(context, Some(member), since);
    let name = context.index.member_name(member);
    let words = format!("member {name} had been stopped by {signal} {}, {whom}", instant(since));
    Some(Hold { cause: Cause::StoppedMember, blame, words })
}

/// A control group of the member that was frozen by `by` and never let go.
fn frozen(context: &Context<'_>, member: u16, by: Nanos) -> Option<Hold> {
    let mut all: Vec<(Nanos, &str, &Actor)> = Vec::new();
    for event in &context.phase().events {
        match &event.kind {
            EventKind::Frozen { member: of, group, by: actor }
            | EventKind::PutIntoFrozen { member: of, group, by: actor }
                if *of == member && event.at <= by =>
            {
                all.push((event.at, group, actor));
            }
            EventKind::Thawed { member: of, group } if *of == member => {
                all.retain(|(_, each, _)| each != group);
            }
            _ => {}
        }
    }
    let (at, group, actor) = *all.first()?;
    let name = context.index.member_name(member);
    let words = format!(
        "member {name} was in the control group {group}, which was frozen {}, {}",
        instant(at),
        actor_words(Some(actor))
    );
    Some(Hold { cause: Cause::Frozen, blame: blame_of(Some(actor), "froze the control group"), words })
}

/// A debugger that got hold of one of the member's tasks by `by`, after which none of them has said anything.
fn trapped(context: &Context<'_>, member: u16, by: Nanos) -> Option<Hold> {
    let phase = context.phase();
    let is_its = |task: usize| phase.job.tasks.get(task).is_some_and(|task| task.member.0 == member);
    let (at, actor) = phase.events.iter().rev().find_map(|event| match &event.kind {
        EventKind::Trapped { task, by: actor } if is_its(usize::from(*task)) && event.at <= by => {
            Some((event.at, actor))
        }
        _ => None,
    })?;
    let spoke = phase.tasks.iter().enumerate().filter(|(task, _)| is_its(*task));
    let spoke = spoke.filter_map(|(_, record)| record.instances.last()).map(|last| last.woken).max();
    if spoke.is_some_and(|spoke| spoke > at + AT_ONCE) {
        return None;
    }
    let name = context.index.member_name(member);
    let words =
        format!("member {name} was stopped by a debugger {}, {}", instant(at), actor_words(Some(actor)));
    Some(Hold { cause: Cause::Traced, blame: blame_of(Some(actor), "debugger"), words })
}

/// A thread that goes before the task's and had its core when it should have run; in a body, that took it from there.
fn outranked(context: &Context<'_>, silent: Silent) -> Option<Hold> {
    let record = context.phase().tasks.get(silent.task)?;
    let (log, guard) = (&context.log, context.phase().plan.costs.guard);
    let core = log.core_of(record.thread, silent.from).or(context.index.core(silent.task))?;
    let from = match silent.has_begun {
        true => log.absence(record.thread, Nanos::MAX).filter(|(_, left)| *left == Left::Runnable)?.0,
        false => silent.from - guard,
    };
    let until = if silent.has_begun { from } else { silent.from };
    let stay = log.stays(core, from, until).pop()?;
    let ThreadKind::Foreign { priority } = stay.who.kind else { return None };
    if priority == 0 || priority < record.priority {
        return None;
    }
    let name = context.index.task_name(silent.task);
    let words = format!(
        "{} came to core {core} {}, and {name} ({}) had it no more",
        stay.who.describe(),
        instant(stay.from),
        rank(record.priority)
    );
    Some(Hold { cause: Cause::RunQueueWait, blame: Blame::process(stay.who.culprit("preempted")), words })
}

/// From the end of a member's threads to the news that it has asked for the end of the run.
const NEWS_WITHIN: Nanos = Nanos::from_millis(100);

/// That a member began nothing more.
pub(crate) struct LeftOff {
    pub since: Nanos,
    /// It had failed. Else it had asked for the end of the run, which comes to the others a little later.
    pub failed: bool,
    pub why: String,
}

/// Since when a member began nothing more, if it has said so. It is believed as far as what is recorded of it bears it out, and no further back than the
/// news may take: until its threads have woken the next time, or ended what they were in.
pub(super) fn left_off(phase: &Phase, member: u16) -> Option<LeftOff> {
    let (told, said, failed, why) = phase.events.iter().find_map(|event| match &event.kind {
        EventKind::StopAsked { member: of, since, why } if *of == member => {
            Some((event.at, *since, false, why))
        }
        EventKind::GaveUp { member: of, since, why } if *of == member => Some((event.at, *since, true, why)),
        _ => None,
    })?;
    let own = || phase.job.tasks.iter().zip(&phase.tasks).filter(|(model, _)| model.member.0 == member);
    let longest = own().map(|(model, _)| model.period).max().unwrap_or(Nanos::ZERO);
    let last = || own().filter_map(|(_, record)| record.instances.last());
    let ended = last().map(|last| last.ended).max().unwrap_or(said);
    let is_in_time = told <= ended.max(said + longest.saturating_mul(2)) + NEWS_WITHIN;
    let said = if is_in_time { said } else { told - longest.saturating_mul(2) - NEWS_WITHIN };
    let since = last().map(|last| last.started).fold(said.min(told), Nanos::max);
    Some(LeftOff { since, failed, why: why.clone() })
}

/// Whether nobody was owed what a member did not do: a task's instance, or what was due at `due`. It had asked for the end of the run
/// before that would have been late.
pub(super) fn is_unowed(
    context: &Context<'_>,
    member: u16,
    lacking: Option<(usize, u64)>,
    due: Nanos,
) -> bool {
    let Some(left) = context.left_off.get(&member).filter(|left| !left.failed) else { return false };
    match lacking {
        Some((task, instance)) => {
            context.index.instance(task, instance).is_none()
                && context.index.deadline(task, instance) > left.since
        }
        None => due > left.since,
    }
}

/// The first instance of a task that is not recorded: its task, when it is planned and its number.
pub(super) fn next_of(phase: &Phase, task: usize) -> Option<(usize, Nanos, u64)> {
    let (model, record) = (phase.job.tasks.get(task)?, phase.tasks.get(task)?);
    Some(match record.instances.last() {
        Some(last) => (task, last.planned + model.period, last.instance + 1),
        None => (task, model.release, record.before),
    })
}
