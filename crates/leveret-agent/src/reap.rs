//! The end of threads on cores where somebody outranks them: the agent's own, and those of members that it kills. Not even a signal ends a
//! thread before it has had a core for its last steps, so they try the others.

use leveret_os::{clock, scheduling, threads_of};
use leveret_types::Nanos;
use std::thread::JoinHandle;

/// A thread that has not ended by then gets no core anywhere. It ends with the process, if not before.
const PATIENCE: Nanos = Nanos::from_secs(1);
/// A thread that has not ended after this tries the next core.
const TRY: Nanos = Nanos::from_millis(10);

/// Joins a thread that was told to end, and calls `meanwhile` at intervals of `every` until it has. `id` gives the thread's kernel id, or 0 while
/// it is unknown. `None` if the thread got no core or panicked.
pub(crate) fn join<T>(
    thread: JoinHandle<T>,
    id: impl Fn() -> u32,
    every: Nanos,
    mut meanwhile: impl FnMut(),
) -> Option<T> {
    let begin = clock::now();
    let (mut turn, mut next) = (0, begin + TRY);
    while !thread.is_finished() {
        let now = clock::now();
        if now > begin + PATIENCE {
            return None;
        }
        meanwhile();
        if now > next && id() != 0 {
            move_on(&[id()], &mut turn);
            next = now + TRY;
        }
        clock::sleep_until(clock::now() + every);
    }
    thread.join().ok()
}

/// Puts all threads of a process that was killed on the next core that the agent may have.
pub(crate) fn move_killed(process: u32, turn: &mut usize) {
    // It may have ended.
    move_on(&threads_of::threads(process).unwrap_or_default(), turn);
}

fn move_on(threads: &[u32], turn: &mut usize) {
    let cores = scheduling::allowed_cores();
    *turn += 1;
    let Some(core) = cores.get(*turn % cores.len().max(1)) else { return };
    for thread in threads {
        // It may have ended, and one under SCHED_DEADLINE is bound to no core.
        let _ = scheduling::pin_to(*thread, *core);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_memory::sync::{AtomicBool, Ordering};
    use leveret_os::scheduling::Class;
    use std::process::Command;
    use std::sync::{Arc, mpsc};

    #[test]
    fn who_does_not_end_is_left() {
        let (tell, told) = mpsc::channel::<()>();
        let (mut looks, before) = (0, clock::now());
        let thread = std::thread::spawn(move || told.recv().is_err());
        assert_eq!(join(thread, || 0, Nanos::from_millis(10), || looks += 1), None);
        assert!(looks > 0 && clock::now() - before >= PATIENCE);
        drop(tell);
    }

    /// A thread of higher priority occupies the core to which the killed process is pinned.
    #[test]
    fn who_is_killed_and_gets_no_core_ends_on_another() {
        let cores = scheduling::allowed_cores();
        let Some([core, _]) = cores.first_chunk::<2>().copied() else {
            return eprintln!("SKIPPED: there is one core");
        };
        let (stop, seen) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let of_hog = (stop.clone(), seen.clone());
        let mut child = Command::new("sleep").arg("1000").spawn().expect("a process");
        let ranked = scheduling::pin_to(child.id(), core)
            .and_then(|()| scheduling::apply_to(child.id(), Class::Fifo { priority: 7 }));
        let hog = std::thread::spawn(move || {
            scheduling::pin(core).and_then(|()| scheduling::apply(Class::Fifo { priority: 8 }))?;
            of_hog.1.store(true, Ordering::Release);
            while !of_hog.0.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
            Ok::<(), scheduling::SchedulingError>(())
        });
        while !seen.load(Ordering::Acquire) && !hog.is_finished() {
            clock::sleep_until(clock::now() + Nanos::from_millis(1));
        }
        child.kill().expect("it can be killed");
        let is_ranked = ranked.is_ok() && !hog.is_finished();
        let (limit, mut turn) = (clock::now() + PATIENCE + PATIENCE, 0);
        clock::sleep_until(clock::now() + TRY);
        let starved = child.try_wait().expect("a child").is_none();
        while child.try_wait().expect("a child").is_none() && clock::now() < limit {
            move_killed(child.id(), &mut turn);
            clock::sleep_until(clock::now() + TRY);
        }
        let ended = child.try_wait().expect("a child").is_some();
        stop.store(true, Ordering::Release);
        let _ = hog.join();
        let _ = child.wait();
        if !is_ranked {
            return eprintln!("SKIPPED: the right to real-time scheduling is missing");
        }
        assert!(starved, "it was never starved");
        assert!(ended, "it never got a core");
    }

    #[test]
    fn what_a_thread_gives_is_handed_on() {
        let thread = std::thread::spawn(|| 7);
        assert_eq!(join(thread, || 0, Nanos::from_millis(1), || {}), Some(7));
    }
}
