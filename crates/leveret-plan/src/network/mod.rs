//! Planning of a network: when each message is on each link, on which way, in which queue.
//!
//! ```text
//!  Traffic ── problem (ways, costs) ── repair (place, wait ◄─► conflict) ── collect ── NetworkPlan ── checker/network (shares no code)
//! ```

mod argument;
mod backlog;
mod certificate;
mod change;
mod collect;
mod conflict;
mod core;
mod crowd;
mod diff;
mod exact;
mod explain;
mod explanation;
mod flow;
mod flows;
mod keep;
mod ladder;
mod least;
mod listing;
mod minimal;
mod model;
mod place;
mod plan;
mod portfolio;
mod problem;
mod proof;
mod queues;
mod remedy;
mod repair;
mod reserved;
mod session;
mod state;
mod strategy;
mod summary;
mod timeline;
mod trials;
mod under_way;
mod unison;
mod wait;
mod watch;

pub use backlog::QueueUse;
pub use certificate::{Certificate, certificate};
pub use change::{ChangeFields, FlowChange, NetworkChange, StreamChange};
pub use diff::{ChannelDiff, FlowDiff, NetworkDiff, diff_networks};
pub(crate) use diff::{NAMED_MAX, distance, more};
pub use explain::{NetworkRefusal, TooLongFor};
pub use explanation::{NetworkConflict, NetworkExplanation, NetworkRemedy, explain_network};
pub use flow::{BURST_MAX, Flow};
pub use flows::{HopShares, LateFlow, flow_bounds};
pub use keep::{KeepError, keep_network};
pub use listing::render_slots;
pub use model::{
    ROUND_INSTANCES_MAX, STREAM_TIME_MAX, STREAMS_MAX, Stream, StreamFault, Traffic, TrafficError,
};
pub use plan::{ClassBound, NETWORK_PLAN_VERSION, NetworkPlan, Slot, Way};
pub use portfolio::{Attempt, Race, SLICE_STEPS, attempt};
pub use proof::{Bound, PROOF_VERSION, Point, Proof, ProofNode};
pub(crate) use remedy::RATES;
pub use remedy::remedies;
pub use repair::Effort;
pub use session::{Moved, Session, SessionError};
pub use summary::{ClassSummary, FlowSummary, LinkSummary, NetworkSummary, StreamSummary, summarise};
pub(crate) use under_way::under_way;

use core::Found;
use leveret_topology::Graph;
use leveret_types::Nanos;
use problem::Problem;
use repair::{Ended, Search};
use strategy::Strategy;
use watch::Watch;

/// What a search did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SearchReport {
    /// How often a placed stream was sent away for another.
    pub sent_away: u64,
    /// How often it had looked before whether there is none. Of none, more steps would have found the same.
    pub looks: u32,
}

/// Plans a network.
///
/// # Errors
/// Why there is no plan, or none was found.
pub fn plan_network(
    traffic: &Traffic,
    effort: Effort,
) -> Result<(NetworkPlan, SearchReport), NetworkRefusal> {
    let hyperperiod = traffic.validate().map_err(NetworkRefusal::Invalid)?;
    let (plan, report) = plan_table(traffic, hyperperiod, effort)?;
    admit_flows(traffic, plan).map(|plan| (plan, report))
}

/// Completes a plan of the streams by the flows of the traffic, which is valid: their ways, and what is promised them.
///
/// # Errors
/// A flow that may be late beside this table.
pub fn admit_flows(traffic: &Traffic, mut plan: NetworkPlan) -> Result<NetworkPlan, NetworkRefusal> {
    let ways = flows::ways(traffic, &Graph::new(&traffic.network)).map_err(NetworkRefusal::Invalid)?;
    flows::complete(traffic, &mut plan, ways);
    match flows::refusal(traffic, &plan) {
        Some(late) => Err(late),
        None => Ok(plan),
    }
}

/// The time table alone: streams, without flows.
fn plan_table(
    traffic: &Traffic,
    hyperperiod: Nanos,
    effort: Effort,
) -> Result<(NetworkPlan, SearchReport), NetworkRefusal> {
    search_table(traffic, hyperperiod, (Strategy::first(effort.seed), effort.steps), &mut Watch::alone())
}

