//! Response-time analysis: fixed priorities, preemptive, beside a time table.
//!
//! ```text
//!  arrival        released                                   end
//!     |~~~~~~~~~~~~~~|▒▒▒▒ table ▒▒|== more urgent ==|=own=|▒▒|=own=|
//!      delay: publish
//!      and wake-up
//! ```
//! The longest response begins with a busy window in which everything is released at once and the table begins a
//! stretch: if the window began before one, in a gap, to move all arrivals to it delays every end by as much at least. So each stretch is tried, and in each the window is the least length that
//! holds what is asked of it.

use super::table::Reserved;

/// What one sporadic work asks of its core.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub priority: u8,
    /// Budget, switch and copy.
    pub cost: i64,
    pub interval: Option<i64>,
    pub deadline: Option<i64>,
}

/// What the machine adds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Charges {
    /// Longest time from an arrival until the work is ready to run.
    pub delay: i64,
    /// For each stretch of the table and each run of more urgent work: one preemption and resumption.
    pub preemption: i64,
}

/// How long a run can take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Response {
    /// Never longer.
    Bound(i64),
    /// There is no bound: it, or as urgent work, may arrive at any rate.
    Unbounded,
    /// The analysis was cut short.
    GaveUp,
}

/// Windows that the analyses of one job may look at, all together.
pub(crate) const STEPS_MAX: u64 = 10_000_000;
/// The same where many jobs are tried to explain one refusal.
pub(crate) const STEPS_LIGHT_MAX: u64 = 100_000;

/// What an analysis may still look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps(pub u64);

/// The longest response of `own` beside the table and `rivals`, which are all the others that are as urgent or more.
pub(crate) fn response(
    table: &Reserved,
    own: &Load,
    rivals: &[Load],
    charges: Charges,
    steps: &mut Steps,
) -> Response {
    response_after(table, (own, 0), rivals, charges, steps)
}

/// The same in windows at whose beginning so much more urgent work is left over, once.
pub(crate) fn response_after(
    table: &Reserved,
    (own, left_over): (&Load, i64),
    rivals: &[Load],
    charges: Charges,
    steps: &mut Steps,
) -> Response {
    let Some(interval) = own.interval else { return Response::Unbounded };
    if rivals.iter().any(|rival| rival.interval.is_none()) {
        return Response::Unbounded;
    }
    let analysis = Analysis { table, rivals, charges, left_over };
    let mut longest = 0;
    for first in 0..table.count().max(1) {
        let mut runs = 0_i64;
        let mut window = 0;
        loop {
            runs += 1;
            let Some(found) = analysis.window(first, (runs.saturating_mul(own.cost), window), steps) else {
                return Response::GaveUp;
            };
            window = found;
            let arrived = (runs - 1).saturating_mul(interval);
            longest = longest.max(window + charges.delay - arrived);
            // The next run is released within this window at the earliest, or not in it any more.
            if window <= runs.saturating_mul(interval) - charges.delay {
                break;
            }
        }
    }
    Response::Bound(longest)
}

struct Analysis<'a> {
    table: &'a Reserved,
    rivals: &'a [Load],
    charges: Charges,
    left_over: i64,
}

impl Analysis<'_> {
    /// The least window from the start of stretch `first`, not below `least`, that holds `own` and all that goes before.
    fn window(&self, first: usize, (own, least): (i64, i64), steps: &mut Steps) -> Option<i64> {
        let mut window = least.max(own).max(1);
        loop {
            let cost = 1 + self.rivals.len() as u64;
            if steps.0 < cost || window > crate::TIME_NS_MAX {
                return None;
            }
            steps.0 -= cost;
            let asked = self.asked(first, own, window);
            if asked <= window {
                return Some(window);
            }
            window = asked;
        }
    }

    fn asked(&self, first: usize, own: i64, window: i64) -> i64 {
        let Charges { delay, preemption } = self.charges;
        let (reserved, begun) = self.table.within(first, window);
        let of_table = reserved.saturating_add(begun.saturating_mul(preemption));
        let of_rivals = self.rivals.iter().map(|rival| {
            let runs = (window + delay + rival.interval.unwrap_or(1) - 1) / rival.interval.unwrap_or(1);
            runs.saturating_mul(rival.cost + preemption)
        });
        of_rivals.fold(own.saturating_add(of_table).saturating_add(self.left_over), i64::saturating_add)
    }
}
