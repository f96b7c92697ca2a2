//! Of a message that arrived in time and that nobody took: what its reader did instead.

use crate::format::instant;
use crate::lookup::Index;
use crate::record::{EventKind, Fate, InstanceRecord, MessageRecord, Outcome, Phase};
use leveret_types::Nanos;

/// In words; `None` of a message that somebody took, or that did not arrive.
pub(super) fn of(phase: &Phase, channel: usize, instance: u64) -> Option<String> {
    let index = Index::new(phase);
    let message = index.message(channel, instance).filter(|message| message.fate == Fate::Untaken)?;
    let reader = match index.reader(channel, instance) {
        Some((task, number)) => planned(&index, (task, number), message),
        None => unplanned(&index, channel),
    };
    let stopped =
        phase.job.channels.get(channel).and_then(|model| stood_still(&index, model.target.0, message.due));
    let stopped = stopped.map_or_else(String::new, |stopped| format!("; {stopped}"));
    Some(format!("it arrived in time, and nobody took it: {reader}{stopped}"))
}

/// What became of the instance that was to take it.
fn planned(index: &Index<'_>, (task, number): (usize, u64), message: &MessageRecord) -> String {
    let name = index.task_name(task);
    if let Some((_, record)) = index.instance(task, number) {
        return format!("its reader {name}, instance {number}, {}", did(record, &name));
    }
    let lost = index.phase.tasks.get(task).map_or(0, |tasks| tasks.records_lost);
    let last = index.phase.tasks.get(task).and_then(|tasks| tasks.instances.last());
    let member = index.member(task);
    let died = index.phase.events.iter().find_map(|event| match &event.kind {
        EventKind::MemberDied { member: rank, how } if Some(*rank) == member => {
            Some(format!("its member {} died {} ({how})", index.member_name(*rank), instant(event.at)))
        }
        _ => None,
    });
    let why = match (died, last) {
        (Some(died), _) => died,
        (None, Some(last)) if last.instance < number => {
            format!("its last was {}, which ended {}", last.instance, instant(last.ended))
        }
        (None, None) => "it has none at all".to_owned(),
        _ => format!("{lost} of its records were lost"),
    };
    format!(
        "its reader {name} has no record of instance {number}, which was due {}: {why}",
        instant(message.due)
    )
}

fn did(record: &InstanceRecord, name: &str) -> String {
    let number = record.instance;
    match record.outcome {
        Outcome::SkippedOverrun => {
            format!(
                "was skipped, since the instance before it overran (`leveret why {name} {number}` says why)"
            )
        }
        Outcome::SkippedCritical => {
            format!(
                "was skipped, since too little of its window was left (`leveret why {name} {number}` says why)"
            )
        }
        Outcome::Ran | Outcome::RanLate => {
            let late = record.ended - record.deadline;
            let window = match late > Nanos::ZERO {
                true => format!("{late} after its window's end"),
                false => "within its window".to_owned(),
            };
            format!(
                "ran from {} to {}, {window}, and did not take it (its end may have been paused)",
                record.started, record.ended
            )
        }
    }
}

/// No instance of a task was to take it.
fn unplanned(index: &Index<'_>, channel: usize) -> String {
    let job = &index.phase.job;
    let reads = |task: &leveret_plan::Task| task.reads.iter().any(|id| id.index() == channel);
    if let Some(task) = job.tasks.iter().find(|task| reads(task)) {
        return format!("by the plan no instance of its reader {} takes this one", task.name);
    }
    match job.channels.get(channel) {
        Some(model) => {
            let member = index.member_name(model.target.0);
            format!(
                "no task reads this channel; its member {member} takes messages when it likes, and left this one"
            )
        }
        None => "who reads this channel is not recorded".to_owned(),
    }
}

/// That the reading member stood still when the message was due.
fn stood_still(index: &Index<'_>, rank: u16, due: Nanos) -> Option<String> {
    let before = index.phase.events.iter().filter(|event| event.at <= due);
    let since = before.fold(None, |since, event| match event.kind {
        EventKind::MemberStopped { member } if member == rank => Some(event.at),
        EventKind::MemberContinued { member } if member == rank => None,
        _ => since,
    })?;
    Some(format!("member {} had been stopped by a signal {}", index.member_name(rank), instant(since)))
}
