//! The control thread of a member: passes the agent's messages on, and acts at once on those that cannot wait.

use crate::mailbox::{Receiver, mailbox};
use crate::watch::Watch;
use leveret_memory::sync::{AtomicBool, Ordering};
use leveret_os::control::{Connection, Frame, poll};
use leveret_os::process::PidFd;
use leveret_os::scheduling::{self, Class};
use leveret_os::streams::OwnOutput;
use leveret_os::thread::Thread;
use leveret_os::{Failure, clock, nudge};
use leveret_protocol::control::{EndReason, Scheduling, ToMember, decode_to_member};
use leveret_protocol::mode::ModeAnswer;
use leveret_types::Generation;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A message from the agent with its descriptors, or the end of the connection.
pub(crate) type Incoming = Result<(ToMember, Vec<OwnedFd>), String>;

/// Above the agent and the bare-clock probe, below every task: deaths and stops are told even on a busy machine.
const PRIORITY: u8 = 6;
/// So many messages may wait, usually: an agent says little before it is answered.
const INCOMING: usize = 16;
/// How long after the stop instant, and how often from then on, tasks that still sleep are woken.
const NUDGE_EVERY: Duration = Duration::from_millis(20);

/// The commit that runs now.
#[derive(Clone)]
pub(crate) struct Current {
    pub(crate) watch: Arc<Watch>,
    /// Kernel thread ids of the tasks.
    pub(crate) threads: Vec<u32>,
    /// The mode that is committed beside it.
    pub(crate) next: Option<Next>,
}

/// A mode that waits for its switch.
#[derive(Clone)]
pub(crate) struct Next {
    pub(crate) generation: Generation,
    pub(crate) watch: Arc<Watch>,
    /// Kernel thread ids of its tasks.
    pub(crate) threads: Vec<u32>,
}

impl Current {
    fn watches(&self) -> impl Iterator<Item = &Arc<Watch>> {
        std::iter::once(&self.watch).chain(self.next.iter().map(|next| &next.watch))
    }
}

/// What the control thread and the member share.
pub(crate) type Shared = Arc<Mutex<Option<Current>>>;

/// What the control thread and the member tell each other.
#[derive(Clone, Default)]
pub(crate) struct Notices {
    /// No further commit is possible.
    pub(crate) over: Arc<AtomicBool>,
    /// The member has said that it leaves, so that the agent ends the connection and lives on.
    pub(crate) left: Arc<AtomicBool>,
}

/// Starts the control thread.
pub(crate) fn listen(
    connection: Arc<Connection>,
    current: Shared,
    Notices { over, left }: Notices,
    (scheduling, output): (Scheduling, OwnOutput),
) -> Result<Receiver<Incoming>, Failure> {
    let (out, incoming) = mailbox(INCOMING);
    let agent = if output.is_empty() { None } else { agent_of(&connection) };
    Thread::start("leveret-control", move || {
        if scheduling != Scheduling::Plain {
            // Where tasks may not have real-time scheduling this thread may not either; that is told once, for them.
            let _ = scheduling::apply(Class::Fifo { priority: PRIORITY });
        }
        // What was ordered to stop. Another message does not end that.
        let mut stopping: Option<Arc<Watch>> = None;
        loop {
            stopping = stopping.filter(|watch| wake_sleepers(&connection, &current, watch));
            let message = connection.receive().map_err(|error| error.to_string()).and_then(decoded);
            if let Some(current) = &*lock(&current) {
                match &message {
                    Ok((ToMember::StopAt { instant, reason, .. }, _)) => {
                        for watch in current.watches() {
                            if *reason != EndReason::Completed {
                                watch.ends_for(reason.to_string());
                            }
                            watch.stop_no_later_than(*instant);
                        }
                        stopping = Some(current.watch.clone());
                    }
                    Ok((ToMember::Mode(ModeAnswer::SwitchAt { generation, instant }), _))
                        if current.next.as_ref().is_some_and(|next| next.generation == *generation) =>
                    {
                        current.watch.give_way();
                        current.watch.stop_no_later_than(*instant);
                        stopping = Some(current.watch.clone());
                    }
                    Ok((ToMember::PeerDied { member, .. }, _)) => {
                        current.watches().for_each(|watch| watch.mark_dead(*member));
                    }
                    // Without the agent nobody watches, plans or stops: end at the next period.
                    Err(_) => current.watches().for_each(|watch| watch.stop_no_later_than(clock::now())),
                    Ok(_) => {}
                }
            }
            let ended = message.is_err();
            if ended || matches!(&message, Ok((ToMember::Refused { may_retry: false, .. }, _))) {
                over.store(true, Ordering::Release);
            }
            if out.send(message).is_err() || ended {
                // The process may go on printing.
                if ended && !left.load(Ordering::Acquire) && agent.is_some_and(|agent| ends(&agent)) {
                    let _ = scheduling::apply(Class::Other);
                    output.discard();
                } else {
                    output.keep_open();
                }
                return;
            }
        }
    })?;
    Ok(incoming)
}

/// The agent's process, where this one can see it: not in a process namespace of its own.
fn agent_of(connection: &Connection) -> Option<PidFd> {
    let agent = connection.peer_credentials().ok()?.pid;
    PidFd::open(agent).ok()
}

/// Whether the agent has closed the connection because it ends. One that lives goes on reading what is printed.
fn ends(agent: &PidFd) -> bool {
    poll(&[agent.as_fd()], Some(AGENT_ENDS_WITHIN)).is_ok_and(|ready| ready[0].any())
}

/// From the end of its connections to the end of its process; the kernel frees its memory between the two.
const AGENT_ENDS_WITHIN: Duration = Duration::from_secs(10);

/// Until the next message: wakes tasks whose planned start lies beyond the stop instant, once that has passed. One
/// that is just going to sleep misses the first signal, so there are more; one that has ended needs none. Says whether what was to stop
/// is still there.
fn wake_sleepers(connection: &Connection, current: &Shared, stopping: &Arc<Watch>) -> bool {
    // Not held while this thread sleeps: who switches or ends needs it.
    let look = || lock(current).clone().filter(|current| Arc::ptr_eq(&current.watch, stopping));
    while let Some(Current { watch, threads, next }) = look() {
        match poll(&[connection.as_fd()], Some(NUDGE_EVERY)) {
            Ok(ready) if !ready[0].any() => {}
            Ok(_) | Err(_) => return true,
        }
        let now = clock::now();
        if now >= watch.stop_at() {
            threads.iter().copied().for_each(nudge::nudge);
        }
        if let Some(next) = next.filter(|next| now >= next.watch.stop_at()) {
            next.threads.iter().copied().for_each(nudge::nudge);
        }
    }
    false
}

pub(crate) fn lock(current: &Shared) -> std::sync::MutexGuard<'_, Option<Current>> {
    current.lock().unwrap_or_else(PoisonError::into_inner)
}

fn decoded(frame: Frame) -> Incoming {
    let message = decode_to_member(&frame.bytes).map_err(|error| error.to_string())?;
    Ok((message, frame.fds))
}
