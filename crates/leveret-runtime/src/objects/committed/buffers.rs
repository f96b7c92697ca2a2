//! Buffers move between the program and iterators.

use super::{Committed, CommittedBuffer, CommittedIterator, IN_TRANSFER, NEVER, WITH_PROGRAM};
use crate::objects::error::Code;
use crate::objects::handle::Handle;
use crate::objects::object::{Dataspec, Form};
use leveret_memory::iterator::{InsertError, IteratorStore};
use leveret_memory::sync::Ordering;
use leveret_types::Nanos;

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
            self.take_back_loans(channel);
            if channel.pending.load(Ordering::Relaxed) {
                self.attend_around(channel);
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
        if entry.is_borrowed.load(Ordering::Relaxed) && self.is_filled_from(iterator) {
            return Err(Code::NotAllowed);
        }
        let claimed =
            entry.place.compare_exchange(from, iterator as u32 + 1, Ordering::Acquire, Ordering::Relaxed);
        if claimed.is_err() {
            return Err(Code::BufferInUse);
        }
        let had = (entry.length.load(Ordering::Relaxed), entry.has_length.load(Ordering::Relaxed));
        if from == WITH_PROGRAM && !had.1 {
            entry.length.store(entry.size, Ordering::Relaxed);
        }
        let inserted = target.insert(place, entry.label.load(Ordering::Relaxed));
        if inserted.is_err() {
            entry.length.store(had.0, Ordering::Relaxed);
            entry.place.store(from, Ordering::Release);
        } else {
            self.give_back(iterator, place);
            self.ask_after_insertion(iterator);
        }
        inserted
    }

    /// Takes the next buffer out of an iterator; whoever calls has it.
    pub(super) fn take(&self, iterator: usize, to: u32) -> Option<usize> {
        let source = &self.iterators[iterator];
        let buffer = source.buffers[source.store()?.remove()? as usize] as usize;
        self.hold(buffer, to);
        Some(buffer)
    }

    /// Takes the buffer of a certain place of the allowed set out of an iterator, if it is in.
    pub(super) fn take_named(&self, iterator: usize, place: u32) -> Option<usize> {
        let source = &self.iterators[iterator];
        let buffer = *source.buffers.get(place as usize)? as usize;
        if !source.store()?.remove_this(place) {
            return None;
        }
        self.hold(buffer, IN_TRANSFER);
        Some(buffer)
    }

    fn hold(&self, buffer: usize, by: u32) {
        if by == WITH_PROGRAM {
            self.buffers[buffer].has_length.store(false, Ordering::Relaxed);
        }
        self.buffers[buffer].place.store(by, Ordering::Release);
    }

    /// How many buffers an iterator holds.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn count(&self, iterator: Handle) -> Result<usize, Code> {
        let iterator = self.iterator(iterator)?;
        self.look_after(iterator);
        Ok(self.iterators[iterator].store().map_or(0, |store| store.len_hint() as usize))
    }

    /// Which buffer an ORDERED iterator takes next; `None` of any other.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn due(&self, iterator: Handle) -> Result<Option<Handle>, Code> {
        let iterator = &self.iterators[self.iterator(iterator)?];
        if iterator.policy.form != Form::Ordered {
            return Ok(None);
        }
        let due = iterator.buffers.get(iterator.state.due.load(Ordering::Relaxed) as usize);
        Ok(due.map(|buffer| self.buffers[*buffer as usize].handle))
    }

    /// A buffer's size.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn size(&self, buffer: Handle) -> Result<usize, Code> {
        Ok(self.buffers[self.buffer(buffer)?].size)
    }

    /// What a buffer holds.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn dataspec(&self, buffer: Handle) -> Result<Dataspec, Code> {
        Ok(self.buffers[self.buffer(buffer)?].dataspec)
    }

    /// Which message of its channel was received into a buffer, and when that was inserted; zero when the sender did not say.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] when none was since the commit.
    pub fn received(&self, buffer: Handle) -> Result<(u64, Nanos), Code> {
        let entry = &self.buffers[self.buffer(buffer)?];
        match entry.instance.load(Ordering::Relaxed) {
            NEVER => Err(Code::UndefForObject),
            instance => Ok((instance, Nanos(entry.inserted.load(Ordering::Relaxed)))),
        }
    }

    /// Takes the next buffer out of an iterator, for the program. Transfers go on as far as they can, before it if there is none.
    ///
    /// # Errors
    /// [`Code::Empty`], and those of wrong handles.
    #[inline]
    pub fn remove(&self, iterator: Handle) -> Result<Handle, Code> {
        let iterator = self.iterator(iterator)?;
        if let Some(buffer) = self.take(iterator, WITH_PROGRAM) {
            self.look_after(iterator);
            return Ok(self.buffers[buffer].handle);
        }
        self.look_after(iterator);
        let buffer = self.take(iterator, WITH_PROGRAM).ok_or(Code::Empty)?;
        Ok(self.buffers[buffer].handle)
    }

    /// The address of a buffer's first byte.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn address(&self, buffer: Handle) -> Result<usize, Code> {
        Ok(self.buffers[self.buffer(buffer)?].storage.address())
    }

    /// Bytes of the message in a buffer.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn length(&self, buffer: Handle) -> Result<usize, Code> {
        Ok(self.buffers[self.buffer(buffer)?].length.load(Ordering::Relaxed))
    }

    /// Says how long the message in a buffer of the program's is.
    ///
    /// # Errors
    /// [`Code::Bufsize`], [`Code::BufferInUse`] and those of wrong handles.
    pub fn set_length(&self, buffer: Handle, length: usize) -> Result<(), Code> {
        let entry = self.held(buffer)?;
        if length > entry.size {
            return Err(Code::Bufsize);
        }
        entry.length.store(length, Ordering::Relaxed);
        entry.has_length.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Labels a buffer of the program's; SORTED iterators give the lowest label first.
    ///
    /// # Errors
    /// [`Code::BufferInUse`] and those of wrong handles.
    pub fn set_label(&self, buffer: Handle, label: i64) -> Result<(), Code> {
        self.held(buffer)?.label.store(label, Ordering::Relaxed);
        Ok(())
    }

    /// A buffer's label.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn label(&self, buffer: Handle) -> Result<i64, Code> {
        Ok(self.buffers[self.buffer(buffer)?].label.load(Ordering::Relaxed))
    }

    /// A buffer that the program has.
    pub(super) fn held(&self, buffer: Handle) -> Result<&CommittedBuffer, Code> {
        let entry = &self.buffers[self.buffer(buffer)?];
        if entry.place.load(Ordering::Relaxed) == WITH_PROGRAM { Ok(entry) } else { Err(Code::BufferInUse) }
    }
}

impl CommittedIterator {
    /// Where its buffers are; `None` before anything runs.
    #[inline]
    pub(super) fn store(&self) -> Option<&IteratorStore> {
        self.state.store.get()
    }

    /// Puts in the buffer of a place. An ORDERED iterator takes them in their order, whatever its store is.
    fn insert(&self, place: u32, label: i64) -> Result<(), Code> {
        let store = self.store().ok_or(Code::Internal)?;
        let is_ordered = self.policy.form == Form::Ordered;
        if is_ordered {
            let next = if place as usize + 1 == self.buffers.len() { 0 } else { place + 1 };
            let claimed = self.state.due.compare_exchange(place, next, Ordering::Relaxed, Ordering::Relaxed);
            claimed.map_err(|_| Code::NotAllowed)?;
        }
        store.insert(place, label).map_err(|error| {
            if is_ordered {
                self.state.due.store(place, Ordering::Relaxed);
            }
            match error {
                InsertError::OutOfOrder { .. } => Code::NotAllowed,
                InsertError::AlreadyIn { .. } => Code::BufferInUse,
                InsertError::NotAllowed { .. } => Code::Internal,
            }
        })
    }
}
