//! The buffer slots of a channel. Bounds are established once, when the slots are made; after that a mask makes any
//! instance the index of a slot, and lengths are compared with the capacity.

use crate::block::{IndexedHead, LINE, SlotHead};
use crate::layout::{SourcePlace, slot_head};
use crate::sync::{AtomicU64, Ordering};
use crate::window::{Window, Words, scaled};
use crate::{checksum, copy};
use std::mem::offset_of;
use std::ptr::NonNull;

const _: () = assert!(size_of::<IndexedHead>() == 4 * size_of::<u64>());

/// The buffer slots of a channel: instance k lies in slot `k & mask`.
#[derive(Clone)]
pub(crate) struct Slots {
    window: Window,
    mask: u64,
    stride: usize,
    payload: usize,
    capacity: u32,
    longest: u32,
    indices: u32,
    checksum: bool,
}

impl Slots {
    pub(crate) fn new(segment: &Window, place: &SourcePlace) -> Self {
        let slots = &place.slots;
        let count = slots.mask as usize + 1;
        assert!(
            count.is_power_of_two()
                && slots.stride.is_multiple_of(LINE)
                && slots.length == count * slots.stride
        );
        assert!(slots.offset.is_multiple_of(LINE), "a head lies in one line");
        let padded = (slots.capacity as usize).next_multiple_of(8);
        let head = slot_head(slots.indices, slots.checksum);
        assert!(slots.payload >= head && slots.payload + padded <= slots.stride);
        assert!(slots.payload.is_multiple_of(8) && slots.stride >= size_of::<IndexedHead>());
        Self {
            window: segment.part(slots.offset, slots.length),
            mask: slots.mask,
            stride: slots.stride,
            payload: slots.payload,
            capacity: slots.capacity,
            longest: slots.longest,
            indices: slots.indices,
            checksum: slots.checksum,
        }
    }

    /// Longest message, in bytes. That of an aliased buffer does not lie in its slot.
    #[inline(always)]
    pub(crate) fn longest(&self) -> u32 {
        self.longest
    }

    /// How many buffers a slot can name; 0 when it names none.
    #[inline(always)]
    pub(crate) fn indices(&self) -> u32 {
        self.indices
    }

    /// Whether each message carries a checksum of its payload.
    #[inline(always)]
    pub(crate) fn has_checksum(&self) -> bool {
        self.checksum
    }

    /// Number of buffers.
    #[inline(always)]
    pub(crate) fn count(&self) -> u64 {
        self.mask + 1
    }

    /// Whether the two instances share a slot.
    #[inline(always)]
    pub(crate) fn share(&self, one: u64, other: u64) -> bool {
        (one ^ other) & self.mask == 0
    }

    /// What a head's check is of beside what every head has: the word of a slot that names a buffer, without the payload's checksum.
    #[inline(always)]
    pub(crate) fn checked_name(&self, slot: SlotView<'_>) -> u64 {
        if self.indices == 0 {
            return 0;
        }
        let Named { index, checksum } = Named::of(slot.head().word(NAMED).load(Ordering::Relaxed));
        Named { index, checksum: if self.checksum { 0 } else { checksum } }.word()
    }

    /// The slot of `instance`.
    #[inline(always)]
    pub(crate) fn slot(&self, instance: u64) -> SlotView<'_> {
        let offset = (instance & self.mask) as usize * self.stride;
        // SAFETY: `new` asserted that the window is a whole number of slots, a power of two of them, each a multiple
        // of a line and beginning with a head; the masked instance is the index of one.
        let head = unsafe { self.window.words_within(offset) };
        SlotView { head, payload: self.payload, capacity: self.capacity as usize }
    }
}

/// One slot.
#[derive(Clone, Copy)]
pub(crate) struct SlotView<'a> {
    head: Words<'a, 4>,
    payload: usize,
    capacity: usize,
}

impl<'a> SlotView<'a> {
    /// The same slot for a lifetime of the caller's choice.
    ///
    /// # Safety
    /// The channel end that the slot was obtained from is borrowed for all of 'b.
    #[inline(always)]
    pub(crate) unsafe fn lent_for<'b>(self) -> SlotView<'b> {
        // SAFETY: the caller's promise, passed on: the end owns the window.
        SlotView { head: unsafe { self.head.lent_for() }, payload: self.payload, capacity: self.capacity }
    }

