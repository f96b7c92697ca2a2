//! A job beside others that run already: their time tables stand, and it is planned around them.
//!
//! ```text
//!  other A  |=|.......|=|.......|=|.......|=|.......|     round 10      all epochs are multiples of their rounds on one clock, so
//!  other B  |....==...............|....==...........|     round 20      what is at t now is there again after the greatest common
//!  held     |=|..==...|=|..==...|=|..==...|=|..==...|     every 10      divisor of the rounds, at the latest
//!  the job  |...........####................####....|     round 20      has its places in what is left
//! ```
//! What the others hold becomes work of the job that fills its windows and is pinned, for as long as the planner searches; then it is
//! taken out again. So search, explanations and checks are those of any job, and a refusal names what runs as one of the causes.
//!
//! Response times beside two tables at once are not known: a core on which others run work at priorities is not used, and work at
//! priorities is put on cores that the others leave alone.

use crate::admission::{plan_scope, solve};
use crate::explain::{Own, Scope};
use crate::search::Effort;
use crate::sporadic::Reserved;
use crate::windows::hyperperiod;
use crate::{
    CoreChoice, ExplainBudget, Job, Kept, OverrunPolicy, Plan, PlannedCore, PlannedInstance, Refusal, Task,
    checker, digest, validate,
};
use leveret_types::{MemberId, Nanos};
use std::fmt;

/// Another job that runs on the same cores.
#[derive(Clone, Copy, Debug)]
pub struct Other<'a> {
    /// How it is called in explanations.
    pub name: &'a str,
    /// Its declarations.
    pub job: &'a Job,
    /// Its time table.
    pub plan: &'a Plan,
}

/// Two tables that need one core at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Collision {
    /// The core.
    pub core: u32,
    /// The task of the job.
    pub task: String,
    /// The other job.
    pub other: String,
    /// Its task.
    pub other_task: String,
}

impl fmt::Display for Collision {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { core, task, other, other_task } = self;
        write!(out, "task \"{task}\" and task \"{other_task}\" of {other} need core {core} at once")
    }
}

