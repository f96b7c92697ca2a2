//! Why a network has no plan: each reason can be checked by hand, and nothing that is only "not found" is called more.

use leveret_plan::checker::{check_certificate, check_network, check_refusal};
use leveret_plan::network::{
    Certificate, Effort, NetworkRefusal, Proof, ProofNode, Stream, TooLongFor, Traffic, certificate,
    plan_network,
};
use leveret_topology::{Reservation, Shape, shape};
use leveret_types::{ByteSize, LinkId, Nanos, NodeId, StreamId};
use proptest::prelude::*;

const SWITCHES: u32 = 4;

fn stream(index: usize, source: u32, target: u32, size: u64, period_us: i64) -> Stream {
    let (source, target) = (NodeId(SWITCHES + source), NodeId(SWITCHES + target));
    Stream::new(format!("s{index}"), source, target, ByteSize(size), Nanos::from_micros(period_us))
}

fn traffic(which: Shape, streams: Vec<Stream>) -> Traffic {
    Traffic {
        network: shape(which, SWITCHES, 4),
        streams,
        flows: Vec::new(),
        clock_error: Nanos::ZERO,
        whole_cycles: false,
    }
}

fn refusal(traffic: &Traffic) -> NetworkRefusal {
    plan_network(traffic, Effort { seed: 0, steps: 100_000 }).expect_err("no plan")
}

/// The link from one node to another.
fn link(traffic: &Traffic, from: u32, to: u32) -> LinkId {
    let found = traffic
        .network
        .links
        .iter()
        .position(|link| (link.source, link.target) == (NodeId(from), NodeId(to)));
    LinkId(found.expect("a link") as u32)
}

#[test]
fn a_message_that_takes_longer_than_it_may() {
    let mut traffic = traffic(Shape::Line, vec![stream(0, 0, 3, 1458, 1000)]);
    // Five links, each with 12 us of transmission and 2 us of processing.
    traffic.streams[0].latency = Some(Nanos::from_micros(69));
    let NetworkRefusal::TooLong { stream, needs, has, limit, way } = refusal(&traffic) else {
        panic!("another reason")
    };
    assert_eq!((stream, needs, has), (StreamId(0), Nanos::from_micros(70), Nanos::from_micros(69)));
    assert_eq!((limit, way.len()), (TooLongFor::Latency, 5));
    (traffic.streams[0].latency, traffic.streams[0].deadline) = (None, Nanos::from_micros(69));
    assert!(matches!(refusal(&traffic), NetworkRefusal::TooLong { limit: TooLongFor::Window, .. }));
    traffic.streams[0].deadline = Nanos::from_micros(70);
    assert!(plan_network(&traffic, Effort::default()).is_ok());
}

#[test]
fn more_for_a_link_than_it_has() {
    // Each takes the last link for 40 % of its time.
    let all = (0..3).map(|index| stream(index, index as u32, 3, 4958, 100)).collect();
    let mut traffic = traffic(Shape::Line, all);
    traffic.streams.push(stream(3, 0, 1, 100, 100));
    for stream in &mut traffic.streams {
        stream.deadline = Nanos::from_micros(1000);
    }
    let found = refusal(&traffic);
    let NetworkRefusal::Overload { link: which, streams, needs, has, .. } = &found else {
        panic!("another reason: {found:?}")
    };
    assert_eq!(*which, link(&traffic, 3, SWITCHES + 3));
    assert_eq!(*streams, [StreamId(0), StreamId(1), StreamId(2)]);
    assert!(needs > has && *has == Nanos::from_micros(100));
    let text = found.reason(&traffic);
    assert!(
        text.starts_with("channels \"s0\", \"s1\", \"s2\" must take link s3 -> h3; together they need"),
        "{text}"
    );
    // Without any of them the rest has a plan.
    for left_out in 0..3 {
        let mut rest = traffic.clone();
        rest.streams.remove(left_out);
        let (plan, _) = plan_network(&rest, Effort::default()).expect("a plan of two of them");
        assert_eq!(check_network(&plan, &rest), Ok(()));
    }
}