    /// Sequence, length and check, stamp; the fourth word is the index where slots name buffers, else of the payload.
    #[inline(always)]
    pub(crate) fn head(&self) -> Words<'a, 4> {
        self.head
    }

    /// Bytes of the payload.
    #[inline(always)]
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// The first byte of the payload.
    #[inline(always)]
    fn payload(&self) -> NonNull<u8> {
        // SAFETY: `Slots::new` asserted that the payload lies within the slot.
        unsafe { self.head.base().add(scaled(self.payload)) }
    }

    /// The payload's word at `offset` bytes, a multiple of 8 below the capacity.
    #[inline(always)]
    pub(crate) fn word(&self, offset: usize) -> &'a AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset < self.capacity);
        // SAFETY: the assertion keeps the word within the capacity rounded up to 8, which `Slots::new` asserted to
        // lie within the slot; the window, borrowed for 'a, keeps it in place.
        unsafe { self.payload().add(scaled(offset)).cast::<AtomicU64>().as_ref() }
    }

    /// Copies `out.len()` bytes from `offset` on, whoever may be writing them; the caller validates afterwards.
    #[inline(always)]
    pub(crate) fn copy_out(&self, offset: usize, out: &mut [u8]) {
        let capacity = self.capacity;
        assert!(offset.is_multiple_of(8) && offset <= capacity && out.len() <= capacity - offset);
        // SAFETY: the assertion keeps the bytes within the capacity, and `offset` on a word; `Slots::new` asserted
        // that the capacity rounded up to 8 lies within the slot.
        unsafe { copy::out_of_shared(self.payload().add(scaled(offset)), out) }
    }

    /// The checksum of the first `length` bytes, whoever may be writing them; a receiver validates afterwards.
    pub(crate) fn checksum(&self, length: usize) -> u32 {
        assert!(length <= self.capacity, "a message is no longer than its channel allows");
        // SAFETY: the assertion keeps the bytes within the capacity, which, rounded up to 8, lies within the slot.
        unsafe { checksum::of_shared(self.payload(), length) }
    }

    /// As [`SlotView::checksum`], read where the bytes lie.
    ///
    /// # Safety
    /// The slot belongs to a source end, and nobody writes to its payload meanwhile.
    pub(crate) unsafe fn checksum_of_own(&self, length: usize) -> u32 {
        if cfg!(loom) {
            return self.checksum(length);
        }
        assert!(length <= self.capacity, "a message is no longer than its channel allows");
        // SAFETY: in bounds by the assertion and `Slots::new`; nobody writes by the caller's promise.
        checksum::of(unsafe { std::slice::from_raw_parts(self.payload().as_ptr(), length) })
    }

    /// Copies `bytes` to the payload's start, whoever may be reading there.
    ///
    /// # Safety
    /// The slot belongs to a source end: its region is writable.
    #[inline(always)]
    pub(crate) unsafe fn copy_in(&self, bytes: &[u8]) {
        assert!(bytes.len() <= self.capacity, "a message is no longer than its channel allows");
        // SAFETY: the assertion keeps the bytes within the capacity, which, rounded up to 8, lies within the slot;
        // writable by the caller's promise.
        unsafe { copy::into_shared(self.payload(), bytes) }
    }

    /// The whole payload for plain writing.
    ///
    /// # Safety
    /// The slot belongs to a source end, and until the slice is gone nobody else in this process accesses its payload.
    #[cfg(not(loom))]
    #[inline(always)]
    pub(crate) unsafe fn bytes_mut(self) -> &'a mut [u8] {
        // SAFETY: in bounds by `Slots::new`; exclusive by the caller's promise; bytes have no invalid values.
        unsafe { std::slice::from_raw_parts_mut(self.payload().as_ptr(), self.capacity) }
    }
}

/// The head's word of the sequence.
pub(crate) const SEQUENCE: usize = offset_of!(SlotHead, sequence) / 8;
/// The head's word of length and check.
pub(crate) const TAIL: usize = offset_of!(SlotHead, length) / 8;
/// The head's word of the buffer's index, where slots name buffers, and of the payload's checksum, where it has one.
pub(crate) const NAMED: usize = offset_of!(IndexedHead, index) / 8;
/// The head's word of the time stamp, which means something only when the tail says so.
pub(crate) const STAMP: usize = offset_of!(SlotHead, stamp) / 8;

/// What shares a word with the check: how long the message is, and whether a time stamp was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tail {
    /// In bytes, at most [`leveret_types::MESSAGE_BYTES_MAX`] when it is true.
    pub(crate) length: u32,
    pub(crate) stamped: bool,
    pub(crate) check: u32,
}

/// What the head's word [`NAMED`] holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Named {
    pub(crate) index: u32,
    pub(crate) checksum: u32,
}

impl Named {
    #[inline(always)]
    pub(crate) const fn word(self) -> u64 {
        self.index as u64 | (self.checksum as u64) << 32
    }

    #[inline(always)]
    pub(crate) const fn of(word: u64) -> Self {
        Self { index: word as u32, checksum: (word >> 32) as u32 }
    }
}

/// A word that is not written costs the receiver's poll no line.
const STAMPED: u32 = 1 << 31;
const _: () = assert!(leveret_types::MESSAGE_BYTES_MAX < STAMPED as u64);

impl Tail {
    #[inline(always)]
    pub(crate) const fn word(self) -> u64 {
        let stamped = if self.stamped { STAMPED } else { 0 };
        (self.length | stamped) as u64 | (self.check as u64) << 32
    }

    #[inline(always)]
    pub(crate) const fn of(word: u64) -> Self {
        let low = word as u32;
        Self { length: low & !STAMPED, stamped: low & STAMPED != 0, check: (word >> 32) as u32 }
    }
}

/// Check word of a slot's head: it tells scribbled memory from a message. `named` is
/// [`Slots::checked_name`].
#[inline(always)]
pub(crate) const fn head_check(sequence: u64, stamp: i64, length: u32, named: u64) -> u32 {
    // Each bit of each of them changes the check.
    let (length, named) = ((length as u64).rotate_left(40), named.rotate_left(16));
    let mixed =
        (sequence ^ (stamp as u64).rotate_left(29) ^ length ^ named).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as u32
}
