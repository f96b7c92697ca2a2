//! What the time table takes of a core: its reserved stretches on the circle of the hyperperiod.

use crate::Plan;
use leveret_types::Nanos;

/// Disjoint stretches `[from, from + length)` in order, none touching the next; instants wrap at the hyperperiod.
#[derive(Clone, Debug)]
pub(crate) struct Reserved {
    round: i64,
    starts: Vec<i64>,
    /// `sums[k]`: time reserved by the first `k` stretches.
    sums: Vec<i64>,
}

impl Reserved {
    /// What `plan` reserves on `core` for the tasks that `counts` accepts, by index.
    pub fn of(plan: &Plan, core: u32, counts: impl Fn(usize) -> bool) -> Self {
        let (round, guard) = (plan.hyperperiod.0, plan.costs.guard);
        let on_core = plan.tasks.iter().filter(|task| task.core == core && counts(task.task.index()));
        let mut pieces: Vec<(i64, i64)> = Vec::new();
        let mut add = |from: Nanos, to: Nanos| {
            let (start, length) = (from.0.rem_euclid(round), to.0 - from.0);
            // A piece that crosses the end is two, which meet again below.
            let first = length.min(round - start);
            pieces.push((start, start + first));
            if length > first {
                pieces.push((0, length - first));
            }
        };
        for instance in on_core.flat_map(|task| &task.instances) {
            if guard > Nanos::ZERO {
                add(instance.start() - guard, instance.start());
            }
            instance.segments.iter().for_each(|segment| add(segment.start, segment.end));
        }
        pieces.sort_unstable();
        Self::new(round, &pieces)
    }

    /// From sorted pieces `[from, to)` within the round.
    pub fn new(round: i64, pieces: &[(i64, i64)]) -> Self {
        let mut merged: Vec<(i64, i64)> = Vec::with_capacity(pieces.len());
        for (from, to) in pieces.iter().copied().filter(|(from, to)| from < to) {
            match merged.last_mut() {
                Some((_, end)) if from <= *end => *end = to.max(*end),
                _ => merged.push((from, to)),
            }
        }
        // The last one goes on at the beginning: one stretch, which begins at its own start.
        if merged.len() > 1
            && let (Some(&(0, first_end)), Some(&(last, end))) = (merged.first(), merged.last())
            && end == round
        {
            merged.remove(0);
            merged.pop();
            merged.push((last, round + first_end));
        }
        let mut sums = vec![0];
        for (from, to) in &merged {
            sums.push(sums[sums.len() - 1] + (to - from));
        }
        Self { round, starts: merged.iter().map(|(from, _)| *from).collect(), sums }
    }

    pub fn round(&self) -> i64 {
        self.round
    }

    /// Number of stretches.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Start and length of each stretch, in order.
    pub fn stretches(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.starts.iter().zip(self.sums.windows(2)).map(|(start, sums)| (*start, sums[1] - sums[0]))
    }

    /// The longest time between two stretches.
    pub fn longest_gap(&self) -> i64 {
        let following =
            self.starts.iter().skip(1).copied().chain(self.starts.first().map(|s| s + self.round));
        let gaps = self.stretches().zip(following).map(|((start, length), next)| next - start - length);
        gaps.max().unwrap_or(self.round)
    }

    /// Time reserved in each round.
    pub fn total(&self) -> i64 {
        self.sums[self.starts.len()]
    }

    /// Time reserved in the `window` from the start of stretch `first`, and how many stretches begin in it.
    pub fn within(&self, first: usize, window: i64) -> (i64, i64) {
        let count = self.starts.len();
        if count == 0 {
            return (0, 0);
        }
        let (rounds, rest) = (window / self.round, window % self.round);
        let mut time = rounds.saturating_mul(self.total());
        let mut begun = rounds.saturating_mul(count as i64);
        // The rest of the window ends before the round does; it may cross the round's end.
        let end = self.starts[first] + rest;
        let (here, after) = if end <= self.round { (end, 0) } else { (self.round, end - self.round) };
        let upto = self.starts.partition_point(|start| *start < here).max(first);
        let again = self.starts.partition_point(|start| *start < after).min(first);
        begun += (upto - first + again) as i64;
        time += self.sums[upto] - self.sums[first] + self.sums[again];
        // The stretch that is cut off by the window's end.
        let (last, cut) = if again > 0 { (again - 1, end - self.round) } else { (upto.max(1) - 1, end) };
        if again > 0 || upto > first {
            let stretch_end = self.starts[last] + self.sums[last + 1] - self.sums[last];
            time -= (stretch_end - cut).max(0);
        }
        (time, begun)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reserved time and beginnings, nanosecond by nanosecond.
    fn counted(pieces: &[(i64, i64)], round: i64, from: i64, window: i64) -> (i64, i64) {
        let is_reserved =
            |at: i64| pieces.iter().any(|(start, end)| (*start..*end).contains(&at.rem_euclid(round)));
        let time = (from..from + window).filter(|at| is_reserved(*at)).count() as i64;
        let begun = (from..from + window).filter(|at| is_reserved(*at) && !is_reserved(at - 1)).count();
        (time, begun as i64)
    }

    #[test]
    fn every_window_has_what_counting_finds() {
        let tables: [&[(i64, i64)]; 5] = [
            &[(2, 5)],
            &[(0, 1), (3, 4), (6, 9)],
            &[(0, 3), (5, 6), (9, 12)],
            &[(11, 12)],
            &[(1, 2), (2, 7)],
        ];
        for pieces in tables {
            let reserved = Reserved::new(12, pieces);
            for first in 0..reserved.count() {
                for window in 0..40 {
                    let from = reserved.starts[first];
                    assert_eq!(
                        reserved.within(first, window),
                        counted(pieces, 12, from, window),
                        "{pieces:?} from {from}, {window} long"
                    );
                }
            }
        }
    }

    #[test]
    fn an_empty_table_takes_nothing() {
        let reserved = Reserved::new(12, &[]);
        assert_eq!((reserved.count(), reserved.total(), reserved.within(0, 100)), (0, 0, (0, 0)));
    }
}
