//! What the checker of network plans refuses: each rule is broken in an otherwise right plan, and the rule is what it names.

use crate::common::right_plan::{planned, refuses};
use leveret_plan::checker::check_network;
use leveret_plan::network::{NetworkPlan, Slot, Stream, Traffic};
use leveret_topology::{Reservation, Shape, TreeHop, shape};
use leveret_types::{ByteSize, LinkId, Nanos, NodeId, StreamId};

const SWITCHES: u32 = 3;

/// Three hosts on a line of three switches, and streams between them: all to the last host, so that they meet.
fn traffic() -> Traffic {
    let network = shape(Shape::Line, SWITCHES, 3);
    let stream = |index: u32, source: u32, size: u64, period_us: i64| Stream {
        name: format!("s{index}"),
        source: NodeId(SWITCHES + source),
        targets: vec![NodeId(SWITCHES + 2)],
        size: ByteSize(size),
        period: Nanos::from_micros(period_us),
        release: Nanos::from_micros(10),
        deadline: Nanos::from_micros(period_us),
        latency: Some(Nanos::from_micros(100)),
        jitter: Some(Nanos::ZERO),
        copies: 1,
        ways: None,
    };
    let streams = vec![stream(0, 0, 100, 500), stream(1, 1, 1400, 1000), stream(2, 0, 3000, 1000)];
    Traffic { network, streams, flows: Vec::new(), clock_error: Nanos::ZERO, whole_cycles: false }
}

/// The slot of a hop of an instance.
fn slot(plan: &mut NetworkPlan, stream: u32, instance: u32, hop: u16) -> &mut Slot {
    let found =
        |slot: &&mut Slot| slot.stream == StreamId(stream) && slot.instance == instance && slot.hop == hop;
    plan.links.iter_mut().flatten().find(found).expect("a slot")
}

fn in_order(plan: &mut NetworkPlan) {
    let round = plan.hyperperiod.0;
    for slots in &mut plan.links {
        slots.sort_by_key(|slot| slot.start.0.rem_euclid(round));
    }
}

#[test]
fn another_version_size_or_hyperperiod() {
    let traffic = traffic();
    refuses(&traffic, "version", |plan| plan.version += 1);
    refuses(&traffic, "for this traffic", |plan| drop(plan.ways.pop()));
    refuses(&traffic, "for this traffic", |plan| drop(plan.links.pop()));
    refuses(&traffic, "multiple of every period", |plan| plan.hyperperiod = Nanos::from_micros(750));
    refuses(&traffic, "longer than 0", |plan| plan.hyperperiod = Nanos::ZERO);
    refuses(&traffic, "one slot on each link", |plan| plan.hyperperiod = Nanos::from_micros(2000));
}

#[test]
fn ways_that_lead_elsewhere() {
    let traffic = traffic();
    refuses(&traffic, "a way for each", |plan| plan.ways[0].clear());
    refuses(&traffic, "links exist", |plan| plan.ways[0][0].tree.hops[1].link = LinkId(999));
    refuses(&traffic, "begins where the one before", |plan| plan.ways[0][0].tree.hops[2].parent = Some(0));
    refuses(&traffic, "comes after the one it follows", |plan| plan.ways[0][0].tree.hops[1].parent = Some(7));
    refuses(&traffic, "every target", |plan| {
        plan.ways[0][0].tree.hops.truncate(3);
        plan.ways[0][0].queues.truncate(3);
    });
    refuses(&traffic, "a queue at each link", |plan| plan.ways[0][0].queues.clear());
    let mut fixed = traffic.clone();
    let way = planned(&traffic).ways[0][0].tree.clone();
    fixed.streams[0].ways = Some(vec![way]);
    planned(&fixed);
    refuses(&fixed, "way that was declared", |plan| {
        // Also to the host in the middle: a longer way, which no rule but this one forbids.
        let extra = TreeHop { link: backwards(&traffic), parent: Some(1) };
        plan.ways[0][0].tree.hops.push(extra);
        plan.ways[0][0].queues.push(0);
    });
}

/// The link from the middle switch to its own host.
fn backwards(traffic: &Traffic) -> LinkId {
    let link = traffic
        .network
        .links
        .iter()
        .position(|link| link.source == NodeId(1) && link.target == NodeId(SWITCHES + 1));
    LinkId(link.expect("a link") as u32)
}

