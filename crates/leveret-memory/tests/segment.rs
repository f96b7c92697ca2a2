//! Layouts, the ends that a segment hands out, and the rings behind them.
#![cfg(not(loom))]

mod common;

use common::{CHANNEL, TASK, attach, channel, create, source_spec, target_spec};
use leveret_memory::{
    Alleged, EventSpec, HeapRegion, LayoutError, Mapping, MessageRecord, OwnSegment, PeerSegment,
    RECORDS_MAX, Receiver, SEGMENT_BYTES_MAX, SegmentError, SegmentLayout, SegmentSpec, Sender, Shelf,
    SourceSpec, StampRecord, StatusSnapshot, Taken, TargetSpec, TaskCounter, TaskSpec, TriggerSpec,
};
use leveret_types::{ChannelId, EventId, Generation, MemberId, Nanos, TaskId, TriggerId};
use proptest::prelude::*;
use std::sync::Arc;

fn refused(change: impl FnOnce(&mut SegmentSpec)) -> String {
    let mut spec = source_spec(8, 2, false);
    change(&mut spec);
    SegmentLayout::new(&spec).expect_err("the specification is bad").to_string()
}

#[test]
fn bad_specifications_are_refused_with_place_and_remedy() {
    let twice = refused(|spec| spec.sources.push(spec.sources[0]));
    assert_eq!(
        twice,
        "source end of channel5 is declared twice in the segment of member0; declare each end and task once"
    );
    let target = TargetSpec { channel: CHANNEL, waits: false, mapping: Mapping::None };
    assert!(
        refused(|spec| spec.targets = vec![target; 2])
            .starts_with("target end of channel5 is declared twice")
    );
    assert!(refused(|spec| spec.tasks.push(spec.tasks[0])).starts_with("task7 is declared twice"));
    assert_eq!(
        refused(|spec| spec.sources[0].size = 0),
        "source end of channel5: size in bytes is 0, but must be 1 to 1073741824"
    );
    assert!(refused(|spec| spec.sources[0].size = u32::MAX).contains("size in bytes is 4294967295"));
    assert!(refused(|spec| spec.sources[0].buffers = 0).contains("number of buffers is 0"));
    assert!(refused(|spec| spec.sources[0].buffers = 5000).contains("number of buffers is 5000"));
    assert_eq!(
        refused(|spec| spec.tasks[0].records = 3),
        "task7: number of records is 3, but must be a power of two up to 1048576"
    );
    assert!(refused(|spec| spec.message_records = 0).contains("message records is 0"));
    assert!(refused(|spec| spec.message_records = 2 * RECORDS_MAX).contains("message records is 2097152"));
    let large =
        refused(|spec| spec.sources[0] = SourceSpec { size: 1 << 30, buffers: 4096, ..spec.sources[0] });
    assert!(
        large.contains(&SEGMENT_BYTES_MAX.to_string()) && large.contains("use fewer or smaller"),
        "{large}"
    );
}

#[test]
fn a_channel_may_lead_from_a_member_to_itself() {
    let mut spec = source_spec(8, 2, false);
    spec.targets.push(TargetSpec { channel: CHANNEL, waits: false, mapping: Mapping::None });
    let (mut own, region, layout) = create(&spec);
    let peer = attach(&region, &layout);
    let mut sender =
        Sender::new(own.take_source(CHANNEL).expect("declared"), peer.target(CHANNEL).expect("declared"));
    let mut receiver =
        Receiver::new(own.take_target(CHANNEL).expect("declared"), peer.source(CHANNEL).expect("declared"));
    sender.reserve(0).expect("free").publish(0, Nanos::ZERO);
    assert!(matches!(receiver.take(0), Taken::Message(_)));
}

/// Most ends and tasks of one kind in a generated segment, less under the slow interpreter.
const ENDS_MAX: usize = if cfg!(miri) { 3 } else { 6 };

fn mapping() -> impl Strategy<Value = Mapping> {
    prop_oneof![
        Just(Mapping::None),
        (1..5_u32).prop_map(Mapping::Indexed),
        (1..5_u32).prop_map(Mapping::Aliased)
    ]
}

