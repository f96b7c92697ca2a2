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

/// Stretches that lie together: to add one moves so many at most.
const PART_MAX: usize = if cfg!(test) { 4 } else { 1 << 12 };

/// The stretches of one link, disjoint, by start. Where they are many they lie in parts, so that to add one does not move all that lie behind it.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    hyperperiod: i64,
    /// The first part; all of them on nearly every link.
    first: Vec<Busy>,
    /// The others. None is empty, and where there are any, the first is not either.
    others: Vec<Vec<Busy>>,
    used: i64,
}

impl Timeline {
    /// With these stretches, disjoint and by start; all of them start within the hyperperiod.
    pub(super) fn with(hyperperiod: i64, stretches: Vec<Busy>) -> Self {
        let used = stretches.iter().map(|busy| busy.end - busy.start).sum();
        let mut timeline = Self { hyperperiod, first: stretches, others: Vec::new(), used };
        timeline.divide(0);
        timeline
    }

    /// Time taken, per hyperperiod.
    pub(super) fn used(&self) -> i64 {
        self.used
    }

    /// A part; nothing behind the last.
    fn part(&self, part: usize) -> &[Busy] {
        match part.checked_sub(1) {
            None => &self.first,
            Some(other) => self.others.get(other).map_or(&[], Vec::as_slice),
        }
    }

    fn part_mut(&mut self, part: usize) -> &mut Vec<Busy> {
        match part.checked_sub(1) {
            None => &mut self.first,
            Some(other) => &mut self.others[other],
        }
    }

    fn last(&self) -> Option<&Busy> {
        self.others.last().unwrap_or(&self.first).last()
    }

    /// Part and place of the first stretch of which something does not hold that holds of all before it; behind the last where it holds of all.
    fn first_not(&self, holds: impl Fn(&Busy) -> bool) -> (usize, usize) {
        if self.others.is_empty() {
            return (0, self.first.partition_point(holds));
        }
        let of_all = |part: &Vec<Busy>| part.last().is_some_and(&holds);
        if !of_all(&self.first) {
            return (0, self.first.partition_point(&holds));
        }
        let part = 1 + self.others.partition_point(of_all);
        (part, self.part(part).partition_point(&holds))
    }

    /// By how much a stretch of `length` from `start` (any instant) must move to the right to be free; none if nowhere is.
    pub(super) fn shift(&self, start: i64, length: i64) -> Option<i64> {
        let Some(last) = self.last() else {
            return (length <= self.hyperperiod).then_some(0);
        };
        let from = on_circle(start, self.hyperperiod);
        let mut at = from;
        if last.end - self.hyperperiod > at {
            at = last.end - self.hyperperiod;
        }
        let limit = from + self.hyperperiod;
        let (mut part, place) = self.first_not(|busy| busy.end <= at);
        let (mut ahead, mut round) = (&self.part(part)[place..], 0);
        while !has_room(ahead, round, &mut at, length) {
            if at > limit {
                return None;
            }
            part += 1;
            if part > self.others.len() {
                (part, round) = (0, round + self.hyperperiod);
            }
            ahead = self.part(part);
        }
        // The stretch before this one may be the one that the circle began with.
        (at <= limit).then_some(at - from)
    }

    /// The stretches that touch `[start, start + length)`, with what must be added to their instants to lie beside it.
    pub(super) fn touching(&self, start: i64, length: i64) -> impl Iterator<Item = (Busy, i64)> {
        let hyperperiod = self.hyperperiod;
        let round = start.div_euclid(hyperperiod) * hyperperiod;
        let end = start + length;
        let wrapped = self.last().filter(|last| last.end + round - hyperperiod > start);
        let wrapped = wrapped.map(|busy| (*busy, round - hyperperiod));
        let first = self.first_not(|busy| busy.end + round <= start);
        let rounds = (0..).map(move |turn| round + turn * hyperperiod).take_while(move |round| *round < end);
        let stretches = rounds.flat_map(move |at| {
            let (part, place) = if at == round { first } else { (0, 0) };
            let others = self.others.get(part..).unwrap_or_default();
            let own = &self.part(part)[place..];
            own.iter().chain(others.iter().flatten()).map(move |busy| (*busy, at))
        });
        wrapped.into_iter().chain(stretches.take_while(move |(busy, at)| busy.start + at < end))
    }

