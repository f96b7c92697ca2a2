//! Conflicts of 2 to 5 streams that have no plan together, while any fewer of them have.
//!
//! All of them lead to one host `t` behind a switch of its own, so that they share the cables `X` and `Y`; nothing else goes there.
//!
//! ```text
//!  sources ── network of the background ── switch 0 ──X──► switch p ──Y──► host t
//!                                       beside them sources of their own ─┘
//! ```

use super::instances::{FRAME, background, below, between, frame_ns};
use crate::planner::Random;
use leveret_plan::network::{Stream, Traffic};
use leveret_topology::{Forwarding, Network, Node, NodeKind, Reservation, Shape, shape};
use leveret_types::{Nanos, NodeId, StreamId};

/// Why they cannot have a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Their windows on one cable leave no order, though their sum has room.
    Order,
    /// Their sum has no room in an interval of one cable.
    Overload,
    /// Reservations of two cables leave each round's message one place, since their latency lets none wait.
    Latency,
    /// Without jitter, their periods bring them together some time.
    Jitter,
    /// They all wait at one port, which has one queue too few.
    Queues,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Order, Self::Overload, Self::Latency, Self::Jitter, Self::Queues];

    /// As printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Order => "windows that leave no order",
            Self::Overload => "an overloaded interval",
            Self::Latency => "a latency beside reservations",
            Self::Jitter => "periods without jitter",
            Self::Queues => "a queue too few",
        }
    }
}

/// Traffic without a plan, and which of its streams have none together.
pub struct Planted {
    pub traffic: Traffic,
    pub kind: Kind,
    /// In the order of the traffic.
    pub streams: Vec<StreamId>,
}

const MICROSECOND: i64 = 1_000;
const HOSTS: u32 = 16;
const SWITCHES: u32 = 8;
/// Streams around the conflict.
const BACKGROUND: (i64, i64) = (20, 200);

/// The network, and where the conflict lies in it.
struct Place {
    network: Network,
    target: NodeId,
    /// From switch 0 to `p`, and from `p` to `t`, as places in the list of links.
    cables: (usize, usize),
    switch: NodeId,
}

/// One instance, of a kind and a number of planted streams that follow from the seed.
pub fn planted(seed: u64) -> Planted {
    let mut random = Random::new(seed);
    let kind = Kind::ALL[(seed % 5) as usize];
    let mut count = 2 + below(&mut random, 4);
    if kind == Kind::Jitter {
        // Five periods of which no two have more in common make a round too long.
        count = count.min(4);
    }
    let mut place = place(&mut random);
    let (conflict, periods) = match kind {
        Kind::Order => (order(&mut place, &mut random, count), millisecond()),
        Kind::Overload => (overload(&mut place, &mut random, count), millisecond()),
        Kind::Latency => (latency(&mut place, count), turns(count)),
        Kind::Jitter => jitter(&mut place, count),
        Kind::Queues => (queues(&mut place, count), millisecond()),
    };
    let around = between(&mut random, BACKGROUND.0, BACKGROUND.1);
    let mut streams = background(&mut random, (SWITCHES, HOSTS), around as usize, &periods);
    for one in conflict {
        let at = below(&mut random, streams.len() + 1);
        streams.insert(at, one);
    }
    let is_planted = |stream: &Stream| stream.name.starts_with("planted");
    let planted = (0..streams.len()).filter(|index| is_planted(&streams[*index]));
    let planted = planted.map(|index| StreamId(index as u32)).collect();
    let traffic = Traffic {
        network: place.network,
        streams,
        flows: Vec::new(),
        clock_error: Nanos::ZERO,
        whole_cycles: false,
    };
    Planted { traffic, kind, streams: planted }
}

fn place(random: &mut Random) -> Place {
    let which = [Shape::Line, Shape::Ring, Shape::Tree, Shape::Mesh][below(random, 4)];
    let mut network = shape(which, SWITCHES, HOSTS);
    let switch = node(&mut network, "p", NodeKind::Switch(Forwarding::StoreAndForward));
    let target = node(&mut network, "t", NodeKind::Host);
    let first = cable(&mut network, NodeId(0), switch);
    let second = cable(&mut network, switch, target);
    Place { network, target, cables: (first, second), switch }
}

fn node(network: &mut Network, name: &str, kind: NodeKind) -> NodeId {
    network.nodes.push(Node { name: name.to_owned(), kind });
    NodeId((network.nodes.len() - 1) as u32)
}

/// Both directions, as the others are; the first leads from `one` to `other`.
fn cable(network: &mut Network, one: NodeId, other: NodeId) -> usize {
    let model = network.links[0].clone();
    for (source, target) in [(one, other), (other, one)] {
        network.links.push(leveret_topology::Link { source, target, ..model.clone() });
    }
    network.links.len() - 2
}

fn millisecond() -> Vec<Nanos> {
    vec![Nanos::from_micros(500), Nanos::from_micros(1_000), Nanos::from_micros(1_000)]
}

/// Between two places for a message that may not wait.
const TURN: i64 = 400 * MICROSECOND;

fn turns(count: usize) -> Vec<Nanos> {
    vec![Nanos(TURN * (count as i64 - 1).max(1))]
}

