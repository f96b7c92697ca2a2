//! Why a network has no plan.
//!
//! What is called infeasible has an argument that anybody can repeat: one message that no way brings to its target in time, or more messages
//! for one link than fit into a round. Everything else is "not found", which is not the same.

use super::flows::LateFlow;
use super::model::{Traffic, TrafficError};
use super::plan::NetworkPlan;
use super::problem::{Candidate, Item, Problem};
use leveret_types::{LinkId, Nanos, StreamId};

/// Why there is no plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NetworkRefusal {
    /// The traffic itself is wrong.
    Invalid(TrafficError),
    /// A message that takes longer than it may, with the network for itself alone.
    TooLong {
        /// Which stream.
        stream: StreamId,
        /// What its quickest way takes.
        needs: Nanos,
        /// What it has.
        has: Nanos,
        /// What gives it no more.
        limit: TooLongFor,
        /// Over which links.
        way: Vec<LinkId>,
    },
    /// A message that takes a link for longer than its period.
    Unending {
        /// Which stream.
        stream: StreamId,
        /// Which link.
        link: LinkId,
        /// How long it takes it.
        needs: Nanos,
    },
    /// A stream that finds no place even alone, beside what is reserved for other traffic.
    Reserved {
        /// Which stream.
        stream: StreamId,
    },
    /// More for one link than fits into a round, of streams that all must take it. None of them can be left out of the argument.
    Overload {
        /// Which link.
        link: LinkId,
        /// Whose streams: without any of them the rest fits, by this count.
        streams: Vec<StreamId>,
        /// What they take, in a hyperperiod.
        needs: Nanos,
        /// How much of that keeps messages apart whose clocks are in error.
        apart: Nanos,
        /// What the link has, reservations taken off.
        has: Nanos,
    },
    /// A flow that cannot be promised its deadline beside the table.
    Late(Box<LateFlow>),
    /// The planner found something that the checker did not accept: a fault of ours.
    Rejected {
        /// What the checker said.
        violation: String,
    },
    /// The search ended before it knew. This is no proof that there is no plan.
    NotFound {
        /// Streams without a place.
        unplaced: Vec<StreamId>,
        /// The others have theirs; it is no plan of the traffic.
        partial: Box<NetworkPlan>,
        /// How many intervals were looked at.
        steps: u64,
        /// The link that is asked for most, and for how much of each 1000.
        fullest: Option<(LinkId, u32)>,
    },
}

/// What a message is too long for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TooLongFor {
    /// The window from release to deadline.
    Window,
    /// The latency.
    Latency,
}

/// A stream that has no place by itself: why.
pub(super) fn alone(problem: &Problem<'_>, item: &Item) -> NetworkRefusal {
    let stream = item.stream;
    let window = item.deadline - item.release;
    let room = window.min(item.latency);
    let quickest = item.ways.iter().min_by_key(|way| way.span);
    if let Some(way) = quickest.filter(|way| way.span > room) {
        let limit = if item.latency < window { TooLongFor::Latency } else { TooLongFor::Window };
        return NetworkRefusal::TooLong {
            stream,
            needs: Nanos(way.span),
            has: Nanos(room),
            limit,
            way: way.tree.links().collect(),
        };
    }
    let unending = quickest
        .and_then(|way| way.hops.iter().find(|hop| hop.length > item.period.min(problem.hyperperiod)));
    match unending {
        Some(hop) => NetworkRefusal::Unending { stream, link: LinkId(hop.link), needs: Nanos(hop.length) },
        None => NetworkRefusal::Reserved { stream },
    }
}

/// A link for which the streams that cannot avoid it have more than a round holds.
pub(super) fn overload(problem: &Problem<'_>) -> Option<NetworkRefusal> {
    let mut demands: Vec<Vec<(i64, StreamId)>> = vec![Vec::new(); problem.graph.links()];
    for item in &problem.items {
        for (link, length) in unavoidable(problem, item) {
            demands[link as usize].push((length * i64::from(item.count), item.stream));
        }
    }
    let most = |(link, demand): &(usize, Vec<(i64, StreamId)>)| {
        demand.iter().map(|(length, _)| *length).sum::<i64>() - capacity(problem, *link)
    };
    let worst = demands.into_iter().enumerate().max_by_key(most).filter(|worst| most(worst) > 0)?;
    let (link, mut demand) = worst;
    let has = capacity(problem, link);
    let mut needs: i64 = demand.iter().map(|(length, _)| *length).sum();
    // The least goes first, so that few and large ones remain; then nothing can be left out.
    demand.sort_unstable();
    demand.retain(|(length, _)| {
        let spared = needs - length > has;
        needs -= if spared { *length } else { 0 };
        !spared
    });
    let mut streams: Vec<_> = demand.into_iter().map(|(_, stream)| stream).collect();
    streams.sort_unstable();
    Some(NetworkRefusal::Overload {
        link: LinkId(link as u32),
        apart: Nanos(apart_of(problem, link, &streams)),
        streams,
        needs: Nanos(needs),
        has: Nanos(has),
    })
}

/// How much of what streams take of a link keeps them apart for the sake of the clock error.
fn apart_of(problem: &Problem<'_>, link: usize, streams: &[StreamId]) -> i64 {
    let items = problem.items.iter().filter(|item| streams.contains(&item.stream));
    let on_link = items.filter_map(|item| {
        let hops = item.ways.first().map(|way| &way.hops)?;
        let hop = hops.iter().find(|hop| hop.link as usize == link)?;
        Some(hop.early * i64::from(item.count))
    });
    on_link.sum()
}

