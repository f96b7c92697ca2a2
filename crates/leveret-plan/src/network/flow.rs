//! What moves beside the time table: messages at no fixed instants, of which the model says how many there are at most.

use super::model::{STREAM_TIME_MAX, StreamFault, leads, validate_ends, within};
use leveret_topology::{Graph, Network, Tree};
use leveret_types::{ByteSize, Nanos, NodeId, TRAFFIC_CLASSES};
use serde::{Deserialize, Serialize};

/// Most messages of one flow at once.
pub const BURST_MAX: u32 = 1 << 16;

/// Messages that come at any time: in every stretch of time of length `d`, its ends included, at most `burst + d / interval` of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Flow {
    /// Unique name; of a channel, the channel's.
    pub name: String,
    /// The host that sends.
    pub source: NodeId,
    /// The hosts that receive.
    pub targets: Vec<NodeId>,
    /// Largest message.
    pub size: ByteSize,
    /// Least distance of two messages in the long run; none for best effort at any rate.
    pub interval: Option<Nanos>,
    /// Messages at once.
    pub burst: u32,
    /// Its class at every port, 0 to 7: higher is more urgent, and planned frames are above all. None is best effort: below all classes,
    /// with no promise.
    pub class: Option<u8>,
    /// Longest time from a message given to the port of its source to its arrival at any target.
    pub deadline: Option<Nanos>,
    /// Its way, if not the shortest.
    pub way: Option<Tree>,
}

impl Flow {
    /// From a host to another, one message at a time, in the lowest class, without a deadline.
    pub fn new(
        name: impl Into<String>,
        source: NodeId,
        target: NodeId,
        size: ByteSize,
        interval: Nanos,
    ) -> Self {
        Self {
            name: name.into(),
            source,
            targets: vec![target],
            size,
            interval: Some(interval),
            burst: 1,
            class: Some(0),
            deadline: None,
            way: None,
        }
    }

    pub(super) fn validate(&self, network: &Network, graph: &Graph) -> Result<(), StreamFault> {
        validate_ends(network, &self.name, self.source, &self.targets, self.size)?;
        if let Some(class) = self.class.filter(|class| *class >= TRAFFIC_CLASSES) {
            return Err(StreamFault::Class(class));
        }
        if !(1..=BURST_MAX).contains(&self.burst) {
            return Err(StreamFault::Burst(self.burst));
        }
        if self.class.is_some() && self.interval.is_none() {
            return Err(StreamFault::NoInterval);
        }
        if self.class.is_none() && self.deadline.is_some() {
            return Err(StreamFault::BestEffortDeadline);
        }
        within("its interval", self.interval.unwrap_or(Nanos(1)), Nanos(1), STREAM_TIME_MAX)?;
        within("its deadline", self.deadline.unwrap_or(Nanos(1)), Nanos(1), STREAM_TIME_MAX)?;
        match &self.way {
            Some(way) if !leads(graph, self.source, &self.targets, way) => Err(StreamFault::Way),
            _ => Ok(()),
        }
    }
}
