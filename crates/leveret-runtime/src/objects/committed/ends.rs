//! Ends that the program's threads start, activate, wait for and test.
//!
//! A best-effort end is moved by whoever calls here, or inserts into or removes from its iterators; a time-driven one by
//! its task (`timed.rs`).

use super::collective::FreeCollective;
use super::outcome::{Outcome, Told};
use super::timed::TimedEnd;
use super::transfer::Arrived;
use super::{Committed, CommittedChannel, IN_TRANSFER};
use crate::free_end::{ReceivingEnd, SendingEnd, WaitError};
use crate::objects::error::Code;
use crate::objects::handle::Handle;
use crate::task_tally::Durations;
use crate::watch::{Watch, Watched};
use leveret_memory::sync::Ordering;
use leveret_os::clock;
use leveret_types::Nanos;
use std::sync::{Arc, MutexGuard};

/// How often a wait looks for a buffer that another thread has to insert.
pub(super) const LOOK_AGAIN: Nanos = Nanos::from_micros(100);

/// How this member's end of a channel is served.
pub(in crate::objects) enum End {
    /// This member has no end of it.
    None,
    Source(SourceEnd),
    Target(TargetEnd),
    Timed(TimedEnd),
    Collective(FreeCollective),
}

/// What a best-effort end has been asked for.
#[derive(Default)]
pub(super) struct Asked {
    /// Started, and no buffer or message has come yet.
    pub(super) pending: u64,
    /// Every buffer or message that comes is transferred.
    active: bool,
    /// Anything was ever started, since the end was last active.
    started: bool,
    told: Told,
}

impl Asked {
    pub(super) fn has_work(&self) -> bool {
        self.active || self.pending > 0
    }

    pub(super) fn take_one(&mut self) {
        self.pending = self.pending.saturating_sub(1);
    }

    /// Asks for so many transfers, whatever was asked before.
    pub(super) fn ask_for(&mut self, count: u64) {
        *self = Self { pending: count, ..Self::default() };
    }
}

impl CommittedChannel {
    /// Before anything runs: this is its end.
    pub(in crate::objects) fn attach(&self, mut end: End) {
        if let (Ok(mut place), Ok(mut watched)) = (self.end.lock(), self.watched.lock()) {
            *watched = end.watch_mut().cloned();
            if let (Some(served), Some(watched)) = (&self.served, &*watched) {
                // Set once: the end of a kept channel is not attached again.
                let _ = served.watched.set(watched.clone());
            }
            *place = end;
        }
    }

    /// A mode has taken over that keeps it, where these ends are declared for it. One that is in use at this moment stays as it is:
    /// it finds the mode's watch in another way, and goes on counting where it did.
    pub(in crate::objects) fn go_on(
        &self,
        watch: &Arc<Watch>,
        fresh: (Option<SendingEnd>, Option<ReceivingEnd>),
    ) {
        if self.served.is_some() {
            // Its thread alone uses the end, and takes it over; the watch leads to the mode's.
            return;
        }
        let (Ok(mut end), Ok(mut watched)) = (self.end.try_lock(), self.watched.lock()) else { return };
        match (&mut *end, fresh) {
            (End::Source(own), (Some(mut fresh), _)) => own.end.go_on_as(&mut fresh),
            (End::Target(own), (_, Some(mut fresh))) => own.end.go_on_as(&mut fresh),
            _ => {}
        }
        if let Some(own) = end.watch_mut() {
            *own = Watched::new(watch.clone());
            *watched = Some(own.clone());
        }
    }
}

impl CommittedChannel {
    /// What is declared in a mode for an end that a thread serves, which takes it over there.
    pub(in crate::objects) fn succeed_as(&self, end: End) {
        if let Ok(mut fresh) = self.fresh.lock() {
            *fresh = Some(end);
        }
    }

    /// By the thread that serves the end from here on: the watcher finds in the mode what is counted.
    pub(in crate::objects) fn begin_as_declared(&self) {
        let (Ok(mut end), Ok(mut fresh)) = (self.end.try_lock(), self.fresh.try_lock()) else { return };
        match (&mut *end, fresh.as_mut()) {
            (End::Source(own), Some(End::Source(fresh))) => own.end.go_on_as(&mut fresh.end),
            (End::Target(own), Some(End::Target(fresh))) => own.end.go_on_as(&mut fresh.end),
            _ => {}
        }
    }
}

