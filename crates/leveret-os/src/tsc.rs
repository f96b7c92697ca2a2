//! Cheap time stamps from the processor's time-stamp counter.
//!
//! Read directly only where the kernel itself uses the counter as its clock source: it has then found it to be
//! constant and equal on all cores. The conversion is anchored at a reading of `CLOCK_MONOTONIC`, whose rate the
//! kernel adjusts by some parts per million; a stamp is good to that many nanoseconds per millisecond since
//! the last [`Tsc::anchor`].

use crate::clock;
use leveret_types::Nanos;

/// Where the kernel says which clock source it uses.
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
/// Spun through at calibration: long against the error of a reading (some 50 ns), short for a person.
const CALIBRATION: Nanos = Nanos::from_millis(10);
/// Fraction bits of the nanoseconds per tick.
const SHIFT: u32 = 32;

/// Why the counter is not used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TscError {
    /// Another processor architecture.
    #[error("this processor has no time-stamp counter that Leveret reads; CLOCK_MONOTONIC is used instead")]
    Absent,
    /// The kernel does not trust it.
    #[error(
        "the kernel's clock source is \"{found}\", not \"tsc\"; CLOCK_MONOTONIC is used instead (where the counter is \
         good, boot with `tsc=reliable clocksource=tsc`)"
    )]
    NotTheClockSource {
        /// What the kernel uses; empty when it would not say.
        found: String,
    },
    /// The counter did not advance evenly.
    #[error("the time-stamp counter did not advance during calibration; CLOCK_MONOTONIC is used instead")]
    Stuck,
}

/// The counter. Not ordered against other instructions; costs some 10 ns.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn tsc() -> u64 {
    // SAFETY: every x86-64 processor has the instruction; Linux leaves it enabled for user programs.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// The counter; 0 where there is none.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn tsc() -> u64 {
    0
}

/// Converts readings of [`tsc`] to `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tsc {
    anchor_ticks: u64,
    anchor: Nanos,
    /// Nanoseconds per tick, times 2^32.
    rate: u64,
}

impl Tsc {
    /// Measures the counter's rate against `CLOCK_MONOTONIC`; takes 10 ms.
    ///
    /// # Errors
    ///
    /// [`TscError`].
    pub fn calibrate() -> Result<Self, TscError> {
        if cfg!(not(target_arch = "x86_64")) {
            return Err(TscError::Absent);
        }
        let found = std::fs::read_to_string(CLOCK_SOURCE).unwrap_or_default().trim().to_owned();
        if found != "tsc" {
            return Err(TscError::NotTheClockSource { found });
        }
        let (first_ticks, first) = pair();
        clock::spin_until(first + CALIBRATION);
        let (anchor_ticks, anchor) = pair();
        let ticks =
            anchor_ticks.checked_sub(first_ticks).filter(|ticks| *ticks > 0).ok_or(TscError::Stuck)?;
        let rate = (u128::from((anchor - first).0.cast_unsigned()) << SHIFT) / u128::from(ticks);
        let rate = u64::try_from(rate).ok().filter(|rate| *rate > 0).ok_or(TscError::Stuck)?;
        Ok(Self { anchor_ticks, anchor, rate })
    }

    /// Takes a fresh reading of both clocks as the point from which stamps are counted.
    pub fn anchor(&mut self) {
        (self.anchor_ticks, self.anchor) = pair();
    }

    /// The instant of a reading.
    #[inline]
    pub fn instant(&self, ticks: u64) -> Nanos {
        let since = i128::from(ticks.wrapping_sub(self.anchor_ticks).cast_signed()) * i128::from(self.rate);
        self.anchor + Nanos((since >> SHIFT) as i64)
    }

    /// The present instant.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.instant(tsc())
    }
}

/// The same instant on both clocks: of several tries the one whose readings lie closest together.
fn pair() -> (u64, Nanos) {
    let reading = |_| {
        let before = tsc();
        let now = clock::now();
        (tsc().wrapping_sub(before), before, now)
    };
    // At least one try is made, so the fallback is never taken.
    let (width, before, now) = (0..16).map(reading).min().unwrap_or((0, tsc(), clock::now()));
    (before + width / 2, now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversion_is_exact_and_works_on_both_sides_of_the_anchor() {
        // 2 GHz: half a nanosecond a tick.
        let clock = Tsc { anchor_ticks: 1_000, anchor: Nanos(5_000), rate: 1 << (SHIFT - 1) };
        assert_eq!(clock.instant(1_000), Nanos(5_000));
        assert_eq!(clock.instant(3_000), Nanos(6_000));
        assert_eq!(clock.instant(0), Nanos(4_500));
        assert_eq!(clock.instant(1_000 + (1 << 40)), Nanos(5_000 + (1 << 39)));
    }

    #[test]
    fn stamps_agree_with_the_clock_or_the_reason_is_given() {
        match Tsc::calibrate() {
            Ok(mut clock) => {
                clock.anchor();
                let (before, stamp, after) = (clock::now(), clock.now(), clock::now());
                // The rate is good to 100 parts per million and readings may be reordered by some tens of
                // nanoseconds: a microsecond is far more than either.
                let margin = Nanos(1_000 + (after - before).0 / 1_000);
                assert!(stamp >= before - margin && stamp <= after + margin, "{before} {stamp} {after}");
            }
            Err(reason) => {
                eprintln!("SKIPPED: {reason}");
                assert!(reason.to_string().contains("CLOCK_MONOTONIC is used instead"));
            }
        }
    }
}
