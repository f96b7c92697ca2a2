//! Was it a stall of the machine or an overrun? Decided by statistics that the run itself provides.
//!
//! A body that was on its core all the time and took too long has no witness of its own in a virtual machine, beyond
//! the timer interrupts that came meanwhile (`task/body.rs` asks them first). But while a task spins towards its start it
//! reads the clock without pause, so every gap between two readings *is* a stall. All of a run's gaps give the
//! machine's rate of stalls of at least a length `L` on that core.
//!
//! `L` is what the body took beyond its usual time: what 9 of 10 other instances kept, or, when the machine stalled so
//! often that this exceeds the budget, the longest time within the budget. With `m` instances that exceeded the usual
//! time by `L` or more, and a total time `T` in which stalls could have hit a body (no instance counts for more than
//! its usual time), stalls alone would give `rate(L) * T` such instances. It is a stall if both hold:
//!
//! - `m` or more of them are not too improbable, one in a million (a run has thousands of bodies, and stalls come in bursts), at `L`
//!   and at `L/2`; what the machine does is taken from the spins, or from the bare timer beside the run if that
//!   gives more: on a busy host a virtual core stands still right after a wake-up far more often than in a spin, and each body
//!   follows a wake-up;
//! - the run saw the machine stall for at least `L/4` anywhere: in a spin on any core, or as lateness of the bare timer
//!   beside the run. A machine that never did is not assumed to, however little was seen of it.
//!
//! Rates are upper 95 % limits of Poisson counts: `(c + 1.65 sqrt(c) + 2) / S` for `c` gaps in the spin time `S`
//! (3/S, the rule of three, for none). Beyond the longest well-supported bound (five gaps) the rate is extrapolated
//! as `(bound/L)^a`; `a` is the exponent that the run's own counts show, at least 1.5 and at most 2.5 (1.5 when
//! there are too few to tell).

use super::occupancy::{leaves_within, own_moves};
use super::task::is_skipped;
use crate::record::{EventKind, GAP_BOUNDS_NS, InstanceRecord, Phase, RunRecord};
use leveret_types::Nanos;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// Below this probability the machine does not explain it. A run judges thousands of bodies, and stalls come in bursts, so that several are
/// less independent than the formula assumes; hence the wide margin.
const UNLIKELY: f64 = 1e-6;
const EXPONENT_LEAST: f64 = 1.5;
const EXPONENT_MOST: f64 = 2.5;
/// Gaps needed before a bound counts as well supported.
const SUPPORT: u64 = 5;
/// A machine that was never seen to stall for a length divided by this does not explain that length.
const SEEN_PART: i64 = 4;
/// Gaps below this are mostly the timer tick and say little of long stalls.
const EXTRAPOLATE_FROM_NS: u32 = 10_000;

/// Stalls by core and body times by task.
pub(crate) struct Stalls<'a> {
    cores: BTreeMap<u32, CoreStalls>,
    phase: &'a Phase,
    bodies: Vec<OnceCell<Bodies>>,
    probe: Vec<u32>,
    /// The longest stall that a spin on any core or the bare timer beside the run saw.
    longest: Nanos,
}

/// What the spins on one core saw.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct CoreStalls {
    gaps: [u64; GAP_BOUNDS_NS.len()],
    spin: Nanos,
}

/// The body times of one task.
struct Bodies {
    sorted: Vec<i64>,
    /// In which stalls could have hit them, in seconds.
    total_s: f64,
}

/// What the statistics say of one instance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Judgement {
    /// What exceeds the body time that 9 of 10 other instances kept.
    pub beyond: Nanos,
    /// Whether the machine may explain it: it may have stood still as it did in the spins, or as it did after wake-ups.
    pub machine: bool,
    /// Whether what the spins saw explains it.
    pub spins: bool,
    /// The numbers.
    pub sentence: String,
}

