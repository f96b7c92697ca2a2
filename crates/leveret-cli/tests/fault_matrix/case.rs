//! What is planted, and what the report must say of it.

use std::fmt;

/// In which periods: apart, and at places of their own, so that no plant's end reaches another's beginning.
pub const AT: [u64; 4] = [4, 9, 14, 19];
/// How many hyperperiods a run has.
pub const ROUNDS: u64 = 22;
/// Every period of the matrix.
pub const PERIOD: i64 = 20_000_000;
/// The window of the task that is disturbed, and its execution budget.
pub const WINDOW: (i64, i64) = (6_000_000, 8_000_000);
pub const BUDGET: i64 = 500_000;
/// When plants begin, and for how long they last: from before the window to after it.
pub const FROM: i64 = 5_000_000;
pub const LENGTH: i64 = 6_000_000;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Scheduling {
    Fifo,
    Deadline,
    Plain,
}

impl Scheduling {
    /// As the manifest writes it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Deadline => "deadline",
            Self::Plain => "plain",
        }
    }
}

/// Whose a miss is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Party {
    Job,
    Process,
    Machine,
}

impl Party {
    pub fn of(word: &str) -> Self {
        match word {
            "job" => Self::Job,
            "process" => Self::Process,
            "machine" => Self::Machine,
            _ => panic!("{word} is no party"),
        }
    }
}

impl fmt::Display for Party {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Job => "job",
            Self::Process => "process",
            Self::Machine => "machine",
        })
    }
}

/// Whom the report must name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Culprit {
    /// The process that the plant's log names.
    Planter,
    /// The kernel does not say who did it: nobody, or the planter.
    Unknown,
    /// Nobody outside of the job.
    Nobody,
}

/// How something is planted.
#[derive(Clone, Copy, Debug)]
pub enum Plant {
    /// By a process outside of the job, from before the window to after it: the kind of `tests/members/plant.c`, and its number.
    Outside(&'static str, i32),
    /// By such a process, for a millisecond in the middle of the body.
    Briefly(&'static str),
    /// By the disturbed member's body: the kind of `tests/members/faulty.rs`, and its length.
    Body(&'static str, &'static str),
    /// By another member, before this one on its core.
    Sibling,
    /// By a member that must send first, and is late or silent.
    Sender(&'static str, &'static str),
}

impl Plant {
    /// The kind of an outside process.
    pub fn outside(self) -> Option<(&'static str, i32)> {
        match self {
            Self::Outside(kind, number) => Some((kind, number)),
            Self::Briefly(kind) => Some((kind, 0)),
            _ => None,
        }
    }

    /// What it needs of this machine: a file.
    pub fn needs(self) -> Option<&'static str> {
        match self.outside()?.0 {
            "freeze1" => Some("/sys/fs/cgroup/freezer/cgroup.procs"),
            "quota" => Some("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
            "real-time-quota" => Some("/sys/fs/cgroup/cpu/cpu.rt_runtime_us"),
            _ => None,
        }
    }
}

/// A planted cause, or several at once.
#[derive(Clone, Copy, Debug)]
pub struct Cause {
    /// What the page calls it.
    pub name: &'static str,
    pub plants: &'static [Plant],
    pub under: &'static [Scheduling],
    /// Whose the misses are; `None` where nothing may be attributed to it.
    pub party: Option<Party>,
    pub culprit: Culprit,
    /// Words of which one must stand in the evidence; any may where there are none.
    pub words: &'static [&'static str],
}
