//! Ports as the analysis sees them: who comes to which class, over which link, in which frames, and what the table takes.

use super::arrivals::{Arrivals, Input, Line, Source};
use super::port::{Class, Port};
use super::taken::{PARTS, Taken, reserved};
use crate::network::flow::Flow;
use crate::network::model::{StreamFault, Traffic, TrafficError};
use crate::network::plan::{NetworkPlan, Slot};
use leveret_topology::{Forwarding, Graph, Link, Tree};
use leveret_types::{BitRate, LinkId, TRAFFIC_CLASSES};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Where planned frames interrupt others (802.3br), other frames are held back for as long as the longest piece takes that cannot be cut: 123 bytes, as
/// 60 must be sent and 64 must remain, with preamble and gap.
pub(super) const HOLD_BYTES: u64 = 143;
/// What going on after an interruption costs: preamble, check and gap of one more piece.
pub(super) const RESUME_BYTES: u64 = 24;

/// One port.
#[derive(Debug)]
pub(super) struct Station {
    pub link: usize,
    pub port: Port,
    /// The most urgent first.
    pub classes: Vec<Class>,
    /// Per class: flow and hop of each that comes there.
    pub visits: Vec<Vec<(usize, usize)>>,
    /// Per class, like `visits`: the link over which it comes, if any.
    inputs: Vec<Vec<Option<LinkId>>>,
}

/// All ports, in the model's order of links.
#[derive(Debug)]
pub(super) struct Layout {
    pub stations: Vec<Station>,
}

/// The ways that flows take: as declared, or the shortest.
///
/// # Errors
/// Where there is none.
pub(in crate::network) fn ways(traffic: &Traffic, graph: &Graph) -> Result<Vec<Tree>, TrafficError> {
    let way = |flow: &Flow| {
        let found = flow.way.clone().or_else(|| Tree::spread(graph, flow.source, &flow.targets, 0));
        found.ok_or_else(|| {
            let name = |node: leveret_types::NodeId| traffic.network.nodes[node.index()].name.clone();
            let reaches = |target: &&leveret_types::NodeId| {
                Tree::spread(graph, flow.source, std::slice::from_ref(*target), 0).is_none()
            };
            let to = flow.targets.iter().find(reaches).map(|target| name(*target)).unwrap_or_default();
            let fault = StreamFault::NoWay { from: name(flow.source), to };
            TrafficError::Stream { name: flow.name.clone(), fault }
        })
    };
    traffic.flows.iter().map(way).collect()
}

impl Layout {
    pub(super) fn new(traffic: &Traffic, table: &Table<'_>, ways: &[Tree]) -> Self {
        let links = traffic.network.links.len();
        let mut visits: Vec<[Vec<(usize, usize)>; TRAFFIC_CLASSES as usize]> =
            vec![Default::default(); links];
        for (flow, way) in ways.iter().enumerate() {
            let Some(class) = traffic.flows[flow].class else { continue };
            for (hop, at) in way.hops.iter().enumerate() {
                visits[at.link.index()][usize::from(class)].push((flow, hop));
            }
        }
        let station = |(link, visits): (usize, [Vec<(usize, usize)>; TRAFFIC_CLASSES as usize])| {
            Station::new(traffic, table, link, visits, ways)
        };
        Self { stations: visits.into_iter().enumerate().map(station).collect() }
    }
}

impl Station {
    fn new(
        traffic: &Traffic,
        table: &Table<'_>,
        link: usize,
        visits: [Vec<(usize, usize)>; TRAFFIC_CLASSES as usize],
        ways: &[Tree],
    ) -> Self {
        let line = &traffic.network.links[link];
        let port = Port {
            rate: line.rate.0.cast_signed(),
            preemption: line.preemption,
            // What is best effort may fill whole frames, declared or not.
            lower: largest(traffic, line),
        };
        let mut station = Self { link, port, classes: Vec::new(), visits: Vec::new(), inputs: Vec::new() };
        let mut guard = 0;
        for (number, visits) in visits.into_iter().enumerate().rev().filter(|(_, visits)| !visits.is_empty())
        {
            let frames = visits.iter().map(|(flow, _)| frames(traffic, &traffic.flows[*flow], line.rate));
            let frames =
                frames.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))).unwrap_or((0, 0));
            let shaper = line.shaping.iter().find(|shaper| usize::from(shaper.class) == number);
            // Where something of the class or above waits, the link is idle only if none of it fits before the slot.
            if shaper.is_none() {
                guard = frames.1.max(guard);
            }
            let before = if shaper.is_some() { frames.1 } else { guard };
            station.classes.push(Class {
                number: number as u8,
                taken: table.taken(traffic, link, before),
                frozen: shaper.map(|_| table.taken(traffic, link, 0)),
                frames,
                idle: shaper.map(|shaper| shaper.idle_slope.0.cast_signed()),
            });
            let input = |(flow, hop): &(usize, usize)| {
                let hops = &ways[*flow].hops;
                hops[*hop].parent.map(|parent| hops[parent as usize].link)
            };
            station.inputs.push(visits.iter().map(input).collect());
            station.visits.push(visits);
        }
        station
    }
}

/// A time table, and what it takes of links, by what is kept free before slots: found once, and used wherever flows alone are changed.
pub(super) struct Table<'a> {
    slots: &'a [Vec<Slot>],
    round: i64,
    staircases: RefCell<BTreeMap<(usize, i64), Rc<Taken>>>,
}

