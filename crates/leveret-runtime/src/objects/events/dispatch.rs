//! What runs at priorities, and on which thread: handlers, tasks that an event starts, and ends of priority- and event-driven
//! channels.
//!
//! ```text
//!  priority of the QoS          the thread is scheduled
//!  none, or no rights           SCHED_OTHER
//!  the k-th lowest of the job   SCHED_FIFO 10 + k, below every task of the time table
//! ```
//!
//! Each priority in use is a thread; those of a member share a core, unless a declaration says otherwise. Between priorities the kernel
//! interrupts the lower one, within one the earliest arrival is next. The handlers of a receptor run one after the other in their
//! order, for one firing after the other; where they are of different threads, the firing is handed on. Without the rights one thread
//! does all in the order of priorities.

use super::body::Firing;
use super::committed::{CommittedEvents, CommittedReceptor};
use super::departures::Succession;
use super::paced::Pace;
use super::plan::{EventPlan, PlannedHandler};
use super::served::{Look, ServedWork, Urgency};
use super::wait::Words;
use crate::objects::committed::Committed;
use crate::objects::keep::Kept;
use crate::session::Work;
use crate::thread::class_of_level;
use leveret_memory::sync::{AtomicBool, AtomicU32, Ordering};
use leveret_os::clock;
use leveret_os::futex::{self, Awaited};
use leveret_os::scheduling::Class;
use leveret_types::Nanos;
use std::cmp::Reverse;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// What runs at firings of receptors, and what moves messages.
pub(super) struct Dispatch {
    activations: Vec<Activation>,
    ends: Vec<ServedWork>,
    pub(super) threads: Vec<ServingThread>,
}

/// A thread, by where and how it runs.
pub(super) struct ServingThread {
    place: Place,
    /// Rung when something is handed to it.
    bell: AtomicU32,
    /// Whether it is about to sleep.
    sleeps: AtomicBool,
}

/// Core and level; `None`: without a real-time class.
type Place = Option<(u32, u16)>;

impl ServingThread {
    pub(super) fn class(&self) -> Class {
        self.place.map_or(Class::Other, |(_, level)| class_of_level(level))
    }

    pub(super) fn core(&self) -> Option<u32> {
        self.place.map(|(core, _)| core)
    }
}

/// A receptor's handlers.
struct Activation {
    receptor: usize,
    stages: Vec<Stage>,
    /// Whom it goes on for, of a receptor that a mode keeps.
    succession: Option<Succession>,
}

/// How far the handlers of a receptor are: in a mode that keeps it they go on from there.
pub(super) struct Handling {
    pace: Pace,
    /// Which handler is next; 0: it waits for a firing. Only the thread of that one's stage moves it on.
    turn: AtomicU32,
    /// What it handles; touched by the thread whose turn it is alone.
    firing: Mutex<Option<Firing>>,
}

impl Handling {
    pub(super) fn new(interval: Option<Nanos>) -> Self {
        Self { pace: Pace::new(interval, clock::now()), turn: AtomicU32::new(0), firing: Mutex::new(None) }
    }
}

/// Handlers that follow one another on one thread.
struct Stage {
    thread: usize,
    /// The place of the first among all of the receptor.
    first: usize,
    priority: u8,
    handlers: Vec<PlannedHandler>,
}

/// While threads are found for what is to run.
struct Places<'w> {
    works: &'w [Work],
    real_time: bool,
    threads: Vec<ServingThread>,
}

impl Places<'_> {
    fn thread(&mut self, work: Option<&Work>) -> usize {
        let place = work.filter(|_| self.real_time).map(|work| (work.core, work.level));
        self.threads.iter().position(|thread| thread.place == place).unwrap_or_else(|| {
            let (bell, sleeps) = (AtomicU32::new(0), AtomicBool::new(false));
            self.threads.push(ServingThread { place, bell, sleeps });
            self.threads.len() - 1
        })
    }

    fn stages(&mut self, handlers: Vec<PlannedHandler>) -> Vec<Stage> {
        let mut stages: Vec<Stage> = Vec::new();
        for (place, handler) in handlers.into_iter().enumerate() {
            let works = self.works;
            let work = works.iter().find(|work| handler.work.as_ref() == Some(&work.name));
            let thread = self.thread(work);
            match stages.last_mut().filter(|last| last.thread == thread) {
                Some(last) => {
                    last.priority = last.priority.max(handler.priority);
                    last.handlers.push(handler);
                }
                None => {
                    let priority = handler.priority;
                    stages.push(Stage { thread, first: place, priority, handlers: vec![handler] });
                }
            }
        }
        stages
    }
}

