//! What the library declares for channel ends that no task of the program serves has the times of those channels. So it is
//! not changed by itself: it follows them.

use crate::{Job, Qos, Task};
use leveret_types::{ChannelId, Nanos};

/// Period and window that a mover takes from a channel: the sender's has the channel's window, the receiver's half a period from
/// its end on.
fn times(job: &Job, task: &Task, channel: ChannelId) -> Option<[Nanos; 3]> {
    let Qos::TimeDriven { period, release, deadline, .. } = job.channels.get(channel.index())?.qos else {
        return None;
    };
    let receives = !task.reads.is_empty();
    let half = Nanos((period.0 / 2).max(1));
    Some(if receives { [period, deadline, deadline + half] } else { [period, release, deadline] })
}

/// The times of a mover by its channels; `None` where they do not say them: one that sends and receives, or that serves channels
/// of several windows, or a single shot.
fn told_by_channels(job: &Job, task: &Task) -> Option<[Nanos; 3]> {
    let (ends, others) =
        if task.reads.is_empty() { (&task.writes, &task.reads) } else { (&task.reads, &task.writes) };
    let first = times(job, task, *ends.first()?)?;
    let alike = ends.iter().all(|channel| times(job, task, *channel) == Some(first));
    (alike && others.is_empty()).then_some(first)
}

/// Channels that share a mover with this one, by index, itself included: they are due together, and one cannot be moved alone.
pub(super) fn together(job: &Job, channel: usize) -> Vec<usize> {
    let mut found = vec![channel];
    let mut at = 0;
    while let Some(next) = found.get(at).copied() {
        at += 1;
        let uses = |task: &&Task| task.mover && ends(task).any(|id| id.index() == next);
        for other in job.tasks.iter().filter(uses).flat_map(ends).map(|id| id.index()) {
            if !found.contains(&other) {
                found.push(other);
            }
        }
    }
    found
}

fn ends(task: &Task) -> impl Iterator<Item = &ChannelId> {
    task.reads.iter().chain(&task.writes)
}

/// The changed job with its movers where their channels are now; `None` where that cannot be said from the channels alone.
pub(super) fn follow(before: &Job, mut changed: Job) -> Option<Job> {
    for index in 0..changed.tasks.len() {
        let task = &changed.tasks[index];
        let moved = |id: &ChannelId| {
            before.channels.get(id.index()).map(|channel| &channel.qos)
                != changed.channels.get(id.index()).map(|channel| &channel.qos)
        };
        if !task.mover || !ends(task).any(moved) {
            continue;
        }
        let former = before.tasks.get(index)?;
        if told_by_channels(before, former)? != [former.period, former.release, former.deadline] {
            return None;
        }
        let [period, release, deadline] = told_by_channels(&changed, task)?;
        let task = &mut changed.tasks[index];
        (task.period, task.release, task.deadline) = (period, release, deadline);
    }
    Some(changed)
}
