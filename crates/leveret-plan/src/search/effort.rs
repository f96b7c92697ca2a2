//! How much a search may do. Counted in instances and gaps looked at, never in time, so that answers do not depend on the
//! machine.

use crate::windows::Problem;

/// Problems with at most this many instances on each core are searched to the end. Where tasks are free to choose, as many
/// on average.
const SMALL: usize = 8;
/// Most instances in all, some of them free, that a light search looks at as long as a full one.
const SMALL_LIGHT_FREE: usize = 16;

/// Bounds of one search, and what it has spent.
#[derive(Clone, Debug)]
pub(crate) struct Effort {
    light: bool,
    /// Instances and gaps looked at so far, and what was walked.
    pub spent: u64,
    /// Stretches gone through to see what would interrupt an instance. They do not count where an insertion ends, so that what
    /// interrupts much is tried as often as what interrupts little.
    pub(super) walked: u64,
}

impl Effort {
    /// For the answer that the user gets.
    pub fn full() -> Self {
        Self { light: false, spent: 0, walked: 0 }
    }

    /// For the many searches of an explanation. What it finds, a full search finds; small problems get the full
    /// effort in either case.
    pub fn light() -> Self {
        Self { light: true, spent: 0, walked: 0 }
    }

    pub fn spend(&mut self, looks: u64) {
        self.spent = self.spent.saturating_add(looks);
    }

    pub(super) fn walk(&mut self, steps: u64) {
        let walked = self.walked.saturating_add(steps);
        self.spend(walked - self.walked);
        self.walked = walked;
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
        let quick = !is_free(problem) || problem.instance_count() <= SMALL_LIGHT_FREE;
        match (is_small(problem), self.light) {
            (true, light) if quick || !light => 400_000_000,
            (true, _) => 4_000_000,
            (false, false) => 20_000_000,
            (false, true) => 400_000,
        }
    }
}

/// Whether some task may choose its core.
fn is_free(problem: &Problem) -> bool {
    problem.loads.iter().any(|load| load.pinned.is_none())
}

fn is_small(problem: &Problem) -> bool {
    if is_free(problem) {
        return problem.instance_count() <= SMALL * problem.cores;
    }
    let on_core = |core: usize| problem.loads.iter().filter(move |load| load.pinned == Some(core));
    (0..problem.cores).all(|core| on_core(core).map(|load| load.windows.len()).sum::<usize>() <= SMALL)
}
