//! One transfer: a buffer is taken from the input iterator, sent or filled, and goes into the output iterator. Whatever
//! becomes of a transfer passes through [`Committed::ended`].

use super::outcome::Outcome;
use super::{Committed, CommittedBuffer, CommittedChannel, IN_TRANSFER, WITH_PROGRAM};
use crate::message::Outgoing;
use crate::objects::error::Code;
use leveret_memory::sync::Ordering;
use leveret_types::Nanos;

/// What a receiver learns of a message.
#[derive(Clone, Copy, Debug)]
pub(in crate::objects) struct Arrived {
    pub(in crate::objects) length: usize,
    pub(in crate::objects) instance: u64,
    pub(in crate::objects) inserted: Nanos,
}

/// What became of a buffer's content, and with which instance.
#[derive(Clone, Copy)]
pub(super) enum Sent {
    /// The receiver reads it where it is.
    Lent(u64),
    /// The channel has it.
    Copied(u64),
}

impl Sent {
    pub(super) fn instance(self) -> u64 {
        let (Self::Lent(instance) | Self::Copied(instance)) = self;
        instance
    }
}

impl CommittedBuffer {
    /// A message is in it.
    pub(super) fn carry(&self, arrived: &Arrived) {
        self.length.store(arrived.length, Ordering::Relaxed);
        // Whoever sends it on without having had it in hands sends as much as came.
        self.has_length.store(true, Ordering::Relaxed);
        self.instance.store(arrived.instance, Ordering::Relaxed);
        self.inserted.store(arrived.inserted.0, Ordering::Relaxed);
    }
}

impl CommittedChannel {
    /// Whether an instance that ended so lacked a buffer of this member's, at an end that only sends or only receives.
    #[inline]
    fn lacks_here(&self, outcome: Outcome) -> bool {
        match outcome {
            Outcome::NoSenderBuffer => self.is_source,
            Outcome::NoReceiverBuffer => !self.is_source,
            _ => false,
        }
    }

