//! The clock interface (design section 6). Pure crates receive time; only an implementation reads it.

use crate::Nanos;

/// How far a clock can be trusted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClockState {
    /// Runs by itself; on one host this is exact.
    Free,
    /// Follows a reference within its stated error.
    Locked,
    /// Lost its reference and drifts.
    Holdover,
}

/// The true time lies in `[earliest, latest]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeInterval {
    /// Not before this.
    pub earliest: Nanos,
    /// Not after this.
    pub latest: Nanos,
    /// The clock's state at the reading.
    pub state: ClockState,
}

impl TimeInterval {
    /// An exact reading of a free-running clock (one host, `CLOCK_MONOTONIC`).
    pub const fn exact(now: Nanos) -> Self {
        Self { earliest: now, latest: now, state: ClockState::Free }
    }

    /// Half the width, rounded up: the clock's error.
    pub fn error(&self) -> Nanos {
        Nanos((self.latest.saturating_sub(self.earliest).0 + 1) / 2)
    }
}

/// A source of the job's time. Two implementations exist: the host's monotonic clock and the seeded world's
/// virtual clock.
pub trait Clock: Send + Sync {
    /// The present time.
    fn now(&self) -> TimeInterval;

    /// Blocks until `instant` or a little later; returns at once if it has passed. This is the one planned
    /// system call of a real-time thread.
    fn sleep_until(&self, instant: Nanos);

    /// As [`Clock::sleep_until`], for a sleeper that may be woken because the run is over: `is_over` is asked when a
    /// signal interrupts the sleep, and ends it.
    fn sleep_until_or(&self, instant: Nanos, is_over: &dyn Fn() -> bool) {
        let _ = is_over;
        self.sleep_until(instant);
    }

    /// Time by a raw counter that nobody can set, from an arbitrary origin; `None` where there is none. A clock
    /// that moves against it was stepped.
    fn ticks(&self) -> Option<Nanos> {
        None
    }
}
