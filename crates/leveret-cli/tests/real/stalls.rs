//! When the machine stood still, by a witness that the verdict does not use: a thread on each core, above every task, that only sleeps.

use leveret_os::clock;
use leveret_os::scheduling::{self, Class};
use leveret_types::Nanos;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::{self, JoinHandle};

/// How long the witness sleeps each time.
const NAP: Nanos = Nanos::from_millis(1);
/// A witness that wakes later than this had no core; tasks of these tests have more room.
const STALL: Nanos = Nanos::from_micros(500);
/// Above the tasks and the agent, so that neither can keep the witness from its core.
const ABOVE_ALL: u8 = 90;

/// Between which two instants of `CLOCK_MONOTONIC` a core served nobody.
pub type Stall = (Nanos, Nanos);

/// The witnesses at work.
pub struct Watch {
    /// A witness whose channel has no sender any more ends.
    witnesses: Vec<(Sender<()>, JoinHandle<Vec<Stall>>)>,
}

impl Watch {
    pub fn begin() -> Self {
        let witness = |core: u32| {
            let (goes_on, until) = mpsc::channel();
            (goes_on, thread::spawn(move || watch(core, &until)))
        };
        Self { witnesses: scheduling::allowed_cores().into_iter().map(witness).collect() }
    }

    /// Ends, and gives the stalls of all cores.
    pub fn end(self) -> Vec<Stall> {
        let end = |(goes_on, witness): (Sender<()>, JoinHandle<_>)| {
            drop(goes_on);
            witness.join().expect("a witness")
        };
        self.witnesses.into_iter().flat_map(end).collect()
    }
}

fn watch(core: u32, until: &Receiver<()>) -> Vec<Stall> {
    scheduling::pin(core).expect("an allowed core");
    if let Err(refusal) = scheduling::apply(Class::Fifo { priority: ABOVE_ALL }) {
        // It then sees more stalls, and excuses more.
        eprintln!("the witness of core {core} has no rank: {refusal}");
    }
    let mut stalls = Vec::new();
    while until.try_recv() == Err(TryRecvError::Empty) {
        let due = clock::now() + NAP;
        clock::sleep_until(due);
        let woken = clock::now();
        if woken - due > STALL {
            stalls.push((due, woken));
        }
    }
    stalls
}
