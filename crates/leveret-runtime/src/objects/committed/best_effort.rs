//! Ends without an instant, moved by whoever calls: what a source sends, what a target receives, and who goes on where one thread leaves
//! off.
//!
//! ```text
//!  sender's program --insert--> [ input ] --sent--> ( channel ) --received--> [ output ] --remove--> receiver's program
//!  sender's program <--remove-- [ output ] <--taken: buffer handed back-----------'
//! ```
//!
//! The channel has room for every buffer that the sender's input iterator can hold, and a buffer that was sent is the transfer's until the
//! receiver has taken the message. So whatever is inserted is visible at once, and nothing waits for a further call of the sender.

use super::ends::{Asked, End, lock};
use super::outcome::Outcome;
use super::transfer::{Arrived, Sent};
use super::{Committed, CommittedChannel, IN_TRANSFER};
use crate::free_end::{ReceivingEnd, SendingEnd};
use crate::objects::error::Code;
use leveret_memory::sync::Ordering;
use leveret_os::{clock, futex};
use leveret_types::Nanos;

pub(in crate::objects) struct SourceEnd {
    pub(super) end: SendingEnd,
    pub(super) asked: Asked,
    /// Instances that are known to have been delivered.
    pub(super) delivered: u64,
    /// The buffer of each message that is under way, by its instance; [`NOBODYS`]: it is lent, or was handed back.
    held: Box<[u32]>,
}

/// Stands for no buffer.
const NOBODYS: u32 = u32::MAX;

pub(in crate::objects) struct TargetEnd {
    pub(super) end: ReceivingEnd,
    pub(super) asked: Asked,
}

impl SourceEnd {
    pub(super) fn new(end: SendingEnd) -> Self {
        let held = vec![NOBODYS; end.buffers() as usize].into_boxed_slice();
        Self { end, asked: Asked::default(), delivered: 0, held }
    }

    /// Asks for so many transfers, whatever was asked before.
    pub(super) fn ask_for(&mut self, count: u64) {
        self.asked.ask_for(count);
    }

    /// Messages sent.
    pub(super) fn sent(&self) -> u64 {
        self.end.sent()
    }

    /// Messages that were sent and are not known to be taken.
    pub(super) fn outstanding(&self) -> u64 {
        self.end.sent() - self.delivered
    }

    /// Where the buffer of an instance is kept; there are as many places as messages can be under way, a power of two.
    fn place(&mut self, instance: u64) -> Option<&mut u32> {
        let mask = self.held.len().wrapping_sub(1);
        self.held.get_mut(instance as usize & mask)
    }
}

impl TargetEnd {
    /// Asks for so many transfers, whatever was asked before.
    pub(super) fn ask_for(&mut self, count: u64) {
        self.asked.ask_for(count);
    }

    /// Of what was asked for, what is left.
    pub(super) fn asked_for(&self) -> u64 {
        self.asked.pending
    }

    /// Whether a message has come that was not taken.
    pub(super) fn has_message(&self) -> bool {
        self.end.test()
    }
}

impl Committed {
    /// Uses an end, unless another thread does at this moment.
    #[inline]
    pub(super) fn at<T>(
        &self,
        channel: &CommittedChannel,
        act: impl FnOnce(&mut End) -> Result<T, Code>,
    ) -> Result<T, Code> {
        self.attend_all(&channel.feeders);
        let answer = self.at_alone(channel, |end| {
            let answer = act(end);
            if matches!(end, End::Timed(_)) {
                // The others do at the end of their transfers.
                end.note(channel);
            }
            answer
        });
        channel.stir();
        self.attend_all(&channel.followers);
        answer
    }

    /// The same for looking: threads that wait at the end hear of it only where something has moved.
    pub(super) fn at_to_look<T>(
        &self,
        channel: &CommittedChannel,
        look: impl FnOnce(&mut End) -> Result<T, Code>,
    ) -> Result<T, Code> {
        self.attend_all(&channel.feeders);
        let mut has_moved = false;
        let answer = self.at_alone(channel, |end| {
            let before = end.moved();
            let looked = look(end);
            has_moved = end.moved() != before;
            looked
        });
        if has_moved {
            channel.stir();
        }
        self.attend_all(&channel.followers);
        answer
    }

    /// The same, of which threads that wait at the end hear nothing.
    #[inline]
    pub(super) fn at_alone<T>(
        &self,
        channel: &CommittedChannel,
        act: impl FnOnce(&mut End) -> Result<T, Code>,
    ) -> Result<T, Code> {
        let answer = act(&mut *lock(channel)?);
        self.leave(channel);
        answer
    }

