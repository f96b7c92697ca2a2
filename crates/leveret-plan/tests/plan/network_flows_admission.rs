//! Flows by hand: bounds that anybody can recompute, refusals with what would do, and what the checker makes of changed claims.

use crate::common::right_plan::{planned, refuses};
use leveret_plan::network::{
    Effort, Flow, FlowChange, LateFlow, NetworkChange, NetworkPlan, NetworkRefusal, Stream, Traffic,
    explain_network, flow_bounds, plan_network, summarise,
};
use leveret_topology::{Shape, Shaper, Tree, shape};
use leveret_types::{BitRate, ByteSize, LinkId, Nanos, NodeId};

const MILLI: Nanos = Nanos::from_millis(1);
/// A whole frame of best effort on 1 Gbit/s: 1500 bytes and 42 beside them.
const LOWER: i64 = 12_336;
/// A frame of 1458 bytes.
const FRAME: i64 = 12_000;

/// A switch and four hosts, 1 Gbit/s, 2 us of processing: links 2 h and 2 h + 1 are from and to the switch of host h.
fn star(flows: Vec<Flow>) -> Traffic {
    Traffic { network: shape(Shape::Line, 1, 4), flows, ..Traffic::default() }
}

fn flow(name: &str, source: u32, target: u32, class: u8) -> Flow {
    let flow = Flow::new(name, NodeId(1 + source), NodeId(1 + target), ByteSize(1458), MILLI);
    Flow { class: Some(class), ..flow }
}

#[track_caller]
fn late(traffic: &Traffic) -> LateFlow {
    match plan_network(traffic, Effort::default()) {
        Err(NetworkRefusal::Late(late)) => *late,
        other => panic!("not late: {other:?}"),
    }
}

/// The delay of a class at the port from host to switch, or from switch to host.
fn delay(traffic: &Traffic, plan: &NetworkPlan, ends: (u32, u32), class: u8) -> i64 {
    let at = link(traffic, ends);
    plan.classes[at].iter().find(|bound| bound.class == class).expect("the class").delay.0
}

fn link(traffic: &Traffic, (source, target): (u32, u32)) -> usize {
    let ends = (NodeId(source), NodeId(target));
    traffic.network.links.iter().position(|link| (link.source, link.target) == ends).expect("a link")
}

#[test]
fn one_frame_waits_for_one_from_below_at_each_port() {
    let traffic = star(vec![flow("a", 0, 1, 5)]);
    let plan = planned(&traffic);
    let hop = LOWER + FRAME;
    assert_eq!(delay(&traffic, &plan, (1, 0), 5), hop);
    assert_eq!(flow_bounds(&traffic, &plan, 0), [Nanos(2 * (hop + 2_000))]);
    // At its source it is alone: one frame.
    assert_eq!(plan.classes[link(&traffic, (1, 0))][0].backlog, ByteSize(1500));
}

#[test]
fn equals_and_those_above_go_first() {
    let traffic = star(vec![flow("a", 0, 3, 5), flow("b", 1, 3, 5), flow("c", 2, 3, 6), flow("d", 2, 3, 4)]);
    let plan = planned(&traffic);
    assert_eq!(delay(&traffic, &plan, (0, 4), 6), LOWER + FRAME);
    assert_eq!(delay(&traffic, &plan, (0, 4), 5), LOWER + 3 * FRAME);
    assert_eq!(delay(&traffic, &plan, (0, 4), 4), LOWER + 4 * FRAME);
    // From the same host as `c`, and below it.
    assert_eq!(delay(&traffic, &plan, (3, 0), 4), LOWER + 2 * FRAME);
}

#[test]
fn a_burst_that_comes_over_a_link_of_the_same_rate_waits_once() {
    let mut one = flow("a", 0, 1, 5);
    one.burst = 20;
    let traffic = star(vec![one]);
    let plan = planned(&traffic);
    assert_eq!(delay(&traffic, &plan, (1, 0), 5), LOWER + 20 * FRAME);
    // Behind the first link its frames come one after the other; the excess is the step in which arrivals are looked at.
    let second = delay(&traffic, &plan, (0, 2), 5);
    assert!((LOWER + FRAME..LOWER + FRAME + FRAME / 8).contains(&second), "{second}");
}

#[test]
fn slots_and_what_is_kept_free_before_them() {
    let mut traffic = star(vec![flow("a", 0, 1, 5)]);
    // A slot of 24 us in every millisecond.
    let mut stream = Stream::new("s", NodeId(1), NodeId(3), ByteSize(2916), MILLI);
    stream.ways = None;
    traffic.streams.push(stream);
    let plan = planned(&traffic);
    assert_eq!(delay(&traffic, &plan, (1, 0), 5), FRAME + 24_000 + LOWER + FRAME);
    // Interrupted, 143 bytes are held back, and 24 more are sent.
    let up = link(&traffic, (1, 0));
    traffic.network.links[up].preemption = true;
    let plan = planned(&traffic);
    assert_eq!(delay(&traffic, &plan, (1, 0), 5), 1_144 + 24_000 + 192 + LOWER + FRAME);
}

