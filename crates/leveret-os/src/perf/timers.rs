//! The log of a core's timer interrupts: a core on which they come is not standing still.

use super::event::{
    Attributes, Event, PerfError, SAMPLE_CPU, SAMPLE_TIME, TYPE_TRACEPOINT, Target, USE_CLOCK_ID,
    tracepoint_id,
};
use super::ring::{Record, Ring};
use leveret_types::Nanos;

const TRACEPOINT: &str = "timer:hrtimer_expire_entry";
const ID_PATH: &str = "events/timer/hrtimer_expire_entry/id";
pub(super) const RECORD_SAMPLE: u32 = 9;
/// 128 KiB: some 5,000 interrupts between two drains.
const DATA_PAGES: usize = 32;

/// The instants at which a timer expired on a core: the kernel's tick while anybody computes there, and the end of
/// each sleep. The kernel writes it within interrupts that come anyway.
#[derive(Debug)]
pub struct TimerLog {
    core: u32,
    ring: Ring,
    // Keeps the event running.
    _event: Event,
}

impl TimerLog {
    /// Opens the log of a core.
    ///
    /// # Errors
    ///
    /// [`PerfError`].
    pub fn open_core(core: u32) -> Result<Self, PerfError> {
        // The tracepoint fires in the kernel: excluding the kernel would leave nothing to log.
        let mut attributes =
            Attributes::new(TYPE_TRACEPOINT, tracepoint_id(TRACEPOINT, ID_PATH)?, USE_CLOCK_ID);
        attributes.sample_period = 1;
        attributes.sample_type = SAMPLE_TIME | SAMPLE_CPU;
        let event = Event::open("the log of timer interrupts", &attributes, Target::Core(core))?;
        Ok(Self { core, ring: Ring::map(&event, DATA_PAGES)?, _event: event })
    }

    /// Which core.
    pub fn core(&self) -> u32 {
        self.core
    }

    /// Hands over the instants since the last call, in order.
    pub fn drain(&mut self, mut take: impl FnMut(Nanos)) {
        self.ring.drain(|record| take_time(record, &mut take));
    }

    /// Records that were lost because nobody drained in time, since the log was opened.
    pub fn lost(&self) -> u64 {
        self.ring.lost()
    }
}

/// ```text
///  | time | core | - |
/// ```
fn take_time(record: &Record<'_>, take: &mut impl FnMut(Nanos)) {
    if record.kind == RECORD_SAMPLE
        && let Some(time) = record.long(0)
    {
        take(Nanos(time.cast_signed()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::{allowed_cores, pin};
    use crate::{clock, user};

    #[test]
    fn the_end_of_each_sleep_is_logged_on_its_core() {
        std::thread::spawn(|| {
            let core = allowed_cores()[0];
            pin(core).unwrap();
            let mut log = match TimerLog::open_core(core) {
                Ok(log) => log,
                Err(refusal) => return eprintln!("SKIPPED: {refusal}"),
            };
            let before = clock::now();
            for _ in 0..10 {
                clock::sleep_until(clock::now() + Nanos::from_micros(300));
            }
            let after = clock::now();
            let mut found = Vec::new();
            log.drain(|at| found.push(at));
            let within = found.iter().filter(|at| **at >= before && **at <= after).count();
            // A sleep whose time is over before it begins sets no timer.
            assert!(within >= 5 && found.is_sorted(), "{within} of {found:?}");
            assert_eq!((log.lost(), log.core()), (0, core));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn an_ordinary_user_is_told_what_it_takes() {
        match user::in_unprivileged_thread(|| TimerLog::open_core(0).map(|_| ())).unwrap() {
            Ok(()) => eprintln!("SKIPPED: everybody may watch timers here"),
            Err(refusal) => {
                let message = refusal.to_string();
                assert!(message.contains("root") || message.contains("perf_event_paranoid"), "{message}");
            }
        }
    }
}
