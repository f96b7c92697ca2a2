//! A system call that failed.

use rustix::io::Errno;

/// A system call that failed: which one, and what the kernel said. Every error of this crate carries one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{call}: {errno}")]
pub struct Failure {
    /// Name of the call as its manual page has it.
    pub call: &'static str,
    /// The kernel's answer.
    pub errno: Errno,
}

impl Failure {
    /// A failure of `call`.
    pub(crate) const fn new(call: &'static str, errno: Errno) -> Self {
        Self { call, errno }
    }

    /// The failure of a `libc` call that has just returned -1.
    pub(crate) fn last(call: &'static str) -> Self {
        Self::of_io(call, &std::io::Error::last_os_error())
    }

    /// From the standard library's error; one without an error number becomes `EIO`.
    pub(crate) fn of_io(call: &'static str, error: &std::io::Error) -> Self {
        Self { call, errno: Errno::from_io_error(error).unwrap_or(Errno::IO) }
    }

    /// Whether a right was missing (`EPERM` or `EACCES`).
    pub fn is_permission(&self) -> bool {
        matches!(self.errno, Errno::PERM | Errno::ACCESS)
    }
}