/// The same by some strategy, with so many steps at most. Where it was ended from outside, what it says means nothing.
fn search_table(
    traffic: &Traffic,
    hyperperiod: Nanos,
    (strategy, steps_max): (Strategy, u64),
    watch: &mut Watch<'_>,
) -> Result<(NetworkPlan, SearchReport), NetworkRefusal> {
    let problem = Problem::new(traffic, hyperperiod.0).map_err(NetworkRefusal::Invalid)?;
    search_problem(problem, (strategy, steps_max), watch)
}

/// The same of a problem, which may be of some of the streams alone.
fn search_problem(
    mut problem: Problem<'_>,
    (strategy, steps_max): (Strategy, u64),
    watch: &mut Watch<'_>,
) -> Result<(NetworkPlan, SearchReport), NetworkRefusal> {
    let hopeless = explain::hopeless(&mut problem, steps_max, watch);
    if let Some(refusal) = hopeless.or_else(|| explain::overload(&problem)) {
        return Err(refusal);
    }
    if strategy.wide {
        let mut streams: Vec<_> = problem.items.iter().map(|item| item.stream).collect();
        streams.dedup();
        streams.truncate(WIDENED);
        problem.widen_all(&streams);
    }
    let mut search = Search::new(&mut problem, strategy);
    for (looks, share) in (0..).zip(STAGES) {
        repair(&mut search, steps_max / share, watch)?;
        if search.unplaced().next().is_none() {
            let report = SearchReport { sent_away: search.sent_away, looks };
            return Ok((collect::collect(search.problem, &search.state), report));
        }
        if watch.is_ended() {
            break;
        }
        let heaviest = search.heaviest();
        search.problem.widen_all(&heaviest[..heaviest.len().min(WIDENED)]);
        let proven = explain::overload(search.problem).or_else(|| crowd::crowd(search.problem));
        if let Some(refusal) = proven.or_else(|| unison::unison(search.problem)) {
            return Err(refusal);
        }
        let mut steps = steps_max / share;
        match core::find(search.problem, &heaviest, &mut steps, watch) {
            Found::Plan(plan) => {
                return Ok((*plan, SearchReport { sent_away: search.sent_away, looks: looks + 1 }));
            }
            Found::Core(core) => return Err(explain::conflict(*core)),
            Found::Nothing => {}
        }
    }
    Err(not_found(&search))
}

/// Places what it can. What has a place only where it waits is set aside, so that all of those are seen to fail, and not the first alone.
fn repair(search: &mut Search<'_, '_>, steps: u64, watch: &mut Watch<'_>) -> Result<(), NetworkRefusal> {
    // What is asked of single streams has as many steps again, all together.
    let mut left = steps;
    for _ in 0..SET_ASIDE_MAX {
        let Err(Ended::Alone(item)) = search.run(steps, watch) else { break };
        if let Some(refusal) = explain::alone(search.problem, item, &mut left, watch) {
            return Err(refusal);
        }
        search.set_aside();
    }
    search.take_back();
    Ok(())
}

/// Streams that are set aside before the complete search is asked: it takes no more than this at once.
const SET_ASIDE_MAX: usize = 24;

/// The shares of the steps after which the search looks whether what it fails at is impossible.
const STAGES: [u64; 3] = [64, 8, 1];

/// Streams whose other ways are looked for before a link is said to be one that they must take.
const WIDENED: usize = 256;

/// What was reached.
fn not_found(search: &Search<'_, '_>) -> NetworkRefusal {
    let item_of = |unit: u32| search.state.units[unit as usize].item as usize;
    let mut unplaced: Vec<_> =
        search.unplaced().map(|unit| search.problem.items[item_of(unit)].stream).collect();
    unplaced.sort_unstable();
    unplaced.dedup();
    NetworkRefusal::NotFound {
        unplaced,
        partial: Box::new(collect::collect(search.problem, &search.state)),
        steps: search.steps(),
        fullest: explain::fullest(search.problem),
    }
}
