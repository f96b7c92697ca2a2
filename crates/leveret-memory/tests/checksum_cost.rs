//! What a checksum adds to sending a message and to taking a copy of it. Measured on request:
//!
//! `cargo test -p leveret-memory --release --test checksum_cost -- --ignored --nocapture`
#![cfg(not(loom))]
#![allow(clippy::disallowed_methods, reason = "what is measured is time")]

mod common;

use common::{CHANNEL, attach, create, source_spec, target_spec};
use leveret_memory::{Receiver, Sender, Taken};
use leveret_types::Nanos;
use std::hint::black_box;
use std::time::Instant;

const MESSAGES: u64 = 500;
const ROUNDS: usize = 400;

fn ends(size: u32, checksum: bool) -> (Sender, Receiver) {
    let mut spec = source_spec(size, 2, false);
    spec.sources[0].checksum = checksum;
    let (mut source, region, source_layout) = create(&spec);
    let (mut target, target_region, target_layout) = create(&target_spec(false));
    let to = attach(&target_region, &target_layout).target(CHANNEL).expect("declared");
    let from = attach(&region, &source_layout).source(CHANNEL).expect("declared");
    let own = source.take_source(CHANNEL).expect("declared");
    (Sender::new(own, to), Receiver::new(target.take_target(CHANNEL).expect("declared"), from))
}

/// Nanoseconds for sending and for taking one message, of `MESSAGES` from `first` on.
fn messages_ns((sender, receiver): &mut (Sender, Receiver), first: u64, bytes: &mut [u8]) -> [f64; 2] {
    let mut spent = [0, 0];
    for instance in first..first + MESSAGES {
        let start = Instant::now();
        let mut slot = sender.reserve(instance).expect("the one before was released");
        slot.write(black_box(bytes));
        slot.publish(bytes.len() as u32, Nanos::ZERO);
        let sent = Instant::now();
        let Taken::Message(message) = receiver.take(instance) else { panic!("published") };
        message.copy_to(black_box(bytes)).expect("whole");
        message.release();
        spent[0] += (sent - start).as_nanos();
        spent[1] += sent.elapsed().as_nanos();
    }
    spent.map(|sum| sum as f64 / MESSAGES as f64)
}

#[test]
#[ignore = "a measurement, to be made on a machine that does nothing else"]
fn cost_of_a_checksum_at_both_ends() {
    println!("bytes     send    with    take    with   (medians in ns, a reading of the clock included)");
    for size in [8_u32, 64, 1 << 10, 16 << 10, 64 << 10, 1 << 20] {
        let mut bytes = vec![0x5a; size as usize];
        let mut both = [ends(size, false), ends(size, true)];
        let mut found: [[Vec<f64>; 2]; 2] = Default::default();
        let rounds = if size > 1 << 16 { ROUNDS / 20 } else { ROUNDS };
        for round in 0..rounds as u64 {
            for (ends, found) in both.iter_mut().zip(&mut found) {
                let spent = messages_ns(ends, round * MESSAGES, &mut bytes);
                found.iter_mut().zip(spent).for_each(|(found, spent)| found.push(spent));
            }
        }
        let median = |found: &mut Vec<f64>| {
            found.sort_by(f64::total_cmp);
            found[found.len() / 2]
        };
        let [[send, take], [send_with, take_with]] = found.each_mut().map(|ends| ends.each_mut().map(median));
        println!("{size:7} {send:7.0} {send_with:7.0} {take:7.0} {take_with:7.0}");
    }
}
