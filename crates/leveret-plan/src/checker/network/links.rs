//! A link carries one message at a time, and none while it is reserved.

use super::{Checker, UNKNOWN, violation, within_round};
use crate::checker::{Violation, shown, wide};
use crate::network::Slot;

impl Checker<'_> {
    pub(super) fn links(&mut self) -> Result<(), Violation> {
        let plan = self.plan;
        for (index, slots) in plan.links.iter().enumerate() {
            for slot in slots {
                self.enter(index, slot)?;
            }
            self.exclusive(index, slots)?;
            self.unreserved(index, slots)?;
        }
        Ok(())
    }

    /// Slots are in order and do not overlap, around the round too.
    fn exclusive(&self, link: usize, slots: &[Slot]) -> Result<(), Violation> {
        let mut ends = None;
        for slot in slots {
            let start = within_round(slot.start, self.round);
            let end = start + self.times(slot).length;
            if let Some((before, until)) = ends {
                self.apart_in_time(link, before, until, slot, start)?;
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
            self.apart_in_time(link, last, until, first, within_round(first.start, self.round) + self.round)?;
        }
        Ok(())
    }

    fn apart_in_time(
        &self,
        link: usize,
        before: &Slot,
        until: i128,
        slot: &Slot,
        start: i128,
    ) -> Result<(), Violation> {
        if until <= start {
            return Ok(());
        }
        let found = format!(
            "it starts at {}, and {} lasts to {}",
            shown(start),
            self.slot_place(link, before),
            shown(until)
        );
        Err(violation(self.slot_place(link, slot), "it starts after the slot before it has ended", found))
    }

    /// No slot touches a reservation. Both are walked in their order, side by side.
    fn unreserved(&self, link: usize, slots: &[Slot]) -> Result<(), Violation> {
        for reservation in &self.traffic.network.links[link].reserved {
            let (period, begin, length) =
                (wide(reservation.period), wide(reservation.start), wide(reservation.length));
            for slot in slots {
                let start = within_round(slot.start, self.round);
                let end = start + self.times(slot).length;
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

    /// Notes the start of the hop that a slot is.
    fn enter(&mut self, link: usize, slot: &Slot) -> Result<(), Violation> {
        let place = || self.slot_place(link, slot);
        let Some(copy) =
            self.copies.get(slot.stream.index()).and_then(|copies| copies.get(usize::from(slot.copy)))
        else {
            return Err(violation(place(), "its stream and copy exist", slot.stream.to_string()));
        };
        if slot.instance as usize >= copy.instances {
            return Err(violation(place(), "its instance is within the hyperperiod", String::new()));
        }
        let tree = &self.plan.ways[slot.stream.index()][usize::from(slot.copy)].tree;
        if tree.hops.get(usize::from(slot.hop)).is_none_or(|hop| hop.link.index() != link) {
            return Err(violation(place(), "its hop is this link", format!("hop {}", slot.hop)));
        }
        let entry = copy.first + slot.instance as usize * copy.hops + usize::from(slot.hop);
        if self.starts[entry] != UNKNOWN || slot.start.0 == UNKNOWN {
            return Err(violation(place(), "each instance is on each link once", String::new()));
        }
        self.starts[entry] = slot.start.0;
        Ok(())
    }
}
