//! What any thread of a member may tell the agent: the end of the whole job, and that something has failed.

use leveret_os::control::Connection;
use leveret_os::process::end_at_once;
use leveret_os::said::say;
use leveret_protocol::control::{FromMember, encode};
use std::num::NonZeroU8;
use std::sync::Arc;

/// A longer message is cut.
const MESSAGE_BYTES_MAX: usize = 1024;

/// Ends the whole job: it can be copied into a task's body, or kept for a thread of the program's own.
#[derive(Clone)]
pub struct Aborter {
    connection: Arc<Connection>,
}

/// What is told to others of a message.
pub(crate) fn cut(message: &str) -> &str {
    &message[..message.floor_char_boundary(MESSAGE_BYTES_MAX)]
}

/// Tells what has failed, from any thread.
#[derive(Clone)]
pub(crate) struct Teller {
    connection: Arc<Connection>,
}

impl Teller {
    pub(crate) fn new(connection: Arc<Connection>) -> Self {
        Self { connection }
    }

    /// That so many runs of a handler have failed.
    pub(crate) fn runs_failed(&self, what: &str, times: u64) {
        self.tell(&FromMember::RunsFailed { what: cut(what).to_owned(), times });
    }

    /// That a run of a handler has used more than its budget.
    pub(crate) fn run_overran(&self, what: &str) {
        self.tell(&FromMember::RunOverran { what: cut(what).to_owned() });
    }

    /// An agent that is gone needs no word.
    fn tell(&self, message: &FromMember) {
        let _ = self.connection.send(&encode(message), &[]);
    }
}

impl Aborter {
    pub(crate) fn new(connection: Arc<Connection>) -> Self {
        Self { connection }
    }

    /// Ends the whole job, whatever its death policy is, and this process. The message is printed to standard error, under the
    /// member's name; `leveret run` stops the other members, reports, and exits with the code. Without an agent only this process ends.
    ///
    /// No destructor runs, and nothing is waited for: what the job has in files is the program's to keep whole.
    pub fn abort(&self, code: NonZeroU8, message: &str) -> ! {
        let message = cut(message);
        let printed = code.to_string();
        let why = if message.is_empty() { "" } else { ": " };
        say(&["leveret: the program aborts the job with code ", &printed, why, message]);
        // An agent that is gone needs no word.
        let _ = self.connection.send(&encode(&FromMember::Abort { code, message: message.to_owned() }), &[]);
        end_at_once(code)
    }
}
