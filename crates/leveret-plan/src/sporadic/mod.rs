//! Sporadic work beside the time table: cores for it, bounds on its responses, and what is left after it.

mod response;
mod table;

pub(crate) use response::{Charges, Load, Response, STEPS_MAX, Steps, response_after};
pub(crate) use table::Reserved;

use crate::{CoreChoice, Job, Placement, Plan, PlannedSporadic, Sporadic, Start};
use leveret_types::Nanos;
use response::{STEPS_LIGHT_MAX, response};

/// Shares of a core are counted in this many parts, each rounded up.
pub(crate) const SHARE_PARTS: i64 = 1_000_000_000;
/// Assignments of free work to cores that are tried.
const ASSIGNMENTS_MAX: u32 = 10_000;

/// Why sporadic work cannot run beside a table.
#[derive(Clone, Debug)]
pub(crate) struct Late {
    /// Which, by index.
    pub sporadic: usize,
    /// The core, by index in the job: its own, or the last that was tried.
    pub core: usize,
    /// Everything that was on that core, by index.
    pub beside: Vec<usize>,
    pub cause: Cause,
    /// The table that it does not fit beside.
    pub table: Box<Plan>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cause {
    /// The response can take this long, which is beyond the deadline.
    Bound(i64),
    /// It and what serves the other end of its channel can together take this long, which is beyond the deadline.
    Together(i64),
    /// As urgent work may arrive at any rate.
    Unbounded,
    /// The core is asked for this many parts of its time, of which there are so many.
    Overload { asked: i64, most: i64 },
    /// The analysis was cut short.
    GaveUp,
}

/// What each core has beside its table, in the job's order of cores.
pub(crate) struct Beside<'a> {
    job: &'a Job,
    tables: Vec<Reserved>,
    loads: Vec<Load>,
    charges: Charges,
    steps: Steps,
}

/// Completes a plan of the table by all sporadic work.
pub(crate) fn admit(job: &Job, plan: Plan) -> Result<Plan, Late> {
    admit_within(job, plan, STEPS_MAX)
}

/// The same for a trial: with less effort, so that what is admitted here is admitted there.
pub(crate) fn admits(job: &Job, plan: Plan) -> bool {
    admit_within(job, plan, STEPS_LIGHT_MAX).is_ok()
}

fn admit_within(job: &Job, mut plan: Plan, steps: u64) -> Result<Plan, Late> {
    if job.sporadics.is_empty() {
        return Ok(plan);
    }
    let mut beside = Beside { steps: Steps(steps), ..Beside::new(job, &plan, |_| true) };
    let pinned = |sporadic: &Sporadic| match sporadic.core {
        CoreChoice::Pinned(core) => job.cores.iter().position(|present| *present == core),
        CoreChoice::Any => None,
    };
    let mut cores: Vec<Option<usize>> = job.sporadics.iter().map(pinned).collect();
    let late = |(sporadic, core, cause): (usize, usize, Cause), on: &[Option<usize>]| Late {
        sporadic,
        core,
        beside: (0..on.len()).filter(|index| on[*index] == Some(core)).collect(),
        cause,
        table: Box::new(plan.clone()),
    };
    for core in 0..job.cores.len() {
        if let Err((sporadic, cause)) = beside.check(core, &cores) {
            return Err(late((sporadic, core, cause), &cores));
        }
    }
    let mut free: Vec<usize> = (0..cores.len()).filter(|index| cores[*index].is_none()).collect();
    free.sort_by_key(|index| (std::cmp::Reverse(job.sporadics[*index].priority), *index));
    let mut tries = ASSIGNMENTS_MAX;
    if let Err((at, on)) = beside.assign(&free, &mut cores, &mut tries) {
        return Err(late(at, &on));
    }
    let bounds = beside.bounds(&cores);
    if let Some((sporadic, bound)) = beside.late_channel(&bounds) {
        let both = [sporadic, other_end(job, sporadic).unwrap_or(sporadic)].map(|end| cores[end]);
        let core = both[0].unwrap_or(0);
        let mut late = late((sporadic, core, Cause::Together(bound)), &cores);
        late.beside = (0..cores.len()).filter(|index| both.contains(&cores[*index])).collect();
        return Err(late);
    }
    beside.complete(&mut plan, &cores, &bounds);
    Ok(plan)
}

/// What serves the other end of the channel that this work serves.
pub(crate) fn other_end(job: &Job, sporadic: usize) -> Option<usize> {
    let other = match job.sporadics[sporadic].start {
        Start::Message(channel) => Start::Request(channel),
        Start::Request(channel) => Start::Message(channel),
        Start::Event { .. } => return None,
    };
    job.sporadics.iter().position(|candidate| candidate.start == other)
}

