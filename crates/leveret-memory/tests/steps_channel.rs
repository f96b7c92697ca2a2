//! How many steps (operations on atomics) the ends of a channel and of an event take, whatever stands in the segments and
//! whatever peers write there between two steps.
//!
//! Copies of 128 bytes and more are made by instructions of the machine where there are such, which no step counts; the
//! word by word copy stands for them, and is as long as the message.
// Miri would look for what these do not show, for minutes.
#![cfg(all(debug_assertions, not(loom), not(miri)))]

mod common;

use common::{CHANNEL, GENERATION, Random, SOURCE, TASK, attach, create, source_spec, target_spec, words};
use leveret_memory::sync::{Ordering, steps};
use leveret_memory::{
    EventSpec, HeapRegion, Latest, Mapping, MessageReader, MessageRecord, PeerSegment, PeerSource,
    PeerTarget, Receiver, SegmentSpec, Sender, StampReader, StampRecord, StampWriter, StatusReader, Taken,
    TaskCounter, TriggerSpec, after_firing,
};
use leveret_types::{EventId, Nanos, TriggerId};
use std::sync::Arc;

/// What peers do between two steps.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Peers {
    Nothing,
    /// Bits and whole words anywhere.
    Scribble(u64),
    /// Every word counts on: whoever waits for two equal readings waits for ever.
    CountOn,
}

impl Peers {
    fn acts<'r>(self, regions: &'r [Arc<HeapRegion>]) -> impl FnMut() + 'r {
        let mut random = Random(if let Self::Scribble(seed) = self { seed } else { 1 });
        move || match self {
            Self::Nothing => {}
            Self::Scribble(_) => {
                for region in regions {
                    let (words, value) = (words(region), random.next());
                    let word = &words[random.next() as usize % words.len()];
                    let old = word.load(Ordering::Relaxed);
                    word.store(
                        if value & 3 == 0 { value } else { old ^ 1 << (value >> 58) },
                        Ordering::Relaxed,
                    );
                }
            }
            Self::CountOn => {
                for region in regions {
                    words(region).iter().for_each(|word| _ = word.fetch_add(1, Ordering::Relaxed));
                }
            }
        }
    }
}

/// Steps of reading a ring: the count, two places that confirm it, and each record, once more where they do not.
fn drain(records: u64, words: u64) -> u64 {
    3 + records * (1 + 2 * (words + 3))
}

/// Words of a message of so many bytes, which a copy touches.
fn words_of(bytes: usize) -> u64 {
    bytes.div_ceil(8) as u64
}

const RECORD_WORDS: u64 = 8;
const STAMP_WORDS: u64 = 16;
/// Of the rings of `common`.
const RECORDS: u64 = 2;
const STAMPS: u64 = 4;

/// Most steps of a look for a message: two words and the check's, the head once more, and a count of nonsense.
const TAKE: u64 = 5;

fn read(message: Taken<'_>, size: usize, out: &mut [u8], between: &mut dyn FnMut()) {
    let Taken::Message(message) = message else { return };
    let copied = steps::beside(words_of(size) + 1, between, || message.copy_to(out)).0;
    let validated = steps::beside(1, between, || message.validate()).0;
    let _any = (copied, validated);
    steps::beside(1, between, || message.index());
    let bytes = message.bytes();
    steps::beside(2, between, || bytes.read_u64_le(3));
    // Seven bytes to the next word, each of one word or two.
    steps::beside(14 + words_of(size), between, || bytes.copy_range(3, out));
    if size.is_multiple_of(16) {
        steps::beside(2, between, || message.hold());
    } else {
        steps::beside(2, between, || message.release());
    }
}

/// Both ends, and a watcher of the sender's member.
struct Ends {
    sender: Sender,
    receiver: Receiver,
    stamps: StampWriter,
    records_seen: MessageReader,
    stamps_seen: StampReader,
    status: StatusReader,
    counters: (PeerSource, PeerTarget),
    size: usize,
    out: Vec<u8>,
}

impl Ends {
    fn new(size: u32, buffers: u32) -> (Self, [Arc<HeapRegion>; 2]) {
        let (mut source, source_region, source_layout) = create(&source_spec(size, buffers, true));
        let (mut target, target_region, target_layout) = create(&target_spec(true));
        let of_source = attach(&source_region, &source_layout);
        let from = of_source.source(CHANNEL).expect("declared");
        let to = attach(&target_region, &target_layout).target(CHANNEL).expect("declared");
        let ends = Self {
            stamps: source.take_task(TASK).expect("declared"),
            records_seen: from.records(),
            stamps_seen: of_source.task(TASK).expect("declared"),
            status: of_source.status(),
            counters: (from.clone(), to.clone()),
            sender: Sender::new(source.take_source(CHANNEL).expect("declared"), to),
            receiver: Receiver::new(target.take_target(CHANNEL).expect("declared"), from),
            size: size as usize,
            out: vec![0; size as usize + 16],
        };
        (ends, [source_region, target_region])
    }

