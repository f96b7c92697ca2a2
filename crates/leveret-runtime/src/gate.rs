//! Whether instances take place, as one end of a member has learned: other ends of the member follow.

use leveret_memory::sync::{AtomicU64, Ordering};

/// Set by the task that serves the end that leads, read by whoever serves one that follows. It remembers the last eight
/// instances, since a task that follows may be behind.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// The last instance that took place, plus one, above its history: the lowest bit is its own.
    word: AtomicU64,
}

impl Gate {
    /// The instance takes place.
    pub(crate) fn open(&self, instance: u64) {
        let word = self.word.load(Ordering::Relaxed);
        let gone = (instance + 1).saturating_sub(word >> 8).min(8);
        let history = (word & 0xff) << gone & 0xff | 1;
        self.word.store((instance + 1) << 8 | history, Ordering::Release);
    }

    /// Whether the instance takes place, as far as is known now.
    pub(crate) fn is_open(&self, instance: u64) -> bool {
        let word = self.word.load(Ordering::Acquire);
        let back = (word >> 8).checked_sub(instance + 1);
        back.is_some_and(|back| back < 8 && word >> back & 1 == 1)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_took_place_is_remembered_for_eight_instances() {
        let gate = Gate::default();
        assert!(!gate.is_open(0));
        for instance in [0, 1, 3, 4, 12] {
            gate.open(instance);
            assert!(gate.is_open(instance) && !gate.is_open(instance + 1));
        }
        assert!(!gate.is_open(2) && !gate.is_open(11));
        gate.open(13);
        assert!(gate.is_open(12) && !gate.is_open(4));
        gate.open(15);
        let open: Vec<u64> = (8..17).filter(|instance| gate.is_open(*instance)).collect();
        assert_eq!(open, [12, 13, 15]);
    }
}
