//! Too much asked of a stretch of time: the proof in numbers, and which changes could relieve it.

use super::{Change, DeclarationKind, Remedy};
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

    /// The core that is asked for most of its time, or all of them where no task is pinned, though it may have that much.
    pub(super) fn fullest(job: &Job, hyperperiod: Nanos) -> Option<Self> {
        let demand = Demand::of(job)?;
        let time = |value: i128| Nanos(i64::try_from(value).unwrap_or(i64::MAX));
        let fullest = demand.pinned.iter().max_by_key(|(core, asked)| (**asked, std::cmp::Reverse(**core)));
        let (core, cores, needed) = match fullest {
            Some((core, asked)) if demand.pinned.values().sum::<i128>() == demand.total => {
                (Some(*core), 1, *asked)
            }
            _ => (None, demand.cores, demand.total),
        };
        let available = demand.capacity * cores as i128;
        Some(Self {
            core,
            cores,
            within: None,
            hyperperiod,
            needed: time(needed),
            available: time(available),
        })
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
        if needed <= available {
            return write!(out, ": that much there is, but not within the windows");
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

    /// Whether no core is asked for more than it has once the changes are made. Only sums are looked at.
    pub fn allows(&self, remedy: &Remedy) -> bool {
        let mut pinned = self.pinned.clone();
        let mut total = self.total;
        for (index, asked) in self.changed(remedy) {
            let before = &self.job.tasks[index];
            let share = self.share(&before.name);
            total += asked.share - share;
            if let CoreChoice::Pinned(core) = before.core {
                *pinned.entry(core).or_default() -= share;
            }
            if let CoreChoice::Pinned(core) = asked.core {
                *pinned.entry(core).or_default() += asked.share;
            }
        }
        self.fits(total, self.cores) && pinned.values().all(|asked| self.fits(*asked, 1))
    }

    /// What the tasks that change ask for then, of the present hyperperiod; rounded down, which may only allow more.
    fn changed(&self, remedy: &Remedy) -> BTreeMap<usize, Asked> {
        let mut changed: BTreeMap<usize, (i128, i128, CoreChoice)> = BTreeMap::new();
        for change in &remedy.changes {
            let object = change.object();
            let task = self.tasks.get(object.name.as_str()).filter(|_| object.kind == DeclarationKind::Task);
            let Some((index, _)) = task.copied() else { continue };
            let task = &self.job.tasks[index];
            let (length, period, core) = changed.entry(index).or_insert_with(|| {
                (i128::from(charged(self.job, task)) + self.guard, i128::from(task.period.0), task.core)
            });
            match change {
                Change::Budget { from, to, .. } => *length += i128::from(to.0) - i128::from(from.0),
                Change::Period { to, .. } => *period = i128::from(to.0.max(1)),
                Change::Core { to, .. } => *core = CoreChoice::Pinned(*to),
                _ => {}
            }
        }
        let asked = |(length, period, core)| Asked { share: length * self.hyperperiod / period, core };
        changed.into_iter().map(|(index, task)| (index, asked(task))).collect()
    }

    fn fits(&self, asked: i128, cores: usize) -> bool {
        // The hyperperiod may change with a period, and with it what is lost by rounding the capacity down.
        asked <= (self.capacity + 1) * cores as i128
    }
}

/// What a task asks for after a change.
struct Asked {
    share: i128,
    core: CoreChoice,
}
