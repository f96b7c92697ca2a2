//! Where the kernel's tick falls on each core, and the epoch that keeps planned starts away from it.
//!
//! While a core computes, the kernel interrupts it at multiples of its tick period (1, 4 or 10 ms) on `CLOCK_MONOTONIC`, moved by a constant for each core. A hyperperiod `H` and
//! a tick period `T` meet at the same places again and again: seen from the plan, ticks fall only at instants that differ by multiples of `g = gcd(H, T)`.
//!
//! ```text
//!  plan    |=A=|  |=B=|      |=A=|  |=B=|      |=A=| ...     H = 5 ms
//!  ticks      ^               ^               ^              T = 4 ms: each fourth instance of A is hit
//!  moved       |=A=|  |=B=|      |=A=|  |=B=|                by less than g = 1 ms: none is hit
//! ```
//! So the epoch modulo `g` decides which starts a tick hits. [`Ticks::epoch`] is a pure function of the plan and the ticks: the same ticks give the same epoch modulo `g`.

mod apart;

use leveret_plan::Plan;
use leveret_types::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// The kernel's tick on one core: its instants are `phase` and all that differ from it by multiples of `period`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tick {
    pub core: u32,
    pub period: Nanos,
    pub phase: Nanos,
}

/// Tick periods of kernels: `CONFIG_HZ` 1000, 300, 250 and 100.
const PERIODS: [i64; 4] = [1_000_000, 3_333_333, 4_000_000, 10_000_000];
/// A tick delays a start by which it is followed so closely, or that it follows so closely.
const BEFORE: i64 = 30_000;
const AFTER: i64 = 10_000;
/// Places of the epoch that are compared.
const PLACES: i64 = 200;
/// Starts and stretches that are looked at; a plan with more has no room that a tick could leave.
const STRETCHES_MAX: usize = 50_000;
/// Ticks vary by so much.
const SPREAD: i64 = 15_000;

impl Tick {
    /// The tick of a core from the instants at which a thread that span between `from` and `until` was interrupted: the shortest period of which three in four instants were
    /// seen.
    pub(crate) fn from_gaps(core: u32, gaps: &[Nanos], [from, until]: [Nanos; 2]) -> Option<Self> {
        PERIODS.into_iter().find_map(|period| {
            let expected = (until - from).0 / period;
            let near = |phase: i64| {
                let near = |gap: &&Nanos| {
                    let apart = (gap.0 - phase).rem_euclid(period);
                    apart.min(period - apart) <= SPREAD
                };
                let instants =
                    gaps.iter().filter(near).map(|gap| (gap.0 - phase + period / 2).div_euclid(period));
                instants.collect::<BTreeSet<_>>().len() as i64
            };
            // The last of equals is as good as the first; the first is taken.
            let (seen, phase) = gaps
                .iter()
                .map(|gap| (near(gap.0), gap.0.rem_euclid(period)))
                .max_by_key(|(seen, phase)| (*seen, std::cmp::Reverse(*phase)))?;
            (expected >= 3 && seen * 4 >= expected * 3).then_some(Self {
                core,
                period: Nanos(period),
                phase: Nanos(phase),
            })
        })
    }
}

/// The ticks of a job's cores, as far as they are known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Ticks(pub Vec<Tick>);

/// An epoch, and what a tick hits in one round of the places where plan and ticks meet, with the epoch as early as can be and as chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Placed {
    pub epoch: Nanos,
    pub starts_hit_before: usize,
    pub starts_hit: usize,
    /// Starts in the plan, on cores whose tick is known.
    pub starts: usize,
}

impl Placed {
    /// A note on the chosen place; `None` where no tick was measured or none could hit a start.
    pub(crate) fn remark(&self, ticks: &Ticks) -> Option<String> {
        let period = ticks.0.iter().map(|tick| tick.period).max()?;
        let (starts, hit, before) = (self.starts, self.starts_hit, self.starts_hit_before);
        match (before, hit) {
            (0, 0) => None,
            (_, 0) => Some(format!(
                "epoch placed off the kernel's tick of {period}: no planned start meets one, {before} of {starts} did"
            )),
            _ => Some(format!(
                "the kernel's tick of {period} meets {hit} of {starts} planned starts at times, wherever the epoch lies; starts further apart, or `nohz_full` on the job's cores, avoid that"
            )),
        }
    }
}

/// How bad a place of the epoch is: starts that a tick hits, bodies that one falls into, then how close the nearest start is.
type Score = (usize, usize, std::cmp::Reverse<i64>);

