//! Ways lead from the source to every target, over what exists; two copies share only what has no alternative.

use super::{Checker, Copy, Hop, Passage, TIME_MAX, Train, UNKNOWN, violation, windows};
use crate::checker::{Violation, shown, wide};
use leveret_topology::{NodeKind, Tree};
use leveret_types::{ByteSize, NodeId};

/// A plan has fewer transmissions.
const COUNT_MAX: u64 = 1 << 32;

impl Checker<'_> {
    pub(super) fn ways(&mut self) -> Result<(), Violation> {
        let plan = self.plan;
        let streams = &self.traffic.streams;
        self.copies_most = streams.iter().map(|stream| usize::from(stream.copies)).max().unwrap_or(0);
        self.copies = vec![Copy::default(); streams.len() * self.copies_most];
        self.crowded = vec![false; plan.links.len()];
        let hops = || plan.ways.iter().flatten().map(|way| way.tree.hops.len());
        self.hops.reserve_exact(hops().sum());
        let mut first = 0u64;
        let (mut trains, mut met) = (Vec::new(), Vec::new());
        for (index, stream) in streams.iter().enumerate() {
            let ways = &plan.ways[index];
            let place = || format!("stream \"{}\"", stream.name);
            if ways.len() != usize::from(stream.copies) {
                return Err(violation(
                    place(),
                    "it has a way for each of its copies",
                    format!("{} for {}", ways.len(), stream.copies),
                ));
            }
            let instances = plan.hyperperiod.0 / stream.period.0;
            for (number, way) in ways.iter().enumerate() {
                self.leads(("stream", &stream.name), stream.source, &stream.targets, &way.tree, &mut met)?;
                if way.queues.len() != way.tree.hops.len() {
                    let found = format!("{} queues for {} links", way.queues.len(), way.tree.hops.len());
                    return Err(violation(place(), "it has a queue at each link of its way", found));
                }
                if let Some(given) = &stream.ways
                    && given.get(number).is_none_or(|given| *given != way.tree)
                {
                    return Err(violation(place(), "it takes the way that was declared", String::new()));
                }
                let hops = way.tree.hops.len() as u64;
                let next = u64::try_from(instances).ok().and_then(|instances| instances.checked_mul(hops));
                let next = next.and_then(|count| count.checked_add(first)).filter(|next| *next < COUNT_MAX);
                let Some(next) = next else {
                    let found = format!("{COUNT_MAX} or more");
                    return Err(violation(place(), "its transmissions can be numbered", found));
                };
                self.copies[index * self.copies_most + number] = Copy {
                    first: first as u32,
                    first_hop: self.hops.len() as u32,
                    // Fewer than transmissions, of which each way has one an instance at least.
                    instances: if hops == 0 { 0 } else { instances as u32 },
                    hops: hops as u16,
                };
                self.hops_of(index, number, &mut trains)?;
                first = next;
            }
            if let [one, two] = &ways[..] {
                self.apart(index, &one.tree, &two.tree)?;
            }
        }
        let slots: usize = plan.links.iter().map(Vec::len).sum();
        if slots as u64 != first {
            let found = format!("{slots} slots for {first} transmissions");
            return Err(violation(
                "plan".to_owned(),
                "each instance has one slot on each link of its way",
                found,
            ));
        }
        self.starts = vec![UNKNOWN; slots];
        Ok(())
    }

    /// The hops of a way, with what its slots take of their links. `trains` is where those of the way are kept meanwhile.
    fn hops_of(&mut self, stream: usize, copy: usize, trains: &mut Vec<Train>) -> Result<(), Violation> {
        let (traffic, way) = (self.traffic, &self.plan.ways[stream][copy]);
        self.trains_of(stream, copy, trains);
        for ((hop, queue), train) in way.tree.hops.iter().zip(&way.queues).zip(trains) {
            let link = &traffic.network.links[hop.link.index()];
            if *queue >= link.queues.min(8) {
                let place = format!("way of stream \"{}\"", traffic.streams[stream].name);
                let found =
                    format!("queue {queue} of {} at {}", link.queues, traffic.network.link_name(hop.link));
                return Err(violation(place, "the link has its queue", found));
            }
            // The last frame starts sooner than the whole is over.
            if train.whole() > i128::from(TIME_MAX) {
                return Err(self.uncounted(stream, train.whole()));
            }
            self.hops.push(Hop {
                length: train.whole() as i64,
                last_start: train.last_start() as i64,
                least_gap: i64::MAX,
                link: hop.link.0,
                parent: hop.parent.map_or(Hop::NO_PARENT, |parent| parent as u16),
                queue: *queue,
            });
        }
        Ok(())
    }

    /// From the start on the hop before to the first frame at a hop that has one.
    pub(super) fn first_comes(&self, size: ByteSize, before: &Hop, hop: &Hop) -> i128 {
        let links = &self.traffic.network.links;
        let over = &links[before.link as usize];
        windows::first_comes(self.traffic, over, self.train(size, before), &links[hop.link as usize])
    }

    /// A message's frames on a hop.
    fn train(&self, size: ByteSize, hop: &Hop) -> Train {
        match hop.last_start {
            0 => Train { full: 0, each: i128::from(hop.length), last: i128::from(hop.length) },
            _ => {
                let link = &self.traffic.network.links[hop.link as usize];
                Train::new(&self.traffic.network.frames, size, link)
            }
        }
    }

    /// What lies between the hops of a way, in place of that of another way.
    pub(super) fn passages_of(
        &self,
        stream: usize,
        copy: usize,
        passages: &mut Vec<Passage>,
    ) -> Result<(), Violation> {
        let (traffic, way) = (self.traffic, &self.plan.ways[stream][copy]);
        let (declared, links) = (&traffic.streams[stream], &traffic.network.links);
        let first = self.copy(stream, copy).first_hop as usize;
        let hops = &self.hops[first..first + way.tree.hops.len()];
        passages.clear();
        for hop in hops {
            let link = &links[hop.link as usize];
            let (mut forwarding, mut first_comes) = (0, 0);
            if let Some(before) = hops.get(usize::from(hop.parent)) {
                let train = |hop: &Hop| self.train(declared.size, hop);
                let over = &links[before.link as usize];
                forwarding = windows::forwarding(traffic, (over, train(before)), (link, train(hop)));
                first_comes = self.first_comes(declared.size, before, hop);
            }
            let arrival = i128::from(hop.length) + wide(link.propagation) + wide(link.processing);
            let longest = forwarding.max(first_comes).max(arrival);
            if longest > i128::from(TIME_MAX) {
                return Err(self.uncounted(stream, longest));
            }
            let is_target = declared.targets.contains(&link.target);
            passages.push(Passage {
                forwarding: forwarding as i64,
                first_comes: first_comes as i64,
                arrival: if is_target { arrival as i64 } else { Passage::NO_TARGET },
            });
        }
        Ok(())
    }

    /// A message's frames on each link of a way.
    fn trains_of(&self, stream: usize, copy: usize, trains: &mut Vec<Train>) {
        let (traffic, way) = (self.traffic, &self.plan.ways[stream][copy]);
        let links = &traffic.network.links;
        trains.clear();
        for hop in &way.tree.hops {
            let link = &links[hop.link.index()];
            let before = hop.parent.map(|parent| (parent as usize, way.tree.hops[parent as usize].link));
            // At the same rate the frames are the same.
            trains.push(match before {
                Some((parent, over)) if links[over.index()].rate == link.rate => trains[parent],
                _ => Train::new(&traffic.network.frames, traffic.streams[stream].size, link),
            });
        }
    }

    /// What takes longer than [`TIME_MAX`].
    #[cold]
    fn uncounted(&self, stream: usize, time: i128) -> Violation {
        let place = format!("way of stream \"{}\"", self.traffic.streams[stream].name);
        violation(place, "its times can be counted", shown(time))
    }

    /// A way leads from a source to every target. `who` is its kind and name; `met` is where the nodes that it comes to are kept meanwhile.
    pub(super) fn leads(
        &self,
        (kind, name): (&str, &str),
        source: NodeId,
        targets: &[NodeId],
        tree: &Tree,
        met: &mut Vec<NodeId>,
    ) -> Result<(), Violation> {
        let network = &self.traffic.network;
        let fail =
            |rule: &str, found: String| Err(violation(format!("way of {kind} \"{name}\""), rule, found));
        met.clear();
        met.push(source);
        if tree.hops.len() >= usize::from(Hop::NO_PARENT) {
            return fail("it has no more links than can be numbered", tree.hops.len().to_string());
        }
        for (number, hop) in tree.hops.iter().enumerate() {
            let Some(link) = network.links.get(hop.link.index()) else {
                return fail("its links exist", hop.link.to_string());
            };
            let from = match hop.parent {
                None => source,
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
        match targets.iter().find(|target| !met.contains(target)) {
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
