//! The control socket: frames and descriptors between an agent and its members, before and beside the data path.
//!
//! ```text
//!   0        4            8                 12
//!   | magic  | body bytes | descriptors     | body ...
//!   | "LVRC" | <= 16 MiB  | <= 253, passed  |
//!   |        |            | with byte 0     |
//! ```
//!
//! A Unix stream socket in a directory of mode 0700, both ends telling who they are (`SO_PEERCRED`). What the
//! peer sends is an allegation: lengths are bounded before anything is allocated, and memory grows with what has
//! really arrived.

mod frame;
mod listener;

pub use frame::{BODY_BYTES_MAX, DESCRIPTORS_MAX, Frame, ReceiveError, SendError};
pub use listener::{BindError, Listener, SOCKET_NAME, sweep};

use crate::Failure;
use frame::{Incoming, Outgoing, Step};
use leveret_types::Nanos;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::sockopt::Timeout;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::time::Timespec;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Who is at the other end, as the kernel knew it when the connection was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PeerCredentials {
    /// Process id.
    pub pid: u32,
    /// Effective user.
    pub uid: u32,
    /// Effective group.
    pub gid: u32,
}

/// Why a connection could not be made or asked about.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ConnectError {
    /// The path cannot be that of a socket.
    #[error("control socket {}: {failure}; a socket's path has at most 107 bytes: use a shorter directory", path.display())]
    Path {
        /// Which path.
        path: PathBuf,
        /// What failed.
        failure: Failure,
    },
    /// Nobody listens there, or the right is missing.
    #[error("control socket {}: {failure}; is the agent running, and as this user?", path.display())]
    Refused {
        /// Which path.
        path: PathBuf,
        /// What failed.
        failure: Failure,
    },
    /// The socket could not be made or asked.
    #[error("control socket: {0}")]
    Socket(Failure),
}

/// One end of a control connection. Any thread may send and receive; frames stay whole.
#[derive(Debug)]
pub struct Connection {
    socket: OwnedFd,
    incoming: Mutex<Incoming>,
    outgoing: Mutex<Outgoing>,
}

impl Connection {
    fn of(socket: OwnedFd) -> Self {
        Self { socket, incoming: Mutex::new(Incoming::new()), outgoing: Mutex::default() }
    }

    /// Connects to a listener's socket.
    ///
    /// # Errors
    ///
    /// [`ConnectError`].
    pub fn connect(path: &Path) -> Result<Self, ConnectError> {
        let address = SocketAddrUnix::new(path).map_err(|errno| ConnectError::Path {
            path: path.to_owned(),
            failure: Failure::new("connect", errno),
        })?;
        let socket = stream_socket().map_err(ConnectError::Socket)?;
        loop {
            match rustix::net::connect(&socket, &address) {
                Ok(()) => return Ok(Self::of(socket)),
                Err(Errno::INTR) => {}
                Err(errno) => {
                    return Err(ConnectError::Refused {
                        path: path.to_owned(),
                        failure: Failure::new("connect", errno),
                    });
                }
            }
        }
    }

    /// Two connected ends in one process, or for a child to inherit.
    ///
    /// # Errors
    ///
    /// [`ConnectError::Socket`].
    pub fn pair() -> Result<(Self, Self), ConnectError> {
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
            .map(|(left, right)| (Self::of(left), Self::of(right)))
            .map_err(|errno| ConnectError::Socket(Failure::new("socketpair", errno)))
    }

    /// Who is at the other end.
    ///
    /// # Errors
    ///
    /// [`ConnectError::Socket`].
    pub fn peer_credentials(&self) -> Result<PeerCredentials, ConnectError> {
        let found = rustix::net::sockopt::socket_peercred(&self.socket)
            .map_err(|errno| ConnectError::Socket(Failure::new("getsockopt(SO_PEERCRED)", errno)))?;
        Ok(PeerCredentials {
            pid: found.pid.as_raw_nonzero().get().cast_unsigned(),
            uid: found.uid.as_raw(),
            gid: found.gid.as_raw(),
        })
    }

    /// Bounds how long [`receive`](Self::receive) waits for the next bytes; `None` waits for ever.
    ///
    /// # Errors
    ///
    /// [`ConnectError::Socket`].
    pub fn set_receive_timeout(&self, timeout: Option<Duration>) -> Result<(), ConnectError> {
        // The kernel reads zero, and what rounds to it, as "for ever".
        let timeout = timeout.map(|duration| duration.max(Duration::from_micros(1)));
        rustix::net::sockopt::set_socket_timeout(&self.socket, Timeout::Recv, timeout)
            .map_err(|errno| ConnectError::Socket(Failure::new("setsockopt", errno)))
    }

    /// Bounds how long [`send`](Self::send) waits for a peer that does not read, or reads slowly; `None` waits for ever.
    pub fn set_send_timeout(&self, timeout: Option<Duration>) {
        self.outgoing().within = timeout;
    }