impl Ticks {
    /// The best instant from `earliest` on for the epoch of a plan, less than a tick period later.
    pub(crate) fn epoch(&self, plan: &Plan, earliest: Nanos) -> Placed {
        let stays = Placed { epoch: earliest, starts_hit_before: 0, starts_hit: 0, starts: 0 };
        let Some(circle) = self.circle(plan) else { return stays };
        let stretches = self.stretches(plan, circle);
        if circle < BEFORE + AFTER || stretches.is_empty() || stretches.len() > STRETCHES_MAX {
            return stays;
        }
        let at = |place: i64| score(&stretches, place, circle);
        let step = (circle / PLACES).max(1);
        let best = (0..circle)
            .step_by(usize::try_from(step).unwrap_or(1))
            .min_by_key(|place| (at(*place), *place))
            .unwrap_or(0);
        let before = at(earliest.0.rem_euclid(circle)).0;
        let after = at(best).0;
        let epoch = earliest + Nanos((best - earliest.0).rem_euclid(circle));
        Placed { epoch, starts_hit_before: before, starts_hit: after, starts: stretches.values().sum() }
    }

    /// Modulo what ticks fall at the same places of a plan, round after round.
    fn circle(&self, plan: &Plan) -> Option<i64> {
        self.0.iter().map(|tick| gcd(plan.hyperperiod.0, tick.period.0)).reduce(gcd)
    }

    /// Of the instances on cores with a known tick: where a start lies behind its core's tick, modulo `circle`, with the epoch at 0; how long it runs;
    /// and how many are alike.
    fn stretches(&self, plan: &Plan, circle: i64) -> BTreeMap<(i64, i64), usize> {
        let mut found = BTreeMap::new();
        for task in &plan.tasks {
            let Some(tick) = self.0.iter().find(|tick| tick.core == task.core) else { continue };
            for instance in &task.instances {
                let start = (instance.start() - tick.phase).0.rem_euclid(circle);
                *found.entry((start, (instance.end() - instance.start()).0)).or_default() += 1;
                if found.len() > STRETCHES_MAX {
                    return found;
                }
            }
        }
        found
    }
}

