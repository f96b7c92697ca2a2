//! The library's threads that serve events: one for each band of handlers, one for triggers of the kind time.

use super::committed::CommittedEvents;
use super::dispatch::{self, Dispatch, class_of};
use super::plan::EventPlan;
use super::timer;
use crate::objects::committed::Committed;
use crate::objects::error::Code;
use crate::session::{LibraryThreads, Running};
use leveret_os::clock;
use leveret_os::scheduling::{self, Class};
use leveret_protocol::control::Scheduling;
use leveret_types::Nanos;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

/// Stack that is touched before the epoch, so that no handler faults on it.
const STACK_PREFAULT_BYTES: usize = 256 * 1024;
/// The timer's thread fires for handlers of every band.
const TIMER_BAND: usize = dispatch::BANDS - 1;

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
        plan: &EventPlan,
        running: &mut Running,
        committed: &Arc<Committed>,
    ) -> Result<Self, (Self, Code)> {
        let (how, ends) = (running.library_threads(), running.take_events());
        let unheard = plan.triggers.iter().zip(&ends.triggers).filter(|(_, (end, _))| end.is_unheard());
        let unheard =
            unheard.filter_map(|(trigger, _)| plan.defaults[trigger.kind as usize].clone()).collect();
        let timed = timer::first_instants(plan, running.epoch());
        let handles = plan.receptors.iter().any(|receptor| !receptor.handlers.is_empty())
            || plan.defaults.iter().any(Option::is_some);
        let real_time = (handles || !timed.is_empty()) && has_real_time(how);
        let dispatch = Dispatch::new(plan, unheard, real_time);
        let bands = dispatch.bands();
        let events = CommittedEvents::new(plan, ends, running.watch().clone(), dispatch);
        if committed.events.set(events).is_err() {
            return Err((Self::default(), Code::Internal));
        }
        let mut started = Self::default();
        let (ready, reports) = mpsc::channel();
        for band in bands {
            let (committed, ready) = (committed.clone(), ready.clone());
            let served = started.spawn("leveret-handler", move || {
                set_up(class_of(band), how.core, &ready);
                if let Some(events) = committed.events.get() {
                    dispatch::serve(band, events, &committed);
                }
            });
            if let Err(code) = served {
                return Err((started, code));
            }
        }
        if !timed.is_empty() {
            let committed = committed.clone();
            let class = if real_time { class_of(TIMER_BAND) } else { Class::Other };
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

/// Whether a thread of ours may have a real-time class; tried on one of its own.
fn has_real_time(how: LibraryThreads) -> bool {
    how.scheduling != Scheduling::Plain
        && std::thread::spawn(|| scheduling::apply(class_of(1)).is_ok()).join().unwrap_or(false)
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
