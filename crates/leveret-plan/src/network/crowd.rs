//! A stretch of time in which more must be on a link than fits.
//!
//! Every message that cannot avoid a link has a window there: its release and the shortest way to the link, its deadline and the shortest way
//! from there. What has its window within a stretch must be sent within it (energetic reasoning: J. Erschler, P. Lopez, 1990; the
//! demand-bound of processors: S. Baruah and others, 1990).

use super::explain::{NetworkRefusal, unavoidable};
use super::problem::{Item, Problem};
use leveret_types::{LinkId, Nanos, StreamId};

/// What must lie within a window on a link; nobody's is reserved.
#[derive(Clone, Copy, Debug)]
struct Demand {
    from: i64,
    to: i64,
    length: i64,
    stream: Option<StreamId>,
}

/// Pairs of window ends that are looked at on all links together.
const PAIRS_MAX: u64 = 50_000_000;

/// The stretch that is asked for too much by the fewest, of the first link that has one.
pub(super) fn crowd(problem: &Problem<'_>) -> Option<NetworkRefusal> {
    let mut by_link: Vec<Vec<Demand>> = vec![Vec::new(); problem.graph.links()];
    for item in &problem.items {
        for (link, length) in unavoidable(problem, item) {
            let (head, tail) = around(problem, item, link);
            for instance in 0..i64::from(item.count) {
                let begin = instance * item.period;
                by_link[link as usize].push(Demand {
                    from: begin + item.release + head,
                    to: begin + item.deadline - tail,
                    length,
                    stream: Some(item.stream),
                });
            }
        }
    }
    let mut order: Vec<usize> = (0..by_link.len()).collect();
    let load = |link: &usize| by_link[*link].iter().map(|demand| demand.length).sum::<i64>();
    order.sort_by_key(|link| std::cmp::Reverse(load(link)));
    let mut pairs = 0;
    for link in order {
        let demands = unrolled(problem, link, &by_link[link]);
        pairs += (demands.len() * demands.len()) as u64;
        if pairs > PAIRS_MAX {
            return None;
        }
        if let Some(found) = fullest(problem, link, &demands) {
            return Some(found);
        }
    }
    None
}

/// The least time from the release to the link, and from the end of the link's slot to the deadline.
fn around(problem: &Problem<'_>, item: &Item, link: u32) -> (i64, i64) {
    let hop_of = |way: usize| item.ways[way].hops.iter().find(|hop| hop.link == link);
    let known = (0..item.ways.len()).filter_map(|way| hop_of(way).map(|hop| (way, hop)));
    if !item.all_ways {
        // Where not all ways are known, only what is the same on each: here a target is behind the link itself, or somewhere.
        let declared = &problem.traffic.network.links[link as usize];
        let stream = &problem.traffic.streams[item.stream.index()];
        let tail = if stream.targets.contains(&declared.target) {
            declared.propagation.0 + declared.processing.0
        } else {
            0
        };
        return (0, tail);
    }
    let mut least = (i64::MAX, i64::MAX);
    for (way, hop) in known {
        let last = item.ways[way].hops.iter().filter(|last| last.arrival >= 0);
        // Of a tree not every target is behind the link; at least one is, or the way would not take it.
        let tail = last.map(|last| last.offset + last.arrival - hop.offset - (hop.length - hop.early)).min();
        least = (least.0.min(hop.offset), least.1.min(tail.unwrap_or(0).max(0)));
    }
    least
}

/// With what is reserved, over one round and what runs on into the next.
fn unrolled(problem: &Problem<'_>, link: usize, demands: &[Demand]) -> Vec<Demand> {
    let round = problem.hyperperiod;
    let mut all = demands.to_vec();
    for reservation in &problem.traffic.network.links[link].reserved {
        for turn in 0..round / reservation.period.0 {
            let from = turn * reservation.period.0 + reservation.start.0;
            all.push(Demand {
                from,
                to: from + reservation.length.0,
                length: reservation.length.0,
                stream: None,
            });
        }
    }
    // Reservations may overlap; what they take together is counted once.
    let mut reserved: Vec<Demand> = all.extract_if(.., |demand| demand.stream.is_none()).collect();
    reserved.sort_unstable_by_key(|demand| demand.from);
    let mut joined: Vec<Demand> = Vec::new();
    for demand in reserved {
        match joined.last_mut().filter(|last| last.to >= demand.from) {
            Some(last) => {
                last.to = last.to.max(demand.to);
                last.length = last.to - last.from;
            }
            None => joined.push(demand),
        }
    }
    all.extend(joined);
    let next =
        all.iter().map(|demand| Demand { from: demand.from + round, to: demand.to + round, ..*demand });
    let next: Vec<_> = next.collect();
    all.extend(next);
    all.sort_unstable_by_key(|demand| demand.to);
    all
}

/// The stretch from a window's begin to a window's end that is exceeded most.
fn fullest(problem: &Problem<'_>, link: usize, demands: &[Demand]) -> Option<NetworkRefusal> {
    let mut begins: Vec<i64> =
        demands.iter().map(|demand| demand.from).filter(|from| *from < problem.hyperperiod).collect();
    begins.sort_unstable();
    begins.dedup();
    let mut worst: Option<(i64, i64, i64)> = None;
    for from in begins {
        let mut sum = 0;
        for demand in demands.iter().filter(|demand| demand.from >= from) {
            if demand.to - from > problem.hyperperiod {
                break;
            }
            sum += demand.length;
            let over = sum - (demand.to - from);
            if over > 0 && worst.is_none_or(|(most, _, _)| over > most) {
                worst = Some((over, from, demand.to));
            }
        }
    }
    let (_, from, to) = worst?;
    let inside = demands.iter().filter(|demand| demand.from >= from && demand.to <= to);
    let (own, reserved): (Vec<Demand>, Vec<Demand>) = inside.partition(|demand| demand.stream.is_some());
    let has = to - from - reserved.iter().map(|demand| demand.length).sum::<i64>();
    Some(overload_of(link, (from, to), &own, has))
}

/// The fewest that are too much: the least goes first, as long as the rest is too much.
fn overload_of(link: usize, (from, to): (i64, i64), demands: &[Demand], has: i64) -> NetworkRefusal {
    let mut by_stream: Vec<(i64, StreamId)> = Vec::new();
    for demand in demands {
        let Some(stream) = demand.stream else { continue };
        match by_stream.iter_mut().find(|(_, other)| *other == stream) {
            Some((length, _)) => *length += demand.length,
            None => by_stream.push((demand.length, stream)),
        }
    }
    by_stream.sort_unstable();
    let mut needs: i64 = by_stream.iter().map(|(length, _)| *length).sum();
    by_stream.retain(|(length, _)| {
        let spared = needs - length > has;
        needs -= if spared { *length } else { 0 };
        !spared
    });
    let mut streams: Vec<_> = by_stream.into_iter().map(|(_, stream)| stream).collect();
    streams.sort_unstable();
    NetworkRefusal::Overload {
        link: LinkId(link as u32),
        from: Nanos(from),
        to: Nanos(to),
        streams,
        needs: Nanos(needs),
        has: Nanos(has),
    }
}
