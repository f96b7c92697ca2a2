//! Admission: a plan, or the reason why there is none.

use crate::search::{Effort, Outcome, search};
use crate::windows::Problem;
use crate::{Job, Plan, Refusal, assemble, explain, validate};

/// Plans a job: a start for every instance of every task over one hyperperiod, with bounds and buffer counts.
///
/// Deterministic: the same job gives the same plan, byte for byte.
///
/// # Errors
/// A [`Refusal`] that names a minimal set of declarations that cannot be met together, and single changes that
/// would fit.
pub fn plan(job: &Job) -> Result<Plan, Refusal> {
    match validate(job) {
        Err(errors) => Err(explain::bad_declarations(job, errors)),
        Ok(()) => solve(job, &mut Effort::full()).map_err(|failure| explain::refuse(job, &failure)),
    }
}

/// Why a valid job has no plan.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// Tasks, by index, that are known to collide; all of them where nothing narrower is known.
    pub tasks: Vec<usize>,
    /// A channel that needs more buffers than any channel may have.
    pub channel: Option<usize>,
    /// Steps of a search that gave up; `None` where infeasibility is proven.
    pub gave_up_after: Option<u64>,
}

/// Plans a job that passed validation, without explaining a failure.
pub(crate) fn solve(job: &Job, effort: &mut Effort) -> Result<Plan, Failure> {
    let proven = |tasks: Vec<usize>, channel| Failure { tasks, channel, gave_up_after: None };
    let problem = Problem::new(job).map_err(|task| proven(vec![task], None))?;
    match search(&problem, effort) {
        Outcome::Found(placement) => {
            assemble::assemble(job, &problem, &placement).map_err(|channel| proven(Vec::new(), Some(channel)))
        }
        Outcome::Impossible(tasks) => Err(proven(tasks, None)),
        Outcome::Unknown { steps } => {
            Err(Failure { tasks: (0..job.tasks.len()).collect(), channel: None, gave_up_after: Some(steps) })
        }
    }
}
