//! What is wrong beside missed windows: lost records, corrupt or unordered messages, deaths, instances that nobody
//! accounts for. Each makes a run fail.

use super::Context;
use super::hold::{self, DYING, Silent};
use crate::format::instant;
use crate::lookup::Index;
use crate::record::{Ending, Event, EventKind, InstanceRecord, Phase, RunRecord};
use crate::works::works;
use leveret_types::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The kind of instances that neither ran nor were skipped, as far as is known.
pub(crate) const UNACCOUNTED: &str = "unaccounted";
/// The kind of instances and messages whose records nobody read in time.
pub(crate) const RECORDS_LOST: &str = "records-lost";

/// The kind of what a member said that cannot be true.
pub(crate) const IMPLAUSIBLE: &str = "implausible";

/// The kind of a member's end without having left.
pub(crate) const MEMBER_DIED: &str = "member-died";

/// The kind of handlers, and tasks that events start, whose runs have failed.
const RUNS_FAILED: &str = "runs-failed";

/// The kind of transfers beside the time table that took longer than their declared deadline.
const BEYOND_DEADLINE: &str = "beyond-deadline";

/// The kind of misses of which only the number is kept.
pub(crate) const MISSES_NOT_KEPT: &str = "misses-not-kept";

/// Something lost, corrupt, out of order, dead, unaccounted for or untrue.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Irregularity {
    /// Index of the phase; `None` for the run as a whole.
    pub phase: Option<usize>,
    /// The task, channel or member; the job, of the run as a whole.
    pub name: String,
    /// `records-lost`, `corrupt`, `out-of-order`, `unaccounted`, `implausible`, `misses-not-kept`, `beyond-deadline`, `runs-failed`,
    /// `member-died`, `stopped` or `failed-after`.
    pub kind: String,
    /// How many.
    pub count: u64,
    /// One sentence.
    pub sentence: String,
}

impl Irregularity {
    /// The sentence with what it is about, for where no name stands beside it.
    pub fn told(&self) -> String {
        match self.phase {
            Some(_) => format!("{}: {}", self.name, self.sentence),
            None => self.sentence.clone(),
        }
    }
}

/// Everything that is wrong beside missed windows.
pub fn irregularities(record: &RunRecord) -> Vec<Irregularity> {
    let mut found = Vec::new();
    for (number, phase) in record.phases.iter().enumerate() {
        let index = Index::new(phase);
        let mut findings = Findings { record, number, phase, index: &index, found: &mut found };
        findings.of_tasks(record.ending.is_whole());
        findings.of_channels();
        findings.of_works();
        findings.of_failed_runs();
        findings.of_events();
    }
    if let Some(reason) = record.ending.reason() {
        found.push(Irregularity {
            phase: None,
            name: record.job.clone(),
            kind: if record.ending.is_whole() { "failed-after" } else { "stopped" }.to_owned(),
            count: 1,
            sentence: match record.ending {
                Ending::FailedAfter(_) => format!("the run had come to its end; after that {reason}"),
                _ => format!("the run was ended: {reason}"),
            },
        });
    }
    found
}

/// What is found in one phase.
struct Findings<'f> {
    record: &'f RunRecord,
    number: usize,
    phase: &'f Phase,
    index: &'f Index<'f>,
    found: &'f mut Vec<Irregularity>,
}

