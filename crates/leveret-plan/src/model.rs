//! The job model: what a program declares. The manifest and the API both arrive here.
//!
//! Windows follow design section 2: instance k of a task or channel may act within
//! `[epoch + k*period + release, epoch + k*period + deadline]`. `release` carries the phase.

use leveret_types::{ByteSize, ChannelId, MemberId, Nanos};
use serde::{Deserialize, Serialize};

/// A whole job, as admitted or refused.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The job's name.
    pub name: String,
    /// The processors that the job may use, by the kernel's numbers.
    pub cores: Vec<u32>,
    /// The processes of the job; the index is the rank.
    pub members: Vec<Member>,
    /// All tasks of all members.
    pub tasks: Vec<Task>,
    /// All channels.
    pub channels: Vec<Channel>,
    /// Work beside the time table, each at its fixed priority.
    pub sporadics: Vec<Sporadic>,
    /// What the machine's own acts cost.
    pub costs: Costs,
}

/// A process of the job.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Member {
    /// Unique name.
    pub name: String,
}

/// A periodic computation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Task {
    /// Unique name within the job, by habit `member.task`.
    pub name: String,
    /// Who runs it.
    pub member: MemberId,
    /// Distance between two instances.
    pub period: Nanos,
    /// Earliest start, from the start of the period.
    pub release: Nanos,
    /// Latest end, from the start of the period; may lie beyond the period's end.
    pub deadline: Nanos,
    /// Longest execution time of one instance.
    pub budget: Nanos,
    /// Where it runs.
    pub core: CoreChoice,
    /// Whether the planner may interrupt it for another task (at `Costs::preemption` each).
    pub preemptible: bool,
    /// What happens when an instance exceeds its budget.
    pub overrun: OverrunPolicy,
    /// Channels whose messages it takes, at most one message of each per instance.
    pub reads: Vec<ChannelId>,
    /// Channels into which it inserts, at most one message of each per instance.
    pub writes: Vec<ChannelId>,
    /// Whether the library declared it, to serve ends of channels that no task of the program serves: its times are theirs.
    pub mover: bool,
}

/// Work at a fixed priority beside the time table: it runs once for each arrival, in the time that the table and
/// more urgent work leave.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sporadic {
    /// Unique name among tasks and sporadic work.
    pub name: String,
    /// Who runs it.
    pub member: MemberId,
    /// What starts it.
    pub start: Start,
    /// 1 to [`PRIORITY_MAX`], higher is more urgent.
    pub priority: u8,
    /// Least distance between two arrivals. The runtime keeps it: an arrival that comes sooner is served as if it
    /// came then. Without it nothing that is less urgent on its core has a bound.
    pub interval: Option<Nanos>,
    /// Longest time from an arrival to the end of its run. Without it nothing is promised.
    pub deadline: Option<Nanos>,
    /// Longest execution time of one run, the copy of its message not included.
    pub budget: Nanos,
    /// Where it runs.
    pub core: CoreChoice,
}

/// The most urgent priority.
pub const PRIORITY_MAX: u8 = 90;

/// The priority of an event-driven channel that was given none: the least urgent.
pub const EVENT_PRIORITY: u8 = 1;

/// Most different priorities in one job: the kernel has fewer than [`PRIORITY_MAX`] to give below the table's.
pub const PRIORITY_LEVELS_MAX: usize = 40;

impl Job {
    /// Whether anything of it stands in a time table, and so has windows: a task, or a channel that the clock moves.
    pub fn has_time_table(&self) -> bool {
        !self.tasks.is_empty() || self.channels.iter().any(|channel| channel.qos.is_time_driven())
    }
}

/// What starts sporadic work.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// A message of this channel, whose target is the member that runs the work.
    Message(ChannelId),
    /// A transfer that is asked for on this channel, whose source is the member that runs the work.
    Request(ChannelId),
    /// A firing of an event.
    Event {
        /// The event's group.
        group: String,
        /// Its name.
        name: String,
    },
}

/// Where a task runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum CoreChoice {
    /// On this processor.
    Pinned(u32),
    /// On one of the job's processors, chosen by the planner; the same one for every instance.
    Any,
}

/// What happens when an instance exceeds its budget.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverrunPolicy {
    /// The next instance that no longer fits is skipped, counted and reported.
    #[default]
    Skip,
    /// The next instance runs late.
    Late,
    /// The job ends.
    Stop,
}

