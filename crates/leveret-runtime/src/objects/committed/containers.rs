//! One operation on every channel of a container, in the order of commit's lists. A channel that is there twice gets it twice.

use super::wait::LOOK_AGAIN;
use super::{Committed, CommittedChannel};
use crate::objects::error::Code;
use crate::objects::handle::Handle;
use leveret_os::clock;
use leveret_types::Nanos;

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

    /// Whether every channel of a container is complete; if so, all are as after a wait, and else none.
    ///
    /// # Errors
    /// As [`Committed::start_all`], with those of a channel's own test.
    pub fn test_all(&self, container: Handle) -> Result<bool, Code> {
        let mut complete = true;
        self.on_all(container, |channel| {
            complete &= self.peek_at(channel).inspect_err(|_| {
                // Told by this call, so not by the next.
                let _ = self.test_at(channel);
            })?;
            Ok(())
        })?;
        if complete {
            self.on_all(container, |channel| self.test_at(channel).map(|_| ()))?;
        }
        Ok(complete)
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
                let slice = if others.is_empty() { left } else { left.min(LOOK_AGAIN) };
                match self.wait_at(&self.channels[*channel as usize], slice) {
                    Err(Code::Timeout) if left > slice => self.look_after_all(others),
                    waited => break waited,
                }
            };
            first = first.and(waited);
        }
        first
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
