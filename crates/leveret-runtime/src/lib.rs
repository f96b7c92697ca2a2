//! What runs inside a member: declarations, commit, channel ends, tasks.
//!
//! A member declares ([`Declarations`]), commits ([`Member::commit`]), and runs ([`Session::run`]). Between epoch
//! and end nothing executes per message but the sender's store and the receiver's load.
#![forbid(unsafe_code)]
// Loom's atomics cannot be statics, and the system calls below this crate need those: `tests/loom.rs` takes the lock-free files by themselves.
#![cfg(not(loom))]

mod abort;
mod activation;
mod binding;
mod context;
mod declare;
mod event_end;
mod free_end;
mod gate;
mod in_process;
mod listen;
mod mailbox;
mod member;
mod message;
mod meter;
mod mode;
pub mod objects;
mod port;
mod readable;
mod runner;
mod session;
mod solo;
mod succession;
mod task_tally;
mod thread;
mod timing;
mod virtual_clock;
mod watch;

pub use abort::Aborter;
pub use activation::Activation;
pub use binding::{Admitted, BindError, Bound, bind};
pub use context::{Inputs, Outputs, TaskContext};
pub use declare::{Body, DeclarationError, Declarations, EndBuilder, Source, Target, TaskBuilder};
pub use event_end::{EventEnds, TriggerEnd};
pub use free_end::{Received, ReceivingEnd, START_AHEAD_MAX, SendingEnd, SendingSlot, StartError, WaitError};
pub use in_process::{InProcessError, InProcessJob, VirtualTask};
pub use member::{
    CommitError, JOB_VARIABLE, JoinError, MEMBER_VARIABLE, Member, OUTPUT_VARIABLE, SOCKET_VARIABLE,
    TOKEN_VARIABLE,
};
pub use message::{Absence, Input, Message, OutputSlot, SendRefusal};
pub use meter::Meter;
pub use mode::SwitchError;
pub use port::FateCode;
pub use runner::{GAP_BOUNDS_NS, OutcomeCode, RunnerCounts, Step, TaskRunner};
pub use session::{AnyEnd, Ended, Session};
pub use task_tally::{Durations, TaskMetrics};
pub use virtual_clock::VirtualClock;
pub use watch::Watch;
