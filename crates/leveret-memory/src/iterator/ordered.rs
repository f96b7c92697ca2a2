//! ORDERED: the program inserts in the order of the allowed set, so two counters say all.
//!
//! ```text
//!   inserted: number 9 | next 1         allowed set of 4: 0 1 2 3 0 1 2 3 0 1 2 3
//!   removed:  number 6 | next 2                                       ^     ^
//!                                                               removed 6   inserted 9     in: 2, 3, 0
//! ```
//!
//! Each operation takes effect with its one exchange, which fails only if another thread's succeeded; nothing is ever
//! half done. Both words count on, so a late exchange fails. A word carries the buffer beside the number, which spares
//! a division by the capacity.

use super::InsertError;
use super::line::Line;
use super::link::{Link, numbers_between};
use crate::sync::{AtomicU64, Ordering};

pub(super) struct Ordered {
    capacity: u32,
    inserted: Line<AtomicU64>,
    removed: Line<AtomicU64>,
}

impl Ordered {
    pub(super) fn new(capacity: u32) -> Self {
        let start = || Line(AtomicU64::new(Link::new(0, 0).word()));
        Self { capacity, inserted: start(), removed: start() }
    }

    #[inline]
    pub(super) fn insert(&self, index: u32) -> Result<(), InsertError> {
        let mut word = self.inserted.load(Ordering::Acquire);
        loop {
            let inserted = Link::from_word(word);
            // Acquire: the buffer's last owner was done with it before this one writes to the store.
            let removed = Link::from_word(self.removed.load(Ordering::Acquire));
            let inside = numbers_between(removed.number(), inserted.number());
            if inside > u64::from(self.capacity) {
                // Others have inserted and removed since; so what was read first is out of date.
                word = self.inserted.load(Ordering::Acquire);
                continue;
            }
            if index != buffer(inserted) || inside == u64::from(self.capacity) {
                return Err(self.refusal(index, removed, inside, buffer(inserted)));
            }
            let next = self.after(inserted).word();
            match self.inserted.compare_exchange(word, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Ok(()),
                Err(other) => word = other,
            }
        }
    }

    /// Why `index` cannot come in when `inside` buffers are in, of which `removed` is the first.
    #[cold]
    fn refusal(&self, index: u32, removed: Link, inside: u64, expected: u32) -> InsertError {
        if self.steps(buffer(removed), index) < inside {
            InsertError::AlreadyIn { index }
        } else {
            InsertError::OutOfOrder { index, expected }
        }
    }

    #[inline]
    pub(super) fn remove(&self) -> Option<u32> {
        let mut word = self.removed.load(Ordering::Acquire);
        loop {
            // Never behind `removed`, which was read first.
            if word == self.inserted.load(Ordering::Acquire) {
                return None;
            }
            let removed = Link::from_word(word);
            let next = self.after(removed).word();
            match self.removed.compare_exchange(word, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(buffer(removed)),
                Err(other) => word = other,
            }
        }
    }

    /// The buffer and the number after `link`'s.
    #[inline(always)]
    fn after(&self, link: Link) -> Link {
        let next = buffer(link) + 1;
        Link::new(link.number().wrapping_add(1), if next == self.capacity { 0 } else { next })
    }

    /// How many buffers on from `from` lies `to`.
    #[inline(always)]
    fn steps(&self, from: u32, to: u32) -> u64 {
        u64::from(if to >= from { to - from } else { to + self.capacity - from })
    }

    pub(super) fn len_hint(&self) -> u32 {
        let removed = Link::from_word(self.removed.load(Ordering::Acquire));
        let inserted = Link::from_word(self.inserted.load(Ordering::Acquire));
        numbers_between(removed.number(), inserted.number()).min(u64::from(self.capacity)) as u32
    }
}

#[inline(always)]
fn buffer(link: Link) -> u32 {
    link.index().expect("a counter of an ORDERED store always names a buffer")
}
