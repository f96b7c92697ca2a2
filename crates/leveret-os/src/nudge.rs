//! Waking a thread out of a planned sleep that has lost its purpose: the run was ended while it slept.
//!
//! A sleep can be cut short by a signal only, and a signal only interrupts where it has a handler. Ours does nothing.

use crate::Failure;
use std::sync::OnceLock;

/// Why sleeping threads cannot be woken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NudgeError {
    /// The program uses the signal itself.
    #[error(
        "the program handles signal {0} (SIGRTMIN+4) itself; a run that is interrupted ends no earlier than its tasks wake by \
         themselves"
    )]
    Taken(i32),
    /// The handler could not be set.
    #[error("{0}; a run that is interrupted ends no earlier than its tasks wake by themselves")]
    Handler(Failure),
}

extern "C" fn nothing(_signal: libc::c_int) {}

/// The first four are left to debuggers and runtimes, which count from the bottom too.
pub(crate) fn signal() -> libc::c_int {
    libc::SIGRTMIN() + 4
}

/// Sets the process's handler, once.
///
/// # Errors
///
/// [`NudgeError`].
pub fn prepare() -> Result<(), NudgeError> {
    static SET: OnceLock<Result<(), NudgeError>> = OnceLock::new();
    *SET.get_or_init(install)
}

fn install() -> Result<(), NudgeError> {
    // SAFETY: all-zero is a valid sigaction: default handler, empty mask, no flags.
    let (mut action, mut before): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
    // SAFETY: only asks for the present action.
    let asked = unsafe { libc::sigaction(signal(), std::ptr::null(), &mut before) };
    if asked == 0 && before.sa_sigaction != libc::SIG_DFL {
        return Err(NudgeError::Taken(signal()));
    }
    // Without SA_RESTART: interrupting is all that it is for.
    action.sa_sigaction = nothing as *const () as libc::sighandler_t;
    // SAFETY: the action is complete, and its handler does nothing.
    let answer = unsafe { libc::sigaction(signal(), &action, std::ptr::null_mut()) };
    if answer == 0 { Ok(()) } else { Err(NudgeError::Handler(Failure::last("sigaction"))) }
}

/// Interrupts a thread of this process, after [`prepare`]. One that has ended needs nothing.
pub fn nudge(thread: u32) {
    // SAFETY: the signal goes to a thread of this process only, and its handler does nothing.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread.cast_signed(), signal()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use leveret_memory::sync::{AtomicBool, Ordering};
    use leveret_types::Nanos;
    use std::sync::mpsc;

    #[test]
    fn a_sleeper_is_woken_once_its_sleep_is_over_and_not_before() {
        prepare().unwrap();
        let (over, (tell, told)) = (AtomicBool::new(false), mpsc::channel());
        // Longer than the watchdog; should the test fail, its scope ends all the same.
        let far = clock::now() + Nanos::from_secs(60);
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                tell.send(crate::scheduling::thread_id()).unwrap();
                clock::sleep_until_or(far, &|| over.load(Ordering::Acquire));
            });
            let thread = told.recv().unwrap();
            for _ in 0..100 {
                nudge(thread);
                assert!(!sleeper.is_finished(), "nothing is over yet");
            }
            over.store(true, Ordering::Release);
            let watchdog = clock::now() + Nanos::from_secs(20);
            // It may be on its way into the sleep: so, again and again. These signals queue, so not without a pause, or it
            // would have no time for anything else.
            while !sleeper.is_finished() {
                nudge(thread);
                clock::sleep_until(clock::now() + Nanos::from_millis(1));
                assert!(clock::now() < watchdog, "the sleeper sleeps on");
            }
        });
    }
}