fn score(stretches: &BTreeMap<(i64, i64), usize>, place: i64, circle: i64) -> Score {
    let (mut hit, mut within, mut nearest) = (0, 0, i64::MAX);
    for ((start, length), count) in stretches {
        // The next tick from the start on, and the last one before it.
        let until_next = (-start - place).rem_euclid(circle);
        let since_last = circle - until_next;
        if until_next <= AFTER || since_last <= BEFORE {
            hit += count;
        } else if until_next < *length {
            within += count;
        }
        nearest = nearest.min(until_next.min(since_last));
    }
    (hit, within, std::cmp::Reverse(nearest))
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_plan::{CoreChoice, Costs, Job, Member, OverrunPolicy, Task};
    use leveret_types::MemberId;

    pub(super) const MS: i64 = 1_000_000;

    pub(super) fn tick(core: u32, phase: i64) -> Tick {
        Tick { core, period: Nanos(4 * MS), phase: Nanos(phase) }
    }

    /// A task on a core, with its window in a period.
    pub(super) fn task(index: usize, core: u32, period: i64, window: [i64; 2], budget: i64) -> Task {
        Task {
            name: format!("t{index}"),
            member: MemberId(0),
            period: Nanos(period),
            release: Nanos(window[0]),
            deadline: Nanos(window[1]),
            budget: Nanos(budget),
            core: CoreChoice::Pinned(core),
            preemptible: false,
            overrun: OverrunPolicy::Skip,
            reads: Vec::new(),
            writes: Vec::new(),
            mover: false,
        }
    }

    pub(super) fn job(tasks: Vec<Task>) -> Job {
        let cores: BTreeSet<u32> = tasks
            .iter()
            .filter_map(|task| match task.core {
                CoreChoice::Pinned(core) => Some(core),
                _ => None,
            })
            .collect();
        Job {
            name: "job".to_owned(),
            cores: cores.into_iter().collect(),
            members: vec![Member { name: "m".to_owned() }],
            tasks,
            channels: Vec::new(),
            sporadics: Vec::new(),
            costs: Costs::default(),
        }
    }

    /// Tasks of 100 us, so often on these cores.
    fn plan(tasks: &[(u32, i64)]) -> Plan {
        let of = |(index, (core, period)): (usize, &(u32, i64))| {
            task(index, *core, *period, [0, *period], 100_000)
        };
        leveret_plan::plan(&job(tasks.iter().enumerate().map(of).collect())).expect("a plan")
    }

    /// Starts of a run of `rounds` that a tick precedes or follows too closely, by going through all of them.
    pub(super) fn hits(plan: &Plan, ticks: &Ticks, epoch: Nanos, rounds: i64) -> usize {
        let is_hit = |core: u32, start: i64| {
            ticks.0.iter().filter(|tick| tick.core == core).any(|tick| {
                let since = (start - tick.phase.0).rem_euclid(tick.period.0);
                since <= BEFORE || tick.period.0 - since <= AFTER
            })
        };
        let starts = |round: i64| {
            let round = epoch.0 + round * plan.hyperperiod.0;
            plan.tasks.iter().flat_map(move |task| {
                task.instances.iter().map(move |one| (task.core, round + one.start().0))
            })
        };
        (0..rounds).flat_map(starts).filter(|(core, start)| is_hit(*core, *start)).count()
    }

    #[test]
    fn no_start_of_a_period_of_5_ms_meets_a_tick_of_4_ms() {
        let plan = plan(&[(0, 5 * MS), (0, 5 * MS)]);
        let first = plan.tasks[0].instances[0].start().0;
        let earliest = Nanos(60 * MS);
        // Each fourth instance is hit where the epoch lies as early as can be.
        let ticks = Ticks(vec![tick(0, first)]);
        assert_eq!(hits(&plan, &ticks, earliest, 400), 100);
        let placed = ticks.epoch(&plan, earliest);
        assert_eq!((placed.starts_hit_before, placed.starts_hit), (1, 0));
        assert_eq!(placed.starts, 2);
        assert_eq!(hits(&plan, &ticks, placed.epoch, 400), 0);
        assert!(placed.epoch >= earliest && placed.epoch < earliest + Nanos(MS));
    }

    /// Starts that meet the tick at the same place are as many as they are.
    #[test]
    fn every_start_of_the_plan_is_counted() {
        // At each fourth of its starts the tick of 4 ms would be in the same place, if the other task did not move it.
        let plan = plan(&[(0, 4 * MS), (0, 16 * MS)]);
        let first = plan.tasks[0].instances[0].start().0;
        let placed = Ticks(vec![tick(0, first)]).epoch(&plan, Nanos(60 * MS));
        assert_eq!((placed.starts, placed.starts_hit_before, placed.starts_hit), (5, 4, 0));
    }

    #[test]
    fn the_epoch_depends_on_the_ticks_alone_but_for_whole_turns() {
        let plan = plan(&[(0, 5 * MS), (1, 5 * MS)]);
        for phase in (0..4 * MS).step_by(70_000) {
            let ticks = Ticks(vec![tick(0, phase), tick(1, (phase * 3 + 100_000) % (4 * MS))]);
            let epochs = [60 * MS, 60 * MS + 1, 61_234_567].map(|earliest| {
                let placed = ticks.epoch(&plan, Nanos(earliest));
                assert!(placed.epoch.0 >= earliest && placed.epoch.0 < earliest + MS);
                assert_eq!(hits(&plan, &ticks, placed.epoch, 8), 0);
                placed.epoch.0 % MS
            });
            assert!(epochs.windows(2).all(|pair| pair[0] == pair[1]));
        }
    }

    #[test]
    fn without_room_or_ticks_the_epoch_is_the_earliest() {
        let odd = plan(&[(0, 333_001)]);
        let placed = Ticks(vec![tick(0, 0)]).epoch(&odd, Nanos(7));
        assert_eq!(placed, Placed { epoch: Nanos(7), starts_hit_before: 0, starts_hit: 0, starts: 0 });
        assert_eq!(Ticks::default().epoch(&odd, Nanos(7)).epoch, Nanos(7));
        // The tick of a core that runs nothing of the plan says nothing.
        assert_eq!(Ticks(vec![tick(5, 0)]).epoch(&plan(&[(0, 5 * MS)]), Nanos(7)).epoch, Nanos(7));
    }

    #[test]
    fn the_period_and_phase_of_a_tick_are_found_among_other_gaps() {
        let span = [Nanos(100 * MS), Nanos(148 * MS)];
        for (period, phase) in [(MS, 300_000), (3_333_333, 1_000_000), (4 * MS, 3_999_990), (10 * MS, 5)] {
            let first = (span[0].0 - phase).div_euclid(period) + 1;
            let ticks = (first..).map(|turn| phase + turn * period).take_while(|at| *at < span[1].0);
            // Each is up to 5 us late, one in eight is not seen, and there are others.
            let seen = ticks
                .enumerate()
                .filter(|(turn, _)| turn % 8 != 7)
                .map(|(turn, at)| Nanos(at + turn as i64 % 6 * 1000));
            let others = (0..7).map(|turn| Nanos(span[0].0 + turn * 5_777_777));
            let gaps: Vec<Nanos> = seen.chain(others).collect();
            let tick = Tick::from_gaps(3, &gaps, span).expect("a tick");
            assert_eq!((tick.core, tick.period.0), (3, period));
            let apart = (tick.phase.0 - phase).rem_euclid(period);
            assert!(apart.min(period - apart) <= SPREAD, "{} for {phase}", tick.phase);
        }
        let scattered: Vec<Nanos> = (0..40).map(|turn| Nanos(span[0].0 + turn * turn * 29_333)).collect();
        assert_eq!(Tick::from_gaps(0, &scattered, span), None);
        assert_eq!(Tick::from_gaps(0, &[], span), None);
    }
}
