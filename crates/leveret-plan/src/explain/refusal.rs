//! The refusal as a value and as prose.

use super::{Change, LateWork, Overload};
use crate::validate::channel_name;
use crate::windows::{Window, charged};
use crate::{CoreChoice, DeclarationError, Job, Qos, Sporadic, Task};
use leveret_types::Nanos;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a job was not admitted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Refusal {
    /// What sort of refusal.
    pub kind: RefusalKind,
    /// Declarations that cannot be met together, while without any one of them the others can.
    pub conflict: Vec<Declaration>,
    /// The stretch of time of which the whole job asks too much, where that is the proof.
    pub overload: Option<Box<Overload>>,
    /// The channel that would need more buffers than any may have, where that is the reason.
    pub buffers: Option<Box<BufferNeed>>,
    /// What cannot run beside the table, where that is the reason.
    pub late: Option<Box<LateWork>>,
    /// Whether it was verified that without any single member of the conflict the others have a plan. `false` only
    /// in large jobs, where the deletion was cut short.
    pub minimal: bool,
    /// Single changes after which planning succeeds, smallest first; each was tried.
    pub fits: Vec<Change>,
    /// Whether those changes make the whole job fit. If not, they settle this conflict and another remains.
    pub fits_whole_job: bool,
}

/// What sort of refusal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalKind {
    /// Declarations that contradict themselves or each other.
    BadDeclaration {
        /// Everything that was found.
        errors: Vec<DeclarationError>,
    },
    /// Proven: no plan exists.
    Infeasible,
    /// The search gave up; a plan may exist.
    NotFound {
        /// Steps of the search.
        steps: u64,
    },
}

/// A channel that needs more buffers than it may have.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BufferNeed {
    /// Which.
    pub channel: ObjectName,
    /// As many messages, with one for the last good one where the channel holds it, have a buffer at once.
    pub needed: u64,
    /// As many a channel may have.
    pub most: u32,
}

impl fmt::Display for BufferNeed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { channel, needed, most } = self;
        write!(
            out,
            "{channel} needs {needed} buffers, but a channel has at most {most}: a message keeps its buffer until it has \
             been read or a later one has. Let it be read more often or sooner, or written less often"
        )
    }
}

/// What an object is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeclarationKind {
    /// A task.
    Task,
    /// A channel.
    Channel,
}

/// A task or channel by name; a channel outside group `world` as `group/name`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct ObjectName {
    /// What it is.
    pub kind: DeclarationKind,
    /// Its name.
    pub name: String,
}

impl fmt::Display for ObjectName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            DeclarationKind::Task => "task",
            DeclarationKind::Channel => "channel",
        };
        write!(out, "{kind} `{}`", self.name)
    }
}

/// A declaration that takes part in a conflict.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Declaration {
    /// Which.
    pub object: ObjectName,
    /// The core it is pinned to.
    pub core: Option<u32>,
    /// Its period; 0 for a best-effort channel.
    pub period: Nanos,
    /// Start of the window in each period: the effective one where it is known, else as declared.
    pub earliest: Nanos,
    /// End of that window.
    pub latest: Nanos,
    /// A task's budget; 0 for a channel.
    pub budget: Nanos,
    /// Processor time that one instance of a task needs within its window, costs included, guard not.
    pub needs: Nanos,
    /// Time reserved before each start of a task.
    pub guard: Nanos,
    /// The priority of work beside the table: `period` is then its interval, and the window counts from each arrival.
    pub priority: Option<u8>,
}

impl Declaration {
    pub(crate) fn task(job: &Job, task: &Task) -> Self {
        let known = task.reads.iter().all(|channel| channel.index() < job.channels.len());
        Self {
            object: ObjectName { kind: DeclarationKind::Task, name: task.name.clone() },
            core: match task.core {
                CoreChoice::Any => None,
                CoreChoice::Pinned(core) => Some(core),
            },
            period: task.period,
            earliest: task.release,
            latest: task.deadline,
            budget: task.budget,
            needs: if known { Nanos(charged(job, task)) } else { task.budget },
            guard: job.costs.guard,
            priority: None,
        }
    }

    pub(crate) fn channel(job: &Job, index: usize) -> Self {
        let channel = &job.channels[index];
        let (period, earliest, latest) = match channel.qos {
            Qos::TimeDriven { period, release, deadline, .. } => (period, release, deadline),
            _ => (Nanos::ZERO, Nanos::ZERO, Nanos::ZERO),
        };
        Self {
            object: ObjectName { kind: DeclarationKind::Channel, name: channel_name(channel) },
            core: None,
            period,
            earliest,
            latest,
            budget: Nanos::ZERO,
            needs: Nanos::ZERO,
            guard: Nanos::ZERO,
            priority: None,
        }
    }

    pub(crate) fn sporadic(job: &Job, sporadic: &Sporadic) -> Self {
        Self {
            object: ObjectName { kind: DeclarationKind::Task, name: sporadic.name.clone() },
            core: match sporadic.core {
                CoreChoice::Any => None,
                CoreChoice::Pinned(core) => Some(core),
            },
            period: sporadic.interval.unwrap_or(Nanos::ZERO),
            earliest: Nanos::ZERO,
            latest: sporadic.deadline.unwrap_or(Nanos::MAX),
            budget: sporadic.budget,
            needs: Nanos(crate::sporadic::charged(job, sporadic)),
            guard: Nanos::ZERO,
            priority: Some(sporadic.priority),
        }
    }

