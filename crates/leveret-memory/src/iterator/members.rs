//! Which buffers are in a store, so that none is in twice.
//!
//! ```text
//!   enter: out -> in     before the buffer is linked; of two threads one wins
//!   leave: in -> out     after it was taken out, by the one that owns it now
//! ```
//!
//! Whoever entered a buffer has its link and its label alone until it is linked; whoever took it out, until it leaves.

use super::InsertError;
use crate::sync::{AtomicBool, Ordering};

pub(super) struct Members(Box<[AtomicBool]>);

impl Members {
    pub(super) fn new(capacity: u32) -> Self {
        Self((0..capacity).map(|_| AtomicBool::new(false)).collect())
    }

    /// Marks a buffer as in.
    #[inline]
    pub(super) fn enter(&self, index: u32) -> Result<(), InsertError> {
        // Acquire: what the last owner did to the store's words comes before what this one does.
        if self.0[index as usize].swap(true, Ordering::Acquire) {
            return Err(InsertError::AlreadyIn { index });
        }
        Ok(())
    }

    /// Marks a buffer as out.
    #[inline]
    pub(super) fn leave(&self, index: u32) {
        self.0[index as usize].store(false, Ordering::Release);
    }

    /// How many are in.
    pub(super) fn count(&self) -> u32 {
        self.0.iter().filter(|inside| inside.load(Ordering::Relaxed)).count() as u32
    }
}
