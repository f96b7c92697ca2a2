//! What a program declares, before it meets the other ends. A field that one side leaves open may be given by
//! another (the manifest, the other end); a field that two sides give must agree.

use leveret_plan::{CoreChoice, OverrunPolicy, Placement, Qos};
use leveret_types::{ByteSize, Nanos};
use serde::{Deserialize, Serialize};

/// The predefined group that holds every member.
pub const GROUP_WORLD: &str = "world";

/// A task as declared by its member or by the manifest.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TaskDeclaration {
    /// Unique name within the job.
    pub name: String,
    /// Distance between two instances.
    pub period: Option<Nanos>,
    /// Start of the window, from the start of the period; 0 when left open everywhere.
    pub release: Option<Nanos>,
    /// End of the window, from the start of the period; the period when left open everywhere.
    pub deadline: Option<Nanos>,
    /// Longest execution time.
    pub budget: Option<Nanos>,
    /// Where it runs; the member's core, else any, when left open everywhere.
    pub core: Option<CoreChoice>,
    /// Whether the planner may interrupt it; no when left open everywhere.
    pub preemptible: Option<bool>,
    /// What happens on an overrun; `skip` when left open everywhere.
    pub overrun: Option<OverrunPolicy>,
    /// Names of the channels it takes from; `GROUP/NAME` outside group `world`.
    pub reads: Vec<String>,
    /// Names of the channels it inserts into; `GROUP/NAME` outside group `world`.
    pub writes: Vec<String>,
}

/// Work at a fixed priority beside the time table, as declared by its member or by the manifest.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SporadicDeclaration {
    /// Unique name within the job, among tasks too.
    pub name: String,
    /// The event, by group and name, each firing of which it runs once for; the name of the work itself, in group `world`,
    /// when left open everywhere.
    pub event: Option<(String, String)>,
    /// 1 to [`leveret_plan::PRIORITY_MAX`]; higher is more urgent.
    pub priority: Option<u8>,
    /// Least distance between two firings that are served.
    pub interval: Option<Nanos>,
    /// Longest time from a firing to the end of its run; none is promised when left open everywhere.
    pub deadline: Option<Nanos>,
    /// Longest execution time of one run.
    pub budget: Option<Nanos>,
    /// Where it runs; where all such work of its member runs, when left open everywhere.
    pub core: Option<CoreChoice>,
}

/// Whose memory a buffer is (MPI/RT: `system_mem_alloc`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BufferMemory {
    /// Allocated in the member's segment at commit.
    #[default]
    System,
    /// The application's own; copied once at insertion.
    Application,
}

/// Order in which a buffer iterator yields buffers, and what it promises about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IteratorPolicy {
    /// In order of insertion; buffers at the two ends are independent.
    #[default]
    Fifo,
    /// In order of insertion, and the i-th buffer at one end means the i-th at the other.
    FifoMapped,
    /// As mapped, and inserted in the order of the allowed set.
    FifoOrdered,
}

impl IteratorPolicy {
    /// Whether buffers at the two ends correspond one to one.
    pub fn is_mapped(self) -> bool {
        !matches!(self, Self::Fifo)
    }
}

/// How the receiver of a best-effort channel waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitMode {
    /// It polls; the sender never makes a system call.
    #[default]
    Poll,
    /// It may sleep; the sender wakes it when it does.
    Wake,
}

/// A channel as declared by one end or by the manifest.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ChannelDeclaration {
    /// Name, unique within its group.
    pub name: String,
    /// Group; `world` when left open everywhere.
    pub group: Option<String>,
    /// Name of the sending member.
    pub source: Option<String>,
    /// Name of the receiving member.
    pub target: Option<String>,
    /// In the manifest: the most an end may ask for, and the size when no end gives one. At an end: the size.
    pub size: Option<ByteSize>,
    /// Number of buffers; 2 when left open everywhere.
    pub buffers: Option<u32>,
    /// Where the receiver reads. Left open: aliased if both ends have system memory and a mapped policy.
    pub placement: Option<Placement>,
    /// Timing; best effort when left open everywhere.
    pub qos: Option<Qos>,
    /// How the receiver waits; polling when left open everywhere.
    pub wait: Option<WaitMode>,
    /// How many started transfers may be under way; 1 when left open everywhere.
    pub slack: Option<u32>,
}

/// Which end of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The sending end.
    Source,
    /// The receiving end.
    Target,
}

/// A channel end as declared in code by the member that owns it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChannelEndDeclaration {
    /// Which end the member holds.
    pub end: End,
    /// The channel's properties as this end sees them.
    pub channel: ChannelDeclaration,
    /// Whose memory its buffers are.
    pub memory: BufferMemory,
    /// The policy of its buffer iterator.
    pub policy: IteratorPolicy,
    /// How many buffers the program provides at this end, each of which may belong to one at the other; `None`: it
    /// uses the channel's.
    #[serde(default)]
    pub allowed: Option<u32>,
    /// Whether the library moves the messages of a priority- or event-driven channel at this end. The program does at others, and
    /// then nothing can be promised.
    #[serde(default)]
    pub served: bool,
}

/// Everything one member declares for one commit.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MemberDeclarations {
    /// A label for the report, such as `4 B`.
    pub label: String,
    /// Groups this member names, each with its members' names. `world` needs no declaration.
    pub groups: Vec<GroupDeclaration>,
    /// Tasks that the member runs.
    pub tasks: Vec<TaskDeclaration>,
    /// Work beside the time table that the member runs.
    #[serde(default)]
    pub sporadics: Vec<SporadicDeclaration>,
    /// Channel ends that the member holds.
    pub ends: Vec<ChannelEndDeclaration>,
    /// What it fires and waits for.
    pub events: EventDeclarations,
}

/// What a member fires and waits for.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct EventDeclarations {
    /// What it fires.
    pub triggers: Vec<TriggerDeclaration>,
    /// What it waits for.
    pub receptors: Vec<ReceptorDeclaration>,
}

/// With this begin the names of events by which the library's own threads at the two ends of a channel call each other. No
/// program's name has it.
pub const INTERNAL_EVENT: char = '\u{1}';

/// A trigger of an event.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TriggerDeclaration {
    /// The event's name, unique within its group.
    pub event: String,
    /// The event's group.
    pub group: String,
    /// Firings of a higher one are delivered first; 0: best effort.
    pub priority: u8,
}

/// A receptor of an event.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ReceptorDeclaration {
    /// The event's name, unique within its group.
    pub event: String,
    /// The event's group.
    pub group: String,
}

/// A named subset of the members.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GroupDeclaration {
    /// The group's name.
    pub name: String,
    /// Its members' names; the position is the rank in the group.
    pub members: Vec<String>,
}

/// What the manifest declares of the model. Launch, policy and output are the agent's business.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct JobDeclaration {
    /// The job's name.
    pub name: String,
    /// Processors that the job may use.
    pub cores: Vec<u32>,
    /// Members in rank order.
    pub members: Vec<MemberDeclaration>,
    /// Tasks, each with its member's name.
    pub tasks: Vec<(String, TaskDeclaration)>,
    /// Work beside the time table, each with its member's name.
    pub sporadics: Vec<(String, SporadicDeclaration)>,
    /// Channels.
    pub channels: Vec<ChannelDeclaration>,
}

/// A member as the manifest names it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MemberDeclaration {
    /// Unique name.
    pub name: String,
    /// Core of its tasks when they name none.
    pub core: Option<u32>,
}