#[test]
fn a_shaped_class_waits_for_credit_and_lets_others_go() {
    let mut traffic = star(vec![Flow { burst: 4, ..flow("a", 0, 1, 6) }, flow("b", 0, 1, 2)]);
    let up = link(&traffic, (1, 0));
    let plain = planned(&traffic);
    assert_eq!(delay(&traffic, &plain, (1, 0), 2), LOWER + 5 * FRAME);
    traffic.network.links[up].shaping = vec![Shaper { class: 6, idle_slope: BitRate(200_000_000) }];
    let shaped = planned(&traffic);
    // Three frames at a fifth of the link; then a frame from below, and the fourth. Three nanoseconds for what is no whole one.
    let own = delay(&traffic, &shaped, (1, 0), 6) - (3 * FRAME * 5 + LOWER + FRAME);
    assert!((0..=3).contains(&own), "{own}");
    // In its busy window the shaper lets two frames go, and a part of the third.
    let below = delay(&traffic, &shaped, (1, 0), 2);
    assert!(below < delay(&traffic, &plain, (1, 0), 2), "{below}");
}

#[test]
fn what_comes_too_often_has_no_bound() {
    let mut flows: Vec<_> = (0..3).map(|host| flow(&format!("f{host}"), host, 3, 3)).collect();
    for flow in &mut flows {
        flow.interval = Some(Nanos(35_000));
    }
    flows.push(flow("below", 0, 3, 1));
    flows.push(flow("above", 0, 3, 7));
    let mut traffic = star(flows);
    let plan = planned(&traffic);
    assert_eq!(flow_bounds(&traffic, &plan, 0), [Nanos::MAX]);
    assert_eq!(flow_bounds(&traffic, &plan, 3), [Nanos::MAX]);
    assert!(flow_bounds(&traffic, &plan, 4)[0] < Nanos::from_micros(70));
    let summary = summarise(&traffic, &plan);
    assert!(summary.render().contains("no bound"), "{}", summary.render());
    traffic.flows[3].deadline = Some(MILLI);
    let refused = late(&traffic);
    assert_eq!((refused.flow, refused.bound), (3, Nanos::MAX));
    assert!(refused.fits.contains(&NetworkChange::Flow(3, FlowChange::Class(4))), "{:?}", refused.fits);
}

/// Around a ring of three switches: each flow takes two links of it.
fn ring(interval: Nanos) -> Traffic {
    let network = shape(Shape::Ring, 3, 3);
    let way = |nodes: [u32; 5]| {
        let link = |pair: &[u32]| {
            let ends = (NodeId(pair[0]), NodeId(pair[1]));
            let found = network.links.iter().position(|link| (link.source, link.target) == ends);
            LinkId(found.expect("a link") as u32)
        };
        Tree::path(&nodes.windows(2).map(link).collect::<Vec<_>>())
    };
    let flow = |index: u32| {
        let (first, second, third) = (index, (index + 1) % 3, (index + 2) % 3);
        let flow =
            Flow::new(format!("f{index}"), NodeId(3 + first), NodeId(3 + third), ByteSize(1458), interval);
        Flow { way: Some(way([3 + first, first, second, third, 3 + third])), burst: 3, ..flow }
    };
    let flows = (0..3).map(flow).collect();
    Traffic { network, flows, ..Traffic::default() }
}

#[test]
fn ways_in_a_circle_have_bounds() {
    let traffic = ring(MILLI);
    let plan = planned(&traffic);
    assert!(flow_bounds(&traffic, &plan, 0)[0] < Nanos::from_micros(300));
    let crowded = ring(Nanos(23_000));
    assert_eq!(flow_bounds(&crowded, &planned(&crowded), 0), [Nanos::MAX]);
}

#[test]
fn a_late_flow_is_refused_with_what_would_do() {
    let mut traffic = star(vec![
        Flow { burst: 6, ..flow("bulk", 0, 3, 5) },
        Flow { deadline: Some(Nanos::from_micros(90)), ..flow("alarm", 1, 3, 4) },
    ]);
    let refused = late(&traffic);
    assert_eq!((refused.flow, refused.target, refused.others), (1, NodeId(4), 0));
    let sum =
        |hop: &leveret_plan::network::HopShares| hop.table + hop.above + hop.class + hop.below + hop.sending;
    assert!(refused.hops.len() == 2 && refused.hops.iter().all(|hop| sum(hop) == hop.delay), "{refused:?}");
    assert!(refused.hops[1].above > refused.hops[1].below);
    let refusal = NetworkRefusal::Late(Box::new(refused.clone()));
    let text = refusal.reason(&traffic);
    assert!(text.starts_with("channel \"alarm\" may arrive at \"h3\" after "), "{text}");
    assert!(text.contains("for higher priorities"), "{text}");
    assert!(!refusal.is_proven());
    let told = explain_network(&traffic, refusal, Effort::default(), 6);
    let [conflict] = &told.conflicts[..] else { panic!("one flow is late: {told:?}") };
    assert_eq!(conflict.remedies[0].words(&traffic), "channel \"alarm\": priority = 5 in place of 4");
    // Each change, made, has a plan.
    assert!(conflict.remedies.len() >= 3, "{:?}", conflict.remedies);
    for remedy in &conflict.remedies {
        let mut changed = traffic.clone();
        remedy.change.apply(&mut changed);
        planned(&changed);
    }
    traffic.flows[1].deadline = None;
    planned(&traffic);
}

