use super::*;
use leveret_memory::{
    EventSpec, HeapRegion, INSTANCE_MAX, Mapping, MessageReader, OwnSegment, PeerSegment, SegmentLayout,
    SegmentSpec, SourceSpec, TargetSpec,
};
use leveret_types::{ChannelId, Generation};

const CHANNEL: ChannelId = ChannelId(0);
const GENERATION: Generation = Generation(3);

/// Both ends of a best-effort channel of four buffers of 8 bytes.
fn ends(waits: bool) -> (SendingEnd, ReceivingEnd) {
    let (sending, receiving, _) = ends_of(waits, None);
    (sending, receiving)
}

/// Both ends of such a channel, and what the watcher reads of source and target.
fn ends_of(waits: bool, arrival: Option<Arrival>) -> (SendingEnd, ReceivingEnd, [MessageReader; 2]) {
    let spec = |member| SegmentSpec {
        member: MemberId(member),
        generation: GENERATION,
        sources: vec![],
        targets: vec![],
        tasks: vec![],
        message_records: 8,
        events: EventSpec::default(),
    };
    let sources = vec![SourceSpec {
        channel: CHANNEL,
        size: 8,
        buffers: 4,
        waits,
        mapping: Mapping::None,
        checksum: false,
    }];
    let source = SegmentSpec { sources, ..spec(0) };
    let target = SegmentSpec {
        targets: vec![TargetSpec { channel: CHANNEL, waits, mapping: Mapping::None }],
        ..spec(1)
    };
    let [(mut source, peer_source), (mut target, peer_target)] = [source, target].map(|spec| {
        let layout = SegmentLayout::new(&spec).unwrap();
        let region = Arc::new(HeapRegion::new(layout.size()));
        let own = OwnSegment::create(region.clone(), &layout).unwrap();
        let peer = PeerSegment::attach(region.clone(), &layout, spec.member, GENERATION).unwrap();
        (own, peer)
    });
    let watch = Arc::new(Watch::new(2, Nanos::MAX));
    let records =
        [peer_source.source(CHANNEL).unwrap().records(), peer_target.target(CHANNEL).unwrap().records()];
    let sender = Sender::new(source.take_source(CHANNEL).unwrap(), peer_target.target(CHANNEL).unwrap());
    let receiver = Receiver::new(target.take_target(CHANNEL).unwrap(), peer_source.source(CHANNEL).unwrap());
    let sending = SendingEnd::new(sender, arrival, MemberId(1), watch.clone());
    (sending, ReceivingEnd::new(receiver, arrival, MemberId(0), watch), records)
}

// spec: LAW-VALID-01
#[test]
fn a_stamp_that_cannot_be_is_not_told_as_the_receivers_word() {
    for (stamp, expected) in [(Nanos::MAX, 0), (Nanos(i64::MIN), 0), (Nanos(1), 0), (clock::now(), 1)] {
        let (mut sending, mut receiving, [_, mut told]) = ends_of(false, None);
        // The machine may have started a moment ago.
        receiving.arm(EARLY_MOST + Nanos(2));
        sending.sender.reserve(0).unwrap().publish(8, stamp);
        assert!(receiving.try_receive().is_some());
        let mut count = 0;
        let _lost = told.drain(|_| count += 1);
        assert_eq!(count, expected, "{stamp}");
    }
}

/// A later message in the first one's buffer can only come from a peer that breaks the rules.
#[test]
fn what_is_no_message_is_passed_over_while_waiting() {
    for waits in [false, true] {
        let (mut sending, mut receiving) = ends(waits);
        for instance in 1..=4 {
            sending.sender.publish_over(instance, b"12345678", Nanos::ZERO);
        }
        sending.next = 5;
        for expected in 1..=4 {
            let message = receiving.receive(Nanos::from_secs(20)).unwrap();
            assert_eq!((message.instance(), message.bytes().len()), (expected, 8));
        }
        // Every buffer came back.
        for instance in 5..=8 {
            assert_eq!(sending.send(b"again").unwrap(), Instance(instance));
        }
        assert_eq!(receiving.receive(Nanos::from_secs(20)).unwrap().instance(), 5);
    }
}

#[test]
fn a_wait_among_nothing_but_nonsense_ends() {
    for waits in [false, true] {
        let (mut sending, mut receiving) = ends(waits);
        for instance in 1 << 40..(1 << 40) + 4 {
            sending.sender.publish_over(instance, b"nonsense", Nanos::ZERO);
        }
        assert_eq!(receiving.receive(Nanos::from_millis(300)).err(), Some(WaitError::TimedOut));
        assert!(receiving.next > 4, "each place was passed over");
    }
}

const HOUR: Nanos = Nanos::from_secs(3600);

/// The ends of a time-driven channel whose instance 10 was due a moment ago and whose instance 11 is due in an hour; and
/// when instance 10 was due.
fn hourly() -> (SendingEnd, ReceivingEnd, [MessageReader; 2], Nanos) {
    let arrival = Arrival { period: HOUR, first: Nanos::ZERO, once: None };
    let (mut sending, mut receiving, records) = ends_of(false, Some(arrival));
    let due = clock::now() - Nanos::from_secs(1);
    let epoch = due - HOUR.saturating_mul(10);
    sending.arm(epoch);
    receiving.arm(epoch);
    (sending, receiving, records, due)
}

