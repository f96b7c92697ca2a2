//! The vocabulary every other crate speaks: time, sizes, identifiers, limits, the clock interface.
//!
//! Nothing here reads a clock, allocates on the data path or touches the operating system.
#![forbid(unsafe_code)]

mod clock;
mod id;
mod idle;
mod limits;
mod nanos;
mod printable;
mod rate;
mod size;

pub use clock::{Clock, ClockState, TimeInterval};
pub use id::{
    ChannelId, EventId, Generation, Instance, LinkId, MemberId, NodeId, StreamId, TaskId, TriggerId,
};
pub use idle::IdleCores;
pub use limits::*;
pub use nanos::{Nanos, ParseDurationError};
pub use printable::{printable, push_printable};
pub use rate::{BitRate, ParseRateError};
pub use size::{ByteSize, ParseSizeError};