impl Place {
    /// A source of its own beside the target.
    fn near(&mut self, index: usize) -> NodeId {
        let source = node(&mut self.network, &format!("n{index}"), NodeKind::Host);
        cable(&mut self.network, source, self.switch);
        source
    }

    fn stream(&self, index: usize, source: NodeId, period: Nanos) -> Stream {
        Stream::new(format!("planted{index}"), source, self.target, FRAME, period)
    }

    /// A stream that may be on the cable to the target from `from` to `to`, and nowhere else.
    fn within(&self, index: usize, source: NodeId, (from, to): (i64, i64)) -> Stream {
        let mut stream = self.stream(index, source, Nanos::from_micros(1_000));
        let step = frame_ns(&self.network) + self.network.links[self.cables.1].processing.0;
        stream.release = Nanos(from - step);
        stream.deadline = Nanos(to + self.network.links[self.cables.1].processing.0);
        stream
    }

    fn reserve(&mut self, link: usize, period: i64, (start, length): (i64, i64)) {
        self.network.links[link].reserved.push(Reservation {
            period: Nanos(period),
            start: Nanos(start.rem_euclid(period)),
            length: Nanos(length),
        });
    }
}

/// One must be on the cable in the midst of the others' window, and leaves room for one of them too few.
fn order(place: &mut Place, random: &mut Random, count: usize) -> Vec<Stream> {
    let frame = frame_ns(&place.network);
    let begin = between(random, 50, 600) * MICROSECOND;
    // Two thirds of a frame before it, and less than a frame more than the others but one need after it.
    let before = frame * 2 / 3;
    let end = begin + before + frame + frame * (count as i64 - 2) + frame * 3 / 4;
    let middle = (begin + before, begin + before + frame + frame / 6);
    let mut streams = Vec::new();
    for index in 0..count {
        let source = place.near(index);
        let window = if index == 0 { middle } else { (begin, end) };
        streams.push(place.within(index, source, window));
    }
    streams
}

fn overload(place: &mut Place, random: &mut Random, count: usize) -> Vec<Stream> {
    let frame = frame_ns(&place.network);
    let begin = between(random, 50, 600) * MICROSECOND;
    let window = (begin, begin + frame * count as i64 - frame / 4);
    let mut streams = Vec::new();
    for index in 0..count {
        let source = place.near(index);
        streams.push(place.within(index, source, window));
    }
    streams
}

/// In each turn there is one place on both cables for a message that does not wait between them; there is one message more than turns in
/// a round.
fn latency(place: &mut Place, count: usize) -> Vec<Stream> {
    let frame = frame_ns(&place.network);
    let step = frame + place.network.links[place.cables.0].processing.0;
    let gap = frame * 5 / 2;
    // The second gap begins so much later that only one frame of the first meets it at once.
    let shift = step + frame * 2 / 3;
    place.reserve(place.cables.0, TURN, (gap, TURN - gap));
    place.reserve(place.cables.1, TURN, (shift + gap, TURN - gap));
    let period = turns(count)[0];
    // From the host over switch 0 and `p` to `t`: three cables, each with a frame and processing.
    let sources: Vec<NodeId> = (0..count)
        .map(|index| {
            let source = node(&mut place.network, &format!("f{index}"), NodeKind::Host);
            cable(&mut place.network, source, NodeId(0));
            source
        })
        .collect();
    let one = |(index, source): (usize, &NodeId)| {
        let mut stream = place.stream(index, *source, period);
        stream.deadline = period + Nanos(TURN);
        stream.latency = Nanos(3 * step).into();
        stream
    };
    sources.iter().enumerate().map(one).collect()
}

/// Of periods with the same greatest common divisor, each pair; their frames have no room beside each other within it.
fn jitter(place: &mut Place, count: usize) -> (Vec<Stream>, Vec<Nanos>) {
    let frame = frame_ns(&place.network);
    let common = frame * count as i64 - frame / 4;
    let factors = [2, 3, 5, 7];
    let periods: Vec<Nanos> = factors[..count].iter().map(|factor| Nanos(common * factor)).collect();
    let mut streams = Vec::new();
    for (index, period) in periods.iter().enumerate() {
        let source = place.near(index);
        let mut stream = place.stream(index, source, *period);
        stream.deadline = *period + Nanos(10 * frame);
        stream.jitter = Some(Nanos::ZERO);
        streams.push(stream);
    }
    let round = factors[..count].iter().product::<i64>() * common;
    // The round of two is too short for everybody else.
    (streams, vec![Nanos(if count == 2 { 4 * round } else { round })])
}

/// All come before the cable to the target is free, and have to wait in queues of their own.
fn queues(place: &mut Place, count: usize) -> Vec<Stream> {
    let round = 1_000 * MICROSECOND;
    place.network.links[place.cables.1].queues = count.max(2) as u8 - 1;
    place.reserve(place.cables.1, round, (0, 40 * MICROSECOND));
    let mut streams = Vec::new();
    for index in 0..count {
        let source = place.near(index);
        // They can be sent within the first 20 us of a round only.
        let own = place.network.links.len() - 2;
        place.reserve(own, round, (20 * MICROSECOND, round - 20 * MICROSECOND));
        let mut stream = place.stream(index, source, Nanos(round));
        stream.deadline = Nanos(300 * MICROSECOND);
        streams.push(stream);
    }
    streams
}
