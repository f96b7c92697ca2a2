//! The network model: what a configuration declares.

use leveret_types::{BitRate, ByteSize, LinkId, NAME_BYTES_MAX, Nanos, NodeId, TRAFFIC_CLASSES};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Hosts, switches, and what joins them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Network {
    /// Hosts and switches.
    pub nodes: Vec<Node>,
    /// Directed links: a cable is two of them.
    pub links: Vec<Link>,
    /// How messages become frames.
    pub frames: FrameFormat,
}

/// A host or a switch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Node {
    /// Unique name.
    pub name: String,
    /// What it does with frames.
    pub kind: NodeKind,
}

/// What a node does with frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// It sends and receives, and forwards nothing.
    Host,
    /// It forwards.
    Switch(Forwarding),
}

/// When a switch begins to forward a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Forwarding {
    /// When its last bit has come.
    StoreAndForward,
    /// When this much of it has come, and no sooner than that it cannot run dry on a faster link.
    CutThrough {
        /// Bytes, preamble included.
        header: ByteSize,
    },
}

/// One direction of a cable, with the port that sends into it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Link {
    /// Who sends.
    pub source: NodeId,
    /// Who receives.
    pub target: NodeId,
    /// How fast.
    pub rate: BitRate,
    /// From the first bit sent to the first bit received.
    pub propagation: Nanos,
    /// From what [`Forwarding`] waits for, at the target, until the frame can be sent on or, at a host, be read.
    pub processing: Nanos,
    /// Queues of the sending port that planned frames may use.
    pub queues: u8,
    /// Whether a planned frame interrupts one of other traffic (802.1Qbu); if not, the longest such frame is kept off before each.
    pub preemption: bool,
    /// Time that other traffic has for itself.
    pub reserved: Vec<Reservation>,
    /// Classes of other traffic whose rate the port limits; the rest goes by strict priority.
    #[serde(default)]
    pub shaping: Vec<Shaper>,
}

/// A credit-based shaper of one class at one port (IEEE 802.1Q-2018, 8.6.8.2; first 802.1Qav). Its credit, in bits, grows with the
/// idle slope while frames of the class wait or it is below 0, falls with the link's rate less the idle slope while one is sent,
/// stands still while a planned frame has the link, and is lost above 0 where nothing waits. A frame starts at 0 or more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shaper {
    /// Which class, 0 to 7.
    pub class: u8,
    /// How fast the credit grows: the class's share of the link.
    pub idle_slope: BitRate,
}

/// A stretch of every period in which a link is not for planned frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reservation {
    /// Distance between two stretches.
    pub period: Nanos,
    /// Start, from the start of the period.
    pub start: Nanos,
    /// Length.
    pub length: Nanos,
}

/// How messages become frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FrameFormat {
    /// Most bytes of a message in one frame.
    pub payload_max: ByteSize,
    /// A frame that holds fewer is as long as if it held these.
    pub payload_min: ByteSize,
    /// What each frame takes beside them: preamble, header, check, gap.
    pub overhead: ByteSize,
}

impl Default for FrameFormat {
    /// Ethernet with a VLAN tag: preamble 8, addresses 12, tag 4, type 2, check 4, gap 12.
    fn default() -> Self {
        Self { payload_max: ByteSize(1500), payload_min: ByteSize(42), overhead: ByteSize(42) }
    }
}

impl FrameFormat {
    /// Bytes on the wire of each frame of a message, as (how many, bytes) of the full ones and of the last.
    pub fn frames(&self, message: ByteSize) -> ((u64, u64), u64) {
        let most = self.payload_max.0.max(1);
        let full = message.0.saturating_sub(1) / most;
        let last = message.0 - full * most;
        (
            (full, most.max(self.payload_min.0) + self.overhead.0),
            last.max(self.payload_min.0) + self.overhead.0,
        )
    }

