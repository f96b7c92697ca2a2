//! The walk of messages from a sender to a receiver.
#![cfg(not(loom))]

mod common;

use common::channel;
use leveret_memory::{MessageRecord, NOT_ACTIVE, Receiver, Sender, Taken};
use leveret_types::Nanos;

fn send(sender: &mut Sender, instance: u64, bytes: &[u8]) {
    let mut slot = sender.reserve(instance).expect("a buffer is free");
    slot.write(bytes);
    slot.publish(bytes.len() as u32, Nanos(instance as i64 * 10));
}

fn receive(receiver: &mut Receiver, instance: u64) -> Vec<u8> {
    let Taken::Message(message) = receiver.take(instance) else { panic!("instance {instance} is not there") };
    assert_eq!(message.instance(), instance);
    assert_eq!(message.stamp(), Nanos(instance as i64 * 10));
    let mut out = vec![0; message.length()];
    assert_eq!(message.copy_to(&mut out), Ok(out.len()));
    message.release();
    out
}

// spec: CHANNEL-SIZE-01, BUFFER-LENGTH-01
#[test]
fn messages_of_every_length_arrive_whole() {
    for size in [1, 4, 8, 13, 39, 40, 41, 64, 100, 127, 128, 129, 1024, 5000] {
        let (mut sender, mut receiver) = channel(size, 3, false);
        assert_eq!((sender.capacity(), sender.buffers()), (size as usize, 4));
        let lengths = (0..=u64::from(size)).step_by(if cfg!(miri) && size > 50 { 479 } else { 1 });
        for (instance, length) in (0..).zip(lengths) {
            let bytes: Vec<u8> = (0..length).map(|index| (index * 7 + instance) as u8).collect();
            send(&mut sender, instance, &bytes);
            assert_eq!(receive(&mut receiver, instance), bytes);
        }
    }
}

#[test]
fn a_message_can_be_filled_and_read_in_place() {
    let (mut sender, mut receiver) = channel(1000, 2, false);
    let mut slot = sender.reserve(0).expect("free");
    assert_eq!(slot.bytes_mut().len(), 1000);
    for (index, byte) in slot.bytes_mut().iter_mut().enumerate() {
        *byte = index as u8;
    }
    slot.publish(1000, Nanos::ZERO);
    let Taken::Message(message) = receiver.take(0) else { panic!("published") };
    let bytes = message.bytes();
    assert_eq!((bytes.len(), bytes.is_empty()), (1000, false));
    assert_eq!((bytes.get(0), bytes.get(999), bytes.get(1000)), (Some(0), Some(231), None));
    for offset in 0..16 {
        let expected: Vec<u8> = (offset..offset + 8).map(|index| index as u8).collect();
        assert_eq!(
            bytes.read_u64_le(offset).map(u64::to_le_bytes).as_ref().map(|all| &all[..]),
            Some(&expected[..])
        );
        assert_eq!(
            bytes.read_u32_le(offset).map(u32::to_le_bytes).as_ref().map(|all| &all[..]),
            Some(&expected[..4])
        );
        let mut out = [0; 300];
        assert_eq!(bytes.copy_range(offset, &mut out), 300);
        assert!(out.iter().enumerate().all(|(index, byte)| *byte == (index + offset) as u8));
    }
    assert_eq!((bytes.read_u64_le(992).is_some(), bytes.read_u64_le(993)), (true, None));
    assert_eq!(bytes.read_u32_le(usize::MAX), None);
    let mut out = [9; 16];
    assert_eq!((bytes.copy_range(995, &mut out), out[4], out[5]), (5, 231, 9));
    assert_eq!(bytes.copy_range(usize::MAX, &mut out), 0);
    assert_eq!(message.validate(), Ok(()));
}

#[test]
fn a_sender_without_free_buffer_is_told_so_and_goes_on_later() {
    let (mut sender, mut receiver) = channel(8, 2, false);
    send(&mut sender, 0, b"a");
    send(&mut sender, 1, b"b");
    let refused = sender.reserve(2).err().expect("both buffers are in use");
    assert_eq!((refused.instance, refused.released), (2, 0));
    assert_eq!(receive(&mut receiver, 0), b"a");
    send(&mut sender, 2, b"c");
    assert!(sender.reserve(3).is_err());
    assert_eq!(receive(&mut receiver, 1), b"b");
    assert_eq!(receive(&mut receiver, 2), b"c");
}

#[test]
fn instances_may_leave_gaps_and_may_be_skipped() {
    let (mut sender, mut receiver) = channel(8, 2, false);
    send(&mut sender, 1000, b"x");
    assert!(matches!(receiver.take(998), Taken::Stale));
    assert!(matches!(receiver.take(999), Taken::NotYet));
    assert!(matches!(receiver.take(1002), Taken::NotYet));
    assert_eq!(receive(&mut receiver, 1000), b"x");
    assert!(matches!(receiver.take(1000), Taken::Stale));
    receiver.release_through(5000);
    send(&mut sender, 5000, b"late");
    assert!(matches!(receiver.take(5000), Taken::Stale));
    send(&mut sender, 5001, b"next");
    assert_eq!(receive(&mut receiver, 5001), b"next");
}

#[test]
fn a_slot_given_up_sends_nothing_and_can_be_reserved_again() {
    let (mut sender, mut receiver) = channel(8, 1, false);
    drop(sender.reserve(4).expect("free"));
    assert!(matches!(receiver.take(4), Taken::NotYet));
    send(&mut sender, 4, b"y");
    assert_eq!(receive(&mut receiver, 4), b"y");
}

