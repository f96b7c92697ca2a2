//! A minimal conflicting set. Large jobs are built up from nothing until they conflict, and again with what was added last in
//! front, since small parts are planned soon (as in QuickXplain, Junker 2004). Then what can be left out while the rest still
//! conflicts, is left out.

use crate::admission::{Failure, solve};
use crate::assemble::TooManyBuffers;
use crate::search::Effort;
use crate::{CoreChoice, Job};
use leveret_types::ChannelId;
use std::collections::BTreeMap;

/// A part of a job.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    tasks: Vec<usize>,
    channels: Vec<usize>,
    /// Whether it is proven that the part has no plan.
    pub proven: bool,
    /// Whether it has a plan without any single member; not known where the search was cut short.
    pub minimal: bool,
    /// Steps that it took.
    pub spent: u64,
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
        Self { tasks, channels, proven: false, minimal: false, spent: 0 }
    }

    /// Whether it is just these.
    fn is(&self, parts: &[Part]) -> bool {
        let other = Self::new(parts);
        (&self.tasks, &self.channels) == (&other.tasks, &other.channels)
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

/// Parts of more declarations are built up first.
const DELETED_MAX: usize = 6;

/// A part of the job that has no plan while it has one without any single member; `most` steps may be taken.
///
/// Where an overload is the proof, the deletion begins with the fewest tasks that are too many, and a smaller part is
/// taken only if it is proven impossible too.
pub(super) fn minimal(job: &Job, failure: &Failure, most: u64) -> Kept {
    let (all, mut kept) = reduced(job, failure, most);
    if most == 0 || (failure.overload.is_some() && kept.is(&all)) {
        // The sum is the proof.
        kept.proven = failure.overload.is_some();
        return kept;
    }
    let mut full = Effort::full();
    let alone = solve(&kept.job(job), &mut full);
    kept.spent = kept.spent.saturating_add(full.spent);
    match alone {
        // The lighter search was misled: say no more than what is known.
        Ok(_) => Kept { spent: kept.spent, ..Kept::new(&all) },
        Err(failure) => Kept { proven: failure.gave_up_after.is_none(), ..kept },
    }
}

/// The same as far as a light search knows, with no more steps than these; for changes that are tried on the whole anyway.
pub(super) fn lightly(job: &Job, failure: &Failure, most: u64) -> Kept {
    reduced(job, failure, most).1
}

/// What the search began with, and what is left of it.
fn reduced(job: &Job, failure: &Failure, most: u64) -> (Vec<Part>, Kept) {
    let mut parts = suspects(job, failure);
    let overloaded = failure.overload.is_some();
    if most == 0 {
        let kept = Kept::new(&parts);
        return (parts, kept);
    }
    // The sum says most of it already.
    let most = if overloaded { most / 5 } else { most };
    let mut deletion = Deletion {
        job,
        effort: Effort::light(),
        most,
        proven_only: overloaded,
        finished: true,
        known: BTreeMap::new(),
    };
    if !overloaded && deletion.solves(&parts) {
        parts =
            (0..job.tasks.len()).map(Part::Task).chain((0..job.channels.len()).map(Part::Channel)).collect();
    }
    let all = parts.clone();
    if !overloaded && parts.len() > DELETED_MAX {
        deletion.grow(&mut parts);
    }
    deletion.reduce(&mut parts);
    let minimal = deletion.finished;
    let kept = Kept { minimal, spent: deletion.effort.spent, ..Kept::new(&parts) };
    (all, kept)
}

/// Tasks that are alike in this are alike in a part without channels: core, period, window, budget, and whether they may be
/// interrupted.
type Alike = (Option<u32>, [i64; 4], bool);

struct Deletion<'a> {
    job: &'a Job,
    effort: Effort,
    most: u64,
    /// Keep what is not proven to be superfluous.
    proven_only: bool,
    /// Whether it is known of each member that it is needed.
    finished: bool,
    /// Answers for parts without channels, so that one of many tasks that are alike stands for all.
    known: BTreeMap<Vec<Alike>, Answer>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Planned,
    Impossible,
    NotFound,
}

impl Deletion<'_> {
    fn solves(&mut self, parts: &[Part]) -> bool {
        parts.is_empty() || self.answer(parts) == Answer::Planned
    }

    fn answer(&mut self, parts: &[Part]) -> Answer {
        let alike = self.alike(parts);
        if let Some(known) = alike.as_ref().and_then(|alike| self.known.get(alike)) {
            return *known;
        }
        let answer = match solve(&Kept::new(parts).job(self.job), &mut self.effort) {
            Ok(_) => Answer::Planned,
            Err(failure) if failure.gave_up_after.is_some() => Answer::NotFound,
            Err(_) => Answer::Impossible,
        };
        if let Some(alike) = alike {
            self.known.insert(alike, answer);
        }
        answer
    }

    /// What a part without channels asks for.
    fn alike(&self, parts: &[Part]) -> Option<Vec<Alike>> {
        let task = |part: &Part| {
            let Part::Task(index) = part else { return None };
            let task = &self.job.tasks[*index];
            let core = match task.core {
                CoreChoice::Any => None,
                CoreChoice::Pinned(core) => Some(core),
            };
            let times = [task.period, task.release, task.deadline, task.budget].map(|time| time.0);
            Some((core, times, task.preemptible))
        };
        let mut alike: Vec<Alike> = parts.iter().map(task).collect::<Option<_>>()?;
        alike.sort_unstable();
        Some(alike)
    }

    fn is_spent(&self) -> bool {
        self.effort.spent > self.most
    }

    /// Whether the rest alone is no conflict, so that what was left out is needed. Taken as such, too, where only a
    /// proof counts and there is none.
    fn needs_more_than(&mut self, rest: &[Part], single: bool) -> bool {
        if rest.is_empty() {
            return true;
        }
        match self.answer(rest) {
            Answer::Planned => true,
            Answer::NotFound if self.proven_only => {
                self.finished &= !single;
                true
            }
            Answer::NotFound | Answer::Impossible => false,
        }
    }

    /// Builds the parts up until they conflict and leaves out the rest; what was added last is needed and goes to the front.
    fn grow(&mut self, parts: &mut Vec<Part>) {
        let mut needed = 0;
        while needed < parts.len() && !self.is_spent() {
            let Some(least) = self.least_conflict(parts, needed) else { return };
            parts.truncate(least);
            if least == needed {
                return;
            }
            parts.rotate_right(1);
            needed += 1;
        }
    }

    /// The shortest beginning, from `known` on, that conflicts: doubled until it does, then halved. `None` where the steps ended
    /// before it was known.
    fn least_conflict(&mut self, parts: &[Part], known: usize) -> Option<usize> {
        let (mut low, mut step) = (known, 1);
        if known > 0 && !self.solves(&parts[..known]) {
            return Some(known);
        }
        let mut high = loop {
            let next = (known + step).min(parts.len());
            if next == parts.len() {
                break next;
            }
            if self.is_spent() {
                return None;
            }
            if !self.solves(&parts[..next]) {
                break next;
            }
            (low, step) = (next, step * 2);
        };
        while high - low > 1 && !self.is_spent() {
            let middle = low + (high - low) / 2;
            if self.solves(&parts[..middle]) {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(high)
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
                if self.is_spent() {
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
