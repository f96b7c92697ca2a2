//! Handlers: which runs next, and on which thread.
//!
//! ```text
//!  priority of the QoS     band     the thread is scheduled
//!  none, or no rights       0       SCHED_OTHER
//!   1 to 30                 1       SCHED_FIFO 7 \\
//!  31 to 60                 2       SCHED_FIFO 8  } above the agent, below every task of the time table
//!  61 to 90                 3       SCHED_FIFO 9 /
//! ```
//!
//! A band is a thread; all share a core. Between bands the kernel interrupts the lower one, within a band the handler of the highest
//! priority is next, of equal ones that of the earliest firing. The handlers of a receptor run one after the other in their order, for one
//! firing after the other; where they are of different bands, the firing is handed from thread to thread.

use super::body::{Firing, HandlerFunction};
use super::committed::{CommittedEvents, CommittedReceptor};
use super::plan::{EventPlan, PlannedHandler};
use super::wait::Words;
use crate::objects::committed::Committed;
use leveret_memory::sync::{AtomicU32, AtomicU64, Ordering};
use leveret_os::futex::{self, Awaited};
use leveret_os::scheduling::Class;
use leveret_types::Nanos;
use std::cmp::Reverse;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of threads at most.
pub(super) const BANDS: usize = 4;
/// `SCHED_FIFO` priority of the lowest band that has one: just above the agent's and the control thread's.
const FIFO_LOWEST: u8 = 7;
/// Priorities of a quality of service that share a band.
const BAND_WIDTH: u8 = 30;

/// What runs at the firings of receptors.
pub(super) struct Dispatch {
    activations: Vec<Activation>,
    /// Rung when a firing is handed to a band.
    bells: [AtomicU32; BANDS],
}

/// A receptor's handlers.
struct Activation {
    receptor: usize,
    stages: Vec<Stage>,
    /// Whose turn it is; 0: it waits for a firing. Only the thread of that stage's band moves it on.
    turn: AtomicU32,
    /// What the stage handles; touched by the thread whose turn it is alone.
    firing: Mutex<Option<Firing>>,
    /// Handlers that panicked.
    failed: AtomicU64,
}

/// Handlers that follow one another in one band.
struct Stage {
    band: usize,
    priority: u8,
    handlers: Vec<HandlerFunction>,
}

fn band_of(priority: u8, real_time: bool) -> usize {
    if real_time { usize::from(priority.div_ceil(BAND_WIDTH)).min(BANDS - 1) } else { 0 }
}

/// How the thread of a band is scheduled.
pub(super) fn class_of(band: usize) -> Class {
    match band {
        0 => Class::Other,
        band => Class::Fifo { priority: FIFO_LOWEST + band as u8 - 1 },
    }
}

fn stages(handlers: &[PlannedHandler], real_time: bool) -> Vec<Stage> {
    let mut stages: Vec<Stage> = Vec::new();
    for PlannedHandler { function, priority } in handlers {
        let band = band_of(*priority, real_time);
        match stages.last_mut().filter(|last| last.band == band) {
            Some(last) => {
                last.priority = last.priority.max(*priority);
                last.handlers.push(function.clone());
            }
            None => stages.push(Stage { band, priority: *priority, handlers: vec![function.clone()] }),
        }
    }
    stages
}

impl Dispatch {
    /// `unheard`: for each trigger whose event has no receptor, in their order, the default handler of its kind. Their receptors come after
    /// all others.
    pub(super) fn new(plan: &EventPlan, unheard: Vec<PlannedHandler>, real_time: bool) -> Self {
        let of_receptors = plan.receptors.iter().map(|receptor| receptor.handlers.clone());
        let all = of_receptors.chain(unheard.into_iter().map(|handler| vec![handler])).enumerate();
        let activations =
            all.filter(|(_, handlers)| !handlers.is_empty()).map(|(receptor, handlers)| Activation {
                receptor,
                stages: stages(&handlers, real_time),
                turn: AtomicU32::new(0),
                firing: Mutex::new(None),
                failed: AtomicU64::new(0),
            });
        Self { activations: activations.collect(), bells: Default::default() }
    }

    /// The bands that have work.
    pub(super) fn bands(&self) -> Vec<usize> {
        let has = |band: &usize| {
            self.activations
                .iter()
                .any(|activation| activation.stages.iter().any(|stage| stage.band == *band))
        };
        (0..BANDS).filter(has).collect()
    }

    fn ring(&self, band: usize) {
        self.bells[band].fetch_add(1, Ordering::Release);
        // It can fail only for an address that is not mapped, and this one is.
        let _ = futex::wake(&self.bells[band], 1);
    }
}

/// Runs the handlers of a band until the commit ends.
pub(super) fn serve(band: usize, events: &CommittedEvents, committed: &Arc<Committed>) {
    let CommittedEvents { dispatch, watch, receptors, .. } = events;
    let begins_here = |activation: &&Activation| activation.stages[0].band == band;
    let waited: Vec<&CommittedReceptor> = dispatch
        .activations
        .iter()
        .filter(begins_here)
        .map(|activation| &receptors[activation.receptor])
        .collect();
    loop {
        let bell = &dispatch.bells[band];
        let mut words = Words::new();
        words.push(watch.bell());
        words.push(Awaited::new(NonNull::from(bell).cast(), bell.load(Ordering::Acquire)));
        waited.iter().for_each(|receptor| words.push_sources(&receptor.sources));
        let stop = watch.stop_at();
        if leveret_os::clock::now() >= stop {
            return;
        }
        match dispatch
            .activations
            .iter()
            .filter_map(|activation| activation.readiness(band, receptors))
            .min_by_key(|(urgency, _)| *urgency)
        {
            Some((_, activation)) => activation.run(band, events, committed),
            None => words.sleep(waited.iter().flat_map(|receptor| &receptor.listeners), stop),
        }
    }
}

impl Activation {
    /// Whether it is ready for the thread of this band, and how urgent it is then: the smaller first.
    fn readiness(
        &self,
        band: usize,
        receptors: &[CommittedReceptor],
    ) -> Option<((Reverse<u8>, Nanos), &Self)> {
        let turn = self.turn.load(Ordering::Acquire) as usize;
        let stage = self.stages.get(turn).filter(|stage| stage.band == band)?;
        let time = if turn == 0 {
            receptors[self.receptor].occurrence()?.next_time()?
        } else {
            let firing = *self.firing.lock().unwrap_or_else(PoisonError::into_inner);
            firing?.time.unwrap_or(Nanos(i64::MIN))
        };
        Some(((Reverse(stage.priority), time), self))
    }

    /// Runs the stage whose turn it is.
    fn run(&self, band: usize, events: &CommittedEvents, committed: &Arc<Committed>) {
        let turn = self.turn.load(Ordering::Acquire) as usize;
        let receptor = &events.receptors[self.receptor];
        let firing = if turn == 0 {
            let taken = receptor.take();
            *self.firing.lock().unwrap_or_else(PoisonError::into_inner) = taken;
            taken
        } else {
            *self.firing.lock().unwrap_or_else(PoisonError::into_inner)
        };
        let Some(firing) = firing else { return };
        for handler in &self.stages[turn].handlers {
            if catch_unwind(AssertUnwindSafe(|| handler(receptor.handle, firing, committed))).is_err() {
                self.failed.fetch_add(1, Ordering::Relaxed);
            }
        }
        let next = (turn + 1) % self.stages.len();
        self.turn.store(next as u32, Ordering::Release);
        let next_band = self.stages[next].band;
        if next_band != band {
            events.dispatch.ring(next_band);
        }
    }
}
