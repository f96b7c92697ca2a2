//! The receiving end: an acquire load of the sequence word tells whether the message is whole, late or missing.

use crate::alleged::Alleged;
use crate::block::{Participation, SourceControl, TargetControl};
use crate::counted::counted;
use crate::doze::{self, ASLEEP, Doze};
use crate::message::{Message, still_holds};
use crate::message_record::MessageRecord;
use crate::participation::{NOT_ACTIVE, ParticipationReader, ParticipationWriter};
use crate::peer::PeerSource;
use crate::segment::TargetEnd;
use crate::sequence::{Claim, INSTANCE_MAX};
use crate::slots::{NAMED, Named, SEQUENCE, STAMP, SlotView, TAIL, Tail, head_check};
use crate::sync::{Ordering, fence};
use crate::window::Flag;
use leveret_types::{ChannelId, Nanos};
use std::mem::offset_of;
use std::ptr::NonNull;

const RELEASED: usize = offset_of!(TargetControl, released);
const TAKEN: usize = offset_of!(TargetControl, taken);
const LATE: usize = offset_of!(TargetControl, late);
const MISSING: usize = offset_of!(TargetControl, missing);
const INVALID: usize = offset_of!(TargetControl, invalid);
const WAITING: usize = offset_of!(TargetControl, waiting);
const WAKE: usize = offset_of!(SourceControl, wake);
const DOZING: usize = offset_of!(SourceControl, participation) + offset_of!(Participation, dozing);

/// What the buffer of an instance holds.
#[must_use]
pub enum Taken<'a> {
    /// The message, whole.
    Message(Message<'a>),
    /// Not published yet.
    NotYet,
    /// Gone: released before, or overwritten by a later instance.
    Stale,
    /// The sender's segment holds nonsense there.
    Invalid(InvalidReason),
}

/// [`Taken`] without its message. What is rare is told in a type of its own, so that the frequent case need not be
/// built in memory where the two meet.
enum Absence {
    NotYet,
    Stale,
    Invalid(InvalidReason),
}

impl From<Absence> for Taken<'_> {
    #[inline(always)]
    fn from(absence: Absence) -> Self {
        match absence {
            Absence::NotYet => Self::NotYet,
            Absence::Stale => Self::Stale,
            Absence::Invalid(reason) => Self::Invalid(reason),
        }
    }
}

/// Why the content of a buffer is nonsense.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidReason {
    /// The sequence word belongs to another generation, or is no sequence word.
    #[error("its sequence word {0:#x} is not of this generation")]
    Generation(u64),
    /// The sequence word names an instance that belongs into another buffer.
    #[error("its sequence word names instance {0}, which belongs into another buffer")]
    Place(u64),
    /// The head's check word does not fit.
    #[error("the check word of its head does not fit")]
    Check,
    /// Longer than the channel allows.
    #[error("its length of {0} bytes exceeds the channel's")]
    Length(u32),
}

/// The receiving end of a channel. It writes only into its owner's segment.
pub struct Receiver {
    own: TargetEnd,
    pub(crate) peer: PeerSource,
    /// Instances below this are done with.
    released: u64,
    /// An instance that is kept although nothing below it is.
    held: Option<u64>,
    taken: u64,
    late: u64,
    missing: u64,
    invalid: u64,
}

impl Receiver {
    /// Joins the own end with the sender's.
    ///
    /// # Panics
    /// When the two belong to different channels, or disagree on whether the receiver waits.
    pub fn new(own: TargetEnd, peer: PeerSource) -> Self {
        assert_eq!(own.channel, peer.channel, "the ends of a receiver belong to one channel");
        assert_eq!(own.waits, peer.waits, "both ends of a channel agree on whether the receiver waits");
        Self { own, peer, released: 0, held: None, taken: 0, late: 0, missing: 0, invalid: 0 }
    }

    /// Which channel.
    pub fn channel(&self) -> ChannelId {
        self.own.channel
    }

    /// Largest message, in bytes.
    pub fn capacity(&self) -> usize {
        self.peer.slots.longest() as usize
    }

    /// Number of buffers.
    pub fn buffers(&self) -> u64 {
        self.peer.slots.count()
    }

    /// Whether the channel was declared as waking, so that this end may sleep.
    pub fn waits(&self) -> bool {
        self.own.waits
    }

    /// How many instances are done with.
    pub fn released(&self) -> u64 {
        self.released
    }

