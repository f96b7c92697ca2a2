//! Opening and mapping a perf event.

use crate::Failure;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use std::ffi::CStr;
use std::mem::offset_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

/// Why an event cannot be had.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PerfError {
    /// The kernel refused the event.
    #[error("{event} of {target}: {failure}; {}", open_remedy(failure))]
    Open {
        /// Which event.
        event: &'static str,
        /// Which thread or core.
        target: String,
        /// What the kernel said.
        failure: Failure,
    },
    /// The kernel refused the memory for it.
    #[error(
        "buffer for {event} of {target}: {failure}; raise kernel.perf_event_mlock_kb, or `ulimit -l`, or run as root"
    )]
    Map {
        /// Which event.
        event: &'static str,
        /// Which thread or core.
        target: String,
        /// What the kernel said.
        failure: Failure,
    },
    /// The tracepoint cannot be found.
    #[error(
        "tracepoint {name}: {failure}; it takes root, or a tracefs this user may read: \
         `sudo mount -o remount,mode=755 /sys/kernel/tracing`"
    )]
    Tracepoint {
        /// Which tracepoint.
        name: &'static str,
        /// What failed last.
        failure: Failure,
    },
    /// A counter could not be read.
    #[error("reading {event}: {failure}; the count is lost")]
    Read {
        /// Which event.
        event: &'static str,
        /// What the kernel said.
        failure: Failure,
    },
}

fn open_remedy(failure: &Failure) -> String {
    match failure.errno {
        Errno::ACCESS | Errno::PERM => {
            let level = paranoid_level().map_or_else(|| "unknown".to_owned(), |level| level.to_string());
            format!(
                "kernel.perf_event_paranoid is {level}: `sudo sysctl kernel.perf_event_paranoid=0`, or give CAP_PERFMON"
            )
        }
        Errno::SRCH => "the thread has ended".to_owned(),
        Errno::MFILE => "too many open files; raise `ulimit -n`".to_owned(),
        Errno::NODEV => "the core is off line".to_owned(),
        _ => "this kernel was built without it".to_owned(),
    }
}

/// The setting `kernel.perf_event_paranoid`; `None` where the kernel has no perf events.
pub fn paranoid_level() -> Option<i32> {
    std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?.trim().parse().ok()
}

pub(super) const TYPE_SOFTWARE: u32 = 1;
pub(super) const TYPE_TRACEPOINT: u32 = 2;
pub(super) const SOFTWARE_TASK_CLOCK: u64 = 1;
pub(super) const SOFTWARE_PAGE_FAULTS: u64 = 2;
pub(super) const SOFTWARE_DUMMY: u64 = 9;

pub(super) const SAMPLE_TID: u64 = 1 << 1;
pub(super) const SAMPLE_TIME: u64 = 1 << 2;
pub(super) const SAMPLE_ADDRESS: u64 = 1 << 3;
pub(super) const SAMPLE_CPU: u64 = 1 << 7;
pub(super) const SAMPLE_RAW: u64 = 1 << 10;

pub(super) const EXCLUDE_KERNEL: u64 = 1 << 5;
pub(super) const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
pub(super) const COMM: u64 = 1 << 9;
pub(super) const TASK: u64 = 1 << 13;
pub(super) const SAMPLE_ID_ALL: u64 = 1 << 18;
pub(super) const USE_CLOCK_ID: u64 = 1 << 25;
pub(super) const CONTEXT_SWITCH: u64 = 1 << 26;

/// `struct perf_event_attr` as of Linux 4.1 (`PERF_ATTR_SIZE_VER5`), which later kernels take as it is.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Attributes {
    pub kind: u32,
    size: u32,
    pub config: u64,
    pub sample_period: u64,
    pub sample_type: u64,
    read_format: u64,
    pub flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config_1: u64,
    config_2: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clock_id: i32,
    sample_regs_interrupt: u64,
    aux_watermark: u32,
    sample_stack_max: u16,
    reserved: u16,
}
const ATTRIBUTES_BYTES: u32 = 112;
const _: () = assert!(size_of::<Attributes>() == ATTRIBUTES_BYTES as usize);
const _: () = assert!(offset_of!(Attributes, flags) == 40 && offset_of!(Attributes, clock_id) == 92);

