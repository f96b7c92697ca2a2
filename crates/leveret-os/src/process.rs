//! Starting, watching and stopping children.
//!
//! A child dies with the thread that started it (`PR_SET_PDEATHSIG`), so that no member survives its agent: start
//! members from a thread that lives as long as the run. The signal is SIGKILL: a member owns nothing that outlives
//! it, and one that spins at a real-time priority might never run a handler. What a child starts in its turn is not
//! bound so; [`Adoption`] reaches it.

mod changes;
mod finish;
mod orphans;
mod spawn;
mod watch;

pub use changes::{ChangesError, ChildChanges};
pub use finish::end_at_once;
pub use orphans::{Adoption, Orphan};
pub use spawn::{Child, Spawn, SpawnError, Stream, spawn};
pub use watch::{Change, Exit, PidFd, WatchError, signal_name};

/// Signals, as the kernel numbers them.
pub use rustix::process::Signal;

#[cfg(test)]
mod tests;
