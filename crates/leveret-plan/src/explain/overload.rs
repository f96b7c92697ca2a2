//! Too much asked of a stretch of time: the proof in numbers, and which changes could relieve it.

use super::{Change, DeclarationKind};
use crate::windows::{Problem, charged};
use crate::{CoreChoice, Job, search};
use leveret_types::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// More processor time is asked for than there is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Overload {
    /// The core; `None`: all cores of the job together.
    pub core: Option<u32>,
    /// How many cores that is.
    pub cores: usize,
    /// The stretch of time, from the epoch; `None`: the whole hyperperiod.
    pub within: Option<(Nanos, Nanos)>,
    /// It repeats after this.
    pub hyperperiod: Nanos,
    /// Processor time asked for in that stretch, guards and costs included.
    pub needed: Nanos,
    /// Processor time that tasks may use of it.
    pub available: Nanos,
}

impl Overload {
    pub(super) fn new(job: &Job, hyperperiod: Nanos, found: &search::Overload) -> Self {
        let time = |value: i128| Nanos(i64::try_from(value).unwrap_or(i64::MAX));
        Self {
            core: found.core.and_then(|core| job.cores.get(core).copied()),
            cores: if found.core.is_some() { 1 } else { job.cores.len() },
            within: found.within.map(|within| (Nanos(within.earliest), Nanos(within.latest))),
            hyperperiod,
            needed: time(found.needed),
            available: time(found.available),
        }
    }

    /// By how much too much is asked.
    pub fn excess(&self) -> Nanos {
        self.needed - self.available
    }
}

impl fmt::Display for Overload {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { core, cores, within, hyperperiod, needed, available } = self;
        let who = match (core, cores) {
            (Some(core), _) => format!("core {core} is"),
            (None, 1) => "the job's core is".to_owned(),
            (None, _) => format!("the job's {cores} cores together are"),
        };
        if let Some((from, to)) = within {
            let room = *to - *from;
            return write!(
                out,
                "{who} asked for {needed} within the {room} from {from} to {to} of every {hyperperiod}, guards and costs \
                 included: {} too much",
                self.excess()
            );
        }
        let whole = hyperperiod.saturating_mul(i64::try_from(*cores).unwrap_or(i64::MAX));
        let percent = |part: Nanos| part.0 as f64 * 100.0 / whole.0.max(1) as f64;
        let of = if *cores == 1 { "its time" } else { "their time" };
        let every =
            if *cores == 1 { format!("{hyperperiod}") } else { format!("{cores} times {hyperperiod}") };
        write!(
            out,
            "{who} asked for {:.1} % of {of}: {needed} in every {every}, guards and costs included",
            percent(*needed)
        )?;
        if *available < whole {
            write!(out, ", of which tasks may use {available} ({:.1} %)", percent(*available))?;
        }
        write!(out, "; {} too much", self.excess())
    }
}

/// What is asked of each core over the hyperperiod: tells at once which changes cannot settle an overload, so that only
/// the others are planned.
pub(super) struct Demand<'a> {
    hyperperiod: i128,
    capacity: i128,
    guard: i128,
    cores: usize,
    /// Per core; what is free to choose has none.
    pinned: BTreeMap<u32, i128>,
    total: i128,
    /// By name: the task's number, and what it asks for.
    tasks: BTreeMap<&'a str, (usize, i128)>,
    job: &'a Job,
}

impl<'a> Demand<'a> {
    /// `None` where a window does not even hold its own task.
    pub fn of(job: &'a Job) -> Option<Self> {
        let problem = Problem::new(job).ok()?;
        let mut demand = Self {
            hyperperiod: i128::from(problem.hyperperiod),
            capacity: i128::from(problem.capacity),
            guard: i128::from(problem.guard),
            cores: problem.cores,
            pinned: BTreeMap::new(),
            total: 0,
            tasks: BTreeMap::new(),
            job,
        };
        for (index, task) in job.tasks.iter().enumerate() {
            let share = i128::from(problem.demand(index));
            demand.total += share;
            demand.tasks.insert(&task.name, (index, share));
            if let CoreChoice::Pinned(core) = task.core {
                *demand.pinned.entry(core).or_default() += share;
            }
        }
        Some(demand)
    }

    /// Share of the hyperperiod that a task asks for; 0 for one that there is not.
    pub fn share(&self, name: &str) -> i128 {
        self.tasks.get(name).map_or(0, |(_, share)| *share)
    }

    /// Whether no core is asked for more than it has once the change is made. Only sums are looked at.
    pub fn allows(&self, change: &Change) -> bool {
        let object = change.object();
        let task = self.tasks.get(object.name.as_str()).filter(|_| object.kind == DeclarationKind::Task);
        let Some((index, share)) = task.copied() else {
            return self.fits(self.total, self.cores)
                && self.pinned.values().all(|asked| self.fits(*asked, 1));
        };
        let task = &self.job.tasks[index];
        let mut length = i128::from(charged(self.job, task)) + self.guard;
        let (mut period, mut core) = (i128::from(task.period.0), task.core);
        match change {
            Change::Budget { from, to, .. } => length += i128::from(to.0) - i128::from(from.0),
            Change::Period { to, .. } => period = i128::from(to.0.max(1)),
            Change::Core { to, .. } => core = CoreChoice::Pinned(*to),
            _ => {}
        }
        // The hyperperiod may change with the period: compare shares of time, by cross multiplication.
        let with = |others: i128, cores: usize| {
            others * period + length * self.hyperperiod <= (self.capacity + 1) * cores as i128 * period
        };
        let pinned_here = |at: u32| task.core == CoreChoice::Pinned(at);
        let on_cores = self.job.cores.iter().all(|at| {
            let asked = self.pinned.get(at).copied().unwrap_or(0);
            let others = if pinned_here(*at) { asked - share } else { asked };
            if core == CoreChoice::Pinned(*at) { with(others, 1) } else { self.fits(others, 1) }
        });
        on_cores && with(self.total - share, self.cores)
    }

    fn fits(&self, asked: i128, cores: usize) -> bool {
        asked <= self.capacity * cores as i128
    }
}
