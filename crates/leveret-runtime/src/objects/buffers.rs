//! Buffers and iterators over them, before commit.

use super::error::Code;
use super::handle::{Class, Handle};
use super::object::{Body, BufferBody, BufiterBody, Dataspec, Object};
use super::storage::Storage;
use super::world::World;
use leveret_memory::iterator::Policy;
use leveret_types::{BUFFERS_MAX, MESSAGE_BYTES_MAX};
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
    pub fn buffer(&mut self, name: &str, description: BufferDescription) -> Result<Handle, Code> {
        let BufferDescription { size, dataspec, storage } = description;
        check_size(size, dataspec)?;
        self.insert(name, Body::Buffer(BufferBody { size, dataspec, label: 0, length: None, storage }))
    }

    /// A buffer's size in bytes.
    pub fn buffer_size(&self, buffer: Handle) -> Result<usize, Code> {
        Ok(self.buffer_body(buffer)?.size)
    }

    pub(super) fn buffer_body(&self, buffer: Handle) -> Result<&BufferBody, Code> {
        match &self.of(buffer, Class::Buffer)?.body {
            Body::Buffer(buffer) => Ok(buffer),
            _ => Err(Code::Internal),
        }
    }

    /// An iterator over buffers of one size and type; without an allowed set, over any such buffers.
    pub fn bufiter(
        &mut self,
        name: &str,
        policy: Policy,
        (size, dataspec): (usize, Dataspec),
        allowed: Handle,
    ) -> Result<Handle, Code> {
        check_size(size, dataspec)?;
        let allowed = if allowed.is_null() { None } else { Some(self.allowed(allowed, size, dataspec)?) };
        if policy == Policy::Ordered && allowed.is_none() {
            // Nothing would say which order was promised.
            return Err(Code::Argument);
        }
        let body = BufiterBody { policy, size, dataspec, allowed, stocked: Vec::new() };
        self.insert(name, Body::Bufiter(body))
    }

    /// The buffers of a container, each of this size and type.
    fn allowed(&self, container: Handle, size: usize, dataspec: Dataspec) -> Result<Vec<Handle>, Code> {
        let (Body::Cset(members) | Body::Cvector(members)) = &self.table.get(container)?.body else {
            return Err(Code::WrongClass);
        };
        if members.is_empty() {
            return Err(Code::Argument);
        }
        if members.len() > BUFFERS_MAX as usize {
            return Err(Code::Limit);
        }
        for (place, member) in members.iter().enumerate() {
            let buffer = self.buffer_body(*member)?;
            if buffer.size != size {
                return Err(Code::Bufsize);
            }
            if buffer.dataspec != dataspec {
                return Err(Code::Dataspec);
            }
            if members[..place].contains(member) {
                return Err(Code::BufferInUse);
            }
        }
        Ok(members.clone())
    }

    /// Puts a buffer into an iterator before commit.
    pub fn stock(&mut self, iterator: Handle, buffer: Handle) -> Result<(), Code> {
        let (size, dataspec) = {
            let body = self.buffer_body(buffer)?;
            (body.size, body.dataspec)
        };
        self.bufiter_body(iterator)?;
        if self.is_stocked(buffer) {
            return Err(Code::BufferInUse);
        }
        let Body::Bufiter(iterator) = &mut self.change(iterator, Class::Bufiter)?.body else {
            return Err(Code::Internal);
        };
        match &iterator.allowed {
            Some(allowed) if !allowed.contains(&buffer) => return Err(Code::NotAllowed),
            None if iterator.size != size => return Err(Code::Bufsize),
            None if iterator.dataspec != dataspec => return Err(Code::Dataspec),
            _ => iterator.stocked.push(buffer),
        }
        Ok(())
    }

    /// Whether a buffer is in an iterator.
    pub(super) fn is_stocked(&self, buffer: Handle) -> bool {
        let is_in =
            |object: &Object| matches!(&object.body, Body::Bufiter(other) if other.stocked.contains(&buffer));
        self.table.all().any(|(_, object)| is_in(object))
    }

    /// Takes the next buffer out of an iterator before commit, in the order of insertion.
    pub fn unstock(&mut self, iterator: Handle) -> Result<Handle, Code> {
        let Body::Bufiter(iterator) = &mut self.change(iterator, Class::Bufiter)?.body else {
            return Err(Code::Internal);
        };
        if iterator.stocked.is_empty() { Err(Code::Empty) } else { Ok(iterator.stocked.remove(0)) }
    }

    /// The address of a buffer's first byte; 0 when the library has made no memory yet.
    pub fn buffer_address(&self, buffer: Handle) -> Result<usize, Code> {
        Ok(self.buffer_body(buffer)?.storage.address())
    }

    /// A buffer's label.
    pub fn label(&self, buffer: Handle) -> Result<i64, Code> {
        Ok(self.buffer_body(buffer)?.label)
    }

    /// Labels a buffer; SORTED iterators give the lowest label first.
    pub fn set_label(&mut self, buffer: Handle, label: i64) -> Result<(), Code> {
        match &mut self.change(buffer, Class::Buffer)?.body {
            Body::Buffer(buffer) => buffer.label = label,
            _ => return Err(Code::Internal),
        }
        Ok(())
    }

    pub(super) fn bufiter_body(&self, iterator: Handle) -> Result<&BufiterBody, Code> {
        match &self.of(iterator, Class::Bufiter)?.body {
            Body::Bufiter(iterator) => Ok(iterator),
            _ => Err(Code::Internal),
        }
    }
}

fn check_size(size: usize, dataspec: Dataspec) -> Result<(), Code> {
    if size == 0 || size as u64 > MESSAGE_BYTES_MAX || !size.is_multiple_of(dataspec.size()) {
        return Err(Code::Bufsize);
    }
    Ok(())
}
