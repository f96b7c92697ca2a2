//! What the two ends of a channel say to each other beside its messages, in the interleavings that loom explores: who may touch a
//! buffer, and when each end takes part.
//!
//! Buffers of the program are loom's cells here. Loom reports an access that is not ordered after the other end's, also where every
//! interleaving happens to read the right value.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p leveret-memory --release --test loom_ends`
#![cfg(loom)]

mod common;

use common::{CHANNEL, SegmentPair, channel, segments};
use leveret_memory::{Borrower, Lender, Mapping, Receiver, Sender, Taken};
use leveret_types::Nanos;
use loom::cell::Cell;
use loom::sync::Arc;
use loom::thread;

/// Explores with at most this many preemptions; loom's authors find three enough for practically every fault.
const PREEMPTIONS_MAX: usize = 3;

fn explore(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(PREEMPTIONS_MAX);
    builder.max_branches = 10_000;
    builder.check(model);
}

/// A buffer of the program, of which loom knows who touches it when.
type Buffer = Arc<Cell<u64>>;

fn buffer() -> Buffer {
    Arc::new(Cell::new(0))
}

/// The ends of a channel of one aliased buffer and two slots.
fn aliased() -> (Sender, Receiver, Lender, Borrower) {
    let SegmentPair { mut source, peer_source, mut target, peer_target } =
        segments(8, 2, false, Mapping::Aliased(1));
    let (own, end) = (source.take_source(CHANNEL).unwrap(), target.take_target(CHANNEL).unwrap());
    let (to, from) = (peer_target.target(CHANNEL).unwrap(), peer_source.source(CHANNEL).unwrap());
    let (lender, borrower) = (to.lender().unwrap(), end.borrower().unwrap());
    (Sender::new(own, to), Receiver::new(end, from), lender, borrower)
}

fn publish(sender: &mut Sender, instance: u64) {
    sender.reserve(instance).expect("two slots").publish_for(0, 8, Nanos::ZERO);
}

/// A message's buffer is read by one thread while another sends: what it holds is ordered after its writing, and its next writing after
/// the release.
#[test]
fn a_slot_is_written_after_all_reads_of_what_it_held() {
    explore(|| {
        let (mut sender, mut receiver) = channel(8, 1, false);
        let buffer = buffer();
        let theirs = buffer.clone();
        let writer = thread::spawn(move || {
            for instance in 0..2 {
                let Ok(slot) = sender.reserve(instance) else { return };
                theirs.set(instance + 1);
                slot.publish(0, Nanos::ZERO);
            }
        });
        if let Taken::Message(message) = receiver.take(0) {
            assert_eq!(buffer.get(), 1);
            message.release();
        }
        if let Taken::Message(message) = receiver.take(1) {
            assert_eq!(buffer.get(), 2);
            message.release();
        }
        writer.join().unwrap();
    });
}

#[test]
fn an_aliased_buffer_is_its_sender_s_again_when_its_borrower_gave_it_back() {
    explore(|| {
        let (mut sender, mut receiver, lender, borrower) = aliased();
        let buffer = buffer();
        buffer.set(1);
        publish(&mut sender, 0);
        let theirs = buffer.clone();
        let reader = thread::spawn(move || {
            let Taken::Message(message) = receiver.take(0) else { panic!("published") };
            assert_eq!(message.index(), Some(0));
            borrower.keep(0, 0);
            message.release();
            // The program reads on after the release: the buffer is its own until it gives it back.
            assert_eq!(theirs.get(), 1);
            borrower.give_back(0);
        });
        if lender.is_back(0, 0) {
            buffer.set(2);
        }
        // Another thread of the sender's member sees by the count that one came back.
        if lender.returns() == 1 {
            assert!(lender.is_back(0, 0), "whoever sees the count sees the buffer that it counts");
        }
        reader.join().unwrap();
        assert!(lender.is_back(0, 0));
        assert_eq!(lender.returns(), 1);
    });
}