impl<'a> Table<'a> {
    pub(super) fn of(plan: &'a NetworkPlan) -> Self {
        Self { slots: &plan.links, round: plan.hyperperiod.0, staircases: RefCell::default() }
    }

    fn taken(&self, traffic: &Traffic, link: usize, guard: i64) -> Rc<Taken> {
        let found = || Rc::new(Taken::new(self.round, self.stretches(traffic, link, guard)));
        self.staircases.borrow_mut().entry((link, guard)).or_insert_with(found).clone()
    }

    /// What is left of a link, in bits per second in the long run, after slots with a whole frame kept free before each, and after flows that take this
    /// share of it, in parts.
    pub(super) fn rest(&self, traffic: &Traffic, link: usize, flows: i128) -> u64 {
        let guard = largest(traffic, &traffic.network.links[link]);
        let taken = reserved(self.round, self.stretches(traffic, link, guard)).total();
        let left = (PARTS - i128::from(taken) * PARTS / i128::from(self.round) - flows).max(0);
        u64::try_from(left * i128::from(traffic.network.links[link].rate.0) / PARTS).unwrap_or(0)
    }

    /// Time of a link that is not for flows: slots, wider by what clocks may be off, and what is kept free before and after them.
    fn stretches(&self, traffic: &Traffic, link: usize, guard: i64) -> impl Iterator<Item = (i64, i64)> {
        let link_slots = &self.slots[link];
        let link = &traffic.network.links[link];
        let apart = 2 * traffic.clock_error.0;
        let (before, after) = if link.preemption {
            (link.rate.transmission(HOLD_BYTES).0, link.rate.transmission(RESUME_BYTES).0)
        } else {
            (guard, 0)
        };
        let round = self.round;
        let stretch = move |slot: &Slot| {
            let start = slot.start.0.rem_euclid(round);
            let size = traffic.streams[slot.stream.index()].size;
            let end = start + traffic.network.frames.occupation(size, link.rate).0;
            (start - apart - before, end + apart + after)
        };
        link_slots.iter().map(stretch)
    }
}

/// A whole frame, as time of a link.
fn largest(traffic: &Traffic, link: &Link) -> i64 {
    let format = &traffic.network.frames;
    link.rate.transmission(format.payload_max.0.max(format.payload_min.0) + format.overhead.0).0
}

/// The shortest and the longest frame of a flow, as time of a link.
fn frames(traffic: &Traffic, flow: &Flow, rate: BitRate) -> (i64, i64) {
    let ((full, bytes), last) = traffic.network.frames.frames(flow.size);
    let longest = if full > 0 { bytes.max(last) } else { last };
    (rate.transmission(last).0, rate.transmission(longest).0)
}

/// What comes to a class of a port, as time of the link or as bytes, once jitters are known.
pub(super) fn arrivals(
    traffic: &Traffic,
    station: &Station,
    place: usize,
    bytes: bool,
    jitter: impl Fn(usize, usize) -> i64,
) -> Arrivals {
    let links = &traffic.network.links;
    let weigh = |flow: &Flow| {
        let ((full, each), last) = traffic.network.frames.frames(flow.size);
        let whole = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        if bytes {
            whole(full.saturating_mul(each).saturating_add(last))
        } else {
            traffic.network.frames.occupation(flow.size, links[station.link].rate).0
        }
    };
    let mut inputs: BTreeMap<Option<LinkId>, Input> = BTreeMap::new();
    for ((flow, hop), input) in station.visits[place].iter().zip(&station.inputs[place]) {
        let declared = &traffic.flows[*flow];
        let entry = inputs.entry(*input).or_default();
        entry.sources.push(Source {
            weight: weigh(declared),
            burst: i64::from(declared.burst),
            interval: declared.interval.map_or(1, |interval| interval.0),
            jitter: jitter(*flow, *hop),
        });
        if let Some(input) = input {
            let weight = |frame: u64| match bytes {
                true => i64::try_from(frame).unwrap_or(i64::MAX),
                false => links[station.link].rate.transmission(frame).0,
            };
            let limit = line(traffic, declared, &links[input.index()], weight);
            entry.line = Some(entry.line.map_or(limit, |line| wider(line, limit)));
        }
    }
    Arrivals { inputs: inputs.into_values().collect() }
}

/// What one flow lets come over a link: a frame at once, and in time what its densest frame brings.
fn line(traffic: &Traffic, flow: &Flow, input: &Link, weight: impl Fn(u64) -> i64) -> Line {
    let ((full, each), last) = traffic.network.frames.frames(flow.size);
    let of_frame = |bytes: u64| Line {
        // Where frames go on before their last bit, two may be there at once that were sent one after the other.
        first: match traffic.network.forwarding(input.target) {
            Some(Forwarding::CutThrough { .. }) => weight(bytes).saturating_mul(2),
            _ => weight(bytes),
        },
        gain: (weight(bytes), input.rate.transmission(bytes).0),
    };
    if full > 0 { wider(of_frame(each), of_frame(last)) } else { of_frame(last) }
}

/// A line above both.
fn wider(one: Line, other: Line) -> Line {
    let product = |a: (i64, i64), b: (i64, i64)| i128::from(a.0) * i128::from(b.1);
    let gain =
        if product(one.gain, other.gain) >= product(other.gain, one.gain) { one.gain } else { other.gain };
    Line { first: one.first.max(other.first), gain }
}
