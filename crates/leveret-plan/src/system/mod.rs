//! Planning of a system: tasks on several hosts and the network between them, in one table.
//!
//! ```text
//!  System ── choose windows ── project ─┬─ Job of each host ── plan ────────┐
//!                ▲                      └─ Traffic ── plan_network ─────────┤
//!                │                                                          ▼
//!                └──────────── more room where a part fails ◄── chains ── SystemPlan ── checker/system (shares no code)
//! ```
//!
//! The rules are written down in `docs/planning.md`.

mod bound;
mod chain;
mod choose;
mod explain;
mod model;
mod needs;
mod plan;
mod project;
mod search;
mod table;
mod validate;

pub use chain::{ChainPart, PartKind};
pub use explain::{ChainLimit, SystemRefusal};
pub use model::{Chain, Crossing, NETWORK_MEMBER, Port, Step, System, SystemHost, Window};
pub use plan::{PlannedChain, SYSTEM_PLAN_VERSION, SystemPlan};
pub use search::{NetworkPlanner, plan_system, plan_system_by, plan_system_within};
pub use table::{SystemSummary, render_system, summarise_system};
pub use validate::{CHAIN_STEPS_MAX, SYSTEM_PARTS_MAX, SystemError};
