//! Seeded networks with links that are nearly full, of three kinds: windows drawn around a plan that was made with more room, so that there is one; windows cut
//! short, so that there may be none; and messages that fill stretches of one link nearly to the last byte.

#[path = "../../../crates/leveret-plan/tests/common/packed.rs"]
mod packed;

use super::instances::{below, between};
use crate::planner::Random;
use leveret_plan::network::{Effort, NetworkPlan, Stream, Traffic, plan_network};
use leveret_topology::{Graph, Shape, routes, shape};
use leveret_types::{ByteSize, Nanos, NodeId};
use packed::packed;

const SWITCHES: u32 = 6;
const HOSTS: u32 = 18;
/// Streams at most, and how often one more is tried.
const TRIES: u64 = 400;
/// The fullest link, in thousandths: least and most.
const FULL: (i64, i64) = (500, 900);
const MICROSECOND: i64 = 1_000;

/// One network; none where the plan that is to be hidden was not found.
pub fn loaded(seed: u64) -> Option<Traffic> {
    let mut random = Random::new(seed);
    match seed % 3 {
        0 => {
            let mut traffic = full(&mut random);
            // Another order than that of the searches that are to find it.
            let (plan, _) =
                plan_network(&traffic, Effort { seed: 1_000 + seed, ..Effort::default() }).ok()?;
            narrow(&mut traffic, &plan, &mut random);
            Some(traffic)
        }
        1 => {
            let mut traffic = full(&mut random);
            for stream in &mut traffic.streams {
                let share = between(&mut random, 400, 1_000);
                stream.deadline =
                    stream.release + Nanos((stream.deadline - stream.release).0 * share / 1_000);
            }
            Some(traffic)
        }
        _ => {
            let spare = 50 * (1 + random.below(6));
            Some(packed(seed, 5 + random.below(3), 4 + random.below(3), spare))
        }
    }
}

/// Of any shape, with links as full as can be.
fn full(random: &mut Random) -> Traffic {
    let which = [Shape::Line, Shape::Ring, Shape::Tree, Shape::Mesh][below(random, 4)];
    let full = between(random, FULL.0, FULL.1);
    let mut traffic = Traffic {
        network: shape(which, SWITCHES, HOSTS),
        streams: Vec::new(),
        flows: Vec::new(),
        clock_error: Nanos::ZERO,
        whole_cycles: false,
    };
    fill(&mut traffic, random, full);
    traffic
}

/// Adds streams as long as no link on their shortest ways gets too full.
fn fill(traffic: &mut Traffic, random: &mut Random, full: i64) {
    let graph = Graph::new(&traffic.network);
    let mut taken = vec![0i64; graph.links()];
    for index in 0..TRIES {
        let source = below(random, HOSTS as usize) as u32;
        let target = (source + 1 + below(random, HOSTS as usize - 1) as u32) % HOSTS;
        let (source, target) = (NodeId(SWITCHES + source), NodeId(SWITCHES + target));
        let period = [500, 1_000, 1_000, 2_000][below(random, 4)] * MICROSECOND;
        let size = ByteSize(200 + random.below(period.cast_unsigned() / 200));
        let (ways, _) = routes(&graph, source, target, 1);
        let Some(way) = ways.first() else { continue };
        let share = |link: &leveret_types::LinkId| {
            let rate = traffic.network.links[link.index()].rate;
            traffic.network.frames.occupation(size, rate).0 * 1_000_000 / period
        };
        if way.iter().any(|link| taken[link.index()] + share(link) > full * 1_000) {
            continue;
        }
        let shares: Vec<i64> = way.iter().map(share).collect();
        way.iter().zip(shares).for_each(|(link, share)| taken[link.index()] += share);
        traffic.streams.push(Stream::new(format!("s{index}"), source, target, size, Nanos(period)));
    }
}

/// Windows that end soon around a plan: it keeps them, and little else does.
fn narrow(traffic: &mut Traffic, plan: &NetworkPlan, random: &mut Random) {
    let mut ends = vec![(Nanos::MAX, Nanos(i64::MIN)); traffic.streams.len()];
    for (slots, link) in plan.links.iter().zip(&traffic.network.links) {
        for slot in slots {
            let stream = &traffic.streams[slot.stream.index()];
            let begin = stream.period.saturating_mul(i64::from(slot.instance));
            let length = traffic.network.frames.occupation(stream.size, link.rate);
            let end = slot.start + length + link.propagation + link.processing;
            let own = &mut ends[slot.stream.index()];
            *own = (own.0.min(slot.start - begin), own.1.max(end - begin));
        }
    }
    for (stream, (start, end)) in traffic.streams.iter_mut().zip(ends) {
        let (before, after) = (between(random, 100, 1_000), between(random, 100, 1_000));
        stream.release = Nanos(start.0 - start.0 * before / 1_000);
        stream.deadline = Nanos(end.0 + (stream.deadline.0 - end.0).max(0) * after / 1_000);
    }
}