    /// Takes `count` stretches that [`Self::shift`] called free, one a period after the other within a hyperperiod: what lies behind each is moved once, and not once for each.
    pub(super) fn take_each(&mut self, start: i64, (period, count): (i64, u32), length: i64, owner: Owner) {
        let hyperperiod = self.hyperperiod;
        let first = on_circle(start, hyperperiod);
        // Those behind the end of the circle come first.
        let is_here = |turn: &u32| first + i64::from(*turn) * period < hyperperiod;
        let wrapped = (0..count).rev().take_while(|turn| !is_here(turn)).count() as u32;
        let here = count - wrapped;
        let at = |index: u32| match index < wrapped {
            true => first + i64::from(here + index) * period - hyperperiod,
            false => first + i64::from(index - wrapped) * period,
        };
        let mut done = 0;
        while done < count {
            let (part, border) = self.part_for(at(done));
            // As many as come before the next part.
            let mut until = count;
            if let Some(border) = border {
                until = done + 1;
                while until < count && at(until) < border {
                    until += 1;
                }
            }
            insert(self.part_mut(part), (done..until).map(at), (until - done) as usize, (length, owner));
            self.divide(part);
            done = until;
        }
        self.used += i64::from(count) * length;
    }

    /// The part that a stretch from `start` belongs to, and where the next one begins.
    fn part_for(&self, start: i64) -> (usize, Option<i64>) {
        if self.others.is_empty() {
            return (0, None);
        }
        let part = self.first_not(|busy| comes_before(busy, start)).0.min(self.others.len());
        (part, self.part(part + 1).first().map(|next| next.start))
    }

    /// Makes several parts of one that is too large.
    fn divide(&mut self, part: usize) {
        let own = self.part_mut(part);
        if own.len() <= PART_MAX {
            return;
        }
        let behind = own.split_off(PART_MAX / 2);
        let parts = behind.chunks(PART_MAX / 2).map(<[Busy]>::to_vec);
        self.others.splice(part..part, parts);
    }

    /// Gives back what [`Self::take_each`] took.
    pub(super) fn give_each(&mut self, start: i64, (period, count): (i64, u32), length: i64, owner: Owner) {
        if count < ONE_BY_ONE {
            (0..i64::from(count)).for_each(|turn| self.give(start + turn * period, length, owner));
            return;
        }
        // What lies behind each would be moved once for each.
        for part in 0..=self.others.len() {
            self.part_mut(part).retain(|busy| busy.owner != owner);
        }
        self.others.retain(|part| !part.is_empty());
        self.begin_with_the_first();
        self.used -= i64::from(count) * length;
    }

    /// Gives a stretch back.
    pub(super) fn give(&mut self, start: i64, length: i64, owner: Owner) {
        let start = start.rem_euclid(self.hyperperiod);
        let (mut part, mut place) = self.first_not(|busy| busy.start < start);
        loop {
            match self.part(part).get(place) {
                Some(busy) if busy.owner == owner => break,
                Some(_) => place += 1,
                None => {
                    assert!(part < self.others.len(), "what is given back was taken");
                    (part, place) = (part + 1, 0);
                }
            }
        }
        let given = self.part_mut(part).remove(place);
        debug_assert_eq!(given, Busy { start, end: start + length, owner });
        if part > 0 && self.part(part).is_empty() {
            self.others.remove(part - 1);
        }
        self.begin_with_the_first();
        self.used -= length;
    }

    fn begin_with_the_first(&mut self) {
        if self.first.is_empty() && !self.others.is_empty() {
            self.first = self.others.remove(0);
        }
    }
}

/// Whether there is room before the last of some stretches, which lie `round` later; `at` moves behind those that are in the way.
fn has_room(ahead: &[Busy], round: i64, at: &mut i64, length: i64) -> bool {
    let mut now = *at;
    for busy in ahead {
        if busy.start + round >= now + length {
            *at = now;
            return true;
        }
        now = now.max(busy.end + round);
    }
    *at = now;
    false
}

/// What has no length comes before what begins there, so that ends are in order too.
fn comes_before(busy: &Busy, start: i64) -> bool {
    busy.start < start || (busy.start == start && busy.end == start)
}

