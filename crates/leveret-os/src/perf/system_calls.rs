//! Counting the system calls of a thread.

use super::event::{Attributes, Event, PerfError, TYPE_TRACEPOINT, Target, tracepoint_id};

const TRACEPOINT: &str = "raw_syscalls:sys_enter";
const ID_PATH: &str = "events/raw_syscalls/sys_enter/id";

/// Counts every system call that a thread enters, from outside and without slowing any other thread.
#[derive(Debug)]
pub struct SystemCallCounter(Event);

impl SystemCallCounter {
    /// Starts counting for a thread (0: the calling one), also of another process.
    ///
    /// # Errors
    ///
    /// [`PerfError`].
    pub fn open_thread(tid: u32) -> Result<Self, PerfError> {
        let id = tracepoint_id(TRACEPOINT, ID_PATH)?;
        // The tracepoint fires in the kernel: excluding the kernel would leave nothing to count.
        let attributes = Attributes::new(TYPE_TRACEPOINT, id, 0);
        Event::open("the count of system calls", &attributes, Target::Thread(tid)).map(Self)
    }

    /// Calls entered since the counter was opened; the reading itself is one of the reader's.
    ///
    /// # Errors
    ///
    /// [`PerfError::Read`].
    pub fn read(&self) -> Result<u64, PerfError> {
        self.0.read()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::thread_id;
    use crate::user;

    #[test]
    fn every_call_of_the_own_thread_is_counted() {
        let counter = match SystemCallCounter::open_thread(0) {
            Ok(counter) => counter,
            Err(refusal) => return eprintln!("SKIPPED: {refusal}"),
        };
        let before = counter.read().unwrap();
        for _ in 0..100 {
            thread_id();
        }
        // The calls themselves, and the second reading.
        assert_eq!(counter.read().unwrap() - before, 101);
    }

    #[test]
    fn an_ordinary_user_is_told_what_it_takes() {
        match user::in_unprivileged_thread(|| SystemCallCounter::open_thread(0).map(|_| ())).unwrap() {
            Ok(()) => eprintln!("SKIPPED: everybody may count system calls here"),
            Err(refusal) => {
                let message = refusal.to_string();
                assert!(message.contains("root") || message.contains("perf_event_paranoid"), "{message}");
            }
        }
    }
}
