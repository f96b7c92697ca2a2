//! What is promised beside the table: ways of flows, and of each class of each port a delay and a backlog. The claimed delays are taken for true, and
//! from them is computed what can come to each port; where no frame can then be later than claimed, they are a fixed point, and hold. (The first frame of all that were
//! late would have come to its port within what was computed.)
//!
//! ```text
//!  claimed delays ─► jitter of each flow at each port ─► what can come ─► is each frame of it sent in time? does it all fit? ─► deadlines
//! ```

mod curves;
mod port;
mod table;

use super::{Checker, Train, violation};
use crate::checker::{Violation, shown, wide};
use crate::network::{ClassBound, Flow};
use curves::{Curve, Limit, Stair};
use leveret_topology::{Forwarding, Link, NodeKind};
use leveret_types::{ByteSize, LinkId, Nanos, TRAFFIC_CLASSES};
use port::{Higher, Turn};
use std::cell::Cell;
use table::Free;

/// Parts of a nanosecond in which rates are counted.
const PARTS: i128 = 1 << 56;
/// Beyond this nothing is verified.
const TIME_MAX: i128 = 1 << 62;
/// What may be looked at in all, and for each flow at each port: more than enough for what the planner finds, and an end for everything else.
const LOOKS_MAX: u64 = 100_000_000;
const LOOKS_PER_VISIT: u64 = 200_000;
/// A longer delay is none.
const DELAY_MAX: Nanos = Nanos::from_secs(3600);

/// One flow's coming to one port.
struct Visit {
    flow: usize,
    /// Link before, if any.
    over: Option<usize>,
    /// What it has gained of jitter; none where nothing is promised.
    jitter: Option<i128>,
}

