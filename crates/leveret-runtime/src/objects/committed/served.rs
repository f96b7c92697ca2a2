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

use super::ends::{ChannelStatus, End, EndState, Tells, lock, told};
use super::outcome::{Outcome, Told};
use super::{Committed, CommittedChannel};
use crate::objects::descriptors::{Looked, Watched as OfDescriptor};
use crate::objects::error::Code;
use crate::objects::events::{Pace, Words};
use crate::objects::handle::Handle;
use crate::watch::{Watch, Watched};
use leveret_memory::sync::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use leveret_os::clock;
use leveret_os::futex::{self, Awaited};
use leveret_types::{MemberId, Nanos};
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

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
    /// A message waits here for a buffer: what is less urgent leaves it the next one. Said by the thread, when it was tried in vain.
    lacks_buffer: AtomicBool,
    /// Of what was performed and of what was missed here, how much a wait or a test has told of, or came before the activation. Each is told
    /// by whoever counts it, so threads that ask at once are never told of the same.
    told_complete: AtomicU64,
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
            pace: Pace::new(interval, clock::now()),
            watched: OnceLock::new(),
            begun: AtomicU64::new(0),
            moved: AtomicU64::new(0),
            active: AtomicBool::new(false),
            was_started: AtomicBool::new(false),
            firings: AtomicU64::new(0),
            lacks_buffer: AtomicBool::new(false),
            told_complete: AtomicU64::new(0),
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

    /// Nothing that was started is left to tell of.
    pub(super) fn settle(&self) {
        if !self.is_active() {
            self.was_started.store(false, Ordering::SeqCst);
        }
    }

    /// Who ends an instance wakes sleepers from here on; before that it has changed the word.
    pub(in crate::objects) fn begin_sleep(&self) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
    }

    pub(in crate::objects) fn end_sleep(&self) {
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
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
    fn next_untold(&self, channel: &CommittedChannel, tells: Tells) -> Option<Outcome> {
        // Each try that fails is another thread's look: after so many, others are being told, and this one asks again.
        for _ in 0..LOOKS {
            let told = self.told();
            let outcome = told.untold(&channel.tally)?;
            let (count, seen) = match outcome {
                outcome if outcome.is_miss() => (&self.told_missed, told.missed),
                _ => (&self.told_complete, told.complete),
            };
            let take = || count.compare_exchange(seen, seen + 1, Ordering::SeqCst, Ordering::SeqCst);
            if !tells.includes(outcome) || take().is_ok() {
                return Some(outcome);
            }
        }
        None
    }

    /// After a look that found a success and told nobody: tells of it, unless another thread was told of it meanwhile; says whether.
    pub(super) fn take_complete(&self, channel: &CommittedChannel) -> bool {
        if !self.is_active() {
            // What was started is told of as often as anybody asks.
            return true;
        }
        for _ in 0..LOOKS {
            let told = self.told();
            if !told.has_complete(&channel.tally) {
                return false;
            }
            let (seen, next) = (told.complete, told.complete + 1);
            let taken = self.told_complete.compare_exchange(seen, next, Ordering::SeqCst, Ordering::SeqCst);
            if taken.is_ok() {
                return true;
            }
        }
        false
    }

    /// What was taken so is told of once more.
    pub(super) fn put_back_complete(&self) {
        if self.is_active() {
            self.told_complete.fetch_sub(1, Ordering::SeqCst);
        }
        // Who looked meanwhile has found nothing.
        self.tell_sleepers();
    }

    fn told(&self) -> Told {
        let missed = self.told_missed.load(Ordering::SeqCst);
        Told { complete: self.told_complete.load(Ordering::SeqCst), missed }
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

    /// When what a served end was committed in ends, as far as is known.
    pub(super) fn stop_of_served(&self, served: &ServedEnd) -> Result<Nanos, Code> {
        Ok(self.watch_of(served)?.stop_at())
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
        let _starting = match channel.collective.as_deref() {
            Some(collective) => Some(collective.ready.begin_start().ok_or(Code::Slack)?),
            None => None,
        };
        // With a slack of one or more it is within it then.
        if served.under_way(channel) == 0 {
            self.check_ready(channel)?;
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
        served.told_complete.store(all.complete, Ordering::SeqCst);
        served.told_missed.store(all.missed, Ordering::SeqCst);
        served.active_since.store(clock::now().0, Ordering::SeqCst);
        served.was_started.store(false, Ordering::SeqCst);
        served.active.store(true, Ordering::SeqCst);
        self.ask(channel, served)
    }

    pub(super) fn deactivate_served(
        &self,
        channel: &CommittedChannel,
        served: &ServedEnd,
    ) -> Result<(), Code> {
        if !served.active.swap(false, Ordering::SeqCst) {
            return Err(Code::NotStarted);
        }
        // Firings that no transfer has begun for were for the activated end.
        served.firings.store(0, Ordering::SeqCst);
        self.lacks_buffer(channel, served, false);
        // Who waits has nothing to wait for any more.
        served.tell_sleepers();
        Ok(())
    }

    /// Whether a message that is more urgent waits for a buffer of this end's iterator. The thread of that one is about to take the next:
    /// it may have been inserted, and that thread not been woken yet, when this one looks.
    fn is_left_to_others(&self, channel: &CommittedChannel, served: &ServedEnd) -> bool {
        let sharing = self.iterators[channel.input as usize].channels.iter();
        // The most urgent are first.
        sharing
            .map_while(|other| self.channels[*other as usize].served.as_ref())
            .take_while(|other| other.priority > served.priority)
            .any(|other| other.lacks_buffer.load(Ordering::SeqCst) && other.has_work())
    }

    /// Says whether a message waits here for a buffer. When none does any more, what has left buffers to it may go on.
    fn lacks_buffer(&self, channel: &CommittedChannel, served: &ServedEnd, lacks: bool) {
        if served.lacks_buffer.swap(lacks, Ordering::SeqCst) && !lacks {
            self.ask_after_insertion(channel.input as usize);
        }
    }

    /// Whether a wait would end now, and how.
    pub(super) fn look_at_served(
        &self,
        channel: &CommittedChannel,
        served: &ServedEnd,
        tells: Tells,
    ) -> Result<Option<Outcome>, Code> {
        if served.is_active() {
            if let Some(next) = served.next_untold(channel, tells) {
                return Ok(Some(next));
            }
        } else if !served.was_started.load(Ordering::SeqCst) {
            return Err(Code::NotStarted);
        } else if served.under_way(channel) == 0 {
            // Read last, so that it is that of the transfer that was seen to be over.
            return Ok(Some(channel.tally.last().1));
        }
        if self.has_lost_peer(served)? {
            return Err(Code::PeerLost);
        }
        if clock::now() >= self.watch_of(served)?.stop_at() { Err(Code::Uncommitted) } else { Ok(None) }
    }

    /// As a test, which tells of this much of what it finds.
    pub(super) fn test_served(
        &self,
        channel: &CommittedChannel,
        served: &ServedEnd,
        tells: Tells,
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
            let stop_at = self.push_served(served, &mut words)?;
            if let Some(outcome) = self.look_at_served(channel, served, Tells::All)? {
                return told(outcome);
            }
            if clock::now() >= limit {
                return Err(Code::Timeout);
            }
            served.begin_sleep();
            words.sleep(std::iter::empty(), limit.min(stop_at));
            served.end_sleep();
        }
    }

    /// The words that change when an instance of a served end has ended, or when the commit or a peer ends; to be collected before looking
    /// whether it has. Says when to stop sleeping.
    pub(in crate::objects) fn push_served(
        &self,
        served: &ServedEnd,
        words: &mut Words,
    ) -> Result<Nanos, Code> {
        let watch = self.watch_of(served)?;
        words.push(watch.bell());
        words.push(Awaited::new(NonNull::from(&served.ended).cast(), served.ended.load(Ordering::SeqCst)));
        Ok(watch.stop_at())
    }

    /// What a descriptor is to watch.
    pub(in crate::objects) fn served_of_descriptor(
        self: &Arc<Self>,
        channel: Handle,
    ) -> Result<OfDescriptor, Code> {
        self.channel(channel)?.served.as_ref().ok_or(Code::UndefForObject)?;
        let place = self.channels.iter().position(|other| other.handle == channel);
        Ok(OfDescriptor::Channel(self.clone(), place.ok_or(Code::Internal)?))
    }

    /// Whether a wait would end now, and until when to sleep on these words.
    pub(in crate::objects) fn look_for_descriptor(&self, place: usize, words: &mut Words) -> Looked {
        let channel = &self.channels[place];
        let Some(served) = &channel.served else { return (true, Nanos::ZERO) };
        let until = self.push_served(served, words).unwrap_or(Nanos::ZERO);
        let looked = self.look_at_served(channel, served, Tells::Nothing);
        (matches!(looked, Ok(Some(_)) | Err(Code::PeerLost)), until)
    }

    /// Sleeps on these words.
    pub(in crate::objects) fn sleep_for_descriptor(&self, place: usize, words: &Words, until: Nanos) {
        let Some(served) = &self.channels[place].served else { return };
        served.begin_sleep();
        words.sleep(std::iter::empty(), until);
        served.end_sleep();
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
        let mut lacks = false;
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
                let may_take = has_work && !self.is_left_to_others(channel, served);
                target.ask_for(u64::from(may_take));
                let _ = self.receive_ready(channel, target);
                let is_received = may_take && target.asked_for() == 0;
                lacks = has_work && !is_received && target.has_message();
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
        self.lacks_buffer(channel, served, lacks);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::in_process::InProcessJob;
    use crate::objects::handle::Handle;
    use crate::objects::{
        BufferDescription, BufiterPolicy, ChannelDescription, Dataspec, Form, OwnedStorage, Policy, Qos,
        World, job_in_tests,
    };
    use leveret_types::{ChannelId, MemberId};
    use std::sync::Arc;

    const SIZE: usize = 8;
    /// Priorities of the channels, by their places in the list of all.
    const PRIORITIES: [u8; 2] = [5, 40];
    const LOGS: usize = 0;
    const ALARMS: usize = 1;

    struct Side {
        committed: Arc<Committed>,
        inputs: Vec<Handle>,
        buffers: Vec<Handle>,
    }

    /// Two channels, whose receiving ends share their iterators; all ends are activated.
    fn sharing() -> ([Side; 2], InProcessJob) {
        let names = ["a".to_owned(), "b".to_owned()];
        let (mut sides, mut bindings) = (Vec::new(), Vec::new());
        for rank in 0..2 {
            let mut world = World::new(MemberId(rank), &names).expect("a world");
            let policy = BufiterPolicy { base: Policy::Fifo, form: Form::Plain };
            let mut iterator = || {
                world.bufiter("", policy, (SIZE, Dataspec::Int64), Handle::default()).expect("an iterator")
            };
            let (first, second, output) = (iterator(), iterator(), iterator());
            let inputs = vec![first, if rank == 0 { second } else { first }];
            for (input, priority) in inputs.iter().zip(PRIORITIES) {
                let qos = world.qos("", Qos::Priority { priority }).expect("a QoS");
                let group = Handle::GROUP_WORLD;
                let description =
                    ChannelDescription { input: *input, output, source: 0, target: 1, group, qos };
                world.ptchannel(&format!("at {priority}"), description).expect("a channel");
            }
            let mut buffer = || {
                let storage = Arc::new(OwnedStorage::new(SIZE));
                let description = BufferDescription { size: SIZE, dataspec: Dataspec::Int64, storage };
                world.buffer("", description).expect("a buffer")
            };
            let buffers = vec![buffer(), buffer(), buffer(), buffer()];
            let binding = world.bind(&crate::objects::keep::Kept::default());
            let binding = binding.unwrap_or_else(|unfit| panic!("{}", unfit.detail));
            sides.push(Side { committed: binding.committed.clone(), inputs, buffers });
            bindings.push(binding);
        }
        let mut job = job_in_tests(&mut bindings);
        let ends: Vec<_> = job.sources.drain(..).zip(job.targets.drain(..)).collect();
        for (place, ((_, source), (_, target))) in ends.into_iter().enumerate() {
            for (side, end) in sides.iter().zip([End::source(source), End::target(target)]) {
                let channel = &side.committed.channels[place];
                channel.attach(end);
                channel.served.as_ref().expect("it is served").active.store(true, Ordering::SeqCst);
            }
        }
        sides.iter().for_each(|side| side.committed.settle(std::iter::empty()).expect("nothing is mapped"));
        (sides.try_into().unwrap_or_else(|_| panic!("two sides")), job)
    }

    impl Side {
        fn insert(&self, channel: usize, buffer: usize) {
            self.committed.insert(self.inputs[channel], self.buffers[buffer]).expect("it is the program's");
        }

        fn serve(&self, channel: usize) -> bool {
            self.committed.serve_end(channel, true).moved
        }
    }

    /// What is inserted is there before anybody is woken: the thread of the lesser priority may look first.
    // spec: QOS-PRIORITY-02
    #[test]
    fn a_buffer_is_left_to_the_more_urgent_message_whoever_looks_first() {
        let ([from, to], _job) = sharing();
        for (channel, buffer) in [(LOGS, 0), (LOGS, 1), (ALARMS, 2)] {
            from.insert(channel, buffer);
            assert!(from.serve(channel));
        }
        assert!(!to.serve(ALARMS) && !to.serve(LOGS), "there is no buffer");
        to.insert(LOGS, 0);
        assert!(!to.serve(LOGS), "it took the buffer for which an alarm waits");
        assert!(to.serve(ALARMS) && !to.serve(ALARMS));
        // No alarm waits any more.
        to.insert(LOGS, 1);
        assert!(to.serve(LOGS));
        // The end of the alarms takes no part any more, whatever waits there.
        from.insert(ALARMS, 3);
        assert!(from.serve(ALARMS));
        assert!(!to.serve(ALARMS));
        let alarms = &to.committed.channels[ALARMS];
        let served = alarms.served.as_ref().expect("it is served");
        to.committed.deactivate_served(alarms, served).expect("it is active");
        to.insert(LOGS, 2);
        assert!(to.serve(LOGS));
    }

    /// An end that a mode keeps: what it moves is counted where the mode's watcher looks, from when its thread has taken it over.
    // spec: MODE-KEEP-02
    #[test]
    fn an_end_that_was_taken_over_counts_where_the_mode_declares_it() {
        let ((sides, job), (of_mode, mode)) = (sharing(), sharing());
        let counted = |job: &InProcessJob| {
            let [from, to] = [0, 1].map(|rank| job.segment(MemberId(rank)).expect("it is whole"));
            let of_logs = job.assembled.job.channels.iter().position(|channel| channel.name == "at 5");
            let logs = ChannelId(of_logs.expect("it is declared") as u16);
            let source = from.source(logs).expect("a source").counters();
            [source.published, to.target(logs).expect("a target").counters().taken]
        };
        let transfer = |buffer| {
            let [from, to] = &sides;
            to.insert(LOGS, buffer);
            from.insert(LOGS, buffer);
            assert!(from.serve(LOGS) && to.serve(LOGS));
        };
        transfer(0);
        assert_eq!((counted(&job), counted(&mode)), ([1, 1], [0, 0]));
        for (side, of_mode) in sides.iter().zip(&of_mode) {
            let mut fresh = of_mode.committed.channels[LOGS].end.lock().expect("nobody panicked");
            let channel = &side.committed.channels[LOGS];
            channel.succeed_as(std::mem::replace(&mut *fresh, End::None));
            channel.begin_as_declared();
        }
        transfer(1);
        transfer(2);
        assert_eq!((counted(&job), counted(&mode)), ([1, 1], [2, 2]));
    }

    /// Threads that test at once share out what has ended: each miss and each success is told once.
    // spec: LAW-THREAD-02
    #[test]
    fn what_ended_is_told_once_to_one_of_those_who_ask_at_once() {
        const INSTANCES: u64 = 20_000;
        let ([_, to], _job) = sharing();
        let channel = &to.committed.channels[LOGS];
        let served = channel.served.as_ref().expect("it is served");
        let is_over = AtomicBool::new(false);
        let mut told = [0; 2];
        std::thread::scope(|scope| {
            let ask = || {
                let mut told = [0; 2];
                loop {
                    let was_over = is_over.load(Ordering::SeqCst);
                    match served.next_untold(channel, Tells::All) {
                        Some(outcome) => told[usize::from(outcome.is_miss())] += 1,
                        None if was_over => return told,
                        None => std::hint::spin_loop(),
                    }
                }
            };
            let asking: Vec<_> = (0..3).map(|_| scope.spawn(ask)).collect();
            for instance in 0..INSTANCES {
                let outcome = if instance % 2 == 0 { Outcome::Late } else { Outcome::Complete };
                channel.tally.count(instance, outcome, None);
            }
            is_over.store(true, Ordering::SeqCst);
            for thread in asking {
                let of_thread = thread.join().expect("it ends");
                told.iter_mut().zip(of_thread).for_each(|(sum, count)| *sum += count);
            }
        });
        // What others were told of while they asked may be left.
        while let Some(outcome) = served.next_untold(channel, Tells::All) {
            told[usize::from(outcome.is_miss())] += 1;
        }
        assert_eq!(told, [INSTANCES / 2; 2]);
    }

    /// The thread that left a buffer is asked again when the other has what it wants.
    #[test]
    fn who_left_a_buffer_looks_again() {
        let ([from, to], _job) = sharing();
        for (channel, buffer) in [(LOGS, 0), (ALARMS, 1)] {
            from.insert(channel, buffer);
            assert!(from.serve(channel));
        }
        assert!(!to.serve(ALARMS));
        to.insert(LOGS, 0);
        to.insert(LOGS, 1);
        assert!(!to.serve(LOGS));
        let logs = to.committed.channels[LOGS].served.as_ref().expect("it is served");
        assert_eq!(logs.ready_since(), None, "it was tried in vain");
        assert!(to.serve(ALARMS));
        assert!(logs.ready_since().is_some(), "a buffer is left, and nobody was asked");
        assert!(to.serve(LOGS));
    }
}
