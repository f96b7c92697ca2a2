//! What an object is made of. Attributes are fixed while committed.

use super::collectives::CollectiveBody;
use super::committed::Committed;
use super::events::{HandlerBody, ReceptorBody, TriggerBody};
use super::handle::{Class, Handle};
use super::qos::QosBody;
use super::storage::Storage;
use leveret_memory::iterator::Policy;
use leveret_plan::OverrunPolicy;
use leveret_types::{MemberId, Nanos};
use std::fmt;
use std::sync::Arc;

/// An object: a name, and what its class adds.
#[derive(Clone)]
pub(super) struct Object {
    pub(super) name: String,
    pub(super) body: Body,
    /// How often its references were changed: a walk over it tells by this.
    pub(super) changes: u64,
}

#[derive(Clone)]
pub(super) enum Body {
    Cset(Vec<Handle>),
    Cvector(Vec<Handle>),
    /// Members of the world by their ranks in it.
    Group(Vec<MemberId>),
    Buffer(BufferBody),
    Bufiter(BufiterBody),
    Ptchannel(ChannelBody),
    Collective(CollectiveBody),
    Qos(QosBody),
    Task(TaskBody),
    ContainerIterator(WalkBody),
    /// What it is made of stands in [`super::mode::Modes`].
    Mode,
    Trigger(TriggerBody),
    Receptor(ReceptorBody),
    Handler(HandlerBody),
}

impl Body {
    pub(super) fn class(&self) -> Class {
        match self {
            Self::Cset(_) => Class::Cset,
            Self::Cvector(_) => Class::Cvector,
            Self::Group(_) => Class::Group,
            Self::Buffer(_) => Class::Buffer,
            Self::Bufiter(_) => Class::Bufiter,
            Self::Ptchannel(_) => Class::Ptchannel,
            Self::Collective(collective) => collective.kind.class(),
            Self::Qos(_) => Class::Qos,
            Self::Task(_) => Class::Task,
            Self::ContainerIterator(_) => Class::ContainerIterator,
            Self::Mode => Class::Mode,
            Self::Trigger(_) => Class::Trigger,
            Self::Receptor(_) => Class::Receptor,
            Self::Handler(_) => Class::Handler,
        }
    }

    /// What channels of every kind have.
    pub(super) fn channel(&self) -> Option<&ChannelBody> {
        match self {
            Self::Ptchannel(channel) => Some(channel),
            Self::Collective(collective) => Some(&collective.base),
            _ => None,
        }
    }

    /// As [`Body::channel`], to be changed.
    pub(super) fn channel_mut(&mut self) -> Option<&mut ChannelBody> {
        match self {
            Self::Ptchannel(channel) => Some(channel),
            Self::Collective(collective) => Some(&mut collective.base),
            _ => None,
        }
    }

    /// The objects that this one keeps from going.
    pub(super) fn references(&self) -> Vec<Handle> {
        match self {
            Self::Cset(members) | Self::Cvector(members) => {
                members.iter().copied().filter(|member| !member.is_null()).collect()
            }
            Self::Bufiter(iterator) => {
                let set = std::iter::once(iterator.set).filter(|set| !set.is_null());
                iterator.allowed.iter().flatten().copied().chain(set).collect()
            }
            Self::Ptchannel(channel) => channel.references(),
            Self::Collective(collective) => collective.base.references(),
            Self::Task(task) => task.channels.iter().copied().chain([task.qos]).collect(),
            Self::ContainerIterator(walk) => vec![walk.container],
            Self::Trigger(trigger) => trigger.references(),
            Self::Receptor(receptor) => receptor.references(),
            Self::Handler(handler) => handler.references(),
            Self::Group(_) | Self::Buffer(_) | Self::Qos(_) | Self::Mode => Vec::new(),
        }
    }
}

macro_rules! dataspecs {
    ($($name:ident = $number:literal, $size:literal, $doc:literal;)+) => {
        /// What the bytes of a message mean; the numbers are those of `mpirt.h`.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(i32)]
        pub enum Dataspec {
            $(#[doc = $doc] $name = $number,)+
        }

        impl Dataspec {
            /// The type of this number.
            pub fn of(number: i32) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)+
                    _ => None,
                }
            }

            /// Bytes of one element.
            pub const fn size(self) -> usize {
                match self {
                    $(Self::$name => $size,)+
                }
            }
        }
    };
}

dataspecs! {
    Int = 0, 4, "C `int`";
    Float = 1, 4, "C `float`";
    Double = 2, 8, "C `double`";
    Logical = 3, 4, "a truth value, a C `int`";
    Char = 4, 1, "characters";
    Byte = 5, 1, "bytes without a meaning";
    Time = 6, 8, "nanoseconds in 64 bits";
    Int8 = 7, 1, "integers of 8 bits";
    Int16 = 8, 2, "integers of 16 bits";
    Int32 = 9, 4, "integers of 32 bits";
    Int64 = 10, 8, "integers of 64 bits";
    Uint8 = 11, 1, "integers of 8 bits without a sign";
    Uint16 = 12, 2, "integers of 16 bits without a sign";
    Uint32 = 13, 4, "integers of 32 bits without a sign";
    Uint64 = 14, 8, "integers of 64 bits without a sign";
    Float32 = 15, 4, "floating point of 32 bits";
    Float64 = 16, 8, "floating point of 64 bits";
}

/// As a text for people has it.
impl fmt::Display for Dataspec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&format!("{self:?}").to_lowercase())
    }
}

