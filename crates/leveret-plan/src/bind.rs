//! Which message a task instance fills or sees. Decided by declarations alone, never by the schedule.

use crate::{Channel, Costs, Qos};

/// The instants of a time-driven channel, as offsets from the start of each of its periods, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub period: i64,
    pub release: i64,
    pub insert_by: i64,
    pub visible_at: i64,
}

impl Transfer {
    /// The instants of `channel`, or `None` if it is not time-driven.
    pub fn of(channel: &Channel, costs: &Costs) -> Option<Self> {
        let Qos::TimeDriven { period, release, deadline, .. } = channel.qos else { return None };
        let visible_at = deadline + costs.clock_error;
        let insert_by = visible_at - costs.publish - costs.clock_error.saturating_mul(2);
        Some(Self { period: period.0, release: release.0, insert_by: insert_by.0, visible_at: visible_at.0 })
    }

    pub fn insert_by(&self, instance: i64) -> i64 {
        instance * self.period + self.insert_by
    }

    pub fn visible_at(&self, instance: i64) -> i64 {
        instance * self.period + self.visible_at
    }

    /// The channel instance that the writer's instance `task_instance` fills: the first one, not before its own
    /// number, that it can still insert in time when it starts at `earliest`.
    pub fn written_by(&self, task_instance: i64, earliest: i64, charged: i64) -> i64 {
        task_instance.max(div_ceil(earliest + charged - self.insert_by, self.period))
    }

    /// The freshest channel instance that is visible at `latest_start`; may be negative.
    pub fn seen_at(&self, latest_start: i64) -> i64 {
        (latest_start - self.visible_at).div_euclid(self.period)
    }
}

/// `a / b` rounded up, for positive `b`.
pub(crate) fn div_ceil(a: i64, b: i64) -> i64 {
    -(-a).div_euclid(b)
}
