//! Counts and percentiles per task and per channel.

use crate::record::{AloneProbe, ChannelRecord, DataPathCounts, Fate, Phase, RunRecord, TaskRecord};
use crate::thinned::Distribution;
use crate::verdict::{Miss, Party, Stage, Subject};
use crate::works::{WorkStatistics, works};
use hdrhistogram::Histogram;
use leveret_plan::Qos;
use leveret_types::Nanos;
use serde::Serialize;
use std::collections::BTreeMap;

/// Misses of a task or channel.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct MissCounts {
    /// The job's.
    pub misses_job: u64,
    /// Other processes'.
    pub misses_process: u64,
    /// The machine's.
    pub misses_machine: u64,
    /// All, by the stage that ate the time.
    pub misses_by_stage: BTreeMap<Stage, u64>,
}

impl MissCounts {
    /// All misses.
    pub fn all(&self) -> u64 {
        self.misses_job + self.others()
    }

    /// Those that are not the job's.
    pub fn others(&self) -> u64 {
        self.misses_process + self.misses_machine
    }
}

/// Percentiles of a quantity, in nanoseconds. Percentiles come from a histogram with three significant digits;
/// least, greatest and mean are exact.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Summary {
    /// How many values.
    pub count: u64,
    /// Least.
    pub min: i64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: i64,
    /// 99th percentile.
    pub p99: i64,
    /// 99.9th percentile.
    pub p999: i64,
    /// Greatest.
    pub max: i64,
}

/// What one task did.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TaskStatistics {
    /// Its name.
    pub name: String,
    /// Its member's name.
    pub member: String,
    /// Its processor.
    pub core: u32,
    /// Its budget.
    pub budget_ns: Nanos,
    /// Recorded instances.
    pub count: u64,
    /// Of those, without details: only counts and distributions of them are kept.
    pub thinned: u64,
    /// Of those, skipped.
    pub skipped: u64,
    /// Its misses.
    #[serde(flatten)]
    pub misses: MissCounts,
    /// Instances whose execution exceeded the budget, in time or not.
    pub over_budget: u64,
    /// Budgets that the kernel saw exceeded, by its signal (`SCHED_DEADLINE`).
    pub overrun_signals: u64,
    /// From the planned end of the sleep to the return from it.
    pub wake_lateness_ns: Summary,
    /// From the planned start to the start; of a skipped instance to the instant at which it was skipped.
    pub start_lateness_ns: Summary,
    /// Execution time of the body: processor time where it was measured, else from start to end.
    pub execution_ns: Summary,
    /// From the end to the end of the window.
    pub slack_ns: Summary,
    /// Counts over the data path.
    pub data_path: DataPathCounts,
    /// Time spent spinning before starts.
    pub spin_total_ns: Nanos,
    /// Records overwritten before they were read.
    pub records_lost: u64,
}

/// What one channel did.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ChannelStatistics {
    /// Its name.
    pub name: String,
    /// The sending member's name.
    pub source: String,
    /// The receiving member's name.
    pub target: String,
    /// Whether it is moved by the clock.
    pub time_driven: bool,
    /// Largest message.
    pub size_bytes: u64,
    /// Messages: those recorded, or, of a channel that the clock does not move, those sent.
    pub count: u64,
    /// Those of which the record has the instants, so that times can be told: all that the clock moves, and a sample of others.
    pub recorded: u64,
    /// Messages without details: only counts and distributions of them are kept.
    pub thinned: u64,
    /// In time and taken.
    pub taken: u64,
    /// In time, but nobody took it.
    pub untaken: u64,
    /// Of a channel that the clock does not move: attempts to send that found no free buffer.
    pub refused: u64,
    /// Its misses.
    #[serde(flatten)]
    pub misses: MissCounts,
    /// From insertion to the instant at which the message is there for the receiver; late messages are left out. Of a
    /// best-effort channel nothing: its messages are there at once, so there is no such time to measure.
    pub latency_ns: Summary,
    /// From insertion to taking.
    pub insert_to_taken_ns: Summary,
    /// From availability to taking.
    pub available_to_taken_ns: Summary,
    /// The plan's bound: from planned insertion to the end of the reader, or, of a channel beside the table, from the request
    /// to the end of the transfer. None where none is promised.
    pub latency_bound_ns: Option<Nanos>,
    /// Messages with wrong content.
    pub corrupt: u64,
    /// Messages out of order.
    pub out_of_order: u64,
    /// Records overwritten before they were read.
    pub records_lost: u64,
}

