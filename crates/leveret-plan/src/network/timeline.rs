//! Who has a link, over one hyperperiod, on the circle.

/// Whose a stretch is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Owner(pub u32);

impl Owner {
    /// Of nobody who could give way.
    pub(super) const RESERVED: Self = Self(u32::MAX);
}

/// A stretch `[start, end)`; it starts within the hyperperiod, and may end beyond it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Busy {
    pub start: i64,
    pub end: i64,
    pub owner: Owner,
}

/// Where on the circle an instant lies. Most lie in the first round, and a division is dear.
pub(super) fn on_circle(instant: i64, hyperperiod: i64) -> i64 {
    if (0..hyperperiod).contains(&instant) { instant } else { instant.rem_euclid(hyperperiod) }
}

/// So many stretches are given back in one go through all.
const ONE_BY_ONE: u32 = 16;

/// The stretches of one link, disjoint, by start.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    hyperperiod: i64,
    busy: Vec<Busy>,
    used: i64,
}

impl Timeline {
    pub(super) fn new(hyperperiod: i64) -> Self {
        Self { hyperperiod, busy: Vec::new(), used: 0 }
    }

    /// Time taken, per hyperperiod.
    pub(super) fn used(&self) -> i64 {
        self.used
    }

    /// By how much a stretch of `length` from `start` (any instant) must move to the right to be free; none if nowhere is.
    pub(super) fn shift(&self, start: i64, length: i64) -> Option<i64> {
        let Some(last) = self.busy.last() else {
            return (length <= self.hyperperiod).then_some(0);
        };
        let from = on_circle(start, self.hyperperiod);
        let mut at = from;
        if last.end - self.hyperperiod > at {
            at = last.end - self.hyperperiod;
        }
        let mut next = self.busy.partition_point(|busy| busy.end <= at);
        let mut round = 0;
        let limit = from + self.hyperperiod;
        while at <= limit {
            if next == self.busy.len() {
                next = 0;
                round += self.hyperperiod;
                continue;
            }
            let busy = self.busy[next];
            if busy.start + round >= at + length {
                // The stretch before this one may be the one that the circle began with.
                return Some(at - from);
            }
            at = at.max(busy.end + round);
            next += 1;
        }
        None
    }

    /// The stretches that touch `[start, start + length)`, with what must be added to their instants to lie beside it.
    pub(super) fn touching(&self, start: i64, length: i64) -> impl Iterator<Item = (Busy, i64)> {
        let hyperperiod = self.hyperperiod;
        let round = start.div_euclid(hyperperiod) * hyperperiod;
        let end = start + length;
        let wrapped = self.busy.last().filter(|last| last.end + round - hyperperiod > start);
        let wrapped = wrapped.map(|busy| (*busy, round - hyperperiod));
        let first = self.busy.partition_point(|busy| busy.end + round <= start);
        let rounds = (0..).map(move |turn| round + turn * hyperperiod).take_while(move |round| *round < end);
        let stretches = rounds.flat_map(move |at| {
            let from = if at == round { first } else { 0 };
            self.busy[from..].iter().map(move |busy| (*busy, at))
        });
        wrapped.into_iter().chain(stretches.take_while(move |(busy, at)| busy.start + at < end))
    }

    /// Takes a stretch that [`Self::shift`] called free.
    pub(super) fn take(&mut self, start: i64, length: i64, owner: Owner) {
        self.take_each(start, (0, 1), length, owner);
    }

    /// Takes `count` stretches, one a period after the other within a hyperperiod: what lies behind each is moved once, and not once for each.
    pub(super) fn take_each(&mut self, start: i64, (period, count): (i64, u32), length: i64, owner: Owner) {
        let first = on_circle(start, self.hyperperiod);
        let instants = (0..count).map(|turn| first + i64::from(turn) * period);
        // Those behind the end of the circle come first.
        let here = instants.clone().take_while(|start| *start < self.hyperperiod).count();
        let wrapped = instants.clone().skip(here).map(|start| start - self.hyperperiod);
        let (mut from, mut room) = (self.busy.len(), count as usize);
        self.busy.resize(from + room, Busy { start, end: start, owner });
        for start in instants.take(here).rev().chain(wrapped.rev()) {
            // What has no length comes before what begins there, so that ends are in order too.
            let before = |busy: &Busy| busy.start < start || (busy.start == start && busy.end == start);
            let place = self.busy[..from].partition_point(before);
            self.busy.copy_within(place..from, place + room);
            room -= 1;
            self.busy[place + room] = Busy { start, end: start + length, owner };
            from = place;
        }
        self.used += i64::from(count) * length;
    }

