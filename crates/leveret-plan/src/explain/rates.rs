//! Periods that change together.
//!
//! A writer has the period of what it writes. A reader may be slower than what it reads, since it takes the freshest message;
//! one that is faster would take messages twice. So what is made slower takes along all that would be faster than it
//! downstream, and what is made faster takes along all that would be slower upstream.

use super::{Change, DeclarationKind, ObjectName, Own, Remedy};
use crate::validate::channel_name;
use crate::{Job, Qos, Task};
use leveret_types::{ChannelId, Nanos};

/// A task or time-driven channel, by its index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Rated {
    Task(usize),
    Channel(usize),
}

impl Rated {
    /// The object of this name, if it has a period.
    pub fn find(job: &Job, object: &ObjectName) -> Option<Self> {
        Self::place(job, object).filter(|found| found.period(job).is_some())
    }

    /// The object of this name.
    pub fn place(job: &Job, object: &ObjectName) -> Option<Self> {
        Some(match object.kind {
            DeclarationKind::Task => Self::Task(job.tasks.iter().position(|task| task.name == object.name)?),
            DeclarationKind::Channel => {
                Self::Channel(job.channels.iter().position(|channel| channel_name(channel) == object.name)?)
            }
        })
    }

    pub fn period(self, job: &Job) -> Option<Nanos> {
        match self {
            Self::Task(index) => job.tasks.get(index).map(|task| task.period),
            Self::Channel(index) => match job.channels.get(index)?.qos {
                Qos::TimeDriven { period, .. } => Some(period),
                _ => None,
            },
        }
    }

    pub fn name(self, job: &Job) -> ObjectName {
        match self {
            Self::Task(index) => {
                ObjectName { kind: DeclarationKind::Task, name: job.tasks[index].name.clone() }
            }
            Self::Channel(index) => {
                ObjectName { kind: DeclarationKind::Channel, name: channel_name(&job.channels[index]) }
            }
        }
    }
}

/// All that must get the period `to` when `first` gets it, in the model's order.
pub(crate) fn together(job: &Job, first: Rated, to: Nanos) -> Vec<Rated> {
    let mut found = vec![first];
    let mut at = 0;
    while let Some(next) = found.get(at).copied() {
        at += 1;
        let more: Vec<Rated> = match next {
            Rated::Task(task) => with_task(job, &job.tasks[task], to),
            Rated::Channel(channel) => with_channel(job, channel, to),
        };
        for other in more {
            if other.period(job).is_some() && !found.contains(&other) {
                found.push(other);
            }
        }
    }
    found.sort_unstable();
    found
}

/// Channels that change with a task.
fn with_task(job: &Job, task: &Task, to: Nanos) -> Vec<Rated> {
    let channel = |id: &ChannelId| Rated::Channel(id.index());
    let too_slow = |id: &&ChannelId| {
        let period = channel(id).period(job).unwrap_or(Nanos::ZERO);
        period > to && period <= task.period
    };
    let read = task.reads.iter().filter(too_slow).map(channel);
    // A mover has the period of what it moves, at either end.
    let moved = task.reads.iter().filter(|_| task.mover).map(channel);
    task.writes.iter().map(channel).chain(read).chain(moved).collect()
}

/// Tasks that change with a channel.
fn with_channel(job: &Job, index: usize, to: Nanos) -> Vec<Rated> {
    let period = Rated::Channel(index).period(job).unwrap_or(Nanos::ZERO);
    let uses = |ends: &[ChannelId]| ends.iter().any(|id| id.index() == index);
    let ties = |task: &Task| {
        let too_fast = task.period < to && task.period >= period;
        uses(&task.writes) || (uses(&task.reads) && (too_fast || task.mover))
    };
    (0..job.tasks.len()).filter(|task| ties(&job.tasks[*task])).map(Rated::Task).collect()
}

/// The period `to` for all of them. `None` where nothing changes, or something that the program cannot change would have to.
pub(super) fn change(job: &Job, own: &Own, all: &[Rated], to: impl Fn(Nanos) -> Nanos) -> Option<Remedy> {
    let mut changes = Vec::new();
    for one in all {
        match one {
            one if !own.has(*one) => return None,
            Rated::Task(task) if job.tasks[*task].mover => continue,
            _ => {}
        }
        let from = one.period(job)?;
        let to = to(from);
        if to != from {
            changes.push(Change::Period { object: one.name(job), from, to });
        }
    }
    (!changes.is_empty()).then_some(Remedy { changes })
}

/// Groups of what has one period and is tied: they change by one factor.
pub(super) fn groups(job: &Job) -> Vec<Vec<Rated>> {
    let all = (0..job.tasks.len())
        .map(Rated::Task)
        .chain((0..job.channels.len()).map(Rated::Channel))
        .filter(|one| one.period(job).is_some());
    let mut groups: Vec<Vec<Rated>> = Vec::new();
    let mut taken = std::collections::BTreeSet::new();
    for first in all {
        if taken.contains(&first) {
            continue;
        }
        let mut group = vec![first];
        let mut at = 0;
        while let Some(next) = group.get(at).copied() {
            at += 1;
            for other in tied(job, next) {
                if other.period(job) == next.period(job) && !group.contains(&other) && !taken.contains(&other)
                {
                    group.push(other);
                }
            }
        }
        group.sort_unstable();
        taken.extend(group.iter().copied());
        groups.push(group);
    }
    groups
}

fn tied(job: &Job, one: Rated) -> Vec<Rated> {
    match one {
        Rated::Task(task) => {
            let task = &job.tasks[task];
            task.reads.iter().chain(&task.writes).map(|id| Rated::Channel(id.index())).collect()
        }
        Rated::Channel(channel) => {
            let uses = |task: &Task| task.reads.iter().chain(&task.writes).any(|id| id.index() == channel);
            (0..job.tasks.len()).filter(|task| uses(&job.tasks[*task])).map(Rated::Task).collect()
        }
    }
}
