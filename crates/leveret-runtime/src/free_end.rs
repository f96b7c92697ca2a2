//! Channel ends outside the time table: best effort, and single transfers of time-driven channels.

use crate::message::Outgoing;
use crate::port::FateCode;
use crate::timing::Arrival;
use crate::watch::{Watch, Watched};
use leveret_memory::{
    Doze, Message, MessageRecord, NOT_ACTIVE, NoBuffer, Receiver, Sender, Slot, Taken, Torn,
};
use leveret_os::{clock, futex};
use leveret_types::{Instance, MemberId, Nanos};
use std::cell::Cell;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// Every n-th best-effort message carries a time stamp: reading the clock would cost as much as the transfer.
const STAMP_EVERY: u64 = 64;
/// What is ready before the epoch may send so much before it, as the watcher allows.
const EARLY_MOST: Nanos = Nanos::from_secs(3600);
/// Polls between two looks at the clock and the peer's pulse while waiting.
const POLLS_PER_LOOK: u32 = 256;
/// A transfer is started at most so many instances after the next one, if the receiver joins in that late: as many as an activation takes
/// that names no instance. The watcher believes no sender that it started one further ahead.
pub const START_AHEAD_MAX: u64 = crate::activation::MARGIN;
/// A sleeping receiver looks at the peer's pulse this often.
const PULSE: Duration = Duration::from_millis(20);

/// Why a wait ended without a message or a completion.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WaitError {
    /// The timeout passed.
    #[error("the timeout passed")]
    TimedOut,
    /// The peer has died.
    #[error("the peer has died")]
    PeerDead,
    /// The job is stopping.
    #[error("the job is stopping")]
    Stopping,
    /// Nothing was started on this end.
    #[error("nothing was started on this end; call `start` first")]
    NothingStarted,
    /// The started instance was not performed in its window.
    #[error("instance {0} was not performed: its message was late or missing")]
    NotPerformed(Instance),
}

/// Why a message cannot be started.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// A transfer that was started before is not complete, and the channel's slack is 1.
    #[error("instance {0} is still outstanding and the channel's slack is 1; wait for it first")]
    Outstanding(Instance),
    /// The receiver says that it takes part from an instance on that is not near. Nothing was started.
    #[error(
        "{receiver} says that it takes part from instance {first} on, and the next one is instance {next}; start closer to it"
    )]
    NotYet {
        /// Who says so.
        receiver: MemberId,
        /// Its first instance; any value is possible.
        first: Instance,
        /// The next that this end can make.
        next: Instance,
    },
    /// Every buffer is still with the receiver.
    #[error(transparent)]
    NoBuffer(#[from] NoBuffer),
    /// Longer than the channel's size.
    #[error("the message has {length} bytes, the channel carries at most {most}; declare a larger size")]
    TooLong {
        /// Its length.
        length: usize,
        /// The channel's size.
        most: usize,
    },
}

/// A sending end that its owner calls when it likes.
pub struct SendingEnd {
    sender: Sender,
    next: u64,
    /// The instance that was refused last, and the recorded reason.
    refused: Option<(u64, u8)>,
    arrival: Option<Arrival>,
    epoch: Nanos,
    peer: MemberId,
    watch: Watched,
}

impl SendingEnd {
    pub(crate) fn new(
        mut sender: Sender,
        arrival: Option<Arrival>,
        peer: MemberId,
        watch: Arc<Watch>,
    ) -> Self {
        sender.set_first_eligible(0);
        let watch = Watched::new(watch);
        Self { sender, next: 0, refused: None, arrival, epoch: Nanos::ZERO, peer, watch }
    }

    /// What tells it of the end and of deaths.
    pub(crate) fn watch_mut(&mut self) -> &mut Watched {
        &mut self.watch
    }

    /// It is kept in a mode, where `fresh` is declared for it: the watcher finds there what is counted from here on.
    pub(crate) fn go_on_as(&mut self, fresh: &mut Self) {
        self.sender.report_as(&mut fresh.sender);
    }

    pub(crate) fn arm(&mut self, epoch: Nanos) {
        self.epoch = epoch;
    }

