//! When something happened to a child: a stop and a continuation, unlike an end, make no descriptor readable.

use crate::Failure;
use crate::signals::{SavedAction, notify, replace_handler, restore_handler};
use leveret_memory::sync::{AtomicI64, Ordering};
use rustix::event::EventfdFlags;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

// The handler can reach only statics. -1: nothing installed.
static EVENT: AtomicI64 = AtomicI64::new(-1);

/// Why changes of children cannot be polled for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ChangesError {
    /// There is one already; the process has one set of handlers.
    #[error("changes of children are watched already; keep that one")]
    Installed,
    /// The kernel refused.
    #[error("{0}; stops of members could be seen late")]
    Refused(Failure),
}

/// Readable once a child has stopped, gone on or ended (SIGCHLD), until [`ChildChanges::seen`]. Which child and what,
/// [`super::PidFd::next_change`] tells. Dropping it restores the handler that was there.
#[derive(Debug)]
pub struct ChildChanges {
    event: OwnedFd,
    before: SavedAction,
}

extern "C" fn handle(_signal: libc::c_int) {
    notify(&EVENT);
}

impl ChildChanges {
    /// Installs the handler.
    ///
    /// # Errors
    ///
    /// [`ChangesError`].
    pub fn watch() -> Result<Self, ChangesError> {
        let event = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|errno| ChangesError::Refused(Failure::new("eventfd", errno)))?;
        EVENT
            .compare_exchange(-1, i64::from(event.as_raw_fd()), Ordering::AcqRel, Ordering::Acquire)
            .map_err(|_| ChangesError::Installed)?;
        match replace_handler(libc::SIGCHLD, handle) {
            Ok(before) => Ok(Self { event, before: SavedAction(before) }),
            Err(failure) => {
                EVENT.store(-1, Ordering::Release);
                Err(ChangesError::Refused(failure))
            }
        }
    }

    /// Makes it unreadable until the next change. To be called before the children are asked.
    pub fn seen(&self) {
        // There may be nothing to read, if somebody calls it without need.
        let _ = rustix::io::read(&self.event, &mut [0; 8]);
    }
}

impl AsFd for ChildChanges {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

impl Drop for ChildChanges {
    fn drop(&mut self) {
        restore_handler(libc::SIGCHLD, &self.before);
        EVENT.store(-1, Ordering::Release);
    }
}
