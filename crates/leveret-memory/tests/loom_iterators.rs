//! The stores behind buffer iterators under every interleaving and every reordering that the memory model allows.
//!
//! That nobody waits for another shows too: a loop that waits for a thread that loom has preempted would take more
//! branches than the model may.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p leveret-memory --release --test loom_iterators`
#![cfg(loom)]

use leveret_memory::iterator::{InsertError, IteratorStore, Policy};
use leveret_memory::sync::{AtomicU64, Ordering};
use loom::sync::Arc;
use loom::thread;

/// Explores with at most this many preemptions; loom's authors find three enough for practically every fault.
const PREEMPTIONS_MAX: usize = 3;
const POLICIES: [Policy; 5] =
    [Policy::Fifo, Policy::Lifo, Policy::Sorted, Policy::Unordered, Policy::Ordered];

fn explore(policy: Policy, model: impl Fn() + Sync + Send + 'static) {
    println!("{policy}");
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(PREEMPTIONS_MAX);
    builder.max_branches = 1_000;
    builder.check(model);
}

/// A store, and what the owners of its buffers write to them.
struct Shared {
    store: IteratorStore,
    contents: Vec<AtomicU64>,
}

impl Shared {
    fn new(policy: Policy, capacity: u32) -> Arc<Self> {
        let contents = (0..capacity).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Self { store: IteratorStore::new(policy, capacity), contents })
    }

    /// Writes to a buffer that this thread owns, and inserts it.
    fn insert(&self, index: u32, label: i64, content: u64) {
        self.contents[index as usize].store(content, Ordering::Relaxed);
        self.store.insert(index, label).expect("this thread owns the buffer");
    }

    /// Removes a buffer, and reads what its last owner wrote.
    fn remove(&self) -> Option<(u32, u64)> {
        let index = self.store.remove()?;
        let content = self.contents[index as usize].load(Ordering::Relaxed);
        assert_ne!(content, 0, "the new owner sees what the last one wrote");
        // Were two threads to get the same buffer, one of them would see this.
        self.contents[index as usize].store(0, Ordering::Relaxed);
        Some((index, content))
    }

    fn drain(&self) -> Vec<(u32, u64)> {
        std::iter::from_fn(|| self.remove()).collect()
    }
}

fn sorted<T: Ord>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.into_iter().collect();
    values.sort();
    values
}

#[test]
fn what_one_thread_inserts_another_removes_once_and_in_order() {
    for policy in POLICIES {
        explore(policy, move || {
            let shared = Shared::new(policy, 2);
            let inserting = thread::spawn({
                let shared = shared.clone();
                move || {
                    shared.insert(0, 7, 10);
                    shared.insert(1, 7, 11);
                }
            });
            let early = [shared.remove(), shared.remove()];
            inserting.join().unwrap();
            let all: Vec<_> = early.into_iter().flatten().chain(shared.drain()).collect();
            match policy {
                Policy::Lifo | Policy::Unordered => assert_eq!(sorted(all), [(0, 10), (1, 11)]),
                _ => assert_eq!(all, [(0, 10), (1, 11)], "the order of one thread's insertions is kept"),
            }
        });
    }
}

#[test]
fn two_threads_remove_while_a_third_inserts() {
    for policy in POLICIES {
        explore(policy, move || {
            let shared = Shared::new(policy, 3);
            shared.insert(0, 4, 10);
            shared.insert(1, 6, 11);
            let removing = thread::spawn({
                let shared = shared.clone();
                move || shared.remove().expect("two are in, and one other removes")
            });
            let inserting = thread::spawn({
                let shared = shared.clone();
                move || shared.insert(2, 5, 12)
            });
            let mine = shared.remove().expect("two are in, and one other removes");
            let theirs = removing.join().unwrap();
            inserting.join().unwrap();
            let last = shared.drain();
            assert_eq!(last.len(), 1);
            assert_eq!(sorted([mine, theirs, last[0]]), [(0, 10), (1, 11), (2, 12)]);
            match policy {
                Policy::Fifo | Policy::Ordered => assert_eq!(last[0].0, 2, "it came last"),
                Policy::Sorted => assert_ne!(last[0].0, 0, "the lowest was in from the start"),
                Policy::Lifo => assert_ne!(last[0].0, 1, "it lies above 0, and 2 above it"),
                Policy::Unordered => {}
            }
        });
    }
}

