//! The plan: the admitted time table. A value; serialisable, comparable, and checked before use.
//!
//! ```text
//!  core 0  |~~~|=A.user=|.............|~~~|=C.user=|...........|~~~|=dummy=|
//!          guard  start..end                                        (repeats every hyperperiod)
//! ```

use crate::Costs;
use leveret_types::{ChannelId, Nanos, TaskId};
use serde::{Deserialize, Serialize};

/// Version of the plan's format.
pub const PLAN_VERSION: u32 = 2;

/// Stands in [`PlannedInstance::reads`] and [`PlannedInstance::writes`] for a best-effort channel, which has no
/// planned instances.
pub const NO_INSTANCE: i64 = i64::MIN;

/// The hyperperiod of a job in which nothing is periodic.
pub const HYPERPERIOD_WITHOUT_PERIODS: Nanos = Nanos::from_secs(1);

/// An admitted time table over one hyperperiod. All instants count from the epoch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// [`PLAN_VERSION`].
    pub version: u32,
    /// Name of the job.
    pub job: String,
    /// Digest of the job model that was planned; a plan fits one job only.
    pub job_digest: u64,
    /// Least common multiple of the periods of all tasks and time-driven channels;
    /// [`HYPERPERIOD_WITHOUT_PERIODS`] where there are none.
    pub hyperperiod: Nanos,
    /// The costs that were assumed.
    pub costs: Costs,
    /// Per task, in the model's order.
    pub tasks: Vec<PlannedTask>,
    /// Per channel, in the model's order; only time-driven channels have instances.
    pub channels: Vec<PlannedChannel>,
    /// Per sporadic work, in the model's order.
    pub sporadics: Vec<PlannedSporadic>,
    /// Per core, in the model's order.
    pub cores: Vec<PlannedCore>,
}

/// Sporadic work's part of the plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannedSporadic {
    /// Its index in the model.
    pub sporadic: u16,
    /// The processor it runs on.
    pub core: u32,
    /// How many lower priorities there are in the job. The runtime maps it to a `SCHED_FIFO` priority below the
    /// table's.
    pub level: u16,
    /// Longest time from an arrival to the end of its run, whatever else arrives when. [`Nanos::MAX`] ("never"): no
    /// bound is given, and none was asked for.
    pub response_bound: Nanos,
}

/// A task's part of the plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannedTask {
    /// Which task.
    pub task: TaskId,
    /// The processor it runs on.
    pub core: u32,
    /// Order among the tasks of its core: a task may interrupt only tasks of a lower order. The runtime maps it
    /// to a `SCHED_FIFO` priority.
    pub order: u16,
    /// Instances `0..hyperperiod/period`.
    pub instances: Vec<PlannedInstance>,
    /// Worst-case response: latest planned end minus release, over the instances.
    pub response_bound: Nanos,
}

/// One instance of a task within the hyperperiod.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannedInstance {
    /// Start of the effective window: release, raised to the visibility of what it reads.
    pub earliest: Nanos,
    /// End of the effective window: deadline, lowered to the insertion limit of what it writes.
    pub latest: Nanos,
    /// Execution intervals `[start, end)`. One unless preempted. The first start is the task's planned start; the
    /// last end is where the budget and every charged cost are used up.
    pub segments: Vec<Segment>,
    /// For each channel in `Task::reads`: the channel instance that this instance sees. Add
    /// `round * instances-per-hyperperiod` in later rounds. Negative: written in the round before (none in round 0).
    /// [`NO_INSTANCE`] for a best-effort channel.
    pub reads: Vec<i64>,
    /// For each channel in `Task::writes`: the channel instance it fills; may lie beyond the hyperperiod.
    /// [`NO_INSTANCE`] for a best-effort channel.
    pub writes: Vec<i64>,
}

impl PlannedInstance {
    /// The planned start.
    pub fn start(&self) -> Nanos {
        self.segments.first().map_or(self.earliest, |segment| segment.start)
    }
    /// The planned end.
    pub fn end(&self) -> Nanos {
        self.segments.last().map_or(self.latest, |segment| segment.end)
    }
}

/// A stretch of processor time `[start, end)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Segment {
    /// First instant.
    pub start: Nanos,
    /// First instant after it.
    pub end: Nanos,
}

/// A channel's part of the plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannedChannel {
    /// Which channel.
    pub channel: ChannelId,
    /// Number of buffers that make a missing buffer impossible while everybody keeps the plan.
    pub buffers: u32,
    /// Transfers `0..hyperperiod/period`; empty for best effort.
    pub instances: Vec<PlannedTransfer>,
    /// Longest time from insertion, which can be as early as the writer's planned start, to the planned end of a
    /// reader that takes the message. For a priority- or event-driven channel the response bounds of what serves it at
    /// its source and at its target, together.
    /// [`Nanos::MAX`] ("never") for a best-effort channel: no bound is given.
    pub latency_bound: Nanos,
}

/// One transfer of a time-driven channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannedTransfer {
    /// The message must be inserted by then.
    pub insert_by: Nanos,
    /// From then on the message has arrived.
    pub visible_at: Nanos,
}

/// What a core has left.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannedCore {
    /// The processor.
    pub core: u32,
    /// Use by the time table per hyperperiod, costs included.
    pub used: Nanos,
    /// Most use by sporadic work per hyperperiod, costs included, over the long run; all that the table leaves, where some
    /// of it has no interval.
    pub sporadic: Nanos,
    /// Left for best-effort work per hyperperiod.
    pub left: Nanos,
    /// Longest stretch that the time table leaves free.
    pub longest_gap: Nanos,
}
