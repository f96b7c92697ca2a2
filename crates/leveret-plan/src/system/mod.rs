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
mod certificate;
mod chain;
mod change;
mod choose;
mod conflict;
mod diff;
mod differences;
mod explain;
mod hosts;
mod keep;
mod model;
mod moved;
mod needs;
mod part;
mod plan;
mod project;
mod remedy;
mod search;
mod stages;
mod table;
mod validate;

pub use certificate::{SystemCertificate, system_certificate};
pub use chain::{ChainPart, ChainWays, PartKind, chain_ways};
pub use change::{Paced, PacedKind, SystemChange};
pub use diff::{ChainDiff, HostDiff, LocalChannelDiff, SystemDiff, TaskDiff, WindowDiff, diff_systems};
pub use explain::{ChainLimit, SystemRefusal};
pub use hosts::{ChannelSummary, HostSummary, TaskSummary};
pub use keep::{KeptSystem, SystemPlanner, keep_system};
pub use model::{Chain, Crossing, NETWORK_MEMBER, Port, Step, System, SystemHost, Window};
pub use part::Element;
pub use plan::{PlannedChain, SYSTEM_PLAN_VERSION, SystemPlan};
pub use project::{Parts, PortShifts, parts, port_shifts};
pub use remedy::{SystemExplanation, explain_system};
pub use search::{NetworkPlanner, plan_system, plan_system_by, plan_system_within};
pub use table::{ChainSummary, CrossingSummary, SystemSummary, render_system, summarise_system};
pub use validate::{CHAIN_STEPS_MAX, SYSTEM_PARTS_MAX, SystemError};