impl Findings<'_> {
    fn report(&mut self, name: String, kind: &str, count: u64, sentence: String) {
        if count > 0 {
            let (phase, kind) = (Some(self.number), kind.to_owned());
            self.found.push(Irregularity { phase, name, kind, count, sentence });
        }
    }

    fn of_tasks(&mut self, completed: bool) {
        let phase = self.phase;
        for (task, tasks) in phase.tasks.iter().enumerate() {
            let name = self.index.task_name(task);
            let lost = tasks.records_lost;
            let sentence = format!("{lost} records of instances were overwritten before they were read");
            self.report(name.clone(), RECORDS_LOST, lost, sentence);
            let member = phase.job.tasks.get(task).map_or(u16::MAX, |model| model.member.0);
            let missed = tasks.thinned.missed;
            self.report(name.clone(), MISSES_NOT_KEPT, missed, not_kept(missed));
            let sentence = untrue(self.index, member, tasks.implausible);
            self.report(name.clone(), IMPLAUSIBLE, tasks.implausible, sentence);
            let absent = unaccounted(phase, task, completed);
            let why = match stopped_at(phase, task) {
                Some(at) => {
                    format!(": the member was stopped by a signal {} and did not go on", instant(at))
                }
                None => match self.index.unended(task) {
                    Some((instance, at)) => {
                        format!(": instance {instance} began {} and never ended", instant(at))
                    }
                    None if absent > 0 => self.held(task),
                    None => String::new(),
                },
            };
            let sentence =
                format!("{absent} instances neither ran nor were skipped according to the record{why}");
            self.report(name, UNACCOUNTED, absent, sentence);
        }
    }

    /// What held a task whose record ends, in words, if that is known.
    fn held(&self, task: usize) -> String {
        let context = Context::new(self.record, self.number, self.phase);
        let from = hold::next_of(self.phase, task).map(|(_, from, _)| from);
        let held = from.and_then(|from| hold::of(&context, Silent { task, from, has_begun: false }));
        held.map_or_else(String::new, |hold| format!(": {}", hold.words))
    }

    fn of_channels(&mut self) {
        let phase = self.phase;
        for (channel, messages) in phase.channels.iter().enumerate() {
            let name = self.index.channel_name(channel);
            let lost = messages.records_lost;
            let sentence = format!("{lost} records of messages were overwritten before they were read");
            self.report(name.clone(), RECORDS_LOST, lost, sentence);
            let ends = phase.job.channels.get(channel).map(|model| (model.source.0, model.target.0));
            let (source, target) = ends.unwrap_or((u16::MAX, u16::MAX));
            let missed = messages.thinned.missed;
            self.report(name.clone(), MISSES_NOT_KEPT, missed, not_kept(missed));
            let implausible = messages.implausible;
            for (member, count) in [(source, implausible.source), (target, implausible.target)] {
                let sentence = untrue(self.index, member, count);
                self.report(name.clone(), IMPLAUSIBLE, count, sentence);
            }
            let sentence = format!("{} messages had wrong content", messages.corrupt);
            self.report(name.clone(), "corrupt", messages.corrupt, sentence);
            let sentence = format!("{} messages came out of order", messages.out_of_order);
            self.report(name, "out-of-order", messages.out_of_order, sentence);
        }
    }

    /// Transfers without a window that took longer than the deadline that their channel declares. Who held them up is not judged.
    fn of_works(&mut self) {
        for work in works(self.phase) {
            let (Some(beyond), Some(deadline)) = (work.beyond_deadline, work.deadline_ns) else { continue };
            let (of, longest) = (work.took_ns.count, Nanos(work.took_ns.max));
            let sentence = format!(
                "{beyond} of {of} recorded transfers took longer than their deadline of {deadline}, the longest {longest}; whose that is is not \
                 judged, so it counts as the job's"
            );
            self.report(work.name, BEYOND_DEADLINE, beyond, sentence);
        }
    }

    /// Failed runs of handlers and of tasks that events start. Each is told when it has come to 1, 2, 4 and so on.
    fn of_failed_runs(&mut self) {
        let mut failed: BTreeMap<(u16, &str), u64> = BTreeMap::new();
        for event in &self.phase.events {
            if let EventKind::RunsFailed { member, what, times } = &event.kind {
                let most = failed.entry((*member, what)).or_default();
                *most = (*most).max(*times);
            }
        }
        for ((member, what), times) in failed {
            let runs = if times == 1 { "a run".to_owned() } else { format!("{times} runs or more") };
            let sentence = format!("{runs} of {what} failed: it panicked, threw an exception or said so");
            self.report(self.index.member_name(member), RUNS_FAILED, times, sentence);
        }
    }

    fn of_events(&mut self) {
        for event in &self.phase.events {
            if let EventKind::CountDamaged { member, event } = &event.kind {
                let name = self.index.member_name(*member);
                let sentence = format!(
                    "something has written over the count of event \"{event}\" in the memory of member {name}: its firings were not delivered \
                     while that was so"
                );
                self.report(name, IMPLAUSIBLE, 1, sentence);
            }
            if let EventKind::MemberDied { member, how } = &event.kind
                && !is_told_elsewhere(self.record, self.number, event)
            {
                let sentence = match event.at {
                    Nanos(0..) => format!("the member died at {} after the epoch ({how})", event.at),
                    before => format!("the member died {} ({how})", instant(before)),
                };
                let name = self.index.member_name(*member);
                self.report(name, MEMBER_DIED, 1, sentence);
            }
        }
    }
}

/// Misses beyond those that are kept, in words.
fn not_kept(missed: u64) -> String {
    format!(
        "{missed} more missed: the details of so many misses exceed the limit of the record, so that these were only counted; \
         nothing proves them the machine's"
    )
}

/// What a member said that cannot be true, in words.
fn untrue(index: &Index<'_>, member: u16, count: u64) -> String {
    let member = index.member_name(member);
    let records = if count == 1 { "record or count" } else { "records or counts" };
    format!(
        "{count} {records} in the memory of member {member} cannot be true by the plan and the clock, and were left out: \
         something has written over its memory, or it does not use this library"
    )
}