    /// Goes on with transfers at an end, if something is left to do there, and at those that its buffers come from and go to.
    pub(super) fn attend_around(&self, channel: &CommittedChannel) {
        self.attend_all(&channel.feeders);
        self.attend(channel);
        self.attend_all(&channel.followers);
    }

    pub(super) fn attend_all(&self, channels: &[u32]) {
        for channel in channels {
            self.attend(&self.channels[*channel as usize]);
        }
    }

    /// Goes on with transfers at an end, if something is left to do there. If another thread is there, it looks again before it goes. Says
    /// whether it was done here.
    fn attend(&self, channel: &CommittedChannel) -> bool {
        if !channel.pending.load(Ordering::Relaxed) {
            return true;
        }
        let mut is_done = false;
        // Each turn but the first is something that another thread has brought meanwhile.
        loop {
            let mut has_moved = false;
            if let Ok(mut end) = lock(channel) {
                let before = end.moved();
                // Whatever happens is told by `test` and `wait`.
                let _ = self.progress(channel, &mut end);
                has_moved = end.moved() != before;
                is_done = true;
            } else if channel.again.swap(true, Ordering::AcqRel) || lock(channel).is_err() {
                return is_done;
            }
            // A thread that looks once more before it sleeps is not to wake itself for nothing.
            if has_moved {
                channel.stir();
            }
            if !channel.again.swap(false, Ordering::AcqRel) {
                return is_done;
            }
        }
    }

    /// After this thread has left an end: what others have brought meanwhile.
    #[inline]
    fn leave(&self, channel: &CommittedChannel) {
        if channel.again.swap(false, Ordering::AcqRel) {
            self.attend(channel);
        }
    }

    /// Performs what was asked of a best-effort end, as far as buffers and messages are there, and counts what the other end
    /// has taken.
    pub(super) fn progress(&self, channel: &CommittedChannel, end: &mut End) -> Result<(), Code> {
        if let End::Source(source) = end {
            self.count_delivered(channel, source);
        }
        self.transfer(channel, end)
    }

    pub(super) fn transfer(&self, channel: &CommittedChannel, end: &mut End) -> Result<(), Code> {
        self.take_back_loans(channel);
        let has_work = match end {
            End::None | End::Timed(_) => false,
            End::Source(source) => {
                self.send_ready(channel, source)?;
                // Buffers come back when what was sent is taken.
                source.asked.has_work() || source.outstanding() > 0
            }
            End::Target(target) => {
                self.receive_ready(channel, target)?;
                target.asked.has_work()
            }
            End::Collective(collective) => {
                self.move_collective(channel, collective)?;
                collective.under_way() > 0 || collective.asked.has_work()
            }
        };
        channel.pending.store(has_work, Ordering::Relaxed);
        end.note(channel);
        Ok(())
    }

    pub(super) fn send_ready(&self, channel: &CommittedChannel, source: &mut SourceEnd) -> Result<(), Code> {
        // One round of the segment's buffers at most: the receiver may free them as fast as they are filled.
        for _ in 0..source.end.buffers() {
            if !source.asked.has_work() || !source.end.has_room() {
                break;
            }
            if source.asked.is_active() && !self.is_next(channel) {
                break;
            }
            let Some(buffer) = self.take_for(channel).or_else(|| self.take_returned(channel, source)) else {
                break;
            };
            source.asked.take_one();
            let end = &mut source.end;
            let sent = self.send_from(channel, buffer, |outgoing| {
                end.start_outgoing(outgoing).map(|instance| instance.0).map_err(|_| Code::Internal)
            })?;
            if let (Sent::Copied(instance), Some(place)) = (sent, source.place(sent.instance())) {
                debug_assert_eq!(*place, NOBODYS, "instance {instance} has a place of its own");
                *place = buffer as u32;
            }
            channel.outstanding.store(source.outstanding(), Ordering::Relaxed);
        }
        Ok(())
    }

    /// A buffer for a transfer out of an iterator that seemed empty: those that come back from this end's transfers may go there.
    fn take_returned(&self, channel: &CommittedChannel, source: &mut SourceEnd) -> Option<usize> {
        self.count_delivered(channel, source);
        self.take_for(channel)
    }

    /// Of several activated ends that send from one iterator the one with the fewest messages under way is next; says whether that is
    /// this one.
    fn is_next(&self, channel: &CommittedChannel) -> bool {
        let mine = channel.outstanding.load(Ordering::Relaxed);
        let behind = |number: &&u32| {
            let other = &self.channels[**number as usize];
            let takes = other.is_source && other.input == channel.input && other.served.is_none();
            takes && other.pending.load(Ordering::Relaxed) && other.outstanding.load(Ordering::Relaxed) < mine
        };
        let others = &self.iterators[channel.input as usize].channels;
        if mine == 0 || others.len() == 1 {
            return true;
        }
        // Where it does not take one although nobody else is there, it lacks something else.
        others.iter().find(behind).is_none_or(|other| self.attend(&self.channels[*other as usize]))
    }

