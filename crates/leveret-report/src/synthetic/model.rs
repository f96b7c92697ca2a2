//! The ring's job and plan.

use leveret_plan::{
    Channel, CoreChoice, Costs, Job, Member, MissingPolicy, OverrunPolicy, PLAN_VERSION, Placement, Plan,
    PlannedChannel, PlannedCore, PlannedInstance, PlannedTask, PlannedTransfer, Qos, Segment, Task,
};
use leveret_types::{ByteSize, ChannelId, MemberId, Nanos, TaskId};

const MICRO: i64 = 1_000;
/// Name, member, core, planned start, budget, window's end: all in microseconds.
const TASKS: [(&str, u16, u32, i64, i64, i64); 4] = [
    ("A.user", 0, 0, 60, 50, 150),
    ("B.user", 1, 1, 210, 50, 300),
    ("C.user", 2, 0, 360, 50, 450),
    ("dummy.load", 3, 0, 560, 200, 900),
];
/// Name, source, target, instant of visibility in microseconds.
const CHANNELS: [(&str, u16, u16, i64); 3] =
    [("a-to-b", 0, 1, 150), ("b-to-c", 1, 2, 300), ("c-to-a", 2, 0, 450)];

/// The job with messages of `size` bytes.
pub(super) fn job(period: Nanos, size: u32) -> Job {
    let tasks = TASKS.iter().enumerate().map(|(index, &(name, member, core, start, budget, deadline))| {
        let channel = |index: usize| vec![ChannelId(index as u16)];
        Task {
            name: name.to_owned(),
            member: MemberId(member),
            period,
            release: Nanos(start * MICRO - 60 * MICRO),
            deadline: Nanos(deadline * MICRO),
            budget: Nanos(budget * MICRO),
            core: CoreChoice::Pinned(core),
            preemptible: false,
            overrun: OverrunPolicy::Skip,
            reads: if index < 3 { channel((index + 2) % 3) } else { Vec::new() },
            writes: if index < 3 { channel(index) } else { Vec::new() },
            mover: false,
        }
    });
    let channels = CHANNELS.iter().map(|&(name, source, target, visible)| Channel {
        name: name.to_owned(),
        group: "world".to_owned(),
        source: MemberId(source),
        target: MemberId(target),
        size: ByteSize(u64::from(size)),
        buffers: 2,
        placement: Placement::Separate,
        qos: Qos::TimeDriven {
            period,
            release: Nanos::ZERO,
            deadline: Nanos(visible * MICRO),
            missing: MissingPolicy::Skip,
        },
    });
    Job {
        name: "ring".to_owned(),
        cores: vec![0, 1],
        members: ["A", "B", "C", "dummy"].map(|name| Member { name: name.to_owned() }).into(),
        tasks: tasks.collect(),
        channels: channels.collect(),
        sporadics: Vec::new(),
        costs: Costs::default(),
    }
}

/// The ring's time table.
pub(super) fn plan(job: &Job, period: Nanos) -> Plan {
    let tasks = job.tasks.iter().zip(TASKS).enumerate().map(|(index, (task, row))| {
        let (_, _, core, start, budget, _) = row;
        let start = Nanos(start * MICRO);
        PlannedTask {
            task: TaskId(index as u16),
            core,
            order: index as u16,
            response_bound: start + task.budget - task.release,
            instances: vec![PlannedInstance {
                earliest: task.release,
                latest: task.deadline,
                segments: vec![Segment { start, end: start + Nanos(budget * MICRO) }],
                reads: task.reads.iter().map(|_| if index == 0 { -1 } else { 0 }).collect(),
                writes: task.writes.iter().map(|_| 0).collect(),
            }],
        }
    });
    let channels = CHANNELS.iter().enumerate().map(|(index, &(_, _, _, visible))| PlannedChannel {
        channel: ChannelId(index as u16),
        buffers: 2,
        instances: vec![PlannedTransfer {
            insert_by: Nanos(visible * MICRO - MICRO),
            visible_at: Nanos(visible * MICRO),
        }],
        latency_bound: if index == 2 { period - Nanos(300 * MICRO) } else { Nanos(200 * MICRO) },
    });
    let core = |core: u32, used: i64| {
        let used = Nanos(used * MICRO);
        PlannedCore { core, used, sporadic: Nanos::ZERO, left: period - used, longest_gap: period - used }
    };
    Plan {
        version: PLAN_VERSION,
        job: job.name.clone(),
        job_digest: 0x5EED,
        hyperperiod: period,
        costs: job.costs,
        tasks: tasks.collect(),
        channels: channels.collect(),
        sporadics: Vec::new(),
        cores: vec![core(0, 450), core(1, 100)],
    }
}

/// The same table written out for several periods.
pub(super) fn repeat(plan: &Plan, periods: u64) -> Plan {
    let mut longer = plan.clone();
    let shift = |number: u64| plan.hyperperiod.saturating_mul(number as i64);
    for task in &mut longer.tasks {
        let first = task.instances.clone();
        task.instances = (0..periods)
            .flat_map(|number| first.iter().map(move |instance| (number, instance)))
            .map(|(number, instance)| PlannedInstance {
                earliest: instance.earliest + shift(number),
                latest: instance.latest + shift(number),
                segments: instance
                    .segments
                    .iter()
                    .map(|segment| Segment {
                        start: segment.start + shift(number),
                        end: segment.end + shift(number),
                    })
                    .collect(),
                reads: instance.reads.iter().map(|read| read + number as i64).collect(),
                writes: instance.writes.iter().map(|write| write + number as i64).collect(),
            })
            .collect();
    }
    for channel in &mut longer.channels {
        let first = channel.instances.clone();
        channel.instances = (0..periods)
            .flat_map(|number| first.iter().map(move |transfer| (number, transfer)))
            .map(|(number, transfer)| PlannedTransfer {
                insert_by: transfer.insert_by + shift(number),
                visible_at: transfer.visible_at + shift(number),
            })
            .collect();
    }
    longer.hyperperiod = shift(periods);
    longer
}
