//! Channels of a whole group, as the data path uses them. A transfer is made of messages between two members each, on channels
//! of their own (`commit` names them `CHANNEL[from->to]`); what a member does with its buffers, cutting, joining and computing,
//! stands here, and when it does so in `free.rs` (best effort) and `timed.rs` (time-driven).

mod free;
mod timed;

pub(in crate::objects) use free::{FreeCollective, Ranked};
pub(in crate::objects) use timed::{Called, CollectiveSteps, Receive, Seat, Send};

use super::transfer::Arrived;
use super::{Committed, CommittedChannel, IN_TRANSFER};
use crate::objects::collectives::CollectiveKind;
use crate::objects::error::Code;
use crate::objects::object::Dataspec;
use leveret_memory::Torn;
use leveret_memory::sync::{AtomicBool, AtomicU32, Ordering};
use leveret_types::MemberId;
use std::ops::Range;

/// What a member knows of a collective channel.
pub(in crate::objects) struct Collective {
    pub(in crate::objects) kind: CollectiveKind,
    pub(in crate::objects) dataspec: Dataspec,
    /// Its iterators for sending, if it sends: where buffers are taken, and where they are put.
    pub(in crate::objects) sends: Option<[u32; 2]>,
    /// And for receiving.
    pub(in crate::objects) receives: Option<[u32; 2]>,
    /// Bytes of what one member sends to another; at most so many in a broadcast.
    pub(in crate::objects) piece: usize,
    /// The members of the group but this one.
    pub(in crate::objects) others: Box<[MemberId]>,
    /// What its time-driven steps tell each other.
    pub(in crate::objects) seat: Seat,
    /// What a start has taken for the next transfer.
    pub(in crate::objects) ready: Ready,
}

/// A full buffer that a start has taken, until the transfer sends it.
#[derive(Default)]
pub(in crate::objects) struct Ready {
    /// Its number plus one, or 0.
    buffer: AtomicU32,
    /// A thread is in the middle of a start.
    is_starting: AtomicBool,
}

/// As long as it lives no other thread starts a transfer at this end.
pub(in crate::objects::committed) struct Starting<'r>(&'r Ready);

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        self.0.is_starting.store(false, Ordering::Release);
    }
}

impl Ready {
    /// Where no lock does, keeps others from a start until this one has its buffer or is refused: a buffer that two took could only go back
    /// behind the others. `None`: another thread is at it.
    pub(in crate::objects::committed) fn begin_start(&self) -> Option<Starting<'_>> {
        (!self.is_starting.swap(true, Ordering::Acquire)).then(|| Starting(self))
    }

    /// By who starts, if none is kept.
    fn keep(&self, buffer: usize) {
        debug_assert!(self.is_none(), "one at a time");
        self.buffer.store(buffer as u32 + 1, Ordering::Release);
    }

    fn is_none(&self) -> bool {
        self.buffer.load(Ordering::Relaxed) == 0
    }

    fn take(&self) -> Option<usize> {
        if self.is_none() {
            return None;
        }
        self.buffer.swap(0, Ordering::AcqRel).checked_sub(1).map(|buffer| buffer as usize)
    }
}

