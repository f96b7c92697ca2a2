//! Commits that have ended, within a bound however many there are: when they take too much, the oldest lose their details, and those of the
//! same plan become one sum. Commits without a miss go first.

use leveret_plan::{Plan, PlannedTask, Qos};
use leveret_report::journal::{Grown, Growth, PhaseBegun};
use leveret_report::record::{
    AloneProbe, ChannelRecord, DataPathCounts, Event, EventKind, InstanceRecord, MessageRecord, Phase,
    SwitchEvent, TaskRecord, TimerInterrupt,
};
use leveret_report::thinned::{Distribution, ThinnedInstances, ThinnedMessages};
use leveret_types::Nanos;

/// Commits that are kept apart: the report has a section for each.
const APART_MAX: usize = 256;
/// Events of a sum.
const EVENTS_MAX: usize = 4096;
/// A value of a distribution in a map.
const VALUE_BYTES: usize = 48;

/// Commits that have ended, in the order of their epochs.
#[derive(Default)]
pub(crate) struct Ended {
    held: Vec<Held>,
    /// Commits that are in sums.
    folded: u64,
}

/// One commit, or the sum of several.
struct Held {
    phase: Phase,
    /// In the journal, if it is there.
    number: Option<u32>,
    /// How many are in the sum; 0: it is none.
    sum_of: u64,
    bytes: usize,
}

/// What a folding changes in the journal.
#[derive(Default)]
pub(crate) struct Fold {
    /// Phases that are in sums from here on.
    pub(crate) gone: Vec<u32>,
    /// All sums.
    pub(crate) sums: Vec<Sum>,
}

/// A sum as the journal has it: a phase with all that is known of it.
#[derive(Clone)]
pub(crate) struct Sum {
    pub(crate) begun: PhaseBegun,
    pub(crate) growth: Growth,
}

impl Ended {
    /// How many there have been.
    pub(crate) fn count(&self) -> u64 {
        self.held.iter().filter(|held| held.sum_of == 0).count() as u64 + self.folded
    }

    /// Who died first in the last one, and how.
    pub(crate) fn first_death(&self) -> Option<(usize, &str)> {
        self.held.last()?.phase.events.iter().find_map(|event| match &event.kind {
            EventKind::MemberDied { member, how } => Some((usize::from(*member), how.as_str())),
            _ => None,
        })
    }

    pub(crate) fn folded(&self) -> u64 {
        self.folded
    }

    /// Bytes that they take.
    pub(crate) fn bytes(&self) -> usize {
        self.held.iter().map(|held| held.bytes).sum()
    }

    /// One more has ended, which has this number in the journal.
    pub(crate) fn push(&mut self, phase: Phase, number: Option<u32>) {
        let bytes = bytes(&phase);
        self.held.push(Held { phase, number, sum_of: 0, bytes });
    }

    /// Whether they take more than that, or are too many.
    pub(crate) fn are_beyond(&self, most: usize) -> bool {
        self.bytes() > most || self.held.len() > APART_MAX
    }

    /// Folds the oldest until they take half as much, as far as that goes.
    pub(crate) fn fold(&mut self, most: usize, mut number: impl FnMut() -> u32) -> Fold {
        let mut gone = Vec::new();
        for takes_misses in [false, true] {
            let mut is_needed = self.bytes() > most / 2 || self.held.len() > APART_MAX / 2;
            let (mut bytes, mut apart) = (self.bytes(), self.held.len());
            let (mut sums, mut rest) = (Vec::new(), Vec::new());
            for held in std::mem::take(&mut self.held) {
                if held.sum_of > 0 {
                    sums.push(held);
                } else if is_needed && (takes_misses || !has_failed(&held.phase)) {
                    gone.extend(held.number);
                    (bytes, apart) = (bytes.saturating_sub(held.bytes), apart - 1);
                    self.folded += 1;
                    add_to(&mut sums, held, &mut number);
                    is_needed = bytes > most / 2 || apart > APART_MAX / 2;
                } else {
                    rest.push(held);
                }
            }
            sums.iter_mut().for_each(|sum| sum.bytes = self::bytes(&sum.phase));
            sums.append(&mut rest);
            self.held = sums;
            if !self.are_beyond(most) {
                break;
            }
        }
        let sums = self.held.iter().filter(|held| held.sum_of > 0).filter_map(Held::journalled).collect();
        Fold { gone, sums }
    }

