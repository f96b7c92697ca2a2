//! What a program in C hands over with a function of its own.

use std::ffi::c_void;

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