#[test]
fn a_held_message_stays_until_a_newer_one_comes() {
    let (mut sender, mut receiver) = channel(8, 2, false);
    send(&mut sender, 0, b"old");
    let Taken::Message(message) = receiver.take_or_held(0) else { panic!("published") };
    message.hold();
    let Taken::Message(message) = receiver.take_or_held(1) else { panic!("held") };
    assert_eq!((message.instance(), message.length()), (0, 3));
    send(&mut sender, 1, b"new");
    assert!(sender.reserve(2).is_err(), "the held buffer is in use");
    let Taken::Message(message) = receiver.take_or_held(1) else { panic!("published") };
    assert_eq!(message.instance(), 1);
    message.hold();
    assert_eq!(receiver.held(), Some(1));
    send(&mut sender, 2, b"newer");
    receiver.release_through(1);
    assert_eq!(receiver.held(), None);
    assert!(matches!(receiver.take_or_held(3), Taken::NotYet));
}

#[test]
fn a_message_overwritten_while_it_is_read_is_torn() {
    let (mut sender, mut receiver) = channel(8, 1, false);
    send(&mut sender, 0, b"first");
    let Taken::Message(message) = receiver.take(0) else { panic!("published") };
    assert_eq!(message.validate(), Ok(()));
    sender.publish_over(1, b"second", Nanos(10));
    assert!(message.validate().is_err());
    assert!(message.copy_to(&mut [0; 8]).is_err());
    assert!(matches!(receiver.take(0), Taken::Stale));
    assert_eq!(receive(&mut receiver, 1), b"second");
}

#[test]
fn only_the_receiver_of_a_waking_channel_is_woken() {
    let (mut sender, mut receiver) = channel(8, 4, true);
    send(&mut sender, 0, b"");
    assert!(!sender.must_wake());
    let value = receiver.prepare_wait();
    assert_eq!(value, receiver.futex_word());
    send(&mut sender, 1, b"");
    assert!(sender.must_wake());
    assert_ne!(value, receiver.futex_word(), "the kernel would not let the receiver sleep");
    receiver.cancel_wait();
    send(&mut sender, 2, b"");
    assert!(!sender.must_wake());
    assert_eq!(sender.futex_word_address(), receiver.futex_word_address());

    let (mut sender, _receiver) = channel(8, 4, false);
    send(&mut sender, 0, b"");
    assert!(!sender.must_wake());
}

#[test]
fn ends_agree_on_their_first_instance() {
    let (mut sender, mut receiver) = channel(8, 4, false);
    assert_eq!((sender.peer_first_eligible(), receiver.peer_first_eligible()), (NOT_ACTIVE, NOT_ACTIVE));
    sender.set_first_eligible(12);
    receiver.set_first_eligible(14);
    assert_eq!((sender.peer_first_eligible(), receiver.peer_first_eligible()), (14, 12));
}

// spec: CHANNEL-END-04
#[test]
fn messages_cross_threads_in_order() {
    let (mut sender, mut receiver) = channel(16, 4, false);
    let rounds = if cfg!(miri) { 50 } else { 100_000 };
    let writer = std::thread::spawn(move || {
        for instance in 0..rounds {
            loop {
                if let Ok(mut slot) = sender.reserve(instance) {
                    slot.bytes_mut()[..8].copy_from_slice(&instance.to_le_bytes());
                    slot.bytes_mut()[8..].copy_from_slice(&(!instance).to_le_bytes());
                    slot.publish(16, Nanos(instance as i64));
                    break;
                }
                std::thread::yield_now();
            }
        }
    });
    for instance in 0..rounds {
        loop {
            if let Taken::Message(message) = receiver.take(instance) {
                let bytes = message.bytes();
                assert_eq!(bytes.read_u64_le(0), Some(instance));
                assert_eq!(bytes.read_u64_le(8), Some(!instance));
                assert_eq!(message.validate(), Ok(()));
                message.release();
                break;
            }
            std::thread::yield_now();
        }
    }
    writer.join().expect("the writer does not panic");
}

/// Ends that go on while others look for their counts elsewhere: what they carry is not touched.
#[test]
fn counts_can_be_kept_elsewhere_while_messages_go_on() {
    let (mut sender, mut receiver) = channel(8, 2, false);
    let (mut other_sender, mut other_receiver) = channel(8, 2, false);
    send(&mut sender, 0, &[1]);
    assert_eq!(receive(&mut receiver, 0), [1]);
    send(&mut sender, 1, &[2]);
    sender.report_as(&mut other_sender);
    receiver.report_as(&mut other_receiver);
    let fresh = MessageRecord { instance: 7, at: Nanos(9), due: Nanos(10), size: 1, fate: 3 };
    sender.record(&fresh);
    send(&mut sender, 2, &[3]);
    assert_eq!(receive(&mut receiver, 1), [2], "it was under way");
    assert_eq!(receive(&mut receiver, 2), [3]);
    assert_eq!((sender.peer_released(), receiver.released()), (3, 3));
    // What is exchanged is only where it stands: the other ends carry nothing.
    assert!(matches!(other_receiver.take(0), Taken::NotYet));
    assert_eq!(other_sender.peer_released(), 0);
}