impl Dispatch {
    /// `unheard`: for each trigger whose event has no receptor, in their order, the default handler of its kind, and the receptor from
    /// which a mode keeps it. Their receptors come after all others.
    pub(super) fn new(
        plan: &mut EventPlan,
        unheard: Vec<(PlannedHandler, Option<usize>)>,
        (works, real_time): (&[Work], bool),
        (committed, kept): (&Committed, &Kept),
    ) -> Self {
        let mut places = Places { works, real_time, threads: Vec::new() };
        let before = kept.before().and_then(|before| before.events.get());
        let succession = |number: usize| {
            let events = before?;
            let old = events.dispatch.activations.iter().find(|activation| activation.receptor == number)?;
            Some(Succession::new(&events.departures, old.stages.iter().map(|stage| stage.thread)))
        };
        let of_receptors: Vec<_> =
            plan.receptors.iter().map(|receptor| (receptor.handlers.clone(), receptor.kept)).collect();
        let of_unheard = unheard.into_iter().map(|(handler, kept)| (vec![handler], kept));
        let all = of_receptors.into_iter().chain(of_unheard).enumerate();
        let all = all.filter(|(_, (handlers, _))| !handlers.is_empty());
        let activations = all.map(|(receptor, (handlers, kept))| Activation {
            receptor,
            stages: places.stages(handlers),
            succession: kept.and_then(succession),
        });
        let activations = activations.collect();
        let ends = std::mem::take(&mut plan.ends).into_iter().map(|end| {
            let of_end = |work: &&Work| {
                work.end.as_ref().is_some_and(|(group, name, sends)| {
                    (group, name, *sends) == (&end.group, &end.name, end.sends)
                })
            };
            let thread = places.thread(works.iter().find(of_end));
            let succession = succession_of_end(committed, kept, end.channel);
            ServedWork::new(end, thread, succession)
        });
        let ends = ends.collect();
        Self { activations, ends, threads: places.threads }
    }

    /// The handlers of a receptor, in their order.
    pub(super) fn handlers_of(&self, receptor: usize) -> impl Iterator<Item = &PlannedHandler> {
        let of_receptor = self.activations.iter().filter(move |activation| activation.receptor == receptor);
        of_receptor.flat_map(|activation| activation.stages.iter().flat_map(|stage| &stage.handlers))
    }

    /// What handlers are called in the plan.
    pub(super) fn names_of_work(&self) -> Vec<String> {
        let stages = self.activations.iter().flat_map(|activation| &activation.stages);
        stages.flat_map(|stage| &stage.handlers).filter_map(|handler| handler.work.clone()).collect()
    }

    /// Each served channel with the place of its thread.
    pub(super) fn served(&self) -> impl Iterator<Item = (usize, usize)> {
        self.ends.iter().map(|end| (end.channel(), end.thread))
    }

    /// Wakes a thread that sleeps, or keeps one that is about to from sleeping.
    pub(super) fn ring(&self, thread: usize) {
        let Some(thread) = self.threads.get(thread) else { return };
        thread.bell.fetch_add(1, Ordering::SeqCst);
        if thread.sleeps.load(Ordering::SeqCst) {
            // It can fail only for an address that is not mapped, and this one is.
            let _ = futex::wake(&thread.bell, 1);
        }
    }
}

/// Whom the end of a channel that a mode keeps is taken over from.
fn succession_of_end(committed: &Committed, kept: &Kept, channel: usize) -> Option<Succession> {
    let channel = &committed.channels[channel];
    let before = kept.before().filter(|_| channel.is_kept)?;
    let thread = kept.channel(channel.handle)?.serving.load(Ordering::Relaxed);
    Some(Succession::new(&before.events.get()?.departures, [thread]))
}

