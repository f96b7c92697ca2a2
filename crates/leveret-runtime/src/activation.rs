//! Activation of a channel end (design section 10.4): a local call that takes effect at the first instance which
//! all ends can still make, agreed through their published first-eligible indices.

use crate::timing::Arrival;
use leveret_memory::sync::{AtomicI64, AtomicU64, Ordering};
use leveret_memory::{Latest, NOT_ACTIVE};
use leveret_types::{Instance, Nanos};
use std::sync::{Mutex, PoisonError};

/// Periods between a call and the first instance that it can affect: one for the period in progress, one for the
/// peer to read the new index.
const MARGIN: u64 = 2;
const NEVER: u64 = NOT_ACTIVE;

/// When an end takes part.
///
/// ```text
///  instances  ----[from=======until)---------[resume=========>
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Spans {
    from: u64,
    until: u64,
    resume: u64,
}

impl Spans {
    const ALWAYS: Self = Self { from: 0, until: NEVER, resume: NEVER };

    fn words(self) -> [u64; 3] {
        [self.from, self.until, self.resume]
    }

    fn covers(self, instance: u64) -> bool {
        (self.from..self.until).contains(&instance) || (instance >= self.resume && self.resume != NEVER)
    }

    /// The first-eligible index to show the peer before `instance`.
    fn eligible(self, instance: u64) -> u64 {
        if instance < self.until { self.from } else { self.resume }
    }

    /// Active from `at` on; where it is or will be active before that, nothing changes.
    fn activated(self, at: u64) -> Self {
        if self.until == NEVER {
            return Self { from: self.from.min(at), ..self };
        }
        let resume = self.resume.min(at);
        if resume <= self.until {
            Self { until: NEVER, resume: NEVER, ..self }
        } else {
            Self { resume, ..self }
        }
    }

    /// Not active from `at` on, the first instance that can still be changed.
    fn deactivated(self, at: u64) -> Self {
        let past = Self { from: self.resume, until: NEVER, resume: NEVER };
        let last = if self.resume < at && self.until + MARGIN <= at { past } else { self };
        // A pause whose end is as near as its beginning goes on.
        Self { until: last.until.min(at).max(last.from.min(at)), resume: NEVER, ..last }
    }
}

/// The activation of one end, shared by the threads that ask and the task that follows.
pub struct Activation {
    asked: Mutex<Spans>,
    /// What was asked last, for the task: it takes no lock.
    latest: Latest<3>,
    /// The index that stands in the segment.
    published: AtomicU64,
    epoch: AtomicI64,
    arrival: Arrival,
}

impl Activation {
    pub(crate) fn new(arrival: Arrival) -> Self {
        Self {
            asked: Mutex::new(Spans::ALWAYS),
            latest: Latest::new(Spans::ALWAYS.words()),
            published: AtomicU64::new(Spans::ALWAYS.from),
            epoch: AtomicI64::new(0),
            arrival,
        }
    }

    pub(crate) fn arm(&self, epoch: Nanos) {
        self.epoch.store(epoch.0, Ordering::Release);
    }

    /// The first instance that a call made at `now` can affect.
    fn next(&self, now: Nanos) -> u64 {
        let epoch = Nanos(self.epoch.load(Ordering::Acquire));
        if now < epoch { 0 } else { self.arrival.next_after(now - epoch) + MARGIN }
    }

    /// Activates from the first instance that can still be made; returns it. The channel runs from the later of
    /// the two ends' first instances. An end that is active stays so.
    pub fn activate(&self, now: Nanos) -> Instance {
        self.activate_at(Instance(0), now)
    }

    /// Activates from `instance`, or from the first that can still be made if that is later; returns it. An end that
    /// is active before it stays so.
    pub fn activate_at(&self, instance: Instance, now: Nanos) -> Instance {
        let at = instance.0.max(self.next(now));
        self.change(|spans| spans.activated(at));
        Instance(at)
    }

    /// Deactivates at the end of the period in progress; returns the first instance that is not made any more.
    pub fn deactivate(&self, now: Nanos) -> Instance {
        let at = self.next(now);
        Instance(self.change(|spans| spans.deactivated(at)).until)
    }