    /// Largest message, in bytes.
    pub fn capacity(&self) -> usize {
        self.sender.capacity()
    }

    /// The last started instance.
    fn started(&self) -> Option<u64> {
        self.next.checked_sub(1)
    }

    /// Best effort: the next free buffer, to be filled in place and inserted. Of a receiver that has died none comes back any more:
    /// [`SendingEnd::peer_is_dead`].
    #[inline(always)]
    pub fn slot(&mut self) -> Result<SendingSlot<'_>, NoBuffer> {
        // A time-driven end uses `start`; here instances are consecutive counters.
        let Self { sender, next, .. } = self;
        Ok(SendingSlot { slot: sender.reserve(*next)?, next })
    }

    /// Best effort: sends a copy of `bytes`; visible at once.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> Result<Instance, StartError> {
        self.send_outgoing(&Outgoing::of(bytes))
    }

    #[inline]
    fn send_outgoing(&mut self, outgoing: &Outgoing<'_>) -> Result<Instance, StartError> {
        let (length, most) = (outgoing.length, self.capacity());
        if length > most {
            return Err(StartError::TooLong { length, most });
        }
        let mut slot = self.slot()?;
        slot.slot.write(outgoing.bytes);
        let stamp = if outgoing.is_stamped { clock::now() } else { slot.sampled_stamp() };
        Ok(slot.insert_at((length, outgoing.index), stamp))
    }

    /// Starts one transfer of `bytes` (design section 10.5). Best effort: at once. Time-driven: in the next
    /// instance that both ends can still make, which is returned; [`StartError::NotYet`] if that is far ahead.
    pub fn start(&mut self, bytes: &[u8]) -> Result<Instance, StartError> {
        self.start_outgoing(&Outgoing::of(bytes))
    }

    /// As [`SendingEnd::start`], for what need not be copied, or is for a certain buffer.
    pub(crate) fn start_outgoing(&mut self, outgoing: &Outgoing<'_>) -> Result<Instance, StartError> {
        let Some(arrival) = self.arrival else { return self.send_outgoing(outgoing) };
        let length = outgoing.length;
        let now = clock::now();
        if let Some(started) = self.started()
            && now < self.epoch + arrival.of(started)
        {
            return Err(StartError::Outstanding(Instance(started)));
        }
        let most = self.capacity();
        if length > most {
            return Err(StartError::TooLong { length, most });
        }
        let next = arrival.next_after(now - self.epoch).max(self.next);
        let instance = self.first_of_both(next, self.epoch + arrival.of(next))?;
        let due = self.epoch + arrival.of(instance);
        let Self { sender, next, .. } = self;
        let (at, size, fate) = match sender.reserve(instance) {
            Ok(slot) => {
                let mut slot = SendingSlot { slot, next };
                slot.slot.write(outgoing.bytes);
                let now = clock::now();
                slot.insert_at((length, outgoing.index), now);
                (now, length as u32, FateCode::Done)
            }
            Err(none) => {
                self.refuse(MessageRecord {
                    instance,
                    at: now,
                    due,
                    size: 0,
                    fate: FateCode::NoBuffer as u8,
                });
                return Err(none.into());
            }
        };
        self.record(MessageRecord { instance, at, due, size, fate: fate as u8 });
        Ok(Instance(instance))
    }

    /// The first instance from `next` on, which is due then, that the receiver takes part in as well. What it says is its word alone: it
    /// moves a transfer as far as an activation can, and no further.
    fn first_of_both(&mut self, next: u64, due: Nanos) -> Result<u64, StartError> {
        let first = self.sender.peer_first_eligible();
        if first == NOT_ACTIVE || first <= next {
            return Ok(next);
        }
        if first - next <= START_AHEAD_MAX {
            return Ok(first);
        }
        let fate = FateCode::Inactive as u8;
        self.refuse(MessageRecord { instance: next, at: Nanos::ZERO, due, size: 0, fate });
        Err(StartError::NotYet { receiver: self.peer, first: Instance(first), next: Instance(next) })
    }

    /// Records once that an instance cannot be used: whoever is refused may ask again and again.
    fn refuse(&mut self, record: MessageRecord) {
        if self.refused != Some((record.instance, record.fate)) {
            self.refused = Some((record.instance, record.fate));
            self.record(record);
        }
    }

    fn record(&mut self, record: MessageRecord) {
        self.sender.record(&record);
    }

    /// Whether there is still a point in waiting.
    pub(crate) fn look(&self) -> Result<(), WaitError> {
        Patience::new(Nanos::MAX, self.peer, &self.watch).look()
    }

    /// Before sleeping until the receiver takes a message: says so. Look once more before the sleep.
    pub(crate) fn begin_doze(&self) -> Doze {
        self.sender.begin_doze()
    }

    /// After the sleep, or instead of it.
    pub(crate) fn end_doze(&self) {
        self.sender.end_doze();
    }

    /// Best effort: how many messages were sent.
    pub(crate) fn sent(&self) -> u64 {
        self.next
    }

    /// Best effort: how many messages the receiver has taken.
    pub(crate) fn delivered(&self) -> u64 {
        self.sender.peer_released().min(self.next)
    }

    /// Best effort: whether there is a buffer for the next message.
    pub(crate) fn has_room(&self) -> bool {
        self.sender.has_room(self.next)
    }

    /// Whether the receiver's member is gone.
    pub fn peer_is_dead(&self) -> bool {
        self.watch.now().is_dead(self.peer)
    }

    /// Number of buffers.
    pub(crate) fn buffers(&self) -> u64 {
        self.sender.buffers()
    }

    /// Whether the last started transfer is complete: delivered (best effort) or due (time-driven).
    pub fn test(&self) -> Result<bool, WaitError> {
        let started = self.started().ok_or(WaitError::NothingStarted)?;
        Ok(match self.arrival {
            Some(arrival) => clock::now() >= self.epoch + arrival.of(started),
            None => self.sender.peer_released() > started,
        })
    }

    /// Waits until the last started transfer is complete.
    pub fn wait(&self, timeout: Nanos) -> Result<Instance, WaitError> {
        let started = self.started().ok_or(WaitError::NothingStarted)?;
        let limit = clock::now() + timeout;
        if let Some(arrival) = self.arrival {
            let due = self.epoch + arrival.of(started);
            clock::sleep_until(due.min(limit));
            return if due <= limit { Ok(Instance(started)) } else { Err(WaitError::TimedOut) };
        }
        let mut patience = Patience::new(limit, self.peer, &self.watch);
        while self.sender.peer_released() <= started {
            patience.poll()?;
        }
        Ok(Instance(started))
    }
}

