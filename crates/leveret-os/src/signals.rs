//! Ctrl-C and SIGTERM as something to poll for.

use crate::Failure;
use leveret_memory::sync::{AtomicI64, Ordering};
use rustix::event::EventfdFlags;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

// The handler can reach only statics. -1: nothing installed.
static EVENT: AtomicI64 = AtomicI64::new(-1);
// 0: nothing came yet.
static SIGNAL: AtomicI64 = AtomicI64::new(0);

/// Why interrupts cannot be handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InterruptError {
    /// There is one already; the process has one set of handlers.
    #[error("an interrupt handler is installed already; keep that one")]
    Installed,
    /// The kernel refused.
    #[error("{0}; Ctrl-C would end the run without its report")]
    Refused(Failure),
}

/// Turns the first SIGINT or SIGTERM into a readable descriptor and a flag. The second one ends the process at
/// once, so that a run that hangs can still be stopped. Dropping it restores the handlers that were there.
#[derive(Debug)]
pub struct Interrupt {
    event: OwnedFd,
    before: [(libc::c_int, SavedAction); 2],
}

struct SavedAction(libc::sigaction);

impl std::fmt::Debug for SavedAction {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("SavedAction")
    }
}

extern "C" fn handle(signal: libc::c_int) {
    if SIGNAL.compare_exchange(0, i64::from(signal), Ordering::AcqRel, Ordering::Acquire).is_err() {
        // SAFETY: _exit is async-signal-safe; 128 + the signal is the shell's convention.
        unsafe { libc::_exit(128 + signal) };
    }
    let one = 1_u64.to_ne_bytes();
    // SAFETY: write is async-signal-safe, and the buffer is 8 bytes as an eventfd takes. The interrupted code
    // may be about to look at errno, so it is put back.
    unsafe {
        let errno = *libc::__errno_location();
        libc::write(EVENT.load(Ordering::Acquire) as i32, one.as_ptr().cast(), one.len());
        *libc::__errno_location() = errno;
    }
}

impl Interrupt {
    /// Installs the handlers.
    ///
    /// # Errors
    ///
    /// [`InterruptError`].
    pub fn install() -> Result<Self, InterruptError> {
        let event = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|errno| InterruptError::Refused(Failure::new("eventfd", errno)))?;
        EVENT
            .compare_exchange(-1, i64::from(event.as_raw_fd()), Ordering::AcqRel, Ordering::Acquire)
            .map_err(|_| InterruptError::Installed)?;
        SIGNAL.store(0, Ordering::Release);
        let set = |signal| Ok((signal, SavedAction(replace_handler(signal)?)));
        let before = (|| Ok([set(libc::SIGINT)?, set(libc::SIGTERM)?]))().map_err(|failure| {
            EVENT.store(-1, Ordering::Release);
            InterruptError::Refused(failure)
        })?;
        Ok(Self { event, before })
    }

    /// The signal that came, if one did.
    pub fn requested(&self) -> Option<rustix::process::Signal> {
        rustix::process::Signal::from_named_raw(SIGNAL.load(Ordering::Acquire) as i32)
    }
}

impl AsFd for Interrupt {
    /// Readable once a signal has come; it stays so.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

fn replace_handler(signal: libc::c_int) -> Result<libc::sigaction, Failure> {
    // SAFETY: all-zero is a valid sigaction: default handler, empty mask, no flags.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: as above; filled by the call.
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handle as *const () as libc::sighandler_t;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: both structures are valid, and the handler uses async-signal-safe calls only.
    let answer = unsafe { libc::sigaction(signal, &action, &mut before) };
    if answer == 0 { Ok(before) } else { Err(Failure::last("sigaction")) }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        for (signal, before) in &self.before {
            // SAFETY: the action is one that the kernel gave us. It cannot fail for a signal it accepted before.
            unsafe { libc::sigaction(*signal, &before.0, std::ptr::null_mut()) };
        }
        EVENT.store(-1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_first_signal_is_seen_and_pollable_and_a_second_installation_is_refused() {
        let interrupt = Interrupt::install().unwrap();
        assert_eq!(Interrupt::install().unwrap_err(), InterruptError::Installed);
        assert_eq!(interrupt.requested(), None);
        let ready = crate::control::poll(&[interrupt.as_fd()], Some(Duration::ZERO)).unwrap();
        assert!(!ready[0].readable);
        // SAFETY: the handler is installed.
        unsafe { libc::raise(libc::SIGTERM) };
        assert_eq!(interrupt.requested(), Some(rustix::process::Signal::TERM));
        let ready = crate::control::poll(&[interrupt.as_fd()], Some(Duration::from_secs(20))).unwrap();
        assert!(ready[0].readable);
        drop(interrupt);
        let again = Interrupt::install().unwrap();
        assert_eq!(again.requested(), None);
    }
}
