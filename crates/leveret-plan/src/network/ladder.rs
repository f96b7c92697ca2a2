//! Values that a declaration may have instead of its own, from the nearest to the farthest.
//!
//! ```text
//!  rung  0         1         2        ...                    count
//!        declared  nearest                                   farthest, which helps most
//! ```

use super::change::NetworkChange;

/// One declaration that may change. Rung 0 is what is declared.
pub(super) struct Ladder {
    make: Box<dyn Fn(i64) -> NetworkChange>,
    values: Values,
}

enum Values {
    /// Every multiple of the step, up to the most and with it.
    Steps { now: i64, most: i64, step: i64 },
    /// These alone.
    Each(Vec<i64>),
}

impl Ladder {
    /// Every multiple of a step from what is declared to the most.
    pub(super) fn steps(
        make: impl Fn(i64) -> NetworkChange + 'static,
        (now, most, step): (i64, i64, i64),
    ) -> Self {
        Self { make: Box::new(make), values: Values::Steps { now, most, step } }
    }

    /// Each of some values.
    pub(super) fn each(make: impl Fn(i64) -> NetworkChange + 'static, values: Vec<i64>) -> Self {
        Self { make: Box::new(make), values: Values::Each(values) }
    }

    /// A change without degrees.
    pub(super) fn fixed(change: NetworkChange) -> Self {
        Self::each(move |_| change.clone(), vec![0])
    }

    /// The last rung.
    pub(super) fn count(&self) -> i64 {
        match &self.values {
            Values::Steps { now, most, step } if most > now => {
                (most - now.div_euclid(*step) * step + step - 1) / step
            }
            Values::Steps { now, most, step } => (ceiling(*now, *step) - most + step - 1) / step,
            Values::Each(values) => values.len() as i64,
        }
    }

    /// The change of a rung, which is not 0.
    pub(super) fn at(&self, rung: i64) -> NetworkChange {
        let value = match &self.values {
            Values::Steps { now, most, step } if most > now => {
                (now.div_euclid(*step) * step).saturating_add(rung.saturating_mul(*step)).min(*most)
            }
            Values::Steps { now, most, step } => {
                ceiling(*now, *step).saturating_sub(rung.saturating_mul(*step)).max(*most)
            }
            Values::Each(values) => values.get((rung - 1) as usize).copied().unwrap_or_default(),
        };
        (self.make)(value)
    }

    /// Whether more of it helps no less, so that between what fits and what does not there is one border.
    pub(super) fn is_ordered(&self) -> bool {
        matches!(self.values, Values::Steps { .. })
    }

    /// The least rung above `low` that was seen to fit, between which and the next lower one there is a border. It looks at few rungs, the
    /// nearest first and the farthest before all, and what fits may be anywhere: where the search for a plan is not complete, what it finds is no interval.
    pub(super) fn nearest(&self, low: i64, mut fits: impl FnMut(&NetworkChange) -> bool) -> Option<i64> {
        let count = self.count();
        if low >= count || !fits(&self.at(count)) {
            return None;
        }
        let (mut no, mut yes) = (low, count);
        for share in SHARES {
            let rung = low + (i128::from(count - low) * share / SHARE_PARTS) as i64;
            if rung > no && rung < yes {
                if fits(&self.at(rung)) {
                    yes = rung;
                    break;
                }
                no = rung;
            }
        }
        while yes - no > 1 {
            let middle = no + (yes - no) / 2;
            if fits(&self.at(middle)) { yes = middle } else { no = middle }
        }
        Some(yes)
    }
}

/// Shares of a ladder that are looked at, from the nearest on.
const SHARES: [i128; 10] = [1, 2, 4, 8, 16, 24, 32, 40, 48, 56];
const SHARE_PARTS: i128 = 64;

fn ceiling(value: i64, step: i64) -> i64 {
    value.div_euclid(step) * step + if value.rem_euclid(step) > 0 { step } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_types::Nanos;
    use proptest::prelude::*;

    fn value(change: &NetworkChange) -> i64 {
        match change {
            NetworkChange::ClockError(value) => value.0,
            other => panic!("another change: {other:?}"),
        }
    }

    fn make(value: i64) -> NetworkChange {
        NetworkChange::ClockError(Nanos(value))
    }

    proptest! {
        #[test]
        fn rungs_lead_from_what_is_declared_to_the_most(now in 0..100_000_i64, most in 0..100_000_i64, step in 1..2_000_i64) {
            prop_assume!(now != most);
            let ladder = Ladder::steps(make, (now, most, step));
            let count = ladder.count();
            prop_assert!(count > 0);
            prop_assert_eq!(value(&ladder.at(count)), most);
            let mut before = now;
            for rung in 1..=count.min(200) {
                let next = value(&ladder.at(rung));
                prop_assert!((next - before).signum() == (most - now).signum() && (next - before).abs() <= step);
                prop_assert!(next % step == 0 || next == most);
                before = next;
            }
        }

        #[test]
        fn the_border_is_found(count in 1..100_000_i64, border in 1..110_000_i64, low in 0..100_i64) {
            let ladder = Ladder::steps(make, (0, count, 1));
            let found = ladder.nearest(low, |change| value(change) >= border);
            prop_assert_eq!(found, (border <= count && low < count).then_some(border.max(low + 1)));
        }
    }
}
