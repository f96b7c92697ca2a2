//! Necessary conditions: a stretch of time in which more must run than fits. Proves infeasibility in any size.

use super::Effort;
use crate::windows::{Problem, Window};
use std::cmp::Reverse;

/// Groups of loads up to this many instances have every interval examined.
const INSTANCES_EXAMINED_MAX: usize = 1500;

/// More is asked of a stretch of time than it has.
#[derive(Clone, Debug)]
pub(crate) struct Overload {
    /// The core; `None`: all cores together.
    pub core: Option<usize>,
    /// The stretch; `None`: the whole hyperperiod.
    pub within: Option<Window>,
    /// Processor time asked for, guards included.
    pub needed: i128,
    /// Processor time that there is.
    pub available: i128,
    /// Loads that must run there, each with its share of `needed`.
    shares: Vec<(usize, i128)>,
}

impl Overload {
    /// The fewest loads that are too many by themselves, in order. Without any one of them the others no longer are,
    /// since the largest shares are taken.
    pub fn fewest(&self) -> Vec<usize> {
        let mut shares = self.shares.clone();
        shares.sort_by_key(|(load, share)| (Reverse(*share), *load));
        let mut spare = self.available - (self.needed - shares.iter().map(|(_, share)| share).sum::<i128>());
        let mut fewest = Vec::new();
        for (load, share) in shares {
            if spare < 0 {
                break;
            }
            spare -= share;
            fewest.push(load);
        }
        fewest.sort_unstable();
        fewest
    }
}

/// The hyperperiod of one core, or of all, is too short for what must run in it. Costs next to nothing.
pub(super) fn hyperperiod_overload(problem: &Problem) -> Option<Overload> {
    let all: Vec<usize> = (0..problem.loads.len()).collect();
    let whole = |core: Option<usize>, cores: usize, loads: &[usize]| {
        let shares: Vec<(usize, i128)> =
            loads.iter().map(|load| (*load, i128::from(problem.demand(*load)))).collect();
        let needed = shares.iter().map(|(_, share)| share).sum();
        let available = i128::from(problem.capacity) * cores as i128;
        (needed > available).then_some(Overload { core, within: None, needed, available, shares })
    };
    let alone = all.iter().find(|load| problem.demand(**load) > problem.capacity);
    alone
        .and_then(|load| whole(problem.loads[*load].pinned, 1, &[*load]))
        .or_else(|| pinned(problem).iter().zip(0..).find_map(|(loads, core)| whole(Some(core), 1, loads)))
        .or_else(|| whole(None, problem.cores, &all))
}

/// An interval of one core, or of all where loads are free to choose, is too short for what must run in it.
pub(super) fn interval_overload(problem: &Problem, effort: &mut Effort) -> Option<Overload> {
    for (core, loads) in pinned(problem).iter().enumerate() {
        effort.spend(interval_cost(problem, loads));
        if let Some(overload) = crowded(problem, loads, Some(core)) {
            return Some(overload);
        }
    }
    let all: Vec<usize> = (0..problem.loads.len()).collect();
    if all.iter().all(|load| problem.loads[*load].pinned.is_some()) {
        return None;
    }
    effort.spend(interval_cost(problem, &all));
    crowded(problem, &all, None)
}

/// Whether these loads cannot share one core.
pub(super) fn core_overloaded(problem: &Problem, loads: &[usize]) -> bool {
    let total: i128 = loads.iter().map(|load| i128::from(problem.demand(*load))).sum();
    total > i128::from(problem.capacity) || crowded(problem, loads, Some(0)).is_some()
}

/// The loads pinned to each core.
fn pinned(problem: &Problem) -> Vec<Vec<usize>> {
    let mut cores = vec![Vec::new(); problem.cores];
    for (index, load) in problem.loads.iter().enumerate() {
        if let Some(core) = load.pinned {
            cores[core].push(index);
        }
    }
    cores
}

fn instances(problem: &Problem, loads: &[usize]) -> usize {
    loads.iter().map(|load| problem.loads[*load].windows.len()).sum()
}

fn interval_cost(problem: &Problem, loads: &[usize]) -> u64 {
    let instances = instances(problem, loads) as u64;
    if instances > INSTANCES_EXAMINED_MAX as u64 { instances } else { instances * instances / 8 }
}

/// A window on the unrolled time line, with the length it must hold.
struct Due {
    load: usize,
    window: Window,
    length: i64,
}

/// An interval whose enclosed instances, each with its guard except the first on each core, need more than its length
/// on one core, or on all (the processor demand criterion of Baruah, Rosier and Howell, 1990, with guards).
fn crowded(problem: &Problem, loads: &[usize], core: Option<usize>) -> Option<Overload> {
    if instances(problem, loads) > INSTANCES_EXAMINED_MAX {
        return None;
    }
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
    let cores = if core.is_some() { 1 } else { problem.cores as i128 };
    let first_guards = i128::from(problem.guard) * cores;
    let behind = lengths_behind(&dues);
    for start in starts {
        let mut needed = -first_guards;
        for (due, behind) in dues.iter().zip(&behind).filter(|(due, _)| due.window.earliest >= start) {
            needed += i128::from(due.length);
            let available = i128::from(due.window.latest - start) * cores;
            if needed > available {
                let within = Window { earliest: start, latest: due.window.latest };
                let shares = shares(&dues, within);
                return Some(Overload { core, within: Some(within), needed, available, shares });
            }
            // Longer intervals have more time, and all that is still to come fits into what this one has left.
            if needed + behind <= available {
                break;
            }
        }
    }
    None
}

/// What all together need that come after each.
fn lengths_behind(dues: &[Due]) -> Vec<i128> {
    let mut behind = vec![0; dues.len()];
    let mut sum = 0;
    for (place, due) in behind.iter_mut().zip(dues).rev() {
        *place = sum;
        sum += i128::from(due.length);
    }
    behind
}

/// What each load must run within an interval.
fn shares(dues: &[Due], within: Window) -> Vec<(usize, i128)> {
    let enclosed = |due: &&Due| due.window.earliest >= within.earliest && due.window.latest <= within.latest;
    let mut shares: Vec<(usize, i128)> =
        dues.iter().filter(enclosed).map(|due| (due.load, i128::from(due.length))).collect();
    shares.sort_unstable();
    shares.dedup_by(|next, sum| {
        let same = next.0 == sum.0;
        sum.1 += if same { next.1 } else { 0 };
        same
    });
    shares
}
