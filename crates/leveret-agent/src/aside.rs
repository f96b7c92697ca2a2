//! What members have passed is closed by a thread of its own: the last close of a descriptor can take as long as its maker likes, as of a socket
//! that lingers or of a file whose file system it serves, and what lies in a connection unread is closed with it.

use leveret_memory::sync::{AtomicU64, Ordering};
use leveret_os::control::Connection;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;

/// Closing takes hardly any.
const STACK_BYTES: usize = 64 << 10;

/// Drops a value on another thread. If no thread can be started, leaks it.
fn drop_aside<T: Send + 'static>(what: T) {
    let held = ManuallyDrop::new(what);
    let closer = thread::Builder::new().name("leveret-closer".to_owned()).stack_size(STACK_BYTES);
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

/// How many messages of one peer brought descriptors that are being closed.
#[derive(Clone, Default, Debug)]
pub(crate) struct Closing(Arc<AtomicU64>);

impl Closing {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Descriptors that came with a message.
#[derive(Default)]
pub(crate) struct PassedFiles(Vec<OwnedFd>, Closing);

impl PassedFiles {
    pub(crate) fn new(files: Vec<OwnedFd>, closing: &Closing) -> Self {
        Self(files, closing.clone())
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
            self.1.0.fetch_add(1, Ordering::Relaxed);
            drop_aside(BeingClosed { files: std::mem::take(&mut self.0), closing: self.1.clone() });
        }
    }
}

struct BeingClosed {
    files: Vec<OwnedFd>,
    closing: Closing,
}

impl Drop for BeingClosed {
    fn drop(&mut self) {
        self.files.clear();
        self.closing.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_os::clock;
    use leveret_types::Nanos;

    #[test]
    fn what_is_being_closed_is_counted_until_it_is_closed() {
        let closing = Closing::default();
        let file = || OwnedFd::from(std::fs::File::open("/dev/null").expect("it is there"));
        drop(PassedFiles::new(Vec::new(), &closing));
        let taken = PassedFiles::new(vec![file()], &closing).take_only();
        assert_eq!((taken.is_some(), closing.count()), (true, 0));
        for _ in 0..4 {
            drop(PassedFiles::new(vec![file(), file()], &closing));
        }
        let begun = clock::now();
        while closing.count() > 0 && clock::now() - begun < Nanos::from_secs(60) {
            thread::yield_now();
        }
        assert_eq!(closing.count(), 0);
    }
}
