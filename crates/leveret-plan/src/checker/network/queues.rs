//! What leaves a queue later came to it later: a message comes to its queue after the last frame of the one that leaves before it was
//! sent, so that no lost, early or late frame changes who is sent in whose slot (S. Craciunas, R. Serna Oliver, M. Chmelik, W. Steiner,
//! "Scheduling real-time communication in IEEE 802.1Qbv time sensitive networks", RTNS 2016, section 4.3: frame isolation).

use super::{Checker, violation};
use crate::checker::{Violation, shown, wide};
use crate::network::Slot;

/// Who left a queue last: the last frame's start, and the slot.
type Left<'a> = [Option<(i128, &'a Slot)>; 8];

impl Checker<'_> {
    pub(super) fn queues(&self) -> Result<(), Violation> {
        for (index, slots) in self.plan.links.iter().enumerate() {
            let queues = self.traffic.network.links[index].queues;
            let mut left: Left<'_> = [None; 8];
            // The first round says who left before; in the second everything is judged.
            for turn in [-self.round, 0] {
                for slot in slots {
                    let queue = self.plan.ways[slot.stream.index()][usize::from(slot.copy)].queues
                        [usize::from(slot.hop)];
                    if queue >= queues.min(8) {
                        let found = format!("queue {queue} of {queues}");
                        return Err(violation(self.slot_place(index, slot), "the link has its queue", found));
                    }
                    let last = &mut left[usize::from(queue)];
                    if turn == 0
                        && let Some((sent, before)) = last
                    {
                        self.after(index, slot, *sent, before)?;
                    }
                    let sent = wide(slot.start).rem_euclid(self.round) + turn + self.times(slot).last_start;
                    *last = Some((sent, slot));
                }
            }
        }
        Ok(())
    }

    /// The message of `slot` comes to its queue after `before` has left it.
    fn after(&self, link: usize, slot: &Slot, sent: i128, before: &Slot) -> Result<(), Violation> {
        let (stream, copy) = (slot.stream.index(), usize::from(slot.copy));
        let hop = usize::from(slot.hop);
        // At its source a message waits in its program, and not in a queue.
        let Some(parent) = self.plan.ways[stream][copy].tree.hops[hop].parent else { return Ok(()) };
        let starts = self.copies[stream][copy];
        let start = self.start(starts, slot.instance as usize, hop);
        let came = self.start(starts, slot.instance as usize, parent as usize) + self.times(slot).forwarding
            - 2 * self.error();
        // How long it waits at most does not depend on the round.
        let arrival = start.rem_euclid(self.round) - (start - came);
        if arrival < sent {
            let found = format!(
                "it comes at {}, and {} is sent until {}",
                shown(arrival),
                self.slot_place(link, before),
                shown(sent)
            );
            return Err(violation(
                self.slot_place(link, slot),
                "it comes to its queue after what leaves before it has left",
                found,
            ));
        }
        Ok(())
    }
}
