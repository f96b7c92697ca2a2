//! The library's threads that serve events: one for each priority in use, one for triggers of the kind time and for deaths.
//!
//! ```text
//!   prepare: there, stack touched, asleep     arm: core and class     serve ... the commit's end
//!   while the commit can still be refused     the epoch is known
//! ```

use super::committed::CommittedEvents;
use super::dispatch::{self, Dispatch};
use super::plan::EventPlan;
use super::timer;
use super::wait::Words;
use crate::mailbox::{Sender, mailbox};
use crate::member::CommitError;
use crate::mode::ASLEEP_AFTER;
use crate::objects::committed::Committed;
use crate::objects::keep::Kept;
use crate::session::{LibraryThreads, Prospect, Work};
use crate::thread::class_of_level;
use crate::watch::Watch;
use leveret_memory::sync::Ordering;
use leveret_os::clock;
use leveret_os::scheduling::{self, Class};
use leveret_os::thread::Thread;
use leveret_protocol::control;
use leveret_types::Nanos;
use std::sync::Arc;

/// Stack that is touched before the epoch, so that no handler faults on it.
const STACK_PREFAULT_BYTES: usize = 256 * 1024;
/// `SCHED_FIFO` priority of the timer's thread where it fires for nothing that has one: above the agent, below everything that is planned.
const TIMER_ALONE: u8 = 9;

/// How a thread runs, and on which core, if on a certain one.
type Place = (Class, Option<u32>);

/// The threads of one commit. Those that are dropped before they were armed end.
#[derive(Default)]
pub(in crate::objects) struct EventThreads {
    threads: Vec<EventThread>,
}

struct EventThread {
    arm: Sender<Armed>,
    thread: Thread<()>,
    place: Place,
    /// Of the kernel's; known when it is there.
    id: u32,
}

/// From when on a thread serves.
#[derive(Clone, Copy)]
struct Turn {
    epoch: Nanos,
    /// Beside what runs: it sleeps until the epoch, and is given its core and class meanwhile.
    is_aside: bool,
}

/// What is dropped when the thread is on its core and in its class, or about to sleep.
struct Armed {
    turn: Turn,
    _until_set: Sender<()>,
}

impl EventThreads {
    /// Gives the committed objects their events, and starts the threads that are to serve them; each sleeps when this returns.
    ///
    /// # Errors
    /// When a thread cannot be had. Those that were started have ended.
    pub(in crate::objects) fn prepare(
        plan: &mut EventPlan,
        prospect: Prospect,
        committed: &Arc<Committed>,
        kept: &Kept,
    ) -> Result<Self, CommitError> {
        let Prospect { events: ends, watch, library_threads: how, works, .. } = prospect;
        let unheard = plan.triggers.iter().zip(&ends.triggers).filter(|(_, (end, _))| end.is_unheard());
        let before = kept.before().and_then(|before| before.events.get());
        let known = |number: Option<usize>| {
            before.zip(number).and_then(|(events, number)| events.triggers[number].unheard)
        };
        let unheard = unheard
            .filter_map(|(trigger, _)| {
                Some((plan.defaults[trigger.kind as usize].clone()?, known(trigger.kept)))
            })
            .collect();
        let timed = timer::first_instants(plan);
        let wants_real_time = !works.is_empty() || plan.needs_timer();
        let real_time = wants_real_time && LibraryThreads::has_real_time(how.scheduling)?;
        let dispatch = Dispatch::new(plan, unheard, (&works, real_time), (committed, kept));
        let places: Vec<Place> =
            dispatch.threads.iter().map(|thread| (thread.class(), thread.core().or(how.core))).collect();
        for (channel, thread) in dispatch.served() {
            committed.channels[channel].serving.store(thread, Ordering::Relaxed);
        }
        let of_program = watch.clone();
        let events = CommittedEvents::new(plan, ends, watch, dispatch, kept);
        let mourns = !events.mourners().is_empty();
        assert!(committed.events.set(events).is_ok(), "a commit's events are bound once");
        let timer_place = (mourns || !timed.is_empty()).then(|| {
            let class = if real_time { timer_class(&works) } else { Class::Other };
            (class, how.core)
        });
        let mut prepared = Self::default();
        match prepared.start(places, timer_place.map(|place| (place, timed)), (committed, &of_program)) {
            Ok(()) => Ok(prepared),
            Err(error) => {
                prepared.join();
                Err(error)
            }
        }
    }

