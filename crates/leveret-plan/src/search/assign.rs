//! Gives every free load a core, by exhaustive search over assignments with the exact search on each core.
//!
//! Branch and bound: the load with the fewest cores left is assigned next, and a branch ends where some load has none.
//! What is refuted is remembered as small sets that no core can run, and told to loads and cores that are alike.
//! `docs/planner.md` says why nothing is missed.

use super::{Effort, Outcome, Placement, Span, demand, exact};
use crate::windows::{Load, Problem};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What is known about one core with one set of loads.
type Known = BTreeMap<Vec<usize>, Option<Vec<Vec<Span>>>>;

/// Most sets that are remembered as too much for any core.
const REFUTED_MAX: usize = 2_000;
/// Sets up to this size are reduced to what refutes them.
const REDUCED_MAX: usize = 16;

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
    let mut search = Assignment {
        problem,
        known: Known::new(),
        refuted: Vec::new(),
        barred: Vec::new(),
        budget,
        unknown: false,
    };
    for loads in &on_core {
        if search.fits(loads) == Some(false) {
            return (Outcome::Impossible(loads.clone()), search.budget);
        }
    }
    let mut cores = on_core;
    if !search.unknown && search.extend(&mut cores, &mut free) {
        return (Outcome::Found(search.placement(&cores)), search.budget);
    }
    if search.unknown {
        (Outcome::Unknown { steps: budget - search.budget }, search.budget)
    } else {
        (Outcome::Impossible((0..problem.loads.len()).collect()), search.budget)
    }
}

/// Whether one can take the other's place anywhere.
fn alike(one: &Load, other: &Load) -> bool {
    one.pinned.is_none()
        && other.pinned.is_none()
        && (one.charged, one.preemptible) == (other.charged, other.preemptible)
        && one.windows == other.windows
}

/// `loads`, which is sorted, with one more.
fn with(loads: &[usize], load: usize) -> Vec<usize> {
    let place = loads.partition_point(|present| *present < load);
    [&loads[..place], &[load], &loads[place..]].concat()
}

/// Whether all of `part` is in `whole`; both are sorted.
fn within(part: &[usize], whole: &[usize]) -> bool {
    let mut rest = whole.iter();
    part.len() <= whole.len() && part.iter().all(|one| rest.any(|other| other == one))
}

struct Assignment<'a> {
    problem: &'a Problem,
    known: Known,
    /// Sets of loads that no core can run, and with them no set that contains one of these.
    refuted: Vec<Vec<usize>>,
    /// Loads and cores that were tried in vain in the branches above: (load, core).
    barred: Vec<(usize, usize)>,
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
        self.budget = self.budget.saturating_sub(self.refuted.len() as u64 / 4);
        if self.refuted.iter().any(|refuted| within(refuted, loads)) {
            self.known.insert(loads.to_vec(), None);
            return Some(false);
        }
        let fits = self.examine(loads)?;
        if !fits && self.refuted.len() < REFUTED_MAX && loads.len() <= REDUCED_MAX {
            let reduced = self.reduced(loads);
            self.refuted.push(reduced);
        }
        Some(fits)
    }

    /// Searches one core with exactly these loads, and remembers the answer.
    fn examine(&mut self, loads: &[usize]) -> Option<bool> {
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

    /// A part of a set that no core can run, which none can run either: the smaller, the more it refutes.
    fn reduced(&mut self, loads: &[usize]) -> Vec<usize> {
        let mut part = loads.to_vec();
        let mut at = 0;
        while at < part.len() && self.budget > 0 {
            let mut rest = part.clone();
            rest.remove(at);
            let known = self.known.get(&rest).map(Option::is_some);
            match known.or_else(|| self.examine(&rest)) {
                Some(false) => part = rest,
                _ => at += 1,
            }
        }
        part
    }

    /// Assigns the free loads; `cores` then has them.
    fn extend(&mut self, cores: &mut Vec<Vec<usize>>, free: &mut Vec<usize>) -> bool {
        let Some((place, choices)) = self.most_constrained(cores, free) else {
            return free.is_empty() && !self.unknown;
        };
        let load = free.remove(place);
        let barred = self.barred.len();
        for core in choices {
            let more = with(&cores[core], load);
            let before = std::mem::replace(&mut cores[core], more);
            if self.extend(cores, free) {
                return true;
            }
            cores[core] = before;
            if self.unknown {
                break;
            }
            // Nothing that is like this load can be on this core either, from here on down.
            let problem = self.problem;
            let like = |other: &&usize| alike(&problem.loads[load], &problem.loads[**other]);
            self.barred.extend(free.iter().filter(like).map(|other| (*other, core)));
        }
        self.barred.truncate(barred);
        free.insert(place, load);
        false
    }

    /// The free load, by its place, with the fewest cores that still take it, and these. `None` if all are assigned,
    /// or some load has no core, or the budget is spent.
    fn most_constrained(&mut self, cores: &[Vec<usize>], free: &[usize]) -> Option<(usize, Vec<usize>)> {
        let mut best: Option<(usize, Vec<usize>)> = None;
        for (place, load) in free.iter().enumerate() {
            let mut choices = Vec::new();
            for core in 0..cores.len() {
                // Empty cores are alike: try one of them.
                let seen = cores[core].is_empty() && cores[..core].iter().any(Vec::is_empty);
                if seen || self.barred.contains(&(*load, core)) {
                    continue;
                }
                match self.fits(&with(&cores[core], *load)) {
                    Some(true) => choices.push(core),
                    Some(false) => {}
                    None => self.unknown = true,
                }
                if self.unknown || self.budget == 0 {
                    self.unknown = true;
                    return None;
                }
            }
            if choices.is_empty() {
                return None;
            }
            if best.as_ref().is_none_or(|(_, fewest)| choices.len() < fewest.len()) {
                let only = choices.len() == 1;
                best = Some((place, choices));
                if only {
                    break;
                }
            }
        }
        best
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