#[test]
fn an_aliased_buffer_of_a_message_passed_over_is_back_with_its_release() {
    explore(|| {
        let (mut sender, mut receiver, lender, _borrower) = aliased();
        let buffer = buffer();
        buffer.set(1);
        publish(&mut sender, 0);
        let theirs = buffer.clone();
        let reader = thread::spawn(move || {
            let Taken::Message(message) = receiver.take(0) else { panic!("published") };
            assert_eq!(theirs.get(), 1);
            message.release();
        });
        if lender.is_back(0, 0) {
            buffer.set(2);
            publish(&mut sender, 1);
        }
        reader.join().unwrap();
        assert!(lender.is_back(0, 0));
    });
}

#[test]
fn the_content_of_an_aliased_buffer_comes_with_its_message() {
    explore(|| {
        let (mut sender, mut receiver, _lender, _borrower) = aliased();
        let buffer = buffer();
        let theirs = buffer.clone();
        let writer = thread::spawn(move || {
            theirs.set(7);
            publish(&mut sender, 0);
        });
        if let Taken::Message(message) = receiver.take(0) {
            assert_eq!((message.index(), buffer.get()), (Some(0), 7));
            message.release();
        }
        writer.join().unwrap();
    });
}

#[test]
fn spans_are_of_one_call() {
    explore(|| {
        let (sender, receiver) = channel(8, 1, false);
        let (writer, reader) = (sender.participation(), receiver.peer_participation());
        writer.tell_spans([1, 1, 1]);
        let telling = thread::spawn(move || (2..=3).for_each(|round| writer.tell_spans([round; 3])));
        let spans = reader.spans().expect("it is told three times");
        assert!(spans[0] == spans[1] && spans[1] == spans[2], "torn: {spans:?}");
        assert!((1..=3).contains(&spans[0]));
        telling.join().unwrap();
        assert_eq!(reader.spans(), Some([3; 3]));
    });
}

/// The ends of participation, and a buffer that is written before `tell` and read once `has_seen`: what an end did before it said so is
/// ordered before what the other does after it has seen it.
fn orders(
    tell: impl Fn(&leveret_memory::ParticipationWriter) + Copy + Send + Sync + 'static,
    has_seen: impl Fn(&leveret_memory::ParticipationReader) -> bool + Copy + Send + Sync + 'static,
) {
    explore(move || {
        let (sender, receiver) = channel(8, 1, false);
        let (writer, reader) = (sender.participation(), receiver.peer_participation());
        let buffer = buffer();
        let theirs = buffer.clone();
        let telling = thread::spawn(move || {
            theirs.set(1);
            tell(&writer);
        });
        if has_seen(&reader) {
            assert_eq!(buffer.get(), 1);
        }
        telling.join().unwrap();
        assert!(has_seen(&reader));
    });
}

#[test]
fn what_came_before_is_seen_with_what_is_said() {
    orders(|end| end.tell_spans([5, 6, 7]), |end| end.spans() == Some([5, 6, 7]));
    orders(|end| end.tell_started(1), |end| end.started() == Some(1));
    orders(|end| end.tell_answered(1), |end| end.answered() == Some(1));
    orders(|end| end.tell_served(3, 1), |end| end.served(3) == Some(true));
    orders(|end| end.tell_lacked(1, 9), |end| end.lacked().is_some_and(|(count, _)| count == 1));
}

#[test]
fn the_last_instance_without_a_buffer_is_no_older_than_its_count() {
    explore(|| {
        let (sender, receiver) = channel(8, 1, false);
        let (writer, reader) = (sender.participation(), receiver.peer_participation());
        let telling = thread::spawn(move || (1..=2).for_each(|count| writer.tell_lacked(count, 10 + count)));
        let (count, last) = reader.lacked().expect("whole");
        assert!(count == 0 || last >= 10 + count, "{count} counted, the last of them {last}");
        telling.join().unwrap();
        assert_eq!(reader.lacked(), Some((2, 12)));
    });
}