pub(in crate::objects) struct SourceEnd {
    end: SendingEnd,
    asked: Asked,
    /// Instances that are known to have been delivered.
    delivered: u64,
}

pub(in crate::objects) struct TargetEnd {
    end: ReceivingEnd,
    asked: Asked,
    /// A buffer that was taken for a message that did not come.
    spare: Option<usize>,
}

impl End {
    pub(in crate::objects) fn source(end: SendingEnd) -> Self {
        Self::Source(SourceEnd { end, asked: Asked::default(), delivered: 0 })
    }

    pub(in crate::objects) fn target(end: ReceivingEnd) -> Self {
        Self::Target(TargetEnd { end, asked: Asked::default(), spare: None })
    }

    /// What tells it of the end and of deaths, where it may be kept in another mode.
    fn watch_mut(&mut self) -> Option<&mut Watched> {
        match self {
            Self::Source(source) => Some(source.end.watch_mut()),
            Self::Target(target) => Some(target.end.watch_mut()),
            Self::Timed(timed) => Some(timed.watch_mut()),
            Self::None | Self::Collective(_) => None,
        }
    }

    fn asked(&mut self) -> Option<&mut Asked> {
        match self {
            Self::None | Self::Timed(_) => None,
            Self::Source(source) => Some(&mut source.asked),
            Self::Target(target) => Some(&mut target.asked),
            Self::Collective(collective) => Some(&mut collective.asked),
        }
    }

    /// What was told of, for a look that tells nobody.
    fn told(&mut self) -> Told {
        match self {
            Self::Timed(timed) => Told { ended: *timed.told(), missed: 0 },
            end => end.asked().map(|asked| asked.told).unwrap_or_default(),
        }
    }

    fn tell(&mut self, told: Told) {
        match self {
            Self::Timed(timed) => *timed.told() = told.ended,
            end => drop(end.asked().map(|asked| asked.told = told)),
        }
    }

    /// Transfers under way.
    fn under_way(&self, channel: &CommittedChannel) -> u64 {
        match self {
            Self::None => 0,
            Self::Source(source) => source.asked.pending + (source.end.sent() - source.delivered),
            Self::Target(target) => target.asked.pending,
            Self::Collective(collective) => collective.under_way(),
            Self::Timed(timed) => timed.under_way(channel, clock::now()),
        }
    }

    fn is_active(&self) -> bool {
        match self {
            Self::None => false,
            Self::Source(source) => source.asked.active,
            Self::Target(target) => target.asked.active,
            Self::Collective(collective) => collective.asked.active,
            Self::Timed(timed) => timed.is_active(clock::now()),
        }
    }

    /// Whether the other end's member lives and the job goes on.
    fn look(&self, channel: &CommittedChannel) -> Result<(), Code> {
        match self {
            Self::Collective(end) => {
                channel.collective.as_deref().map_or(Err(Code::Internal), |collective| end.look(collective))
            }
            Self::Source(source) => source.end.look().map_err(code_of),
            Self::Target(target) => target.end.look().map_err(code_of),
            Self::None | Self::Timed(_) => Ok(()),
        }
    }

    fn peer_lives(&self, channel: &CommittedChannel) -> Result<(), Code> {
        let is_dead = match self {
            Self::Source(source) => source.end.peer_is_dead(),
            Self::Target(target) => target.end.peer_is_dead(),
            Self::Collective(end) => {
                channel.collective.as_deref().is_some_and(|collective| end.is_anyone_dead(collective))
            }
            Self::None | Self::Timed(_) => false,
        };
        if is_dead { Err(Code::PeerLost) } else { Ok(()) }
    }
}

impl SourceEnd {
    /// Asks for so many transfers, whatever was asked before.
    pub(super) fn ask_for(&mut self, count: u64) {
        self.asked.ask_for(count);
    }