    pub(crate) fn into_phases(mut self) -> Vec<Phase> {
        self.held.sort_by_key(|held| held.phase.epoch_monotonic);
        self.held.into_iter().map(|held| held.phase).collect()
    }
}

/// Adds a commit to the sum of those with its plan.
fn add_to(sums: &mut Vec<Held>, held: Held, number: impl FnOnce() -> u32) {
    let (stripped, in_journal) = (strip(held.phase), held.number.is_some());
    let is_its = |sum: &&mut Held| (&sum.phase.job, &sum.phase.plan) == (&stripped.job, &stripped.plan);
    match sums.iter_mut().find(is_its) {
        Some(sum) => {
            sum.sum_of += 1;
            merge(&mut sum.phase, stripped);
            sum.phase.label = label(sum.sum_of);
        }
        None => {
            let phase = Phase { label: label(1), ..stripped };
            sums.push(Held { phase, number: in_journal.then(number), sum_of: 1, bytes: 0 });
        }
    }
}

fn label(sum_of: u64) -> String {
    match sum_of {
        1 => "an earlier commit".to_owned(),
        count => format!("{count} earlier commits"),
    }
}

impl Held {
    fn journalled(&self) -> Option<Sum> {
        let (number, phase) = (self.number?, &self.phase);
        let task = |(index, record): (usize, &TaskRecord)| {
            let thinned = Some(record.thinned.clone());
            let record = TaskRecord { thinned: ThinnedInstances::default(), ..record.clone() };
            (index as u16, Grown { record, dropped: Vec::new(), thinned })
        };
        let channel = |(index, record): (usize, &ChannelRecord)| {
            let thinned = Some(record.thinned.clone());
            let record = ChannelRecord { thinned: ThinnedMessages::default(), ..record.clone() };
            (index as u16, Grown { record, dropped: Vec::new(), thinned })
        };
        let growth = Growth {
            number,
            rounds: phase.rounds,
            tasks: phase.tasks.iter().enumerate().map(task).collect(),
            channels: phase.channels.iter().enumerate().map(channel).collect(),
            events: phase.events.clone(),
            ended: Some(phase.alone.clone()),
            ..Growth::default()
        };
        let begun = PhaseBegun {
            number,
            label: phase.label.clone(),
            job: phase.job.clone(),
            plan: phase.plan.clone(),
            epoch_monotonic: phase.epoch_monotonic,
        };
        Some(Sum { begun, growth })
    }
}

/// About what a commit takes in memory, its model and plan included.
fn bytes(phase: &Phase) -> usize {
    let distribution = |found: &Distribution| found.counts.len() * VALUE_BYTES;
    let task = |task: &TaskRecord| {
        let ThinnedInstances { wake_lateness, start_lateness, execution, slack, .. } = &task.thinned;
        let values = [wake_lateness, start_lateness, execution, slack].map(distribution);
        size_of::<TaskRecord>()
            + task.instances.len() * size_of::<InstanceRecord>()
            + values.iter().sum::<usize>()
    };
    let channel = |channel: &ChannelRecord| {
        let ThinnedMessages { latency, insert_to_taken, available_to_taken, .. } = &channel.thinned;
        let values = [latency, insert_to_taken, available_to_taken].map(distribution);
        size_of::<ChannelRecord>()
            + channel.messages.len() * size_of::<MessageRecord>()
            + values.iter().sum::<usize>()
    };
    let log = phase.switches.len() * size_of::<SwitchEvent>()
        + phase.timers.len() * size_of::<TimerInterrupt>()
        + phase.events.len() * size_of::<Event>()
        + phase.alone.lateness_ns.len() * size_of::<u32>();
    let model = size_of_val(&phase.job.tasks[..])
        + size_of_val(&phase.job.channels[..])
        + size_of_val(&phase.job.sporadics[..])
        + phase.plan.tasks.iter().map(|task| size_of_val(&task.instances[..])).sum::<usize>()
        + phase.plan.channels.iter().map(|channel| size_of_val(&channel.instances[..])).sum::<usize>();
    let tasks: usize = phase.tasks.iter().map(task).sum();
    let channels: usize = phase.channels.iter().map(channel).sum();
    size_of::<Phase>() + tasks + channels + log + model
}