    /// Whether a message was sent.
    fn send(&mut self, instance: u64, between: &mut dyn FnMut()) -> bool {
        let Self { sender, size, .. } = self;
        let content = vec![0x5a; *size];
        let mut is_sent = instance % 7 == 6;
        if is_sent {
            let over = || sender.publish_over(instance, &content, Nanos(1));
            steps::beside(1 + words_of(*size) + 5, between, over);
        } else if let Ok(mut slot) = steps::beside(3, between, || sender.reserve(instance)).0 {
            steps::beside(words_of(*size), between, || slot.write(&content));
            steps::beside(5, between, || _ = slot.publish(*size as u32, Nanos(instance as i64)));
            is_sent = true;
        }
        steps::beside(1, between, || sender.must_wake());
        steps::beside(1, between, || sender.has_room(instance + 1));
        let record = MessageRecord { instance, ..MessageRecord::default() };
        steps::beside(RECORD_WORDS + 2, between, || sender.record(&record));
        let (own, other) = (sender.participation(), sender.peer_participation());
        steps::beside(6, between, || own.tell_spans([instance, instance + 5, instance + 9]));
        steps::beside(3, between, || {
            (own.tell_started(1), own.tell_answered(1), own.tell_served(instance, 1))
        });
        steps::beside(2, between, || own.tell_lacked(1, instance));
        // Four readings of a version, three words, and the version.
        steps::beside(24, between, || other.spans());
        steps::beside(5, between, || {
            (other.started(), other.answered(), other.served(instance), other.lacked())
        });
        is_sent
    }

    fn receive(&mut self, instance: u64, between: &mut dyn FnMut()) {
        let Self { receiver, size, out, .. } = self;
        steps::beside(1, between, || receiver.is_there(instance));
        steps::beside(11, between, || receiver.comes_within(instance, 10));
        steps::beside(2, between, || receiver.prepare_wait());
        steps::beside(1, between, || receiver.cancel_wait());
        if instance % 3 != 1 {
            let taken = steps::beside(TAKE + 1, between, || receiver.take_or_held(instance)).0;
            read(taken, *size, out, between);
        }
        steps::beside(TAKE, between, || _ = receiver.take(instance));
        if instance % 5 == 4 {
            steps::beside(1, between, || receiver.release_through(instance));
        }
        steps::beside(2, between, || (receiver.count_late(), receiver.count_missing()));
        let record = MessageRecord { instance, ..MessageRecord::default() };
        steps::beside(RECORD_WORDS + 2, between, || receiver.record(&record));
    }

    fn watch(&mut self, between: &mut dyn FnMut()) {
        let Self { stamps, records_seen, stamps_seen, status, counters, .. } = self;
        steps::beside(STAMP_WORDS + 2, between, || stamps.push(&StampRecord::default()));
        steps::beside(5, between, || {
            stamps.set(TaskCounter::Ran, 1);
            stamps.add(TaskCounter::Skipped, 1);
            stamps.count_gap(3);
        });
        steps::beside(drain(RECORDS, RECORD_WORDS), between, || records_seen.drain(|_| {}).damaged);
        steps::beside(drain(STAMPS, STAMP_WORDS), between, || stamps_seen.drain(|_| {}).damaged);
        steps::beside(4, between, || status.read());
        steps::beside(6, between, || (counters.0.counters(), counters.1.counters()));
    }
}

/// Every function of both ends, some rounds; how many messages were sent.
fn exchange(size: u32, buffers: u32, peers: Peers, rounds: u64) -> u64 {
    let (mut ends, regions) = Ends::new(size, buffers);
    let mut acts = peers.acts(&regions);
    let mut sent = 0;
    for instance in 0..rounds {
        sent += u64::from(ends.send(instance, &mut acts));
        ends.receive(instance, &mut acts);
        ends.watch(&mut acts);
    }
    sent
}

// spec: LAW-STEPS-02
#[test]
fn both_ends_of_a_channel_take_as_many_steps_whatever_peers_write() {
    let sizes: &[u32] = if cfg!(miri) { &[8, 24] } else { &[1, 8, 24, 40, 64, 127, 200, 4096] };
    let buffers: &[u32] = if cfg!(miri) { &[2] } else { &[1, 2, 64, 1024] };
    let rounds = if cfg!(miri) { 10 } else { 150 };
    for size in sizes.iter().copied() {
        for buffers in buffers.iter().copied() {
            let sent = exchange(size, buffers, Peers::Nothing, rounds);
            assert!(sent >= rounds / 4, "{sent} messages of {size} bytes through {buffers} buffers");
            let seeds = if cfg!(miri) { 1 } else { 12 };
            for seed in 1..=seeds {
                exchange(size, buffers, Peers::Scribble(seed * 0x9e37_79b9), rounds);
            }
            if buffers <= 64 {
                exchange(size, buffers, Peers::CountOn, rounds.min(30));
            }
        }
    }
}