/// Those of a job's cores that it can share with `others`, or have alone.
pub fn cores_beside(job: &Job, others: &[Other<'_>]) -> Vec<u32> {
    let is_left = |core: &u32| {
        let has_works = others.iter().any(|other| other.plan.sporadics.iter().any(|work| work.core == *core));
        let held = held(job, others, *core);
        let share = i128::from(held.total()) * 1000;
        let most = i128::from(held.round()) * i128::from(job.costs.utilisation_permille);
        let is_full = held.total() >= held.round() || share > most;
        !has_works && !is_full && (held.count() == 0 || job.sporadics.is_empty())
    };
    job.cores.iter().copied().filter(is_left).collect()
}

/// Plans a job around `others`. Its cores must be those of [`cores_beside`], and its epoch a multiple of its hyperperiod on the clock on
/// which theirs are multiples of theirs.
///
/// # Errors
/// As [`crate::plan`]; what runs can be among the causes.
pub fn plan_beside(job: &Job, others: &[Other<'_>]) -> Result<Plan, Refusal> {
    plan_beside_within(job, others, ExplainBudget::default())
}

/// The same with this many steps for the explanation of a refusal.
///
/// # Errors
/// As [`plan_beside`].
pub fn plan_beside_within(job: &Job, others: &[Other<'_>], budget: ExplainBudget) -> Result<Plan, Refusal> {
    plan_beside_keeping(job, others, &Kept::default(), budget)
}

/// The same where no change is proposed of what is kept of what runs, which cannot change.
///
/// # Errors
/// As [`plan_beside`].
pub fn plan_beside_keeping(
    job: &Job,
    others: &[Other<'_>],
    kept: &Kept,
    budget: ExplainBudget,
) -> Result<Plan, Refusal> {
    let held: Vec<Task> = job.cores.iter().flat_map(|core| stand_ins(job, others, *core)).collect();
    let own = Own::but(job, kept);
    let scope = Scope { own: &own, budget };
    if held.is_empty() || job.tasks.is_empty() {
        return plan_scope(job, scope);
    }
    let mut together = job.clone();
    together.tasks.extend(held);
    // What is known of a change is known beside the stand-ins of this job; another round can have others.
    let told = |mut refusal: Refusal| {
        let fits = |changed: Job| fits_beside(&changed, others);
        refusal.fits.retain(|remedy| remedy.apply(job).is_some_and(fits));
        refusal
    };
    let own = own_part(job, plan_scope(&together, scope).map_err(told)?);
    if checker::check(&own, job).is_ok() {
        return Ok(own);
    }
    in_one_piece(&mut together);
    Ok(own_part(job, plan_scope(&together, scope).map_err(told)?))
}

/// Something of the job was to be interrupted by what runs, and priorities of two plans do not compare.
fn in_one_piece(together: &mut Job) {
    for task in &mut together.tasks {
        task.preemptible = false;
    }
}

/// Whether [`plan_beside`] finds a plan.
fn fits_beside(job: &Job, others: &[Other<'_>]) -> bool {
    let mut together = job.clone();
    together.tasks.extend(job.cores.iter().flat_map(|core| stand_ins(job, others, *core)));
    let planned = |together: &Job| {
        let plan = validate(together).ok().and_then(|()| solve(together, &mut Effort::full()).ok());
        plan.is_some_and(|plan| checker::check(&own_part(job, plan), job).is_ok())
    };
    planned(&together) || {
        in_one_piece(&mut together);
        planned(&together)
    }
}

/// Every pair of tasks, one of the job's and one of the others', that need a core at once in some round: none in a plan that
/// [`plan_beside`] made. Shares no code with it.
pub fn collisions((job, plan): (&Job, &Plan), others: &[Other<'_>]) -> Vec<Collision> {
    let mut found = Vec::new();
    for (task, planned) in job.tasks.iter().zip(&plan.tasks) {
        for other in others {
            let step = divisor(plan.hyperperiod.0, other.plan.hyperperiod.0);
            let on_core = other.job.tasks.iter().zip(&other.plan.tasks);
            for (other_task, held) in on_core.filter(|(_, held)| held.core == planned.core) {
                let meet = |one: &PlannedInstance| {
                    let one = (one.start() - plan.costs.guard, one.end());
                    held.instances.iter().any(|two| {
                        let two = (two.start() - other.plan.costs.guard, two.end());
                        let after = |from: Nanos, to: Nanos| (to - from).0.rem_euclid(step);
                        after(one.0, two.0) < (one.1 - one.0).0 || after(two.0, one.0) < (two.1 - two.0).0
                    })
                };
                if planned.instances.iter().any(meet) {
                    found.push(Collision {
                        core: planned.core,
                        task: task.name.clone(),
                        other: other.name.to_owned(),
                        other_task: other_task.name.clone(),
                    });
                }
            }
        }
    }
    found
}

fn divisor(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// What the others hold of a core, on the circle after which it repeats as seen by the job.
fn held(job: &Job, others: &[Other<'_>], core: u32) -> Reserved {
    let tables: Vec<Reserved> = others.iter().map(|other| Reserved::of(other.plan, core, |_| true)).collect();
    let tables = || tables.iter().filter(|table| table.count() > 0);
    // Without periods of its own the job has no table that could be in the way.
    let own = hyperperiod(job).unwrap_or(0);
    let round = tables().fold(own, |round, table| divisor(round, table.round()));
    let round = if round > 0 { round } else { i64::MAX };
    // Room for a stand-in, whose guard may be longer than theirs.
    let least = job.costs.guard.0 + job.costs.switch.0 + 1;
    let mut pieces = Vec::new();
    for (start, length) in tables().flat_map(Reserved::stretches) {
        let (from, length) = (start.min(start + length - least), length.max(least).min(round));
        let from = from.rem_euclid(round);
        let first = length.min(round - from);
        pieces.push((from, from + first));
        if length > first {
            pieces.push((0, length - first));
        }
    }
    pieces.sort_unstable();
    Reserved::new(round, &pieces)
}

/// Work that holds what the others hold of a core: each fills its window, so it has one place.
fn stand_ins(job: &Job, others: &[Other<'_>], core: u32) -> Vec<Task> {
    let held = held(job, others, core);
    let costs = &job.costs;
    let stand_in = |(number, (start, length)): (usize, (i64, i64))| {
        let charged = Nanos(length) - costs.guard;
        let release = Nanos(start) + costs.guard - costs.clock_error;
        let release = Nanos(release.0.rem_euclid(held.round()));
        Task {
            name: format!("what runs on core {core} ({})", number + 1),
            member: MemberId(0),
            period: Nanos(held.round()),
            release,
            deadline: release + charged + costs.clock_error.saturating_mul(2),
            budget: charged - costs.switch,
            core: CoreChoice::Pinned(core),
            preemptible: false,
            overrun: OverrunPolicy::default(),
            reads: Vec::new(),
            writes: Vec::new(),
            mover: false,
        }
    };
    held.stretches().enumerate().map(stand_in).collect()
}

/// A plan without the stand-ins.
fn own_part(job: &Job, mut together: Plan) -> Plan {
    together.tasks.truncate(job.tasks.len());
    let account = |core: &u32| {
        let table = Reserved::of(&together, *core, |_| true);
        let (used, gap) = (Nanos(table.total()), Nanos(table.longest_gap()));
        PlannedCore {
            core: *core,
            used,
            sporadic: Nanos::ZERO,
            left: together.hyperperiod - used,
            longest_gap: gap,
        }
    };
    let cores = job.cores.iter().map(account).collect();
    Plan { job_digest: digest(job), cores, ..together }
}
