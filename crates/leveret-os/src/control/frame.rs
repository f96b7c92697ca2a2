//! Frames: how they go out, and how they are put together again from what arrives.

use crate::Failure;
use crate::clock;
use leveret_types::Nanos;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use rustix::time::Timespec;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

/// Largest body of a frame.
pub const BODY_BYTES_MAX: usize = 16 << 20;
/// Most descriptors of a frame: what the kernel passes with one message (`SCM_MAX_FD`).
pub const DESCRIPTORS_MAX: usize = 253;

const MAGIC: u32 = u32::from_le_bytes(*b"LVRC");
const HEADER_BYTES: usize = 12;
/// Bytes taken at a time, and so the most that is allocated ahead of what has arrived.
const CHUNK_BYTES: usize = 64 << 10;
const ANCILLARY_BYTES: usize = rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX));

/// One control message.
#[derive(Debug)]
pub struct Frame {
    /// What it says.
    pub bytes: Vec<u8>,
    /// The descriptors that came with it, in the sender's order, closed on exec.
    pub fds: Vec<OwnedFd>,
}

/// Why a frame was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SendError {
    /// The body is too large.
    #[error("a control message has at most {BODY_BYTES_MAX} B, this one has {bytes} B; split it")]
    TooLarge {
        /// Size of the body.
        bytes: usize,
    },
    /// Too many descriptors.
    #[error(
        "a control message carries at most {DESCRIPTORS_MAX} descriptors, this one has {count}; split it"
    )]
    TooManyDescriptors {
        /// How many there are.
        count: usize,
    },
    /// The peer is gone.
    #[error("the peer has closed the control connection")]
    Closed,
    /// The peer does not read.
    #[error("the peer does not read its control connection; it hangs or was stopped")]
    TimedOut,
    /// An earlier frame went out in part.
    #[error("an earlier control message went out in part; close this connection and make a new one")]
    Broken,
    /// The kernel refused.
    #[error("sending a control message: {0}")]
    Refused(Failure),
}

/// Why no frame was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReceiveError {
    /// The peer closed the connection between two frames.
    #[error("the peer has closed the control connection")]
    Closed,
    /// The peer closed the connection, or died, within a frame.
    #[error(
        "the control connection ended within a message: {arrived} B of {expected} B; the peer died or broke off"
    )]
    Truncated {
        /// What arrived of header and body.
        arrived: usize,
        /// What was announced; the header's length while it was incomplete.
        expected: usize,
    },
    /// The bytes are not of this protocol.
    #[error(
        "control message: expected magic {MAGIC:#010x}, found {found:#010x}; the peer speaks another protocol"
    )]
    Magic {
        /// What stood in its place.
        found: u32,
    },
    /// A longer body than allowed was announced. Nothing was allocated for it.
    #[error("control message: a body of {bytes} B was announced, the limit is {limit} B; refuse this peer")]
    TooLarge {
        /// What was announced.
        bytes: u32,
        /// What is allowed.
        limit: usize,
    },
    /// Another number of descriptors came than was announced.
    #[error(
        "control message: {announced} descriptors were announced and {found} came; either the peer lies or \
         `ulimit -n` is too low"
    )]
    Descriptors {
        /// What was announced.
        announced: u32,
        /// What came.
        found: usize,
    },
    /// Nothing came in time.
    #[error("no control message came in time")]
    TimedOut,
    /// The kernel refused.
    #[error("receiving a control message: {0}")]
    Refused(Failure),
}

/// What of the frames that go out.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// One went out in part: whatever followed would be read as its rest.
    broken: bool,
    /// How long a frame may take to go out, all of its pieces together, and a quarter more for each MiB.
    pub(super) within: Option<Duration>,
}

