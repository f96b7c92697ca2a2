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
use crate::mailbox::{Sender, mailbox};
use crate::member::CommitError;
use crate::objects::committed::Committed;
use crate::session::{LibraryThreads, Prospect, Work};
use crate::thread::class_of_level;
use crate::watch::Watch;
use leveret_memory::sync::Ordering;
use leveret_os::clock;
use leveret_os::scheduling::{self, Class};
use leveret_os::thread::Thread;
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
}

/// The epoch; what is dropped when the thread is on its core and in its class.
struct Armed {
    epoch: Nanos,
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
    ) -> Result<Self, CommitError> {
        let Prospect { events: ends, watch, library_threads: how, works, .. } = prospect;
        let unheard = plan.triggers.iter().zip(&ends.triggers).filter(|(_, (end, _))| end.is_unheard());
        let unheard =
            unheard.filter_map(|(trigger, _)| plan.defaults[trigger.kind as usize].clone()).collect();
        let timed = timer::first_instants(plan);
        let wants_real_time = !works.is_empty() || plan.needs_timer();
        let real_time = wants_real_time && LibraryThreads::has_real_time(how.scheduling)?;
        let dispatch = Dispatch::new(plan, unheard, (&works, real_time));
        let places: Vec<Place> =
            dispatch.threads.iter().map(|thread| (thread.class(), thread.core().or(how.core))).collect();
        for (channel, thread) in dispatch.served() {
            if let Some(served) = &committed.channels[channel].served {
                served.thread.store(thread, Ordering::Relaxed);
            }
        }
        let of_program = watch.clone();
        let events = CommittedEvents::new(plan, ends, watch, dispatch);
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
        let (ready, reports) = mailbox(places.len() + 1);
        for (thread, place) in places.into_iter().enumerate() {
            let committed = committed.clone();
            let notice = watch.clone().notice();
            self.start_one("leveret-serve", place, &ready, move |_| {
                let _posted = notice.post();
                if let Some(events) = committed.events.get() {
                    dispatch::serve(thread, events, &committed);
                }
            })?;
        }
        if let Some((place, timed)) = timer {
            let committed = committed.clone();
            self.start_one("leveret-timer", place, &ready, move |epoch| {
                if let Some(events) = committed.events.get() {
                    timer::serve(timed, epoch, events);
                }
            })?;
        }
        drop(ready);
        reports.all().for_each(drop);
        Ok(())
    }

    fn start_one(
        &mut self,
        name: &str,
        place: Place,
        ready: &Sender<()>,
        serve: impl FnOnce(Nanos) + Send + 'static,
    ) -> Result<(), CommitError> {
        let (arm, armed) = mailbox(1);
        let ready = ready.clone();
        let started = Thread::start(name, move || {
            // What is refused here was refused to the tasks too, and told for them.
            let _ = clock::set_timer_slack(Nanos(1));
            scheduling::prefault_stack(STACK_PREFAULT_BYTES);
            let _ = ready.send(());
            drop(ready);
            let Some(Armed { epoch, _until_set }) = armed.receive() else { return };
            take(place);
            drop(_until_set);
            serve(epoch);
        });
        let thread = started.map_err(|failure| CommitError::System {
            what: "a thread for handlers, channels or triggers of the kind time",
            cause: failure.to_string(),
        })?;
        self.threads.push(EventThread { arm, thread });
        Ok(())
    }

    /// Gives the epoch; each thread is on its core and in its class when this returns.
    pub(in crate::objects) fn arm(&self, epoch: Nanos) {
        let (until_set, all_set) = mailbox(0);
        for thread in &self.threads {
            // One that is gone is noticed when it is joined.
            let _ = thread.arm.send(Armed { epoch, _until_set: until_set.clone() });
        }
        drop(until_set);
        all_set.all().for_each(drop);
    }

    /// Waits for the threads, which end with the commit; those that were not armed end now.
    pub(in crate::objects) fn join(self) {
        for EventThread { arm, thread } in self.threads {
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
