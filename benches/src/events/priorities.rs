//! Events of several priorities, raised while what serves them is busy: the more urgent are handled first, whenever they came.
//!
//! ```text
//!  raiser   hold --> wait    5 10 15 20 25 30 35 40   let go                wait for the last
//!  server       |=hold===================================|40|35|30|25|20|15|10|5|
//! ```
//!
//! A handler that is started before a more urgent one that was pending too is an *inversion*, and an error of the round.

use super::ours::{PATIENCE, broken, committed, join, receptor, trigger};
use crate::BenchError;
use crate::child::{Counts, Order, done, serve};
use crate::job::{self, Role};
use leveret::objects::{Code, Committed, Handle, HandlerFunction, Library, Qos};
use leveret::{Horizon, Nanos};
use leveret_memory::sync::{AtomicU64, Ordering};
use leveret_os::scheduling::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// From the least to the most urgent, as they are raised.
const PRIORITIES: [u8; BURST] = [5, 10, 15, 20, 25, 30, 35, 40];
/// Those that are measured.
pub const MEASURED: [u8; 4] = [10, 20, 30, 40];
/// Of the handler that keeps the others waiting.
const HOLDS: u8 = 50;
const BURST: usize = 8;
/// The least distance of two runs of a handler, which admission asks for. Bursts are further apart.
const INTERVAL: Nanos = Nanos::from_micros(200);
const BUDGET: Nanos = Nanos::from_micros(1);

/// Which handler was started as the how-manieth, and when.
struct Log {
    since: Instant,
    started: AtomicU64,
    /// The priority's place, and nanoseconds.
    starts: [(AtomicU64, AtomicU64); BURST],
    /// How many bursts were let go.
    let_go: AtomicU64,
    held: AtomicU64,
}

impl Log {
    fn new() -> Self {
        let starts = std::array::from_fn(|_| (AtomicU64::new(0), AtomicU64::new(0)));
        let [started, let_go, held] = std::array::from_fn(|_| AtomicU64::new(0));
        Self { since: Instant::now(), started, starts, let_go, held }
    }

    fn now(&self) -> u64 {
        self.since.elapsed().as_nanos() as u64
    }

    /// Whether it was the last of a burst.
    fn start(&self, priority: usize) -> bool {
        let now = self.now();
        let place = self.started.fetch_add(1, Ordering::AcqRel) as usize;
        if let Some((which, when)) = self.starts.get(place) {
            which.store(priority as u64, Ordering::Relaxed);
            when.store(now, Ordering::Release);
        }
        place + 1 == BURST
    }

    /// Keeps whoever calls until the burst is raised.
    fn hold(&self) {
        let turn = self.held.fetch_add(1, Ordering::Relaxed);
        while self.let_go.load(Ordering::Acquire) <= turn {
            std::hint::spin_loop();
        }
    }

    /// Counts how long those of a priority waited since `raised`, and gives the number of inversions.
    fn count(&self, priority: usize, raised: u64, counts: &mut Counts) -> usize {
        let order: Vec<u64> = self.starts.iter().map(|(which, _)| which.load(Ordering::Relaxed)).collect();
        for (which, when) in &self.starts {
            if which.load(Ordering::Relaxed) == priority as u64 {
                counts.record(when.load(Ordering::Acquire).saturating_sub(raised));
            }
        }
        inversions(&order)
    }
}

/// Pairs of which the less urgent came first.
fn inversions(order: &[u64]) -> usize {
    let after = |place: usize| order[place + 1..].iter().filter(move |later| **later > order[place]).count();
    (0..order.len()).map(after).sum()
}

/// The child that the harness starts: `child events-priorities CORE_RAISER CORE_SERVER`.
pub fn agent([raiser, server]: [&str; 2]) -> Result<(), BenchError> {
    let arguments = ["events-priorities-member".to_owned(), raiser.to_owned()];
    // The library's threads run on the core of their member.
    let role = Role::new("raiser", server.parse().map_err(broken)?, arguments);
    job::run("events", &[role], Horizon::Unbounded).map(drop)
}

/// What is fired, and waited for.
struct Raiser {
    hold: Handle,
    held: Handle,
    triggers: [Handle; BURST],
    done: Handle,
}