    fn change(&self, change: impl FnOnce(Spans) -> Spans) -> Spans {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        *asked = change(*asked);
        self.latest.store(asked.words());
        *asked
    }

    #[inline]
    fn spans(&self) -> Spans {
        let [from, until, resume] = self.latest.load();
        Spans { from, until, resume }
    }

    /// Whether this end takes part in `instance`.
    #[inline]
    pub(crate) fn covers(&self, instance: u64) -> bool {
        self.spans().covers(instance)
    }

    /// The first-eligible index to publish before `instance`, if it has changed.
    #[inline]
    pub(crate) fn follow(&self, instance: u64) -> Option<u64> {
        let index = self.spans().eligible(instance);
        // Only the task's thread writes this word.
        if self.published.load(Ordering::Relaxed) == index {
            return None;
        }
        self.published.store(index, Ordering::Relaxed);
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Nanos = Nanos(10);

    /// Armed at 100; instance k arrives at 110 + 10 k, so a call within period k affects k + 2.
    fn armed() -> Activation {
        let activation = Activation::new(Arrival { period: PERIOD, first: PERIOD });
        activation.arm(Nanos(100));
        activation
    }

    fn within(period: i64) -> Nanos {
        Nanos(101 + period * 10)
    }

    fn active(activation: &Activation, instances: std::ops::Range<u64>) -> Vec<u64> {
        instances.filter(|instance| activation.covers(*instance)).collect()
    }

    // spec: SIDED-ACTIVATE-04
    #[test]
    fn a_pause_has_the_named_ends() {
        let activation = armed();
        assert_eq!(activation.deactivate(within(3)), Instance(5));
        assert_eq!(activation.activate_at(Instance(9), within(3)), Instance(9));
        assert_eq!(active(&activation, 0..12), [0, 1, 2, 3, 4, 9, 10, 11]);
        let followed: Vec<_> = (3..11).map(|instance| activation.follow(instance)).collect();
        assert_eq!(followed, [None, None, Some(9), None, None, None, None, None]);
    }

    // spec: SIDED-ACTIVATE-06
    #[test]
    fn activating_what_is_active_leaves_no_gap() {
        let activation = armed();
        assert_eq!(activation.activate(within(3)), Instance(5));
        assert_eq!(active(&activation, 0..8), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(activation.follow(4), None);
    }

    // spec: SIDED-ACTIVATE-08
    #[test]
    fn a_deactivation_can_be_taken_back_before_it_takes_effect() {
        let activation = armed();
        assert_eq!(activation.deactivate(within(3)), Instance(5));
        assert_eq!(activation.activate(within(3)), Instance(5));
        assert_eq!(active(&activation, 3..9), [3, 4, 5, 6, 7, 8]);
    }

    // spec: SIDED-ACTIVATE-03
    #[test]
    fn a_second_pause_begins_where_it_says() {
        let activation = armed();
        activation.deactivate(within(3));
        activation.activate_at(Instance(9), within(4));
        assert_eq!(activation.deactivate(within(20)), Instance(22));
        assert_eq!(active(&activation, 18..30), [18, 19, 20, 21]);
        assert_eq!(activation.activate(within(22)), Instance(24));
        assert_eq!(active(&activation, 19..27), [19, 20, 21, 24, 25, 26]);
    }

    // spec: SIDED-ACTIVATE-08
    #[test]
    fn a_planned_activation_that_is_taken_back_does_not_come() {
        let activation = armed();
        activation.deactivate(within(3));
        activation.activate_at(Instance(50), within(8));
        assert_eq!(activation.deactivate(within(10)), Instance(5));
        assert_eq!(active(&activation, 8..60), [0; 0]);
    }

    #[test]
    fn a_deactivated_end_is_not_deactivated_later_once_more() {
        let activation = armed();
        assert_eq!(activation.deactivate(within(3)), Instance(5));
        assert_eq!(activation.deactivate(within(9)), Instance(5));
        assert_eq!(active(&activation, 0..20), [0, 1, 2, 3, 4]);
    }
}
