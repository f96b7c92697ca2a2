//! Planning of a network: when each message is on each link, on which way, in which queue.
//!
//! ```text
//!  Traffic ── problem (ways, costs) ── repair (place, wait ◄─► conflict) ── collect ── NetworkPlan ── checker/network (shares no code)
//! ```

mod argument;
mod certificate;
mod collect;
mod conflict;
mod core;
mod crowd;
mod diff;
mod exact;
mod explain;
mod model;
mod place;
mod plan;
mod problem;
mod proof;
mod queues;
mod remedy;
mod repair;
mod session;
mod state;
mod summary;
mod timeline;
mod wait;

pub use certificate::{Certificate, certificate};
pub use diff::{ChannelDiff, NetworkDiff, diff_networks};
pub use explain::{NetworkRefusal, TooLongFor};
pub use model::{
    ROUND_INSTANCES_MAX, STREAM_TIME_MAX, STREAMS_MAX, Stream, StreamFault, Traffic, TrafficError,
};
pub use plan::{NETWORK_PLAN_VERSION, NetworkPlan, Slot, Way};
pub use proof::{Bound, PROOF_VERSION, Point, Proof, ProofNode};
pub use remedy::{NetworkChange, StreamChange, remedies};
pub use repair::Effort;
pub use session::{Moved, Session, SessionError};
pub use summary::{LinkSummary, NetworkSummary, StreamSummary, summarise};

use core::Found;
use problem::Problem;
use repair::{Ended, Search};

/// What a search did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SearchReport {
    /// How often a placed stream was sent away for another.
    pub sent_away: u64,
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
    let mut problem = Problem::new(traffic, hyperperiod.0).map_err(NetworkRefusal::Invalid)?;
    if let Some(refusal) = explain::hopeless(&mut problem).or_else(|| explain::overload(&problem)) {
        return Err(refusal);
    }
    let mut search = Search::new(&mut problem, effort);
    for share in STAGES {
        repair(&mut search, effort.steps / share)?;
        if search.unplaced().next().is_none() {
            let report = SearchReport { sent_away: search.sent_away };
            return Ok((collect::collect(search.problem, &search.state), report));
        }
        let heaviest = search.heaviest();
        search.problem.widen_all(&heaviest[..heaviest.len().min(WIDENED)]);
        if let Some(overload) = explain::overload(search.problem).or_else(|| crowd::crowd(search.problem)) {
            return Err(overload);
        }
        let mut steps = effort.steps / share;
        match core::find(search.problem, &heaviest, &mut steps) {
            Found::Plan(plan) => return Ok((*plan, SearchReport { sent_away: search.sent_away })),
            Found::Core(core) => return Err(explain::conflict(*core)),
            Found::Nothing => {}
        }
    }
    Err(not_found(&search))
}

/// Places what it can. What has a place only where it waits is set aside, so that all of those are seen to fail, and not the first alone.
fn repair(search: &mut Search<'_, '_>, steps: u64) -> Result<(), NetworkRefusal> {
    for _ in 0..SET_ASIDE_MAX {
        let Err(Ended::Alone(item)) = search.run(steps) else { break };
        if let Some(refusal) = explain::alone(search.problem, item) {
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
