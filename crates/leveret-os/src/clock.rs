//! The host's monotonic clock: reading, sleeping and spinning to an instant (design section 6).

use crate::Failure;
use leveret_types::{Clock, Nanos, TimeInterval};
use rustix::time::{ClockId, Timespec};

/// Nanoseconds of `CLOCK_MONOTONIC`. Read through the vDSO: no system call where the clock source allows it.
#[inline]
pub fn now() -> Nanos {
    nanos_of(rustix::time::clock_gettime(ClockId::Monotonic))
}

/// The smallest step between two readings that differ, as the kernel states it; at least 1 ns.
pub fn resolution() -> Nanos {
    nanos_of(rustix::time::clock_getres(ClockId::Monotonic)).max(Nanos(1))
}

/// Processor time of the calling thread. This is a system call; not for the data path.
pub fn thread_cpu_time() -> Nanos {
    nanos_of(rustix::time::clock_gettime(ClockId::ThreadCPUTime))
}

/// Nanoseconds since 1970 of the wall clock, and `CLOCK_MONOTONIC` at the same instant as nearly as two readings
/// allow. A change of their difference is a step of the wall clock.
pub fn wall_clock() -> (Nanos, Nanos) {
    let before = now();
    let wall = nanos_of(rustix::time::clock_gettime(ClockId::Realtime));
    (wall, Nanos(before.0 + (now() - before).0 / 2))
}

#[inline]
fn nanos_of(time: Timespec) -> Nanos {
    Nanos(time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec))
}

fn timespec_of(instant: Nanos) -> Timespec {
    Timespec { tv_sec: instant.0.div_euclid(1_000_000_000), tv_nsec: instant.0.rem_euclid(1_000_000_000) }
}

/// `CLOCK_MONOTONIC` as the job's clock on one host: free-running, its error 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MonotonicClock;

impl Clock for MonotonicClock {
    #[inline]
    fn now(&self) -> TimeInterval {
        TimeInterval::exact(now())
    }

    fn sleep_until(&self, instant: Nanos) {
        sleep_until(instant);
    }

    fn sleep_until_or(&self, instant: Nanos, is_over: &dyn Fn() -> bool) {
        sleep_until_or(instant, is_over);
    }
}

/// Sleeps until `instant` of `CLOCK_MONOTONIC` or a little later: the one planned system call of a real-time
/// thread. A signal does not end it; an instant in the past returns at once.
pub fn sleep_until(instant: Nanos) {
    sleep_until_or(instant, &|| false);
}

/// As [`sleep_until`], but a signal ends it once `is_over` says so.
pub fn sleep_until_or(instant: Nanos, is_over: &dyn Fn() -> bool) {
    if instant.0 < 0 {
        return;
    }
    let request = timespec_of(instant);
    loop {
        match rustix::thread::clock_nanosleep_absolute(ClockId::Monotonic, &request) {
            // The time is absolute, so sleeping again after a signal cannot drift.
            Err(rustix::io::Errno::INTR) if !is_over() => {}
            // The clock exists and the time is well formed: nothing else can come back.
            Ok(()) | Err(_) => return,
        }
    }
}

/// What a spin saw.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spin {
    /// The first reading at or after the target.
    pub reached: Nanos,
    /// Longest stretch between two consecutive readings: for so long the core did not run us.
    pub gap: Nanos,
    /// When that stretch began.
    pub gap_at: Nanos,
    /// Readings taken.
    pub readings: u64,
}

/// Reads the clock until it shows `target`, and keeps the longest stretch between two readings as a witness:
/// a thread that spins alone on its core sees a gap only where the core was taken from it.
///
/// There is no pause instruction in the loop: on a virtual machine the hypervisor may take it as a reason to run
/// somebody else.
#[inline]
pub fn spin_until(target: Nanos) -> Spin {
    spin_until_by(target, now)
}

#[inline]
fn spin_until_by(target: Nanos, mut now: impl FnMut() -> Nanos) -> Spin {
    let mut last = now();
    let mut spin = Spin { reached: last, gap: Nanos::ZERO, gap_at: last, readings: 1 };
    while last < target {
        let present = now();
        let stretch = present - last;
        if stretch > spin.gap {
            spin.gap = stretch;
            spin.gap_at = last;
        }
        spin.readings += 1;
        last = present;
    }
    spin.reached = last;
    spin
}

