//! The plan of a system. A value; serialisable, comparable, and checked before use.

use super::model::Window;
use crate::Plan;
use crate::network::NetworkPlan;
use leveret_types::Nanos;
use serde::{Deserialize, Serialize};

/// Version of the format.
pub const SYSTEM_PLAN_VERSION: u32 = 1;

/// One time table for the processors of all hosts and the links between them. All instants count from the epoch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SystemPlan {
    /// [`SYSTEM_PLAN_VERSION`].
    pub version: u32,
    /// Name of the system.
    pub system: String,
    /// Per crossing, in the model's order: the window in which the network has its messages, declared or chosen.
    pub windows: Vec<Window>,
    /// Per host with tasks, in the model's order.
    pub hosts: Vec<Plan>,
    /// The network's: first its own streams, then one for each crossing.
    pub network: NetworkPlan,
    /// Per chain, in the model's order.
    pub chains: Vec<PlannedChain>,
}

/// What a chain takes. All times are of the plan; those between two hosts include the error of both clocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannedChain {
    /// Longest time from an event that an instance of the first task has just missed to the planned end of the first instance of the
    /// last task that reflects it. [`Nanos::MAX`] ("never"): there is no bound.
    pub reaction: Nanos,
    /// Longest time from the planned start of an instance of the first task to the planned end of the last instance of the
    /// last task that still uses what it made.
    pub age: Nanos,
    /// Whether some instance takes exactly that; else they are bounds.
    pub exact: bool,
}