impl<'a> Stalls<'a> {
    pub fn new(record: &'a RunRecord, phase: &'a Phase) -> Self {
        let mut cores: BTreeMap<u32, CoreStalls> = BTreeMap::new();
        for each in &record.phases {
            for (index, (planned, task)) in each.plan.tasks.iter().zip(&each.tasks).enumerate() {
                // A thread that somebody ranked otherwise may have been kept from its spin by anybody.
                if was_rescheduled(each, index) {
                    continue;
                }
                let core = cores.entry(planned.core).or_default();
                core.spin = core.spin + Nanos(task.spin_total.0.max(0));
                for (sum, count) in core.gaps.iter_mut().zip(task.gaps) {
                    *sum = sum.saturating_add(count);
                }
            }
        }
        let mut probe: Vec<u32> =
            record.phases.iter().flat_map(|each| &each.alone.lateness_ns).copied().collect();
        probe.sort_unstable();
        let bodies = (0..phase.tasks.len()).map(|_| OnceCell::new()).collect();
        let longest = longest_gap(record).max(Nanos(probe.last().copied().unwrap_or(0).into()));
        Self { cores, phase, bodies, probe, longest }
    }

    /// Judges a body of `body` on the core throughout, one of those recorded for `task`, whose budget is `budget`.
    pub fn judge(&self, task: usize, core: u32, body: Nanos, budget: Nanos) -> Judgement {
        let bodies = self.bodies(task);
        let usual = bodies.usual(body.0, budget.0);
        let beyond = Nanos(body.0.saturating_sub(usual).max(0));
        let stalls = self.cores.get(&core).copied().unwrap_or_default();
        let levels = [beyond.0, beyond.0 / 2];
        let decisive = levels
            .iter()
            .map(|&length| {
                let count = bodies.beyond(usual.saturating_add(length));
                let expected = stalls.rate_per_s(length) * bodies.total_s;
                let probability =
                    poisson_tail(count, expected.max(self.after_wake_ups(length, bodies.sorted.len())));
                (probability, count, expected, length)
            })
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((probability, count, expected, length)) = decisive else {
            return Judgement { beyond, machine: false, spins: false, sentence: String::new() };
        };
        let seen = self.longest.0 >= beyond.0 / SEEN_PART;
        let machine = beyond.0 > 0 && probability >= UNLIKELY && seen;
        let spins = machine && poisson_tail(count, expected) >= UNLIKELY;
        let seen = match seen {
            true => String::new(),
            false => {
                format!("; the machine was not seen to stall for more than {} in this run", self.longest)
            }
        };
        let sentence = format!(
            "it took {} beyond its usual {}; {count} of {} instances exceeded that by {} or more \
             in {} of execution, stalls of the machine would give {expected:.4} (at most {:.3} a second of that length \
             by {} of spinning on core {core}), and stalls after wake-ups {:.4}, as the bare timer beside the run was that late {} times \
             in {}: probability {probability:.1e}, {} {UNLIKELY:.0e}{seen}",
            beyond,
            Nanos(usual),
            bodies.sorted.len(),
            Nanos(length),
            Nanos((bodies.total_s * 1e9) as i64),
            stalls.rate_per_s(length),
            stalls.spin,
            self.after_wake_ups(length, bodies.sorted.len()),
            self.late_probes(length),
            self.probe.len(),
            if probability >= UNLIKELY { "not under" } else { "under" },
        );
        let sentence = if beyond.0 > 0 {
            sentence
        } else {
            format!("it took {body}, and that is usual ({} is what 9 of 10 others keep)", Nanos(usual))
        };
        Judgement { beyond, machine, spins, sentence }
    }

    /// How often the bare timer was late by `length` or more.
    fn late_probes(&self, length: i64) -> usize {
        self.probe.len() - self.probe.partition_point(|&late| i64::from(late) < length)
    }

    /// How many of `instances` wake-ups a stall of at least `length` would follow, by what the bare timer saw. It tells nothing of
    /// lengths that it never saw: the spins do.
    fn after_wake_ups(&self, length: i64, instances: usize) -> f64 {
        match self.late_probes(length) {
            0 => 0.0,
            late => instances as f64 * (upper_limit(late as u64) / self.probe.len() as f64).min(1.0),
        }
    }

    /// Whether the spins on a core saw a stall about as long as `length`.
    pub fn seen(&self, core: u32, length: Nanos) -> bool {
        let reach = GAP_BOUNDS_NS.iter().filter(|&&bound| i64::from(bound) <= length.0).count();
        let gaps = self.cores.get(&core).map_or([0; GAP_BOUNDS_NS.len()], |stalls| stalls.gaps);
        reach.checked_sub(1).is_some_and(|place| gaps[place] > 0)
    }

    /// What a body exceeds the usual time by.
    pub fn beyond(&self, task: usize, body: Nanos) -> Nanos {
        Nanos(body.0.saturating_sub(self.bodies(task).percentile_of_others(body.0)).max(0))
    }