/// What one phase did.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PhaseStatistics {
    /// Its label.
    pub label: String,
    /// Hyperperiods.
    pub rounds: u64,
    /// The plan's hyperperiod.
    pub hyperperiod_ns: Nanos,
    /// Per task.
    pub tasks: Vec<TaskStatistics>,
    /// Per channel.
    pub channels: Vec<ChannelStatistics>,
    /// Per work beside the time table.
    pub works: Vec<WorkStatistics>,
}

/// Counts over the data path of all tasks; `None` where no task could count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct DataPathTotals {
    /// Heap calls after commit.
    pub allocations_after_commit: Option<u64>,
    /// Page faults.
    pub page_faults: Option<u64>,
    /// Involuntary context switches.
    pub involuntary_switches: Option<u64>,
    /// System calls.
    pub system_calls: Option<u64>,
    /// Planned sleeps.
    pub planned_sleeps: u64,
}

/// What a bare timer showed beside all phases in which it had this core, period and scheduling.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AloneStatistics {
    /// The core it ran on.
    pub core: u32,
    /// Its period.
    pub period_ns: Nanos,
    /// Its scheduling, such as `SCHED_FIFO 1`.
    pub scheduling: String,
    /// How late it was.
    pub lateness_ns: Summary,
}

impl AloneStatistics {
    /// What was measured, in words.
    pub(crate) fn describe(&self) -> String {
        let Self { core, period_ns, scheduling, .. } = self;
        format!("a bare clock_nanosleep every {period_ns} on core {core} ({scheduling})")
    }
}

/// What a run did.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RunStatistics {
    /// Hyperperiods of all phases.
    pub rounds: u64,
    /// Per phase.
    pub phases: Vec<PhaseStatistics>,
    /// The bare timer, once for each way in which it was measured.
    pub machine_alone: Vec<AloneStatistics>,
    /// All tasks of all phases.
    pub data_path: DataPathTotals,
}

impl ChannelStatistics {
    /// How many messages there were, and of how many the times are known.
    pub(crate) fn count_told(&self) -> String {
        match self.time_driven {
            true => self.count.to_string(),
            false => format!("{} ({} recorded)", self.count, self.recorded),
        }
    }
}

impl PhaseStatistics {
    /// Whether anything was planned that could be missed.
    pub fn has_windows(&self) -> bool {
        !self.tasks.is_empty() || self.channels.iter().any(|channel| channel.time_driven)
    }
}

impl Summary {
    /// Summarises values; negative ones count as zero in the percentiles.
    pub fn of(values: impl IntoIterator<Item = i64>) -> Self {
        Self::with(values, &Distribution::default())
    }

    /// Summarises values and a distribution of others.
    pub fn with(values: impl IntoIterator<Item = i64>, others: &Distribution) -> Self {
        let Ok(mut histogram) = Histogram::<u64>::new(3) else {
            return Self::default();
        };
        let (mut min, mut max, mut sum, mut count) = (i64::MAX, i64::MIN, 0_f64, 0_u64);
        for value in values {
            // It grows as needed; the clamp keeps every value within what it can grow to.
            let _ = histogram.record(u64::try_from(value).unwrap_or(0).min(1 << 62));
            (min, max, count) = (min.min(value), max.max(value), count + 1);
            sum += value as f64;
        }
        for (&value, &times) in &others.counts {
            let _ = histogram.record_n(value.min(1 << 62), times);
        }
        if others.count > 0 {
            // A record says anything: which of the two is the less is not believed.
            (min, max) = (min.min(others.min).min(others.max), max.max(others.max).max(others.min));
            count = count.saturating_add(others.count);
            sum += others.sum as f64;
        }
        if count == 0 {
            return Self::default();
        }
        let at = |quantile: f64| {
            let value = i64::try_from(histogram.value_at_quantile(quantile)).unwrap_or(i64::MAX);
            value.clamp(min, max)
        };
        Self { count, min, mean: sum / count as f64, p50: at(0.5), p99: at(0.99), p999: at(0.999), max }
    }
}

