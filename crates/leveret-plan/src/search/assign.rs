//! Gives every free load a core, by exhaustive search over assignments with the exact search on each core.

use super::{Effort, Outcome, Placement, Span, demand, exact};
use crate::windows::Problem;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What is known about one core with one set of loads.
type Known = BTreeMap<Vec<usize>, Option<Vec<Vec<Span>>>>;

/// A placement with every free load assigned, or a proof that there is none, or neither.
pub(super) fn assign(problem: &Problem, effort: &mut Effort) -> Outcome<Placement> {
    let budget = effort.visits(problem);
    let (outcome, left) = assign_within(problem, budget);
    effort.spend(budget - left);
    outcome
}

fn assign_within(problem: &Problem, budget: u64) -> (Outcome<Placement>, u64) {
    let mut free: Vec<usize> =
        (0..problem.loads.len()).filter(|load| problem.loads[*load].pinned.is_none()).collect();
    free.sort_by_key(|load| (Reverse(problem.demand(*load)), *load));
    let on_core: Vec<Vec<usize>> = (0..problem.cores)
        .map(|core| {
            (0..problem.loads.len()).filter(|load| problem.loads[*load].pinned == Some(core)).collect()
        })
        .collect();
    let mut search = Assignment { problem, free, known: Known::new(), budget, unknown: false };
    for loads in &on_core {
        if search.fits(loads) == Some(false) {
            return (Outcome::Impossible(loads.clone()), search.budget);
        }
    }
    let mut cores = on_core;
    if !search.unknown && search.extend(&mut cores, 0) {
        return (Outcome::Found(search.placement(&cores)), search.budget);
    }
    if search.unknown {
        (Outcome::Unknown { steps: budget - search.budget }, search.budget)
    } else {
        (Outcome::Impossible((0..problem.loads.len()).collect()), search.budget)
    }
}

struct Assignment<'a> {
    problem: &'a Problem,
    free: Vec<usize>,
    known: Known,
    budget: u64,
    unknown: bool,
}

impl Assignment<'_> {
    /// Whether one core can run exactly these loads (sorted); `None` if the budget ran out.
    fn fits(&mut self, loads: &[usize]) -> Option<bool> {
        // What is known already, and what the demand alone refutes, costs something too.
        self.budget = self.budget.saturating_sub(16 + loads.len() as u64);
        if let Some(known) = self.known.get(loads) {
            return Some(known.is_some());
        }
        let instances: u64 = loads.iter().map(|load| self.problem.loads[*load].windows.len() as u64).sum();
        self.budget = self.budget.saturating_sub(instances.min(1500).pow(2) / 8);
        let result = if demand::core_overloaded(self.problem, loads) {
            None
        } else {
            match exact::place_core(self.problem, loads, &mut self.budget) {
                Outcome::Found(spans) => Some(spans),
                Outcome::Impossible(_) | Outcome::Overloaded(_) => None,
                Outcome::Unknown { .. } => {
                    self.unknown = true;
                    return None;
                }
            }
        };
        let fits = result.is_some();
        self.known.insert(loads.to_vec(), result);
        Some(fits)
    }

    /// Assigns the free loads from `next` on.
    fn extend(&mut self, cores: &mut Vec<Vec<usize>>, next: usize) -> bool {
        let Some(load) = self.free.get(next).copied() else { return true };
        for core in 0..cores.len() {
            // Empty cores are alike: try one of them.
            if cores[core].is_empty() && cores[..core].iter().any(Vec::is_empty) {
                continue;
            }
            let place = cores[core].partition_point(|present| *present < load);
            cores[core].insert(place, load);
            if self.budget > 0
                && self.fits(&cores[core].clone()) == Some(true)
                && self.extend(cores, next + 1)
            {
                return true;
            }
            cores[core].remove(place);
            if self.budget == 0 {
                self.unknown = true;
                return false;
            }
        }
        false
    }

    fn placement(&self, on_core: &[Vec<usize>]) -> Placement {
        let count = self.problem.loads.len();
        let mut placement = Placement { cores: vec![0; count], spans: vec![Vec::new(); count] };
        for (core, loads) in on_core.iter().enumerate() {
            let Some(Some(spans)) = self.known.get(loads) else { continue };
            for (load, spans) in loads.iter().zip(spans) {
                placement.cores[*load] = core;
                placement.spans[*load] = spans.clone();
            }
        }
        placement
    }
}
