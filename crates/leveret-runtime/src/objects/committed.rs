//! Objects as the data path uses them, from commit to uncommit: buffers move between the program and iterators, and
//! transfers between iterators and the channel. Nothing here allocates, waits for another thread or makes a system call,
//! but for [`Committed::wait`].
//!
//! ```text
//!   program --insert--> [ input iterator ] --taken by a transfer--> ( channel ) --> [ output iterator ] --remove--> program
//! ```
//!
//! A buffer is in one place at a time; a word beside it says in which.

use super::error::Code;
use super::handle::Handle;
use super::object::Dataspec;
use super::storage::Storage;
use crate::free_end::{ReceivingEnd, SendingEnd, StartError, WaitError};
use leveret_memory::iterator::{InsertError, IteratorStore};
use leveret_memory::sync::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use leveret_os::clock;
use leveret_types::Nanos;
use std::sync::{Arc, Mutex, MutexGuard};

/// The program has the buffer.
pub(super) const WITH_PROGRAM: u32 = 0;
/// A transfer has the buffer.
const IN_TRANSFER: u32 = u32::MAX;
/// How often a wait looks for a buffer that another thread has to insert.
const LOOK_AGAIN: Nanos = Nanos::from_micros(100);

pub(super) struct CommittedBuffer {
    pub(super) handle: Handle,
    pub(super) size: usize,
    pub(super) dataspec: Dataspec,
    pub(super) storage: Arc<dyn Storage>,
    /// Bytes of the message in it.
    pub(super) length: AtomicUsize,
    pub(super) label: AtomicI64,
    /// [`WITH_PROGRAM`], [`IN_TRANSFER`], or an iterator's index plus one.
    pub(super) place: AtomicU32,
}

pub(super) struct CommittedIterator {
    pub(super) handle: Handle,
    pub(super) store: IteratorStore,
    /// Which place of the allowed set a buffer has; `u32::MAX`: none.
    pub(super) places: Vec<u32>,
    /// Which buffer has a place of the allowed set.
    pub(super) buffers: Vec<u32>,
    /// Without an allowed set: the size and type that a buffer must have.
    pub(super) any: Option<(usize, Dataspec)>,
    /// Channels that take from here or insert here.
    pub(super) channels: Vec<u32>,
}

/// How this member's end of a channel is served.
pub(super) enum End {
    /// This member has no end of it, or a task serves it.
    None,
    Source(SourceEnd),
    Target(TargetEnd),
}

pub(super) struct SourceEnd {
    end: SendingEnd,
    /// Started, and no buffer has come yet.
    pending: bool,
    /// Anything was ever started.
    started: bool,
}

pub(super) struct TargetEnd {
    end: ReceivingEnd,
    /// A buffer that was taken for a message that did not come.
    spare: Option<usize>,
    /// Started, and no message has come yet.
    pending: bool,
    /// Anything was ever started.
    started: bool,
}

impl End {
    pub(super) fn source(end: SendingEnd) -> Self {
        Self::Source(SourceEnd { end, pending: false, started: false })
    }

    pub(super) fn target(end: ReceivingEnd) -> Self {
        Self::Target(TargetEnd { end, spare: None, pending: false, started: false })
    }
}

pub(super) struct CommittedChannel {
    pub(super) handle: Handle,
    pub(super) input: u32,
    pub(super) output: u32,
    /// One user at a time; only ever tried, so it holds up nobody.
    pub(super) end: Mutex<End>,
    /// Whether a transfer waits for a buffer or a message: whoever inserts or removes looks after it.
    pub(super) pending: AtomicBool,
    /// Instances not performed since the input iterator had no buffer.
    pub(super) without_buffer: AtomicU64,
    pub(super) performed: AtomicU64,
}

/// Everything that is committed.
pub struct Committed {
    pub(super) buffers: Vec<CommittedBuffer>,
    pub(super) iterators: Vec<CommittedIterator>,
    pub(super) channels: Vec<CommittedChannel>,
    /// From a handle's place to the handle and its index in one of the lists above.
    pub(super) index: Vec<(Handle, u32)>,
}

/// What [`Committed::counts`] tells of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChannelCounts {
    /// Transfers that this end performed.
    pub performed: u64,
    /// Transfers that were not performed since the input iterator had no buffer.
    pub without_buffer: u64,
}