    /// How long a link is taken by a message, whose frames follow each other without a gap.
    pub fn occupation(&self, message: ByteSize, rate: BitRate) -> Nanos {
        let ((full, bytes), last) = self.frames(message);
        rate.transmission(bytes).saturating_mul(i64::try_from(full).unwrap_or(i64::MAX))
            + rate.transmission(last)
    }

    /// From the start of a message on one link to the earliest at which it may start on the next, so that each frame is
    /// there when its turn comes. Propagation and processing of the first link are in it.
    pub fn forwarding(&self, message: ByteSize, from: &Link, to: &Link, forwarding: Forwarding) -> Nanos {
        let ((full, bytes), last) = self.frames(message);
        // A frame may start on the next link this long after it started on this one.
        let lag = |bytes: u64| match forwarding {
            Forwarding::StoreAndForward => from.rate.transmission(bytes),
            Forwarding::CutThrough { header } => {
                let (here, there) = (from.rate.transmission(bytes), to.rate.transmission(bytes));
                from.rate.transmission(header.0.min(bytes)).max(here - there)
            }
        };
        // Frame f starts here after f full frames, and there too: it gains or loses their difference each time.
        let drift = from.rate.transmission(bytes) - to.rate.transmission(bytes);
        let count = i64::try_from(full).unwrap_or(i64::MAX);
        let mut longest = drift.saturating_mul(count) + lag(last);
        if full > 0 {
            longest = longest.max(lag(bytes)).max(drift.saturating_mul(count - 1) + lag(bytes));
        }
        longest + from.propagation + from.processing
    }

    /// From the start of a message on one link until its first frame is ready at the next port. Sooner than [`Self::forwarding`] where the
    /// next link is the faster one and would run dry.
    pub fn first_ready(&self, message: ByteSize, from: &Link, forwarding: Forwarding) -> Nanos {
        let ((full, bytes), last) = self.frames(message);
        let first = if full > 0 { bytes } else { last };
        let needed = match forwarding {
            Forwarding::StoreAndForward => first,
            Forwarding::CutThrough { header } => header.0.min(first),
        };
        from.rate.transmission(needed) + from.propagation + from.processing
    }
}

/// Why a network is none.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NetworkError {
    /// Two nodes of one name.
    #[error("two nodes are called \"{0}\"; names of hosts and switches must differ")]
    DuplicateName(String),
    /// Empty or too long.
    #[error("the name \"{0}\" of a node is empty or longer than {NAME_BYTES_MAX} bytes")]
    Name(String),
    /// A link to or from nowhere.
    #[error("link {0} joins a node that does not exist")]
    NoNode(LinkId),
    /// A link from a node to itself.
    #[error("link {0} joins \"{1}\" with itself")]
    Loop(LinkId, String),
    /// Two links between the same ports.
    #[error("two links lead from \"{0}\" to \"{1}\"; a second cable needs a node of its own between them")]
    Parallel(String, String),
    /// A negative or too long time.
    #[error(
        "{what} of the link from \"{source_name}\" to \"{target_name}\" is {value}; it must lie between 0 and 1 s"
    )]
    Time {
        /// Which.
        what: &'static str,
        /// Whence.
        source_name: String,
        /// Whither.
        target_name: String,
        /// What was given.
        value: Nanos,
    },
    /// No queue, or more than there are priorities.
    #[error("the link from \"{0}\" to \"{1}\" has {2} queues for planned frames; it must have 1 to 8")]
    Queues(String, String, u8),
    /// A stretch that is empty, negative or longer than its period.
    #[error(
        "a reservation of the link from \"{0}\" to \"{1}\" must have a period of 1 ns to 1 hour, start within it, and be longer than 0 and \
         no longer than it"
    )]
    Reservation(String, String),
    /// A shaper of a class that does not exist, of one twice, or faster than the link.
    #[error(
        "shaping of the link from \"{0}\" to \"{1}\" must name classes from 0 to 7, each once, with an idle slope below the link's rate"
    )]
    Shaping(String, String),
    /// Frames without payload, or too much of it.
    #[error(
        "frames must hold between 1 byte and 16 MiB of a message, no fewer than `payload-min`, and have at most 1 KiB beside it"
    )]
    Frames,
}

