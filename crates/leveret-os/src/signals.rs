//! Ctrl-C, SIGTERM and a closed terminal (SIGHUP) as something to poll for.

use crate::{Failure, clock};
use leveret_memory::sync::{AtomicI64, Ordering};
use leveret_types::Nanos;
use rustix::event::EventfdFlags;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

// The handler can reach only statics. -1: nothing installed.
static EVENT: AtomicI64 = AtomicI64::new(-1);
// 0: nothing came yet.
static SIGNAL: AtomicI64 = AtomicI64::new(0);
// When SIGINT or SIGTERM last told a wish; 0: neither did.
static ASKED: AtomicI64 = AtomicI64::new(0);
// How many wishes they told.
static WISHES: AtomicI64 = AtomicI64::new(0);

/// From now on a write beyond the limit on the size of files (`ulimit -f`) fails with `EFBIG`, which can be told with its
/// remedy, instead of ending the process (SIGXFSZ). Children inherit that.
pub fn outlive_the_file_size_limit() {
    // SAFETY: ignoring a signal runs no code; the call fails for no signal that exists.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// What ends a run is often sent twice for one wish: `timeout` signals the process and then its group.
const ONE_WISH: Nanos = Nanos::from_millis(300);

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

/// Turns the first SIGINT, SIGTERM or SIGHUP into a readable descriptor and a flag. A second SIGINT or SIGTERM, 300 ms
/// after the first or later, makes it readable again: whoever sends it does not want to wait. A third, as much later, ends the
/// process at once, so that one that hangs can still be stopped. A SIGHUP does neither: shell and kernel both send one when a
/// terminal closes. Where SIGHUP is ignored (`nohup`) it stays so.
///
/// Meanwhile Ctrl-Z (SIGTSTP) does nothing: a run by the clock cannot be suspended. Dropping it restores the handlers
/// that were there.
#[derive(Debug)]
pub struct Interrupt {
    event: OwnedFd,
    before: Vec<(libc::c_int, SavedAction)>,
}

pub(crate) struct SavedAction(pub(crate) libc::sigaction);

impl std::fmt::Debug for SavedAction {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("SavedAction")
    }
}

extern "C" fn handle(signal: libc::c_int) {
    let first = SIGNAL.compare_exchange(0, i64::from(signal), Ordering::AcqRel, Ordering::Acquire).is_ok();
    if signal != libc::SIGHUP {
        // clock_gettime is async-signal-safe.
        let now = clock::now();
        let before = ASKED.load(Ordering::Acquire);
        let is_new = before == 0 || now - Nanos(before) >= ONE_WISH;
        // Of two threads that are told at once one counts it.
        if is_new && ASKED.compare_exchange(before, now.0.max(1), Ordering::AcqRel, Ordering::Acquire).is_ok()
        {
            match WISHES.fetch_add(1, Ordering::AcqRel) {
                0 => {}
                1 => notify(&EVENT),
                // SAFETY: _exit is async-signal-safe; 128 + the signal is the shell's convention.
                _ => unsafe { libc::_exit(128 + signal) },
            }
        }
    }
    if first {
        notify(&EVENT);
    }
}

/// For handlers: makes the event descriptor that `event` holds readable.
pub(crate) fn notify(event: &AtomicI64) {
    let one = 1_u64.to_ne_bytes();
    // SAFETY: write is async-signal-safe, and the buffer is 8 bytes as an eventfd takes. The interrupted code
    // may be about to look at errno, so it is put back.
    unsafe {
        let errno = *libc::__errno_location();
        libc::write(event.load(Ordering::Acquire) as i32, one.as_ptr().cast(), one.len());
        *libc::__errno_location() = errno;
    }
}

/// A handler rather than "ignore", so that programs started meanwhile do not inherit it.
extern "C" fn pass(_signal: libc::c_int) {}

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
        ASKED.store(0, Ordering::Release);
        WISHES.store(0, Ordering::Release);
        // Dropped on a refusal, which restores what was replaced so far.
        let mut interrupt = Self { event, before: Vec::with_capacity(4) };
        interrupt.replace(libc::SIGINT, handle)?;
        interrupt.replace(libc::SIGTERM, handle)?;
        interrupt.replace(libc::SIGHUP, handle)?;
        interrupt.replace(libc::SIGTSTP, pass)?;
        Ok(interrupt)
    }

    fn replace(
        &mut self,
        signal: libc::c_int,
        handler: extern "C" fn(libc::c_int),
    ) -> Result<(), InterruptError> {
        let before = replace_handler(signal, handler).map_err(InterruptError::Refused)?;
        let ignored = before.sa_sigaction == libc::SIG_IGN;
        self.before.push((signal, SavedAction(before)));
        if signal == libc::SIGHUP && ignored {
            self.restore_last();
        }
        Ok(())
    }

    fn restore_last(&mut self) {
        if let Some((signal, before)) = self.before.pop() {
            restore_handler(signal, &before);
        }
    }

    /// What has come so far was seen: the descriptor is readable again when more comes.
    pub fn seen(&self) {
        let mut count = [0; 8];
        // Nothing may have come.
        let _ = rustix::io::read(&self.event, &mut count);
    }

    /// Whether SIGINT or SIGTERM came a second time.
    pub fn is_repeated(&self) -> bool {
        WISHES.load(Ordering::Acquire) > 1
    }

    /// The signal that came, if one did.
    pub fn requested(&self) -> Option<rustix::process::Signal> {
        rustix::process::Signal::from_named_raw(SIGNAL.load(Ordering::Acquire) as i32)
    }
}

