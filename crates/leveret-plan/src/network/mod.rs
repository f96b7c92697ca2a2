//! Planning of a network: when each message is on each link, on which way, in which queue.
//!
//! ```text
//!  Traffic ── problem (ways, costs) ── repair (place, wait ◄─► conflict) ── collect ── NetworkPlan ── checker/network (shares no code)
//! ```

mod collect;
mod conflict;
mod explain;
mod model;
mod place;
mod plan;
mod problem;
mod queues;
mod repair;
mod state;
mod summary;
mod timeline;
mod wait;

pub use explain::{NetworkRefusal, TooLongFor};
pub use model::{
    ROUND_INSTANCES_MAX, STREAM_TIME_MAX, STREAMS_MAX, Stream, StreamFault, Traffic, TrafficError,
};
pub use plan::{NETWORK_PLAN_VERSION, NetworkPlan, Slot, Way};
pub use repair::Effort;
pub use summary::{LinkSummary, NetworkSummary, StreamSummary, summarise};

use leveret_types::Nanos;
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
    if let Some(overload) = explain::overload(&problem) {
        return Err(overload);
    }
    let mut search = Search::new(&mut problem, effort);
    let ended = search.run();
    let report = SearchReport { sent_away: search.sent_away };
    match ended {
        Ok(()) => Ok((collect::collect(search.problem, &search.state), report)),
        Err(Ended::Alone(item)) => Err(explain::alone(search.problem, &search.problem.items[item as usize])),
        Err(Ended::OutOfSteps) => Err(not_found(&search)),
    }
}

/// Of each stream, what its quickest way takes from the start of the first transmission to the last arrival, when nothing waits; of two
/// copies, the slower one.
pub(crate) fn quickest(traffic: &Traffic) -> Result<Vec<Nanos>, NetworkRefusal> {
    let hyperperiod = traffic.validate().map_err(NetworkRefusal::Invalid)?;
    let problem = Problem::new(traffic, hyperperiod.0).map_err(NetworkRefusal::Invalid)?;
    let mut spans = vec![Nanos::ZERO; traffic.streams.len()];
    for item in &problem.items {
        let span = item.ways.iter().map(|way| way.span).min().unwrap_or(0);
        let known = &mut spans[item.stream.index()];
        *known = Nanos(span).max(*known);
    }
    Ok(spans)
}

/// A proof after all, now that more ways are known; else what was reached.
fn not_found(search: &Search<'_, '_>) -> NetworkRefusal {
    if let Some(overload) = explain::overload(search.problem) {
        return overload;
    }
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
