//! Ways lead from the source to every target, over what exists; two copies share only what has no alternative.

use super::{Checker, Copy, Hop, UNKNOWN, violation};
use crate::checker::{Violation, shown, wide};
use leveret_topology::{NodeKind, Tree};
use leveret_types::NodeId;

impl Checker<'_> {
    pub(super) fn ways(&mut self) -> Result<(), Violation> {
        let mut first = 0usize;
        for (index, stream) in self.traffic.streams.iter().enumerate() {
            let ways = &self.plan.ways[index];
            let place = || format!("stream \"{}\"", stream.name);
            if ways.len() != usize::from(stream.copies) {
                return Err(violation(
                    place(),
                    "it has a way for each of its copies",
                    format!("{} for {}", ways.len(), stream.copies),
                ));
            }
            let instances = (self.plan.hyperperiod.0 / stream.period.0) as usize;
            self.first_copy.push(self.copies.len() as u32);
            for (number, way) in ways.iter().enumerate() {
                self.leads(index, &way.tree)?;
                if way.queues.len() != way.tree.hops.len() {
                    let found = format!("{} queues for {} links", way.queues.len(), way.tree.hops.len());
                    return Err(violation(place(), "it has a queue at each link of its way", found));
                }
                if let Some(given) = &stream.ways
                    && given.get(number).is_none_or(|given| *given != way.tree)
                {
                    return Err(violation(place(), "it takes the way that was declared", String::new()));
                }
                self.copies.push(Copy {
                    first,
                    first_hop: self.hops.len(),
                    hops: way.tree.hops.len(),
                    instances,
                });
                for hop in 0..way.tree.hops.len() {
                    self.hops.push(self.hop_of(index, number, hop)?);
                }
                first = first.saturating_add(way.tree.hops.len().saturating_mul(instances));
            }
            if let [one, two] = &ways[..] {
                self.apart(index, &one.tree, &two.tree)?;
            }
        }
        self.first_copy.push(self.copies.len() as u32);
        let slots: usize = self.plan.links.iter().map(Vec::len).sum();
        if slots != first {
            let found = format!("{slots} slots for {first} transmissions");
            return Err(violation(
                "plan".to_owned(),
                "each instance has one slot on each link of its way",
                found,
            ));
        }
        self.starts = vec![UNKNOWN; first];
        Ok(())
    }

    /// One hop, with its times.
    fn hop_of(&self, stream: usize, copy: usize, hop: usize) -> Result<Hop, Violation> {
        let way = &self.plan.ways[stream][copy];
        let times = self.hop_times(stream, copy, hop);
        let narrow = |time: i128| {
            i64::try_from(time).map_err(|_| {
                let place = format!("way of stream \"{}\"", self.traffic.streams[stream].name);
                violation(place, "its times can be counted", shown(time))
            })
        };
        let link = &self.traffic.network.links[way.tree.hops[hop].link.index()];
        let is_target = self.traffic.streams[stream].targets.contains(&link.target);
        let arrival = times.length + wide(link.propagation) + wide(link.processing);
        Ok(Hop {
            link: way.tree.hops[hop].link.0,
            parent: way.tree.hops[hop].parent.map_or(Hop::NO_PARENT, |parent| parent as u16),
            queue: way.queues[hop],
            length: narrow(times.length)?,
            last_start: narrow(times.last_start)?,
            forwarding: narrow(times.forwarding)?,
            arrival: if is_target { narrow(arrival)? } else { Hop::NO_TARGET },
            longest_wait: 0,
        })
    }

    fn leads(&self, index: usize, tree: &Tree) -> Result<(), Violation> {
        let stream = &self.traffic.streams[index];
        let network = &self.traffic.network;
        let fail = |rule: &str, found: String| {
            Err(violation(format!("way of stream \"{}\"", stream.name), rule, found))
        };
        let mut met: Vec<NodeId> = vec![stream.source];
        if tree.hops.len() >= usize::from(Hop::NO_PARENT) {
            return fail("it has no more links than can be numbered", tree.hops.len().to_string());
        }
        for (number, hop) in tree.hops.iter().enumerate() {
            let Some(link) = network.links.get(hop.link.index()) else {
                return fail("its links exist", hop.link.to_string());
            };
            let from = match hop.parent {
                None => stream.source,
                Some(parent) if (parent as usize) < number => {
                    network.links[tree.hops[parent as usize].link.index()].target
                }
                Some(parent) => {
                    return fail(
                        "each link comes after the one it follows",
                        format!("hop {number} follows hop {parent}"),
                    );
                }
            };
            if link.source != from {
                return fail("each link begins where the one before it ends", network.link_name(hop.link));
            }
            if hop.parent.is_some() && network.nodes[from.index()].kind == NodeKind::Host {
                return fail("only switches forward", network.nodes[from.index()].name.clone());
            }
            if met.contains(&link.target) {
                return fail("it comes to no node twice", network.nodes[link.target.index()].name.clone());
            }
            met.push(link.target);
        }
        match stream.targets.iter().find(|target| !met.contains(target)) {
            Some(missing) => fail("it leads to every target", network.nodes[missing.index()].name.clone()),
            None => Ok(()),
        }
    }

    /// What both ways touch beside source and target, every way must touch.
    fn apart(&self, index: usize, one: &Tree, two: &Tree) -> Result<(), Violation> {
        let stream = &self.traffic.streams[index];
        let network = &self.traffic.network;
        let target = |link: leveret_types::LinkId| network.links[link.index()].target;
        for hop in &one.hops {
            let shared_link = two.hops.iter().any(|other| other.link == hop.link);
            let node = target(hop.link);
            let shared_node =
                !stream.targets.contains(&node) && two.hops.iter().any(|other| target(other.link) == node);
            let (Some(&to), true) = (stream.targets.first(), shared_link || shared_node) else { continue };
            let without_link = shared_link && self.reaches(stream.source, to, |link, _| link != hop.link);
            let without_node = shared_node && self.reaches(stream.source, to, |_, next| next != node);
            if without_link || without_node {
                let place = format!("ways of stream \"{}\"", stream.name);
                return Err(violation(
                    place,
                    "they share only what has no alternative",
                    network.link_name(hop.link),
                ));
            }
        }
        Ok(())
    }

    fn reaches(
        &self,
        from: NodeId,
        to: NodeId,
        allowed: impl Fn(leveret_types::LinkId, NodeId) -> bool,
    ) -> bool {
        let network = &self.traffic.network;
        let mut met = vec![false; network.nodes.len()];
        met[from.index()] = true;
        // Few streams have two copies that share anything: the walk over all links for each round of growth is seldom done.
        let mut grew = true;
        while grew && !met[to.index()] {
            grew = false;
            for (index, link) in network.links.iter().enumerate() {
                let forwards =
                    link.source == from || network.nodes[link.source.index()].kind != NodeKind::Host;
                let new = met[link.source.index()] && forwards && !met[link.target.index()];
                if new && allowed(leveret_types::LinkId(index as u32), link.target) {
                    met[link.target.index()] = true;
                    grew = true;
                }
            }
        }
        met[to.index()]
    }
}
