//! The library's threads that serve events: one for each priority in use, one for triggers of the kind time and for deaths.

use super::committed::CommittedEvents;
use super::dispatch::{self, Dispatch};
use super::plan::EventPlan;
use super::timer;
use crate::objects::committed::Committed;
use crate::objects::error::Code;
use crate::session::{LibraryThreads, Running, Work};
use crate::thread::class_of_level;
use leveret_memory::sync::Ordering;
use leveret_os::clock;
use leveret_os::scheduling::{self, Class};
use leveret_types::Nanos;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

/// Stack that is touched before the epoch, so that no handler faults on it.
const STACK_PREFAULT_BYTES: usize = 256 * 1024;
/// `SCHED_FIFO` priority of the timer's thread where it fires for nothing that has one: above the agent, below everything that is planned.
const TIMER_ALONE: u8 = 9;

/// The threads of one commit.
#[derive(Default)]
pub(in crate::objects) struct EventThreads {
    threads: Vec<JoinHandle<()>>,
}

impl EventThreads {
    /// Gives the committed objects their events, and starts the threads that serve them; each is set up when this returns.
    ///
    /// # Errors
    /// [`Code::NoMemory`] when a thread cannot be had. Those that were started end with the commit.
    pub(in crate::objects) fn start(
        plan: &mut EventPlan,
        running: &mut Running,
        committed: &Arc<Committed>,
    ) -> Result<Self, (Self, Code)> {
        let (how, ends) = (running.library_threads(), running.take_events());
        let works = running.works().to_vec();
        let unheard = plan.triggers.iter().zip(&ends.triggers).filter(|(_, (end, _))| end.is_unheard());
        let unheard =
            unheard.filter_map(|(trigger, _)| plan.defaults[trigger.kind as usize].clone()).collect();
        let timed = timer::first_instants(plan, running.epoch());
        let real_time =
            (!works.is_empty() || plan.needs_timer()) && LibraryThreads::has_real_time(how.scheduling);
        let dispatch = Dispatch::new(plan, unheard, (&works, real_time));
        let threads: Vec<(Class, Option<u32>)> =
            dispatch.threads.iter().map(|thread| (thread.class(), thread.core().or(how.core))).collect();
        for (channel, thread) in dispatch.served() {
            if let Some(served) = &committed.channels[channel].served {
                served.thread.store(thread, Ordering::Relaxed);
            }
        }
        let events = CommittedEvents::new(plan, ends, running.watch().clone(), dispatch);
        if committed.events.set(events).is_err() {
            return Err((Self::default(), Code::Internal));
        }
        let mut started = Self::default();
        let (ready, reports) = mpsc::channel();
        for (thread, (class, core)) in threads.into_iter().enumerate() {
            let (committed, ready) = (committed.clone(), ready.clone());
            let served = started.spawn("leveret-serve", move || {
                set_up(class, core, &ready);
                if let Some(events) = committed.events.get() {
                    dispatch::serve(thread, events, &committed);
                }
            });
            if let Err(code) = served {
                return Err((started, code));
            }
        }
        let mourns = committed.events.get().is_some_and(|events| !events.mourners().is_empty());
        if mourns || !timed.is_empty() {
            let committed = committed.clone();
            let class = if real_time { timer_class(&works) } else { Class::Other };
            let served = started.spawn("leveret-timer", move || {
                set_up(class, how.core, &ready);
                if let Some(events) = committed.events.get() {
                    timer::serve(timed, events);
                }
            });
            if let Err(code) = served {
                return Err((started, code));
            }
        } else {
            drop(ready);
        }
        reports.iter().take(started.threads.len()).for_each(drop);
        Ok(started)
    }

    fn spawn(&mut self, name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), Code> {
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(body);
        self.threads.push(thread.map_err(|_| Code::NoMemory)?);
        Ok(())
    }

    /// Waits for the threads, which end with the commit.
    pub(in crate::objects) fn join(self) {
        for thread in self.threads {
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

/// Everything that may fault or allocate, before the first handler.
fn set_up(class: Class, core: Option<u32>, ready: &mpsc::Sender<()>) {
    // What is refused here was refused to the tasks too, and told for them.
    let _ = clock::set_timer_slack(Nanos(1));
    scheduling::prefault_stack(STACK_PREFAULT_BYTES);
    if let Some(core) = core {
        let _ = scheduling::pin(core);
    }
    let _ = scheduling::apply(class);
    clock::sleep_until(clock::now());
    let _ = ready.send(());
}
