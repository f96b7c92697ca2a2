//! Messages as tasks and application threads see them. Each borrows its channel end, so it cannot outlive its
//! instance.

use crate::port::Sent;
use leveret_memory::{SharedBytes, Slot, Torn};
use leveret_types::{Clock, Instance, Nanos};

/// What an instance finds on a time-driven input.
#[derive(Debug)]
pub enum Input<'m> {
    /// The planned message, whole and in time.
    Message(Message<'m>),
    /// The planned message is not there; this is the last good one (policy `hold-last`).
    Held(Message<'m>, Absence),
    /// Nothing.
    Absent(Absence),
}

impl<'m> Input<'m> {
    /// The planned message, if it came.
    pub fn message(self) -> Option<Message<'m>> {
        match self {
            Self::Message(message) => Some(message),
            Self::Held(..) | Self::Absent(_) => None,
        }
    }
}

/// Why there is no message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Absence {
    /// The first message is planned for a later instance.
    BeforeFirst,
    /// The channel is not activated for this instance at both ends.
    Inactive,
    /// Not inserted in time; it may not have been inserted at all.
    Missing,
    /// Inserted after it was due, by this much.
    Late(Nanos),
    /// The peer's segment holds nonsense.
    Invalid,
    /// The payload was changed after it was sent: its checksum does not fit.
    Corrupt,
    /// The peer has died.
    PeerDead,
    /// The task did not declare that it reads this channel.
    NotThisTask,
}

/// Why a message cannot be inserted.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendRefusal {
    /// The channel is not activated for this instance at both ends.
    #[error("the channel is not active for this instance; activate it at both ends")]
    Inactive,
    /// Every buffer is still with the receiver.
    #[error(
        "no free buffer: the receiver has not given one back; give the channel more buffers or let the receiver keep up"
    )]
    NoBuffer,
    /// This instance has already inserted its message.
    #[error("this instance has already inserted its message")]
    AlreadySent,
    /// Longer than the channel's size.
    #[error("the message has {length} bytes, the channel carries at most {most}; declare a larger size")]
    TooLong {
        /// Its length.
        length: usize,
        /// The channel's size.
        most: usize,
    },
    /// The task did not declare that it writes this channel.
    #[error("the task did not declare that it writes this channel; add it with `writes`")]
    NotThisTask,
}

/// A received message.
#[derive(Debug)]
pub struct Message<'m> {
    pub(crate) instance: u64,
    pub(crate) inserted: Nanos,
    pub(crate) index: Option<u32>,
    pub(crate) body: MessageBody<'m>,
}

/// Where a received message's bytes lie.
#[derive(Debug)]
pub(crate) enum MessageBody<'m> {
    /// Copied into this member's own memory.
    Own(&'m [u8]),
    /// In the sender's segment.
    Shared(leveret_memory::Message<'m>),
}

impl<'m> Message<'m> {
    /// Its instance on its channel.
    pub fn instance(&self) -> Instance {
        Instance(self.instance)
    }

    /// When the sender inserted it.
    pub fn inserted(&self) -> Nanos {
        self.inserted
    }

    /// For which of the receiver's buffers it is, where those of the two ends belong together.
    pub(crate) fn index(&self) -> Option<u32> {
        self.index
    }

    /// Its length in bytes.
    pub fn length(&self) -> usize {
        match &self.body {
            MessageBody::Own(bytes) => bytes.len(),
            MessageBody::Shared(message) => message.length(),
        }
    }

    /// Copies the bytes to the front of `target`, and returns how many. Fails if the sender overwrote the message
    /// meanwhile, which only a faulty sender does.
    ///
    /// # Panics
    /// If `target` is shorter than the message.
    pub fn copy_to(&self, target: &mut [u8]) -> Result<usize, Torn> {
        match &self.body {
            MessageBody::Own(bytes) => {
                target[..bytes.len()].copy_from_slice(bytes);
                Ok(bytes.len())
            }
            MessageBody::Shared(message) => message.copy_to(target),
        }
    }

    /// The bytes as a slice, when they were copied into this member's memory (separate buffers).
    pub fn as_slice(&self) -> Option<&'m [u8]> {
        match &self.body {
            MessageBody::Own(bytes) => Some(bytes),
            MessageBody::Shared(_) => None,
        }
    }

    /// The bytes in place, when they lie in the sender's segment (aliased buffers). Validate after reading.
    pub fn shared(&self) -> Option<SharedBytes<'_>> {
        match &self.body {
            MessageBody::Own(_) => None,
            MessageBody::Shared(message) => Some(message.bytes()),
        }
    }

    /// Whether what was read in place was whole.
    pub fn validate(&self) -> Result<(), Torn> {
        match &self.body {
            MessageBody::Own(_) => Ok(()),
            MessageBody::Shared(message) => message.validate(),
        }
    }
}

/// What a transfer takes along.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'b> {
    /// What is to be copied; nothing of an aliased buffer.
    pub(crate) bytes: &'b [u8],
    /// How long the message is.
    pub(crate) length: usize,
    /// For which of the receiver's buffers, where those of the two ends belong together.
    pub(crate) index: Option<u32>,
    /// Whether every message says when it was inserted, and not one now and then.
    pub(crate) is_stamped: bool,
}

impl<'b> Outgoing<'b> {
    /// Just bytes.
    pub(crate) fn of(bytes: &'b [u8]) -> Self {
        Self { bytes, length: bytes.len(), index: None, is_stamped: false }
    }
}

/// A buffer to fill, in this member's own segment.
pub struct OutputSlot<'p> {
    pub(crate) slot: Slot<'p>,
    pub(crate) sent: Sent<'p>,
    pub(crate) most: usize,
    pub(crate) clock: &'p dyn Clock,
}

impl OutputSlot<'_> {
    /// The whole buffer; its size is the channel's.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.slot.bytes_mut()
    }

    /// That this is longer than the channel's size is a miss of the channel, and told as such.
    fn check_length(&mut self, length: usize) -> Result<(), SendRefusal> {
        if length <= self.most {
            return Ok(());
        }
        self.sent.refuse(length);
        Err(SendRefusal::TooLong { length, most: self.most })
    }

    /// Inserts the first `length` bytes.
    pub fn insert(mut self, length: usize) -> Result<(), SendRefusal> {
        self.check_length(length)?;
        let now = self.clock.now().latest;
        self.slot.publish(length as u32, now);
        self.sent.note(now, length);
        Ok(())
    }

    /// Copies what is to be copied, and inserts it. Says which instance it was.
    pub(crate) fn insert_outgoing(mut self, outgoing: &Outgoing<'_>) -> Result<u64, SendRefusal> {
        let Outgoing { bytes, length, index, .. } = *outgoing;
        self.check_length(length)?;
        let instance = self.slot.instance();
        self.slot.write(bytes);
        let Some(index) = index else { return self.insert(length).map(|()| instance) };
        let now = self.clock.now().latest;
        self.slot.publish_for(index, length as u32, now);
        self.sent.note(now, length);
        Ok(instance)
    }

    /// Copies `bytes` into the buffer and inserts them.
    pub fn insert_copy(mut self, bytes: &[u8]) -> Result<(), SendRefusal> {
        self.check_length(bytes.len())?;
        self.slot.write(bytes);
        self.insert(bytes.len())
    }
}
