//! Keeping the job's cores awake: on each, a thread that runs when nothing else wants the core, and never sleeps.
//!
//! An idle processor of a virtual machine is halted, and its host gives the real one away; to wake it takes tens of microseconds
//! ordinarily and hundreds once in a hundred, which no guard covers. Real machines have the same in their idle states, which
//! `/dev/cpu_dma_latency` holds off; in a guest without idle states of its own that device does nothing.

use crate::reap;
use leveret_memory::sync::{AtomicBool, Ordering};
use leveret_os::scheduling::{self, Class};
use leveret_report::record::AWAKE_THREADS;
use leveret_types::Nanos;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::thread::JoinHandle;
use std::time::Duration;

/// How often a thread that should end is looked at.
const LOOK_AGAIN: Nanos = Nanos::from_millis(1);

/// A thread that does not begin within this time gets no time on its core.
const WITHIN: Duration = Duration::from_secs(1);

/// Cores stay awake while this lives. At first there are none.
#[derive(Debug, Default)]
pub(crate) struct KeptAwake {
    stop: Arc<AtomicBool>,
    kept: Vec<Keeper>,
}

#[derive(Debug)]
struct Keeper {
    core: u32,
    /// The kernel's id of the thread.
    id: u32,
    thread: JoinHandle<()>,
}

impl KeptAwake {
    /// Keeps these cores awake too.
    ///
    /// # Errors
    /// A sentence, when a core cannot be: a thread that spun on another core, or under another class, would do harm.
    pub(crate) fn keep(&mut self, cores: impl IntoIterator<Item = u32>) -> Result<(), String> {
        for core in cores {
            if self.kept.iter().any(|keeper| keeper.core == core) {
                continue;
            }
            let stop = self.stop.clone();
            let (told, began) = std::sync::mpsc::sync_channel(1);
            let thread =
                std::thread::Builder::new().name(format!("{AWAKE_THREADS}{core}")).spawn(move || {
                    let ready = scheduling::pin(core).and_then(|()| scheduling::apply(Class::Idle));
                    let spins = ready.is_ok();
                    // Nobody is there any more whom it would come too late for.
                    let is_awaited = told.send(ready.map(|()| scheduling::thread_id())).is_ok();
                    while is_awaited && spins && !stop.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            let lost =
                |why: String| format!("core {core} is not kept awake: {why}; its wake-ups may take longer");
            let thread = thread.map_err(|error| lost(error.to_string()))?;
            match began.recv_timeout(WITHIN) {
                Ok(Ok(id)) => self.kept.push(Keeper { core, id, thread }),
                Ok(Err(error)) => return Err(lost(error.to_string())),
                Err(RecvTimeoutError::Disconnected) => return Err(lost("its thread has ended".to_owned())),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(lost("somebody else keeps it".to_owned()));
                }
            }
        }
        Ok(())
    }
}

impl Drop for KeptAwake {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for keeper in self.kept.drain(..) {
            let _ = reap::join(keeper.thread, || keeper.id, LOOK_AGAIN, || {});
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's ids of this process's threads that keep a core awake.
    fn keepers(core: u32) -> Vec<u32> {
        let name = format!("{AWAKE_THREADS}{core}");
        let is_keeper = |id: &u32| {
            let found = std::fs::read_to_string(format!("/proc/self/task/{id}/comm"));
            found.is_ok_and(|found| found.trim() == name)
        };
        let threads = std::fs::read_dir("/proc/self/task").unwrap();
        threads.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).filter(is_keeper).collect()
    }

    #[test]
    fn threads_below_everything_run_on_their_cores_until_it_is_dropped() {
        let core = scheduling::allowed_cores()[0];
        let mut kept = KeptAwake::default();
        kept.keep([core]).unwrap();
        kept.keep([core]).unwrap();
        let ids = keepers(core);
        let seen: Vec<String> =
            ids.iter().map(|id| scheduling::of_thread(*id).unwrap().to_string()).collect();
        assert_eq!(seen.len(), 1);
        assert!(seen[0].starts_with("SCHED_IDLE") && seen[0].ends_with(&format!("core {core}")), "{seen:?}");
        drop(kept);
        assert!(keepers(core).is_empty(), "it has ended");
    }

    #[test]
    fn a_core_that_is_not_there_is_named() {
        let refused = KeptAwake::default().keep([1023]).unwrap_err();
        assert!(refused.contains("core 1023 is not kept awake"), "{refused}");
    }
}
