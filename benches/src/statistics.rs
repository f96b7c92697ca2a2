//! Percentiles of merged counts.

use serde::Serialize;
use std::collections::BTreeMap;

/// A distribution's summary, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Distribution {
    /// Number of values.
    pub count: u64,
    /// Half of the values are at most this.
    pub p50_ns: u64,
    /// 99 % of the values are at most this.
    pub p99_ns: u64,
    /// 99.9 %.
    pub p999_ns: u64,
    /// 99.99 %.
    pub p9999_ns: u64,
    /// The largest value.
    pub max_ns: u64,
}

impl Distribution {
    /// Of single values.
    pub fn of(values: &[u64]) -> Option<Self> {
        let counted: Vec<(u64, u64)> = values.iter().map(|value| (*value, 1)).collect();
        Self::merge([counted.as_slice()])
    }

    /// Merges lists of values with counts; `None` when there is no value at all.
    pub fn merge<'a>(lists: impl IntoIterator<Item = &'a [(u64, u64)]>) -> Option<Self> {
        let mut merged = BTreeMap::<u64, u64>::new();
        for (value, count) in lists.into_iter().flatten() {
            *merged.entry(*value).or_default() += count;
        }
        let count: u64 = merged.values().sum();
        let max_ns = *merged.last_key_value()?.0;
        let at = |permyriad: u64| {
            let rank = (u128::from(count) * u128::from(permyriad)).div_ceil(10_000) as u64;
            let mut passed = 0;
            let reached = |(_, count): &(&u64, &u64)| {
                passed += **count;
                passed >= rank
            };
            merged.iter().find(reached).map_or(max_ns, |(value, _)| *value)
        };
        let [p50_ns, p99_ns, p999_ns, p9999_ns] = [5_000, 9_900, 9_990, 9_999].map(at);
        Some(Self { count, p50_ns, p99_ns, p999_ns, p9999_ns, max_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_a_known_distribution() {
        let values: Vec<(u64, u64)> = (1..=10_000).map(|value| (value, 1)).collect();
        let merged = Distribution::merge([&values[..4_000], &values[4_000..]]).unwrap();
        let expected = Distribution {
            count: 10_000,
            p50_ns: 5_000,
            p99_ns: 9_900,
            p999_ns: 9_990,
            p9999_ns: 9_999,
            max_ns: 10_000,
        };
        assert_eq!(merged, expected);
    }

    #[test]
    fn nothing_has_no_distribution() {
        assert_eq!(Distribution::merge([&[][..]]), None);
    }
}
