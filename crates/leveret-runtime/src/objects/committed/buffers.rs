//! Buffers move between the program and iterators.

use super::ends::lock;
use super::{Committed, CommittedBuffer, WITH_PROGRAM};
use crate::objects::error::Code;
use crate::objects::handle::Handle;
use leveret_memory::iterator::InsertError;
use leveret_memory::sync::Ordering;

impl Committed {
    /// Puts a buffer of the program's into an iterator.
    ///
    /// # Errors
    /// [`Code::NotAllowed`], [`Code::BufferInUse`], [`Code::NotAllowed`], and those of wrong handles.
    #[inline]
    pub fn insert(&self, iterator: Handle, buffer: Handle) -> Result<(), Code> {
        let (iterator, buffer) = (self.iterator(iterator)?, self.buffer(buffer)?);
        self.put(iterator, buffer, WITH_PROGRAM)?;
        self.look_after(iterator);
        Ok(())
    }

    /// Goes on with transfers that waited for a buffer or a message.
    #[inline]
    fn look_after(&self, iterator: usize) {
        for channel in &self.iterators[iterator].channels {
            let channel = &self.channels[*channel as usize];
            if channel.pending.load(Ordering::Relaxed)
                && let Ok(mut end) = lock(channel)
            {
                // Whatever happens is told by `test` and `wait`.
                let _ = self.progress(channel, &mut end);
            }
        }
    }

    /// Puts a buffer into an iterator; it stays where it was when that is not possible.
    pub(in crate::objects) fn put(&self, iterator: usize, buffer: usize, from: u32) -> Result<(), Code> {
        let (target, entry) = (&self.iterators[iterator], &self.buffers[buffer]);
        let place = target.places[buffer];
        if place == u32::MAX {
            return Err(match target.any {
                Some((size, _)) if size != entry.size => Code::Bufsize,
                Some((_, dataspec)) if dataspec != entry.dataspec => Code::Dataspec,
                _ => Code::NotAllowed,
            });
        }
        let claimed =
            entry.place.compare_exchange(from, iterator as u32 + 1, Ordering::Acquire, Ordering::Relaxed);
        if claimed.is_err() {
            return Err(Code::BufferInUse);
        }
        let inserted = target.store.insert(place, entry.label.load(Ordering::Relaxed));
        inserted.map_err(|error| {
            entry.place.store(from, Ordering::Release);
            match error {
                InsertError::OutOfOrder { .. } => Code::NotAllowed,
                InsertError::AlreadyIn { .. } => Code::BufferInUse,
                InsertError::NotAllowed { .. } => Code::Internal,
            }
        })
    }

    /// Takes the next buffer out of an iterator; whoever calls has it.
    pub(super) fn take(&self, iterator: usize, to: u32) -> Option<usize> {
        let source = &self.iterators[iterator];
        let buffer = source.buffers[source.store.remove()? as usize] as usize;
        self.buffers[buffer].place.store(to, Ordering::Release);
        Some(buffer)
    }

    /// Takes the next buffer out of an iterator, for the program. Receptions that were started go on first.
    ///
    /// # Errors
    /// [`Code::Empty`], and those of wrong handles.
    #[inline]
    pub fn remove(&self, iterator: Handle) -> Result<Handle, Code> {
        let iterator = self.iterator(iterator)?;
        if let Some(buffer) = self.take(iterator, WITH_PROGRAM) {
            return Ok(self.buffers[buffer].handle);
        }
        self.look_after(iterator);
        let buffer = self.take(iterator, WITH_PROGRAM).ok_or(Code::Empty)?;
        Ok(self.buffers[buffer].handle)
    }

    /// The address of a buffer's first byte.
    pub fn address(&self, buffer: Handle) -> Result<usize, Code> {
        Ok(self.buffers[self.buffer(buffer)?].storage.address())
    }

    /// Bytes of the message in a buffer.
    pub fn length(&self, buffer: Handle) -> Result<usize, Code> {
        Ok(self.buffers[self.buffer(buffer)?].length.load(Ordering::Relaxed))
    }

    /// Says how long the message in a buffer of the program's is.
    pub fn set_length(&self, buffer: Handle, length: usize) -> Result<(), Code> {
        let entry = self.held(buffer)?;
        if length > entry.size {
            return Err(Code::Bufsize);
        }
        entry.length.store(length, Ordering::Relaxed);
        Ok(())
    }

    /// Labels a buffer of the program's; SORTED iterators give the lowest label first.
    pub fn set_label(&self, buffer: Handle, label: i64) -> Result<(), Code> {
        self.held(buffer)?.label.store(label, Ordering::Relaxed);
        Ok(())
    }

    /// A buffer's label.
    pub fn label(&self, buffer: Handle) -> Result<i64, Code> {
        Ok(self.buffers[self.buffer(buffer)?].label.load(Ordering::Relaxed))
    }

    /// A buffer that the program has.
    pub(super) fn held(&self, buffer: Handle) -> Result<&CommittedBuffer, Code> {
        let entry = &self.buffers[self.buffer(buffer)?];
        if entry.place.load(Ordering::Relaxed) == WITH_PROGRAM { Ok(entry) } else { Err(Code::BufferInUse) }
    }
}
