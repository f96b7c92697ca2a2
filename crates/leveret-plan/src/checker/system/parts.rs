//! What a system asks of each host and of the network, once every channel between hosts has a window: stated here for itself.

use super::wide;
use crate::checker::charged;
use crate::network::{Stream, Traffic};
use crate::system::{Crossing, Port, System, Window};
use crate::{Job, Qos};
use leveret_types::Nanos;

pub(super) struct Parts {
    pub jobs: Vec<Job>,
    pub traffic: Traffic,
}

/// Which message of the crossing is message 0 of its source's port, and of a target's.
pub(super) fn first_messages(crossing: &Crossing, window: Window, system: &System, port: Port) -> i128 {
    let costs = &system.hosts[usize::from(port.host)].job.costs;
    let visible = (wide(costs.publish) + wide(costs.clock_error)).max(1);
    let due = if port == crossing.source { window.release } else { window.deadline };
    // A port's deadline has room for making the message visible in its own period, or it lies one period later.
    i128::from(wide(due) < visible)
}

pub(super) fn parts(system: &System, windows: &[Window]) -> Parts {
    let mut jobs: Vec<Job> = system.hosts.iter().map(|host| host.job.clone()).collect();
    let mut traffic = system.traffic.clone();
    for (crossing, window) in system.crossings.iter().zip(windows) {
        for port in std::iter::once(&crossing.source).chain(&crossing.targets) {
            let late = first_messages(crossing, *window, system, *port) == 1;
            let late = if late { crossing.period } else { Nanos::ZERO };
            let job = &mut jobs[usize::from(port.host)];
            let visible = (job.costs.publish + job.costs.clock_error).max(Nanos(1));
            let due = if port == &crossing.source { window.release } else { window.deadline };
            let begin = if port == &crossing.source {
                Nanos::ZERO
            } else {
                window.release.min(window.deadline - visible) + late
            };
            if port == &crossing.source {
                let least = buffers(crossing, *window, job);
                let buffers = &mut job.channels[port.channel.index()].buffers;
                *buffers = least.max(*buffers);
            }
            if let Qos::TimeDriven { release, deadline, .. } = &mut job.channels[port.channel.index()].qos {
                (*release, *deadline) = (begin, due + late);
            }
        }
        let mut nodes: Vec<_> = Vec::new();
        for port in &crossing.targets {
            let node = system.hosts[usize::from(port.host)].node;
            if nodes.iter().all(|known| *known != node) {
                nodes.push(node);
            }
        }
        traffic.streams.push(Stream {
            name: crossing.name.clone(),
            source: system.hosts[usize::from(crossing.source.host)].node,
            targets: nodes,
            size: crossing.size,
            period: crossing.period,
            release: window.release,
            deadline: window.deadline,
            latency: crossing.latency,
            jitter: crossing.jitter,
            copies: crossing.copies,
            ways: crossing.ways.clone(),
        });
    }
    Parts { jobs, traffic }
}

/// A message lies in its source's buffer from the writer's start to the deadline, at the latest. The writer starts in the message's own
/// period, or, where it could not make the message before, less than a period and its own length before the insertion limit.
fn buffers(crossing: &Crossing, window: Window, job: &Job) -> u32 {
    let writers = job.tasks.iter().filter(|task| task.writes.contains(&crossing.source.channel));
    let length = writers.map(|task| charged(job, task)).next().unwrap_or(0);
    let visible = (wide(job.costs.publish) + wide(job.costs.clock_error)).max(1);
    let period = wide(crossing.period);
    let (from_period, from_limit) =
        (wide(window.deadline), period + wide(window.deadline) - wide(window.release) + visible + length);
    u32::try_from(from_period.max(from_limit) / period + 2).unwrap_or(u32::MAX)
}
