//! What the time table takes of a link, whatever instant one begins to look at: an exact staircase over the hyperperiod.
//!
//! ```text
//!   table      ....|===|......|=|...|===|....        N(d): the most that is taken in any window of length d; it grows
//!   N(d)       the greatest of all windows of        with slope 1 within a stretch, and stands still in gaps
//!              length d, most of them beginning
//!              with a stretch
//! ```
//! The most is taken where a window begins with a stretch. Of windows from stretch `k` that hold `j` whole ones, the shortest has some length and
//! takes some sum. N is the upper envelope of these corners, each with a slope of 1 before it and of 0 behind.

use crate::sporadic::Reserved;

/// More stretches than this are joined over their shortest gaps, which are then taken too: sound, and bounded in effort.
const STRETCHES_MAX: usize = 512;
/// Rates and offsets of lines are counted in this many parts of a nanosecond.
pub(super) const PARTS: i128 = 1 << 40;

/// The stretches of a link that the table has, as the most that it takes of windows.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    round: i64,
    total: i64,
    corners: Vec<Corner>,
}

#[derive(Clone, Copy, Debug)]
struct Corner {
    length: i64,
    /// The most of all corners up to this length.
    sum: i64,
    /// The most, less its length, of all corners from this length on.
    lead: i64,
}

impl Taken {
    /// From stretches `[from, to)` that may lie anywhere, and overlap; everything repeats after `round`.
    pub(super) fn new(round: i64, stretches: impl Iterator<Item = (i64, i64)>) -> Self {
        let stretches = joined(reserved(round, stretches).stretches().collect(), round);
        let total = stretches.iter().map(|(_, length)| length).sum();
        Self { round, total, corners: envelope(round, &stretches) }
    }

    /// The most that is taken of any window of this length.
    pub(super) fn within(&self, window: i64) -> i64 {
        let (rounds, rest) = (window / self.round, window % self.round);
        let shorter = self.corners.partition_point(|corner| corner.length <= rest);
        let behind = shorter.checked_sub(1).map_or(0, |last| self.corners[last].sum);
        let before = self.corners.get(shorter).map_or(0, |corner| rest + corner.lead);
        rounds.saturating_mul(self.total).saturating_add(behind.max(before))
    }

    /// A line above the staircase: its offset and its rate, in parts.
    pub(super) fn line(&self) -> (i128, i128) {
        let rate = (i128::from(self.total) * PARTS + i128::from(self.round) - 1) / i128::from(self.round);
        let above = |corner: &Corner| i128::from(corner.sum) * PARTS - i128::from(corner.length) * rate;
        (self.corners.iter().map(above).max().unwrap_or(0).max(0), rate)
    }
}

/// Stretches `[from, to)` that may lie anywhere, and overlap, around the round.
pub(super) fn reserved(round: i64, stretches: impl Iterator<Item = (i64, i64)>) -> Reserved {
    let mut pieces = Vec::new();
    for (from, to) in stretches {
        let (start, length) = (from.rem_euclid(round), (to - from).min(round));
        let first = length.min(round - start);
        pieces.push((start, start + first));
        pieces.push((0, length - first));
    }
    pieces.sort_unstable();
    Reserved::new(round, &pieces)
}

/// At most [`STRETCHES_MAX`] stretches that hold all of these.
fn joined(mut stretches: Vec<(i64, i64)>, round: i64) -> Vec<(i64, i64)> {
    if stretches.len() <= STRETCHES_MAX {
        return stretches;
    }
    let gap = |pair: &[(i64, i64)]| pair[1].0 - pair[0].0 - pair[0].1;
    let mut gaps: Vec<i64> = stretches.windows(2).map(gap).collect();
    gaps.sort_unstable();
    let widest = gaps[stretches.len() - STRETCHES_MAX];
    let mut kept: Vec<(i64, i64)> = Vec::with_capacity(STRETCHES_MAX);
    for (start, length) in stretches.drain(..) {
        match kept.last_mut() {
            Some((from, so_far)) if start - *from - *so_far <= widest => {
                *so_far = (start + length - *from).min(round);
            }
            _ => kept.push((start, length)),
        }
    }
    kept
}

fn envelope(round: i64, stretches: &[(i64, i64)]) -> Vec<Corner> {
    let mut corners = Vec::with_capacity(stretches.len() * stretches.len());
    for first in 0..stretches.len() {
        let begin = stretches[first].0;
        let mut sum = 0;
        for step in 0..stretches.len() {
            let (start, length) = stretches[(first + step) % stretches.len()];
            let start = if first + step < stretches.len() { start } else { start + round };
            sum += length;
            corners.push(Corner {
                length: start + length - begin,
                sum,
                lead: sum - (start + length - begin),
            });
        }
    }
    corners.sort_unstable_by_key(|corner| (corner.length, std::cmp::Reverse(corner.sum)));
    corners.dedup_by_key(|corner| corner.length);
    let mut most = 0;
    for corner in &mut corners {
        most = most.max(corner.sum);
        corner.sum = most;
    }
    let mut lead = i64::MIN;
    for corner in corners.iter_mut().rev() {
        lead = lead.max(corner.lead);
        corner.lead = lead;
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(stretches: &[(i64, i64)], round: i64, window: i64) -> i64 {
        let is_taken = |at: i64| {
            let on = |(from, to): &(i64, i64)| (at - from).rem_euclid(round) < to - from;
            stretches.iter().any(on)
        };
        (0..round)
            .map(|from| (from..from + window).filter(|at| is_taken(*at)).count() as i64)
            .max()
            .unwrap_or(0)
    }

    #[test]
    fn no_window_has_more_and_some_window_has_it() {
        let tables: [&[(i64, i64)]; 6] = [
            &[],
            &[(2, 5)],
            &[(0, 1), (3, 4), (6, 9)],
            &[(-2, 3), (5, 6), (7, 8)],
            &[(4, 40)],
            &[(1, 3), (2, 7), (11, 13)],
        ];
        for stretches in tables {
            let taken = Taken::new(12, stretches.iter().copied());
            let (offset, rate) = taken.line();
            for window in 0..40 {
                let found = taken.within(window);
                assert_eq!(found, counted(stretches, 12, window), "{stretches:?}, {window} long");
                assert!(i128::from(found) * PARTS <= offset + i128::from(window) * rate);
            }
        }
    }

    #[test]
    fn what_is_joined_takes_no_less() {
        let stretches = |count: i64| (0..count).map(|index| (index * 10, index * 10 + 1 + index % 7));
        let (few, many) = (STRETCHES_MAX as i64, STRETCHES_MAX as i64 + 300);
        let round = many * 10;
        assert_eq!(
            Taken::new(few * 10, stretches(few)).total,
            stretches(few).map(|(from, to)| to - from).sum()
        );
        let joined = Taken::new(round, stretches(many));
        assert!(joined.total >= stretches(many).map(|(from, to)| to - from).sum());
        assert!(joined.total <= round && joined.corners.len() <= STRETCHES_MAX * STRETCHES_MAX);
    }
}
