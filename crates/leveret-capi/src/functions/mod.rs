//! The functions of `mpirt.h`, a file a group.
//!
//! What each takes and answers stands in `spec/mpirt/functions/`; the header is made of that list.
//!
//! # Safety
//! Callers of every function promise this, and nothing else. A pointer is null or points to what its parameter's description names: a text
//! that ends in a zero byte within [`leveret_types::NAME_BYTES_MAX`] bytes, a place that may be written, or as many values as the call
//! says, which nobody else uses meanwhile; memory given to a buffer stays until the buffer is freed or given other memory; functions given
//! to the library are what their types say. Handles, numbers and the order of calls need no promise.
#![allow(missing_docs, reason = "the functions are documented in that list, from which the header is made")]
#![allow(clippy::missing_safety_doc, reason = "one contract holds for all; it stands above")]

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
