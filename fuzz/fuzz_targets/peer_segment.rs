//! The segment of a hostile peer: whatever lies in it, and whatever it becomes between two reads, nothing panics,
//! nothing is read out of bounds, and nothing beyond the declared sizes is passed on.

use leveret_memory::sync::{AtomicU64, Ordering};
use leveret_memory::{
    EventSpec, HeapRegion, Mapping, MessageReader, MessageRecord, OwnSegment, PeerSegment, Receiver, Region,
    SegmentLayout, SegmentSpec, Sender, SourceSpec, StampReader, StampRecord, StampWriter, Taken, TargetSpec,
    TaskSpec,
};
use leveret_types::{ChannelId, Generation, MemberId, Nanos, TaskId};
use std::sync::Arc;

const CHANNEL: ChannelId = ChannelId(1);
/// A channel with larger messages, whose heads are forged into the other's buffers.
const WIDE: ChannelId = ChannelId(4);
const WIDE_BYTES: u32 = 1000;
const TASK: TaskId = TaskId(2);
const GENERATION: Generation = Generation(3);
/// Records in the rings of stamps and of messages.
const STAMPS: u32 = 4;
const MESSAGES: u32 = 2;

/// Takes the input apart; zeros follow its end.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }
}

fn spec(member: u16, sources: Vec<SourceSpec>, targets: Vec<TargetSpec>) -> SegmentSpec {
    SegmentSpec {
        member: MemberId(member),
        generation: GENERATION,
        sources,
        targets,
        tasks: vec![TaskSpec { task: TASK, records: STAMPS }],
        message_records: MESSAGES,
        events: EventSpec::default(),
    }
}

fn create(spec: &SegmentSpec) -> (OwnSegment, Arc<HeapRegion>, SegmentLayout) {
    let layout = SegmentLayout::new(spec).expect("the specification is good");
    let region = Arc::new(HeapRegion::new(layout.size()));
    (OwnSegment::create(region.clone(), &layout).expect("the memory is fresh"), region, layout)
}

fn attach(region: &Arc<HeapRegion>, layout: &SegmentLayout) -> Option<PeerSegment> {
    let region: Arc<dyn Region> = region.clone();
    PeerSegment::attach(region, layout, layout.member(), GENERATION).ok()
}

/// The reading process: what it made before its peer turned hostile.
struct Reader {
    receiver: Receiver,
    stamps: StampReader,
    records: MessageReader,
    size: usize,
}

impl Reader {
    /// Takes an instance, lets the peer change something half-way, and reads all the same.
    fn take(&mut self, instance: u64, then: u8, hostile: impl Fn()) {
        let size = self.size;
        let Taken::Message(message) = self.receiver.take_or_held(instance) else { return };
        assert!(message.length() <= size, "a length beyond the channel's got through");
        hostile();
        let mut out = [0; 300];
        if let Ok(count) = message.copy_to(&mut out) {
            assert_eq!(count, message.length());
        }
        let bytes = message.bytes();
        assert!(bytes.len() <= size && bytes.get(bytes.len()).is_none());
        let offset = usize::from(then);
        let _any = (bytes.get(offset), bytes.read_u32_le(offset), bytes.read_u64_le(offset));
        assert_eq!(bytes.copy_range(offset, &mut out), bytes.len().saturating_sub(offset));
        let _any = message.validate();
        match then & 3 {
            0 => {
                message.release();
            }
            1 => message.hold(),
            _ => {}
        }
    }

    fn drain(&mut self) {
        let mut count = 0;
        let _lost = self.stamps.drain(|_| count += 1);
        assert!(count <= STAMPS, "more stamps than the ring holds");
        let mut count = 0;
        let _lost = self.records.drain(|_| count += 1);
        assert!(count <= MESSAGES, "more records than the ring holds");
    }
}

/// The hostile process: it still publishes truly at times, which leads the reader deeper than nonsense alone.
struct Peer {
    sender: Sender,
    wide: Sender,
    /// The first words of both channels' buffers, and from one buffer to the next.
    slots: [(usize, usize); 2],
    stamps: StampWriter,
    next: u64,
}

impl Peer {
    fn publish(&mut self, length: usize) {
        let length = length.min(self.sender.capacity());
        self.sender.publish_over(self.next, &vec![self.next as u8; length], Nanos(1));
        self.sender.record(&MessageRecord { instance: self.next, ..MessageRecord::default() });
        self.stamps.push(&StampRecord { instance: self.next, ..StampRecord::default() });
        self.next += 1;
    }