impl AsFd for Interrupt {
    /// Readable once a signal has come, until [`Interrupt::seen`].
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

/// Puts back what [`replace_handler`] replaced.
pub(crate) fn restore_handler(signal: libc::c_int, before: &SavedAction) {
    // SAFETY: the action is one that the kernel gave us. It cannot fail for a signal it accepted before.
    unsafe { libc::sigaction(signal, &before.0, std::ptr::null_mut()) };
}

pub(crate) fn replace_handler(
    signal: libc::c_int,
    handler: extern "C" fn(libc::c_int),
) -> Result<libc::sigaction, Failure> {
    // SAFETY: all-zero is a valid sigaction: default handler, empty mask, no flags.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: as above; filled by the call.
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as *const () as libc::sighandler_t;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: both structures are valid, and the handlers use async-signal-safe calls only.
    let answer = unsafe { libc::sigaction(signal, &action, &mut before) };
    if answer == 0 { Ok(before) } else { Err(Failure::last("sigaction")) }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        while !self.before.is_empty() {
            self.restore_last();
        }
        EVENT.store(-1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// The handlers are the process's: one test at a time.
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

    fn raise(signal: libc::c_int) {
        // SAFETY: a handler is installed for it, or it is ignored.
        unsafe { libc::raise(signal) };
    }

    /// How the hang-up is handled while this lives; whoever starts the tests may have turned it off (`nohup`).
    struct HangUp(libc::sighandler_t);

    impl HangUp {
        fn set(handler: libc::sighandler_t) -> Self {
            // SAFETY: called where no handler of ours is installed; the two handlers that tests give are the kernel's own.
            Self(unsafe { libc::signal(libc::SIGHUP, handler) })
        }
    }

    impl Drop for HangUp {
        fn drop(&mut self) {
            // SAFETY: this is what was there before.
            unsafe { libc::signal(libc::SIGHUP, self.0) };
        }
    }

    fn is_readable(interrupt: &Interrupt) -> bool {
        crate::control::poll(&[interrupt.as_fd()], Some(Duration::ZERO)).unwrap()[0].readable
    }

    #[test]
    fn the_first_signal_is_seen_and_pollable_and_a_second_installation_is_refused() {
        let _turn = TURN.lock().unwrap();
        let _heard = HangUp::set(libc::SIG_DFL);
        for (number, signal) in [
            (libc::SIGINT, rustix::process::Signal::INT),
            (libc::SIGTERM, rustix::process::Signal::TERM),
            (libc::SIGHUP, rustix::process::Signal::HUP),
        ] {
            let interrupt = Interrupt::install().unwrap();
            assert_eq!(Interrupt::install().unwrap_err(), InterruptError::Installed);
            assert_eq!(interrupt.requested(), None);
            assert!(!is_readable(&interrupt));
            raise(number);
            assert_eq!(interrupt.requested(), Some(signal));
            assert!(is_readable(&interrupt));
            // The terminal's second word, and Ctrl-Z: both without effect.
            raise(libc::SIGHUP);
            raise(libc::SIGTSTP);
            assert_eq!(interrupt.requested(), Some(signal));
        }
        let again = Interrupt::install().unwrap();
        assert_eq!(again.requested(), None);
    }

    #[test]
    fn one_wish_told_twice_is_one() {
        let _turn = TURN.lock().unwrap();
        let interrupt = Interrupt::install().unwrap();
        raise(libc::SIGTERM);
        // As if the process had been held up for however long between the two.
        ASKED.store(i64::MAX, Ordering::Release);
        raise(libc::SIGTERM);
        assert_eq!(interrupt.requested(), Some(rustix::process::Signal::TERM));
        assert!(!interrupt.is_repeated());
    }

    #[test]
    fn a_second_wish_is_seen_and_pollable() {
        let _turn = TURN.lock().unwrap();
        let interrupt = Interrupt::install().unwrap();
        raise(libc::SIGINT);
        interrupt.seen();
        assert!(!is_readable(&interrupt) && !interrupt.is_repeated());
        // As if that had been long ago.
        ASKED.store(1, Ordering::Release);
        raise(libc::SIGTERM);
        assert!(is_readable(&interrupt) && interrupt.is_repeated());
        assert_eq!(interrupt.requested(), Some(rustix::process::Signal::INT));
    }

    #[test]
    fn an_ignored_hang_up_stays_ignored() {
        let _turn = TURN.lock().unwrap();
        let _ignored = HangUp::set(libc::SIG_IGN);
        let interrupt = Interrupt::install().unwrap();
        raise(libc::SIGHUP);
        assert_eq!(interrupt.requested(), None);
    }
}
