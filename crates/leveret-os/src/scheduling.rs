//! Scheduling classes, affinity, and memory that stays present (design section 8).

use crate::Failure;
use crate::user::has_capability;
use leveret_types::Nanos;
use rustix::io::Errno;
use rustix::mm::MlockAllFlags;
use rustix::process::Resource;
use rustix::thread::{CapabilitySet, CpuSet};
use serde::{Deserialize, Serialize};
use std::fmt;

mod observed;

pub use observed::{Observed, is_gone, of_thread};

/// How the kernel schedules a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Class {
    /// `SCHED_FIFO`: runs until it sleeps or a higher priority comes.
    Fifo {
        /// 1 (lowest) to 99.
        priority: u8,
    },
    /// `SCHED_DEADLINE`: earliest deadline first within a constant-bandwidth server.
    Deadline {
        /// Budget in each period.
        runtime: Nanos,
        /// Deadline from the start of the period.
        deadline: Nanos,
        /// Length of the period.
        period: Nanos,
        /// May use what other servers leave (GRUB; TURTLE's greedy task).
        reclaim: bool,
        /// Send `SIGXCPU` when the budget is used up (see [`crate::overrun`]).
        overrun_signal: bool,
    },
    /// `SCHED_OTHER`: the ordinary fair class.
    Other,
    /// `SCHED_IDLE`: runs when nothing else wants the core.
    Idle,
}

impl fmt::Display for Class {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fifo { priority } => write!(out, "SCHED_FIFO {priority}"),
            Self::Deadline { runtime, deadline, period, .. } => {
                write!(out, "SCHED_DEADLINE {runtime}/{deadline}/{period}")
            }
            Self::Other => out.write_str("SCHED_OTHER"),
            Self::Idle => out.write_str("SCHED_IDLE"),
        }
    }
}

/// Why a scheduling class, affinity or lock was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SchedulingError {
    /// The class was refused.
    #[error("{}: {failure}; {}", class_in_error(class, failure), class_remedy(class, failure))]
    Class {
        /// What was asked for.
        class: Class,
        /// What the kernel said.
        failure: Failure,
    },
    /// The kernel could not say which class the thread has, or it is one that Leveret does not use.
    #[error("reading the scheduling class: {failure}")]
    Unreadable {
        /// What the kernel said.
        failure: Failure,
    },
    /// The thread could not be bound to the core.
    #[error("pinning to core {core}: {failure}; {}", pin_remedy(failure))]
    Pin {
        /// Which core.
        core: u32,
        /// What the kernel said.
        failure: Failure,
    },
    /// Memory could not be locked.
    #[error(
        "locking memory: {failure}; pages may be swapped out and fault back; raise the limit with \
         `ulimit -l unlimited` or a memlock line in /etc/security/limits.conf"
    )]
    Lock {
        /// What the kernel said.
        failure: Failure,
    },
}

/// Without its numbers where the class itself is not allowed: that is one error, whatever they are.
fn class_in_error(class: &Class, failure: &Failure) -> String {
    let shown = class.to_string();
    match (shown.split_once(' '), failure.errno) {
        (Some((name, _)), Errno::PERM) => name.to_owned(),
        _ => shown,
    }
}

fn class_remedy(class: &Class, failure: &Failure) -> &'static str {
    match (class, failure.errno) {
        (Class::Fifo { .. }, Errno::PERM) => {
            "the right is missing: `ulimit -r 99` (a rtprio line in /etc/security/limits.conf) or CAP_SYS_NICE; as \
             root, the control group has no real-time budget; see `leveret doctor`"
        }
        (Class::Fifo { .. }, _) => "priorities go from 1 to 99",
        (Class::Deadline { .. }, Errno::PERM) => {
            "SCHED_DEADLINE needs CAP_SYS_NICE, and an affinity that spans all cores of its cpuset: do not pin it, or \
             make a cpuset of one core"
        }
        (Class::Deadline { .. }, Errno::BUSY) => {
            "the kernel's admission test failed: the cores are promised to others; lower the runtime, or raise \
             kernel.sched_rt_runtime_us"
        }
        (Class::Deadline { .. }, _) => {
            "1us <= runtime <= deadline <= period, and the period between 100us and 4s unless \
             kernel.sched_deadline_period_{min,max}_us say otherwise"
        }
        (Class::Other | Class::Idle, _) => "see `leveret doctor`",
    }
}

fn pin_remedy(failure: &Failure) -> &'static str {
    match failure.errno {
        Errno::INVAL => "the core is off line or outside this process's cpuset; see `taskset -p $$`",
        Errno::BUSY => "a SCHED_DEADLINE thread can only be confined by a cpuset of its own",
        _ => "see `leveret doctor`",
    }
}