#[test]
fn slots_that_are_not_what_they_say() {
    let traffic = traffic();
    refuses(&traffic, "one slot on each link", |plan| {
        let busy = plan.links.iter_mut().find(|slots| !slots.is_empty()).expect("a link that is used");
        busy.clear();
    });
    refuses(&traffic, "on each link once", |plan| slot(plan, 0, 1, 1).instance = 0);
    refuses(&traffic, "within the hyperperiod", |plan| slot(plan, 0, 1, 1).instance = 2);
    refuses(&traffic, "stream and copy exist", |plan| slot(plan, 0, 1, 1).stream = StreamId(77));
    refuses(&traffic, "stream and copy exist", |plan| slot(plan, 0, 1, 1).copy = 1);
    // Counted on from the copies and hops of the first stream, these would be the second stream's.
    refuses(&traffic, "stream and copy exist", |plan| slot(plan, 0, 0, 1).copy = 1);
    refuses(&traffic, "its hop is this link", |plan| slot(plan, 0, 1, 1).hop = 4);
    refuses(&traffic, "its hop is this link", |plan| slot(plan, 0, 1, 1).hop = 2);
    refuses(&traffic, "its start can be counted", |plan| slot(plan, 0, 1, 1).start = Nanos(i64::MIN));
}

#[test]
fn links_that_carry_two_at_a_time() {
    let traffic = traffic();
    refuses(&traffic, "than the slot listed before it has ended", |plan| {
        let other = slot(plan, 1, 0, 2).start;
        slot(plan, 0, 0, 3).start = other + Nanos(1);
        in_order(plan);
    });
    refuses(&traffic, "than the slot listed before it has ended", |plan| {
        for slots in &mut plan.links {
            slots.reverse();
        }
    });
}

/// Within the list every slot comes after the one before it; only the last one reaches into the first of the next hyperperiod.
#[test]
fn a_link_that_carries_two_at_a_time_across_the_end_of_the_hyperperiod() {
    let traffic = traffic();
    let round = Nanos::from_micros(1000);
    let put = |plan: &mut NetworkPlan, from_the_end: Nanos| {
        let link = plan.links.iter_mut().find(|slots| slots.len() > 2).expect("a link of several");
        link.first_mut().expect("several").start = Nanos::ZERO;
        link.last_mut().expect("several").start = round - from_the_end;
    };
    refuses(&traffic, "than the slot listed before it has ended", |plan| put(plan, Nanos(1)));
    // One that ends before breaks other rules, and not this one.
    let mut apart = planned(&traffic);
    put(&mut apart, Nanos::from_micros(100));
    let violation = check_network(&apart, &traffic).expect_err("it is sent before its release");
    assert!(!violation.rule.contains("listed before"), "{violation}");
}

#[test]
fn instants_that_are_too_early_or_too_late() {
    let traffic = traffic();
    refuses(&traffic, "after its release", |plan| {
        for hop in 0..4 {
            slot(plan, 0, 0, hop).start.0 -= 20_000;
        }
        in_order(plan);
    });
    refuses(&traffic, "before its deadline", |plan| {
        for hop in 0..4 {
            slot(plan, 0, 0, hop).start.0 += 1_000_000;
        }
        in_order(plan);
    });
    refuses(&traffic, "after it has come", |plan| {
        slot(plan, 0, 1, 3).start.0 -= 1;
        in_order(plan);
    });
    refuses(&traffic, "than its latency", |plan| {
        slot(plan, 0, 1, 3).start.0 += 100_000;
        in_order(plan);
    });
    refuses(&traffic, "than its jitter", |plan| {
        for hop in 0..4 {
            slot(plan, 0, 1, hop).start.0 += 150_000;
        }
        in_order(plan);
    });
}

#[test]
fn slots_where_others_have_the_link() {
    let mut traffic = Traffic { whole_cycles: true, ..traffic() };
    refuses(&traffic, "end of the hyperperiod", |plan| {
        // The largest message's first transmission ends 1 ns after the round does.
        let length = traffic.network.frames.occupation(ByteSize(3000), traffic.network.links[0].rate);
        slot(plan, 2, 0, 0).start = Nanos::from_micros(1000) + Nanos(1) - length;
        in_order(plan);
    });
    traffic.whole_cycles = false;
    for link in &mut traffic.network.links {
        let period = Nanos::from_micros(250);
        link.reserved.push(Reservation {
            period,
            start: Nanos::from_micros(240),
            length: Nanos::from_micros(20),
        });
    }
    refuses(&traffic, "reserved for other traffic", |plan| {
        slot(plan, 0, 0, 0).start = Nanos::from_micros(9);
        in_order(plan);
    });
}

