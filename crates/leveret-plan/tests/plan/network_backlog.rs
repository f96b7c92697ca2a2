//! What waits at ports: the bytes that a summary gives each queue are the most that are there when every frame is followed.

use leveret_plan::network::{Effort, NetworkPlan, Slot, Stream, Traffic, plan_network, summarise};
use leveret_topology::{Forwarding, NodeKind, Shape, shape};
use leveret_types::{BitRate, ByteSize, Nanos, NodeId};
use proptest::prelude::*;
use std::collections::BTreeMap;

type Wish = ((u32, u32), u64, usize, i64);

fn traffic(wishes: &[Wish], error: i64, cut_through: bool) -> Traffic {
    let mut network = shape(Shape::Line, 3, 6);
    for (index, link) in network.links.iter_mut().enumerate() {
        link.rate.0 /= [1, 10, 2][index % 3];
        link.propagation = Nanos(index as i64 * 7);
        link.processing = Nanos(900);
    }
    if cut_through {
        network.nodes[1].kind = NodeKind::Switch(Forwarding::CutThrough { header: ByteSize(64) });
    }
    let stream = |(index, ((source, target), size, period, release)): (usize, &Wish)| {
        let target = if source == target { (target + 1) % 6 } else { *target };
        let period = Nanos::from_micros([500, 1000, 2000][*period]);
        let (source, target) = (NodeId(3 + source), NodeId(3 + target));
        let mut one = Stream::new(format!("s{index}"), source, target, ByteSize(*size), period);
        one.release = Nanos::from_micros(*release);
        one.deadline = one.release + Nanos::from_micros(2500);
        one
    };
    let streams = wishes.iter().enumerate().map(stream).collect();
    Traffic { network, streams, clock_error: Nanos(error), ..Traffic::default() }
}

/// Lengths of a message's frames on the wire, in bytes.
fn frames(traffic: &Traffic, slot: &Slot) -> Vec<u64> {
    let ((full, bytes), last) = traffic.network.frames.frames(traffic.streams[slot.stream.index()].size);
    std::iter::repeat_n(bytes, full as usize).chain([last]).collect()
}

fn sent(bytes: &[u64], rate: BitRate) -> Vec<i64> {
    let begin = |at: &mut i64, bytes: &u64| {
        let begin = *at;
        *at += rate.transmission(*bytes).0;
        Some(begin)
    };
    bytes.iter().scan(0, begin).collect()
}

/// The most bytes of each queue of each link, frame by frame over three rounds.
fn followed(traffic: &Traffic, plan: &NetworkPlan) -> BTreeMap<(usize, u8), u64> {
    let mut starts = BTreeMap::new();
    for slot in plan.links.iter().flatten() {
        starts.insert((slot.stream, slot.copy, slot.instance, slot.hop), slot.start);
    }
    // Changes of what is there; what leaves at an instant is gone when something comes then.
    let mut changes: BTreeMap<(usize, u8), Vec<(i64, i64)>> = BTreeMap::new();
    for (index, slots) in plan.links.iter().enumerate() {
        let link = &traffic.network.links[index];
        for slot in slots {
            let way = &plan.ways[slot.stream.index()][usize::from(slot.copy)];
            let hop = way.tree.hops[usize::from(slot.hop)];
            let bytes = frames(traffic, slot);
            let ready: Vec<i64> = match hop.parent {
                None => vec![slot.start.0; bytes.len()],
                Some(parent) => {
                    let by = &traffic.network.links[way.tree.hops[parent as usize].link.index()];
                    let lag = |bytes: u64| match traffic.network.nodes[by.target.index()].kind {
                        NodeKind::Switch(Forwarding::CutThrough { header }) => header.0.min(bytes),
                        _ => bytes,
                    };
                    let begin = starts[&(slot.stream, slot.copy, slot.instance, parent as u16)];
                    let delay = by.propagation + by.processing - traffic.clock_error - traffic.clock_error;
                    let came = sent(&bytes, by.rate).into_iter().zip(&bytes);
                    came.map(|(at, bytes)| (begin + delay + by.rate.transmission(lag(*bytes))).0 + at)
                        .collect()
                }
            };
            let leaves = sent(&bytes, link.rate).into_iter().zip(&bytes);
            let gone = leaves.map(|(at, bytes)| slot.start.0 + at + link.rate.transmission(*bytes).0);
            let own = changes.entry((index, way.queues[usize::from(slot.hop)])).or_default();
            for ((ready, gone), bytes) in ready.into_iter().zip(gone).zip(&bytes) {
                for turn in 0..3 {
                    let later = turn * plan.hyperperiod.0;
                    own.extend([(ready + later, *bytes as i64), (gone + later, -(*bytes as i64))]);
                }
            }
        }
    }
    let most = |mut changes: Vec<(i64, i64)>| {
        changes.sort_unstable();
        let there = changes.iter().scan(0, |sum, (_, bytes)| {
            *sum += bytes;
            Some(*sum)
        });
        there.max().unwrap_or(0) as u64
    };
    changes.into_iter().map(|(queue, changes)| (queue, most(changes))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn queues_hold_what_is_said(
        wishes in prop::collection::vec(((0u32..6, 0u32..6), 1u64..9000, 0usize..3, 0i64..400), 1..16),
        error in prop::sample::select(vec![0i64, 300]),
        cut_through in any::<bool>(),
    ) {
        let traffic = traffic(&wishes, error, cut_through);
        let Ok((plan, _)) = plan_network(&traffic, Effort { seed: 0, steps: 100_000 }) else { return Ok(()) };
        let mut told = BTreeMap::new();
        for (link, summary) in summarise(&traffic, &plan).links.iter().enumerate() {
            prop_assert_eq!(summary.queue_use.iter().map(|one| one.slots).sum::<u32>(), summary.slots);
            told.extend(summary.queue_use.iter().map(|one| ((link, one.queue), one.backlog)));
        }
        prop_assert_eq!(told, followed(&traffic, &plan));
    }
}

/// A message of 14 frames that is sent on at a tenth of the rate: nearly all of it waits; at the same rate no frame waits for another.
#[test]
fn what_is_sent_on_slower_waits() {
    let mut traffic = traffic(&[((0, 3), 21_000, 2, 0)], 0, false);
    for (slower, frames) in [(false, 1), (true, 13)] {
        for link in &mut traffic.network.links {
            let leaves = link.source == NodeId(0) && slower;
            link.rate = BitRate(if leaves { 100_000_000 } else { 1_000_000_000 });
        }
        let (plan, _) = plan_network(&traffic, Effort::default()).expect("a plan");
        let links = summarise(&traffic, &plan).links;
        let port = links
            .iter()
            .zip(&traffic.network.links)
            .find(|(one, link)| one.slots > 0 && link.source == NodeId(0));
        let waits = port.expect("a port").0.queue_use[0].backlog;
        assert_eq!(waits / 1542, frames, "{waits}");
    }
}
