//! LIFO: a stack of links (Treiber 1986).
//!
//! ```text
//!   top: number 7 | 2          insert 4:  next[4] = 2;  top: 7 | 2  ->  8 | 4
//!             |                remove:                  top: 7 | 2  ->  7 | 0     (next[2] is 0)
//!             v
//!   next      [ end | - | 0 | - | - ]
//!     buffer     0    1   2   3   4          -: out, or nobody looks
//! ```
//!
//! Each operation takes effect with its one exchange of `top`. Before it, nobody else sees anything of it; so a thread
//! that stalls holds up nobody. The exchange fails only if another thread's succeeded.
//!
//! A removal that read `top` and `next[2]`, and stalls, must not succeed once 2 was removed and came back upon another
//! buffer. Insertions count the number on, so `top` differs then. Removals need not: without an insertion between, the
//! stack below its top is what it was.

use super::InsertError;
use super::line::Line;
use super::link::Link;
use super::members::Members;
use crate::sync::{AtomicU64, Ordering};

pub(super) struct Lifo {
    top: Line<AtomicU64>,
    members: Members,
    next: Box<[AtomicU64]>,
}

impl Lifo {
    pub(super) fn new(capacity: u32) -> Self {
        let next = (0..capacity).map(|_| AtomicU64::new(Link::END.word())).collect();
        Self { top: Line(AtomicU64::new(Link::END.word())), members: Members::new(capacity), next }
    }

    #[inline]
    pub(super) fn insert(&self, index: u32) -> Result<(), InsertError> {
        self.members.enter(index)?;
        let mut top = self.top.load(Ordering::Relaxed);
        loop {
            // Published by the exchange below; a stalled removal that reads it too early or too late fails.
            self.next[index as usize].store(top, Ordering::Relaxed);
            let above = Link::new(Link::from_word(top).number().wrapping_add(1), index).word();
            match self.top.compare_exchange(top, above, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(other) => top = other,
            }
        }
    }

    #[inline]
    pub(super) fn remove(&self) -> Option<u32> {
        let mut word = self.top.load(Ordering::Acquire);
        loop {
            let top = Link::from_word(word);
            let index = top.index()?;
            let below = Link::from_word(self.next[index as usize].load(Ordering::Relaxed));
            let rest = top.pointing_as(below).word();
            match self.top.compare_exchange(word, rest, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    self.members.leave(index);
                    return Some(index);
                }
                Err(other) => word = other,
            }
        }
    }

    pub(super) fn len_hint(&self) -> u32 {
        self.members.count()
    }
}
