//! ORDERED: the program inserts in the order of the allowed set, so two counters say which buffer is where, and a word
//! for each buffer says who has it.
//!
//! ```text
//!   removed 6 | next 2      inserted 9 | next 1          position:  0 1 2 3 4 5 6 7 8 9
//!                                                        buffer:    0 1 2 3 0 1 2 3 0 1     in: 2, 3, 0
//!   buffer     0       1       2       3
//!          |   8   | 5 out |   6   |   7   |             the position for which it was last inserted; out: removed
//! ```
//!
//! - Insert: if the buffer is the next and out, exchange its word for the position of `inserted`. That is where it takes
//!   effect. Then count `inserted` on.
//! - Remove: if the word of the next buffer says the position of `removed`, count `removed` on. That is where it takes
//!   effect. Then mark the word as out. If it says the position a round before, the store is empty.
//!
//! That is FIFO's ring, but known in advance: each buffer has its slot, which also says whether the buffer is in, so there is no
//! second word to keep; and the ends meet in that word alone.
//!
//! A thread that stalls before it counts `inserted` on holds up nobody: whoever finds the next buffer's word filled for this
//! position counts on itself. One that stalls before it marks its buffer as out owns the buffer still. Every exchange that
//! fails means that another thread's succeeded, and positions never come back (see `link.rs`). A counter carries
//! the buffer beside the position, which spares a division by the capacity.

use super::InsertError;
use super::line::Line;
use super::link::{Link, number_after, numbers_between};
use crate::sync::{AtomicU64, Ordering};

pub(super) struct Ordered {
    /// Position and buffer of the next insertion, or the one before.
    inserted: Line<AtomicU64>,
    /// Position and buffer of the next removal.
    removed: Line<AtomicU64>,
    /// For each buffer the position for which it was last inserted, with a mark once it was removed.
    buffers: Box<[AtomicU64]>,
}

impl Ordered {
    pub(super) fn new(capacity: u32) -> Self {
        let start = || Line(AtomicU64::new(Link::new(0, 0).word()));
        let never_in = |index: u32| {
            let round_before = number_after(u64::from(index), u64::from(capacity).wrapping_neg());
            AtomicU64::new(Link::new(round_before, index).marked().word())
        };
        Self { inserted: start(), removed: start(), buffers: (0..capacity).map(never_in).collect() }
    }

    #[inline]
    pub(super) fn insert(&self, index: u32) -> Result<(), InsertError> {
        let next = self.fill(index)?;
        self.count_on(next);
        Ok(())
    }

    /// Fills the word of a buffer for the next position, and says which that was. With this the buffer is in.
    #[inline]
    fn fill(&self, index: u32) -> Result<Link, InsertError> {
        loop {
            let next = Link::from_word(self.inserted.load(Ordering::Acquire));
            let atom = &self.buffers[buffer(next) as usize];
            let last = Link::from_word(atom.load(Ordering::Acquire));
            if last.number() == next.number() {
                self.count_on(next);
            } else if last.number() == self.round_before(next) {
                if index != buffer(next) || !last.is_marked() {
                    return Err(self.refusal(index, buffer(next)));
                }
                if atom
                    .compare_exchange(last.word(), next.word(), Ordering::AcqRel, Ordering::Relaxed)
                    .is_ok()
                {
                    return Ok(next);
                }
            }
            // Otherwise the counter has moved on since it was read.
        }
    }

    /// Counts the insertions on from a position that is filled, if nobody else has.
    #[inline]
    fn count_on(&self, filled: Link) {
        let next = self.after(filled).word();
        _ = self.inserted.compare_exchange(filled.word(), next, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Why `index` cannot come in.
    #[cold]
    fn refusal(&self, index: u32, expected: u32) -> InsertError {
        let last = Link::from_word(self.buffers[index as usize].load(Ordering::Relaxed));
        if last.is_marked() && index != expected {
            InsertError::OutOfOrder { index, expected }
        } else {
            InsertError::AlreadyIn { index }
        }
    }

    #[inline]
    pub(super) fn remove(&self) -> Option<u32> {
        loop {
            let next = Link::from_word(self.removed.load(Ordering::Acquire));
            let atom = &self.buffers[buffer(next) as usize];
            let last = Link::from_word(atom.load(Ordering::Acquire));
            if last.number() == next.number() {
                let after = self.after(next).word();
                let exchanged =
                    self.removed.compare_exchange(next.word(), after, Ordering::AcqRel, Ordering::Relaxed);
                if exchanged.is_ok() {
                    atom.store(next.marked().word(), Ordering::Release);
                    return Some(buffer(next));
                }
            } else if last.number() == self.round_before(next) {
                return None;
            }
            // Otherwise the counter has moved on since it was read.
        }
    }

    /// The position and the buffer after `link`'s.
    #[inline(always)]
    fn after(&self, link: Link) -> Link {
        let next = buffer(link) + 1;
        let wraps = next as usize == self.buffers.len();
        Link::new(link.number().wrapping_add(1), if wraps { 0 } else { next })
    }

    /// The position of the same buffer one round earlier.
    #[inline(always)]
    fn round_before(&self, link: Link) -> u64 {
        number_after(link.number(), (self.buffers.len() as u64).wrapping_neg())
    }

    pub(super) fn len_hint(&self) -> u32 {
        let removed = Link::from_word(self.removed.load(Ordering::Acquire));
        let inserted = Link::from_word(self.inserted.load(Ordering::Acquire));
        let count = numbers_between(removed.number(), inserted.number());
        // Insertions may be counted one behind the removals, when the last was removed and not yet counted.
        if count == numbers_between(1, 0) { 0 } else { count.min(self.buffers.len() as u64) as u32 }
    }
}

#[inline(always)]
fn buffer(link: Link) -> u32 {
    link.index().expect("a counter of an ORDERED store always names a buffer")
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_stalled_insertion_holds_up_nobody() {
        for capacity in [1, 2, 3] {
            let store = Ordered::new(capacity);
            for round in 0..10 {
                let (first, second) = (round * 2 % capacity, (round * 2 + 1) % capacity);
                store.fill(first).expect("it is next");
                if capacity == 1 {
                    assert_eq!(store.insert(first), Err(InsertError::AlreadyIn { index: first }));
                    assert_eq!(store.remove(), Some(first));
                }
                store.insert(second).expect("it is next");
                let rest = if capacity == 1 { vec![second] } else { vec![first, second] };
                assert_eq!(std::iter::from_fn(|| store.remove()).collect::<Vec<_>>(), rest);
                assert_eq!(store.len_hint(), 0);
            }
        }
    }

    #[test]
    fn positions_wrap() {
        let store = Ordered::new(3);
        let first = number_after(0, 2_u64.wrapping_neg());
        store.inserted.store(Link::new(first, 0).word(), Ordering::Relaxed);
        store.removed.store(Link::new(first, 0).word(), Ordering::Relaxed);
        for (index, atom) in (0..3).zip(&store.buffers) {
            let before = number_after(first, u64::from(index).wrapping_sub(3));
            atom.store(Link::new(before, index).marked().word(), Ordering::Relaxed);
        }
        for _ in 0..3 {
            (0..3).for_each(|index| store.insert(index).expect("it is next"));
            assert_eq!((store.len_hint(), store.insert(0)), (3, Err(InsertError::AlreadyIn { index: 0 })));
            assert_eq!([(); 4].map(|()| store.remove()), [Some(0), Some(1), Some(2), None]);
        }
    }
}
