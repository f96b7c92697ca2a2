//! The record of a job that ran in one process, as the monitor would have made it.

use crate::collect::{ChannelCollector, TaskCollector};
use crate::plausible::{ChannelTable, TaskTable};
use leveret_memory::PeerSegment;
use leveret_report::record::{AloneProbe, Event, Phase};
use leveret_runtime::{BindError, InProcessJob};
use leveret_types::{ChannelId, MemberId, Nanos, TaskId};

/// Each task has a clock of its own, so there is no common instant to read the records at.
const VIRTUAL: Nanos = Nanos::MAX;

/// What the members' segments hold after a run of `rounds` hyperperiods. Tasks get made-up thread numbers from 1 on;
/// there is no log of switches, since in virtual time nothing else runs. Of a run longer than the segments' rings the
/// oldest records are lost, and counted.
///
/// # Errors
/// When a segment does not fit its plan.
pub fn record_in_process(job: &InProcessJob, label: &str, rounds: u64) -> Result<Phase, BindError> {
    let model = &job.assembled.job;
    let epoch = job.epoch();
    let segments: Vec<PeerSegment> =
        (0..model.members.len()).map(|rank| job.segment(MemberId(rank as u16))).collect::<Result<_, _>>()?;
    let mut events = Vec::new();
    let mut tasks = Vec::with_capacity(model.tasks.len());
    for (index, task) in model.tasks.iter().enumerate() {
        let table = TaskTable::new(&job.assembled, &job.plan, index);
        let reader = segments[task.member.index()].task(TaskId(index as u16));
        let mut collector = TaskCollector::new(reader, 0, table, (epoch, 0));
        collector.drain(|| VIRTUAL);
        let (mut record, happened) = collector.finish(index as u16, VIRTUAL);
        record.thread = index as u32 + 1;
        events.extend(happened);
        tasks.push(record);
    }
    let channels = model.channels.iter().enumerate().map(|(index, channel)| {
        let id = ChannelId(index as u16);
        let source = segments[channel.source.index()].source(id);
        let target = segments[channel.target.index()].target(id);
        let table = ChannelTable::new(&job.assembled, &job.plan, index);
        let mut collector = ChannelCollector::new(source, target, table, (epoch, 0));
        collector.drain(|| VIRTUAL);
        collector.finish(VIRTUAL)
    });
    let channels = channels.collect();
    events.sort_by_key(|event: &Event| event.at);
    Ok(Phase {
        label: label.to_owned(),
        job: model.clone(),
        plan: job.plan.clone(),
        epoch_monotonic: epoch,
        rounds,
        tasks,
        channels,
        switches: Vec::new(),
        timers: Vec::new(),
        events,
        alone: AloneProbe::default(),
    })
}
