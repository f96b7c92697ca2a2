//! Counting the overruns of `SCHED_DEADLINE` threads.
//!
//! A thread scheduled with `overrun_signal` gets `SIGXCPU` when it has used up its runtime in a period. The
//! handler counts on the thread that it interrupts. The kernel offers the signal to the thread that overran, but
//! addresses it to the process: should another thread be handling a signal at that very instant, it takes this one
//! along. Signals that are pending together are one. So the process's sum is a lower bound, and a thread's own count
//! is right but for that coincidence.

use crate::Failure;
use std::cell::Cell;
use std::sync::OnceLock;

thread_local! {
    // Constant and without destructor: a plain word, safe to touch from a signal handler.
    static OVERRUNS: Cell<u64> = const { Cell::new(0) };
}

/// Why overruns cannot be counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OverrunError {
    /// The handler could not be set.
    #[error("{0}; overruns of SCHED_DEADLINE would end the process")]
    Handler(Failure),
}

extern "C" fn count(_signal: libc::c_int) {
    OVERRUNS.with(|overruns| overruns.set(overruns.get().wrapping_add(1)));
}

/// Sets the process's `SIGXCPU` handler, once, and readies the calling thread's counter. To be called by each
/// thread before it asks for the signal: unhandled, the signal ends the process.
///
/// # Errors
///
/// [`OverrunError::Handler`].
pub fn watch() -> Result<(), OverrunError> {
    static SET: OnceLock<Result<(), Failure>> = OnceLock::new();
    // The first touch may reserve the thread's storage where this code lies in a shared library.
    OVERRUNS.with(|overruns| overruns.set(overruns.get()));
    SET.get_or_init(|| {
        // SAFETY: all-zero is a valid sigaction: default handler, empty mask, no flags.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = count as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        // SAFETY: the action is complete, and its handler only adds to a thread-local word.
        let answer = unsafe { libc::sigaction(libc::SIGXCPU, &action, std::ptr::null_mut()) };
        if answer == 0 { Ok(()) } else { Err(Failure::last("sigaction(SIGXCPU)")) }
    })
    .map_err(OverrunError::Handler)
}

/// Overruns signalled to the calling thread so far.
#[inline]
pub fn of_this_thread() -> u64 {
    OVERRUNS.with(Cell::get)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::{Class, apply};
    use leveret_types::Nanos;

    #[test]
    fn the_handler_counts_on_the_thread_it_interrupts() {
        watch().unwrap();
        std::thread::spawn(|| {
            watch().unwrap();
            assert_eq!(of_this_thread(), 0);
            // SAFETY: raise sends the signal to the calling thread, whose handler is set.
            unsafe { libc::raise(libc::SIGXCPU) };
            // The overrun of another test's thread may be taken along.
            assert!(of_this_thread() >= 1);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_deadline_thread_that_computes_on_is_counted() {
        std::thread::spawn(|| {
            watch().unwrap();
            let class = Class::Deadline {
                runtime: Nanos::from_millis(2),
                deadline: Nanos::from_millis(20),
                period: Nanos::from_millis(20),
                reclaim: false,
                overrun_signal: true,
            };
            if let Err(refusal) = apply(class) {
                eprintln!("SKIPPED: {refusal}");
                return;
            }
            // The kernel throttles and signals a thread that never sleeps: an event that must come, with a
            // watchdog for a kernel that never sends it.
            let watchdog = crate::clock::now() + Nanos::from_secs(20);
            while of_this_thread() == 0 {
                assert!(crate::clock::now() < watchdog, "no overrun was ever signalled");
            }
        })
        .join()
        .unwrap();
    }
}