/// A best-effort buffer to fill in place. Dropped without being inserted, it sends nothing.
#[must_use = "a buffer that is not inserted sends nothing"]
pub struct SendingSlot<'e> {
    slot: Slot<'e>,
    next: &'e mut u64,
}

impl SendingSlot<'_> {
    /// The whole buffer; what earlier messages left is still in it.
    #[inline(always)]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.slot.bytes_mut()
    }

    /// Inserts the first `length` bytes; visible at once.
    ///
    /// # Panics
    /// When `length` exceeds the buffer's.
    #[inline(always)]
    pub fn insert(self, length: usize) -> Instance {
        let stamp = self.sampled_stamp();
        self.insert_at((length, None), stamp)
    }

    #[inline(always)]
    fn sampled_stamp(&self) -> Nanos {
        let sampled = self.slot.instance().is_multiple_of(STAMP_EVERY);
        if sampled { clock::now() } else { Nanos::ZERO }
    }

    /// Fills the buffer by `fill`, which returns how many bytes it wrote, and inserts them.
    ///
    /// # Panics
    /// When `fill` returns more than the buffer's length.
    #[inline(always)]
    pub fn insert_with(mut self, fill: impl FnOnce(&mut [u8]) -> usize) -> Instance {
        let length = fill(self.slot.bytes_mut());
        self.insert(length)
    }

    #[inline(always)]
    fn insert_at(self, (length, index): (usize, Option<u32>), stamp: Nanos) -> Instance {
        let instance = self.slot.instance();
        // A length beyond 32 bits is beyond the capacity too.
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        let sender = match index {
            None => self.slot.publish(length, stamp),
            Some(index) => self.slot.publish_for(index, length, stamp),
        };
        *self.next = instance + 1;
        if sender.must_wake() {
            // A failed wake-up only delays a receiver that looks again by itself.
            let _ = futex::wake_at(sender.futex_word_address(), u32::MAX);
        }
        Instance(instance)
    }
}

