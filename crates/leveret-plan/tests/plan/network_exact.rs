//! Of few streams it is always known whether they have a plan: the plan passes the checker, and so does the argument that there is none.

use leveret_plan::checker::{check_certificate, check_network, check_refusal};
use leveret_plan::network::{
    Bound, Effort, NetworkRefusal, Proof, ProofNode, Stream, Traffic, certificate, plan_network,
};
use leveret_topology::{Reservation, Shape, shape};
use leveret_types::{BitRate, ByteSize, Nanos, NodeId, StreamId};
use proptest::prelude::*;

const SWITCHES: u32 = 3;

#[derive(Clone, Debug)]
struct Wish {
    ends: (u32, u32),
    size: u64,
    period: usize,
    window: (i64, i64),
    latency: Option<i64>,
    jitter: Option<i64>,
    copies: u8,
    /// A further target, where there is one copy.
    also: Option<u32>,
}

fn wish() -> impl Strategy<Value = Wish> {
    (
        ((0u32..4, 0u32..4), 100u64..3000, 0usize..3, (0i64..30, 30i64..130)),
        (
            prop::option::weighted(0.3, 20i64..90),
            prop::option::weighted(0.3, 0i64..20),
            prop::sample::select(vec![1u8, 1, 1, 2]),
            prop::option::weighted(0.3, 0u32..4),
        ),
    )
        .prop_map(|((ends, size, period, window), (latency, jitter, copies, also))| Wish {
            ends,
            size,
            period,
            window,
            latency,
            jitter,
            copies,
            also,
        })
}

fn traffic(
    which: Shape,
    wishes: &[Wish],
    queues: u8,
    clock_error: i64,
    whole_cycles: bool,
    reserved: bool,
    slow: Option<u32>,
) -> Traffic {
    let mut network = shape(which, SWITCHES, 4);
    for link in &mut network.links {
        link.queues = queues;
        if slow == Some(link.source.0) {
            link.rate = BitRate(link.rate.0 / 4);
        }
        if reserved {
            let (period, start) = (Nanos::from_micros(100), Nanos::from_micros(40));
            link.reserved.push(Reservation { period, start, length: Nanos::from_micros(15) });
        }
    }
    let mut streams = Vec::new();
    for (index, wish) in wishes.iter().enumerate() {
        let target = if wish.ends.0 == wish.ends.1 { (wish.ends.1 + 1) % 4 } else { wish.ends.1 };
        let period = Nanos::from_micros([100, 100, 200][wish.period]);
        let (from, to) = (NodeId(SWITCHES + wish.ends.0), NodeId(SWITCHES + target));
        let mut one = Stream::new(format!("s{index}"), from, to, ByteSize(wish.size), period);
        (one.release, one.deadline) = (Nanos::from_micros(wish.window.0), Nanos::from_micros(wish.window.1));
        one.latency = wish.latency.map(Nanos::from_micros);
        one.jitter = wish.jitter.map(Nanos::from_micros);
        one.copies = if matches!(which, Shape::Ring) { wish.copies } else { 1 };
        if let Some(also) = wish.also
            && one.copies == 1
            && ![one.source, one.targets[0]].contains(&NodeId(SWITCHES + also))
        {
            one.targets.push(NodeId(SWITCHES + also));
        }
        streams.push(one);
    }
    Traffic { network, streams, flows: Vec::new(), clock_error: Nanos(clock_error), whole_cycles }
}

fn any_traffic() -> impl Strategy<Value = Traffic> {
    (
        prop::collection::vec(wish(), 1..7),
        prop::sample::select(vec![Shape::Line, Shape::Ring]),
        (1u8..4, prop::sample::select(vec![0i64, 0, 300])),
        (prop::bool::weighted(0.2), prop::bool::weighted(0.3), prop::option::weighted(0.4, 0..SWITCHES + 4)),
    )
        .prop_map(|(wishes, which, (queues, clock_error), (whole_cycles, reserved, slow))| {
            traffic(which, &wishes, queues, clock_error, whole_cycles, reserved, slow)
        })
        .prop_filter("valid", |traffic| traffic.validate().is_ok())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn few_streams_are_always_decided(traffic in any_traffic()) {
        match plan_network(&traffic, Effort::default()) {
            Ok((plan, _)) => prop_assert_eq!(check_network(&plan, &traffic), Ok(())),
            Err(NetworkRefusal::Conflict { streams, proof, .. }) => {
                prop_assert_eq!(check_refusal(&proof, &traffic), Ok(()));
                prop_assert_eq!(&streams, &proof.streams);
            }
            Err(NetworkRefusal::Invalid(error)) => prop_assert!(error.to_string().contains("no two ways"), "{}", error),
            Err(refusal) => {
                prop_assert!(refusal.is_proven(), "{}", refusal.reason(&traffic));
                let shown = certificate(&traffic, &refusal).expect("what is proven can be shown");
                prop_assert_eq!(check_certificate(&shown, &traffic), Ok(()), "{}", refusal.reason(&traffic));
            }
        }
    }

    /// Of a set that is called minimal, each part has a plan.
    #[test]
    fn a_minimal_conflict_is_minimal(traffic in any_traffic()) {
        let Err(NetworkRefusal::Conflict { streams, minimal: true, .. }) = plan_network(&traffic, Effort::default()) else { return Ok(()) };
        for left_out in &streams {
            let rest = streams.iter().filter(|stream| *stream != left_out);
            let part = Traffic { streams: rest.map(|stream| traffic.streams[stream.index()].clone()).collect(), ..traffic.clone() };
            // Reservations and periods of others may have made the round longer; a shorter one is harder.
            prop_assume!(part.validate() == traffic.validate());
            let found = plan_network(&part, Effort::default());
            prop_assert!(found.is_ok(), "without {}: {:?}", left_out, found);
        }
    }

    /// An argument about one traffic says nothing of another that has a plan.
    #[test]
    fn no_argument_is_accepted_against_a_plan(traffic in any_traffic(), more in 1i64..200, which in 0usize..6) {
        let Err(refusal) = plan_network(&traffic, Effort::default()) else { return Ok(()) };
        let Some(shown) = certificate(&traffic, &refusal) else { return Ok(()) };
        let mut relaxed = traffic;
        let count = relaxed.streams.len();
        let stream = &mut relaxed.streams[which % count];
        stream.deadline = stream.deadline + Nanos::from_micros(more);
        stream.latency = None;
        if plan_network(&relaxed, Effort::default()).is_ok() {
            prop_assert!(check_certificate(&shown, &relaxed).is_err());
        }
    }
}

