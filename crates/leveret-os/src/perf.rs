//! Evidence from the kernel's perf events: who had the core, who faulted, who called.
//!
//! Everything here is optional: where the kernel or the user's rights do not allow it, the error says so and what
//! would. All times are `CLOCK_MONOTONIC`.
//!
//! | what | right it takes (`kernel.perf_event_paranoid` 2 is the usual setting) |
//! |---|---|
//! | [`ThreadPage`]: own thread's switches, faults, processor time, without a call | none at 2 |
//! | [`SwitchLog::open_thread`], [`FaultLog`]: a thread of the same user | none at 2 |
//! | [`SwitchLog::open_core`]: every switch on a core | 0, or `CAP_PERFMON`; with names and ranks: root |
//! | [`BirthLog`]: who began which process, on all cores | 0, or `CAP_PERFMON` |
//! | [`SystemCallCounter`] | 1 and a readable tracefs, or root |
//! | [`HoldLog`]: who stops, traces or freezes a thread, on all cores | 0 and a readable tracefs, or root |
//! | [`TimerLog`]: every timer interrupt on a core | `CAP_BPF` and `CAP_PERFMON`, or root; with holes 0 and a readable tracefs |

mod births;
mod event;
mod faults;
mod holds;
mod ring;
mod scheduled;
mod stamps;
mod switches;
mod system_calls;
#[cfg(test)]
pub(crate) mod testing;
mod thread_page;
mod timers;

pub use births::{Birth, BirthLog, BirthRecord};
pub use event::{PerfError, paranoid_level};
pub use faults::{FaultLog, FaultRecord};
pub use holds::{Hold, HoldLog, HoldRecord};
pub use switches::{Left, SwitchLog, SwitchRecord, UNKNOWN_THREAD};
pub use system_calls::SystemCallCounter;
pub use thread_page::ThreadPage;
pub use timers::TimerLog;
