//! A peer that writes anything anywhere in its segment while we read it: no panic, no access out of bounds, no
//! endless loop, and nothing passed off as whole that is not in range.
#![cfg(not(loom))]

mod common;

use common::{
    CHANNEL, GENERATION, Random, SOURCE, TARGET, TASK, attach, create, source_spec, target_spec, words,
};
use leveret_memory::sync::{AtomicBool, Ordering};
use leveret_memory::{
    EventSpec, HeapRegion, InvalidReason, Mapping, PeerSegment, Receiver, Region, SegmentError, Sender,
    SourceSpec, Taken, Torn, TriggerSpec,
};
use leveret_types::{EventId, Generation, MemberId, Nanos, TriggerId};
use std::sync::Arc;

/// Reads everything there is of `instance`, as an unsuspecting program would.
fn read_all(receiver: &mut Receiver, instance: u64, out: &mut [u8]) -> bool {
    let capacity = receiver.capacity();
    let Taken::Message(message) = receiver.take(instance) else { return false };
    assert!(message.length() <= capacity, "a length beyond the channel's got through");
    let copied = message.copy_to(out);
    let bytes = message.bytes();
    assert!(bytes.len() <= capacity);
    let _any = (bytes.get(bytes.len()), bytes.read_u64_le(0), bytes.copy_range(3, out));
    let validated = message.validate();
    message.release();
    copied.is_ok() && validated.is_ok()
}

// spec: LAW-VALID-01
#[test]
fn scribbling_while_we_read_harms_nobody() {
    for (size, seed) in [(8, 0x1234_5678), (40, 0x9e37), (200, 0xdead_beef), (4096, 0x55)] {
        let (mut source, source_region, source_layout) = create(&source_spec(size, 2, true));
        let (mut target, target_region, target_layout) = create(&target_spec(true));
        let peer = attach(&source_region, &source_layout);
        let mut stamps = peer.task(TASK).expect("declared");
        let status = peer.status();
        let peer_source = peer.source(CHANNEL).expect("declared");
        let mut records = peer_source.records();
        let mut receiver = Receiver::new(target.take_target(CHANNEL).expect("declared"), peer_source);
        let peer_target = attach(&target_region, &target_layout).target(CHANNEL).expect("declared");
        let mut honest = Sender::new(source.take_source(CHANNEL).expect("declared"), peer_target);

        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let scribbler = std::thread::spawn(move || {
            let mut random = Random(seed);
            let words = words(&source_region);
            let mut instance = 0;
            while !stopped.load(Ordering::Relaxed) {
                // True messages between the nonsense lead the reader deeper than nonsense alone would. They are
                // written word by word: the reader may be looking at any buffer.
                honest.publish_over(instance, &instance.to_le_bytes(), Nanos::ZERO);
                instance += 1;
                for _ in 0..random.next() % 8 {
                    let value = random.next();
                    let place = random.next() as usize % words.len();
                    // Mostly single bits: a word that is wrong in one place only.
                    let old = words[place].load(Ordering::Relaxed);
                    let new = if value & 3 == 0 { value } else { old ^ 1 << (value >> 58) };
                    words[place].store(new, Ordering::Relaxed);
                }
            }
        });
        let mut out = vec![0; size as usize + 16];
        let rounds = if cfg!(miri) { 30 } else { 20_000 };
        let (mut whole, mut bounded) = (0_u64, 0_u64);
        for round in 0..rounds {
            let instance = receiver.peer_first_eligible().min(receiver.released() + round % 4);
            whole += u64::from(read_all(&mut receiver, instance, &mut out));
            let mut count = 0;
            let _lost = stamps.drain(|_| count += 1);
            let _lost = records.drain(|_| count += 1);
            assert!(count <= 4 + 2, "more records than the rings hold");
            bounded += count;
            let _any = (status.read(), receiver.peer_first_eligible(), receiver.prepare_wait());
            receiver.cancel_wait();
            if round % 16 == 0 {
                receiver.release_through(instance);
            }
        }
        stop.store(true, Ordering::Relaxed);
        scribbler.join().expect("the scribbler does not panic");
        assert!(receiver.released() > 0, "{whole} whole messages, {bounded} records");
    }
}

