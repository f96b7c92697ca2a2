//! What is told of a refusal holds: each remedy, made, has a plan; what is called the least is; each set is as minimal as it is said to be; and every
//! conflict is told.

use leveret_plan::checker::{check_certificate, check_network};
use leveret_plan::network::{
    Effort, Flow, NetworkChange, NetworkConflict, NetworkExplanation, NetworkRefusal, Stream, StreamChange,
    Traffic, certificate, explain_network, plan_network,
};
use leveret_topology::{Reservation, Shape, shape};
use leveret_types::{BitRate, ByteSize, LinkId, Nanos, NodeId, StreamId};
use proptest::prelude::*;

const SWITCHES: u32 = 3;
const MICRO: i64 = 1_000;

fn effort() -> Effort {
    Effort { seed: 0, steps: 2_000_000 }
}

/// Times in microseconds, between the hosts of these numbers.
fn stream(name: &str, ends: (u32, u32), size: u64, period: i64, window: (i64, i64)) -> Stream {
    let (from, to) = (NodeId(SWITCHES + ends.0), NodeId(SWITCHES + ends.1));
    let mut one = Stream::new(name, from, to, ByteSize(size), Nanos::from_micros(period));
    (one.release, one.deadline) = (Nanos::from_micros(window.0), Nanos::from_micros(window.1));
    one
}

fn traffic(which: Shape, streams: Vec<Stream>) -> Traffic {
    Traffic { network: shape(which, SWITCHES, 4), streams, ..Traffic::default() }
}

fn explained(traffic: &Traffic) -> NetworkExplanation {
    let refusal = plan_network(traffic, effort()).expect_err("no plan");
    explain_network(traffic, refusal, effort(), usize::MAX)
}

fn fits(traffic: &Traffic) -> bool {
    plan_network(traffic, effort()).is_ok_and(|(plan, _)| check_network(&plan, traffic) == Ok(()))
}

fn changed(traffic: &Traffic, change: &NetworkChange) -> Traffic {
    let mut changed = traffic.clone();
    change.apply(&mut changed);
    changed
}

/// Without some streams.
fn without(traffic: &Traffic, dropped: &[StreamId]) -> Traffic {
    let indexed = traffic.streams.iter().enumerate();
    let kept = indexed.filter(|(index, _)| !dropped.contains(&StreamId(*index as u32)));
    Traffic { streams: kept.map(|(_, stream)| stream.clone()).collect(), ..traffic.clone() }
}

/// One step nearer to what is declared; none where that is what is declared.
fn one_less(traffic: &Traffic, change: &NetworkChange) -> Option<NetworkChange> {
    let up = |to: Nanos, now: Nanos| {
        let less = Nanos((to.0 - 1).div_euclid(MICRO) * MICRO);
        (less > now).then_some(less)
    };
    let down = |to: i64, now: i64, step: i64| {
        let more = (to.div_euclid(step) + 1) * step;
        (more < now).then_some(more)
    };
    let NetworkChange::Stream(id, of) = change else {
        let NetworkChange::ClockError(to) = change else { return None };
        return Some(NetworkChange::ClockError(Nanos(down(to.0, traffic.clock_error.0, 1)?)));
    };
    let now = &traffic.streams[id.index()];
    let less = match of {
        StreamChange::Deadline(to) => StreamChange::Deadline(up(*to, now.deadline)?),
        StreamChange::Latency(to) => StreamChange::Latency(up(*to, now.latency?)?),
        StreamChange::Jitter(to) => StreamChange::Jitter(up(*to, now.jitter?)?),
        StreamChange::Release(to) => StreamChange::Release(Nanos(down(to.0, now.release.0, MICRO)?)),
        StreamChange::Size(to) => {
            let more = down(to.0.cast_signed(), now.size.0.cast_signed(), 1)?;
            StreamChange::Size(ByteSize(more.cast_unsigned()))
        }
        _ => return None,
    };
    Some(NetworkChange::Stream(*id, less))
}