/// A one-way conduit between two members.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Channel {
    /// Name, unique within its group.
    pub name: String,
    /// Group; `world` holds every member.
    pub group: String,
    /// Sending member.
    pub source: MemberId,
    /// Receiving member.
    pub target: MemberId,
    /// Largest message.
    pub size: ByteSize,
    /// Number of buffers asked for; the plan may give more.
    pub buffers: u32,
    /// Where the receiver reads the bytes.
    pub placement: Placement,
    /// Timing.
    pub qos: Qos,
}

/// Where the receiver reads a message's bytes (design section 10.8).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Each end has its own buffers; the receiver copies once.
    #[default]
    Separate,
    /// The receiver reads in the sender's segment; zero copies.
    Aliased,
}

/// Quality of service of a channel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Qos {
    /// Moved by the clock.
    TimeDriven {
        /// Distance between two transfers.
        period: Nanos,
        /// Earliest start of the transfer, from the start of the period.
        release: Nanos,
        /// The instant, from the start of the period, at which the message has arrived by definition.
        deadline: Nanos,
        /// What the receiver's task sees when the message is not there.
        missing: MissingPolicy,
    },
    /// Moved as soon as possible; no guarantee.
    BestEffort,
    /// Moved as soon as the table and more urgent transfers leave time at the receiver.
    PriorityDriven {
        /// 1 to [`PRIORITY_MAX`], higher is more urgent.
        priority: u8,
        /// Least distance between two transfers.
        interval: Option<Nanos>,
        /// Longest time from start to completion.
        deadline: Option<Nanos>,
    },
    /// Moved once for each firing of an event; as priority-driven from there on.
    EventDriven {
        /// The event that starts a transfer, in the channel's group; the sender's start does where there is none.
        start: Option<String>,
        /// The event that a completed transfer fires, in the channel's group.
        completion: Option<String>,
        /// 1 to [`PRIORITY_MAX`], higher is more urgent.
        priority: u8,
        /// Least distance between two firings.
        interval: Option<Nanos>,
        /// Longest time from firing to completion.
        deadline: Option<Nanos>,
    },
}

impl Qos {
    /// Priority, interval and deadline of transfers that are served beside the table.
    pub fn service(&self) -> Option<(u8, Option<Nanos>, Option<Nanos>)> {
        match self {
            Self::TimeDriven { .. } | Self::BestEffort => None,
            Self::PriorityDriven { priority, interval, deadline }
            | Self::EventDriven { priority, interval, deadline, .. } => {
                Some((*priority, *interval, *deadline))
            }
        }
    }

    /// Whether the clock moves it.
    pub fn is_time_driven(&self) -> bool {
        matches!(self, Self::TimeDriven { .. })
    }
}

/// What the receiver's task sees when a time-driven message is late or missing (design section 10.10).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingPolicy {
    /// The instance yields no message.
    #[default]
    Skip,
    /// The last good message again, marked as held.
    HoldLast,
    /// The job ends.
    Stop,
}

/// What the machine's own acts cost; measured before a run, stated in the manifest, or these defaults.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Costs {
    /// A task wakes this long before its start and spins; the core is reserved for that time.
    pub guard: Nanos,
    /// One switch from a task to the next, charged after every instance.
    pub switch: Nanos,
    /// One preemption and resumption, charged to the preempted instance.
    pub preemption: Nanos,
    /// Making a message visible to another core, charged before the visibility instant.
    pub publish: Nanos,
    /// Copying out of the sender's segment, charged to the reader of a separate channel, per KiB.
    pub copy_per_kib: Nanos,
    /// Clock error; windows shrink by it at both ends. Zero on one host.
    pub clock_error: Nanos,
    /// Share of each core that real-time tasks may use, in thousandths. The kernel keeps the rest for ordinary
    /// tasks (its fair server takes 50 ms of every second).
    pub utilisation_permille: u32,
}

impl Default for Costs {
    fn default() -> Self {
        Self {
            guard: Nanos::from_micros(50),
            switch: Nanos::from_micros(5),
            preemption: Nanos::from_micros(10),
            publish: Nanos::from_micros(1),
            copy_per_kib: Nanos(200),
            clock_error: Nanos::ZERO,
            utilisation_permille: 950,
        }
    }
}
