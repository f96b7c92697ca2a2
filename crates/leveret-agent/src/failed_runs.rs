//! What members say of handlers that fail, kept within what can be.

use leveret_types::Nanos;
use std::collections::BTreeMap;

/// Names of which one member may speak; further ones are counted together.
const NAMES_MAX: usize = 64;
/// A run that fails takes longer than this: to be called, to fail, and to be counted.
const RUN_LEAST: Nanos = Nanos::from_micros(1);
const FURTHER: &str = "further handlers";

/// How often each handler of each member has failed, by the member's word.
#[derive(Debug)]
pub(crate) struct FailedRuns {
    since: Nanos,
    most: BTreeMap<u16, BTreeMap<String, u64>>,
}

impl FailedRuns {
    /// None has failed before `since`: handlers run from the commit on, before the epoch.
    pub(crate) fn new(since: Nanos) -> Self {
        Self { since, most: BTreeMap::new() }
    }

    /// What to record of a member's word at `now` that so many runs have failed; nothing if it says no more than before.
    /// The library speaks at powers of two, so at most 64 times of each name: whoever says otherwise is taken at the next lower one, and
    /// at no more than the time that has passed allows.
    pub(crate) fn take(&mut self, member: u16, what: &str, times: u64, now: Nanos) -> Option<(String, u64)> {
        let names = self.most.entry(member).or_default();
        let is_beyond = names.len() >= NAMES_MAX && !names.contains_key(what);
        let what = if is_beyond { FURTHER } else { what };
        let possible = u64::try_from((now - self.since).0 / RUN_LEAST.0).unwrap_or(0).max(1);
        let times = 1 << times.clamp(1, possible).ilog2();
        let most = names.entry(what.to_owned()).or_default();
        if times <= *most {
            return None;
        }
        *most = times;
        Some((what.to_owned(), times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = Nanos::from_secs(1);

    #[test]
    fn what_the_library_says_is_taken_as_it_is_once() {
        let mut failed = FailedRuns::new(Nanos::ZERO);
        for times in [1, 2, 4, 8] {
            assert_eq!(failed.take(0, "handler h", times, SECOND), Some(("handler h".to_owned(), times)));
            assert_eq!(failed.take(0, "handler h", times, SECOND), None);
        }
        // Two threads of one member may overtake each other.
        assert_eq!(failed.take(0, "handler h", 4, SECOND), None);
        assert_eq!(failed.take(1, "handler h", 1, SECOND), Some(("handler h".to_owned(), 1)));
        assert_eq!(failed.take(2, "handler h", 1, Nanos(-5)), Some(("handler h".to_owned(), 1)));
    }

    #[test]
    fn no_more_runs_have_failed_than_the_time_allows() {
        let mut failed = FailedRuns::new(Nanos::ZERO);
        assert_eq!(failed.take(0, "h", u64::MAX, Nanos::from_micros(5)), Some(("h".to_owned(), 4)));
        assert_eq!(failed.take(0, "h", u64::MAX, SECOND), Some(("h".to_owned(), 1 << 19)));
        assert_eq!(failed.take(0, "h", 0, SECOND), None);
    }

    #[test]
    fn a_member_that_says_anything_is_heard_a_bounded_number_of_times() {
        let mut failed = FailedRuns::new(Nanos::ZERO);
        let said = (0..100_000_u64)
            .filter_map(|number| failed.take(0, &format!("h{}", number % 5000), number, SECOND));
        assert!(said.count() <= (NAMES_MAX + 1) * 64);
        assert_eq!(failed.most[&0].len(), NAMES_MAX + 1, "the further ones have one name");
    }
}