/// Computes the statistics of a run; `misses` are its verdicts.
pub fn statistics(record: &RunRecord, misses: &[Miss]) -> RunStatistics {
    let phases: Vec<PhaseStatistics> = record
        .phases
        .iter()
        .enumerate()
        .map(|(number, phase)| PhaseStatistics {
            label: phase.label.clone(),
            rounds: phase.rounds,
            hyperperiod_ns: phase.plan.hyperperiod,
            tasks: phase
                .tasks
                .iter()
                .enumerate()
                .map(|(task, of)| of_task(phase, number, task, of, misses))
                .collect(),
            channels: phase
                .channels
                .iter()
                .enumerate()
                .map(|(channel, of)| of_channel(phase, number, channel, of, misses))
                .collect(),
            works: works(phase),
        })
        .collect();
    RunStatistics {
        rounds: phases.iter().fold(0, |sum: u64, phase| sum.saturating_add(phase.rounds)),
        machine_alone: alone(record),
        data_path: totals(record),
        phases,
    }
}

/// In the order in which they were measured first. Beside two plans the timer has two periods, and perhaps two cores, so that what it
/// showed there does not compare.
fn alone(record: &RunRecord) -> Vec<AloneStatistics> {
    let mut found: Vec<(&AloneProbe, Vec<i64>)> = Vec::new();
    for probe in record.phases.iter().map(|phase| &phase.alone).filter(|probe| !probe.lateness_ns.is_empty())
    {
        let how = |probe: &AloneProbe| (probe.core, probe.period, probe.scheduling.clone());
        let late = probe.lateness_ns.iter().map(|&late| i64::from(late));
        match found.iter_mut().find(|(known, _)| how(known) == how(probe)) {
            Some((_, values)) => values.extend(late),
            None => found.push((probe, late.collect())),
        }
    }
    let summarised = found.into_iter().map(|(probe, values)| AloneStatistics {
        core: probe.core,
        period_ns: probe.period,
        scheduling: probe.scheduling.clone(),
        lateness_ns: Summary::of(values),
    });
    summarised.collect()
}