    /// Messages sent.
    pub(super) fn sent(&self) -> u64 {
        self.end.sent()
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

/// The state of an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(i32)]
pub enum EndState {
    /// Nothing is asked of it.
    #[default]
    Idle = 0,
    /// Transfers were started and are under way.
    Started = 1,
    /// Activated.
    Active = 2,
}

/// What [`Committed::status`] tells of an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChannelStatus {
    /// What is asked of it.
    pub state: EndState,
    /// How the last instance ended.
    pub outcome: Outcome,
    /// The last instance that ended.
    pub instance: u64,
    /// Transfers under way.
    pub under_way: u64,
}

/// What [`Committed::metrics`] tells of an end, since the commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChannelMetrics {
    /// From a message's insertion by the sender to its buffer's arrival in the output iterator; at the receiving end. Of a
    /// channel that the clock does not move, of the first 64 messages and of every 16th after them.
    pub latency: Durations,
    /// Transfers performed.
    pub completed: u64,
    /// Not performed: the sender had no buffer.
    pub no_sender_buffer: u64,
    /// Not performed: the receiver had no buffer.
    pub no_receiver_buffer: u64,
    /// Not performed: sent too late, or never.
    pub late: u64,
    /// Not performed: nonsense, or overwritten.
    pub invalid: u64,
    /// Instances in which this end took part and the other did not.
    pub paused: u64,
    /// Copies that late binding cost.
    pub late_binding_copies: u64,
}

impl Committed {
    /// Starts one transfer, which goes on by itself: with its instance if it is time-driven; else at once, or with the
    /// insertion or removal that it waits for.
    ///
    /// # Errors
    /// [`Code::Slack`] when as many are under way as the slack allows or another thread is at this end, [`Code::Active`],
    /// [`Code::PeerLost`], [`Code::TimePast`] when that of a single shot can no longer be made, [`Code::Bufsize`] when the buffer that a collective channel would cut, join or compute with is not full;
    /// it goes into the output iterator, and nothing is started; and those of wrong handles.
    pub fn start(&self, channel: Handle) -> Result<(), Code> {
        self.start_at(self.channel(channel)?)
    }

    pub(super) fn start_at(&self, channel: &CommittedChannel) -> Result<(), Code> {
        if let Some(served) = &channel.served {
            return self.start_served(channel, served);
        }
        let mut end = lock(channel)?;
        if let End::Timed(timed) = &mut *end {
            return timed.start(channel, clock::now());
        }
        // What the other end has taken lies in a line of its own, which is looked at when it matters.
        if end.under_way(channel) >= u64::from(channel.slack) || self.is_watched(channel.handle) {
            self.progress(channel, &mut end)?;
        }
        let under_way = end.under_way(channel);
        end.peer_lives(channel)?;
        let asked = end.asked().ok_or(Code::UndefForObject)?;
        if asked.active {
            return Err(Code::Active);
        }
        if under_way >= u64::from(channel.slack) {
            return Err(Code::Slack);
        }
        if let (End::Collective(end), Some(collective)) = (&mut *end, channel.collective.as_deref()) {
            self.check_ready(collective, end)?;
        }
        let asked = end.asked().ok_or(Code::UndefForObject)?;
        asked.pending += 1;
        asked.started = true;
        self.transfer(channel, &mut end)
    }

    /// Lets transfers take place: in every period from the first on that all ends can still make, or with every buffer
    /// (best effort). An end that is active stays so.
    ///
    /// # Errors
    /// [`Code::Slack`] while a started transfer is under way, [`Code::TimePast`] when that of a single shot can no longer be made, and those of
    /// [`Committed::start`].
    pub fn activate(&self, channel: Handle) -> Result<(), Code> {
        self.activate_end(self.channel(channel)?)
    }

    pub(super) fn activate_end(&self, channel: &CommittedChannel) -> Result<(), Code> {
        if let Some(served) = &channel.served {
            return self.activate_served(channel, served);
        }
        let mut end = lock(channel)?;
        if let End::Timed(timed) = &mut *end {
            return timed.activate(channel, clock::now());
        }
        self.progress(channel, &mut end)?;
        let under_way = end.under_way(channel);
        end.peer_lives(channel)?;
        let asked = end.asked().ok_or(Code::UndefForObject)?;
        if !asked.active {
            if under_way > 0 {
                return Err(Code::Slack);
            }
            *asked = Asked { active: true, told: Told::all(&channel.tally), ..Asked::default() };
        }
        self.progress(channel, &mut end)
    }

