//! Every word of both segments of a channel, damaged one at a time in the middle of a transfer: by each change of a bit, by 0, by all ones
//! and by numbers. What each word does then stands in [`LIST`]; nothing that it does to a message may go unseen.

mod places;

use crate::layout::SegmentLayout;
use crate::message_record::MessageRecord;
use crate::sync::Ordering;
use crate::window::Window;
use crate::{
    EventSpec, HeapRegion, Mapping, MessageReader, OwnSegment, ParticipationReader, PeerSegment, Receiver,
    SegmentSpec, Sender, SourceSpec, Taken, TargetSpec,
};
use leveret_types::{ChannelId, Generation, MemberId, Nanos};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const CHANNEL: ChannelId = ChannelId(5);
const GENERATION: Generation = Generation(3);
const MESSAGES: u64 = 24;
const RECORDS: u32 = 8;
const BUFFERS: u32 = 8;
const SIZE: u32 = 24;
const SPANS: [u64; 3] = [2, 40, 60];

/// What a damaged word does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Effect {
    /// Nothing, or a number of a count, or a wake-up that comes with the next pulse.
    Nothing,
    /// It is found, and everything arrives.
    Found,
    /// It is found, and costs the message or the record that it was in.
    Cost,
    /// Found by nobody: the payload is another one.
    Payload,
    /// Found by nobody: a buffer comes back that is in use.
    Early,
}

use Effect::{Cost, Early, Found, Nothing, Payload};

/// The words, and what they do; those of payloads do something else where each message has a checksum.
const LIST: &[(&str, &[Effect])] = &[
    ("header", &[Nothing]),
    ("status", &[Nothing]),
    ("unused", &[Nothing]),
    ("version", &[Found]),
    ("copies", &[Nothing, Found]),
    ("checks", &[Nothing, Found]),
    ("started", &[Found]),
    ("answered", &[Found]),
    ("lacked", &[Found]),
    ("lacked at", &[Found]),
    ("served", &[Nothing]),
    ("dozing", &[Nothing]),
    ("counts", &[Nothing]),
    ("wake", &[Nothing]),
    ("waiting", &[Nothing]),
    ("released", &[Nothing, Found]),
    ("records pushed", &[Nothing, Found]),
    // Of one that was read, or is overwritten before it is: nothing.
    ("record", &[Nothing, Cost]),
    ("sequence", &[Nothing, Cost]),
    ("length and check", &[Nothing, Cost]),
    ("stamp", &[Nothing, Cost]),
    ("index", &[Nothing, Cost]),
    ("payload", &[Nothing, Payload]),
    ("checked payload", &[Nothing, Cost]),
    ("returns", &[Nothing]),
    // The word of a buffer in use that says another instance says what giving it back says.
    ("borrowed", &[Nothing, Early]),
];

/// Both ends, a watcher's view, and what has come of it all.
struct Run {
    sender: Sender,
    receiver: Receiver,
    shelf: Option<(crate::Shelf, crate::Lender, crate::Borrower)>,
    mapping: Mapping,
    rings: [MessageReader; 2],
    peers: [ParticipationReader; 2],
    segments: [Window; 2],
    sent: u64,
    next: u64,
    /// Buffers that the receiver's program uses, with their instances.
    in_use: BTreeMap<u32, u64>,
    delivered: BTreeSet<u64>,
    recorded: [BTreeSet<u64>; 2],
    found: u64,
    has_wrong_payload: bool,
    has_early_return: bool,
}

fn layouts(mapping: Mapping, checksum: bool) -> [SegmentLayout; 2] {
    let sources =
        vec![SourceSpec { channel: CHANNEL, size: SIZE, buffers: BUFFERS, waits: true, mapping, checksum }];
    let targets = vec![TargetSpec { channel: CHANNEL, waits: true, mapping }];
    [(0, sources, vec![]), (1, vec![], targets)].map(|(member, sources, targets)| {
        let spec = SegmentSpec {
            member: MemberId(member),
            generation: GENERATION,
            sources,
            targets,
            tasks: vec![],
            message_records: RECORDS,
            events: EventSpec::default(),
        };
        SegmentLayout::new(&spec).expect("the specification is good")
    })
}

fn payload(instance: u64) -> [u8; SIZE as usize] {
    std::array::from_fn(|place| (instance * 31 + place as u64 * 7 + 1) as u8 | 0x80)
}

fn record(instance: u64) -> MessageRecord {
    let at = Nanos(1_000_000 + instance as i64 * 1_000);
    MessageRecord { instance, at, due: at + Nanos(500), size: SIZE, fate: 0 }
}