/// Adds stretches from so many instants, which grow, to a part: what lies behind each is moved once.
fn insert(
    part: &mut Vec<Busy>,
    instants: impl DoubleEndedIterator<Item = i64>,
    mut room: usize,
    (length, owner): (i64, Owner),
) {
    let mut from = part.len();
    part.resize(from + room, Busy { start: 0, end: 0, owner });
    for start in instants.rev() {
        let place = part[..from].partition_point(|busy| comes_before(busy, start));
        part.copy_within(place..from, place + room);
        room -= 1;
        part[place + room] = Busy { start, end: start + length, owner };
        from = place;
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

    impl Timeline {
        fn new(hyperperiod: i64) -> Self {
            Self::with(hyperperiod, Vec::new())
        }

        fn take(&mut self, start: i64, length: i64, owner: Owner) {
            self.take_each(start, (0, 1), length, owner);
        }
    }

    fn all(timeline: &Timeline) -> Vec<Busy> {
        (0..=timeline.others.len()).flat_map(|part| timeline.part(part)).copied().collect()
    }

    /// Parts are within their bounds, and none is empty beside another.
    fn is_parted(timeline: &Timeline) -> bool {
        let is_filled = |part: usize| (1..=PART_MAX).contains(&timeline.part(part).len());
        timeline.others.is_empty() && timeline.first.len() <= PART_MAX
            || (0..=timeline.others.len()).all(is_filled)
    }

    proptest! {
        #[test]
        fn shift_is_the_least_that_is_free(
            wanted in prop::collection::vec((0i64..40, 0i64..8), 0..24), start in -50i64..90, length in 1i64..12, with_each: bool,
        ) {
            let mut timeline = Timeline::new(40);
            let mut busy = Vec::new();
            if with_each && length <= 10 {
                let mut each = Timeline::new(40);
                timeline.take_each(start, (10, 4), length, Owner(99));
                (0..4).for_each(|turn| each.take(start + turn * 10, length, Owner(99)));
                prop_assert_eq!(all(&each), all(&timeline));
                busy.extend((0..4).map(|turn| (start + turn * 10).rem_euclid(40)).map(|at| (at, at + length)));
            }
            for (index, (at, long)) in wanted.into_iter().enumerate() {
                if is_free(&busy, 40, at, long.max(1)) {
                    timeline.take(at, long, Owner(index as u32));
                    busy.push((at, at + long));
                }
            }
            prop_assert!(is_parted(&timeline), "{:?}", timeline);
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
                    prop_assert!(is_parted(&timeline), "{:?}", timeline);
                } else {
                    prop_assert!(false, "stretch {index} of {count} was not found");
                }
            }
            prop_assert!(all(&timeline).is_empty() && timeline.used() == 0);
        }
    }

    proptest! {
        #[test]
        fn it_is_the_same_at_once(wanted in prop::collection::vec((0i64..40, 1i64..8), 0..24)) {
            let mut timeline = Timeline::new(40);
            for (at, long) in wanted {
                if timeline.shift(at, long) == Some(0) {
                    timeline.take(at, long, Owner(1));
                }
            }
            let at_once = Timeline::with(40, all(&timeline));
            prop_assert!(is_parted(&at_once), "{:?}", at_once);
            prop_assert_eq!((all(&at_once), at_once.used()), (all(&timeline), timeline.used()));
        }
    }

    /// To add or to give back one moves a part of the others, however many they are.
    #[test]
    fn what_is_many_lies_in_parts() {
        let mut timeline = Timeline::new(1_000);
        timeline.take_each(995, (10, 100), 2, Owner(1));
        (0..100).rev().for_each(|turn| timeline.take(turn * 10, 3, Owner(2 + turn as u32)));
        assert!(is_parted(&timeline) && timeline.others.len() > 20, "{timeline:?}");
        assert!(all(&timeline).is_sorted_by_key(|busy| busy.start));
        assert_eq!((timeline.used(), timeline.shift(0, 2), timeline.shift(0, 4)), (500, Some(3), None));
        timeline.give_each(995, (10, 100), 2, Owner(1));
        assert!(is_parted(&timeline) && all(&timeline).len() == 100, "{timeline:?}");
        assert_eq!((timeline.used(), timeline.shift(0, 7)), (300, Some(3)));
    }
}
