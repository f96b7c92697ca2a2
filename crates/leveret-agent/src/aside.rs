//! What members have passed is closed by a thread of its own: the last close of a descriptor can take as long as its maker likes, as of a socket
//! that lingers or of a file whose file system it serves, and what lies in a connection unread is closed with it.

use leveret_os::control::Connection;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::thread;

/// Lets go of something without waiting for it. Where no thread can be had it is kept instead.
fn drop_aside<T: Send + 'static>(what: T) {
    let held = ManuallyDrop::new(what);
    let closer = thread::Builder::new().name("leveret-closer".to_owned());
    // If it is not started, what it was to drop is dropped here, and holds on to what it holds.
    let _ = closer.spawn(move || drop(ManuallyDrop::into_inner(held)));
}

/// A connection to a member.
pub(crate) struct MemberConnection(Option<Connection>);

impl MemberConnection {
    pub(crate) fn new(connection: Connection) -> Self {
        Self(Some(connection))
    }
}

impl Deref for MemberConnection {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        let Self(connection) = self;
        connection.as_ref().expect("it is there until this is dropped")
    }
}

impl Drop for MemberConnection {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            // The member learns of it now.
            connection.shut();
            drop_aside(connection);
        }
    }
}

/// Descriptors that came with a message.
#[derive(Default)]
pub(crate) struct PassedFiles(Vec<OwnedFd>);

impl PassedFiles {
    pub(crate) fn new(files: Vec<OwnedFd>) -> Self {
        Self(files)
    }

    /// The only one, if there is one only.
    pub(crate) fn only(&self) -> Option<&OwnedFd> {
        if let [file] = &self.0[..] { Some(file) } else { None }
    }

    /// The same, of which it is known that its close takes no time.
    pub(crate) fn take_only(mut self) -> Option<OwnedFd> {
        self.only()?;
        self.0.pop()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }
}

impl Drop for PassedFiles {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            drop_aside(std::mem::take(&mut self.0));
        }
    }
}