const POLICY_OTHER: u32 = libc::SCHED_OTHER as u32;
const POLICY_FIFO: u32 = libc::SCHED_FIFO as u32;
const POLICY_IDLE: u32 = libc::SCHED_IDLE as u32;
const POLICY_DEADLINE: u32 = 6;
const FLAG_RESET_ON_FORK: u64 = 0x01;
const FLAG_RECLAIM: u64 = 0x02;
const FLAG_OVERRUN: u64 = 0x04;

/// `struct sched_attr` in its first version, as `sched_setattr(2)` has it.
///
/// ```text
///  0     4       8        16     20        24        32         40       48
///  | size | policy | flags  | nice | priority | runtime | deadline | period |
/// ```
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}
const ATTRIBUTES_BYTES: u32 = size_of::<Attributes>() as u32;
const _: () = assert!(ATTRIBUTES_BYTES == 48);

impl Attributes {
    fn of(class: Class) -> Self {
        let blank = Self { size: ATTRIBUTES_BYTES, ..Self::default() };
        let positive = |value: Nanos| u64::try_from(value.0).unwrap_or(0);
        match class {
            // What a real-time thread starts is ordinary until it asks for more itself.
            Class::Fifo { priority } => Self {
                policy: POLICY_FIFO,
                flags: FLAG_RESET_ON_FORK,
                priority: u32::from(priority),
                ..blank
            },
            Class::Deadline { runtime, deadline, period, reclaim, overrun_signal } => Self {
                policy: POLICY_DEADLINE,
                // Without it such a thread could start no other: fork answers EAGAIN.
                flags: FLAG_RESET_ON_FORK
                    | if reclaim { FLAG_RECLAIM } else { 0 }
                    | if overrun_signal { FLAG_OVERRUN } else { 0 },
                runtime_ns: positive(runtime),
                deadline_ns: positive(deadline),
                period_ns: positive(period),
                ..blank
            },
            Class::Other => Self { policy: POLICY_OTHER, ..blank },
            Class::Idle => Self { policy: POLICY_IDLE, ..blank },
        }
    }

    fn class(&self) -> Result<Class, Errno> {
        let nanos = |value: u64| Nanos(i64::try_from(value).unwrap_or(i64::MAX));
        Ok(match self.policy {
            POLICY_OTHER => Class::Other,
            POLICY_IDLE => Class::Idle,
            POLICY_FIFO => Class::Fifo { priority: u8::try_from(self.priority).unwrap_or(u8::MAX) },
            POLICY_DEADLINE => Class::Deadline {
                runtime: nanos(self.runtime_ns),
                deadline: nanos(self.deadline_ns),
                period: nanos(self.period_ns),
                reclaim: self.flags & FLAG_RECLAIM != 0,
                overrun_signal: self.flags & FLAG_OVERRUN != 0,
            },
            _ => return Err(Errno::NOTSUP),
        })
    }

    /// Of the thread with this id; 0 is the calling thread.
    fn read(thread: i32) -> Result<Self, Failure> {
        let mut found = Self::default();
        // SAFETY: the kernel writes at most ATTRIBUTES_BYTES bytes into `found`, which has as many.
        let answer =
            unsafe { libc::syscall(libc::SYS_sched_getattr, thread, &raw mut found, ATTRIBUTES_BYTES, 0) };
        if answer == 0 { Ok(found) } else { Err(Failure::last("sched_getattr")) }
    }
}

/// Puts the calling thread into `class`.
///
/// Applying the class that the thread has is no error. A real-time thread hands its class to no child.
///
/// # Errors
///
/// [`SchedulingError::Class`], with the remedy for the usual causes.
pub fn apply(class: Class) -> Result<(), SchedulingError> {
    apply_to(0, class)
}

/// As [`apply`], of a thread of this process: one that sleeps takes nothing from its core meanwhile. 0 is the calling
/// thread.
///
/// # Errors
///
/// [`SchedulingError::Class`], with the remedy for the usual causes.
pub fn apply_to(thread: u32, class: Class) -> Result<(), SchedulingError> {
    let thread = thread.cast_signed();
    let mut wanted = Attributes::of(class);
    if let Ok(present) = Attributes::read(thread) {
        // An ordinary user may set the flag but not clear it, so that one found is kept; the nice value likewise,
        // which is also nobody else's to change.
        wanted.flags |= present.flags & FLAG_RESET_ON_FORK;
        wanted.nice = present.nice;
    }
    // SAFETY: `wanted` is a whole sched_attr of the size it states.
    let answer = unsafe { libc::syscall(libc::SYS_sched_setattr, thread, &raw const wanted, 0) };
    if answer == 0 {
        Ok(())
    } else {
        Err(SchedulingError::Class { class, failure: Failure::last("sched_setattr") })
    }
}

/// The calling thread's class.
///
/// # Errors
///
/// [`SchedulingError::Unreadable`], also for a policy that Leveret does not use (`SCHED_RR`, `SCHED_BATCH`).
pub fn current() -> Result<Class, SchedulingError> {
    let found = Attributes::read(0).map_err(|failure| SchedulingError::Unreadable { failure })?;
    found
        .class()
        .map_err(|errno| SchedulingError::Unreadable { failure: Failure::new("sched_getattr", errno) })
}