    /// Publishes on both channels, and puts the wide one's head, good check word and all, before the narrow payload.
    fn forge(&mut self, words: &[AtomicU64]) {
        let index = (self.next & (self.sender.buffers() - 1)) as usize;
        self.wide.publish_over(self.next, &[7; WIDE_BYTES as usize], Nanos(1));
        self.publish(8);
        let [narrow, wide] = self.slots.map(|(first, stride)| first + index * stride);
        for word in (0..3).rev() {
            words[narrow + word].store(words[wide + word].load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}

/// Publishes instances 0 and 1, and finds where their sequence words lie: the first word and the stride.
fn locate(sender: &mut Sender, words: &[AtomicU64]) -> (usize, usize) {
    let mut find = |instance: u64| {
        let before: Vec<u64> = words.iter().map(|word| word.load(Ordering::Relaxed)).collect();
        sender.publish_over(instance, &[], Nanos(1));
        let sequence = u64::from(GENERATION.0) << 48 | (instance + 1);
        let changed =
            |place: &usize| words[*place].load(Ordering::Relaxed) == sequence && before[*place] != sequence;
        (0..words.len()).find(changed).expect("the message lies in the segment")
    };
    let (first, second) = (find(0), find(1));
    (first, second - first)
}

fn change(words: &[AtomicU64], place: u64, value: u64, bit: bool) {
    let word = &words[place as usize % words.len()];
    let new = if bit { word.load(Ordering::Relaxed) ^ 1 << (value & 63) } else { value };
    word.store(new, Ordering::Relaxed);
}

pub fn run(bytes: &[u8]) {
    let mut input = Input(bytes);
    let size = 1 + u32::from(input.byte());
    let buffers = 2 + u32::from(input.byte() & 7);
    let waits = true;
    let source =
        SourceSpec { channel: CHANNEL, size, buffers, waits, mapping: Mapping::None, checksum: false };
    let wide = SourceSpec {
        channel: WIDE,
        size: WIDE_BYTES,
        buffers,
        waits,
        mapping: Mapping::None,
        checksum: false,
    };
    let (mut own, region, layout) = create(&spec(0, vec![source, wide], vec![]));
    let targets =
        [CHANNEL, WIDE].map(|channel| TargetSpec { channel, waits, mapping: Mapping::None }).to_vec();
    let (mut far, far_region, far_layout) = create(&spec(1, vec![], targets));
    let peer = attach(&region, &layout).expect("still honest");
    let far_peer = attach(&far_region, &far_layout).expect("honest");
    let sent = peer.source(CHANNEL).expect("declared");
    let mut reader = Reader {
        records: sent.records(),
        receiver: Receiver::new(far.take_target(CHANNEL).expect("declared"), sent),
        stamps: peer.task(TASK).expect("declared"),
        size: size as usize,
    };
    let all = region.words();
    let [mut narrow, mut wide] = [CHANNEL, WIDE].map(|channel| {
        let end = own.take_source(channel).expect("declared");
        Sender::new(end, far_peer.target(channel).expect("declared"))
    });
    let slots = [locate(&mut narrow, all), locate(&mut wide, all)];
    let stamps = own.take_task(TASK).expect("declared");
    let mut hostile = Peer { sender: narrow, wide, slots, stamps, next: 2 };
    while !input.0.is_empty() {
        match input.byte() % 9 {
            0 => hostile.publish(usize::from(input.byte())),
            1 => change(all, u64::from(input.byte()) | u64::from(input.byte()) << 8, input.word(), false),
            2 => change(all, u64::from(input.byte()) | u64::from(input.byte()) << 8, input.word(), true),
            3 => {
                let instance = reader.receiver.released().saturating_add(u64::from(input.byte() & 7));
                let (then, place, value) = (input.byte(), u64::from(input.byte()), u64::from(input.byte()));
                reader.take(instance, then, || change(all, place, value, then & 4 != 0));
            }
            4 => reader.drain(),
            5 => {
                let _any = (attach(&region, &layout).is_some(), peer.status().read());
                let _any = (reader.receiver.prepare_wait(), reader.receiver.peer_first_eligible());
                reader.receiver.cancel_wait();
            }
            6 => hostile.forge(all),
            7 => reader.take(input.word(), 2, || ()),
            _ => reader
                .receiver
                .release_through(reader.receiver.released().saturating_add(u64::from(input.byte() & 3))),
        }
    }
}
