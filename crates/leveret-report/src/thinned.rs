//! What is kept of instances and messages whose details were left out, so that a run of days stays within its limit: exact
//! counts, and how their times were distributed.

use crate::record::{Fate, InstanceRecord, MessageRecord, Outcome};
use leveret_types::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Leading bits of a value that are kept.
const KEPT_BITS: u32 = 10;

/// How values are distributed: count, least, greatest and sum are exact, values are kept to a thousandth. It takes a bounded
/// amount of memory, whatever the number of values.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Distribution {
    /// How many.
    pub count: u64,
    /// Least.
    pub min: i64,
    /// Greatest.
    pub max: i64,
    /// Sum, saturating.
    pub sum: i64,
    /// How many of each value, cut to its leading bits; negative values count as 0.
    pub counts: BTreeMap<u64, u64>,
}

impl Distribution {
    /// One more value.
    pub fn add(&mut self, value: i64) {
        (self.min, self.max) =
            if self.count == 0 { (value, value) } else { (self.min.min(value), self.max.max(value)) };
        self.count = self.count.saturating_add(1);
        self.sum = self.sum.saturating_add(value);
        let of_value = self.counts.entry(cut(u64::try_from(value).unwrap_or(0))).or_insert(0);
        *of_value = of_value.saturating_add(1);
    }
}

/// The middle of the values that have these leading bits.
fn cut(value: u64) -> u64 {
    let dropped = (u64::BITS - value.leading_zeros()).saturating_sub(KEPT_BITS);
    if dropped == 0 { value } else { (value >> dropped << dropped) | 1 << (dropped - 1) }
}

/// Instances whose details were left out.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ThinnedInstances {
    /// How many.
    pub count: u64,
    /// Of those, skipped.
    pub skipped: u64,
    /// Of those, missed: their details went because there were too many misses to keep.
    pub missed: u64,
    /// Of those, with an execution beyond the budget.
    pub over_budget: u64,
    /// From the planned end of the sleep to the return from it.
    pub wake_lateness: Distribution,
    /// From the planned start to the start, or to the instant at which the instance was skipped.
    pub start_lateness: Distribution,
    /// Execution time.
    pub execution: Distribution,
    /// From the end to the end of the window.
    pub slack: Distribution,
}

/// Messages whose details were left out.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ThinnedMessages {
    /// How many.
    pub count: u64,
    /// Of those, in time and taken.
    pub taken: u64,
    /// Of those, in time and taken by nobody.
    pub untaken: u64,
    /// Of those, missed: their details went because there were too many misses to keep.
    pub missed: u64,
    /// From insertion to the instant at which the message was due, of those in time.
    pub latency: Distribution,
    /// From insertion to taking.
    pub insert_to_taken: Distribution,
    /// From the instant at which the message was due to taking.
    pub available_to_taken: Distribution,
}

impl InstanceRecord {
    /// Whether the instance was skipped.
    pub fn is_skipped(&self) -> bool {
        matches!(self.outcome, Outcome::SkippedCritical | Outcome::SkippedOverrun)
    }

    /// Whether the instance did not keep its window.
    pub fn is_missed(&self) -> bool {
        self.is_skipped() || self.ended > self.deadline
    }

    /// Processor time of the body where it was measured, else from start to end.
    pub fn execution(&self) -> Nanos {
        if self.cpu > Nanos::ZERO { self.cpu } else { self.ended - self.started }
    }

    /// From the planned start to the start, or to the instant at which the instance was skipped.
    pub fn start_lateness(&self) -> Nanos {
        self.started - self.planned
    }
}

impl MessageRecord {
    /// Whether the message was not there in time.
    pub fn is_missed(&self) -> bool {
        !matches!(self.fate, Fate::Taken | Fate::Untaken)
    }
}

impl ThinnedInstances {
    /// Leaves out the details of one more instance of a task with this budget.
    pub fn add(&mut self, instance: &InstanceRecord, guard: Nanos, budget: Nanos) {
        self.count += 1;
        self.skipped += u64::from(instance.is_skipped());
        self.missed += u64::from(instance.is_missed());
        self.wake_lateness.add((instance.woken - (instance.planned - guard)).0);
        self.start_lateness.add(instance.start_lateness().0);
        if !instance.is_skipped() {
            self.over_budget += u64::from(instance.execution() > budget);
            self.execution.add(instance.execution().0);
            self.slack.add((instance.deadline - instance.ended).0);
        }
    }
}

impl ThinnedMessages {
    /// Leaves out the details of one more message.
    pub fn add(&mut self, message: &MessageRecord, is_time_driven: bool) {
        self.count += 1;
        self.taken += u64::from(message.fate == Fate::Taken);
        self.untaken += u64::from(message.fate == Fate::Untaken);
        self.missed += u64::from(message.is_missed());
        if let Some(inserted) = message.inserted.filter(|inserted| is_time_driven && *inserted <= message.due)
        {
            self.latency.add((message.due - inserted).0);
        }
        if let Some(taken) = message.taken {
            self.available_to_taken.add((taken - message.due).0);
            if let Some(inserted) = message.inserted {
                self.insert_to_taken.add((taken - inserted).0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_is_exact_in_count_sum_and_bounds_and_true_to_a_thousandth() {
        let mut found = Distribution::default();
        for value in [-7, 3, 1_000_000, i64::MAX] {
            found.add(value);
        }
        assert_eq!((found.count, found.min, found.max, found.sum), (4, -7, i64::MAX, i64::MAX));
        for value in [0, 1, 1023, 1024, 123_456_789, u64::MAX] {
            assert!(cut(value).abs_diff(value) <= value / 1000, "{value}: {}", cut(value));
        }
    }
}
