//! Ends of priority- and event-driven channels: the program asks, and the library's thread of their priority moves
//! (`events/dispatch.rs`). So a transfer never goes at the priority of whoever happened to call, and of those that are ready the
//! more urgent goes first.
//!
//! ```text
//!   program --start, activate, insert--> asked ... --rings--> thread: one transfer at a time
//!   program <--wait, test, status------- ended ... <--wakes-- thread
//! ```
//!
//! What the program asks for and what has come of it are counts; nobody waits for a lock.

use super::ends::{ChannelStatus, End, EndState, lock, told};
use super::outcome::{Outcome, Told};
use super::{Committed, CommittedChannel};
use crate::objects::error::Code;
use crate::objects::events::{Pace, Words};
use crate::watch::{Watch, Watched};
use leveret_memory::sync::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use leveret_os::clock;
use leveret_os::futex::{self, Awaited};
use leveret_types::{MemberId, Nanos};
use std::ptr::NonNull;
use std::sync::OnceLock;

/// Tries to be the one whom something is told.
const LOOKS: u32 = 16;

/// What is asked of an end, and what has come of it.
pub(in crate::objects) struct ServedEnd {
    /// Who is at the other ends.
    peers: Box<[MemberId]>,
    pub(in crate::objects) priority: u8,
    /// Whether each transfer needs a firing of the start event besides.
    needs_firing: bool,
    /// The least distance between two transfers.
    pub(in crate::objects) pace: Pace,
    /// What tells it of deaths and of the end of the commit, through modes that keep it; of a channel of a group the commit's alone does.
    pub(super) watched: OnceLock<Watched>,
    /// Transfers that were started, or that the thread has moved because the end is active; and how many of them it has moved.
    begun: AtomicU64,
    moved: AtomicU64,
    active: AtomicBool,
    /// Anything was started since the end was last active.
    was_started: AtomicBool,
    /// Firings of the start event for which no transfer has begun.
    firings: AtomicU64,
    /// Of what ended here, how much a wait or a test has told of, or came before the activation; and how much of that was missed.
    told: AtomicU64,
    told_missed: AtomicU64,
    /// When the end was last activated: firings before that are for nobody.
    active_since: AtomicI64,
    /// Counts what may let a transfer go on; the thread looks again when it has changed.
    asked: AtomicU32,
    tried: AtomicU32,
    /// When the first of that was which has not been tried in vain.
    since: AtomicI64,
    /// Counts what has ended; who waits sleeps on it.
    ended: AtomicU32,
    sleepers: AtomicU32,
}

impl ServedEnd {
    pub(in crate::objects) fn new(
        peers: Box<[MemberId]>,
        (priority, interval): (u8, Option<Nanos>),
        needs_firing: bool,
    ) -> Self {
        Self {
            peers,
            priority,
            needs_firing,
            pace: Pace::new(interval),
            watched: OnceLock::new(),
            begun: AtomicU64::new(0),
            moved: AtomicU64::new(0),
            active: AtomicBool::new(false),
            was_started: AtomicBool::new(false),
            firings: AtomicU64::new(0),
            told: AtomicU64::new(0),
            told_missed: AtomicU64::new(0),
            active_since: AtomicI64::new(i64::MAX),
            asked: AtomicU32::new(0),
            tried: AtomicU32::new(0),
            since: AtomicI64::new(i64::MAX),
            ended: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
        }
    }

    fn is_active(&self) -> bool {
        self.active.load(Ordering::SeqCst)
    }

    /// Started transfers that the thread has not moved.
    fn pending(&self) -> u64 {
        let moved = self.moved.load(Ordering::SeqCst);
        self.begun.load(Ordering::SeqCst).saturating_sub(moved)
    }

    fn under_way(&self, channel: &CommittedChannel) -> u64 {
        // A transfer ends after it has begun, so the end is read first.
        let ended = channel.tally.ended();
        self.begun.load(Ordering::SeqCst).saturating_sub(ended)
    }

