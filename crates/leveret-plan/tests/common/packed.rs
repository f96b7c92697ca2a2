//! Messages that fill stretches of a link nearly to the last byte, in an order that is forgotten: there is a plan, and it is hard to find.

use leveret_plan::network::{Stream, Traffic};
use leveret_topology::{FrameFormat, Reservation, Shape, shape};
use leveret_types::{ByteSize, Nanos, NodeId};

/// Bytes that a free stretch has room for: 100 us at 1 Gbit/s.
const STRETCH: u64 = 12_500;

/// So many stretches, each with room for `each` messages and `spare` bytes, all of which lead to one host.
pub fn packed(seed: u64, stretches: u64, each: u64, spare: u64) -> Traffic {
    let mut state = seed;
    let mut random = move |below: u64| {
        // splitmix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 20) % below
    };
    let count = (stretches * each) as u32;
    let mut network = shape(Shape::Line, 1, count + 1);
    network.frames =
        FrameFormat { payload_max: ByteSize(1 << 20), payload_min: ByteSize(0), overhead: ByteSize(0) };
    let round = Nanos::from_micros(stretches.cast_signed() * 150);
    let target = NodeId(1);
    for link in network.links.iter_mut().filter(|link| link.target == target) {
        let reserved = |place: u64| Reservation {
            period: round,
            start: Nanos::from_micros(place.cast_signed() * 150 + 100),
            length: Nanos::from_micros(50),
        };
        link.reserved = (0..stretches).map(reserved).collect();
    }
    let mut sizes = Vec::new();
    for _ in 0..stretches {
        let mut left = STRETCH - spare;
        for more in (1..each).rev() {
            let share = left / (more + 1);
            let size = share / 2 + random(share);
            sizes.push(size);
            left -= size;
        }
        sizes.push(left);
    }
    for index in (1..sizes.len()).rev() {
        sizes.swap(index, random(index as u64 + 1) as usize);
    }
    let stream = |(index, size): (usize, u64)| {
        let mut stream =
            Stream::new(format!("s{index}"), NodeId(2 + index as u32), target, ByteSize(size), round);
        stream.deadline = round + round;
        stream
    };
    let streams = sizes.into_iter().enumerate().map(stream).collect();
    Traffic { network, streams, flows: Vec::new(), clock_error: Nanos::ZERO, whole_cycles: true }
}
