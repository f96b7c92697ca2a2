use super::*;
use leveret_memory::sync::{AtomicBool, AtomicU64, Ordering};
use leveret_memory::{
    EventSpec, HeapRegion, Mapping, OwnSegment, PeerSegment, Region, SegmentLayout, SegmentSpec, SourceSpec,
    TargetSpec,
};
use leveret_types::{ChannelId, Generation};

const CHANNEL: ChannelId = ChannelId(0);
const SIZE: u32 = 64 << 10;
const BUFFERS: u32 = 2;
/// One period, one instance a round, arriving at once.
const PERIOD: Nanos = Nanos(1);

pub(crate) fn ends() -> (Sender, Receiver) {
    let spec = |member, sources, targets| SegmentSpec {
        member: MemberId(member),
        generation: Generation(1),
        sources,
        targets,
        tasks: Vec::new(),
        message_records: 1,
        events: EventSpec::default(),
    };
    let source = SourceSpec {
        channel: CHANNEL,
        size: SIZE,
        buffers: BUFFERS,
        waits: false,
        mapping: Mapping::None,
        checksum: false,
    };
    let specs = [
        spec(0, vec![source], Vec::new()),
        spec(1, Vec::new(), vec![TargetSpec { channel: CHANNEL, waits: false, mapping: Mapping::None }]),
    ];
    let mut own = Vec::new();
    let mut peers = Vec::new();
    for spec in &specs {
        let layout = SegmentLayout::new(spec).expect("a good specification");
        let region: Arc<dyn Region> = Arc::new(HeapRegion::new(layout.size()));
        own.push(OwnSegment::create(region.clone(), &layout).expect("fresh memory"));
        peers
            .push(PeerSegment::attach(region, &layout, spec.member, spec.generation).expect("a good header"));
    }
    let source = own[0].take_source(CHANNEL).expect("declared");
    let target = own[1].take_target(CHANNEL).expect("declared");
    let sender = Sender::new(source, peers[1].target(CHANNEL).expect("declared"));
    (sender, Receiver::new(target, peers[0].source(CHANNEL).expect("declared")))
}

fn holding_port(receiver: Receiver) -> InputPort {
    port(receiver, MissingPolicy::HoldLast, vec![0])
}

/// `slots` says which instance of a round each instance of the task reads.
fn port(receiver: Receiver, missing: MissingPolicy, slots: Vec<i64>) -> InputPort {
    let declared = Channel {
        name: "held".to_owned(),
        group: "world".to_owned(),
        source: MemberId(0),
        target: MemberId(1),
        size: ByteSize(u64::from(SIZE)),
        buffers: BUFFERS,
        placement: Placement::Separate,
        qos: Qos::TimeDriven { period: PERIOD, release: Nanos::ZERO, deadline: PERIOD, missing },
    };
    let arrival = Arrival { period: PERIOD, first: PERIOD, once: None };
    InputPort::new(
        0,
        (ChannelId(0), &declared),
        receiver,
        Bindings::new(slots, 1),
        0,
        (arrival, Spans::ALWAYS),
    )
}

/// A peer that does not respect what it has been told is in use, and so tears copies while they are made.
#[test]
fn a_torn_copy_does_not_destroy_what_is_held() {
    let (mut sender, receiver) = ends();
    let mut port = holding_port(receiver);
    let watch = Watch::new(2, Nanos::MAX);
    let clock = crate::VirtualClock::new();
    let (mut held, mut whole, mut out) = (0, true, vec![0; SIZE as usize]);
    let stop = AtomicBool::new(false);
    let newest = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut bytes = vec![0; SIZE as usize];
            let mut instance = 0;
            while !stop.load(Ordering::Relaxed) {
                bytes.fill(instance as u8);
                sender.publish_over(instance, &bytes, Nanos::ZERO);
                newest.store(instance, Ordering::Relaxed);
                // The next but one lies in the same buffer, and comes now before, now within, now after the copy.
                for _ in 0..instance % 16 * 40 {
                    std::hint::spin_loop();
                }
                for short in 1..=u64::from(BUFFERS) {
                    sender.publish_over(instance + short, &[0; 8], Nanos::ZERO);
                }
                instance += u64::from(BUFFERS) + 1;
            }
        });
        // A failed assertion in here would leave the writer running, and the scope waiting for it.
        while held < 5000 && whole {
            let round = newest.load(Ordering::Relaxed);
            let cursor = Cursor { instance: round, round, index: 0, round_start: Nanos::ZERO };
            port.gather(&cursor, &clock, &watch);
            if let Input::Held(message, _) = port.message() {
                let (copied, first) = (message.copy_to(&mut out), message.instance().0 as u8);
                whole = copied.is_ok() && out.iter().all(|byte| *byte == first);
                held += 1;
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(whole, "a torn copy destroyed what was held");
}

#[test]
fn what_a_skipped_instance_did_not_read_is_there_for_the_next() {
    let (mut sender, receiver) = ends();
    let mut port = port(receiver, MissingPolicy::Skip, vec![0, 0]);
    let watch = Watch::new(2, Nanos::MAX);
    let clock = crate::VirtualClock::new();
    let at = |instance: u64| {
        let (round, index) = (instance / 2, (instance % 2) as usize);
        Cursor { instance, round, index, round_start: Nanos::ZERO }
    };
    let seen = |port: &mut InputPort| match port.message() {
        Input::Message(message, ..) => message.instance().0,
        other => panic!("{other:?}"),
    };
    for round in 0..8 {
        sender.publish_over(round, &[0; 8], Nanos::ZERO);
        if round % 2 == 1 {
            port.gather(&at(2 * round), &clock, &watch);
            assert_eq!(seen(&mut port), round);
            port.finish(&at(2 * round + 1));
        } else {
            port.pass(&at(2 * round), &at(2 * round + 1));
        }
        port.gather(&at(2 * round + 1), &clock, &watch);
        assert_eq!(seen(&mut port), round);
        port.finish(&at(2 * round + 2));
    }
}
