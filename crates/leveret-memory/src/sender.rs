//! The sending end: fill a buffer that lies in one's own segment, publish it with one release store.

use crate::block::{Participation, SourceControl, TargetControl};
use crate::doze::{self, ASLEEP, Doze};
use crate::message_record::MessageRecord;
use crate::participation::{NOT_ACTIVE, ParticipationReader, ParticipationWriter};
use crate::peer::PeerTarget;
use crate::segment::SourceEnd;
use crate::sequence::{Claim, INSTANCE_MAX};
use crate::slots::{NAMED, Named, SEQUENCE, STAMP, SlotView, TAIL, Tail, head_check};
use crate::sync::{Ordering, fence};
use crate::window::Flag;
use leveret_types::{ChannelId, Nanos};
use std::mem::offset_of;
use std::ptr::NonNull;

const PUBLISHED: usize = offset_of!(SourceControl, published);
const REFUSED: usize = offset_of!(SourceControl, refused);
const WAKE: usize = offset_of!(SourceControl, wake);
const WAITING: usize = offset_of!(TargetControl, waiting);
const DOZING: usize = offset_of!(SourceControl, participation) + offset_of!(Participation, dozing);
const RELEASED: usize = offset_of!(TargetControl, released);

/// The receiver has not released the buffer that this instance needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "no free buffer for instance {instance}: the receiver has released instances below {released}; give the channel more buffers, or the receiver more time"
)]
pub struct NoBuffer {
    /// The instance that was not sent.
    pub instance: u64,
    /// How far the receiver says it is.
    pub released: u64,
}

/// The sending end of a channel. Its thread is the only writer of the channel's buffers.
pub struct Sender {
    own: SourceEnd,
    peer: PeerTarget,
    /// No instance below this may be reserved any more.
    next: u64,
    /// Instances below this have a free buffer for certain: the receiver's released count, as last read, plus the
    /// number of buffers.
    free_below: u64,
    published: u64,
    refused: u64,
    wake: u32,
}

impl Sender {
    /// Joins the own end with the receiver's.
    ///
    /// # Panics
    /// When the two belong to different channels, or disagree on whether the receiver waits.
    pub fn new(own: SourceEnd, peer: PeerTarget) -> Self {
        assert_eq!(own.channel, peer.channel, "the ends of a sender belong to one channel");
        assert_eq!(own.waits, peer.waits, "both ends of a channel agree on whether the receiver waits");
        let free_below = own.slots.count();
        Self { own, peer, next: 0, free_below, published: 0, refused: 0, wake: 0 }
    }

    /// Which channel.
    pub fn channel(&self) -> ChannelId {
        self.own.channel
    }

    /// Largest message, in bytes.
    pub fn capacity(&self) -> usize {
        self.own.slots.longest() as usize
    }

    /// Number of buffers.
    pub fn buffers(&self) -> u64 {
        self.own.slots.count()
    }

