//! The refusal as a value and as prose.

use super::combine::CHANGES_TOLD_MAX;
use super::{LateWork, Overload, Remedy};
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
    /// in large jobs, where the search was cut short.
    pub minimal: bool,
    /// What makes the whole job fit, each by itself, smallest first; each was tried by planning the changed job. One that needs
    /// several decisions is there only where no single change was found.
    pub fits: Vec<Remedy>,
    /// How far all this was sought.
    pub search: Box<ExplainSearch>,
    /// The core that is asked for most of its time, where no single change fits and no sum is the reason.
    pub bottleneck: Option<Box<Overload>>,
}

/// How far an explanation was sought.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ExplainSearch {
    /// Steps that the search for the smallest conflict took.
    pub conflict_steps: u64,
    /// Steps that the search for changes took.
    pub steps: u64,
    /// Whether the steps ended before everything was tried.
    pub exhausted: bool,
    /// Whether no change of a single number, window or core was found.
    pub single_failed: bool,
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
    /// Whether the library declared it, to serve ends of channels that no task of the program serves.
    pub mover: bool,
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
            mover: task.mover,
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
            mover: false,
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
            mover: false,
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
pub(super) fn listed(parts: &[String]) -> String {
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

    fn cut_short(&self) -> String {
        let steps = self.search.conflict_steps;
        if self.late.is_some() {
            return "fewer of them may conflict already: the analysis was cut short".to_owned();
        }
        if self.overload.is_some() {
            format!(
                "without any one of these, the others no longer ask for too much; fewer may conflict for another reason: \
                 the search for the smallest set was cut short after {steps} steps"
            )
        } else {
            format!(
                "fewer of them may conflict already: the search for the smallest set was cut short after {steps} steps"
            )
        }
    }

    /// Why the job was refused, and how far changes were sought: all but [`fits`](Self::fits).
    pub fn reason(&self) -> String {
        let without = self.without_single().map(|without| format!("\n{without}"));
        self.cause() + &without.unwrap_or_default()
    }

    /// Why the job was refused, without a word of changes.
    pub(crate) fn cause(&self) -> String {
        let mut lines = Vec::new();
        lines.extend(self.overload_told().map(Overload::to_string));
        lines.push(match &self.kind {
            RefusalKind::BadDeclaration { errors } => {
                errors.iter().map(DeclarationError::to_string).collect::<Vec<_>>().join("\n")
            }
            RefusalKind::Infeasible => self.collision(),
            // It says itself that the analysis was cut short.
            RefusalKind::NotFound { .. } if self.late.is_some() => self.collision(),
            RefusalKind::NotFound { steps } => format!(
                "no plan was found within {steps} steps of search; it is not proven impossible. As far as the search \
                 got, {}",
                self.collision()
            ),
        });
        if !self.minimal {
            lines.push(self.cut_short());
        }
        if self.conflict.iter().any(|declaration| declaration.mover) {
            lines.push(
                "a mover is the library's: it serves ends of channels that no task is bound to, and its window is theirs"
                    .to_owned(),
            );
        }
        lines.extend(self.bottleneck.as_ref().map(ToString::to_string));
        lines.join("\n")
    }

    /// That no single change fits, where that is so.
    fn without_single(&self) -> Option<String> {
        let is_bad = matches!(self.kind, RefusalKind::BadDeclaration { .. });
        if !self.search.single_failed || (is_bad && self.fits.is_empty()) {
            return None;
        }
        let numbers = if self.late.is_some() { "deadline, interval" } else { "period, window" };
        let within = if self.search.exhausted {
            format!(" within {} steps of search; there may be one", self.search.steps)
        } else {
            String::new()
        };
        let mut text = format!("no change of a single {numbers}, budget or core was found that fits");
        if self.fits.is_empty() {
            text += &format!(", nor up to {CHANGES_TOLD_MAX} together");
        }
        text += &within;
        if let Some(overload) = self.overload_told() {
            text += &format!(": {} must go", overload.excess());
        }
        Some(text)
    }

    /// The words before [`fits`](Self::fits), where there are any.
    pub fn fits_heading(&self) -> Option<&'static str> {
        match (&self.fits[..], self.search.single_failed) {
            ([], _) => None,
            ([_], false) => Some("what would fit"),
            (_, false) => Some("what would fit, any one of"),
            ([_], true) => Some("what would fit, all of it together"),
            (_, true) => Some("what would fit, any one of, each as a whole"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.reason())?;
        if let Some(heading) = self.fits_heading() {
            let fits: Vec<String> = self.fits.iter().map(Remedy::to_string).collect();
            // In one sentence "or" says what the heading of a list must.
            let heading = heading.strip_suffix(", any one of").unwrap_or(heading);
            write!(out, "\n{heading}: {}", fits.join("; or "))?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}