impl Checker<'_> {
    pub(super) fn flows(&self) -> Result<(), Violation> {
        let (flows, links) = (self.traffic.flows.len(), self.traffic.network.links.len());
        if self.plan.flows.len() != flows || self.plan.classes.len() != links {
            let found = format!(
                "{} flows and classes of {} links, not {flows} and {links}",
                self.plan.flows.len(),
                self.plan.classes.len()
            );
            return Err(violation("plan".to_owned(), "it is for this traffic", found));
        }
        let mut met = Vec::new();
        for (flow, tree) in self.traffic.flows.iter().zip(&self.plan.flows) {
            self.leads(("flow", &flow.name), flow.source, &flow.targets, tree, &mut met)?;
            if flow.way.as_ref().is_some_and(|given| given != tree) {
                let place = format!("flow \"{}\"", flow.name);
                return Err(violation(place, "it takes the way that was declared", String::new()));
            }
        }
        let visits = self.visits()?;
        let count = visits.iter().flatten().map(Vec::len).sum::<usize>() as u64;
        let looks = Cell::new(LOOKS_MAX + LOOKS_PER_VISIT * count);
        for (link, visits) in visits.iter().enumerate() {
            self.port(link, visits, &looks)?;
        }
        (0..flows).try_for_each(|flow| self.in_time(flow))
    }

    /// What a port claims for a class.
    fn claim(&self, link: usize, class: u8) -> Result<&ClassBound, Violation> {
        let found = self.plan.classes[link].iter().find(|claim| claim.class == class);
        found.ok_or_else(|| {
            let place = format!("link {}", self.traffic.network.link_name(LinkId(link as u32)));
            violation(place, "each class that comes there has a bound", format!("none for class {class}"))
        })
    }

    fn delay(&self, link: usize, class: u8) -> Result<Option<i128>, Violation> {
        let claim = self.claim(link, class)?;
        let is_time = claim.delay == Nanos::MAX || (Nanos::ZERO..=DELAY_MAX).contains(&claim.delay);
        if !is_time {
            let rule = "a delay is 0 to 1 hour, or none";
            return Err(violation(self.class_place(link, class), rule, claim.delay.to_string()));
        }
        Ok((claim.delay < Nanos::MAX).then(|| wide(claim.delay)))
    }

    fn class_place(&self, link: usize, class: u8) -> String {
        format!("link {}, class {class}", self.traffic.network.link_name(LinkId(link as u32)))
    }

    /// By link and class, who comes.
    fn visits(&self) -> Result<Vec<Vec<Vec<Visit>>>, Violation> {
        let none = || (0..TRAFFIC_CLASSES).map(|_| Vec::new()).collect::<Vec<Vec<Visit>>>();
        let mut visits: Vec<_> = self.plan.classes.iter().map(|_| none()).collect();
        for (index, (flow, tree)) in self.traffic.flows.iter().zip(&self.plan.flows).enumerate() {
            let Some(class) = flow.class else { continue };
            let mut jitters: Vec<Option<i128>> = Vec::with_capacity(tree.hops.len());
            for hop in &tree.hops {
                let over = hop.parent.map(|parent| tree.hops[parent as usize].link.index());
                let jitter = match (hop.parent, over) {
                    (Some(parent), Some(over)) => {
                        let gained =
                            self.delay(over, class)?.map(|delay| (delay - self.least(flow, over)).max(0));
                        jitters[parent as usize].zip(gained).map(|(before, gained)| before + gained)
                    }
                    _ => Some(0),
                };
                jitters.push(jitter);
                visits[hop.link.index()][usize::from(class)].push(Visit { flow: index, over, jitter });
            }
        }
        Ok(visits)
    }

    /// The least time from a frame ready at a port to that frame ready at the next, apart from what is the same for all.
    fn least(&self, flow: &Flow, link: usize) -> i128 {
        let link = &self.traffic.network.links[link];
        if self.cuts_through(link) {
            0
        } else {
            Train::new(&self.traffic.network.frames, flow.size, link).last
        }
    }

    fn cuts_through(&self, link: &Link) -> bool {
        let kind = self.traffic.network.nodes[link.target.index()].kind;
        !matches!(kind, NodeKind::Switch(Forwarding::StoreAndForward))
    }

    /// The claims of one port, the most urgent class first.
    fn port(&self, link: usize, visits: &[Vec<Visit>], looks: &Cell<u64>) -> Result<(), Violation> {
        let named = self.plan.classes[link].iter().map(|claim| claim.class);
        let come = (0..TRAFFIC_CLASSES).rev().filter(|class| !visits[usize::from(*class)].is_empty());
        if !named.clone().eq(come) {
            let place = format!("link {}", self.traffic.network.link_name(LinkId(link as u32)));
            let found = format!("classes {:?}", named.collect::<Vec<_>>());
            return Err(violation(place, "it has the classes that come there, the most urgent first", found));
        }
        let line = &self.traffic.network.links[link];
        let mut higher: Vec<Higher> = Vec::new();
        let mut guard = 0;
        for claim in &self.plan.classes[link] {
            let visits = &visits[usize::from(claim.class)];
            let frames = self.frames(line, visits);
            let shaper = line.shaping.iter().find(|shaper| shaper.class == claim.class);
            let kept_free = if shaper.is_some() { frames.1 } else { frames.1.max(guard) };
            guard = if shaper.is_some() { guard } else { kept_free };
            let curve = self.curve(link, visits, false);
            let turn = Turn {
                curve: &curve,
                higher: &higher,
                rate: i128::from(line.rate.0),
                preemption: line.preemption,
                lower: self.time(line, self.largest()),
                frames,
                idle: shaper.map(|shaper| i128::from(shaper.idle_slope.0)),
                beside: self.free(link, kept_free),
                open: self.free(link, 0),
            };
            let bucket = turn.bucket();
            let delay = self.delay(link, claim.class)?;
            if let Some(delay) = delay {
                let late = turn.late(bucket, delay, looks);
                self.promise(link, claim, late)?;
                self.fits(link, claim, visits, delay)?;
            }
            higher.push(Higher { curve, delay, is_shaped: shaper.is_some(), bucket });
        }
        Ok(())
    }

    fn promise(
        &self,
        link: usize,
        claim: &ClassBound,
        late: Result<Option<i128>, ()>,
    ) -> Result<(), Violation> {
        let rule = "no frame of it is later than its bound";
        let found = match late {
            Ok(None) => return Ok(()),
            Ok(Some(at)) => {
                format!("one that comes {} into a busy window; the bound is {}", shown(at), claim.delay)
            }
            Err(()) => format!("no bound can be shown, {} is claimed", claim.delay),
        };
        Err(violation(self.class_place(link, claim.class), rule, found))
    }

    /// What is there has come within the longest delay.
    fn fits(&self, link: usize, claim: &ClassBound, visits: &[Visit], delay: i128) -> Result<(), Violation> {
        let most = self.curve(link, visits, true).most(delay);
        if most.is_some_and(|most| most <= i128::from(claim.backlog.0)) {
            return Ok(());
        }
        let found = most.map_or("no limit".to_owned(), |most| format!("{most} B, and not {}", claim.backlog));
        Err(violation(self.class_place(link, claim.class), "what waits in it fits into its backlog", found))
    }

    /// Bytes of the largest frame that may be on a link.
    fn largest(&self) -> i128 {
        let format = &self.traffic.network.frames;
        i128::from(format.payload_max.0.max(format.payload_min.0)) + i128::from(format.overhead.0)
    }

    fn time(&self, link: &Link, bytes: i128) -> i128 {
        let rate = i128::from(link.rate.0);
        (bytes * 8_000_000_000 + rate - 1) / rate
    }

    fn frames(&self, link: &Link, visits: &[Visit]) -> (i128, i128) {
        let trains = visits.iter().map(|visit| {
            let size = self.traffic.flows[visit.flow].size;
            let train = Train::new(&self.traffic.network.frames, size, link);
            (train.last, if train.full > 0 { train.each.max(train.last) } else { train.last })
        });
        trains.fold((i128::MAX, 0), |(least, most), (last, longest)| (least.min(last), most.max(longest)))
    }

    /// A link beside its slots, each wider by what clocks may be off, and by what is kept free around it.
    fn free(&self, link: usize, guard: i128) -> Free {
        let line = &self.traffic.network.links[link];
        let apart = 2 * self.error();
        // 802.3br: the longest piece that cannot be cut, and what one more piece costs beside its bytes.
        let (before, after) =
            if line.preemption { (self.time(line, 143), self.time(line, 24)) } else { (guard, 0) };
        let stretches = self.plan.links[link].iter().map(|slot| {
            let start = wide(slot.start);
            (start - apart - before, start + i128::from(self.hops[self.hop(slot)].length) + apart + after)
        });
        Free::between(stretches, self.round)
    }

    /// What can come to a class, in time of the link or in bytes.
    fn curve(&self, link: usize, visits: &[Visit], bytes: bool) -> Curve {
        let network = &self.traffic.network;
        let line = &network.links[link];
        let format = &network.frames;
        let wire = |size: ByteSize| {
            // Bytes are the time of a link of 8 Gbit/s.
            let byte_link = Link { rate: leveret_types::BitRate(8_000_000_000), ..line.clone() };
            Train::new(format, size, if bytes { &byte_link } else { line })
        };
        let mut curve = Curve::default();
        let mut links: Vec<Option<usize>> = Vec::new();
        for visit in visits {
            let flow = &self.traffic.flows[visit.flow];
            let here = wire(flow.size);
            let stair = Stair {
                message: here.whole(),
                burst: i128::from(flow.burst),
                interval: flow.interval.map_or(1, wide),
                jitter: visit.jitter,
            };
            let limit = visit.over.map(|over| {
                let input = &network.links[over];
                let before = Train::new(format, flow.size, input);
                let at_once = if self.cuts_through(input) { 2 } else { 1 };
                let of = |brings: i128, takes: i128| Limit { at_once: brings * at_once, brings, takes };
                let last = of(here.last, before.last);
                if here.full > 0 { last.or(of(here.each, before.each)) } else { last }
            });
            match links.iter().position(|over| *over == visit.over) {
                Some(place) => {
                    let (stairs, all) = &mut curve.inputs[place];
                    stairs.push(stair);
                    *all = all.zip(limit).map(|(all, limit)| all.or(limit));
                }
                None => {
                    links.push(visit.over);
                    curve.inputs.push((vec![stair], limit));
                }
            }
        }
        curve
    }

    /// A flow with a deadline is at each target by then.
    fn in_time(&self, index: usize) -> Result<(), Violation> {
        let flow = &self.traffic.flows[index];
        let (Some(class), Some(deadline)) = (flow.class, flow.deadline) else { return Ok(()) };
        let tree = &self.plan.flows[index];
        let mut reached: Vec<Option<i128>> = Vec::with_capacity(tree.hops.len());
        for hop in &tree.hops {
            let link = &self.traffic.network.links[hop.link.index()];
            let before = hop.parent.map_or(Some(2 * self.error()), |parent| reached[parent as usize]);
            let delay = self.delay(hop.link.index(), class)?;
            let at = before
                .zip(delay)
                .map(|(before, delay)| before + delay + wide(link.propagation) + wide(link.processing));
            if flow.targets.contains(&link.target) && at.is_none_or(|at| at > wide(deadline)) {
                let place = format!("flow \"{}\"", flow.name);
                let found = format!("{}, deadline {deadline}", at.map_or("no bound".to_owned(), shown));
                return Err(violation(place, "it arrives before its deadline", found));
            }
            reached.push(at);
        }
        Ok(())
    }
}