/// A receiving end that its owner calls when it likes.
pub struct ReceivingEnd {
    receiver: Receiver,
    next: u64,
    /// Looks in vain since the last closer one.
    vain: u32,
    arrival: Option<Arrival>,
    epoch: Nanos,
    peer: MemberId,
    watch: Watched,
}

/// A received message; its buffer goes back to the sender when this is dropped.
pub struct Received<'e> {
    message: Option<Message<'e>>,
    /// Its checksum did not fit.
    is_damaged: Cell<bool>,
}

impl<'e> Received<'e> {
    #[inline(always)]
    fn new(message: Message<'e>) -> Self {
        Self { message: Some(message), is_damaged: Cell::new(false) }
    }

    /// As [`Message::copy_to`]; a checksum that does not fit is counted.
    ///
    /// # Errors
    /// Those of [`Message::copy_to`].
    #[inline(always)]
    pub fn copy_to(&self, out: &mut [u8]) -> Result<usize, Torn> {
        self.noted((**self).copy_to(out))
    }

    /// As [`Message::validate`]; a checksum that does not fit is counted.
    ///
    /// # Errors
    /// Those of [`Message::validate`].
    #[inline(always)]
    pub fn validate(&self) -> Result<(), Torn> {
        self.noted((**self).validate())
    }

    #[inline(always)]
    fn noted<T>(&self, read: Result<T, Torn>) -> Result<T, Torn> {
        if let Err(Torn::Corrupt { .. }) = read {
            self.is_damaged.set(true);
        }
        read
    }
}

/// Records for the watcher what is wrong with a message.
#[cold]
fn tell(receiver: &mut Receiver, instance: u64, fate: FateCode) {
    let now = clock::now();
    receiver.record(&MessageRecord { instance, at: now, due: now, size: 0, fate: fate as u8 });
}

impl<'e> Deref for Received<'e> {
    type Target = Message<'e>;

    #[inline(always)]
    fn deref(&self) -> &Message<'e> {
        self.message.as_ref().expect("only Drop takes the message out")
    }
}

impl Drop for Received<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(message) = self.message.take() {
            let instance = message.instance();
            let receiver = message.release();
            if self.is_damaged.get() {
                receiver.count_invalid();
                tell(receiver, instance, FateCode::Damaged);
            }
            if receiver.must_wake() {
                // A failed wake-up only delays a sender that looks again by itself.
                let _ = futex::wake_at(receiver.released_word_address(), u32::MAX);
            }
        }
    }
}

impl ReceivingEnd {
    pub(crate) fn new(
        mut receiver: Receiver,
        arrival: Option<Arrival>,
        peer: MemberId,
        watch: Arc<Watch>,
    ) -> Self {
        receiver.set_first_eligible(0);
        let watch = Watched::new(watch);
        Self { receiver, next: 0, vain: 0, arrival, epoch: Nanos::ZERO, peer, watch }
    }

    /// As [`SendingEnd::watch_mut`].
    pub(crate) fn watch_mut(&mut self) -> &mut Watched {
        &mut self.watch
    }

    /// As [`SendingEnd::go_on_as`].
    pub(crate) fn go_on_as(&mut self, fresh: &mut Self) {
        self.receiver.report_as(&mut fresh.receiver);
    }

    pub(crate) fn arm(&mut self, epoch: Nanos) {
        self.epoch = epoch;
    }

    /// Largest message, in bytes.
    pub fn capacity(&self) -> usize {
        self.receiver.capacity()
    }

    /// Number of buffers.
    pub(crate) fn buffers(&self) -> u64 {
        self.receiver.buffers()
    }

