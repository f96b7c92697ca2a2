//! A change of one declaration.

use super::{DeclarationKind, ObjectName};
use crate::validate::channel_name;
use crate::{Channel, CoreChoice, Job, Qos, Start, Task};
use leveret_types::Nanos;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A change of one number, window or core in one declaration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Another period.
    Period {
        /// Whose.
        object: ObjectName,
        /// Present value.
        from: Nanos,
        /// New value.
        to: Nanos,
    },
    /// An earlier start of the window.
    Release {
        /// Whose.
        object: ObjectName,
        /// Present value.
        from: Nanos,
        /// New value.
        to: Nanos,
    },
    /// Another end of the window.
    Deadline {
        /// Whose.
        object: ObjectName,
        /// Present value.
        from: Nanos,
        /// New value.
        to: Nanos,
    },
    /// Another least distance between arrivals.
    Interval {
        /// Whose.
        object: ObjectName,
        /// Present value.
        from: Nanos,
        /// New value.
        to: Nanos,
    },
    /// The window moved as a whole.
    Window {
        /// Whose.
        object: ObjectName,
        /// Present start and end.
        from: (Nanos, Nanos),
        /// New start and end.
        to: (Nanos, Nanos),
    },
    /// A smaller budget.
    Budget {
        /// Whose.
        object: ObjectName,
        /// Present value.
        from: Nanos,
        /// New value.
        to: Nanos,
    },
    /// Another core.
    Core {
        /// Whose.
        object: ObjectName,
        /// Present core; `None` for any.
        from: Option<u32>,
        /// New core.
        to: u32,
    },
}

impl Change {
    /// The declaration that changes.
    pub fn object(&self) -> &ObjectName {
        match self {
            Self::Period { object, .. }
            | Self::Release { object, .. }
            | Self::Deadline { object, .. }
            | Self::Interval { object, .. }
            | Self::Window { object, .. }
            | Self::Budget { object, .. }
            | Self::Core { object, .. } => object,
        }
    }

    /// By how much a time changes; zero for a change of core.
    pub fn size(&self) -> Nanos {
        let (from, to) = match self {
            Self::Period { from, to, .. }
            | Self::Release { from, to, .. }
            | Self::Deadline { from, to, .. }
            | Self::Interval { from, to, .. }
            | Self::Budget { from, to, .. } => (*from, *to),
            Self::Window { from, to, .. } => (from.0, to.0),
            Self::Core { .. } => return Nanos::ZERO,
        };
        Nanos(from.0.abs_diff(to.0).try_into().unwrap_or(i64::MAX))
    }

    /// The job after the change; `None` if it has no such object, or one that knows no such number.
    pub fn apply(&self, job: &Job) -> Option<Job> {
        let mut job = job.clone();
        self.apply_to(&mut job)?;
        Some(job)
    }

    pub(super) fn apply_to(&self, job: &mut Job) -> Option<()> {
        let ObjectName { kind, name } = self.object();
        match kind {
            DeclarationKind::Task => match job.tasks.iter_mut().find(|task| task.name == *name) {
                Some(task) => self.apply_to_task(task),
                None => self.apply_to_sporadic(job, name),
            },
            DeclarationKind::Channel => {
                self.apply_to_channel(job.channels.iter_mut().find(|channel| channel_name(channel) == *name)?)
            }
        }
    }

    /// What it was and what it becomes.
    pub(super) fn numbers(&self) -> [i64; 4] {
        match self {
            Self::Period { from, to, .. }
            | Self::Release { from, to, .. }
            | Self::Deadline { from, to, .. }
            | Self::Interval { from, to, .. }
            | Self::Budget { from, to, .. } => [from.0, 0, to.0, 0],
            Self::Window { from, to, .. } => [from.0.0, from.1.0, to.0.0, to.1.0],
            Self::Core { from, to, .. } => [from.map_or(-1, i64::from), 0, i64::from(*to), 0],
        }
    }

    /// In words, of these objects.
    pub(super) fn told_of(&self, objects: &str, many: bool) -> String {
        let s = if many { "s" } else { "" };
        match self {
            Self::Period { from, to, .. } => {
                format!("set the period{s} of {objects} to {to} instead of {from}")
            }
            Self::Release { from, to, .. } => {
                format!(
                    "release {objects} at {to} of {} instead of {from}",
                    if many { "their periods" } else { "its period" }
                )
            }
            Self::Deadline { from, to, .. } => {
                format!("set the deadline{s} of {objects} to {to} instead of {from}")
            }
            Self::Interval { from, to, .. } => {
                format!("set the interval{s} of {objects} to {to} instead of {from}")
            }
            Self::Window { from, to, .. } => format!(
                "move the window{s} of {objects} to [{}, {}] from [{}, {}]",
                to.0, to.1, from.0, from.1
            ),
            Self::Budget { from, to, .. } => format!("lower the budget{s} of {objects} to {to} from {from}"),
            Self::Core { from: Some(from), to, .. } => {
                format!("run {objects} on core {to} instead of core {from}")
            }
            Self::Core { from: None, to, .. } => format!("pin {objects} to core {to}"),
        }
    }

    fn apply_to_task(&self, task: &mut Task) -> Option<()> {
        match self {
            Self::Period { to, .. } => task.period = *to,
            Self::Release { to, .. } => task.release = *to,
            Self::Deadline { to, .. } => task.deadline = *to,
            Self::Window { to, .. } => (task.release, task.deadline) = *to,
            Self::Budget { to, .. } => task.budget = *to,
            Self::Core { to, .. } => task.core = CoreChoice::Pinned(*to),
            Self::Interval { .. } => return None,
        }
        Some(())
    }

    /// Work that a channel starts has the times of that channel.
    fn apply_to_sporadic(&self, job: &mut Job, name: &str) -> Option<()> {
        let sporadic = job.sporadics.iter_mut().find(|sporadic| sporadic.name == *name)?;
        match self {
            Self::Interval { to, .. } => sporadic.interval = Some(*to),
            Self::Deadline { to, .. } => sporadic.deadline = Some(*to),
            Self::Budget { to, .. } => sporadic.budget = *to,
            Self::Core { to, .. } => sporadic.core = CoreChoice::Pinned(*to),
            Self::Period { .. } | Self::Release { .. } | Self::Window { .. } => return None,
        }
        let times = (sporadic.interval, sporadic.deadline);
        let (Start::Message(channel) | Start::Request(channel)) = sporadic.start else { return Some(()) };
        if let Qos::PriorityDriven { interval, deadline, .. } | Qos::EventDriven { interval, deadline, .. } =
            &mut job.channels.get_mut(channel.index())?.qos
        {
            (*interval, *deadline) = times;
        }
        // Its other end is served alike.
        let ends = [Start::Message(channel), Start::Request(channel)];
        for other in job.sporadics.iter_mut().filter(|other| ends.contains(&other.start)) {
            (other.interval, other.deadline) = times;
        }
        Some(())
    }

    fn apply_to_channel(&self, channel: &mut Channel) -> Option<()> {
        let Qos::TimeDriven { period, release, deadline, .. } = &mut channel.qos else { return None };
        match self {
            Self::Period { to, .. } => *period = *to,
            Self::Release { to, .. } => *release = *to,
            Self::Deadline { to, .. } => *deadline = *to,
            Self::Window { to, .. } => (*release, *deadline) = *to,
            Self::Budget { .. } | Self::Core { .. } | Self::Interval { .. } => return None,
        }
        Some(())
    }
}

impl fmt::Display for Change {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.told_of(&self.object().to_string(), false))
    }
}
