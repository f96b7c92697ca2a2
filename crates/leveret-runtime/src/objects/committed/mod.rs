//! Objects as the data path uses them, from commit to uncommit: buffers move between the program and iterators, and
//! transfers between iterators and the channel. Nothing here allocates, waits for another thread or makes a system call,
//! but for [`Committed::wait`].
//!
//! ```text
//!   program --insert--> [ input iterator ] --taken by a transfer--> ( channel ) --> [ output iterator ] --remove--> program
//! ```
//!
//! A buffer is in one place at a time; a word beside it says in which.
//!
//! | part | file |
//! |---|---|
//! | buffers and iterators: insert, remove, lengths, labels | `buffers.rs` |
//! | buffers that belong to those of the other end, one by one | `mapped.rs` |
//! | the memory that commit makes for buffers | `memory.rs` |
//! | what is in a buffer | `bytes.rs` |
//! | one transfer: a buffer taken, sent or filled, handed on; where every outcome passes | `transfer.rs` |
//! | outcomes, and what is counted of them | `outcome.rs` |
//! | ends that the program starts, activates, waits for and tests | `ends.rs`, `timed.rs` |
//! | what whoever calls moves at a best-effort end, and how it waits | `best_effort.rs`, `wait.rs` |
//! | one operation on all channels of a container | `containers.rs` |
//! | ends that the library's threads move at a priority | `served.rs` |
//! | channels of a whole group | `collective/` |
//! | what a task does for its time-driven ends, and what its function may wait for | `service.rs`, `within.rs` |

mod best_effort;
mod buffers;
mod bytes;
mod collective;
mod containers;
mod ends;
mod loans;
mod mapped;
mod memory;
mod outcome;
mod served;
mod service;
#[cfg(all(test, debug_assertions))]
mod steps_tests;
#[cfg(all(test, debug_assertions))]
mod threads_tests;
mod timed;
mod transfer;
mod wait;
mod within;

pub(super) use collective::{
    Called, Collective, CollectiveSteps, FreeCollective, Ranked, Receive, Seat, Send,
};
pub(super) use ends::End;
pub use ends::{ChannelMetrics, ChannelStatus, EndState};
pub(super) use mapped::ChannelMapping;
pub use outcome::Outcome;
pub(super) use outcome::Tally;

pub(super) use served::{Served, ServedEnd};
pub(super) use service::Service;
pub(super) use timed::TimedEnd;
pub(super) use within::within;

use super::error::Code;
use super::events::CommittedEvents;
use super::handle::Handle;
use super::keep::Kept;
use super::object::{BufiterPolicy, Dataspec};
use super::storage::Storage;
use super::world::World;
use crate::port::{InputPort, OutputPort};
use crate::runner::TaskEstate;
use crate::succession::Line;
use crate::task_tally::{TaskMetrics, TaskTally};
use crate::watch::{Watch, Watched};
use leveret_memory::iterator::IteratorStore;
use leveret_memory::sync::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize};
use leveret_types::Nanos;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock};

/// Stands for an object that exists and is not committed, beside the null handle.
pub(super) const ELSEWHERE: u32 = u32::MAX;
/// No message was received.
pub(super) const NEVER: u64 = u64::MAX;
/// The program has the buffer.
pub(super) const WITH_PROGRAM: u32 = 0;
/// A transfer has the buffer.
const IN_TRANSFER: u32 = u32::MAX;

pub(super) struct CommittedBuffer {
    pub(super) handle: Handle,
    pub(super) size: usize,
    pub(super) dataspec: Dataspec,
    pub(super) storage: Arc<dyn Storage>,
    /// Bytes of the message in it.
    pub(super) length: AtomicUsize,
    /// Whether the program has set the length since it took the buffer.
    pub(super) has_length: AtomicBool,
    /// Which message of its channel was received into it; [`NEVER`]: none.
    pub(super) instance: AtomicU64,
    /// When that was inserted at the sender.
    pub(super) inserted: AtomicI64,
    /// Whether its bytes are another member's, only to be read.
    pub(super) is_borrowed: AtomicBool,
    pub(super) label: AtomicI64,
    /// [`WITH_PROGRAM`], [`IN_TRANSFER`], or an iterator's index plus one.
    pub(super) place: AtomicU32,
}

pub(super) struct CommittedIterator {
    pub(super) handle: Handle,
    /// From what ran before a mode.
    pub(super) is_kept: bool,
    pub(super) policy: BufiterPolicy,
    pub(super) state: Arc<IteratorState>,
    /// Which place of the allowed set a buffer has; `u32::MAX`: none.
    pub(super) places: Vec<u32>,
    /// Which buffer has a place of the allowed set.
    pub(super) buffers: Vec<u32>,
    /// Without an allowed set: the size and type that a buffer must have.
    pub(super) any: Option<(usize, Dataspec)>,
    /// Channels that take from here or insert here.
    pub(super) channels: Vec<u32>,
}

