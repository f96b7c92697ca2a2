//! Traffic as numbers: what each message takes of each link on each way, and by when.

use super::model::{StreamFault, Traffic, TrafficError};
use super::reserved::{Reserved, free};
use super::timeline::Timeline;
use leveret_topology::{Forwarding, Graph, Tree, disjoint_pair, first_route, routes};
use leveret_types::{LinkId, NodeId, StreamId};
use std::borrow::Cow;

/// Ways that are tried for one stream.
pub(super) const WAYS_MAX: usize = 8;

/// What is to be placed, and where it may be.
#[derive(Clone, Debug)]
pub(super) struct Problem<'a> {
    pub traffic: Cow<'a, Traffic>,
    pub graph: Graph,
    pub hyperperiod: i64,
    pub items: Vec<Item>,
    /// By link: what is reserved.
    pub reserved: Vec<Reserved>,
    /// By link: what is left of it, over a hyperperiod, when nothing has a place yet.
    pub free: Vec<Timeline>,
}

/// One copy of a stream.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub stream: StreamId,
    pub copy: u8,
    pub period: i64,
    /// Instances in a hyperperiod.
    pub count: u32,
    /// Earliest start of the first transmission, from the start of the period, clock error included.
    pub release: i64,
    /// Latest arrival, from the start of the period, clock error included.
    pub deadline: i64,
    /// Longest time from start to arrival, clock error included.
    pub latency: i64,
    /// Whether instances may lie at different places in their periods.
    pub movable: bool,
    /// Ways that are known, the best first.
    pub ways: Vec<Candidate>,
    /// Whether there may be others.
    pub more_ways: bool,
    /// Whether these are all there are, but for those that take too long.
    pub all_ways: bool,
}

/// One way, and what it costs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Candidate {
    pub tree: Tree,
    /// By hop, each after its parent.
    pub hops: Vec<Hop>,
    /// From the start of the first transmission to the last arrival, when nothing waits.
    pub span: i64,
}

/// One link of a way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hop {
    pub link: u32,
    /// The hop before; [`Hop::NO_PARENT`] at the source.
    pub parent: u32,
    /// From the parent's start to the earliest of this one.
    pub after: i64,
    /// From the start of the first transmission, when nothing waits.
    pub offset: i64,
    /// How long the link is taken: from `early` before the start, so that what comes as early as it can finds nothing in its queue.
    pub length: i64,
    /// From the start on this link to the start of the last frame.
    pub last_start: i64,
    /// How much sooner than planned its first frame can come to this link's port.
    pub early: i64,
    /// From the start on this link to the arrival, if a target is at its end; else -1.
    pub arrival: i64,
}

impl Hop {
    pub(super) const NO_PARENT: u32 = u32::MAX;
}

impl<'a> Problem<'a> {
    /// Of traffic that [`Traffic::validate`] accepted, with its hyperperiod.
    pub(super) fn new(traffic: impl Into<Cow<'a, Traffic>>, hyperperiod: i64) -> Result<Self, TrafficError> {
        let traffic = traffic.into();
        let streams: Vec<_> = (0..traffic.streams.len() as u32).map(StreamId).collect();
        Self::part(traffic, hyperperiod, &streams)
    }

    /// Of some of the streams alone.
    pub(super) fn part(
        traffic: impl Into<Cow<'a, Traffic>>,
        hyperperiod: i64,
        streams: &[StreamId],
    ) -> Result<Self, TrafficError> {
        let traffic = traffic.into();
        let graph = Graph::new(&traffic.network);
        let links = &traffic.network.links;
        let reserved = links.iter().map(Reserved::of).collect();
        let free = links.iter().map(|link| free(link, hyperperiod, traffic.whole_cycles)).collect();
        let items = Vec::with_capacity(streams.len());
        let mut problem = Self { traffic, graph, hyperperiod, items, reserved, free };
        for stream in streams {
            let items = problem.items_of(*stream)?;
            problem.items.extend(items);
        }
        Ok(problem)
    }

    /// The copies of one stream.
    pub(super) fn items_of(&self, id: StreamId) -> Result<Vec<Item>, TrafficError> {
        let stream = &self.traffic.streams[id.index()];
        let ways =
            self.first_ways(id).map_err(|fault| TrafficError::Stream { name: stream.name.clone(), fault })?;
        let error = self.traffic.clock_error.0;
        let (release, deadline) = (stream.release.0 + error, stream.deadline.0 - error);
        let latency = stream.latency.map_or(i64::MAX, |latency| latency.0 - 2 * error);
        let room = deadline - release;
        let movable = stream.jitter.is_none_or(|jitter| jitter.0 >= room.min(latency));
        let item = |(copy, tree): (usize, Tree)| Item {
            stream: id,
            copy: copy as u8,
            period: stream.period.0,
            count: (self.hyperperiod / stream.period.0) as u32,
            release,
            deadline,
            latency,
            movable,
            ways: vec![self.candidate(id, tree)],
            more_ways: stream.copies == 1 && stream.ways.is_none(),
            all_ways: stream.ways.is_some(),
        };
        Ok(ways.into_iter().enumerate().map(item).collect())
    }

