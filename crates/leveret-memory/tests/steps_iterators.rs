//! How many steps (operations on atomics) the stores of buffer iterators take: alone, and with others at the same store.
// Miri would look for what these do not show, for minutes.
#![cfg(all(debug_assertions, not(loom), not(miri)))]

use leveret_memory::iterator::{InsertError, IteratorStore, Policy};
use leveret_memory::sync::steps;
use leveret_types::BUFFERS_MAX;

const POLICIES: [Policy; 5] =
    [Policy::Fifo, Policy::Lifo, Policy::Sorted, Policy::Unordered, Policy::Ordered];

/// Words of 32 buffers each that an UNORDERED store of this capacity has.
fn words(capacity: u32) -> u64 {
    u64::from(capacity.div_ceil(32))
}

/// Most steps of an insertion when nobody else is at the store, and `inside` buffers are in.
fn insertion_most(policy: Policy, inside: u32) -> u64 {
    match policy {
        Policy::Fifo => 5,
        Policy::Lifo | Policy::Unordered | Policy::Ordered => 4,
        // Each buffer that it passes: its link, its label, and the link before it once more.
        Policy::Sorted => 6 + 3 * u64::from(inside),
    }
}

/// Most steps of a removal when nobody else is at the store.
fn removal_most(policy: Policy, capacity: u32) -> u64 {
    match policy {
        Policy::Fifo | Policy::Lifo | Policy::Ordered => 4,
        Policy::Sorted => 7,
        // Where it is looked first, and each word twice when all are empty.
        Policy::Unordered => 1 + (2 * words(capacity)).max(words(capacity) + 1),
    }
}

/// How the labels of what comes in are to those of what is in.
#[derive(Clone, Copy, Debug)]
enum Labels {
    Equal,
    Rising,
    Falling,
}

fn label(labels: Labels, index: u32) -> i64 {
    match labels {
        Labels::Equal => 7,
        Labels::Rising => i64::from(index),
        Labels::Falling => -i64::from(index),
    }
}

fn capacities() -> &'static [u32] {
    if cfg!(miri) { &[1, 2, 33] } else { &[1, 2, 3, 31, 32, 33, 64, 1000, BUFFERS_MAX] }
}

// spec: LAW-STEPS-02
#[test]
fn alone_every_operation_ends_within_its_bound_however_many_are_in() {
    for policy in POLICIES {
        for capacity in capacities().iter().copied() {
            for labels in [Labels::Equal, Labels::Rising, Labels::Falling] {
                let store = IteratorStore::new(policy, capacity);
                let most = removal_most(policy, capacity);
                let about = format!("{policy}, {capacity} buffers, {labels:?} labels");
                for round in 0..2 {
                    assert_eq!(steps::of(most, || store.remove()).0, None, "{about}");
                    // Where walking is long, a few lengths of it will do.
                    let is_told = |index: u32| index.is_multiple_of(97) || index + 3 > capacity;
                    for index in 0..capacity {
                        // A higher label is looked at and not passed.
                        let looked_at = if matches!(labels, Labels::Falling) { index.min(1) } else { index };
                        let most = insertion_most(policy, looked_at);
                        let insert = || store.insert(index, label(labels, index));
                        let inserted = if matches!(labels, Labels::Falling) || is_told(index) {
                            steps::of(most, insert).0
                        } else {
                            insert()
                        };
                        assert_eq!(inserted, Ok(()), "{about}");
                        if is_told(index) {
                            let twice = || store.insert(0, 0);
                            let refused = steps::of(insertion_most(policy, 0), twice).0;
                            assert_eq!(refused, Err(InsertError::AlreadyIn { index: 0 }), "{about}");
                            steps::of(u64::from(capacity).max(2), || store.len_hint());
                        }
                    }
                    if round == 0 && policy == Policy::Unordered {
                        for index in 0..capacity {
                            assert!(steps::of(2, || store.remove_this(index)).0);
                            assert!(!steps::of(1, || store.remove_this(index)).0);
                        }
                        continue;
                    }
                    for _ in 0..capacity {
                        assert!(steps::of(most, || store.remove()).0.is_some(), "{about}");
                    }
                }
            }
        }
    }
}

/// The bounds hold for the worst case, and not just because nothing ever comes near them.
#[test]
fn the_bounds_of_walks_are_reached() {
    let capacity = if cfg!(miri) { 40 } else { 1000 };
    let store = IteratorStore::new(Policy::Sorted, capacity);
    for index in 0..capacity {
        let (_, taken) = steps::of(u64::MAX, || store.insert(index, 7).expect("it is out"));
        assert_eq!(
            taken,
            insertion_most(Policy::Sorted, index),
            "all that are in have labels that are not higher"
        );
    }
    let store = IteratorStore::new(Policy::Unordered, capacity);
    let (found, taken) = steps::of(u64::MAX, || store.remove());
    assert_eq!((found, taken), (None, removal_most(Policy::Unordered, capacity)));
}

/// A small generator (Marsaglia's xorshift64), so that a failing run can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}

/// Another thread at the store: it owns buffers, and inserts and removes between the steps of the one that is looked at.
struct Other<'s> {
    store: &'s IteratorStore,
    owned: Vec<u32>,
    random: Random,
    /// Operations that it may do, and those that have succeeded.
    left: u32,
    done: u64,
}

