//! One core's circle of time while it is being filled.

use super::Span;
use crate::windows::{Load, Problem, Window};
use std::collections::BTreeMap;

/// A reserved stretch, guard included, with what it encloses.
#[derive(Clone, Debug)]
struct Reserved {
    length: i64,
    load: usize,
    inside: Vec<(i64, Reserved)>,
}

impl Reserved {
    fn runs(&self, load: usize) -> bool {
        self.load == load || self.inside.iter().any(|(_, inner)| inner.runs(load))
    }
}

/// A core's occupied stretches. Those that nothing encloses are disjoint on the circle, keyed by their start.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline {
    roots: BTreeMap<i64, Reserved>,
    /// Processor time used.
    pub used: i64,
    /// Gaps looked at.
    pub looks: u64,
    /// Stretches gone through to see what would interrupt an instance.
    pub walked: u64,
}

impl Timeline {
    /// Places every instance of a load, or none.
    pub fn place(&mut self, problem: &Problem, index: usize) -> Option<Vec<Span>> {
        let load = &problem.loads[index];
        if self.used + problem.demand(index) > problem.capacity {
            return None;
        }
        let used = self.used;
        let mut spans: Vec<Span> = Vec::with_capacity(load.windows.len());
        for window in &load.windows {
            let placed = self.place_whole(problem, load, index, *window);
            match placed.or_else(|| self.place_around(problem, load, index, *window)) {
                Some(span) if self.used <= problem.capacity => spans.push(span),
                last => {
                    spans.extend(last);
                    self.take_back(problem, &spans);
                    self.used = used;
                    return None;
                }
            }
        }
        Some(spans)
    }

    /// The first gap that takes the instance in one piece.
    fn place_whole(&mut self, problem: &Problem, load: &Load, index: usize, window: Window) -> Option<Span> {
        let length = load.charged + problem.guard;
        let (from, looks) = self.first_gap(problem, length, window);
        self.looks += looks;
        let from = from?;
        self.used += length;
        let root = Reserved { length, load: index, inside: Vec::new() };
        self.roots.insert(from.rem_euclid(problem.hyperperiod), root);
        Some(Span { start: from + problem.guard, end: from + length })
    }

    /// Where it begins, and how many were looked at.
    fn first_gap(&self, problem: &Problem, length: i64, window: Window) -> (Option<i64>, u64) {
        let mut from = self.free_from(problem, window.earliest - problem.guard);
        let mut roots = self.roots_from(problem, from);
        let mut looks = 0;
        loop {
            looks += 1;
            if from + length > window.latest {
                return (None, looks);
            }
            match roots.next() {
                Some((next, root)) if from + length > next => from = next + root.length,
                Some(_) => return (Some(from), looks),
                // All around: a window may be longer than the round.
                None => return (self.roots.is_empty().then_some(from), looks),
            }
        }
    }

    /// The first start from which a preemptible instance ends in time although others interrupt it. Whatever is
    /// placed already gets the higher order, so the relation stays free of cycles.
    fn place_around(&mut self, problem: &Problem, load: &Load, index: usize, window: Window) -> Option<Span> {
        if !load.preemptible {
            return None;
        }
        let mut from = self.free_from(problem, window.earliest - problem.guard);
        let (mut looks, mut walked) = (0, 0);
        let found = {
            let mut roots = self.roots_from(problem, from);
            loop {
                looks += 2;
                if from + problem.guard + load.charged > window.latest {
                    break None;
                }
                let Some((next, root)) = roots.next() else { break None };
                if next > from + problem.guard {
                    let (through, steps) = self.run_through(problem, (load, index), (from, window.latest));
                    walked += steps;
                    if through.is_some() {
                        break through;
                    }
                }
                from = next + root.length;
            }
        };
        self.looks += looks;
        self.walked += walked;
        let (end, enclosed) = found?;
        self.used += problem.guard + load.charged + problem.preemption * enclosed.len() as i64;
        let inside = enclosed.iter().filter_map(|key| Some((*key, self.roots.remove(key)?))).collect();
        let root = Reserved { length: end - from, load: index, inside };
        self.roots.insert(from.rem_euclid(problem.hyperperiod), root);
        Some(Span { start: from + problem.guard, end })
    }

    /// End of a preemptible instance whose guard begins at `from` and that must end by `latest`, and the roots that interrupt it; and
    /// how many were looked at.
    fn run_through(
        &self,
        problem: &Problem,
        (load, index): (&Load, usize),
        (from, latest): (i64, i64),
    ) -> (Option<(i64, Vec<i64>)>, u64) {
        let (mut now, mut remaining) = (from + problem.guard, load.charged);
        let (mut enclosed, mut steps) = (Vec::new(), 0);
        for (next, root) in self.roots_from(problem, now) {
            steps += 1;
            if now + remaining > latest {
                break;
            }
            if now + remaining <= next {
                let end = now + remaining;
                return ((end - from <= problem.hyperperiod).then_some((end, enclosed)), steps);
            }
            if root.runs(index) {
                break;
            }
            remaining += problem.preemption - (next - now);
            now = next + root.length;
            enclosed.push(next.rem_euclid(problem.hyperperiod));
        }
        (None, steps)
    }

    /// Removes what was placed last, and puts what it enclosed back in its place.
    fn take_back(&mut self, problem: &Problem, spans: &[Span]) {
        for span in spans.iter().rev() {
            let key = (span.start - problem.guard).rem_euclid(problem.hyperperiod);
            self.roots.remove(&key).into_iter().for_each(|root| self.roots.extend(root.inside));
        }
    }

    /// The first free instant from `at` on, on the unrolled time line.
    fn free_from(&self, problem: &Problem, at: i64) -> i64 {
        let turn = at.div_euclid(problem.hyperperiod) * problem.hyperperiod;
        let before = self.roots.range(..at - turn).next_back().map(|(from, root)| from + turn + root.length);
        let around =
            || self.roots.last_key_value().map(|(from, r)| from + turn - problem.hyperperiod + r.length);
        before.or_else(around).map_or(at, |end| at.max(end))
    }

    /// The roots that begin at `at` or later, on the unrolled time line: once around, and the first one again.
    fn roots_from(&self, problem: &Problem, at: i64) -> impl Iterator<Item = (i64, &Reserved)> {
        let round = problem.hyperperiod;
        let turn = at.div_euclid(round) * round;
        let later = move |turn: i64| {
            self.roots.range(at.rem_euclid(round)..).map(move |(from, root)| (from + turn, root))
        };
        let around =
            self.roots.range(..at.rem_euclid(round)).map(move |(from, root)| (from + turn + round, root));
        later(turn).chain(around).chain(later(turn + round)).take(self.roots.len() + 1)
    }
}