/// Instances and fates that were recorded.
fn fates(reader: &mut MessageReader) -> Vec<(u64, u8)> {
    let mut found = Vec::new();
    let lost = reader.drain(|record| found.push((record.any_value().instance, record.any_value().fate)));
    assert_eq!((lost.lost.any_value(), lost.damaged), (0, 0));
    found
}

#[test]
fn what_a_wait_finds_is_recorded() {
    // What stands in the buffer of instance 10: whose message, and how long after the due instant it was inserted.
    let cases = [
        (Some((10, Nanos(0))), FateCode::Done),
        (Some((10, Nanos(1))), FateCode::Late),
        (None, FateCode::Vacant),
        (Some((14, Nanos(0))), FateCode::Invalid),
    ];
    for (content, expected) in cases {
        let (mut sending, mut receiving, [_, mut target], due) = hourly();
        if let Some((instance, after)) = content {
            sending.sender.publish_over(instance, b"message", due + after);
        }
        let found = receiving.wait(Nanos::ZERO).map(|message| message.instance());
        let performed =
            if expected == FateCode::Done { Ok(10) } else { Err(WaitError::NotPerformed(Instance(10))) };
        assert_eq!(found, performed, "{expected:?}");
        assert_eq!(fates(&mut target), [(10, expected as u8)]);
        // The next is due in an hour.
        assert_eq!(receiving.wait(Nanos::ZERO).err(), Some(WaitError::TimedOut));
        assert_eq!(fates(&mut target), []);
    }
}

#[test]
fn what_is_started_or_finds_no_buffer_is_recorded() {
    let (mut sending, mut receiving, [mut source, _], due) = hourly();
    // In the buffer of instance 11, and never waited for.
    sending.sender.publish_over(7, b"unseen", due - HOUR.saturating_mul(3));
    for _ in 0..3 {
        assert!(matches!(sending.start(b"early"), Err(StartError::NoBuffer(_))));
    }
    assert_eq!(fates(&mut source), [(11, FateCode::NoBuffer as u8)]);
    assert_eq!(receiving.wait(Nanos::ZERO).err(), Some(WaitError::NotPerformed(Instance(10))));
    assert_eq!(sending.start(b"message"), Ok(Instance(11)));
    assert_eq!(fates(&mut source), [(11, FateCode::Done as u8)]);
}

/// A receiver that says anything of when it takes part keeps messages from itself, and from nobody else: the sender is neither sent ahead,
/// where its next start were refused and its record not believed, nor ended.
#[test]
fn a_receiver_that_names_a_far_instance_moves_no_transfer_there() {
    for first in [14, 1 << 40, INSTANCE_MAX, INSTANCE_MAX + 1, NOT_ACTIVE - 1] {
        let (mut sending, mut receiving, [mut source, _], _) = hourly();
        receiving.receiver.set_first_eligible(first);
        let not_yet =
            StartError::NotYet { receiver: MemberId(1), first: Instance(first), next: Instance(11) };
        for _ in 0..3 {
            assert_eq!(sending.start(b"message"), Err(not_yet));
        }
        assert_eq!(fates(&mut source), [(11, FateCode::Inactive as u8)]);
        assert_eq!(sending.test(), Err(WaitError::NothingStarted));
        receiving.receiver.set_first_eligible(0);
        assert_eq!(sending.start(b"message"), Ok(Instance(11)));
        assert_eq!(fates(&mut source), [(11, FateCode::Done as u8)]);
    }
}

#[test]
fn a_transfer_is_of_the_first_instance_of_both_ends() {
    for (first, expected) in [(0, 11), (11, 11), (12, 12), (13, 13), (NOT_ACTIVE, 11)] {
        let (mut sending, mut receiving, [mut source, _], _) = hourly();
        receiving.receiver.set_first_eligible(first);
        assert_eq!(sending.start(b"message"), Ok(Instance(expected)));
        assert_eq!(fates(&mut source), [(expected, FateCode::Done as u8)]);
    }
}

/// A sender that goes on without a message, as its word for it was damaged: the next one shows it, and the watcher is told. Until then it may come.
#[test]
fn a_message_that_is_lost_is_passed_over_with_the_next_and_told() {
    for waits in [false, true] {
        let (mut sending, mut receiving, [_, mut told]) = ends_of(waits, None);
        sending.send(b"first").unwrap();
        assert_eq!(receiving.receive(Nanos::from_secs(20)).unwrap().instance(), 0);
        assert_eq!(receiving.receive(Nanos::from_millis(50)).err(), Some(WaitError::TimedOut));
        let _sampled = fates(&mut told);
        sending.next = 2;
        sending.send(b"third").unwrap();
        assert_eq!(receiving.receive(Nanos::from_secs(20)).unwrap().instance(), 2);
        assert_eq!(fates(&mut told), [(1, FateCode::Invalid as u8)]);
        // Whoever only tries finds the next one too.
        sending.next = 4;
        sending.send(b"fifth").unwrap();
        let found = (0..=2 * POLLS_PER_LOOK).find_map(|_| Some(receiving.try_receive()?.instance()));
        assert_eq!(found, Some(4));
        assert_eq!(fates(&mut told), [(3, FateCode::Invalid as u8)]);
    }
}
