//! Triggers and receptors between commit and uncommit.

use super::body::{EventKind, Firing};
use super::departures::{Departures, Succession};
use super::dispatch::{Dispatch, Handling};
use super::occurrence::{Consumed, Occurrence};
use super::plan::{EventPlan, PlannedForm, PlannedHandler, PlannedReceptor, Watched};
use super::tally::HandlerTally;
use super::wait::Words;
use crate::event_end::{EventEnds, FiringSource, ReceptorEnd, TriggerEnd};
use crate::objects::committed::{Committed, Outcome};
use crate::objects::descriptors::{Looked, Watched as OfDescriptor};
use crate::objects::error::Code;
use crate::objects::handle::{Class, Handle};
use crate::objects::keep::Kept;
use crate::watch::{Watch, Watched as OfCommit};
use leveret_memory::sync::{AtomicBool, AtomicU64, Ordering};
use leveret_memory::{Latest, ListenerWriter};
use leveret_os::clock;
use leveret_types::{MemberId, Nanos};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Of so many instances that are told of together each fires; more would keep a task from its window.
const TOLD_AT_ONCE_MAX: u64 = 64;

/// Everything of events that is committed.
pub(in crate::objects) struct CommittedEvents {
    pub(super) triggers: Vec<CommittedTrigger>,
    watchers: Vec<Watcher>,
    pub(super) receptors: Vec<CommittedReceptor>,
    pub(super) dispatch: Dispatch,
    pub(super) watch: Arc<Watch>,
    pub(super) tallies: Vec<(Handle, Arc<HandlerTally>)>,
    /// Of the threads of the dispatch, and of the timer.
    pub(super) departures: Arc<Departures>,
    /// From whom the timer of a mode takes over what is kept.
    pub(super) timer: Option<Succession>,
}

pub(super) struct CommittedTrigger {
    kind: EventKind,
    pub(super) state: Arc<TriggerState>,
    /// The receptor of a default handler that has its firings, since its event has none.
    pub(super) unheard: Option<usize>,
    /// From what ran before a mode.
    pub(super) is_kept: bool,
}

/// What of a trigger goes on in a mode that keeps it.
pub(super) struct TriggerState {
    pub(super) end: TriggerEnd,
    own: FiringSource,
    /// Of the kind time: the epoch from which its instants count.
    pub(super) origin: OnceLock<Nanos>,
    /// Whether it has told of the death of whoever it watches for.
    pub(super) has_mourned: AtomicBool,
}

impl TriggerState {
    fn new(end: TriggerEnd, own: FiringSource) -> Self {
        Self { end, own, origin: OnceLock::new(), has_mourned: AtomicBool::new(false) }
    }
}

/// A trigger that watches a channel or a task.
struct Watcher {
    trigger: usize,
    kind: EventKind,
    watched: Watched,
}

impl Watcher {
    /// Whether an instance of its channel that ended so is one for it, where it lacked a buffer of this member's or did not. A peer's death
    /// is told once, when it is known, not with every instance that it misses.
    fn is_for(&self, outcome: Outcome, lacks_here: bool) -> bool {
        let kind = match outcome {
            Outcome::None | Outcome::Paused => return false,
            Outcome::Complete => EventKind::Completion,
            Outcome::NoSenderBuffer | Outcome::NoReceiverBuffer if lacks_here => EventKind::MissingBuffer,
            Outcome::NoSenderBuffer | Outcome::NoReceiverBuffer | Outcome::Late | Outcome::PeerLost => {
                EventKind::Miss
            }
            Outcome::Invalid => EventKind::Error,
        };
        kind == self.kind
    }
}

pub(super) struct CommittedReceptor {
    /// Null: of a default handler.
    pub(super) handle: Handle,
    pub(super) is_handled: bool,
    pub(super) state: Arc<ReceptorState>,
}

impl Deref for CommittedReceptor {
    type Target = ReceptorState;

    #[inline(always)]
    fn deref(&self) -> &ReceptorState {
        &self.state
    }
}

/// What of a receptor goes on in a mode that keeps it.
pub(in crate::objects) struct ReceptorState {
    /// `None`: it is part of another.
    occurrence: Option<Occurrence>,
    pub(super) sources: Vec<FiringSource>,
    pub(super) listeners: Vec<Arc<ListenerWriter>>,
    /// Firings of which the time was not known any more.
    lost: AtomicU64,
    /// What the last wait or test consumed: 1 if anything, rank, number, 1 if the time is known, time.
    last: Latest<5>,
    /// Somebody stores into `last`.
    storing: AtomicBool,
    /// What tells of deaths and of the end of the commit, through modes that keep it.
    pub(super) watched: OfCommit,
    pub(super) handling: Handling,
}

