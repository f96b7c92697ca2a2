//! A message while it is being read. It borrows its receiver, so it cannot outlive its instance.

use crate::checksum;
use crate::receiver::Receiver;
use crate::slots::SlotView;
use crate::sync::{Ordering, fence};
use leveret_types::Nanos;

/// What was read is not what was published: worthless.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Torn {
    /// The buffer was overwritten while it was read.
    #[error("the message of instance {instance} was overwritten while it was read; drop what was read")]
    Overwritten {
        /// Which instance.
        instance: u64,
    },
    /// The payload does not sum up to the checksum that its sender published with it.
    #[error(
        "the payload of instance {instance} was changed after it was sent: its checksum does not fit; drop what was read"
    )]
    Corrupt {
        /// Which instance.
        instance: u64,
    },
}

/// As [`Display`](std::fmt::Display): `main` prints by `Debug` what it returns, and a user reads it.
impl std::fmt::Debug for Torn {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, out)
    }
}

/// A whole message in the sender's segment. Dropped without [`Message::release`] or [`Message::hold`], it can be
/// taken again.
///
/// It cannot be kept beyond the receiver's next use:
/// ```compile_fail,E0499
/// fn keep(receiver: &mut leveret_memory::Receiver) {
///     let first = receiver.take(0);
///     let second = receiver.take(1);
///     drop((first, second));
/// }
/// ```
/// nor used after its release:
/// ```compile_fail,E0382
/// fn reuse(message: leveret_memory::Message<'_>) -> bool {
///     message.release();
///     message.validate().is_ok()
/// }
/// ```
/// and bytes read in place go with it:
/// ```compile_fail,E0505
/// fn bytes(message: leveret_memory::Message<'_>) -> u8 {
///     let bytes = message.bytes();
///     message.release();
///     bytes.get(0).unwrap_or(0)
/// }
/// ```
pub struct Message<'a> {
    receiver: &'a mut Receiver,
    slot: SlotView<'a>,
    instance: u64,
    /// The sequence word with which the slot was found.
    sequence: u64,
    stamp: Nanos,
    /// A whole word: with padding beside it, a copy of the message would be loaded wider than it was stored, and wait
    /// for that store.
    length: usize,
}

impl std::fmt::Debug for Message<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Message")
            .field("instance", &self.instance)
            .field("stamp", &self.stamp)
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

impl<'a> Message<'a> {
    #[inline(always)]
    pub(crate) fn new(
        receiver: &'a mut Receiver,
        slot: SlotView<'a>,
        instance: u64,
        sequence: u64,
        stamp: Nanos,
        length: u32,
    ) -> Self {
        Self { receiver, slot, instance, sequence, stamp, length: length as usize }
    }

    /// Which instance.
    #[inline]
    pub fn instance(&self) -> u64 {
        self.instance
    }

    /// When the sender says that it inserted the message; any value is possible.
    #[inline]
    pub fn stamp(&self) -> Nanos {
        self.stamp
    }

    /// Length in bytes; at most the channel's size.
    #[inline]
    pub fn length(&self) -> usize {
        self.length
    }

    /// Whether it carries a checksum of its payload.
    #[inline(always)]
    pub fn has_checksum(&self) -> bool {
        self.receiver.has_checksum()
    }

    /// For which of the receiver's buffers it is, where those of the two ends belong together. `None` as well when it
    /// names one that there is not.
    #[inline]
    pub fn index(&self) -> Option<u32> {
        self.receiver.index_of(self.instance)
    }

    /// Copies the message into the start of `out` and validates the copy. Returns the number of bytes copied: the
    /// message's length, or that of `out` if it is shorter. Of an aliased
    /// buffer's message nothing is copied: it lies in the buffer.
    ///
    /// # Errors
    /// [`Torn`] when the buffer was overwritten meanwhile, or its checksum does not fit; `out` then holds garbage.
    #[inline]
    pub fn copy_to(&self, out: &mut [u8]) -> Result<usize, Torn> {
        let count = out.len().min(self.length()).min(self.slot.capacity());
        self.slot.copy_out(0, &mut out[..count]);
        if self.receiver.has_checksum() {
            self.compare(Some(&out[..count]))?;
        }
        self.still_whole().map(|()| count)
    }

