//! The search for a placement: necessary conditions first, then insertion, then an exhaustive search.

mod assign;
mod demand;
mod effort;
mod exact;
mod insertion;
#[cfg(test)]
mod tests;
mod timeline;

pub(crate) use demand::Overload;
pub(crate) use effort::Effort;

use crate::windows::Problem;

/// Passes of insertion after which what found no place is told.
const UNPLACED_PASSES: usize = 2;

/// Processor time of one instance, from its start to its end; interruptions lie within.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Span {
    pub start: i64,
    pub end: i64,
}

/// A start and an end for every instance of every load.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    /// Per load: index of its core.
    pub cores: Vec<usize>,
    /// Per load and instance.
    pub spans: Vec<Vec<Span>>,
}

/// How a search ended.
#[derive(Clone, Debug)]
pub(crate) enum Outcome<T> {
    Found(T),
    /// No placement exists. The loads named here cannot be placed together; empty when nothing narrower than all
    /// of them is known.
    Impossible(Vec<usize>),
    /// No placement exists, since more is asked of some stretch of time than it has.
    Overloaded(Box<Overload>),
    /// Given up after this many steps, without a proof.
    Unknown {
        steps: u64,
    },
}

/// Searches for a placement. Pure, and bounded by `effort`.
///
/// Sums come first, since they refuse at once whatever the size; intervals only after a first pass of insertion, since
/// most jobs need neither.
pub(crate) fn search(problem: &Problem, effort: &mut Effort) -> Outcome<Placement> {
    effort.spend(8 * problem.instance_count() as u64);
    if let Some(overload) = demand::hyperperiod_overload(problem) {
        return Outcome::Overloaded(Box::new(overload));
    }
    if let Some(placement) = insertion::insert(problem, effort, 1) {
        return Outcome::Found(placement);
    }
    if let Some(overload) = demand::interval_overload(problem, effort) {
        return Outcome::Overloaded(Box::new(overload));
    }
    let passes = effort.passes(problem);
    if let Some(placement) = insertion::insert(problem, effort, passes) {
        return Outcome::Found(placement);
    }
    assign::assign(problem, effort)
}

/// A placement that [`search`] would find with little effort, or the loads that found no place.
pub(crate) fn unplaced(problem: &Problem, effort: &mut Effort) -> Result<Placement, Vec<usize>> {
    effort.spend(8 * problem.instance_count() as u64);
    insertion::insert_most(problem, effort, UNPLACED_PASSES)
}
