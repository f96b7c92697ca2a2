//! Which rows of a long table are shown: the worst.

use crate::statistics::{ChannelStatistics, TaskStatistics};
use crate::works::WorkStatistics;
use std::cmp::Reverse;

/// A row of a table, by how much it asks to be looked at.
pub(crate) trait Row {
    /// Greater is worse: what is the job's first, then what is others', then the longest time.
    fn badness(&self) -> [u64; 3];
}

impl Row for ChannelStatistics {
    fn badness(&self) -> [u64; 3] {
        let own = self.misses.misses_job + self.corrupt + self.out_of_order + self.records_lost;
        [own, self.misses.others(), length(self.latency_ns.max.max(self.insert_to_taken_ns.max))]
    }
}

impl Row for TaskStatistics {
    fn badness(&self) -> [u64; 3] {
        [self.misses.misses_job + self.records_lost, self.misses.others(), length(self.start_lateness_ns.max)]
    }
}

impl Row for WorkStatistics {
    fn badness(&self) -> [u64; 3] {
        [self.beyond_deadline.unwrap_or(0), 0, length(self.took_ns.max)]
    }
}

fn length(ns: i64) -> u64 {
    u64::try_from(ns).unwrap_or(0)
}

/// All rows in their order where there are at most `most`; otherwise as many, the worst first.
pub(crate) fn shown<T: Row>(rows: &[T], most: usize) -> Vec<&T> {
    let mut shown: Vec<&T> = rows.iter().collect();
    if rows.len() > most {
        shown.sort_by_key(|row| Reverse(row.badness()));
        shown.truncate(most);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain(u64);

    impl Row for Plain {
        fn badness(&self) -> [u64; 3] {
            [0, self.0 / 10, self.0 % 10]
        }
    }

    #[test]
    fn a_long_table_begins_with_the_worst_and_a_short_one_is_left_alone() {
        let rows = [3, 41, 7, 42, 9, 40].map(Plain);
        let numbers = |most| shown(&rows, most).iter().map(|row| row.0).collect::<Vec<_>>();
        assert_eq!(numbers(6), [3, 41, 7, 42, 9, 40]);
        assert_eq!(numbers(5), [42, 41, 40, 9, 7]);
        assert!(numbers(0).is_empty());
    }
}