/// Around a switch an event stands in the records of both phases. It is told of the one in whose time it was.
fn is_told_elsewhere(record: &RunRecord, number: usize, event: &Event) -> bool {
    let when = record.phases[number].epoch_monotonic + event.at;
    record.phases.iter().enumerate().any(|(other, phase)| {
        let is_of_it = if event.at < Nanos::ZERO {
            other < number
        } else {
            other > number && phase.epoch_monotonic <= when
        };
        let is_same = |found: &Event| phase.epoch_monotonic + found.at == when && found.kind == event.kind;
        is_of_it && phase.events.iter().any(is_same)
    })
}

/// Instances planned to start before `end`; one whose window lies beyond its period starts later.
fn due(phase: &Phase, task: usize, end: Nanos) -> u64 {
    let hyperperiod = phase.plan.hyperperiod.0.max(1);
    let planned = phase.plan.tasks.get(task).map_or(&[][..], |planned| &planned.instances);
    let before =
        |start: i64| (end.0.saturating_sub(start).saturating_add(hyperperiod - 1) / hyperperiod).max(0);
    planned.iter().map(|instance| before(instance.start().0) as u64).fold(0, u64::saturating_add)
}

/// Until when instances must be accounted for: the last round may be partial; a run that was cut short went on for as long as the last of all
/// its instances began or members died, but no longer than was ordered; after its member's death a task owes nothing.
fn accountable(phase: &Phase, task: usize, completed: bool) -> Nanos {
    let round = Nanos(phase.plan.hyperperiod.0.max(1));
    let rounds = i64::try_from(phase.rounds).unwrap_or(i64::MAX);
    let declared = round.saturating_mul(rounds.saturating_sub(1).max(0));
    let mut deaths = phase.events.iter().filter_map(|event| match event.kind {
        EventKind::MemberDied { member, .. } | EventKind::MemberEnded { member, .. } => {
            Some((member, event.at))
        }
        _ => None,
    });
    let end = if completed && deaths.clone().next().is_none() {
        declared
    } else {
        let last = phase.tasks.iter().filter_map(|task| task.instances.last()).map(|last| last.planned).max();
        // Tasks that were starved until their members were ended recorded nothing for long before.
        let last = last.max(deaths.clone().map(|(_, at)| at).max()).unwrap_or(Nanos::ZERO);
        declared.min(last - round)
    };
    let member = phase.job.tasks.get(task).map(|model| model.member.0);
    let end = left_off_at(phase, task).map_or(end, |left| end.min(left));
    let death = deaths.find(|(rank, _)| Some(*rank) == member);
    // One that stood still when it was ended did not do in its last second what was lost with it.
    death.map_or(end, |(_, at)| {
        // Nor did one whose body had begun long before.
        let began = |event: &Event| match event.kind {
            EventKind::NeverEnded { task: of, .. } => usize::from(of) == task && event.at + DYING < at,
            _ => false,
        };
        let is_held = stopped_at(phase, task).is_some() || phase.events.iter().any(began);
        end.min(at - if is_held { round } else { round.max(DYING) })
    })
}

/// From when on a task owes nothing since its member had asked for the end of the run, or failed.
fn left_off_at(phase: &Phase, task: usize) -> Option<Nanos> {
    let left = hold::left_off(phase, phase.job.tasks.get(task)?.member.0)?;
    let windows = phase.plan.tasks.get(task)?.instances.iter();
    let longest = windows.map(|instance| instance.latest - instance.start()).max()?;
    let (_, next, _) = hold::next_of(phase, task)?;
    // What it was in kept it from these.
    let is_overtaken = phase.tasks.get(task)?.instances.last().is_some_and(|last| last.ended > next);
    Some(if is_overtaken { next.min(left.since) } else { left.since - longest })
}

/// When a task's member was stopped, if it did not go on.
fn stopped_at(phase: &Phase, task: usize) -> Option<Nanos> {
    let member = phase.job.tasks.get(task).map(|model| model.member.0);
    let mut stopped = None;
    for event in &phase.events {
        match event.kind {
            EventKind::MemberStopped { member: rank } if Some(rank) == member => stopped = Some(event.at),
            EventKind::MemberContinued { member: rank } if Some(rank) == member => stopped = None,
            _ => {}
        }
    }
    stopped
}

/// Instances that must have been and of which nothing is known. Lost records are reported as such.
fn unaccounted(phase: &Phase, task: usize, completed: bool) -> u64 {
    let Some(record) = phase.tasks.get(task) else { return 0 };
    let holes = record
        .instances
        .windows(2)
        .map(|pair| pair[1].instance.saturating_sub(pair[0].instance).saturating_sub(1))
        .fold(0, u64::saturating_add);
    let due = due(phase, task, accountable(phase, task, completed));
    let after = |last: &InstanceRecord| last.instance.saturating_add(1).saturating_sub(record.before);
    let reached = record.instances.last().map_or(0, after);
    let tail = due.saturating_sub(reached);
    holes.saturating_add(tail).saturating_sub(record.records_lost).saturating_sub(record.thinned.count)
}