    pub(super) fn within(mut self, window: Option<Window>) -> Self {
        if let Some(window) = window {
            (self.earliest, self.latest) = (Nanos(window.earliest), Nanos(window.latest));
        }
        self
    }

    fn is_task(&self) -> bool {
        self.object.kind == DeclarationKind::Task
    }
}

impl fmt::Display for Declaration {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, period, earliest, latest, needs, guard, .. } = self;
        if let Some(priority) = self.priority {
            write!(out, "`{}` needs {needs} at priority {priority}", object.name)?;
            if *latest < Nanos::MAX {
                write!(out, " within {latest} of each arrival")?;
            }
            if *period > Nanos::ZERO {
                write!(out, ", arrivals {period} apart")
            } else {
                write!(out, ", arrivals at any rate")
            }
        } else if self.is_task() {
            write!(out, "`{}` needs {needs}", object.name)?;
            if *guard > Nanos::ZERO {
                write!(out, ", after a guard of {guard},")?;
            }
            write!(out, " within [{earliest}, {latest}] of every {period}")
        } else {
            write!(out, "{object} is due at {latest} of every {period}")
        }
    }
}

/// "a", "a and b", "a, b and c".
fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// Conflicts of more tasks are told by their number and by those that ask for most.
const LISTED_MAX: usize = 8;

impl Refusal {
    /// The conflict, as what the tasks in it do.
    fn collision(&self) -> String {
        let mut tasks: Vec<&Declaration> = self.conflict.iter().filter(|d| d.is_task()).collect();
        if let Some(late) = &self.late {
            let listed_tasks: Vec<String> = tasks.iter().take(LISTED_MAX).map(ToString::to_string).collect();
            let more = match tasks.len().saturating_sub(LISTED_MAX) {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            return format!("{late}. It conflicts: {}{more}", listed(&listed_tasks));
        }
        let place = match tasks.first().and_then(|task| task.core) {
            Some(core) if tasks.iter().all(|task| task.core == Some(core)) => format!("core {core}"),
            _ => "the job's cores".to_owned(),
        };
        if tasks.len() > LISTED_MAX {
            let share = |task: &Declaration| (task.needs + task.guard).0 as f64 / task.period.0.max(1) as f64;
            tasks.sort_by(|a, b| share(b).total_cmp(&share(a)));
            let most: Vec<String> = tasks.iter().take(LISTED_MAX).map(ToString::to_string).collect();
            return format!(
                "{} tasks collide on {place}; of these ask for most: {}",
                tasks.len(),
                listed(&most)
            );
        }
        let details = listed(&self.conflict.iter().map(Declaration::to_string).collect::<Vec<_>>());
        if let Some(buffers) = &self.buffers {
            return format!("{buffers}. It conflicts: {details}");
        }
        let names: Vec<String> = tasks.iter().map(|task| format!("`{}`", task.object.name)).collect();
        match names.len() {
            0 => details,
            1 => format!("task {} cannot be met on {place}: {details}", names[0]),
            _ => format!("tasks {} collide on {place}: {details}", listed(&names)),
        }
    }

    /// The overload, where it says more than the collision: the sum over the hyperperiod, or too many tasks to add up.
    fn overload_told(&self) -> Option<&Overload> {
        let many = self.conflict.iter().filter(|declaration| declaration.is_task()).count() > LISTED_MAX;
        self.overload.as_deref().filter(|overload| overload.within.is_none() || many)
    }

    fn cut_short(&self) -> &'static str {
        if self.late.is_some() {
            return "fewer of them may conflict already: the analysis was cut short";
        }
        if self.overload.is_some() {
            "without any one of these, the others no longer ask for too much; fewer may conflict for another reason: \
             the search for the smallest set was cut short"
        } else {
            "fewer of them may conflict already: the search for the smallest set was cut short"
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(overload) = self.overload_told() {
            writeln!(out, "{overload}")?;
        }
        match &self.kind {
            RefusalKind::BadDeclaration { errors } => {
                let lines: Vec<String> = errors.iter().map(DeclarationError::to_string).collect();
                write!(out, "{}", lines.join("\n"))?;
            }
            RefusalKind::Infeasible => write!(out, "{}", self.collision())?,
            RefusalKind::NotFound { steps } => write!(
                out,
                "no plan was found within {steps} steps of search; it is not proven impossible. As far as the search \
                 got, {}",
                self.collision()
            )?,
        }
        if !self.minimal {
            write!(out, "\n{}", self.cut_short())?;
        }
        if let Some((first, rest)) = self.fits.split_first() {
            let rest: String = rest.iter().map(|change| format!("; or {change}")).collect();
            write!(out, "\nwhat would fit: {first}{rest}")?;
            if !self.fits_whole_job {
                write!(out, "\nthat settles this conflict; the job has another one besides")?;
            }
        } else if !matches!(self.kind, RefusalKind::BadDeclaration { .. }) {
            let numbers = if self.late.is_some() { "deadline, interval" } else { "period, window" };
            write!(out, "\nno change of a single {numbers}, budget or core was found that fits")?;
            if let Some(overload) = self.overload_told() {
                write!(out, ": {} must go", overload.excess())?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}
