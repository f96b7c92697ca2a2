//! What bounds a search: its steps, whatever the numbers of instances and of reserved stretches are.

use leveret_plan::checker::{check_certificate, check_network};
use leveret_plan::network::{
    Attempt, Effort, NetworkRefusal, Stream, Traffic, attempt, certificate, plan_network, remedies,
};
use leveret_topology::{Reservation, Shape, shape};
use leveret_types::{ByteSize, Nanos, NodeId};

const MILLI: Nanos = Nanos::from_millis(1);

/// A switch with hosts, 1 Gbit/s and 2 us of processing.
fn star(hosts: u32, streams: Vec<Stream>) -> Traffic {
    Traffic { network: shape(Shape::Line, 1, hosts), streams, ..Traffic::default() }
}

fn stream(name: &str, (source, target): (u32, u32), period: Nanos) -> Stream {
    Stream::new(name, NodeId(1 + source), NodeId(1 + target), ByteSize(1458), period)
}

fn searched(traffic: &Traffic, steps: u64) -> Attempt {
    attempt(traffic, Effort { seed: 0, steps }, 0, &mut |_| true).expect("nobody ends it")
}

/// A channel whose link has one nanosecond in three reserved for all of its window.
fn combed(teeth: i64) -> Traffic {
    let mut traffic = star(2, vec![stream("combed", (0, 1), MILLI)]);
    traffic.streams[0].deadline = Nanos(3 * teeth);
    let tooth = |index: i64| Reservation { period: MILLI, start: Nanos(3 * index), length: Nanos(1) };
    traffic.network.links[0].reserved = (0..teeth).map(tooth).collect();
    traffic
}

#[test]
fn what_one_channel_needs_alone_is_sought_with_the_steps_of_the_whole() {
    let traffic = combed(20_000);
    let few = searched(&traffic, 1_000);
    assert!(matches!(few.result, Err(NetworkRefusal::NotFound { .. })), "{:?}", few.result);
    // All stages together, and what a link is looked at before the first step is counted.
    assert!(few.steps < 200_000, "{}", few.steps);
    let many = searched(&traffic, 20_000_000);
    assert!(matches!(many.result, Err(NetworkRefusal::Reserved { .. })), "{:?}", many.result);
    assert!(many.steps < 2_000_000, "{}", many.steps);
}

#[test]
fn steps_grow_with_reserved_stretches_and_not_with_their_square() {
    let steps = |teeth: i64| searched(&combed(teeth), 20_000_000).steps;
    let (few, many) = (steps(20_000), steps(50_000));
    assert!(few > 1_000 && many < 5 * few, "{few} steps beside 20,000 stretches, {many} beside 50,000");
    let traffic = combed(20_000);
    let refusal = plan_network(&traffic, Effort::default()).expect_err("no room");
    let shown = certificate(&traffic, &refusal).expect("that is proven");
    assert_eq!(check_certificate(&shown, &traffic), Ok(()));
}

/// Their phases meet at every distance, so each instance needs a place of its own.
#[test]
fn periods_that_nearly_agree_are_planned_instance_by_instance() {
    let (one, other) = (Nanos::from_micros(100), Nanos(99_999));
    let traffic = star(3, vec![stream("one", (0, 2), one), stream("other", (1, 2), other)]);
    let found = searched(&traffic, 20_000_000);
    let (plan, _) = found.result.expect("there is room for either between two of the other");
    assert_eq!(plan.links.iter().map(Vec::len).sum::<usize>(), 2 * 199_999);
    assert_eq!(check_network(&plan, &traffic), Ok(()));
}

/// Where a place is sought in vain for many instances at once, that is counted.
#[test]
fn looks_in_vain_are_steps() {
    let (one, other) = (Nanos::from_micros(100), Nanos(99_999));
    let mut traffic = star(3, vec![stream("one", (0, 2), one), stream("other", (1, 2), other)]);
    traffic.streams.iter_mut().for_each(|stream| stream.jitter = Some(Nanos::from_micros(9)));
    let ended = searched(&traffic, 300_000);
    let refusal = ended.result.expect_err("each must keep its place, more or less");
    assert!(!refusal.is_proven() || matches!(refusal, NetworkRefusal::Conflict { .. }), "{refusal:?}");
    assert!(ended.steps > 300_000, "{}", ended.steps);
}

#[test]
fn a_refusal_of_many_instances_has_advice() {
    // Its deadline leaves no time for a message of the other, and the instants of both are of no common measure.
    let mut traffic =
        star(3, vec![stream("one", (0, 2), Nanos::from_micros(49)), stream("other", (1, 2), MILLI)]);
    traffic.streams[0].jitter = Some(Nanos::ZERO);
    traffic.streams[1].jitter = Some(Nanos::ZERO);
    let refusal = plan_network(&traffic, Effort::default()).expect_err("no plan");
    assert!(refusal.is_proven(), "{}", refusal.reason(&traffic));
    assert!(!remedies(&traffic, &refusal, 3).is_empty());
}