    /// Best effort: how many messages were taken, or passed over as nonsense.
    pub(crate) fn received(&self) -> u64 {
        self.next
    }

    /// Best effort: the next message if it is there. Nonsense from the peer is passed over and counted.
    #[inline(always)]
    pub fn try_receive(&mut self) -> Option<Received<'_>> {
        self.take_next()
    }

    /// Takes the next message, or passes over what is none.
    #[inline(always)]
    fn take_next(&mut self) -> Option<Received<'_>> {
        if self.vain >= POLLS_PER_LOOK {
            self.vain = 0;
            self.pass_over();
        }
        let instance = self.next;
        if instance.is_multiple_of(STAMP_EVERY) && self.receiver.is_there(instance) {
            self.sample(instance);
        }
        match self.receiver.take(instance) {
            Taken::Message(message) => {
                self.next = instance + 1;
                Some(Received::new(message))
            }
            Taken::NotYet | Taken::Stale | Taken::Invalid(_) => {
                self.vain += 1;
                None
            }
        }
    }

    /// Records the latency of a message that carries a stamp, for the watcher. What a sender stamped that cannot be is not this end's word.
    #[cold]
    fn sample(&mut self, instance: u64) {
        let now = clock::now();
        if let Taken::Message(message) = self.receiver.take(instance) {
            let (inserted, size) = (message.stamp(), message.length() as u32);
            if inserted < self.epoch - EARLY_MOST || now < inserted {
                return;
            }
            let fate = FateCode::Sampled as u8;
            self.receiver.record(&MessageRecord { instance, at: now, due: inserted, size, fate });
        }
    }

    /// Best effort: waits for the next message; polls, or sleeps on a waking channel. The timeout begins with the
    /// first reading of the clock, some microseconds after the call.
    #[inline(always)]
    pub fn receive(&mut self, timeout: Nanos) -> Result<Received<'_>, WaitError> {
        let polls = if self.receiver.waits() { 0 } else { POLLS_PER_LOOK };
        if !self.receiver.comes_within(self.next, polls) {
            self.await_next(timeout)?;
        }
        self.take_next().ok_or(WaitError::TimedOut)
    }

    /// Best effort: leaves the next message where it is, and says for which buffer it is, where those of the two ends belong together.
    pub(crate) fn index_of_next(&mut self) -> Option<u32> {
        match self.receiver.take(self.next) {
            Taken::Message(message) => message.index(),
            Taken::NotYet | Taken::Stale | Taken::Invalid(_) => None,
        }
    }

    /// Waits for a message that was not there a moment ago.
    #[cold]
    #[inline(never)]
    fn await_next(&mut self, timeout: Nanos) -> Result<(), WaitError> {
        let Self { receiver, next, peer, watch, .. } = self;
        let limit = clock::now() + timeout;
        let mut patience = Patience::new(limit, *peer, watch);
        while !receiver.is_there(*next) {
            if !receiver.waits() {
                if patience.poll()? {
                    pass_over_nonsense(receiver, next);
                }
                continue;
            }
            patience.look()?;
            if pass_over_nonsense(receiver, next) {
                continue;
            }
            let seen = receiver.prepare_wait();
            if !receiver.is_there(*next) {
                let left = Duration::from_nanos((limit - clock::now()).0.max(0).unsigned_abs());
                let _ = futex::wait_at(receiver.futex_word_address(), seen, Some(left.min(PULSE)));
            }
            receiver.cancel_wait();
        }
        Ok(())
    }

    /// Time-driven: waits for the next completed instance, and takes its message. Best effort: as
    /// [`ReceivingEnd::receive`].
    pub fn wait(&mut self, timeout: Nanos) -> Result<Received<'_>, WaitError> {
        let Some(arrival) = self.arrival else { return self.receive(timeout) };
        let now = clock::now();
        let limit = now + timeout;
        let coming = arrival.next_after(now - self.epoch);
        // The instance that has just completed still counts if it was not taken.
        let instance = self.next.max(coming.saturating_sub(1));
        let due = self.epoch + arrival.of(instance);
        if due > limit {
            clock::sleep_until(limit);
            return Err(WaitError::TimedOut);
        }
        clock::sleep_until(due);
        // What was started in instances between, which nobody waited for, the sender's records tell of.
        if let Some(before) = instance.checked_sub(1) {
            self.receiver.release_through(before);
        }
        self.next = instance + 1;
        let now = clock::now();
        let (fate, size) = match self.receiver.take(instance) {
            Taken::Message(message) if message.stamp() <= due => (FateCode::Done, message.length()),
            Taken::Message(message) => (FateCode::Late, message.length()),
            Taken::NotYet => (FateCode::Vacant, 0),
            Taken::Stale | Taken::Invalid(_) => (FateCode::Invalid, 0),
        };
        if fate == FateCode::Late {
            self.receiver.count_late();
        }
        self.receiver.record(&MessageRecord { instance, at: now, due, size: size as u32, fate: fate as u8 });
        match self.receiver.take(instance) {
            Taken::Message(message) if fate == FateCode::Done => Ok(Received::new(message)),
            _ => Err(WaitError::NotPerformed(Instance(instance))),
        }
    }

    /// Before sleeping until the next message comes: says so. Look once more before the sleep.
    pub(crate) fn begin_doze(&self) -> Doze {
        self.receiver.begin_doze(self.next)
    }

    /// After the sleep, or instead of it.
    pub(crate) fn end_doze(&self) {
        self.receiver.end_doze();
    }

    /// Best effort: passes over what stands in the next message's place and is none.
    pub(crate) fn pass_over(&mut self) {
        pass_over_nonsense(&mut self.receiver, &mut self.next);
    }

    /// Whether there is still a point in waiting.
    pub(crate) fn look(&self) -> Result<(), WaitError> {
        Patience::new(Nanos::MAX, self.peer, &self.watch).look()
    }

    /// Whether the sender's member is gone.
    pub fn peer_is_dead(&self) -> bool {
        self.watch.now().is_dead(self.peer)
    }

    /// Whether a message can be taken without waiting.
    pub fn test(&self) -> bool {
        match self.arrival {
            None => self.receiver.is_there(self.next),
            Some(arrival) => arrival.next_after(clock::now() - self.epoch) > self.next,
        }
    }
}

