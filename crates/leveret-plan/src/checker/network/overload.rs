//! Counts again what must be on a link within a stretch of time.

use super::refusal_ways::Net;
use super::{HopTimes, violation};
use crate::checker::{Violation, shown, wide};
use crate::network::Traffic;
use leveret_types::{LinkId, Nanos, NodeId, StreamId};

/// What a certificate of an overload says.
#[derive(Clone, Copy)]
pub(super) struct Claim<'a> {
    pub link: LinkId,
    pub from: Nanos,
    pub to: Nanos,
    pub streams: &'a [StreamId],
}

/// Accepts the claim if the messages of its streams that must be on the link within the stretch need more than it.
pub(super) fn check(claim: Claim<'_>, traffic: &Traffic) -> Result<(), Violation> {
    let fault = |rule: &str, found: String| Err(violation("overload".to_owned(), rule, found));
    let round = match traffic.validate() {
        Ok(round) => wide(round),
        Err(error) => return fault("it is for traffic that is right", error.to_string()),
    };
    if claim.link.index() >= traffic.network.links.len() || claim.to <= claim.from {
        return fault("its link exists, and its stretch has a length", String::new());
    }
    if claim.from < Nanos::ZERO || wide(claim.from) > round || wide(claim.to) - wide(claim.from) > round {
        let found = format!("{} to {}", claim.from, claim.to);
        return fault("its stretch begins in the first round and is no longer than one", found);
    }
    let mut streams = claim.streams.to_vec();
    streams.sort_unstable();
    streams.dedup();
    if streams.len() != claim.streams.len() || streams.iter().any(|id| id.index() >= traffic.streams.len()) {
        return fault("its streams exist, each once", String::new());
    }
    let net = Net::new(traffic);
    let needs: i128 = streams.iter().map(|id| demand(&net, traffic, claim, round, *id)).sum();
    let has = wide(claim.to) - wide(claim.from) - reserved(traffic, claim);
    if needs > has {
        return Ok(());
    }
    fault("they need more of the link than it has", format!("{} of {}", shown(needs), shown(has)))
}

/// Streams that are compared, each with each: more than any planner names, and an end for everything else.
const UNISON_MAX: usize = 1_024;

/// Accepts that streams without jitter come together: any two have slots that are disjoint modulo the greatest common divisor of their
/// periods, which is the same for all pairs and too short for all of them.
pub(super) fn check_unison(
    link: LinkId,
    streams: &[StreamId],
    circle: Nanos,
    traffic: &Traffic,
) -> Result<(), Violation> {
    let fault = |rule: &str, found: String| Err(violation("unison".to_owned(), rule, found));
    if let Err(error) = traffic.validate() {
        return fault("it is for traffic that is right", error.to_string());
    }
    let is_known = |id: &StreamId| id.index() < traffic.streams.len();
    if link.index() >= traffic.network.links.len() || !streams.iter().all(is_known) {
        return fault("its link and streams exist", String::new());
    }
    if streams.len() > UNISON_MAX {
        return fault("it compares no more than so many", format!("{} of {UNISON_MAX}", streams.len()));
    }
    let net = Net::new(traffic);
    let target = traffic.network.links[link.index()].target;
    let mut needs = 0;
    for (index, id) in streams.iter().enumerate() {
        let stream = &traffic.streams[id.index()];
        if stream.jitter != Some(Nanos::ZERO) || !stream.targets.contains(&target) {
            return fault("they arrive without jitter at the end of the link", stream.name.clone());
        }
        if around(&net, traffic, link, *id, target).is_none() {
            return fault("they must take the link", stream.name.clone());
        }
        for other in &streams[index + 1..] {
            let divisor = common(wide(stream.period), wide(traffic.streams[other.index()].period));
            if other == id || divisor != wide(circle) {
                return fault("any two have this greatest common divisor", shown(divisor));
            }
        }
        needs += HopTimes::new(traffic, stream.size, None, link).length;
    }
    if streams.len() > 1 && needs > wide(circle) {
        return Ok(());
    }
    fault("they need more than that", format!("{} of {circle}", shown(needs)))
}

/// Greatest common divisor, by subtraction's shortcut (Euclid).
fn common(mut one: i128, mut two: i128) -> i128 {
    while two != 0 {
        (one, two) = (two, one % two);
    }
    one
}

/// What a stream must have of the link within the stretch.
fn demand(net: &Net, traffic: &Traffic, claim: Claim<'_>, round: i128, id: StreamId) -> i128 {
    let stream = &traffic.streams[id.index()];
    let error = wide(traffic.clock_error);
    let (from, to) = (wide(claim.from), wide(claim.to));
    let length = HopTimes::new(traffic, stream.size, None, claim.link).length;
    let Some((head, tail)) =
        stream.targets.iter().find_map(|target| around(net, traffic, claim.link, id, *target))
    else {
        return 0;
    };
    let period = wide(stream.period);
    let turns = if to - from == round {
        round / period
    } else {
        // Instances k with k·P + release + E + head >= from, and k·P + deadline − E − tail <= to.
        let first = ceiling(from - wide(stream.release) - error - head, period);
        let last = (to - wide(stream.deadline) + error + tail).div_euclid(period);
        (last - first + 1).max(0)
    };
    turns * length * i128::from(stream.copies)
}

fn ceiling(value: i128, by: i128) -> i128 {
    -(-value).div_euclid(by)
}

