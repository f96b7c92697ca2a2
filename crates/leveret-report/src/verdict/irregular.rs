//! What is wrong beside missed windows: lost records, corrupt or unordered messages, deaths, instances that nobody
//! accounts for. Each makes a run fail.

use crate::lookup::Index;
use crate::record::{Ending, EventKind, Phase, RunRecord};
use serde::{Deserialize, Serialize};

/// Something lost, corrupt, out of order, dead or unaccounted for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Irregularity {
    /// Index of the phase; `None` for the run as a whole.
    pub phase: Option<usize>,
    /// The task, channel or member.
    pub name: String,
    /// `records-lost`, `corrupt`, `out-of-order`, `unaccounted`, `member-died` or `stopped`.
    pub kind: String,
    /// How many.
    pub count: u64,
    /// One sentence.
    pub sentence: String,
}

/// Everything that is wrong beside missed windows.
pub fn irregularities(record: &RunRecord) -> Vec<Irregularity> {
    let mut found = Vec::new();
    for (number, phase) in record.phases.iter().enumerate() {
        let index = Index::new(phase);
        let mut report = |name: String, kind: &str, count: u64, sentence: String| {
            if count > 0 {
                found.push(Irregularity {
                    phase: Some(number),
                    name,
                    kind: kind.to_owned(),
                    count,
                    sentence,
                });
            }
        };
        for (task, tasks) in phase.tasks.iter().enumerate() {
            let lost = tasks.records_lost;
            let sentence = format!("{lost} records of instances were overwritten before they were read");
            report(index.task_name(task), "records-lost", lost, sentence);
            let absent = unaccounted(phase, task, record.ending == Ending::Completed);
            let sentence = format!("{absent} instances neither ran nor were skipped according to the record");
            report(index.task_name(task), "unaccounted", absent, sentence);
        }
        for (channel, messages) in phase.channels.iter().enumerate() {
            let name = || index.channel_name(channel);
            let lost = messages.records_lost;
            report(
                name(),
                "records-lost",
                lost,
                format!("{lost} records of messages were overwritten before they were read"),
            );
            let sentence = format!("{} messages had wrong content", messages.corrupt);
            report(name(), "corrupt", messages.corrupt, sentence);
            let sentence = format!("{} messages came out of order", messages.out_of_order);
            report(name(), "out-of-order", messages.out_of_order, sentence);
        }
        for event in &phase.events {
            if let EventKind::MemberDied { member, how } = &event.kind {
                let sentence = format!("the member died at {} after the epoch ({how})", event.at);
                report(index.member_name(*member), "member-died", 1, sentence);
            }
        }
    }
    if let Ending::Stopped(reason) = &record.ending {
        found.push(Irregularity {
            phase: None,
            name: record.job.clone(),
            kind: "stopped".to_owned(),
            count: 1,
            sentence: format!("the job's policy ended the run: {reason}"),
        });
    }
    found
}

/// Instances planned to start before the last round began; one whose window lies beyond its period starts later.
fn due(phase: &Phase, task: usize) -> u64 {
    let hyperperiod = phase.plan.hyperperiod.0.max(1);
    let end = phase.rounds.saturating_sub(1).min(i64::MAX as u64) as i64;
    let end = end.saturating_mul(hyperperiod);
    let planned = phase.plan.tasks.get(task).map_or(&[][..], |planned| &planned.instances);
    let before =
        |start: i64| (end.saturating_sub(start).saturating_add(hyperperiod - 1) / hyperperiod).max(0);
    planned.iter().map(|instance| before(instance.start().0) as u64).fold(0, u64::saturating_add)
}

/// Instances that must have been and of which nothing is known. The last round may be partial, a dead member
/// explains the rest, and lost records are reported as such.
fn unaccounted(phase: &Phase, task: usize, completed: bool) -> u64 {
    let Some(record) = phase.tasks.get(task) else { return 0 };
    let holes = record
        .instances
        .windows(2)
        .map(|pair| pair[1].instance.saturating_sub(pair[0].instance).saturating_sub(1))
        .fold(0, u64::saturating_add);
    let member = phase.job.tasks.get(task).map(|model| model.member.0);
    let died = phase.events.iter().any(
        |event| matches!(&event.kind, EventKind::MemberDied { member: rank, .. } if Some(*rank) == member),
    );
    let due = due(phase, task);
    let reached = record.instances.last().map_or(0, |last| last.instance.saturating_add(1));
    let tail = if completed && !died { due.saturating_sub(reached) } else { 0 };
    holes.saturating_add(tail).saturating_sub(record.records_lost).saturating_sub(record.thinned)
}