/// All that is said holds.
fn holds(traffic: &Traffic, told: &NetworkExplanation) {
    let all: Vec<StreamId> =
        told.conflicts.iter().flat_map(|one| one.refusal.streams().iter().copied()).collect();
    if told.is_complete && told.more == 0 && told.conflicts.iter().all(|one| one.refusal.is_proven()) {
        assert!(fits(&without(traffic, &all)), "the others have no plan: {told:?}");
    }
    for conflict in &told.conflicts {
        let own = conflict.refusal.streams();
        let words = conflict.reason(traffic);
        if conflict.refusal.is_proven() {
            let shown = certificate(traffic, &conflict.refusal).expect("what is proven can be shown");
            assert_eq!(check_certificate(&shown, traffic), Ok(()), "{words}");
        }
        if conflict.is_minimal && own.len() > 1 {
            for one in own {
                let others: Vec<_> = (0..traffic.streams.len() as u32).map(StreamId).collect();
                let dropped: Vec<_> =
                    others.into_iter().filter(|other| other == one || !own.contains(other)).collect();
                assert!(fits(&without(traffic, &dropped)), "{one} is not needed: {words}\n{traffic:#?}");
            }
        }
        let said = words.contains("without any one of them") || words.contains("each has one without");
        assert_eq!(said, conflict.is_minimal && own.len() > 1, "{words}");
        remedies_hold(traffic, told, conflict, &all);
    }
    if told.together {
        let mut mended = traffic.clone();
        told.conflicts.iter().for_each(|one| one.remedies[0].change.apply(&mut mended));
        assert!(fits(&mended), "{told:?}");
    }
}

fn remedies_hold(traffic: &Traffic, told: &NetworkExplanation, conflict: &NetworkConflict, all: &[StreamId]) {
    let own = conflict.refusal.streams();
    for remedy in &conflict.remedies {
        let words = format!("{} for {}", remedy.words(traffic), conflict.reason(traffic));
        let mended = changed(traffic, &remedy.change);
        if remedy.remain == 0 {
            assert!(fits(&mended), "{words}\n{traffic:#?}");
        } else {
            let others: Vec<_> = all.iter().copied().filter(|stream| !own.contains(stream)).collect();
            assert!(remedy.remain < told.conflicts.len() + told.more, "{words}");
            assert!(told.more > 0 || fits(&without(&mended, &others)), "{words}");
            assert!(!fits(&mended), "{words}: nothing remains");
        }
        if remedy.is_least {
            let Some(less) = one_less(traffic, &remedy.change) else { continue };
            assert!(!fits(&changed(traffic, &less)), "{less:?} is less than {words}\n{traffic:#?}");
        }
    }
}

fn remedy<'a>(
    traffic: &Traffic,
    conflict: &'a NetworkConflict,
    is_it: impl Fn(&NetworkChange) -> bool,
) -> &'a leveret_plan::network::NetworkRemedy {
    let found = conflict.remedies.iter().find(|remedy| is_it(&remedy.change));
    found.unwrap_or_else(|| {
        let words: Vec<_> = conflict.remedies.iter().map(|one| one.words(traffic)).collect();
        panic!("of {}: {words:#?}", conflict.reason(traffic))
    })
}

fn size_of(change: &NetworkChange, of: StreamId) -> Option<u64> {
    match change {
        NetworkChange::Stream(id, StreamChange::Size(size)) if *id == of => Some(size.0),
        _ => None,
    }
}

/// One that is too large by itself, beside small ones that leave it gaps: the most that fits is far from 1 B.
#[test]
fn a_size_is_made_smaller_by_no_more_than_it_must() {
    let mut streams = vec![stream("video", (3, 0), 250_000, 2_000, (0, 2_000))];
    streams.push(stream("command", (0, 1), 100, 500, (0, 100)));
    streams.push(stream("state", (1, 0), 300, 1_000, (0, 150)));
    let mut traffic = traffic(Shape::Ring, streams);
    traffic.clock_error = Nanos(200);
    let reservation = |start, length| Reservation {
        period: Nanos::from_micros(500),
        start: Nanos::from_micros(start),
        length: Nanos::from_micros(length),
    };
    let ends = (NodeId(SWITCHES + 3), NodeId(0));
    let first = traffic.network.links.iter_mut().find(|link| (link.source, link.target) == ends);
    first.expect("a link").reserved.push(reservation(400, 50));
    let told = explained(&traffic);
    let [conflict] = &told.conflicts[..] else { panic!("one conflict: {told:?}") };
    let found = remedy(&traffic, conflict, |change| size_of(change, StreamId(0)).is_some());
    let size = size_of(&found.change, StreamId(0)).unwrap_or_default();
    // A message is one stretch: 450 us of 8 ns each byte are the most, less what its frames have beside them.
    assert!((45_000..56_250).contains(&size), "{size}");
    holds(&traffic, &told);
}

