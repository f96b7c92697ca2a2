//! A member's state as its peers and the watcher see it.

use crate::alleged::Alleged;
use crate::block::Status;
use crate::sync::Ordering;
use crate::window::Window;
use std::mem::offset_of;

/// The writing end, owned by the member.
pub struct StatusWriter(Window);

impl StatusWriter {
    pub(crate) fn new(window: Window) -> Self {
        Self(window)
    }

    /// Sets the state word; its meaning is the runtime's.
    pub fn set_state(&mut self, state: u64) {
        self.0.word(offset_of!(Status, state)).store(state, Ordering::Release);
    }

    /// Shows that the member is alive.
    pub fn beat(&mut self) {
        let word = self.0.word(offset_of!(Status, heartbeat));
        word.store(word.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    /// Sets the phase: which commit's work is running.
    pub fn set_phase(&mut self, phase: u64) {
        self.0.word(offset_of!(Status, phase)).store(phase, Ordering::Release);
    }

    /// Sets how far the member's program says it has come.
    pub fn set_progress(&mut self, progress: u64) {
        self.0.word(offset_of!(Status, progress)).store(progress, Ordering::Release);
    }
}

/// What a member says of itself; any value is possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StatusSnapshot {
    /// The state word.
    pub state: u64,
    /// Grows while the member is alive.
    pub heartbeat: u64,
    /// Which commit's work is running.
    pub phase: u64,
    /// How far the member's program says it has come.
    pub progress: u64,
}

/// A reading end.
#[derive(Clone)]
pub struct StatusReader(Window);

impl StatusReader {
    pub(crate) fn new(window: Window) -> Self {
        Self(window)
    }

    /// The present values. Each is whole; together they may stem from different moments.
    pub fn read(&self) -> StatusSnapshot {
        let word = |offset| Alleged::new(self.0.word(offset).load(Ordering::Acquire)).any_value();
        StatusSnapshot {
            state: word(offset_of!(Status, state)),
            heartbeat: word(offset_of!(Status, heartbeat)),
            phase: word(offset_of!(Status, phase)),
            progress: word(offset_of!(Status, progress)),
        }
    }
}