    /// Counts what the other end has taken, and hands its buffers back.
    pub(super) fn count_delivered(&self, channel: &CommittedChannel, source: &mut SourceEnd) {
        if source.outstanding() == 0 {
            return;
        }
        let now_delivered = source.end.delivered();
        while source.delivered < now_delivered {
            let instance = source.delivered;
            let held = source.place(instance).map_or(NOBODYS, |place| std::mem::replace(place, NOBODYS));
            if held != NOBODYS {
                // One that the output iterator does not allow is the program's.
                let _ = self.hand_back(channel, held as usize);
            }
            self.ended(channel, instance, Outcome::Complete, None);
            source.delivered += 1;
        }
        channel.outstanding.store(source.outstanding(), Ordering::Relaxed);
    }

    pub(super) fn receive_ready(
        &self,
        channel: &CommittedChannel,
        target: &mut TargetEnd,
    ) -> Result<(), Code> {
        for _ in 0..target.end.buffers() {
            if !target.asked.has_work() || !target.end.test() {
                break;
            }
            match self.receive(channel, target) {
                Ok(true) | Err(Code::Timeout) => {}
                Ok(false) => break,
                Err(code) => return Err(code),
            }
        }
        Ok(())
    }

    /// One reception; says whether there was a buffer for it. A message without one stays with its sender: nothing is
    /// buffered that the program did not provide.
    fn receive(&self, channel: &CommittedChannel, target: &mut TargetEnd) -> Result<bool, Code> {
        let TargetEnd { end, asked } = target;
        if channel.is_mapped() {
            let Some((arrived, is_whole)) = self.receive_named(channel, end) else { return Ok(false) };
            asked.take_one();
            let Arrived { instance, inserted, .. } = arrived;
            match is_whole {
                true => self.ended(channel, instance, Outcome::Complete, latency_of(instance, inserted)),
                false => self.ended(channel, instance, Outcome::Invalid, None),
            }
            return Ok(true);
        }
        let Some(buffer) = self.take(channel.input as usize, IN_TRANSFER) else { return Ok(false) };
        let mut seen = None;
        let mut unused = None;
        let filled = self.fill(channel, (buffer, &mut unused), |bytes| {
            let message = end.try_receive().ok_or(Code::Timeout)?;
            seen = Some((message.instance(), message.stamp()));
            if message.length() > bytes.len() {
                return Err(Code::Bufsize);
            }
            let length = message.copy_to(bytes).map_err(|_| Code::Missed)?;
            Ok(Arrived { length, instance: message.instance(), inserted: message.stamp() })
        });
        if let Some(buffer) = unused {
            self.return_unused(channel, buffer);
        }
        let Some((instance, stamp)) = seen else { return filled.map(|()| true) };
        asked.take_one();
        match filled {
            Ok(()) => self.ended(channel, instance, Outcome::Complete, latency_of(instance, stamp)),
            Err(_) => self.ended(channel, instance, Outcome::Invalid, None),
        }
        Ok(true)
    }
}

impl CommittedChannel {
    /// Something may have changed at the end: wakes who waits there. Whoever is about to sleep has counted itself before it used the end
    /// for the last time, so it is seen here or has seen the change.
    #[inline]
    pub(super) fn stir(&self) {
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            self.stirred.fetch_add(1, Ordering::SeqCst);
            // It can fail only for an address that is not mapped, and this one is.
            let _ = futex::wake(&self.stirred, u32::MAX);
        }
    }

    /// Whether another thread has something for the end, which is in use.
    pub(super) fn is_asked_for(&self) -> bool {
        self.again.load(Ordering::Relaxed)
    }
}

/// The latencies of so many messages are measured, and from there on of one in [`MEASURED_EVERY`]: reading the clock costs as much as
/// several of the steps of a transfer.
const MEASURED_FIRST: u64 = 64;
const MEASURED_EVERY: u64 = 16;

/// From the insertion of a message that is there now, where that was said and is measured.
#[inline]
fn latency_of(instance: u64, inserted: Nanos) -> Option<Nanos> {
    let is_measured = instance < MEASURED_FIRST || instance.is_multiple_of(MEASURED_EVERY);
    (is_measured && inserted != Nanos::ZERO).then(|| clock::now() - inserted)
}
