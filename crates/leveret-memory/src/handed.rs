//! Bytes that threads hand to each other, in builds for a race detector only.
//!
//! In a test the bytes of a buffer would lie behind a lock, and a lock orders whatever its users do: the detector could never see two of
//! them at once. These have none, as the memory of C programs has none.

use crate::region::{HeapRegion, Region};

/// Bytes of whoever has them at the moment. Nothing here says who that is: what does not order its users is what the detector reports.
pub struct Handed {
    region: HeapRegion,
    size: usize,
}

impl Handed {
    /// So many zeros.
    pub fn new(size: usize) -> Self {
        Self { region: HeapRegion::new(size.max(1)), size }
    }

    /// Shows the bytes to `reader`.
    pub fn read(&self, reader: &mut dyn FnMut(&[u8])) {
        // SAFETY: the bytes are there and begin as zeros. This alone keeps no other thread from writing them meanwhile: it is there only where a
        // race detector looks, and finding such a thread is what it is for.
        reader(unsafe { std::slice::from_raw_parts(self.region.base().as_ptr(), self.size) });
    }

    /// Lets `writer` change the bytes.
    pub fn write(&self, writer: &mut dyn FnMut(&mut [u8])) {
        // SAFETY: as in `read`.
        writer(unsafe { std::slice::from_raw_parts_mut(self.region.base().as_ptr(), self.size) });
    }
}
