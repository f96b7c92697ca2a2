//! How long before a start a task must wake: measured on this machine, at this moment, on the job's cores.

use crate::tick::{Tick, Ticks};
use leveret_os::clock;
use leveret_os::scheduling::{self, Class};
use leveret_types::Nanos;

const SAMPLES: usize = 250;
const INTERVAL: Nanos = Nanos::from_millis(1);
/// Priority of the measuring threads, in the range of tasks.
const PRIORITY: u8 = 80;
/// The guard is rounded up to this.
const STEP: i64 = 5_000;
/// What `check` and `plan` assume: what they admit is admitted on a machine as good as this one, too.
pub(crate) const GUARD_MIN: Nanos = Nanos::from_micros(50);
const GUARD_MAX: Nanos = Nanos::from_micros(200);

/// The guard for wake-ups of which one in a hundred is this late: half as much again, between 50 and 200 us. With just the
/// 99th percentile of a quarter of a second, one start in a hundred lies at the guard's edge, and in a worse minute beyond
/// it. Wakes later than that are the machine's own stalls: a longer guard would spin away processor time and still not cover
/// them.
pub(crate) fn guard_for(late: Nanos) -> Nanos {
    Nanos((late.0 * 3 / 2 + STEP - 1) / STEP * STEP).clamp(GUARD_MIN, GUARD_MAX)
}

/// The lateness of planned sleeps on each core at once: the 99th percentile on the worst core.
pub(crate) fn wake_lateness(cores: &[u32], real_time: bool) -> Nanos {
    std::thread::scope(|scope| {
        let probes: Vec<_> = cores.iter().map(|core| scope.spawn(move || probe(*core, real_time))).collect();
        probes.into_iter().filter_map(|probe| probe.join().ok()).max().unwrap_or(GUARD_MIN)
    })
}

/// The 99th percentile of lateness on one core.
fn probe(core: u32, real_time: bool) -> Nanos {
    // A refusal here also hits the tasks, which report it.
    let _ = clock::set_timer_slack(Nanos(1));
    let _ = scheduling::pin(core);
    if real_time {
        let _ = scheduling::apply(Class::Fifo { priority: PRIORITY });
    }
    let mut lateness: Vec<Nanos> = Vec::with_capacity(SAMPLES);
    let mut next = clock::now() + INTERVAL;
    for _ in 0..SAMPLES {
        clock::sleep_until(next);
        lateness.push(clock::now() - next);
        next = clock::now().max(next) + INTERVAL;
    }
    lateness.sort_unstable();
    lateness[SAMPLES * 99 / 100]
}

/// How long a thread spins to see the tick of its core.
const SPIN: Nanos = Nanos::from_millis(45);
/// Between two readings of the clock lies no longer time, unless something interrupts.
const GAP: Nanos = Nanos(1_500);
/// Gaps that are kept.
const GAPS_MAX: usize = 512;

/// Where the kernel's tick falls on each of these cores, as a thread that spins there sees it. A core on which none is seen has none, or its thread was not alone.
pub(crate) fn ticks(cores: &[u32], real_time: bool) -> Ticks {
    std::thread::scope(|scope| {
        let probes: Vec<_> = cores.iter().map(|core| scope.spawn(move || spin(*core, real_time))).collect();
        Ticks(probes.into_iter().filter_map(|probe| probe.join().ok().flatten()).collect())
    })
}

/// The tick of one core.
fn spin(core: u32, real_time: bool) -> Option<Tick> {
    scheduling::pin(core).ok()?;
    if real_time {
        // A refusal here also hits the tasks, which report it.
        let _ = scheduling::apply(Class::Fifo { priority: PRIORITY });
    }
    let from = clock::now();
    let (mut last, mut gaps) = (from, Vec::with_capacity(GAPS_MAX));
    while last - from < SPIN {
        let now = clock::now();
        // It began right behind the reading before.
        if now - last > GAP && gaps.len() < GAPS_MAX {
            gaps.push(last);
        }
        last = now;
    }
    Tick::from_gaps(core, &gaps, [from, last])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_covers_more_than_was_seen_and_has_limits() {
        let guards = [0, 20, 40, 61, 500].map(|us| guard_for(Nanos::from_micros(us)));
        assert_eq!(guards, [50, 50, 60, 95, 200].map(Nanos::from_micros));
    }
}
