//! What a program in C hands over with a function of its own, and how that is called.

use crate::answer::keep_remedy;
use crate::state::in_task;
use leveret_memory::sync::{AtomicU64, Ordering};
use leveret_os::cancellation::Uncancelled;
use leveret_os::contained::contained;
use leveret_os::said::say;
use leveret_runtime::objects::{Code, Committed, Handle};
use leveret_types::printable;
use std::ffi::c_void;
use std::panic::resume_unwind;

/// What C hands over to its function; the library only passes it on.
pub(super) struct Argument(pub(super) *mut c_void);

// SAFETY: the pointer is never followed here; the header says that the function gets it on a library thread.
unsafe impl Send for Argument {}
// SAFETY: as above.
unsafe impl Sync for Argument {}

impl Argument {
    pub(super) fn get(&self) -> *mut c_void {
        self.0
    }
}

/// There is no function, and who `runs` it is to have one.
pub(super) fn no_function(runs: &str) -> Code {
    keep_remedy(&format!("give the function that {runs}"));
    Code::NullPointer
}

/// How often this process has said that a function did not return: a handler may do so at each of its runs.
static TOLD: AtomicU64 = AtomicU64::new(0);
const TOLD_MAX: u64 = 8;

/// Calls the function of a task or a handler, on a thread of the library. One that does not return is the program's failure, told by its
/// name, and ends as a panic of a function in Rust does.
pub(super) fn run_for_program(committed: &Committed, (what, whose): (&str, Handle), function: impl FnOnce()) {
    let mut answer = Ok(());
    in_task(committed, || answer = contained(function));
    // Whatever the function has set.
    Uncancelled::for_good();
    if let Err(unreturned) = answer {
        let called = committed.world().called(what, whose);
        let text = match unreturned.said {
            Some(said) => format!("{called} has thrown an exception: {}", printable(&said)),
            None => format!(
                "{called} has ended the library's thread (pthread_exit or a cancellation) or thrown an exception; \
                 it must return"
            ),
        };
        match TOLD.fetch_add(1, Ordering::Relaxed) {
            0..TOLD_MAX => say(&["leveret: ", &text]),
            TOLD_MAX => {
                say(&["leveret: more functions of the program did not return; that is not told again"])
            }
            _ => {}
        }
        resume_unwind(Box::new(text));
    }
}
