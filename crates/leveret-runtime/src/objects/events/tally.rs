//! What is counted of a handler, and of a task that runs for an event: runs, what they cost, and what went wrong.

use crate::objects::committed::Committed;
use crate::objects::error::Code;
use crate::objects::handle::{Class, Handle};
use crate::task_tally::{Durations, TaskMetrics};
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

/// Durations that several threads measure.
#[derive(Default)]
struct DurationTally {
    count: AtomicU64,
    last: AtomicI64,
    /// One more than the least, so that 0 is none.
    least: AtomicI64,
    greatest: AtomicI64,
    sum: AtomicI64,
}

impl DurationTally {
    /// Measures one without counting it.
    fn measure(&self, duration: Nanos) {
        self.last.store(duration.0, Ordering::Relaxed);
        self.greatest.fetch_max(duration.0, Ordering::Relaxed);
        self.sum.fetch_add(duration.0, Ordering::Relaxed);
        let lower = |least: i64| (least == 0 || duration.0 < least - 1).then_some(duration.0 + 1);
        let _ = self.least.fetch_update(Ordering::Relaxed, Ordering::Relaxed, lower);
    }

    /// Counts one, and shows what was measured of it.
    fn count(&self) {
        self.count.fetch_add(1, Ordering::Release);
    }

    fn read(&self) -> Durations {
        let count = self.count.load(Ordering::Acquire);
        let time = |word: &AtomicI64| Nanos(word.load(Ordering::Relaxed));
        Durations {
            count,
            last: time(&self.last),
            least: Nanos((time(&self.least).0 - 1).max(0)),
            greatest: time(&self.greatest),
            sum: time(&self.sum),
        }
    }
}

/// Counts of one handler, or of one task that runs for an event. Several threads may run a handler, for several receptors.
#[derive(Default)]
pub(super) struct HandlerTally {
    compute: DurationTally,
    overruns: AtomicU64,
    failed: AtomicU64,
    /// From the firing to the start, of a task.
    lateness: DurationTally,
    /// Runs that ended after their deadline, of a task.
    missed: AtomicU64,
    tell: Option<Tell>,
}

/// What the agent is told of a handler's runs.
pub(super) enum Trouble {
    /// So many have failed, when they are 1, 2, 4, 8 and so on: one that always fails is told of seldom.
    Failed(u64),
    /// One took more than the budget, the first.
    Overran,
}

pub(super) type Tell = Box<dyn Fn(Trouble) + Send + Sync>;

impl HandlerTally {
    pub(super) fn telling(tell: Option<Tell>) -> Self {
        Self { tell, ..Self::default() }
    }

    /// Runs a handler with this budget, and counts. What it does wrong ends here. To know its processor time costs two system calls, which
    /// only a handler with a budget pays.
    pub(super) fn run(&self, budget: Nanos, body: impl FnOnce()) {
        let before = (budget > Nanos::ZERO).then(clock::thread_cpu_time);
        let outside = RUN.replace(Run::Going);
        let has_panicked = catch_unwind(AssertUnwindSafe(body)).is_err();
        if RUN.replace(outside) == Run::Failed || has_panicked {
            let times = self.failed.fetch_add(1, Ordering::Relaxed) + 1;
            if times.is_power_of_two() {
                self.tell(Trouble::Failed(times));
            }
        }
        if let Some(before) = before {
            self.count_time(clock::thread_cpu_time() - before, budget);
        }
        self.compute.count();
    }

    fn count_time(&self, spent: Nanos, budget: Nanos) {
        self.compute.measure(spent);
        if spent > budget && self.overruns.fetch_add(1, Ordering::Relaxed) == 0 {
            self.tell(Trouble::Overran);
        }
    }

    fn tell(&self, trouble: Trouble) {
        if let Some(tell) = &self.tell {
            tell(trouble);
        }
    }

    /// Counts how late a task's run began after its firing.
    pub(super) fn count_start(&self, late: Nanos) {
        self.lateness.measure(late);
        self.lateness.count();
    }

    /// Counts a task's run that ended too late.
    pub(super) fn count_miss(&self) {
        self.missed.fetch_add(1, Ordering::Relaxed);
    }

    fn metrics(&self) -> HandlerMetrics {
        HandlerMetrics {
            compute: self.compute.read(),
            overruns: self.overruns.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }

    fn task_metrics(&self) -> TaskMetrics {
        let compute = self.compute.read();
        TaskMetrics {
            compute,
            start_lateness: self.lateness.read(),
            completed: compute.count,
            missed: self.missed.load(Ordering::Relaxed),
            overruns: self.overruns.load(Ordering::Relaxed),
            skipped: 0,
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

    /// What was counted of a task that runs for an event; `None` of one that the plan runs.
    pub(in crate::objects) fn event_task_metrics(&self, task: Handle) -> Option<TaskMetrics> {
        let tallies = &self.events.get()?.tallies;
        tallies.iter().find(|(known, _)| *known == task).map(|(_, tally)| tally.task_metrics())
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