/// Whether anything in it is worth its details.
fn has_failed(phase: &Phase) -> bool {
    let task = |task: &TaskRecord| {
        task.records_lost + task.implausible + task.thinned.missed > 0
            || task.instances.iter().any(InstanceRecord::is_missed)
    };
    let channel = |channel: &ChannelRecord| {
        let implausible = channel.implausible.source + channel.implausible.target;
        channel.records_lost + channel.corrupt + channel.out_of_order + channel.thinned.missed + implausible
            > 0
            || channel.messages.iter().any(MessageRecord::is_missed)
    };
    phase.tasks.iter().any(task)
        || phase.channels.iter().any(channel)
        || phase.events.iter().any(is_for_ever)
        || (0..phase.tasks.len()).any(|task| absent(phase, task) > 0)
}

/// What fails a run by itself.
fn is_for_ever(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::MemberDied { .. } | EventKind::MemberRestarted { .. } | EventKind::CountDamaged { .. }
    )
}

/// Instances of a task that are accounted for.
fn accounted(task: &TaskRecord) -> u64 {
    (task.instances.len() as u64).saturating_add(task.thinned.count).saturating_add(task.records_lost)
}

/// Instances of a task that start before `end`, and that nobody accounts for.
fn absent_before(phase: &Phase, task: usize, end: Nanos) -> u64 {
    let slots = phase.plan.tasks.get(task).map_or(&[][..], |planned| &planned.instances);
    let round = phase.plan.hyperperiod.0.max(1);
    // One whose window lies beyond its period starts later.
    let due =
        |start: i64| (end.0.saturating_sub(start).saturating_add(round - 1) / round).max(0).unsigned_abs();
    let due = slots.iter().map(|instance| due(instance.start().0)).fold(0, u64::saturating_add);
    due.saturating_sub(phase.tasks.get(task).map_or(0, accounted))
}

/// Instances that nobody accounts for, the last round aside, which may be partial.
fn absent(phase: &Phase, task: usize) -> u64 {
    let rounds = i64::try_from(phase.rounds.saturating_sub(1)).unwrap_or(i64::MAX);
    absent_before(phase, task, phase.plan.hyperperiod.saturating_mul(rounds))
}

/// Whether a commit that was to last until `end`, and is over `now`, has run all that it was to run. Of members that did not stop then, and were
/// waited for until they were ended for it, nothing is asked: who lacks instances to the end has not cut the run.
pub(crate) fn is_whole(phase: &Phase, end: Nanos, now: Nanos, outstayed: impl Fn(&str) -> bool) -> bool {
    let span = end - phase.epoch_monotonic;
    let is_asked = |task: &usize| {
        let member = phase.job.tasks.get(*task).and_then(|model| phase.job.members.get(model.member.index()));
        member.is_none_or(|member| !outstayed(&member.name))
    };
    let asked: Vec<usize> = (0..phase.tasks.len()).filter(is_asked).collect();
    end < Nanos::MAX
        && (now >= end || !asked.is_empty())
        && asked.into_iter().all(|task| absent_before(phase, task, span) == 0)
}

/// Rounds of which every instance is accounted for.
fn whole_rounds(tasks: &[TaskRecord], plan: &Plan) -> u64 {
    let rounds = |(task, planned): (&TaskRecord, &PlannedTask)| {
        accounted(task).checked_div(planned.instances.len() as u64)
    };
    tasks.iter().zip(&plan.tasks).filter_map(rounds).min().unwrap_or(u64::MAX)
}

/// The commit without its details: counts and distributions. Instances that nobody accounts for are counted as lost.
fn strip(mut phase: Phase) -> Phase {
    for task in 0..phase.tasks.len() {
        phase.tasks[task].records_lost += absent(&phase, task);
    }
    phase.rounds = phase.rounds.min(whole_rounds(&phase.tasks, &phase.plan));
    let guard = phase.plan.costs.guard;
    for (task, model) in phase.tasks.iter_mut().zip(&phase.job.tasks) {
        for instance in std::mem::take(&mut task.instances) {
            task.thinned.add(&instance, guard, model.budget);
        }
    }
    for (channel, model) in phase.channels.iter_mut().zip(&phase.job.channels) {
        let is_time_driven = matches!(model.qos, Qos::TimeDriven { .. });
        for message in std::mem::take(&mut channel.messages) {
            channel.thinned.add(&message, is_time_driven);
        }
    }
    phase.events.retain(is_for_ever);
    Phase { switches: Vec::new(), timers: Vec::new(), alone: AloneProbe::default(), ..phase }
}