/// Sends a frame.
pub(super) fn send(
    socket: BorrowedFd<'_>,
    body: &[u8],
    descriptors: &[BorrowedFd<'_>],
    outgoing: &mut Outgoing,
) -> Result<(), SendError> {
    if outgoing.broken {
        return Err(SendError::Broken);
    }
    if body.len() > BODY_BYTES_MAX {
        return Err(SendError::TooLarge { bytes: body.len() });
    }
    if descriptors.len() > DESCRIPTORS_MAX {
        return Err(SendError::TooManyDescriptors { count: descriptors.len() });
    }
    let until = outgoing.within.map(|within| {
        // A large frame takes a peer longer to read.
        let within = within + within / 4 * (body.len() >> 20) as u32;
        clock::now() + Nanos(i64::try_from(within.as_nanos()).unwrap_or(i64::MAX))
    });
    let wait = if until.is_some() { SendFlags::DONTWAIT } else { SendFlags::empty() };
    let header = header(body.len() as u32, descriptors.len() as u32);
    let total = HEADER_BYTES + body.len();
    let mut sent = 0;
    while sent < total {
        let rest = [
            IoSlice::new(&header[sent.min(HEADER_BYTES)..]),
            IoSlice::new(&body[sent.saturating_sub(HEADER_BYTES)..]),
        ];
        let mut space = [MaybeUninit::uninit(); ANCILLARY_BYTES];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        // Descriptors go with the first byte; a repeated send would pass them twice.
        if sent == 0
            && !descriptors.is_empty()
            && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors))
        {
            return Err(SendError::TooManyDescriptors { count: descriptors.len() });
        }
        match rustix::net::sendmsg(socket, &rest, &mut ancillary, SendFlags::NOSIGNAL | wait) {
            Ok(bytes) => sent += bytes,
            Err(Errno::INTR) => {}
            Err(Errno::PIPE | Errno::CONNRESET) => return Err(SendError::Closed),
            Err(Errno::AGAIN) => await_room(socket, until)?,
            Err(errno) => return Err(SendError::Refused(Failure::new("sendmsg", errno))),
        }
        outgoing.broken = sent < total && sent > 0;
    }
    Ok(())
}

/// Waits until the peer has read something, if it does before that.
fn await_room(socket: BorrowedFd<'_>, until: Option<Nanos>) -> Result<(), SendError> {
    let left = until.map(|until| until - clock::now());
    if left.is_some_and(|left| left <= Nanos::ZERO) {
        return Err(SendError::TimedOut);
    }
    let left = left.map(|left| Timespec { tv_sec: left.0 / 1_000_000_000, tv_nsec: left.0 % 1_000_000_000 });
    match rustix::event::poll(&mut [PollFd::from_borrowed_fd(socket, PollFlags::OUT)], left.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(SendError::Refused(Failure::new("poll", errno))),
    }
}

fn header(body_bytes: u32, descriptors: u32) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[0..4].copy_from_slice(&MAGIC.to_le_bytes());
    header[4..8].copy_from_slice(&body_bytes.to_le_bytes());
    header[8..12].copy_from_slice(&descriptors.to_le_bytes());
    header
}

/// What one read brought.
pub(super) enum Step {
    /// A whole frame.
    Whole(Frame),
    /// Part of one.
    Some,
    /// Nothing: the wait timed out, or there was none.
    NothingYet,
}

/// A frame that is arriving.
#[derive(Debug)]
pub(super) struct Incoming {
    header: [u8; HEADER_BYTES],
    header_bytes: usize,
    body: Vec<u8>,
    descriptors: Vec<OwnedFd>,
    /// Largest body that is taken.
    limit: usize,
    /// Bytes that have arrived in all.
    arrived: usize,
    /// Set by the first error that leaves the stream without a known frame boundary.
    failed: Option<ReceiveError>,
}

impl Incoming {
    pub(super) const fn new() -> Self {
        Self {
            header: [0; HEADER_BYTES],
            header_bytes: 0,
            body: Vec::new(),
            descriptors: Vec::new(),
            limit: BODY_BYTES_MAX,
            arrived: 0,
            failed: None,
        }
    }