impl Other<'_> {
    fn act(&mut self) {
        // Most of the time at every step, so that no try of the other succeeds before all is used up.
        if self.left == 0 || self.random.below(8) == 0 {
            return;
        }
        self.left -= 1;
        let inserts = self.random.below(2) == 0;
        if inserts && !self.owned.is_empty() {
            let place = match self.store.policy() {
                // What is next in the cycle is what it took out first.
                Policy::Ordered => 0,
                _ => self.random.below(self.owned.len() as u64) as usize,
            };
            let label = self.random.below(5) as i64;
            if self.store.insert(self.owned[place], label).is_ok() {
                self.owned.remove(place);
                self.done += 1;
            }
        } else if let Some(index) = self.store.remove() {
            self.owned.push(index);
            self.done += 1;
        }
    }
}

// spec: LAW-STEPS-03
#[test]
fn each_further_try_is_paid_for_by_an_operation_of_another_thread() {
    let seeds = if cfg!(miri) { 3 } else { 400 };
    for policy in POLICIES {
        let mut most_tries = 0;
        for seed in 1..=seeds {
            for budget in [0, 1, 2, 3, 10, 100] {
                let capacity = [2, 6, 40][seed as usize % 3];
                let store = IteratorStore::new(policy, capacity);
                let inside = capacity / 2;
                (0..inside).for_each(|index| store.insert(index, 2).expect("it is out"));
                // The next of the cycle is this thread's, the rest the other's.
                let owned = (inside + 1..capacity).collect();
                let random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
                let mut other = Other { store: &store, owned, random, left: budget, done: 0 };
                // Of SORTED a removal walks as an insertion does, when something was inserted before what it has marked.
                let alone = removal_most(policy, capacity).max(insertion_most(policy, capacity - 1));
                // A generous bound against a hang; the sharp one is below.
                let hang = alone * (u64::from(budget) + 1);
                let (_, taken) = steps::beside(hang, &mut || other.act(), || {
                    if seed % 2 == 0 {
                        if let Some(index) = store.remove() {
                            assert!(index < capacity);
                        }
                    } else {
                        match store.insert(inside, 2) {
                            Ok(()) => {}
                            Err(error) => panic!("{policy}: this thread owns buffer {inside}: {error}"),
                        }
                    }
                });
                let done = other.done;
                assert!(
                    taken <= alone * (done + 1),
                    "{policy}, seed {seed}: {taken} steps, {alone} alone, and others have done {done} operations"
                );
                most_tries = most_tries.max(taken / alone);
            }
        }
        let is_retried = matches!(policy, Policy::Lifo | Policy::Sorted | Policy::Unordered);
        assert!(!is_retried || most_tries > 1 || cfg!(miri), "{policy}: others were never in the way");
    }
}

// spec: LAW-STEPS-02
#[test]
fn where_one_inserts_and_one_removes_fifo_and_ordered_try_once() {
    let capacity = 64;
    for policy in [Policy::Fifo, Policy::Ordered] {
        // Whatever is in, wherever the ring begins.
        for turned in 0..capacity {
            for inside in [0, 1, 5, 40] {
                let fresh = || {
                    let store = IteratorStore::new(policy, capacity);
                    for index in 0..turned {
                        store.insert(index, 0).expect("it is out");
                        assert_eq!(store.remove(), Some(index));
                    }
                    let next = |back: u32| (turned + back) % capacity;
                    (0..inside).for_each(|back| store.insert(next(back), 0).expect("it is out"));
                    (store, inside, next)
                };
                let (store, inserted, next) = fresh();
                let mut remove = || _ = store.remove();
                let insert = || store.insert(next(inserted), 0);
                let most = insertion_most(policy, 0);
                assert_eq!(steps::beside(most, &mut remove, insert).0, Ok(()), "{policy}");

                let (store, mut inserted, next) = fresh();
                let mut insert = || {
                    if inserted < capacity && store.insert(next(inserted), 0).is_ok() {
                        inserted += 1;
                    }
                };
                let most = removal_most(policy, capacity);
                let (found, _) = steps::beside(most, &mut insert, || store.remove());
                assert!(found.is_none_or(|index| index == next(0)), "{policy}: {found:?}");
            }
        }
    }
}

// spec: LAW-STEPS-02
#[test]
fn an_insertion_into_ordered_waits_for_no_turn() {
    // Whose turn it is: others insert what comes before, between the steps of an insertion that comes too soon.
    let capacity = 64;
    for own in 1..capacity {
        for start in [0, own / 2, own - 1] {
            let store = IteratorStore::new(Policy::Ordered, capacity);
            let mut next = 0;
            let mut insert = || {
                if next < own && store.insert(next, 0).is_ok() {
                    next += 1;
                }
            };
            (0..start).for_each(|_| insert());
            let most = insertion_most(Policy::Ordered, 0) * u64::from(capacity);
            let (inserted, _) = steps::beside(most, &mut insert, || store.insert(own, 0));
            match inserted {
                Ok(()) => assert_eq!(next, own),
                Err(error) => assert!(matches!(error, InsertError::OutOfOrder { index, .. } if index == own)),
            }
        }
    }
}
