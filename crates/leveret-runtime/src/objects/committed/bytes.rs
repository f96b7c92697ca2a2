//! What is in a buffer, for whoever has it.

use super::Committed;
use crate::objects::error::Code;
use crate::objects::handle::Handle;

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
    /// As [`Committed::read`].
    pub fn write(&self, buffer: Handle, mut writer: impl FnMut(&mut [u8])) -> Result<(), Code> {
        self.held(buffer)?.storage.write(&mut writer);
        Ok(())
    }
}