    /// Whether a transfer is wanted here.
    fn has_work(&self) -> bool {
        let is_fired = !self.needs_firing || self.firings.load(Ordering::SeqCst) > 0;
        is_fired && (self.is_active() || self.pending() > 0)
    }

    /// Something has changed at this instant that may let a transfer go on.
    pub(in crate::objects) fn note(&self, at: Nanos) {
        self.since.fetch_min(at.0, Ordering::SeqCst);
        self.asked.fetch_add(1, Ordering::SeqCst);
    }

    /// The start event was fired. It is for a transfer only if the end takes part, and did so then: this thread may hear of a firing
    /// after an activation that came later.
    pub(in crate::objects) fn fire(&self, at: Nanos) {
        let is_active = self.is_active() && at.0 >= self.active_since.load(Ordering::SeqCst);
        if is_active || self.pending() > self.firings.load(Ordering::SeqCst) {
            self.firings.fetch_add(1, Ordering::SeqCst);
            self.note(at);
        }
    }

    /// Since when a transfer may be possible; `None`: it was tried in vain, and nothing has changed since.
    pub(in crate::objects) fn ready_since(&self) -> Option<Nanos> {
        if self.asked.load(Ordering::SeqCst) == self.tried.load(Ordering::SeqCst) {
            return None;
        }
        Some(Nanos(self.since.load(Ordering::SeqCst)))
    }

    /// What a wait or a test tells of next, each to one of those who ask at once.
    fn next_untold(&self, channel: &CommittedChannel, tells: bool) -> Option<Outcome> {
        // Each try that fails is another thread's look: after so many, others are being told, and this one asks again.
        for _ in 0..LOOKS {
            let ended = self.told.load(Ordering::SeqCst);
            let mut told = Told { ended, missed: self.told_missed.load(Ordering::SeqCst) };
            let outcome = told.next(&channel.tally)?;
            if !tells {
                return Some(outcome);
            }
            let taken = self.told.compare_exchange(ended, told.ended, Ordering::SeqCst, Ordering::SeqCst);
            if taken.is_ok() {
                self.told_missed.store(told.missed, Ordering::SeqCst);
                return Some(outcome);
            }
        }
        None
    }

    fn tell_sleepers(&self) {
        self.ended.fetch_add(1, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            // It can fail only for an address that is not mapped, and this one is.
            let _ = futex::wake(&self.ended, u32::MAX);
        }
    }

    /// A transfer has begun that was asked for by the program, and perhaps by a firing.
    fn took_one(&self) {
        if self.pending() == 0 {
            self.begun.fetch_add(1, Ordering::SeqCst);
        }
        self.moved.fetch_add(1, Ordering::SeqCst);
        if self.needs_firing {
            let firings = self.firings.load(Ordering::SeqCst);
            // This thread alone adds and takes; where another has deactivated the end meanwhile, there is none to be taken.
            let rest = firings.saturating_sub(1);
            let _ = self.firings.compare_exchange(firings, rest, Ordering::SeqCst, Ordering::SeqCst);
        }
    }
}

/// What the thread has done at an end.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::objects) struct Served {
    /// Whether a message has gone out or come in, be it nonsense.
    pub(in crate::objects) moved: bool,
    /// Whether a transfer that was asked for has begun.
    pub(in crate::objects) has_begun: bool,
    /// Transfers that are complete now.
    pub(in crate::objects) completed: u64,
}

impl Committed {
    /// The watch under which an end is served.
    fn watch_of<'s>(&'s self, served: &'s ServedEnd) -> Result<&'s Watch, Code> {
        match served.watched.get() {
            Some(watched) => Ok(watched.now()),
            None => self.watch(),
        }
    }

    /// Whether a member at another end has died.
    fn has_lost_peer(&self, served: &ServedEnd) -> Result<bool, Code> {
        let watch = self.watch_of(served)?;
        Ok(served.peers.iter().any(|peer| watch.is_dead(*peer)))
    }