fn spec_strategy() -> impl Strategy<Value = SegmentSpec> {
    let source = (
        0..50_u16,
        1..if cfg!(miri) { 60 } else { 5000_u32 },
        1..if cfg!(miri) { 4 } else { 20_u32 },
        any::<bool>(),
        mapping(),
        any::<bool>(),
    )
        .prop_map(|(channel, size, buffers, waits, mapping, checksum)| SourceSpec {
            channel: ChannelId(channel),
            size,
            buffers,
            waits,
            mapping,
            checksum,
        });
    let target = (0..50_u16, any::<bool>(), mapping()).prop_map(|(channel, waits, mapping)| TargetSpec {
        channel: ChannelId(channel),
        waits,
        mapping,
    });
    let task =
        (0..50_u16, 0..8_u32).prop_map(|(task, power)| TaskSpec { task: TaskId(task), records: 1 << power });
    let sources = prop::collection::vec(source, 0..ENDS_MAX);
    let targets = prop::collection::vec(target, 0..ENDS_MAX);
    let tasks = prop::collection::vec(task, 0..ENDS_MAX);
    (0..9_u16, any::<u32>(), sources, targets, tasks, 0..8_u32).prop_map(
        |(member, generation, mut sources, mut targets, mut tasks, power)| {
            sources.sort_by_key(|source| source.channel);
            sources.dedup_by_key(|source| source.channel);
            targets.sort_by_key(|target| target.channel);
            targets.dedup_by_key(|target| target.channel);
            tasks.sort_by_key(|task| task.task);
            tasks.dedup_by_key(|task| task.task);
            let (member, generation) = (MemberId(member), Generation(generation));
            SegmentSpec {
                member,
                generation,
                sources,
                targets,
                tasks,
                message_records: 1 << power,
                events: EventSpec {
                    triggers: (0..power as u16)
                        .map(|trigger| TriggerSpec { trigger: TriggerId(trigger), kept: 1 << power })
                        .collect(),
                    listeners: (3..power as u16).map(EventId).collect(),
                },
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: if cfg!(miri) { 2 } else { 256 }, ..ProptestConfig::default() })]

    /// Every word of a segment belongs to one end: each end's writes leave all others as they were.
    #[test]
    fn layouts_are_the_same_everywhere_and_ends_do_not_overlap(spec in spec_strategy()) {
        let (mut own, region, layout) = create(&spec);
        prop_assert_eq!(&layout, &SegmentLayout::new(&spec).expect("as before"));
        prop_assert_eq!(layout.size() % 4096, 0);
        let mut other = spec.clone();
        other.message_records *= 2;
        prop_assert_ne!(layout.hash(), SegmentLayout::new(&other).expect("as good").hash());
        let mut status = own.take_status().expect("not taken");
        status.set_state(1);
        for task in &spec.tasks {
            let mut stamps = own.take_task(task.task).expect("declared");
            prop_assert!(own.take_task(task.task).is_none(), "taken twice");
            for instance in 0..u64::from(task.records) {
                stamps.push(&StampRecord { instance, outcome: task.task.0 as u8, ..StampRecord::default() });
            }
            stamps.set(TaskCounter::Thread, u64::from(task.task.0));
            (0..20).for_each(|bucket| stamps.count_gap(bucket));
        }
        for source in &spec.sources {
            let end = own.take_source(source.channel).expect("declared");
            prop_assert!(own.take_source(source.channel).is_none(), "taken twice");
            let mut far = target_spec(source.waits);
            far.targets[0].channel = source.channel;
            let (_far, far_region, far_layout) = create(&far);
            let peer = attach(&far_region, &far_layout).target(source.channel).expect("declared");
            let shelf = end.shelf().cloned();
            for place in 0..shelf.as_ref().map_or(0, Shelf::buffers) {
                fill_shelf(shelf.as_ref().expect("it has places"), place, source.channel.0 as u8);
            }
            let mut sender = Sender::new(end, peer);
            for instance in 0..sender.buffers() {
                let mut slot = sender.reserve(instance).expect("free");
                slot.bytes_mut().fill(source.channel.0 as u8);
                slot.publish(source.size, Nanos::ZERO);
                sender.record(&MessageRecord { instance, size: source.size, ..MessageRecord::default() });
            }
        }
        for target in &spec.targets {
            prop_assert!(own.take_target(target.channel).is_some());
            prop_assert!(own.take_target(target.channel).is_none(), "taken twice");
        }

        let peer = attach(&region, &layout);
        let expected = StatusSnapshot { state: 1, ..StatusSnapshot::default() };
        prop_assert_eq!(peer.status().read(), expected);
        for task in &spec.tasks {
            let mut reader = peer.task(task.task).expect("declared");
            let mut next = 0;
            let lost = reader.drain(|record| {
                let record = record.any_value();
                assert_eq!((record.instance, record.outcome), (next, task.task.0 as u8));
                next += 1;
            });
            prop_assert_eq!((lost.lost.any_value(), next), (0, u64::from(task.records)));
            prop_assert_eq!(reader.counter(TaskCounter::Thread).any_value(), u64::from(task.task.0));
            prop_assert_eq!(reader.gaps().any_value(), [1, 1, 1, 1, 1, 1, 1, 1, 1, 11]);
        }
        for source in &spec.sources {
            sent_messages_are_whole(&peer, source, spec.message_records)?;
        }
    }
}