impl Collective {
    /// What goes to a rank, of what is in a buffer.
    fn piece_for<'b>(&self, rank: u32, bytes: &'b [u8]) -> &'b [u8] {
        match self.kind {
            CollectiveKind::Scatter | CollectiveKind::Alltoall => {
                bytes.get(self.section(rank)).unwrap_or_default()
            }
            CollectiveKind::Barrier => &[],
            CollectiveKind::Broadcast | CollectiveKind::Gather | CollectiveKind::Reduce(_) => bytes,
        }
    }

    fn section(&self, rank: u32) -> Range<usize> {
        let start = (rank as usize).saturating_mul(self.piece);
        start..start.saturating_add(self.piece)
    }

    /// Whether a message of this length is one of this channel. An empty one says that its sender had nothing right to send.
    fn is_whole(&self, length: usize) -> bool {
        if self.kind.is_fixed() { length == self.piece } else { length <= self.piece }
    }

    /// Whether a buffer with this much in it can be sent. What is cut, joined or computed must be full.
    fn may_send(&self, length: usize, size: usize) -> bool {
        !self.kind.is_fixed() || length == size
    }

    /// Brings a message of a rank into the buffer that a transfer receives into. Messages come in the order of rank.
    fn take_in(
        &self,
        bytes: &mut [u8],
        (rank, is_first): (u32, bool),
        length: usize,
        scratch: &mut [u8],
        copy: impl FnOnce(&mut [u8]) -> Result<usize, Torn>,
    ) -> Result<(), Code> {
        if !self.is_whole(length) {
            return Err(Code::Bufsize);
        }
        let torn = |_| Code::Missed;
        match self.kind {
            CollectiveKind::Barrier => Ok(()),
            CollectiveKind::Gather | CollectiveKind::Alltoall => {
                let section = bytes.get_mut(self.section(rank)).ok_or(Code::Bufsize)?;
                copy(section).map(drop).map_err(torn)
            }
            CollectiveKind::Reduce(operation) if !is_first => {
                let operand = scratch.get_mut(..length).ok_or(Code::Bufsize)?;
                copy(operand).map_err(torn)?;
                operation.combine(self.dataspec, bytes, operand);
                Ok(())
            }
            CollectiveKind::Broadcast | CollectiveKind::Scatter | CollectiveKind::Reduce(_) => {
                let place = bytes.get_mut(..length).ok_or(Code::Bufsize)?;
                copy(place).map(drop).map_err(torn)
            }
        }
    }

    /// Room for one operand of a reduction, where this member computes.
    pub(in crate::objects) fn scratch(&self) -> Box<[u8]> {
        let computes = matches!(self.kind, CollectiveKind::Reduce(_)) && self.receives.is_some();
        vec![0; if computes { self.piece } else { 0 }].into_boxed_slice()
    }
}

#[cfg(test)]
mod tests;

impl Committed {
    /// What is in a buffer that is to be sent; as much as its length says.
    fn show(&self, buffer: usize, mut reader: impl FnMut(&[u8])) {
        let entry = &self.buffers[buffer];
        let length = entry.length.load(Ordering::Relaxed);
        entry.storage.read(&mut |bytes| reader(bytes.get(..length).unwrap_or(bytes)));
    }

    /// For the start of the next transfer: the buffer that it would send, if there is one, must be right. It stays taken until then.
    pub(super) fn check_ready(&self, channel: &CommittedChannel) -> Result<(), Code> {
        let Some(collective) = channel.collective.as_deref().filter(|collective| collective.kind.is_fixed())
        else {
            return Ok(());
        };
        let Some([input, _]) = collective.sends.filter(|_| collective.ready.is_none()) else { return Ok(()) };
        let Some(buffer) = self.take(input as usize, IN_TRANSFER) else { return Ok(()) };
        if !self.is_full_enough(collective, buffer) {
            self.end_sending(collective, buffer);
            return Err(Code::Bufsize);
        }
        collective.ready.keep(buffer);
        Ok(())
    }

    /// A buffer to send: what a start has taken, or the iterator's next.
    fn take_to_send(&self, collective: &Collective, input: u32) -> Option<usize> {
        collective.ready.take().or_else(|| self.take(input as usize, IN_TRANSFER))
    }

    /// Whether a buffer that was taken for sending has the length that the channel asks for.
    fn is_full_enough(&self, collective: &Collective, buffer: usize) -> bool {
        let entry = &self.buffers[buffer];
        collective.may_send(entry.length.load(Ordering::Relaxed), entry.size)
    }

    /// A buffer that received a transfer whole goes into the iterator for received ones; another back to where it was taken.
    fn end_reception(&self, collective: &Collective, buffer: usize, arrived: Option<Arrived>) {
        let Some([input, output]) = collective.receives else { return };
        if let Some(arrived) = &arrived {
            self.buffers[buffer].carry(arrived);
        }
        // One that the iterator does not allow goes to the program.
        let _ = self.put_or_release(if arrived.is_some() { output } else { input }, buffer);
    }

    fn end_sending(&self, collective: &Collective, buffer: usize) {
        if let Some([_, output]) = collective.sends {
            let _ = self.put_or_release(output, buffer);
        }
    }
}
