//! Early checks of a system: that its parts fit together, before any planning. What is wrong within one host's job, its planner tells.

use super::model::{Chain, Crossing, NETWORK_MEMBER, Port, Step, System};
use crate::network::{STREAM_TIME_MAX, STREAMS_MAX};
use crate::{Channel, Job, Qos, Start};
use leveret_topology::NodeKind;
use leveret_types::{ChannelId, NAME_BYTES_MAX, Nanos};
use std::collections::BTreeSet;
use std::fmt;

/// Most hosts with tasks, and most chains.
pub const SYSTEM_PARTS_MAX: usize = 1 << 12;
/// Most elements of one chain.
pub const CHAIN_STEPS_MAX: usize = 64;

/// Something in a system that cannot be meant as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SystemError {
    /// The object at fault, as in "chain `grab`".
    pub object: String,
    /// What is wrong with it.
    pub problem: String,
    /// What to write instead.
    pub remedy: String,
}

impl fmt::Display for SystemError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}; {}", self.object, self.problem, self.remedy)
    }
}

fn error<T>(
    object: impl Into<String>,
    problem: impl Into<String>,
    remedy: impl Into<String>,
) -> Result<T, SystemError> {
    Err(SystemError { object: object.into(), problem: problem.into(), remedy: remedy.into() })
}

