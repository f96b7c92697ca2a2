//! MPI/RT objects: what a program describes, commits, and then only hands buffers to.
//!
//! | part | file |
//! |---|---|
//! | handles, and the numbers they are | `handle.rs` |
//! | where objects stand, who refers to them | `table.rs` |
//! | what each class is made of | `object.rs`, `storage.rs` |
//! | what every object has, before commit | `world.rs` |
//! | channels of a whole group, before commit and at it; the operations of reductions | `collectives.rs`, `collective_commit.rs`, `reduction.rs` |
//! | keys and attributes | `attributes.rs` |
//! | walks over containers; one operation on all members | `walk.rs`, `apply.rs` |
//! | creation and attributes of each class, before commit | `containers.rs`, `group.rs`, `buffers.rs`, `bufiters.rs`, `channels.rs`, `qos.rs`, `tasks.rs` |
//! | commit: objects become declarations | `commit.rs`, `movers.rs`, `windows.rs` |
//! | commit: what the data path sees of them | `prepare.rs` |
//! | commit: which buffers belong to those of the other end | `mapping.rs` |
//! | the data path, between commit and uncommit | `committed/` |
//! | events: triggers, receptors, handlers | `events/` |
//! | descriptors for `poll` and `epoll` | `descriptors.rs` |
//! | a second set beside the one that runs, and what it keeps of that | `mode.rs`, `switch.rs`, `keep.rs` |
//! | join, commit, uncommit; the clock | `library.rs`, `time.rs` |
//! | what can go wrong, and what to do about it | `error.rs`, `remedy.rs`, `limit.rs` |

mod apply;
mod attributes;
mod buffers;
mod bufiters;
mod channels;
mod collective_commit;
mod collectives;
mod commit;
mod committed;
mod containers;
mod descriptors;
mod error;
mod events;
mod group;
mod group_commit;
mod handle;
mod keep;
mod library;
mod limit;
mod mapping;
mod mode;
mod movers;
mod neighbours;
mod object;
mod prepare;
mod qos;
mod reduction;
mod remedy;
mod storage;
mod switch;
mod table;
mod tasks;
mod time;
mod walk;
mod windows;
mod world;

#[cfg(test)]
mod graph_tests;
#[cfg(test)]
mod keep_tests;
#[cfg(test)]
mod test_job;
#[cfg(test)]
mod test_storage;
#[cfg(test)]
mod tests;

#[cfg(test)]
use test_job::job_in_tests;
#[cfg(test)]
use test_storage::storage_in_tests;

pub use crate::task_tally::{Durations, TaskMetrics};
pub use apply::{CONTAINERS_REACH_MAX, Kind};
pub use attributes::{DeleteFunction, Departure, Keyval, Value};
pub use buffers::BufferDescription;
pub use channels::{ChannelDescription, SLACK_MAX};
pub use collectives::{CollectiveDescription, CollectiveKind};
pub use committed::{ChannelMetrics, ChannelStatus, Committed, EndState, Outcome};
pub use containers::CONTAINER_MAX;
pub use error::Code;
pub use events::{
    EventKind, Firing, HandlerFunction, HandlerMetrics, ReceptorCombination, TriggerDescription,
};
pub use group::{Combination, Comparison};
pub use handle::{Class, Handle};
pub use leveret_memory::iterator::Policy;
pub use leveret_plan::{MissingPolicy, OverrunPolicy};
pub use library::Library;
pub use limit::LimitReached;
pub use object::{BufiterPolicy, Dataspec, Form, PRIORITY_MAX, Qos, TaskFunction, TaskInstance};
pub use reduction::Operation;
pub use storage::{OwnedStorage, Storage};
pub use world::World;
