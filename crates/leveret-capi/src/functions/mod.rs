//! The functions of `mpirt.h`, a file a group.
//!
//! What each takes and answers stands in `spec/mpirt/functions/`; the header is made of that list.
#![allow(missing_docs, reason = "the functions are documented in that list, from which the header is made")]

mod argument;
mod attribute;
mod buffer;
mod bufiter;
mod cast;
mod channel;
mod collective;
mod container;
mod event;
mod group;
mod iterator;
mod mode;
mod name;
mod object;
mod operations;
mod qos;
mod setup;
mod task;

pub use attribute::*;
pub use buffer::*;
pub use bufiter::*;
pub use cast::*;
pub use channel::*;
pub use collective::*;
pub use container::*;
pub use event::*;
pub use group::*;
pub use iterator::*;
pub use mode::*;
pub use name::*;
pub use object::*;
pub use operations::*;
pub use qos::*;
pub use setup::*;
pub use task::*;