#[test]
fn a_ring_spreads_what_a_line_cannot_carry() {
    // Two thirds of a link each, between the same switches: a ring has another way for one of them.
    let (one, two) = (stream(0, 0, 2, 8000, 100), stream(1, 1, 3, 8000, 100));
    let mut line = traffic(Shape::Line, vec![one, two]);
    for stream in &mut line.streams {
        stream.deadline = Nanos::from_micros(1000);
    }
    let found = refusal(&line);
    assert!(matches!(found, NetworkRefusal::Overload { .. }), "{found:?}");
    let ring = Traffic { network: shape(Shape::Ring, SWITCHES, 4), ..line };
    let (plan, _) = plan_network(&ring, Effort::default()).expect("a plan");
    assert_eq!(check_network(&plan, &ring), Ok(()));
}

#[test]
fn a_link_that_others_have() {
    let mut traffic = traffic(Shape::Line, vec![stream(0, 0, 1, 1458, 100)]);
    let which = link(&traffic, 0, 1);
    traffic.network.links[which.index()].reserved = vec![Reservation {
        period: Nanos::from_micros(20),
        start: Nanos::ZERO,
        length: Nanos::from_micros(10),
    }];
    let found = refusal(&traffic);
    assert_eq!(found, NetworkRefusal::Reserved { stream: StreamId(0) });
    assert!(found.is_proven());
}