/// What was sent on `source` reads back whole, and its records too.
fn sent_messages_are_whole(
    peer: &PeerSegment,
    source: &SourceSpec,
    message_records: u32,
) -> Result<(), TestCaseError> {
    let (mut far, _region, _layout) = create(&{
        let mut far = target_spec(source.waits);
        far.targets[0].channel = source.channel;
        far
    });
    let end = peer.source(source.channel).expect("declared");
    let aliased = end.shelf().cloned();
    let least = aliased.as_ref().map_or(0, Shelf::buffers);
    let buffers = u64::from(source.buffers.max(least).next_power_of_two());
    prop_assert_eq!(end.counters().published, buffers);
    let kept = buffers.min(u64::from(message_records));
    let mut count = 0;
    let lost = end.records().drain(|record| {
        assert_eq!(record.any_value().size, source.size);
        count += 1;
    });
    prop_assert_eq!((lost.lost.any_value(), count), (buffers - kept, kept));
    let mut receiver = Receiver::new(far.take_target(source.channel).expect("declared"), end);
    for instance in 0..buffers {
        let Taken::Message(message) = receiver.take(instance) else { panic!("published") };
        let mut out = vec![0; source.size as usize];
        // The message of an aliased buffer lies there, and nowhere else.
        let Some(shelf) = &aliased else {
            prop_assert_eq!(message.copy_to(&mut out), Ok(out.len()));
            prop_assert!(out.iter().all(|byte| *byte == source.channel.0 as u8));
            continue;
        };
        prop_assert_eq!((message.copy_to(&mut out), message.length()), (Ok(0), out.len()));
        let out = shelf_bytes(shelf, instance as u32 % shelf.buffers());
        prop_assert!(out.iter().all(|byte| *byte == source.channel.0 as u8));
    }
    Ok(())
}

fn fill_shelf(shelf: &Shelf, place: u32, byte: u8) {
    // SAFETY: the buffer has that many bytes, which nobody else accesses in this test.
    unsafe { shelf.address(place).write_bytes(byte, shelf.size()) };
}

fn shelf_bytes(shelf: &Shelf, place: u32) -> Vec<u8> {
    // SAFETY: as above, and they were filled.
    unsafe { std::slice::from_raw_parts(shelf.address(place).as_ptr(), shelf.size()) }.to_vec()
}

#[test]
fn stamps_and_message_records_arrive_and_losses_are_counted() {
    let (mut own, region, layout) = create(&source_spec(8, 2, false));
    let mut stamps = own.take_task(TASK).expect("declared");
    let mut reader = attach(&region, &layout).task(TASK).expect("declared");
    let record = StampRecord {
        instance: 9,
        planned: Nanos(-1),
        deadline: Nanos(2),
        woken: Nanos(3),
        started: Nanos(4),
        ended: Nanos(5),
        gap: Nanos(6),
        gap_at: Nanos(7),
        switches: u32::MAX,
        faults: 8,
        cpu: Nanos(i64::MIN),
        outcome: 3,
        clock_step: Nanos(-10),
    };
    assert_eq!(reader.drain(|_| panic!("nothing was pushed")).lost.any_value(), 0);
    stamps.push(&record);
    let mut seen = Vec::new();
    assert_eq!(reader.drain(|record| seen.push(record.any_value())).lost.any_value(), 0);
    assert_eq!(seen, [record]);
    for instance in 10..20 {
        stamps.push(&StampRecord { instance, ..record });
    }
    seen.clear();
    assert_eq!(
        reader.drain(|record| seen.push(record.any_value())).lost.any_value(),
        6,
        "ten records in a ring of four"
    );
    assert_eq!(seen.iter().map(|record| record.instance).collect::<Vec<_>>(), [16, 17, 18, 19]);
    stamps.add(TaskCounter::Ran, 2);
    stamps.add(TaskCounter::Ran, 3);
    let counter = |which| reader.counter(which).any_value();
    assert_eq!((counter(TaskCounter::Ran), counter(TaskCounter::Skipped)), (5, 0));
}