    pub(super) fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes.min(BODY_BYTES_MAX);
    }

    pub(super) fn arrived(&self) -> usize {
        self.arrived
    }

    /// Reads once and says how far that got.
    pub(super) fn advance(&mut self, socket: BorrowedFd<'_>, wait: bool) -> Result<Step, ReceiveError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let step = self.read(socket, wait);
        if let Err(error) = &step {
            // Descriptors of a frame that will never be whole are closed with the connection: closing one may take time.
            self.failed = Some(*error);
            self.body = Vec::new();
        }
        step
    }

    fn read(&mut self, socket: BorrowedFd<'_>, wait: bool) -> Result<Step, ReceiveError> {
        let bytes = if self.header_bytes < HEADER_BYTES {
            self.read_header(socket, wait)?
        } else {
            self.read_body(socket, wait)?
        };
        match bytes {
            Some(0) => return Err(self.ended()),
            Some(bytes) => self.arrived = self.arrived.wrapping_add(bytes),
            None => return Ok(Step::NothingYet),
        }
        if self.header_bytes == HEADER_BYTES && self.body.len() == self.announced() as usize {
            self.header_bytes = 0;
            let (bytes, fds) = (std::mem::take(&mut self.body), std::mem::take(&mut self.descriptors));
            return Ok(Step::Whole(Frame { bytes, fds }));
        }
        Ok(Step::Some)
    }

    fn read_header(&mut self, socket: BorrowedFd<'_>, wait: bool) -> Result<Option<usize>, ReceiveError> {
        let (before, is_first) = (self.descriptors.len(), self.header_bytes == 0);
        let buffer = &mut self.header[self.header_bytes..];
        let Some(bytes) = receive(socket, buffer, &mut self.descriptors, wait)? else { return Ok(None) };
        let found = self.descriptors.len();
        // Each byte of a header that trickles in could bring as many again.
        if !is_first && found > before {
            return Err(ReceiveError::Descriptors { announced: 0, found });
        }
        self.header_bytes += bytes;
        if self.header_bytes == HEADER_BYTES {
            self.check_header()?;
        }
        Ok(Some(bytes))
    }

    fn read_body(&mut self, socket: BorrowedFd<'_>, wait: bool) -> Result<Option<usize>, ReceiveError> {
        let have = self.body.len();
        let take = (self.announced() as usize - have).min(CHUNK_BYTES);
        self.body.resize(have + take, 0);
        let expected = self.descriptors.len();
        let received = receive(socket, &mut self.body[have..], &mut self.descriptors, wait);
        self.body.truncate(have + received.as_ref().map_or(0, |bytes| bytes.unwrap_or(0)));
        let found = self.descriptors.len();
        if found > expected {
            return Err(ReceiveError::Descriptors { announced: self.word(8), found });
        }
        received
    }

    fn check_header(&self) -> Result<(), ReceiveError> {
        let (found, bytes, announced) = (self.word(0), self.announced(), self.word(8));
        if found != MAGIC {
            return Err(ReceiveError::Magic { found });
        }
        if bytes as usize > self.limit {
            return Err(ReceiveError::TooLarge { bytes, limit: self.limit });
        }
        if announced as usize != self.descriptors.len() {
            return Err(ReceiveError::Descriptors { announced, found: self.descriptors.len() });
        }
        Ok(())
    }

    fn word(&self, offset: usize) -> u32 {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&self.header[offset..offset + 4]);
        u32::from_le_bytes(bytes)
    }

    fn announced(&self) -> u32 {
        self.word(4)
    }

    fn ended(&self) -> ReceiveError {
        match self.header_bytes {
            0 => ReceiveError::Closed,
            HEADER_BYTES => ReceiveError::Truncated {
                arrived: HEADER_BYTES + self.body.len(),
                expected: HEADER_BYTES + self.announced() as usize,
            },
            arrived => ReceiveError::Truncated { arrived, expected: HEADER_BYTES },
        }
    }
}

/// One `recvmsg`: bytes into `buffer` (0 at the end of the stream, `None` when there are none yet), descriptors
/// onto `descriptors`.
fn receive(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
    wait: bool,
) -> Result<Option<usize>, ReceiveError> {
    let mut space = [MaybeUninit::uninit(); ANCILLARY_BYTES];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | if wait { RecvFlags::empty() } else { RecvFlags::DONTWAIT };
    let message = loop {
        match rustix::net::recvmsg(socket, &mut [IoSliceMut::new(buffer)], &mut ancillary, flags) {
            Ok(message) => break message,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Ok(None),
            // A peer that dies with frames of ours unread resets the connection.
            Err(Errno::CONNRESET) => return Ok(Some(0)),
            Err(errno) => return Err(ReceiveError::Refused(Failure::new("recvmsg", errno))),
        }
    };
    let before = descriptors.len();
    for part in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(passed) = part {
            descriptors.extend(passed);
        }
    }
    if message.flags.contains(ReturnFlags::CTRUNC) {
        // The kernel dropped some: this process may open no more files.
        return Err(ReceiveError::Descriptors { announced: u32::MAX, found: descriptors.len() - before });
    }
    Ok(Some(message.bytes))
}
