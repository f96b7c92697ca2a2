//! When each instance of each stream is sent on each of its links, found at once.

use leveret_plan::network::{NetworkPlan, Slot, Traffic};
use leveret_types::Nanos;

/// Of a plan that the checker accepted, so that every hop has its slot.
pub(crate) struct Starts {
    /// By stream, then copy: where its starts begin, and how many hops each instance has.
    first: Vec<Vec<(usize, usize)>>,
    all: Vec<Nanos>,
}

impl Starts {
    pub(crate) fn new(traffic: &Traffic, plan: &NetworkPlan) -> Self {
        let mut first = Vec::with_capacity(plan.ways.len());
        let mut count = 0;
        for (stream, ways) in traffic.streams.iter().zip(&plan.ways) {
            let instances = (plan.hyperperiod.0 / stream.period.0.max(1)) as usize;
            let mut copies = Vec::with_capacity(ways.len());
            for way in ways {
                copies.push((count, way.tree.hops.len()));
                count += instances * way.tree.hops.len();
            }
            first.push(copies);
        }
        let mut starts = Self { first, all: vec![Nanos::ZERO; count] };
        for slot in plan.links.iter().flatten() {
            let place = starts.place(slot, u32::from(slot.hop));
            starts.all[place] = slot.start;
        }
        starts
    }

    /// When the message of a slot is sent on another hop of its way.
    pub(crate) fn of(&self, slot: &Slot, hop: u32) -> Nanos {
        self.all[self.place(slot, hop)]
    }

    fn place(&self, slot: &Slot, hop: u32) -> usize {
        let (first, hops) = self.first[slot.stream.index()][usize::from(slot.copy)];
        first + slot.instance as usize * hops + hop as usize
    }
}
