//! The stores behind buffer iterators against an oracle: whatever the calls, legal or not, both tell the same story.
#![cfg(not(loom))]

use leveret_memory::iterator::{InsertError, IteratorStore, Policy};
use leveret_types::BUFFERS_MAX;
use proptest::prelude::*;

const POLICIES: [Policy; 5] =
    [Policy::Fifo, Policy::Lifo, Policy::Sorted, Policy::Unordered, Policy::Ordered];

/// Miri takes some hundred times as long for each.
const OPERATIONS_MAX: usize = if cfg!(miri) { 30 } else { 200 };

#[derive(Clone, Copy, Debug)]
enum Operation {
    /// Insert a buffer that may be allowed, in, or out of order.
    Insert {
        index: u32,
        label: i64,
    },
    /// Insert the one that is out for the longest time.
    InsertNext {
        label: i64,
    },
    Remove,
}

/// What is known of a store without looking at its words.
struct Oracle {
    policy: Policy,
    capacity: u32,
    /// In the order of insertion.
    inside: Vec<(u32, i64)>,
    inserted: u32,
}

impl Oracle {
    fn insert(&mut self, index: u32, label: i64) -> Result<(), InsertError> {
        let expected = self.inserted % self.capacity;
        if index >= self.capacity {
            return Err(InsertError::NotAllowed { index, capacity: self.capacity });
        }
        if self.inside.iter().any(|(inside, _)| *inside == index) {
            return Err(InsertError::AlreadyIn { index });
        }
        if self.policy == Policy::Ordered && index != expected {
            return Err(InsertError::OutOfOrder { index, expected });
        }
        self.inserted += 1;
        self.inside.push((index, label));
        Ok(())
    }

    /// Takes out what the store took out, if that was right to do.
    fn allows_removal_of(&mut self, removed: Option<u32>) -> bool {
        let place = match self.policy {
            Policy::Fifo | Policy::Ordered => (!self.inside.is_empty()).then_some(0),
            Policy::Lifo => self.inside.len().checked_sub(1),
            Policy::Sorted => (0..self.inside.len()).min_by_key(|place| self.inside[*place].1),
            Policy::Unordered => self.inside.iter().position(|(index, _)| Some(*index) == removed),
        };
        let expected = place.map(|place| self.inside.remove(place).0);
        expected == removed && (removed.is_some() || self.inside.is_empty())
    }
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        2 => (0..8_u32, -2..3_i64).prop_map(|(index, label)| Operation::Insert { index, label }),
        3 => (-2..3_i64).prop_map(|label| Operation::InsertNext { label }),
        4 => Just(Operation::Remove),
    ]
}

fn follow(policy: Policy, capacity: u32, operations: &[Operation]) -> Result<(), TestCaseError> {
    let store = IteratorStore::new(policy, capacity);
    prop_assert_eq!((store.policy(), store.capacity()), (policy, capacity));
    let mut oracle = Oracle { policy, capacity, inside: Vec::new(), inserted: 0 };
    for operation in operations {
        match *operation {
            Operation::Insert { index, label } => {
                prop_assert_eq!(store.insert(index, label), oracle.insert(index, label));
            }
            Operation::InsertNext { label } => {
                let index = oracle.inserted % capacity;
                prop_assert_eq!(store.insert(index, label), oracle.insert(index, label));
            }
            Operation::Remove => {
                let removed = store.remove();
                let inside = oracle.inside.clone();
                prop_assert!(oracle.allows_removal_of(removed), "{removed:?} was removed of {inside:?}");
            }
        }
        prop_assert_eq!(store.len_hint() as usize, oracle.inside.len());
    }
    while !oracle.inside.is_empty() {
        let removed = store.remove();
        prop_assert!(removed.is_some() && oracle.allows_removal_of(removed));
    }
    prop_assert_eq!(store.remove(), None);
    Ok(())
}

proptest! {
    #[test]
    fn a_store_does_what_its_oracle_does(
        policy in prop::sample::select(&POLICIES[..]),
        capacity in 1..8_u32,
        operations in prop::collection::vec(operation(), 0..OPERATIONS_MAX),
    ) {
        follow(policy, capacity, &operations)?;
    }

    #[test]
    fn a_store_of_several_words_does_what_its_oracle_does(
        policy in prop::sample::select(&POLICIES[..]),
        capacity in 60..140_u32,
        inserted in prop::collection::vec((0..140_u32, any::<i64>()), 0..OPERATIONS_MAX),
    ) {
        let each = inserted.iter().enumerate().flat_map(|(turn, (index, label))| {
            let removals = if turn % 3 == 0 { 1 } else { 0 };
            let insert = Operation::Insert { index: *index, label: *label };
            [insert, Operation::InsertNext { label: *label }].into_iter().chain((0..removals).map(|_| Operation::Remove))
        });
        follow(policy, capacity, &each.collect::<Vec<_>>())?;
    }
}

#[test]
fn a_full_store_of_the_largest_capacity_gives_back_every_buffer() {
    for policy in POLICIES {
        let capacity = if cfg!(miri) { 40 } else { BUFFERS_MAX };
        let store = IteratorStore::new(policy, capacity);
        for round in 0..2 {
            // Falling labels: SORTED gives back the last first, without long walks.
            (0..capacity).for_each(|index| store.insert(index, -i64::from(index)).expect("each is out"));
            assert_eq!(store.len_hint(), capacity);
            for index in [0, capacity - 1] {
                assert_eq!(store.insert(index, 0), Err(InsertError::AlreadyIn { index }), "{policy} {round}");
            }
            let removed: Vec<u32> = std::iter::from_fn(|| store.remove()).collect();
            match policy {
                Policy::Fifo | Policy::Ordered => assert!(removed.iter().copied().eq(0..capacity)),
                Policy::Lifo | Policy::Sorted => assert!(removed.iter().copied().eq((0..capacity).rev())),
                Policy::Unordered => {
                    let mut each = removed.clone();
                    each.sort_unstable();
                    assert!(each.iter().copied().eq(0..capacity));
                }
            }
        }
    }
}

#[test]
fn errors_name_the_place_and_the_remedy() {
    let store = IteratorStore::new(Policy::Ordered, 3);
    let text = |result: Result<(), InsertError>| result.expect_err("it breaks a rule").to_string();
    assert_eq!(
        text(store.insert(3, 0)),
        "buffer 3 is not allowed: the iterator was made for buffers 0 to 2; insert one of these, or make it for more"
    );
    assert_eq!(
        text(store.insert(1, 0)),
        "buffer 1 is out of order: the iterator is ORDERED and buffer 0 is next; insert that one, or make the iterator \
         FIFO"
    );
    store.insert(0, 0).expect("it is next");
    assert_eq!(
        text(store.insert(0, 0)),
        "buffer 0 is in the iterator already: insert a buffer only after it was removed"
    );
    assert_eq!(format!("{store:?}"), "IteratorStore(ORDERED, about 1 of 3)");
}

#[test]
#[should_panic(expected = "an iterator holds 1 to 4096 buffers, not 0")]
fn a_store_for_no_buffer_is_refused() {
    IteratorStore::new(Policy::Fifo, 0);
}

#[test]
#[should_panic(expected = "an iterator holds 1 to 4096 buffers, not 4097")]
fn a_store_for_too_many_buffers_is_refused() {
    IteratorStore::new(Policy::Sorted, BUFFERS_MAX + 1);
}