    /// Bounds the body of every frame whose header has not arrived yet, below [`BODY_BYTES_MAX`].
    pub fn set_receive_limit(&self, bytes: usize) {
        self.incoming().set_limit(bytes);
    }

    /// Sends one frame and the descriptors with it. Waits while the peer's buffer is full.
    ///
    /// # Errors
    ///
    /// [`SendError`]. After a frame that went out in part the connection takes no further one.
    pub fn send(&self, body: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<(), SendError> {
        frame::send(self.socket.as_fd(), body, descriptors, &mut self.outgoing())
    }

    /// Waits for the next whole frame.
    ///
    /// # Errors
    ///
    /// [`ReceiveError`]. After [`ReceiveError::TimedOut`] what has come of a frame is kept, and the next call
    /// goes on from there; after any other the connection is of no further use.
    pub fn receive(&self) -> Result<Frame, ReceiveError> {
        let mut incoming = self.incoming();
        loop {
            match incoming.advance(self.socket.as_fd(), true)? {
                Step::Whole(frame) => return Ok(frame),
                Step::NothingYet => return Err(ReceiveError::TimedOut),
                Step::Some => {}
            }
        }
    }

    /// Takes what has arrived, without waiting: the next whole frame, or `None` while it is incomplete. A slow
    /// or hostile peer cannot hold up a caller that polls.
    ///
    /// # Errors
    ///
    /// As for [`receive`](Self::receive), but never [`ReceiveError::TimedOut`].
    pub fn receive_arrived(&self) -> Result<Option<Frame>, ReceiveError> {
        let mut all = usize::MAX;
        self.receive_some(&mut all)
    }

    /// As [`receive_arrived`](Self::receive_arrived), until about so many bytes have been taken, which go off: what a peer that never stops has
    /// sent is not taken all at once.
    ///
    /// # Errors
    ///
    /// As for [`receive_arrived`](Self::receive_arrived).
    pub fn receive_some(&self, bytes_left: &mut usize) -> Result<Option<Frame>, ReceiveError> {
        let mut incoming = self.incoming();
        while *bytes_left > 0 {
            let before = incoming.arrived();
            let step = incoming.advance(self.socket.as_fd(), false)?;
            *bytes_left = bytes_left.saturating_sub(incoming.arrived().wrapping_sub(before));
            match step {
                Step::Whole(frame) => return Ok(Some(frame)),
                Step::NothingYet => return Ok(None),
                Step::Some => {}
            }
        }
        Ok(None)
    }

    /// Ends the connection for both, without waiting for anything. What has arrived and was not received stays until it is closed.
    pub fn shut(&self) {
        // It may have been ended by the peer.
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
    }

    fn outgoing(&self) -> MutexGuard<'_, Outgoing> {
        self.outgoing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn incoming(&self) -> MutexGuard<'_, Incoming> {
        self.incoming.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl From<OwnedFd> for Connection {
    /// Adopts a connected stream socket, such as one inherited from the parent.
    fn from(socket: OwnedFd) -> Self {
        Self::of(socket)
    }
}

fn stream_socket() -> Result<OwnedFd, Failure> {
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
        .map_err(|errno| Failure::new("socket", errno))
}

/// What a descriptor is ready for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Readiness {
    /// There is something to read, or an end of file to find.
    pub readable: bool,
    /// The other end is gone, or the descriptor is in error.
    pub hung_up: bool,
}

impl Readiness {
    /// Anything at all.
    pub fn any(self) -> bool {
        self.readable || self.hung_up
    }
}

/// Why polling failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PollError {
    /// The kernel refused.
    #[error("{0}; too many descriptors or too little memory: raise `ulimit -n`")]
    Refused(Failure),
}

/// Waits until one of `descriptors` is readable or hung up, or until `timeout` has passed (`None`: for ever), and
/// says what each is ready for, in order. Signals do not end the wait.
///
/// # Errors
///
/// [`PollError`].
pub fn poll(descriptors: &[BorrowedFd<'_>], timeout: Option<Duration>) -> Result<Vec<Readiness>, PollError> {
    let mut entries: Vec<_> =
        descriptors.iter().map(|descriptor| PollFd::from_borrowed_fd(*descriptor, PollFlags::IN)).collect();
    let until = timeout
        .map(|duration| crate::clock::now() + Nanos(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)));
    loop {
        let left = until
            .map(|until| (until - crate::clock::now()).0.max(0))
            .map(|left| Timespec { tv_sec: left / 1_000_000_000, tv_nsec: left % 1_000_000_000 });
        match rustix::event::poll(&mut entries, left.as_ref()) {
            Ok(_) => break,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(PollError::Refused(Failure::new("poll", errno))),
        }
    }
    Ok(entries
        .iter()
        .map(|entry| Readiness {
            readable: entry.revents().contains(PollFlags::IN),
            hung_up: entry.revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL),
        })
        .collect())
}

#[cfg(test)]
mod tests;