/// Longest delay of one link.
const DELAY_MAX: Nanos = Nanos::from_secs(1);
/// Longest period of a reservation.
const RESERVATION_PERIOD_MAX: Nanos = Nanos::from_secs(3600);

impl Network {
    /// Checks what everybody else relies on.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<(), NetworkError> {
        let mut names = BTreeMap::new();
        for node in &self.nodes {
            if node.name.is_empty() || node.name.len() > NAME_BYTES_MAX {
                return Err(NetworkError::Name(node.name.clone()));
            }
            if names.insert(node.name.as_str(), ()).is_some() {
                return Err(NetworkError::DuplicateName(node.name.clone()));
            }
        }
        let frames = &self.frames;
        if frames.payload_max.0 == 0
            || frames.payload_max.0 > 1 << 24
            || frames.payload_min > frames.payload_max
            || frames.overhead.0 > 1 << 10
        {
            return Err(NetworkError::Frames);
        }
        let mut pairs = BTreeMap::new();
        for (index, link) in self.links.iter().enumerate() {
            self.validate_link(LinkId(index as u32), link)?;
            if pairs.insert((link.source, link.target), ()).is_some() {
                let (source, target) = self.ends(link);
                return Err(NetworkError::Parallel(source, target));
            }
        }
        Ok(())
    }

    fn validate_link(&self, id: LinkId, link: &Link) -> Result<(), NetworkError> {
        if link.source.index() >= self.nodes.len() || link.target.index() >= self.nodes.len() {
            return Err(NetworkError::NoNode(id));
        }
        let (source_name, target_name) = self.ends(link);
        if link.source == link.target {
            return Err(NetworkError::Loop(id, source_name));
        }
        for (what, value) in [("propagation", link.propagation), ("processing", link.processing)] {
            if value < Nanos::ZERO || value > DELAY_MAX {
                return Err(NetworkError::Time { what, source_name, target_name, value });
            }
        }
        if !(1..=8).contains(&link.queues) {
            return Err(NetworkError::Queues(source_name, target_name, link.queues));
        }
        let sound = |reservation: &Reservation| {
            reservation.period > Nanos::ZERO
                && reservation.period <= RESERVATION_PERIOD_MAX
                && (Nanos::ZERO..reservation.period).contains(&reservation.start)
                && reservation.length > Nanos::ZERO
                && reservation.length <= reservation.period
        };
        if !link.reserved.iter().all(sound) {
            return Err(NetworkError::Reservation(source_name, target_name));
        }
        let mut shaped = [false; TRAFFIC_CLASSES as usize];
        for shaper in &link.shaping {
            match shaped.get_mut(usize::from(shaper.class)) {
                Some(seen) if !*seen && shaper.idle_slope < link.rate => *seen = true,
                _ => return Err(NetworkError::Shaping(source_name, target_name)),
            }
        }
        Ok(())
    }

    /// Names of a link's ends.
    pub fn ends(&self, link: &Link) -> (String, String) {
        let name = |node: NodeId| {
            self.nodes.get(node.index()).map_or_else(|| node.to_string(), |node| node.name.clone())
        };
        (name(link.source), name(link.target))
    }

    /// A link as people write it: `a -> b`.
    pub fn link_name(&self, link: LinkId) -> String {
        let (source, target) = self.ends(&self.links[link.index()]);
        format!("{source} -> {target}")
    }

    /// Whether a node forwards, and when.
    pub fn forwarding(&self, node: NodeId) -> Option<Forwarding> {
        match self.nodes[node.index()].kind {
            NodeKind::Host => None,
            NodeKind::Switch(forwarding) => Some(forwarding),
        }
    }
}
