//! Planning by insertion, for jobs of any size: the loads with the least room first, each into the first gaps
//! that take it; loads that found no place come earlier in the next pass ("squeaky wheel" optimisation, Joslin and
//! Clements, 1999).

use super::timeline::Timeline;
use super::{Effort, Placement, Span};
use crate::windows::Problem;
use std::cmp::Reverse;

/// A placement, if so many passes find one within the effort.
pub(super) fn insert(problem: &Problem, effort: &mut Effort, passes: usize) -> Option<Placement> {
    let mut urgency = vec![0_u32; problem.loads.len()];
    let slack: Vec<i64> = problem.loads.iter().map(crate::windows::Load::slack_min).collect();
    let mut order: Vec<usize> = (0..problem.loads.len()).collect();
    let spent_max = effort.spent.saturating_add(effort.looks(problem));
    for _ in 0..passes {
        if effort.spent > spent_max {
            return None;
        }
        order.sort_by_key(|load| {
            (Reverse(urgency[*load]), slack[*load], Reverse(problem.demand(*load)), *load)
        });
        match pass(problem, &order, effort) {
            Ok(placement) => return Some(placement),
            Err(failed) => {
                for load in failed {
                    urgency[load] += 1;
                }
            }
        }
    }
    None
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
