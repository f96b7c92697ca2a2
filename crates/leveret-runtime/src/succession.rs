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

/// What goes on in another mode with what was left to it.
pub(crate) trait Heir: Sized {
    /// Its place in line, if others may go on with it.
    fn line(&self) -> Option<&Line<Self>>;

    /// As [`Heir::line`].
    fn line_mut(&mut self) -> &mut Option<Line<Self>>;

    /// What was left begins to be of the mode for which `fresh` was made.
    fn begin_as(&mut self, fresh: &mut Self);

    /// It goes on with what another has left, if the line says so, and leaves itself to the next.
    fn in_line(&mut self, line: Line<Self>) {
        *self.line_mut() = Some(line);
    }

    /// Whether it goes on with what another leaves.
    fn succeeds(&self) -> bool {
        self.line().is_some_and(Line::succeeds)
    }

    /// Whether the other has left it.
    fn may_begin(&self) -> bool {
        self.line().is_none_or(Line::may_begin)
    }

    /// Becomes what the other has left, from the first instance of this mode on; gives what it was itself.
    fn succeed(&mut self) -> Option<Self> {
        let left = self.line()?.take()?;
        let mut fresh = std::mem::replace(self, left);
        *self.line_mut() = fresh.line_mut().take();
        self.begin_as(&mut fresh);
        Some(fresh)
    }

    /// Leaves it to whoever goes on with it, or gives it back where nobody may.
    fn leave(mut self) -> Option<Self> {
        let Some(line) = self.line_mut().take() else { return Some(self) };
        line.leave(self);
        None
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