#[test]
fn not_found_is_no_proof() {
    // The second leaves room for the first on neither side; but so few steps show nobody that.
    let mut traffic = traffic(Shape::Line, vec![stream(0, 0, 1, 1458, 100), stream(1, 0, 1, 1458, 100)]);
    for (stream, window) in traffic.streams.iter_mut().zip([(0, 60), (8, 52)]) {
        (stream.release, stream.deadline) = (Nanos::from_micros(window.0), Nanos::from_micros(window.1));
    }
    let found = plan_network(&traffic, Effort { seed: 0, steps: 40 }).expect_err("no plan");
    let NetworkRefusal::NotFound { unplaced, partial, steps, .. } = &found else {
        panic!("another reason: {found:?}")
    };
    assert!(!found.is_proven() && !unplaced.is_empty() && *steps > 0);
    assert!(partial.links.iter().any(|slots| !slots.is_empty()));
    assert!(found.reason(&traffic).contains("does not prove that there is none"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Of an overload, the streams that are named have no plan by themselves either, and none of them can be left out of the sum.
    #[test]
    fn an_overload_is_one_by_itself(wishes in prop::collection::vec((0u32..4, 0u32..4, 1500u64..9000, 0usize..3), 3..12)) {
        let periods = [100, 200, 400];
        let all = wishes.iter().enumerate().filter(|(_, (source, target, ..))| source != target);
        let all: Vec<_> = all.map(|(index, (source, target, size, period))| stream(index, *source, *target, *size, periods[*period])).collect();
        let mut traffic = traffic(Shape::Line, all);
        for stream in &mut traffic.streams {
            stream.deadline = Nanos::from_micros(1000);
        }
        if let Err(NetworkRefusal::Overload { link, streams, needs, has, .. }) = plan_network(&traffic, Effort { seed: 0, steps: 20_000 }) {
            let only = |keep: &dyn Fn(StreamId) -> bool| {
                let indexed = traffic.streams.iter().enumerate();
                let streams = indexed.filter(|(index, _)| keep(StreamId(*index as u32))).map(|(_, stream)| stream.clone()).collect();
                Traffic { streams, ..traffic.clone() }
            };
            let again = plan_network(&only(&|stream| streams.contains(&stream)), Effort { seed: 0, steps: 20_000 });
            // Perhaps for another reason, where the search comes to it first.
            prop_assert!(again.is_err_and(|refusal| refusal.is_proven()));
            let round = traffic.validate().expect("valid traffic");
            let rate = traffic.network.links[link.index()].rate;
            let demand = |stream: StreamId| {
                let stream = &traffic.streams[stream.index()];
                traffic.network.frames.occupation(stream.size, rate).0 * (round.0 / stream.period.0)
            };
            prop_assert_eq!(streams.iter().map(|stream| demand(*stream)).sum::<i64>(), needs.0);
            for stream in &streams {
                prop_assert!(needs.0 - demand(*stream) <= has.0);
            }
        }
    }
}

/// Messages of the first hosts to the last, which come before its cable is free and so must wait at the one switch, in so many queues; among
/// others that need not.
fn waiters(count: u32, queues: u8) -> Traffic {
    let (hosts, round) = (count + 3, Nanos::from_micros(1000));
    let mut network = shape(Shape::Line, 1, hosts);
    let mut streams = Vec::new();
    let reservation = |start, length| {
        let (start, length) = (Nanos::from_micros(start), Nanos::from_micros(length));
        Reservation { period: round, start, length }
    };
    for link in &mut network.links {
        let from_host = (1..=count).contains(&link.source.0);
        if from_host {
            link.reserved.push(reservation(20, 980));
        } else if link.target == NodeId(hosts) {
            link.reserved.push(reservation(0, 40));
            link.queues = queues;
        }
    }
    for index in 0..30 {
        let (source, target) = (NodeId(hosts - 1), NodeId(hosts - 2));
        streams.push(Stream::new(format!("other{index}"), source, target, ByteSize(100), round));
    }
    for index in 1..=count {
        let mut one = Stream::new(format!("s{index}"), NodeId(index), NodeId(hosts), ByteSize(1458), round);
        one.deadline = Nanos::from_micros(300);
        streams.push(one);
    }
    Traffic { network, streams, flows: Vec::new(), clock_error: Nanos::ZERO, whole_cycles: false }
}

#[test]
fn all_that_must_wait_for_too_few_queues_is_named() {
    for count in 2..=5 {
        let traffic = waiters(count, count as u8 - 1);
        let refusal = plan_network(&traffic, Effort::default()).expect_err("no plan");
        let NetworkRefusal::Conflict { streams, minimal: true, proof, .. } = &refusal else {
            panic!("{count}: {}", refusal.reason(&traffic))
        };
        a_third_answer_is_asked_for(proof, &traffic);
        let expected: Vec<_> = (30..30 + count).map(StreamId).collect();
        assert_eq!(*streams, expected);
        let shown = certificate(&traffic, &refusal).expect("it is proven");
        assert_eq!(check_certificate(&shown, &traffic), Ok(()));
    }
}

/// Of two messages in one queue one goes first; of two that may have queues of their own this is an answer too, and an argument without it is none.
fn a_third_answer_is_asked_for(proof: &Proof, traffic: &Traffic) {
    let mut asked = 0;
    for index in 0..proof.nodes.len() {
        let mut other = proof.clone();
        if let ProofNode::Queue { apart: apart @ Some(_), .. } = &mut other.nodes[index] {
            *apart = None;
            let violation = check_refusal(&other, traffic).expect_err("an answer less");
            assert!(violation.rule.contains("every answer to who waits"), "{violation}");
            asked += 1;
        }
    }
    assert!(asked > 0, "{proof:?}");
}

#[test]
fn what_must_wait_waits_where_the_queues_are_enough() {
    for count in 1..=5 {
        let traffic = waiters(count, count as u8 + 1);
        let (plan, _) = plan_network(&traffic, Effort::default()).expect("a plan");
        assert_eq!(check_network(&plan, &traffic), Ok(()));
    }
}

/// Reservations of two cables, one after the other, leave one message each turn that does not wait between them; there are four turns and
/// five messages, among others that have room.
#[test]
fn five_that_may_not_wait_for_four_places_are_named() {
    let (turn, hosts) = (Nanos::from_micros(400), 8);
    let period = Nanos(4 * turn.0);
    // Hosts 2 to 9 behind switches 0 and 1 in turn.
    let mut network = shape(Shape::Line, 2, hosts);
    let target = NodeId(3);
    let mut reserve = |from: u32, to: u32, start: i64, length: i64| {
        let ends = (NodeId(from), NodeId(to));
        let link = network.links.iter_mut().find(|link| (link.source, link.target) == ends).expect("a link");
        link.reserved.push(Reservation {
            period: turn,
            start: Nanos::from_micros(start),
            length: Nanos::from_micros(length),
        });
    };
    reserve(0, 1, 30, 370);
    reserve(1, 3, 52, 370);
    let mut streams = Vec::new();
    for index in 0..40 {
        streams.push(Stream::new(format!("other{index}"), NodeId(5), NodeId(7), ByteSize(100), period));
    }
    for index in 0..5 {
        let source = NodeId([2, 4, 6, 8, 2][index]);
        let mut one = Stream::new(format!("s{index}"), source, target, ByteSize(1458), period);
        // Three cables, each with 12 us of transmission and 2 us of processing.
        (one.latency, one.deadline) = (Some(Nanos::from_micros(42)), period + turn);
        streams.insert(index * 7, one);
    }
    let traffic =
        Traffic { network, streams, flows: Vec::new(), clock_error: Nanos::ZERO, whole_cycles: false };
    let refusal = plan_network(&traffic, Effort::default()).expect_err("no plan");
    let expected: Vec<_> = (0..5).map(|index| StreamId(index * 7)).collect();
    assert_eq!(refusal.streams(), expected, "{}", refusal.reason(&traffic));
    let shown = certificate(&traffic, &refusal).expect("it is proven");
    assert_eq!(check_certificate(&shown, &traffic), Ok(()));
}

#[test]
fn a_stretch_that_nobody_could_count_through_is_refused() {
    let mut network = shape(Shape::Line, 1, 3);
    let reservation = Reservation { period: Nanos(1_000), start: Nanos::ZERO, length: Nanos(10) };
    network.links.iter_mut().for_each(|link| link.reserved.push(reservation));
    let stream = Stream::new("s".to_owned(), NodeId(1), NodeId(2), ByteSize(100), Nanos::from_millis(1));
    let traffic = Traffic {
        network,
        streams: vec![stream],
        flows: Vec::new(),
        clock_error: Nanos::ZERO,
        whole_cycles: false,
    };
    for (from, to) in [(0, i64::MAX), (i64::MIN, 0), (i64::MAX - 1, i64::MAX), (-1, 100)] {
        let claim = Certificate::Overload {
            link: LinkId(0),
            from: Nanos(from),
            to: Nanos(to),
            streams: vec![StreamId(0)],
        };
        let violation = check_certificate(&claim, &traffic).expect_err("it shows nothing");
        assert!(violation.rule.contains("no longer than one"), "{violation}");
    }
}

/// A link is taken for longer than the period, and the way takes longer than the window: either is enough, and the certificate of one is
/// not refused for the other.
#[test]
fn who_takes_a_link_for_longer_than_its_period_is_refused_with_a_certificate() {
    let network = shape(Shape::Line, 1, 3);
    let mut stream = Stream::new("s", NodeId(1), NodeId(2), ByteSize(1458), Nanos::from_micros(5));
    stream.targets.push(NodeId(3));
    let traffic = Traffic {
        network,
        streams: vec![stream],
        flows: Vec::new(),
        clock_error: Nanos::ZERO,
        whole_cycles: false,
    };
    let refusal = plan_network(&traffic, Effort::default()).expect_err("12 us every 5 us");
    assert!(matches!(refusal, NetworkRefusal::Unending { .. }), "{refusal:?}");
    let shown = certificate(&traffic, &refusal).expect("what is proven can be shown");
    assert_eq!(check_certificate(&shown, &traffic), Ok(()));
}
