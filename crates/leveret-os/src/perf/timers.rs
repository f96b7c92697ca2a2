//! The log of a core's timer interrupts: a core on which they come is not standing still.

use super::event::{
    Attributes, Event, PerfError, SAMPLE_CPU, SAMPLE_TIME, TYPE_TRACEPOINT, Target, USE_CLOCK_ID,
    tracepoint_id,
};
use super::ring::{Record, Ring};
use super::stamps::{CoreStamps, Stamps};
use leveret_types::Nanos;
use std::ffi::CStr;

const NAME: &str = "the log of timer interrupts";
const TRACEPOINT: &str = "timer:hrtimer_expire_entry";
const RAW_TRACEPOINT: &CStr = c"hrtimer_expire_entry";
const ID_PATH: &str = "events/timer/hrtimer_expire_entry/id";
pub(super) const RECORD_SAMPLE: u32 = 9;
/// 128 KiB: some 5,000 interrupts between two drains.
const DATA_PAGES: usize = 32;

/// The instants at which a timer expired on a core: the kernel's tick while anybody computes there, and the end of
/// each sleep. The kernel notes it within interrupts that come anyway.
#[derive(Debug)]
pub struct TimerLog {
    source: Source,
}

#[derive(Debug)]
enum Source {
    /// A program in the kernel notes them all.
    Noted(CoreStamps),
    /// Those in threads whose count of nested events the kernel has got wrong are left out.
    Logged { core: u32, ring: Ring, _event: Event },
}

impl TimerLog {
    /// Opens the logs of these cores: by a program in the kernel or, where that is not allowed, as perf events.
    pub fn open_cores(cores: &[u32]) -> Vec<Result<Self, PerfError>> {
        let Some(last) = cores.iter().max() else { return Vec::new() };
        let stamps = Stamps::open(NAME, RAW_TRACEPOINT, *last);
        let open = |core: &u32| match &stamps {
            Ok(stamps) => Ok(Self { source: Source::Noted(stamps.of_core(*core)) }),
            Err(_) => Self::open_event(*core),
        };
        cores.iter().map(open).collect()
    }

    fn open_event(core: u32) -> Result<Self, PerfError> {
        // The tracepoint fires in the kernel: excluding the kernel would leave nothing to log.
        let mut attributes =
            Attributes::new(TYPE_TRACEPOINT, tracepoint_id(TRACEPOINT, ID_PATH)?, USE_CLOCK_ID);
        attributes.sample_period = 1;
        attributes.sample_type = SAMPLE_TIME | SAMPLE_CPU;
        let event = Event::open(NAME, &attributes, Target::Core(core))?;
        let ring = Ring::map(&event, DATA_PAGES)?;
        Ok(Self { source: Source::Logged { core, ring, _event: event } })
    }

    /// Which core.
    pub fn core(&self) -> u32 {
        match &self.source {
            Source::Noted(stamps) => stamps.core(),
            Source::Logged { core, .. } => *core,
        }
    }

    /// Hands over the instants since the last call, in order.
    pub fn drain(&mut self, mut take: impl FnMut(Nanos)) {
        match &mut self.source {
            Source::Noted(stamps) => stamps.drain(take),
            Source::Logged { ring, .. } => ring.drain(|record| take_time(record, &mut take)),
        }
    }

    /// Records that were lost because nobody drained in time, since the log was opened.
    pub fn lost(&self) -> u64 {
        match &self.source {
            Source::Noted(stamps) => stamps.lost(),
            Source::Logged { ring, .. } => ring.lost(),
        }
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

    const SLEEPS: usize = 50;

    /// How many of the ends of `SLEEPS` sleeps on a core a log has, all of them in order.
    fn logged(core: u32, mut log: TimerLog) -> usize {
        std::thread::spawn(move || {
            pin(core).unwrap();
            let mut taken = Vec::new();
            log.drain(|_| {});
            let ends: Vec<(Nanos, Nanos)> = (0..SLEEPS)
                .map(|_| {
                    let due = clock::now() + Nanos::from_micros(300);
                    clock::sleep_until(due);
                    (due, clock::now())
                })
                .collect();
            log.drain(|at| taken.push(at));
            assert!(taken.is_sorted(), "{taken:?}");
            assert_eq!((log.lost(), log.core()), (0, core));
            let is_logged = |(due, end): &(Nanos, Nanos)| taken.iter().any(|at| due <= at && at <= end);
            ends.iter().filter(|end| is_logged(end)).count()
        })
        .join()
        .unwrap()
    }

    /// Of every core: on one whose idle task has its nested events counted wrongly a perf event has none of them.
    #[test]
    fn the_end_of_each_sleep_is_noted_on_each_core() {
        let cores = allowed_cores();
        let mut logs: Vec<TimerLog> = Vec::new();
        for log in TimerLog::open_cores(&cores) {
            match log {
                Ok(log) => logs.push(log),
                Err(refusal) => return eprintln!("SKIPPED: {refusal}"),
            }
        }
        if logs.iter().any(|log| matches!(log.source, Source::Logged { .. })) {
            return eprintln!("SKIPPED: no program in the kernel is allowed here");
        }
        for (core, log) in cores.into_iter().zip(logs) {
            // A sleep whose time is over before it begins sets no timer.
            let found = logged(core, log);
            assert!(found >= SLEEPS * 9 / 10, "{found} of {SLEEPS} on core {core}");
        }
    }

    #[test]
    fn a_perf_event_logs_in_order_where_no_program_is_allowed() {
        match TimerLog::open_event(allowed_cores()[0]) {
            Ok(log) => assert!(logged(allowed_cores()[0], log) <= SLEEPS),
            Err(refusal) => eprintln!("SKIPPED: {refusal}"),
        }
    }

    #[test]
    fn an_ordinary_user_is_told_what_it_takes() {
        let opened =
            user::in_unprivileged_thread(|| TimerLog::open_cores(&[0]).pop().map(|log| log.map(|_| ())));
        match opened.unwrap().expect("one for each core") {
            Ok(()) => eprintln!("SKIPPED: everybody may watch timers here"),
            Err(refusal) => {
                let message = refusal.to_string();
                assert!(message.contains("root") || message.contains("perf_event_paranoid"), "{message}");
            }
        }
    }
}
