//! Carries what members print to where the agent's own streams lead. Two ordinary threads do it, one for standard output and one for
//! standard error, so that neither the watcher nor the other stream waits for a reader that is slow. A member whose output is not read
//! fast enough waits when it prints, as with any pipe: nothing is dropped, and the agent holds one piece of a line for each stream.

use crate::lines::Lines;
use leveret_memory::sync::{AtomicBool, Ordering};
use leveret_os::control::poll;
use leveret_os::said;
use leveret_os::streams::{self, Pipe};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Taken from one stream before the others have their turn.
const TURN_BYTES: usize = 16 << 10;
/// Written at once where a line ends: less than what a datagram takes.
const WRITE_BYTES: usize = 32 << 10;

/// How what members print is passed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MemberOutput {
    /// Line by line with the member's name, and nothing that commands a terminal.
    #[default]
    Lines,
    /// Members have the agent's own streams.
    Raw,
}

/// Where lines go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Destination {
    Output,
    Error,
}

/// The two threads.
pub(crate) struct Carriers {
    output: Carrier,
    error: Carrier,
}

impl Carriers {
    /// Starts them, with the scheduling of this thread.
    pub(crate) fn start() -> io::Result<Self> {
        Ok(Self { output: Carrier::start(Destination::Output)?, error: Carrier::start(Destination::Error)? })
    }

    /// A stream for a member to print to.
    pub(crate) fn stream(&self, member: &str, to: Destination) -> io::Result<OwnedFd> {
        let carrier = if to == Destination::Output { &self.output } else { &self.error };
        carrier.stream(member)
    }

    /// Passes on what is left. Whoever could still print has ended, or is out of reach.
    pub(crate) fn finish(self) {
        self.output.finish();
        self.error.finish();
    }
}

/// One thread, with what it is handed.
struct Carrier {
    shared: Arc<Shared>,
    wake: OwnedFd,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    /// Streams that the thread does not know yet.
    fresh: Mutex<Vec<Source>>,
    is_ending: AtomicBool,
}

struct Source {
    lines: Lines,
    from: OwnedFd,
}

impl Carrier {
    fn start(to: Destination) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let Pipe { read, write } = streams::pipe()?;
        let seen = shared.clone();
        let name = if to == Destination::Output { "leveret-stdout" } else { "leveret-stderr" };
        let thread =
            std::thread::Builder::new().name(name.to_owned()).spawn(move || carry(&seen, &read, to))?;
        Ok(Self { shared, wake: write, thread })
    }

    fn stream(&self, member: &str) -> io::Result<OwnedFd> {
        let Pipe { read, write } = streams::wide_pipe()?;
        let source = Source { lines: Lines::new(member), from: read };
        self.shared.fresh.lock().unwrap_or_else(PoisonError::into_inner).push(source);
        streams::write(&self.wake, b"+")?;
        Ok(write)
    }

    fn finish(self) {
        self.shared.is_ending.store(true, Ordering::Release);
        // Closed, it wakes the thread for good.
        drop(self.wake);
        let _ = self.thread.join();
    }
}

fn carry(shared: &Shared, wake: &OwnedFd, to: Destination) {
    let mut sources: Vec<Source> = Vec::new();
    let mut bytes = vec![0; TURN_BYTES];
    let mut printer = Printer { to, has_failed: false };
    loop {
        // Looked at before the streams: what was printed before the end is read after it.
        let is_ending = shared.is_ending.load(Ordering::Acquire);
        sources.append(&mut shared.fresh.lock().unwrap_or_else(PoisonError::into_inner));
        let mut descriptors: Vec<BorrowedFd<'_>> = sources.iter().map(|source| source.from.as_fd()).collect();
        if !is_ending {
            descriptors.push(wake.as_fd());
        }
        let patience = is_ending.then_some(std::time::Duration::ZERO);
        let Ok(ready) = poll(&descriptors, patience) else { return };
        if !is_ending && ready.last().is_some_and(|wake| wake.any()) {
            let _ = streams::read(wake, &mut bytes);
        }
        let mut out = String::new();
        let mut ended = vec![false; sources.len()];
        for (place, source) in sources.iter_mut().enumerate().filter(|(place, _)| ready[*place].any()) {
            match streams::read(&source.from, &mut bytes) {
                Ok(count) if count > 0 => source.lines.feed(&bytes[..count], &mut out),
                Ok(_) | Err(_) => ended[place] = true,
            }
            printer.print(&mut out);
        }
        let is_quiet = !ready.iter().any(|stream| stream.any());
        for (source, _) in
            sources.iter_mut().zip(&ended).filter(|(_, ended)| **ended || (is_ending && is_quiet))
        {
            source.lines.finish(&mut out);
        }
        printer.print(&mut out);
        let mut has_ended = ended.into_iter();
        sources.retain(|_| !has_ended.next().unwrap_or(false));
        if is_ending && is_quiet {
            return;
        }
    }
}

struct Printer {
    to: Destination,
    has_failed: bool,
}

impl Printer {
    /// Prints and clears; once nobody reads any more, what members print is taken from them all the same.
    fn print(&mut self, out: &mut String) {
        let mut rest = out.as_bytes();
        while !rest.is_empty() && !self.has_failed {
            let window = &rest[..rest.len().min(WRITE_BYTES)];
            let end = window.iter().rposition(|byte| *byte == b'\n').map_or(window.len(), |end| end + 1);
            if let Err(error) = self.write(&rest[..end]) {
                self.has_failed = true;
                // A reader that went away, as `head` does, is no news.
                if error.kind() != io::ErrorKind::BrokenPipe && self.to == Destination::Output {
                    said::say(&[
                        "warning: what members print to standard output is lost: ",
                        &error.to_string(),
                    ]);
                }
            }
            rest = &rest[end..];
        }
        out.clear();
    }

    fn write(&self, lines: &[u8]) -> io::Result<()> {
        said::clear_status();
        match self.to {
            Destination::Output => {
                let mut to = io::stdout().lock();
                to.write_all(lines).and_then(|()| to.flush())
            }
            Destination::Error => said::print_apart(lines),
        }
    }
}