impl Attributes {
    pub(super) fn new(kind: u32, config: u64, flags: u64) -> Self {
        Self {
            kind,
            size: ATTRIBUTES_BYTES,
            config,
            flags,
            clock_id: libc::CLOCK_MONOTONIC,
            ..Self::default()
        }
    }
}

/// Whose events are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    /// A thread, wherever it runs; 0 is the calling one.
    Thread(u32),
    /// A core, whoever runs there.
    Core(u32),
}

impl std::fmt::Display for Target {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Thread(0) => out.write_str("this thread"),
            Self::Thread(thread) => write!(out, "thread {thread}"),
            Self::Core(core) => write!(out, "core {core}"),
        }
    }
}

/// An open event.
#[derive(Debug)]
pub(super) struct Event {
    pub name: &'static str,
    pub target: Target,
    file: OwnedFd,
}

impl Event {
    pub(super) fn open(
        name: &'static str,
        attributes: &Attributes,
        target: Target,
    ) -> Result<Self, PerfError> {
        const CLOSE_ON_EXEC: libc::c_ulong = 8;
        let refused = |failure| PerfError::Open { event: name, target: target.to_string(), failure };
        let (thread, core) = match target {
            Target::Thread(thread) => (i32::try_from(thread), Ok(-1)),
            Target::Core(core) => (Ok(-1), i32::try_from(core)),
        };
        let (Ok(thread), Ok(core)) = (thread, core) else {
            return Err(refused(Failure::new("perf_event_open", Errno::SRCH)));
        };
        // SAFETY: the kernel reads `attributes.size` bytes, which the structure has; the rest are integers.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                std::ptr::from_ref(attributes),
                thread,
                core,
                -1,
                CLOSE_ON_EXEC,
            )
        };
        if answer < 0 {
            return Err(refused(Failure::last("perf_event_open")));
        }
        // SAFETY: the call succeeded, so the number is a fresh descriptor that nobody else owns.
        let file = unsafe { OwnedFd::from_raw_fd(answer as i32) };
        Ok(Self { name, target, file })
    }

    /// Lets only those of a tracepoint's events through that the filter names, in the kernel's own language.
    pub(super) fn filter(&self, filter: &CStr) -> Result<(), PerfError> {
        /// `PERF_EVENT_IOC_SET_FILTER`
        const SET_FILTER: libc::Ioctl = 0x4008_2406;
        // SAFETY: the descriptor is open, and the text is a C string that lives through the call.
        let answer = unsafe { libc::ioctl(self.file.as_raw_fd(), SET_FILTER, filter.as_ptr()) };
        let refused =
            |failure| PerfError::Open { event: self.name, target: self.target.to_string(), failure };
        if answer < 0 { Err(refused(Failure::last("ioctl"))) } else { Ok(()) }
    }

    /// Maps the event's control page and `data_pages` of buffer (none, or a power of two) behind it.
    pub(super) fn map(&self, data_pages: usize) -> Result<Mapped, PerfError> {
        let length = (1 + data_pages) * page_bytes();
        let protection = if data_pages == 0 { ProtFlags::READ } else { ProtFlags::READ | ProtFlags::WRITE };
        let refused = |errno| PerfError::Map {
            event: self.name,
            target: self.target.to_string(),
            failure: Failure::new("mmap", errno),
        };
        Mapped::new(self.file.as_fd(), length, protection).map_err(refused)
    }

    /// The count so far. A system call.
    pub(super) fn read(&self) -> Result<u64, PerfError> {
        let mut count = [0_u8; 8];
        let failed = |errno| PerfError::Read { event: self.name, failure: Failure::new("read", errno) };
        match rustix::io::read(&self.file, &mut count) {
            Ok(8) => Ok(u64::from_ne_bytes(count)),
            Ok(_) => Err(failed(Errno::NODATA)),
            Err(errno) => Err(failed(errno)),
        }
    }
}