impl Run {
    fn new(layouts: &[SegmentLayout; 2], mapping: Mapping) -> Self {
        let [(mut source, from, source_words), (mut target, to, target_words)] = [0, 1].map(|member| {
            let layout = &layouts[member];
            let region = Arc::new(HeapRegion::new(layout.size()));
            let own = OwnSegment::create(region.clone(), layout).expect("fresh");
            let peer = PeerSegment::attach(region.clone(), layout, MemberId(member as u16), GENERATION);
            (own, peer.expect("whole"), Window::whole(region))
        });
        let (from, to) = (from.source(CHANNEL).expect("declared"), to.target(CHANNEL).expect("declared"));
        let own = source.take_source(CHANNEL).expect("declared");
        let end = target.take_target(CHANNEL).expect("declared");
        let shelf = own.shelf().cloned().zip(to.lender()).zip(end.borrower());
        let rings = [from.records(), to.records()];
        let peers = [from.participation(), to.participation()];
        let (sender, receiver) = (Sender::new(own, to), Receiver::new(end, from));
        for told in [sender.participation(), receiver.participation()] {
            told.tell_spans([0, 1, 2]);
            told.tell_spans(SPANS);
            told.tell_started(3);
            told.tell_answered(2);
            told.tell_lacked(1, 9);
            told.tell_served(4, 0b11);
        }
        Self {
            sender,
            receiver,
            shelf: shelf.map(|((shelf, lender), borrower)| (shelf, lender, borrower)),
            mapping,
            rings,
            peers,
            segments: [source_words, target_words],
            sent: 0,
            next: 0,
            in_use: BTreeMap::new(),
            delivered: BTreeSet::new(),
            recorded: [BTreeSet::new(), BTreeSet::new()],
            found: 0,
            has_wrong_payload: false,
            has_early_return: false,
        }
    }

    /// Sends the next message if its buffers are free.
    fn send(&mut self) {
        if self.sent == MESSAGES {
            return;
        }
        let (instance, index) = (self.sent, (self.sent % u64::from(BUFFERS)) as u32);
        if let (Some((_, lender, _)), Some(before)) = (&self.shelf, instance.checked_sub(u64::from(BUFFERS)))
            && !lender.is_back(index, before)
        {
            return;
        }
        let Ok(mut slot) = self.sender.reserve(instance) else { return };
        match &self.shelf {
            // SAFETY: the run is the only writer of the buffer, which has as many bytes.
            Some((shelf, ..)) => unsafe {
                shelf.address(index).as_ptr().copy_from(payload(instance).as_ptr(), SIZE as usize);
            },
            None => slot.write(&payload(instance)),
        }
        let stamp = Nanos(instance as i64 + 7);
        match self.mapping {
            Mapping::None => _ = slot.publish(SIZE, stamp),
            _ => _ = slot.publish_for(index, SIZE, stamp),
        }
        self.sender.record(&record(instance));
        self.sent += 1;
    }

    /// Takes what has come, as the runtime's ends do.
    fn receive(&mut self) {
        let mut out = [0; SIZE as usize];
        while self.next < MESSAGES {
            let instance = self.next;
            let is_there = matches!(self.receiver.take(instance), Taken::Message(_));
            if !is_there && !self.receiver.is_lost(instance) {
                self.found += u64::from(self.receiver.restore_released());
                return;
            }
            match self.receiver.take(instance) {
                Taken::Message(message) => {
                    let index = (instance % u64::from(BUFFERS)) as u32;
                    let is_named = self.mapping == Mapping::None || message.index() == Some(index);
                    assert!(is_named && message.length() == SIZE as usize, "{instance} is another message");
                    assert_eq!(message.stamp(), Nanos(instance as i64 + 7));
                    let copied = if self.shelf.is_some() {
                        message.validate()
                    } else {
                        message.copy_to(&mut out).map(|_| ())
                    };
                    if let Some((shelf, _, borrower)) = &self.shelf {
                        shelf.copy_out(index, &mut out);
                        borrower.keep(index, instance);
                        self.in_use.insert(index, instance);
                    }
                    message.release();
                    match copied {
                        Ok(()) => {
                            self.has_wrong_payload |= out != payload(instance);
                            self.delivered.insert(instance);
                        }
                        Err(_) => self.found += 1,
                    }
                    self.receiver.record(&record(instance));
                }
                _ => self.found += 1,
            }
            self.next += 1;
        }
    }

    /// The program gives back the buffers that it has used so far; until then they are not back.
    fn give_back(&mut self) {
        let Some((_, lender, borrower)) = &self.shelf else { return };
        for (index, instance) in std::mem::take(&mut self.in_use) {
            self.has_early_return |= lender.is_back(index, instance);
            borrower.give_back(index);
        }
    }

