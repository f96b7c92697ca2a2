//! Small channels in the interleavings that loom explores: all with at most three preemptions, and for each load every value that
//! release and acquire let it see. Loom runs a thread's own operations in their order: a store never passes an earlier load. What
//! such a reordering breaks shows in `loom_ends`, where buffers are cells that must be accessed in order. The rings have their tests
//! beside their code.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p leveret-memory --release --lib --test loom`
#![cfg(loom)]

mod common;

use common::channel;
use leveret_memory::{Latest, Receiver, Sender, Taken};
use leveret_types::Nanos;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

/// Explores with at most this many preemptions; loom's authors find three enough for practically every fault.
const PREEMPTIONS_MAX: usize = 3;

fn explore(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(PREEMPTIONS_MAX);
    builder.max_branches = 10_000;
    builder.check(model);
}

/// A message of two equal words, so that a torn one shows.
fn content(instance: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&(instance + 1).to_le_bytes());
    bytes[8..].copy_from_slice(&(instance + 1).to_le_bytes());
    bytes
}

fn send(sender: &mut Sender, instance: u64) -> bool {
    let Ok(mut slot) = sender.reserve(instance) else { return false };
    slot.write(&content(instance));
    slot.publish(16, Nanos(instance as i64));
    true
}

/// Takes `instance` if it is there, and checks it. Says whether it was whole.
fn take(receiver: &mut Receiver, instance: u64) -> bool {
    match receiver.take(instance) {
        Taken::Message(message) => {
            let mut out = [0; 16];
            let whole = message.copy_to(&mut out).is_ok();
            if whole {
                assert_eq!(out, content(instance));
                assert_eq!((message.stamp(), message.length()), (Nanos(instance as i64), 16));
            }
            message.release();
            whole
        }
        Taken::Invalid(reason) => panic!("an honest sender published nonsense: {reason}"),
        Taken::NotYet | Taken::Stale => false,
    }
}

#[test]
fn a_published_message_is_whole() {
    explore(|| {
        let (mut sender, mut receiver) = channel(16, 2, false);
        let writer = thread::spawn(move || {
            assert!(send(&mut sender, 0));
            assert!(send(&mut sender, 1));
            sender
        });
        let early = take(&mut receiver, 0);
        drop(writer.join().expect("the writer does not panic"));
        assert!(early || take(&mut receiver, 0), "after the sender's end the message is there");
        assert!(take(&mut receiver, 1));
    });
}

#[test]
fn a_buffer_is_reused_only_after_its_release() {
    explore(|| {
        let (mut sender, mut receiver) = channel(16, 1, false);
        assert!(send(&mut sender, 0));
        let writer = thread::spawn(move || {
            let sent = send(&mut sender, 1);
            (sender, sent)
        });
        // Were the buffer written to before the release, this would be torn.
        assert!(take(&mut receiver, 0), "a message with an honest sender is never torn");
        let (mut sender, sent) = writer.join().expect("the writer does not panic");
        assert!(sent || send(&mut sender, 1), "after the release the buffer is free");
        assert!(take(&mut receiver, 1));
    });
}

#[test]
fn an_overwritten_message_is_noticed() {
    explore(|| {
        let (mut sender, mut receiver) = channel(16, 1, false);
        assert!(send(&mut sender, 0));
        let writer = thread::spawn(move || sender.publish_over(1, &content(1), Nanos(1)));
        let _whole_or_noticed = take(&mut receiver, 0);
        writer.join().expect("the writer does not panic");
        assert!(take(&mut receiver, 1));
    });
}

/// What the kernel does: it compares and enqueues in one step.
struct Futex {
    sleepers: Mutex<()>,
    woken: Condvar,
}

#[test]
fn no_wake_up_is_lost() {
    explore(|| {
        let (mut sender, mut receiver) = channel(8, 2, true);
        let futex = Arc::new(Futex { sleepers: Mutex::new(()), woken: Condvar::new() });
        let kernel = Arc::clone(&futex);
        let writer = thread::spawn(move || {
            let slot = sender.reserve(0).expect("free");
            slot.publish(0, Nanos::ZERO);
            if sender.must_wake() {
                drop(kernel.sleepers.lock());
                kernel.woken.notify_one();
            }
        });
        let value = receiver.prepare_wait();
        if matches!(receiver.take(0), Taken::NotYet) {
            let sleepers = futex.sleepers.lock().expect("not poisoned");
            if receiver.futex_word() == value {
                // Were the wake-up lost, this would sleep for ever and loom would report a deadlock.
                drop(futex.woken.wait(sleepers).expect("not poisoned"));
            }
        }
        receiver.cancel_wait();
        assert!(matches!(receiver.take(0), Taken::Message(_)), "awake means that the message is there");
        writer.join().expect("the writer does not panic");
    });
}

#[test]
fn of_several_words_all_are_of_one_store() {
    explore(|| {
        let latest = Arc::new(Latest::new([0, 0]));
        let stored = latest.clone();
        // Three copies under loom: the third store may fill the one that was in use at first, the other two one that was stored.
        let storing = thread::spawn(move || {
            (1..=3).for_each(|round| assert!(stored.store([round, round]), "one load stalls at most"));
        });
        let first = latest.load();
        let second = latest.load();
        assert!(first[0] == first[1] && second[0] == second[1] && first[0] <= second[0]);
        storing.join().unwrap();
        assert_eq!(latest.load(), [3, 3]);
    });
}
