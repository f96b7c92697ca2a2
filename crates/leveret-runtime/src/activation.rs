//! Activation of a channel end (design section 10.4): a local call that takes effect at the first instance which
//! all ends can still make, agreed through their published first-eligible indices.

use crate::timing::Arrival;
use leveret_memory::NOT_ACTIVE;
use leveret_memory::sync::{AtomicI64, AtomicU64, Ordering};
use leveret_types::{Instance, Nanos};

/// Periods between a call and the first instance that it can affect: one for the period in progress, one for the
/// peer to read the new index.
const MARGIN: u64 = 2;

/// The activation of one end, shared by the thread that asks and the task that follows.
pub struct Activation {
    /// First instance that this end takes part in; [`NOT_ACTIVE`] when deactivated.
    from: AtomicU64,
    /// First instance that it no longer takes part in.
    until: AtomicU64,
    /// The index that stands in the segment.
    published: AtomicU64,
    epoch: AtomicI64,
    arrival: Arrival,
}

impl Activation {
    pub(crate) fn new(arrival: Arrival) -> Self {
        Self {
            from: AtomicU64::new(0),
            until: AtomicU64::new(u64::MAX),
            published: AtomicU64::new(0),
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
    /// the two ends' first instances.
    pub fn activate(&self, now: Nanos) -> Instance {
        self.activate_at(Instance(self.next(now)), now)
    }

    /// Activates from `instance`, or from the first that can still be made if that is later; returns it.
    pub fn activate_at(&self, instance: Instance, now: Nanos) -> Instance {
        let from = instance.0.max(self.next(now));
        self.until.store(u64::MAX, Ordering::Relaxed);
        self.from.store(from, Ordering::Release);
        Instance(from)
    }

    /// Deactivates at the end of the period in progress; returns the first instance that is not made any more.
    pub fn deactivate(&self, now: Nanos) -> Instance {
        let until = self.next(now);
        self.until.store(until, Ordering::Release);
        Instance(until)
    }

    /// Whether this end takes part in `instance`.
    #[inline]
    pub(crate) fn covers(&self, instance: u64) -> bool {
        let from = self.from.load(Ordering::Acquire);
        from != NOT_ACTIVE && instance >= from && instance < self.until.load(Ordering::Acquire)
    }

    /// The first-eligible index to publish before `instance`, if it has changed.
    #[inline]
    pub(crate) fn follow(&self, instance: u64) -> Option<u64> {
        let ended = instance >= self.until.load(Ordering::Acquire);
        let index = if ended { NOT_ACTIVE } else { self.from.load(Ordering::Acquire) };
        // Only the task's thread writes this word.
        if self.published.load(Ordering::Relaxed) == index {
            return None;
        }
        self.published.store(index, Ordering::Relaxed);
        Some(index)
    }
}
