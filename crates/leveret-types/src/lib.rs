//! The vocabulary every other crate speaks: time, sizes, identifiers, limits, the clock interface.
//!
//! Nothing here reads a clock, allocates on the data path or touches the operating system.
#![forbid(unsafe_code)]

mod clock;
mod id;
mod idle;
mod limits;
mod nanos;
mod size;

pub use clock::{Clock, ClockState, TimeInterval};
pub use id::{ChannelId, EventId, Generation, Instance, MemberId, TaskId, TriggerId};
pub use idle::IdleCores;
pub use limits::*;
pub use nanos::{Nanos, ParseDurationError};
pub use size::{ByteSize, ParseSizeError};