    /// What the watcher sees, and the other ends.
    fn watch(&mut self) {
        for (ring, recorded) in self.rings.iter_mut().zip(&mut self.recorded) {
            let drained = ring.drain(|found| {
                let found = found.any_value();
                assert_eq!(found, record(found.instance), "a damaged record got through");
                recorded.insert(found.instance);
            });
            self.found += drained.damaged + drained.lost.any_value();
        }
        for peer in &self.peers {
            assert!(peer.spans().is_none_or(|spans| spans == SPANS), "other spans");
            assert!(
                peer.started().is_none_or(|count| count == 3)
                    && peer.answered().is_none_or(|count| count == 2)
            );
            assert!(peer.lacked().is_none_or(|lacked| lacked == (1, 9)));
            self.found += u64::from(!peer.is_whole());
        }
    }

    /// A transfer in the middle of which, with ten messages sent and so many taken, `damage` is done to a segment.
    fn effect(mut self, what: &str, taken: u64, damage: impl FnOnce(&[Window; 2])) -> Effect {
        (0..5).for_each(|_| self.send());
        self.receive();
        self.watch();
        self.give_back();
        // Three messages or none are under way with their records, and the others are in use.
        (0..5).for_each(|_| self.send());
        self.receive_to(taken);
        damage(&self.segments);
        for _ in 0..MESSAGES {
            self.receive();
            self.watch();
            self.give_back();
            self.send();
            self.send();
        }
        self.receive();
        self.watch();
        assert_eq!((self.sent, self.next), (MESSAGES, MESSAGES), "the channel stands still: {what}");
        let lost = MESSAGES - self.delivered.len() as u64;
        let [sent, taken] = self.recorded.map(|recorded| recorded.len() as u64);
        let unrecorded = (MESSAGES - sent) + (MESSAGES - lost).saturating_sub(taken);
        assert!(
            lost + unrecorded <= 1,
            "{lost} messages and {unrecorded} records for one word: {what}; {:?}",
            self.delivered
        );
        match (lost + unrecorded, self.found) {
            _ if self.has_early_return => Early,
            _ if self.has_wrong_payload => Payload,
            (0, 0) => Nothing,
            (0, _) => Found,
            (_, 0) => panic!("lost, and nobody has seen it: {what}"),
            (_, _) => Cost,
        }
    }

    fn receive_to(&mut self, end: u64) {
        while self.next < end {
            let Taken::Message(message) = self.receiver.take(self.next) else { panic!("it was sent") };
            if let Some((_, _, borrower)) = &self.shelf {
                let index = (self.next % u64::from(BUFFERS)) as u32;
                borrower.keep(index, self.next);
                self.in_use.insert(index, self.next);
            }
            message.release();
            self.receiver.record(&record(self.next));
            self.delivered.insert(self.next);
            self.next += 1;
        }
    }
}

/// What may stand in a word instead.
fn wrongs(right: u64) -> Vec<u64> {
    let mixed = (right ^ 0x5851_f42d_4c95_7f2d).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..64)
        .map(|bit| right ^ 1 << bit)
        .chain([0, u64::MAX, mixed, mixed >> 16, right.wrapping_add(8)])
        .collect()
}

// spec: LAW-VALID-01
#[test]
fn each_word_of_a_channel_does_what_the_list_says_and_nothing_is_lost_or_changed_unseen() {
    let listed: BTreeMap<_, BTreeSet<Effect>> =
        LIST.iter().map(|(name, effects)| (*name, effects.iter().copied().collect())).collect();
    let mut found: BTreeMap<&str, BTreeSet<Effect>> = BTreeMap::new();
    for mapping in [Mapping::None, Mapping::Indexed(BUFFERS), Mapping::Aliased(BUFFERS)] {
        for checksum in [false, true] {
            let layouts = layouts(mapping, checksum);
            for (segment, layout) in layouts.iter().enumerate() {
                for offset in (0..layout.size()).step_by(8) {
                    let name = places::name(layout, checksum, offset);
                    let count = if name == "unused" { 1 } else { wrongs(0).len() };
                    for (which, taken) in (0..count).flat_map(|which| [(which, 7), (which, 10)]) {
                        let what = format!(
                            "{name}, word {offset} of segment {segment} with {mapping:?} and checksum {checksum}, change {which} at {taken}"
                        );
                        let effect = Run::new(&layouts, mapping).effect(&what, taken, |segments| {
                            let word = segments[segment].word(offset);
                            let right = word.load(Ordering::Relaxed);
                            word.store(wrongs(right)[which], Ordering::Relaxed);
                        });
                        assert!(listed[name].contains(&effect), "{what}: {effect:?}");
                        found.entry(name).or_default().insert(effect);
                    }
                }
            }
        }
    }
    assert_eq!(found, listed, "the list says what happens, and no more");
}