    /// Activates from the named period on.
    ///
    /// # Errors
    /// [`Code::TimePast`] when it can no longer be made, [`Code::UndefForObject`] without periods, as a single shot has none, and those of
    /// [`Committed::activate`].
    pub fn activate_at(&self, channel: Handle, period: u64) -> Result<(), Code> {
        let channel = self.timed(channel)?;
        match &mut *lock(channel)? {
            End::Timed(timed) => timed.activate_at(channel, period, clock::now()),
            _ => Err(Code::UndefForObject),
        }
    }

    /// Ends the activated state with the period under way.
    ///
    /// # Errors
    /// [`Code::NotStarted`] when it is not active, and those of wrong handles.
    pub fn deactivate(&self, channel: Handle) -> Result<(), Code> {
        self.deactivate_end(self.channel(channel)?)
    }

    /// A channel whose end no thread of the library moves.
    fn timed(&self, channel: Handle) -> Result<&CommittedChannel, Code> {
        let channel = self.channel(channel)?;
        if channel.served.is_some() { Err(Code::UndefForObject) } else { Ok(channel) }
    }

    pub(super) fn deactivate_end(&self, channel: &CommittedChannel) -> Result<(), Code> {
        if let Some(served) = &channel.served {
            return self.deactivate_served(channel, served);
        }
        let mut end = lock(channel)?;
        if let End::Timed(timed) = &*end {
            return timed.deactivate(clock::now());
        }
        let asked = end.asked().ok_or(Code::UndefForObject)?;
        if !asked.active {
            return Err(Code::NotStarted);
        }
        asked.active = false;
        // What a wait had taken for the next message is the iterator's again.
        if let End::Target(target) = &mut *end
            && let Some(buffer) = target.spare.take()
        {
            self.return_unused(channel, buffer);
        }
        self.progress(channel, &mut end)
    }

    /// Ends the activated state at the named period, the first without a transfer.
    ///
    /// # Errors
    /// [`Code::TimePast`] when it can no longer be left out, [`Code::UndefForObject`] without periods, and those of
    /// [`Committed::deactivate`].
    pub fn deactivate_at(&self, channel: Handle, period: u64) -> Result<(), Code> {
        let channel = self.timed(channel)?;
        match &*lock(channel)? {
            End::Timed(timed) => timed.deactivate_at(period, clock::now()),
            _ => Err(Code::UndefForObject),
        }
    }

    /// Performs what was asked of a best-effort end, as far as buffers and messages are there, and counts what the other end
    /// has taken.
    pub(super) fn progress(&self, channel: &CommittedChannel, end: &mut End) -> Result<(), Code> {
        let transferred = self.transfer(channel, end);
        if let End::Source(source) = end {
            self.count_delivered(channel, source);
        }
        transferred
    }

