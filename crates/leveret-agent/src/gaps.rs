//! Stretches of a plan in which nothing is planned on a core.

use leveret_plan::Plan;
use leveret_types::Nanos;

/// The stretches of the hyperperiod in which `core` has nothing planned, from start to end, in order; the last may reach into the next
/// hyperperiod. None where nothing is ever planned.
pub(crate) fn gaps(plan: &Plan, core: u32) -> Vec<(Nanos, Nanos)> {
    let mut busy: Vec<(Nanos, Nanos)> = plan
        .tasks
        .iter()
        .filter(|task| task.core == core)
        .flat_map(|task| &task.instances)
        .map(|instance| (instance.start() - plan.costs.guard, instance.end()))
        .collect();
    busy.sort_unstable();
    let Some(first) = busy.first().copied() else { return Vec::new() };
    let mut reached = first.1;
    let again = (first.0 + plan.hyperperiod, first.1 + plan.hyperperiod);
    let mut gaps = Vec::new();
    for (start, end) in busy.into_iter().skip(1).chain([again]) {
        if start > reached {
            gaps.push((reached, start));
        }
        reached = reached.max(end);
    }
    gaps
}

/// What a system call of some length needs.
const ENOUGH: Nanos = Nanos::from_micros(250);

/// When somebody who has to be on a core of the job is least in its way. Most kernels give a core to a task at once; those without
/// preemption finish the system call first.
#[derive(Clone, Debug)]
pub(crate) struct Quiet {
    pub(crate) core: u32,
    gaps: Vec<(Nanos, Nanos)>,
    epoch: Nanos,
    hyperperiod: Nanos,
}

impl Quiet {
    /// On the core with the longest gap; `None` where nothing is planned.
    pub(crate) fn of(plan: &Plan, epoch: Nanos) -> Option<Self> {
        let length = |(start, end): &(Nanos, Nanos)| *end - *start;
        let of_core = |core: u32| {
            let gaps = gaps(plan, core);
            let longest = gaps.iter().map(length).max()?;
            Some((longest, core, gaps))
        };
        let found = plan.cores.iter().filter_map(|planned| of_core(planned.core));
        let (longest, core, mut gaps) = found.max_by_key(|(longest, ..)| *longest)?;
        gaps.retain(|gap| length(gap) >= Nanos(longest.0 / 2).min(ENOUGH.saturating_mul(2)));
        Some(Self { core, gaps, epoch, hyperperiod: Nanos(plan.hyperperiod.0.max(1)) })
    }

    /// `now`, where enough of a gap is left, or the beginning of the next.
    pub(crate) fn next(&self, now: Nanos) -> Nanos {
        let at = (now - self.epoch).0.rem_euclid(self.hyperperiod.0);
        // The last gap of the hyperperiod before reaches into this one.
        let turns = [-1, 0, 1].map(|turn| Nanos(self.hyperperiod.0 * turn - at));
        let ahead = turns
            .into_iter()
            .flat_map(|shift| self.gaps.iter().map(move |gap| (gap.0 + shift, gap.1 + shift)));
        let suits = |(start, end): &(Nanos, Nanos)| *start >= Nanos::ZERO || *end >= ENOUGH;
        now + ahead.filter(suits).map(|(start, _)| start.max(Nanos::ZERO)).min().unwrap_or(Nanos::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_begins_in_a_gap_that_has_room_for_it() {
        let [gap, hyperperiod] =
            [(300, 900), (1000, 0)].map(|(a, b)| (Nanos::from_micros(a), Nanos::from_micros(b)));
        let quiet = Quiet { core: 0, gaps: vec![gap], epoch: Nanos(7), hyperperiod: hyperperiod.0 };
        let next = |micros: i64| (quiet.next(Nanos::from_micros(micros) + Nanos(7)) - Nanos(7)).0 / 1000;
        assert_eq!([0, 299, 300, 650, 651, 999, 1000].map(next), [300, 300, 300, 650, 1300, 1300, 1300]);
        let around = Quiet { gaps: vec![(Nanos::from_micros(800), Nanos::from_micros(1400))], ..quiet };
        let next = |micros: i64| (around.next(Nanos::from_micros(micros) + Nanos(7)) - Nanos(7)).0 / 1000;
        assert_eq!([0, 150, 151, 799, 900].map(next), [0, 150, 800, 800, 900]);
    }
}