/// Two that share the cable between two switches alone, which is the slow one.
#[test]
fn the_cable_between_two_switches_is_made_faster() {
    let streams =
        vec![stream("a", (0, 1), 8_000, 1_000, (0, 1_000)), stream("b", (3, 1), 8_000, 1_000, (0, 1_000))];
    let mut traffic = traffic(Shape::Line, streams);
    let trunk = |traffic: &Traffic| {
        let links = traffic.network.links.iter().enumerate();
        let between = links.filter(|(_, link)| link.source.0 < 2 && link.target.0 < 2);
        between.map(|(index, _)| LinkId(index as u32)).collect::<Vec<_>>()
    };
    for link in trunk(&traffic) {
        traffic.network.links[link.index()].rate = BitRate(100_000_000);
    }
    let told = explained(&traffic);
    let [conflict] = &told.conflicts[..] else { panic!("one conflict: {told:?}") };
    let links = trunk(&traffic);
    remedy(
        &traffic,
        conflict,
        |change| matches!(change, NetworkChange::Rate(link, _) if links.contains(link)),
    );
    holds(&traffic, &told);
}

/// By their sums three are too many; by their windows and orders two of them are already.
#[test]
fn a_sum_that_is_too_much_is_freed_of_what_conflicts_without_it() {
    let mut streams = vec![
        stream("a", (0, 3), 5_500, 100, (0, 70)),
        stream("b", (0, 3), 5_500, 100, (0, 70)),
        stream("c", (0, 3), 3_000, 100, (0, 300)),
    ];
    streams.push(stream("d", (1, 2), 1_000, 100, (0, 100)));
    let traffic = traffic(Shape::Line, streams);
    let told = explained(&traffic);
    assert_eq!(told.conflicts[0].refusal.streams().len(), 2, "{told:?}");
    assert!(told.conflicts[0].is_minimal);
    holds(&traffic, &told);
}

#[test]
fn every_conflict_is_told_and_what_remains_after_each_remedy() {
    let mut streams = vec![
        // Too slow for its window.
        stream("late", (0, 1), 1_500, 1_000, (0, 20)),
        // Two that must have a link at once.
        stream("x", (1, 2), 1_458, 1_000, (0, 60)),
        stream("y", (1, 2), 1_458, 1_000, (0, 60)),
        stream("z", (1, 2), 1_458, 1_000, (0, 60)),
        // More than a link has.
        stream("bulk1", (3, 0), 70_000, 1_000, (0, 2_000)),
        stream("bulk2", (2, 0), 70_000, 1_000, (0, 2_000)),
        stream("other", (2, 3), 700, 1_000, (0, 1_000)),
    ];
    streams[3].deadline = Nanos::from_micros(55);
    let traffic = traffic(Shape::Line, streams);
    let told = explained(&traffic);
    assert!(told.is_complete && told.conflicts.len() == 3, "{told:?}");
    let mut named: Vec<Vec<StreamId>> =
        told.conflicts.iter().map(|one| one.refusal.streams().to_vec()).collect();
    named.sort();
    let ids = |ids: &[u32]| ids.iter().copied().map(StreamId).collect::<Vec<_>>();
    assert_eq!(named, [ids(&[0]), ids(&[1, 2, 3]), ids(&[4, 5])]);
    for conflict in &told.conflicts {
        assert!(conflict.remedies.iter().any(|remedy| remedy.remain == 2), "{conflict:?}");
    }
    assert!(told.together, "{told:?}");
    holds(&traffic, &told);
}

