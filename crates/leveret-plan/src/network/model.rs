//! What moves over a network: streams, each a periodic message with a window, and flows beside them.

use super::flow::{BURST_MAX, Flow};
use leveret_topology::{Graph, Network, NetworkError, NodeKind, Tree};
use leveret_types::{ByteSize, MESSAGE_BYTES_MAX, NAME_BYTES_MAX, Nanos, NodeId, StreamId};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A network and all that is to be planned on it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Traffic {
    /// Hosts, switches, links.
    pub network: Network,
    /// What moves by the clock.
    pub streams: Vec<Stream>,
    /// What moves beside it, by priority.
    #[serde(default)]
    pub flows: Vec<Flow>,
    /// How far the clocks of two nodes may be from the true time, each. Windows shrink by it, and what a switch forwards is
    /// kept apart by four times as much.
    pub clock_error: Nanos,
    /// Whether no transmission may lie across the end of the hyperperiod, as some switches and simulators ask.
    pub whole_cycles: bool,
}

/// A message that moves once in every period.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stream {
    /// Unique name; of a channel, the channel's.
    pub name: String,
    /// The host that sends.
    pub source: NodeId,
    /// The hosts that receive.
    pub targets: Vec<NodeId>,
    /// Largest message.
    pub size: ByteSize,
    /// Distance between two instances.
    pub period: Nanos,
    /// Earliest start of the first transmission, from the start of the period.
    pub release: Nanos,
    /// Latest arrival at every target, from the start of the period; may lie beyond the period's end.
    pub deadline: Nanos,
    /// Longest time from the start of the first transmission to the arrival at any target.
    pub latency: Option<Nanos>,
    /// Longest distance between the earliest and the latest arrival, each from the start of its period.
    pub jitter: Option<Nanos>,
    /// Number of ways: 1, or 2 that share no switch, each of which arrives in time by itself.
    pub copies: u8,
    /// The way of each copy, where the planner must not choose.
    pub ways: Option<Vec<Tree>>,
}

impl Stream {
    /// From a host to another, once in every period, at any time in it, on a way that the planner chooses.
    pub fn new(
        name: impl Into<String>,
        source: NodeId,
        target: NodeId,
        size: ByteSize,
        period: Nanos,
    ) -> Self {
        Self {
            name: name.into(),
            source,
            targets: vec![target],
            size,
            period,
            release: Nanos::ZERO,
            deadline: period,
            latency: None,
            jitter: None,
            copies: 1,
            ways: None,
        }
    }
}

/// Most streams in one plan.
pub const STREAMS_MAX: usize = 1 << 20;

/// Most instances of streams and reservations in one hyperperiod.
pub const ROUND_INSTANCES_MAX: u64 = 1 << 22;

/// Latest instant that a stream may name.
pub const STREAM_TIME_MAX: Nanos = Nanos::from_secs(3600);

/// Why traffic is none.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TrafficError {
    /// The network itself.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A stream.
    #[error("channel \"{name}\": {fault}")]
    Stream {
        /// Which.
        name: String,
        /// What is wrong, and what would be right.
        fault: StreamFault,
    },
    /// More than fit.
    #[error("{0} channels are more than {STREAMS_MAX}")]
    TooManyStreams(usize),
    /// A common multiple of all periods would be too long, or hold too much.
    #[error(
        "the hyperperiod, the least common multiple of all periods, is {}. Make the periods multiples of each other",
        match *hyperperiod {
            Nanos::MAX => "more than a day, which is the longest".to_owned(),
            length => format!(
                "{length}; one such round has {instances} instances of streams and reservations, and {ROUND_INSTANCES_MAX} are the most"
            ),
        }
    )]
    Hyperperiod {
        /// How long it is; `never` where it cannot be counted.
        hyperperiod: Nanos,
        /// How many instances it would hold at least.
        instances: u64,
    },
    /// Negative, or too large to be one.
    #[error("the clock error is {0}; it must lie between 0 and 1 s")]
    ClockError(Nanos),
}

