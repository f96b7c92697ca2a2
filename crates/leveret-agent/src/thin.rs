//! What is kept in detail of a long run: its first instances, all around misses, the worst, and of the rest every 2^n-th.
//! Which these are depends on what happened alone, so that the same run is thinned alike, and details of tasks and channels meet.

use leveret_types::Nanos;
use std::collections::BTreeSet;

/// The first instances of a phase are kept whatever comes.
const FIRST: u64 = 64;
/// The surroundings of the first misses are given up last.
const FIRST_WINDOWS: usize = 64;
const LEVEL_OF_FIRST: u32 = 24;
const LEVEL_MAX: u32 = 32;
/// Surroundings of misses that are remembered; of later misses the details are kept as those of any other instance.
const WINDOWS_MAX: usize = 1 << 16;
/// A window that grows beyond this many margins is followed by another, so that each can be given up alone.
const MARGINS_MAX: i64 = 16;
/// Number of greatest values kept in detail for each quantity.
const WORST: usize = 16;
/// A missed instance becomes a verdict with evidence and timeline, which take far more than its record.
pub(crate) const MISS_BYTES: usize = 4096;

/// Stretches of time around misses, from the epoch, in order.
pub(crate) struct Windows {
    spans: Vec<(Nanos, Nanos)>,
    margin: Nanos,
}

impl Windows {
    /// Keeps so much before and after a miss.
    pub(crate) fn new(margin: Nanos) -> Self {
        Self { spans: Vec::new(), margin }
    }

    /// Something was missed from one instant to another.
    pub(crate) fn open(&mut self, from: Nanos, until: Nanos) {
        let (from, until) = (from - self.margin, until.max(from) + self.margin);
        let longest = self.margin.saturating_mul(MARGINS_MAX);
        match self.spans.last_mut() {
            Some((first, last)) if from <= *last && until - *first <= longest => *last = until.max(*last),
            // It lies in what is kept already.
            Some((_, last)) if until <= *last => {}
            last => {
                let from = last.map_or(from, |(_, last)| from.max(*last));
                if self.spans.len() < WINDOWS_MAX {
                    self.spans.push((from, until));
                }
            }
        }
    }

    /// Whether `at` lies in one.
    pub(crate) fn holds(&self, at: Nanos) -> bool {
        self.level(at).is_some()
    }

    /// How often the number of windows may be halved before the one around `at` goes; `None` where there is none.
    fn level(&self, at: Nanos) -> Option<u32> {
        let place = self.spans.partition_point(|(from, _)| *from <= at).checked_sub(1)?;
        let level = match FIRST_WINDOWS.checked_div(place + 1) {
            Some(halves @ 1..) => LEVEL_OF_FIRST + halves.ilog2(),
            _ => place.trailing_zeros(),
        };
        (at <= self.spans[place].1).then_some(level)
    }
}

/// One thing of which details are kept.
#[derive(Clone, Copy)]
pub(crate) struct Detail {
    /// Its number since the epoch.
    pub(crate) number: u64,
    pub(crate) at: Nanos,
    pub(crate) bytes: usize,
}

/// How coarse the details of one task or channel have become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Coarseness {
    /// Of the rest every 2^stride-th is kept.
    stride: u32,
    /// Windows of a lower level are given up.
    level: u32,
}

impl Coarseness {
    /// Grows until what it keeps of `details` takes half of `capacity` bytes at most.
    pub(crate) fn fit<I: Iterator<Item = Detail>>(
        &mut self,
        details: impl Fn() -> I,
        windows: &Windows,
        capacity: usize,
    ) {
        while self.stride < 63 || self.level < LEVEL_MAX {
            let (mut around, mut rest) = (0_usize, 0_usize);
            for detail in details().filter(|detail| self.keeps(detail, windows)) {
                *if self.is_around(detail.at, windows) { &mut around } else { &mut rest } += detail.bytes;
            }
            if around + rest <= capacity / 2 {
                return;
            }
            // The rest makes room before anything around a miss does.
            if self.stride < 63 && (rest > capacity / 8 || self.level == LEVEL_MAX) {
                self.stride += 1;
            } else {
                self.level += 1;
            }
        }
    }

