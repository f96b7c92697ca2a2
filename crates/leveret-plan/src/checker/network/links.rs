//! A link carries one message at a time, and none while it is reserved.

use super::{Checker, Hop, TIME_MAX, UNKNOWN, violation, within_round};
use crate::checker::{Violation, shown, wide};
use crate::network::Slot;
use leveret_types::Nanos;

/// What was sent last from each queue of a link, and first.
struct Left {
    /// When its last frame was sent; [`UNKNOWN`] where none was.
    until: [i64; 8],
    first: [(usize, i64); 8],
}

impl Left {
    /// A slot leaves its queue: how long after the one before it.
    fn sent(&mut self, number: usize, hop: &mut Hop, start: i64) {
        let queue = usize::from(hop.queue & 7);
        if self.until[queue] == UNKNOWN {
            self.first[queue] = (number, start);
        } else {
            hop.least_gap = hop.least_gap.min(start - self.until[queue]);
        }
        self.until[queue] = start + hop.last_start;
    }
}

/// Slots that are looked up together, one thing of all of them after the other: what is looked up lies far apart in memory, and so comes side by side.
const BATCH: usize = 32;

/// Where a slot's hop is, and where its start is noted.
type Entered = (usize, usize);

impl Checker<'_> {
    pub(super) fn links(&mut self) -> Result<(), Violation> {
        let plan = self.plan;
        for (index, slots) in plan.links.iter().enumerate() {
            self.exclusive(index, slots)?;
            self.unreserved(index, slots)?;
        }
        Ok(())
    }

    /// Slots are what they say, are in order and do not overlap, around the round too. Their starts are noted, and how soon each is sent
    /// after what left its queue before.
    fn exclusive(&mut self, link: usize, slots: &[Slot]) -> Result<(), Violation> {
        let (round, whole_cycles) = (self.plan.hyperperiod, self.traffic.whole_cycles);
        let mut left = Left { until: [UNKNOWN; 8], first: [(0, 0); 8] };
        let (mut before, mut until) = (None, UNKNOWN);
        let mut entered: [Entered; BATCH] = [(0, 0); BATCH];
        for batch in slots.chunks(BATCH) {
            for (slot, entered) in batch.iter().zip(&mut entered) {
                *entered = match self.entry(slot) {
                    Some(entered) => entered,
                    None => return Err(self.stray(link, slot)),
                };
            }
            for (slot, (number, _)) in batch.iter().zip(entered) {
                if self.hops[number].link as usize != link {
                    return Err(self.wrong(link, slot, "its hop is this link", format!("hop {}", slot.hop)));
                }
            }
            for (slot, (_, entry)) in batch.iter().zip(entered) {
                if !(-TIME_MAX..=TIME_MAX).contains(&slot.start.0) {
                    let found = shown(wide(slot.start));
                    return Err(violation(self.slot_place(link, slot), "its start can be counted", found));
                }
                if self.starts[entry] != UNKNOWN {
                    return Err(self.wrong(link, slot, "each instance is on each link once", String::new()));
                }
                self.starts[entry] = slot.start.0;
            }
            for (slot, (number, _)) in batch.iter().zip(entered) {
                let start = within_round(slot.start, round);
                let hop = &mut self.hops[number];
                let end = start + hop.length;
                left.sent(number, hop, start);
                if until > start {
                    return Err(self.overlap(link, before.unwrap_or(slot), until, slot, start));
                }
                if whole_cycles && end > round.0 {
                    let found = format!("{} to {}", Nanos(start), Nanos(end));
                    return Err(violation(
                        self.slot_place(link, slot),
                        "no slot lies across the end of the hyperperiod",
                        found,
                    ));
                }
                (before, until) = (Some(slot), end);
            }
        }
        for ((number, start), until) in left.first.into_iter().zip(left.until) {
            if until != UNKNOWN {
                let gap = start + round.0 - until;
                self.hops[number].least_gap = self.hops[number].least_gap.min(gap);
            }
        }
        if let (Some(last), Some(first)) = (before, slots.first()) {
            let start = within_round(first.start, round) + round.0;
            if until > start {
                return Err(self.overlap(link, last, until, first, start));
            }
        }
        Ok(())
    }

    fn overlap(&self, link: usize, before: &Slot, until: i64, slot: &Slot, start: i64) -> Violation {
        let found = format!(
            "it starts at {}, and {} lasts to {}",
            Nanos(start),
            self.slot_place(link, before),
            Nanos(until)
        );
        violation(
            self.slot_place(link, slot),
            "it starts no sooner than the slot listed before it has ended",
            found,
        )
    }

    /// No slot touches a reservation. Both are walked in their order, side by side.
    fn unreserved(&self, link: usize, slots: &[Slot]) -> Result<(), Violation> {
        for reservation in &self.traffic.network.links[link].reserved {
            let (period, begin, length) =
                (wide(reservation.period), wide(reservation.start), wide(reservation.length));
            for slot in slots {
                let start = i128::from(within_round(slot.start, self.plan.hyperperiod));
                let end = start + i128::from(self.hops[self.hop(slot)].length);
                // The last stretch that begins before the slot ends.
                let turn = (end - 1 - begin).div_euclid(period);
                let until = begin + turn * period + length;
                if until > start {
                    let found = format!(
                        "{} to {} and {} to {}",
                        shown(start),
                        shown(end),
                        shown(until - length),
                        shown(until)
                    );
                    return Err(violation(
                        self.slot_place(link, slot),
                        "it lies outside of what is reserved for other traffic",
                        found,
                    ));
                }
            }
        }
        Ok(())
    }

    /// Where the hop that a slot says it is lies, and its start; none where there is no such hop.
    fn entry(&self, slot: &Slot) -> Option<Entered> {
        let (number, hop) = (usize::from(slot.copy), usize::from(slot.hop));
        let copy = self.copies.get(slot.stream.index() * self.copies_most + number)?;
        let exists = number < self.copies_most && slot.instance < copy.instances && slot.hop < copy.hops;
        exists.then(|| (copy.first_hop as usize + hop, copy.entry(slot.instance as usize, hop)))
    }

    /// What is wrong with a slot that has no hop.
    #[cold]
    fn stray(&self, link: usize, slot: &Slot) -> Violation {
        let number = usize::from(slot.copy);
        match self.copies.get(slot.stream.index() * self.copies_most + number) {
            Some(copy) if number < self.copies_most && copy.hops > 0 => {
                if slot.instance >= copy.instances {
                    self.wrong(link, slot, "its instance is within the hyperperiod", String::new())
                } else {
                    self.wrong(link, slot, "its hop is this link", format!("hop {}", slot.hop))
                }
            }
            _ => self.wrong(link, slot, "its stream and copy exist", slot.stream.to_string()),
        }
    }

    fn wrong(&self, link: usize, slot: &Slot, rule: &str, found: String) -> Violation {
        violation(self.slot_place(link, slot), rule, found)
    }
}