    fn bodies(&self, task: usize) -> &Bodies {
        static NONE: Bodies = Bodies { sorted: Vec::new(), total_s: 0.0 };
        let Some(cell) = self.bodies.get(task) else { return &NONE };
        cell.get_or_init(|| {
            let records = self.phase.tasks.get(task).map_or(&[][..], |record| &record.instances);
            let mut sorted: Vec<i64> = records
                .iter()
                .filter(|record| record.ended > record.started && !is_skipped(record))
                .map(|record| if record.cpu.0 > 0 { record.cpu.0 } else { (record.ended - record.started).0 })
                .collect();
            sorted.sort_unstable();
            let usual = sorted.get((sorted.len() * 90).div_ceil(100).max(1) - 1).copied().unwrap_or(0);
            let total_s = sorted.iter().map(|&body| seconds(body.min(usual))).sum();
            Bodies { sorted, total_s }
        })
    }
}

/// Whether the task's thread was at any time scheduled otherwise than the runtime had set.
fn was_rescheduled(phase: &Phase, task: usize) -> bool {
    let of_task = |kind: &EventKind| matches!(kind, EventKind::SchedulingChanged { task: of, .. } if usize::from(*of) == task);
    phase.events.iter().any(|event| of_task(&event.kind))
}

/// The longest gap in a spin during which the thread neither left its core nor faulted.
fn longest_gap(record: &RunRecord) -> Nanos {
    let mut longest = Nanos::ZERO;
    for phase in &record.phases {
        let moves = own_moves(phase);
        let kept = phase.tasks.iter().enumerate().filter(|(index, _)| !was_rescheduled(phase, *index));
        for (_, task) in kept {
            let left = |gap: &InstanceRecord| {
                let moves = moves.get(&task.thread);
                moves.is_some_and(|moves| leaves_within(moves, gap.gap_at, gap.gap_at + gap.gap))
            };
            let counted = task
                .instances
                .iter()
                .filter(|instance| instance.switches == 0 && matches!(instance.faults, 0 | u32::MAX));
            for instance in counted {
                if instance.gap > longest && !left(instance) {
                    longest = instance.gap;
                }
            }
        }
    }
    longest
}

impl Bodies {
    /// What a body takes as a rule, judged without one of length `body`: what 9 of 10 keep; where that exceeds the
    /// budget, the longest time within it; and where nothing lies within it, what 9 of 10 keep all the same.
    fn usual(&self, body: i64, budget: i64) -> i64 {
        let most = self.percentile_of_others(body);
        if most <= budget {
            return most;
        }
        let within = self.sorted.partition_point(|&other| other <= budget);
        within.checked_sub(1).map_or(most, |place| self.sorted[place])
    }

    /// The 90th percentile (nearest rank) of the body times without one of length `body`.
    fn percentile_of_others(&self, body: i64) -> i64 {
        let others = self.sorted.len().saturating_sub(1);
        if others == 0 {
            return body;
        }
        let rank = (others * 90).div_ceil(100).max(1) - 1;
        let own = self.sorted.partition_point(|&other| other < body);
        let rank = if rank >= own { rank + 1 } else { rank };
        self.sorted.get(rank).or(self.sorted.last()).copied().unwrap_or(body)
    }

    /// How many took at least `length`.
    fn beyond(&self, length: i64) -> u64 {
        (self.sorted.len() - self.sorted.partition_point(|&body| body < length)) as u64
    }
}

impl CoreStalls {
    /// Upper limit of the rate of stalls of at least `length_ns`, per second.
    pub fn rate_per_s(&self, length_ns: i64) -> f64 {
        let spin_s = seconds(self.spin.0);
        if spin_s <= 0.0 || length_ns <= 0 {
            return 0.0;
        }
        let reach = GAP_BOUNDS_NS.iter().filter(|&&bound| i64::from(bound) <= length_ns).count().max(1);
        let floor = GAP_BOUNDS_NS.iter().position(|&bound| bound >= EXTRAPOLATE_FROM_NS).unwrap_or(0);
        let supported = (0..reach).rev().find(|&place| self.gaps[place] >= SUPPORT);
        let lowest = supported.unwrap_or(0).max(floor.min(reach - 1));
        let exponent = self.exponent();
        (lowest..reach)
            .map(|place| {
                let ratio = f64::from(GAP_BOUNDS_NS[place]) / length_ns as f64;
                upper_limit(self.gaps[place]) / spin_s * ratio.min(1.0).powf(exponent)
            })
            .fold(f64::INFINITY, f64::min)
    }