    /// A free buffer for `instance`. Instances may leave gaps, but those published never go back.
    ///
    /// # Errors
    /// [`NoBuffer`] when the receiver has not released the buffer; nothing has changed but the counter.
    ///
    /// # Panics
    /// When `instance` is not above the last published one, or beyond [`INSTANCE_MAX`].
    #[inline]
    pub fn reserve(&mut self, instance: u64) -> Result<Slot<'_>, NoBuffer> {
        assert!(instance >= self.next && instance <= INSTANCE_MAX, "instances grow");
        if instance >= self.free_below {
            self.look_again(instance)?;
        }
        // No mark that the buffer is in writing: the receiver has released it and takes nothing from it before the
        // new sequence word. The mark would cost a transfer of the line that the receiver polls.
        // SAFETY: the slot's lifetime is that of the borrow of `self`, which goes into the same value.
        let slot = unsafe { self.own.slots.slot(instance).lent_for() };
        Ok(Slot { sender: self, instance, slot })
    }

    /// Reads how far the receiver is; called only when the last reading does not suffice.
    #[cold]
    fn look_again(&mut self, instance: u64) -> Result<(), NoBuffer> {
        let released = self.peer_released();
        // A count that goes back is the peer's nonsense; what it released once stays released. One that is ahead of this end says nothing
        // of what is sent later.
        let known = released.min(self.next).saturating_add(self.own.slots.count());
        self.free_below = self.free_below.max(known);
        if instance < self.free_below || released >= self.next {
            return Ok(());
        }
        // Instances may leave gaps: what counts is whether the buffer's last content was released.
        let head = self.own.slots.slot(instance).head();
        let free = match self.own.tag.read(head.word(0).load(Ordering::Relaxed)) {
            Claim::Published(occupant) => occupant < released,
            Claim::Empty => true,
            // Never seen in one's own segment: only `publish_over` leaves the mark, and takes it away again.
            Claim::Writing(_) | Claim::Foreign => false,
        };
        if free {
            return Ok(());
        }
        self.refused += 1;
        self.own.counts.word(REFUSED).store(self.refused, Ordering::Relaxed);
        Err(NoBuffer { instance, released })
    }

    /// Makes `slot`, that of `instance`, a message.
    #[inline(always)]
    fn finish(&mut self, slot: SlotView<'_>, instance: u64, length: u32, stamp: Nanos) {
        assert!(length <= self.own.slots.longest(), "a message is no longer than its channel allows");
        let head = slot.head();
        let sequence = self.own.tag.published(instance);
        let stamped = stamp != Nanos::ZERO;
        if stamped {
            head.word(STAMP).store(stamp.0 as u64, Ordering::Relaxed);
        }
        let check = head_check(sequence, stamp.0, length, self.own.slots.checked_name(slot));
        let tail = Tail { length, stamped, check };
        head.word(TAIL).store(tail.word(), Ordering::Relaxed);
        if self.own.slots.has_checksum() {
            self.sum(slot, length);
        }
        head.word(SEQUENCE).store(sequence, Ordering::Release);
        self.next = instance + 1;
        self.published += 1;
        self.own.counts.word(PUBLISHED).store(self.published, Ordering::Relaxed);
        if self.own.waits {
            self.wake = self.wake.wrapping_add(1);
            self.own.control.flag(WAKE).store(self.wake, Ordering::Release);
        }
    }

    /// Stores the checksum of the payload beside the index of its buffer.
    #[inline(never)]
    fn sum(&self, slot: SlotView<'_>, length: u32) {
        let word = slot.head().word(NAMED);
        let Named { index, .. } = Named::of(word.load(Ordering::Relaxed));
        let checksum = match self.own.shelf() {
            Some(shelf) => shelf.checksum(index, length as usize),
            // SAFETY: `finish` has the slot of a source end that was reserved, which nobody writes to but this thread.
            None => unsafe { slot.checksum_of_own(length as usize) },
        };
        word.store(Named { index, checksum }.word(), Ordering::Relaxed);
    }

    /// Publishes `bytes` as `instance` without asking whether the buffer is free: for a receiver that has stopped
    /// and must not hold up the sender. A receiver that still reads the buffer finds its message torn.
    ///
    /// # Panics
    /// As [`Sender::reserve`], and when `bytes` exceed the capacity.
    pub fn publish_over(&mut self, instance: u64, bytes: &[u8], stamp: Nanos) {
        assert!(instance >= self.next && instance <= INSTANCE_MAX, "instances grow");
        assert!(bytes.len() <= self.capacity(), "a message is no longer than its channel allows");
        // SAFETY: the slot is used while `self` is borrowed, within this function.
        let slot = unsafe { self.own.slots.slot(instance).lent_for() };
        slot.head().word(0).store(self.own.tag.writing(instance), Ordering::Relaxed);
        // Whoever sees a byte written after this also sees that the buffer is in writing.
        fence(Ordering::Release);
        // SAFETY: a sender's slots are those of its source end.
        unsafe { slot.copy_in(bytes) };
        self.finish(slot, instance, bytes.len() as u32, stamp);
    }

    /// After a publication: whether the receiver sleeps or is about to, so that it must be woken at [`Sender::futex_word_address`]. On
    /// a channel that was not declared as waking this costs a load as long as the receiver has never slept.
    ///
    /// On a waking one this and [`crate::Receiver::prepare_wait`] form Dekker's pattern: each side writes its own word, passes a
    /// sequentially consistent fence, and reads the other's; at least one of them sees the other.
    #[inline]
    pub fn must_wake(&self) -> bool {
        let waiting = self.peer.control.flag(WAITING);
        if !self.own.waits {
            return doze::must_wake(waiting);
        }
        fence(Ordering::SeqCst);
        waiting.load(Ordering::Relaxed) == ASLEEP
    }

    /// Where a receiver sleeps that waits for the message that was published last, in this process's mapping.
    pub fn futex_word_address(&self) -> NonNull<u32> {
        if self.own.waits {
            return self.own.control.flag(WAKE).address();
        }
        let last = self.next.saturating_sub(1);
        Flag::of(self.own.slots.slot(last).head().word(SEQUENCE)).address()
    }

    /// Before sleeping until the receiver releases something: says so. Look once more with [`Sender::peer_released`] before the sleep, and
    /// call [`Sender::end_doze`] afterwards in either case.
    pub fn begin_doze(&self) -> Doze {
        doze::begin(self.own.control.flag(DOZING), self.peer.control.flag(RELEASED))
    }

    /// After the sleep, or instead of it.
    pub fn end_doze(&self) {
        doze::end(self.own.control.flag(DOZING));
    }

    /// Where this end says when it takes part.
    pub fn participation(&self) -> ParticipationWriter {
        ParticipationWriter::new(&self.own.control)
    }

    /// Where the receiver says when it takes part.
    pub fn peer_participation(&self) -> ParticipationReader {
        self.peer.participation()
    }

    /// Says from which instance on this end can take part; [`crate::NOT_ACTIVE`] when it does not.
    pub fn set_first_eligible(&mut self, instance: u64) {
        self.participation().tell_spans([instance, NOT_ACTIVE, NOT_ACTIVE]);
    }

    /// From which instance on the receiver can take part; any value is possible.
    pub fn peer_first_eligible(&self) -> u64 {
        self.peer.first_eligible()
    }

    /// How many instances the receiver says it is done with; any value is possible. Where something has written over the count, what
    /// was believed before.
    pub fn peer_released(&self) -> u64 {
        self.peer.released().unwrap_or_else(|| self.free_below.saturating_sub(self.own.slots.count()))
    }

    /// Whether the receiver has released the buffer of `instance`, where instances leave no gaps.
    #[inline]
    pub fn has_room(&self, instance: u64) -> bool {
        instance < self.free_below || instance < self.peer_released().saturating_add(self.buffers())
    }

    /// From here on counts, from zero, and records stand where a watcher looks for those of `other`, an end of another
    /// segment of the same owner; what becomes of messages stays here. The two exchange these places.
    pub fn report_as(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.own.counts, &mut other.own.counts);
        std::mem::swap(&mut self.own.records, &mut other.own.records);
        (self.published, self.refused) = (0, 0);
    }

    /// Appends to this end's message records.
    #[inline]
    pub fn record(&mut self, record: &MessageRecord) {
        self.own.records.push(record);
    }
}