impl System {
    /// Checks what everybody else relies on.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<(), SystemError> {
        if let Err(fault) = self.traffic.validate() {
            return error("the network", fault.to_string(), "mend it there");
        }
        if self.hosts.len() > SYSTEM_PARTS_MAX || self.chains.len() > SYSTEM_PARTS_MAX {
            return error(
                format!("system `{}`", self.name),
                format!("has more than {SYSTEM_PARTS_MAX} hosts with tasks, or as many chains"),
                "plan a part of it",
            );
        }
        if self.traffic.streams.len() + self.crossings.len() > STREAMS_MAX
            || self.crossings.len() > usize::from(u16::MAX)
        {
            return error(format!("system `{}`", self.name), "has too many channels", "plan a part of them");
        }
        self.validate_hosts()?;
        let mut names: BTreeSet<&str> =
            self.traffic.streams.iter().map(|stream| stream.name.as_str()).collect();
        let mut ports = BTreeSet::new();
        for crossing in &self.crossings {
            self.validate_crossing(crossing, &mut names, &mut ports)?;
        }
        let mut names = BTreeSet::new();
        for chain in &self.chains {
            if !names.insert(chain.name.as_str()) {
                return error(object(chain), "is declared more than once", "give each its own name");
            }
            self.validate_chain(chain)?;
        }
        Ok(())
    }

    fn validate_hosts(&self) -> Result<(), SystemError> {
        let mut nodes = BTreeSet::new();
        for host in &self.hosts {
            let name = format!("host `{}`", host.job.name);
            let node = self.traffic.network.nodes.get(host.node.index());
            if node.is_none_or(|node| node.kind != NodeKind::Host) || !nodes.insert(host.node) {
                return error(name, "is no host of the network, or is there twice", "name each host once");
            }
            if host.job.costs.clock_error != self.traffic.clock_error {
                let (own, network) = (host.job.costs.clock_error, self.traffic.clock_error);
                return error(name, format!("has a clock error of {own}"), format!("write {network}"));
            }
        }
        Ok(())
    }

    fn port(&self, port: Port) -> Option<(&Job, &Channel)> {
        let job = &self.hosts.get(usize::from(port.host))?.job;
        Some((job, job.channels.get(port.channel.index())?))
    }

    fn validate_crossing<'a>(
        &'a self,
        crossing: &'a Crossing,
        names: &mut BTreeSet<&'a str>,
        ports: &mut BTreeSet<Port>,
    ) -> Result<(), SystemError> {
        let object = || format!("channel `{}`", crossing.name);
        if crossing.name.is_empty() || crossing.name.len() > NAME_BYTES_MAX {
            return error(object(), "has an empty or too long name", "choose another");
        }
        if !names.insert(&crossing.name) {
            return error(object(), "is declared more than once", "give each its own name");
        }
        let here = usize::from(crossing.source.host);
        if crossing.targets.is_empty() || crossing.targets.iter().any(|port| usize::from(port.host) == here) {
            return error(
                object(),
                "must lead to other hosts than its source's only",
                "declare a channel of its own for a target on the same host",
            );
        }
        for port in crossing.targets.iter().chain([&crossing.source]) {
            let Some((job, channel)) = self.port(*port) else {
                return error(object(), "has an end that does not exist", "name a declared channel");
            };
            let far = if *port == crossing.source { channel.target } else { channel.source };
            let is_port = job.members.get(far.index()).is_some_and(|member| member.name == NETWORK_MEMBER);
            let timed = matches!(channel.qos, Qos::TimeDriven { period, .. } if period == crossing.period);
            if !is_port || !timed || channel.size != crossing.size || !ports.insert(*port) {
                return error(
                    object(),
                    "does not have the size and period of its ends, or shares one of them",
                    "declare its ends alike",
                );
            }
            let least = job.costs.publish + job.costs.clock_error;
            if crossing.period <= least || crossing.period > STREAM_TIME_MAX {
                return error(
                    object(),
                    format!("has a period of {}", crossing.period),
                    format!("choose one between {} and {STREAM_TIME_MAX}", least + Nanos(1)),
                );
            }
        }
        let Some(window) = crossing.window else { return Ok(()) };
        let least = window.release + self.traffic.clock_error.saturating_mul(2) + Nanos(1);
        if window.release < Nanos::ZERO || window.deadline < least || window.deadline > STREAM_TIME_MAX {
            return error(
                object(),
                format!("has a window from {} to {}", window.release, window.deadline),
                format!("let it end between {least} and {STREAM_TIME_MAX}"),
            );
        }
        Ok(())
    }

    fn validate_chain(&self, chain: &Chain) -> Result<(), SystemError> {
        let count = chain.path.len();
        if count.is_multiple_of(2) || count > CHAIN_STEPS_MAX {
            return error(
                object(chain),
                format!("has a path of {count} elements"),
                format!(
                    "name tasks and channels in turn, from a task to a task, at most {CHAIN_STEPS_MAX} in all"
                ),
            );
        }
        if [chain.reaction, chain.age].iter().flatten().any(|limit| *limit <= Nanos::ZERO) {
            return error(object(chain), "has a limit of 0 or less", "write a time above 0");
        }
        for index in (0..count).step_by(2) {
            let known = match chain.path[index] {
                Step::Task { host, task } => {
                    self.hosts.get(usize::from(host)).is_some_and(|host| task.index() < host.job.tasks.len())
                }
                Step::Work { host, work } => self
                    .hosts
                    .get(usize::from(host))
                    .is_some_and(|host| usize::from(work) < host.job.sporadics.len()),
                Step::Channel(_) | Step::Crossing(_) => false,
            };
            if !known {
                return error(
                    object(chain),
                    format!("element {index} of its path is no task"),
                    "name tasks and channels in turn",
                );
            }
        }
        (1..count).step_by(2).try_for_each(|index| self.validate_joint(chain, index))
    }

    /// One channel of a chain, with the tasks at its ends.
    fn validate_joint(&self, chain: &Chain, index: usize) -> Result<(), SystemError> {
        let (before, here, after) = (chain.path[index - 1], chain.path[index], chain.path[index + 1]);
        let ends = match here {
            Step::Channel(port) => self.port(port).map(|(_, channel)| (port, vec![port], channel)),
            Step::Crossing(crossing) => self.crossings.get(usize::from(crossing)).and_then(|crossing| {
                let channel = self.port(crossing.source)?.1;
                Some((crossing.source, crossing.targets.clone(), channel))
            }),
            Step::Task { .. } | Step::Work { .. } => None,
        };
        let Some((source, targets, channel)) = ends else {
            return error(
                object(chain),
                format!("element {index} of its path is no channel"),
                "name tasks and channels in turn",
            );
        };
        let of = |port: Port, ends: &[ChannelId]| ends.contains(&port.channel);
        let name = self.step_name(here);
        let written = match before {
            Step::Task { host, task } => source.host == host && of(source, &self.task(host, task).writes),
            // What work sends is not declared; it is its member's channel, at least.
            Step::Work { host, work } => {
                source.host == host
                    && channel.source == self.work(host, work).member
                    && channel.qos.service().is_some()
            }
            _ => false,
        };
        if !written {
            return error(
                object(chain),
                format!("`{}` does not write channel `{name}`", self.step_name(before)),
                "name who writes it before it in the path, and list the channel in that task's `writes`",
            );
        }
        let read = match after {
            Step::Task { host, task } => {
                targets.iter().any(|port| port.host == host && of(*port, &self.task(host, task).reads))
            }
            Step::Work { host, work } => targets
                .iter()
                .any(|port| port.host == host && completes(channel, &self.work(host, work).start)),
            _ => false,
        };
        if !read {
            return error(
                object(chain),
                format!("`{}` does not read channel `{name}`", self.step_name(after)),
                "name who reads it after it in the path: a task with the channel in its `reads`, or one without period whose event is \
                 the channel's `completion-event`",
            );
        }
        if !channel.qos.is_time_driven() && matches!(after, Step::Task { .. }) {
            return error(
                object(chain),
                format!(
                    "`{}` takes what comes on `{name}` in its order and at its own pace, so that nothing is known of how old it gets",
                    self.step_name(after)
                ),
                "make the channel time-driven, or let its `completion-event` start the task",
            );
        }
        Ok(())
    }
}

/// Whether the end of a transfer starts some work.
fn completes(channel: &Channel, start: &Start) -> bool {
    match (&channel.qos, start) {
        (Qos::EventDriven { completion: Some(event), .. }, Start::Event { group, name }) => {
            *group == channel.group && name == event
        }
        _ => false,
    }
}

fn object(chain: &Chain) -> String {
    format!("chain `{}`", chain.name)
}