/// Least times before and after the link, if every route to a target takes it.
fn around(net: &Net, traffic: &Traffic, link: LinkId, id: StreamId, target: NodeId) -> Option<(i128, i128)> {
    let stream = &traffic.streams[id.index()];
    let declared = &traffic.network.links[link.index()];
    let routes = match &stream.ways {
        Some(ways) => ways.iter().map(|way| declared_route(way, traffic, target)).collect::<Option<Vec<_>>>(),
        None => net.routes(stream.source, target),
    };
    let Some(routes) = routes else {
        // Too many to look at: only a link at an end is known to be taken.
        let last = declared.target == target && net.incoming(target) == 1;
        let first = declared.source == stream.source && net.outgoing(stream.source) == 1;
        let behind = if last { wide(declared.propagation) + wide(declared.processing) } else { 0 };
        return (first || last).then_some((0, behind));
    };
    let mut least: Option<(i128, i128)> = None;
    // Where none has room the stream has no plan whatever is claimed of it.
    let any_has_room = routes.iter().any(|route| has_room(traffic, id, route));
    for route in routes.iter().filter(|route| !any_has_room || has_room(traffic, id, route)) {
        let place = route.iter().position(|other| *other == link)?;
        let head = walk(traffic, id, &route[..=place]) - arrival(traffic, id, link);
        let length = HopTimes::new(traffic, stream.size, None, link).length;
        let tail = walk(traffic, id, route) - head - length;
        least = Some(least.map_or((head, tail), |least| (least.0.min(head), least.1.min(tail))));
    }
    least
}

/// Whether a route takes no longer than the window and the latency allow, with the network for itself.
fn has_room(traffic: &Traffic, id: StreamId, route: &[LinkId]) -> bool {
    let stream = &traffic.streams[id.index()];
    let error = 2 * wide(traffic.clock_error);
    let window = wide(stream.deadline) - wide(stream.release) - error;
    let room = stream.latency.map_or(window, |latency| window.min(wide(latency) - error));
    walk(traffic, id, route) <= room
}

/// From the start on the first link of a route to the arrival at its end, when nothing waits.
fn walk(traffic: &Traffic, id: StreamId, route: &[LinkId]) -> i128 {
    let size = traffic.streams[id.index()].size;
    let pairs = route.windows(2);
    let on_the_way: i128 = pairs
        .map(|pair| {
            HopTimes::new(traffic, size, Some(pair[0]), pair[1]).forwarding + 2 * wide(traffic.clock_error)
        })
        .sum();
    on_the_way + route.last().map_or(0, |last| arrival(traffic, id, *last))
}

/// The least time from the start of a stream's first transmission to its arrival at every target, on whatever ways.
pub(in crate::checker) fn quickest(traffic: &Traffic, id: StreamId) -> i128 {
    let stream = &traffic.streams[id.index()];
    let net = Net::new(traffic);
    let to = |target: &NodeId| {
        let time = |route: &Vec<LinkId>| walk(traffic, id, route);
        let times = match &stream.ways {
            // Every copy takes its way.
            Some(ways) => {
                ways.iter().map(|way| Some(time(&declared_route(way, traffic, *target)?))).max().flatten()
            }
            None => net.routes(stream.source, *target).and_then(|routes| routes.iter().map(time).min()),
        };
        // Of too many ways something is known: each begins and ends somewhere.
        times.unwrap_or_else(|| {
            let links = (0..traffic.network.links.len() as u32).map(LinkId);
            let length = |link: LinkId| HopTimes::new(traffic, stream.size, None, link).length;
            let at = |link: &LinkId| &traffic.network.links[link.index()];
            let first = links.clone().filter(|link| at(link).source == stream.source).map(length).min();
            let last = links.filter(|link| at(link).target == *target).map(length).min();
            first.max(last).unwrap_or(0)
        })
    };
    stream.targets.iter().map(to).max().unwrap_or(0)
}

/// From the start on a link to the arrival at its end.
fn arrival(traffic: &Traffic, id: StreamId, link: LinkId) -> i128 {
    let declared = &traffic.network.links[link.index()];
    let length = HopTimes::new(traffic, traffic.streams[id.index()].size, None, link).length;
    length + wide(declared.propagation) + wide(declared.processing)
}

/// The links of a declared way from the source to a target.
fn declared_route(way: &leveret_topology::Tree, traffic: &Traffic, target: NodeId) -> Option<Vec<LinkId>> {
    let mut at = way.hops.iter().position(|hop| traffic.network.links[hop.link.index()].target == target);
    let mut route = Vec::new();
    while let Some(hop) = at {
        route.push(way.hops[hop].link);
        at = way.hops[hop].parent.map(|parent| parent as usize);
    }
    route.reverse();
    (!route.is_empty()).then_some(route)
}

/// How much of the stretch is reserved.
fn reserved(traffic: &Traffic, claim: Claim<'_>) -> i128 {
    let (from, to) = (wide(claim.from), wide(claim.to));
    let mut stretches: Vec<(i128, i128)> = Vec::new();
    for reservation in &traffic.network.links[claim.link.index()].reserved {
        let (period, start) = (wide(reservation.period), wide(reservation.start));
        let mut begin = start + (from - start).div_euclid(period) * period - period;
        while begin < to {
            let end = begin + wide(reservation.length);
            if end > from {
                stretches.push((begin.max(from), end.min(to)));
            }
            begin += period;
        }
    }
    stretches.sort_unstable();
    let (mut sum, mut until) = (0, from);
    for (begin, end) in stretches {
        sum += (end - begin.max(until)).max(0);
        until = until.max(end);
    }
    sum
}
