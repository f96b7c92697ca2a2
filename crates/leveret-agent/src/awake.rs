//! Keeping the job's cores awake: on each, a thread that runs when nothing else wants the core, and never sleeps.
//!
//! An idle processor of a virtual machine is halted, and its host gives the real one away; to wake it takes tens of microseconds
//! ordinarily and hundreds once in a hundred, which no guard covers. Real machines have the same in their idle states, which
//! `/dev/cpu_dma_latency` holds off; in a guest without idle states of its own that device does nothing.

use leveret_memory::sync::{AtomicBool, Ordering};
use leveret_os::scheduling::{self, Class};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Cores stay awake while this lives.
#[derive(Debug)]
pub(crate) struct KeptAwake {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    /// The kernel's ids of these threads.
    ids: Vec<u32>,
}

impl KeptAwake {
    /// Keeps these cores awake.
    ///
    /// # Errors
    /// A sentence, when a core cannot be: a thread that spun on another core, or under another class, would do harm.
    pub(crate) fn keep(cores: &[u32]) -> Result<Self, String> {
        let mut kept = Self { stop: Arc::new(AtomicBool::new(false)), threads: Vec::new(), ids: Vec::new() };
        for core in cores.iter().copied() {
            let stop = kept.stop.clone();
            let (told, began) = std::sync::mpsc::sync_channel(1);
            let thread = std::thread::Builder::new().name(format!("leveret-awake-{core}")).spawn(move || {
                let ready = scheduling::pin(core).and_then(|()| scheduling::apply(Class::Idle));
                let spins = ready.is_ok();
                let _ = told.send(ready.map(|()| scheduling::thread_id()));
                while spins && !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let lost =
                |why: String| format!("core {core} is not kept awake: {why}; its wake-ups may take longer");
            kept.threads.push(thread.map_err(|error| lost(error.to_string()))?);
            match began.recv() {
                Ok(Ok(id)) => kept.ids.push(id),
                Ok(Err(error)) => return Err(lost(error.to_string())),
                Err(_) => return Err(lost("its thread has ended".to_owned())),
            }
        }
        Ok(kept)
    }
}

impl Drop for KeptAwake {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_below_everything_run_on_their_cores_until_it_is_dropped() {
        let core = scheduling::allowed_cores()[0];
        let kept = KeptAwake::keep(&[core]).unwrap();
        let ids = kept.ids.clone();
        let seen: Vec<String> =
            ids.iter().map(|id| scheduling::of_thread(*id).unwrap().to_string()).collect();
        assert_eq!(seen.len(), 1);
        assert!(seen[0].starts_with("SCHED_IDLE") && seen[0].ends_with(&format!("core {core}")), "{seen:?}");
        drop(kept);
        assert!(ids.iter().all(|id| scheduling::of_thread(*id).is_err()), "it has ended");
    }

    #[test]
    fn a_core_that_is_not_there_is_named() {
        let refused = KeptAwake::keep(&[1023]).unwrap_err();
        assert!(refused.contains("core 1023 is not kept awake"), "{refused}");
    }
}
