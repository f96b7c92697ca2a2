//! A word with its cache lines to itself.

use std::ops::Deref;

/// Keeps what one end writes apart from what the other does, and from the pair of lines that is fetched with it.
#[repr(align(128))]
pub(super) struct Line<T>(pub(super) T);

impl<T> Deref for Line<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}