impl CommittedTrigger {
    pub(super) fn fire(&self, now: Nanos) {
        self.state.end.fire(now);
    }
}

impl ReceptorState {
    fn new(occurrence: Option<Occurrence>, handlers: &[PlannedHandler], watch: &Arc<Watch>) -> Self {
        let mut sources = Vec::new();
        if let Some(occurrence) = &occurrence {
            occurrence.collect_sources(&mut sources);
        }
        Self {
            occurrence,
            sources,
            listeners: Vec::new(),
            lost: AtomicU64::new(0),
            last: Latest::new([0; 5]),
            storing: AtomicBool::new(false),
            watched: OfCommit::new(watch.clone()),
            // Of several the slowest, so that none runs more often than it says.
            handling: Handling::new(handlers.iter().filter_map(|handler| handler.interval).max()),
        }
    }

    /// Whether a firing is pending, or none can come any more, and until when to sleep on these words for the next.
    pub(in crate::objects) fn look_for_descriptor(&self, words: &mut Words) -> Looked {
        let watch = self.watched.now();
        words.push(watch.bell());
        words.push_sources(&self.sources);
        let has_news = self.occurrence.as_ref().is_some_and(|occurrence| {
            occurrence.pending() > 0 || !occurrence.is_possible(&|member| watch.is_dead(member))
        });
        (has_news, watch.stop_at())
    }

    /// Whom those who fire look at.
    pub(in crate::objects) fn listeners(&self) -> impl Iterator<Item = &Arc<ListenerWriter>> + Clone {
        self.listeners.iter()
    }

    /// What is waited for, or handled; nothing for a part of another.
    pub(super) fn occurrence(&self) -> Option<&Occurrence> {
        self.occurrence.as_ref()
    }

    /// Consumes a firing if one is pending.
    #[inline]
    pub(super) fn take(&self) -> Option<Firing> {
        let occurrence = self.occurrence.as_ref()?;
        let Consumed { rank, number, time, lost } = occurrence.consume()?;
        if lost > 0 {
            self.lost.fetch_add(lost, Ordering::Relaxed);
        }
        let (pending, lost) = (occurrence.pending(), self.lost.load(Ordering::Relaxed));
        Some(Firing { source: u32::from(rank), number, time, pending, lost })
    }

    /// Consumes every pending firing of a single trigger, and gives the time of the first; `now` where that is not known.
    pub(super) fn drain(&self, now: Nanos) -> Option<Nanos> {
        Some(self.occurrence.as_ref()?.drain()?.unwrap_or(now).min(now))
    }

    /// As [`CommittedReceptor::take`], and keeps it for who asks.
    pub(super) fn take_and_keep(&self) -> Option<Firing> {
        let firing = self.take()?;
        // Where two threads take at once, either's is the last.
        if !self.storing.swap(true, Ordering::Acquire) {
            let time = firing.time.unwrap_or(Nanos::ZERO).0 as u64;
            self.last.store([
                1,
                u64::from(firing.source),
                firing.number,
                u64::from(firing.time.is_some()),
                time,
            ]);
            self.storing.store(false, Ordering::Release);
        }
        Some(firing)
    }

    fn kept(&self) -> Option<Firing> {
        let [1, source, number, is_known, time] = self.last.load() else { return None };
        let pending = self.occurrence.as_ref().map_or(0, Occurrence::pending);
        let time = (is_known == 1).then_some(Nanos(time as i64));
        Some(Firing { source: source as u32, number, time, pending, lost: self.lost.load(Ordering::Relaxed) })
    }
}

impl CommittedEvents {
    #[inline]
    fn fire_watching(&self, source: Handle, count: u64, is_for: impl Fn(&Watcher) -> bool) {
        for watcher in &self.watchers {
            if watcher.watched.source == source && is_for(watcher) {
                for _ in 0..count.min(TOLD_AT_ONCE_MAX) {
                    self.triggers[watcher.trigger].fire(clock::now());
                }
            }
        }
    }

