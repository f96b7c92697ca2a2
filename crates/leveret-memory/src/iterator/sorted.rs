//! SORTED: a list of links from the lowest label to the highest (Harris 2001, with Michael's numbered links of 2002).
//!
//! ```text
//!   next   [ start ] ---> 3 ---> 0 ---> 4 ---> end        labels  3: -5   0: 7   4: 7
//!
//!   insert 1, label 7:   behind all labels that are not higher: next[1] = end; then exchange next[4]:  4 ---> 1
//!   remove:              1. mark next[3]: 3 belongs to this thread, and nothing can be linked behind it any more
//!                        2. exchange next[start]: start ---> 0
//!
//!          [ start ] ---> 3 -x-> 0 ---> ...              between 1 and 2: whoever meets the marked 3 does step 2
//! ```
//!
//! An insertion takes effect with the exchange of the link before it, a removal when its thread last saw, before it set the
//! mark, that the buffer is the first. A thread that stalls between steps 1 and 2 holds up nobody, since everybody can
//! do step 2, and the marked buffer enters again only after its thread has made sure of step 2. An exchange fails only if
//! another thread changed the same link.
//!
//! Every exchange counts a link's number on, also when its buffer comes in again. So "this link is what I read before" means
//! that nothing happened to it between, and that what was read of the buffer behind it meanwhile (its link, its label) is of
//! that buffer's present stay.
//!
//! The walk of an insertion is as long as there are buffers with labels that are not higher: at most the capacity, and
//! again from the start when others change the links before it.

use super::InsertError;
use super::link::Link;
use super::members::Members;
use crate::sync::{AtomicI64, AtomicU64, Ordering};

pub(super) struct Sorted {
    members: Members,
    labels: Box<[AtomicI64]>,
    /// The link behind each buffer, and after them all the one before the first buffer.
    next: Box<[AtomicU64]>,
}

/// Where a label belongs.
struct Place {
    /// The last buffer whose label is not higher, or the start.
    before: u32,
    /// What followed it: a buffer with a higher label, or the end.
    link: Link,
}

impl Sorted {
    pub(super) fn new(capacity: u32) -> Self {
        Self {
            members: Members::new(capacity),
            labels: (0..capacity).map(|_| AtomicI64::new(0)).collect(),
            next: (0..=capacity).map(|_| AtomicU64::new(Link::END.word())).collect(),
        }
    }

    pub(super) fn insert(&self, index: u32, label: i64) -> Result<(), InsertError> {
        self.members.enter(index)?;
        // Release: whoever reads this label by mistake, for that of an earlier stay, sees that the links have changed.
        self.labels[index as usize].store(label, Ordering::Release);
        loop {
            let place = self.place(label);
            let own = self.link(index).pointing_as(place.link).renewed();
            self.next[index as usize].store(own.word(), Ordering::Release);
            if self.exchange(place.before, place.link, place.link.pointing_as(Link::new(0, index))) {
                return Ok(());
            }
        }
    }

    pub(super) fn remove(&self) -> Option<u32> {
        let (index, first) = self.claim_first()?;
        self.unlink(index, first);
        self.members.leave(index);
        Some(index)
    }

    /// Marks the first buffer, and says which it is and the link that led to it.
    fn claim_first(&self) -> Option<(u32, Link)> {
        let start = self.start();
        loop {
            let first = self.link(start);
            let index = first.index()?;
            let behind = self.link(index);
            if self.link(start) != first {
                continue;
            }
            if behind.is_marked() {
                self.exchange(start, first, first.pointing_as(behind));
            } else if self.exchange(index, behind, behind.marked()) {
                return Some((index, first));
            }
        }
    }

    /// Makes sure that a marked buffer, which this thread owns, is in the list no more. `first` led to it from the start.
    fn unlink(&self, index: u32, first: Link) {
        if !self.exchange(self.start(), first, first.pointing_as(self.link(index))) {
            // Something was inserted before it, or somebody has unlinked it. A walk past its label unlinks it if it is there.
            self.place(self.labels[index as usize].load(Ordering::Relaxed));
        }
    }

