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
use super::paced::Pace;
use super::plan::{EventPlan, PlannedHandler};
use super::served::{Look, ServedWork, Urgency};
use super::wait::Words;
use crate::objects::committed::Committed;
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
    pace: Pace,
    /// Whose turn it is; 0: it waits for a firing. Only the thread of that stage moves it on.
    turn: AtomicU32,
    /// What the stage handles; touched by the thread whose turn it is alone.
    firing: Mutex<Option<Firing>>,
}

/// Handlers that follow one another on one thread.
struct Stage {
    thread: usize,
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
        for handler in handlers {
            let works = self.works;
            let work = works.iter().find(|work| handler.work.as_ref() == Some(&work.name));
            let thread = self.thread(work);
            match stages.last_mut().filter(|last| last.thread == thread) {
                Some(last) => {
                    last.priority = last.priority.max(handler.priority);
                    last.handlers.push(handler);
                }
                None => stages.push(Stage { thread, priority: handler.priority, handlers: vec![handler] }),
            }
        }
        stages
    }
}

impl Dispatch {
    /// `unheard`: for each trigger whose event has no receptor, in their order, the default handler of its kind. Their receptors come after
    /// all others.
    pub(super) fn new(
        plan: &mut EventPlan,
        unheard: Vec<PlannedHandler>,
        (works, real_time): (&[Work], bool),
    ) -> Self {
        let mut places = Places { works, real_time, threads: Vec::new() };
        let of_receptors: Vec<_> = plan.receptors.iter().map(|receptor| receptor.handlers.clone()).collect();
        let all =
            of_receptors.into_iter().chain(unheard.into_iter().map(|handler| vec![handler])).enumerate();
        let activations =
            all.filter(|(_, handlers)| !handlers.is_empty()).map(|(receptor, handlers)| Activation {
                receptor,
                // Of several the slowest, so that none runs more often than it says.
                pace: Pace::new(handlers.iter().filter_map(|handler| handler.interval).max()),
                stages: places.stages(handlers),
                turn: AtomicU32::new(0),
                firing: Mutex::new(None),
            });
        let activations = activations.collect();
        let ends = std::mem::take(&mut plan.ends).into_iter().map(|end| {
            let of_end = |work: &&Work| {
                work.end.as_ref().is_some_and(|(group, name, sends)| {
                    (group, name, *sends) == (&end.group, &end.name, end.sends)
                })
            };
            let thread = places.thread(works.iter().find(of_end));
            ServedWork::new(end, thread)
        });
        let ends = ends.collect();
        Self { activations, ends, threads: places.threads }
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

/// What a thread runs next.
enum Next<'d> {
    Handlers(&'d Activation),
    Transfer(&'d ServedWork, Urgency),
}

/// Runs what a thread has to do until the commit ends.
pub(super) fn serve(thread: usize, events: &CommittedEvents, committed: &Arc<Committed>) {
    let CommittedEvents { dispatch, watch, receptors, .. } = events;
    let begins_here = |activation: &&Activation| activation.stages[0].thread == thread;
    let of_handlers = dispatch.activations.iter().filter(begins_here).map(|activation| activation.receptor);
    let ends: Vec<&ServedWork> = dispatch.ends.iter().filter(|end| end.thread == thread).collect();
    let of_ends = ends.iter().flat_map(|end| end.receptors());
    let waited: Vec<&CommittedReceptor> =
        of_handlers.chain(of_ends).map(|number| &receptors[number]).collect();
    let listeners = || waited.iter().flat_map(|receptor| &receptor.listeners);
    loop {
        let own = &dispatch.threads[thread];
        let mut words = Words::new();
        words.push(watch.bell());
        words.push(Awaited::new(NonNull::from(&own.bell).cast(), own.bell.load(Ordering::SeqCst)));
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
    /// Whether it is ready for this thread, and how urgent it is then: the smaller first.
    fn look(&self, thread: usize, receptors: &[CommittedReceptor], now: Nanos) -> Look {
        let turn = self.turn.load(Ordering::Acquire) as usize;
        let Some(stage) = self.stages.get(turn).filter(|stage| stage.thread == thread) else {
            return Look::Idle;
        };
        let time = if turn == 0 {
            let occurrence = receptors[self.receptor].occurrence();
            let Some(time) = occurrence.and_then(|occurrence| occurrence.next_time()) else {
                return Look::Idle;
            };
            if self.pace.next() > now {
                return Look::At(self.pace.next());
            }
            time
        } else {
            let firing = *self.firing.lock().unwrap_or_else(PoisonError::into_inner);
            firing.and_then(|firing| firing.time).unwrap_or(Nanos(i64::MIN))
        };
        Look::Ready((Reverse(stage.priority), time))
    }

    /// Runs the stage whose turn it is.
    fn run(&self, thread: usize, events: &CommittedEvents, committed: &Arc<Committed>) {
        let turn = self.turn.load(Ordering::Acquire) as usize;
        let receptor = &events.receptors[self.receptor];
        let firing = if turn == 0 {
            let taken = receptor.take();
            *self.firing.lock().unwrap_or_else(PoisonError::into_inner) = taken;
            let now = clock::now();
            self.pace.ran(taken.and_then(|firing| firing.time).unwrap_or(now).min(now));
            taken
        } else {
            *self.firing.lock().unwrap_or_else(PoisonError::into_inner)
        };
        let Some(firing) = firing else { return };
        for PlannedHandler { function, budget, tally, .. } in &self.stages[turn].handlers {
            tally.run(*budget, || function(receptor.handle, firing, committed));
        }
        let next = (turn + 1) % self.stages.len();
        self.turn.store(next as u32, Ordering::Release);
        let next_thread = self.stages[next].thread;
        if next_thread != thread {
            events.dispatch.ring(next_thread);
        }
    }
}