    /// How fast the counts fall with the length.
    fn exponent(&self) -> f64 {
        let supported: Vec<usize> = (0..self.gaps.len())
            .filter(|&place| GAP_BOUNDS_NS[place] >= EXTRAPOLATE_FROM_NS && self.gaps[place] >= SUPPORT)
            .collect();
        let (Some(&first), Some(&last)) = (supported.first(), supported.last()) else {
            return EXPONENT_LEAST;
        };
        if first == last {
            return EXPONENT_LEAST;
        }
        let fall = (self.gaps[first] as f64 / self.gaps[last] as f64).ln();
        let stretch = (f64::from(GAP_BOUNDS_NS[last]) / f64::from(GAP_BOUNDS_NS[first])).ln();
        (fall / stretch).clamp(EXPONENT_LEAST, EXPONENT_MOST)
    }
}

/// Upper 95 % limit of a Poisson count.
fn upper_limit(count: u64) -> f64 {
    let count = count as f64;
    if count == 0.0 { 3.0 } else { count + 1.65 * count.sqrt() + 2.0 }
}

/// Probability of `count` or more when `expected` are expected.
pub(crate) fn poisson_tail(count: u64, expected: f64) -> f64 {
    if count == 0 || expected >= count as f64 {
        return 1.0;
    }
    if expected <= 0.0 {
        return 0.0;
    }
    let log_factorial: f64 = (1..=count.min(1 << 20)).map(|n| (n as f64).ln()).sum();
    let mut term = (count as f64 * expected.ln() - expected - log_factorial).exp();
    let mut sum = 0.0;
    let mut n = count as f64;
    for _ in 0..1000 {
        sum += term;
        n += 1.0;
        term *= expected / n;
        if term < sum * 1e-12 {
            break;
        }
    }
    f64::min(sum, 1.0)
}

fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poisson_tail_agrees_with_known_values() {
        assert!((poisson_tail(1, 0.1) - 0.095_162_58).abs() < 1e-8);
        assert!((poisson_tail(3, 1.0) - 0.080_301_4).abs() < 1e-6);
        assert!((poisson_tail(0, 5.0) - 1.0).abs() < f64::EPSILON);
        assert!(poisson_tail(5, 0.0).abs() < f64::EPSILON);
        assert!(poisson_tail(4000, 1e-3) < 1e-300);
    }

    /// About what spinning cores of a shared virtual machine show in 2.4 s.
    fn usual() -> CoreStalls {
        CoreStalls { gaps: [2880, 2500, 1900, 960, 170, 60, 22, 8, 2, 0], spin: Nanos::from_millis(2400) }
    }

    #[test]
    fn rates_fall_with_the_length() {
        let lengths = [5_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000, 100_000_000];
        let rates: Vec<f64> = lengths.iter().map(|&length| usual().rate_per_s(length)).collect();
        assert!(rates.windows(2).all(|pair| pair[1] < pair[0]), "{rates:?}");
        assert!((9.0..15.0).contains(&rates[3]), "{rates:?}");
        assert!(rates[6] < 0.05, "{rates:?}");
    }

    #[test]
    fn nothing_seen_gives_the_rule_of_three() {
        let none = CoreStalls { gaps: [0; GAP_BOUNDS_NS.len()], spin: Nanos::from_secs(3) };
        assert!((none.rate_per_s(10_000) - 1.0).abs() < 1e-9);
        assert!(none.rate_per_s(40_000) < 0.13);
    }

    #[test]
    fn no_spinning_explains_nothing() {
        assert!(CoreStalls::default().rate_per_s(1_000).abs() < f64::EPSILON);
    }

    #[test]
    fn percentile_leaves_the_judged_one_out() {
        let bodies = Bodies { sorted: vec![1, 2, 3, 100], total_s: 0.0 };
        assert_eq!((bodies.usual(100, 50), bodies.usual(1, 50), bodies.usual(1, 0)), (3, 3, 100));
        assert_eq!(bodies.percentile_of_others(100), 3);
        assert_eq!(bodies.percentile_of_others(1), 100);
        assert_eq!(Bodies { sorted: vec![7], total_s: 0.0 }.percentile_of_others(7), 7);
    }
}