impl Dataspec {
    /// By what both ends of a channel must agree: a type of the standard and that of fixed width are one where a number is represented
    /// alike. A truth value, a character and a time are more than their numbers.
    pub(super) fn word(self) -> String {
        let alike = match self {
            Self::Int32 => Self::Int,
            Self::Float32 => Self::Float,
            Self::Float64 => Self::Double,
            Self::Uint8 => Self::Byte,
            other => other,
        };
        alike.to_string()
    }
}

#[derive(Clone)]
pub(super) struct BufferBody {
    pub(super) size: usize,
    pub(super) dataspec: Dataspec,
    pub(super) label: i64,
    /// Bytes of the message in it; all, when never set.
    pub(super) length: Option<usize>,
    pub(super) storage: Arc<dyn Storage>,
}

#[derive(Clone)]
pub(super) struct BufiterBody {
    pub(super) policy: BufiterPolicy,
    pub(super) size: usize,
    pub(super) dataspec: Dataspec,
    /// The container that `allowed` was read from; null: none.
    pub(super) set: Handle,
    /// In its order; `None`: any buffer of this size and type.
    pub(super) allowed: Option<Vec<Handle>>,
    /// Inserted before commit, in this order.
    pub(super) stocked: Vec<Handle>,
    /// ORDERED: which place of the allowed set is to be inserted next.
    pub(super) due: usize,
}

/// In which order buffers leave an iterator, and what its program promises of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BufiterPolicy {
    /// The order of removal: FIFO, LIFO, SORTED or UNORDERED.
    pub base: Policy,
    /// The promise.
    pub form: Form,
}

/// What is promised of the buffers of an iterator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// Nothing.
    Plain,
    /// A transfer takes the i-th allowed buffer at one end into the i-th at the other.
    Mapped,
    /// Buffers are inserted in the order of the allowed set, over and over.
    Ordered,
}

impl From<Policy> for BufiterPolicy {
    fn from(base: Policy) -> Self {
        match base {
            Policy::Ordered => Self { base: Policy::Fifo, form: Form::Ordered },
            base => Self { base, form: Form::Plain },
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct ChannelBody {
    pub(super) input: Handle,
    pub(super) output: Handle,
    /// The pair for receiving, of a member that also sends; null where there is none.
    pub(super) receives: [Handle; 2],
    /// Ranks in the group.
    pub(super) source: u32,
    pub(super) target: u32,
    pub(super) group: Handle,
    /// Null: best effort.
    pub(super) qos: Handle,
    /// How many started transfers may be under way.
    pub(super) slack: u32,
    /// Whether a wait at this end never sleeps, where no instant says until when.
    pub(super) polls: bool,
    /// Whether each message carries a checksum of its payload; `None`: as the other end or the manifest says.
    pub(super) checksum: Option<bool>,
    /// Processor time that the movers here take for a message; `None`: as estimated.
    pub(super) mover_budget: Option<Nanos>,
}

impl ChannelBody {
    pub(super) fn sends(&self) -> [Handle; 2] {
        [self.input, self.output]
    }

    /// Whether it leads from a member to itself.
    pub(super) fn is_loop(&self) -> bool {
        self.source == self.target
    }

    fn references(&self) -> Vec<Handle> {
        let pairs = self.sends().into_iter().chain(self.receives);
        pairs.chain([self.group, self.qos]).filter(|handle| !handle.is_null()).collect()
    }
}

/// The most urgent priority.
pub const PRIORITY_MAX: u8 = 90;

/// When a channel's transfers happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Qos {
    /// At once, without a promise.
    BestEffort,
    /// Once in every period, within a window that counts from the period's start; or once, within an absolute window.
    Time {
        /// Start of the window.
        start: Nanos,
        /// End of the window: when the message is there.
        deadline: Nanos,
        /// Distance between two transfers; 0: there is one, and the window is on the job's clock.
        period: Nanos,
    },
    /// As soon as the time table and more urgent transfers leave time.
    Priority {
        /// 1 to [`PRIORITY_MAX`]; the higher is more urgent.
        priority: u8,
    },
    /// Once for each firing of an event; as priority-driven from there on.
    Event {
        /// 1 to [`PRIORITY_MAX`]; the higher is more urgent.
        priority: u8,
    },
    /// Of a handler, or of a trigger's delivery.
    Handler {
        /// 1 to [`PRIORITY_MAX`]; the higher is more urgent.
        priority: u8,
        /// Processor time of one run at most.
        budget: Nanos,
        /// The smallest time between two runs.
        interval: Nanos,
    },
}

/// One instance of a task, as its function sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskInstance {
    /// Counted from the epoch.
    pub number: u64,
    /// Its planned start, on the job's clock.
    pub start: Nanos,
    /// The end of its window, on the job's clock.
    pub deadline: Nanos,
}

/// What runs once in every period, with what is committed.
pub type TaskFunction = Arc<dyn Fn(TaskInstance, &Arc<Committed>) + Send + Sync>;

/// A walk over a container: which member is next, and how often the container had changed when it began.
#[derive(Clone, Copy)]
pub(super) struct WalkBody {
    pub(super) container: Handle,
    pub(super) next: usize,
    pub(super) changes: u64,
}

#[derive(Clone)]
pub(super) struct TaskBody {
    /// Time-driven, or event-driven with a start event.
    pub(super) qos: Handle,
    pub(super) budget: Nanos,
    pub(super) function: TaskFunction,
    /// `None`: any core that the plan finds.
    pub(super) core: Option<u32>,
    /// `None`: as the manifest has it, or else skip.
    pub(super) overrun: Option<OverrunPolicy>,
    /// Channels whose ends at this member are served by this task.
    pub(super) channels: Vec<Handle>,
}