    fn transfer(&self, channel: &CommittedChannel, end: &mut End) -> Result<(), Code> {
        self.take_back_loans(channel);
        let has_work = match end {
            End::None | End::Timed(_) => false,
            End::Source(source) => {
                self.send_ready(channel, source)?;
                source.asked.has_work()
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
        Ok(())
    }

    pub(super) fn send_ready(&self, channel: &CommittedChannel, source: &mut SourceEnd) -> Result<(), Code> {
        let SourceEnd { end, asked, .. } = source;
        // One round of the segment's buffers at most: the receiver may free them as fast as they are filled.
        for _ in 0..end.buffers() {
            if !asked.has_work() || !end.has_room() {
                break;
            }
            let Some(buffer) = self.take_for(channel) else { break };
            asked.take_one();
            self.send_out(channel, buffer, |outgoing| {
                end.start_outgoing(outgoing).map(|instance| instance.0).map_err(|_| Code::Internal)
            })?;
        }
        Ok(())
    }

    pub(super) fn count_delivered(&self, channel: &CommittedChannel, source: &mut SourceEnd) {
        let SourceEnd { end, delivered, .. } = source;
        if *delivered == end.sent() {
            return;
        }
        let now_delivered = end.delivered();
        while *delivered < now_delivered {
            self.ended(channel, *delivered, Outcome::Complete, None);
            *delivered += 1;
        }
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
            match self.receive(channel, target, Nanos::ZERO) {
                Ok(true) | Err(Code::Timeout) => {}
                Ok(false) => break,
                Err(code) => return Err(code),
            }
        }
        Ok(())
    }

    /// One reception; says whether there was a buffer for it. A message without one stays with its sender: nothing is
    /// buffered that the program did not provide.
    fn receive(
        &self,
        channel: &CommittedChannel,
        target: &mut TargetEnd,
        timeout: Nanos,
    ) -> Result<bool, Code> {
        let TargetEnd { end, spare, asked } = target;
        if channel.is_mapped() {
            let Some(arrived) = self.receive_named(channel, end, timeout)? else { return Ok(false) };
            asked.take_one();
            self.ended(
                channel,
                arrived.instance,
                Outcome::Complete,
                latency_of(arrived.instance, arrived.inserted),
            );
            return Ok(true);
        }
        let taken = spare.take().or_else(|| self.take(channel.input as usize, IN_TRANSFER));
        let Some(buffer) = taken else { return Ok(false) };
        let mut seen = None;
        let filled = self.fill(channel, (buffer, spare), |bytes| {
            let message = end.wait(timeout).map_err(code_of)?;
            seen = Some((message.instance(), message.stamp()));
            if message.length() > bytes.len() {
                return Err(Code::Bufsize);
            }
            let length = message.copy_to(bytes).map_err(|_| Code::Missed)?;
            Ok(Arrived { length, instance: message.instance(), inserted: message.stamp() })
        });
        let Some((instance, stamp)) = seen else { return filled.map(|()| true) };
        asked.take_one();
        match filled {
            Ok(()) => self.ended(channel, instance, Outcome::Complete, latency_of(instance, stamp)),
            Err(_) => self.ended(channel, instance, Outcome::Invalid, None),
        }
        Ok(true)
    }

    /// Whether a wait would end now, and how.
    fn look(&self, channel: &CommittedChannel, end: &mut End) -> Result<Option<Outcome>, Code> {
        if let End::Timed(timed) = end {
            return timed.look(channel, clock::now());
        }
        self.progress(channel, end)?;
        let under_way = end.under_way(channel);
        let asked = end.asked().ok_or(Code::UndefForObject)?;
        let (_, outcome) = channel.tally.last();
        if asked.active {
            if let Some(next) = asked.told.next(&channel.tally) {
                return Ok(Some(next));
            }
        } else if !asked.started {
            return Err(Code::NotStarted);
        } else if under_way == 0 {
            return Ok(Some(outcome));
        }
        end.look(channel).map(|()| None)
    }

    /// Whether a wait would return at once; if so, it is completed as by a wait.
    ///
    /// # Errors
    /// [`Code::NotStarted`], [`Code::Missed`], [`Code::PeerLost`], and those of wrong handles.
    pub fn test(&self, channel: Handle) -> Result<bool, Code> {
        self.test_at(self.channel(channel)?)
    }

    pub(super) fn test_at(&self, channel: &CommittedChannel) -> Result<bool, Code> {
        if let Some(served) = &channel.served {
            return self.test_served(channel, served, true);
        }
        let mut end = lock(channel)?;
        match self.look(channel, &mut end) {
            Ok(None) | Err(Code::Uncommitted) => Ok(false),
            Ok(Some(outcome)) => told(outcome).map(|()| true),
            Err(code) => Err(code),
        }
    }

    /// As [`Committed::test`], and what is complete stays untold.
    pub(super) fn peek_at(&self, channel: &CommittedChannel) -> Result<bool, Code> {
        if let Some(served) = &channel.served {
            return self.test_served(channel, served, false);
        }
        let mut end = lock(channel)?;
        let before = end.told();
        let looked = self.look(channel, &mut end);
        end.tell(before);
        match looked {
            Ok(None) | Err(Code::Uncommitted) => Ok(false),
            Ok(Some(outcome)) => told(outcome).map(|()| true),
            Err(code) => Err(code),
        }
    }

    /// Waits until the last started transfer is complete; at an activated end, for the next instance that a wait or a test
    /// has not told of; of a time-driven channel it tells of all that are over, with the outcome of the last. In the function of the task that serves the end it returns at once.
    ///
    /// # Errors
    /// As [`Committed::test`], and [`Code::Timeout`], [`Code::Uncommitted`] when the job stops.
    pub fn wait(&self, channel: Handle, timeout: Nanos) -> Result<(), Code> {
        self.wait_at(self.channel(channel)?, timeout)
    }

    pub(super) fn wait_at(&self, channel: &CommittedChannel, timeout: Nanos) -> Result<(), Code> {
        if let Some(served) = &channel.served {
            return self.wait_for_served(channel, served, timeout);
        }
        if channel.is_of_this_task() {
            return self.wait_within(channel);
        }
        // What is complete needs no reading of the clock.
        let mut limit = None;
        loop {
            let mut end = lock(channel)?;
            if let Some(outcome) = self.look(channel, &mut end)? {
                return told(outcome);
            }
            let now = clock::now();
            let limit = *limit.get_or_insert(now + timeout);
            if now >= limit {
                return Err(Code::Timeout);
            }
            match &mut *end {
                // As quick as can be while something is on its way.
                End::Source(source) if source.end.sent() > source.delivered => {
                    match source.end.wait_beyond(source.delivered, limit - now) {
                        Ok(()) | Err(WaitError::TimedOut) => continue,
                        Err(error) => return Err(code_of(error)),
                    }
                }
                End::Target(target) => match self.receive(channel, target, limit - now) {
                    Ok(true) | Err(Code::Timeout) => continue,
                    Ok(false) => {}
                    Err(code) => return Err(code),
                },
                End::Collective(end)
                    if channel.collective.as_deref().is_some_and(|collective| end.comes_soon(collective)) =>
                {
                    continue;
                }
                _ => {}
            }
            let again = match &*end {
                End::Timed(timed) => timed.look_again_at(now),
                // Another thread has to insert a buffer; it goes on with the transfer itself.
                _ => now + LOOK_AGAIN,
            };
            drop(end);
            clock::sleep_until(again.min(limit));
        }
    }

    /// What is asked of this member's end, and how its last instance ended.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn status(&self, channel: Handle) -> Result<ChannelStatus, Code> {
        let channel = self.channel(channel)?;
        if let Some(served) = &channel.served {
            return Ok(self.status_of_served(channel, served));
        }
        let (mut state, mut under_way) = (EndState::Started, 1);
        // Whoever has the lock waits for a transfer.
        if let Ok(mut end) = lock(channel) {
            let _ = self.progress(channel, &mut end);
            under_way = end.under_way(channel);
            state = match under_way {
                _ if end.is_active() => EndState::Active,
                0 => EndState::Idle,
                _ => EndState::Started,
            };
        }
        let (instance, outcome) = channel.tally.last();
        Ok(ChannelStatus { state, outcome, instance, under_way })
    }

