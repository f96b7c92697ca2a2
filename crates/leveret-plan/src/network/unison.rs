//! Streams without jitter whose periods bring them together whatever their phases.
//!
//! Without jitter the last slot of every instance has the same place in its period. Two such streams on one link, with periods whose greatest common
//! divisor is `g`, come at every distance that is the difference of their phases modulo `g`, so their slots must be disjoint on a circle of `g`
//! (J. Korst, E. Aarts, J. K. Lenstra, "Scheduling periodic tasks", 1996, theorem 1). Where any two of a set have the same `g`, all of them must be, and
//! their sum must not exceed it.

use super::explain::{NetworkRefusal, unavoidable};
use super::model::gcd;
use super::problem::Problem;
use leveret_types::{LinkId, Nanos, StreamId};
use std::collections::BTreeSet;

/// A stream's slot on the last link to a target.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Fixed {
    length: i64,
    period: i64,
    stream: StreamId,
}

/// Streams of one link that are compared with each other.
const COMPARED_MAX: usize = 256;

/// Of the first link that has such streams, the fewest that are too much.
pub(super) fn unison(problem: &Problem<'_>) -> Option<NetworkRefusal> {
    let mut by_link: Vec<Vec<Fixed>> = vec![Vec::new(); problem.graph.links()];
    for item in &problem.items {
        let stream = &problem.traffic.streams[item.stream.index()];
        if stream.jitter != Some(Nanos::ZERO) || item.copy > 0 {
            continue;
        }
        for (link, length) in unavoidable(problem, item) {
            if stream.targets.contains(&problem.graph.target(LinkId(link))) {
                by_link[link as usize].push(Fixed { length, period: item.period, stream: item.stream });
            }
        }
    }
    by_link.iter_mut().enumerate().find_map(|(link, fixed)| too_much(LinkId(link as u32), fixed))
}

fn too_much(link: LinkId, fixed: &mut Vec<Fixed>) -> Option<NetworkRefusal> {
    // The longest first, so that few are named.
    fixed.sort_unstable_by(|one, two| two.cmp(one));
    fixed.truncate(COMPARED_MAX);
    let mut circles = BTreeSet::new();
    for (index, one) in fixed.iter().enumerate() {
        circles.extend(fixed[index + 1..].iter().map(|two| gcd(one.period, two.period)));
    }
    for circle in circles {
        let mut set: Vec<Fixed> = Vec::new();
        for one in fixed.iter() {
            if set.iter().all(|two| gcd(one.period, two.period) == circle) {
                set.push(*one);
            }
            let needs: i64 = set.iter().map(|fixed| fixed.length).sum();
            if set.len() > 1 && needs > circle {
                return Some(named(link, circle, set, needs));
            }
        }
    }
    None
}

fn named(link: LinkId, circle: i64, mut set: Vec<Fixed>, mut needs: i64) -> NetworkRefusal {
    set.sort_unstable();
    let mut kept = set.len();
    set.retain(|fixed| {
        let spared = kept > 2 && needs - fixed.length > circle;
        if spared {
            needs -= fixed.length;
            kept -= 1;
        }
        !spared
    });
    let mut streams: Vec<_> = set.into_iter().map(|fixed| fixed.stream).collect();
    streams.sort_unstable();
    NetworkRefusal::Unison { link, streams, circle: Nanos(circle), needs: Nanos(needs) }
}