/// Binds the calling thread to one core. A `SCHED_DEADLINE` thread cannot be bound so: the kernel admits it for
/// all the cores of its cpuset together.
///
/// # Errors
///
/// [`SchedulingError::Pin`].
pub fn pin(core: u32) -> Result<(), SchedulingError> {
    pin_to(0, core)
}

/// As [`pin`], of a thread of this process; 0 is the calling thread.
///
/// # Errors
///
/// [`SchedulingError::Pin`].
pub fn pin_to(thread: u32, core: u32) -> Result<(), SchedulingError> {
    let refused = |errno| SchedulingError::Pin { core, failure: Failure::new("sched_setaffinity", errno) };
    if core as usize >= CpuSet::MAX_CPU {
        return Err(refused(Errno::INVAL));
    }
    let mut set = CpuSet::new();
    set.set(core as usize);
    let thread = rustix::thread::Pid::from_raw(thread.cast_signed());
    rustix::thread::sched_setaffinity(thread, &set).map_err(refused)
}

/// Lets the calling thread run on all cores that it may have but these. Whether there are any.
///
/// # Errors
///
/// [`SchedulingError::Pin`].
pub fn keep_off(cores: &[u32]) -> Result<bool, SchedulingError> {
    let mut set = CpuSet::new();
    let others = allowed_cores().into_iter().filter(|core| !cores.contains(core));
    let Some(first) = others.clone().next() else { return Ok(false) };
    others.for_each(|core| set.set(core as usize));
    let refused =
        |errno| SchedulingError::Pin { core: first, failure: Failure::new("sched_setaffinity", errno) };
    rustix::thread::sched_setaffinity(None, &set).map_err(refused).map(|()| true)
}

/// Cores on which the calling thread may run, ascending. Empty where the kernel would not say.
pub fn allowed_cores() -> Vec<u32> {
    let Ok(set) = rustix::thread::sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).map(|core| core as u32).collect()
}

/// How much of the process's memory was locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Locked {
    /// All that is mapped now and all that will be.
    PresentAndFuture,
    /// What is mapped now. With a finite limit a lock on the future would make later allocations fail.
    Present,
    /// Pages as they are touched: more is mapped than the machine has, as sanitizers do.
    Touched,
}

/// Locks the process's pages in memory: present and future ones where the limit is no obstacle, the present ones
/// where it is.
///
/// # Errors
///
/// [`SchedulingError::Lock`]; nothing is locked then.
pub fn lock_memory() -> Result<Locked, SchedulingError> {
    let unlimited = has_capability(CapabilitySet::IPC_LOCK)
        || rustix::process::getrlimit(Resource::Memlock).current.is_none();
    let (flags, locked) = if maps_beyond_memory() {
        // Locking fills every page that may be written, and would go on until the kernel ends the process.
        (MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT, Locked::Touched)
    } else if unlimited {
        (MlockAllFlags::CURRENT | MlockAllFlags::FUTURE, Locked::PresentAndFuture)
    } else {
        (MlockAllFlags::CURRENT, Locked::Present)
    };
    rustix::mm::mlockall(flags)
        .map(|()| locked)
        .map_err(|errno| SchedulingError::Lock { failure: Failure::new("mlockall", errno) })
}

/// Whether this process maps several times what the machine has.
fn maps_beyond_memory() -> bool {
    const TIMES: u64 = 4;
    let statistics = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statistics.split(' ').next().and_then(|pages| pages.parse().ok()).unwrap_or(0);
    let memory = rustix::system::sysinfo();
    let total = memory.totalram as u64 * u64::from(memory.mem_unit);
    pages.saturating_mul(PAGE_BYTES as u64) > total.saturating_mul(TIMES)
}

const PAGE_BYTES: usize = 4096;

/// Touches about `bytes` of the calling thread's stack below the present frame, so that the data path faults
/// none of it. The caller sees to it that the stack is so large; a thread of the standard library has 2 MiB.
///
/// A fork anywhere in the process undoes it: every private page, locked or not, then faults once more when written.
#[inline(never)]
pub fn prefault_stack(bytes: usize) {
    let mut page = [0_u8; PAGE_BYTES];
    // Keeps the array: the compiler must assume that it is looked at.
    std::hint::black_box(&mut page);
    if bytes > PAGE_BYTES {
        prefault_stack(bytes - PAGE_BYTES);
    }
    // Keeps the frame: with nothing after the call it could be dropped before it.
    std::hint::black_box(&mut page);
}

/// The kernel's id of the calling thread.
pub fn thread_id() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned()
}

/// The kernel's id of this process.
pub fn process_id() -> u32 {
    rustix::process::getpid().as_raw_nonzero().get().cast_unsigned()
}

#[cfg(test)]
#[path = "scheduling_tests.rs"]
mod tests;