/// A buffer being filled. Dropped without [`Slot::publish`], nothing is sent.
#[must_use = "a slot that is not published sends nothing"]
pub struct Slot<'a> {
    sender: &'a mut Sender,
    instance: u64,
    slot: SlotView<'a>,
}

impl<'a> Slot<'a> {
    /// Which instance.
    pub fn instance(&self) -> u64 {
        self.instance
    }

    /// The whole buffer, to be filled in place. What earlier messages left is still in it.
    #[cfg(not(loom))]
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the source end is unique and its region writable (`OwnSegment::create`), so no other writer
        // exists; `reserve` gave out the buffer only after the receiver had released what it held, so no reader
        // of this process accesses it before `publish`. The slice borrows `self`, so there is one at a time.
        unsafe { self.slot.bytes_mut() }
    }

    /// Fills the buffer's start with `bytes`.
    ///
    /// # Panics
    /// When `bytes` exceed the capacity.
    #[inline]
    pub fn write(&mut self, bytes: &[u8]) {
        // SAFETY: a sender's slots are those of its source end.
        unsafe { self.slot.copy_in(bytes) }
    }

    /// Publishes the first `length` bytes as the message, inserted at `stamp` (zero: unknown). Gives back the sender, which knows
    /// whether the receiver must be woken.
    ///
    /// # Panics
    /// When `length` exceeds the capacity.
    #[inline]
    pub fn publish(self, length: u32, stamp: Nanos) -> &'a mut Sender {
        self.sender.finish(self.slot, self.instance, length, stamp);
        self.sender
    }

    /// As [`Slot::publish`], for the receiver's buffer of this index. Where buffers are aliased, the message is what lies
    /// in one's own of that index.
    ///
    /// # Panics
    /// When `length` exceeds the capacity, or the channel has no buffer of that index.
    #[inline]
    pub fn publish_for(self, index: u32, length: u32, stamp: Nanos) -> &'a mut Sender {
        assert!(index < self.sender.own.slots.indices(), "a message is for a buffer that the channel has");
        self.slot.head().word(NAMED).store(Named { index, checksum: 0 }.word(), Ordering::Relaxed);
        self.publish(length, stamp)
    }
}
