//! Random small jobs, in nanoseconds, for brute force and for mutation.

use super::{empty, task, time_driven};
use leveret_plan::{CoreChoice, Costs, Job, MissingPolicy, Placement, Qos};
use leveret_types::{ByteSize, ChannelId, MemberId, Nanos};
use proptest::prelude::*;

/// What a generated job may contain.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub cores: u32,
    pub tasks: usize,
    pub instances: usize,
    pub preemptible: bool,
    pub channels: bool,
    pub periods: &'static [i64],
}

fn costs() -> impl Strategy<Value = Costs> {
    (0..3_i64, 0..2_i64, 0..3_i64, 0..2_i64, 0..2_i64, 0..2_i64, prop_oneof![Just(1000_u32), Just(800)])
        .prop_map(|(guard, switch, preemption, publish, copy, error, utilisation_permille)| Costs {
            guard: Nanos(guard),
            switch: Nanos(switch),
            preemption: Nanos(preemption),
            publish: Nanos(publish),
            copy_per_kib: Nanos(copy),
            clock_error: Nanos(error),
            utilisation_permille,
        })
}

#[derive(Clone, Debug)]
struct TaskDraw {
    period: usize,
    release: i64,
    window: i64,
    budget: i64,
    core: u32,
    preemptible: bool,
}

fn task_draw() -> impl Strategy<Value = TaskDraw> {
    (0..8_usize, 0..12_i64, 1..16_i64, 1..5_i64, 0..6_u32, any::<bool>()).prop_map(
        |(period, release, window, budget, core, preemptible)| TaskDraw {
            period,
            release,
            window,
            budget,
            core,
            preemptible,
        },
    )
}

#[derive(Clone, Debug)]
struct ChannelDraw {
    writer: usize,
    reader: usize,
    release: i64,
    length: i64,
    hold: bool,
    aliased: bool,
    best_effort: bool,
    size: u64,
}

fn channel_draw() -> impl Strategy<Value = ChannelDraw> {
    let flags = (any::<bool>(), any::<bool>(), prop_oneof![4 => Just(false), 1 => Just(true)]);
    (0..4_usize, 0..4_usize, 0..8_i64, 1..12_i64, flags, 1..3000_u64).prop_map(
        |(writer, reader, release, length, (hold, aliased, best_effort), size)| ChannelDraw {
            writer,
            reader,
            release,
            length,
            hold,
            aliased,
            best_effort,
            size,
        },
    )
}

/// Jobs of the given shape that pass validation.
pub fn jobs(shape: Shape) -> impl Strategy<Value = Job> {
    let tasks = prop::collection::vec(task_draw(), 1..=shape.tasks);
    let channels = prop::collection::vec(channel_draw(), 0..=if shape.channels { 3 } else { 0 });
    (costs(), tasks, channels)
        .prop_map(move |(costs, tasks, channels)| build(shape, costs, &tasks, &channels))
        .prop_filter("valid and small", move |job| {
            leveret_plan::validate(job).is_ok() && instances(job) <= shape.instances
        })
}

fn instances(job: &Job) -> usize {
    let round =
        (1..100_000).find(|round| job.tasks.iter().all(|task| round % task.period.0 == 0)).unwrap_or(0);
    job.tasks.iter().map(|task| (round / task.period.0) as usize).sum()
}

fn build(shape: Shape, costs: Costs, tasks: &[TaskDraw], channels: &[ChannelDraw]) -> Job {
    let cores: Vec<u32> = (0..shape.cores).collect();
    let mut job = empty(&cores, costs);
    for (index, draw) in tasks.iter().enumerate() {
        let core = if draw.core < shape.cores { CoreChoice::Pinned(draw.core) } else { CoreChoice::Any };
        let core = if shape.cores == 1 { CoreChoice::Pinned(0) } else { core };
        let period = shape.periods[draw.period % shape.periods.len()];
        let preemptible = shape.preemptible && draw.preemptible;
        // Long ones among short ones, so that interruption is often the only way.
        let (budget, window) =
            if preemptible { (draw.budget + 4, draw.window + 8) } else { (draw.budget, draw.window) };
        let window = (draw.release, draw.release + window.max(budget));
        let mut new = task(&format!("t{index}"), core, period, window, budget);
        new.preemptible = preemptible;
        job.tasks.push(new);
    }
    for (index, draw) in channels.iter().enumerate() {
        let (writer, reader) = (draw.writer % tasks.len(), draw.reader % tasks.len());
        let id = ChannelId(index as u16);
        let period = job.tasks[writer].period.0;
        let mut channel =
            time_driven(&format!("c{index}"), (0, 0), period, (draw.release, draw.release + draw.length));
        channel.size = ByteSize(draw.size);
        channel.placement = if draw.aliased { Placement::Aliased } else { Placement::Separate };
        if let Qos::TimeDriven { missing, .. } = &mut channel.qos
            && draw.hold
        {
            *missing = MissingPolicy::HoldLast;
        }
        if draw.best_effort {
            channel.qos = Qos::BestEffort;
        }
        (channel.source, channel.target) = (MemberId(0), MemberId(0));
        job.channels.push(channel);
        job.tasks[writer].writes.push(id);
        job.tasks[reader].reads.push(id);
    }
    job
}
