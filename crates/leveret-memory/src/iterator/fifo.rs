//! FIFO: a ring in which every slot says for which position it was filled.
//!
//! ```text
//!   ring of 4 (the next power of two of the capacity), positions 5 and 6 are in:
//!
//!   head 5          tail 7
//!     |               |
//!   slot    0         1         2         3
//!       | 4 : - | 5 : b2 | 6 : b0 | 3 : - |      position : buffer
//!                                     ^ where position 7 goes, because it still says 3 = 7 - 4
//! ```
//!
//! - Insert at position `tail`: exchange the slot's word from position `tail - ring` to (`tail`, buffer). That is where it
//!   takes effect. Then count `tail` on.
//! - Remove: if the slot of `head` says `head`, count `head` on. That is where it takes effect. If it says
//!   `head - ring`, nothing was inserted since, and the store is empty.
//!
//! A slot is filled again only after its position was removed: a buffer is in at most once, so with the one that comes
//! in there are at most as many as slots.
//!
//! A thread that stalls between filling the slot and counting `tail` on holds up nobody: an insertion that finds the
//! slot of `tail` filled counts `tail` on itself, and a removal does not look at `tail`. (A queue whose inserters take
//! a position first and fill it later makes all removals wait for the slowest.) Every exchange that fails means that
//! another thread's succeeded. Positions never come back (see [`super::link`]), so a late exchange fails.

use super::InsertError;
use super::line::Line;
use super::link::{Link, number_after, numbers_between};
use super::members::Members;
use crate::sync::{AtomicU64, Ordering};

pub(super) struct Fifo {
    /// Position of the next removal.
    head: Line<AtomicU64>,
    /// Position of the next insertion, or the one before.
    tail: Line<AtomicU64>,
    members: Members,
    slots: Box<[AtomicU64]>,
}

impl Fifo {
    pub(super) fn new(capacity: u32) -> Self {
        let ring = u64::from(capacity.next_power_of_two());
        let slots = (0..ring)
            .map(|slot| {
                let number = number_after(slot, ring.wrapping_neg());
                AtomicU64::new(Link::new(number, 0).pointing_as(Link::END).word())
            })
            .collect();
        Self {
            head: Line(AtomicU64::new(0)),
            tail: Line(AtomicU64::new(0)),
            members: Members::new(capacity),
            slots,
        }
    }

    #[inline]
    pub(super) fn insert(&self, index: u32) -> Result<(), InsertError> {
        self.members.enter(index)?;
        let position = self.fill(index);
        self.count_tail_on(position);
        Ok(())
    }

    /// Fills the slot of the next position, and says which that was. With this the buffer is in.
    #[inline]
    fn fill(&self, index: u32) -> u64 {
        loop {
            let position = self.tail.load(Ordering::Acquire);
            let slot = self.slot(position);
            let word = slot.load(Ordering::Acquire);
            let occupied = Link::from_word(word).number();
            if occupied == self.round_before(position) {
                let filled = Link::new(position, index).word();
                if slot.compare_exchange(word, filled, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                    return position;
                }
            } else if occupied == position {
                self.count_tail_on(position);
            }
            // Otherwise the tail has moved on since it was read.
        }
    }

    /// Counts the tail on from a position that is filled, if nobody else has.
    #[inline]
    fn count_tail_on(&self, position: u64) {
        let next = number_after(position, 1);
        _ = self.tail.compare_exchange(position, next, Ordering::AcqRel, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn remove(&self) -> Option<u32> {
        loop {
            let position = self.head.load(Ordering::Acquire);
            let filled = Link::from_word(self.slot(position).load(Ordering::Acquire));
            if filled.number() == position {
                let next = number_after(position, 1);
                if self.head.compare_exchange(position, next, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                    let index = filled.index().expect("a slot that was filled names a buffer");
                    self.members.leave(index);
                    return Some(index);
                }
            } else if filled.number() == self.round_before(position) {
                return None;
            }
            // Otherwise the head has moved on since it was read.
        }
    }

    #[inline(always)]
    fn slot(&self, position: u64) -> &AtomicU64 {
        &self.slots[position as usize & (self.slots.len() - 1)]
    }

    /// The position that used the same slot one round earlier.
    #[inline(always)]
    fn round_before(&self, position: u64) -> u64 {
        number_after(position, (self.slots.len() as u64).wrapping_neg())
    }

    pub(super) fn len_hint(&self) -> u32 {
        let head = self.head.load(Ordering::Acquire);
        let count = numbers_between(head, self.tail.load(Ordering::Acquire));
        // The tail may be one behind the head, when the one before the head was filled, removed and not yet counted.
        if count == numbers_between(1, 0) { 0 } else { count.min(self.slots.len() as u64) as u32 }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A thread that has filled its slot and goes no further.
    fn insert_and_stall(store: &Fifo, index: u32) {
        store.members.enter(index).expect("it is out");
        store.fill(index);
    }

    #[test]
    fn a_stalled_insertion_holds_up_nobody() {
        let store = Fifo::new(3);
        for _ in 0..10 {
            insert_and_stall(&store, 2);
            insert_and_stall(&store, 0);
            store.insert(1).expect("it is out");
            assert_eq!([(); 4].map(|()| store.remove()), [Some(2), Some(0), Some(1), None]);
            insert_and_stall(&store, 1);
            assert_eq!([(); 2].map(|()| store.remove()), [Some(1), None]);
        }
    }

    #[test]
    fn positions_wrap() {
        let store = Fifo::new(2);
        let first = number_after(0, 3_u64.wrapping_neg());
        store.head.store(first, Ordering::Relaxed);
        store.tail.store(first, Ordering::Relaxed);
        for position in [number_after(first, 1), number_after(first, 2)] {
            let before = Link::new(number_after(position, 2_u64.wrapping_neg()), 0);
            store.slot(position).store(before.word(), Ordering::Relaxed);
        }
        store.slot(first).store(Link::new(store.round_before(first), 0).word(), Ordering::Relaxed);
        for _ in 0..6 {
            assert_eq!(store.remove(), None);
            store.insert(1).expect("it is out");
            store.insert(0).expect("it is out");
            assert_eq!(store.len_hint(), 2);
            assert_eq!([(); 2].map(|()| store.remove()), [Some(1), Some(0)]);
        }
    }
}
