//! Who made an instance late: the job itself, another process, or the machine.

use super::Miss;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Who made an instance late.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Party {
    /// The job itself, and whatever nothing proves to be another's.
    Job,
    /// A process that is not of the job.
    Process,
    /// Hardware, hypervisor, or the kernel in its own work.
    Machine,
}

impl Party {
    /// The word in machine formats.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::Process => "process",
            Self::Machine => "machine",
        }
    }

    /// As in "the miss is ...".
    pub const fn possessive(self) -> &'static str {
        match self {
            Self::Job => "the job's",
            Self::Process => "another process's",
            Self::Machine => "the machine's",
        }
    }
}

impl fmt::Display for Party {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.word())
    }
}

/// The thread that made an instance late.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Culprit {
    /// Its name; empty when unknown.
    pub name: String,
    /// Its process, when known.
    pub pid: Option<u32>,
    /// The thread, when known.
    pub thread: Option<u32>,
    /// How it was scheduled at that time, such as `SCHED_FIFO 50`; empty when unknown or of no importance.
    pub rank: String,
    /// What it did: `preempted`, `debugger`, `froze the cgroup`.
    pub what: String,
}

impl fmt::Display for Culprit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if self.name.is_empty() { "unknown" } else { &self.name })?;
        match (self.pid, self.thread) {
            (Some(pid), _) => write!(out, ", pid {pid}"),
            (None, Some(thread)) => write!(out, ", thread {thread}"),
            (None, None) => Ok(()),
        }
    }
}

/// A party, how sure that is, and the thread.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Blame {
    /// Whose.
    pub party: Party,
    /// Nothing proves whose it is, so it counts as the job's.
    pub unproven: bool,
    /// The thread that did it, where one did.
    pub culprit: Option<Culprit>,
}

impl Blame {
    /// The job's own doing.
    pub(crate) const fn job() -> Self {
        Self { party: Party::Job, unproven: false, culprit: None }
    }

    /// The job's own doing, by a thread of it that is no task.
    pub(crate) const fn job_by(culprit: Culprit) -> Self {
        Self { party: Party::Job, unproven: false, culprit: Some(culprit) }
    }

    /// Nothing proves it to be another's: the job's, with that said.
    pub(crate) const fn unproven() -> Self {
        Self { party: Party::Job, unproven: true, culprit: None }
    }

    /// Another process's.
    pub(crate) const fn process(culprit: Culprit) -> Self {
        Self { party: Party::Process, unproven: false, culprit: Some(culprit) }
    }

    /// Proven to be the machine's.
    pub(crate) const fn machine() -> Self {
        Self { party: Party::Machine, unproven: false, culprit: None }
    }
}

/// As in `(whose: job, unproven)`.
impl fmt::Display for Blame {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.party)?;
        if self.unproven { out.write_str(", unproven") } else { Ok(()) }
    }
}

/// How many misses are whose.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// All of the job's, unproven ones included.
    pub job: u64,
    /// All of other processes.
    pub process: u64,
    /// All of the machine's.
    pub machine: u64,
    /// Of the job's, those that nothing proves to be anybody's.
    pub unproven: u64,
    /// Of the job's, those that do not follow from another instance; of all that one holder held up in one go, the first.
    pub job_roots: u64,
    /// Of other processes', those that do not follow from another instance.
    pub process_roots: u64,
    /// Of the machine's, those that do not follow from another instance.
    pub machine_roots: u64,
    /// The process that made most of its party's instances late, in words.
    pub worst_process: Option<String>,
}

impl Counts {
    /// Counts `misses`.
    pub fn of<'a>(misses: impl IntoIterator<Item = &'a Miss>) -> Self {
        let mut counts = Self::default();
        let mut culprits: BTreeMap<String, u64> = BTreeMap::new();
        for miss in misses {
            let (all, roots) = match miss.party {
                Party::Job => (&mut counts.job, &mut counts.job_roots),
                Party::Process => (&mut counts.process, &mut counts.process_roots),
                Party::Machine => (&mut counts.machine, &mut counts.machine_roots),
            };
            *all += 1;
            *roots += u64::from(miss.root.is_none());
            counts.unproven += u64::from(miss.unproven);
            if let (Party::Process, Some(culprit)) = (miss.party, &miss.culprit) {
                *culprits.entry(culprit.to_string()).or_insert(0) += 1;
            }
        }
        let worst = culprits.iter().max_by_key(|(_, count)| **count);
        let others = culprits.len().saturating_sub(1);
        counts.worst_process = worst.map(|(name, _)| match others {
            0 => name.clone(),
            1 => format!("most by {name}, and one more"),
            _ => format!("most by {name}, and {others} more"),
        });
        counts
    }

    /// All misses.
    pub fn all(&self) -> u64 {
        self.job + self.process + self.machine
    }
}

/// `12 misses: 3 the job's (1 root cause, 1 unproven), 9 another process's (stress-ng, pid 77), 0 the machine's`.
impl fmt::Display for Counts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        use crate::format::plural;
        write!(out, "{}: {} the job's", plural(self.all(), "miss", "misses"), self.job)?;
        if self.job > 0 {
            write!(out, " ({}", plural(self.job_roots, "root cause", "root causes"))?;
            if self.unproven > 0 {
                write!(out, ", {} unproven", self.unproven)?;
            }
            out.write_str(")")?;
        }
        write!(out, ", {} another process's", self.process)?;
        if let Some(worst) = &self.worst_process {
            write!(out, " ({worst})")?;
        }
        write!(out, ", {} the machine's", self.machine)
    }
}
