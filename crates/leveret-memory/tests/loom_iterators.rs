//! The stores behind buffer iterators in the interleavings that loom explores, with at most three preemptions.
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

/// Explores what two threads do at once, with either of them as the one that loom starts with. It matters: loom forgets that a
/// thread has read a word as soon as another reads it before changing it, and then does not try the change first.
fn explore_pair(policy: Policy, model: impl Fn(Pair) + Copy + Sync + Send + 'static) {
    for first_is_spawned in [false, true] {
        explore(policy, move || model(Pair { first_is_spawned }));
    }
}

/// Runs two functions at once.
#[derive(Clone, Copy)]
struct Pair {
    first_is_spawned: bool,
}

impl Pair {
    fn run<A: 'static, B: 'static>(
        self,
        shared: &Arc<Shared>,
        first: impl FnOnce(&Shared) -> A + 'static,
        second: impl FnOnce(&Shared) -> B + 'static,
    ) -> (A, B) {
        let spawned = shared.clone();
        if self.first_is_spawned {
            let first = thread::spawn(move || first(&spawned));
            let second = second(shared);
            (first.join().unwrap(), second)
        } else {
            let second = thread::spawn(move || second(&spawned));
            let first = first(shared);
            (first, second.join().unwrap())
        }
    }
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
        explore_pair(policy, move |pair| {
            let shared = Shared::new(policy, 2);
            let insert = |shared: &Shared| {
                shared.insert(0, 7, 10);
                shared.insert(1, 7, 11);
            };
            let ((), early) = pair.run(&shared, insert, |shared| [shared.remove(), shared.remove()]);
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
            let removing = [(); 2].map(|()| {
                let shared = shared.clone();
                thread::spawn(move || shared.remove().expect("two are in, and one other removes"))
            });
            shared.insert(2, 5, 12);
            let [one, other] = removing.map(|thread| thread.join().unwrap());
            let last = shared.drain();
            assert_eq!(last.len(), 1);
            assert_eq!(sorted([one, other, last[0]]), [(0, 10), (1, 11), (2, 12)]);
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
        explore_pair(policy, move |pair| {
            let shared = Shared::new(policy, 2);
            shared.insert(0, 1, 10);
            shared.insert(1, 2, 11);
            let come_back = move |shared: &Shared| {
                let first = shared.remove().expect("two are in, and one other removes");
                let second = shared.remove();
                // After 0 and 1 comes 0 again, if the set's order is promised.
                let comes_back = policy != Policy::Ordered || first.0 == 0;
                if comes_back {
                    shared.insert(first.0, 0, 12);
                }
                ([Some(first), second], comes_back)
            };
            let ((removed, came_back), other) = pair.run(&shared, come_back, |shared| shared.remove());
            let all = removed.into_iter().flatten().chain(other).chain(shared.drain());
            let contents = sorted(all.map(|(_, content)| content));
            assert_eq!(
                contents,
                [10, 11, 12][..if came_back { 3 } else { 2 }],
                "what is inserted comes out once"
            );
        });
    }
}

#[test]
fn two_threads_each_insert_and_remove() {
    for policy in POLICIES.into_iter().filter(|policy| *policy != Policy::Ordered) {
        explore_pair(policy, move |pair| {
            let shared = Shared::new(policy, 2);
            let turn = |index: u32| {
                move |shared: &Shared| {
                    shared.insert(index, 5 - i64::from(index), 1);
                    let (got, content) =
                        shared.remove().expect("each has inserted one before it removes one");
                    shared.insert(got, 5, content + 1);
                }
            };
            pair.run(&shared, turn(0), turn(1));
            let last = sorted(shared.drain());
            let possible = [[(0, 2), (1, 2)], [(0, 1), (1, 3)], [(0, 3), (1, 1)]];
            assert!(possible.iter().any(|one| last == one), "{last:?}");
        });
    }
}

/// A buffer that was first when its removal began, and has two before it when it is to be unlinked, comes in again before
/// these two: were it still linked behind them, the list would be a circle.
#[test]
fn a_buffer_is_unlinked_before_it_comes_in_again() {
    explore_pair(Policy::Sorted, |pair| {
        let shared = Shared::new(Policy::Sorted, 3);
        shared.insert(0, 5, 1);
        let come_back = |shared: &Shared| {
            let (index, _) = shared.remove().expect("one was in from the start");
            shared.insert(index, 2, 1);
            index
        };
        let insert = |shared: &Shared| {
            shared.insert(1, 4, 1);
            shared.insert(2, 1, 1);
        };
        let (index, ()) = pair.run(&shared, come_back, insert);
        let last: Vec<u32> = [(); 4].iter().map_while(|()| shared.remove()).map(|(index, _)| index).collect();
        // The labels are 5, 4 and 1, but 2 for the one that came in again.
        assert_eq!(last, if index == 0 { [2, 0, 1] } else { [2, 1, 0] });
    });
}

#[test]
fn of_two_threads_that_insert_the_same_buffer_one_is_refused() {
    for policy in POLICIES {
        explore_pair(policy, move |pair| {
            let shared = Shared::new(policy, 2);
            let insert = |shared: &Shared| shared.store.insert(0, 1);
            let results = <[_; 2]>::from(pair.run(&shared, insert, insert));
            assert!(results.contains(&Ok(())), "{results:?}");
            assert!(results.contains(&Err(InsertError::AlreadyIn { index: 0 })), "{results:?}");
            assert_eq!((shared.store.remove(), shared.store.remove()), (Some(0), None));
        });
    }
}

/// Whatever happens between the readings of the two counters, the refusal is the right one.
#[test]
fn a_buffer_that_comes_too_early_is_out_of_order_and_not_in() {
    explore_pair(Policy::Ordered, |pair| {
        let shared = Shared::new(Policy::Ordered, 2);
        let early = |shared: &Shared| shared.store.insert(1, 0);
        let first = |shared: &Shared| {
            shared.insert(0, 0, 1);
            shared.remove()
        };
        match pair.run(&shared, early, first) {
            (Ok(()), first) => assert_eq!((first, shared.store.remove()), (Some((0, 1)), Some(1))),
            (Err(error), first) => {
                assert_eq!(first, Some((0, 1)));
                assert_eq!(error, InsertError::OutOfOrder { index: 1, expected: 0 });
            }
        }
        assert_eq!(shared.store.remove(), None);
    });
}

/// While one word after the other is looked at, a buffer comes into a word behind and the others leave the one ahead.
#[test]
fn a_store_that_is_never_empty_is_never_called_empty() {
    explore_pair(Policy::Unordered, |pair| {
        let shared = Shared::new(Policy::Unordered, 34);
        shared.insert(32, 0, 1);
        shared.insert(0, 0, 1);
        assert_eq!(shared.remove(), Some((0, 1)), "the word last inserted into is looked at first");
        let insert_and_remove = |shared: &Shared| {
            shared.insert(0, 0, 1);
            shared.insert(33, 0, 1);
            [shared.remove(), shared.remove()]
        };
        let (two, one) = pair.run(&shared, insert_and_remove, |shared| shared.remove());
        assert!(two.iter().all(Option::is_some) && one.is_some(), "three are in, and three are removed");
        assert_eq!(shared.remove(), None);
    });
}