/// Links that every way of an item takes, with the time that it takes them for at least. Where not all ways are known, its ends.
fn unavoidable(problem: &Problem<'_>, item: &Item) -> Vec<(u32, i64)> {
    let Some(way) = item.ways.first() else { return Vec::new() };
    let stream = &problem.traffic.streams[item.stream.index()];
    let graph = &problem.graph;
    let only = |link: u32| {
        let link = LinkId(link);
        let (source, target) = (graph.source(link), graph.target(link));
        (source == stream.source && graph.outgoing(source).len() == 1)
            || (stream.targets.contains(&target) && graph.incoming(target).len() == 1)
    };
    let everywhere = |link: u32| item.ways.iter().all(|way| way.hops.iter().any(|hop| hop.link == link));
    way.hops
        .iter()
        .filter(|hop| only(hop.link) || (item.all_ways && everywhere(hop.link)))
        .map(|hop| (hop.link, hop.length))
        .collect()
}

fn capacity(problem: &Problem<'_>, link: usize) -> i64 {
    problem.hyperperiod - super::state::State::reserved(problem, link)
}

/// The link that is asked for most when everybody takes the first way.
pub(super) fn fullest(problem: &Problem<'_>) -> Option<(LinkId, u32)> {
    let mut demands = vec![0i64; problem.graph.links()];
    for item in &problem.items {
        for hop in item.ways.first().map_or(&[][..], |way: &Candidate| &way.hops) {
            demands[hop.link as usize] =
                demands[hop.link as usize].saturating_add(hop.length.saturating_mul(i64::from(item.count)));
        }
    }
    let (link, demand) =
        demands.into_iter().enumerate().max_by_key(|(link, demand)| (*demand, std::cmp::Reverse(*link)))?;
    let permille = i128::from(demand) * 1000 / i128::from(problem.hyperperiod);
    Some((LinkId(link as u32), u32::try_from(permille).unwrap_or(u32::MAX)))
}

/// Streams that are named one by one.
const NAMED_MAX: usize = 8;

impl NetworkRefusal {
    /// Whether there is provably no plan.
    pub fn is_proven(&self) -> bool {
        !matches!(self, Self::NotFound { .. } | Self::Rejected { .. } | Self::Late(_))
    }

    /// The reason, in words, with the names of the traffic.
    pub fn reason(&self, traffic: &Traffic) -> String {
        let name = |stream: StreamId| format!("\"{}\"", traffic.name(stream));
        let link = |link: LinkId| traffic.network.link_name(link);
        match self {
            Self::Invalid(error) => error.to_string(),
            Self::TooLong { stream, needs, has, limit, way } => {
                let what = match limit {
                    TooLongFor::Window => "its window, from release to deadline, has",
                    TooLongFor::Latency => "its latency is",
                };
                let ways: Vec<_> = way.iter().map(|hop| link(*hop)).collect();
                format!(
                    "channel {} takes {needs} on its quickest way ({}) with the network for itself alone, and {what} {has}",
                    name(*stream),
                    ways.join(", ")
                )
            }
            Self::Unending { stream, link: which, needs } => {
                let period = traffic.streams[stream.index()].period;
                format!(
                    "a message of channel {} takes link {} for {needs}, and its period is {period}",
                    name(*stream),
                    link(*which)
                )
            }
            Self::Reserved { stream } => {
                format!(
                    "channel {} finds no place on any of its ways beside what the links have reserved for other traffic",
                    name(*stream)
                )
            }
            Self::Overload { link: which, streams, needs, apart, has } => {
                let need = if streams.len() == 1 { "alone it needs" } else { "together they need" };
                let apart = match *apart {
                    Nanos::ZERO => String::new(),
                    apart => format!(" ({apart} for a clock error of {})", traffic.clock_error),
                };
                let who = listed(streams, &name);
                let which = link(*which);
                format!(
                    "{who} must take link {which}; {need} {needs}{apart} of it in each hyperperiod, and it has {has}"
                )
            }
            Self::Late(late) => late.reason(traffic),
            Self::Rejected { violation } => {
                format!(
                    "the planner's own plan breaks a rule, so it is not used; please report it: {violation}"
                )
            }
            Self::NotFound { unplaced, steps, fullest, .. } => {
                let full = fullest.map_or_else(String::new, |(which, permille)| {
                    format!(
                        " The link that is asked for most is {} ({}.{} % of its time).",
                        link(which),
                        permille / 10,
                        permille % 10
                    )
                });
                format!(
                    "no plan was found within {steps} steps, which does not prove that there is none. Without a place: {}.{full}",
                    listed(unplaced, &name)
                )
            }
        }
    }
}

fn listed(streams: &[StreamId], name: &impl Fn(StreamId) -> String) -> String {
    let named: Vec<_> = streams.iter().take(NAMED_MAX).map(|stream| name(*stream)).collect();
    let more = streams.len().saturating_sub(NAMED_MAX);
    let noun = if streams.len() == 1 { "channel" } else { "channels" };
    if more > 0 {
        format!("{noun} {} and {more} more", named.join(", "))
    } else {
        format!("{noun} {}", named.join(", "))
    }
}
