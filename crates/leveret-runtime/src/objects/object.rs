//! What an object is made of. Attributes are fixed while committed.

use super::committed::Committed;
use super::handle::{Class, Handle};
use super::storage::Storage;
use leveret_types::{MemberId, Nanos};
use std::sync::Arc;

/// An object: a name, and what its class adds.
pub(super) struct Object {
    pub(super) name: String,
    pub(super) body: Body,
}

pub(super) enum Body {
    Cset(Vec<Handle>),
    Cvector(Vec<Handle>),
    /// Members of the world by their ranks in it.
    Group(Vec<MemberId>),
    Buffer(BufferBody),
    Bufiter(BufiterBody),
    Ptchannel(ChannelBody),
    Qos(Qos),
    Task(TaskBody),
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
            Self::Qos(_) => Class::Qos,
            Self::Task(_) => Class::Task,
        }
    }

    /// The objects that this one keeps from going.
    pub(super) fn references(&self) -> Vec<Handle> {
        match self {
            Self::Cset(members) | Self::Cvector(members) => {
                members.iter().copied().filter(|member| !member.is_null()).collect()
            }
            Self::Bufiter(iterator) => iterator.allowed.clone().unwrap_or_default(),
            Self::Ptchannel(channel) => {
                let iterators = [channel.input, channel.output];
                let given = iterators.into_iter().chain([channel.group, channel.qos]);
                given.filter(|handle| !handle.is_null()).collect()
            }
            Self::Task(task) => task.channels.clone(),
            Self::Group(_) | Self::Buffer(_) | Self::Qos(_) => Vec::new(),
        }
    }
}

/// What the bytes of a message mean. Both ends of a channel agree on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(i32)]
pub enum Dataspec {
    /// Bytes without a meaning.
    Byte = 1,
    /// Characters.
    Char = 2,
    /// C `int`.
    Int = 3,
    /// C `float`.
    Float = 4,
    /// C `double`.
    Double = 5,
    /// A truth value, an `int`.
    Logical = 6,
    /// A time: nanoseconds in 64 bits.
    Time = 7,
}

impl Dataspec {
    /// Every data type.
    pub const ALL: [Self; 7] =
        [Self::Byte, Self::Char, Self::Int, Self::Float, Self::Double, Self::Logical, Self::Time];

    /// The type of this number.
    pub fn of(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|spec| *spec as i32 == number)
    }

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            Self::Byte | Self::Char => 1,
            Self::Int | Self::Float | Self::Logical => 4,
            Self::Double | Self::Time => 8,
        }
    }
}

pub(super) struct BufferBody {
    pub(super) size: usize,
    pub(super) dataspec: Dataspec,
    pub(super) label: i64,
    /// Bytes of the message in it; all, when never set.
    pub(super) length: Option<usize>,
    pub(super) storage: Arc<dyn Storage>,
}

pub(super) struct BufiterBody {
    pub(super) policy: leveret_memory::iterator::Policy,
    pub(super) size: usize,
    pub(super) dataspec: Dataspec,
    /// In its order; `None`: any buffer of this size and type.
    pub(super) allowed: Option<Vec<Handle>>,
    /// Inserted before commit, in this order.
    pub(super) stocked: Vec<Handle>,
}

pub(super) struct ChannelBody {
    pub(super) input: Handle,
    pub(super) output: Handle,
    /// Ranks in the group.
    pub(super) source: u32,
    pub(super) target: u32,
    pub(super) group: Handle,
    /// Null: best effort.
    pub(super) qos: Handle,
}

/// When a channel's transfers happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Qos {
    /// At once, without a promise.
    BestEffort,
    /// Once in every period, within a window that counts from the period's start.
    Time {
        /// Start of the window.
        start: Nanos,
        /// End of the window: when the message is there.
        deadline: Nanos,
        /// Distance between two transfers.
        period: Nanos,
    },
}

/// What runs once in every period: with the number of the instance, and with what is committed.
pub type TaskFunction = Arc<dyn Fn(u64, &Arc<Committed>) + Send + Sync>;

pub(super) struct TaskBody {
    /// Always [`Qos::Time`].
    pub(super) qos: Qos,
    pub(super) budget: Nanos,
    pub(super) function: TaskFunction,
    /// Channels whose ends at this member are served by this task.
    pub(super) channels: Vec<Handle>,
}