    /// The bytes of a message were copied at this end. Of an end between two members one thread at a time says so: its task, or
    /// who has its lock.
    pub(super) fn count_copy(&self) {
        self.copies.store(self.copies.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

impl Committed {
    /// The one place that every outcome of every transfer passes, at each end for itself: performed, missed, late, without a
    /// buffer, paused. On the data path: it may neither block nor allocate. `latency` is known at a receiving end.
    #[inline]
    pub(in crate::objects) fn ended(
        &self,
        channel: &CommittedChannel,
        instance: u64,
        outcome: Outcome,
        latency: Option<Nanos>,
    ) {
        self.ended_lacking(channel, instance, (outcome, channel.lacks_here(outcome)), latency);
    }

    /// As [`Committed::ended`], at a member that both sends and receives: the outcome does not tell whether it lacked a buffer here.
    #[inline]
    pub(in crate::objects) fn ended_lacking(
        &self,
        channel: &CommittedChannel,
        instance: u64,
        (outcome, lacks_here): (Outcome, bool),
        latency: Option<Nanos>,
    ) {
        channel.tally.count(instance, outcome, latency);
        self.tell_ended(channel.handle, (outcome, lacks_here), 1);
    }

    /// As [`Committed::ended`], of `count` instances that were over before this end could see them, the last of them this one.
    pub(in crate::objects) fn passed_by(&self, channel: &CommittedChannel, instance: u64, count: u64) {
        if count > 0 {
            channel.tally.count_all(instance, Outcome::Late, count);
            self.tell_ended(channel.handle, (Outcome::Late, false), count);
        }
    }

    /// As [`Committed::ended`], of `count` transfers that seemed complete, the last of them that of `instance`: the receiver
    /// had no buffer, which its sender learns afterwards.
    pub(in crate::objects) fn ended_otherwise(
        &self,
        channel: &CommittedChannel,
        instance: u64,
        outcome: Outcome,
        count: u64,
    ) {
        channel.tally.correct(instance, outcome, count);
        self.tell_ended(channel.handle, (outcome, channel.lacks_here(outcome)), count);
    }

    /// Takes a buffer for a transfer.
    pub(in crate::objects) fn take_for(&self, channel: &CommittedChannel) -> Option<usize> {
        self.take(channel.input as usize, IN_TRANSFER)
    }

    /// Sends what is in a taken buffer by `send`. The buffer goes into the output iterator at once, sent or not: the transfer is
    /// complete at its instant, whatever the receiver does.
    pub(in crate::objects) fn send_out(
        &self,
        channel: &CommittedChannel,
        buffer: usize,
        send: impl FnMut(&Outgoing<'_>) -> Result<u64, Code>,
    ) -> Result<(), Code> {
        match self.send_from(channel, buffer, send)? {
            Sent::Lent(_) => Ok(()),
            Sent::Copied(_) => self.hand_back(channel, buffer),
        }
    }

    /// Sends what is in a taken buffer by `send`; the buffer stays taken, unless it could not be sent.
    pub(super) fn send_from(
        &self,
        channel: &CommittedChannel,
        buffer: usize,
        mut send: impl FnMut(&Outgoing<'_>) -> Result<u64, Code>,
    ) -> Result<Sent, Code> {
        let entry = &self.buffers[buffer];
        let length = entry.length.load(Ordering::Relaxed);
        let index = channel.is_mapped().then(|| self.iterators[channel.input as usize].places[buffer]);
        let mut sent = Err(Code::Internal);
        if let Some(loans) = channel.loans() {
            sent = send(&Outgoing { bytes: &[], length, index, is_stamped: true });
            if let (Ok(instance), Some(index)) = (sent, index) {
                // It comes back when the receiver is done with it.
                loans.lend(index, instance);
                return Ok(Sent::Lent(instance));
            }
        } else {
            entry.storage.read(&mut |bytes| {
                let bytes = bytes.get(..length).unwrap_or(bytes);
                sent = send(&Outgoing { bytes, length: bytes.len(), index, is_stamped: true });
            });
        }
        match sent {
            Ok(instance) => {
                channel.count_copy();
                Ok(Sent::Copied(instance))
            }
            Err(code) => {
                self.hand_back(channel, buffer)?;
                Err(code)
            }
        }
    }

    /// Fills a taken buffer by `copy`, which says how long the message is, and puts it into the output iterator. It is kept
    /// for the next reception when that fails.
    pub(in crate::objects) fn fill(
        &self,
        channel: &CommittedChannel,
        (buffer, spare): (usize, &mut Option<usize>),
        mut copy: impl FnMut(&mut [u8]) -> Result<Arrived, Code>,
    ) -> Result<(), Code> {
        let entry = &self.buffers[buffer];
        let mut copied = Err(Code::Internal);
        entry.storage.write(&mut |bytes| copied = copy(bytes));
        match copied {
            Ok(arrived) => {
                entry.carry(&arrived);
                channel.count_copy();
                self.hand_back(channel, buffer)
            }
            Err(code) => {
                *spare = Some(buffer);
                Err(code)
            }
        }
    }

    /// The next buffer goes into the output iterator unsent; whether there was one.
    pub(super) fn pass_over(&self, channel: &CommittedChannel) -> bool {
        let taken = self.take_for(channel);
        taken.is_some_and(|buffer| {
            // A buffer that the output iterator does not allow is the program's again.
            let _ = self.hand_back(channel, buffer);
            true
        })
    }

    /// Into the output iterator; a buffer that it does not allow goes back to the program.
    pub(super) fn hand_back(&self, channel: &CommittedChannel, buffer: usize) -> Result<(), Code> {
        self.put_or_release(channel.output, buffer)
    }

    /// An empty buffer that was taken and not filled goes back into the input iterator.
    pub(in crate::objects) fn return_unused(&self, channel: &CommittedChannel, buffer: usize) {
        // Whoever takes from an iterator could have put it there.
        let _ = self.put_or_release(channel.input, buffer);
    }

    pub(super) fn put_or_release(&self, iterator: u32, buffer: usize) -> Result<(), Code> {
        let put = self.put(iterator as usize, buffer, IN_TRANSFER);
        if put.is_err() {
            self.buffers[buffer].place.store(WITH_PROGRAM, Ordering::Release);
        }
        put
    }
}
