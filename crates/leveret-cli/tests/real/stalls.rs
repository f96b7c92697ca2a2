//! When the machine stood still, by a witness that the verdict does not use: a thread on each core, above every task, that only sleeps.

use leveret_os::clock;
use leveret_os::scheduling::{self, Class};
use leveret_types::Nanos;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// How long the witness sleeps each time.
const NAP: Nanos = Nanos::from_millis(1);
/// A witness that wakes later than this had no core; tasks of these tests have more room.
const STALL: Nanos = Nanos::from_micros(500);
/// Above the tasks and the agent, so that neither can keep the witness from its core.
const ABOVE_ALL: u8 = 90;

/// The witnesses at work.
pub struct Watch {
    is_over: Arc<AtomicBool>,
    witnesses: Vec<JoinHandle<Vec<(Nanos, Nanos)>>>,
}

impl Watch {
    pub fn begin() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let witness = |core: u32| {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || watch(core, &is_over))
        };
        let witnesses = scheduling::allowed_cores().into_iter().map(witness).collect();
        Self { is_over, witnesses }
    }

    /// Between which two instants of `CLOCK_MONOTONIC` some core served nobody in time.
    pub fn end(self) -> Vec<(Nanos, Nanos)> {
        self.is_over.store(true, Ordering::Relaxed);
        self.witnesses.into_iter().flat_map(|witness| witness.join().expect("a witness")).collect()
    }
}

fn watch(core: u32, is_over: &AtomicBool) -> Vec<(Nanos, Nanos)> {
    scheduling::pin(core).expect("an allowed core");
    if let Err(refusal) = scheduling::apply(Class::Fifo { priority: ABOVE_ALL }) {
        // It then sees more stalls, and excuses more.
        eprintln!("the witness of core {core} has no rank: {refusal}");
    }
    let mut stalls = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let due = clock::now() + NAP;
        clock::sleep_until(due);
        let woken = clock::now();
        if woken - due > STALL {
            stalls.push((due, woken));
        }
    }
    stalls
}
