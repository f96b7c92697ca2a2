//! The functions of `mpirt.h`, a file a group.
//!
//! What each takes and answers stands in `spec/mpirt/functions/`; the header is made of that list.
#![allow(missing_docs, reason = "the functions are documented in that list, from which the header is made")]

mod buffer;
mod bufiter;
mod channel;
mod container;
mod event;
mod group;
mod name;
mod object;
mod setup;
mod task;

pub use buffer::*;
pub use bufiter::*;
pub use channel::*;
pub use container::*;
pub use event::*;
pub use group::*;
pub use name::*;
pub use object::*;
pub use setup::*;
pub use task::*;
