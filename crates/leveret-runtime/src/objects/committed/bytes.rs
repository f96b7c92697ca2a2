//! What is in a buffer, for whoever has it.

use super::Committed;
use crate::objects::error::Code;
use crate::objects::handle::Handle;
use leveret_memory::sync::Ordering;

impl Committed {
    /// Shows the bytes of a buffer of the program's.
    ///
    /// # Errors
    /// As [`Committed::set_label`]: the bytes of a buffer that is in an iterator or in a transfer are not the program's.
    pub fn read(&self, buffer: Handle, mut reader: impl FnMut(&[u8])) -> Result<(), Code> {
        self.held(buffer)?.storage.read(&mut reader);
        Ok(())
    }

    /// Lets `writer` change the bytes of a buffer of the program's.
    ///
    /// # Errors
    /// [`Code::NotAllowed`] for one that is another member's ([`Committed::is_writable`]); the others as [`Committed::read`].
    pub fn write(&self, buffer: Handle, mut writer: impl FnMut(&mut [u8])) -> Result<(), Code> {
        let held = self.held(buffer)?;
        if held.is_borrowed.load(Ordering::Relaxed) {
            return Err(Code::NotAllowed);
        }
        held.storage.write(&mut writer);
        Ok(())
    }

    /// Whether the program may write to a buffer: not where it receives on a channel whose buffers are one at both ends.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn is_writable(&self, buffer: Handle) -> Result<bool, Code> {
        Ok(!self.buffers[self.buffer(buffer)?].is_borrowed.load(Ordering::Relaxed))
    }
}
