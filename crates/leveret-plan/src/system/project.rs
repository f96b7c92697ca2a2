//! A system taken apart: the job of each host and the traffic of the network, once every crossing has a window.
//!
//! ```text
//!   writer ─► source port, due at the release │ stream, within [release, deadline] │ target port, due at the deadline ─► reader
//! ```
//! Each part is planned by itself, by a planner that knows nothing of the others: the windows are all that they share.

use super::model::{Crossing, Port, System, Window};
use crate::network::{STREAM_TIME_MAX, Stream, Traffic};
use crate::{Costs, Job, Qos};
use leveret_types::{ChannelId, Nanos, NodeId};

/// The parts of a system, as the planners of jobs and of networks have them.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Per host with tasks, in the model's order: its job, with the windows of its ports.
    pub jobs: Vec<Job>,
    /// The network's own streams, then one for each crossing.
    pub traffic: Traffic,
}

/// How far the ports of a crossing count behind it: message `k` of a port is message `k + shift` of the crossing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortShifts {
    /// At the source.
    pub source: i64,
    /// At each target, in the crossing's order.
    pub targets: Vec<i64>,
}

/// Of a crossing of a system that was validated, with its window under a plan.
pub fn port_shifts(system: &System, crossing: &Crossing, window: Window) -> PortShifts {
    let costs = |port: &Port| &system.hosts[usize::from(port.host)].job.costs;
    let target = |port: &Port| target_window(window, crossing.period, costs(port)).shift;
    PortShifts {
        source: source_window(window, crossing.period, costs(&crossing.source)).shift,
        targets: crossing.targets.iter().map(target).collect(),
    }
}

/// What a port's window is: the crossing's, and how many periods later it lies. A host's job has no deadline before a message could
/// be made visible in its period; such a one stands in the period after, and its message `k` is message `k + shift` of the crossing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PortWindow {
    pub release: Nanos,
    pub deadline: Nanos,
    pub shift: i64,
}

/// What making a message visible takes of a port's window.
fn least(costs: &Costs) -> Nanos {
    (costs.publish + costs.clock_error).max(Nanos(1))
}

/// At the source the message is due when the network may take it.
pub(super) fn source_window(window: Window, period: Nanos, costs: &Costs) -> PortWindow {
    let shift = i64::from(window.release < least(costs));
    PortWindow { release: Nanos::ZERO, deadline: window.release + period.saturating_mul(shift), shift }
}

/// At a target it has arrived at the deadline, and may come from the release on.
pub(super) fn target_window(window: Window, period: Nanos, costs: &Costs) -> PortWindow {
    let least = least(costs);
    let shift = i64::from(window.deadline < least);
    let late = period.saturating_mul(shift);
    let release = window.release.min(window.deadline - least) + late;
    PortWindow { release, deadline: window.deadline + late, shift }
}

/// Messages that the source may have to keep until the network has sent them, at most: from the writer's start, which is less than a
/// period and what it needs before it must insert, or its own period's start, until the deadline.
fn kept(crossing: &Crossing, window: Window, job: &Job) -> u32 {
    let writer = job.tasks.iter().find(|task| task.writes.contains(&crossing.source.channel));
    let charged = writer.map_or(0, |task| crate::windows::charged(job, task));
    let early = least(&job.costs).0.saturating_add(charged);
    let held = window.deadline.0.max(crossing.period.0 + window.deadline.0 - window.release.0 + early);
    u32::try_from(held / crossing.period.0 + 2).unwrap_or(u32::MAX)
}

fn set(jobs: &mut [Job], port: Port, window: PortWindow) {
    let channel = &mut jobs[usize::from(port.host)].channels[port.channel.index()];
    if let Qos::TimeDriven { release, deadline, .. } = &mut channel.qos {
        (*release, *deadline) = (window.release, window.deadline);
    }
}

/// `windows` has one for each crossing of a system that was validated: those of its plan.
pub fn parts(system: &System, windows: &[Window]) -> Parts {
    let mut jobs: Vec<Job> = system.hosts.iter().map(|host| host.job.clone()).collect();
    let mut traffic = system.traffic.clone();
    for (crossing, window) in system.crossings.iter().zip(windows) {
        let source = usize::from(crossing.source.host);
        let kept = kept(crossing, *window, &jobs[source]);
        let at_source = source_window(*window, crossing.period, &jobs[source].costs);
        set(&mut jobs, crossing.source, at_source);
        let channel = &mut jobs[source].channels[crossing.source.channel.index()];
        channel.buffers = channel.buffers.max(kept);
        for port in &crossing.targets {
            let at_target = target_window(*window, crossing.period, &jobs[usize::from(port.host)].costs);
            set(&mut jobs, *port, at_target);
        }
        traffic.streams.push(stream(system, crossing, *window));
    }
    Parts { jobs, traffic }
}

/// What the network is asked for.
pub(super) fn stream(system: &System, crossing: &Crossing, window: Window) -> Stream {
    let node = |port: &Port| system.hosts[usize::from(port.host)].node;
    let mut targets: Vec<NodeId> = Vec::new();
    for target in crossing.targets.iter().map(node) {
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    Stream {
        name: crossing.name.clone(),
        source: node(&crossing.source),
        targets,
        size: crossing.size,
        period: crossing.period,
        release: window.release,
        deadline: window.deadline,
        latency: crossing.latency,
        jitter: crossing.jitter,
        copies: crossing.copies,
        ways: crossing.ways.clone(),
    }
}

/// The ports of a host whose windows are chosen.
pub(super) fn open_ports(system: &System, host: usize) -> Vec<ChannelId> {
    let open = system.crossings.iter().filter(|crossing| crossing.window.is_none());
    let ports = open.flat_map(Crossing::ports).filter(|port| usize::from(port.host) == host);
    ports.map(|port| port.channel).collect()
}

/// A host's job as if what is open were nobody's concern: what this has no plan for, no window helps.
pub(super) fn relaxed(system: &System, host: usize, windows: &[Window]) -> Job {
    let open = open_ports(system, host);
    let mut job = parts(system, windows).jobs.swap_remove(host);
    for task in &mut job.tasks {
        // Who must insert sooner may read older messages, and start sooner for that.
        if task.writes.iter().any(|id| open.contains(id)) {
            task.reads.clear();
        }
        task.reads.retain(|id| !open.contains(id));
        task.writes.retain(|id| !open.contains(id));
    }
    job
}

/// A window for each crossing: the declared one, or the widest that may be chosen. What cannot be within these can be within none.
pub(super) fn widest(system: &System) -> Vec<Window> {
    let widest = Window { release: Nanos::ZERO, deadline: STREAM_TIME_MAX };
    system.crossings.iter().map(|crossing| crossing.window.unwrap_or(widest)).collect()
}
