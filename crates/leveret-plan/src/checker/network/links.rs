//! A link carries one message at a time, and none while it is reserved.

use super::{Checker, UNKNOWN, violation, within_round};
use crate::checker::{Violation, shown, wide};
use crate::network::Slot;

impl Checker<'_> {
    pub(super) fn links(&mut self) -> Result<(), Violation> {
        let plan = self.plan;
        self.slot_hops.reserve(self.starts.len());
        for (index, slots) in plan.links.iter().enumerate() {
            let first = self.slot_hops.len();
            self.exclusive(index, slots)?;
            self.unreserved(index, slots, first)?;
        }
        Ok(())
    }

    /// Slots are what they say, are in order and do not overlap, around the round too. Their starts are noted.
    fn exclusive(&mut self, link: usize, slots: &[Slot]) -> Result<(), Violation> {
        let mut ends = None;
        for slot in slots {
            let hop = self.enter(link, slot)?;
            self.slot_hops.push(hop as u32);
            let start = within_round(slot.start, self.plan.hyperperiod);
            let end = start + i128::from(self.hops[hop].length);
            if let Some((before, until)) = ends
                && until > start
            {
                return Err(self.overlap(link, before, until, slot, start));
            }
            if self.traffic.whole_cycles && end > self.round {
                let found = format!("{} to {}", shown(start), shown(end));
                return Err(violation(
                    self.slot_place(link, slot),
                    "no slot lies across the end of the hyperperiod",
                    found,
                ));
            }
            ends = Some((slot, end));
        }
        if let (Some((last, until)), Some(first)) = (ends, slots.first()) {
            let start = within_round(first.start, self.plan.hyperperiod) + self.round;
            if until > start {
                return Err(self.overlap(link, last, until, first, start));
            }
        }
        Ok(())
    }

    fn overlap(&self, link: usize, before: &Slot, until: i128, slot: &Slot, start: i128) -> Violation {
        let found = format!(
            "it starts at {}, and {} lasts to {}",
            shown(start),
            self.slot_place(link, before),
            shown(until)
        );
        violation(self.slot_place(link, slot), "it starts after the slot before it has ended", found)
    }

    /// No slot touches a reservation. Both are walked in their order, side by side.
    fn unreserved(&self, link: usize, slots: &[Slot], first: usize) -> Result<(), Violation> {
        for reservation in &self.traffic.network.links[link].reserved {
            let (period, begin, length) =
                (wide(reservation.period), wide(reservation.start), wide(reservation.length));
            for (slot, hop) in slots.iter().zip(&self.slot_hops[first..]) {
                let start = within_round(slot.start, self.plan.hyperperiod);
                let end = start + i128::from(self.hops[*hop as usize].length);
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

    /// Notes the start of the hop that a slot is. Which hop.
    fn enter(&mut self, link: usize, slot: &Slot) -> Result<usize, Violation> {
        let stream = slot.stream.index();
        // The entry behind the last stream says where its copies end.
        let copies = match self.first_copy.get(stream..stream.saturating_add(2)) {
            Some(&[first, next]) => first..next,
            _ => 0..0,
        };
        let number = copies.start + u32::from(slot.copy);
        if !copies.contains(&number) {
            return Err(self.wrong(link, slot, "its stream and copy exist", slot.stream.to_string()));
        }
        let copy = self.copies[number as usize];
        if slot.instance as usize >= copy.instances {
            return Err(self.wrong(link, slot, "its instance is within the hyperperiod", String::new()));
        }
        let hop = usize::from(slot.hop);
        if hop >= copy.hops || self.hops[copy.first_hop + hop].link as usize != link {
            return Err(self.wrong(link, slot, "its hop is this link", format!("hop {}", slot.hop)));
        }
        let entry = copy.first + slot.instance as usize * copy.hops + hop;
        if self.starts[entry] != UNKNOWN || slot.start.0 == UNKNOWN {
            return Err(self.wrong(link, slot, "each instance is on each link once", String::new()));
        }
        self.starts[entry] = slot.start.0;
        Ok(copy.first_hop + hop)
    }

    fn wrong(&self, link: usize, slot: &Slot, rule: &str, found: String) -> Violation {
        violation(self.slot_place(link, slot), rule, found)
    }
}
