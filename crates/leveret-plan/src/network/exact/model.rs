//! The transmissions of the streams whose ways are chosen, and what is supposed of them.

use super::super::plan::Slot;
use super::super::problem::{Hop, Problem};
use super::super::proof::{Bound, Point, ProofNode};
use super::questions::Question;
use super::temporal::{Contradiction, Mark, ORIGIN, Reason, Temporal};
use super::{colours, cycle};
use leveret_topology::Tree;
use leveret_types::{LinkId, Nanos, StreamId};
use std::collections::BTreeMap;

/// One transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transmission {
    pub point: Point,
    /// Its start.
    pub variable: u32,
    pub link: u32,
    /// How long it has the link.
    pub time: i64,
    /// From its start to that of its last frame.
    pub last_start: i64,
    /// The transmission before it; none at the source.
    pub parent: Option<u32>,
    /// How much later than the one before it the message is at this port at the earliest.
    pub comes: i64,
}

impl Transmission {
    /// Copies of streams as one number.
    pub(super) fn item(&self) -> u32 {
        self.point.stream.0 * 2 + u32::from(self.point.copy)
    }
}

/// Two items that must not share a queue of a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parted {
    pub link: u32,
    pub items: (u32, u32),
    /// The question that was answered so.
    pub node: u32,
}

/// What is supposed.
#[derive(Clone, Debug)]
pub(super) struct Model<'a, 'b> {
    pub problem: &'b Problem<'a>,
    streams: Vec<StreamId>,
    pub ways: Vec<Vec<Vec<Tree>>>,
    /// How many streams have their ways: the first ones. Which, and the question that was answered so.
    pub chosen: Vec<(usize, u32)>,
    pub temporal: Temporal,
    pub transmissions: Vec<Transmission>,
    /// By link.
    pub on_link: BTreeMap<u32, Vec<u32>>,
    /// Items that must not share a queue.
    pub apart: Vec<Parted>,
    /// Queues by link and item, once there is a plan.
    pub queues: BTreeMap<(u32, u32), u8>,
    /// Other work than that of the constraints.
    pub looked: u64,
}

/// A state to come back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModelMark {
    chosen: usize,
    transmissions: usize,
    apart: usize,
    temporal: Mark,
}

impl<'a, 'b> Model<'a, 'b> {
    pub(super) fn new(problem: &'b Problem<'a>, streams: &[StreamId], ways: Vec<Vec<Vec<Tree>>>) -> Self {
        Self {
            problem,
            streams: streams.to_vec(),
            ways,
            chosen: Vec::new(),
            temporal: Temporal::new(),
            transmissions: Vec::new(),
            on_link: BTreeMap::new(),
            apart: Vec::new(),
            queues: BTreeMap::new(),
            looked: 0,
        }
    }

    pub(super) fn steps(&self) -> u64 {
        self.temporal.steps + self.looked
    }

    /// Bytes that are held, or nearly.
    pub(super) fn held(&self) -> usize {
        self.temporal.held() + self.transmissions.len() * (size_of::<Transmission>() + size_of::<u32>())
    }

    /// The start of a transmission.
    pub(super) fn variable(&self, transmission: u32) -> u32 {
        self.transmissions[transmission as usize].variable
    }

    /// Its earliest.
    pub(super) fn earliest(&self, transmission: u32) -> i64 {
        self.temporal.earliest[self.variable(transmission) as usize]
    }

    /// Its latest.
    pub(super) fn latest(&self, transmission: u32) -> i64 {
        self.temporal.latest[self.variable(transmission) as usize]
    }

    pub(super) fn hyperperiod(&self) -> i64 {
        self.problem.hyperperiod
    }

    pub(super) fn mark(&mut self) -> ModelMark {
        ModelMark {
            chosen: self.chosen.len(),
            transmissions: self.transmissions.len(),
            apart: self.apart.len(),
            temporal: self.temporal.mark(),
        }
    }

    pub(super) fn undo(&mut self, mark: ModelMark) {
        self.chosen.truncate(mark.chosen);
        self.apart.truncate(mark.apart);
        for transmission in self.transmissions.drain(mark.transmissions..).rev() {
            if let Some(list) = self.on_link.get_mut(&transmission.link) {
                list.pop();
            }
        }
        self.temporal.undo(mark.temporal);
    }

    /// The stream whose ways are chosen next.
    pub(super) fn next_stream(&self) -> Option<StreamId> {
        self.streams.get(self.chosen.len()).copied()
    }

