//! A minimal conflicting set, by deletion: what can be left out while the rest still conflicts, is left out.

use crate::Job;
use crate::admission::{Failure, solve};
use crate::search::Effort;
use leveret_types::ChannelId;

/// A part of a job.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    tasks: Vec<usize>,
    channels: Vec<usize>,
    /// Whether it is proven that the part has no plan.
    pub proven: bool,
    /// Whether it has a plan without any single member; not known where the deletion was cut short.
    pub minimal: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Task(usize),
    Channel(usize),
}

impl Kept {
    fn new(parts: &[Part]) -> Self {
        let (mut tasks, mut channels) = (Vec::new(), Vec::new());
        for part in parts {
            match part {
                Part::Task(index) => tasks.push(*index),
                Part::Channel(index) => channels.push(*index),
            }
        }
        tasks.sort_unstable();
        channels.sort_unstable();
        Self { tasks, channels, proven: false, minimal: false }
    }

    /// The job with these declarations alone.
    pub fn job(&self, job: &Job) -> Job {
        let renumbered = |ends: &[ChannelId]| -> Vec<ChannelId> {
            let place = |id: &ChannelId| self.channels.binary_search(&id.index()).ok();
            ends.iter().filter_map(place).map(|place| ChannelId(place as u16)).collect()
        };
        let tasks = self.tasks.iter().map(|index| {
            let mut task = job.tasks[*index].clone();
            (task.reads, task.writes) = (renumbered(&task.reads), renumbered(&task.writes));
            task
        });
        Job {
            name: job.name.clone(),
            cores: job.cores.clone(),
            members: job.members.clone(),
            tasks: tasks.collect(),
            channels: self.channels.iter().map(|index| job.channels[*index].clone()).collect(),
            costs: job.costs,
        }
    }
}

/// Instances and gaps that deletion may look at, all searches together.
const SPENT_MAX: u64 = 20_000_000;

/// A part of the job that has no plan while it has one without any single member.
pub(super) fn minimal(job: &Job, failure: &Failure) -> Kept {
    let mut deletion = Deletion { job, effort: Effort::light() };
    let mut parts = suspects(job, failure);
    if deletion.solves(&parts) {
        parts =
            (0..job.tasks.len()).map(Part::Task).chain((0..job.channels.len()).map(Part::Channel)).collect();
    }
    let all = parts.clone();
    let finished = deletion.reduce(&mut parts);
    let mut kept = Kept::new(&parts);
    match solve(&kept.job(job), &mut Effort::full()) {
        // The lighter search was misled: say no more than what is known.
        Ok(_) => return Kept::new(&all),
        Err(failure) => kept.proven = failure.gave_up_after.is_none(),
    }
    kept.minimal = finished;
    kept
}

struct Deletion<'a> {
    job: &'a Job,
    effort: Effort,
}

impl Deletion<'_> {
    fn solves(&mut self, parts: &[Part]) -> bool {
        parts.is_empty() || solve(&Kept::new(parts).job(self.job), &mut self.effort).is_ok()
    }

    /// Halves first, then smaller pieces, then one by one until nothing more can go: leaving out a channel can
    /// tighten a binding, so a single sweep is not enough. `false` if the effort ran out before.
    fn reduce(&mut self, parts: &mut Vec<Part>) -> bool {
        let mut piece = parts.len().div_ceil(2);
        loop {
            let before = parts.len();
            let mut at = 0;
            while at < parts.len() {
                let mut rest = parts.clone();
                rest.drain(at..(at + piece).min(rest.len()));
                if self.effort.spent > SPENT_MAX {
                    return false;
                }
                if self.solves(&rest) {
                    at += piece;
                } else {
                    *parts = rest;
                }
            }
            if piece > 1 {
                piece = piece.div_ceil(2);
            } else if parts.len() == before {
                return true;
            }
        }
    }
}

/// Where to begin: the tasks that the failure names, and the channels at their ends.
fn suspects(job: &Job, failure: &Failure) -> Vec<Part> {
    let mut channels: Vec<usize> = failure.channel.into_iter().collect();
    let mut tasks = failure.tasks.clone();
    if let Some(channel) = failure.channel {
        let uses = |ends: &[ChannelId]| ends.iter().any(|id| id.index() == channel);
        tasks.extend(
            (0..job.tasks.len())
                .filter(|task| uses(&job.tasks[*task].reads) || uses(&job.tasks[*task].writes)),
        );
    }
    for task in &tasks {
        let task = &job.tasks[*task];
        channels.extend(task.reads.iter().chain(&task.writes).map(|id| id.index()));
    }
    channels.sort_unstable();
    channels.dedup();
    channels.into_iter().map(Part::Channel).chain(tasks.into_iter().map(Part::Task)).collect()
}
