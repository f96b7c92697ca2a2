//! What runs on several hosts and moves between them.

use crate::network::Traffic;
use crate::{Job, Sporadic, Task};
use leveret_topology::Tree;
use leveret_types::{ByteSize, ChannelId, Nanos, NodeId, TaskId};

/// Stands among the members of a host's job for all that lies beyond its network port.
pub const NETWORK_MEMBER: &str = "(network)";

/// Hosts with tasks, the network between them, and what is asked of both together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct System {
    /// Its name.
    pub name: String,
    /// The network, its clock error, and what moves between hosts without a member at its ends.
    pub traffic: Traffic,
    /// The hosts that run tasks.
    pub hosts: Vec<SystemHost>,
    /// Channels between members of different hosts.
    pub crossings: Vec<Crossing>,
    /// What must not take longer than it may, over several tasks and channels.
    pub chains: Vec<Chain>,
}

/// A host that runs tasks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SystemHost {
    /// Which node of the network.
    pub node: NodeId,
    /// What runs there. Its clock error is the network's. A channel to or from another host has [`NETWORK_MEMBER`] at its far
    /// end; its window is not looked at here, since the crossing has it.
    pub job: Job,
}

/// One end of a crossing: a channel of a host's job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Port {
    /// Index of the host in the system.
    pub host: u16,
    /// The channel of its job.
    pub channel: ChannelId,
}

/// A time-driven channel from a member of one host to members of others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Crossing {
    /// Unique among crossings and streams.
    pub name: String,
    /// Where it begins.
    pub source: Port,
    /// Where it ends: one for each receiving member.
    pub targets: Vec<Port>,
    /// Largest message.
    pub size: ByteSize,
    /// Distance between two messages.
    pub period: Nanos,
    /// When the network has the message; the planner chooses where it is left out.
    pub window: Option<Window>,
    /// Longest time from the start of the first transmission to the arrival at any target.
    pub latency: Option<Nanos>,
    /// Longest distance between the earliest and the latest arrival, each from the start of its period.
    pub jitter: Option<Nanos>,
    /// Number of ways, as of a stream.
    pub copies: u8,
    /// The way of each copy, where the planner must not choose.
    pub ways: Option<Vec<Tree>>,
}

impl Crossing {
    /// Its ends: the source, then the targets.
    pub(crate) fn ports(&self) -> impl Iterator<Item = Port> + '_ {
        std::iter::once(self.source).chain(self.targets.iter().copied())
    }
}

/// Release and deadline, from the start of each period.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Window {
    /// The message is inserted by then, and sent from then on.
    pub release: Nanos,
    /// It has arrived by then, and is visible from then on.
    pub deadline: Nanos,
}

/// A way through tasks and channels in turn, from a task to a task, and how long it may take.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain {
    /// Unique among chains.
    pub name: String,
    /// Task, channel, task, and so on.
    pub path: Vec<Step>,
    /// Longest reaction time.
    pub reaction: Option<Nanos>,
    /// Longest data age.
    pub age: Option<Nanos>,
}

/// One element of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A task with a period.
    Task {
        /// Index of its host.
        host: u16,
        /// Its index in the host's job.
        task: TaskId,
    },
    /// Work beside the table.
    Work {
        /// Index of its host.
        host: u16,
        /// Its index in the host's job.
        work: u16,
    },
    /// A channel between members of one host.
    Channel(Port),
    /// A channel between hosts, by its index.
    Crossing(u16),
}

impl Step {
    /// The host of a task or of work.
    pub(crate) fn host(self) -> Option<u16> {
        match self {
            Self::Task { host, .. } | Self::Work { host, .. } => Some(host),
            Self::Channel(_) | Self::Crossing(_) => None,
        }
    }
}

impl System {
    /// A host's name.
    pub fn host_name(&self, host: u16) -> &str {
        let node = self.hosts.get(usize::from(host)).and_then(|host| {
            let nodes = &self.traffic.network.nodes;
            nodes.get(host.node.index())
        });
        node.map_or("?", |node| node.name.as_str())
    }

    /// The name of an element of a chain.
    pub fn step_name(&self, step: Step) -> &str {
        let job = |host: u16| self.hosts.get(usize::from(host)).map(|host| &host.job);
        let name = match step {
            Step::Task { host, task } => {
                job(host).and_then(|job| job.tasks.get(task.index())).map(|task| &task.name)
            }
            Step::Work { host, work } => {
                job(host).and_then(|job| job.sporadics.get(usize::from(work))).map(|work| &work.name)
            }
            Step::Channel(port) => job(port.host)
                .and_then(|job| job.channels.get(port.channel.index()))
                .map(|channel| &channel.name),
            Step::Crossing(index) => self.crossings.get(usize::from(index)).map(|crossing| &crossing.name),
        };
        name.map_or("?", String::as_str)
    }

    /// A task of a system that was validated.
    pub(crate) fn task(&self, host: u16, task: TaskId) -> &Task {
        &self.hosts[usize::from(host)].job.tasks[task.index()]
    }

    /// Work of a system that was validated.
    pub(crate) fn work(&self, host: u16, work: u16) -> &Sporadic {
        &self.hosts[usize::from(host)].job.sporadics[usize::from(work)]
    }
}