fn handled(library: &mut Library, event: &str, priority: u8, function: HandlerFunction) -> Result<(), Code> {
    let qos = library.world.qos("", Qos::Handler { priority, budget: BUDGET, interval: INTERVAL })?;
    let handler = library.world.handler(event, qos, function)?;
    let handlers = library.world.cvector("", &[handler])?;
    library.world.receptor(event, Handle::GROUP_WORLD, handlers)?;
    Ok(())
}

impl Raiser {
    fn declare(library: &mut Library, log: &Arc<Log>) -> Result<Self, BenchError> {
        let (is_held, is_done) = (trigger(library, "held")?, trigger(library, "done")?);
        let of_hold = log.clone();
        let hold: HandlerFunction = Arc::new(move |_, _, committed| {
            // A burst that is not begun, or does not end, is told by who waits for it.
            let _ = committed.fire(is_held);
            of_hold.hold();
        });
        handled(library, "hold", HOLDS, hold).map_err(broken)?;
        let mut triggers = [Handle::default(); BURST];
        for (place, priority) in PRIORITIES.into_iter().enumerate() {
            let log = log.clone();
            let function: HandlerFunction = Arc::new(move |_, _, committed| {
                if log.start(place) {
                    let _ = committed.fire(is_done);
                }
            });
            let event = format!("at-{priority}");
            handled(library, &event, priority, function).map_err(broken)?;
            triggers[place] = trigger(library, &event)?;
        }
        let (held, done) = (receptor(library, "held")?, receptor(library, "done")?);
        Ok(Self { hold: trigger(library, "hold")?, held, triggers, done })
    }

    /// Raises a burst, the least urgent first, and gives when the last of it was raised.
    fn burst(&self, committed: &Committed, log: &Log) -> Result<u64, Code> {
        log.started.store(0, Ordering::Release);
        committed.fire(self.hold)?;
        committed.receptor_wait(self.held, PATIENCE)?;
        self.triggers.iter().try_for_each(|trigger| committed.fire(*trigger))?;
        let raised = log.now();
        log.let_go.fetch_add(1, Ordering::AcqRel);
        committed.receptor_wait(self.done, PATIENCE)?;
        Ok(raised)
    }

    fn round(&self, committed: &Committed, log: &Log, order: &Order) -> Result<String, String> {
        let priority = PRIORITIES.iter().position(|priority| order.kind == case_of(*priority));
        let priority = priority.ok_or_else(|| format!("no priority is called {}", order.kind))?;
        let end = Instant::now() + order.duration.max(Duration::from_millis(1));
        let (mut counts, mut wrong, mut bursts) = (Counts::default(), 0, 0);
        while bursts == 0 || Instant::now() < end {
            let raised = self.burst(committed, log).map_err(|code| code.to_string())?;
            wrong += log.count(priority, raised, &mut counts);
            bursts += 1;
            let next = log.now() + INTERVAL.0.unsigned_abs();
            while log.now() < next {
                std::hint::spin_loop();
            }
        }
        match wrong {
            0 => Ok(done(0, &counts)),
            wrong => Err(format!("{wrong} inversions in {bursts} bursts")),
        }
    }
}

/// How an order names a priority.
pub fn case_of(priority: u8) -> String {
    format!("priority-{priority}")
}

/// The member that takes the harness's orders: `child events-priorities-member CORE`.
pub fn member(core: &str) -> Result<(), BenchError> {
    let mut library = join(core)?;
    pin(core.parse().map_err(broken)?).map_err(broken)?;
    let log = Arc::new(Log::new());
    let raiser = Raiser::declare(&mut library, &log)?;
    serve(env!("CARGO_PKG_VERSION"), |order| {
        let committed = committed(&mut library).map_err(|error| format!("{error}: {}", library.refusal()))?;
        log.held.store(0, Ordering::Release);
        log.let_go.store(0, Ordering::Release);
        let outcome = raiser.round(&committed, &log, order);
        library.uncommit().map_err(|error| error.to_string())?;
        outcome
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_less_urgent_start_before_a_more_urgent_one_is_an_inversion() {
        assert_eq!(inversions(&[3, 3, 2, 1, 0]), 0);
        assert_eq!(inversions(&[3, 2, 3, 1, 0]), 1);
        assert_eq!(inversions(&[0, 3, 2]), 2);
    }
}
