//! Transfers between buffers that belong together: the i-th allowed one of the sender's and the i-th of the receiver's.
//!
//! A message says which buffer it is for, and is received into that one or not at all. Where the two are one in memory,
//! nothing is copied: the receiver's end says that its program has the buffer, until the program has put it back into the
//! input iterator; then it goes into the sender's output iterator.

use super::loans::Loans;
use super::transfer::Arrived;
use super::{Committed, CommittedChannel};
use crate::binding::MappedEnd;
use crate::free_end::{Received, ReceivingEnd};
use crate::message::Message;
use crate::objects::error::Code;
use crate::objects::limit::name_or_none;
use crate::objects::object::{Body, Form};
use leveret_memory::iterator::{IteratorStore, Policy};
use leveret_memory::sync::Ordering;
use leveret_memory::{Borrower, Shelf};
use leveret_os::read_only::{self, Guard};

/// How the buffers of an end belong to those of the other.
pub(in crate::objects) enum ChannelMapping {
    /// One to one, with a copy.
    Indexed,
    /// They are the other end's too, which borrows them.
    Lends(Loans),
    /// They are the other end's, borrowed. The guard reports stores of the program's; there is none where too many others are guarded.
    Borrows(Borrower, #[expect(dead_code, reason = "it works until it is dropped")] Option<Guard>),
}

impl CommittedChannel {
    /// Whether a message is for a certain buffer.
    #[inline]
    pub(in crate::objects) fn is_mapped(&self) -> bool {
        self.mapping.get().is_some()
    }

    /// The sender's buffers that the receiver has, where they are one.
    #[inline]
    pub(super) fn loans(&self) -> Option<&Loans> {
        match self.mapping.get() {
            Some(ChannelMapping::Lends(loans)) => Some(loans),
            _ => None,
        }
    }
}

impl Committed {
    /// Before anything runs: which channels' buffers belong to those of the other end is known, by the channels' indices.
    pub(in crate::objects) fn settle(
        &self,
        mapped: impl IntoIterator<Item = (usize, MappedEnd)>,
    ) -> Result<(), Code> {
        for (index, mapped) in mapped {
            let channel = &self.channels[index];
            if channel.is_kept {
                continue;
            }
            let mapping = match mapped {
                MappedEnd::Indexed => ChannelMapping::Indexed,
                MappedEnd::Lends(shelf, lender) => {
                    let buffers = self.adopt(channel, &shelf)?;
                    ChannelMapping::Lends(Loans::new(lender, buffers))
                }
                MappedEnd::Borrows(shelf, borrower) => {
                    self.adopt(channel, &shelf)?;
                    ChannelMapping::Borrows(borrower, self.guard(channel, &shelf))
                }
            };
            channel.mapping.set(mapping).map_err(|_| Code::Internal)?;
        }
        for (index, iterator) in self.iterators.iter().enumerate().filter(|(_, iterator)| !iterator.is_kept) {
            let is_named = iterator.channels.iter().any(|channel| {
                let channel = &self.channels[*channel as usize];
                channel.input as usize == index && !channel.is_source && channel.is_mapped()
            });
            let policy = match (iterator.policy.base, iterator.policy.form) {
                // What leaves next is what a message is for.
                _ if is_named => Policy::Unordered,
                (Policy::Fifo | Policy::Unordered, Form::Ordered) => Policy::Ordered,
                (base, _) => base,
            };
            let store = IteratorStore::new(policy, (iterator.buffers.len() as u32).max(1));
            iterator.state.store.set(store).map_err(|_| Code::Internal)?;
        }
        for (iterator, buffer) in &self.stocked {
            self.put(*iterator as usize, *buffer as usize, super::WITH_PROGRAM)?;
        }
        Ok(())
    }

