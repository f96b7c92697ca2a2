//! The only user of system calls in Leveret (design section 3, tier 1): a thin edge with honest errors.
//!
//! | module | what the kernel does for us there |
//! |---|---|
//! | [`memory_file`] | sealed memory files and their mappings: one writer, many readers |
//! | [`private_memory`] | memory that no peer looks into |
//! | [`read_only`] | stores to a peer's memory, reported before they end the process |
//! | [`control`] | the framed Unix socket that carries control messages and descriptors |
//! | [`clock`], [`tsc`] | `CLOCK_MONOTONIC`, sleeping to an instant, spinning to an instant, cheap stamps |
//! | [`scheduling`], [`overrun`] | scheduling classes, affinity, memory locking, overruns of `SCHED_DEADLINE` |
//! | [`process`], [`signals`], [`user`] | children, their endings, Ctrl-C, running without privilege |
//! | [`thread`], [`thread_value`] | threads whose start can be refused, and what each has of its own |
//! | [`contained`], [`lost`], [`cancellation`] | functions that do not return, threads that are gone with them, threads that are cancelled |
//! | [`kinship`] | children of `fork` |
//! | [`futex`] | sleeping on, and waking, a word of shared memory |
//! | [`barrier`] | a memory barrier in all members at once |
//! | [`latency`] | keeping processors out of deep idle states |
//! | [`perf`] | evidence: context switches, page faults, system calls |
//! | [`control_groups`] | quotas of control groups, and of which a thread is |
//! | [`threads_of`], [`facts`], [`doctor`] | who else is there, what this machine is, and what it lacks |
//! | [`usage`] | the calling thread's faults and switches |
//! | [`netlink`] | setting queueing disciplines of network interfaces |
//! | [`host`] | environment, a secret, a place for the socket, the wall clock |
//! | [`streams`] | pipes for what other processes print |
//! | [`allocator`] | counting heap calls per thread |
//!
//! Every operation has its own error, which names the call that failed, what the kernel said, and the remedy.

mod detached;
mod failure;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod thrown;

pub mod allocator;
pub mod barrier;
pub mod cancellation;
pub mod clock;
pub mod contained;
pub mod control;
pub mod control_groups;
pub mod doctor;
pub mod facts;
pub mod futex;
pub mod host;
pub mod kinship;
pub mod latency;
pub mod lost;
pub mod memory_file;
pub mod netlink;
pub mod notification;
pub mod nudge;
pub mod open_files;
pub mod overrun;
pub mod perf;
pub mod private_memory;
pub mod process;
pub mod read_only;
pub mod said;
pub mod scheduling;
pub mod signals;
pub mod streams;
pub mod thread;
pub mod thread_value;
pub mod threads_of;
pub mod tsc;
pub mod usage;
pub mod user;

pub use failure::Failure;
pub use leveret_memory::Region;