/// One that conflicts with another on one link, and with a third on another link.
#[test]
fn two_conflicts_of_one_channel_are_both_told() {
    let streams = vec![
        stream("both", (0, 3), 8_000, 100, (0, 1_000)),
        stream("before", (0, 1), 8_000, 100, (0, 1_000)),
        stream("behind", (1, 3), 8_000, 100, (0, 1_000)),
    ];
    let traffic = traffic(Shape::Line, streams);
    let told = explained(&traffic);
    assert_eq!(told.conflicts.len(), 2, "{told:?}");
    // Less of what is in both resolves both.
    for conflict in &told.conflicts {
        assert!(conflict.refusal.streams().contains(&StreamId(0)));
    }
    holds(&traffic, &told);
}

#[test]
fn a_late_flow_beside_a_conflict_is_told_too() {
    let streams = vec![
        stream("bulk1", (3, 0), 70_000, 1_000, (0, 2_000)),
        stream("bulk2", (2, 0), 70_000, 1_000, (0, 2_000)),
    ];
    let mut traffic = traffic(Shape::Line, streams);
    let (from, to) = (NodeId(SWITCHES + 1), NodeId(SWITCHES + 2));
    let flow = Flow::new("alarm", from, to, ByteSize(3_000), Nanos::from_millis(1));
    traffic.flows.push(Flow { deadline: Some(Nanos::from_micros(40)), ..flow });
    let told = explained(&traffic);
    assert_eq!(told.conflicts.len(), 2, "{told:?}");
    assert!(matches!(told.conflicts[1].refusal, NetworkRefusal::Late(_)));
    for conflict in &told.conflicts {
        assert!(!conflict.remedies.is_empty(), "{conflict:?}");
        assert!(conflict.remedies.iter().all(|remedy| remedy.remain == 1), "{conflict:?}");
    }
    assert!(told.together, "{told:?}");
}

/// The slot that a flow waits for is made smaller, or comes less often.
#[test]
fn what_is_in_the_way_of_a_late_flow_is_changed() {
    let mut traffic = traffic(Shape::Line, vec![stream("image", (0, 3), 20_000, 500, (0, 500))]);
    let (from, to) = (NodeId(SWITCHES), NodeId(SWITCHES + 3));
    let flow = Flow::new("alarm", from, to, ByteSize(400), Nanos::from_millis(1));
    traffic.flows.push(Flow { deadline: Some(Nanos::from_micros(250)), ..flow });
    let told = explained(&traffic);
    let [conflict] = &told.conflicts[..] else { panic!("one flow: {told:?}") };
    let found = remedy(&traffic, conflict, |change| size_of(change, StreamId(0)).is_some());
    assert!(size_of(&found.change, StreamId(0)).is_some_and(|size| size > 1_000), "{found:?}");
    holds(&traffic, &told);
}

/// Small networks that mostly have no plan.
fn crowded() -> impl Strategy<Value = Traffic> {
    let wish = (
        (0u32..4, 1u32..4),
        200u64..6_000,
        prop::sample::select(vec![100i64, 100, 200, 400]),
        (0i64..30, 40i64..150),
        prop::option::weighted(0.2, 40i64..120),
        prop::option::weighted(0.2, 0i64..20),
    );
    let shapes = prop::sample::select(vec![Shape::Line, Shape::Ring]);
    (shapes, prop::collection::vec(wish, 2..9), prop::sample::select(vec![0i64, 0, 300])).prop_map(
        |(which, wishes, clock_error)| {
            let streams = wishes.iter().enumerate().map(|(index, wish)| {
                let ((source, on), size, period, (release, length), latency, jitter) = *wish;
                let ends = (source, (source + on) % 4);
                let mut one = stream(&format!("s{index}"), ends, size, period, (release, release + length));
                one.latency = latency.map(Nanos::from_micros);
                one.jitter = jitter.map(Nanos::from_micros);
                one
            });
            let streams = streams.collect();
            Traffic { clock_error: Nanos(clock_error), ..traffic(which, streams) }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn what_is_told_of_random_refusals_holds(traffic in crowded()) {
        if let Err(refusal) = plan_network(&traffic, effort()) {
            holds(&traffic, &explain_network(&traffic, refusal, effort(), 24));
        }
    }
}