/// A file about a tracepoint, which lies in tracefs at `path`.
pub(super) fn tracepoint_file(name: &'static str, path: &str) -> Result<String, PerfError> {
    let usual = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
    crate::detached::read(c"tracefs", &usual, path).map_err(|failure| PerfError::Tracepoint { name, failure })
}

/// The kernel's number of a tracepoint, which lies in tracefs at `path`.
pub(super) fn tracepoint_id(name: &'static str, path: &str) -> Result<u64, PerfError> {
    let text = tracepoint_file(name, path)?;
    let failure = Failure::new("read", Errno::BADMSG);
    text.parse().map_err(|_| PerfError::Tracepoint { name, failure })
}

/// Where a field of a tracepoint lies, from the kernel's description of its format: lines such as
/// `field:pid_t prev_pid; offset:24; size:4; signed:1;`, with tabs between the parts. `None` where there is none of this size.
pub(super) fn field(format: &str, name: &str, bytes: usize) -> Option<usize> {
    format.lines().find_map(|line| {
        let mut parts = line.trim().split(';').map(str::trim);
        let declared = parts.next()?.strip_prefix("field:")?.split([' ', '[']).any(|word| word == name);
        let offset = parts.next()?.strip_prefix("offset:")?.parse().ok()?;
        let size: usize = parts.next()?.strip_prefix("size:")?.parse().ok()?;
        (declared && size == bytes).then_some(offset)
    })
}

pub(super) fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// `struct perf_event_mmap_page`, as far as it is used.
///
/// ```text
///  0         4        8      12      16       24        32        40
///  | version | compat | lock | index | offset | enabled | running | capabilities
///  48      50      52     56       64          1024   1032   1040          1048
///  | width | shift | mult | offset | zero ... | head | tail | data offset | data size |
/// ```
#[repr(C)]
pub(super) struct ControlPage {
    version: u32,
    compatible_version: u32,
    pub lock: u32,
    index: u32,
    pub offset: i64,
    time_enabled: u64,
    pub time_running: u64,
    capabilities: u64,
    counter_width: u16,
    time_shift: u16,
    time_mult: u32,
    time_offset: u64,
    time_zero: u64,
    reserved: [u8; 1024 - 72],
    pub data_head: u64,
    pub data_tail: u64,
    data_offset: u64,
    data_size: u64,
}
const _: () = assert!(offset_of!(ControlPage, lock) == 8 && offset_of!(ControlPage, time_mult) == 52);
const _: () = assert!(offset_of!(ControlPage, data_head) == 1024 && size_of::<ControlPage>() == 1056);

/// A mapped event; unmapped when dropped.
#[derive(Debug)]
pub(super) struct Mapped {
    base: NonNull<u8>,
    pub length: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread; its fields never change.
unsafe impl Send for Mapped {}

impl Mapped {
    /// Maps a file of the kernel's to be read.
    pub(super) fn of(file: BorrowedFd<'_>, length: usize) -> Result<Self, Errno> {
        Self::new(file, length, ProtFlags::READ)
    }

    fn new(file: BorrowedFd<'_>, length: usize, protection: ProtFlags) -> Result<Self, Errno> {
        // SAFETY: a null hint lets the kernel choose an unused range, so no existing mapping is touched.
        let base =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, file, 0) }?;
        let base = NonNull::new(base).ok_or(Errno::FAULT)?;
        Ok(Self { base: base.cast(), length })
    }

    /// The control page. The kernel writes it at any time: fields are read with volatile or atomic loads only.
    pub(super) fn page(&self) -> *mut ControlPage {
        self.base.as_ptr().cast()
    }

    /// The byte at `offset`, which is at most `length`.
    pub(super) fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset <= self.length, "offset {offset} lies beyond the mapping of {} B", self.length);
        // SAFETY: within the mapping, or one past its end, by the assertion.
        unsafe { self.base.as_ptr().add(offset) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `Mapped::new`, and no pointer into it outlives `self`. The only failures
        // are wrong arguments, which the fields exclude.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.length) };
    }
}