    fn start(
        &mut self,
        places: Vec<Place>,
        timer: Option<(Place, Vec<timer::Due>)>,
        (committed, watch): (&Arc<Committed>, &Arc<Watch>),
    ) -> Result<(), CommitError> {
        let places_count = places.len();
        let (ready, reports) = mailbox(places_count + 1);
        for (thread, place) in places.into_iter().enumerate() {
            let committed = committed.clone();
            let notice = watch.clone().notice(|| control::Place::Nowhere, |_, _| {});
            self.start_one("leveret-serve", place, &ready, move |turn| {
                let _posted = notice.post();
                if let Some(events) = committed.events.get() {
                    dispatch::serve(thread, events, &committed, || await_turn(turn, events));
                    depart(thread, events);
                }
            })?;
        }
        if let Some((place, timed)) = timer {
            let committed = committed.clone();
            let last = places_count;
            self.start_one("leveret-timer", place, &ready, move |turn| {
                if let Some(events) = committed.events.get() {
                    timer::serve(timed, turn.epoch, events, || await_turn(turn, events));
                    depart(last, events);
                }
            })?;
        } else if let Some(events) = committed.events.get() {
            events.departures.leave(places_count);
        }
        drop(ready);
        reports.all().for_each(|(number, id)| self.threads[number].id = id);
        Ok(())
    }

    fn start_one(
        &mut self,
        name: &str,
        place: Place,
        ready: &Sender<(usize, u32)>,
        serve: impl FnOnce(Turn) + Send + 'static,
    ) -> Result<(), CommitError> {
        let (arm, armed) = mailbox(1);
        let (ready, number) = (ready.clone(), self.threads.len());
        let started = Thread::start(name, move || {
            // What is refused here was refused to the tasks too, and told for them.
            let _ = clock::set_timer_slack(Nanos(1));
            scheduling::prefault_stack(STACK_PREFAULT_BYTES);
            let _ = ready.send((number, scheduling::thread_id()));
            drop(ready);
            let Some(Armed { turn, _until_set }) = armed.receive() else { return };
            if turn.is_aside {
                clock::sleep_until(clock::now());
            } else {
                take(place);
            }
            drop(_until_set);
            serve(turn);
        });
        let thread = started.map_err(|failure| CommitError::System {
            what: "a thread for handlers, channels or triggers of the kind time",
            cause: failure.to_string(),
        })?;
        self.threads.push(EventThread { arm, thread, place, id: 0 });
        Ok(())
    }

    /// Gives the epoch; each thread is on its core and in its class when this returns.
    pub(in crate::objects) fn arm(&self, epoch: Nanos) {
        self.tell(Turn { epoch, is_aside: false });
    }

    /// The same of a mode beside what runs, which costs no core any of its planned time.
    pub(in crate::objects) fn arm_aside(&self, epoch: Nanos) {
        self.tell(Turn { epoch, is_aside: true });
        clock::sleep_until(clock::now() + ASLEEP_AFTER);
        for EventThread { id, place: (class, core), .. } in &self.threads {
            // What is refused here was refused to the tasks too, and told for them.
            let _ = core.map(|core| scheduling::pin_to(*id, core));
            let _ = scheduling::apply_to(*id, *class);
        }
    }

    fn tell(&self, turn: Turn) {
        let (until_set, all_set) = mailbox(0);
        for thread in &self.threads {
            // One that is gone is noticed when it is joined.
            let _ = thread.arm.send(Armed { turn, _until_set: until_set.clone() });
        }
        drop(until_set);
        all_set.all().for_each(drop);
    }

    /// Waits for the threads, which end with the commit; those that were not armed end now.
    pub(in crate::objects) fn join(self) {
        for EventThread { arm, thread, .. } in self.threads {
            drop(arm);
            // A handler's panic was caught and counted; there is nothing else to tell.
            let _ = thread.join();
        }
    }
}

/// The timer fires for the most urgent too.
fn timer_class(works: &[Work]) -> Class {
    let most_urgent = works.iter().map(|work| work.level).max();
    most_urgent.map_or(Class::Fifo { priority: TIMER_ALONE }, class_of_level)
}

/// Puts the calling thread where it is to run.
fn take((class, core): Place) {
    // What is refused here was refused to the tasks too, and told for them.
    if let Some(core) = core {
        let _ = scheduling::pin(core);
    }
    let _ = scheduling::apply(class);
    clock::sleep_until(clock::now());
}

/// Beside what runs: sleeps until the epoch, unless the mode is given up before.
fn await_turn(turn: Turn, events: &CommittedEvents) {
    if !turn.is_aside {
        return;
    }
    loop {
        let mut words = Words::new();
        words.push(events.watch.bell());
        let until = turn.epoch.min(events.watch.stop_at());
        if clock::now() >= until {
            return;
        }
        words.sleep(std::iter::empty(), until);
    }
}

/// Leaves its work to whoever goes on with it; of a mode's core it takes nothing from there on.
fn depart(thread: usize, events: &CommittedEvents) {
    events.departures.leave(thread);
    if events.watch.gives_way() {
        let _ = scheduling::apply(Class::Other);
    }
}
