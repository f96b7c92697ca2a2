//! Steps of a thread: its operations on atomics. A loop over shared words is as long as they are many.
//!
//! Only in builds with debug assertions, for tests. What happens between two steps can be another thread's doing, so a test
//! may do it there, in the same thread: the schedule is then the test's, and the same in every run.
//!
//! ```text
//!   work:      step      step      step      step       counted: 4
//!   between:        ####      ####      ####            what it does counts for nothing
//! ```

use std::cell::Cell;
use std::ptr::NonNull;

struct Thread {
    taken: Cell<u64>,
    /// Beyond so many the thread panics.
    most: Cell<u64>,
    /// What is done before each step.
    between: Cell<Option<NonNull<dyn FnMut()>>>,
}

thread_local! {
    /// Plain data, so that its first use allocates nothing.
    static THREAD: Thread =
        const { Thread { taken: Cell::new(0), most: Cell::new(u64::MAX), between: Cell::new(None) } };
}

/// Does `work`, and says in how many steps.
///
/// # Panics
/// When it takes more than `most`: a loop without an end ends here.
#[track_caller]
pub fn of<T>(most: u64, work: impl FnOnce() -> T) -> (T, u64) {
    count(most, None, work)
}

/// As [`of`], with something else done before each step.
///
/// # Panics
/// When it takes more than `most`.
#[track_caller]
pub fn beside<T>(most: u64, between: &mut dyn FnMut(), work: impl FnOnce() -> T) -> (T, u64) {
    let between: NonNull<dyn FnMut() + '_> = NonNull::from(between);
    // SAFETY: only the lifetime differs. `count` takes the pointer out of the thread again before it returns, be it by
    // a panic, and `between` is borrowed until then.
    let between: NonNull<dyn FnMut() + 'static> = unsafe { std::mem::transmute(between) };
    count(most, Some(between), work)
}

fn count<T>(most: u64, between: Option<NonNull<dyn FnMut()>>, work: impl FnOnce() -> T) -> (T, u64) {
    /// Puts back what was there, however the work ends.
    struct Back(u64, Option<NonNull<dyn FnMut()>>);
    impl Drop for Back {
        fn drop(&mut self) {
            THREAD.with(|thread| {
                thread.most.set(self.0);
                thread.between.set(self.1);
            });
        }
    }
    let (before, _back) = THREAD.with(|thread| {
        let before = thread.taken.get();
        let most = before.saturating_add(most);
        (before, Back(thread.most.replace(most), thread.between.replace(between)))
    });
    let done = work();
    (done, taken() - before)
}

/// Steps of this thread so far.
pub fn taken() -> u64 {
    THREAD.with(|thread| thread.taken.get())
}

/// The thread takes a step.
#[inline]
pub(super) fn step() {
    THREAD.with(|thread| {
        thread.taken.set(thread.taken.get() + 1);
        if thread.taken.get() > thread.most.get() {
            too_many(thread);
        }
        if let Some(between) = thread.between.take() {
            meet(thread, between);
        }
    });
}

#[cold]
fn too_many(thread: &Thread) {
    // The panic's own steps are not to panic.
    thread.most.set(u64::MAX);
    thread.between.set(None);
    panic!("more steps than the bound says");
}

/// Lets others do something. Their steps are not this thread's, and nothing is done between them.
#[cold]
fn meet(thread: &Thread, mut between: NonNull<dyn FnMut()>) {
    let (taken, most) = (thread.taken.get(), thread.most.replace(u64::MAX));
    // SAFETY: `beside` borrows it while it is in the thread, and it was taken out a moment ago, so it does not run within
    // itself.
    unsafe { between.as_mut()() };
    thread.taken.set(taken);
    thread.most.set(most);
    thread.between.set(Some(between));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{AtomicU64, Ordering};

    #[test]
    fn steps_are_counted_and_those_between_them_are_not() {
        let word = AtomicU64::new(0);
        let add = || word.fetch_add(1, Ordering::Relaxed);
        assert_eq!(of(2, || (add(), add())), ((0, 1), 2));
        let mut met = 0;
        let (seen, steps) = beside(
            2,
            &mut || {
                met += 1;
                add();
                add();
            },
            || (add(), add()),
        );
        assert_eq!((seen, steps, met), ((4, 7), 2, 2), "two of others come before each");
        assert_eq!(of(10, || of(10, add).1 + of(10, add).1), (2, 2));
    }

    #[test]
    fn a_loop_without_an_end_is_found() {
        let word = AtomicU64::new(0);
        let ended = std::panic::catch_unwind(|| of(1000, || while word.load(Ordering::Relaxed) == 0 {}));
        assert!(ended.is_err());
        assert_eq!(of(1, || word.load(Ordering::Relaxed)).1, 1, "and the bound is gone with it");
        let mut others = || {
            word.fetch_add(1, Ordering::Relaxed);
        };
        let chases = || {
            let found = word.load(Ordering::Relaxed);
            word.compare_exchange(found, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        };
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            beside(1000, &mut others, || while !chases() {})
        }));
        assert!(ended.is_err());
        assert!(chases(), "nobody is between any more");
    }
}
