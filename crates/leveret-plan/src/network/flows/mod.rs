//! Bounds for what moves beside the time table.
//!
//! ```text
//!  ways ─► ports (table, frames, shapers) ─► each port, class by class: arrivals ─► longest delay ─┐
//!                                              ▲                                                  │ until nothing changes
//!                                              └── jitter gained, hop by hop ◄────────────────────┘
//! ```
//! Each port promises each class a longest delay; each delay makes what comes to the next port less regular. The bounds are a fixed point of that, sought from below. Any
//! fixed point is right, also where ways form a circle: look at the first frame of all that is later than its bound, anywhere. Until then every delay was
//! within bounds, so what had come to its port was within its curve, so it is not late (the argument is Cruz 1991 and Le Boudec and Thiran 2001, section 6.3: stopped time, from
//! an empty network). Where delays grow without end, no bound is claimed.

mod arrivals;
mod late;
mod layout;
mod port;
mod relief;
mod taken;

pub use late::{HopShares, LateFlow};
pub(super) use late::{explained, late_flows, refusal};
pub(super) use layout::ways;

use super::model::Traffic;
use super::plan::{ClassBound, NetworkPlan};
use crate::sporadic::Steps;
use arrivals::Arrivals;
use layout::{Layout, Station, Table};
use leveret_topology::{Forwarding, Tree};
use leveret_types::{ByteSize, Nanos};
use port::{Above, Shares, longest};
use std::collections::BTreeSet;
use taken::PARTS;

/// How often one port is looked at; a delay that grows after that is called none.
const LOOKS_MAX: u32 = 200;
/// Steps for all ports together, and more for each flow at each port; each step counts as many as there are flows in it. What is left when they are used up
/// is promised nothing.
const STEPS_MAX: u64 = 10_000_000;
const STEPS_PER_VISIT: u64 = 20_000;

/// Completes a plan of the table by flows.
pub(super) fn complete(traffic: &Traffic, plan: &mut NetworkPlan, ways: Vec<Tree>) {
    plan.classes = bounds(traffic, &Table::of(plan), &ways);
    plan.flows = ways;
}

/// What each port promises each class, beside these slots.
fn bounds(traffic: &Traffic, table: &Table<'_>, ways: &[Tree]) -> Vec<Vec<ClassBound>> {
    let mut search = Search::new(traffic, Layout::new(traffic, table, ways), ways);
    search.settle();
    search.layout.stations.iter().map(|station| search.promised(station)).collect()
}

/// What is left of each link for best effort, in bits per second in the long run.
pub(super) fn rests(traffic: &Traffic, plan: &NetworkPlan) -> Vec<u64> {
    let mut shares = vec![0; traffic.network.links.len()];
    for (flow, way) in traffic.flows.iter().zip(&plan.flows).filter(|(flow, _)| flow.class.is_some()) {
        for link in way.links() {
            let time = traffic.network.frames.occupation(flow.size, traffic.network.links[link.index()].rate);
            let interval = flow.interval.map_or(1, |interval| i128::from(interval.0));
            shares[link.index()] += i128::from(time.0) * PARTS / interval;
        }
    }
    let table = Table::of(plan);
    shares.into_iter().enumerate().map(|(link, share)| table.rest(traffic, link, share)).collect()
}

/// The longest time from a message at its source to each target, in the order of the flow's targets; `Nanos::MAX` where nothing is promised.
pub fn flow_bounds(traffic: &Traffic, plan: &NetworkPlan, flow: usize) -> Vec<Nanos> {
    let Some((declared, tree)) = traffic.flows.get(flow).zip(plan.flows.get(flow)) else { return Vec::new() };
    let mut reached: Vec<Nanos> = Vec::with_capacity(tree.hops.len());
    for hop in &tree.hops {
        let link = &traffic.network.links[hop.link.index()];
        let before =
            hop.parent.map_or(traffic.clock_error + traffic.clock_error, |parent| reached[parent as usize]);
        let delay = declared.class.map_or(Nanos::MAX, |class| {
            let found = plan.classes[hop.link.index()].iter().find(|bound| bound.class == class);
            found.map_or(Nanos::MAX, |bound| bound.delay)
        });
        reached.push(before.saturating_add(delay).saturating_add(link.propagation + link.processing));
    }
    let at =
        |target| tree.hops.iter().position(|hop| traffic.network.links[hop.link.index()].target == target);
    declared.targets.iter().map(|target| at(*target).map_or(Nanos::MAX, |hop| reached[hop])).collect()
}

/// Bounds as they grow.
struct Search<'a> {
    traffic: &'a Traffic,
    layout: Layout,
    ways: &'a [Tree],
    /// Per flow and hop: how much its messages may have moved against each other when they come there.
    jitters: Vec<Vec<i64>>,
    /// Per link and class of its station: the longest delay so far.
    delays: Vec<Vec<i64>>,
    /// What that is made of.
    shares: Vec<Vec<Shares>>,
    steps: Steps,
}

