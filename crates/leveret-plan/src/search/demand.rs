//! Necessary conditions: a stretch of time in which more must run than fits. Proves infeasibility in any size.

use super::Effort;
use crate::windows::{Problem, Window};

/// Problems up to this many instances on one core have every interval examined.
const INSTANCES_EXAMINED_MAX: usize = 1500;

/// Loads that together overload a core, or all cores; `None` proves nothing.
pub(super) fn overload(problem: &Problem, effort: &mut Effort) -> Option<Vec<usize>> {
    let all: Vec<usize> = (0..problem.loads.len()).collect();
    let total: i128 = all.iter().map(|load| i128::from(problem.demand(*load))).sum();
    if total > i128::from(problem.capacity) * problem.cores as i128 {
        return Some(all);
    }
    if let Some(alone) = all.iter().find(|load| problem.demand(**load) > problem.capacity) {
        return Some(vec![*alone]);
    }
    (0..problem.cores).find_map(|core| {
        let pinned: Vec<usize> =
            all.iter().copied().filter(|load| problem.loads[*load].pinned == Some(core)).collect();
        let instances: u64 = pinned.iter().map(|load| problem.loads[*load].windows.len() as u64).sum();
        effort.spend(if instances > INSTANCES_EXAMINED_MAX as u64 {
            instances
        } else {
            instances * instances / 8
        });
        core_overload(problem, &pinned)
    })
}

/// Loads among `loads` that cannot share one core.
pub(super) fn core_overload(problem: &Problem, loads: &[usize]) -> Option<Vec<usize>> {
    let total: i128 = loads.iter().map(|load| i128::from(problem.demand(*load))).sum();
    if total > i128::from(problem.capacity) {
        return Some(loads.to_vec());
    }
    let instances: usize = loads.iter().map(|load| problem.loads[*load].windows.len()).sum();
    if instances > INSTANCES_EXAMINED_MAX { None } else { interval_overload(problem, loads) }
}

/// A window on the unrolled time line, with the length it must hold.
struct Due {
    load: usize,
    window: Window,
    length: i64,
}

/// An interval whose enclosed instances, each with its guard except the first, need more than its length
/// (the processor demand criterion of Baruah, Rosier and Howell, 1990, with guards).
fn interval_overload(problem: &Problem, loads: &[usize]) -> Option<Vec<usize>> {
    let round = problem.hyperperiod;
    let mut dues = Vec::new();
    for load in loads {
        for window in &problem.loads[*load].windows {
            let shift = window.earliest.div_euclid(round) * round;
            let length = problem.loads[*load].charged + problem.guard;
            for turn in [-shift, round - shift] {
                let window = Window { earliest: window.earliest + turn, latest: window.latest + turn };
                dues.push(Due { load: *load, window, length });
            }
        }
    }
    dues.sort_by_key(|due| (due.window.latest, due.window.earliest, due.load));
    let mut starts: Vec<i64> =
        dues.iter().map(|due| due.window.earliest).filter(|start| *start < round).collect();
    starts.sort_unstable();
    starts.dedup();
    for start in starts {
        let mut needed = -problem.guard;
        for due in dues.iter().filter(|due| due.window.earliest >= start) {
            needed += due.length;
            if needed > due.window.latest - start {
                return Some(enclosed(&dues, start, due.window.latest));
            }
        }
    }
    None
}

fn enclosed(dues: &[Due], start: i64, end: i64) -> Vec<usize> {
    let mut loads: Vec<usize> = dues
        .iter()
        .filter(|due| due.window.earliest >= start && due.window.latest <= end)
        .map(|due| due.load)
        .collect();
    loads.sort_unstable();
    loads.dedup();
    loads
}