    /// What was counted and measured at this member's end since the commit.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn metrics(&self, channel: Handle) -> Result<ChannelMetrics, Code> {
        let channel = self.channel(channel)?;
        if channel.served.is_none()
            && let Ok(mut end) = lock(channel)
        {
            let _ = self.progress(channel, &mut end);
        }
        let of = |outcome| channel.tally.of(outcome);
        Ok(ChannelMetrics {
            latency: channel.tally.latency(),
            completed: of(Outcome::Complete),
            no_sender_buffer: of(Outcome::NoSenderBuffer),
            no_receiver_buffer: of(Outcome::NoReceiverBuffer),
            late: of(Outcome::Late),
            invalid: of(Outcome::Invalid),
            paused: of(Outcome::Paused),
            late_binding_copies: match self.iterators.get(channel.input as usize) {
                Some(iterator) if iterator.any.is_some() => channel.copies.load(Ordering::Relaxed),
                _ => 0,
            },
        })
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

/// What a wait answers for an outcome.
pub(super) fn told(outcome: Outcome) -> Result<(), Code> {
    match outcome {
        Outcome::PeerLost => Err(Code::PeerLost),
        outcome if outcome.is_miss() => Err(Code::Missed),
        _ => Ok(()),
    }
}

pub(super) fn lock(channel: &CommittedChannel) -> Result<MutexGuard<'_, End>, Code> {
    channel.end.try_lock().map_err(|_| Code::Slack)
}

pub(super) fn code_of(error: WaitError) -> Code {
    match error {
        WaitError::TimedOut => Code::Timeout,
        WaitError::PeerDead => Code::PeerLost,
        WaitError::Stopping => Code::Uncommitted,
        WaitError::NothingStarted => Code::NotStarted,
        WaitError::NotPerformed(_) => Code::Missed,
    }
}
