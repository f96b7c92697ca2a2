//! Why no plan can exist, as an argument that the checker repeats.
//!
//! ```text
//!          Order: "a" before "b" on s0 -> s1, or after it?
//!          ├── before: Cycle  released 0 + a 12us + b 12us > deadline 20us
//!          └── after:  Cycle  ...
//! ```
//!
//! Every inner node names a question with all its answers; every leaf shows that what was answered on the way down to it contradicts
//! itself: a cycle of "no sooner than" that asks an instant to come after itself. So nothing of the search that found the argument has to
//! be believed (difference constraints: R. Dechter, I. Meiri, J. Pearl, "Temporal constraint networks", 1991; branching on the order of
//! two users of one machine: J. Carlier, E. Pinson, "An algorithm for solving the job-shop problem", 1989).

use leveret_topology::Tree;
use leveret_types::{LinkId, Nanos, StreamId};
use serde::{Deserialize, Serialize};

/// Version of the format.
pub const PROOF_VERSION: u32 = 1;

/// An argument that some streams have no plan together, whatever else moves.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Proof {
    /// [`PROOF_VERSION`].
    pub version: u32,
    /// The round that is argued about: the hyperperiod.
    pub hyperperiod: Nanos,
    /// The streams.
    pub streams: Vec<StreamId>,
    /// The argument, from its first question; children come after their parents.
    pub nodes: Vec<ProofNode>,
}

/// The start of a transmission: the unknown of the argument.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Point {
    /// Of which stream.
    pub stream: StreamId,
    /// Which copy.
    pub copy: u8,
    /// Which instance.
    pub instance: u32,
    /// Which hop of the way that was answered for it.
    pub hop: u16,
}

/// A question, or the end of an argument.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProofNode {
    /// Which ways does a stream take?
    Ways {
        /// Which stream.
        stream: StreamId,
        /// A way for each copy, and what follows.
        cases: Vec<(Vec<Tree>, u32)>,
    },
    /// Which of two has a link first?
    Order {
        /// One.
        one: Point,
        /// The other.
        two: Point,
        /// This many rounds later.
        rounds: i64,
        /// If one is over when two begins.
        one_first: u32,
        /// If two is over when one begins.
        two_first: u32,
    },
    /// Is a transmission before a stretch in which the link is not for it, or after it?
    Stretch {
        /// Which.
        point: Point,
        /// Begin of the stretch.
        start: Nanos,
        /// End of the stretch; the same where nothing may lie across an instant.
        end: Nanos,
        /// If it is over by then.
        before: u32,
        /// If it begins after.
        after: u32,
    },
    /// How do two keep from overtaking each other at a port?
    Queue {
        /// One.
        one: Point,
        /// The other.
        two: Point,
        /// This many rounds later.
        rounds: i64,
        /// If two comes to the queue after the last frame of one was sent.
        one_first: u32,
        /// If one comes to the queue after the last frame of two was sent.
        two_first: u32,
        /// If they take different queues; not possible for two of one copy.
        apart: Option<u32>,
    },
    /// What takes different queues needs more than the port has.
    Crowded {
        /// The port, by its link.
        link: LinkId,
    },
    /// An instant that comes after itself.
    Cycle {
        /// Each begins where the one before it ends.
        steps: Vec<Bound>,
    },
}

/// A reason why one instant comes so much after another, or no more than so much before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// From the epoch to a first transmission: its release.
    Release(Point),
    /// From a transmission to the epoch: its deadline.
    Deadline(Point),
    /// From a last transmission to a first of the same instance: the latency.
    Latency {
        /// The first.
        first: Point,
        /// The last.
        last: Point,
    },
    /// To a transmission from the one before it.
    Forwarding(Point),
    /// From an arrival to that of another instance at the same place: the jitter.
    Jitter {
        /// From.
        from: Point,
        /// To.
        to: Point,
    },
    /// What was answered at a question on the way.
    Decided(u32),
}
