//! Calls that a task's function makes on the channels that the task serves: what its instance has brought is there before the function
//! runs, so nothing is waited for. Whoever waited would wait for itself.

use super::{Committed, CommittedChannel};
use crate::objects::error::Code;
use crate::objects::handle::{Class, Handle};
use std::cell::Cell;

const NONE: Handle = Handle::null(Class::Task);

thread_local! {
    /// The task whose function runs on this thread. Plain data, so that its first use allocates nothing.
    static TASK: Cell<Handle> = const { Cell::new(NONE) };
}

/// Runs the function of a task.
pub(in crate::objects) fn within(task: Handle, function: impl FnOnce()) {
    struct Restored(Handle);
    impl Drop for Restored {
        fn drop(&mut self) {
            TASK.set(self.0);
        }
    }
    let _restored = Restored(TASK.replace(task));
    function();
}

impl CommittedChannel {
    /// Whether the function that runs on this thread is that of the task that serves this end.
    pub(super) fn is_of_this_task(&self) -> bool {
        self.served_by.is_some() && self.served_by == Some(TASK.get())
    }
}

impl Committed {
    /// Whether the function that runs on this thread is that of the task that serves this member's end of a channel, so that
    /// [`Committed::wait`] returns at once there.
    pub fn is_of_this_task(&self, channel: Handle) -> bool {
        self.channel(channel).is_ok_and(CommittedChannel::is_of_this_task)
    }

    /// What a wait answers there: what the instance has brought or missed, or that it has nothing that was not told.
    pub(super) fn wait_within(&self, channel: &CommittedChannel) -> Result<(), Code> {
        if self.test_at(channel)? { Ok(()) } else { Err(Code::Timeout) }
    }
}

#[cfg(test)]
#[path = "within_tests.rs"]
mod tests;