    /// Which of the streams one is.
    pub(super) fn place_of(&self, stream: StreamId) -> Option<usize> {
        self.streams.iter().position(|own| *own == stream)
    }

    /// The ways of each stream.
    pub(super) fn chosen(&self) -> impl Iterator<Item = (StreamId, &Vec<Tree>)> {
        let ways =
            |(index, (which, _)): (usize, &(usize, u32))| (self.streams[index], &self.ways[index][*which]);
        self.chosen.iter().enumerate().map(ways)
    }

    /// All transmissions, as early as they can be.
    pub(super) fn slots(&self) -> impl Iterator<Item = (u32, Slot)> {
        self.transmissions.iter().map(|transmission| {
            let Point { stream, copy, instance, hop } = transmission.point;
            let start = Nanos(self.temporal.earliest[transmission.variable as usize]);
            (transmission.link, Slot { start, stream, instance, hop, copy })
        })
    }

    /// The queue of a copy at a port.
    pub(super) fn queue(&self, stream: StreamId, copy: u8, link: LinkId) -> u8 {
        self.queues.get(&(link.0, stream.0 * 2 + u32::from(copy))).copied().unwrap_or(0)
    }

    /// The node of a question, its answers still open.
    pub(super) fn node_of(&self, question: &Question) -> ProofNode {
        let point = |transmission: u32| self.transmissions[transmission as usize].point;
        match *question {
            Question::Ways { index, .. } => ProofNode::Ways {
                stream: self.streams[index],
                cases: self.ways[index].iter().map(|trees| (trees.clone(), 0)).collect(),
            },
            Question::Order { one, two, rounds } => {
                ProofNode::Order { one: point(one), two: point(two), rounds, one_first: 0, two_first: 0 }
            }
            Question::Stretch { one, start, end } => ProofNode::Stretch {
                point: point(one),
                start: Nanos(start),
                end: Nanos(end),
                before: 0,
                after: 0,
            },
            Question::Queue { one, two, rounds, .. } => ProofNode::Queue {
                one: point(one),
                two: point(two),
                rounds,
                one_first: 0,
                two_first: 0,
                apart: None,
            },
        }
    }

    /// Takes an answer for true; `node` is the question's.
    pub(super) fn suppose(&mut self, question: &Question, answer: usize, node: u32) -> Result<(), ProofNode> {
        let reason = Reason::Bound(Bound::Decided(node));
        let round = self.hyperperiod();
        match *question {
            Question::Ways { index, .. } => self.choose(index, (answer, node)).map_err(cycle),
            Question::Order { one, two, rounds } => {
                let (first, second, shift) =
                    if answer == 0 { (one, two, -rounds * round) } else { (two, one, rounds * round) };
                let time = self.transmissions[first as usize].time;
                self.temporal
                    .add(self.variable(first), self.variable(second), time + shift, reason)
                    .map_err(cycle)
            }
            Question::Stretch { one, start, end } => {
                let Transmission { time, variable, .. } = self.transmissions[one as usize];
                let added = if answer == 0 {
                    self.temporal.add(variable, ORIGIN, time - start, reason)
                } else {
                    self.temporal.add(ORIGIN, variable, end, reason)
                };
                added.map_err(cycle)
            }
            Question::Queue { one, two, rounds, .. } if answer < 2 => {
                let (first, second, shift) =
                    if answer == 0 { (one, two, -rounds * round) } else { (two, one, rounds * round) };
                let (before, after) =
                    (self.transmissions[first as usize], self.transmissions[second as usize]);
                let parent = after.parent.unwrap_or(second);
                let weight = before.last_start - after.comes + shift;
                self.temporal.add(before.variable, self.variable(parent), weight, reason).map_err(cycle)
            }
            Question::Queue { one, two, .. } => self.part(one, two, node),
        }
    }