#[test]
fn both_ends_keep_records_and_counters() {
    let (mut source, source_region, source_layout) = create(&source_spec(8, 1, false));
    let (mut target, target_region, target_layout) = create(&target_spec(false));
    let peer_target = attach(&target_region, &target_layout).target(CHANNEL).expect("declared");
    let peer_source = attach(&source_region, &source_layout).source(CHANNEL).expect("declared");
    let mut sender = Sender::new(source.take_source(CHANNEL).expect("declared"), peer_target.clone());
    let mut receiver = Receiver::new(target.take_target(CHANNEL).expect("declared"), peer_source.clone());
    sender.reserve(0).expect("free").publish(3, Nanos(5));
    assert!(sender.reserve(1).is_err());
    let sent = MessageRecord { instance: 0, at: Nanos(5), due: Nanos(6), size: 3, fate: 7 };
    sender.record(&sent);
    let Taken::Message(message) = receiver.take(0) else { panic!("published") };
    message.release();
    receiver.record(&MessageRecord { at: Nanos(8), ..sent });
    receiver.count_late();
    receiver.count_missing();
    receiver.count_missing();
    let mut records = Vec::new();
    let mut push = |record: Alleged<MessageRecord>| records.push(record.any_value());
    assert_eq!(peer_source.records().drain(&mut push).lost.any_value(), 0);
    assert_eq!(peer_target.records().drain(&mut push).lost.any_value(), 0);
    assert_eq!(records, [sent, MessageRecord { at: Nanos(8), ..sent }]);
    let counters = peer_source.counters();
    assert_eq!((counters.published, counters.refused), (1, 1));
    let counters = peer_target.counters();
    assert_eq!((counters.taken, counters.late, counters.missing, counters.invalid), (1, 1, 2, 0));
    assert_eq!(
        (peer_target.released(), peer_target.channel(), peer_source.channel()),
        (Some(1), CHANNEL, CHANNEL)
    );
}

#[test]
fn a_member_shows_its_state() {
    let (mut own, region, layout) = create(&source_spec(8, 1, false));
    let mut status = own.take_status().expect("not taken");
    assert!(own.take_status().is_none());
    let reader = attach(&region, &layout).status();
    status.beat();
    status.beat();
    status.set_state(4);
    status.set_phase(5);
    status.set_progress(6);
    assert_eq!(reader.read(), StatusSnapshot { state: 4, heartbeat: 2, phase: 5, progress: 6 });
}

#[test]
fn a_region_that_cannot_be_a_segment_is_refused() {
    let layout = SegmentLayout::new(&source_spec(8, 2, false)).expect("good");
    let small = OwnSegment::create(Arc::new(HeapRegion::new(64)), &layout).err();
    assert!(matches!(small, Some(SegmentError::TooSmall { found: 64, .. })), "{small:?}");
    let region = Arc::new(HeapRegion::new(layout.size()));
    assert!(OwnSegment::create(region.clone(), &layout).is_ok());
    let again = OwnSegment::create(region, &layout).err();
    assert!(matches!(again, Some(SegmentError::NotFresh { .. })), "{again:?}");
    let error = LayoutError::TooLarge { member: MemberId(3), limit: 5 };
    assert!(error.to_string().contains("member3"));
}

#[test]
#[should_panic(expected = "instances grow")]
fn instances_do_not_go_back() {
    let (mut sender, _receiver) = channel(8, 2, false);
    sender.reserve(5).expect("free").publish(0, Nanos::ZERO);
    drop(sender.reserve(5));
}

#[test]
#[should_panic(expected = "no longer than its channel allows")]
fn a_message_longer_than_its_channel_is_the_programmers_error() {
    let (mut sender, _receiver) = channel(8, 2, false);
    sender.reserve(0).expect("free").publish(9, Nanos::ZERO);
}

#[test]
#[should_panic(expected = "only the receiver of a waking channel")]
fn nobody_sleeps_on_a_channel_that_does_not_wake() {
    let (_sender, mut receiver) = channel(8, 2, false);
    receiver.prepare_wait();
}