/// Two streams meet at a port: one comes first and leaves last. In one queue that cannot be.
#[test]
fn a_queue_keeps_its_order() {
    let network = shape(Shape::Line, 1, 3);
    let stream = |name: &str, source: u32| Stream {
        name: name.to_owned(),
        source: NodeId(1 + source),
        targets: vec![NodeId(3)],
        size: ByteSize(1000),
        period: Nanos::from_micros(1000),
        release: Nanos::ZERO,
        deadline: Nanos::from_micros(1000),
        latency: None,
        jitter: None,
        copies: 1,
        ways: None,
    };
    let traffic = Traffic {
        network,
        streams: vec![stream("a", 0), stream("b", 1)],
        flows: Vec::new(),
        clock_error: Nanos::ZERO,
        whole_cycles: false,
    };
    let mut plan = planned(&traffic);
    let mut set = |stream: u32, hop: u16, micros: i64| {
        slot(&mut plan, stream, 0, hop).start = Nanos::from_micros(micros)
    };
    set(0, 0, 0);
    set(0, 1, 100);
    set(1, 0, 20);
    set(1, 1, 50);
    in_order(&mut plan);
    let violation = check_network(&plan, &traffic).expect_err("a comes at 10us, b leaves at 50us");
    assert!(violation.rule.contains("comes to its queue after"), "{violation}");
    plan.ways[0][0].queues[1] = 3;
    assert_eq!(check_network(&plan, &traffic), Ok(()));
    plan.ways[0][0].queues[1] = 8;
    let violation = check_network(&plan, &traffic).expect_err("there are eight queues");
    assert!(violation.rule.contains("has its queue"), "{violation}");
    // One that waits behind what is being sent keeps the order.
    plan.ways[0][0].queues[1] = 0;
    let mut set = |stream: u32, hop: u16, micros: i64| {
        slot(&mut plan, stream, 0, hop).start = Nanos::from_micros(micros)
    };
    set(0, 1, 15);
    set(1, 0, 6);
    in_order(&mut plan);
    assert_eq!(check_network(&plan, &traffic), Ok(()));
}

#[test]
fn two_ways_that_meet() {
    let network = shape(Shape::Ring, 4, 4);
    let mut one = traffic().streams[0].clone();
    (one.source, one.targets, one.copies, one.latency) = (NodeId(4), vec![NodeId(6)], 2, None);
    let traffic = Traffic {
        network,
        streams: vec![one],
        flows: Vec::new(),
        clock_error: Nanos::ZERO,
        whole_cycles: false,
    };
    refuses(&traffic, "share only what has no alternative", |plan| {
        plan.ways[0][1] = plan.ways[0][0].clone();
        let slots: Vec<Vec<Slot>> = plan.links.clone();
        let old: Vec<(usize, Slot)> = slots
            .iter()
            .enumerate()
            .flat_map(|(link, slots)| {
                slots.iter().filter(|slot| slot.copy == 1).map(move |slot| (link, *slot))
            })
            .collect();
        for (link, slot) in old {
            plan.links[link].retain(|other| *other != slot);
        }
        for slots in &mut plan.links {
            let again: Vec<Slot> = slots
                .iter()
                .map(|slot| Slot { copy: 1, start: slot.start + Nanos::from_micros(100), ..*slot })
                .collect();
            slots.extend(again);
        }
        in_order(plan);
    });
}

#[test]
fn a_round_that_nobody_could_walk_through() {
    // Without streams no slot says how long it is, and reservations would be laid out for ever.
    let mut traffic = Traffic { streams: Vec::new(), ..traffic() };
    let reservation = Reservation { period: Nanos(1_000), start: Nanos::ZERO, length: Nanos(10) };
    traffic.network.links[0].reserved.push(reservation);
    refuses(&traffic, "no longer than any", |plan| plan.hyperperiod = Nanos(1_000 << 40));
    refuses(&traffic, "no longer than any", |plan| plan.hyperperiod = Nanos(1_000 << 23));
    let mut plan = planned(&traffic);
    plan.hyperperiod = Nanos(1_000 << 22);
    assert_eq!(check_network(&plan, &traffic), Ok(()));
    // Rare ones may take their day.
    let day = Nanos::from_secs(24 * 3600);
    traffic.network.links[0].reserved[0].period = Nanos::from_secs(3600);
    refuses(&traffic, "no longer than any", |plan| plan.hyperperiod = day + Nanos::from_secs(3600));
    plan.hyperperiod = day;
    assert_eq!(check_network(&plan, &traffic), Ok(()));
}