    /// The buffers of a channel's input iterator lie on the shelf from here on. Says how many there are.
    fn adopt(&self, channel: &CommittedChannel, shelf: &Shelf) -> Result<usize, Code> {
        let buffers = &self.iterators[channel.input as usize].buffers;
        for (place, buffer) in buffers.iter().enumerate().take(shelf.buffers() as usize) {
            let entry = &self.buffers[*buffer as usize];
            entry.storage.adopt(shelf, place as u32)?;
            entry.is_borrowed.store(!channel.is_source, Ordering::Relaxed);
        }
        Ok(buffers.len())
    }

    /// From here on a store of this member's to the other end's buffers is reported with their names, before it ends the process.
    fn guard(&self, channel: &CommittedChannel, shelf: &Shelf) -> Option<Guard> {
        if shelf.is_writable() || shelf.buffers() == 0 {
            return None;
        }
        let world = &self.world;
        let object = world.table.referred(channel.handle)?;
        let Body::Ptchannel(body) = &object.body else { return None };
        let Body::Group(members) = &world.table.referred(body.group)?.body else { return None };
        let (own, sender) = (
            &world.names()[world.rank().index()],
            &world.names()[members.get(body.source as usize)?.index()],
        );
        let buffers = self.iterators[channel.input as usize].buffers.iter().take(shelf.buffers() as usize);
        let name = |(place, buffer): (usize, &u32)| {
            let object = world.table.referred(self.buffers[*buffer as usize].handle);
            let called = name_or_none("buffer", object.map_or("", |object| &object.name));
            format!("{called} (element {place} of the allowed Cvector)")
        };
        read_only::guard(read_only::Description {
            region: shelf.region(),
            first: shelf.address(0).addr().get(),
            stride: shelf.stride(),
            names: buffers.enumerate().map(name).collect(),
            before: format!("leveret: member \"{own}\" writes to "),
            after: format!(
                ", received on {} from member \"{sender}\": that memory is member \"{sender}\"'s and read-only here, \
                 because the buffers of both ends are one (system memory, MAPPED or ORDERED at both: MPIRT_Bufiter_create); copy the bytes \
                 before you change them, or give this end buffers over memory of the program's own (MPIRT_Buffer_create)",
                world.called("the channel", channel.handle)
            ),
        })
    }

    /// Whether messages may be written into the buffers of an iterator: where receptions take from it, and do not just borrow
    /// what is there.
    pub(super) fn is_filled_from(&self, iterator: usize) -> bool {
        self.iterators[iterator].channels.iter().any(|channel| {
            let channel = &self.channels[*channel as usize];
            if let Some(collective) = &channel.collective {
                return collective.receives.is_some_and(|[input, _]| input as usize == iterator);
            }
            channel.input as usize == iterator
                && !channel.is_source
                && !matches!(channel.mapping.get(), Some(ChannelMapping::Borrows(..)))
        })
    }

    /// A borrowed buffer that is in its input iterator again goes back to the sender.
    #[inline]
    pub(super) fn give_back(&self, iterator: usize, place: u32) {
        for channel in &self.iterators[iterator].channels {
            let channel = &self.channels[*channel as usize];
            if let Some(ChannelMapping::Borrows(borrower, _)) = channel.mapping.get()
                && channel.input as usize == iterator
            {
                borrower.give_back(place);
            }
        }
    }

    /// Puts buffers that have come back from the receiver into the output iterator.
    #[inline]
    pub(in crate::objects) fn take_back_loans(&self, channel: &CommittedChannel) {
        if let Some(loans) = channel.loans()
            && loans.has_any()
        {
            self.collect(channel, loans);
        }
    }

    fn collect(&self, channel: &CommittedChannel, loans: &Loans) {
        for (place, buffer) in self.iterators[channel.input as usize].buffers.iter().enumerate() {
            if loans.take_back(place as u32) {
                // Where the output iterator does not allow it, the program has it again.
                let _ = self.hand_back(channel, *buffer as usize);
            }
        }
    }

