//! The end of the agent's own threads on the cores of the job: there, whoever outranks them may keep them from ending for as long as it likes.

use leveret_os::{clock, scheduling};
use leveret_types::Nanos;
use std::thread::JoinHandle;

/// A thread that has not ended by then gets no core anywhere. It ends with the process, if not before.
const PATIENCE: Nanos = Nanos::from_secs(1);
/// A thread that has not ended after this tries the next core.
const TRY: Nanos = Nanos::from_millis(10);

/// Joins a thread that was told to end, whose kernel thread id is `id` (0 while unknown); meanwhile, `every` so often, does `meanwhile`.
/// `None` when it gets no core, or has panicked.
pub(crate) fn join<T>(
    thread: JoinHandle<T>,
    id: impl Fn() -> u32,
    every: Nanos,
    mut meanwhile: impl FnMut(),
) -> Option<T> {
    let begin = clock::now();
    let mut cores = scheduling::allowed_cores().into_iter().cycle();
    let mut next = begin + TRY;
    while !thread.is_finished() {
        let now = clock::now();
        if now > begin + PATIENCE {
            return None;
        }
        meanwhile();
        // The process itself cannot end before each of its threads has had a core for its last steps.
        if now > next
            && id() != 0
            && let Some(core) = cores.next()
        {
            // It may have ended.
            let _ = scheduling::pin_to(id(), core);
            next = now + TRY;
        }
        clock::sleep_until(clock::now() + every);
    }
    thread.join().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn who_does_not_end_is_left() {
        let (tell, told) = mpsc::channel::<()>();
        let (mut looks, before) = (0, clock::now());
        let thread = std::thread::spawn(move || told.recv().is_err());
        assert_eq!(join(thread, || 0, Nanos::from_millis(10), || looks += 1), None);
        assert!(looks > 0 && clock::now() - before >= PATIENCE);
        drop(tell);
    }

    #[test]
    fn what_a_thread_gives_is_handed_on() {
        let thread = std::thread::spawn(|| 7);
        assert_eq!(join(thread, || 0, Nanos::from_millis(1), || {}), Some(7));
    }
}
