//! Buffers before commit.

use super::error::Code;
use super::handle::{Class, Handle};
use super::object::{Body, BufferBody, Dataspec, Object};
use super::storage::Storage;
use super::world::World;
use leveret_types::MESSAGE_BYTES_MAX;
use std::sync::Arc;

/// A buffer as the program describes it.
pub struct BufferDescription {
    /// Bytes.
    pub size: usize,
    /// What they mean.
    pub dataspec: Dataspec,
    /// Where they lie.
    pub storage: Arc<dyn Storage>,
}

impl World {
    /// A buffer.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::Name`], [`Code::Bufsize`], [`Code::Dataspec`], [`Code::Limit`].
    pub fn buffer(&mut self, name: &str, description: BufferDescription) -> Result<Handle, Code> {
        let BufferDescription { size, dataspec, storage } = description;
        check_size(size, dataspec)?;
        self.insert(name, Body::Buffer(BufferBody { size, dataspec, label: 0, length: None, storage }))
    }

    pub(super) fn buffer_body(&self, buffer: Handle) -> Result<&BufferBody, Code> {
        match &self.of(buffer, Class::Buffer)?.body {
            Body::Buffer(buffer) => Ok(buffer),
            _ => Err(Code::Internal),
        }
    }

    fn change_buffer(&mut self, buffer: Handle) -> Result<&mut BufferBody, Code> {
        match &mut self.change(buffer, Class::Buffer)?.body {
            Body::Buffer(buffer) => Ok(buffer),
            _ => Err(Code::Internal),
        }
    }

    /// As [`World::change_buffer`], of a buffer that is in no iterator.
    fn change_held(&mut self, buffer: Handle) -> Result<&mut BufferBody, Code> {
        self.change_buffer(buffer)?;
        if self.is_stocked(buffer) { Err(Code::BufferInUse) } else { self.change_buffer(buffer) }
    }

    /// A buffer's size in bytes.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn buffer_size(&self, buffer: Handle) -> Result<usize, Code> {
        Ok(self.buffer_body(buffer)?.size)
    }

    /// Gives a buffer another size. A length that was set is forgotten.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::Bufsize`] and those of wrong handles.
    pub fn set_buffer_size(&mut self, buffer: Handle, size: usize) -> Result<(), Code> {
        let body = self.change_buffer(buffer)?;
        check_size(size, body.dataspec)?;
        body.storage.resize(size)?;
        (body.size, body.length) = (size, None);
        Ok(())
    }

    /// What a buffer holds.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn buffer_dataspec(&self, buffer: Handle) -> Result<Dataspec, Code> {
        Ok(self.buffer_body(buffer)?.dataspec)
    }

    /// Says what a buffer holds.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::Bufsize`], [`Code::Dataspec`] and those of wrong handles.
    pub fn set_buffer_dataspec(&mut self, buffer: Handle, dataspec: Dataspec) -> Result<(), Code> {
        let body = self.change_buffer(buffer)?;
        check_size(body.size, dataspec)?;
        body.dataspec = dataspec;
        Ok(())
    }

    /// The address of a buffer's first byte; 0 when the library has made no memory yet.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn buffer_address(&self, buffer: Handle) -> Result<usize, Code> {
        Ok(self.buffer_body(buffer)?.storage.address())
    }

    /// Puts a buffer's bytes elsewhere; there are as many as its size says.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`] and those of wrong handles.
    pub fn set_buffer_storage(&mut self, buffer: Handle, storage: Arc<dyn Storage>) -> Result<(), Code> {
        self.change_buffer(buffer)?.storage = storage;
        Ok(())
    }

    /// A buffer's label.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn label(&self, buffer: Handle) -> Result<i64, Code> {
        Ok(self.buffer_body(buffer)?.label)
    }

    /// Labels a buffer of the program's; SORTED iterators give the lowest label first.
    ///
    /// # Errors
    /// [`Code::BufferInUse`] while it is in an iterator, and those of wrong handles.
    pub fn set_label(&mut self, buffer: Handle, label: i64) -> Result<(), Code> {
        self.change_held(buffer)?.label = label;
        Ok(())
    }

    /// Bytes of the message in a buffer.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn length(&self, buffer: Handle) -> Result<usize, Code> {
        let body = self.buffer_body(buffer)?;
        Ok(body.length.unwrap_or(body.size))
    }

    /// Says how long the message in a buffer of the program's is.
    ///
    /// # Errors
    /// [`Code::BufferInUse`] while it is in an iterator, [`Code::Bufsize`], and those of wrong handles.
    pub fn set_length(&mut self, buffer: Handle, length: usize) -> Result<(), Code> {
        let body = self.change_held(buffer)?;
        if length > body.size {
            return Err(Code::Bufsize);
        }
        body.length = Some(length);
        Ok(())
    }

    /// Whether a buffer is in an iterator.
    pub(super) fn is_stocked(&self, buffer: Handle) -> bool {
        let is_in =
            |object: &Object| matches!(&object.body, Body::Bufiter(other) if other.stocked.contains(&buffer));
        self.table.all().any(|(_, object)| is_in(object))
    }
}

pub(super) fn check_size(size: usize, dataspec: Dataspec) -> Result<(), Code> {
    if size == 0 || size as u64 > MESSAGE_BYTES_MAX || !size.is_multiple_of(dataspec.size()) {
        return Err(Code::Bufsize);
    }
    Ok(())
}
