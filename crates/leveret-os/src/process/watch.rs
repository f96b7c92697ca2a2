//! Watching and signalling a process through its descriptor.

use crate::Failure;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus};
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// It returned this status.
    Status(i32),
    /// A signal ended it.
    Signal(i32),
}

impl Exit {
    /// Whether it returned 0.
    pub fn is_success(self) -> bool {
        self == Self::Status(0)
    }

    /// Whether the program itself may have wanted to end: it returned, or aborted, as C++ does where nobody catches an exception.
    pub fn is_by_program(self) -> bool {
        matches!(self, Self::Status(_) | Self::Signal(libc::SIGABRT))
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(out, "exit status {status}"),
            Self::Signal(libc::SIGXFSZ) => write!(
                out,
                "signal {} (SIGXFSZ: a file grew beyond the limit on the size of files; `ulimit -f unlimited`)",
                libc::SIGXFSZ
            ),
            Self::Signal(number) => match signal_name(*number) {
                Some(name) => write!(out, "signal {number} ({name})"),
                None => write!(out, "signal {number}"),
            },
        }
    }
}

/// The usual name of a signal, such as `SIGKILL`.
pub fn signal_name(number: i32) -> Option<&'static str> {
    Some(match number {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGSTOP => "SIGSTOP",
        libc::SIGTSTP => "SIGTSTP",
        libc::SIGTTIN => "SIGTTIN",
        libc::SIGTTOU => "SIGTTOU",
        libc::SIGCONT => "SIGCONT",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGSYS => "SIGSYS",
        _ => return None,
    })
}

/// What happened to a child.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// It was stopped by this signal.
    Stopped(i32),
    /// It went on after a stop.
    Continued,
    /// It ended, and has been reaped.
    Ended(Exit),
}

/// Why a process could not be watched or signalled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WatchError {
    /// The process has ended and was reaped.
    #[error("the process is gone ({0})")]
    Gone(Failure),
    /// The process is not a child of this one; only its end can be polled for.
    #[error("not a child of this process ({0}); poll its descriptor instead")]
    NotAChild(Failure),
    /// The kernel refused.
    #[error("{0}; too many open files (`ulimit -n`), or no right to signal this process")]
    Refused(Failure),
}

impl WatchError {
    fn of(call: &'static str) -> impl Fn(Errno) -> Self {
        move |errno| {
            let failure = Failure::new(call, errno);
            match errno {
                Errno::SRCH => Self::Gone(failure),
                Errno::CHILD => Self::NotAChild(failure),
                _ => Self::Refused(failure),
            }
        }
    }
}

/// A descriptor that stands for one process. It becomes readable when the process ends.
#[derive(Debug)]
pub struct PidFd(OwnedFd);

impl PidFd {
    /// Of any process that this user may see. For one that is not a child the id may have been reused meanwhile:
    /// the caller checks afterwards that it is still the process that was meant.
    ///
    /// # Errors
    ///
    /// [`WatchError`].
    pub fn open(pid: u32) -> Result<Self, WatchError> {
        Self::of_child(pid)
    }

    pub(super) fn of_child(pid: u32) -> Result<Self, WatchError> {
        let failed = WatchError::of("pidfd_open");
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(|| failed(Errno::SRCH))?;
        rustix::process::pidfd_open(pid, PidfdFlags::empty()).map(Self).map_err(failed)
    }

    /// Sends a signal.
    ///
    /// # Errors
    ///
    /// [`WatchError::Gone`] once it was reaped, [`WatchError::Refused`] without the right.
    pub fn signal(&self, signal: Signal) -> Result<(), WatchError> {
        rustix::process::pidfd_send_signal(&self.0, signal).map_err(WatchError::of("pidfd_send_signal"))
    }

    /// Waits for the end of a child and reaps it.
    ///
    /// # Errors
    ///
    /// [`WatchError`].
    pub fn wait(&self) -> Result<Exit, WatchError> {
        loop {
            match self.wait_for(WaitIdOptions::EXITED) {
                Ok(Some(Change::Ended(exit))) => return Ok(exit),
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(WatchError::of("waitid")(errno)),
            }
        }
    }

    /// Takes the child's next change, if there is one. Stops and continuations are not pollable: ask now and then.
    ///
    /// # Errors
    ///
    /// [`WatchError`], in particular after its end was taken.
    pub fn next_change(&self) -> Result<Option<Change>, WatchError> {
        let all =
            WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::CONTINUED | WaitIdOptions::NOHANG;
        self.wait_for(all).map_err(WatchError::of("waitid"))
    }

    fn wait_for(&self, options: WaitIdOptions) -> Result<Option<Change>, Errno> {
        Ok(rustix::process::waitid(WaitId::PidFd(self.0.as_fd()), options)?.as_ref().and_then(change_of))
    }
}

fn change_of(status: &WaitIdStatus) -> Option<Change> {
    if let Some(status) = status.exit_status() {
        Some(Change::Ended(Exit::Status(status)))
    } else if let Some(signal) = status.terminating_signal() {
        Some(Change::Ended(Exit::Signal(signal)))
    } else if let Some(signal) = status.stopping_signal().or(status.trapping_signal()) {
        Some(Change::Stopped(signal))
    } else {
        status.continued().then_some(Change::Continued)
    }
}

impl AsFd for PidFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
