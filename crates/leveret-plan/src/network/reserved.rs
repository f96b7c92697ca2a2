//! What a link has reserved, by where it lies: what touches a stretch of time is found without a look at all of it.

use super::timeline::{Busy, Owner, Timeline};
use leveret_topology::Link;
use std::collections::{BTreeMap, VecDeque};

/// The reservations of one link.
#[derive(Clone, Debug, Default)]
pub(super) struct Reserved {
    by_period: Vec<OfPeriod>,
}

/// Those of one period.
#[derive(Clone, Debug)]
struct OfPeriod {
    period: i64,
    /// By start.
    all: Vec<One>,
}

#[derive(Clone, Copy, Debug)]
struct One {
    /// From the start of the period.
    start: i64,
    length: i64,
    /// Where the last of this one and those before it ends, from the same start.
    reach: i64,
    /// Which, as they are declared.
    index: u32,
}

/// A stretch that is reserved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stretch {
    pub start: i64,
    pub end: i64,
    /// Which reservation, as they are declared.
    pub index: u32,
}

impl Reserved {
    pub(super) fn of(link: &Link) -> Self {
        let mut by_period: BTreeMap<i64, Vec<One>> = BTreeMap::new();
        for (index, one) in link.reserved.iter().enumerate() {
            let (start, length) = (one.start.0, one.length.0);
            let one_of = by_period.entry(one.period.0).or_default();
            one_of.push(One { start, length, reach: 0, index: index as u32 });
        }
        let sorted = |(period, mut all): (i64, Vec<One>)| {
            all.sort_unstable_by_key(|one| (one.start, one.index));
            let mut reach = 0;
            for one in &mut all {
                reach = reach.max(one.start + one.length);
                one.reach = reach;
            }
            OfPeriod { period, all }
        };
        Self { by_period: by_period.into_iter().map(sorted).collect() }
    }

    /// Of each reservation the last stretch that begins before `to`, if it ends after `from`. `looked` grows by what was looked at.
    pub(super) fn last_before(&self, from: i64, to: i64, looked: &mut u64, mut each: impl FnMut(Stretch)) {
        for OfPeriod { period, all } in &self.by_period {
            let (turn, offset) = ((to - 1).div_euclid(*period), (to - 1).rem_euclid(*period));
            let (begun, later) = all.split_at(all.partition_point(|one| one.start <= offset));
            for (ones, begin) in [(begun, turn * period), (later, (turn - 1) * period)] {
                for one in ones.iter().rev().take_while(|one| begin + one.reach > from) {
                    *looked += 1;
                    let (start, end) = (begin + one.start, begin + one.start + one.length);
                    if end > from {
                        each(Stretch { start, end, index: one.index });
                    }
                }
            }
            *looked += 1;
        }
    }
}

/// A link with nothing but what is reserved, over a hyperperiod: what overlaps or touches is one stretch. Where cycles must be whole, nothing may lie
/// across their border.
pub(super) fn free(link: &Link, hyperperiod: i64, whole_cycles: bool) -> Timeline {
    let owner = Owner::RESERVED;
    let mut all: Vec<Busy> = Vec::new();
    for one in &link.reserved {
        let starts = (0..hyperperiod / one.period.0).map(|turn| turn * one.period.0 + one.start.0);
        all.extend(starts.map(|start| Busy { start, end: start + one.length.0, owner }));
    }
    all.sort_unstable_by_key(|busy| busy.start);
    let mut joined: VecDeque<Busy> = VecDeque::with_capacity(all.len());
    for busy in all {
        match joined.back_mut().filter(|last| last.end >= busy.start) {
            Some(last) => last.end = last.end.max(busy.end),
            None => joined.push_back(busy),
        }
    }
    // What the last runs into, in the next round.
    while let [Some(first), Some(last)] = [joined.front().copied(), joined.back().copied()]
        && joined.len() > 1
        && last.end >= first.start + hyperperiod
    {
        joined.pop_front();
        if let Some(last) = joined.back_mut() {
            last.end = last.end.max(first.end + hyperperiod);
        }
    }
    if let Some(last) = joined.back_mut() {
        last.end = last.end.min(last.start + hyperperiod);
    }
    let border = whole_cycles.then_some(Busy { start: 0, end: 0, owner });
    Timeline::with(hyperperiod, border.into_iter().chain(joined).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_topology::{Reservation, Shape, shape};
    use leveret_types::Nanos;
    use proptest::prelude::*;

    fn link(declared: &[(i64, i64, i64)]) -> Link {
        let mut link = shape(Shape::Line, 2, 2).links[0].clone();
        let reservation = |(period, start, length): &(i64, i64, i64)| Reservation {
            period: Nanos(*period),
            start: Nanos(*start),
            length: Nanos(*length),
        };
        link.reserved = declared.iter().map(reservation).collect();
        link
    }

    proptest! {
        #[test]
        fn it_finds_what_a_look_at_all_finds(
            declared in prop::collection::vec((prop::sample::select(vec![6i64, 10, 30]), 0i64..6, 1i64..7), 0..12),
            from in -50i64..90,
            length in 1i64..40,
        ) {
            let link = link(&declared);
            let to = from + length;
            let mut found = Vec::new();
            Reserved::of(&link).last_before(from, to, &mut 0, |stretch| found.push(stretch));
            found.sort_unstable_by_key(|stretch| stretch.index);
            let last = |(index, (period, start, length)): (usize, &(i64, i64, i64))| {
                let start = (to - 1 - start).div_euclid(*period) * period + start;
                Stretch { start, end: start + length, index: index as u32 }
            };
            let expected: Vec<_> = declared.iter().enumerate().map(last).filter(|stretch| stretch.end > from).collect();
            prop_assert_eq!(found, expected);
        }
    }

    proptest! {
        #[test]
        fn what_is_left_is_free(
            declared in prop::collection::vec((prop::sample::select(vec![6i64, 10, 30]), 0i64..6, 1i64..7), 0..6),
            whole_cycles: bool,
        ) {
            let link = link(&declared);
            let timeline = free(&link, 30, whole_cycles);
            let is_reserved = |at: i64| declared.iter().any(|(period, start, length)| (at - start).rem_euclid(*period) < *length);
            prop_assert_eq!(timeline.used(), (0..30).filter(|at| is_reserved(*at)).count() as i64);
            for at in 0..30 {
                prop_assert_eq!(timeline.shift(at, 1) == Some(0), !is_reserved(at), "{} in {:?}", at, timeline);
                let is_free = !is_reserved(at) && !is_reserved(at + 1) && (at < 29 || !whole_cycles);
                prop_assert_eq!(timeline.shift(at, 2) == Some(0), is_free, "{} in {:?}", at, timeline);
            }
        }
    }

    #[test]
    fn of_many_few_are_looked_at() {
        let declared: Vec<_> = (0..100_000).map(|index| (1_000_000, index * 3, 1)).collect();
        let (mut looked, mut found) = (0, 0);
        Reserved::of(&link(&declared)).last_before(150_001, 150_010, &mut looked, |_| found += 1);
        assert_eq!(found, 3);
        assert!(looked < 10, "{looked}");
    }
}