    /// Walks to where `label` belongs, behind equal ones, and unlinks every marked buffer on the way.
    fn place(&self, label: i64) -> Place {
        'from_start: loop {
            let mut before = self.start();
            let mut link = self.link(before);
            while let Some(index) = link.index() {
                let behind = self.link(index);
                let label_here = self.labels[index as usize].load(Ordering::Acquire);
                if self.link(before) != link {
                    continue 'from_start;
                }
                if behind.is_marked() {
                    if !self.exchange(before, link, link.pointing_as(behind)) {
                        continue 'from_start;
                    }
                    link = link.pointing_as(behind).renewed();
                } else if label_here > label {
                    break;
                } else {
                    (before, link) = (index, behind);
                }
            }
            return Place { before, link };
        }
    }

    /// Index of the link before the first buffer.
    #[inline(always)]
    fn start(&self) -> u32 {
        self.labels.len() as u32
    }

    #[inline(always)]
    fn link(&self, index: u32) -> Link {
        Link::from_word(self.next[index as usize].load(Ordering::Acquire))
    }

    /// Changes the link behind `index`, if it is still the one that was read, and counts its number on.
    #[inline(always)]
    fn exchange(&self, index: u32, read: Link, wanted: Link) -> bool {
        let wanted = wanted.renewed().word();
        self.next[index as usize]
            .compare_exchange(read.word(), wanted, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    pub(super) fn len_hint(&self) -> u32 {
        self.members.count()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // spec: BUFITER-SORTED-03
    #[cfg(debug_assertions)]
    #[test]
    fn removing_takes_as_many_steps_whatever_is_in_and_inserting_one_for_each_label_that_is_not_higher() {
        use crate::sync::steps::of as steps;
        let capacity = if cfg!(miri) { 40 } else { leveret_types::BUFFERS_MAX };
        let with = |count: u32| {
            let store = Sorted::new(capacity);
            // From the highest label on, so that no insertion walks.
            (0..count).rev().for_each(|index| store.insert(index, i64::from(index)).expect("it is out"));
            store
        };
        let removal = |count| {
            let store = with(count);
            steps(u64::MAX, || assert_eq!(store.remove(), Some(0))).1
        };
        let insertion = |count, label| {
            let store = with(count);
            steps(u64::MAX, || store.insert(count, label).expect("it is out")).1
        };
        let (for_removal, before_all) = (removal(1), insertion(1, -1));
        let per_label = insertion(2, 0) - before_all;
        assert!(for_removal > 0 && before_all > 0 && per_label > 0);
        for count in [1, 2, 17, capacity / 2, capacity - 1] {
            assert_eq!(removal(count), for_removal, "{count} are in");
            assert_eq!(insertion(count, -1), before_all, "{count} are in, all with higher labels");
            // Each reads the buffer's link and label, and the link before it once more.
            for lower in [1, count / 2, count].into_iter().filter(|lower| *lower > 0) {
                let found = insertion(count, i64::from(lower) - 1) - before_all;
                // Behind the last there is nothing to be looked at.
                let walked = u64::from(lower.min(count - 1));
                assert_eq!(found, per_label * walked, "{lower} of {count} are not higher");
            }
        }
    }

    fn drained(store: &Sorted) -> Vec<u32> {
        std::iter::from_fn(|| store.remove()).collect()
    }

    #[test]
    fn a_removal_that_stalls_after_its_mark_holds_up_nobody() {
        let store = Sorted::new(5);
        for (index, label) in [(0, 10), (1, 20), (2, 30)] {
            store.insert(index, label).expect("it is out");
        }
        let (stalled, first) = store.claim_first().expect("three are in");
        assert_eq!(stalled, 0);
        // Before it, behind it with the same label, and behind the next one.
        for (index, label) in [(3, 5), (4, 10)] {
            store.insert(index, label).expect("it is out");
        }
        assert_eq!(store.insert(0, 1), Err(InsertError::AlreadyIn { index: 0 }), "its thread has it still");
        assert_eq!(drained(&store), [3, 4, 1, 2]);
        store.unlink(stalled, first);
        store.members.leave(stalled);
        store.insert(0, 1).expect("it is out");
        assert_eq!(drained(&store), [0]);
    }

    #[test]
    fn a_marked_buffer_that_is_first_no_more_is_unlinked_by_its_own_thread() {
        let store = Sorted::new(4);
        store.insert(0, 10).expect("it is out");
        store.insert(1, 20).expect("it is out");
        let (stalled, first) = store.claim_first().expect("two are in");
        store.insert(2, 5).expect("it is out");
        store.unlink(stalled, first);
        store.members.leave(stalled);
        store.insert(0, 30).expect("it is out");
        assert_eq!(drained(&store), [2, 1, 0]);
    }

    #[test]
    fn several_stalled_removals_hold_up_nobody() {
        let store = Sorted::new(4);
        for index in 0..4 {
            store.insert(index, 7).expect("it is out");
        }
        let stalled = [(); 3].map(|()| store.claim_first().expect("some are in"));
        assert_eq!(stalled.map(|(index, _)| index), [0, 1, 2]);
        assert_eq!(drained(&store), [3]);
        for (index, first) in stalled {
            store.unlink(index, first);
            store.members.leave(index);
            store.insert(index, -i64::from(index)).expect("it is out");
        }
        assert_eq!(drained(&store), [2, 1, 0]);
    }
}
