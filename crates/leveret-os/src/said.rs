//! What people read on standard error, from several processes at once: each line goes out in one piece.

use crate::streams;
use leveret_memory::sync::{AtomicBool, Ordering};
use std::io::{self, IoSlice, Write};

/// More parts than these are not put together.
const PARTS_MAX: usize = 8;

/// Says a line that is put together of these, or several lines, in one write, without memory; nothing is left to do when that fails. What
/// two processes say at once stays apart so.
///
/// # Panics
/// With more than seven parts.
pub fn say(parts: &[&str]) {
    assert!(parts.len() < PARTS_MAX, "{} parts, of which there can be {}", parts.len(), PARTS_MAX - 1);
    let mut slices = [IoSlice::new(b""); PARTS_MAX];
    for (slice, part) in slices.iter_mut().zip(parts) {
        *slice = IoSlice::new(part.as_bytes());
    }
    slices[parts.len()] = IoSlice::new(b"\n");
    let _ = write_whole(&mut io::stderr().lock(), &mut slices);
}

/// A line stands on the terminal that the next one is to replace.
static STATUS_SHOWN: AtomicBool = AtomicBool::new(false);
/// Back to the beginning of the line, which is emptied.
const CLEAR_LINE: &[u8] = b"\r\x1b[K";

/// Shows a line on the terminal that standard error leads to, until another, or anything else, is printed there.
pub fn show_status(line: &str) {
    STATUS_SHOWN.store(true, Ordering::Release);
    // A terminal that cannot be written to shows no status.
    let _ = io::stderr().write_all(&[CLEAR_LINE, line.as_bytes()].concat());
}

/// Empties the line of the status, if there is one.
pub fn clear_status() {
    if STATUS_SHOWN.swap(false, Ordering::AcqRel) {
        let _ = streams::write(rustix::stdio::stderr(), CLEAR_LINE);
    }
}

/// Prints whole lines to standard error without the lock of this process's other threads: none of them waits for this one, which may have
/// no core for long.
///
/// # Errors
/// As `write(2)`.
pub fn print_apart(mut lines: &[u8]) -> io::Result<()> {
    while !lines.is_empty() {
        match streams::write(rustix::stdio::stderr(), lines) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => lines = &lines[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// One write, and more only for what a pipe has no room for.
fn write_whole(out: &mut impl Write, mut slices: &mut [IoSlice<'_>]) -> io::Result<()> {
    while slices.iter().any(|slice| !slice.is_empty()) {
        match out.write_vectored(slices) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut slices, written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so much at once.
    struct Narrow {
        room: usize,
        writes: Vec<String>,
    }

    impl Write for Narrow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.write_vectored(&[IoSlice::new(bytes)])
        }

        fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
            let whole: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).collect();
            let taken = &whole[..whole.len().min(self.room)];
            self.writes.push(String::from_utf8_lossy(taken).into_owned());
            Ok(taken.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(room: usize) -> (io::Result<()>, Vec<String>) {
        let mut out = Narrow { room, writes: Vec::new() };
        let mut slices = ["leveret: ", "", "a sentence", "\n"].map(|part| IoSlice::new(part.as_bytes()));
        (write_whole(&mut out, &mut slices), out.writes)
    }

    #[test]
    fn a_line_is_one_write_where_it_has_room() {
        let (answer, writes) = written(1000);
        assert!(answer.is_ok());
        assert_eq!(writes, ["leveret: a sentence\n"]);
        let (answer, writes) = written(7);
        assert!(answer.is_ok());
        assert_eq!(writes, ["leveret", ": a sen", "tence\n"]);
        assert_eq!(written(0).0.map_err(|error| error.kind()), Err(io::ErrorKind::WriteZero));
    }
}