    /// The triggers that tell of a member's death, with the member.
    pub(super) fn mourners(&self) -> Vec<(usize, MemberId)> {
        let for_errors = self.watchers.iter().filter(|watcher| watcher.kind == EventKind::Error);
        let of = |watcher: &Watcher| {
            let trigger = watcher.trigger;
            watcher.watched.peers.iter().map(|peer| (trigger, *peer)).collect::<Vec<_>>()
        };
        for_errors.flat_map(of).collect()
    }

    /// Joins what was planned with the ends that commit has bound, or that a mode keeps.
    pub(super) fn new(
        plan: &EventPlan,
        ends: EventEnds,
        watch: Arc<Watch>,
        dispatch: Dispatch,
        kept: &Kept,
    ) -> Self {
        let before = kept.before().and_then(|before| before.events.get());
        let mut triggers = Vec::with_capacity(plan.triggers.len());
        let mut unheard = Vec::new();
        for (planned, (end, own)) in plan.triggers.iter().zip(ends.triggers) {
            let old = before.zip(planned.kept).map(|(events, number)| (events, &events.triggers[number]));
            let default = plan.defaults[planned.kind as usize].as_ref().filter(|_| end.is_unheard());
            let state =
                old.map_or_else(|| Arc::new(TriggerState::new(end, own)), |(_, old)| old.state.clone());
            let mut number = None;
            if let Some(handler) = default {
                number = Some(plan.receptors.len() + unheard.len());
                state.end.attend();
                let known = old.and_then(|(events, old)| Some(events.receptors[old.unheard?].state.clone()));
                let state = known.unwrap_or_else(|| {
                    let occurrence = Occurrence::of_sources(vec![state.own.clone()]);
                    // What was fired when there was no handler is nobody's.
                    let _ = occurrence.drain();
                    Arc::new(ReceptorState::new(Some(occurrence), std::slice::from_ref(handler), &watch))
                });
                let handle = Handle::null(Class::Receptor);
                unheard.push(CommittedReceptor { handle, is_handled: true, state });
            }
            let (kind, is_kept) = (planned.kind, old.is_some());
            triggers.push(CommittedTrigger { kind, state, unheard: number, is_kept });
        }
        let mut building = Building {
            planned: &plan.receptors,
            ends: ends.receptors.into_iter().map(Some).collect(),
            listeners: Vec::new(),
        };
        let mut receptors = Vec::with_capacity(plan.receptors.len());
        for (place, planned) in plan.receptors.iter().enumerate() {
            let state = match before.zip(planned.kept) {
                Some((events, number)) => events.receptors[number].state.clone(),
                None => {
                    let occurrence = if planned.is_part { None } else { building.occurrence(place) };
                    let mut state = ReceptorState::new(occurrence, &planned.handlers, &watch);
                    state.listeners = std::mem::take(&mut building.listeners);
                    Arc::new(state)
                }
            };
            let (handle, is_handled) = (planned.handle, !planned.handlers.is_empty());
            receptors.push(CommittedReceptor { handle, is_handled, state });
        }
        receptors.extend(unheard);
        let watchers = plan.triggers.iter().enumerate();
        let watchers = watchers.filter_map(|(trigger, planned)| {
            Some(Watcher { trigger, kind: planned.kind, watched: planned.watched.clone()? })
        });
        let watchers = watchers.collect();
        let tallies = plan.tallies.clone();
        let departures = Arc::new(Departures::new(dispatch.threads.len() + 1));
        let timer = before.map(|events| Succession::new(&events.departures, [events.dispatch.threads.len()]));
        Self { triggers, watchers, receptors, dispatch, watch, tallies, departures, timer }
    }

    /// A mode takes over: receptors that it keeps go on under its watch.
    pub(in crate::objects) fn hand_over(&self, kept: &Kept) {
        for receptor in &self.receptors {
            if kept.contains(receptor.handle) {
                receptor.watched.keep();
            } else {
                receptor.watched.end_with(&self.watch);
            }
        }
    }
}

/// While receptors are built of their parts.
struct Building<'p> {
    planned: &'p [PlannedReceptor],
    ends: Vec<Option<ReceptorEnd>>,
    /// Of the events that were met.
    listeners: Vec<Arc<ListenerWriter>>,
}