/// Adds what is known of a commit to a sum of the same plan.
fn merge(sum: &mut Phase, other: Phase) {
    sum.rounds = sum.rounds.saturating_add(other.rounds);
    for (sum, other) in sum.tasks.iter_mut().zip(other.tasks) {
        (sum.thread, sum.priority) = (other.thread, other.priority);
        sum.records_lost += other.records_lost;
        sum.implausible += other.implausible;
        sum.overrun_signals = sum.overrun_signals.saturating_add(other.overrun_signals);
        sum.spin_total = sum.spin_total + other.spin_total;
        for (sum, other) in sum.gaps.iter_mut().zip(other.gaps) {
            *sum = sum.saturating_add(other);
        }
        merge_data_path(&mut sum.data_path, &other.data_path);
        merge_instances(&mut sum.thinned, &other.thinned);
    }
    for (sum, other) in sum.channels.iter_mut().zip(other.channels) {
        sum.records_lost += other.records_lost;
        sum.implausible.source += other.implausible.source;
        sum.implausible.target += other.implausible.target;
        sum.corrupt += other.corrupt;
        sum.out_of_order += other.out_of_order;
        sum.sent = both(sum.sent, other.sent);
        sum.taken = both(sum.taken, other.taken);
        sum.refused = both(sum.refused, other.refused);
        merge_messages(&mut sum.thinned, &other.thinned);
    }
    let between = other.epoch_monotonic - sum.epoch_monotonic;
    let events = other.events.into_iter().map(|event| Event { at: event.at + between, ..event });
    sum.events.extend(events);
    sum.events.truncate(EVENTS_MAX);
}

/// A sum of what is known, if both are.
fn both(sum: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(sum?.saturating_add(other?))
}

fn merge_data_path(sum: &mut DataPathCounts, other: &DataPathCounts) {
    *sum = DataPathCounts {
        allocations: both(sum.allocations, other.allocations),
        page_faults: both(sum.page_faults, other.page_faults),
        involuntary_switches: both(sum.involuntary_switches, other.involuntary_switches),
        system_calls: both(sum.system_calls, other.system_calls),
        planned_sleeps: sum.planned_sleeps.saturating_add(other.planned_sleeps),
    };
}

fn merge_instances(sum: &mut ThinnedInstances, other: &ThinnedInstances) {
    merge_thinned(
        [
            (&mut sum.count, other.count),
            (&mut sum.skipped, other.skipped),
            (&mut sum.missed, other.missed),
            (&mut sum.over_budget, other.over_budget),
        ],
        [
            (&mut sum.wake_lateness, &other.wake_lateness),
            (&mut sum.start_lateness, &other.start_lateness),
            (&mut sum.execution, &other.execution),
            (&mut sum.slack, &other.slack),
        ],
    );
}

fn merge_messages(sum: &mut ThinnedMessages, other: &ThinnedMessages) {
    merge_thinned(
        [
            (&mut sum.count, other.count),
            (&mut sum.taken, other.taken),
            (&mut sum.untaken, other.untaken),
            (&mut sum.missed, other.missed),
        ],
        [
            (&mut sum.latency, &other.latency),
            (&mut sum.insert_to_taken, &other.insert_to_taken),
            (&mut sum.available_to_taken, &other.available_to_taken),
        ],
    );
}

/// Each count and distribution of a sum with that of the other.
fn merge_thinned<const DISTRIBUTIONS: usize>(
    counts: [(&mut u64, u64); 4],
    distributions: [(&mut Distribution, &Distribution); DISTRIBUTIONS],
) {
    counts.into_iter().for_each(|(sum, other)| *sum = sum.saturating_add(other));
    distributions.into_iter().for_each(|(sum, other)| merge_distribution(sum, other));
}

fn merge_distribution(sum: &mut Distribution, other: &Distribution) {
    if other.count == 0 {
        return;
    }
    (sum.min, sum.max) = match sum.count {
        0 => (other.min, other.max),
        _ => (sum.min.min(other.min), sum.max.max(other.max)),
    };
    sum.count = sum.count.saturating_add(other.count);
    sum.sum = sum.sum.saturating_add(other.sum);
    for (value, count) in &other.counts {
        let of_value = sum.counts.entry(*value).or_insert(0);
        *of_value = of_value.saturating_add(*count);
    }
}

#[cfg(test)]
#[path = "ended_tests.rs"]
mod tests;