    /// Gives back what [`Self::take_each`] took.
    pub(super) fn give_each(&mut self, start: i64, (period, count): (i64, u32), length: i64, owner: Owner) {
        if count < ONE_BY_ONE {
            (0..i64::from(count)).for_each(|turn| self.give(start + turn * period, length, owner));
            return;
        }
        // What lies behind each would be moved once for each.
        let before = self.busy.len();
        self.busy.retain(|busy| busy.owner != owner);
        debug_assert_eq!(before - self.busy.len(), count as usize);
        self.used -= i64::from(count) * length;
    }

    /// Gives a stretch back.
    pub(super) fn give(&mut self, start: i64, length: i64, owner: Owner) {
        let start = start.rem_euclid(self.hyperperiod);
        let mut place = self.busy.partition_point(|busy| busy.start < start);
        while self.busy[place].owner != owner {
            place += 1;
        }
        debug_assert_eq!(self.busy[place], Busy { start, end: start + length, owner });
        self.busy.remove(place);
        self.used -= length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether no stretch, in any round, shares time with `[start, start + length)`; one without length shares it if it lies
    /// inside.
    fn is_free(busy: &[(i64, i64)], hyperperiod: i64, start: i64, length: i64) -> bool {
        let start = start.rem_euclid(hyperperiod);
        length <= hyperperiod
            && (-1..=1).all(|round| {
                busy.iter().all(|(from, to)| {
                    let (from, to) = (from + round * hyperperiod, to + round * hyperperiod);
                    from >= start + length || to <= start
                })
            })
    }

    proptest! {
        #[test]
        fn shift_is_the_least_that_is_free(
            wanted in prop::collection::vec((0i64..40, 0i64..8), 0..12), start in -50i64..90, length in 1i64..12, with_each: bool,
        ) {
            let mut timeline = Timeline::new(40);
            let mut busy = Vec::new();
            if with_each && length <= 10 {
                let mut each = Timeline::new(40);
                timeline.take_each(start, (10, 4), length, Owner(99));
                (0..4).for_each(|turn| each.take(start + turn * 10, length, Owner(99)));
                prop_assert_eq!(&each.busy, &timeline.busy);
                busy.extend((0..4).map(|turn| (start + turn * 10).rem_euclid(40)).map(|at| (at, at + length)));
            }
            for (index, (at, long)) in wanted.into_iter().enumerate() {
                if is_free(&busy, 40, at, long.max(1)) {
                    timeline.take(at, long, Owner(index as u32));
                    busy.push((at, at + long));
                }
            }
            let least = (0..=40).find(|shift| is_free(&busy, 40, start + shift, length));
            prop_assert_eq!(timeline.shift(start, length), least);
            let touching: Vec<_> = timeline.touching(start, length).map(|(busy, round)| (busy.start + round, busy.end + round)).collect();
            let mut expected: Vec<_> = (-4..4)
                .flat_map(|round| busy.iter().map(move |(from, to)| (from + round * 40, to + round * 40)))
                .filter(|(from, to)| *from < start + length && *to > start)
                .collect();
            expected.sort_unstable();
            prop_assert_eq!(touching, expected);
            let count = busy.len();
            for (index, (from, to)) in busy.iter().enumerate() {
                let owner = timeline.touching(*from - 1, to - from + 2).map(|(busy, _)| busy).find(|found| (found.start, found.end) == (*from, *to));
                if let Some(found) = owner {
                    timeline.give(*from, to - from, found.owner);
                } else {
                    prop_assert!(false, "stretch {index} of {count} was not found");
                }
            }
            prop_assert!(timeline.busy.is_empty() && timeline.used() == 0);
        }
    }
}
