//! Two members and one channel between them, in heap memory.
#![allow(dead_code, reason = "every test binary uses its own part of this module")]

#[cfg(not(loom))]
use leveret_memory::sync::AtomicU64;
use leveret_memory::{
    EventSpec, HeapRegion, Mapping, OwnSegment, PeerSegment, Receiver, Region, SegmentLayout, SegmentSpec,
    Sender, SourceSpec, TargetSpec, TaskSpec,
};
use leveret_types::{ChannelId, Generation, MemberId, TaskId};
use std::sync::Arc;

pub const CHANNEL: ChannelId = ChannelId(5);
pub const TASK: TaskId = TaskId(7);
pub const GENERATION: Generation = Generation(3);
pub const SOURCE: MemberId = MemberId(0);
pub const TARGET: MemberId = MemberId(1);

/// What the sending member's segment holds.
pub fn source_spec(size: u32, buffers: u32, waits: bool) -> SegmentSpec {
    SegmentSpec {
        member: SOURCE,
        generation: GENERATION,
        sources: vec![SourceSpec {
            channel: CHANNEL,
            size,
            buffers,
            waits,
            mapping: Mapping::None,
            checksum: false,
        }],
        targets: vec![],
        tasks: vec![TaskSpec { task: TASK, records: 4 }],
        message_records: 2,
        events: EventSpec::default(),
    }
}

/// What the receiving member's segment holds.
pub fn target_spec(waits: bool) -> SegmentSpec {
    SegmentSpec {
        member: TARGET,
        generation: GENERATION,
        sources: vec![],
        targets: vec![TargetSpec { channel: CHANNEL, waits, mapping: Mapping::None }],
        tasks: vec![],
        message_records: 2,
        events: EventSpec::default(),
    }
}

/// A segment in fresh memory, and that memory.
pub fn create(spec: &SegmentSpec) -> (OwnSegment, Arc<HeapRegion>, SegmentLayout) {
    let layout = SegmentLayout::new(spec).expect("the specification is good");
    let region = Arc::new(HeapRegion::new(layout.size()));
    let own = OwnSegment::create(region.clone(), &layout).expect("the region is fresh");
    (own, region, layout)
}

/// A peer's view of a segment.
pub fn attach(region: &Arc<HeapRegion>, layout: &SegmentLayout) -> PeerSegment {
    let region: Arc<dyn Region> = region.clone();
    PeerSegment::attach(region, layout, layout.member(), layout.generation()).expect("the header is good")
}

/// Both ends of one channel.
pub fn channel(size: u32, buffers: u32, waits: bool) -> (Sender, Receiver) {
    let (mut source, source_region, source_layout) = create(&source_spec(size, buffers, waits));
    let (mut target, target_region, target_layout) = create(&target_spec(waits));
    let peer_target = attach(&target_region, &target_layout).target(CHANNEL).expect("declared");
    let peer_source = attach(&source_region, &source_layout).source(CHANNEL).expect("declared");
    let sender = Sender::new(source.take_source(CHANNEL).expect("not taken"), peer_target);
    let receiver = Receiver::new(target.take_target(CHANNEL).expect("not taken"), peer_source);
    (sender, receiver)
}

/// The segments of both members, each as its owner and as its peer sees it.
pub struct SegmentPair {
    pub source: OwnSegment,
    pub peer_source: PeerSegment,
    pub target: OwnSegment,
    pub peer_target: PeerSegment,
}

/// The segments for one channel whose buffers belong together in this way.
pub fn segments(size: u32, buffers: u32, waits: bool, mapping: Mapping) -> SegmentPair {
    let mut spec = source_spec(size, buffers, waits);
    spec.sources[0].mapping = mapping;
    let (source, region, layout) = create(&spec);
    let peer_source = attach(&region, &layout);
    let mut spec = target_spec(waits);
    spec.targets[0].mapping = mapping;
    let (target, region, layout) = create(&spec);
    SegmentPair { source, peer_source, target, peer_target: attach(&region, &layout) }
}

/// Every word of the region, as a hostile owner has them.
#[cfg(not(loom))]
pub fn words(region: &HeapRegion) -> &[AtomicU64] {
    // SAFETY: the block is page-aligned, lives as long as the borrow, and is accessed by atomics of aligned words.
    unsafe { std::slice::from_raw_parts(region.base().as_ptr().cast::<AtomicU64>(), region.len() / 8) }
}

/// A small generator (Marsaglia's xorshift64), so that a failing run can be repeated.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
