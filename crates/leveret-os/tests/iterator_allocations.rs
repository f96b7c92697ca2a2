//! The stores behind buffer iterators allocate nothing once they are made.

use leveret_memory::iterator::{IteratorStore, Policy};
use leveret_os::allocator::{CountingAllocator, allocations_of_this_thread, installed};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const CAPACITY: u32 = 100;

/// Every buffer in and out, with each of the refusals on the way. Says how many were removed.
fn work(store: &IteratorStore) -> u32 {
    let mut removed = 0;
    for round in 0..10 {
        for index in 0..CAPACITY {
            let label = i64::from(index * 7 % 13) - round;
            assert!(store.insert(index, label).is_ok());
            assert!(store.insert(index, label).is_err(), "it is in");
        }
        assert!(store.insert(CAPACITY, 0).is_err(), "it is not allowed");
        assert_eq!(store.len_hint(), CAPACITY);
        while store.remove().is_some() {
            removed += 1;
        }
        assert_eq!(store.insert(1, 0).is_err(), store.policy() == Policy::Ordered, "0 is next");
        removed += u32::from(store.remove().is_some());
    }
    removed
}

#[test]
fn insertion_and_removal_allocate_nothing() {
    for policy in [Policy::Fifo, Policy::Lifo, Policy::Sorted, Policy::Unordered, Policy::Ordered] {
        let before = allocations_of_this_thread();
        let store = IteratorStore::new(policy, CAPACITY);
        let made = allocations_of_this_thread();
        assert!(installed(), "the counting allocator serves this program");
        assert!(made > before, "{policy}: the count sees what construction allocates");
        let removed = work(&store);
        assert_eq!(allocations_of_this_thread(), made, "{policy}");
        assert_eq!(removed, if policy == Policy::Ordered { 1000 } else { 1010 });
    }
}
