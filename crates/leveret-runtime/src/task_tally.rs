//! What is counted of a task while it runs: the task's thread writes, any thread of the member reads, and neither waits.

use leveret_memory::{Latest, StampRecord};
use leveret_types::Nanos;

/// Durations that were measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Durations {
    /// How many.
    pub count: u64,
    /// The last.
    pub last: Nanos,
    /// The shortest.
    pub least: Nanos,
    /// The longest.
    pub greatest: Nanos,
    /// All together.
    pub sum: Nanos,
}

impl Durations {
    pub(crate) const WORDS: usize = 5;

    /// One more.
    pub(crate) fn add(&mut self, duration: Nanos) {
        let is_first = self.count == 0;
        self.count += 1;
        self.last = duration;
        self.least = if is_first { duration } else { self.least.min(duration) };
        self.greatest = if is_first { duration } else { self.greatest.max(duration) };
        self.sum = self.sum.saturating_add(duration);
    }

    pub(crate) fn words(&self) -> [u64; Self::WORDS] {
        let Self { count, last, least, greatest, sum } = *self;
        [count, last.0 as u64, least.0 as u64, greatest.0 as u64, sum.0 as u64]
    }

    pub(crate) fn of_words([count, last, least, greatest, sum]: [u64; Self::WORDS]) -> Self {
        let nanos = |word| Nanos(word as i64);
        Self { count, last: nanos(last), least: nanos(least), greatest: nanos(greatest), sum: nanos(sum) }
    }
}

/// What was counted of a task since the commit: the figures of the report, by the same definitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TaskMetrics {
    /// How long the function ran.
    pub compute: Durations,
    /// From the planned start to the actual one, or, of an instance that was skipped, to when that was decided.
    pub start_lateness: Durations,
    /// Instances that ran.
    pub completed: u64,
    /// Instances that ended after their window, or were skipped.
    pub missed: u64,
    /// Instances that used more than their budget.
    pub overruns: u64,
    /// Instances that were not run.
    pub skipped: u64,
}

const WORDS: usize = 2 * Durations::WORDS + 4;

impl TaskMetrics {
    /// Counts an instance that has ended.
    pub(crate) fn count(&mut self, record: &StampRecord, skipped: bool, used: Nanos, budget: Nanos) {
        self.missed += u64::from(skipped || record.ended > record.deadline);
        self.start_lateness.add(record.started - record.planned);
        if skipped {
            self.skipped += 1;
            return;
        }
        self.completed += 1;
        self.compute.add(used);
        self.overruns += u64::from(used > budget);
    }

    /// Instances that ran or were skipped: the number of the present one.
    pub(crate) fn ended(&self) -> u64 {
        self.completed + self.skipped
    }

    /// Goes on from what was counted in the mode before; here nothing has run yet.
    pub(crate) fn go_on_from(&mut self, before: Self) {
        let (missed, skipped) = (self.missed, self.skipped);
        *self = before;
        self.missed += missed;
        self.skipped += skipped;
    }

    fn words(&self) -> [u64; WORDS] {
        let [a, b, c, d, e] = self.compute.words();
        let [f, g, h, i, j] = self.start_lateness.words();
        [a, b, c, d, e, f, g, h, i, j, self.completed, self.missed, self.overruns, self.skipped]
    }

    fn of_words(words: [u64; WORDS]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, completed, missed, overruns, skipped] = words;
        Self {
            compute: Durations::of_words([a, b, c, d, e]),
            start_lateness: Durations::of_words([f, g, h, i, j]),
            completed,
            missed,
            overruns,
            skipped,
        }
    }
}

/// Where a task's thread leaves its counts. Each value is read whole.
pub(crate) struct TaskTally {
    latest: Latest<WORDS>,
}

impl Default for TaskTally {
    fn default() -> Self {
        Self { latest: Latest::new([0; WORDS]) }
    }
}

impl TaskTally {
    /// By the task's thread alone. Where loads stall at every earlier value, the next instance tells of this one too.
    pub(crate) fn publish(&self, metrics: &TaskMetrics) {
        self.latest.store(metrics.words());
    }

    pub(crate) fn read(&self) -> TaskMetrics {
        TaskMetrics::of_words(self.latest.load())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn record(planned: i64, started: i64, ended: i64, deadline: i64) -> StampRecord {
        StampRecord {
            planned: Nanos(planned),
            started: Nanos(started),
            ended: Nanos(ended),
            deadline: Nanos(deadline),
            ..StampRecord::default()
        }
    }

    #[test]
    fn instances_are_counted_as_the_report_counts_them() {
        let mut metrics = TaskMetrics::default();
        metrics.count(&record(0, 3, 10, 20), false, Nanos(7), Nanos(8));
        metrics.count(&record(100, 101, 130, 120), false, Nanos(29), Nanos(8));
        metrics.count(&record(200, 220, 220, 220), true, Nanos::ZERO, Nanos(8));
        assert_eq!((metrics.completed, metrics.skipped, metrics.missed, metrics.overruns), (2, 1, 2, 1));
        let compute =
            Durations { count: 2, last: Nanos(29), least: Nanos(7), greatest: Nanos(29), sum: Nanos(36) };
        assert_eq!(metrics.compute, compute);
        // One that was skipped was late too, and up to then.
        let late =
            Durations { count: 3, last: Nanos(20), least: Nanos(1), greatest: Nanos(20), sum: Nanos(24) };
        assert_eq!(metrics.start_lateness, late);
        let tally = TaskTally::default();
        assert_eq!(tally.read(), TaskMetrics::default());
        tally.publish(&metrics);
        assert_eq!(tally.read(), metrics);
    }

    // spec: TASK-METRIC-RUN-02
    #[test]
    fn what_is_read_belongs_together_while_it_is_written() {
        let tally = Arc::new(TaskTally::default());
        let written = tally.clone();
        let writer = std::thread::spawn(move || {
            let mut metrics = TaskMetrics::default();
            for instance in 1..=50_000 {
                metrics.count(&record(0, instance, 2 * instance, instance), false, Nanos(instance), Nanos(0));
                written.publish(&metrics);
            }
        });
        let mut seen = 0;
        while seen < 50_000 {
            let metrics = tally.read();
            let count = metrics.completed;
            assert!(count >= seen, "counts never go back");
            seen = count;
            assert_eq!([metrics.compute.count, metrics.start_lateness.count, metrics.missed], [count; 3]);
            let whole = (count * (count + 1) / 2) as i64;
            assert_eq!([metrics.compute.sum.0, metrics.start_lateness.sum.0], [whole; 2]);
        }
        writer.join().expect("it ends");
    }
}
