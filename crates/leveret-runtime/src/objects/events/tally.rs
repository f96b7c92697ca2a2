//! What is counted of a handler: runs, what they cost, and what went wrong.

use crate::objects::committed::Committed;
use crate::objects::error::Code;
use crate::objects::handle::{Class, Handle};
use crate::task_tally::Durations;
use leveret_memory::sync::{AtomicI64, AtomicU64, Ordering};
use leveret_os::clock;
use leveret_types::Nanos;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Whether this thread runs a handler, and whether that has said that it failed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    None,
    Going,
    Failed,
}

thread_local! {
    /// Plain data, so that its first use allocates nothing.
    static RUN: Cell<Run> = const { Cell::new(Run::None) };
}

/// What [`Committed::handler_metrics`] tells of a handler, since the commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HandlerMetrics {
    /// Processor time of its runs; of a handler without a budget only their count.
    pub compute: Durations,
    /// Runs that took more than the budget.
    pub overruns: u64,
    /// Runs that panicked, or said that they failed.
    pub failed: u64,
}

/// Counts of one handler. Several threads may run it, for several receptors.
#[derive(Default)]
pub(super) struct HandlerTally {
    count: AtomicU64,
    last: AtomicI64,
    /// One more than the least, so that 0 is none.
    least: AtomicI64,
    greatest: AtomicI64,
    sum: AtomicI64,
    overruns: AtomicU64,
    failed: AtomicU64,
}

impl HandlerTally {
    /// Runs a handler with this budget, and counts. What it does wrong ends here. To know its processor time costs two system calls, which
    /// only a handler with a budget pays.
    pub(super) fn run(&self, budget: Nanos, body: impl FnOnce()) {
        let before = (budget > Nanos::ZERO).then(clock::thread_cpu_time);
        let outside = RUN.replace(Run::Going);
        let has_panicked = catch_unwind(AssertUnwindSafe(body)).is_err();
        if RUN.replace(outside) == Run::Failed || has_panicked {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(before) = before {
            self.count_time(clock::thread_cpu_time() - before, budget);
        }
        self.count.fetch_add(1, Ordering::Release);
    }

    fn count_time(&self, spent: Nanos, budget: Nanos) {
        self.last.store(spent.0, Ordering::Relaxed);
        self.greatest.fetch_max(spent.0, Ordering::Relaxed);
        self.sum.fetch_add(spent.0, Ordering::Relaxed);
        let lower = |least: i64| (least == 0 || spent.0 < least - 1).then_some(spent.0 + 1);
        let _ = self.least.fetch_update(Ordering::Relaxed, Ordering::Relaxed, lower);
        if spent > budget {
            self.overruns.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn metrics(&self) -> HandlerMetrics {
        let count = self.count.load(Ordering::Acquire);
        let time = |word: &AtomicI64| Nanos(word.load(Ordering::Relaxed));
        HandlerMetrics {
            compute: Durations {
                count,
                last: time(&self.last),
                least: Nanos((time(&self.least).0 - 1).max(0)),
                greatest: time(&self.greatest),
                sum: time(&self.sum),
            },
            overruns: self.overruns.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }
}

impl Committed {
    /// Says that the run of a handler on this thread has failed: it counts as one that panicked. The run goes on.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] when this thread runs no handler.
    pub fn fail_handler(&self) -> Result<(), Code> {
        if RUN.get() == Run::None {
            return Err(Code::UndefForObject);
        }
        RUN.set(Run::Failed);
        Ok(())
    }

    /// What was counted of a handler since the commit; zeros of one that nothing runs.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn handler_metrics(&self, handler: Handle) -> Result<HandlerMetrics, Code> {
        self.world.of(handler, Class::Handler)?;
        let tallies = &self.committed_events()?.tallies;
        let tally = tallies.iter().find(|(known, _)| *known == handler);
        Ok(tally.map_or_else(HandlerMetrics::default, |(_, tally)| tally.metrics()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: EVENT-HANDLER-09
    #[test]
    fn runs_beyond_the_budget_are_counted_and_measured() {
        let tally = HandlerTally::default();
        for spent in [30, 10, 20] {
            tally.count_time(Nanos(spent), Nanos(20));
            tally.run(Nanos::ZERO, || {});
        }
        let (count, last, least, greatest, sum) = (3, Nanos(20), Nanos(10), Nanos(30), Nanos(60));
        let compute = Durations { count, last, least, greatest, sum };
        assert_eq!(tally.metrics(), HandlerMetrics { compute, overruns: 1, failed: 0 });
        tally.run(Nanos(1), || std::hint::black_box(()));
        assert_eq!((tally.metrics().overruns, tally.metrics().compute.count), (2, 4), "no run takes 1 ns");
    }

    // spec: EVENT-HANDLER-10
    #[test]
    fn a_panic_ends_at_the_handler_and_is_counted() {
        let tally = HandlerTally::default();
        tally.run(Nanos::ZERO, || panic!("on purpose"));
        tally.run(Nanos::ZERO, || {});
        assert_eq!((tally.metrics().failed, tally.metrics().compute.count), (1, 2));
        // What a run says of itself, and panics besides, is one failure; and it is no other run's.
        tally.run(Nanos::ZERO, || {
            RUN.set(Run::Failed);
            panic!("on purpose");
        });
        tally.run(Nanos::ZERO, || assert!(RUN.get() == Run::Going));
        assert_eq!((tally.metrics().failed, tally.metrics().compute.count), (2, 4));
        assert!(RUN.get() == Run::None);
    }
}
