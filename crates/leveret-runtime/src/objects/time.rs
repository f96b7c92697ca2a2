//! The job's clock, for a member with its objects.

use super::error::Code;
use super::library::Library;
use leveret_os::clock::{self, MonotonicClock};
use leveret_types::{Clock, Nanos, TimeInterval};

/// A sleep looks for the end of the job this often.
const LOOK_AGAIN: Nanos = Nanos::from_millis(10);

impl Library {
    /// The time on the job's clock.
    pub fn now(&self) -> Nanos {
        clock::now()
    }

    /// The resolution of the job's clock.
    pub fn clock_resolution(&self) -> Nanos {
        clock::resolution()
    }

    /// What the clock says: between which instants it is now, and whether it follows another.
    pub fn clock(&self) -> TimeInterval {
        MonotonicClock.now()
    }

    /// Sleeps until an instant of the job's clock. Nothing can be committed or uncommitted meanwhile, since this borrows the library.
    ///
    /// # Errors
    /// [`Code::TimePast`] when the instant has passed; [`Code::Uncommitted`] when the commit comes to its horizon or the job stops, and
    /// [`Code::Agent`] when nothing is committed and the job is over.
    pub fn sleep_until(&self, instant: Nanos) -> Result<(), Code> {
        if instant < clock::now() {
            return Err(Code::TimePast);
        }
        loop {
            let now = clock::now();
            if now >= instant {
                return Ok(());
            }
            if self.is_over() {
                return Err(if self.committed().is_some() { Code::Uncommitted } else { Code::Agent });
            }
            clock::sleep_until((now + LOOK_AGAIN).min(instant));
        }
    }
}