    /// Tells an end's thread to look at it.
    pub(super) fn ask(&self, channel: &CommittedChannel, served: &ServedEnd) -> Result<(), Code> {
        served.note(clock::now());
        self.ring(channel.serving.load(Ordering::Relaxed))?;
        // Whoever still calls by the set before a mode that keeps it reaches the thread of the mode.
        if let Some(next) = self.successor.get()
            && let Ok(kept) = next.channel(channel.handle)
            && kept.is_kept
        {
            next.ring(kept.serving.load(Ordering::Relaxed))?;
        }
        Ok(())
    }

    /// After an insertion into an iterator, by the program or by a transfer: what takes from there may go on.
    pub(super) fn ask_after_insertion(&self, iterator: usize) {
        let channels =
            self.iterators[iterator].channels.iter().map(|channel| &self.channels[*channel as usize]);
        for channel in channels.filter(|channel| channel.takes_from(iterator)) {
            if let Some(served) = channel.served.as_ref().filter(|served| served.has_work()) {
                // Before anything is served there is nothing to tell.
                let _ = self.ask(channel, served);
            }
        }
    }

    pub(super) fn start_served(&self, channel: &CommittedChannel, served: &ServedEnd) -> Result<(), Code> {
        if self.has_lost_peer(served)? {
            return Err(Code::PeerLost);
        }
        if served.is_active() {
            return Err(Code::Active);
        }
        // Each try that fails is another thread's start: after as many as the slack allows, others are at this end.
        for _ in 0..channel.slack {
            let begun = served.begun.load(Ordering::SeqCst);
            if served.under_way(channel) >= u64::from(channel.slack) {
                break;
            }
            let next = served.begun.compare_exchange(begun, begun + 1, Ordering::SeqCst, Ordering::SeqCst);
            if next.is_ok() {
                served.was_started.store(true, Ordering::SeqCst);
                return self.ask(channel, served);
            }
        }
        Err(Code::Slack)
    }

    pub(super) fn activate_served(&self, channel: &CommittedChannel, served: &ServedEnd) -> Result<(), Code> {
        if self.has_lost_peer(served)? {
            return Err(Code::PeerLost);
        }
        if served.is_active() {
            return Ok(());
        }
        if served.under_way(channel) > 0 {
            return Err(Code::Slack);
        }
        let all = Told::all(&channel.tally);
        served.told.store(all.ended, Ordering::SeqCst);
        served.told_missed.store(all.missed, Ordering::SeqCst);
        served.active_since.store(clock::now().0, Ordering::SeqCst);
        served.was_started.store(false, Ordering::SeqCst);
        served.active.store(true, Ordering::SeqCst);
        self.ask(channel, served)
    }

    pub(super) fn deactivate_served(&self, served: &ServedEnd) -> Result<(), Code> {
        if !served.active.swap(false, Ordering::SeqCst) {
            return Err(Code::NotStarted);
        }
        // Firings that no transfer has begun for were for the activated end.
        served.firings.store(0, Ordering::SeqCst);
        Ok(())
    }

    /// Whether a wait would end now, and how.
    fn look_at_served(
        &self,
        channel: &CommittedChannel,
        served: &ServedEnd,
        tells: bool,
    ) -> Result<Option<Outcome>, Code> {
        let (_, outcome) = channel.tally.last();
        if served.is_active() {
            if let Some(next) = served.next_untold(channel, tells) {
                return Ok(Some(next));
            }
        } else if !served.was_started.load(Ordering::SeqCst) {
            return Err(Code::NotStarted);
        } else if served.under_way(channel) == 0 {
            return Ok(Some(outcome));
        }
        if self.has_lost_peer(served)? {
            return Err(Code::PeerLost);
        }
        if clock::now() >= self.watch_of(served)?.stop_at() { Err(Code::Uncommitted) } else { Ok(None) }
    }

