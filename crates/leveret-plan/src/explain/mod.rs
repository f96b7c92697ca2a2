//! Why a job was refused: what conflicts, and which single change would fit.

mod change;
mod conflict;
mod fits;
mod late;
mod overload;
mod refusal;

pub use change::Change;
pub use late::{LateCause, LateWork};
pub use overload::Overload;
pub use refusal::{BufferNeed, Declaration, DeclarationKind, ObjectName, Refusal, RefusalKind};

use crate::admission::Failure;
use crate::windows::{Problem, hyperperiod};
use crate::{DeclarationError, HYPERPERIOD_WITHOUT_PERIODS, Job};
use leveret_types::{BUFFERS_MAX, Nanos};

/// Refuses a job whose declarations contradict themselves or each other.
pub(crate) fn bad_declarations(job: &Job, errors: Vec<DeclarationError>) -> Refusal {
    let conflict = errors.first().map(|error| error.involved.clone()).unwrap_or_default();
    let repairs = errors.first().map(|error| error.repairs.clone()).unwrap_or_default();
    let mut fits = fits::verified(job, repairs);
    if fits.is_empty() {
        fits = fits::smallest_changes(job, job, &conflict);
    }
    Refusal {
        kind: RefusalKind::BadDeclaration { errors },
        conflict,
        overload: None,
        buffers: None,
        late: None,
        minimal: true,
        fits,
        fits_whole_job: true,
    }
}

/// Refuses a job that is sound but cannot be planned.
pub(crate) fn refuse(job: &Job, failure: &Failure) -> Refusal {
    if let Some(found) = &failure.late {
        return late::refuse(job, found);
    }
    let kept = conflict::minimal(job, failure);
    let alone = kept.job(job);
    let problem = Problem::new(&alone).ok();
    let mut conflict: Vec<Declaration> = Vec::new();
    for (index, task) in alone.tasks.iter().enumerate() {
        let window = problem.as_ref().and_then(|problem| problem.loads[index].windows.first().copied());
        conflict.push(Declaration::task(&alone, task).within(window));
    }
    conflict.extend((0..alone.channels.len()).map(|index| Declaration::channel(&alone, index)));
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
    let mut fits = fits::smallest_changes(job, &alone, &conflict);
    let fits_whole_job = !fits.is_empty();
    // What settles a conflict that may well be larger than need be, helps nobody.
    if !fits_whole_job && (kept.minimal || overload.is_none()) {
        fits = fits::smallest_changes(&alone, &alone, &conflict);
    }
    Refusal { kind, conflict, overload, buffers, late: None, minimal: kept.minimal, fits, fits_whole_job }
}