    /// The bytes where they lie, without a copy. Validate after reading and before acting on what was read.
    #[inline]
    pub fn bytes(&self) -> SharedBytes<'_> {
        SharedBytes { slot: self.slot, length: self.length().min(self.slot.capacity()) }
    }

    /// Whether everything that was read so far is the message.
    ///
    /// # Errors
    /// [`Torn`] when the buffer was overwritten meanwhile, or its checksum does not fit now.
    #[inline]
    pub fn validate(&self) -> Result<(), Torn> {
        if self.receiver.has_checksum() {
            self.compare(None)?;
        }
        self.still_whole()
    }

    #[inline(always)]
    fn still_whole(&self) -> Result<(), Torn> {
        let instance = self.instance;
        if still_holds(self.slot, self.sequence) { Ok(()) } else { Err(Torn::Overwritten { instance }) }
    }

    /// Holds the checksum against a copy of the whole payload, or against the payload where it lies.
    #[inline(never)]
    fn compare(&self, copy: Option<&[u8]>) -> Result<(), Torn> {
        let stated = self.receiver.stated_checksum(self.instance);
        let found = match copy.filter(|copy| copy.len() == self.length) {
            Some(copy) => Some(checksum::of(copy)),
            None => self.receiver.checksum_of(self.instance, self.slot, self.length),
        };
        self.still_whole()?;
        if found == Some(stated) { Ok(()) } else { Err(Torn::Corrupt { instance: self.instance }) }
    }

    /// Gives the buffer back to the sender, and every earlier one. Gives back the receiver, which knows whether the sender must be woken.
    #[inline]
    pub fn release(self) -> &'a mut Receiver {
        self.receiver.release_taken(self.instance);
        self.receiver
    }

    /// Keeps the buffer for [`Receiver::take_or_held`], and gives every earlier one back.
    #[inline]
    pub fn hold(self) {
        self.receiver.hold(self.instance);
    }
}

/// Whether `slot` has had the word `sequence` all the time since it was found with it.
#[inline(always)]
pub(crate) fn still_holds(slot: SlotView<'_>, sequence: u64) -> bool {
    // All loads of the content happen before the one below: were one of them torn, the word would tell.
    fence(Ordering::Acquire);
    slot.head().word(0).load(Ordering::Relaxed) == sequence
}

/// A message's bytes in memory that its sender can change at any time. Every read is a copy out of it; there is no
/// slice, as a slice would promise that the bytes stay.
#[derive(Clone, Copy)]
pub struct SharedBytes<'m> {
    slot: SlotView<'m>,
    length: usize,
}

impl SharedBytes<'_> {
    /// Number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The byte at `index`, if there is one.
    #[inline]
    pub fn get(&self, index: usize) -> Option<u8> {
        self.read::<1>(index).map(|[byte]| byte)
    }

    /// The little-endian 32-bit number at `offset`, if it lies within.
    #[inline]
    pub fn read_u32_le(&self, offset: usize) -> Option<u32> {
        self.read(offset).map(u32::from_le_bytes)
    }

    /// The little-endian 64-bit number at `offset`, if it lies within.
    #[inline]
    pub fn read_u64_le(&self, offset: usize) -> Option<u64> {
        self.read(offset).map(u64::from_le_bytes)
    }

    /// Copies bytes from `offset` on into `out`; returns how many there were for it.
    pub fn copy_range(&self, offset: usize, out: &mut [u8]) -> usize {
        let count = self.length.saturating_sub(offset).min(out.len());
        let out = &mut out[..count];
        // Up to the next word singly, the rest in one go.
        let head = (offset.wrapping_neg() & 7).min(count);
        let (first, rest) = out.split_at_mut(head);
        for (index, byte) in first.iter_mut().enumerate() {
            *byte = self.get(offset + index).unwrap_or(0);
        }
        if !rest.is_empty() {
            self.slot.copy_out(offset + head, rest);
        }
        count
    }

    /// `N` (at most 8) bytes at `offset`, by one load or two.
    #[inline(always)]
    fn read<const N: usize>(&self, offset: usize) -> Option<[u8; N]> {
        const { assert!(N <= 8) };
        if N > self.length || offset > self.length - N {
            return None;
        }
        let aligned = offset & !7;
        let within = offset & 7;
        let low = self.slot.word(aligned).load(Ordering::Relaxed);
        let mut value = low >> (within * 8);
        if within + N > 8 {
            let high = self.slot.word(aligned + 8).load(Ordering::Relaxed);
            value |= high << (64 - within * 8);
        }
        let bytes = value.to_le_bytes();
        Some(std::array::from_fn(|index| bytes[index]))
    }
}
