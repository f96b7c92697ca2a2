//! The plan of a network: which link is whose, when. A value; serialisable, comparable, and checked before use.
//!
//! ```text
//!  s0 -> s1  |=A#0=|....|==B#0==|=A#1=|.........|     one row a link, slots in the order of their starts,
//!  s1 -> h3  ......|=A#0=|..............|=A#1=|..     over one hyperperiod
//! ```

use leveret_topology::Tree;
use leveret_types::{ByteSize, Nanos, StreamId};
use serde::{Deserialize, Serialize};

/// Version of the format.
pub const NETWORK_PLAN_VERSION: u32 = 2;

/// When each message is on each link. All instants count from the epoch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NetworkPlan {
    /// [`NETWORK_PLAN_VERSION`].
    pub version: u32,
    /// Everything repeats after it.
    pub hyperperiod: Nanos,
    /// Per stream, in the model's order: its ways, one for each copy.
    pub ways: Vec<Vec<Way>>,
    /// Per link, in the model's order: its slots, by start within the hyperperiod.
    pub links: Vec<Vec<Slot>>,
    /// Per flow, in the model's order: its way.
    pub flows: Vec<Tree>,
    /// Per link, in the model's order: what is promised to each class that flows use there, the most urgent first.
    pub classes: Vec<Vec<ClassBound>>,
}

/// What is promised to a class at the port of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ClassBound {
    /// Which, 0 to 7.
    pub class: u8,
    /// Longest time from a frame ready to be sent to its last bit sent; [`Nanos::MAX`] where nothing is promised.
    pub delay: Nanos,
    /// Most that waits or is being sent, in bytes on the wire; the greatest number where nothing is promised.
    pub backlog: ByteSize,
}

/// The way of one copy of a stream.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Way {
    /// Its links.
    pub tree: Tree,
    /// The queue that it takes at each link's port, by hop.
    pub queues: Vec<u8>,
}

/// A link's time for one message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Slot {
    /// When its first bit is sent, in the first round; may lie beyond the hyperperiod.
    pub start: Nanos,
    /// Whose.
    pub stream: StreamId,
    /// Which instance, from 0 to hyperperiod / period.
    pub instance: u32,
    /// Which hop of its way this link is.
    pub hop: u16,
    /// Which copy.
    pub copy: u8,
}
