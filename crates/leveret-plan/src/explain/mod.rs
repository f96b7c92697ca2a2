//! Why a job was refused: what conflicts, and which changes would fit.
//!
//! ```text
//!  Failure ── conflict ── the smallest set that conflicts ── fits: single changes ─┬─ Refusal
//!                                                                └ none: combine ──┘
//! ```
//! A pure function of the job and a budget of steps. Nothing is proposed that was not planned.

mod budget;
mod change;
mod combine;
mod conflict;
mod fits;
mod harmonic;
mod late;
mod movers;
mod overload;
mod own;
mod rates;
mod refusal;
mod relief;
mod remedy;
mod trials;

pub use budget::ExplainBudget;
pub use change::Change;
pub(crate) use harmonic::{Length, culprits};
pub use late::{LateCause, LateWork};
pub use overload::Overload;
pub(crate) use own::Own;
pub(crate) use rates::{Rated, together};
pub use refusal::{
    BufferNeed, Declaration, DeclarationKind, ExplainSearch, ObjectName, Refusal, RefusalKind,
};
pub use remedy::Remedy;

use crate::admission::Failure;
use crate::windows::{Problem, hyperperiod};
use crate::{DeclarationError, HYPERPERIOD_WITHOUT_PERIODS, Job};
use leveret_types::{BUFFERS_MAX, Nanos};
use trials::Trials;

/// What is explained, and how much may be done for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'a> {
    pub own: &'a Own,
    pub budget: ExplainBudget,
}

/// Refuses a job whose declarations contradict themselves or each other.
pub(crate) fn bad_declarations(job: &Job, errors: Vec<DeclarationError>, scope: Scope<'_>) -> Refusal {
    let conflict = errors.first().map(|error| error.involved.clone()).unwrap_or_default();
    let mut repairs = errors.first().map(|error| error.repairs.clone()).unwrap_or_default();
    let (harmonic, is_single) = harmonic::repairs(job, scope.own);
    repairs.extend(harmonic);
    let search = Search::new((job, scope), &conflict);
    let (fits, search) = search.remedies(|trials| {
        let fits = fits::verified((job, scope.own), repairs, trials);
        if !fits.is_empty() {
            return (fits, is_single);
        }
        (fits::smallest_changes((job, scope.own), job, &conflict, trials), true)
    });
    Refusal {
        kind: RefusalKind::BadDeclaration { errors },
        conflict,
        overload: None,
        buffers: None,
        late: None,
        minimal: true,
        fits,
        search: Box::new(search),
        bottleneck: None,
    }
}

/// Refuses a job that is sound but cannot be planned.
pub(crate) fn refuse(job: &Job, failure: &Failure, scope: Scope<'_>) -> Refusal {
    if let Some(found) = &failure.late {
        return late::refuse(job, found, scope);
    }
    let kept = conflict::minimal(job, failure, scope.budget.conflict);
    let alone = kept.job(job);
    let conflict = declarations(&alone);
    let kind = match failure.gave_up_after {
        None => RefusalKind::Infeasible,
        // The part is proven impossible, and with it the whole, if both repeat at the same distance.
        Some(_) if kept.proven && hyperperiod(&alone) == hyperperiod(job) => RefusalKind::Infeasible,
        Some(steps) => RefusalKind::NotFound { steps },
    };
    let round = Nanos(hyperperiod(job).unwrap_or(HYPERPERIOD_WITHOUT_PERIODS.0));
    let overload = failure.overload.as_ref().map(|found| Box::new(Overload::new(job, round, found)));
    let buffers = failure.buffers.map(|found| {
        let channel = Declaration::channel(job, found.channel).object;
        Box::new(BufferNeed { channel, needed: found.needed, most: BUFFERS_MAX })
    });
    let search = Search::new((job, scope), &conflict);
    let (fits, search) =
        search.remedies(|trials| (fits::smallest_changes((job, scope.own), &alone, &conflict, trials), true));
    let is_tight = search.single_failed && overload.is_none() && buffers.is_none();
    let bottleneck = if is_tight { Overload::fullest(job, round).map(Box::new) } else { None };
    Refusal {
        kind,
        conflict,
        overload,
        buffers,
        late: None,
        minimal: kept.minimal,
        fits,
        search: Box::new(ExplainSearch { conflict_steps: kept.spent, ..search }),
        bottleneck,
    }
}

/// The declarations of a part of a job, tasks with their effective windows where these are known.
fn declarations(alone: &Job) -> Vec<Declaration> {
    let problem = Problem::new(alone).ok();
    let mut conflict: Vec<Declaration> = Vec::new();
    for (index, task) in alone.tasks.iter().enumerate() {
        let window = problem.as_ref().and_then(|problem| problem.loads[index].windows.first().copied());
        conflict.push(Declaration::task(alone, task).within(window));
    }
    conflict.extend((0..alone.channels.len()).map(|index| Declaration::channel(alone, index)));
    conflict
}

/// The search for what would fit: single changes first, combinations where there is none.
struct Search<'a> {
    job: &'a Job,
    scope: Scope<'a>,
    conflict: &'a [Declaration],
}

impl<'a> Search<'a> {
    fn new((job, scope): (&'a Job, Scope<'a>), conflict: &'a [Declaration]) -> Self {
        Self { job, scope, conflict }
    }

    /// `single` finds remedies, and says whether they are single changes.
    fn remedies(
        &self,
        single: impl FnOnce(&mut Trials) -> (Vec<Remedy>, bool),
    ) -> (Vec<Remedy>, ExplainSearch) {
        // Half for each, so that many single changes that do not fit leave something for what would.
        let mut trials = Trials::new(self.scope.budget.changes / 2);
        let (found, is_single) = single(&mut trials);
        let mut search = ExplainSearch {
            conflict_steps: 0,
            steps: trials.spent(),
            exhausted: trials.exhausted,
            single_failed: !is_single || found.iter().all(|remedy| remedy.decisions() > 1),
        };
        if !search.single_failed {
            return (found, search);
        }
        let mut trials = Trials::new(self.scope.budget.changes / 2);
        let (mut together, is_single) =
            combine::combinations((self.job, self.scope.own), self.conflict, &mut trials);
        search.single_failed = !is_single;
        search.steps += trials.spent();
        search.exhausted |= trials.exhausted;
        together.extend(found);
        fits::sort(&mut together);
        (together, search)
    }
}