/// An honest channel whose source segment can be written to.
fn forged(size: u32) -> (Receiver, Arc<HeapRegion>, usize) {
    let (mut source, source_region, source_layout) = create(&source_spec(size, 2, false));
    let (mut target, target_region, target_layout) = create(&target_spec(false));
    let peer_target = attach(&target_region, &target_layout).target(CHANNEL).expect("declared");
    let peer_source = attach(&source_region, &source_layout).source(CHANNEL).expect("declared");
    let mut sender = Sender::new(source.take_source(CHANNEL).expect("declared"), peer_target);
    let before: Vec<u64> = words(&source_region).iter().map(|word| word.load(Ordering::Relaxed)).collect();
    let mut slot = sender.reserve(0).expect("free");
    slot.write(&[0x11; 8]);
    slot.publish(8, Nanos(77));
    // The head of the slot is where a word with this generation in its highest bits has appeared.
    let sequence = u64::from(GENERATION.0) << 48 | 1;
    let head = words(&source_region)
        .iter()
        .zip(&before)
        .position(|(word, old)| word.load(Ordering::Relaxed) == sequence && *old == 0)
        .expect("the message lies in the segment");
    let receiver = Receiver::new(target.take_target(CHANNEL).expect("declared"), peer_source);
    (receiver, source_region, head)
}

fn invalid(receiver: &mut Receiver, instance: u64) -> InvalidReason {
    match receiver.take(instance) {
        Taken::Invalid(reason) => reason,
        Taken::Message(_) => panic!("nonsense was taken for a message"),
        Taken::NotYet | Taken::Stale => panic!("nonsense was taken for an absent message"),
    }
}

// spec: LAW-VALID-01
#[test]
fn each_kind_of_nonsense_is_named() {
    let (mut receiver, region, head) = forged(8);
    let word = |index: usize| &words(&region)[head + index];
    let good = [0, 1, 2].map(|index| word(index).load(Ordering::Relaxed));
    let restore = || (0..3).for_each(|index| word(index).store(good[index], Ordering::Relaxed));

    word(0).store(good[0] ^ 1 << 48, Ordering::Relaxed);
    assert!(matches!(invalid(&mut receiver, 0), InvalidReason::Generation(_)));
    restore();
    word(0).store(good[0] + 1, Ordering::Relaxed);
    assert_eq!(invalid(&mut receiver, 0), InvalidReason::Place(1));
    restore();
    word(1).store(good[1] ^ 4, Ordering::Relaxed);
    assert_eq!(invalid(&mut receiver, 0), InvalidReason::Check);
    restore();
    word(2).store(good[2] ^ 1 << 3, Ordering::Relaxed);
    assert_eq!(invalid(&mut receiver, 0), InvalidReason::Check);
    restore();
    assert!(matches!(receiver.take(0), Taken::Message(_)), "with everything restored it is a message again");
}

#[test]
fn a_length_beyond_the_channel_is_refused_even_with_a_good_check_word() {
    // The same head, signed by a channel that allows more: 100 bytes in one that allows 50.
    let (mut wide, wide_region, wide_layout) = create(&source_spec(100, 2, false));
    let (_target, target_region, target_layout) = create(&target_spec(false));
    let peer_target = attach(&target_region, &target_layout).target(CHANNEL).expect("declared");
    let mut sender = Sender::new(wide.take_source(CHANNEL).expect("declared"), peer_target);
    let slot = sender.reserve(0).expect("free");
    slot.publish(100, Nanos(77));
    let sequence = u64::from(GENERATION.0) << 48 | 1;
    let source = words(&wide_region);
    let at = source.iter().position(|word| word.load(Ordering::Relaxed) == sequence).expect("published");
    assert!(wide_layout.size() >= at * 8);

    let (mut receiver, region, head) = forged(50);
    for index in 0..3 {
        words(&region)[head + index].store(source[at + index].load(Ordering::Relaxed), Ordering::Relaxed);
    }
    assert_eq!(invalid(&mut receiver, 0), InvalidReason::Length(100));
}

