//! The plan of one hyperperiod and what was measured in some rounds of it.

use crate::Report;
use crate::lookup::Index;
use crate::record::{Fate, InstanceRecord, Outcome, Phase};
use crate::verdict::Subject;
use leveret_types::Nanos;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Most measured instances in the page, all phases together.
const INSTANCES_MAX: usize = 12_000;
/// Most rounds of a phase in the page.
const ROUNDS_MAX: usize = 400;
/// Most planned instances that are drawn; a longer hyperperiod is cut.
const PLANNED_MAX: usize = 3_000;
/// Most rounds with a miss among them.
const MISS_ROUNDS_MAX: usize = 120;

/// Up to where the hyperperiod is drawn: to its end unless it holds more instances than a page can.
pub(super) fn horizon(phase: &Phase) -> Nanos {
    let instances = phase.plan.tasks.iter().flat_map(|task| &task.instances);
    let mut starts: Vec<Nanos> = instances.map(|instance| instance.start()).collect();
    if starts.len() <= PLANNED_MAX {
        return phase.plan.hyperperiod;
    }
    starts.sort_unstable();
    starts[PLANNED_MAX].min(phase.plan.hyperperiod)
}

/// The time table up to the horizon.
pub(super) fn plan(phase: &Phase) -> Value {
    let index = Index::new(phase);
    let horizon = horizon(phase);
    let tasks: Vec<Value> = phase
        .plan
        .tasks
        .iter()
        .enumerate()
        .map(|(task, planned)| {
            let instances: Vec<Value> = planned
                .instances
                .iter()
                .filter(|instance| instance.start() <= horizon)
                .map(|instance| {
                    let segments: Vec<[i64; 2]> =
                        instance.segments.iter().map(|segment| [segment.start.0, segment.end.0]).collect();
                    json!({ "earliest": instance.earliest, "latest": instance.latest, "segments": segments })
                })
                .collect();
            let member = index.member(task).map_or_else(String::new, |rank| index.member_name(rank));
            json!({
                "name": index.task_name(task), "member": member, "core": planned.core,
                "budget": index.budget(task), "instances": instances,
            })
        })
        .collect();
    let channels: Vec<Value> = phase
        .plan
        .channels
        .iter()
        .enumerate()
        .map(|(channel, planned)| {
            let transfers: Vec<[i64; 2]> = planned
                .instances
                .iter()
                .map(|transfer| [transfer.insert_by.0, transfer.visible_at.0])
                .collect();
            let end = |end: Option<(usize, u64)>| end.map(|(task, _)| task);
            // A reader of round 0 may read what was written before it, so ask for a later instance.
            let later = index.first_of_channel(channel).saturating_add(planned.instances.len() as u64);
            json!({
                "name": index.channel_name(channel), "transfers": transfers,
                "writer": end(index.writer(channel, later)), "reader": end(index.reader(channel, later)),
            })
        })
        .collect();
    json!({ "guard": phase.plan.costs.guard, "tasks": tasks, "channels": channels })
}

/// Measured rounds: the typical, the worst, those with misses, and an even choice of the others.
pub(super) fn rounds(report: &Report<'_>, number: usize, phase: &Phase, phases: usize) -> Value {
    let hyperperiod = phase.plan.hyperperiod.0.max(1);
    let round_of = |at: Nanos| u64::try_from(at.0.div_euclid(hyperperiod)).unwrap_or(0);
    let scores = scores(phase, round_of);
    let index = Index::new(phase);
    let missed: BTreeSet<u64> = report
        .assessment
        .misses
        .iter()
        .filter(|miss| miss.phase == number)
        .map(|miss| round_of(planned_start(&index, miss.subject, miss.instance).unwrap_or(miss.deadline)))
        .collect();
    let mut order: Vec<(i64, u64)> = scores.iter().map(|(&round, &score)| (score, round)).collect();
    order.sort_unstable();
    let typical = order.get(order.len() / 2).map(|&(_, round)| round);
    let worst = order.last().map(|&(_, round)| round);
    let per_round =
        phase.plan.tasks.iter().map(|task| task.instances.len()).sum::<usize>().clamp(1, PLANNED_MAX);
    let room = (INSTANCES_MAX / phases / per_round).clamp(3, ROUNDS_MAX);
    let mut chosen: BTreeSet<u64> = typical.into_iter().chain(worst).collect();
    chosen.extend(missed.iter().take(MISS_ROUNDS_MAX.min(room)));
    let all: Vec<u64> = scores.keys().copied().collect();
    let step = all.len().div_ceil(room.saturating_sub(chosen.len()).max(1)).max(1);
    chosen.extend(all.iter().step_by(step));
    let measured = measured(phase, &chosen, round_of);
    json!({
        "typical": typical,
        "worst": worst,
        "missed": missed.iter().filter(|round| chosen.contains(round)).collect::<Vec<_>>(),
        "rounds": measured,
    })
}