/// What of an iterator goes on in a mode that keeps it.
#[derive(Default)]
pub(super) struct IteratorState {
    /// Made when it is known how its buffers leave.
    pub(super) store: OnceLock<IteratorStore>,
    /// ORDERED: which place the program inserts next.
    pub(super) due: AtomicU32,
}

pub(super) struct CommittedChannel {
    pub(super) handle: Handle,
    /// From what ran before a mode.
    pub(super) is_kept: bool,
    /// Its iterators; of a collective channel those of its first pair, or `u32::MAX` where it has none.
    pub(super) input: u32,
    pub(super) output: u32,
    /// Whether this member sends on it.
    pub(super) is_source: bool,
    /// What is asked of an end that a thread of the library serves at a priority; that thread alone uses the end.
    pub(super) served: Option<Arc<ServedEnd>>,
    /// Which thread does, by its place among those of the dispatch.
    pub(super) serving: AtomicUsize,
    /// Of a mode that keeps the channel: what is declared for the end there, until its thread takes the end over.
    pub(super) fresh: Mutex<Option<End>>,
    /// The task that serves a time-driven end; none: one of the library's own does.
    pub(super) served_by: Option<Handle>,
    /// How many started transfers may be under way.
    pub(super) slack: u32,
    /// A wait here never sleeps, where no instant says until when.
    pub(super) polls: bool,
    /// Channels whose transfers put buffers where this one takes them, and those before them, the farthest first.
    pub(super) feeders: Box<[u32]>,
    /// Channels that take buffers where this one's transfers put them, and those behind them, the nearest first.
    pub(super) followers: Box<[u32]>,
    /// Of a channel of a whole group.
    pub(super) collective: Option<Box<Collective>>,
    /// Who serves its ends by the clock.
    pub(super) input_line: Line<InputPort>,
    pub(super) output_line: Line<OutputPort>,
    pub(super) state: Arc<ChannelState>,
}

/// What of a channel goes on in a mode that keeps it.
pub(super) struct ChannelState {
    /// How its buffers belong to those of the other end, if they do.
    pub(super) mapping: OnceLock<ChannelMapping>,
    /// One user at a time; only ever tried, so it holds up nobody.
    pub(super) end: Mutex<End>,
    /// What tells the end of deaths and of the end of the commit, for who changes the mode, who must not wait until the end is free.
    pub(super) watched: Mutex<Option<Watched>>,
    /// Whether a transfer waits for a buffer or a message: whoever inserts or removes looks after it.
    pub(super) pending: AtomicBool,
    /// Another thread had something for the end while it was in use: whoever uses it looks again when it leaves.
    again: AtomicBool,
    /// Successes that a test of several channels took here and put back, since another was not complete; whoever looks next has them.
    returned: AtomicU64,
    /// For who asks while the end is in use: its state (2 bits) and how many transfers were under way, when it was left last.
    noted: AtomicU64,
    /// Threads that wait here and sleep, or are about to; what they sleep on, beside the words of other members.
    pub(super) sleepers: AtomicU32,
    stirred: AtomicU32,
    /// Messages that were sent and, as far as this member has looked, not taken.
    outstanding: AtomicU64,
    /// Messages whose bytes were copied at this end.
    pub(super) copies: AtomicU64,
    pub(super) tally: Tally,
}

impl Default for ChannelState {
    fn default() -> Self {
        Self {
            mapping: OnceLock::new(),
            end: Mutex::new(End::None),
            watched: Mutex::new(None),
            pending: AtomicBool::new(false),
            again: AtomicBool::new(false),
            returned: AtomicU64::new(0),
            noted: AtomicU64::new(0),
            sleepers: AtomicU32::new(0),
            stirred: AtomicU32::new(0),
            outstanding: AtomicU64::new(0),
            copies: AtomicU64::new(0),
            tally: Tally::default(),
        }
    }
}

impl Deref for CommittedChannel {
    type Target = ChannelState;

    #[inline(always)]
    fn deref(&self) -> &ChannelState {
        &self.state
    }
}

impl CommittedChannel {
    /// Whether a transfer at this end takes a buffer from this iterator, by its place in the list.
    fn takes_from(&self, iterator: usize) -> bool {
        let receives = self.collective.as_deref().and_then(|collective| collective.receives);
        self.input as usize == iterator || receives.is_some_and(|[input, _]| input as usize == iterator)
    }
}

/// What the operations on a container reach.
pub(super) struct CommittedContainer {
    pub(super) handle: Handle,
    /// By their places in the list of channels; or why no operation reaches them.
    pub(super) channels: Result<Vec<u32>, Code>,
    /// Behind the one of them that was found complete last.
    pub(super) next: AtomicU32,
}

/// A task of the program's.
pub(super) struct CommittedTask {
    pub(super) handle: Handle,
    /// From what ran before a mode.
    pub(super) is_kept: bool,
    /// What its thread counts.
    pub(super) tally: Arc<TaskTally>,
    /// The instance that comes after the last that has run.
    pub(super) next: Arc<AtomicU64>,
    pub(super) line: Line<TaskEstate>,
}

