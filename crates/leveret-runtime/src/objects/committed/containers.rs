//! One operation on every channel of a container, in the order of commit's lists. A channel that is there twice gets it twice.

use super::outcome::Outcome;
use super::{Committed, CommittedChannel};
use crate::objects::error::Code;
use crate::objects::handle::Handle;
use leveret_memory::sync::Ordering;
use leveret_os::clock;
use leveret_types::Nanos;

/// A wait for several channels looks without a pause for so long, and then sleeps.
const SPIN: Nanos = Nanos::from_micros(50);

impl Committed {
    /// Whether a handle is a container's.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn container_check(&self, container: Handle) -> Result<(), Code> {
        self.container(container).map(|_| ())
    }

    /// Starts every channel of a container.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] when a member is no channel, [`Code::Limit`] when there are too many: then none was touched. The first
    /// error of a channel, with all others started. And those of wrong handles.
    pub fn start_all(&self, container: Handle) -> Result<(), Code> {
        self.on_all(container, |channel| self.start_at(channel))
    }

    /// Whether every channel of a container is complete; if so, all are as after a wait. Else those that are complete stay so, and what was
    /// missed has been told. One that is there twice is complete if two of its tests in a row would say so.
    ///
    /// # Errors
    /// As [`Committed::start_all`], with those of a channel's own test.
    pub fn test_all(&self, container: Handle) -> Result<bool, Code> {
        let mut complete = true;
        self.on_all(container, |channel| {
            complete &= self.test_for_misses(channel)?;
            Ok(())
        })?;
        Ok(complete && self.take_all(self.reached(container)?))
    }

    /// Tells of one success at each of these, or at none: another thread may have been told of it, or it is the same channel's.
    fn take_all(&self, channels: &[u32]) -> bool {
        let at = |number: &u32| &self.channels[*number as usize];
        let taken = channels.iter().take_while(|number| self.take_complete(at(number))).count();
        let are_all = taken == channels.len();
        if !are_all {
            channels[..taken].iter().for_each(|number| self.put_back_complete(at(number)));
        }
        are_all
    }

    /// Activates every channel of a container.
    ///
    /// # Errors
    /// As [`Committed::start_all`], with those of a channel's own activation.
    pub fn activate_all(&self, container: Handle) -> Result<(), Code> {
        self.on_all(container, |channel| self.activate_end(channel))
    }

    /// Deactivates every channel of a container.
    ///
    /// # Errors
    /// As [`Committed::activate_all`].
    pub fn deactivate_all(&self, container: Handle) -> Result<(), Code> {
        self.on_all(container, |channel| self.deactivate_end(channel))
    }

    /// Waits for every channel of a container, in their order and at most so long in all. Transfers of channels that are not waited for
    /// yet go on meanwhile: their peers may wait in another order.
    ///
    /// # Errors
    /// As [`Committed::start_all`], with those of a channel's own wait.
    pub fn wait_all(&self, container: Handle, timeout: Nanos) -> Result<(), Code> {
        let limit = clock::now() + timeout;
        let mut first = Ok(());
        let reached = self.reached(container)?;
        for (place, channel) in reached.iter().enumerate() {
            let others = &reached[place + 1..];
            let waited = loop {
                let left = (limit - clock::now()).max(Nanos::ZERO);
                // Alone there is nobody to look after.
                let slice = if others.is_empty() { left } else { left.min(SPIN) };
                match self.wait_at(&self.channels[*channel as usize], slice) {
                    Err(Code::Timeout) if left > slice => self.sleep_for_all(&reached[place..], limit),
                    waited => break waited,
                }
            };
            first = first.and(waited);
        }
        first
    }

    /// A channel of a container that is complete, with how its instance ended; the others are untouched. The search begins behind the one
    /// that was found last. `None`: nothing is complete. Never blocks.
    ///
    /// A start counts once: a channel that was found is no longer started. Ends that are neither started nor activated are left out. One whose peer is lost is found when no other is complete, each time.
    ///
    /// # Errors
    /// [`Code::NotStarted`] when nothing is under way at any, [`Code::UndefForObject`] when a member is no channel, and those of wrong handles.
    pub fn test_any(&self, container: Handle) -> Result<Option<(Handle, Outcome)>, Code> {
        match self.look_for_any(container) {
            Err(Code::Uncommitted) => Ok(None),
            looked => looked,
        }
    }

    /// Waits until a channel of a container is complete; as [`Committed::test_any`].
    ///
    /// # Errors
    /// As [`Committed::test_any`], [`Code::Timeout`], and [`Code::Uncommitted`] when the commit or the job ends.
    pub fn wait_any(&self, container: Handle, timeout: Nanos) -> Result<(Handle, Outcome), Code> {
        if let Some(found) = self.look_for_any(container)? {
            return Ok(found);
        }
        let reached = self.reached(container)?;
        let began = clock::now();
        let limit = began + timeout;
        let channels = reached.iter().map(|number| &self.channels[*number as usize]);
        loop {
            if let Some(found) = self.look_for_any(container)? {
                return Ok(found);
            }
            let now = clock::now();
            if now >= limit {
                return Err(Code::Timeout);
            }
            if now - began < SPIN || channels.clone().any(|channel| channel.polls) {
                std::hint::spin_loop();
            } else if let Some(found) =
                self.sleep_among(channels.clone(), limit, || self.look_for_any(container))?
            {
                return Ok(found);
            }
        }
    }

    fn look_for_any(&self, container: Handle) -> Result<Option<(Handle, Outcome)>, Code> {
        let container = self.container(container)?;
        let reached = container.channels.as_deref().map_err(|code| *code)?;
        let first = container.next.load(Ordering::Relaxed) as usize;
        let (mut lost, mut answer): (Option<&CommittedChannel>, _) = (None, Err(Code::NotStarted));
        for place in (first..reached.len()).chain(0..first.min(reached.len())) {
            let channel = &self.channels[reached[place] as usize];
            match self.look_and_settle(channel) {
                Ok(Some(Outcome::PeerLost)) | Err(Code::PeerLost) => lost = lost.or(Some(channel)),
                Ok(Some(outcome)) => {
                    container.next.store(place as u32 + 1, Ordering::Relaxed);
                    return Ok(Some((channel.handle, outcome)));
                }
                Ok(None) => answer = answer.or(Ok(None)),
                Err(Code::NotStarted) => {}
                Err(Code::Uncommitted) => answer = Err(Code::Uncommitted),
                Err(code) => return Err(code),
            }
        }
        match lost {
            // Whoever goes on with the others must hear of the end when there is nothing else to come.
            Some(channel) if answer != Err(Code::Uncommitted) && !self.has_ended(channel) => {
                Ok(Some((channel.handle, Outcome::PeerLost)))
            }
            Some(_) => Err(Code::Uncommitted),
            None => answer,
        }
    }

    /// Whether what the channel was committed in has ended, or the job.
    fn has_ended(&self, channel: &CommittedChannel) -> bool {
        let stop_at = match &channel.served {
            Some(served) => self.stop_of_served(served),
            None => self.at_alone(channel, |end| Ok(end.stop_at())),
        };
        stop_at.is_ok_and(|stop_at| clock::now() >= stop_at)
    }

    /// Sleeps until there may be something to do at any of these, unless the first is complete; transfers at the others go on before it.
    fn sleep_for_all(&self, channels: &[u32], limit: Nanos) {
        self.look_after_all(&channels[1..]);
        let all = channels.iter().map(|number| &self.channels[*number as usize]);
        // An error is told by the wait.
        let is_over = |channel: &u32| self.peek_at(&self.channels[*channel as usize]).unwrap_or(true);
        let _ = self.sleep_among(all, limit, || {
            self.look_after_all(&channels[1..]);
            Ok(channels.first().is_some_and(is_over).then_some(()))
        });
    }

    fn look_after_all(&self, channels: &[u32]) {
        for channel in channels {
            let channel = &self.channels[*channel as usize];
            // Whatever happens is told by its own wait.
            self.attend_around(channel);
        }
    }

    /// The first error counts, and keeps nothing from the channels after it.
    fn on_all(
        &self,
        container: Handle,
        mut operation: impl FnMut(&CommittedChannel) -> Result<(), Code>,
    ) -> Result<(), Code> {
        let mut first = Ok(());
        for channel in self.reached(container)? {
            first = first.and(operation(&self.channels[*channel as usize]));
        }
        first
    }
}