/// Where an assignment failed: work, core and cause, with what had been assigned.
type Dead = ((usize, usize, Cause), Vec<Option<usize>>);

impl<'a> Beside<'a> {
    /// Beside what `plan` reserves for the tasks that `counts` accepts; with the effort of a trial.
    pub fn new(job: &'a Job, plan: &Plan, counts: impl Fn(usize) -> bool) -> Self {
        let tables = job.cores.iter().map(|core| Reserved::of(plan, *core, &counts)).collect();
        let loads = job.sporadics.iter().map(|sporadic| load(job, sporadic)).collect();
        let charges =
            Charges { delay: (job.costs.publish + job.costs.guard).0, preemption: job.costs.preemption.0 };
        Self { job, tables, loads, charges, steps: Steps(STEPS_LIGHT_MAX) }
    }

    /// Depth first: the most urgent free work on the core that has most left, and so on.
    fn assign(&mut self, free: &[usize], cores: &mut [Option<usize>], tries: &mut u32) -> Result<(), Dead> {
        let Some((&work, rest)) = free.split_first() else { return Ok(()) };
        let mut order: Vec<usize> = (0..self.tables.len()).collect();
        order.sort_by_key(|core| (self.asked(*core, cores), *core));
        let mut dead: Option<Dead> = None;
        for core in order {
            if *tries == 0 {
                break;
            }
            *tries -= 1;
            cores[work] = Some(core);
            match self.check(core, cores) {
                Ok(()) => match self.assign(rest, cores, tries) {
                    Ok(()) => return Ok(()),
                    // What failed deeper had more in its way, and says more.
                    Err(deeper) => dead = Some(deeper),
                },
                Err((sporadic, cause)) => {
                    dead.get_or_insert_with(|| ((sporadic, core, cause), cores.to_vec()));
                }
            }
            cores[work] = None;
        }
        Err(dead.unwrap_or_else(|| ((work, 0, Cause::GaveUp), cores.to_vec())))
    }

    /// Parts of a core's time that are asked for; `i64::MAX` where some of it has no limit.
    fn asked(&self, core: usize, cores: &[Option<usize>]) -> i64 {
        let table = &self.tables[core];
        let preemptions = (table.count() as i64).saturating_mul(self.charges.preemption);
        let of_table = parts(table.total().saturating_add(preemptions), table.round());
        let on_core = (0..cores.len()).filter(|index| cores[*index] == Some(core));
        on_core.map(|index| self.share(index)).fold(of_table, i64::saturating_add)
    }

    fn share(&self, sporadic: usize) -> i64 {
        let load = &self.loads[sporadic];
        load.interval.map_or(0, |interval| parts(load.cost + self.charges.preemption, interval))
    }

    /// Whether everything on a core meets its deadline; else who does not, and why.
    fn check(&mut self, core: usize, cores: &[Option<usize>]) -> Result<(), (usize, Cause)> {
        let on_core: Vec<usize> = (0..cores.len()).filter(|index| cores[*index] == Some(core)).collect();
        self.check_these(core, &on_core)
    }

    /// The same for what `on_core` names.
    pub fn check_these(&mut self, core: usize, on_core: &[usize]) -> Result<(), (usize, Cause)> {
        let mut on = vec![None; self.loads.len()];
        on_core.iter().for_each(|index| on[*index] = Some(core));
        let most = i64::from(self.job.costs.utilisation_permille) * (SHARE_PARTS / 1000);
        let asked = self.asked(core, &on);
        let least_urgent = on_core.iter().copied().min_by_key(|index| (self.loads[*index].priority, *index));
        if let Some(least_urgent) = least_urgent.filter(|_| asked > most) {
            return Err((least_urgent, Cause::Overload { asked, most }));
        }
        // The most urgent first: what is less urgent is no reason.
        let mut order = on_core.to_vec();
        order.sort_by_key(|index| (std::cmp::Reverse(self.loads[*index].priority), *index));
        for index in order {
            let Some(deadline) = self.loads[index].deadline else { continue };
            match self.bound(core, index, on_core) {
                Response::Bound(bound) if bound <= deadline => {}
                Response::Bound(bound) => return Err((index, Cause::Bound(bound))),
                Response::Unbounded => return Err((index, Cause::Unbounded)),
                Response::GaveUp => return Err((index, Cause::GaveUp)),
            }
        }
        Ok(())
    }