impl Committed {
    /// Where a handle's object stands in its list.
    #[inline]
    fn find(&self, handle: Handle, class: super::Class) -> Result<usize, Code> {
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

    /// Puts a buffer of the program's into an iterator.
    ///
    /// # Errors
    /// [`Code::NotAllowed`], [`Code::BufferInUse`], [`Code::NotAllowed`], and those of wrong handles.
    #[inline]
    pub fn insert(&self, iterator: Handle, buffer: Handle) -> Result<(), Code> {
        let (iterator, buffer) = (self.iterator(iterator)?, self.buffer(buffer)?);
        self.put(iterator, buffer, WITH_PROGRAM)?;
        self.look_after(iterator);
        Ok(())
    }

    /// Goes on with transfers that waited for a buffer or a message.
    #[inline]
    fn look_after(&self, iterator: usize) {
        for channel in &self.iterators[iterator].channels {
            let channel = &self.channels[*channel as usize];
            if channel.pending.load(Ordering::Relaxed)
                && let Ok(mut end) = lock(channel)
            {
                // Whatever happens is told by `test` and `wait`.
                let _ = self.progress(channel, &mut end);
            }
        }
    }

    /// Puts a buffer into an iterator; it stays where it was when that is not possible.
    pub(super) fn put(&self, iterator: usize, buffer: usize, from: u32) -> Result<(), Code> {
        let (target, entry) = (&self.iterators[iterator], &self.buffers[buffer]);
        let place = target.places[buffer];
        if place == u32::MAX {
            return Err(match target.any {
                Some((size, _)) if size != entry.size => Code::Bufsize,
                Some((_, dataspec)) if dataspec != entry.dataspec => Code::Dataspec,
                _ => Code::NotAllowed,
            });
        }
        let claimed =
            entry.place.compare_exchange(from, iterator as u32 + 1, Ordering::Acquire, Ordering::Relaxed);
        if claimed.is_err() {
            return Err(Code::BufferInUse);
        }
        let inserted = target.store.insert(place, entry.label.load(Ordering::Relaxed));
        inserted.map_err(|error| {
            entry.place.store(from, Ordering::Release);
            match error {
                InsertError::OutOfOrder { .. } => Code::NotAllowed,
                InsertError::AlreadyIn { .. } => Code::BufferInUse,
                InsertError::NotAllowed { .. } => Code::Internal,
            }
        })
    }

    /// Takes the next buffer out of an iterator; whoever calls has it.
    fn take(&self, iterator: usize, to: u32) -> Option<usize> {
        let source = &self.iterators[iterator];
        let buffer = source.buffers[source.store.remove()? as usize] as usize;
        self.buffers[buffer].place.store(to, Ordering::Release);
        Some(buffer)
    }

    /// Takes the next buffer out of an iterator, for the program. Receptions that were started go on first.
    ///
    /// # Errors
    /// [`Code::Empty`], and those of wrong handles.
    #[inline]
    pub fn remove(&self, iterator: Handle) -> Result<Handle, Code> {
        let iterator = self.iterator(iterator)?;
        if let Some(buffer) = self.take(iterator, WITH_PROGRAM) {
            return Ok(self.buffers[buffer].handle);
        }
        self.look_after(iterator);
        let buffer = self.take(iterator, WITH_PROGRAM).ok_or(Code::Empty)?;
        Ok(self.buffers[buffer].handle)
    }

    /// The address of a buffer's first byte.
    pub fn address(&self, buffer: Handle) -> Result<usize, Code> {
        Ok(self.buffers[self.buffer(buffer)?].storage.address())
    }

    /// Bytes of the message in a buffer.
    pub fn length(&self, buffer: Handle) -> Result<usize, Code> {
        Ok(self.buffers[self.buffer(buffer)?].length.load(Ordering::Relaxed))
    }

    /// Says how long the message in a buffer of the program's is.
    pub fn set_length(&self, buffer: Handle, length: usize) -> Result<(), Code> {
        let entry = self.held(buffer)?;
        if length > entry.size {
            return Err(Code::Bufsize);
        }
        entry.length.store(length, Ordering::Relaxed);
        Ok(())
    }

    /// Labels a buffer of the program's; SORTED iterators give the lowest label first.
    pub fn set_label(&self, buffer: Handle, label: i64) -> Result<(), Code> {
        self.held(buffer)?.label.store(label, Ordering::Relaxed);
        Ok(())
    }

    /// A buffer's label.
    pub fn label(&self, buffer: Handle) -> Result<i64, Code> {
        Ok(self.buffers[self.buffer(buffer)?].label.load(Ordering::Relaxed))
    }

    fn held(&self, buffer: Handle) -> Result<&CommittedBuffer, Code> {
        let entry = &self.buffers[self.buffer(buffer)?];
        if entry.place.load(Ordering::Relaxed) == WITH_PROGRAM { Ok(entry) } else { Err(Code::BufferInUse) }
    }

    /// Takes a buffer for a transfer; that there is none is counted.
    pub(super) fn take_for(&self, channel: &CommittedChannel) -> Option<usize> {
        let taken = self.take(channel.input as usize, IN_TRANSFER);
        if taken.is_none() {
            channel.without_buffer.fetch_add(1, Ordering::Relaxed);
        }
        taken
    }

    /// Sends what is in a taken buffer by `send`. The buffer goes into the output iterator, sent or not.
    pub(super) fn send_out(
        &self,
        channel: &CommittedChannel,
        buffer: usize,
        mut send: impl FnMut(&[u8]) -> Result<(), Code>,
    ) -> Result<(), Code> {
        let entry = &self.buffers[buffer];
        let length = entry.length.load(Ordering::Relaxed);
        let mut sent = Err(Code::Internal);
        entry.storage.read(&mut |bytes| sent = send(bytes.get(..length).unwrap_or(bytes)));
        self.hand_back(channel, buffer)?;
        if sent.is_ok() {
            channel.performed.fetch_add(1, Ordering::Relaxed);
        }
        sent
    }

    /// Fills a taken buffer by `copy`, which says how long the message is. It is kept
    /// for the next reception when that fails.
    pub(super) fn fill(
        &self,
        channel: &CommittedChannel,
        (buffer, spare): (usize, &mut Option<usize>),
        mut copy: impl FnMut(&mut [u8]) -> Result<usize, Code>,
    ) -> Result<(), Code> {
        let entry = &self.buffers[buffer];
        let mut copied = Err(Code::Internal);
        entry.storage.write(&mut |bytes| copied = copy(bytes));
        match copied {
            Ok(length) => {
                entry.length.store(length, Ordering::Relaxed);
                channel.performed.fetch_add(1, Ordering::Relaxed);
                self.hand_back(channel, buffer)
            }
            Err(code) => {
                *spare = Some(buffer);
                Err(code)
            }
        }
    }

    /// Into the output iterator; a buffer that it does not allow goes back to the program.
    pub(super) fn hand_back(&self, channel: &CommittedChannel, buffer: usize) -> Result<(), Code> {
        let put = self.put(channel.output as usize, buffer, IN_TRANSFER);
        if put.is_err() {
            self.buffers[buffer].place.store(WITH_PROGRAM, Ordering::Release);
        }
        put
    }

    /// Starts one transfer, which goes on by itself: at once, or with the insertion or removal that it waits for.
    ///
    /// # Errors
    /// [`Code::Slack`] when one is under way or another thread is at this end, [`Code::UndefForObject`] when a task
    /// serves the end, and those of wrong handles.
    pub fn start(&self, channel: Handle) -> Result<(), Code> {
        let channel = self.channel(channel)?;
        let mut end = lock(channel)?;
        self.progress(channel, &mut end)?;
        match &mut *end {
            End::None => return Err(Code::UndefForObject),
            End::Source(source) => {
                if source.pending || source.started && !source.end.test().map_err(code_of)? {
                    return Err(Code::Slack);
                }
                (source.pending, source.started) = (true, true);
            }
            End::Target(target) => {
                if target.pending {
                    return Err(Code::Slack);
                }
                (target.pending, target.started) = (true, true);
            }
        }
        self.progress(channel, &mut end)
    }

    /// Performs a transfer that was started, if buffer and message are there.
    fn progress(&self, channel: &CommittedChannel, end: &mut End) -> Result<(), Code> {
        let pending = match end {
            End::None => false,
            End::Source(source) => {
                if source.pending
                    && let Some(buffer) = self.take(channel.input as usize, IN_TRANSFER)
                {
                    source.pending = false;
                    self.send_out(channel, buffer, |bytes| match source.end.start(bytes) {
                        Ok(_) => Ok(()),
                        Err(StartError::Outstanding(_) | StartError::NoBuffer(_)) => Err(Code::Internal),
                        Err(StartError::TooLong { .. }) => Err(Code::Bufsize),
                    })?;
                }
                source.pending
            }
            End::Target(target) => {
                if target.pending && target.end.test() {
                    self.receive(channel, target, Nanos::ZERO)?;
                }
                target.pending
            }
        };
        channel.pending.store(pending, Ordering::Relaxed);
        Ok(())
    }

    /// One reception. A message without a buffer stays with its sender: nothing is buffered that the program did not
    /// provide.
    fn receive(
        &self,
        channel: &CommittedChannel,
        target: &mut TargetEnd,
        timeout: Nanos,
    ) -> Result<(), Code> {
        let TargetEnd { end, spare, pending, .. } = target;
        let taken = spare.take().or_else(|| self.take(channel.input as usize, IN_TRANSFER));
        let Some(buffer) = taken else { return Ok(()) };
        self.fill(channel, (buffer, spare), |bytes| {
            let message = end.wait(timeout).map_err(code_of)?;
            if message.length() > bytes.len() {
                return Err(Code::Bufsize);
            }
            message.copy_to(bytes).map_err(|_| Code::Missed)
        })?;
        *pending = false;
        Ok(())
    }

    /// Whether the last started transfer is complete.
    ///
    /// # Errors
    /// [`Code::NotStarted`], [`Code::PeerLost`], [`Code::UndefForObject`], and those of wrong handles.
    pub fn test(&self, channel: Handle) -> Result<bool, Code> {
        let channel = self.channel(channel)?;
        let mut end = lock(channel)?;
        self.progress(channel, &mut end)?;
        match &*end {
            End::None => Err(Code::UndefForObject),
            End::Source(SourceEnd { started: false, .. }) | End::Target(TargetEnd { started: false, .. }) => {
                Err(Code::NotStarted)
            }
            End::Source(source) => Ok(!source.pending && source.end.test().map_err(code_of)?),
            End::Target(target) => Ok(!target.pending),
        }
    }

    /// Waits until the last started transfer is complete.
    ///
    /// # Errors
    /// As [`Committed::test`], and [`Code::Timeout`], [`Code::Missed`], [`Code::Uncommitted`] when the job stops.
    pub fn wait(&self, channel: Handle, timeout: Nanos) -> Result<(), Code> {
        let channel = self.channel(channel)?;
        let limit = clock::now() + timeout;
        loop {
            let mut end = lock(channel)?;
            self.progress(channel, &mut end)?;
            let left = (limit - clock::now()).max(Nanos::ZERO);
            match &mut *end {
                End::None => return Err(Code::UndefForObject),
                End::Source(SourceEnd { started: false, .. })
                | End::Target(TargetEnd { started: false, .. }) => {
                    return Err(Code::NotStarted);
                }
                End::Source(source) if !source.pending => {
                    return source.end.wait(left).map(|_| ()).map_err(code_of);
                }
                End::Target(target) if !target.pending => return Ok(()),
                End::Target(target) => self.receive(channel, target, left)?,
                End::Source(_) => {}
            }
            match &*end {
                End::Source(source) => source.end.look().map_err(code_of)?,
                End::Target(target) => target.end.look().map_err(code_of)?,
                End::None => {}
            }
            drop(end);
            let now = clock::now();
            if now >= limit {
                return Err(Code::Timeout);
            }
            // Another thread has to insert a buffer; it goes on with the transfer itself.
            clock::sleep_until((now + LOOK_AGAIN).min(limit));
        }
    }

    /// What happened on a channel.
    pub fn counts(&self, channel: Handle) -> Result<ChannelCounts, Code> {
        let channel = self.channel(channel)?;
        Ok(ChannelCounts {
            performed: channel.performed.load(Ordering::Relaxed),
            without_buffer: channel.without_buffer.load(Ordering::Relaxed),
        })
    }
}

fn lock(channel: &CommittedChannel) -> Result<MutexGuard<'_, End>, Code> {
    channel.end.try_lock().map_err(|_| Code::Slack)
}

fn code_of(error: WaitError) -> Code {
    match error {
        WaitError::TimedOut => Code::Timeout,
        WaitError::PeerDead => Code::PeerLost,
        WaitError::Stopping => Code::Uncommitted,
        WaitError::NothingStarted => Code::NotStarted,
        WaitError::NotPerformed(_) => Code::Missed,
    }
}
