//! What is planted, and what the report must say of it.

use std::fmt;

/// Every period of the matrix.
pub const PERIOD: i64 = 20_000_000;
/// When plants begin in a period: before the window.
pub const FROM: i64 = 5_000_000;

/// The task that is disturbed, and when.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// How many hyperperiods a run has.
    pub rounds: u64,
    /// In which of them something is planted: apart, so that no plant's end reaches another's beginning.
    pub at: &'static [u64],
    /// For how long those outside disturb.
    pub length: i64,
    /// The window of the task.
    pub window: (i64, i64),
    /// Its execution budget.
    pub budget: i64,
}

impl Shape {
    /// Plants at places of their own, each from before the window to after it.
    pub const USUAL: Self = Self {
        rounds: 16,
        at: &[3, 6, 9, 12],
        length: 6_000_000,
        window: (6_000_000, 8_000_000),
        budget: 500_000,
    };
    /// One plant from the first third of the run to long after its end.
    pub const LONG: Self = Self { at: &[4], rounds: 22, length: 2_000_000_000, ..Self::USUAL };
    /// What takes the kernel some periods to begin, and goes on for a few.
    pub const SLOW: Self = Self { at: &[4], rounds: 22, length: 100_000_000, ..Self::USUAL };
    /// More to do than fits between the two ticks that end a turn among others.
    pub const CROWDED: Self =
        Self { length: 14_000_000, window: (6_000_000, 16_000_000), budget: 9_000_000, ..Self::USUAL };
    /// Hardly more room than the budget.
    pub const NARROW: Self = Self { window: (6_000_000, 6_500_000), budget: 400_000, ..Self::USUAL };
    /// Instances in a row, with a small budget in the usual window.
    pub const ROW: Self =
        Self { rounds: 22, at: &[4, 5, 6, 7, 8, 9, 10, 11, 12, 13], budget: 100_000, ..Self::USUAL };
    /// A small budget in the usual window.
    pub const SMALL: Self = Self { rounds: 22, at: &[4, 14], budget: 100_000, ..Self::USUAL };
    /// Two plants in a longer run.
    pub const RARE: Self = Self { rounds: 60, at: &[14, 44], ..Self::USUAL };
}

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
    /// By the body too, which computes for so long, above what the kernel has reserved for it, and ends in time: a later instance has to do
    /// without, whichever the kernel's next look at its accounts meets.
    Debt(&'static str),
    /// By another member, before this one on its core.
    Sibling,
    /// By such a process that the disturbed member started, and whatever it starts.
    Relative(&'static str),
    /// By nobody: the disturbed member is started by a shell, which waits for it.
    Wrapped,
    /// By a member that must send first, and is late or silent.
    Sender(&'static str, &'static str),
    /// The member may not use real-time scheduling, and another one may.
    WithoutRights,
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

    /// Whether it is signals without end: all threads of the member serve them.
    pub fn is_storm(self) -> bool {
        matches!(self.outside(), Some(("storm", _)))
    }

    /// Whether the kernel must take a program for it.
    pub fn loads_a_program(self) -> bool {
        matches!(self.outside(), Some(("interrupts-off", _)))
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
    pub shape: Shape,
}

impl Cause {
    pub const fn shaped(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }
}
