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
    /// Of what cannot have arrived before `begin`.
    pub(in crate::objects) fn new(interval: Option<Nanos>, begin: Nanos) -> Self {
        Self { interval: interval.unwrap_or(Nanos::ZERO), next: AtomicI64::new(begin.0) }
    }

    /// Nothing was pending at `now`, so what comes later has not arrived before: whoever fires says when that was, and could say any time.
    /// A firing may be on its way for an interval.
    pub(in crate::objects) fn rests(&self, now: Nanos) {
        self.next.fetch_max((now - self.interval).0, Ordering::Relaxed);
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
        let pace = Pace::new(Some(Nanos(100)), Nanos(900));
        assert_eq!(pace.next(), Nanos(900), "the first may come at once");
        pace.ran(Nanos(1000));
        assert_eq!(pace.next(), Nanos(1100));
        pace.ran(Nanos(1001));
        assert_eq!(pace.next(), Nanos(1200), "the second counts as come at 1100");
        pace.ran(Nanos(5000));
        assert_eq!(pace.next(), Nanos(5100), "quiet earns nothing");
    }

    /// Runs at once from `now` on, of firings that say that they were at `said`.
    fn runs_at_once(pace: &Pace, now: Nanos, said: Nanos) -> usize {
        (0..100).take_while(|_| pace.next() <= now).map(|_| pace.ran(said.min(now))).count()
    }

    #[test]
    fn what_says_that_it_came_long_ago_runs_no_more_often() {
        for said in [Nanos(i64::MIN), Nanos::ZERO, Nanos(2000)] {
            let pace = Pace::new(Some(Nanos(100)), Nanos(1000));
            assert_eq!(runs_at_once(&pace, Nanos(1000), said), 1, "at the commit");
            pace.rests(Nanos(9000));
            assert_eq!(runs_at_once(&pace, Nanos(9000), said), 2, "one may have been on its way: {said}");
            assert_eq!(runs_at_once(&pace, Nanos(9999), said), 9, "{said}");
        }
    }

    #[test]
    fn who_rests_between_firings_at_their_interval_holds_up_none() {
        let pace = Pace::new(Some(Nanos(100)), Nanos::ZERO);
        for arrived in (1..50).map(|count| Nanos(100 * count)) {
            assert!(pace.next() <= arrived);
            pace.ran(arrived);
            pace.rests(arrived + Nanos(60));
        }
    }

    #[test]
    fn without_an_interval_nothing_waits() {
        let pace = Pace::new(None, Nanos::ZERO);
        pace.ran(Nanos(7));
        pace.rests(Nanos(8));
        assert!(pace.next() <= Nanos(8));
    }
}
