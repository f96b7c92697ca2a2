//! A minimal conflicting set, by deletion: what can be left out while the rest still conflicts, is left out.

use crate::Job;
use crate::admission::{Failure, solve};
use crate::assemble::TooManyBuffers;
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
            // The table comes first: what runs beside it is no part of its conflicts.
            sporadics: Vec::new(),
            costs: job.costs,
        }
    }
}

/// Instances and gaps that deletion may look at, all searches together.
const SPENT_MAX: u64 = 20_000_000;
/// The same where an overload is the proof, which says most of it already.
const SPENT_ON_OVERLOAD_MAX: u64 = 4_000_000;
/// Most tasks of an overload that are left out one by one.
const OVERLOAD_TASKS_MAX: usize = 32;

/// A part of the job that has no plan while it has one without any single member.
///
/// Where an overload is the proof, the deletion begins with the fewest tasks that are too many, and a smaller part is
/// taken only if it is proven impossible too.
pub(super) fn minimal(job: &Job, failure: &Failure) -> Kept {
    let mut parts = suspects(job, failure);
    let overloaded = failure.overload.is_some();
    if overloaded && failure.tasks.len() > OVERLOAD_TASKS_MAX {
        return Kept { proven: true, ..Kept::new(&parts) };
    }
    let spent_max = if overloaded { SPENT_ON_OVERLOAD_MAX } else { SPENT_MAX };
    let mut deletion =
        Deletion { job, effort: Effort::light(), spent_max, proven_only: overloaded, finished: true };
    if deletion.solves(&parts) {
        parts =
            (0..job.tasks.len()).map(Part::Task).chain((0..job.channels.len()).map(Part::Channel)).collect();
    }
    let all = parts.clone();
    deletion.reduce(&mut parts);
    let mut kept = Kept::new(&parts);
    kept.minimal = deletion.finished;
    match solve(&kept.job(job), &mut Effort::full()) {
        // The lighter search was misled: say no more than what is known.
        Ok(_) => Kept::new(&all),
        Err(failure) => {
            kept.proven = failure.gave_up_after.is_none();
            kept
        }
    }
}

struct Deletion<'a> {
    job: &'a Job,
    effort: Effort,
    spent_max: u64,
    /// Keep what is not proven to be superfluous.
    proven_only: bool,
    /// Whether it is known of each member that it is needed.
    finished: bool,
}

impl Deletion<'_> {
    fn solves(&mut self, parts: &[Part]) -> bool {
        parts.is_empty() || self.solve(parts).is_ok()
    }

    fn solve(&mut self, parts: &[Part]) -> Result<crate::Plan, Failure> {
        solve(&Kept::new(parts).job(self.job), &mut self.effort)
    }

    /// Whether the rest alone is no conflict, so that what was left out is needed. Taken as such, too, where only a
    /// proof counts and there is none.
    fn needs_more_than(&mut self, rest: &[Part], single: bool) -> bool {
        if rest.is_empty() {
            return true;
        }
        match self.solve(rest) {
            Ok(_) => true,
            Err(failure) if self.proven_only && failure.gave_up_after.is_some() => {
                self.finished &= !single;
                true
            }
            Err(_) => false,
        }
    }

    /// Halves first, then smaller pieces, then one by one until nothing more can go: leaving out a channel can
    /// tighten a binding, so a single sweep is not enough.
    fn reduce(&mut self, parts: &mut Vec<Part>) {
        let mut piece = parts.len().div_ceil(2);
        loop {
            let before = parts.len();
            let mut at = 0;
            self.finished = true;
            while at < parts.len() {
                let mut rest = parts.clone();
                rest.drain(at..(at + piece).min(rest.len()));
                if self.effort.spent > self.spent_max {
                    self.finished = false;
                    return;
                }
                if self.needs_more_than(&rest, piece == 1) {
                    at += piece;
                } else {
                    *parts = rest;
                }
            }
            if piece > 1 {
                piece = piece.div_ceil(2);
            } else if parts.len() == before {
                return;
            }
        }
    }
}

/// Where to begin: the tasks that the failure names, and the channels at their ends.
fn suspects(job: &Job, failure: &Failure) -> Vec<Part> {
    let mut channels: Vec<usize> = failure.buffers.into_iter().map(|buffers| buffers.channel).collect();
    let mut tasks = failure.tasks.clone();
    if let Some(TooManyBuffers { channel, .. }) = failure.buffers {
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
