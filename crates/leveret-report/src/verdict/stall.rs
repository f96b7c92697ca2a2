//! Was it a stall of the machine or an overrun? Decided by statistics that the run itself provides.
//!
//! There is no counter that tells the two apart in a virtual machine. But while a task spins towards its start it
//! reads the clock without pause, so every gap between two readings *is* a stall. That gives the machine's rate of
//! stalls of at least a length `L` on that core. With `m` instances of a task that were on the core all the time and
//! yet exceeded its usual body time by at least `L`, in a total body time `T`, stalls alone would give
//! `rate(L) * T` of them. If `m` or more would then come with a probability under one in a thousand, the instance is
//! an overrun; else a stall.
//!
//! Rates are upper 95 % limits of Poisson counts: `(c + 1.65 sqrt(c) + 2) / S` for `c` gaps in the spin time `S`
//! (3/S, the rule of three, for none). Beyond the longest well-supported bound (five gaps) the rate is extrapolated
//! as `(bound/L)^a`; `a` is the exponent that the run's own counts show, at least 1.5 and at most 2.5 (1.5 when
//! there are too few to tell). A stall far longer than anything seen is thereby not explained by the machine.

use super::task::is_skipped;
use crate::record::{GAP_BOUNDS_NS, Phase, RunRecord};
use leveret_types::Nanos;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// Below this probability the machine does not explain a single instance.
const UNLIKELY_ONCE: f64 = 1e-3;
/// Below this it does not explain several. Stalls come in bursts, so several are less independent than the formula
/// assumes; hence the wide margin.
const UNLIKELY_AGAIN: f64 = 1e-6;
const EXPONENT_LEAST: f64 = 1.5;
const EXPONENT_MOST: f64 = 2.5;
/// Gaps needed before a bound counts as well supported.
const SUPPORT: u64 = 5;
/// Gaps below this are mostly the timer tick and say little of long stalls.
const EXTRAPOLATE_FROM_NS: u32 = 10_000;

/// Stalls by core and body times by task.
pub(crate) struct Stalls<'a> {
    cores: BTreeMap<u32, CoreStalls>,
    phase: &'a Phase,
    bodies: Vec<OnceCell<Bodies>>,
    probe: Vec<u32>,
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
    total_s: f64,
}

/// What the statistics say of one instance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Judgement {
    /// What exceeds the body time that 9 of 10 other instances kept.
    pub beyond: Nanos,
    /// Whether the machine explains it.
    pub machine: bool,
    /// The numbers.
    pub sentence: String,
}

impl<'a> Stalls<'a> {
    pub fn new(record: &'a RunRecord, phase: &'a Phase) -> Self {
        let mut cores: BTreeMap<u32, CoreStalls> = BTreeMap::new();
        for each in &record.phases {
            for (planned, task) in each.plan.tasks.iter().zip(&each.tasks) {
                let core = cores.entry(planned.core).or_default();
                core.spin = core.spin + Nanos(task.spin_total.0.max(0));
                for (sum, count) in core.gaps.iter_mut().zip(task.gaps) {
                    *sum = sum.saturating_add(count);
                }
            }
        }
        let mut probe = record.machine.alone.lateness_ns.clone();
        probe.sort_unstable();
        Self { cores, phase, bodies: (0..phase.tasks.len()).map(|_| OnceCell::new()).collect(), probe }
    }

    /// Judges a body of `body` on the core throughout, one of those recorded for `task`.
    pub fn judge(&self, task: usize, core: u32, body: Nanos) -> Judgement {
        let bodies = self.bodies(task);
        let usual = bodies.percentile_of_others(body.0);
        let beyond = Nanos(body.0.saturating_sub(usual).max(0));
        let stalls = self.cores.get(&core).copied().unwrap_or_default();
        let levels = [beyond.0, beyond.0 / 2];
        let decisive = levels
            .iter()
            .map(|&length| {
                let count = bodies.beyond(usual.saturating_add(length));
                let expected = stalls.rate_per_s(length) * bodies.total_s;
                (poisson_tail(count, expected), count, expected, length)
            })
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((probability, count, expected, length)) = decisive else {
            return Judgement { beyond, machine: false, sentence: String::new() };
        };
        let unlikely = if count <= 1 { UNLIKELY_ONCE } else { UNLIKELY_AGAIN };
        let machine = beyond.0 > 0 && probability >= unlikely;
        let sentence = format!(
            "it took {} beyond the {} that 9 of 10 other instances kept; {count} of {} instances exceeded that by {} or more \
             in {:.3} s of execution, stalls of the machine would give {expected:.4} (at most {:.3} a second of that length \
             by {:.3} s of spinning on core {core}): probability {probability:.1e}, {} {unlikely:.0e}; the bare timer beside the run was \
             that late {} times in {}",
            beyond,
            Nanos(usual),
            bodies.sorted.len(),
            Nanos(length),
            bodies.total_s,
            stalls.rate_per_s(length),
            seconds(stalls.spin.0),
            if machine { "not under" } else { "under" },
            self.probe.len() - self.probe.partition_point(|&late| i64::from(late) < length),
            self.probe.len(),
        );
        let sentence = if beyond.0 > 0 {
            sentence
        } else {
            format!(
                "it took {body}, and at least one in a hundred instances takes that long ({})",
                Nanos(usual)
            )
        };
        Judgement { beyond, machine, sentence }
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
            let total_s = sorted.iter().map(|&body| seconds(body)).sum();
            Bodies { sorted, total_s }
        })
    }
}

impl Bodies {
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
        assert_eq!(bodies.percentile_of_others(100), 3);
        assert_eq!(bodies.percentile_of_others(1), 100);
        assert_eq!(Bodies { sorted: vec![7], total_s: 0.0 }.percentile_of_others(7), 7);
    }
}
