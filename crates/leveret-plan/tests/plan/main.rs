//! The planner and the checker from outside. One program: thirty of them would be linked anew for every change of the library.

#[path = "../common/mod.rs"]
mod common;

mod continuation;
mod crossing;
mod forgery;
mod forgery_rules;
mod large_refusals;
mod mutation;
mod network;
mod network_backlog;
mod network_bounds;
mod network_checker;
mod network_exact;
mod network_flows;
mod network_flows_admission;
mod network_portfolio;
mod network_refusals;
mod network_remedies;
mod network_session;
mod network_waits;
mod properties;
mod refusals;
mod remedies;
mod ring;
mod shared;
mod sporadic;
mod system;
mod system_changes;
mod system_checker;
mod system_refusals;
mod system_remedies;
mod transition;
