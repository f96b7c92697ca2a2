use super::*;
use leveret_memory::{
    HeapRegion, OwnSegment, PeerSegment, SegmentLayout, SegmentSpec, SourceSpec, TargetSpec,
};
use leveret_types::{ChannelId, Generation};

const CHANNEL: ChannelId = ChannelId(0);
const GENERATION: Generation = Generation(3);

/// Both ends of a channel of four buffers of 8 bytes.
fn ends(waits: bool) -> (SendingEnd, ReceivingEnd) {
    let spec = |member| SegmentSpec {
        member: MemberId(member),
        generation: GENERATION,
        sources: vec![],
        targets: vec![],
        tasks: vec![],
        message_records: 2,
    };
    let sources = vec![SourceSpec { channel: CHANNEL, size: 8, buffers: 4, waits }];
    let source = SegmentSpec { sources, ..spec(0) };
    let target = SegmentSpec { targets: vec![TargetSpec { channel: CHANNEL, waits }], ..spec(1) };
    let [(mut source, peer_source), (mut target, peer_target)] = [source, target].map(|spec| {
        let layout = SegmentLayout::new(&spec).unwrap();
        let region = Arc::new(HeapRegion::new(layout.size()));
        let own = OwnSegment::create(region.clone(), &layout).unwrap();
        let peer = PeerSegment::attach(region.clone(), &layout, spec.member, GENERATION).unwrap();
        (own, peer)
    });
    let watch = Arc::new(Watch::new(2, Nanos::MAX));
    let sender = Sender::new(source.take_source(CHANNEL).unwrap(), peer_target.target(CHANNEL).unwrap());
    let receiver = Receiver::new(target.take_target(CHANNEL).unwrap(), peer_source.source(CHANNEL).unwrap());
    let sending = SendingEnd::new(sender, None, MemberId(1), watch.clone());
    (sending, ReceivingEnd::new(receiver, None, MemberId(0), watch))
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
