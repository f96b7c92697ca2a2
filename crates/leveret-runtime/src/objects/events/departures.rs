//! Which of a commit's serving threads have ended: what a mode keeps is another thread's from then on.
//!
//! ```text
//!  old thread   ==last run==| leaves
//!                           v
//!  new thread   ~~ asleep ~~|==first run==     at the switch, or when the last run that it came upon has ended
//! ```

use leveret_memory::sync::{AtomicBool, AtomicU32, Ordering};
use leveret_os::futex::{self, Awaited};
use std::ptr::NonNull;
use std::sync::Arc;

/// Of one commit, by the threads' places; its timer is the last.
pub(super) struct Departures {
    left: Box<[AtomicBool]>,
    /// Counts them.
    word: AtomicU32,
}

impl Departures {
    pub(super) fn new(threads: usize) -> Self {
        Self { left: (0..threads).map(|_| AtomicBool::new(false)).collect(), word: AtomicU32::new(0) }
    }

    /// By the thread itself, at its end.
    pub(super) fn leave(&self, thread: usize) {
        if let Some(left) = self.left.get(thread) {
            left.store(true, Ordering::SeqCst);
        }
        self.word.fetch_add(1, Ordering::SeqCst);
        // It can fail only for an address that is not mapped, and this one is.
        let _ = futex::wake(&self.word, u32::MAX);
    }

    /// To wait until another has left; to be made before looking whether one has.
    fn awaited(&self) -> Awaited {
        Awaited::new(NonNull::from(&self.word).cast(), self.word.load(Ordering::SeqCst))
    }
}

/// What goes on with work of the threads of the commit before.
#[derive(Clone)]
pub(super) struct Succession {
    before: Arc<Departures>,
    threads: Box<[usize]>,
}

impl Succession {
    /// Of the work that these threads did.
    pub(super) fn new(before: &Arc<Departures>, threads: impl IntoIterator<Item = usize>) -> Self {
        Self { before: before.clone(), threads: threads.into_iter().collect() }
    }

    /// Whether all of them have left it.
    pub(super) fn may_begin(&self) -> bool {
        let has_left =
            |thread: &usize| self.before.left.get(*thread).is_none_or(|left| left.load(Ordering::SeqCst));
        self.threads.iter().all(has_left)
    }

    /// As [`Departures::awaited`].
    pub(super) fn awaited(&self) -> Awaited {
        self.before.awaited()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: MODE-KEEP-02
    #[test]
    fn work_is_its_successor_s_when_all_that_did_it_have_left() {
        let before = Arc::new(Departures::new(3));
        let successions = [vec![], vec![1], vec![0, 2]].map(|threads| Succession::new(&before, threads));
        let may_begin = || successions.each_ref().map(Succession::may_begin);
        assert_eq!(may_begin(), [true, false, false]);
        before.leave(2);
        assert_eq!(may_begin(), [true, false, false]);
        before.leave(1);
        assert_eq!(may_begin(), [true, true, false]);
        before.leave(0);
        assert_eq!(may_begin(), [true; 3]);
    }
}