#[test]
fn claims_that_are_too_good() {
    let mut flows = vec![flow("a", 0, 3, 5), flow("b", 1, 3, 5), flow("c", 2, 3, 6)];
    flows[0].deadline = Some(Nanos::from_micros(100));
    let mut traffic = star(flows);
    traffic.streams.push(Stream::new("s", NodeId(3), NodeId(4), ByteSize(500), MILLI));
    let down = link(&traffic, (0, 4));
    refuses(&traffic, "later than its bound", |plan| plan.classes[down][0].delay.0 -= FRAME / 16);
    refuses(&traffic, "later than its bound", |plan| plan.classes[down][1].delay.0 -= FRAME / 16);
    refuses(&traffic, "fits into its backlog", |plan| plan.classes[down][1].backlog.0 -= 1);
    refuses(&traffic, "a delay is", |plan| plan.classes[down][1].delay = Nanos(-1));
    refuses(&traffic, "a delay is", |plan| plan.classes[down][1].delay = Nanos(i64::MAX - 1));
    refuses(&traffic, "arrives before its deadline", |plan| plan.classes[down][1].delay = Nanos::MAX);
    refuses(&traffic, "arrives before its deadline", |plan| {
        plan.classes[down][1].delay = Nanos::from_micros(200);
        plan.classes[down][1].backlog = ByteSize(1 << 40);
    });
    refuses(&traffic, "the most urgent first", |plan| plan.classes[down].reverse());
    refuses(&traffic, "the most urgent first", |plan| {
        plan.classes[down].remove(0);
    });
    refuses(&traffic, "each class that comes there", |plan| plan.classes[link(&traffic, (1, 0))].clear());
    refuses(&traffic, "for this traffic", |plan| drop(plan.flows.pop()));
    refuses(&traffic, "for this traffic", |plan| drop(plan.classes.pop()));
    refuses(&traffic, "every target", |plan| plan.flows[0].hops.truncate(1));
    refuses(&traffic, "links exist", |plan| plan.flows[0].hops[1].link = LinkId(999));
    traffic.flows[1].way = Some(planned(&traffic).flows[1].clone());
    planned(&traffic);
    // A claim that is too good further up makes what comes next too regular, and is found where it is made.
    refuses(&traffic, "later than its bound", |plan| {
        plan.classes[link(&traffic, (1, 0))][0].delay = Nanos(1)
    });
}

#[test]
fn a_way_other_than_the_declared_one() {
    let mut traffic = ring(MILLI);
    refuses(&traffic, "way that was declared", |plan| {
        // There is also the short way.
        let graph = leveret_topology::Graph::new(&traffic.network);
        plan.flows[0] = Tree::spread(&graph, NodeId(3), &[NodeId(5)], 0).expect("a way");
    });
    traffic.flows[0].way = None;
    planned(&traffic);
}

#[test]
fn claims_of_shaped_classes() {
    let mut traffic =
        star(vec![Flow { burst: 3, ..flow("a", 0, 1, 6) }, flow("b", 0, 1, 2), flow("c", 0, 1, 7)]);
    let up = link(&traffic, (1, 0));
    traffic.network.links[up].shaping = vec![Shaper { class: 6, idle_slope: BitRate(300_000_000) }];
    for place in 0..3 {
        refuses(&traffic, "later than its bound", |plan| {
            let delay = &mut plan.classes[up][place].delay;
            *delay = Nanos(delay.0 - 1 - delay.0 / 1000);
        });
    }
    // Slots, what is above and the idle slope are more than the link.
    traffic.network.links[up].shaping[0].idle_slope = BitRate(999_999_999);
    let plan = planned(&traffic);
    assert_eq!(delay(&traffic, &plan, (1, 0), 6), i64::MAX);
    refuses(&traffic, "later than its bound", |plan| {
        let claim = &mut plan.classes[up][1];
        (claim.delay, claim.backlog) = (Nanos::from_secs(1), ByteSize(1 << 50));
    });
}

#[test]
fn best_effort_has_a_way_and_no_promise() {
    let best_effort = Flow { class: None, interval: None, ..flow("log", 0, 1, 0) };
    let traffic = star(vec![best_effort, flow("a", 0, 1, 3)]);
    let plan = planned(&traffic);
    assert_eq!(flow_bounds(&traffic, &plan, 0), [Nanos::MAX]);
    assert_eq!(delay(&traffic, &plan, (1, 0), 3), LOWER + FRAME);
    let summary = summarise(&traffic, &plan);
    assert_eq!((summary.flows[0].bound, summary.flows[0].class), (None, None));
    let up = &summary.links[link(&traffic, (1, 0))];
    // 12 us of each millisecond are the other's.
    assert!((987_900_000..=988_000_000).contains(&up.best_effort), "{}", up.best_effort);
}