impl<'a> Search<'a> {
    fn new(traffic: &'a Traffic, layout: Layout, ways: &'a [Tree]) -> Self {
        let jitters = ways.iter().map(|way| vec![0; way.hops.len()]).collect();
        let delays: Vec<Vec<i64>> =
            layout.stations.iter().map(|station| vec![0; station.classes.len()]).collect();
        let shares = delays.iter().map(|delays| vec![Shares::default(); delays.len()]).collect();
        let visits: usize = layout.stations.iter().flat_map(|station| &station.visits).map(Vec::len).sum();
        let steps = Steps(STEPS_MAX + STEPS_PER_VISIT * visits as u64);
        Self { traffic, layout, ways, jitters, delays, shares, steps }
    }

    /// Until no delay grows any more.
    fn settle(&mut self) {
        let used = |(_, station): &(usize, &Station)| !station.classes.is_empty();
        let mut waiting: BTreeSet<usize> =
            self.layout.stations.iter().enumerate().filter(used).map(|(link, _)| link).collect();
        let mut looks = vec![0u32; self.layout.stations.len()];
        while let Some(link) = waiting.pop_first() {
            looks[link] += 1;
            let grown = self.look(link, looks[link] > LOOKS_MAX);
            for (flow, _) in self.visitors(link, &grown) {
                for hop in self.moved(flow) {
                    waiting.insert(self.ways[flow].hops[hop].link.index());
                }
            }
        }
    }

    /// Finds the delays of one port anew; says which have grown. What grows for ever is none.
    fn look(&mut self, link: usize, for_ever: bool) -> Vec<bool> {
        let station = &self.layout.stations[link];
        let mut above: Vec<Above> = Vec::with_capacity(station.classes.len());
        let mut grown = vec![false; station.classes.len()];
        for (place, class) in station.classes.iter().enumerate() {
            let arrivals = self.arrivals(link, place, false);
            let (found, credit) = longest(station.port, class, &arrivals, &above, &mut self.steps);
            let before = self.delays[link][place];
            let mut delay = found.map_or(i64::MAX, |found| found.delay).max(before);
            if delay > before {
                delay = if for_ever { i64::MAX } else { delay };
                grown[place] = true;
                self.delays[link][place] = delay;
                self.shares[link][place] = found.map(|found| found.shares).unwrap_or_default();
            }
            above.push(Above { arrivals, delay, credit });
        }
        grown
    }

    /// What comes to a class of a port, as time of the link or as bytes.
    fn arrivals(&self, link: usize, place: usize, bytes: bool) -> Arrivals {
        let station = &self.layout.stations[link];
        layout::arrivals(self.traffic, station, place, bytes, |flow, hop| self.jitters[flow][hop])
    }

    /// Flows of the classes that `which` names, with their hop there.
    fn visitors(&self, link: usize, which: &[bool]) -> Vec<(usize, usize)> {
        let visits = self.layout.stations[link].visits.iter().zip(which);
        visits.filter(|(_, which)| **which).flat_map(|(visits, _)| visits.iter().copied()).collect()
    }

    /// Carries a flow's jitter along its way; names the hops where it has grown.
    fn moved(&mut self, flow: usize) -> Vec<usize> {
        let way = &self.ways[flow];
        let mut grown = Vec::new();
        for (index, hop) in way.hops.iter().enumerate() {
            let Some(parent) = hop.parent else { continue };
            let before = self.jitters[flow][parent as usize];
            let gained = self.gained(flow, way.hops[parent as usize].link.index());
            let jitter = if before == i64::MAX { before } else { before.saturating_add(gained) };
            if jitter > self.jitters[flow][index] {
                self.jitters[flow][index] = jitter;
                grown.push(index);
            }
        }
        grown
    }

    /// The longest delay of a port less the shortest.
    fn gained(&self, flow: usize, link: usize) -> i64 {
        let station = &self.layout.stations[link];
        let declared = &self.traffic.flows[flow];
        let place = station.classes.iter().position(|class| Some(class.number) == declared.class);
        let Some(place) = place else { return i64::MAX };
        let line = &self.traffic.network.links[link];
        let (_, last) = self.traffic.network.frames.frames(declared.size);
        // A switch that cuts through has a frame before its last bit.
        let whole = self.traffic.network.forwarding(line.target) == Some(Forwarding::StoreAndForward);
        let least = if whole { line.rate.transmission(last).0 } else { 0 };
        match self.delays[link][place] {
            i64::MAX => i64::MAX,
            delay => (delay - least).max(0),
        }
    }

    fn promised(&self, station: &Station) -> Vec<ClassBound> {
        let bound = |(place, class): (usize, &port::Class)| {
            let delay = self.delays[station.link][place];
            let backlog = match delay {
                i64::MAX => u64::MAX,
                // What is there now has come within the longest delay.
                delay => self.arrivals(station.link, place, true).within(delay).cast_unsigned(),
            };
            ClassBound { class: class.number, delay: Nanos(delay), backlog: ByteSize(backlog) }
        };
        station.classes.iter().enumerate().map(bound).collect()
    }
}
