//! What leaves a queue later came to it later: a message comes to its queue after the last frame of the one that leaves before it was
//! sent, so that no lost, early or late frame changes who is sent in whose slot (S. Craciunas, R. Serna Oliver, M. Chmelik, W. Steiner,
//! "Scheduling real-time communication in IEEE 802.1Qbv time sensitive networks", RTNS 2016, section 4.3: frame isolation).

use super::{Checker, Hop, violation, within_round};
use crate::checker::{Violation, shown, wide};
use crate::network::Slot;

/// A slot with where it is in the round.
#[derive(Clone, Copy)]
struct Sent<'a> {
    slot: &'a Slot,
    hop: &'a Hop,
    start: i128,
}

impl Checker<'_> {
    /// Where every message waits for less than since what left its queue before was sent, it has come after that, and nothing is left to
    /// look at.
    pub(super) fn queues(&self) -> Result<(), Violation> {
        let mut sent = Vec::new();
        for (index, slots) in self.plan.links.iter().enumerate() {
            if !self.crowded[index] {
                continue;
            }
            sent.clear();
            for slot in slots {
                let hop = self.hop(slot);
                let start = i128::from(within_round(slot.start, self.plan.hyperperiod));
                sent.push(Sent { slot, hop: &self.hops[hop], start });
            }
            self.in_order(index, &sent)?;
        }
        Ok(())
    }

    /// Each comes after what left its queue before it. The end of the round before says who left first of all.
    fn in_order(&self, link: usize, sent: &[Sent<'_>]) -> Result<(), Violation> {
        let mut left: [Option<(i128, &Sent<'_>)>; 8] = [None; 8];
        for one in sent {
            left[usize::from(one.hop.queue)] =
                Some((one.start - self.round + i128::from(one.hop.last_start), one));
        }
        for one in sent {
            // At its source a message waits in its program, and not in a queue.
            if one.hop.parent != Hop::NO_PARENT
                && let Some((until, before)) = left[usize::from(one.hop.queue)]
            {
                self.after(link, one, until, before)?;
            }
            left[usize::from(one.hop.queue)] = Some((one.start + i128::from(one.hop.last_start), one));
        }
        Ok(())
    }

    /// The message of a slot comes to its queue after the one before it has left.
    fn after(&self, link: usize, one: &Sent<'_>, until: i128, before: &Sent<'_>) -> Result<(), Violation> {
        let slot = one.slot;
        let copy = self.copy(slot.stream.index(), usize::from(slot.copy));
        let parent = usize::from(one.hop.parent);
        let (size, hop_before) =
            (self.traffic.streams[slot.stream.index()].size, &self.hops[copy.first_hop as usize + parent]);
        let came = self.start(copy, slot.instance as usize, parent)
            + self.first_comes(size, hop_before, one.hop)
            - 2 * self.error();
        // How long it waits at most does not depend on the round.
        let arrival = one.start - (wide(slot.start) - came);
        if arrival >= until {
            return Ok(());
        }
        let found = format!(
            "it comes at {}, and {} is sent until {}",
            shown(arrival),
            self.slot_place(link, before.slot),
            shown(until)
        );
        Err(violation(
            self.slot_place(link, slot),
            "it comes to its queue after what leaves before it has left",
            found,
        ))
    }
}
