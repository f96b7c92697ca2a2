//! Sleeping on a word of shared memory until somebody wakes it.
//!
//! The words lie in memory that several processes map, so the operations are the shared ones. Waiting works on
//! a read-only mapping; waking needs only the address.

use crate::{Failure, clock};
use leveret_memory::sync::{AtomicBool, AtomicU32, Ordering};
use leveret_types::Nanos;
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

/// Most words that [`wait_any`] waits on at once.
pub const WORDS_MAX: usize = 128;
/// Where the kernel cannot wait on several words (before Linux 5.16), or they are too many, the words are looked at this often.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// The number of the system call, on every architecture.
const SYS_FUTEX_WAITV: libc::c_long = 449;
/// A word of 32 bits, shared between processes.
const FUTEX2_SIZE_U32: u32 = 2;
/// Whether the kernel has refused `futex_waitv`.
static WITHOUT_WAITV: AtomicBool = AtomicBool::new(false);

/// One of several words to wait on, as `futex_waitv(2)` has it.
///
/// ```text
///  0          8         16      20         24
/// | expected | address | flags | reserved |
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Awaited {
    expected: u64,
    address: u64,
    flags: u32,
    reserved: u32,
}
const _: () = assert!(size_of::<Awaited>() == 24);

impl Awaited {
    /// Waits while the word at this address holds `expected`.
    pub fn new(word: NonNull<u32>, expected: u32) -> Self {
        let address = word.as_ptr().expose_provenance() as u64;
        Self { expected: u64::from(expected), address, flags: FUTEX2_SIZE_U32, reserved: 0 }
    }

    /// Waits for nothing: to fill an array with.
    pub const NONE: Self = Self { expected: 0, address: 0, flags: FUTEX2_SIZE_U32, reserved: 0 };

    fn wait_alone(&self, timeout: Option<Duration>) -> Result<Waited, FutexError> {
        let address = std::ptr::with_exposed_provenance_mut(self.address as usize);
        match NonNull::new(address) {
            Some(word) => wait_at(word, self.expected as u32, timeout),
            None => Err(FutexError::Refused(Failure::new("futex(FUTEX_WAIT)", Errno::FAULT))),
        }
    }
}

/// Sleeps while every word holds what is expected, at most until the instant `until`. One system call, whatever their number up to
/// [`WORDS_MAX`]; on a kernel without it, and for more, it wakes every millisecond, which is told as an interruption.
///
/// # Errors
///
/// [`FutexError::Refused`].
pub fn wait_any(words: &[Awaited], until: Nanos) -> Result<Waited, FutexError> {
    let left = || Duration::from_nanos((until - clock::now()).0.max(0).unsigned_abs());
    let timeout = (until != Nanos::MAX).then(left);
    if timeout == Some(Duration::ZERO) {
        return Ok(Waited::TimedOut);
    }
    let Some(first) = words.first() else {
        clock::sleep_until(until);
        return Ok(Waited::TimedOut);
    };
    if words.len() == 1 {
        return first.wait_alone(timeout);
    }
    if words.len() > WORDS_MAX || WITHOUT_WAITV.load(Ordering::Relaxed) {
        return look_again(first, timeout);
    }
    let limit = libc::timespec { tv_sec: until.0 / 1_000_000_000, tv_nsec: until.0 % 1_000_000_000 };
    let limit = if until == Nanos::MAX { std::ptr::null() } else { std::ptr::from_ref(&limit) };
    let count = words.len() as u32;
    // SAFETY: the kernel reads `count` entries of the layout above and the time, which all live until the call returns, and checks the
    // addresses in them itself.
    let answer =
        unsafe { libc::syscall(SYS_FUTEX_WAITV, words.as_ptr(), count, 0_u32, limit, libc::CLOCK_MONOTONIC) };
    if answer >= 0 {
        return Ok(Waited::Woken);
    }
    let failure = Failure::last("futex_waitv");
    match failure.errno {
        Errno::AGAIN => Ok(Waited::Changed),
        Errno::TIMEDOUT => Ok(Waited::TimedOut),
        Errno::INTR => Ok(Waited::Interrupted),
        Errno::NOSYS | Errno::PERM => {
            WITHOUT_WAITV.store(true, Ordering::Relaxed);
            look_again(first, timeout)
        }
        _ => Err(FutexError::Refused(failure)),
    }
}

/// A short sleep on one of several words.
fn look_again(first: &Awaited, timeout: Option<Duration>) -> Result<Waited, FutexError> {
    let short = timeout.map_or(LOOK_AGAIN, |timeout| timeout.min(LOOK_AGAIN));
    match first.wait_alone(Some(short))? {
        Waited::TimedOut if timeout.is_none_or(|timeout| timeout > short) => Ok(Waited::Interrupted),
        waited => Ok(waited),
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
    fn any_of_several_words_ends_a_wait() {
        let words = [const { AtomicU32::new(7) }; 3];
        let awaited = |expected: [u32; 3]| {
            let address = |place: usize| NonNull::from(&words[place]).cast();
            [0, 1, 2].map(|place| Awaited::new(address(place), expected[place]))
        };
        let soon = || clock::now() + Nanos(1000);
        let far = || clock::now() + Nanos::from_secs(20);
        assert_eq!(wait_any(&awaited([7, 7, 6]), far()), Ok(Waited::Changed));
        assert_eq!(wait_any(&awaited([7, 7, 7])[..1], soon()), Ok(Waited::TimedOut));
        while wait_any(&awaited([7, 7, 7]), soon()) != Ok(Waited::TimedOut) {}
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while words[2].load(Ordering::Acquire) == 7 {
                    assert_ne!(wait_any(&awaited([7, 7, 7]), far()), Ok(Waited::TimedOut));
                }
            });
            words[2].store(8, Ordering::Release);
            wake(&words[2], u32::MAX).unwrap();
        });
    }

    #[test]
    fn words_beyond_the_limit_are_looked_at_again_and_again() {
        let word = AtomicU32::new(1);
        let many = [Awaited::new(NonNull::from(&word).cast(), 1); WORDS_MAX + 1];
        assert_eq!(wait_any(&many, clock::now() + Nanos::from_secs(20)), Ok(Waited::Interrupted));
        assert_eq!(wait_any(&[], clock::now()), Ok(Waited::TimedOut));
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
