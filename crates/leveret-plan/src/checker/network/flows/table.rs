//! What the table leaves of a link: the instant by which so much free time has passed, wherever one begins to wait.

use super::TIME_MAX;

/// The free time between the stretches that a table takes, around the round.
pub(super) struct Free {
    round: i128,
    /// Starts of stretches, in order, none touching the next; the last may reach beyond the round.
    starts: Vec<i128>,
    /// `free[k]`: free time from the start of the first stretch to the start of stretch `k`; at the end, that of the whole round.
    free: Vec<i128>,
}

impl Free {
    /// Between stretches `(from, to)` that may overlap and lie anywhere.
    pub(super) fn between(stretches: impl Iterator<Item = (i128, i128)>, round: i128) -> Self {
        let mut turned: Vec<(i128, i128)> = stretches
            .filter(|(from, to)| from < to)
            .map(|(from, to)| (from.rem_euclid(round), to - from))
            .collect();
        turned.sort_unstable();
        // Twice around, so that what reaches over the end is seen at the beginning.
        let again = turned.iter().map(|(from, length)| (from + round, *length));
        let twice: Vec<(i128, i128)> = turned.iter().copied().chain(again).collect();
        let (mut starts, mut ends): (Vec<i128>, Vec<i128>) = (Vec::new(), Vec::new());
        for (from, length) in twice {
            match ends.last_mut() {
                Some(end) if from <= *end => *end = (from + length).max(*end),
                _ => {
                    starts.push(from);
                    ends.push(from + length);
                }
            }
        }
        // The second round's stretches are those that count: the first round may lack what reaches into it.
        let kept: Vec<(i128, i128)> = starts.into_iter().zip(ends).filter(|(_, end)| *end > round).collect();
        Self::from_joined(kept, round)
    }

    fn from_joined(kept: Vec<(i128, i128)>, round: i128) -> Self {
        let Some(&(first, _)) = kept.first() else {
            return Self { round, starts: Vec::new(), free: vec![round] };
        };
        let within: Vec<(i128, i128)> =
            kept.into_iter().filter(|(start, _)| *start < first + round).collect();
        let mut free = vec![0];
        for (index, (_, end)) in within.iter().enumerate() {
            let next = within.get(index + 1).map_or(first + round, |(start, _)| *start);
            free.push(free[index] + (next - end).max(0));
        }
        Self { round, starts: within.into_iter().map(|(start, _)| start).collect(), free }
    }

    /// Free time of a round.
    fn whole(&self) -> i128 {
        self.free[self.starts.len()]
    }

    /// From the start of any stretch, the latest instant at which a piece of free time begins that has this much free time before it. None if there is none.
    pub(super) fn latest(&self, before: i128) -> Option<i128> {
        if self.starts.is_empty() {
            return Some(before);
        }
        let whole = self.whole();
        if whole <= 0 || before > TIME_MAX {
            return None;
        }
        let from = |first: usize| {
            let (rounds, rest) = ((self.free[first] + before) / whole, (self.free[first] + before) % whole);
            // The stretch after which that piece lies: the last with no more free time before it.
            let stretch = self.free.partition_point(|free| *free <= rest) - 1;
            let end = self.starts.get(stretch + 1).copied().unwrap_or(self.starts[0] + self.round);
            let gap = self.free[stretch + 1] - rest;
            end - gap + rounds * self.round - self.starts[first]
        };
        (0..self.starts.len()).map(from).max()
    }

    /// A line above what is taken of any window: offset and rate in parts of a nanosecond, each rounded up.
    pub(super) fn line(&self, parts: i128) -> (i128, i128) {
        let taken = self.round - self.whole();
        let rate = (taken * parts + self.round - 1) / self.round;
        // What is taken up to an instant, less the line, comes back after each round: the greatest step is from its least to its greatest.
        let (mut least, mut greatest) = (0, 0);
        for (index, start) in self.starts.iter().enumerate() {
            let at = start - self.starts[0];
            let before = at - self.free[index];
            least = least.min(before * parts - at * rate);
            let next = self.starts.get(index + 1).map_or(self.round, |next| next - self.starts[0]);
            let end = next - (self.free[index + 1] - self.free[index]);
            greatest = greatest.max((end - self.free[index]) * parts - end * rate);
        }
        // The rate is rounded up, so what lies a round later is lower.
        (greatest - least, rate)
    }
}