// spec: LAW-STEPS-02
#[test]
fn buffers_that_are_one_come_back_in_as_many_steps() {
    let common::SegmentPair { mut source, peer_source, mut target, peer_target } =
        common::segments(64, 2, false, Mapping::Aliased(3));
    let own = source.take_source(CHANNEL).expect("declared");
    let end = target.take_target(CHANNEL).expect("declared");
    let (to, from) =
        (peer_target.target(CHANNEL).expect("declared"), peer_source.source(CHANNEL).expect("declared"));
    let (lender, borrower) = (to.lender().expect("aliased"), end.borrower().expect("aliased"));
    let (mut sender, mut receiver) = (Sender::new(own, to), Receiver::new(end, from));
    for instance in 0..20 {
        let place = instance as u32 % 3;
        let slot = steps::of(3, || sender.reserve(instance).expect("free")).0;
        steps::of(7, || _ = slot.publish_for(place, 64, Nanos(5)));
        let Taken::Message(message) = receiver.take(instance) else { panic!("published") };
        steps::of(1, || borrower.keep(place, instance));
        message.release();
        assert!(!steps::of(2, || lender.is_back(place, instance)).0);
        steps::of(3, || borrower.give_back(place));
        assert!(steps::of(2, || lender.is_back(place, instance)).0);
        steps::of(1, || lender.returns());
    }
}

/// A member with one trigger that keeps so many times, and one listener.
fn event(kept: u32) -> (leveret_memory::OwnSegment, PeerSegment, Arc<HeapRegion>) {
    let events = EventSpec {
        triggers: vec![TriggerSpec { trigger: TriggerId(0), kept }],
        listeners: vec![EventId(0)],
    };
    let (own, region, layout) = create(&SegmentSpec {
        member: SOURCE,
        generation: GENERATION,
        sources: vec![],
        targets: vec![],
        tasks: vec![],
        message_records: 1,
        events,
    });
    let peer = attach(&region, &layout);
    (own, peer, region)
}

/// Most steps of a firing alone: the count, the time's word, an exchange of each.
const FIRE: u64 = 4;

// spec: LAW-STEPS-02
#[test]
fn events_are_told_and_heard_in_as_many_steps() {
    for kept in [1, 2, 64] {
        let (mut own, peer, region) = event(kept);
        let writer = own.take_trigger(TriggerId(0)).expect("declared");
        let listens = own.take_listener(EventId(0)).expect("declared");
        let reader = peer.trigger(TriggerId(0), Nanos::ZERO).expect("declared");
        let listener = peer.listener(EventId(0)).expect("declared");
        for number in 0..600 {
            assert_eq!(steps::of(FIRE, || writer.fire(Nanos(number as i64))).0, number);
            assert_eq!(steps::of(2, || reader.fired()).0, Some(number + 1));
            steps::of(1, || (after_firing(), listener.is_waiting()));
            assert_eq!(steps::of(2, || reader.time(number)).0, Some(Nanos(number as i64)));
            steps::of(2, || (listens.begin(), listens.end()));
        }
        let regions = [region];
        for peers in [Peers::Scribble(3), Peers::CountOn] {
            let mut acts = peers.acts(&regions);
            for number in 0..600 {
                // The count and the time of the last, for each of eight looks at a count that changes.
                steps::beside(1 + 2 * 8, &mut acts, || reader.fired());
                steps::beside(2, &mut acts, || reader.time(number));
                steps::beside(1, &mut acts, || listener.is_waiting());
            }
        }
    }
}

// spec: LAW-STEPS-03
#[test]
fn a_firing_begins_again_only_when_another_thread_has_fired() {
    for kept in [1, 2, 64] {
        for most in [0, 1, 5, 300] {
            let (mut own, _, _) = event(kept);
            let writer = own.take_trigger(TriggerId(0)).expect("declared");
            let mut fired = 0;
            let mut others = || {
                if fired < most {
                    writer.fire(Nanos(7));
                    fired += 1;
                }
            };
            let (number, _) = steps::beside(FIRE * (most + 1), &mut others, || writer.fire(Nanos(9)));
            assert_eq!(
                (number, writer.fired()),
                (fired.min(number), fired + 1),
                "none is lost, none counted twice"
            );
        }
    }
}

// spec: LAW-STEPS-02
#[test]
fn words_that_belong_together_are_loaded_in_as_many_steps_whatever_is_stored() {
    let latest = Latest::new([0; 3]);
    let mut round = 0;
    let mut store = || {
        round += 1;
        assert!(latest.store([round; 3]), "nobody stalls");
    };
    for _ in 0..100 {
        let ([one, two, three], _) = steps::beside(5, &mut store, || latest.load());
        assert!(one == two && two == three && one > 0);
    }
    let mut load = || _ = latest.load();
    for round in 0..100 {
        // Where it is in use, two words of each copy at most, three to be written, the exchange, and what was counted.
        let (is_stored, _) = steps::beside(1 + 2 * 8 + 3 + 3, &mut load, || latest.store([round; 3]));
        assert!(is_stored);
    }
}