/// Passes over what stands in the next message's place and is none, if its sender has gone on, and tells the watcher; it would be waited on
/// for ever. So would a sender wait that cannot read how far this end is.
fn pass_over_nonsense(receiver: &mut Receiver, next: &mut u64) -> bool {
    if receiver.restore_released() {
        tell(receiver, *next, FateCode::Restored);
    }
    let is_nonsense = receiver.is_lost(*next);
    if is_nonsense {
        tell(receiver, *next, FateCode::Invalid);
        *next += 1;
    }
    is_nonsense
}

/// Bounded polling that looks at the clock and the peer's pulse now and then.
struct Patience<'w> {
    limit: Nanos,
    peer: MemberId,
    watch: &'w Watched,
    polls: u32,
}

impl<'w> Patience<'w> {
    fn new(limit: Nanos, peer: MemberId, watch: &'w Watched) -> Self {
        Self { limit, peer, watch, polls: 0 }
    }

    /// Says whether it looked.
    #[inline]
    fn poll(&mut self) -> Result<bool, WaitError> {
        std::hint::spin_loop();
        self.polls += 1;
        if self.polls < POLLS_PER_LOOK {
            return Ok(false);
        }
        self.polls = 0;
        self.look().map(|()| true)
    }

    fn look(&self) -> Result<(), WaitError> {
        let watch = self.watch.now();
        if watch.is_dead(self.peer) {
            return Err(WaitError::PeerDead);
        }
        let stop_at = watch.stop_at();
        if self.limit.min(stop_at) == Nanos::MAX {
            // Reading the clock costs as much as the rest of a test.
            return Ok(());
        }
        let now = clock::now();
        if now >= self.limit {
            Err(WaitError::TimedOut)
        } else if now >= stop_at {
            Err(WaitError::Stopping)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests;