    /// As a test; what is complete stays untold unless it `tells`.
    pub(super) fn test_served(
        &self,
        channel: &CommittedChannel,
        served: &ServedEnd,
        tells: bool,
    ) -> Result<bool, Code> {
        match self.look_at_served(channel, served, tells) {
            Ok(None) | Err(Code::Uncommitted) => Ok(false),
            Ok(Some(outcome)) => told(outcome).map(|()| true),
            Err(code) => Err(code),
        }
    }

    pub(super) fn wait_for_served(
        &self,
        channel: &CommittedChannel,
        served: &ServedEnd,
        timeout: Nanos,
    ) -> Result<(), Code> {
        let limit = clock::now() + timeout;
        loop {
            let mut words = Words::new();
            words.push(self.watch_of(served)?.bell());
            words
                .push(Awaited::new(NonNull::from(&served.ended).cast(), served.ended.load(Ordering::SeqCst)));
            if let Some(outcome) = self.look_at_served(channel, served, true)? {
                return told(outcome);
            }
            if clock::now() >= limit {
                return Err(Code::Timeout);
            }
            served.sleepers.fetch_add(1, Ordering::SeqCst);
            words.sleep(std::iter::empty(), limit.min(self.watch_of(served)?.stop_at()));
            served.sleepers.fetch_sub(1, Ordering::SeqCst);
        }
    }

    pub(super) fn status_of_served(&self, channel: &CommittedChannel, served: &ServedEnd) -> ChannelStatus {
        let under_way = served.under_way(channel);
        let state = match under_way {
            _ if served.is_active() => EndState::Active,
            0 => EndState::Idle,
            _ => EndState::Started,
        };
        let (instance, outcome) = channel.tally.last();
        ChannelStatus { state, outcome, instance, under_way }
    }

    /// Whether a transfer of a group that has begun at a served end can go on; by its thread alone.
    pub(in crate::objects) fn goes_on(&self, index: usize) -> bool {
        let channel = &self.channels[index];
        match (channel.collective.as_deref(), lock(channel).as_deref()) {
            (Some(collective), Ok(End::Collective(end))) => end.goes_on(collective),
            _ => false,
        }
    }

    /// At most one transfer at a served end, which `may` begin, and what is under way there; by its thread alone.
    pub(in crate::objects) fn serve_end(&self, index: usize, may: bool) -> Served {
        let channel = &self.channels[index];
        let Some(served) = &channel.served else { return Served::default() };
        let seen = served.asked.load(Ordering::SeqCst);
        self.take_back_loans(channel);
        let has_work = may && served.has_work();
        let (ended, complete) = (channel.tally.ended(), channel.tally.of(Outcome::Complete));
        // What fails is counted where it fails, and the buffer is the program's again.
        let (moved, has_begun) = match lock(channel).as_deref_mut() {
            Ok(End::Source(source)) => {
                let before = source.sent();
                source.ask_for(u64::from(has_work));
                let _ = self.send_ready(channel, source);
                self.count_delivered(channel, source);
                let is_sent = source.sent() > before;
                (is_sent, is_sent)
            }
            Ok(End::Target(target)) => {
                target.ask_for(u64::from(has_work));
                let _ = self.receive_ready(channel, target);
                let is_received = has_work && target.asked_for() == 0;
                (is_received, is_received)
            }
            Ok(End::Collective(end)) => {
                let (begun, moved) = (end.begun(), end.moved());
                // The one that is under way, or one that was asked for: not both.
                end.ask_for(u64::from(has_work && !end.is_under_way()));
                let _ = self.move_collective(channel, end);
                (end.begun() > begun || end.moved() > moved, end.begun() > begun)
            }
            _ => (false, false),
        };
        if has_begun {
            served.took_one();
        }
        let has_ended = channel.tally.ended() > ended;
        if has_ended {
            served.tell_sleepers();
        }
        // Not when something ended: what may begin afterwards was not tried, if it may not yet.
        if !moved && !has_ended {
            served.since.store(i64::MAX, Ordering::SeqCst);
            served.tried.store(seen, Ordering::SeqCst);
        }
        Served { moved, has_begun, completed: channel.tally.of(Outcome::Complete) - complete }
    }
}
