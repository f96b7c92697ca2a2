//! Round trips of eight bytes between two threads, beside a bare cache line that does nothing but bounce.
//!
//! `cargo run --release -p leveret-memory --example ping_pong`. The two alternate in short rounds, since the speed of
//! the machine changes within seconds; the ratio of neighbouring rounds is what counts.

use leveret_memory::sync::{AtomicBool, AtomicU64, Ordering, spin_loop};
use leveret_memory::{
    EventSpec, HeapRegion, Mapping, OwnSegment, PeerSegment, Receiver, Region, SegmentLayout, SegmentSpec,
    Sender, SourceSpec, Taken, TargetSpec,
};
use leveret_types::{ChannelId, Generation, MemberId, Nanos};
use std::sync::Arc;

/// Round trips in one short round.
const ROUND: u64 = 50_000;
/// Pairs of rounds.
const PAIRS: usize = 40;

#[repr(align(128))]
struct Line(AtomicU64);

fn nanos_per_trip(body: impl FnOnce()) -> f64 {
    #[allow(clippy::disallowed_methods, reason = "a measurement reads the clock")]
    let start = std::time::Instant::now();
    body();
    #[allow(clippy::disallowed_methods, reason = "a measurement reads the clock")]
    let elapsed = start.elapsed();
    elapsed.as_nanos() as f64 / ROUND as f64
}

fn segment(member: u16, source: u16, target: u16) -> (OwnSegment, PeerSegment) {
    let spec = SegmentSpec {
        member: MemberId(member),
        generation: Generation(1),
        sources: vec![SourceSpec {
            channel: ChannelId(source),
            size: 8,
            buffers: 16,
            waits: false,
            mapping: Mapping::None,
            checksum: false,
        }],
        targets: vec![TargetSpec { channel: ChannelId(target), waits: false, mapping: Mapping::None }],
        tasks: vec![],
        message_records: 1,
        events: EventSpec::default(),
    };
    let layout = SegmentLayout::new(&spec).expect("the specification is good");
    let region: Arc<dyn Region> = Arc::new(HeapRegion::new(layout.size()));
    let own = OwnSegment::create(Arc::clone(&region), &layout).expect("the memory is fresh");
    let peer = PeerSegment::attach(region, &layout, spec.member, spec.generation).expect("it was just made");
    (own, peer)
}

fn ends(own: &mut OwnSegment, peer: &PeerSegment, source: u16, target: u16) -> (Sender, Receiver) {
    let sender = Sender::new(
        own.take_source(ChannelId(source)).expect("declared"),
        peer.target(ChannelId(source)).expect("declared"),
    );
    let receiver = Receiver::new(
        own.take_target(ChannelId(target)).expect("declared"),
        peer.source(ChannelId(target)).expect("declared"),
    );
    (sender, receiver)
}

#[inline(always)]
fn send(sender: &mut Sender, instance: u64) {
    loop {
        if let Ok(mut slot) = sender.reserve(instance) {
            slot.write(&instance.to_le_bytes());
            slot.publish(8, Nanos::ZERO);
            return;
        }
        spin_loop();
    }
}

#[inline(always)]
fn receive(receiver: &mut Receiver, instance: u64) {
    loop {
        while !receiver.is_there(instance) {
            spin_loop();
        }
        if let Taken::Message(message) = receiver.take(instance) {
            let mut out = [0; 8];
            assert_eq!(message.copy_to(&mut out), Ok(8));
            assert_eq!(u64::from_le_bytes(out), instance);
            message.release();
            return;
        }
    }
}

fn await_value(line: &AtomicU64, value: u64) {
    while line.load(Ordering::Acquire) != value {
        spin_loop();
    }
}

fn main() {
    let (mut left, left_peer) = segment(0, 0, 1);
    let (mut right, right_peer) = segment(1, 1, 0);
    let (mut sender, mut receiver) = ends(&mut left, &right_peer, 0, 1);
    let (mut far_sender, mut far_receiver) = ends(&mut right, &left_peer, 1, 0);
    let line = Arc::new(Line(AtomicU64::new(0)));
    let far_line = Arc::clone(&line);
    let stop = Arc::new(AtomicBool::new(false));
    let far_stop = Arc::clone(&stop);
    let far = std::thread::spawn(move || {
        let (mut trip, mut instance) = (0, 0);
        while !far_stop.load(Ordering::Acquire) {
            for _ in 0..ROUND {
                await_value(&far_line.0, trip + 1);
                far_line.0.store(trip + 2, Ordering::Release);
                trip += 2;
            }
            for _ in 0..ROUND {
                receive(&mut far_receiver, instance);
                send(&mut far_sender, instance);
                instance += 1;
            }
        }
    });
    let (mut trip, mut instance) = (0, 0);
    let mut ratios = Vec::new();
    for pair in 0..PAIRS {
        let bare = nanos_per_trip(|| {
            for _ in 0..ROUND {
                line.0.store(trip + 1, Ordering::Release);
                await_value(&line.0, trip + 2);
                trip += 2;
            }
        });
        let ours = nanos_per_trip(|| {
            for round in 0..ROUND {
                if pair + 1 == PAIRS && round + 1 == ROUND {
                    stop.store(true, Ordering::Release);
                }
                send(&mut sender, instance);
                receive(&mut receiver, instance);
                instance += 1;
            }
        });
        println!("bare {bare:6.1} ns   channel {ours:6.1} ns   ratio {:.3}", ours / bare);
        ratios.push(ours / bare);
    }
    far.join().expect("the far side does not panic");
    ratios.sort_by(f64::total_cmp);
    println!(
        "ratio of {PAIRS} pairs: median {:.3}, quartiles {:.3} and {:.3}",
        ratios[PAIRS / 2],
        ratios[PAIRS / 4],
        ratios[PAIRS * 3 / 4]
    );
}