fn totals(record: &RunRecord) -> DataPathTotals {
    let add = |sum: Option<u64>, more: Option<u64>| match (sum, more) {
        (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
        (sum, more) => sum.or(more),
    };
    let counts = record.phases.iter().flat_map(|phase| &phase.tasks).map(|task| task.data_path);
    counts.fold(DataPathTotals::default(), |sum, task| DataPathTotals {
        allocations_after_commit: add(sum.allocations_after_commit, task.allocations),
        page_faults: add(sum.page_faults, task.page_faults),
        involuntary_switches: add(sum.involuntary_switches, task.involuntary_switches),
        system_calls: add(sum.system_calls, task.system_calls),
        planned_sleeps: sum.planned_sleeps.saturating_add(task.planned_sleeps),
    })
}

/// Misses of one subject.
fn count(misses: &[Miss], phase: usize, subject: Subject) -> MissCounts {
    let mut counts = MissCounts::default();
    for miss in misses.iter().filter(|miss| miss.phase == phase && miss.subject == subject) {
        match miss.party {
            Party::Job => counts.misses_job += 1,
            Party::Process => counts.misses_process += 1,
            Party::Machine => counts.misses_machine += 1,
        }
        *counts.misses_by_stage.entry(miss.stage).or_insert(0) += 1;
    }
    counts
}

fn of_task(
    phase: &Phase,
    number: usize,
    task: usize,
    record: &TaskRecord,
    misses: &[Miss],
) -> TaskStatistics {
    let model = phase.job.tasks.get(task);
    let member = model.and_then(|model| phase.job.members.get(model.member.index()));
    let guard = phase.plan.costs.guard;
    let mut counts = count(misses, number, Subject::Task(task));
    let ran = || record.instances.iter().filter(|instance| !instance.is_skipped());
    let thinned = &record.thinned;
    counts.misses_job = counts.misses_job.saturating_add(thinned.missed);
    let budget = model.map_or(Nanos::MAX, |model| model.budget);
    TaskStatistics {
        name: model.map_or_else(|| format!("task{task}"), |model| model.name.clone()),
        member: member.map_or_else(String::new, |member| member.name.clone()),
        core: phase.plan.tasks.get(task).map_or(u32::MAX, |planned| planned.core),
        budget_ns: budget,
        count: (record.instances.len() as u64).saturating_add(thinned.count),
        thinned: thinned.count,
        skipped: ((record.instances.len() - ran().count()) as u64).saturating_add(thinned.skipped),
        misses: counts,
        overrun_signals: record.overrun_signals,
        over_budget: (ran().filter(|instance| instance.execution() > budget).count() as u64)
            .saturating_add(thinned.over_budget),
        wake_lateness_ns: Summary::with(
            record.instances.iter().map(|instance| (instance.woken - (instance.planned - guard)).0),
            &thinned.wake_lateness,
        ),
        start_lateness_ns: Summary::with(
            record.instances.iter().map(|instance| instance.start_lateness().0),
            &thinned.start_lateness,
        ),
        execution_ns: Summary::with(ran().map(|instance| instance.execution().0), &thinned.execution),
        slack_ns: Summary::with(ran().map(|instance| (instance.deadline - instance.ended).0), &thinned.slack),
        data_path: record.data_path,
        spin_total_ns: record.spin_total,
        records_lost: record.records_lost,
    }
}

fn of_channel(
    phase: &Phase,
    number: usize,
    channel: usize,
    record: &ChannelRecord,
    misses: &[Miss],
) -> ChannelStatistics {
    let model = phase.job.channels.get(channel);
    let member = |id: Option<leveret_types::MemberId>| {
        id.and_then(|id| phase.job.members.get(id.index()))
            .map_or_else(String::new, |member| member.name.clone())
    };
    let time_driven = model.is_some_and(|model| matches!(model.qos, Qos::TimeDriven { .. }));
    let mut counts = count(misses, number, Subject::Channel(channel));
    counts.misses_job = counts.misses_job.saturating_add(record.thinned.missed);
    let fate = |fate: Fate| record.messages.iter().filter(|message| message.fate == fate).count() as u64;
    // Best effort promises nothing, and neither does work beside the table where something has no interval.
    let promises = model.is_some_and(|model| model.qos != Qos::BestEffort);
    let planned = phase.plan.channels.get(channel).filter(|_| promises).map(|planned| planned.latency_bound);
    let bound = planned.filter(|bound| *bound < Nanos::MAX);
    let available = |message: &&crate::record::MessageRecord| {
        time_driven && message.inserted.is_some_and(|inserted| inserted <= message.due)
    };
    // Of a best-effort channel only a sample is recorded; its ends' own counters tell how many there were.
    let thinned = &record.thinned;
    let recorded = (
        (record.messages.len() as u64).saturating_add(thinned.count),
        fate(Fate::Taken).saturating_add(thinned.taken),
        fate(Fate::Untaken).saturating_add(thinned.untaken),
    );
    let (count, taken, untaken) = match (time_driven, record.sent, record.taken) {
        (false, Some(sent), Some(taken)) => (sent, taken, sent.saturating_sub(taken)),
        _ => recorded,
    };
    ChannelStatistics {
        name: model.map_or_else(|| format!("channel{channel}"), |model| model.name.clone()),
        source: member(model.map(|model| model.source)),
        target: member(model.map(|model| model.target)),
        time_driven,
        recorded: recorded.0,
        thinned: thinned.count,
        size_bytes: model.map_or(0, |model| model.size.0),
        count,
        taken,
        untaken,
        refused: record.refused.filter(|_| !time_driven).unwrap_or(0),
        misses: counts,
        latency_ns: Summary::with(
            record
                .messages
                .iter()
                .filter(available)
                .filter_map(|message| Some((message.due - message.inserted?).0)),
            &thinned.latency,
        ),
        insert_to_taken_ns: Summary::with(
            record.messages.iter().filter_map(|message| Some((message.taken? - message.inserted?).0)),
            &thinned.insert_to_taken,
        ),
        available_to_taken_ns: Summary::with(
            record.messages.iter().filter_map(|message| Some((message.taken? - message.due).0)),
            &thinned.available_to_taken,
        ),
        latency_bound_ns: bound,
        corrupt: record.corrupt,
        out_of_order: record.out_of_order,
        records_lost: record.records_lost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records are read from disk: whoever wrote one may have written anything.
    #[test]
    fn a_distribution_that_is_upside_down_is_summarised() {
        let counts = [(7, 2)].into_iter().collect();
        let stated = Distribution { count: 2, min: 536_663, max: 0, sum: i64::MAX, counts };
        let summary = Summary::with([], &stated);
        assert_eq!((summary.count, summary.min, summary.max, summary.p50), (2, 0, 536_663, 7));
    }
}
