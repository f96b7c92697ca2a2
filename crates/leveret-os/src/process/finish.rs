//! The end of this process, now.

use std::num::NonZeroU8;

unsafe extern "C" {
    /// The C library's standard output.
    static stdout: *mut libc::FILE;
}

/// Ends this process with a code. What the C library still has to print to standard output is printed; no destructor and no function that
/// `atexit` knows runs, since other threads may be at what they would take away.
pub fn end_at_once(code: NonZeroU8) -> ! {
    // SAFETY: the C library's own stream, which lives as long as the process; `fflush` takes its lock.
    unsafe { libc::fflush(stdout) };
    // SAFETY: it ends the process, and nothing is used after it.
    unsafe { libc::_exit(i32::from(code.get())) }
}
