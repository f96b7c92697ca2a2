//! Commit: which channels may have which windows.

use super::commit::Unfit;
use super::error::Code;
use super::handle::Handle;
use super::object::{Body, Qos};
use super::world::World;
use leveret_types::Nanos;

impl World {
    /// A single shot leads from one member to another, and no task of a period serves it.
    pub(super) fn check_windows(&self) -> Result<(), Unfit> {
        for (handle, object) in self.table.all() {
            let Some(channel) = object.body.channel() else { continue };
            let Qos::Time { period: Nanos::ZERO, .. } = self.qos_of(channel).kind else { continue };
            let what = if object.body.collective().is_some() {
                "is a single shot and does not lead from one member to another; give it a period"
            } else if self.is_bound(handle) {
                "is a single shot and bound to a task, which runs in every period; leave it to the library, or give it a period"
            } else {
                continue;
            };
            let detail = format!("{} {what}", self.called("the channel", handle));
            return Err(Unfit { code: Code::Argument, detail });
        }
        Ok(())
    }

    fn is_bound(&self, channel: Handle) -> bool {
        let serves = |body: &Body| matches!(body, Body::Task(task) if task.channels.contains(&channel));
        self.table.all().any(|(_, object)| serves(&object.body))
    }
}
