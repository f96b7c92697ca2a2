//! Pipes for what other processes print, and this process's own when the reader is gone.

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

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

/// Which file a descriptor leads to, as a number that another process knows it by.
///
/// # Errors
/// As `fstat(2)`.
pub fn inode(of: impl AsFd) -> io::Result<u64> {
    Ok(rustix::fs::fstat(of)?.st_ino)
}

/// The reading ends of the pipes that this process prints to. While it has them, printing does not end it (SIGPIPE) although the process that
/// read them is gone.
#[derive(Debug)]
pub struct OwnOutput(Vec<OwnedFd>);

impl OwnOutput {
    /// Of standard output and standard error those that are pipes with one of these inodes.
    pub fn keep(inodes: &[u64]) -> Self {
        let open = |number: u32| {
            let path = format!("/proc/self/fd/{number}");
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let end = rustix::fs::open(path, flags, Mode::empty()).ok()?;
            let found = rustix::fs::fstat(&end).ok()?;
            let is_pipe = FileType::from_raw_mode(found.st_mode) == FileType::Fifo;
            (is_pipe && inodes.contains(&found.st_ino)).then_some(end)
        };
        Self([1, 2].into_iter().filter_map(open).collect())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads what is printed and forgets it, so that whoever prints never waits: for a process whose reader is gone. Returns when nothing
    /// of the process's prints there any more, which may be never.
    pub fn discard(mut self) {
        let mut bytes = [0; 4096];
        while !self.0.is_empty() {
            let ends: Vec<BorrowedFd<'_>> = self.0.iter().map(AsFd::as_fd).collect();
            if crate::control::poll(&ends, None).is_err() {
                return self.keep_open();
            }
            self.0.retain(|end| match rustix::io::read(end, &mut bytes) {
                Ok(0) => false,
                Ok(_) | Err(Errno::AGAIN | Errno::INTR) => true,
                Err(_) => false,
            });
        }
    }

    /// Until the process ends.
    pub fn keep_open(self) {
        // The list itself goes: a leak checker would find it.
        self.0.into_iter().for_each(std::mem::forget);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pipes_that_are_named_are_kept() {
        assert!(OwnOutput::keep(&[]).0.is_empty());
        let Pipe { read: end, write: to } = pipe().expect("a pipe");
        assert_eq!(inode(&end).expect("a file"), inode(&to).expect("a file"));
    }
}
