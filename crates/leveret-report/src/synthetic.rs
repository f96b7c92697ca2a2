//! Believable records from a seed: a ring of three members and a foreign task on two cores, with the stalls that
//! shared virtual machines show and, on demand, planted causes. For tests and for the documentation's pictures.

mod model;
mod simulate;

use crate::record::RunRecord;
use leveret_types::Nanos;

/// What to make up.
#[derive(Clone, PartialEq, Debug)]
pub struct Ring {
    /// Seed; the same gives the same record.
    pub seed: u64,
    /// Periods per phase.
    pub rounds: u64,
    /// Period of everything.
    pub period: Nanos,
    /// Periods in one hyperperiod of the plan; the run is the same, its table longer.
    pub periods_per_round: u64,
    /// Sizes of the messages, one phase each.
    pub sizes: Vec<u32>,
    /// Whether the machine stalls now and then as shared virtual machines do.
    pub stalls: bool,
    /// Whether the log of switches sees the whole core.
    pub whole_core_log: bool,
    /// Whether real-time scheduling was obtained.
    pub real_time: bool,
    /// Causes planted at a round of the first phase.
    pub plants: Vec<(u64, Plant)>,
}

impl Default for Ring {
    fn default() -> Self {
        Self {
            seed: 1,
            rounds: 1000,
            period: Nanos::from_millis(1),
            periods_per_round: 1,
            sizes: vec![4],
            stalls: false,
            whole_core_log: true,
            real_time: true,
            plants: Vec::new(),
        }
    }
}

/// Index of A's task.
pub const A: usize = 0;
/// Index of B's task.
pub const B: usize = 1;
/// Index of C's task.
pub const C: usize = 2;
/// Index of the foreign task.
pub const DUMMY: usize = 3;

/// A planted cause. Tasks and channels by index; channel i leads from task i to the next in the ring.
#[derive(Clone, PartialEq, Debug)]
pub enum Plant {
    /// A foreign thread of this priority has the core from before the wake-up until `by` after the planned start.
    Hog {
        /// Victim.
        task: usize,
        /// 0 for ordinary scheduling.
        priority: u8,
        /// Delay beyond the planned start.
        by: Nanos,
    },
    /// As `Hog`, by a thread of the kernel.
    KernelThread {
        /// Victim.
        task: usize,
        /// Delay beyond the planned start.
        by: Nanos,
    },
    /// The core is idle and the timer late.
    LateTimer {
        /// Victim.
        task: usize,
        /// Delay beyond the planned start.
        by: Nanos,
    },
    /// Who had the core is not in the log.
    LateUnknown {
        /// Victim.
        task: usize,
        /// Delay beyond the planned start.
        by: Nanos,
    },
    /// The core stands still while the task spins.
    StallInSpin {
        /// Victim.
        task: usize,
        /// Length.
        by: Nanos,
    },
    /// A page fault while the task spins.
    FaultInSpin {
        /// Victim.
        task: usize,
        /// Length.
        by: Nanos,
    },
    /// The core stands still while the task executes.
    StallInBody {
        /// Victim.
        task: usize,
        /// Length.
        by: Nanos,
    },
    /// The task computes longer than its budget.
    Overrun {
        /// Victim.
        task: usize,
        /// Beyond its usual time.
        by: Nanos,
    },
    /// A page fault in the body.
    PageFault {
        /// Victim.
        task: usize,
        /// Beyond its usual time.
        by: Nanos,
        /// Whether the address was logged.
        logged: bool,
    },
    /// A foreign thread preempts the body.
    Preempted {
        /// Victim.
        task: usize,
        /// 0 for ordinary scheduling (the fair server).
        priority: u8,
        /// How long.
        by: Nanos,
    },
    /// The body sleeps.
    Blocked {
        /// Victim.
        task: usize,
        /// How long.
        by: Nanos,
    },
    /// The task's member is stopped for this long from before its wake-up.
    Stopped {
        /// Victim.
        task: usize,
        /// How long.
        by: Nanos,
    },
    /// The clock jumps forward before the wake-up.
    ClockStep {
        /// Victim.
        task: usize,
        /// How far.
        by: Nanos,
    },
    /// The task's member dies.
    Died {
        /// Victim.
        task: usize,
    },
    /// The channel's segment holds nonsense.
    Corrupt {
        /// Channel.
        channel: usize,
    },
    /// The sender found no free buffer.
    NoBuffer {
        /// Channel.
        channel: usize,
    },
    /// The receiver's program has no buffer for the message.
    NoRoom {
        /// Channel.
        channel: usize,
    },
    /// The sender's message has more bytes than the channel carries.
    TooLong {
        /// Channel.
        channel: usize,
    },
    /// The sender's task inserts nothing.
    NotInserted {
        /// Channel.
        channel: usize,
    },
}

/// Makes the record up.
pub fn ring(ring: &Ring) -> RunRecord {
    simulate::run(ring)
}

/// A small generator of pseudo-random numbers (SplitMix64, Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub(crate) struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in (0, 1].
    pub fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in `[from, to)`.
    pub fn between(&mut self, from: i64, to: i64) -> i64 {
        from + (self.unit() * (to - from) as f64) as i64
    }

    /// `least * u^(-1/exponent)`: a power-law tail, at most `most`.
    pub fn tail(&mut self, least: f64, exponent: f64, most: f64) -> i64 {
        (least * self.unit().powf(-1.0 / exponent)).min(most) as i64
    }
}