    fn bound(&mut self, core: usize, index: usize, on_core: &[usize]) -> Response {
        let own = self.loads[index];
        let rivals: Vec<Load> = on_core
            .iter()
            .filter(|other| **other != index)
            .map(|other| self.loads[*other])
            .filter(|other| other.priority >= own.priority)
            .collect();
        response(&self.tables[core], &own, &rivals, self.charges, &mut self.steps)
    }

    /// Whether the analysis has been cut short, so that its answers say nothing more.
    pub fn is_spent(&self) -> bool {
        self.steps.0 <= self.loads.len() as u64
    }

    /// Every work's bound on the core that it has; `Nanos::MAX` where there is none.
    fn bounds(&mut self, cores: &[Option<usize>]) -> Vec<Nanos> {
        let mut bounds = Vec::with_capacity(cores.len());
        for (index, core) in cores.iter().enumerate() {
            let on_core: Vec<usize> = (0..cores.len()).filter(|other| cores[*other] == *core).collect();
            let found = core.map(|core| self.bound(core, index, &on_core));
            bounds.push(match found {
                Some(Response::Bound(bound)) => Nanos(bound),
                Some(Response::Unbounded | Response::GaveUp) | None => Nanos::MAX,
            });
        }
        bounds
    }

    /// A channel whose two ends together take longer than its deadline: what serves its target, and how long.
    fn late_channel(&self, bounds: &[Nanos]) -> Option<(usize, i64)> {
        let together = |index: usize| {
            let Start::Message(_) = self.job.sporadics[index].start else { return None };
            let deadline = self.loads[index].deadline?;
            let both = bounds[index].saturating_add(bounds[other_end(self.job, index)?]);
            (both.0 > deadline).then_some((index, both.0))
        };
        (0..bounds.len()).find_map(together)
    }

    /// Writes bounds, levels and accounts into the plan.
    fn complete(&self, plan: &mut Plan, cores: &[Option<usize>], bounds: &[Nanos]) {
        let mut priorities: Vec<u8> = self.loads.iter().map(|load| load.priority).collect();
        priorities.sort_unstable();
        priorities.dedup();
        for (index, load) in self.loads.iter().enumerate() {
            let Some(core) = cores[index] else { continue };
            let response_bound = bounds[index];
            let level = priorities.partition_point(|priority| *priority < load.priority) as u16;
            let core = self.job.cores[core];
            plan.sporadics.push(PlannedSporadic { sporadic: index as u16, core, level, response_bound });
            if let Start::Message(channel) = self.job.sporadics[index].start {
                let source = other_end(self.job, index).map_or(Nanos::ZERO, |source| bounds[source]);
                plan.channels[channel.index()].latency_bound = response_bound.saturating_add(source);
            }
        }
        for (core, account) in plan.cores.iter_mut().enumerate() {
            let on_core = || (0..cores.len()).filter(|index| cores[*index] == Some(core));
            let rest = account.left;
            let limited = on_core().all(|index| self.loads[index].interval.is_some());
            let shares = on_core().map(|index| self.share(index)).sum::<i64>();
            let share = i128::from(shares) * i128::from(plan.hyperperiod.0);
            let share = (share + i128::from(SHARE_PARTS) - 1) / i128::from(SHARE_PARTS);
            let asked = if limited { i64::try_from(share).unwrap_or(i64::MAX) } else { rest.0 };
            account.sporadic = Nanos(asked.min(rest.0));
            account.left = rest - account.sporadic;
        }
    }
}

/// `time` of every `period`, in parts, rounded up.
fn parts(time: i64, period: i64) -> i64 {
    let exact = (i128::from(time) * i128::from(SHARE_PARTS) + i128::from(period) - 1) / i128::from(period);
    i64::try_from(exact).unwrap_or(i64::MAX)
}

pub(crate) fn load(job: &Job, sporadic: &Sporadic) -> Load {
    let time = |time: Option<Nanos>| time.map(|time| time.0);
    Load {
        priority: sporadic.priority,
        cost: charged(job, sporadic),
        interval: time(sporadic.interval),
        deadline: time(sporadic.deadline),
    }
}

/// Length of one run: its budget, one switch, and the copy of its message.
pub(crate) fn charged(job: &Job, sporadic: &Sporadic) -> i64 {
    let copied = match sporadic.start {
        Start::Message(channel) | Start::Request(channel) => {
            let channel = &job.channels[channel.index()];
            let kib = i64::try_from(channel.size.0.div_ceil(1024)).unwrap_or(i64::MAX);
            if channel.placement == Placement::Separate { kib } else { 0 }
        }
        Start::Event { .. } => 0,
    };
    (sporadic.budget + job.costs.switch + job.costs.copy_per_kib.saturating_mul(copied)).0.max(1)
}
