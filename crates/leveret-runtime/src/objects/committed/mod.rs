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
//! | what is in a buffer | `bytes.rs` |
//! | one transfer: a buffer taken, sent or filled, handed on | `transfer.rs` |
//! | ends that the program starts, waits for and tests | `ends.rs` |

mod buffers;
mod bytes;
mod ends;
mod mapped;
mod transfer;

pub(super) use ends::End;
pub(super) use mapped::ChannelMapping;
pub(super) use transfer::Arrived;

use super::error::Code;
use super::events::CommittedEvents;
use super::handle::Handle;
use super::object::{BufiterPolicy, Dataspec};
use super::storage::Storage;
use leveret_memory::iterator::IteratorStore;
use leveret_memory::sync::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

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
    pub(super) policy: BufiterPolicy,
    /// Made when it is known how its buffers leave.
    pub(super) store: OnceLock<IteratorStore>,
    /// ORDERED: which place the program inserts next.
    pub(super) due: AtomicU32,
    /// Which place of the allowed set a buffer has; `u32::MAX`: none.
    pub(super) places: Vec<u32>,
    /// Which buffer has a place of the allowed set.
    pub(super) buffers: Vec<u32>,
    /// Without an allowed set: the size and type that a buffer must have.
    pub(super) any: Option<(usize, Dataspec)>,
    /// Channels that take from here or insert here.
    pub(super) channels: Vec<u32>,
}

pub(super) struct CommittedChannel {
    pub(super) handle: Handle,
    pub(super) input: u32,
    pub(super) output: u32,
    /// Whether this member sends on it.
    pub(super) is_source: bool,
    /// How its buffers belong to those of the other end, if they do.
    pub(super) mapping: OnceLock<ChannelMapping>,
    /// One user at a time; only ever tried, so it holds up nobody.
    pub(super) end: Mutex<End>,
    /// Whether a transfer waits for a buffer or a message: whoever inserts or removes looks after it.
    pub(super) pending: AtomicBool,
    /// Instances not performed since the input iterator had no buffer.
    pub(super) without_buffer: AtomicU64,
    pub(super) performed: AtomicU64,
    /// Messages whose bytes were copied at this end.
    pub(super) copies: AtomicU64,
}

/// Everything that is committed.
pub struct Committed {
    pub(super) buffers: Vec<CommittedBuffer>,
    pub(super) iterators: Vec<CommittedIterator>,
    pub(super) channels: Vec<CommittedChannel>,
    /// From a handle's place to the handle and its index in one of the lists above.
    pub(super) index: Vec<(Handle, u32)>,
    /// Iterators and the buffers that the program put into them before commit.
    pub(super) stocked: Vec<(u32, u32)>,
    /// Set once, before the commit returns.
    pub(super) events: OnceLock<CommittedEvents>,
}

/// What [`Committed::counts`] tells of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChannelCounts {
    /// Transfers that this end performed.
    pub performed: u64,
    /// Transfers that were not performed since the input iterator had no buffer.
    pub without_buffer: u64,
    /// Transfers whose bytes were copied at this end: all of them, or none where the buffers of both ends are one.
    pub copies: u64,
    /// Those of them that late binding costs: without an allowed set no buffer can be the other end's.
    pub late_binding_copies: u64,
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
        let index = self.find(handle, super::Class::Ptchannel)?;
        Ok(&self.channels[index])
    }

    /// What happened on a channel.
    pub fn counts(&self, channel: Handle) -> Result<ChannelCounts, Code> {
        let channel = self.channel(channel)?;
        let copies = channel.copies.load(Ordering::Relaxed);
        let is_late = self.iterators[channel.input as usize].any.is_some();
        Ok(ChannelCounts {
            copies,
            late_binding_copies: if is_late { copies } else { 0 },
            performed: channel.performed.load(Ordering::Relaxed),
            without_buffer: channel.without_buffer.load(Ordering::Relaxed),
        })
    }
}
