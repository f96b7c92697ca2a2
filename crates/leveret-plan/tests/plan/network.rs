//! Plans of networks: every plan is right for its traffic, every wrong one is refused.

use leveret_plan::checker::check_network;
use leveret_plan::network::{Effort, NetworkPlan, NetworkRefusal, Stream, Traffic, plan_network};
use leveret_topology::{Forwarding, NodeKind, Reservation, Shape, shape};
use leveret_types::{ByteSize, Nanos, NodeId};
use proptest::prelude::*;

const MICRO: i64 = 1_000;

#[derive(Clone, Debug)]
struct Wish {
    ends: (u32, u32),
    more_targets: u32,
    size: u64,
    period: usize,
    window: (i64, i64),
    latency: Option<i64>,
    jitter: Option<i64>,
    copies: u8,
}

fn wish() -> impl Strategy<Value = Wish> {
    (
        ((0u32..6, 0u32..6), 0u32..8, 1u64..4500, 0usize..5, (0i64..60, 60i64..1200)),
        (
            prop::option::weighted(0.3, 20i64..400),
            prop::option::weighted(0.2, 0i64..100),
            prop::sample::select(vec![1u8, 1, 1, 2]),
        ),
    )
        .prop_map(|((ends, more_targets, size, period, window), (latency, jitter, copies))| Wish {
            ends,
            more_targets,
            size,
            period,
            window,
            latency,
            jitter,
            copies,
        })
}

fn traffic(
    which: Shape,
    wishes: &[Wish],
    clock_error: i64,
    whole_cycles: bool,
    cut_through: bool,
    reserved: bool,
) -> Traffic {
    let mut network = shape(which, 6, 6);
    if cut_through {
        for node in &mut network.nodes[..3] {
            node.kind = NodeKind::Switch(Forwarding::CutThrough { header: ByteSize(64) });
        }
    }
    for (index, link) in network.links.iter_mut().enumerate() {
        link.rate.0 /= [1, 10, 1][index % 3];
        link.propagation = Nanos(index as i64 * 7);
        if reserved && index % 2 == 0 {
            let period = Nanos(500 * MICRO);
            link.reserved.push(Reservation { period, start: Nanos(100 * MICRO), length: Nanos(50 * MICRO) });
            link.reserved.push(Reservation { period, start: Nanos(490 * MICRO), length: Nanos(20 * MICRO) });
        }
    }
    let periods = [500, 1000, 1500, 2000, 3000].map(|period| Nanos(period * MICRO));
    let mut streams = Vec::new();
    for (index, wish) in wishes.iter().enumerate() {
        let (source, target) = wish.ends;
        let target = if source == target { (target + 1) % 6 } else { target };
        let mut one = Stream::new(
            format!("s{index}"),
            NodeId(6 + source),
            NodeId(6 + target),
            ByteSize(wish.size),
            periods[wish.period],
        );
        one.release = Nanos(wish.window.0 * MICRO);
        one.deadline = Nanos(wish.window.1 * MICRO);
        one.latency = wish.latency.map(Nanos::from_micros);
        one.jitter = wish.jitter.map(Nanos::from_micros);
        one.copies = if matches!(which, Shape::Ring | Shape::Mesh) { wish.copies } else { 1 };
        if one.copies == 1 {
            let more = (0..6).filter(|host| {
                wish.more_targets & (1 << (host % 3)) != 0 && *host > 3 && *host != source && *host != target
            });
            one.targets.extend(more.map(|host| NodeId(6 + host)));
        }
        streams.push(one);
    }
    Traffic { network, streams, flows: Vec::new(), clock_error: Nanos(clock_error), whole_cycles }
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop::sample::select(vec![
        Shape::Line,
        Shape::Ring,
        Shape::Tree,
        Shape::Mesh,
        Shape::Hierarchy { cell: 3 },
    ])
}

fn some_traffic() -> impl Strategy<Value = Traffic> {
    (
        shapes(),
        prop::collection::vec(wish(), 1..24),
        prop::sample::select(vec![0i64, 200]),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(which, wishes, error, whole, cut_through, reserved)| {
            traffic(which, &wishes, error, whole, cut_through, reserved)
        })
}

fn planned(traffic: &Traffic) -> Option<NetworkPlan> {
    match plan_network(traffic, Effort { seed: 0, steps: 200_000 }) {
        Ok((plan, _)) => Some(plan),
        Err(NetworkRefusal::Invalid(error)) => panic!("{error}"),
        Err(_) => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_plan_keeps_every_rule(traffic in some_traffic()) {
        if let Some(plan) = planned(&traffic)
            && let Err(violation) = check_network(&plan, &traffic)
        {
            prop_assert!(false, "{violation}");
        }
    }

    #[test]
    fn the_same_traffic_gives_the_same_plan(traffic in some_traffic()) {
        prop_assert_eq!(planned(&traffic), planned(&traffic));
    }
}