/// What is wrong with a stream.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StreamFault {
    /// Empty or too long a name.
    #[error("its name is empty or longer than {NAME_BYTES_MAX} bytes")]
    Name,
    /// Two of one name.
    #[error("another channel has the same name")]
    DuplicateName,
    /// Not a host.
    #[error("its {0} \"{1}\" is not a host of the network; only hosts send and receive")]
    NotAHost(&'static str, String),
    /// No target, or one twice, or the source.
    #[error("it must have at least one target, none twice, and not its own source")]
    Targets,
    /// Too small or too large.
    #[error("its size is {0}; it must lie between 1 B and {max}", max = ByteSize(MESSAGE_BYTES_MAX))]
    Size(ByteSize),
    /// Out of order or range.
    #[error("{what} is {value}; it must lie between {least} and {most}")]
    Time {
        /// Which.
        what: &'static str,
        /// What was given.
        value: Nanos,
        /// The least.
        least: Nanos,
        /// The most.
        most: Nanos,
    },
    /// No class.
    #[error("its priority is {0}; it must lie between 0 and 7, and higher is more urgent")]
    Class(u8),
    /// No message at once, or too many.
    #[error("its burst is {0}; it must lie between 1 and {BURST_MAX}")]
    Burst(u32),
    /// A priority, and messages at any rate.
    #[error(
        "it has a priority and no interval, so nothing beside it could have a bound; give it the least distance of two messages"
    )]
    NoInterval,
    /// A deadline, and no priority.
    #[error("it has a deadline and is best effort; give it a priority")]
    BestEffortDeadline,
    /// Neither 1 nor 2.
    #[error("it asks for {0} ways; 1 and 2 are possible")]
    Copies(u8),
    /// Two ways, and more than one target.
    #[error("two ways lead to one target each, and it has {0}; declare a stream for each target")]
    CopiesToMany(usize),
    /// A way that is none.
    #[error(
        "the way that it names does not lead over links of the network from its source to its targets, from switch to switch"
    )]
    Way,
    /// No way.
    #[error("no way leads from \"{from}\" to \"{to}\"")]
    NoWay {
        /// The source.
        from: String,
        /// The target.
        to: String,
    },
    /// No two ways.
    #[error(
        "no two ways from \"{from}\" to \"{to}\" share nothing but what has no alternative; ask for 1, or add a cable"
    )]
    NoSecondWay {
        /// The source.
        from: String,
        /// The target.
        to: String,
    },
}

impl<'a> From<&'a Traffic> for Cow<'a, Traffic> {
    fn from(traffic: &'a Traffic) -> Self {
        Cow::Borrowed(traffic)
    }
}

