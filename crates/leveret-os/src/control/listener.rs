//! The listening end of the control socket.

use super::{Connection, stream_socket};
use crate::Failure;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{SocketAddrUnix, SocketFlags};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Name of the socket in its directory.
pub const SOCKET_NAME: &str = "control";

/// Why the socket could not be opened.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BindError {
    /// The directory could not be made or looked at.
    #[error("directory {} for the control socket: {failure}; choose one that this user may write", directory.display())]
    Directory {
        /// Which directory.
        directory: PathBuf,
        /// What failed.
        failure: Failure,
    },
    /// Others could reach into the directory.
    #[error(
        "directory {} for the control socket: expected mode 0700 and owner {expected_owner}, found mode {mode:04o} \
         and owner {owner}; `chmod 700` it or choose another", directory.display()
    )]
    Exposed {
        /// Which directory.
        directory: PathBuf,
        /// Permission bits found.
        mode: u32,
        /// Owner found.
        owner: u32,
        /// This process's user.
        expected_owner: u32,
    },
    /// The socket could not be bound.
    #[error("control socket {}: {failure}; {}", path.display(), bind_remedy(failure))]
    Socket {
        /// Which path.
        path: PathBuf,
        /// What failed.
        failure: Failure,
    },
}

fn bind_remedy(failure: &Failure) -> &'static str {
    match failure.errno {
        Errno::ADDRINUSE => "another agent uses this directory, or one died there: use a fresh directory",
        Errno::NAMETOOLONG => "a socket's path has at most 107 bytes: use a shorter directory",
        Errno::MFILE | Errno::NFILE => "somebody holds connections without use, or `ulimit -n` is too low",
        _ => "choose a directory on a local file system that this user may write",
    }
}

/// The listening end. Dropping it removes the socket, and the directory too if [`Listener::bind`] made it.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    path: PathBuf,
    directory_made: bool,
}

impl Listener {
    /// Listens on the socket `control` in `directory`, which is made if absent and must belong to this user alone.
    ///
    /// # Errors
    ///
    /// [`BindError`].
    pub fn bind(directory: &Path) -> Result<Self, BindError> {
        let directory_made = own_directory(directory)?;
        let path = directory.join(SOCKET_NAME);
        let failed = |call| {
            let path = path.clone();
            move |errno| BindError::Socket { path, failure: Failure::new(call, errno) }
        };
        let address = SocketAddrUnix::new(&path).map_err(failed("bind"))?;
        let socket = stream_socket().map_err(|failure| BindError::Socket { path: path.clone(), failure })?;
        rustix::net::bind(&socket, &address).map_err(failed("bind"))?;
        let listener = Self { socket, path: path.clone(), directory_made };
        rustix::net::listen(&listener.socket, 256).map_err(failed("listen"))?;
        Ok(listener)
    }

    /// Path of the socket, for [`Connection::connect`].
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for the next connection.
    ///
    /// # Errors
    ///
    /// [`BindError::Socket`].
    pub fn accept(&self) -> Result<Connection, BindError> {
        loop {
            match rustix::net::accept_with(&self.socket, SocketFlags::CLOEXEC) {
                Ok(socket) => return Ok(Connection::of(socket)),
                // A peer that went away before it was accepted is nobody's error.
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(errno) => {
                    return Err(BindError::Socket {
                        path: self.path.clone(),
                        failure: Failure::new("accept", errno),
                    });
                }
            }
        }
    }
}

/// Makes the directory if it is absent, and says whether it did.
fn own_directory(directory: &Path) -> Result<bool, BindError> {
    let failed = |call| {
        move |errno| BindError::Directory {
            directory: directory.to_owned(),
            failure: Failure::new(call, errno),
        }
    };
    let made = match rustix::fs::mkdir(directory, Mode::RWXU) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(errno) => return Err(failed("mkdir")(errno)),
    };
    // A link could be turned elsewhere after the check.
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::PATH | OFlags::CLOEXEC;
    let opened = rustix::fs::open(directory, flags, Mode::empty()).map_err(failed("open"))?;
    let found = rustix::fs::fstat(&opened).map_err(failed("fstat"))?;
    let (mode, expected_owner) = (found.st_mode & 0o7777, rustix::process::geteuid().as_raw());
    let is_directory = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
    if !is_directory || mode & 0o077 != 0 || found.st_uid != expected_owner {
        return Err(BindError::Exposed {
            directory: directory.to_owned(),
            mode,
            owner: found.st_uid,
            expected_owner,
        });
    }
    Ok(made)
}

/// Removes what agents that were killed left in `base`: directories of this user whose name starts with `prefix` and
/// that hold nothing but a control socket on which nobody listens. Younger ones than a minute stay, since their agent
/// may be about to listen. Whatever cannot be removed stays.
pub fn sweep(base: &Path, prefix: &str) {
    let Ok(entries) = std::fs::read_dir(base) else { return };
    for entry in entries.flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()) && is_left(&entry) {
            let _ = rustix::fs::unlink(entry.path().join(SOCKET_NAME));
            // Fails on a directory that holds anything else, as it should.
            let _ = rustix::fs::rmdir(entry.path());
        }
    }
}

/// Younger directories are left alone.
const AGE_S_MIN: i64 = 60;

fn is_left(entry: &std::fs::DirEntry) -> bool {
    let Ok(found) = rustix::fs::lstat(entry.path()) else { return false };
    let now = crate::host::unix_seconds();
    FileType::from_raw_mode(found.st_mode) == FileType::Directory
        && found.st_uid == rustix::process::geteuid().as_raw()
        && now.saturating_sub(found.st_mtime) > AGE_S_MIN
        && is_deserted(&entry.path().join(SOCKET_NAME))
}

/// Asked without waiting: an agent that is stopped, or has more connections waiting than it listens for, is there.
fn is_deserted(socket: &Path) -> bool {
    let (Ok(address), Ok(own)) = (SocketAddrUnix::new(socket), stream_socket()) else { return false };
    if rustix::io::ioctl_fionbio(&own, true).is_err() {
        return false;
    }
    matches!(rustix::net::connect(&own, &address), Err(Errno::CONNREFUSED | Errno::NOENT))
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // The directory may be gone already; nothing is lost then.
        let _ = rustix::fs::unlink(&self.path);
        if let (true, Some(directory)) = (self.directory_made, self.path.parent()) {
            let _ = rustix::fs::rmdir(directory);
        }
    }
}
