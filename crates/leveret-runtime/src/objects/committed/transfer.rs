//! One transfer: a buffer is taken from the input iterator, sent or filled, and goes into the output iterator. Whatever
//! becomes of a transfer passes through [`Committed::ended`].

use super::outcome::Outcome;
use super::{Committed, CommittedChannel, IN_TRANSFER, WITH_PROGRAM};
use crate::objects::error::Code;
use leveret_memory::sync::Ordering;
use leveret_types::Nanos;

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
        channel.tally.count(instance, outcome, latency);
        self.tell_ended(channel.handle, outcome, 1);
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
        self.tell_ended(channel.handle, outcome, count);
    }

    /// Takes a buffer for a transfer.
    pub(in crate::objects) fn take_for(&self, channel: &CommittedChannel) -> Option<usize> {
        self.take(channel.input as usize, IN_TRANSFER)
    }

    /// Sends what is in a taken buffer by `send`. The buffer goes into the output iterator, sent or not.
    pub(in crate::objects) fn send_out(
        &self,
        channel: &CommittedChannel,
        buffer: usize,
        mut send: impl FnMut(&[u8]) -> Result<(), Code>,
    ) -> Result<(), Code> {
        let entry = &self.buffers[buffer];
        let length = entry.length.load(Ordering::Relaxed);
        let mut sent = Err(Code::Internal);
        entry.storage.read(&mut |bytes| sent = send(bytes.get(..length).unwrap_or(bytes)));
        self.hand_back(channel, buffer)?;
        sent
    }

    /// Fills a taken buffer by `copy`, which says how long the message is, and puts it into the output iterator. It is kept
    /// for the next reception when that fails.
    pub(in crate::objects) fn fill(
        &self,
        channel: &CommittedChannel,
        (buffer, spare): (usize, &mut Option<usize>),
        mut copy: impl FnMut(&mut [u8]) -> Result<usize, Code>,
    ) -> Result<(), Code> {
        let entry = &self.buffers[buffer];
        let mut copied = Err(Code::Internal);
        entry.storage.write(&mut |bytes| copied = copy(bytes));
        match copied {
            Ok(length) => {
                entry.length.store(length, Ordering::Relaxed);
                self.hand_back(channel, buffer)
            }
            Err(code) => {
                *spare = Some(buffer);
                Err(code)
            }
        }
    }

    /// Into the output iterator; a buffer that it does not allow goes back to the program.
    fn hand_back(&self, channel: &CommittedChannel, buffer: usize) -> Result<(), Code> {
        self.put_or_release(channel.output, buffer)
    }

    /// An empty buffer that was taken and not filled goes back into the input iterator.
    pub(in crate::objects) fn return_unused(&self, channel: &CommittedChannel, buffer: usize) {
        // Whoever takes from an iterator could have put it there.
        let _ = self.put_or_release(channel.input, buffer);
    }

    fn put_or_release(&self, iterator: u32, buffer: usize) -> Result<(), Code> {
        let put = self.put(iterator as usize, buffer, IN_TRANSFER);
        if put.is_err() {
            self.buffers[buffer].place.store(WITH_PROGRAM, Ordering::Release);
        }
        put
    }
}
