//! Admission: a plan, or the reason why there is none.

use crate::assemble::TooManyBuffers;
use crate::explain::{Own, Scope};
use crate::search::{Effort, Outcome, Overload, search, unplaced};
use crate::sporadic::{self, Late};
use crate::windows::{Problem, activations, hyperperiod};
use crate::{ExplainBudget, Job, Kept, Plan, Refusal, assemble, explain, validate};

/// Plans a job: a start for every instance of every task over one hyperperiod, with bounds and buffer counts.
///
/// Deterministic: the same job gives the same plan, byte for byte.
///
/// # Errors
/// A [`Refusal`] that names a minimal set of declarations that cannot be met together, and changes that would fit.
pub fn plan(job: &Job) -> Result<Plan, Refusal> {
    plan_within(job, ExplainBudget::default())
}

/// The same with this many steps for the explanation of a refusal.
///
/// # Errors
/// As [`plan`].
pub fn plan_within(job: &Job, budget: ExplainBudget) -> Result<Plan, Refusal> {
    plan_scope(job, Scope { own: &Own::but(job, &Kept::default()), budget })
}

/// The same, where not all tasks may be the program's.
pub(crate) fn plan_scope(job: &Job, scope: Scope<'_>) -> Result<Plan, Refusal> {
    plan_with(job, scope, &mut Effort::full())
}

/// The same with an effort of the caller's, which counts what was spent.
pub(crate) fn plan_with(job: &Job, scope: Scope<'_>, effort: &mut Effort) -> Result<Plan, Refusal> {
    match validate(job) {
        Err(errors) => Err(explain::bad_declarations(job, errors, scope)),
        Ok(()) => solve(job, effort).map_err(|failure| explain::refuse(job, &failure, scope)),
    }
}

/// Why a valid job has no plan.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// Tasks, by index, that are known to collide; all of them where nothing narrower is known.
    pub tasks: Vec<usize>,
    /// A channel that needs more buffers than any channel may have.
    pub buffers: Option<TooManyBuffers>,
    /// Steps of a search that gave up; `None` where infeasibility is proven.
    pub gave_up_after: Option<u64>,
    /// The stretch of time of which too much is asked, where that is the proof.
    pub overload: Option<Box<Overload>>,
    /// What cannot run beside the table that was found.
    pub late: Option<Box<Late>>,
}

impl Failure {
    fn proven(tasks: Vec<usize>) -> Self {
        Self { tasks, buffers: None, gave_up_after: None, overload: None, late: None }
    }
}

/// Whether a plan is found with little effort; then [`solve`] finds one too.
pub(crate) fn solve_soon(job: &Job, effort: &mut Effort) -> bool {
    let Ok(problem) = Problem::new(job) else { return false };
    let placement = unplaced(&problem, effort).ok();
    placement.is_some_and(|placement| {
        let plan = assemble::assemble(job, &problem, &placement).ok();
        plan.is_some_and(|plan| sporadic::admit(job, plan).is_ok())
    })
}

/// To which end of its windows a task is to be kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lean {
    /// It starts as late as it can.
    Late,
    /// It ends as early as it can.
    Early,
}

/// A plan in which some tasks, by index, keep to one end of their windows: of the room that they have, each halving leaves half. It is a
/// plan of the job as declared. `None` where none is found so.
pub(crate) fn plan_leaning(job: &Job, leaning: &[(usize, Lean, u32)], effort: &mut Effort) -> Option<Plan> {
    validate(job).ok()?;
    let problem = Problem::new(job).ok()?;
    let mut narrowed = problem.clone();
    for (task, lean, halvings) in leaning {
        let load = &mut narrowed.loads[*task];
        for window in &mut load.windows {
            let room = (window.latest - window.earliest - load.charged).max(0) >> halvings.min(&62);
            match lean {
                Lean::Late => window.earliest = window.latest - load.charged - room,
                Lean::Early => window.latest = window.earliest + load.charged + room,
            }
        }
    }
    let Outcome::Found(placement) = search(&narrowed, effort) else { return None };
    let plan = assemble::assemble(job, &problem, &placement).ok()?;
    sporadic::admit(job, plan).ok()
}

/// Plans a job that passed validation, without explaining a failure.
pub(crate) fn solve(job: &Job, effort: &mut Effort) -> Result<Plan, Failure> {
    // To state the problem costs something too, though it may be refused for that alone.
    effort.spend(hyperperiod(job).map_or(0, |round| activations(job, round) as u64));
    let problem = Problem::new(job).map_err(|task| Failure::proven(vec![task]))?;
    match search(&problem, effort) {
        Outcome::Found(placement) => assemble::assemble(job, &problem, &placement)
            .map_err(|buffers| Failure { buffers: Some(buffers), ..Failure::proven(Vec::new()) })
            .and_then(|plan| {
                sporadic::admit(job, plan)
                    .map_err(|late| Failure { late: Some(Box::new(late)), ..Failure::proven(Vec::new()) })
            }),
        Outcome::Impossible(tasks) => Err(Failure::proven(tasks)),
        Outcome::Overloaded(overload) => {
            Err(Failure { tasks: overload.fewest(), overload: Some(overload), ..Failure::proven(Vec::new()) })
        }
        Outcome::Unknown { steps } => {
            let all = (0..job.tasks.len()).collect();
            Err(Failure { gave_up_after: Some(steps), ..Failure::proven(all) })
        }
    }
}
