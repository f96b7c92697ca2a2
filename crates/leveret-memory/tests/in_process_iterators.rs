//! The stores behind buffer iterators between several threads: nothing lost, nothing twice, each thread's order kept.
//! Small under Miri; ThreadSanitizer runs it too.
#![cfg(not(loom))]

use leveret_memory::iterator::{IteratorStore, Policy};
use leveret_memory::sync::{AtomicBool, AtomicU64, Ordering};
use std::collections::BTreeMap;
use std::thread;

const POLICIES: [Policy; 5] =
    [Policy::Fifo, Policy::Lifo, Policy::Sorted, Policy::Unordered, Policy::Ordered];
const INSERTING: u64 = 3;
const REMOVING: u64 = 3;
const MESSAGES: u64 = if cfg!(miri) { 12 } else { 2_000 };
const ROUNDS: u64 = if cfg!(miri) { 2 } else { 100 };

/// A buffer whose users notice when another thread uses it at the same time.
#[derive(Default)]
struct Buffer {
    in_use: AtomicBool,
    content: AtomicU64,
}

impl Buffer {
    /// Its content, which this replaces.
    fn exchange(&self, content: u64) -> u64 {
        assert!(!self.in_use.swap(true, Ordering::Relaxed), "two threads own one buffer");
        // Relaxed: that the new owner sees what the last one wrote is up to the store.
        let before = self.content.load(Ordering::Relaxed);
        self.content.store(content, Ordering::Relaxed);
        assert!(self.in_use.swap(false, Ordering::Relaxed), "two threads own one buffer");
        before
    }
}

fn buffers(count: u32) -> Vec<Buffer> {
    (0..count).map(|_| Buffer::default()).collect()
}

/// A message: which thread sent it, and how many that one had sent before. Never 0.
fn message(thread: u64, number: u64) -> u64 {
    (thread + 1) << 32 | number
}

/// A buffer, as soon as there is one.
fn await_buffer(store: &IteratorStore) -> u32 {
    loop {
        match store.remove() {
            Some(index) => return index,
            None => thread::yield_now(),
        }
    }
}

/// All that was removed, each list by one thread in its order: every message of every thread once.
fn assert_each_once(lists: &[Vec<u64>]) {
    let mut all: Vec<u64> = lists.concat();
    all.sort_unstable();
    let sent = (0..INSERTING).flat_map(|thread| (0..MESSAGES).map(move |number| message(thread, number)));
    assert!(all.iter().copied().eq(sent), "a message was lost or came twice");
}

/// In what one thread removed, the messages of each thread come in the order in which it sent them.
fn assert_in_order(removed: &[u64]) {
    let mut last = BTreeMap::new();
    for one in removed {
        if let Some(before) = last.insert(one >> 32, *one) {
            assert!(before < *one, "message {:x} of a thread after its {:x}", one, before);
        }
    }
}

/// Buffers go round: from a store of free ones to the senders, and through the store under test to the receivers.
fn buffers_go_round(policy: Policy, capacity: u32) {
    let (free, filled) =
        (IteratorStore::new(Policy::Unordered, capacity), IteratorStore::new(policy, capacity));
    let buffers = buffers(capacity);
    (0..capacity).for_each(|index| free.insert(index, 0).expect("each is out"));
    let send = |thread: u64| {
        for number in 0..MESSAGES {
            let index = await_buffer(&free);
            assert_eq!(
                buffers[index as usize].exchange(message(thread, number)),
                0,
                "a free buffer is empty"
            );
            filled.insert(index, (number % 5) as i64).expect("this thread owns it");
        }
    };
    let receive = || -> Vec<u64> {
        (0..MESSAGES * INSERTING / REMOVING)
            .map(|_| {
                let index = await_buffer(&filled);
                let message = buffers[index as usize].exchange(0);
                free.insert(index, 0).expect("this thread owns it");
                message
            })
            .collect()
    };
    let removed: Vec<Vec<u64>> = thread::scope(|scope| {
        let receiving: Vec<_> = (0..REMOVING).map(|_| scope.spawn(receive)).collect();
        (0..INSERTING).for_each(|thread| drop(scope.spawn(move || send(thread))));
        receiving.into_iter().map(|thread| thread.join().expect("no receiver panics")).collect()
    });
    assert_each_once(&removed);
    if policy == Policy::Fifo {
        removed.iter().for_each(|list| assert_in_order(list));
    }
    assert_eq!((filled.remove(), free.len_hint()), (None, capacity));
}

