//! Ends that the program's threads start, activate, wait for and test.
//!
//! A best-effort end is moved by whoever calls here, or inserts into or removes from its iterators; a time-driven one by
//! its task (`timed.rs`).

use super::best_effort::{SourceEnd, TargetEnd};
use super::collective::FreeCollective;
use super::outcome::{Outcome, Told};
use super::timed::TimedEnd;
use super::wait::not_while_in_use;
use super::{Committed, CommittedChannel};
use crate::free_end::{ReceivingEnd, SendingEnd, WaitError};
use crate::objects::error::Code;
use crate::objects::handle::Handle;
use crate::task_tally::Durations;
use crate::watch::{Watch, Watched};
use leveret_memory::sync::Ordering;
use leveret_os::clock;
use leveret_types::Nanos;
use std::sync::{Arc, MutexGuard};

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
    /// Of that, successes that may be put back.
    taken: u64,
}

impl Asked {
    pub(super) fn has_work(&self) -> bool {
        self.active || self.pending > 0
    }

    /// Whether what comes is transferred without being started.
    pub(super) fn is_active(&self) -> bool {
        self.active
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

impl CommittedChannel {
    /// The state in which the end was left last, and the transfers that were under way.
    fn noted(&self) -> (EndState, u64) {
        let word = self.noted.load(Ordering::Relaxed);
        let states = [EndState::Idle, EndState::Started, EndState::Active];
        let state = states.into_iter().find(|state| *state as u64 == word & 3);
        (state.unwrap_or_default(), word >> 2)
    }
}

impl End {
    pub(in crate::objects) fn source(end: SendingEnd) -> Self {
        Self::Source(SourceEnd::new(end))
    }

    pub(in crate::objects) fn target(end: ReceivingEnd) -> Self {
        Self::Target(TargetEnd { end, asked: Asked::default() })
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

    /// When what the end was committed in ends, as far as is known.
    pub(super) fn stop_at(&mut self) -> Nanos {
        match self {
            Self::Collective(collective) => collective.watch().stop_at(),
            end => end.watch_mut().map_or(Nanos::MAX, |watch| watch.now().stop_at()),
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
            Self::Timed(timed) => timed.told(),
            end => end.asked().map(|asked| asked.told).unwrap_or_default(),
        }
    }

    fn tell(&mut self, told: Told) {
        match self {
            Self::Timed(timed) => timed.tell(told),
            end => drop(end.asked().map(|asked| asked.told = told)),
        }
    }

    /// Successes that were taken and put back are told of once more.
    fn take_returned(&mut self, channel: &CommittedChannel) {
        if channel.returned.load(Ordering::Relaxed) == 0 {
            return;
        }
        let returned = channel.returned.swap(0, Ordering::SeqCst);
        match self {
            Self::Timed(timed) => timed.put_back_complete(),
            end => {
                if let Some(asked) = end.asked() {
                    // What was taken before the last activation is nobody's.
                    let back = returned.min(asked.taken);
                    asked.taken -= back;
                    asked.told.complete -= back;
                }
            }
        }
    }

    /// Transfers under way.
    fn under_way(&self, channel: &CommittedChannel) -> u64 {
        match self {
            Self::None => 0,
            Self::Source(source) => source.asked.pending + source.outstanding(),
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

    /// Leaves the state for those who ask while the end is in use.
    pub(super) fn note(&self, channel: &CommittedChannel) {
        let under_way = self.under_way(channel);
        let state = match under_way {
            _ if self.is_active() => EndState::Active,
            0 => EndState::Idle,
            _ => EndState::Started,
        };
        channel.noted.store(under_way << 2 | state as u64, Ordering::Relaxed);
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

    /// Changes with whatever moves here.
    pub(super) fn moved(&self) -> u64 {
        match self {
            Self::None | Self::Timed(_) => 0,
            Self::Source(source) => source.sent() + source.delivered,
            Self::Target(target) => target.end.received(),
            Self::Collective(collective) => collective.steps(),
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
        match &channel.served {
            Some(served) => self.start_served(channel, served),
            None => self.at(channel, |end| self.start_here(channel, end)),
        }
    }

    fn start_here(&self, channel: &CommittedChannel, end: &mut End) -> Result<(), Code> {
        if let End::Timed(timed) = end {
            let now = clock::now();
            // The buffer is looked at last: one that was taken could only go back behind the others.
            timed.may_start(channel, now)?;
            if timed.is_idle(now) {
                self.check_ready(channel)?;
            }
            timed.start();
            return Ok(());
        }
        // What the other end has taken lies in a line of its own, which is looked at when it matters.
        if end.under_way(channel) >= u64::from(channel.slack) || self.is_watched(channel.handle) {
            self.progress(channel, end)?;
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
        if matches!(end, End::Collective(end) if end.is_idle()) {
            self.check_ready(channel)?;
        }
        let asked = end.asked().ok_or(Code::UndefForObject)?;
        asked.pending += 1;
        asked.started = true;
        self.transfer(channel, end)
    }

    /// Lets transfers take place: in every period from the first on that all ends can still make, or with every buffer
    /// (best effort). An end that is active stays so.
    ///
    /// # Errors
    /// [`Code::Slack`] while a started transfer is under way or another thread is at this end, [`Code::TimePast`] when that of a single shot can no longer be made, and those of
    /// [`Committed::start`].
    pub fn activate(&self, channel: Handle) -> Result<(), Code> {
        self.activate_end(self.channel(channel)?)
    }

    pub(super) fn activate_end(&self, channel: &CommittedChannel) -> Result<(), Code> {
        match &channel.served {
            Some(served) => self.activate_served(channel, served),
            None => self.at(channel, |end| self.activate_here(channel, end)),
        }
    }

    fn activate_here(&self, channel: &CommittedChannel, end: &mut End) -> Result<(), Code> {
        if let End::Timed(timed) = end {
            return timed.activate(channel, clock::now());
        }
        self.progress(channel, end)?;
        let under_way = end.under_way(channel);
        end.peer_lives(channel)?;
        let asked = end.asked().ok_or(Code::UndefForObject)?;
        if !asked.active {
            if under_way > 0 {
                return Err(Code::Slack);
            }
            *asked = Asked { active: true, told: Told::all(&channel.tally), ..Asked::default() };
        }
        self.progress(channel, end)
    }

    /// Activates from the named period on.
    ///
    /// # Errors
    /// [`Code::TimePast`] when it can no longer be made, [`Code::UndefForObject`] without periods, as a single shot has none, and those of
    /// [`Committed::activate`].
    pub fn activate_at(&self, channel: Handle, period: u64) -> Result<(), Code> {
        let channel = self.timed(channel)?;
        self.at(channel, |end| match end {
            End::Timed(timed) => timed.activate_at(channel, period, clock::now()),
            _ => Err(Code::UndefForObject),
        })
    }

    /// Ends the activated state with the period under way.
    ///
    /// # Errors
    /// [`Code::NotStarted`] when it is not active, [`Code::Slack`] when another thread is at this end, and those of wrong handles.
    pub fn deactivate(&self, channel: Handle) -> Result<(), Code> {
        self.deactivate_end(self.channel(channel)?)
    }

    /// A channel whose end no thread of the library moves.
    fn timed(&self, channel: Handle) -> Result<&CommittedChannel, Code> {
        let channel = self.channel(channel)?;
        if channel.served.is_some() { Err(Code::UndefForObject) } else { Ok(channel) }
    }

    pub(super) fn deactivate_end(&self, channel: &CommittedChannel) -> Result<(), Code> {
        match &channel.served {
            Some(served) => self.deactivate_served(channel, served),
            None => self.at(channel, |end| self.deactivate_here(channel, end)),
        }
    }

    fn deactivate_here(&self, channel: &CommittedChannel, end: &mut End) -> Result<(), Code> {
        if let End::Timed(timed) = end {
            return timed.deactivate(clock::now());
        }
        let asked = end.asked().ok_or(Code::UndefForObject)?;
        if !asked.active {
            return Err(Code::NotStarted);
        }
        asked.active = false;
        self.progress(channel, end)
    }

    /// Ends the activated state at the named period, the first without a transfer.
    ///
    /// # Errors
    /// [`Code::TimePast`] when it can no longer be left out, [`Code::Limit`] when it lies behind an activation that is planned after a pause
    /// which is not over by some periods, [`Code::UndefForObject`] without periods, and those of [`Committed::deactivate`].
    pub fn deactivate_at(&self, channel: Handle, period: u64) -> Result<(), Code> {
        let channel = self.timed(channel)?;
        self.at(channel, |end| match end {
            End::Timed(timed) => timed.deactivate_at(period, clock::now()),
            _ => Err(Code::UndefForObject),
        })
    }

    /// Whether a wait would end now, and how.
    pub(super) fn look(&self, channel: &CommittedChannel, end: &mut End) -> Result<Option<Outcome>, Code> {
        end.take_returned(channel);
        self.look_beyond(channel, end)
    }

    /// The same, where what was put back has been taken in: it comes at any time, and whoever restores what was told before would lose it.
    fn look_beyond(&self, channel: &CommittedChannel, end: &mut End) -> Result<Option<Outcome>, Code> {
        if let End::Timed(timed) = end {
            let looked = timed.look(channel, clock::now());
            if matches!(looked, Ok(Some(_))) {
                end.note(channel);
            }
            return looked;
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

    /// Whether a wait would return at once; if so, it is completed as by a wait. Not while another thread is at this end.
    ///
    /// # Errors
    /// [`Code::NotStarted`], [`Code::Missed`], [`Code::PeerLost`], and those of wrong handles.
    pub fn test(&self, channel: Handle) -> Result<bool, Code> {
        self.test_at(self.channel(channel)?)
    }

    pub(super) fn test_at(&self, channel: &CommittedChannel) -> Result<bool, Code> {
        if let Some(served) = &channel.served {
            return self.test_served(channel, served, Tells::All);
        }
        whether(not_while_in_use(self.at_to_look(channel, |end| self.look(channel, end))))
    }

    /// How a wait would end now, if it would; then it is completed as by a wait, and what was started counts no more.
    pub(super) fn look_and_settle(&self, channel: &CommittedChannel) -> Result<Option<Outcome>, Code> {
        if let Some(served) = &channel.served {
            let looked = self.look_at_served(channel, served, Tells::All);
            if matches!(looked, Ok(Some(_))) {
                served.settle();
            }
            return looked;
        }
        not_while_in_use(self.at_to_look(channel, |end| {
            let looked = match (self.look(channel, end), &*end) {
                // A single shot in which the other end took no part.
                (Err(Code::Missed), End::Timed(_)) => Ok(Some(Outcome::Paused)),
                (looked, _) => looked,
            };
            if matches!(looked, Ok(Some(_))) && !end.is_active() {
                match end {
                    End::Timed(timed) => timed.settle(channel),
                    end => end.asked().into_iter().for_each(|asked| asked.started = false),
                }
            }
            looked
        }))
    }

    /// As [`Committed::test`], and what is complete stays untold.
    pub(super) fn peek_at(&self, channel: &CommittedChannel) -> Result<bool, Code> {
        self.test_telling(channel, Tells::Nothing)
    }

    /// The same, and what was missed is told.
    pub(super) fn test_for_misses(&self, channel: &CommittedChannel) -> Result<bool, Code> {
        self.test_telling(channel, Tells::Misses)
    }

    fn test_telling(&self, channel: &CommittedChannel, tells: Tells) -> Result<bool, Code> {
        if let Some(served) = &channel.served {
            return self.test_served(channel, served, tells);
        }
        whether(not_while_in_use(self.at_to_look(channel, |end| {
            end.take_returned(channel);
            let before = end.told();
            let looked = self.look_beyond(channel, end);
            let is_told = match looked {
                Ok(Some(outcome)) => tells.includes(outcome),
                // A single shot in which the other end took no part.
                Err(Code::Missed) => tells != Tells::Nothing,
                _ => false,
            };
            if !is_told {
                end.tell(before);
            }
            looked
        })))
    }

    /// After a test that found a success and told nobody: tells of it, unless another thread was told of it meanwhile; says whether.
    pub(super) fn take_complete(&self, channel: &CommittedChannel) -> bool {
        if let Some(served) = &channel.served {
            return served.take_complete(channel);
        }
        let taken = self.at_to_look(channel, |end| {
            if let End::Timed(timed) = end {
                return Ok(timed.take_complete(channel, clock::now()));
            }
            // What was started is told of as often as anybody asks.
            let asked = end.asked().filter(|asked| asked.active);
            Ok(asked.is_none_or(|asked| {
                let is_taken = asked.told.take_complete(&channel.tally);
                asked.taken += u64::from(is_taken);
                is_taken
            }))
        });
        taken == Ok(true)
    }

    /// What was taken so is told of once more, by whoever looks next.
    pub(super) fn put_back_complete(&self, channel: &CommittedChannel) {
        if let Some(served) = &channel.served {
            return served.put_back_complete();
        }
        channel.returned.fetch_add(1, Ordering::SeqCst);
        channel.stir();
    }

    /// What is asked of this member's end, and how its last instance ended. While another thread is at this end, as it was before that.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn status(&self, channel: Handle) -> Result<ChannelStatus, Code> {
        let channel = self.channel(channel)?;
        if let Some(served) = &channel.served {
            return Ok(self.status_of_served(channel, served));
        }
        let _ = self.at(channel, |end| {
            let _ = self.progress(channel, end);
            end.note(channel);
            Ok(())
        });
        // Where another thread uses the end, as it was left last.
        let (state, under_way) = channel.noted();
        let (instance, outcome) = channel.tally.last();
        Ok(ChannelStatus { state, outcome, instance, under_way })
    }

    /// What was counted and measured at this member's end since the commit.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn metrics(&self, channel: Handle) -> Result<ChannelMetrics, Code> {
        let channel = self.channel(channel)?;
        if channel.served.is_none() {
            let _ = self.at(channel, |end| self.progress(channel, end));
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

/// What of what it finds a look tells of, so that no later one does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tells {
    Nothing,
    Misses,
    All,
}

impl Tells {
    pub(super) fn includes(self, outcome: Outcome) -> bool {
        match self {
            Self::Nothing => false,
            Self::Misses => outcome.is_miss(),
            Self::All => true,
        }
    }
}

/// What a test answers to what a wait would end with.
fn whether(looked: Result<Option<Outcome>, Code>) -> Result<bool, Code> {
    match looked {
        Ok(None) | Err(Code::Uncommitted) => Ok(false),
        Ok(Some(outcome)) => told(outcome).map(|()| true),
        Err(code) => Err(code),
    }
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
