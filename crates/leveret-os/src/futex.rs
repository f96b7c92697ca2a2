//! Sleeping on a word of shared memory until somebody wakes it.
//!
//! The words lie in memory that several processes map, so the operations are the shared ones. Waiting works on
//! a read-only mapping; waking needs only the address.

use crate::Failure;
use leveret_memory::sync::AtomicU32;
use rustix::io::Errno;
use std::ptr::NonNull;
use std::time::Duration;

/// Why a wait ended. The caller looks at the word again in every case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waited {
    /// Somebody woke us, or the kernel did for reasons of its own.
    Woken,
    /// The word did not hold the expected value, so there was nothing to wait for.
    Changed,
    /// The time ran out.
    TimedOut,
    /// A signal came.
    Interrupted,
}

/// Why a futex operation failed; none of these happens with a word in a mapping.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FutexError {
    /// The kernel refused.
    #[error("{0}; the word must lie in a live mapping of a memory file")]
    Refused(Failure),
}

/// Sleeps while `word` holds `expected`, at most for `timeout`.
///
/// # Errors
///
/// [`FutexError::Refused`].
pub fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) -> Result<Waited, FutexError> {
    wait_at(NonNull::from(word).cast(), expected, timeout)
}

/// As [`wait`], for a word that is known by its address alone, such as one in a peer's read-only segment.
///
/// Safe for any address: only the kernel looks at it, and refuses what is not mapped.
///
/// # Errors
///
/// [`FutexError::Refused`].
pub fn wait_at(word: NonNull<u32>, expected: u32, timeout: Option<Duration>) -> Result<Waited, FutexError> {
    let timeout = timeout.map(|duration| libc::timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the kernel checks the address itself; the time, if any, lives until the call returns.
    let answer =
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, expected, timeout) };
    if answer == 0 {
        return Ok(Waited::Woken);
    }
    let failure = Failure::last("futex(FUTEX_WAIT)");
    match failure.errno {
        Errno::AGAIN => Ok(Waited::Changed),
        Errno::TIMEDOUT => Ok(Waited::TimedOut),
        Errno::INTR => Ok(Waited::Interrupted),
        _ => Err(FutexError::Refused(failure)),
    }
}

/// As [`wake`], for a word that is known by its address alone.
///
/// # Errors
///
/// [`FutexError::Refused`].
pub fn wake_at(word: NonNull<u32>, count: u32) -> Result<usize, FutexError> {
    // The kernel takes a signed count.
    let count = count.min(i32::MAX as u32);
    // SAFETY: the kernel uses the address as a key and checks that it is mapped; it reads and writes nothing there.
    let woken = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, count) };
    usize::try_from(woken).map_err(|_| FutexError::Refused(Failure::last("futex(FUTEX_WAKE)")))
}

/// Wakes at most `count` sleepers on `word`; says how many there were.
///
/// # Errors
///
/// [`FutexError::Refused`].
pub fn wake(word: &AtomicU32, count: u32) -> Result<usize, FutexError> {
    wake_at(NonNull::from(word).cast(), count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_memory::sync::Ordering;

    #[test]
    fn a_changed_word_is_not_waited_for() {
        let word = AtomicU32::new(1);
        assert_eq!(wait(&word, 0, None), Ok(Waited::Changed));
    }

    #[test]
    fn a_wait_ends_when_its_time_is_up() {
        let word = AtomicU32::new(0);
        assert_eq!(wait(&word, 0, Some(Duration::from_nanos(1))), Ok(Waited::TimedOut));
    }

    #[test]
    fn a_sleeper_is_woken() {
        let word = AtomicU32::new(0);
        assert_eq!(wake(&word, u32::MAX), Ok(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while word.load(Ordering::Acquire) == 0 {
                    assert_ne!(wait(&word, 0, Some(Duration::from_secs(20))), Ok(Waited::TimedOut));
                }
            });
            word.store(1, Ordering::Release);
            wake(&word, 1).unwrap();
        });
    }

    #[test]
    fn an_address_that_is_not_mapped_is_refused() {
        let nowhere = NonNull::<u32>::without_provenance(std::num::NonZeroUsize::new(8).unwrap());
        let refusal = wait_at(nowhere, 0, Some(Duration::from_nanos(1))).unwrap_err();
        assert_eq!(refusal, FutexError::Refused(Failure::new("futex(FUTEX_WAIT)", Errno::FAULT)));
        assert!(wake_at(nowhere, 1).is_err());
        let odd = NonNull::<u32>::without_provenance(std::num::NonZeroUsize::new(4097).unwrap());
        assert!(wait_at(odd, 0, None).is_err());
    }
}
