//! Which details of a stream have changed since they were last handed to the journal. Nothing is noted where there is no journal.

use std::collections::BTreeSet;

/// Details by their keys.
#[derive(Debug)]
pub(crate) struct Changes<K> {
    is_noted: bool,
    fresh: BTreeSet<K>,
    dropped: BTreeSet<K>,
}

impl<K: Ord + Copy> Changes<K> {
    pub(crate) fn new(is_noted: bool) -> Self {
        Self { is_noted, fresh: BTreeSet::new(), dropped: BTreeSet::new() }
    }

    /// It is new, or other than it was.
    pub(crate) fn put(&mut self, key: K) {
        if self.is_noted {
            self.fresh.insert(key);
        }
    }

    /// It is no longer kept.
    pub(crate) fn drop(&mut self, key: K) {
        if self.is_noted {
            self.fresh.remove(&key);
            self.dropped.insert(key);
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.fresh.len() + self.dropped.len()
    }

    /// Those that are new, and those that are no longer kept, which come first: one may have come again.
    pub(crate) fn take(&mut self) -> (Vec<K>, Vec<K>) {
        let fresh = std::mem::take(&mut self.fresh).into_iter().collect();
        (fresh, std::mem::take(&mut self.dropped).into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_dropped_and_came_again_is_both() {
        let mut changes = Changes::new(true);
        [1, 2, 3].into_iter().for_each(|key| changes.put(key));
        [2, 3].into_iter().for_each(|key| changes.drop(key));
        changes.put(3);
        assert_eq!(changes.take(), (vec![1, 3], vec![2, 3]));
        assert_eq!((changes.count(), changes.take()), (0, (Vec::new(), Vec::new())));
    }

    #[test]
    fn without_a_journal_nothing_is_noted() {
        let mut changes = Changes::new(false);
        changes.put(1);
        changes.drop(2);
        assert_eq!(changes.count(), 0);
    }
}
