//! How much a search may do. Counted in instances and gaps looked at, never in time, so that answers do not depend on the
//! machine.

use crate::windows::Problem;

/// Problems with at most this many instances on each core, or in all where tasks are free to choose, are searched to
/// the end.
const SMALL_PINNED: usize = 8;
const SMALL_FREE: usize = 16;

/// Bounds of one search, and what it has spent.
#[derive(Clone, Debug)]
pub(crate) struct Effort {
    light: bool,
    /// Instances and gaps looked at so far.
    pub spent: u64,
}

impl Effort {
    /// For the answer that the user gets.
    pub fn full() -> Self {
        Self { light: false, spent: 0 }
    }

    /// For the many searches of an explanation. What it finds, a full search finds; small problems get the full
    /// effort in either case.
    pub fn light() -> Self {
        Self { light: true, spent: 0 }
    }

    pub fn spend(&mut self, looks: u64) {
        self.spent = self.spent.saturating_add(looks);
    }

    /// Passes of the insertion.
    pub(super) fn passes(&self, problem: &Problem) -> usize {
        if self.light && !is_small(problem) { 4 } else { 48 }
    }

    /// Gaps that the insertion may look at before its last pass.
    pub(super) fn looks(&self, problem: &Problem) -> u64 {
        if self.light && !is_small(problem) { 200_000 } else { 5_000_000 }
    }

    /// Instances that the exhaustive search may look at.
    pub(super) fn visits(&self, problem: &Problem) -> u64 {
        match (is_small(problem), self.light) {
            (true, _) => 400_000_000,
            (false, false) => 20_000_000,
            (false, true) => 400_000,
        }
    }
}

fn is_small(problem: &Problem) -> bool {
    let instances = |core: Option<usize>| -> usize {
        let on_core = problem.loads.iter().filter(|load| load.pinned == core);
        on_core.map(|load| load.windows.len()).sum()
    };
    if instances(None) > 0 {
        return problem.instance_count() <= SMALL_FREE;
    }
    (0..problem.cores).all(|core| instances(Some(core)) <= SMALL_PINNED)
}