#[test]
fn a_forged_header_is_refused_with_its_field() {
    let (_own, region, layout) = create(&source_spec(8, 2, false));
    let attach = |member, generation| {
        let region: Arc<dyn Region> = region.clone();
        PeerSegment::attach(region, &layout, member, generation)
    };
    assert!(attach(SOURCE, GENERATION).is_ok());
    assert!(attach(TARGET, GENERATION).is_err());
    assert!(attach(SOURCE, Generation(4)).is_err());
    let fields = ["magic", "version and member", "layout hash", "generation", "size"];
    for (index, expected) in fields.into_iter().enumerate() {
        for bit in 0..64 {
            let word = &words(&region)[index];
            let good = word.load(Ordering::Relaxed);
            word.store(good ^ 1 << bit, Ordering::Relaxed);
            match attach(SOURCE, GENERATION).err() {
                Some(SegmentError::Header { member, field, .. }) => {
                    assert_eq!((member, field), (MemberId(0), expected));
                }
                other => panic!("bit {bit} of the {expected}: {other:?}"),
            }
            word.store(good, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_receiver_that_lies_about_its_releases_only_harms_itself() {
    let (mut source, _source_region, _layout) = create(&source_spec(8, 2, false));
    let (_target, target_region, target_layout) = create(&target_spec(false));
    let peer_target = attach(&target_region, &target_layout).target(CHANNEL).expect("declared");
    let mut sender = Sender::new(source.take_source(CHANNEL).expect("declared"), peer_target);
    let mut random = Random(42);
    let mut sent = 0;
    for instance in 0..if cfg!(miri) { 20 } else { 4_000 } {
        for word in words(&target_region) {
            word.store(if random.next() & 1 == 0 { random.next() } else { 0 }, Ordering::Relaxed);
        }
        if let Ok(mut slot) = sender.reserve(instance) {
            slot.bytes_mut().fill(instance as u8);
            slot.publish(8, Nanos::ZERO);
            sent += 1;
        }
        let _any = (sender.must_wake(), sender.peer_first_eligible(), sender.peer_released());
    }
    assert!(sent > 0);
}

/// Counts that jump, go back or are as large as can be, and times of any lap: every number can be asked for.
#[test]
fn nonsense_in_place_of_firings_is_harmless() {
    let (trigger, event) = (TriggerId(0), EventId(0));
    let mut spec = source_spec(8, 2, false);
    spec.events = EventSpec { triggers: vec![TriggerSpec { trigger, kept: 4 }], listeners: vec![event] };
    let (mut own, region, layout) = create(&spec);
    let peer = attach(&region, &layout);
    let firings = peer.trigger(trigger, Nanos::ZERO).expect("declared");
    let listener = peer.listener(event).expect("declared");
    let writer = own.take_trigger(trigger).expect("not taken");
    assert!(own.take_trigger(trigger).is_none(), "taken twice");
    for time in 0..6 {
        writer.fire(Nanos(time));
    }
    let before: Vec<u64> = words(&region).iter().map(|word| word.load(Ordering::Relaxed)).collect();
    let mut random = Random(0x6b8b_4567);
    for _ in 0..if cfg!(miri) { 80 } else { 20_000 } {
        let place = random.next() as usize % before.len();
        let nonsense = [0, 1, u64::MAX, u64::MAX - 1, random.next()][random.next() as usize % 5];
        words(&region)[place].store(nonsense, Ordering::Relaxed);
        let fired = firings.fired().unwrap_or(u64::MAX);
        for number in [0, 5, fired, fired.wrapping_sub(1), fired.wrapping_sub(4), u64::MAX, random.next()] {
            let _any = firings.time(number);
        }
        let _any = listener.is_waiting();
        words(&region)[place].store(before[place], Ordering::Relaxed);
    }
    assert_eq!((firings.fired(), firings.time(5), firings.time(1)), (Some(6), Some(Nanos(5)), None));
    assert!(!listener.is_waiting());
}

/// A channel with a message in it, and the words of its sender's segment.
fn sent(mapping: Mapping, checksum: bool, payload: &[u8]) -> (Receiver, Arc<HeapRegion>) {
    let size = payload.len() as u32;
    let mut spec = source_spec(size, 2, false);
    spec.sources[0] = SourceSpec { mapping, checksum, ..spec.sources[0] };
    let (mut source, region, source_layout) = create(&spec);
    let mut spec = target_spec(false);
    spec.targets[0].mapping = mapping;
    let (mut target, target_region, target_layout) = create(&spec);
    let to = attach(&target_region, &target_layout).target(CHANNEL).expect("declared");
    let from = attach(&region, &source_layout).source(CHANNEL).expect("declared");
    let own = source.take_source(CHANNEL).expect("declared");
    let shelf = own.shelf().cloned();
    let mut sender = Sender::new(own, to);
    let mut slot = sender.reserve(0).expect("free");
    match shelf {
        // SAFETY: the test is the only writer of the buffer, which is as long.
        Some(shelf) => unsafe { shelf.address(1).as_ptr().copy_from(payload.as_ptr(), payload.len()) },
        None => slot.write(payload),
    }
    match mapping {
        Mapping::None => slot.publish(size, Nanos(7)),
        Mapping::Indexed(_) | Mapping::Aliased(_) => slot.publish_for(1, size, Nanos(7)),
    };
    (Receiver::new(target.take_target(CHANNEL).expect("declared"), from), region)
}

/// What a receiver finds that copies the message, and one that reads it where it lies.
fn found(receiver: &mut Receiver, out: &mut [u8]) -> [Result<(), Torn>; 2] {
    let Taken::Message(message) = receiver.take(0) else { panic!("the head is right") };
    [message.copy_to(out).map(|_| ()), message.validate()]
}

#[test]
fn a_payload_that_changes_after_it_was_sent_is_found_by_its_checksum_and_not_without() {
    for mapping in [Mapping::None, Mapping::Indexed(3), Mapping::Aliased(3)] {
        for length in [8, 32, 33, 40, 100, 129, if cfg!(miri) { 200 } else { 10_000 }] {
            let payload: Vec<u8> = (0..length).map(|byte| byte as u8 | 0x80).collect();
            let mut out = vec![0; length];
            for checksum in [false, true] {
                let (mut receiver, region) = sent(mapping, checksum, &payload);
                let what = format!("{length} bytes, {mapping:?}, checksum {checksum}");
                assert_eq!(found(&mut receiver, &mut out), [Ok(()); 2], "{what}");
                // Each word that holds some of the payload, and no other: what is damaged is the message alone.
                let words = words(&region);
                let piece = u64::from_le_bytes(payload[..8].try_into().expect("eight bytes"));
                let first = words.iter().position(|word| word.load(Ordering::Relaxed) == piece);
                let first = first.expect("the payload lies in the segment");
                let step = if cfg!(miri) { 13 } else { 1 };
                for (word, bit) in (first..first + length / 8).step_by(step).zip((0..64).cycle()) {
                    let whole = words[word].load(Ordering::Relaxed);
                    words[word].store(whole ^ 1 << bit, Ordering::Relaxed);
                    let torn = Err(Torn::Corrupt { instance: 0 });
                    let expected = if checksum { [torn; 2] } else { [Ok(()); 2] };
                    assert_eq!(found(&mut receiver, &mut out), expected, "{what}, word {word}");
                    words[word].store(whole, Ordering::Relaxed);
                }
                assert_eq!(found(&mut receiver, &mut out), [Ok(()); 2], "{what}, mended");
            }
        }
    }
}
