//! How long before a start a task must wake: measured on this machine, at this moment, on the job's cores.

use crate::reap;
use crate::tick::Tick;
use leveret_memory::sync::{AtomicBool, AtomicU32, Ordering};
use leveret_os::clock;
use leveret_os::scheduling::{self, Class, SchedulingError};
use leveret_os::threads_of::{Holder, HolderSearch};
use leveret_types::Nanos;

use std::sync::Arc;

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

/// A probe of a core has this long; without others in its way it takes a quarter of a second.
pub(crate) const WITHIN: Nanos = Nanos::from_secs(3);
/// Who has the core of a probe is looked for from then on, this often.
const LOOK_AFTER: Nanos = Nanos::from_millis(500);
/// How often it is looked whether the probes have ended.
const LOOK_AGAIN: Nanos = Nanos::from_millis(1);

/// What was measured on each core.
pub(crate) struct Probed<T> {
    pub(crate) found: Vec<T>,
    /// Cores that somebody else kept to himself.
    pub(crate) held: Vec<u32>,
}

/// A probe's thread and whoever waits for it.
#[derive(Default)]
struct Probing {
    is_over: AtomicBool,
    /// The kernel's id of the thread; 0 until it runs.
    thread: AtomicU32,
}

/// Runs a probe on each core at once. Who keeps one from its core is told, once for each core; such a core is not waited for without end.
fn on_each<T: Send + 'static>(
    cores: &[u32],
    probe: impl Fn(u32, &AtomicBool) -> T + Send + Clone + 'static,
    tell: &mut dyn FnMut(&Holder),
) -> Probed<T> {
    let mut running = Vec::new();
    for core in cores.iter().copied() {
        let (probing, probe) = (Arc::new(Probing::default()), probe.clone());
        let shared = probing.clone();
        let thread = std::thread::Builder::new().name(format!("leveret-guard-{core}")).spawn(move || {
            shared.thread.store(scheduling::thread_id(), Ordering::Release);
            probe(core, &shared.is_over)
        });
        // Without a thread there is nothing to wait for.
        if let Ok(thread) = thread {
            running.push((core, probing, thread, HolderSearch::default(), false));
        }
    }
    let begin = clock::now();
    let mut look = begin + LOOK_AFTER;
    while running.iter().any(|(_, _, thread, ..)| !thread.is_finished()) && clock::now() < begin + WITHIN {
        if clock::now() > look {
            for (_, probing, thread, search, is_told) in running.iter_mut() {
                let waiting = probing.thread.load(Ordering::Acquire);
                if !*is_told
                    && !thread.is_finished()
                    && let Some(holder) = search.look(waiting)
                {
                    *is_told = true;
                    tell(&holder);
                }
            }
            look = clock::now() + LOOK_AFTER;
        }
        clock::sleep_until(clock::now() + LOOK_AGAIN);
    }
    let mut probed = Probed { found: Vec::new(), held: Vec::new() };
    for (core, probing, thread, ..) in running {
        let is_held = !thread.is_finished();
        probing.is_over.store(true, Ordering::Release);
        // One that gets no core ends on another.
        let found = reap::join(thread, || probing.thread.load(Ordering::Acquire), LOOK_AGAIN, || {});
        if is_held {
            probed.held.push(core);
        } else {
            probed.found.extend(found);
        }
    }
    probed
}

/// The lateness of planned sleeps on each core at once: the 99th percentiles.
pub(crate) fn wake_lateness(cores: &[u32], real_time: bool, tell: &mut dyn FnMut(&Holder)) -> Probed<Nanos> {
    on_each(cores, move |core, is_over| probe(core, real_time, is_over), tell)
}

/// Comes to the core with the rank already: one that the kernel's fair server lets in with ordinary scheduling, before somebody who ranks above
/// all of this, is not made to leave when it then raises itself.
fn come_to(core: u32, real_time: bool) -> Result<(), SchedulingError> {
    if real_time {
        // A refusal here also hits the tasks, which report it.
        let _ = scheduling::apply(Class::Fifo { priority: PRIORITY });
    }
    scheduling::pin(core)
}

/// Whether threads here get a real-time class, as far as the agent can tell for its members.
pub(crate) fn gets_real_time() -> bool {
    let tried = std::thread::spawn(|| scheduling::apply(Class::Fifo { priority: PRIORITY }).is_ok());
    tried.join().unwrap_or(false)
}

/// The 99th percentile of lateness on one core.
fn probe(core: u32, real_time: bool, is_over: &AtomicBool) -> Nanos {
    // A refusal here also hits the tasks, which report it.
    let _ = clock::set_timer_slack(Nanos(1));
    let _ = come_to(core, real_time);
    let mut lateness: Vec<Nanos> = Vec::with_capacity(SAMPLES);
    let mut next = clock::now() + INTERVAL;
    for _ in 0..SAMPLES {
        clock::sleep_until(next);
        if is_over.load(Ordering::Acquire) {
            break;
        }
        lateness.push(clock::now() - next);
        next = clock::now().max(next) + INTERVAL;
    }
    lateness.sort_unstable();
    lateness.get(SAMPLES * 99 / 100).copied().unwrap_or(GUARD_MIN)
}

/// How long a thread spins to see the tick of its core.
const SPIN: Nanos = Nanos::from_millis(45);
/// Between two readings of the clock lies no longer time, unless something interrupts.
const GAP: Nanos = Nanos(1_500);
/// Gaps that are kept.
const GAPS_MAX: usize = 512;

/// Where the kernel's tick falls on each of these cores, as a thread that spins there sees it. A core on which none is seen has none, or its thread was not alone.
pub(crate) fn ticks(cores: &[u32], real_time: bool, tell: &mut dyn FnMut(&Holder)) -> Probed<Option<Tick>> {
    on_each(cores, move |core, is_over| spin(core, real_time, is_over), tell)
}

/// The tick of one core.
fn spin(core: u32, real_time: bool, is_over: &AtomicBool) -> Option<Tick> {
    come_to(core, real_time).ok()?;
    let from = clock::now();
    let (mut last, mut gaps) = (from, Vec::with_capacity(GAPS_MAX));
    while last - from < SPIN && !is_over.load(Ordering::Relaxed) {
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

    /// A probe that never sees its core is one of a core that is held; the others have what they measured.
    #[test]
    fn a_core_that_somebody_keeps_is_not_waited_for_without_end() {
        let look = |core: u32, is_over: &AtomicBool| {
            while core == 7 && !is_over.load(Ordering::Acquire) {
                clock::sleep_until(clock::now() + LOOK_AGAIN);
            }
            core
        };
        let probed = on_each(&[3, 7, 4], look, &mut |_| {});
        assert_eq!((probed.found, probed.held), (vec![3, 4], vec![7]));
    }
}
