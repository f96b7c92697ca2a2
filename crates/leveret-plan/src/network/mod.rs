//! Planning of a network: when each message is on each link, on which way, in which queue.
//!
//! ```text
//!  Traffic ── problem (ways, costs) ── repair (place ◄─► conflict) ── collect ── NetworkPlan ── checker/network (shares no code)
//! ```

mod collect;
mod conflict;
mod model;
mod place;
mod plan;
mod problem;
mod repair;
mod state;
mod timeline;

pub use model::{
    ROUND_INSTANCES_MAX, STREAM_TIME_MAX, STREAMS_MAX, Stream, StreamFault, Traffic, TrafficError,
};
pub use plan::{NETWORK_PLAN_VERSION, NetworkPlan, Slot, Way};
pub use repair::Effort;

use leveret_types::StreamId;
use problem::Problem;
use repair::{Ended, Search};

/// Why there is no plan.
#[derive(Clone, Debug)]
pub enum NetworkRefusal {
    /// The traffic itself is wrong.
    Invalid(TrafficError),
    /// A stream that has no place even alone.
    Alone(StreamId),
    /// The search ended before it knew.
    NotFound {
        /// Streams without a place.
        unplaced: Vec<StreamId>,
        /// The rest.
        partial: NetworkPlan,
    },
}

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
    let mut search = Search::new(&mut problem, effort);
    let ended = search.run();
    let report = SearchReport { sent_away: search.sent_away };
    match ended {
        Ok(()) => Ok((collect::collect(search.problem, &search.state), report)),
        Err(Ended::Alone(item)) => Err(NetworkRefusal::Alone(search.problem.items[item as usize].stream)),
        Err(Ended::OutOfSteps) => {
            let stream =
                |unit: u32| search.problem.items[search.state.units[unit as usize].item as usize].stream;
            let mut unplaced: Vec<_> = search.unplaced().map(stream).collect();
            unplaced.sort_unstable();
            unplaced.dedup();
            Err(NetworkRefusal::NotFound {
                unplaced,
                partial: collect::collect(search.problem, &search.state),
            })
        }
    }
}
