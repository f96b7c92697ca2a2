//! What a thread leaves to the one that goes on with its work in another mode: a port with all that is under way in it, or what was
//! counted of a task.
//!
//! ```text
//!  old thread   ==last instance==| leaves
//!                                      \-----> [ Estate ] -----\
//!  new thread   ~~~~~~~~~ asleep ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ takes |==first instance==
//! ```
//! Neither waits for the other's lock: it is tried only, and by one thread at a time.

use leveret_memory::sync::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Where something is left, and taken.
pub(crate) struct Estate<T> {
    is_left: AtomicBool,
    left: Mutex<Option<T>>,
}

impl<T> Default for Estate<T> {
    fn default() -> Self {
        Self { is_left: AtomicBool::new(false), left: Mutex::new(None) }
    }
}

impl<T> Estate<T> {
    /// By the thread that ends.
    pub(crate) fn leave(&self, thing: T) {
        if let Ok(mut left) = self.left.try_lock() {
            *left = Some(thing);
            self.is_left.store(true, Ordering::Release);
        }
    }

    /// Whether something can be taken.
    pub(crate) fn is_left(&self) -> bool {
        self.is_left.load(Ordering::Acquire)
    }

    /// By the thread that goes on.
    pub(crate) fn take(&self) -> Option<T> {
        if !self.is_left() {
            return None;
        }
        let taken = self.left.try_lock().ok()?.take();
        self.is_left.store(false, Ordering::Release);
        taken
    }
}

/// A place in the line of those who do one work, mode after mode.
pub(crate) struct Line<T> {
    estate: Arc<Estate<T>>,
    /// Whether somebody does it before.
    succeeds: bool,
}

impl<T> Clone for Line<T> {
    fn clone(&self) -> Self {
        Self { estate: self.estate.clone(), succeeds: self.succeeds }
    }
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self { estate: Arc::default(), succeeds: false }
    }
}

impl<T> Line<T> {
    /// The place after this one.
    pub(crate) fn next(&self) -> Self {
        Self { estate: self.estate.clone(), succeeds: true }
    }

    /// Whether this one goes on with what somebody leaves.
    pub(crate) fn succeeds(&self) -> bool {
        self.succeeds
    }

    /// Whether all is there that this one goes on with.
    pub(crate) fn may_begin(&self) -> bool {
        !self.succeeds || self.estate.is_left()
    }

    pub(crate) fn take(&self) -> Option<T> {
        if self.succeeds { self.estate.take() } else { None }
    }

    pub(crate) fn leave(&self, thing: T) {
        self.estate.leave(thing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_taken_once_and_down_the_line() {
        let first = Line::default();
        let (second, third) = (first.next(), first.next().next());
        assert!(first.may_begin() && !second.may_begin());
        assert_eq!(second.take(), None);
        first.leave(7);
        assert_eq!(first.take(), None, "the first goes on with nothing");
        assert!(second.may_begin());
        assert_eq!((second.take(), second.take()), (Some(7), None));
        assert!(!third.may_begin());
        second.leave(8);
        assert_eq!(third.take(), Some(8));
    }
}
