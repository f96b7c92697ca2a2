//! Why a network has no plan.
//!
//! What is called infeasible has an argument that anybody can repeat: one message that no way brings to its target in time, or more messages
//! for one link than fit into a round. Everything else is "not found", which is not the same.

use super::core::{Core, bottleneck};
use super::exact::{Verdict, decide};
use super::flows::LateFlow;
use super::model::{Traffic, TrafficError};
use super::plan::NetworkPlan;
use super::problem::{Candidate, Item, Problem};
use super::proof::Proof;
use super::state::{State, Unit};
use super::wait::first_waiting;
use super::watch::Watch;
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
    /// More for one link than fits into a stretch of time, of streams that all must take it then. None of them can be left out of the
    /// argument.
    Overload {
        /// Which link.
        link: LinkId,
        /// Begin of the stretch.
        from: Nanos,
        /// Its end: a whole hyperperiod, or less.
        to: Nanos,
        /// Whose streams: without any of them the rest fits, by this count.
        streams: Vec<StreamId>,
        /// What they take, in that stretch.
        needs: Nanos,
        /// What the link has, reservations taken off.
        has: Nanos,
    },
    /// A flow that cannot be promised its deadline beside the table.
    Late(Box<LateFlow>),
    /// Streams without jitter for one link that come together, whatever their phases. None of them can be left out of the argument.
    Unison {
        /// Which link.
        link: LinkId,
        /// Whose streams.
        streams: Vec<StreamId>,
        /// The greatest common divisor of the periods of any two of them.
        circle: Nanos,
        /// What they take of the link, each once.
        needs: Nanos,
    },
    /// Streams of which every order and way was looked at.
    Conflict {
        /// Whose streams.
        streams: Vec<StreamId>,
        /// Whether all of them but any one have a plan.
        minimal: bool,
        /// The link that they collide on most.
        bottleneck: Option<LinkId>,
        /// The argument.
        proof: Box<Proof>,
    },
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
        /// The link that is asked for most if every channel takes its first route, and for how much of each 1000.
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

/// A stream for which the repair sees no place by itself: why. None where it may have one after all, with more waiting than the repair knows; or
/// the steps, which shrink, do not tell.
pub(super) fn alone(
    problem: &Problem<'_>,
    index: u32,
    steps: &mut u64,
    watch: &mut Watch<'_>,
) -> Option<NetworkRefusal> {
    let item = &problem.items[index as usize];
    let refusal = too_much(item);
    let is_known = item.all_ways && !matches!(refusal, NetworkRefusal::Reserved { .. });
    let is_shown = is_known || (!waits_alone(problem, index) && is_impossible(problem, item, steps, watch));
    is_shown.then_some(refusal)
}

/// Whether an item has a place where it waits, with the network for itself: that mostly tells at once.
fn waits_alone(problem: &Problem<'_>, index: u32) -> bool {
    let unit = Unit { item: index, first: 0, count: problem.items[index as usize].count };
    first_waiting(problem, &State::new(problem), unit, &mut 0).is_some()
}

fn is_impossible(problem: &Problem<'_>, item: &Item, steps: &mut u64, watch: &mut Watch<'_>) -> bool {
    let given = ALONE_STEPS.min(*steps);
    let mut left = given;
    let verdict = decide(problem, &[item.stream], &mut left, watch);
    *steps -= given - left;
    matches!(verdict, Verdict::Impossible(_))
}

/// The first stream that takes too long on every way, or takes a link for longer than its period.
pub(super) fn hopeless(
    problem: &mut Problem<'_>,
    mut steps: u64,
    watch: &mut Watch<'_>,
) -> Option<NetworkRefusal> {
    let fits = |item: &Item| {
        let room = (item.deadline - item.release).min(item.latency);
        let is_quick = |way: &Candidate| {
            way.span <= room && way.hops.iter().all(|hop| hop.length - hop.early <= item.period)
        };
        item.ways.iter().any(is_quick)
    };
    for index in 0..problem.items.len() {
        if fits(&problem.items[index]) {
            continue;
        }
        let item = &problem.items[index];
        let unending = unavoidable(problem, item).into_iter().find(|(_, length)| *length > item.period);
        if let Some((link, needs)) = unending {
            return Some(NetworkRefusal::Unending {
                stream: item.stream,
                link: LinkId(link),
                needs: Nanos(needs),
            });
        }
        // The way of the fewest links need not be the quickest.
        problem.widen(index);
        if !fits(&problem.items[index]) {
            return alone(problem, index as u32, &mut steps, watch);
        }
    }
    None
}

