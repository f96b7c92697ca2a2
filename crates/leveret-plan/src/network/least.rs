//! The least of a change with which everything fits.
//!
//! ```text
//!  conflict ─► least with which it fits ─► all planned with that ─┬─► fits: found
//!     ▲                                                           ├─► a further conflict, proven ─┐
//!     └───────────────────────────────────────────────────────────┼───────────────────────────────┘
//!                                                                 └─► not known: a few values, the nearest first
//! ```
//! What conflicts by itself is a few streams, so the border of each conflict is found exactly; all streams are planned few times (lazy refinement by
//! counterexamples: J. Hooker, G. Ottosson, "Logic-based Benders decomposition", Mathematical Programming 96, 2003).

use super::change::NetworkChange;
use super::ladder::Ladder;
use super::trials::{Answer, Trials};
use leveret_types::StreamId;

/// Conflicts that are refined for one change.
const ROUNDS_MAX: usize = 12;
/// Conflicts that are kept for other changes.
const CORES_MAX: usize = 6;

/// Changes of one conflict.
pub(super) struct Finder<'t, 'a> {
    pub trials: &'t mut Trials<'a>,
    /// The streams that are to fit, those of other conflicts left out.
    pub ground: Vec<StreamId>,
    /// Sets of them that have no plan as declared, or had none with some change.
    pub cores: Vec<Vec<StreamId>>,
    /// Whether it is proven that what is declared has no plan.
    pub is_proven: bool,
}

/// The least rung that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Least {
    pub change: NetworkChange,
    /// Whether the next value nearer to what is declared provably does not do.
    pub is_least: bool,
    /// Whether any longer search for a plan of the ground finds it too, with no flow late.
    pub is_sure: bool,
}

impl Finder<'_, '_> {
    /// The least change of a ladder with which the ground fits, as far as it is found.
    pub(super) fn least(&mut self, ladder: &Ladder) -> Option<Least> {
        let rung = if ladder.is_ordered() { self.by_border(ladder)? } else { self.one_by_one(ladder)? };
        let change = ladder.at(rung);
        let is_sure = self.trials.is_planned(&change, &self.ground);
        let is_least = ladder.is_ordered() && self.is_too_little(ladder, rung - 1);
        Some(Least { change, is_least, is_sure })
    }

    /// Of values that say nothing of each other, the first.
    fn one_by_one(&mut self, ladder: &Ladder) -> Option<i64> {
        (1..=ladder.count()).find(|rung| {
            let change = ladder.at(*rung);
            let cores = 0..self.cores.len();
            let is_possible = cores.into_iter().all(|core| self.core(core, &change) == Answer::Fits);
            is_possible && self.whole(&change) == Answer::Fits
        })
    }

    /// Of ordered values, the border of all conflicts that are known and of those that are met there.
    fn by_border(&mut self, ladder: &Ladder) -> Option<i64> {
        let (mut low, count) = (0, ladder.count());
        for _ in 0..ROUNDS_MAX {
            for core in 0..self.cores.len() {
                low = self.border(ladder, core, low)?;
            }
            if low == 0 {
                break;
            }
            match self.whole(&ladder.at(low)) {
                Answer::Fits => return Some(low),
                Answer::Proven(streams)
                    if !self.cores.contains(&streams) && self.cores.len() < ROUNDS_MAX =>
                {
                    self.cores.push(streams);
                    // What the change does not touch is another conflict.
                    let last = self.cores.len() - 1;
                    if self.core(last, &ladder.at(count)) != Answer::Fits {
                        self.cores.pop();
                        return None;
                    }
                }
                _ => break,
            }
        }
        let found = ladder.nearest(low, |change| self.whole(change) == Answer::Fits);
        self.cores.truncate(CORES_MAX);
        found
    }

    /// The least rung from `low` on with which a conflict fits by itself. None where none does.
    fn border(&mut self, ladder: &Ladder, core: usize, low: i64) -> Option<i64> {
        if low > 0 && self.core(core, &ladder.at(low)) == Answer::Fits {
            return Some(low);
        }
        let (mut no, mut yes) = (low, ladder.count());
        if no >= yes || self.core(core, &ladder.at(yes)) != Answer::Fits {
            return None;
        }
        while yes - no > 1 {
            let middle = no + (yes - no) / 2;
            if self.core(core, &ladder.at(middle)) == Answer::Fits { yes = middle } else { no = middle }
        }
        Some(yes)
    }

    /// Whether it is proven that a rung does not do.
    fn is_too_little(&mut self, ladder: &Ladder, rung: i64) -> bool {
        if rung == 0 {
            return self.is_proven;
        }
        let change = ladder.at(rung);
        let is_core = (0..self.cores.len()).any(|core| matches!(self.core(core, &change), Answer::Proven(_)));
        is_core || matches!(self.whole(&change), Answer::Proven(_))
    }

    fn core(&mut self, core: usize, change: &NetworkChange) -> Answer {
        self.trials.part(Some(change), &self.cores[core])
    }

    fn whole(&mut self, change: &NetworkChange) -> Answer {
        self.trials.whole(Some(change), &self.ground)
    }
}
