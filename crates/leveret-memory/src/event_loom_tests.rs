//! Every interleaving of threads that fire, read and wait.

use super::*;
use crate::region::HeapRegion;
use loom::thread;
use std::sync::Arc;

fn explore(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(3);
    builder.check(model);
}

fn trigger(kept: u32) -> (FiringWriter, FiringReader, ListenerWriter, ListenerReader) {
    let spec = TriggerSpec { trigger: TriggerId(0), kept };
    let place = TriggerPlace { spec, offset: 0, length: TIMES + kept as usize * 8 };
    let window = Window::whole(Arc::new(HeapRegion::new(place.length + 64)));
    let listener = place.length;
    (
        FiringWriter::new(&window, &place),
        FiringReader::new(&window, &place, Nanos::ZERO),
        ListenerWriter::new(&window, listener),
        ListenerReader::new(&window, listener),
    )
}

/// Two threads fire at times that tell them apart, while a third reads.
fn fire_together(kept: u32, each: i64) {
    explore(move || {
        let (writer, reader, ..) = trigger(kept);
        let writer = Arc::new(writer);
        let threads: Vec<_> = [100, 200]
            .map(|base| {
                let writer = writer.clone();
                thread::spawn(move || {
                    (0..each).map(|k| (writer.fire(Nanos(base + k)), base + k)).collect::<Vec<_>>()
                })
            })
            .into();
        let fired = reader.fired().expect("an honest count");
        for number in 0..fired {
            if let Some(time) = reader.time(number) {
                assert!([100, 200].iter().any(|base| (0..each).contains(&(time.0 - base))), "torn: {time:?}");
            }
        }
        let mut firings: Vec<(u64, i64)> =
            threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect();
        firings.sort_unstable();
        let count = 2 * each as u64;
        assert_eq!(reader.fired(), Some(count), "no firing is lost");
        for (place, (number, time)) in firings.iter().enumerate() {
            assert_eq!(*number, place as u64, "each has a number of its own");
            let kept_yet = count - number <= u64::from(kept);
            assert_eq!(reader.time(*number), kept_yet.then_some(Nanos(*time)), "firing {number}");
        }
    });
}

#[test]
fn firings_of_two_threads_are_all_counted() {
    fire_together(2, 1);
}

#[test]
fn firings_that_overwrite_are_counted_too() {
    fire_together(1, 1);
}

#[test]
fn two_firings_of_each_are_numbered_in_order() {
    fire_together(2, 2);
}

/// Whoever goes to sleep is woken: either the firing sees the waiter, or the waiter the firing.
#[test]
fn no_wake_up_is_lost() {
    explore(|| {
        let (writer, reader, waiting, listener) = trigger(1);
        let firing = thread::spawn(move || {
            writer.fire(Nanos(1));
            after_firing();
            listener.is_waiting()
        });
        waiting.begin();
        let sees = reader.fired() == Some(1);
        let woken = firing.join().expect("no panic");
        assert!(sees || woken, "a thread would sleep for ever");
    });
}