/// What a thread runs next.
enum Next<'d> {
    Handlers(&'d Activation),
    Transfer(&'d ServedWork, Urgency),
}

/// Runs what a thread has to do until the commit ends, from when `begin` returns.
pub(super) fn serve(
    thread: usize,
    events: &CommittedEvents,
    committed: &Arc<Committed>,
    begin: impl FnOnce(),
) {
    let CommittedEvents { dispatch, watch, receptors, .. } = events;
    let begins_here = |activation: &&Activation| activation.stages[0].thread == thread;
    let of_handlers = dispatch.activations.iter().filter(begins_here).map(|activation| activation.receptor);
    let ends: Vec<&ServedWork> = dispatch.ends.iter().filter(|end| end.thread == thread).collect();
    let of_ends = ends.iter().flat_map(|end| end.receptors());
    let waited: Vec<&CommittedReceptor> =
        of_handlers.chain(of_ends).map(|number| &receptors[number]).collect();
    let runs_here = |activation: &&Activation| activation.stages.iter().any(|stage| stage.thread == thread);
    let of_handlers = dispatch.activations.iter().filter(runs_here);
    let of_handlers = of_handlers.filter_map(|activation| activation.succession.as_ref());
    let successions: Vec<&Succession> =
        ends.iter().filter_map(|end| end.succession.as_ref()).chain(of_handlers).collect();
    let listeners = || waited.iter().flat_map(|receptor| &receptor.listeners);
    begin();
    loop {
        let own = &dispatch.threads[thread];
        let mut words = Words::new();
        words.push(watch.bell());
        words.push(Awaited::new(NonNull::from(&own.bell).cast(), own.bell.load(Ordering::SeqCst)));
        // What is kept is of one set before: its threads have one word.
        if let Some(succession) = successions.iter().find(|succession| !succession.may_begin()) {
            words.push(succession.awaited());
        }
        waited.iter().for_each(|receptor| words.push_sources(&receptor.sources));
        let (now, stop) = (clock::now(), watch.stop_at());
        if now >= stop {
            return;
        }
        let looks = dispatch
            .activations
            .iter()
            .map(|activation| (activation.look(thread, receptors, now), Next::Handlers(activation)));
        let of_ends = ends.iter().map(|end| {
            let look = end.look(events, committed, now);
            let urgency = if let Look::Ready(urgency) = look { urgency } else { (Reverse(0), now) };
            (look, Next::Transfer(end, urgency))
        });
        let mut next: Option<(Urgency, Next<'_>)> = None;
        let mut until = stop;
        for (look, what) in looks.chain(of_ends) {
            match look {
                Look::Idle => {}
                Look::At(instant) => until = until.min(instant),
                Look::Ready(urgency) if next.as_ref().is_none_or(|(first, _)| urgency < *first) => {
                    next = Some((urgency, what));
                }
                Look::Ready(_) => {}
            }
        }
        match next {
            Some((_, Next::Handlers(activation))) => activation.run(thread, events, committed),
            Some((_, Next::Transfer(end, urgency))) => end.run(urgency, committed),
            None if until <= now => {}
            None => {
                own.sleeps.store(true, Ordering::SeqCst);
                words.sleep(listeners(), until);
                own.sleeps.store(false, Ordering::SeqCst);
            }
        }
    }
}

impl Activation {
    /// The stage of a handler, by its place among all.
    fn stage(&self, turn: usize) -> Option<&Stage> {
        self.stages.iter().rev().find(|stage| stage.first <= turn)
    }

    /// Whether it is ready for this thread, and how urgent it is then: the smaller first.
    fn look(&self, thread: usize, receptors: &[CommittedReceptor], now: Nanos) -> Look {
        if self.succession.as_ref().is_some_and(|succession| !succession.may_begin()) {
            return Look::Idle;
        }
        let receptor = &receptors[self.receptor];
        let Handling { pace, turn, firing } = &receptor.handling;
        let turn = turn.load(Ordering::Acquire) as usize;
        let Some(stage) = self.stage(turn).filter(|stage| stage.thread == thread) else {
            return Look::Idle;
        };
        let time = if turn == 0 {
            let Some(time) = receptor.occurrence().and_then(|occurrence| occurrence.next_time()) else {
                pace.rests(now);
                return Look::Idle;
            };
            if pace.next() > now {
                return Look::At(pace.next());
            }
            time
        } else {
            let firing = *firing.lock().unwrap_or_else(PoisonError::into_inner);
            firing.and_then(|firing| firing.time).unwrap_or(Nanos(i64::MIN))
        };
        Look::Ready((Reverse(stage.priority), time))
    }

    /// Runs what is left of the stage whose turn it is.
    fn run(&self, thread: usize, events: &CommittedEvents, committed: &Arc<Committed>) {
        let receptor = &events.receptors[self.receptor];
        let handling = &receptor.handling;
        let turn = handling.turn.load(Ordering::Acquire) as usize;
        let firing = if turn == 0 {
            let taken = receptor.take();
            *handling.firing.lock().unwrap_or_else(PoisonError::into_inner) = taken;
            let now = clock::now();
            handling.pace.ran(taken.and_then(|firing| firing.time).unwrap_or(now).min(now));
            taken
        } else {
            *handling.firing.lock().unwrap_or_else(PoisonError::into_inner)
        };
        let (Some(firing), Some(stage)) = (firing, self.stage(turn)) else { return };
        for PlannedHandler { function, budget, tally, .. } in stage.handlers.iter().skip(turn - stage.first) {
            tally.run(*budget, || function(receptor.handle, firing, committed));
        }
        let next = stage.first + stage.handlers.len();
        let next = if self.stage(next).is_some_and(|last| last.first < next) { 0 } else { next };
        handling.turn.store(next as u32, Ordering::Release);
        let next_thread = self.stage(next).map_or(thread, |stage| stage.thread);
        if next_thread != thread {
            events.dispatch.ring(next_thread);
        }
    }
}

#[cfg(all(test, not(loom)))]
#[path = "dispatch_tests.rs"]
mod tests;
