use super::super::Stream;
use super::super::model::Traffic;
use super::super::problem::Problem;
use super::super::proof::Proof;
use super::super::watch::Watch;
use super::{HELD_MAX, Verdict, decide_within};
use leveret_topology::{Reservation, Shape, shape};
use leveret_types::{ByteSize, Nanos, NodeId, StreamId};

const STEPS: u64 = 20_000_000;

/// A switch with hosts, 1 Gbit/s and 2 us of processing: who sends to whom, by when, in microseconds; each takes a link for 12 us.
fn star(hosts: u32, messages: &[(u32, u32, i64)]) -> Traffic {
    let stream = |(index, (source, target, deadline)): (usize, &(u32, u32, i64))| {
        let ends = [source, target].map(|host| NodeId(1 + host));
        let mut one =
            Stream::new(format!("s{index}"), ends[0], ends[1], ByteSize(1458), Nanos::from_millis(1));
        one.deadline = Nanos::from_micros(*deadline);
        one
    };
    let streams = messages.iter().enumerate().map(stream).collect();
    Traffic { network: shape(Shape::Line, 1, hosts), streams, ..Traffic::default() }
}

/// What is decided of all streams, and in how many steps.
fn decided(traffic: &Traffic, held_max: usize) -> (Verdict, u64) {
    let hyperperiod = traffic.validate().expect("it is valid");
    let problem = Problem::new(traffic, hyperperiod.0).expect("it has ways");
    let all: Vec<_> = (0..traffic.streams.len() as u32).map(StreamId).collect();
    let mut left = STEPS;
    let verdict = decide_within(&problem, &all, &mut left, held_max, &mut Watch::alone());
    (verdict, STEPS - left)
}

fn refuted((verdict, steps): (Verdict, u64)) -> (Proof, u64) {
    match verdict {
        Verdict::Impossible(proof) => (*proof, steps),
        other => panic!("not refuted: {other:?}"),
    }
}

/// Four for one host, of which three arrive in time.
const TOO_MANY: [(u32, u32, i64); 4] = [(0, 4, 63), (1, 4, 63), (2, 4, 63), (3, 4, 63)];

#[test]
fn what_has_nothing_to_do_with_a_contradiction_is_not_tried_anew() {
    let (alone, steps) = refuted(decided(&star(5, &TOO_MANY), HELD_MAX));
    // Six pairs that have less room than those, and are asked about before them; either order of each will do.
    let mut messages: Vec<_> = TOO_MANY.to_vec();
    for pair in 0..6 {
        let first = 5 + 3 * pair;
        messages.extend([(first, first + 2, 41), (first + 1, first + 2, 41)]);
    }
    let (beside, more) = refuted(decided(&star(23, &messages), HELD_MAX));
    assert_eq!(beside.nodes.len(), alone.nodes.len());
    assert!(more < 10 * steps, "{more} steps in place of {steps}");
}

#[test]
fn a_jitter_of_many_instances_takes_no_more_for_each() {
    let steps = |instances: i64| {
        let mut traffic = star(3, &[(0, 2, 1_000), (1, 2, 1_000)]);
        traffic.streams[0].jitter = Some(Nanos::ZERO);
        traffic.streams[1].period = Nanos::from_millis(instances);
        let (verdict, steps) = decided(&traffic, HELD_MAX);
        assert!(matches!(verdict, Verdict::Plan(_)), "{verdict:?}");
        steps
    };
    let (few, many) = (steps(200), steps(800));
    assert!(many < 5 * few, "{few} steps for 200 instances, {many} for 800");
}

#[test]
fn what_would_hold_too_much_is_left_open() {
    let traffic = star(5, &TOO_MANY);
    let (verdict, _) = decided(&traffic, 1 << 12);
    assert!(matches!(verdict, Verdict::Unknown), "{verdict:?}");
    // Instances alone, before anything is asked: their transmissions are counted first.
    let mut many = star(3, &[(0, 2, 1_000), (1, 2, 1_000)]);
    many.streams[1].period = Nanos::from_secs(200);
    let (verdict, steps) = decided(&many, HELD_MAX);
    assert!(matches!(verdict, Verdict::Unknown) && steps == 0, "{verdict:?} after {steps} steps");
}

/// Between two of many reserved stretches there is no room, and each is asked about once.
#[test]
fn reserved_stretches_are_looked_at_where_they_lie() {
    let steps = |count: i64| {
        let mut traffic = star(2, &[(0, 1, 100)]);
        let stretch = |index: i64| Reservation {
            period: Nanos::from_millis(1),
            start: Nanos(index * 100_000 / count),
            length: Nanos(1),
        };
        traffic.network.links[0].reserved = (0..count).map(stretch).collect();
        refuted(decided(&traffic, HELD_MAX)).1
    };
    let (few, many) = (steps(500), steps(2_000));
    assert!(many < 5 * few, "{few} steps beside 500 stretches, {many} beside 2,000");
}