impl Building<'_> {
    /// Recursion as deep as combinations are nested, which creation limits.
    fn occurrence(&mut self, place: usize) -> Option<Occurrence> {
        let planned = self.planned;
        match &planned.get(place)?.form {
            PlannedForm::Event(declared) => {
                let end = self.ends.get_mut(*declared)?.take()?;
                if !self.listeners.iter().any(|known| Arc::ptr_eq(known, &end.listener)) {
                    self.listeners.push(end.listener);
                }
                Some(Occurrence::of_sources(end.sources))
            }
            PlannedForm::Combined(combination, parts) => {
                let parts: Option<Vec<_>> = parts.iter().map(|part| self.occurrence(*part)).collect();
                Some(Occurrence::combined(*combination, parts?))
            }
        }
    }
}

impl Committed {
    pub(super) fn committed_events(&self) -> Result<&CommittedEvents, Code> {
        self.events.get().ok_or(Code::NotCommitted)
    }

    /// Fires a trigger of the kind call. Allocates nothing, waits for nobody, and makes one system call if somebody sleeps until
    /// it comes.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] for another kind, and those of wrong handles.
    pub fn fire(&self, trigger: Handle) -> Result<(), Code> {
        let number = self.find(trigger, Class::Trigger)?;
        let trigger = &self.committed_events()?.triggers[number];
        if trigger.kind != EventKind::Call {
            return Err(Code::UndefForObject);
        }
        trigger.fire(clock::now());
        Ok(())
    }

    /// Fires a trigger of the library's own.
    pub(in crate::objects) fn fire_own(&self, trigger: usize, now: Nanos) {
        if let Some(trigger) = self.events.get().and_then(|events| events.triggers.get(trigger)) {
            trigger.fire(now);
        }
    }

    /// Wakes a thread of the dispatch.
    pub(in crate::objects) fn ring(&self, thread: usize) -> Result<(), Code> {
        self.committed_events()?.dispatch.ring(thread);
        Ok(())
    }

    /// What tells of deaths and of the end of the commit.
    pub(in crate::objects) fn watch(&self) -> Result<&Watch, Code> {
        Ok(&self.committed_events()?.watch)
    }

    /// Fires the triggers that watch a channel, `count` instances of which have ended so, for want of a buffer of this member's if it
    /// `lacks_here`.
    #[inline]
    pub(in crate::objects) fn tell_ended(
        &self,
        channel: Handle,
        (outcome, lacks_here): (Outcome, bool),
        count: u64,
    ) {
        if let Some(events) = self.events.get() {
            events.fire_watching(channel, count, |watcher| watcher.is_for(outcome, lacks_here));
        }
    }

    /// Whether any trigger watches a channel or a task.
    #[inline]
    pub(in crate::objects) fn is_watched(&self, source: Handle) -> bool {
        let watchers = self.events.get().map_or(&[][..], |events| &events.watchers);
        watchers.iter().any(|watcher| watcher.watched.source == source)
    }

    /// Fires the triggers that watch a task, of which so many instances were skipped and the last one perhaps ended late.
    #[inline]
    pub(in crate::objects) fn tell_missed(&self, task: Handle, skipped: u64, is_late: impl FnOnce() -> bool) {
        if let Some(events) = self.events.get()
            && self.is_watched(task)
        {
            events.fire_watching(task, skipped + u64::from(is_late()), |watcher| {
                watcher.kind == EventKind::Miss
            });
        }
    }

    /// The firing that the last wait or test on a receptor consumed, with what is pending and lost now.
    ///
    /// # Errors
    /// [`Code::Empty`] when none was, and those of wrong handles.
    pub fn receptor_event(&self, receptor: Handle) -> Result<Firing, Code> {
        let number = self.find(receptor, Class::Receptor)?;
        self.committed_events()?.receptors[number].kept().ok_or(Code::Empty)
    }

    /// A receptor that is neither handled nor a part of another.
    /// What a descriptor is to watch.
    pub(in crate::objects) fn receptor_of_descriptor(&self, receptor: Handle) -> Result<OfDescriptor, Code> {
        Ok(OfDescriptor::Receptor(self.waited_for(receptor)?.state.clone()))
    }

    pub(super) fn waited_for(&self, receptor: Handle) -> Result<&CommittedReceptor, Code> {
        let number = self.find(receptor, Class::Receptor)?;
        let receptor = &self.committed_events()?.receptors[number];
        if receptor.is_handled || receptor.occurrence.is_none() {
            return Err(Code::UndefForObject);
        }
        Ok(receptor)
    }
}
