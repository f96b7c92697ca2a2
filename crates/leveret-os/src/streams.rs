//! Pipes for what other processes print.

use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// What an ordinary user may ask for: a member goes on for so long when nobody reads what it prints.
const WIDE_BYTES: usize = 1 << 20;

/// The two ends of a pipe; neither is inherited.
#[derive(Debug)]
pub struct Pipe {
    /// From here.
    pub read: OwnedFd,
    /// To here.
    pub write: OwnedFd,
}

/// A pipe of the usual width.
///
/// # Errors
/// When there is no further descriptor.
pub fn pipe() -> io::Result<Pipe> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok(Pipe { read, write })
}

/// A pipe with much room, where the user's share of the kernel's memory allows it.
///
/// # Errors
/// When there is no further descriptor.
pub fn wide_pipe() -> io::Result<Pipe> {
    let made = pipe()?;
    // A narrow one serves as well.
    let _ = fcntl_setpipe_size(&made.write, WIDE_BYTES);
    Ok(made)
}

/// What is there, waiting for it if need be; 0 once no writer is left.
///
/// # Errors
/// As `read(2)`.
pub fn read(from: impl AsFd, bytes: &mut [u8]) -> io::Result<usize> {
    loop {
        match rustix::io::read(&from, &mut *bytes) {
            Err(rustix::io::Errno::INTR) => {}
            answer => return Ok(answer?),
        }
    }
}

/// As much as there is room for.
///
/// # Errors
/// As `write(2)`.
pub fn write(to: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::io::write(to, bytes)?)
}
