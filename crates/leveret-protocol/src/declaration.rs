//! What a program declares, before it meets the other ends. A field that one side leaves open may be given by
//! another (the manifest, the other end); a field that two sides give must agree.

use leveret_plan::{CoreChoice, OverrunPolicy, Placement, Qos};
use leveret_types::{ByteSize, NAME_BYTES_MAX, Nanos};
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
    /// It runs once, and its window is absolute: the library's own that move single shots.
    #[serde(default)]
    pub once: bool,
    /// The library's own, for ends of channels that no task of the program serves; its times are theirs.
    #[serde(default)]
    pub mover: bool,
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
    /// What the bytes mean, in one word; bytes of any meaning when left open everywhere.
    #[serde(default)]
    pub dataspec: Option<String>,
    /// Number of buffers; 2 when left open everywhere.
    pub buffers: Option<u32>,
    /// Where the receiver reads. Left open: aliased if both ends have system memory and a mapped policy.
    pub placement: Option<Placement>,
    /// Timing; best effort when left open everywhere. Time-driven with a period of 0: one transfer, in an absolute window.
    pub qos: Option<Qos>,
    /// How the receiver waits; polling when left open everywhere.
    pub wait: Option<WaitMode>,
    /// How many started transfers may be under way; 1 when left open everywhere.
    pub slack: Option<u32>,
    /// Whether each message carries a checksum of its payload; it does not when left open everywhere.
    #[serde(default)]
    pub checksum: Option<bool>,
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
    /// Messages that the program at this end can have under way at once without a window. The channel has at least as many buffers,
    /// so that the receiver sees each from its insertion on.
    #[serde(default)]
    pub outgoing: Option<u32>,
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
    /// Channels of a whole group that it takes part in; their edges are among the ends.
    #[serde(default)]
    pub collectives: Vec<CollectiveDeclaration>,
    /// Of a mode: which of these go on from what runs.
    #[serde(default)]
    pub kept: KeptDeclarations,
    /// Set where the member has found by itself that it cannot commit what it has: then nothing else is declared here, and once all
    /// have declared, all are refused.
    #[serde(default)]
    pub unfit: Option<Unfit>,
}

/// Why a member cannot commit.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Unfit {
    /// The number of the error in the members' interface; all members get it.
    pub code: i32,
    /// One sentence.
    pub reason: String,
}

/// What a member keeps in a mode.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct KeptDeclarations {
    /// Channels, each with its group and its name.
    pub channels: Vec<(String, String)>,
    /// Tasks by their names.
    pub tasks: Vec<String>,
    /// Triggers by their places among the member's.
    #[serde(default)]
    pub triggers: Vec<u32>,
    /// Receptors by their places among the member's.
    #[serde(default)]
    pub receptors: Vec<u32>,
    /// Work that events start beside the time table, by its names.
    #[serde(default)]
    pub works: Vec<String>,
}

/// What a collective channel does with its members' data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CollectiveForm {
    /// Every member receives what the root sends.
    Broadcast,
    /// Every member receives its section of what the root sends.
    Scatter,
    /// The root receives what every member sends, section by section.
    Gather,
    /// The root receives what an operation makes of what every member sends.
    Reduction,
    /// Nothing is sent.
    Barrier,
    /// Every member sends a piece to every member.
    AllToAll,
}

impl CollectiveForm {
    /// As it stands in messages to people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Broadcast => "broadcast",
            Self::Scatter => "scatter",
            Self::Gather => "gather",
            Self::Reduction => "reduction",
            Self::Barrier => "barrier",
            Self::AllToAll => "all-to-all",
        }
    }
}

/// A collective channel as one member of its group declares it. Every member must declare it, and all must agree.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CollectiveDeclaration {
    /// Name, unique within its group.
    pub name: String,
    /// Its group.
    pub group: String,
    /// What it does.
    pub form: CollectiveForm,
    /// Rank of the root in the group; `None` where there is none.
    pub root: Option<u32>,
    /// What a reduction does.
    pub operation: Option<String>,
    /// What the bytes mean; `None` where there are none.
    pub dataspec: Option<String>,
    /// Bytes of one element.
    pub element: u32,
    /// Size of the buffers that this member sends.
    pub sends: Option<ByteSize>,
    /// Size of the buffers that it receives into.
    pub receives: Option<ByteSize>,
    /// Timing.
    pub qos: Qos,
    /// How many started transfers may be under way.
    pub slack: u32,
}

impl CollectiveDeclaration {
    /// The name of the channel that carries its messages from one rank to another.
    pub fn edge(name: &str, from: usize, to: usize) -> String {
        with_suffix(name, &format!("[{from}->{to}]"))
    }

    /// The name of the channel on which the member that leads a transfer calls for what another is to send.
    pub fn call(name: &str, from: usize, to: usize) -> String {
        with_suffix(name, &format!("[call {from}->{to}]"))
    }

    /// Whether a channel of this name in the same group carries its messages.
    pub fn has_edge(&self, channel: &str) -> bool {
        Self::base_of_edge(channel)
            .is_some_and(|base| channel == with_suffix(&self.name, &channel[base.len()..]))
    }

    /// What stands before the ranks in the name of a channel that carries a collective one: its name, or as much of it as has room.
    pub fn base_of_edge(channel: &str) -> Option<&str> {
        let (base, suffix) = channel.split_at(channel.rfind('[')?);
        let arrow = suffix.strip_prefix("[call ").unwrap_or(&suffix[1..]).strip_suffix(']');
        let is_rank = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let (from, to) = arrow?.split_once("->")?;
        (is_rank(from) && is_rank(to)).then_some(base)
    }
}

/// A name that is too long for its suffix is cut; what is cut leaves its mark, so that two such names stay two.
fn with_suffix(name: &str, suffix: &str) -> String {
    if name.len() + suffix.len() <= NAME_BYTES_MAX {
        return format!("{name}{suffix}");
    }
    let digest = name
        .bytes()
        .fold(0x811c_9dc5_u32, |digest, byte| (digest ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let mark = format!("~{digest:08x}");
    let mut room = NAME_BYTES_MAX.saturating_sub(suffix.len() + mark.len()).min(name.len());
    while !name.is_char_boundary(room) {
        room -= 1;
    }
    format!("{}{mark}{suffix}", &name[..room])
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

/// So, after that, the source of a channel between two members calls the target.
pub const SENT_EVENT: &str = "sent ";

/// And so the target calls the source.
pub const TAKEN_EVENT: &str = "taken ";

/// So, after that, those of a channel of a group.
pub const MOVED_EVENT: &str = "moved ";

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
