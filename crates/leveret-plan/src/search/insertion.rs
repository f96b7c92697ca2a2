//! Planning by insertion, for jobs of any size: the loads with the least room first, each into the first gaps
//! that take it; loads that found no place come earlier in the next pass ("squeaky wheel" optimisation, Joslin and
//! Clements, 1999).

use super::timeline::Timeline;
use super::{Effort, Placement, Span};
use crate::windows::Problem;
use std::cmp::Reverse;

/// A placement, if so many passes find one within the effort.
pub(super) fn insert(problem: &Problem, effort: &mut Effort, passes: usize) -> Option<Placement> {
    let mut tried = Passes::new(problem);
    let spent_max = (effort.spent - effort.walked).saturating_add(effort.looks(problem));
    for _ in 0..passes {
        if effort.spent - effort.walked > spent_max {
            return None;
        }
        if let Ok(placement) = tried.next(problem, effort) {
            return Some(placement);
        }
    }
    None
}

/// A placement, or the loads that found no place in the pass that placed most.
pub(super) fn insert_most(
    problem: &Problem,
    effort: &mut Effort,
    passes: usize,
) -> Result<Placement, Vec<usize>> {
    let mut fewest: Option<Vec<usize>> = None;
    let mut tried = Passes::new(problem);
    for _ in 0..passes {
        let failed = match tried.next(problem, effort) {
            Ok(placement) => return Ok(placement),
            Err(failed) => failed,
        };
        if fewest.as_ref().is_none_or(|fewest| failed.len() < fewest.len()) {
            fewest = Some(failed);
        }
    }
    Err(fewest.unwrap_or_default())
}

/// One pass after the other, in an order that learns from those before.
struct Passes {
    urgency: Vec<u32>,
    slack: Vec<i64>,
    order: Vec<usize>,
}

impl Passes {
    fn new(problem: &Problem) -> Self {
        Self {
            urgency: vec![0; problem.loads.len()],
            slack: problem.loads.iter().map(crate::windows::Load::slack_min).collect(),
            order: (0..problem.loads.len()).collect(),
        }
    }

    fn next(&mut self, problem: &Problem, effort: &mut Effort) -> Result<Placement, Vec<usize>> {
        let Self { urgency, slack, order } = self;
        order.sort_by_key(|load| {
            (Reverse(urgency[*load]), slack[*load], Reverse(problem.demand(*load)), *load)
        });
        let outcome = pass(problem, order, effort);
        for load in outcome.as_ref().err().into_iter().flatten() {
            urgency[*load] += 1;
        }
        outcome
    }
}

/// One pass; the loads that found no place.
fn pass(problem: &Problem, order: &[usize], effort: &mut Effort) -> Result<Placement, Vec<usize>> {
    let mut timelines = vec![Timeline::default(); problem.cores];
    let mut placement =
        Placement { cores: vec![0; problem.loads.len()], spans: vec![Vec::new(); problem.loads.len()] };
    let mut failed = Vec::new();
    // What is pinned cannot evade, so it goes first.
    let (pinned, free): (Vec<usize>, Vec<usize>) =
        order.iter().partition(|load| problem.loads[**load].pinned.is_some());
    for load in pinned.into_iter().chain(free) {
        match place(problem, &mut timelines, load) {
            Some((core, spans)) => {
                placement.cores[load] = core;
                placement.spans[load] = spans;
            }
            None => failed.push(load),
        }
    }
    effort.spend(timelines.iter().map(|timeline| timeline.looks).sum());
    effort.walk(timelines.iter().map(|timeline| timeline.walked).sum());
    if failed.is_empty() { Ok(placement) } else { Err(failed) }
}

/// Places one load on its core, or on the least used core that takes it.
fn place(problem: &Problem, timelines: &mut [Timeline], load: usize) -> Option<(usize, Vec<Span>)> {
    let mut cores: Vec<usize> = match problem.loads[load].pinned {
        Some(core) => vec![core],
        None => (0..problem.cores).collect(),
    };
    cores.sort_by_key(|core| (timelines[*core].used, *core));
    cores.into_iter().find_map(|core| timelines[core].place(problem, load).map(|spans| (core, spans)))
}