    /// Two items take different queues.
    fn part(&mut self, one: u32, two: u32, node: u32) -> Result<(), ProofNode> {
        let (one, two) = (self.transmissions[one as usize], self.transmissions[two as usize]);
        self.apart.push(Parted { link: one.link, items: (one.item(), two.item()), node });
        let edges = self.apart_on(one.link);
        let mut nodes: Vec<u32> = edges.iter().flat_map(|(a, b)| [*a, *b]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let queues = self.problem.traffic.network.links[one.link as usize].queues;
        // What cannot be counted may still be possible.
        match colours::colour(&nodes, &edges, queues) {
            Ok(None) => Err(ProofNode::Crowded { link: LinkId(one.link) }),
            _ => Ok(()),
        }
    }

    /// Items that are supposed to take different queues at a port.
    pub(super) fn apart_on(&self, link: u32) -> Vec<(u32, u32)> {
        self.apart.iter().filter(|parted| parted.link == link).map(|parted| parted.items).collect()
    }

    /// Puts all transmissions of a stream on its ways.
    fn choose(&mut self, index: usize, (which, node): (usize, u32)) -> Result<(), Contradiction> {
        self.chosen.push((which, node));
        let id = self.streams[index];
        let stream = &self.problem.traffic.streams[id.index()];
        let count = (self.hyperperiod() / stream.period.0) as u32;
        for copy in 0..self.ways[index][which].len() {
            let way = self.problem.candidate(id, self.ways[index][which][copy].clone());
            let first = self.transmissions.len() as u32;
            for instance in 0..count {
                self.instance(&way.hops, id, copy as u8, instance)?;
            }
            self.steady(&way.hops, first, count, id)?;
        }
        Ok(())
    }

    /// One instance: its release, the forwarding from hop to hop, its deadline and latency.
    fn instance(&mut self, hops: &[Hop], id: StreamId, copy: u8, instance: u32) -> Result<(), Contradiction> {
        let problem = self.problem;
        let traffic = &*problem.traffic;
        let stream = &traffic.streams[id.index()];
        let error = traffic.clock_error.0;
        let begin = i64::from(instance) * stream.period.0;
        let first = self.transmissions.len() as u32;
        let latest = begin + stream.deadline.0 - error;
        let mut roots = Vec::new();
        for (number, hop) in hops.iter().enumerate() {
            let point = Point { stream: id, copy, instance, hop: number as u16 };
            let own = first + number as u32;
            let parent = (hop.parent != Hop::NO_PARENT).then(|| first + hop.parent);
            let variable = self.temporal.push();
            self.transmissions.push(Transmission {
                point,
                variable,
                link: hop.link,
                time: hop.length - hop.early,
                last_start: hop.last_start,
                parent,
                comes: hop.after - hop.early,
            });
            self.on_link.entry(hop.link).or_default().push(own);
            match parent {
                None => {
                    let release = begin + stream.release.0 + error;
                    self.temporal.add(ORIGIN, variable, release, Reason::Bound(Bound::Release(point)))?;
                    roots.push((variable, point));
                }
                Some(parent) => {
                    let reason = Reason::Bound(Bound::Forwarding(point));
                    self.temporal.add(self.variable(parent), variable, hop.after, reason)?
                }
            }
        }
        for (number, hop) in hops.iter().enumerate().filter(|(_, hop)| hop.arrival >= 0) {
            let Transmission { variable, point, .. } = self.transmissions[first as usize + number];
            let reason = Reason::Bound(Bound::Deadline(point));
            self.temporal.add(variable, ORIGIN, hop.arrival - latest, reason)?;
            let Some(latency) = stream.latency else { continue };
            for &(root, from) in &roots {
                let weight = hop.arrival - latency.0 + 2 * error;
                let reason = Reason::Bound(Bound::Latency { first: from, last: point });
                self.temporal.add(variable, root, weight, reason)?;
            }
        }
        Ok(())
    }

    /// Arrivals of all instances at each target differ by no more than the jitter: all lie within it behind one instant, which each counts from the
    /// start of its period.
    fn steady(&mut self, hops: &[Hop], first: u32, count: u32, id: StreamId) -> Result<(), Contradiction> {
        let stream = &self.problem.traffic.streams[id.index()];
        let Some(jitter) = stream.jitter.filter(|_| count > 1) else { return Ok(()) };
        for (hop, _) in hops.iter().enumerate().filter(|(_, hop)| hop.arrival >= 0) {
            let common = self.temporal.push();
            for instance in 0..count {
                let at = first as usize + instance as usize * hops.len() + hop;
                let Transmission { variable, point, .. } = self.transmissions[at];
                let begin = i64::from(instance) * stream.period.0;
                self.temporal.add(variable, common, -begin - jitter.0, Reason::Enter(point))?;
                self.temporal.add(common, variable, begin, Reason::Leave(point))?;
            }
        }
        Ok(())
    }
}