impl CommittedTask {
    /// One that goes on, or that begins.
    pub(super) fn new(handle: Handle, kept: Option<&Self>) -> Self {
        match kept {
            Some(before) => Self {
                handle,
                is_kept: true,
                tally: before.tally.clone(),
                next: before.next.clone(),
                line: before.line.next(),
            },
            None => Self {
                handle,
                is_kept: false,
                tally: Arc::default(),
                next: Arc::new(AtomicU64::new(0)),
                line: Line::default(),
            },
        }
    }
}

/// Everything that is committed.
pub struct Committed {
    pub(super) buffers: Vec<Arc<CommittedBuffer>>,
    pub(super) iterators: Vec<CommittedIterator>,
    pub(super) channels: Vec<CommittedChannel>,
    pub(super) containers: Vec<CommittedContainer>,
    pub(super) tasks: Vec<CommittedTask>,
    /// As it was committed, for those who must not wait for the one that can be changed.
    pub(super) world: World,
    /// From a handle's place to the handle and its index in one of the lists above.
    pub(super) index: Vec<(Handle, u32)>,
    /// Iterators and the buffers that the program put into them before commit.
    pub(super) stocked: Vec<(u32, u32)>,
    /// The instant of period 0; set once, before the commit returns.
    pub(super) epoch: OnceLock<Nanos>,
    /// Set once, before the commit returns.
    pub(super) events: OnceLock<CommittedEvents>,
    /// The mode that takes over from it.
    pub(super) successor: OnceLock<Arc<Committed>>,
}

impl Committed {
    /// Where a handle's object stands in its list.
    #[inline]
    pub(super) fn find(&self, handle: Handle, class: super::Class) -> Result<usize, Code> {
        let place = handle.place()?;
        match handle.class() {
            Some(found) if found == class => {}
            Some(_) => return Err(Code::WrongClass),
            None => return Err(Code::InvObject),
        }
        match self.index.get(place) {
            Some((known, index)) if *known == handle => Ok(*index as usize),
            Some((known, _)) if !known.is_null() => Err(handle.absence(known.generation())),
            Some((_, ELSEWHERE)) => Err(Code::NotCommitted),
            _ => Err(Code::InvObject),
        }
    }

    fn buffer(&self, handle: Handle) -> Result<usize, Code> {
        self.find(handle, super::Class::Buffer)
    }

    fn iterator(&self, handle: Handle) -> Result<usize, Code> {
        self.find(handle, super::Class::Bufiter)
    }

    fn channel(&self, handle: Handle) -> Result<&CommittedChannel, Code> {
        let class = handle.class().filter(|class| class.is_channel());
        let index = self.find(handle, class.unwrap_or(super::Class::Ptchannel))?;
        Ok(&self.channels[index])
    }

    /// How many messages this member can have under way on a channel: a buffer that was sent is a transfer's until it is taken. A
    /// channel without buffers, a barrier, has as many as its slack.
    pub(super) fn outgoing(&self, channel: &CommittedChannel) -> usize {
        let input = match channel.collective.as_deref() {
            Some(collective) => collective.sends.map(|[input, _]| input),
            None => Some(channel.input),
        };
        let buffers = input.map_or(0, |input| self.iterators[input as usize].buffers.len());
        buffers.max(channel.slack as usize)
    }

    /// The channels that the operations on a container reach.
    fn reached(&self, container: Handle) -> Result<&[u32], Code> {
        self.container(container)?.channels.as_deref().map_err(|code| *code)
    }

    fn container(&self, handle: Handle) -> Result<&CommittedContainer, Code> {
        let class = handle.class().filter(|class| class.is_container());
        let number = self.find(handle, class.unwrap_or(super::Class::Cset))?;
        Ok(&self.containers[number])
    }

    /// What was counted of a task since the commit. Read whole, without a lock, while it runs.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn task_metrics(&self, task: Handle) -> Result<TaskMetrics, Code> {
        let number = self.find(task, super::Class::Task)?;
        Ok(self.event_task_metrics(task).unwrap_or_else(|| self.tasks[number].tally.read()))
    }

    /// A mode takes over: ends that it keeps go on under its watch, and those that it does not end with what runs.
    pub(super) fn hand_over(&self, kept: &Kept, running: &Arc<Watch>, next: &Arc<Self>) {
        // Set once: a set is taken over from once.
        let _ = self.successor.set(next.clone());
        self.events.get().into_iter().for_each(|events| events.hand_over(kept));
        for channel in &self.channels {
            let Ok(watched) = channel.watched.lock() else { continue };
            match &*watched {
                Some(watched) if kept.contains(channel.handle) => watched.keep(),
                Some(watched) => watched.end_with(running),
                None => {}
            }
        }
    }

    /// The instant of period 0 on the job's clock.
    ///
    /// # Errors
    /// [`Code::NotCommitted`] of one that nobody has run.
    pub fn epoch(&self) -> Result<Nanos, Code> {
        self.epoch.get().copied().ok_or(Code::NotCommitted)
    }

    /// The objects as they were committed: their getters answer without a lock. What was made since is not among them.
    pub fn world(&self) -> &World {
        &self.world
    }
}
