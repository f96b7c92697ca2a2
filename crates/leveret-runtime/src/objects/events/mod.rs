//! Events: triggers fire them, receptors wait for them or run handlers.
//!
//! ```text
//!  member A                                              member B
//!   Trigger "go" --fire--> [ count, times ]  <--reads--   Receptor "go" --wait, test--> program
//!   (call, channel,         in A's segment   --wakes-->   Receptor "go" --dispatcher--> handlers
//!    task, time)
//! ```
//!
//! | part | file |
//! |---|---|
//! | what triggers, receptors and handlers are; their creation | `body.rs`, `create.rs` |
//! | commit: declarations, and what the data path will work on | `plan.rs` |
//! | occurrences of a receptor: counts and combinations | `occurrence.rs` |
//! | between commit and uncommit: fire, wait, test | `committed.rs`, `wait.rs` |
//! | library threads: handlers, ends of channels with a priority, and triggers of the kind time | `dispatch.rs`, `served.rs`, `paced.rs`, `tally.rs`, `timer.rs`, `threads.rs`, `departures.rs` |
//!
//! The order of delivery: of the firings that a receptor has pending the one of the trigger with the highest priority comes first, then
//! the earliest by its time, then the one of the lowest rank. So the firings of one trigger come in their order.

mod body;
mod committed;
mod create;
mod departures;
mod dispatch;
mod occurrence;
mod paced;
mod plan;
mod served;
mod tally;
mod threads;
mod timer;
mod wait;

pub use body::{EventKind, Firing, HandlerFunction, ReceptorCombination, TriggerDescription};
pub(super) use body::{HandlerBody, ReceptorBody, TriggerBody};
pub(super) use committed::{CommittedEvents, ReceptorState};
pub(super) use paced::Pace;
pub(super) use plan::EventPlan;
pub use tally::HandlerMetrics;
pub(super) use threads::EventThreads;
pub(super) use wait::Words;
