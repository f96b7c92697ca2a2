//! Messages that must wait on their way: they do, in a queue where they overtake nobody and nobody overtakes them.

use crate::common::right_plan::planned;
use leveret_plan::checker::check_network;
use leveret_plan::network::{Effort, NetworkPlan, Stream, Traffic, plan_network};
use leveret_topology::{Link, Reservation, Shape, shape};
use leveret_types::{BitRate, ByteSize, Nanos, NodeId, StreamId};

const HOSTS: u32 = 8;
const ROUND: Nanos = Nanos::from_micros(1000);

/// All hosts hang on one switch and send to the last of them. Each can send at one instant, since its link is reserved from then on, and has so
/// long to arrive; 10 us of transmission on each link, 2 us of processing on each.
fn traffic(wishes: &[(i64, i64)]) -> Traffic {
    let stream = |(index, (release, arrival)): (usize, &(i64, i64))| Stream {
        name: format!("s{index}"),
        source: NodeId(1 + index as u32),
        targets: vec![NodeId(HOSTS)],
        size: ByteSize(1208),
        period: ROUND,
        release: Nanos::from_micros(*release),
        deadline: Nanos::from_micros(*arrival),
        latency: None,
        jitter: None,
        copies: 1,
        ways: None,
    };
    let streams = wishes.iter().enumerate().map(stream).collect();
    let mut network = shape(Shape::Line, 1, HOSTS);
    for (index, (release, _)) in wishes.iter().enumerate() {
        let own = |link: &&mut Link| link.source == NodeId(1 + index as u32);
        let start = Nanos::from_micros(release + 10);
        let reservation = Reservation { period: ROUND, start, length: ROUND - start };
        network.links.iter_mut().find(own).expect("a link").reserved.push(reservation);
    }
    Traffic { network, streams, flows: Vec::new(), clock_error: Nanos::ZERO, whole_cycles: false }
}

/// Start of a stream's second hop, in microseconds, and its queue there.
fn second_hop(plan: &NetworkPlan, stream: u32) -> (i64, u8) {
    let slot =
        plan.links.iter().flatten().find(|slot| slot.stream.0 == stream && slot.hop == 1).expect("a slot");
    (slot.start.0 / 1000, plan.ways[stream as usize][0].queues[1])
}

#[test]
fn one_that_has_time_waits_for_one_that_has_none() {
    // Both come to the switch at 12 us. The second must be forwarded at once.
    let traffic = traffic(&[(0, 34), (0, 24)]);
    let plan = planned(&traffic);
    assert_eq!((second_hop(&plan, 0).0, second_hop(&plan, 1).0), (22, 12));
}

#[test]
fn who_is_overtaken_waits_in_another_queue() {
    // The first two come at 12 us, and one of them goes. The third comes at 20 us, must go when that has gone, and so overtakes the other.
    let traffic = traffic(&[(0, 44), (0, 24), (8, 34)]);
    let plan = planned(&traffic);
    let (late, at_once, urgent) = (second_hop(&plan, 0), second_hop(&plan, 1), second_hop(&plan, 2));
    assert_eq!((late.0, at_once.0, urgent.0), (32, 12, 22));
    assert_ne!(late.1, urgent.1);
}

#[test]
fn a_port_with_one_queue_keeps_the_order() {
    let mut traffic = traffic(&[(0, 44), (0, 24), (8, 34)]);
    for link in &mut traffic.network.links {
        link.queues = 1;
    }
    assert!(plan_network(&traffic, Effort { seed: 0, steps: 10_000 }).is_err());
}

#[test]
fn what_may_not_be_long_under_way_waits_at_its_source() {
    // The first may leave any time within 60 us, but be 30 us under way, and the switch is taken until 42 us.
    let mut traffic = traffic(&[(0, 90), (0, 24), (8, 34), (10, 44)]);
    traffic.streams[0].latency = Some(Nanos::from_micros(26));
    traffic.network.links.iter_mut().for_each(|link| link.reserved.clear());
    let plan = planned(&traffic);
    let departure =
        plan.links.iter().flatten().find(|slot| slot.stream.0 == 0 && slot.hop == 0).expect("a slot").start.0
            / 1000;
    assert!(second_hop(&plan, 0).0 >= 42 && departure >= 28, "{departure}");
}

/// Three frames come over a slow link to a fast one: the first is there long before the slot, and would be sent in another's.
#[test]
fn nothing_is_sent_while_a_slow_message_comes_to_the_same_queue() {
    let mut network = shape(Shape::Line, 1, 3);
    for link in &mut network.links {
        link.queues = 1;
        if link.source == NodeId(1) {
            link.rate = BitRate(link.rate.0 / 10);
        }
    }
    let period = Nanos::from_millis(1);
    let big = Stream::new("big", NodeId(1), NodeId(3), ByteSize(4500), period);
    let mut small = Stream::new("small", NodeId(2), NodeId(3), ByteSize(100), period);
    (small.release, small.deadline) = (Nanos::from_micros(200), Nanos::from_micros(240));
    let traffic = Traffic {
        network,
        streams: vec![big, small],
        flows: Vec::new(),
        clock_error: Nanos::ZERO,
        whole_cycles: false,
    };
    let (mut plan, _) = plan_network(&traffic, Effort::default()).expect("a plan");
    assert_eq!(check_network(&plan, &traffic), Ok(()));
    // From the source at once: its last frame has come at 368 us, its first at 123 us.
    for slots in &mut plan.links {
        for slot in slots.iter_mut().filter(|slot| slot.stream == StreamId(0)) {
            slot.start = if slot.hop == 0 { Nanos::ZERO } else { Nanos::from_micros(400) };
        }
        slots.sort_by_key(|slot| slot.start);
    }
    let violation = check_network(&plan, &traffic).expect_err("the queue holds a frame of another");
    assert!(violation.rule.contains("comes to its queue"), "{violation}");
}
