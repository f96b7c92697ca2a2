//! The least distance between two runs, which the plan counts on: what comes sooner is served as if it came then.

use leveret_memory::sync::{AtomicI64, Ordering};
use leveret_types::Nanos;

/// Runs that keep their distance; of one thread.
pub(in crate::objects) struct Pace {
    /// 0: none.
    interval: Nanos,
    /// When the next run may be, at the earliest.
    next: AtomicI64,
}

impl Pace {
    pub(in crate::objects) fn new(interval: Option<Nanos>) -> Self {
        Self { interval: interval.unwrap_or(Nanos::ZERO), next: AtomicI64::new(i64::MIN) }
    }

    /// When the next run may be.
    pub(in crate::objects) fn next(&self) -> Nanos {
        Nanos(self.next.load(Ordering::Relaxed))
    }

    /// What arrived at this instant has run. The next one counts from there, not from when it ran, so that a run that waited for others does
    /// not hold up the next.
    pub(in crate::objects) fn ran(&self, arrived: Nanos) {
        if self.interval > Nanos::ZERO {
            let next = arrived.max(self.next()).saturating_add(self.interval);
            self.next.store(next.0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_too_soon_is_served_as_if_it_came_then() {
        let pace = Pace::new(Some(Nanos(100)));
        assert!(pace.next() < Nanos::ZERO, "the first may come at once");
        pace.ran(Nanos(1000));
        assert_eq!(pace.next(), Nanos(1100));
        pace.ran(Nanos(1001));
        assert_eq!(pace.next(), Nanos(1200), "the second counts as come at 1100");
        pace.ran(Nanos(5000));
        assert_eq!(pace.next(), Nanos(5100), "quiet earns nothing");
    }

    #[test]
    fn without_an_interval_nothing_waits() {
        let pace = Pace::new(None);
        pace.ran(Nanos(7));
        assert!(pace.next() < Nanos::ZERO);
    }
}
