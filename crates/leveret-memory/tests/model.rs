//! Channel ends against an oracle: whatever the order of operations, both tell the same story.
#![cfg(not(loom))]

mod common;

use common::channel;
use leveret_memory::{Receiver, Sender, Taken};
use leveret_types::Nanos;
use proptest::prelude::*;
use std::collections::VecDeque;

#[derive(Clone, Debug)]
enum Operation {
    /// Send an instance this far beyond the last one.
    Send { gap: u64, bytes: Vec<u8> },
    /// Reserve an instance this far beyond the last one, and give it up.
    GiveUp { gap: u64 },
    /// Send without asking for a free buffer.
    SendOver { gap: u64, bytes: Vec<u8> },
    /// Look at an instance near the next one, and then...
    Take { ahead: u64, back: u64, then: Then },
    /// Be done with everything up to an instance near the next one.
    Release { ahead: u64 },
}

#[derive(Clone, Copy, Debug)]
enum Then {
    Drop,
    Release,
    Hold,
}

/// What is known of a channel without looking at its memory.
struct Oracle {
    buffers: u64,
    /// What was published last in each buffer, oldest first: instance and content.
    published: VecDeque<(u64, Vec<u8>)>,
    /// The first instance that may be sent.
    next: u64,
    released: u64,
    held: Option<u64>,
}

impl Oracle {
    fn is_free(&self, instance: u64) -> bool {
        instance < self.released.saturating_add(self.buffers)
            || self.occupant(instance).is_none_or(|occupant| occupant < self.released)
    }

    /// The instance whose message lies in the buffer of `instance`.
    fn occupant(&self, instance: u64) -> Option<u64> {
        self.published.iter().map(|(at, _)| *at).find(|at| at % self.buffers == instance % self.buffers)
    }

    fn clear(&mut self, instance: u64) {
        let buffers = self.buffers;
        self.published.retain(|(at, _)| at % buffers != instance % buffers);
    }

    fn publish(&mut self, instance: u64, bytes: &[u8]) {
        self.clear(instance);
        self.published.push_back((instance, bytes.to_vec()));
        self.next = instance + 1;
    }

    fn message(&self, instance: u64) -> Option<&[u8]> {
        if instance < self.released {
            return None;
        }
        self.published.iter().find(|(at, _)| *at == instance).map(|(_, bytes)| &bytes[..])
    }

    fn release(&mut self, through: u64) {
        self.released = self.released.max(through + 1);
        self.held = self.held.filter(|held| *held > through);
    }
}

fn operation(size: usize) -> impl Strategy<Value = Operation> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..=size);
    let gap = || prop_oneof![4 => Just(0_u64), 1 => 0..6_u64];
    let then = prop_oneof![1 => Just(Then::Drop), 4 => Just(Then::Release), 1 => Just(Then::Hold)];
    prop_oneof![
        6 => (gap(), bytes()).prop_map(|(gap, bytes)| Operation::Send { gap, bytes }),
        1 => gap().prop_map(|gap| Operation::GiveUp { gap }),
        1 => (gap(), bytes()).prop_map(|(gap, bytes)| Operation::SendOver { gap, bytes }),
        6 => (gap(), 0..3_u64, then).prop_map(|(ahead, back, then)| Operation::Take { ahead, back, then }),
        1 => (0..4_u64).prop_map(|ahead| Operation::Release { ahead }),
    ]
}

fn send(sender: &mut Sender, oracle: &mut Oracle, instance: u64, bytes: &[u8]) {
    let free = oracle.is_free(instance);
    match sender.reserve(instance) {
        Ok(mut slot) => {
            assert!(free, "instance {instance} got a buffer that is in use");
            slot.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
            slot.publish(bytes.len() as u32, Nanos(-(instance as i64)));
            oracle.publish(instance, bytes);
        }
        Err(refused) => {
            assert!(!free, "instance {instance} was refused a free buffer");
            assert_eq!((refused.instance, refused.released), (instance, oracle.released));
        }
    }
}

fn take(receiver: &mut Receiver, oracle: &mut Oracle, instance: u64, then: Then) {
    let expected = oracle.message(instance).map(<[u8]>::to_vec);
    match receiver.take(instance) {
        Taken::Message(message) => {
            let mut out = vec![0; message.length()];
            assert_eq!(message.copy_to(&mut out), Ok(out.len()));
            assert_eq!((Some(out), message.stamp()), (expected, Nanos(-(instance as i64))));
            match then {
                Then::Drop => {}
                Then::Release => {
                    message.release();
                    oracle.release(instance);
                }
                Then::Hold => {
                    message.hold();
                    oracle.held = Some(instance);
                    oracle.released = oracle.released.max(instance);
                }
            }
        }
        Taken::NotYet => {
            assert!(expected.is_none() && instance >= oracle.released, "instance {instance} is missing")
        }
        Taken::Stale => {
            let overtaken = oracle.next > instance;
            assert!(
                expected.is_none() && (instance < oracle.released || overtaken),
                "instance {instance} is stale"
            );
        }
        Taken::Invalid(reason) => panic!("instance {instance}: {reason}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: if cfg!(miri) { 1 } else { 512 }, ..ProptestConfig::default() })]

    #[test]
    fn channel_ends_agree_with_the_oracle(
        size in prop_oneof![Just(8_usize), Just(40), Just(41), Just(300)],
        buffers in 1..6_u32,
        operations in prop::collection::vec(operation(8), 1..if cfg!(miri) { 20 } else { 120 }),
    ) {
        let (mut sender, mut receiver) = channel(size as u32, buffers, false);
        let buffers = u64::from(buffers.next_power_of_two());
        let mut oracle = Oracle { buffers, published: VecDeque::new(), next: 0, released: 0, held: None };
        for operation in operations {
            match operation {
                Operation::Send { gap, bytes } => {
                    let instance = oracle.next + gap;
                    send(&mut sender, &mut oracle, instance, &bytes);
                }
                Operation::GiveUp { gap } => {
                    let instance = oracle.next + gap;
                    let free = oracle.is_free(instance);
                    prop_assert_eq!(sender.reserve(instance).is_ok(), free);
                }
                Operation::SendOver { gap, bytes } => {
                    let instance = oracle.next + gap;
                    sender.publish_over(instance, &bytes, Nanos(-(instance as i64)));
                    oracle.publish(instance, &bytes);
                }
                Operation::Take { ahead, back, then } => {
                    let instance = (oracle.released + ahead).saturating_sub(back);
                    take(&mut receiver, &mut oracle, instance, then);
                }
                Operation::Release { ahead } => {
                    receiver.release_through(oracle.released + ahead);
                    oracle.release(oracle.released + ahead);
                }
            }
            prop_assert_eq!(receiver.released(), oracle.released);
            prop_assert_eq!(receiver.held(), oracle.held);
            prop_assert_eq!(sender.peer_released(), oracle.released);
        }
    }
}
