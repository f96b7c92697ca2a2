//! Admission, planning, explanation and checking of a job's time table. Pure: same input, same plan, byte for byte.
//!
//! ```text
//!  Job ── validate ── windows (bind reads and writes) ── search ── assemble ── Plan ── checker (shares no code)
//!                                                          │
//!                                                          └── explain ── Refusal: what conflicts, what would fit
//! ```
//!
//! The semantics are written down in `docs/planner.md`.
#![forbid(unsafe_code)]

// So that the tests within share the jobs and the brute force of those in `tests/`.
#[cfg(test)]
extern crate self as leveret_plan;

mod admission;
mod assemble;
mod bind;
mod buffers;
pub mod checker;
mod continuation;
mod crossing;
mod digest;
mod explain;
mod model;
mod moved;
mod nesting;
pub mod network;
mod plan;
mod scale;
mod search;
mod shared;
mod sporadic;
pub mod system;
mod table;
mod transition;
mod validate;
mod windows;
mod words;

pub use admission::{plan, plan_within};
pub use continuation::{ContinuationConflict, InstancesBefore, Kept, continuation};
pub use crossing::Crossing;
pub use digest::digest;
pub use explain::{
    BufferNeed, Change, Declaration, DeclarationKind, ExplainBudget, ExplainSearch, LateCause, LateWork,
    ObjectName, Overload, Refusal, RefusalKind, Remedy,
};
pub use model::*;
pub use moved::{Move, moved};
pub use plan::*;
pub use shared::{
    Collision, Other, collisions, cores_beside, plan_beside, plan_beside_keeping, plan_beside_within,
};
pub use table::{grid, render_bounds, render_table};
pub use transition::{TransitionConflict, transition};
pub use validate::{DeclarationError, TIME_NS_MAX, validate};
pub use windows::round;