/// What ABA is about: a buffer leaves and comes back, upon another one, between a thread's reading and its exchange.
#[test]
fn a_buffer_that_comes_back_is_not_mistaken_for_one_that_stayed() {
    for policy in POLICIES {
        explore(policy, move || {
            let shared = Shared::new(policy, 2);
            shared.insert(0, 1, 10);
            shared.insert(1, 2, 11);
            let other = thread::spawn({
                let shared = shared.clone();
                move || {
                    let first = shared.remove().expect("two are in, and one other removes");
                    let second = shared.remove();
                    // After 0 and 1 comes 0 again, if the set's order is promised.
                    let comes_back = policy != Policy::Ordered || first.0 == 0;
                    if comes_back {
                        shared.insert(first.0, 0, 12);
                    }
                    (first.1, second.map(|(_, content)| content), comes_back)
                }
            });
            let mine = shared.remove().map(|(_, content)| content);
            let (first, second, came_back) = other.join().unwrap();
            let rest = shared.drain().into_iter().map(|(_, content)| content);
            let all = sorted([Some(first), second, mine].into_iter().flatten().chain(rest));
            assert_eq!(all, [10, 11, 12][..if came_back { 3 } else { 2 }], "what is inserted comes out once");
        });
    }
}

#[test]
fn two_threads_each_insert_and_remove() {
    for policy in POLICIES.into_iter().filter(|policy| *policy != Policy::Ordered) {
        explore(policy, move || {
            let shared = Shared::new(policy, 2);
            let turn = |shared: &Shared, index: u32| {
                shared.insert(index, 5 - i64::from(index), 1);
                let (got, content) = shared.remove().expect("each has inserted one before it removes one");
                shared.insert(got, 5, content + 1);
            };
            let other = thread::spawn({
                let shared = shared.clone();
                move || turn(&shared, 1)
            });
            turn(&shared, 0);
            other.join().unwrap();
            let last = sorted(shared.drain());
            assert!(
                [[(0, 2), (1, 2)], [(0, 1), (1, 3)], [(0, 3), (1, 1)]].iter().any(|one| last == one),
                "{last:?}"
            );
        });
    }
}

#[test]
fn of_two_threads_that_insert_the_same_buffer_one_is_refused() {
    for policy in POLICIES {
        explore(policy, move || {
            let shared = Shared::new(policy, 2);
            let other = thread::spawn({
                let shared = shared.clone();
                move || shared.store.insert(0, 1)
            });
            let results = [shared.store.insert(0, 1), other.join().unwrap()];
            assert!(results.contains(&Ok(())), "{results:?}");
            assert!(results.contains(&Err(InsertError::AlreadyIn { index: 0 })), "{results:?}");
            assert_eq!((shared.store.remove(), shared.store.remove()), (Some(0), None));
        });
    }
}

/// While one word after the other is looked at, a buffer comes into a word behind and the others leave the one ahead.
#[test]
fn a_store_that_is_never_empty_is_never_called_empty() {
    explore(Policy::Unordered, || {
        let shared = Shared::new(Policy::Unordered, 34);
        shared.insert(32, 0, 1);
        shared.insert(0, 0, 1);
        assert_eq!(shared.remove(), Some((0, 1)), "the word last inserted into is looked at first");
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.insert(0, 0, 1);
                shared.insert(33, 0, 1);
                assert!(shared.remove().is_some() && shared.remove().is_some());
            }
        });
        assert!(shared.remove().is_some(), "three came in, and another thread removes two");
        other.join().unwrap();
        assert_eq!(shared.remove(), None);
    });
}