/// The planned start of the instance that missed, so that a miss belongs to the round in which it began.
fn planned_start(index: &Index<'_>, subject: Subject, instance: u64) -> Option<Nanos> {
    let (task, instance) = match subject {
        Subject::Task(task) => (task, instance),
        Subject::Channel(channel) => index.writer(channel, instance)?,
    };
    index.instance(task, instance).map(|(_, record)| record.planned)
}

/// Per round the greatest lateness of any start; a skipped instance counts as late by all its delay.
fn scores(phase: &Phase, round_of: impl Fn(Nanos) -> u64) -> BTreeMap<u64, i64> {
    let mut scores = BTreeMap::new();
    for record in &phase.tasks {
        for instance in &record.instances {
            let late = (instance.started.max(instance.ended.min(instance.started)) - instance.planned).0;
            let over = (instance.ended - instance.deadline).0.max(0);
            let score = late.max(0).saturating_add(over);
            let entry = scores.entry(round_of(instance.planned)).or_insert(0);
            *entry = (*entry).max(score);
        }
    }
    scores
}

/// Rows of the chosen rounds, in nanoseconds from the round's beginning.
fn measured(phase: &Phase, chosen: &BTreeSet<u64>, round_of: impl Fn(Nanos) -> u64) -> BTreeMap<u64, Value> {
    let base = |round: u64| i64::try_from(round).unwrap_or(0).saturating_mul(phase.plan.hyperperiod.0);
    let horizon = horizon(phase).0;
    let mut tasks: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for (task, record) in phase.tasks.iter().enumerate() {
        for instance in &record.instances {
            let round = round_of(instance.planned);
            if chosen.contains(&round) && instance.planned.0.saturating_sub(base(round)) <= horizon {
                tasks.entry(round).or_default().push(row(task, instance, base(round)));
            }
        }
    }
    let mut messages: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for (channel, record) in phase.channels.iter().enumerate() {
        for message in &record.messages {
            let first = round_of(message.inserted.unwrap_or(message.due));
            let last = round_of(message.taken.unwrap_or(message.due)).clamp(first, first.saturating_add(3));
            for round in (first..=last).filter(|round| chosen.contains(round)) {
                let relative = |at: Nanos| at.0.saturating_sub(base(round));
                if relative(message.inserted.unwrap_or(message.due)) > horizon {
                    continue;
                }
                messages.entry(round).or_default().push(json!([
                    channel,
                    message.instance,
                    message.inserted.map(relative),
                    relative(message.due),
                    message.taken.map(relative),
                    fate(message.fate),
                ]));
            }
        }
    }
    chosen
        .iter()
        .map(|round| {
            let tasks = tasks.remove(round).unwrap_or_default();
            let messages = messages.remove(round).unwrap_or_default();
            (*round, json!({ "tasks": tasks, "messages": messages }))
        })
        .collect()
}

fn row(task: usize, instance: &InstanceRecord, base: i64) -> Value {
    let relative = |at: Nanos| at.0.saturating_sub(base);
    let outcome = match instance.outcome {
        Outcome::Ran => 0,
        Outcome::RanLate => 1,
        Outcome::SkippedCritical => 2,
        Outcome::SkippedOverrun => 3,
    };
    json!([
        task,
        instance.instance,
        relative(instance.planned),
        relative(instance.woken),
        relative(instance.started),
        relative(instance.ended),
        relative(instance.deadline),
        relative(instance.gap_at),
        instance.gap.0,
        outcome,
    ])
}

fn fate(fate: Fate) -> &'static str {
    match fate {
        Fate::Taken => "taken",
        Fate::Untaken => "untaken",
        Fate::Late => "late",
        Fate::Missing => "missing",
        Fate::NoBuffer => "no buffer",
        Fate::Invalid => "invalid",
        Fate::NoRoom => "no room",
        Fate::Corrupt => "corrupt",
        Fate::TooLong => "too long",
    }
}