/// Steps of the complete search for one stream, at most.
pub(super) const ALONE_STEPS: u64 = 2_000_000;

/// What a stream needs that it cannot have, with the network for itself.
fn too_much(item: &Item) -> NetworkRefusal {
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
    let unending = quickest.and_then(|way| way.hops.iter().find(|hop| hop.length - hop.early > item.period));
    match unending {
        Some(hop) => {
            NetworkRefusal::Unending { stream, link: LinkId(hop.link), needs: Nanos(hop.length - hop.early) }
        }
        None => NetworkRefusal::Reserved { stream },
    }
}

/// A link for which the streams that cannot avoid it have more than a round holds.
pub(super) fn overload(problem: &Problem<'_>) -> Option<NetworkRefusal> {
    let mut demands: Vec<Vec<(i64, StreamId)>> = vec![Vec::new(); problem.graph.links()];
    for item in &problem.items {
        for (link, length) in unavoidable(problem, item) {
            let taken = length * i64::from(item.count);
            match demands[link as usize].last_mut() {
                // The other copy of the same.
                Some((before, stream)) if *stream == item.stream => *before += taken,
                _ => demands[link as usize].push((taken, item.stream)),
            }
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
        from: Nanos::ZERO,
        to: Nanos(problem.hyperperiod),
        streams,
        needs: Nanos(needs),
        has: Nanos(has),
    })
}

/// What the complete search proved.
pub(super) fn conflict(core: Core) -> NetworkRefusal {
    NetworkRefusal::Conflict {
        streams: core.proof.streams.clone(),
        minimal: core.minimal,
        bottleneck: bottleneck(&core.proof),
        proof: Box::new(core.proof),
    }
}

/// Links that every way of an item takes, with the time that it takes them for at least. Where not all ways are known, its ends.
pub(super) fn unavoidable(problem: &Problem<'_>, item: &Item) -> Vec<(u32, i64)> {
    let Some(way) = item.ways.first() else { return Vec::new() };
    let stream = &problem.traffic.streams[item.stream.index()];
    let graph = &problem.graph;
    let only = |link: u32| {
        let link = LinkId(link);
        let (source, target) = (graph.source(link), graph.target(link));
        (source == stream.source && graph.outgoing(source).len() == 1)
            || (stream.targets.contains(&target) && graph.incoming(target).len() == 1)
    };
    let of_all_copies = |link: u32| {
        let takes = |way: &leveret_topology::Tree| way.links().any(|own| own == LinkId(link));
        stream.ways.as_ref().is_none_or(|ways| ways.iter().all(takes))
    };
    let everywhere = |link: u32| {
        of_all_copies(link) && item.ways.iter().all(|way| way.hops.iter().any(|hop| hop.link == link))
    };
    way.hops
        .iter()
        .filter(|hop| only(hop.link) || (item.all_ways && everywhere(hop.link)))
        .map(|hop| (hop.link, hop.length - hop.early))
        .collect()
}