    /// One reception at an end that the program serves; what came, and whether it is what was sent. A best-effort message whose buffer is
    /// not there stays with its sender.
    pub(super) fn receive_named(
        &self,
        channel: &CommittedChannel,
        end: &mut ReceivingEnd,
    ) -> Option<(Arrived, bool)> {
        let taken = match end.index_of_next() {
            Some(index) => self.take_named(channel.input as usize, index),
            None => {
                // Nonsense is passed over.
                drop(end.try_receive());
                None
            }
        };
        let buffer = taken?;
        let Some(message) = end.try_receive() else {
            self.put_aside(channel, buffer);
            return None;
        };
        Some((message.arrived(), self.carry_out(channel, buffer, &message).is_ok()))
    }

    /// One reception at an end that a task serves; whether the buffer was there.
    pub(super) fn receive_mapped(
        &self,
        channel: &CommittedChannel,
        message: &Message<'_>,
    ) -> Result<bool, Code> {
        let index = message.index().ok_or(Code::Missed)?;
        let Some(buffer) = self.take_named(channel.input as usize, index) else { return Ok(false) };
        self.carry_out(channel, buffer, message).map(|()| true)
    }

    /// A message is in the buffer that it is for, or is copied into it.
    fn carry_out(
        &self,
        channel: &CommittedChannel,
        buffer: usize,
        message: &dyn Arriving,
    ) -> Result<(), Code> {
        let entry = &self.buffers[buffer];
        let arrived = message.arrived();
        let borrower = match channel.mapping.get() {
            Some(ChannelMapping::Borrows(borrower, _)) => Some(borrower),
            _ => None,
        };
        let mut taken = Err(Code::Internal);
        match borrower {
            Some(_) => taken = message.check(),
            None => entry.storage.write(&mut |bytes| taken = message.copy(bytes)),
        }
        if let Err(code) = taken {
            self.put_aside(channel, buffer);
            return Err(code);
        }
        match borrower {
            Some(borrower) => {
                borrower.keep(self.iterators[channel.input as usize].places[buffer], arrived.instance);
            }
            None => channel.count_copy(),
        }
        entry.carry(&arrived);
        self.hand_back(channel, buffer)
    }

    /// A buffer that was taken for nothing goes back to where it was.
    fn put_aside(&self, channel: &CommittedChannel, buffer: usize) {
        let input = &self.iterators[channel.input as usize];
        self.buffers[buffer].place.store(channel.input + 1, Ordering::Release);
        if let Some(store) = input.store() {
            // It left this store a moment ago, and nobody else can have put it in.
            let _ = store.insert(input.places[buffer], 0);
        }
    }
}

/// A message, as either kind of end has it.
trait Arriving {
    fn arrived(&self) -> Arrived;
    fn copy(&self, bytes: &mut [u8]) -> Result<(), Code>;
    /// Holds a message that is read where it lies against its checksum, if it has one.
    fn check(&self) -> Result<(), Code>;
}

impl Arriving for Message<'_> {
    fn arrived(&self) -> Arrived {
        Arrived { length: self.length(), instance: self.instance().0, inserted: self.inserted() }
    }

    fn copy(&self, bytes: &mut [u8]) -> Result<(), Code> {
        if self.length() > bytes.len() {
            return Err(Code::Bufsize);
        }
        self.copy_to(bytes).map(|_| ()).map_err(|_| Code::Missed)
    }

    fn check(&self) -> Result<(), Code> {
        // Its port has done so.
        Ok(())
    }
}

impl Arriving for Received<'_> {
    fn arrived(&self) -> Arrived {
        Arrived { length: self.length(), instance: self.instance(), inserted: self.stamp() }
    }

    fn copy(&self, bytes: &mut [u8]) -> Result<(), Code> {
        if self.length() > bytes.len() {
            return Err(Code::Bufsize);
        }
        self.copy_to(bytes).map(|_| ()).map_err(|_| Code::Missed)
    }

    fn check(&self) -> Result<(), Code> {
        if !self.has_checksum() {
            return Ok(());
        }
        self.validate().map_err(|_| Code::Missed)
    }
}
