//! Seeded networks and what moves on them: small ones for the comparison with z3, and what is certain to have a plan as background for conflicts.

use crate::planner::Random;
use leveret_plan::network::{Stream, Traffic};
use leveret_topology::{Network, Reservation, Shape, shape};
use leveret_types::{ByteSize, Nanos, NodeId};

/// Two to six streams over two or three switches, with narrow windows: about as many have a plan as have none.
pub fn small(seed: u64) -> Traffic {
    let mut random = Random::new(seed);
    let hosts = 4;
    let (which, switches) = [(Shape::Line, 2), (Shape::Line, 3), (Shape::Ring, 3)][below(&mut random, 3)];
    let mut network = shape(which, switches, hosts);
    let queues = 1 + below(&mut random, 8) as u8;
    let is_reserved = random.below(10) < 3;
    for link in &mut network.links {
        link.queues = queues;
        if is_reserved && random.below(2) == 0 {
            let start = Nanos::from_micros(between(&mut random, 0, 80));
            let length = Nanos::from_micros(between(&mut random, 5, 20));
            link.reserved.push(Reservation { period: Nanos::from_micros(100), start, length });
        }
    }
    let count = 2 + random.below(5);
    let streams = (0..count).map(|index| small_stream(&mut random, index, switches, hosts)).collect();
    let whole_cycles = random.below(5) == 0;
    Traffic { network, streams, flows: Vec::new(), clock_error: Nanos::ZERO, whole_cycles }
}

fn small_stream(random: &mut Random, index: u64, switches: u32, hosts: u32) -> Stream {
    let (source, target) = ends(random, switches, hosts);
    let period = Nanos::from_micros([100, 100, 200, 400][below(random, 4)]);
    let size = ByteSize(100 + random.below(2900));
    let mut stream = Stream::new(format!("s{index}"), source, target, size, period);
    stream.release = Nanos::from_micros(between(random, 0, 30));
    stream.deadline = stream.release + Nanos::from_micros(between(random, 35, 110));
    stream.latency = (random.below(10) < 3).then(|| Nanos::from_micros(between(random, 30, 90)));
    stream.jitter = (random.below(10) < 3).then(|| Nanos::from_micros(between(random, 0, 20)));
    let also = ends(random, switches, hosts).1;
    if random.below(10) < 3 && also != source && also != target {
        stream.targets.push(also);
    }
    stream
}

/// Streams with whole periods as their windows, that use little of every link.
pub fn background(
    random: &mut Random,
    (switches, hosts): (u32, u32),
    count: usize,
    periods: &[Nanos],
) -> Vec<Stream> {
    let one = |index: usize| {
        let (source, target) = ends(random, switches, hosts);
        let period = periods[below(random, periods.len())];
        let size = ByteSize(64 + random.below(200));
        Stream::new(format!("background{index}"), source, target, size, period)
    };
    (0..count).map(one).collect()
}

/// Two hosts of a network of [`shape`], whose hosts come after its switches.
fn ends(random: &mut Random, switches: u32, hosts: u32) -> (NodeId, NodeId) {
    let source = random.below(u64::from(hosts)) as u32;
    let target = (source + 1 + random.below(u64::from(hosts) - 1) as u32) % hosts;
    (NodeId(switches + source), NodeId(switches + target))
}

/// An index below a bound.
pub fn below(random: &mut Random, bound: usize) -> usize {
    random.below(bound as u64) as usize
}

/// A number from `least` to `most`.
pub fn between(random: &mut Random, least: i64, most: i64) -> i64 {
    least + random.below((most - least + 1).cast_unsigned()).cast_signed()
}

/// The frame that the planted streams send: one of 1500 bytes, 12.336 us at 1 Gbit/s.
pub const FRAME: ByteSize = ByteSize(1500);

/// How long it takes a link.
pub fn frame_ns(network: &Network) -> i64 {
    network.frames.occupation(FRAME, network.links[0].rate).0
}