    fn is_around(self, at: Nanos, windows: &Windows) -> bool {
        windows.level(at).is_some_and(|level| level >= self.level)
    }

    /// Whether this is kept.
    pub(crate) fn keeps(self, detail: &Detail, windows: &Windows) -> bool {
        detail.number < FIRST
            || detail.number.trailing_zeros() >= self.stride
            || self.is_around(detail.at, windows)
    }

    /// Keeps an instant of the kernel's log only around misses.
    pub(crate) fn keeps_log(self, at: Nanos, windows: &Windows) -> bool {
        self.is_around(at, windows)
    }

    /// Gives up half of the windows but the first; whether there were any to give up.
    pub(crate) fn give_up_half(&mut self) -> bool {
        self.level = (self.level + 1).min(LEVEL_MAX);
        self.level < LEVEL_MAX
    }
}

/// The numbers of the greatest values, in as many quantities as there are.
pub(crate) fn worst(quantities: impl IntoIterator<Item = Vec<(i64, u64)>>) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    for mut values in quantities {
        let most = WORST.min(values.len());
        if most > 0 {
            values.select_nth_unstable_by(most - 1, |a, b| b.cmp(a));
            found.extend(values[..most].iter().map(|(_, number)| *number));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details(count: u64) -> impl Fn() -> Box<dyn Iterator<Item = Detail>> {
        move || {
            Box::new((0..count).map(|number| Detail { number, at: Nanos(number as i64 * 10), bytes: 100 }))
        }
    }

    fn kept(coarseness: Coarseness, windows: &Windows, count: u64) -> Vec<u64> {
        details(count)()
            .filter(|detail| coarseness.keeps(detail, windows))
            .map(|detail| detail.number)
            .collect()
    }

    #[test]
    fn the_rest_goes_before_what_lies_around_misses_and_the_first_never() {
        let mut windows = Windows::new(Nanos(50));
        windows.open(Nanos(60_000), Nanos(60_010));
        let mut coarseness = Coarseness::default();
        coarseness.fit(details(10_000), &windows, 40_000);
        let kept = kept(coarseness, &windows, 10_000);
        assert!(kept.len() * 100 <= 20_000, "{}", kept.len());
        assert!((0..64).chain(5_995..=6_006).all(|number| kept.contains(&number)), "{kept:?}");
        assert!(kept.iter().any(|number| *number > 9_000), "the rest is thinned uniformly: {kept:?}");
    }

    #[test]
    fn of_more_misses_than_fit_every_other_is_given_up_again_and_again() {
        let mut windows = Windows::new(Nanos(20));
        (0..1000).for_each(|number| windows.open(Nanos(number * 1000), Nanos(number * 1000)));
        let mut coarseness = Coarseness::default();
        coarseness.fit(details(100_000), &windows, 100_000);
        let bytes = kept(coarseness, &windows, 100_000).len() * 100;
        assert!(bytes <= 50_000 && coarseness.level > 0, "{bytes} {coarseness:?}");
        let finer = Coarseness { level: coarseness.level - 1, ..coarseness };
        let all = kept(finer, &windows, 100_000);
        assert!(kept(coarseness, &windows, 100_000).iter().all(|number| all.contains(number)), "nested");
    }

    #[test]
    fn misses_without_end_are_windows_of_bounded_length() {
        let mut windows = Windows::new(Nanos(20));
        (0..200_000).for_each(|number| windows.open(Nanos(number * 10), Nanos(number * 10 + 5)));
        assert!(windows.spans.len() > 1000 && windows.spans.len() <= WINDOWS_MAX);
        assert!(windows.spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "in order");
    }

    #[test]
    fn the_worst_are_the_greatest_of_each_quantity() {
        let values: Vec<(i64, u64)> = (0..100).map(|number| (number as i64 % 50, number)).collect();
        let found = worst([values, vec![(7, 1000)], Vec::new()]);
        assert_eq!(found.len(), 17);
        assert!(found.contains(&49) && found.contains(&99) && found.contains(&1000));
    }
}