/// Why the timer slack could not be set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TimerSlackError {
    /// The kernel refused.
    #[error("{0}; sleeps may end up to 50us late under SCHED_OTHER")]
    Refused(Failure),
}

/// Lets the kernel end this thread's sleeps at most `slack` late; 1 ns is the least it takes. The usual slack is
/// 50 us under ordinary scheduling; real-time classes have none.
///
/// # Errors
///
/// [`TimerSlackError::Refused`].
pub fn set_timer_slack(slack: Nanos) -> Result<(), TimerSlackError> {
    // Zero would mean "back to the default".
    let slack = u64::try_from(slack.0.max(1)).unwrap_or(1);
    // SAFETY: PR_SET_TIMERSLACK takes an integer and touches no memory.
    let answer = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, slack) };
    if answer == 0 {
        Ok(())
    } else {
        Err(TimerSlackError::Refused(Failure::last("prctl(PR_SET_TIMERSLACK)")))
    }
}

/// This thread's timer slack; real-time classes ignore it.
pub fn timer_slack() -> Nanos {
    rustix::thread::current_timer_slack().map_or(Nanos::ZERO, |slack| Nanos(slack.cast_signed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_runs_backwards() {
        let mut last = now();
        for _ in 0..10_000 {
            let present = now();
            assert!(present >= last);
            last = present;
        }
    }

    #[test]
    fn a_sleep_never_ends_early() {
        for ahead in [0, 1, 1_000, 200_000] {
            let target = now() + Nanos(ahead);
            MonotonicClock.sleep_until(target);
            assert!(MonotonicClock.now().earliest >= target);
        }
    }

    #[test]
    fn an_instant_in_the_past_returns_at_once() {
        sleep_until(Nanos(i64::MIN));
        sleep_until(Nanos(-1));
        sleep_until(Nanos::ZERO);
    }

    #[test]
    fn a_spin_reaches_its_target_and_keeps_the_longest_gap() {
        let readings = [100, 101, 103, 140, 141, 150, 152];
        let mut next = readings.into_iter().map(Nanos);
        let spin = spin_until_by(Nanos(150), || next.next().unwrap());
        assert_eq!(spin, Spin { reached: Nanos(150), gap: Nanos(37), gap_at: Nanos(103), readings: 6 });
        let spin = spin_until_by(Nanos(5), || Nanos(9));
        assert_eq!(spin, Spin { reached: Nanos(9), gap: Nanos(0), gap_at: Nanos(9), readings: 1 });
        let target = now() + Nanos::from_micros(50);
        let spin = spin_until(target);
        assert!(spin.reached >= target && spin.gap > Nanos::ZERO && spin.readings > 1);
    }

    #[test]
    fn a_signal_does_not_end_a_sleep() {
        // The watcher interrupts the sleeper until it says that it has woken.
        extern "C" fn nothing(_signal: libc::c_int) {}
        let mut action: libc::sigaction = unsafe_zeroed_action();
        action.sa_sigaction = nothing as *const () as libc::sighandler_t;
        // SAFETY: the action is complete, and the handler does nothing.
        assert_eq!(unsafe { libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut()) }, 0);
        let woken = leveret_memory::sync::AtomicBool::new(false);
        let sleeper = crate::scheduling::thread_id();
        let target = now() + Nanos::from_millis(5);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !woken.load(leveret_memory::sync::Ordering::Acquire) {
                    // SAFETY: the thread id belongs to this process for as long as the scope lasts.
                    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), sleeper, libc::SIGUSR1) };
                }
            });
            sleep_until(target);
            assert!(now() >= target);
            woken.store(true, leveret_memory::sync::Ordering::Release);
        });
    }

    fn unsafe_zeroed_action() -> libc::sigaction {
        // SAFETY: all-zero is a valid sigaction: default handler, empty mask, no flags.
        unsafe { std::mem::zeroed() }
    }

    #[test]
    fn timer_slack_is_what_was_set() {
        std::thread::spawn(|| {
            set_timer_slack(Nanos(1)).unwrap();
            assert_eq!(timer_slack(), Nanos(1));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn instants_convert_both_ways() {
        for value in [0, 1, 999_999_999, 1_000_000_000, 1_500_000_001] {
            assert_eq!(nanos_of(timespec_of(Nanos(value))), Nanos(value));
        }
    }
}