impl Traffic {
    /// Checks what everybody else relies on, and returns the hyperperiod.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<Nanos, TrafficError> {
        self.network.validate()?;
        if self.clock_error < Nanos::ZERO || self.clock_error > Nanos::from_secs(1) {
            return Err(TrafficError::ClockError(self.clock_error));
        }
        let count = self.streams.len().saturating_add(self.flows.len());
        if count > STREAMS_MAX {
            return Err(TrafficError::TooManyStreams(count));
        }
        let graph = Graph::new(&self.network);
        let mut names = BTreeMap::new();
        for (index, stream) in self.streams.iter().enumerate() {
            let fault = |fault| TrafficError::Stream { name: stream.name.clone(), fault };
            self.validate_stream(&graph, stream).map_err(fault)?;
            if names.insert(stream.name.as_str(), index).is_some() {
                return Err(fault(StreamFault::DuplicateName));
            }
        }
        for flow in &self.flows {
            let fault = |fault| TrafficError::Stream { name: flow.name.clone(), fault };
            flow.validate(&self.network, &graph).map_err(fault)?;
            if names.insert(flow.name.as_str(), names.len()).is_some() {
                return Err(fault(StreamFault::DuplicateName));
            }
        }
        self.hyperperiod()
    }

    pub(super) fn validate_stream(&self, graph: &Graph, stream: &Stream) -> Result<(), StreamFault> {
        validate_ends(&self.network, &stream.name, stream.source, &stream.targets, stream.size)?;
        if !(1..=2).contains(&stream.copies) {
            return Err(StreamFault::Copies(stream.copies));
        }
        if stream.copies == 2 && stream.targets.len() != 1 {
            return Err(StreamFault::CopiesToMany(stream.targets.len()));
        }
        within("its period", stream.period, Nanos(1), STREAM_TIME_MAX)?;
        within("its release", stream.release, Nanos::ZERO, STREAM_TIME_MAX)?;
        within("its deadline", stream.deadline, stream.release, STREAM_TIME_MAX)?;
        within("its latency", stream.latency.unwrap_or(Nanos::ZERO), Nanos::ZERO, STREAM_TIME_MAX)?;
        within("its jitter", stream.jitter.unwrap_or(Nanos::ZERO), Nanos::ZERO, STREAM_TIME_MAX)?;
        match &stream.ways {
            Some(ways) if ways.len() != usize::from(stream.copies) => Err(StreamFault::Way),
            Some(ways) if !ways.iter().all(|way| leads(graph, stream.source, &stream.targets, way)) => {
                Err(StreamFault::Way)
            }
            _ => Ok(()),
        }
    }

    /// Least common multiple of all periods, and of those of all reservations; 1 s where there is none.
    pub(super) fn hyperperiod(&self) -> Result<Nanos, TrafficError> {
        let reserved = || {
            self.network.links.iter().flat_map(|link| &link.reserved).map(|reservation| reservation.period)
        };
        let periods = || self.streams.iter().map(|stream| stream.period).chain(reserved());
        let mut hyperperiod: Option<i64> = None;
        for period in periods() {
            let before = hyperperiod.unwrap_or(period.0);
            let common = (before / gcd(before, period.0)).checked_mul(period.0);
            let common = common.filter(|common| *common <= STREAM_TIME_MAX.0 * 24);
            let too_long = TrafficError::Hyperperiod { hyperperiod: Nanos::MAX, instances: u64::MAX };
            hyperperiod = Some(common.ok_or(too_long)?);
        }
        let hyperperiod = Nanos(hyperperiod.unwrap_or(1_000_000_000));
        let instances = self.instances(hyperperiod);
        if instances > ROUND_INSTANCES_MAX {
            return Err(TrafficError::Hyperperiod { hyperperiod, instances });
        }
        Ok(hyperperiod)
    }

    /// How many messages and reservations there are in a round, a multiple of all their periods.
    pub(super) fn instances(&self, round: Nanos) -> u64 {
        let reserved = self.network.links.iter().flat_map(|link| &link.reserved).map(|one| one.period);
        let periods = self.streams.iter().map(|stream| stream.period).chain(reserved);
        periods.map(|period| (round.0 / period.0).cast_unsigned()).fold(0, u64::saturating_add)
    }

    /// A stream's name.
    pub fn name(&self, stream: StreamId) -> &str {
        &self.streams[stream.index()].name
    }
}

/// Greatest common divisor of two positive numbers.
pub(super) fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Name, ends and size of anything that moves.
pub(super) fn validate_ends(
    network: &Network,
    name: &str,
    source: NodeId,
    targets: &[NodeId],
    size: ByteSize,
) -> Result<(), StreamFault> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return Err(StreamFault::Name);
    }
    let host = |what, node: NodeId| match network.nodes.get(node.index()) {
        Some(node) if node.kind == NodeKind::Host => Ok(()),
        Some(node) => Err(StreamFault::NotAHost(what, node.name.clone())),
        None => Err(StreamFault::NotAHost(what, node.to_string())),
    };
    host("source", source)?;
    targets.iter().try_for_each(|target| host("target", *target))?;
    let mut different = targets.to_vec();
    different.sort_unstable();
    different.dedup();
    if different.is_empty() || different.len() != targets.len() || different.contains(&source) {
        return Err(StreamFault::Targets);
    }
    if !(1..=MESSAGE_BYTES_MAX).contains(&size.0) {
        return Err(StreamFault::Size(size));
    }
    Ok(())
}

/// A time within limits.
pub(super) fn within(what: &'static str, value: Nanos, least: Nanos, most: Nanos) -> Result<(), StreamFault> {
    if (least..=most).contains(&value) { Ok(()) } else { Err(StreamFault::Time { what, value, least, most }) }
}

/// Whether a way leads from the source to every target, from switch to switch.
pub(super) fn leads(graph: &Graph, source: NodeId, targets: &[NodeId], way: &Tree) -> bool {
    let mut reached = Vec::with_capacity(way.hops.len());
    for hop in &way.hops {
        if hop.link.index() >= graph.links() {
            return false;
        }
        let from = match hop.parent {
            None => Some(source),
            Some(parent) => reached.get(parent as usize).copied().filter(|node| graph.forwards(*node)),
        };
        let target = graph.target(hop.link);
        if from != Some(graph.source(hop.link)) || reached.contains(&target) || target == source {
            return false;
        }
        reached.push(target);
    }
    targets.iter().all(|target| reached.contains(target))
}