fn capacity(problem: &Problem<'_>, link: usize) -> i64 {
    problem.hyperperiod - problem.free[link].used()
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

    /// The streams that it is about.
    pub fn streams(&self) -> &[StreamId] {
        match self {
            Self::Overload { streams, .. }
            | Self::Unison { streams, .. }
            | Self::Conflict { streams, .. } => streams,
            Self::TooLong { stream, .. } | Self::Unending { stream, .. } | Self::Reserved { stream } => {
                std::slice::from_ref(stream)
            }
            Self::NotFound { unplaced, .. } => unplaced,
            Self::Invalid(_) | Self::Rejected { .. } | Self::Late(_) => &[],
        }
    }

    /// The link that is short of time, as far as one is known: of a message that takes too long, the slowest of its way.
    pub fn bottleneck(&self, traffic: &Traffic) -> Option<LinkId> {
        match self {
            Self::Overload { link, .. } | Self::Unison { link, .. } | Self::Unending { link, .. } => {
                Some(*link)
            }
            Self::Conflict { bottleneck, .. } => *bottleneck,
            Self::TooLong { way, .. } => {
                way.iter().copied().min_by_key(|link| traffic.network.links[link.index()].rate)
            }
            Self::NotFound { fullest, .. } => fullest.map(|(link, _)| link),
            Self::Late(late) => late.hops.iter().max_by_key(|hop| hop.delay).map(|hop| hop.link),
            Self::Reserved { .. } | Self::Invalid(_) | Self::Rejected { .. } => None,
        }
    }

    /// The reason, in words, with the names of the traffic.
    pub fn reason(&self, traffic: &Traffic) -> String {
        let name = |stream: StreamId| format!("\"{}\"", traffic.name(stream));
        let link = |link: LinkId| traffic.network.link_name(link);
        match self {
            Self::Invalid(error) => error.to_string(),
            Self::TooLong { stream, needs, has, limit, way } => {
                let declared = &traffic.streams[stream.index()];
                let what = match (limit, declared.latency) {
                    (TooLongFor::Latency, Some(latency)) => format!("its latency is {latency}"),
                    _ => {
                        let window = declared.deadline - declared.release;
                        format!("its window, from release to deadline, has {window}")
                    }
                };
                let left = match traffic.clock_error {
                    Nanos::ZERO => String::new(),
                    _ => format!(", of which the error of the clocks leaves {has}"),
                };
                let ways: Vec<_> = way.iter().map(|hop| link(*hop)).collect();
                format!(
                    "channel {} takes {needs} on its quickest way ({}) with the network for itself alone, and {what}{left}",
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
            Self::Overload { link: which, from, to, streams, needs, has } => {
                let need = if streams.len() == 1 { "alone it needs" } else { "together they need" };
                let who = listed(streams, &name);
                let which = link(*which);
                let when = if *to - *from == hyperperiod(traffic) {
                    "in each hyperperiod".to_owned()
                } else {
                    format!("between {from} and {to}")
                };
                format!("{who} must take link {which}; {need} {needs} of it {when}, and it has {has}")
            }
            Self::Unison { link: which, streams, circle, needs } => {
                let (who, which) = (listed(streams, &name), link(*which));
                format!(
                    "{who} must take link {which} without jitter, so that each keeps its place in every {circle}, the greatest common divisor \
                     of any two of their periods; together they need {needs} of it"
                )
            }
            Self::Conflict { streams, minimal, bottleneck, proof } => {
                collision(traffic, streams, *minimal, *bottleneck, proof.nodes.len())
            }
            Self::Late(late) => late.reason(traffic),
            Self::Rejected { violation } => {
                format!(
                    "the planner's own plan breaks a rule, so it is not used; please report it: {violation}"
                )
            }
            Self::NotFound { unplaced, steps, fullest, .. } => not_found(traffic, unplaced, *steps, *fullest),
        }
    }
}

/// The words of a search that ended at its bound of steps; `fullest` in thousandths of the link's time.
fn not_found(traffic: &Traffic, unplaced: &[StreamId], steps: u64, fullest: Option<(LinkId, u32)>) -> String {
    let full = fullest.map_or_else(String::new, |(which, permille)| {
        format!(
            " If every channel took its first route, link {} would be asked for most ({}.{} % of its time); other routes are tried too.",
            traffic.network.link_name(which),
            permille / 10,
            permille % 10
        )
    });
    format!(
        "no plan was found within {steps} steps, which does not prove that there is none. Without a place: {}.{full}",
        listed(unplaced, &|stream| format!("\"{}\"", traffic.name(stream)))
    )
}

/// The words of a conflict.
fn collision(
    traffic: &Traffic,
    streams: &[StreamId],
    minimal: bool,
    bottleneck: Option<LinkId>,
    steps: usize,
) -> String {
    let who = listed(streams, &|stream| format!("\"{}\"", traffic.name(stream)));
    let fewer = match (streams.len(), minimal) {
        (1, _) => "",
        (_, false) => "; no smaller set was found",
        (2, true) => "; each has one without the other",
        (_, true) => "; without any one of them the others have one",
    };
    let have = if streams.len() == 1 { "has no plan" } else { "have no plan together" };
    let at = bottleneck.map_or_else(String::new, |link| {
        format!(". They collide at link {}", traffic.network.link_name(link))
    });
    format!(
        "{who} {have}, with the network for themselves alone{fewer}{at}. Every way and order was looked at ({steps} steps of argument)"
    )
}

/// Of traffic that was valid.
fn hyperperiod(traffic: &Traffic) -> Nanos {
    traffic.validate().unwrap_or(Nanos::ZERO)
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
