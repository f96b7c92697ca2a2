//! Descriptors that become readable when there may be something to take: for programs that wait by `poll` or `epoll`. A thread of the
//! library for each sleeps as a wait does, and writes; nothing else pays for it.

use super::committed::Committed;
use super::error::Code;
use super::events::{ReceptorState, Words};
use super::handle::Handle;
use super::library::Library;
use leveret_memory::sync::{AtomicU32, Ordering};
use leveret_os::clock;
use leveret_os::futex::{self, Awaited};
use leveret_os::notification::Notification;
use leveret_os::thread::Thread;
use leveret_types::Nanos;
use std::os::fd::RawFd;
use std::ptr::NonNull;
use std::sync::Arc;

/// Why a channel has none, and what to do instead.
const UNSERVED: &str = "no thread of the library moves it. Of a time-driven channel let a trigger of the kind completion fire an event, and take \
                        the descriptor of its receptor; a best-effort one is moved by the program's own calls, in whose way a thread that \
                        watched it would be: give it a priority, or wait with MPIRT_Channel_wait or MPIRTX_Container_wait_any in a thread of \
                        the program's";

/// What a descriptor is of.
pub(super) enum Watched {
    /// A receptor without handlers.
    Receptor(Arc<ReceptorState>),
    /// A channel that a thread of the library serves, by its place in the list.
    Channel(Arc<Committed>, usize),
}

/// What the thread and its owner share.
struct Shared {
    notification: Notification,
    /// Not 0: the thread is to end.
    ending: AtomicU32,
}

/// One descriptor with its thread, for as long as its object is committed.
pub(super) struct Descriptor {
    object: Handle,
    shared: Arc<Shared>,
    thread: Option<Thread<()>>,
}

impl Descriptor {
    fn start(object: Handle, watched: Watched) -> Result<Self, Code> {
        let notification = Notification::create().map_err(|_| Code::Limit)?;
        let shared = Arc::new(Shared { notification, ending: AtomicU32::new(0) });
        let own = shared.clone();
        let thread = Thread::start("leveret-notify", move || while own.turn(&watched).is_some() {});
        let thread = thread.map_err(|_| Code::NoMemory)?;
        Ok(Self { object, shared, thread: Some(thread) })
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        self.shared.ending.store(1, Ordering::SeqCst);
        // It can fail only for an address that is not mapped, and this one is.
        let _ = futex::wake(&self.shared.ending, u32::MAX);
        if let Some(thread) = self.thread.take() {
            // It calls nothing of the program's, so there is nothing that it could have left.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Looks, says so if there is something, and sleeps until there may be more; `None` at the end of what is committed.
    fn turn(&self, watched: &Watched) -> Option<()> {
        let mut words = Words::new();
        words.push(Awaited::new(NonNull::from(&self.ending).cast(), self.ending.load(Ordering::SeqCst)));
        let (has_news, until) = match watched {
            Watched::Receptor(state) => state.look_for_descriptor(&mut words),
            Watched::Channel(committed, place) => committed.look_for_descriptor(*place, &mut words),
        };
        let is_over = clock::now() >= until || self.ending.load(Ordering::SeqCst) != 0;
        if has_news || is_over {
            // A wait returns at once now, with a message, a firing or an error.
            self.notification.raise();
        }
        if is_over {
            return None;
        }
        match watched {
            Watched::Receptor(state) => words.sleep(state.listeners(), until),
            Watched::Channel(committed, place) => committed.sleep_for_descriptor(*place, &words, until),
        }
        Some(())
    }
}

/// Whether there is something to take, and until when to sleep.
pub(super) type Looked = (bool, Nanos);

impl Library {
    /// A descriptor that becomes readable when a test of a receptor may take a firing, or when a wait for one would end with an error.
    /// Who waits reads its eight bytes, and then tests until there is nothing left. It is the library's, until the uncommit or the switch
    /// of a mode.
    ///
    /// # Errors
    /// [`Code::NotCommitted`], [`Code::UndefForObject`] for a receptor with handlers or a part of another, [`Code::Limit`] where the process
    /// has too many descriptors, [`Code::NoMemory`] where no thread can be had, and those of wrong handles.
    pub fn receptor_descriptor(&mut self, receptor: Handle) -> Result<RawFd, Code> {
        self.descriptor(receptor, |committed| committed.receptor_of_descriptor(receptor))
    }

    /// As [`Library::receptor_descriptor`], of a channel with a priority, or one for events, whose transfers the library's threads make.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] of any other channel; the others as there.
    pub fn channel_descriptor(&mut self, channel: Handle) -> Result<RawFd, Code> {
        let found = self.descriptor(channel, |committed| committed.served_of_descriptor(channel));
        found.map_err(|code| match code {
            Code::UndefForObject => {
                let channel = self.world.called("channel", channel);
                let why = format!("the {channel} has no descriptor: {}", UNSERVED);
                self.world.wrong(code, why)
            }
            code => code,
        })
    }

    fn descriptor(
        &mut self,
        object: Handle,
        find: impl FnOnce(&Arc<Committed>) -> Result<Watched, Code>,
    ) -> Result<RawFd, Code> {
        let committed = self.committed().ok_or(Code::NotCommitted)?;
        let watched = find(committed).map_err(|code| self.world.code_beside(code, object))?;
        let known = self.descriptors.iter().find(|descriptor| descriptor.object == object);
        if let Some(known) = known {
            return Ok(known.shared.notification.number());
        }
        let made = Descriptor::start(object, watched)?;
        let number = made.shared.notification.number();
        self.descriptors.push(made);
        Ok(number)
    }
}