#[test]
fn nothing_is_lost_and_nothing_comes_twice() {
    for policy in POLICIES.into_iter().filter(|policy| *policy != Policy::Ordered) {
        for capacity in [1, 4, 50] {
            buffers_go_round(policy, capacity);
        }
    }
}

/// One thread inserts in the promised order, and waits until those who removed a buffer are done with it.
#[test]
fn an_ordered_store_keeps_its_order_between_threads() {
    for capacity in [1, 4, 50] {
        let store = IteratorStore::new(Policy::Ordered, capacity);
        let buffers = buffers(capacity);
        let done: Vec<AtomicBool> = (0..capacity).map(|_| AtomicBool::new(true)).collect();
        let total = MESSAGES * REMOVING;
        let receive = || -> Vec<u64> {
            let next = |_| {
                let index = await_buffer(&store) as usize;
                let message = buffers[index].exchange(0);
                done[index].store(true, Ordering::Release);
                message
            };
            (0..MESSAGES).map(next).collect()
        };
        let removed: Vec<Vec<u64>> = thread::scope(|scope| {
            let receiving: Vec<_> = (0..REMOVING).map(|_| scope.spawn(receive)).collect();
            for number in 0..total {
                let index = (number % u64::from(capacity)) as u32;
                while !done[index as usize].swap(false, Ordering::Acquire) {
                    thread::yield_now();
                }
                assert_eq!(buffers[index as usize].exchange(message(0, number)), 0);
                store.insert(index, 0).expect("it is next, and out");
            }
            receiving.into_iter().map(|thread| thread.join().expect("no receiver panics")).collect()
        });
        removed.iter().for_each(|list| assert_in_order(list));
        let mut all = removed.concat();
        all.sort_unstable();
        assert!(all.into_iter().eq((0..total).map(|number| message(0, number))));
    }
}

/// Several threads fill a store, then several empty it: in what each of these gets, the policy's order shows.
#[test]
fn each_thread_removes_in_the_order_of_the_policy() {
    const EACH: u32 = if cfg!(miri) { 6 } else { 40 };
    let capacity = EACH * INSERTING as u32;
    let label = |index: u32| i64::from(index * 7 % 5);
    for policy in [Policy::Fifo, Policy::Lifo, Policy::Sorted] {
        let store = IteratorStore::new(policy, capacity);
        for _ in 0..ROUNDS {
            thread::scope(|scope| {
                for thread in 0..INSERTING as u32 {
                    let (store, own) = (&store, thread * EACH..(thread + 1) * EACH);
                    scope.spawn(move || {
                        own.for_each(|index| store.insert(index, label(index)).expect("it is out"))
                    });
                }
            });
            let removed: Vec<Vec<u32>> = thread::scope(|scope| {
                let empty = || std::iter::from_fn(|| store.remove()).collect();
                let removing: Vec<_> = (0..REMOVING).map(|_| scope.spawn(empty)).collect();
                removing.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
            });
            for list in &removed {
                if policy == Policy::Sorted {
                    assert!(list.iter().map(|index| label(*index)).is_sorted(), "{list:?}");
                }
                // Of the buffers that one thread inserted, those with one label if labels count.
                let mut groups: BTreeMap<_, Vec<u32>> = BTreeMap::new();
                for index in list {
                    let group = if policy == Policy::Sorted { label(*index) } else { 0 };
                    groups.entry((index / EACH, group)).or_default().push(*index);
                }
                let rises = |group: &Vec<u32>| match policy {
                    Policy::Lifo => group.iter().rev().is_sorted(),
                    _ => group.is_sorted(),
                };
                assert!(groups.values().all(rises), "{policy}: {list:?}");
            }
            let mut all = removed.concat();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..capacity));
        }
    }
}
