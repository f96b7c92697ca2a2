//! Which priority (PCP, 0 to 7) the frames of each channel carry, so that each port finds their queue by it.

use leveret_plan::network::{NetworkPlan, Traffic};
use leveret_types::{LinkId, StreamId, TRAFFIC_CLASSES};
use std::collections::{BTreeMap, BTreeSet};

/// Priorities of streams, and what each port makes of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Priorities {
    /// By stream; none where no priority is left that every port on its way could map to its queue there: such a stream must be told
    /// apart by its addresses.
    pub of: Vec<Option<u8>>,
    /// By priority of the plan, 0 to 7: what channels beside the table carry that have it; none where no such channel has, or none of the seven is left.
    pub beside: [Option<u8>; TRAFFIC_CLASSES as usize],
    /// By link and priority: the queue.
    queues: BTreeMap<(LinkId, u8), u8>,
}

impl Priorities {
    /// The queue that a port gives a priority; none where no planned frame comes with it.
    pub fn queue(&self, link: LinkId, priority: u8) -> Option<u8> {
        self.queues.get(&(link, priority)).copied()
    }

    /// The priority in the plan of channels beside the table that carry this one.
    pub fn class_beside(&self, priority: u8) -> Option<u8> {
        (0..TRAFFIC_CLASSES).find(|class| self.beside[usize::from(*class)] == Some(priority))
    }
}

/// The most urgent priorities first; 0 is for best effort.
const PRIORITIES: std::ops::RangeInclusive<u8> = 1..=7;

/// Channels beside the table carry the priority that they declare; those that declare 0 the least that is left, since 0 is best effort's. Then each stream is given the
/// first that fits: one that no port on its way maps to another queue than the plan does, and that nothing beside the table has.
pub fn priorities(traffic: &Traffic, plan: &NetworkPlan) -> Priorities {
    let declared: BTreeSet<u8> = traffic.flows.iter().filter_map(|flow| flow.class).collect();
    let mut found = Priorities { of: Vec::with_capacity(traffic.streams.len()), ..Priorities::default() };
    for class in declared.iter().rev() {
        let left = || PRIORITIES.clone().find(|priority| !declared.contains(priority));
        found.beside[usize::from(*class)] = if *class == 0 { left() } else { Some(*class) };
    }
    let taken: BTreeSet<u8> = found.beside.iter().flatten().copied().collect();
    for index in 0..traffic.streams.len() {
        let own = own_queues(plan, StreamId(index as u32));
        let fits = |priority: &u8| {
            own.iter().all(|(link, queue)| {
                found.queue(*link, *priority).is_none_or(|known| Some(known) == *queue) && queue.is_some()
            })
        };
        let chosen = PRIORITIES.rev().filter(|priority| !taken.contains(priority)).find(fits);
        if let Some(priority) = chosen {
            let mapped = own.iter().filter_map(|(link, queue)| queue.map(|queue| ((*link, priority), queue)));
            found.queues.extend(mapped);
        }
        found.of.push(chosen);
    }
    found
}

/// The queue of a stream on each of its links; none where its copies meet on a link and differ.
fn own_queues(plan: &NetworkPlan, stream: StreamId) -> BTreeMap<LinkId, Option<u8>> {
    let mut own: BTreeMap<LinkId, Option<u8>> = BTreeMap::new();
    for way in &plan.ways[stream.index()] {
        for (hop, queue) in way.tree.hops.iter().zip(&way.queues) {
            own.entry(hop.link)
                .and_modify(|known| *known = known.filter(|known| known == queue))
                .or_insert(Some(*queue));
        }
    }
    own
}