/// Two messages for one cable: the second may start in the midst of the first's window only, and leaves it room on neither side.
fn two_for_one() -> Traffic {
    let wish = |window| Wish {
        ends: (0, 1),
        size: 1458,
        period: 0,
        window,
        latency: None,
        jitter: None,
        copies: 1,
        also: None,
    };
    // 12 us on each of three links, and 2 us of processing at each end: 42 us.
    traffic(Shape::Line, &[wish((0, 60)), wish((8, 52))], 8, 0, false, false, None)
}

fn argument(traffic: &Traffic) -> Proof {
    match plan_network(traffic, Effort::default()) {
        Err(NetworkRefusal::Conflict { proof, .. }) => *proof,
        other => panic!("another outcome: {other:?}"),
    }
}

#[test]
fn a_changed_argument_is_no_argument() {
    let traffic = two_for_one();
    let proof = argument(&traffic);
    assert_eq!(check_refusal(&proof, &traffic), Ok(()));
    let changed = |change: &dyn Fn(&mut Proof)| {
        let mut other = proof.clone();
        change(&mut other);
        check_refusal(&other, &traffic).expect_err("it no longer follows")
    };
    changed(&|proof| proof.version += 1);
    changed(&|proof| proof.nodes.clear());
    changed(&|proof| proof.streams = vec![StreamId(7)]);
    changed(&|proof| proof.streams.truncate(1));
    changed(&|proof| proof.hyperperiod = Nanos(proof.hyperperiod.0 * 2));
    for index in 0..proof.nodes.len() {
        changed(&|proof| match &mut proof.nodes[index] {
            ProofNode::Ways { cases, .. } => cases.clear(),
            ProofNode::Order { one, two, .. } => *two = *one,
            ProofNode::Cycle { steps } => drop(steps.pop()),
            other => panic!("not in this argument: {other:?}"),
        });
        changed(&|proof| match &mut proof.nodes[index] {
            ProofNode::Ways { cases, .. } => cases[0].1 = 0,
            ProofNode::Order { one_first, two_first, .. } => *one_first = *two_first,
            ProofNode::Cycle { steps } => steps[0] = Bound::Decided(0),
            other => panic!("not in this argument: {other:?}"),
        });
    }
}

#[test]
fn what_fits_after_all_has_no_argument() {
    let traffic = two_for_one();
    let proof = argument(&traffic);
    for change in [
        |traffic: &mut Traffic| traffic.streams[0].deadline = Nanos::from_micros(80),
        |traffic: &mut Traffic| traffic.streams[1].size = ByteSize(10),
        |traffic: &mut Traffic| traffic.network.links.iter_mut().for_each(|link| link.rate.0 *= 10),
    ] {
        let mut other = traffic.clone();
        change(&mut other);
        assert!(plan_network(&other, Effort::default()).is_ok());
        assert!(check_refusal(&proof, &other).is_err());
    }
}

#[test]
fn without_jitter_some_periods_always_meet() {
    // 12 us each, every 60, 90 and 150 us: modulo 30 us they are three times 12.
    let wish = |ends| Wish {
        ends,
        size: 1458,
        period: 0,
        window: (0, 120),
        latency: None,
        jitter: Some(0),
        copies: 1,
        also: None,
    };
    let mut traffic =
        traffic(Shape::Line, &[wish((0, 3)), wish((1, 3)), wish((2, 3))], 8, 0, false, false, None);
    for (stream, period) in traffic.streams.iter_mut().zip([60, 90, 150]) {
        (stream.period, stream.deadline) = (Nanos::from_micros(period), Nanos::from_micros(period));
    }
    let found = plan_network(&traffic, Effort::default()).expect_err("no plan");
    let shown = certificate(&traffic, &found).expect("a certificate");
    assert_eq!(check_certificate(&shown, &traffic), Ok(()));
    assert_eq!(found.streams().len(), 3, "{}", found.reason(&traffic));
    // With a jitter, and with one of them shorter, it shows nothing.
    let mut other = traffic.clone();
    other.streams[1].jitter = Some(Nanos::from_micros(1));
    assert!(check_certificate(&shown, &other).is_err());
    let mut other = traffic.clone();
    other.streams[2].size = ByteSize(600);
    assert!(check_certificate(&shown, &other).is_err());
    let mut other = traffic.clone();
    other.streams[0].period = Nanos::from_micros(180);
    assert!(check_certificate(&shown, &other).is_err());
}
