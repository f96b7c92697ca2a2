//! Where a buffer's bytes lie.

use super::error::Code;
use leveret_memory::{Part, Shelf};
use std::sync::{Mutex, PoisonError};

/// Bytes with one user at a time: whoever removed the buffer from an iterator, or the channel that took it from there.
///
/// The C interface implements it for the application's memory.
pub trait Storage: Send + Sync {
    /// Commit: the bytes are wanted from here on, and every page of what is there is touched.
    ///
    /// # Errors
    /// [`Code::NoMemory`] when there is no memory.
    fn prepare(&self, size: usize) -> Result<(), Code>;
    /// Uncommit, or a commit that was refused: what commit gave may go.
    fn release(&self);
    /// Shows the bytes to `reader`.
    fn read(&self, reader: &mut dyn FnMut(&[u8]));
    /// The address of the first byte; 0 while there are none.
    fn address(&self) -> usize;
    /// Lets `writer` change the bytes.
    fn write(&self, writer: &mut dyn FnMut(&mut [u8]));
    /// Before commit: there are so many bytes from here on.
    ///
    /// # Errors
    /// [`Code::Bufsize`] when there is no memory of that size.
    fn resize(&self, size: usize) -> Result<(), Code>;
    /// Whether commit may decide where the bytes lie.
    fn is_system(&self) -> bool {
        false
    }
    /// Commit, after `prepare` and only where it may decide: the bytes are those of a buffer on this shelf, until `release`.
    ///
    /// # Errors
    /// [`Code::NoMemory`].
    fn adopt(&self, _: &Shelf, _: u32) -> Result<(), Code> {
        Ok(())
    }
    /// Commit, after `adopt`: how many bytes are to come from the memory that commit makes for all buffers.
    fn wanted(&self) -> usize {
        0
    }
    /// Commit, where bytes were wanted: they are these, until `release`.
    fn place(&self, _: Part) {}
}

/// Memory of the library's own, from the buffer's creation on.
#[derive(Debug)]
pub struct OwnedStorage(Mutex<Box<[u8]>>);

impl OwnedStorage {
    /// So many zeros.
    pub fn new(size: usize) -> Self {
        Self(Mutex::new(vec![0; size].into_boxed_slice()))
    }
}

impl Storage for OwnedStorage {
    fn prepare(&self, _: usize) -> Result<(), Code> {
        // Written, so that no page is faulted in later.
        self.write(&mut |bytes| bytes.fill(0));
        Ok(())
    }

    fn release(&self) {}

    fn resize(&self, size: usize) -> Result<(), Code> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = vec![0; size].into_boxed_slice();
        Ok(())
    }

    fn read(&self, reader: &mut dyn FnMut(&[u8])) {
        // Never contended: a buffer has one user at a time.
        reader(&self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn address(&self) -> usize {
        let mut address = 0;
        self.read(&mut |bytes| address = bytes.as_ptr().addr());
        address
    }

    fn write(&self, writer: &mut dyn FnMut(&mut [u8])) {
        writer(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
