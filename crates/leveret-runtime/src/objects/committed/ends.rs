//! Ends of channels that no task serves: the program starts their transfers, waits for them and tests them.

use super::transfer::Arrived;
use super::{Committed, CommittedChannel, IN_TRANSFER};
use crate::free_end::{ReceivingEnd, SendingEnd, StartError, WaitError};
use crate::objects::error::Code;
use crate::objects::handle::Handle;
use leveret_memory::sync::Ordering;
use leveret_os::clock;
use leveret_types::Nanos;
use std::sync::MutexGuard;

/// How often a wait looks for a buffer that another thread has to insert.
const LOOK_AGAIN: Nanos = Nanos::from_micros(100);

/// How this member's end of a channel is served.
pub(in crate::objects) enum End {
    /// This member has no end of it, or a task serves it.
    None,
    Source(SourceEnd),
    Target(TargetEnd),
}

pub(in crate::objects) struct SourceEnd {
    end: SendingEnd,
    /// Started, and no buffer has come yet.
    pending: bool,
    /// Anything was ever started.
    started: bool,
}

pub(in crate::objects) struct TargetEnd {
    end: ReceivingEnd,
    /// A buffer that was taken for a message that did not come.
    spare: Option<usize>,
    /// Started, and no message has come yet.
    pending: bool,
    /// Anything was ever started.
    started: bool,
}

impl End {
    pub(in crate::objects) fn source(end: SendingEnd) -> Self {
        Self::Source(SourceEnd { end, pending: false, started: false })
    }

    pub(in crate::objects) fn target(end: ReceivingEnd) -> Self {
        Self::Target(TargetEnd { end, spare: None, pending: false, started: false })
    }
}

impl Committed {
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
    pub(super) fn progress(&self, channel: &CommittedChannel, end: &mut End) -> Result<(), Code> {
        self.take_back_loans(channel);
        let pending = match end {
            End::None => false,
            End::Source(source) => {
                if source.pending
                    && let Some(buffer) = self.take(channel.input as usize, IN_TRANSFER)
                {
                    source.pending = false;
                    self.send_out(channel, buffer, |outgoing| match source.end.start_outgoing(outgoing) {
                        Ok(instance) => Ok(instance.0),
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
        if channel.is_mapped() {
            target.pending = !self.receive_named(channel, &mut target.end, timeout)?;
            return Ok(());
        }
        let TargetEnd { end, spare, pending, .. } = target;
        let taken = spare.take().or_else(|| self.take(channel.input as usize, IN_TRANSFER));
        let Some(buffer) = taken else { return Ok(()) };
        self.fill(channel, (buffer, spare), |bytes| {
            let message = end.wait(timeout).map_err(code_of)?;
            if message.length() > bytes.len() {
                return Err(Code::Bufsize);
            }
            let length = message.copy_to(bytes).map_err(|_| Code::Missed)?;
            Ok(Arrived { length, instance: message.instance(), inserted: message.stamp() })
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
                End::Target(target) => {
                    self.receive(channel, target, left)?;
                    if !target.pending {
                        return Ok(());
                    }
                }
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
}

pub(super) fn lock(channel: &CommittedChannel) -> Result<MutexGuard<'_, End>, Code> {
    channel.end.try_lock().map_err(|_| Code::Slack)
}

pub(super) fn code_of(error: WaitError) -> Code {
    match error {
        WaitError::TimedOut => Code::Timeout,
        WaitError::PeerDead => Code::PeerLost,
        WaitError::Stopping => Code::Uncommitted,
        WaitError::NothingStarted => Code::NotStarted,
        WaitError::NotPerformed(_) => Code::Missed,
    }
}