    /// One way for each copy.
    fn first_ways(&self, id: StreamId) -> Result<Vec<Tree>, StreamFault> {
        let stream = &self.traffic.streams[id.index()];
        if let Some(ways) = &stream.ways {
            return Ok(ways.clone());
        }
        let name = |node: NodeId| self.traffic.network.nodes[node.index()].name.clone();
        let mut trees = vec![Tree::default(); usize::from(stream.copies)];
        for target in &stream.targets {
            let ends = || (name(stream.source), name(*target));
            if stream.copies == 2 {
                let (from, to) = ends();
                let pair = disjoint_pair(&self.graph, stream.source, *target);
                let (one, two) = pair.ok_or(StreamFault::NoSecondWay { from, to })?;
                trees[0].add(&self.graph, &one);
                trees[1].add(&self.graph, &two);
            } else {
                let found = first_route(&self.graph, stream.source, *target);
                let (from, to) = ends();
                trees[0].add(&self.graph, &found.ok_or(StreamFault::NoWay { from, to })?);
            }
        }
        Ok(trees)
    }

    /// Further ways of some streams.
    pub(super) fn widen_all(&mut self, streams: &[StreamId]) {
        let wanted: std::collections::BTreeSet<_> = streams.iter().collect();
        for item in 0..self.items.len() {
            if wanted.contains(&self.items[item].stream) {
                self.widen(item);
            }
        }
    }

    /// Further ways of an item, once it has found no place on those it knows.
    pub(super) fn widen(&mut self, item: usize) {
        let known = &self.items[item];
        if !known.more_ways {
            return;
        }
        let stream = &self.traffic.streams[known.stream.index()];
        let (ways, all): (Vec<Tree>, bool) = if let [target] = stream.targets[..] {
            let (found, no_other) = routes(&self.graph, stream.source, target, WAYS_MAX);
            (found.iter().map(|route| Tree::path(route)).collect(), no_other)
        } else {
            let spread = |variant| Tree::spread(&self.graph, stream.source, &stream.targets, variant);
            ((0..WAYS_MAX).filter_map(spread).collect(), false)
        };
        let mut candidates = known.ways.clone();
        let room = (known.deadline - known.release).min(known.latency);
        for way in ways {
            let candidate = self.candidate(known.stream, way);
            if candidate.span <= room && !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        }
        let item = &mut self.items[item];
        (item.ways, item.more_ways, item.all_ways) = (candidates, false, all);
    }

    /// What a stream takes at least to one target: on its quickest way there, if all are known; else what its first or its last link takes.
    pub(super) fn least_to(&self, id: StreamId, target: NodeId) -> i64 {
        let stream = &self.traffic.streams[id.index()];
        let (found, no_other) = routes(&self.graph, stream.source, target, WAYS_MAX);
        if no_other {
            let spans = found.iter().map(|route| self.candidate(id, Tree::path(route)).span);
            return spans.min().unwrap_or(0);
        }
        let frames = &self.traffic.network.frames;
        let time =
            |link: &LinkId| frames.occupation(stream.size, self.traffic.network.links[link.index()].rate).0;
        let quickest = |links: &[LinkId]| links.iter().map(time).min().unwrap_or(0);
        quickest(self.graph.outgoing(stream.source)).max(quickest(self.graph.incoming(target)))
    }

    /// What a stream costs on a way.
    pub(super) fn candidate(&self, id: StreamId, tree: Tree) -> Candidate {
        let stream = &self.traffic.streams[id.index()];
        let network = &self.traffic.network;
        let error = self.traffic.clock_error.0;
        let mut hops: Vec<Hop> = Vec::with_capacity(tree.hops.len());
        for hop in &tree.hops {
            let link = &network.links[hop.link.index()];
            let time = network.frames.occupation(stream.size, link.rate).0;
            let mut after = 0;
            let mut offset = 0;
            let mut length = time;
            let mut early = 0;
            if let Some(parent) = hop.parent {
                let previous = &network.links[tree.hops[parent as usize].link.index()];
                let forwarding = network.forwarding(link.source).unwrap_or(Forwarding::StoreAndForward);
                // The sender's clock may be late and the port's early; and a frame that came as early as can be must not be
                // there before the one that is sent ahead of it has gone.
                let under_way = network.frames.forwarding(stream.size, previous, link, forwarding);
                let first = network.frames.first_ready(stream.size, previous, forwarding);
                after = under_way.0 + 2 * error;
                offset = hops[parent as usize].offset + after;
                early = 4 * error + (under_way - first).0;
                length += early;
            }
            let is_target = stream.targets.contains(&link.target);
            let arrival = if is_target { time + link.propagation.0 + link.processing.0 } else { -1 };
            let (_, last) = network.frames.frames(stream.size);
            let last_start = time - link.rate.transmission(last).0;
            let parent = hop.parent.unwrap_or(Hop::NO_PARENT);
            hops.push(Hop { link: hop.link.0, parent, after, offset, length, last_start, early, arrival });
        }
        let span =
            hops.iter().filter(|hop| hop.arrival >= 0).map(|hop| hop.offset + hop.arrival).max().unwrap_or(0);
        Candidate { tree, hops, span }
    }
}
