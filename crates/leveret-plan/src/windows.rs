//! From declarations to a scheduling problem: effective windows in which instances must run.
//!
//! Since visibility is a declared instant, precedence between tasks compiles into windows: a writer's window ends
//! at the insertion limit, a reader's begins at the visibility of what it reads. What is left is one independent
//! placement problem per core.

use crate::bind::Transfer;
use crate::{CoreChoice, HYPERPERIOD_WITHOUT_PERIODS, Job, Placement, Qos, Task};
use leveret_types::{ChannelId, INSTANCES_MAX, Nanos};

/// An instance must start and end within this, in nanoseconds from the epoch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Window {
    pub earliest: i64,
    pub latest: i64,
}

/// What one task asks of a core.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    /// Index of the core in the job, or `None` for any.
    pub pinned: Option<usize>,
    /// Length of one instance: budget and every charged cost but preemption.
    pub charged: i64,
    pub preemptible: bool,
    pub windows: Vec<Window>,
}

impl Load {
    /// The least room that an instance has to move in.
    pub fn slack_min(&self) -> i64 {
        self.windows.iter().map(|window| window.latest - window.earliest - self.charged).min().unwrap_or(0)
    }
}

/// A placement problem: no declarations, only lengths, windows and cores.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub hyperperiod: i64,
    pub guard: i64,
    pub preemption: i64,
    /// Most processor time per core and hyperperiod.
    pub capacity: i64,
    pub cores: usize,
    /// One per task, in the model's order.
    pub loads: Vec<Load>,
}

impl Problem {
    /// The problem that a job poses. The job must have passed validation.
    /// `Err` is the index of a task whose window cannot hold its own length.
    pub fn new(job: &Job) -> Result<Self, usize> {
        let hyperperiod = hyperperiod(job).unwrap_or(HYPERPERIOD_WITHOUT_PERIODS.0);
        let capacity = i128::from(hyperperiod) * i128::from(job.costs.utilisation_permille) / 1000;
        let mut loads = Vec::new();
        for (index, task) in job.tasks.iter().enumerate() {
            loads.push(load(job, hyperperiod, task).ok_or(index)?);
        }
        Ok(Self {
            hyperperiod,
            guard: job.costs.guard.0,
            preemption: job.costs.preemption.0,
            capacity: i64::try_from(capacity).unwrap_or(hyperperiod),
            cores: job.cores.len(),
            loads,
        })
    }

    /// Processor time that one load uses per hyperperiod, guards included, preemptions not.
    pub fn demand(&self, load: usize) -> i64 {
        let load = &self.loads[load];
        (load.charged.saturating_add(self.guard)).saturating_mul(load.windows.len() as i64)
    }

    /// Task instances in one hyperperiod.
    pub fn instance_count(&self) -> usize {
        self.loads.iter().map(|load| load.windows.len()).sum()
    }
}

fn load(job: &Job, hyperperiod: i64, task: &Task) -> Option<Load> {
    let charged = charged(job, task);
    let room = task.deadline - task.release - job.costs.clock_error.saturating_mul(2);
    if room.0 < charged {
        return None;
    }
    let windows =
        (0..hyperperiod / task.period.0).map(|instance| window(job, task, instance, charged)).collect();
    let pinned = match task.core {
        CoreChoice::Any => None,
        CoreChoice::Pinned(core) => job.cores.iter().position(|present| *present == core),
    };
    Some(Load { pinned, charged, preemptible: task.preemptible, windows })
}

/// The time-driven channels among `ends`.
fn transfers<'a>(job: &'a Job, ends: &'a [ChannelId]) -> impl Iterator<Item = Transfer> + 'a {
    ends.iter().filter_map(|channel| Transfer::of(&job.channels[channel.index()], &job.costs))
}

/// Length of one instance of a task: its budget, one switch, and the copies out of separate channels (whole KiB,
/// rounded up per channel).
pub(crate) fn charged(job: &Job, task: &Task) -> i64 {
    let copies: u64 = task
        .reads
        .iter()
        .map(|channel| &job.channels[channel.index()])
        .filter(|channel| channel.placement == Placement::Separate)
        .map(|channel| channel.size.0.div_ceil(1024))
        .fold(0, u64::saturating_add);
    let copies = job.costs.copy_per_kib.saturating_mul(i64::try_from(copies).unwrap_or(i64::MAX));
    (task.budget + job.costs.switch + copies).0
}

/// The effective window of one instance: declared, shrunk by the clock's error, lowered to the insertion limit of
/// what it writes, then raised to the visibility of what it reads.
fn window(job: &Job, task: &Task, instance: i64, charged: i64) -> Window {
    let period_start = instance * task.period.0;
    let mut earliest = period_start + task.release.0 + job.costs.clock_error.0;
    let mut latest = period_start + task.deadline.0 - job.costs.clock_error.0;
    for transfer in transfers(job, &task.writes) {
        latest = latest.min(transfer.insert_by(transfer.written_by(instance, earliest, charged)));
    }
    let latest_start = latest - charged;
    for transfer in transfers(job, &task.reads) {
        earliest = earliest.max(transfer.visible_at(transfer.seen_at(latest_start)));
    }
    Window { earliest, latest }
}

/// After how long the time table of a job repeats; `None` where nothing is periodic.
pub fn round(job: &Job) -> Option<Nanos> {
    hyperperiod(job).map(Nanos)
}

/// Least common multiple of all periods; `None` where there are none. Saturates at `i64::MAX`.
pub(crate) fn hyperperiod(job: &Job) -> Option<i64> {
    periods(job).fold(None, |multiple: Option<i64>, period| {
        Some(multiple.map_or(period, |multiple| least_common_multiple(multiple, period)))
    })
}

/// Every period: tasks first, then time-driven channels. Those that are not positive never pass validation and are
/// left out, so that a refusal can still be explained.
pub(crate) fn periods(job: &Job) -> impl Iterator<Item = i64> + Clone + '_ {
    let tasks = job.tasks.iter().map(|task| task.period.0);
    let channels = job.channels.iter().filter_map(|channel| match channel.qos {
        Qos::TimeDriven { period, .. } => Some(period.0),
        _ => None,
    });
    tasks.chain(channels).filter(|period| *period > 0)
}

/// Instances of tasks and transfers in one hyperperiod, saturating well above the limit.
pub(crate) fn activations(job: &Job, hyperperiod: i64) -> usize {
    let total = periods(job).fold(0_i64, |sum, period| sum.saturating_add(hyperperiod / period));
    usize::try_from(total).unwrap_or(2 * INSTANCES_MAX)
}

pub(crate) fn least_common_multiple(a: i64, b: i64) -> i64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b)
}
