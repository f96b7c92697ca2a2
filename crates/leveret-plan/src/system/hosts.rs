//! What a plan gives the tasks and channels of each host, and leaves its cores.

use super::model::System;
use super::plan::SystemPlan;
use super::project::parts;
use crate::{Job, NO_INSTANCE, Plan, PlannedCore, Sporadic, Task};
use leveret_types::{ChannelId, Nanos};
use serde::Serialize;

/// What the plan of a host gives and leaves.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct HostSummary {
    /// Its name.
    pub name: String,
    /// Its table repeats after it.
    pub hyperperiod: Nanos,
    /// Its tasks, then what runs beside the table, in the model's order.
    pub tasks: Vec<TaskSummary>,
    /// Channels between its own members, in the model's order.
    pub channels: Vec<ChannelSummary>,
    /// What each core has left for best effort.
    pub cores: Vec<PlannedCore>,
}

/// What a task gets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TaskSummary {
    /// Its name.
    pub name: String,
    /// Where it runs.
    pub core: u32,
    /// Its priority, if it runs beside the table.
    pub priority: Option<u8>,
    /// Latest planned end, from its release; beside the table the bound of its response; none where there is no bound.
    pub response: Option<Nanos>,
    /// Least time between a planned end and the end of the instance's window, which the channels make narrower: by so much any one instance may end later. Beside
    /// the table, from the bound to the deadline.
    pub slack: Option<Nanos>,
}

/// What a channel between members of one host gets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ChannelSummary {
    /// Its name.
    pub name: String,
    /// Its buffers.
    pub buffers: u32,
    /// Longest time from insertion to the planned end of a reader; of a channel that the clock does not move, to completion; none where there is no bound.
    pub latency: Option<Nanos>,
    /// Least time between the planned end of its writer and the instant by which the message must be inserted; of a channel with a deadline, from the bound
    /// to the deadline; none where nothing is planned.
    pub slack: Option<Nanos>,
}

/// In the model's order.
pub(super) fn hosts(system: &System, plan: &SystemPlan) -> Vec<HostSummary> {
    let jobs = parts(system, &plan.windows).jobs;
    let each = system.hosts.iter().zip(&jobs).zip(&plan.hosts).enumerate();
    each.map(|(index, ((host, job), plan))| HostSummary {
        name: system.host_name(index as u16).to_owned(),
        hyperperiod: plan.hyperperiod,
        tasks: tasks(job, plan),
        channels: channels(system, index as u16, &host.job, plan),
        cores: plan.cores.clone(),
    })
    .collect()
}

fn tasks(job: &Job, plan: &Plan) -> Vec<TaskSummary> {
    let timed = job.tasks.iter().zip(&plan.tasks).map(|(task, planned)| TaskSummary {
        name: task.name.clone(),
        core: planned.core,
        priority: None,
        response: Some(planned.response_bound),
        slack: planned.instances.iter().map(|instance| instance.latest - instance.end()).min(),
    });
    let beside = job.sporadics.iter().zip(&plan.sporadics).map(|(work, planned): (&Sporadic, _)| {
        let response = bounded(planned.response_bound);
        TaskSummary {
            name: work.name.clone(),
            core: planned.core,
            priority: Some(work.priority),
            response,
            slack: work.deadline.zip(response).map(|(deadline, response)| deadline - response),
        }
    });
    timed.chain(beside).collect()
}

fn channels(system: &System, host: u16, job: &Job, plan: &Plan) -> Vec<ChannelSummary> {
    let is_port = |id: ChannelId| {
        let ports =
            |one: &super::Crossing| one.targets.iter().chain([&one.source]).copied().collect::<Vec<_>>();
        system.crossings.iter().flat_map(ports).any(|port| port.host == host && port.channel == id)
    };
    let own = job.channels.iter().zip(&plan.channels).filter(|(_, planned)| !is_port(planned.channel));
    own.map(|(channel, planned)| {
        let latency = bounded(planned.latency_bound);
        let deadline = channel.qos.service().and_then(|(_, _, deadline)| deadline);
        ChannelSummary {
            name: channel.name.clone(),
            buffers: planned.buffers,
            latency,
            slack: match deadline {
                Some(deadline) => latency.map(|latency| deadline - latency),
                None => insertion_slack(job, plan, planned.channel),
            },
        }
    })
    .collect()
}

fn bounded(time: Nanos) -> Option<Nanos> {
    (time < Nanos::MAX).then_some(time)
}

/// Least time between the planned end of a channel's writer and the instant by which its message must be inserted; none where no task writes it, or the clock
/// does not move it.
pub(super) fn insertion_slack(job: &Job, plan: &Plan, channel: ChannelId) -> Option<Nanos> {
    let place = |task: &Task| task.writes.iter().position(|id| *id == channel);
    let (task, place) = job.tasks.iter().enumerate().find_map(|(index, task)| Some((index, place(task)?)))?;
    let transfers = &plan.channels[channel.index()].instances;
    let count = i64::try_from(transfers.len()).ok().filter(|count| *count > 0)?;
    let written = plan.tasks[task].instances.iter().filter(|instance| instance.writes[place] != NO_INSTANCE);
    let slacks = written.map(|instance| {
        let message = instance.writes[place];
        let round = plan.hyperperiod.saturating_mul(message.div_euclid(count));
        transfers[message.rem_euclid(count) as usize].insert_by + round - instance.end()
    });
    slacks.min()
}
