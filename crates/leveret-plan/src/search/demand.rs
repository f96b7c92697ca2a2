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
    if instances > INSTANCES_EXAMINED_MAX as u64 { instances } else { 16 * instances }
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
    let start = earliest_crowded(&dues, &starts, (cores, first_guards))?;
    let mut needed = -first_guards;
    dues.iter().filter(|due| due.window.earliest >= start).find_map(|due| {
        needed += i128::from(due.length);
        let available = i128::from(due.window.latest - start) * cores;
        let within = Window { earliest: start, latest: due.window.latest };
        (needed > available).then(|| {
            let shares = shares(&dues, within);
            Overload { core, within: Some(within), needed, available, shares }
        })
    })
}

/// The first of `starts` from which on more is needed until some end than there is. They are gone through from the last to the first,
/// while a tree knows what is left of the time until each end: each due takes its length from all ends that are not before its own.
fn earliest_crowded(dues: &[Due], starts: &[i64], (cores, first_guards): (i128, i128)) -> Option<i64> {
    let mut by_start: Vec<usize> = (0..dues.len()).collect();
    by_start.sort_unstable_by_key(|due| dues[*due].window.earliest);
    let mut left = Left::new(dues.len());
    let mut crowded = None;
    for start in starts.iter().rev() {
        while let Some(due) = by_start.pop_if(|due| dues[*due].window.earliest >= *start) {
            left.open(due, i128::from(dues[due].window.latest) * cores + first_guards);
            left.take(due, i128::from(dues[due].length));
        }
        if left.least() < i128::from(*start) * cores {
            crowded = Some(*start);
        }
    }
    crowded
}

/// What is left until each of some ends, in order: the least of it is at the root.
struct Left {
    /// A binary tree: of each node the least below it, less what was taken from all below it. The leaves are in the second half.
    nodes: Vec<i128>,
    taken: Vec<i128>,
    leaves: usize,
}

impl Left {
    /// What is not open yet has more than is ever taken.
    const CLOSED: i128 = i128::MAX / 4;

    fn new(ends: usize) -> Self {
        let leaves = ends.next_power_of_two();
        Self { nodes: vec![Self::CLOSED; 2 * leaves], taken: vec![0; 2 * leaves], leaves }
    }

    fn least(&self) -> i128 {
        self.nodes[1]
    }

    /// From now on this end counts, with so much less what was taken from it.
    fn open(&mut self, end: usize, has: i128) {
        let leaf = self.leaves + end;
        self.nodes[leaf] = has - self.taken[leaf];
        self.mend(leaf);
    }

    /// Takes this much from an end and all behind it.
    fn take(&mut self, end: usize, much: i128) {
        let (mut from, mut to) = (self.leaves + end, 2 * self.leaves);
        let leaf = from;
        while from < to {
            if from % 2 == 1 {
                self.take_at(from, much);
                from += 1;
            }
            if to % 2 == 1 {
                to -= 1;
                self.take_at(to, much);
            }
            (from, to) = (from / 2, to / 2);
        }
        self.mend(leaf);
        self.mend(2 * self.leaves - 1);
    }

    fn take_at(&mut self, node: usize, much: i128) {
        self.nodes[node] -= much;
        self.taken[node] += much;
    }

    /// Brings what is above a leaf up to date.
    fn mend(&mut self, leaf: usize) {
        let mut node = leaf / 2;
        while node > 0 {
            self.nodes[node] = self.nodes[2 * node].min(self.nodes[2 * node + 1]) - self.taken[node];
            node /= 2;
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first start from which on some end is crowded, by looking at every pair.
    fn by_pairs(dues: &[Due], starts: &[i64], (cores, first_guards): (i128, i128)) -> Option<i64> {
        let is_crowded = |start: &&i64| {
            let mut needed = -first_guards;
            dues.iter().filter(|due| due.window.earliest >= **start).any(|due| {
                needed += i128::from(due.length);
                needed > i128::from(due.window.latest - **start) * cores
            })
        };
        starts.iter().find(is_crowded).copied()
    }

    proptest! {
        #[test]
        fn the_first_crowded_start_is_that_of_all_pairs(
            dues in prop::collection::vec((0..40_i64, 1..20_i64, 1..12_i64), 0..24),
            cores in 1..4_i128,
            guard in 0..4_i128,
        ) {
            let due = |(earliest, room, length): (i64, i64, i64)| {
                Due { load: 0, window: Window { earliest, latest: earliest + room }, length }
            };
            let mut dues: Vec<Due> = dues.into_iter().map(due).collect();
            dues.sort_by_key(|due| (due.window.latest, due.window.earliest));
            let mut starts: Vec<i64> = dues.iter().map(|due| due.window.earliest).collect();
            starts.sort_unstable();
            starts.dedup();
            let of = (cores, guard * cores);
            prop_assert_eq!(earliest_crowded(&dues, &starts, of), by_pairs(&dues, &starts, of));
        }
    }
}
