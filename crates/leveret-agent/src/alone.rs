//! The machine alone: a bare `clock_nanosleep` thread in a gap of the plan, below every task's priority.

use crate::gaps::gaps;
use crate::reap;
use leveret_memory::sync::{AtomicBool, AtomicU32, Ordering};
use leveret_os::scheduling::{self, Class};
use leveret_os::threads_of::OwnWaits;
use leveret_os::{clock, nudge};
use leveret_plan::Plan;
use leveret_report::record::AloneProbe;
use leveret_types::Nanos;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Below every task (their lowest is 10), above the agent.
const PRIORITY: u8 = 6;
/// The probe's period is the hyperperiod, made up of whole ones to at least this.
const PERIOD_MIN: Nanos = Nanos::from_millis(1);
/// A probe that should end is woken this often.
const NUDGE_EVERY: Nanos = Nanos::from_micros(200);
/// A wake-up takes up to this with nobody in its way, a part of it between the interrupt and the thread.
const EVERYDAY: Nanos = Nanos::from_micros(20);
const SAMPLES_MAX: usize = 2_000_000;

/// A running probe.
pub(crate) struct Alone {
    shared: Arc<Shared>,
    thread: JoinHandle<AloneProbe>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    /// The probe's kernel thread id; 0 until it runs.
    thread: AtomicU32,
}

impl Alone {
    /// Starts the probe on the job's first core, in the longest gap of its plan.
    pub(crate) fn start(plan: &Plan, epoch: Nanos) -> Option<Self> {
        let core = plan.cores.first()?.core;
        let offset = longest_gap_middle(plan, core);
        let rounds = (PERIOD_MIN.0 + plan.hyperperiod.0 - 1) / plan.hyperperiod.0.max(1);
        let period = plan.hyperperiod.saturating_mul(rounds.max(1));
        let shared = Arc::new(Shared::default());
        let seen = shared.clone();
        let thread = std::thread::Builder::new()
            .name("leveret-alone".to_owned())
            .spawn(move || watch(core, epoch + offset, period, &seen))
            .ok()?;
        Some(Self { shared, thread })
    }

    /// Ends the probe, at once even if its period is long. One that gets no core has nothing to tell.
    pub(crate) fn finish(self) -> AloneProbe {
        self.shared.stop.store(true, Ordering::Release);
        let may_nudge = nudge::prepare().is_ok();
        // It may be on its way into the sleep: so, again until it has ended.
        let thread = || self.shared.thread.load(Ordering::Acquire);
        let ended = reap::join(self.thread, thread, NUDGE_EVERY, || {
            if may_nudge && thread() != 0 {
                nudge::nudge(thread());
            }
        });
        ended.unwrap_or_default()
    }
}

fn watch(core: u32, first: Nanos, period: Nanos, shared: &Shared) -> AloneProbe {
    shared.thread.store(scheduling::thread_id(), Ordering::Release);
    let is_over = || shared.stop.load(Ordering::Acquire);
    let _ = clock::set_timer_slack(Nanos(1));
    let _ = scheduling::pin(core);
    let class = Class::Fifo { priority: PRIORITY };
    let class = if scheduling::apply(class).is_ok() { class } else { Class::Other };
    let mut lateness_ns = Vec::with_capacity(1 << 16);
    let waits = OwnWaits::open();
    let so_far = || waits.as_ref().and_then(OwnWaits::so_far).unwrap_or_default();
    let mut waited = so_far();
    let mut next = first;
    while !is_over() && lateness_ns.len() < SAMPLES_MAX {
        clock::sleep_until_or(next, &is_over);
        let now = clock::now();
        if now < next {
            break;
        }
        let before = std::mem::replace(&mut waited, so_far());
        if is_the_machines(now - next, waited - before) {
            lateness_ns.push(u32::try_from((now - next).0.max(0)).unwrap_or(u32::MAX));
        }
        while next <= now {
            next = next + period;
        }
    }
    AloneProbe { core, period, scheduling: class.to_string(), lateness_ns }
}

/// Whether a wake-up late by `late`, of which the thread was runnable behind others for `waited`, tells of the machine. Whoever
/// outranks the probe, an overrun of the job above all, must not pass for a machine that stands still.
fn is_the_machines(late: Nanos, waited: Nanos) -> bool {
    late < EVERYDAY || waited.0 <= late.0 / 2
}

/// The middle of the longest stretch of the hyperperiod in which `core` has nothing planned.
fn longest_gap_middle(plan: &Plan, core: u32) -> Nanos {
    let longest = gaps(plan, core).into_iter().rev().max_by_key(|(start, end)| *end - *start);
    longest.map_or(Nanos(plan.hyperperiod.0 / 2), |(start, end)| Nanos((start.0 + end.0) / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_behind_others_is_not_the_machines() {
        let of = |late, waited| is_the_machines(Nanos::from_micros(late), Nanos::from_micros(waited));
        assert_eq!([of(300, 280), of(300, 151), of(21, 11)], [false; 3]);
        assert_eq!([of(300, 3), of(300, 150), of(10, 9)], [true; 3]);
    }
}
