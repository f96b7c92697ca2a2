//! One transfer: a buffer is taken from the input iterator, sent or filled, and goes into the output iterator.

use super::{Committed, CommittedChannel, IN_TRANSFER, WITH_PROGRAM};
use crate::objects::error::Code;
use leveret_memory::sync::Ordering;

impl Committed {
    /// Takes a buffer for a transfer; that there is none is counted.
    pub(in crate::objects) fn take_for(&self, channel: &CommittedChannel) -> Option<usize> {
        let taken = self.take(channel.input as usize, IN_TRANSFER);
        if taken.is_none() {
            channel.without_buffer.fetch_add(1, Ordering::Relaxed);
        }
        taken
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
        if sent.is_ok() {
            channel.performed.fetch_add(1, Ordering::Relaxed);
        }
        sent
    }

    /// Fills a taken buffer by `copy`, which says how long the message is. It is kept
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
                channel.performed.fetch_add(1, Ordering::Relaxed);
                self.hand_back(channel, buffer)
            }
            Err(code) => {
                *spare = Some(buffer);
                Err(code)
            }
        }
    }

    /// Into the output iterator; a buffer that it does not allow goes back to the program.
    pub(in crate::objects) fn hand_back(
        &self,
        channel: &CommittedChannel,
        buffer: usize,
    ) -> Result<(), Code> {
        let put = self.put(channel.output as usize, buffer, IN_TRANSFER);
        if put.is_err() {
            self.buffers[buffer].place.store(WITH_PROGRAM, Ordering::Release);
        }
        put
    }
}
