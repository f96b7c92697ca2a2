//! What an insertion with its removal costs under each policy. Measured on request:
//!
//! `cargo test -p leveret-memory --release --test iterator_cost -- --ignored --nocapture`
#![cfg(not(loom))]
#![allow(clippy::disallowed_methods, reason = "what is measured is time")]

use leveret_memory::iterator::{IteratorStore, Policy};
use std::hint::black_box;
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Instant;

const POLICIES: [Policy; 5] =
    [Policy::Fifo, Policy::Lifo, Policy::Sorted, Policy::Unordered, Policy::Ordered];
const BATCH: u32 = 2_000;
const BATCHES: usize = 100;
/// Subjects take turns, so that a busy minute of the machine meets all of them.
const ROUNDS: usize = 10;

/// Nanoseconds for each insertion with its removal, in each batch.
fn batches_ns(mut batch: impl FnMut()) -> Vec<f64> {
    (0..BATCHES)
        .map(|_| {
            let start = Instant::now();
            batch();
            start.elapsed().as_nanos() as f64 / f64::from(BATCH)
        })
        .collect()
}

/// Quickest and median batch of each subject, printed, and the medians over that of the first one.
fn compare(case: &str, subjects: &[(&str, &dyn Fn() -> Vec<f64>)]) {
    let mut all = vec![Vec::new(); subjects.len()];
    for _ in 0..ROUNDS {
        for (own, (_, round)) in all.iter_mut().zip(subjects) {
            own.extend(round());
        }
    }
    all.iter_mut().for_each(|own| own.sort_by(f64::total_cmp));
    let median = |own: &Vec<f64>| own[own.len() / 2];
    let first = median(&all[0]);
    for (own, (name, _)) in all.iter().zip(subjects) {
        let ratio = median(own) / first;
        println!("{case:32} {name:10} {:8.1} {:8.1} {ratio:8.2}", own[0], median(own));
    }
}

/// One thread; `inside` buffers stay in all the time, and the others go round.
fn alone(policy: Policy, capacity: u32, inside: u32) -> Vec<f64> {
    let store = IteratorStore::new(policy, capacity);
    (0..inside).for_each(|index| store.insert(index, 0).expect("each is out"));
    // Under ORDERED the first that comes in is the next of the cycle; under the others any that is out will do.
    let mut next = inside % capacity;
    batches_ns(|| {
        for _ in 0..BATCH {
            store.insert(black_box(next), 1).expect("it is out");
            let removed = store.remove().expect("one was inserted");
            next = match policy {
                Policy::Ordered if next + 1 == capacity => 0,
                Policy::Ordered => next + 1,
                _ => removed,
            };
        }
    })
}

/// What a store under a lock would cost.
fn lock_alone() -> Vec<f64> {
    let store = Mutex::new(std::collections::VecDeque::with_capacity(8));
    let mut next = 0_u32;
    batches_ns(|| {
        for _ in 0..BATCH {
            store.lock().expect("nobody panics").push_back(black_box(next));
            next = store.lock().expect("nobody panics").pop_front().expect("one was inserted");
        }
    })
}

/// Two threads: one inserts what the other has removed and handed back through a store of the same kind.
fn between_two(policy: Policy, capacity: u32) -> Vec<f64> {
    let there = IteratorStore::new(policy, capacity);
    let back = IteratorStore::new(policy, capacity);
    (0..capacity).for_each(|index| back.insert(index, 0).expect("each is out"));
    let start = Barrier::new(2);
    let pass = |from: &IteratorStore, to: &IteratorStore| {
        let mut passed = 0;
        while passed < BATCH {
            match from.remove() {
                Some(index) => {
                    to.insert(index, 0).expect("this thread owns it");
                    passed += 1;
                }
                None => std::hint::spin_loop(),
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..BATCHES {
                start.wait();
                pass(&there, &back);
            }
        });
        batches_ns(|| {
            start.wait();
            pass(&back, &there);
        })
    })
}

#[test]
#[ignore = "a measurement, to be made on a machine that does nothing else"]
fn cost_of_an_insertion_with_its_removal() {
    println!(
        "ns for an insertion with its removal: quickest and median of {} batches of {BATCH}",
        BATCHES * ROUNDS
    );
    for (capacity, inside) in [(8, 0), (8, 6), (256, 0), (256, 128), (4096, 0), (4096, 2000)] {
        let rounds = POLICIES.map(|policy| (policy.to_string(), move || alone(policy, capacity, inside)));
        let mut subjects: Vec<(&str, &dyn Fn() -> Vec<f64>)> =
            rounds.iter().map(|(name, round)| (name.as_str(), round as _)).collect();
        subjects.push(("mutex", &lock_alone));
        compare(&format!("one thread, {inside} of {capacity} stay in"), &subjects);
    }
    let rounds = POLICIES.map(|policy| (policy.to_string(), move || between_two(policy, 64)));
    let subjects: Vec<(&str, &dyn Fn() -> Vec<f64>)> =
        rounds.iter().map(|(name, round)| (name.as_str(), round as _)).collect();
    compare("two threads, 64 go round", &subjects);
}