    /// Looks for the message of `instance`. One acquire load while it is not there.
    ///
    /// Always inlined: handed over in memory, a message would take longer than its transfer.
    #[inline(always)]
    pub fn take(&mut self, instance: u64) -> Taken<'_> {
        let slot = self.peer.slots.slot(instance);
        let head = slot.head();
        let expected = self.peer.tag.published(instance);
        let word = head.word(0).load(Ordering::Acquire);
        if word != expected || instance < self.released || instance > INSTANCE_MAX {
            return self.classify(word, instance).into();
        }
        let tail = Tail::of(head.word(TAIL).load(Ordering::Relaxed));
        let stamp = if tail.stamped { head.word(STAMP).load(Ordering::Relaxed) as i64 } else { 0 };
        let named = self.peer.slots.checked_name(slot);
        if Alleged::new(tail.check).must_be(head_check(expected, stamp, tail.length, named)).is_err() {
            return self.distrust(instance, InvalidReason::Check).into();
        }
        let Some(length) = Alleged::new(tail.length).at_most(self.peer.slots.longest()) else {
            return self.distrust(instance, InvalidReason::Length(tail.length)).into();
        };
        // SAFETY: the slot's lifetime is that of the borrow of `self`, which goes into the same value.
        let slot = unsafe { slot.lent_for() };
        Taken::Message(Message::new(self, slot, instance, expected, Nanos(stamp), length))
    }

    /// For which buffer the message of `instance` is, that is there; `None` when it names none that the channel has, or not the one for
    /// which it was published.
    pub(crate) fn index_of(&self, instance: u64) -> Option<u32> {
        let last = self.peer.slots.indices().checked_sub(1)?;
        let slot = self.peer.slots.slot(instance);
        let tail = Tail::of(slot.head().word(TAIL).load(Ordering::Relaxed));
        if !self.is_fitting(instance, tail) {
            return None;
        }
        let named = self.peer.slots.checked_name(slot);
        Alleged::new(Named::of(named).index).at_most(last)
    }

    fn named(&self, instance: u64) -> Named {
        Named::of(self.peer.slots.slot(instance).head().word(NAMED).load(Ordering::Relaxed))
    }

    /// Whether each message carries a checksum of its payload.
    #[inline(always)]
    pub fn has_checksum(&self) -> bool {
        self.peer.slots.has_checksum()
    }

    /// What the sender says that the payload of `instance` sums up to; any value is possible.
    pub(crate) fn stated_checksum(&self, instance: u64) -> u32 {
        Alleged::new(self.named(instance).checksum).any_value()
    }

    /// What the payload of `instance`, in `slot`, sums up to where it lies. `None`: it names no buffer that the channel has.
    pub(crate) fn checksum_of(&self, instance: u64, slot: SlotView<'_>, length: usize) -> Option<u32> {
        match &self.peer.shelf {
            Some(shelf) => Some(shelf.checksum(self.index_of(instance)?, length)),
            None => Some(slot.checksum(length)),
        }
    }

    /// Whether the message of `instance` seems to be there: the cheapest form of polling.
    #[inline(always)]
    pub fn is_there(&self, instance: u64) -> bool {
        let head = self.peer.slots.slot(instance).head();
        head.word(0).load(Ordering::Acquire) == self.peer.tag.published(instance)
    }

    /// Whether the message of `instance` is there, or comes while its sequence word is read so many times more.
    #[inline(always)]
    pub fn comes_within(&self, instance: u64, polls: u32) -> bool {
        let slot = self.peer.slots.slot(instance);
        let head = slot.head();
        let expected = self.peer.tag.published(instance);
        let mut left = polls;
        while head.word(0).load(Ordering::Acquire) != expected {
            if left == 0 {
                return false;
            }
            left -= 1;
            std::hint::spin_loop();
        }
        true
    }

    /// What a sequence word other than the expected one means.
    #[inline(never)]
    fn classify(&mut self, word: u64, instance: u64) -> Absence {
        if instance < self.released {
            return Absence::Stale;
        }
        if instance > INSTANCE_MAX {
            return Absence::NotYet;
        }
        let found = match self.peer.tag.read(word) {
            Claim::Empty => return Absence::NotYet,
            Claim::Foreign => {
                self.count_invalid();
                return Absence::Invalid(InvalidReason::Generation(word));
            }
            Claim::Published(found) | Claim::Writing(found) => found,
        };
        if !self.peer.slots.share(found, instance) {
            self.count_invalid();
            return Absence::Invalid(InvalidReason::Place(found));
        }
        if found > instance { Absence::Stale } else { Absence::NotYet }
    }

    /// The head is nonsense, unless it was being overwritten.
    #[cold]
    fn distrust(&mut self, instance: u64, reason: InvalidReason) -> Absence {
        if !still_holds(self.peer.slots.slot(instance), self.peer.tag.published(instance)) {
            return Absence::Stale;
        }
        self.count_invalid();
        Absence::Invalid(reason)
    }

    /// Publishes that `instance` was read and everything up to it is done with.
    #[inline(always)]
    pub(crate) fn release_taken(&mut self, instance: u64) {
        self.taken += 1;
        self.own.counts.word(TAKEN).store(self.taken, Ordering::Relaxed);
        self.release_through(instance);
    }

    /// Publishes that everything below `instance` is done with, and keeps `instance`.
    #[inline]
    pub(crate) fn hold(&mut self, instance: u64) {
        if self.held != Some(instance) {
            self.held = Some(instance);
            self.taken += 1;
            self.own.counts.word(TAKEN).store(self.taken, Ordering::Relaxed);
        }
        self.publish_released(instance);
    }

    /// Publishes that everything up to `instance` is done with, taken or not. Never goes back.
    #[inline]
    pub fn release_through(&mut self, instance: u64) {
        if self.held.is_some_and(|held| held <= instance) {
            self.held = None;
        }
        self.publish_released(instance.min(INSTANCE_MAX) + 1);
    }

    #[inline(always)]
    fn publish_released(&mut self, released: u64) {
        if released > self.released {
            self.released = released;
            // Release: all our reads of the buffers happen before the sender, which acquires this, writes to them.
            self.own.control.word(RELEASED).store(counted(released), Ordering::Release);
        }
    }

    /// Says once more how many instances are done with, if something has written over the count: the sender believes it no more, and
    /// would wait for the next for ever. Whether it was so.
    #[cold]
    pub fn restore_released(&mut self) -> bool {
        let (word, right) = (self.own.control.word(RELEASED), counted(self.released));
        let is_damaged = word.load(Ordering::Relaxed) != right;
        if is_damaged {
            word.store(right, Ordering::Release);
        }
        is_damaged
    }

    /// Whether the message of `instance` is lost, where instances leave no gaps: its buffer holds another thing, and the sender has published
    /// a later one. Before that it may still come, into a buffer that holds nonsense from before. Counted.
    #[cold]
    pub fn is_lost(&mut self, instance: u64) -> bool {
        let is_lost = !self.is_whole(instance) && self.is_passed(instance) && !self.is_whole(instance);
        if is_lost {
            self.count_invalid();
        }
        is_lost
    }

    /// Whether the sender has published something after `instance`. Acquired with that, the message of `instance` is there, or destroyed.
    fn is_passed(&self, instance: u64) -> bool {
        let word = self.peer.slots.slot(instance).head().word(SEQUENCE).load(Ordering::Acquire);
        let is_later = match self.peer.tag.read(Alleged::new(word).any_value()) {
            Claim::Empty | Claim::Writing(_) => false,
            // With a single buffer the sender publishes nothing more before this is passed over.
            Claim::Foreign => self.buffers() == 1,
            Claim::Published(found) => found > instance && self.is_whole(found),
        };
        is_later || self.is_whole(instance.saturating_add(1))
    }

    /// Whether the head of `instance` is there, and right.
    fn is_whole(&self, instance: u64) -> bool {
        let slot = self.peer.slots.slot(instance);
        let tail = Tail::of(slot.head().word(TAIL).load(Ordering::Relaxed));
        let is_there = instance <= INSTANCE_MAX && self.is_there(instance);
        is_there && self.is_fitting(instance, tail) && tail.length <= self.peer.slots.longest()
    }

    /// Whether the check of a head fits.
    fn is_fitting(&self, instance: u64, tail: Tail) -> bool {
        let slot = self.peer.slots.slot(instance);
        let stamp = if tail.stamped { slot.head().word(STAMP).load(Ordering::Relaxed) as i64 } else { 0 };
        let named = self.peer.slots.checked_name(slot);
        let check = head_check(self.peer.tag.published(instance), stamp, tail.length, named);
        Alleged::new(tail.check).must_be(check).is_ok()
    }

    /// The message of `instance` if it is there, else the one kept by [`Message::hold`], else what
    /// [`Receiver::take`] says of `instance`. [`Message::instance`] tells which it is.
    #[inline]
    pub fn take_or_held(&mut self, instance: u64) -> Taken<'_> {
        match self.held {
            Some(held) if held < instance && !self.is_there(instance) => self.take(held),
            _ => self.take(instance),
        }
    }

    /// The instance kept by [`Message::hold`].
    pub fn held(&self) -> Option<u64> {
        self.held
    }

    /// Counts a message that came after it was due.
    pub fn count_late(&mut self) {
        self.late += 1;
        self.own.counts.word(LATE).store(self.late, Ordering::Relaxed);
    }

    /// Counts a message that never came.
    pub fn count_missing(&mut self) {
        self.missing += 1;
        self.own.counts.word(MISSING).store(self.missing, Ordering::Relaxed);
    }

    /// Counts a message that was nonsense.
    pub fn count_invalid(&mut self) {
        self.invalid += 1;
        self.own.counts.word(INVALID).store(self.invalid, Ordering::Relaxed);
    }

    /// Before sleeping on a waking channel: says so, and returns the value that the futex word must still have for
    /// the sleep to begin. Then look once more with [`Receiver::take`]; only if the message is still not there,
    /// wait at [`Receiver::futex_word_address`] for a change from that value, and call [`Receiver::cancel_wait`]
    /// afterwards in either case.
    ///
    /// # Panics
    /// When the channel was not declared as waking: nobody would wake the caller.
    pub fn prepare_wait(&mut self) -> u32 {
        assert!(self.own.waits, "only the receiver of a waking channel may sleep");
        self.own.control.flag(WAITING).store(ASLEEP, Ordering::Relaxed);
        // The other half is in `Sender::must_wake`.
        fence(Ordering::SeqCst);
        self.peer.control.flag(WAKE).load(Ordering::Acquire)
    }

    /// After the sleep, or instead of it.
    pub fn cancel_wait(&mut self) {
        self.own.control.flag(WAITING).store(0, Ordering::Relaxed);
    }

    /// Before sleeping until the message of `instance` comes, whatever the channel was declared as: says so. Look once more with
    /// [`Receiver::is_there`] before the sleep, and call [`Receiver::end_doze`] afterwards in either case.
    pub fn begin_doze(&self, instance: u64) -> Doze {
        let slot = self.peer.slots.slot(instance);
        let word = if self.own.waits { self.peer.control.flag(WAKE) } else { Flag::of(slot.head().word(0)) };
        doze::begin(self.own.control.flag(WAITING), word)
    }

    /// After the sleep, or instead of it.
    pub fn end_doze(&self) {
        doze::end(self.own.control.flag(WAITING));
    }

    /// After a release: whether the sender sleeps for it, so that it must be woken at [`Receiver::released_word_address`].
    #[inline]
    pub fn must_wake(&self) -> bool {
        doze::must_wake(self.peer.control.flag(DOZING))
    }

    /// Where a sender sleeps that waits for a release, in this process's mapping.
    pub fn released_word_address(&self) -> NonNull<u32> {
        self.own.control.flag(RELEASED).address()
    }

    /// Where to sleep, in this process's read-only mapping of the sender's segment.
    pub fn futex_word_address(&self) -> NonNull<u32> {
        self.peer.control.flag(WAKE).address()
    }

    /// The futex word's present value, for a test that stands in for the kernel.
    pub fn futex_word(&self) -> u32 {
        self.peer.control.flag(WAKE).load(Ordering::Acquire)
    }

    /// Where this end says when it takes part.
    pub fn participation(&self) -> ParticipationWriter {
        ParticipationWriter::new(&self.own.control)
    }

    /// Where the sender says when it takes part.
    pub fn peer_participation(&self) -> ParticipationReader {
        self.peer.participation()
    }

    /// Says from which instance on this end can take part; [`crate::NOT_ACTIVE`] when it does not.
    pub fn set_first_eligible(&mut self, instance: u64) {
        self.participation().tell_spans([instance, NOT_ACTIVE, NOT_ACTIVE]);
    }

    /// From which instance on the sender can take part; any value is possible.
    pub fn peer_first_eligible(&self) -> u64 {
        self.peer.first_eligible()
    }

    /// As [`crate::Sender::report_as`].
    pub fn report_as(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.own.counts, &mut other.own.counts);
        std::mem::swap(&mut self.own.records, &mut other.own.records);
        (self.taken, self.late, self.missing, self.invalid) = (0, 0, 0, 0);
    }

    /// Appends to this end's message records.
    #[inline]
    pub fn record(&mut self, record: &MessageRecord) {
        self.own.records.push(record);
    }
}
