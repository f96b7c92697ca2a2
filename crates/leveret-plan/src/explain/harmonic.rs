//! Periods that make a table too long: which they are, and which nearest ones would not.

use super::rates::{self, Rated};
use super::{Declaration, Own, Remedy};
use crate::{Job, TIME_NS_MAX};
use leveret_types::{INSTANCES_MAX, Nanos};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// After how long a table repeats, and how much is in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Length {
    /// In nanoseconds; `None` where it is beyond all measure.
    pub round: Option<i128>,
    /// Instances of tasks and transfers.
    pub instances: i128,
}

impl Length {
    pub fn of(periods: impl Iterator<Item = i64> + Clone) -> Self {
        let mut round: Option<i128> = Some(1);
        for period in periods.clone().map(i128::from) {
            round = round.and_then(|round| round.checked_mul(period / divisor(round, period)));
        }
        let count = |round: i128| periods.clone().map(|period| round / i128::from(period)).sum();
        Self { round, instances: round.map_or(i128::MAX, count) }
    }

    pub fn is_too_long(self) -> bool {
        self.round.is_none_or(|round| round > i128::from(TIME_NS_MAX))
    }

    pub fn is_too_full(self) -> bool {
        self.instances > INSTANCES_MAX as i128
    }

    fn is_admissible(self) -> bool {
        !self.is_too_long() && !self.is_too_full()
    }
}

fn divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// Everything with a period.
fn rated(job: &Job) -> Vec<(Rated, i64)> {
    let tasks = (0..job.tasks.len()).map(Rated::Task);
    let all = tasks.chain((0..job.channels.len()).map(Rated::Channel));
    all.filter_map(|one| Some((one, one.period(job)?.0))).filter(|(_, period)| *period > 0).collect()
}

fn length(all: &[(Rated, i64)]) -> Length {
    Length::of(all.iter().map(|(_, period)| *period))
}

/// Declarations whose periods together are too much, while without any one of them the others are not: those that go well with
/// others are left out first. Empty where nothing is too much.
pub(crate) fn culprits(job: &Job) -> Vec<Declaration> {
    let all = rated(job);
    if length(&all).is_admissible() {
        return Vec::new();
    }
    let distinct: BTreeSet<i64> = all.iter().map(|(_, period)| *period).collect();
    let friends: BTreeMap<i64, usize> = distinct
        .iter()
        .map(|one| {
            let goes = |other: &&i64| *other % one == 0 || one % *other == 0;
            (*one, distinct.iter().filter(goes).count())
        })
        .collect();
    let mut parts = all;
    parts.sort_by_key(|(one, period)| (Reverse(friends.get(period).copied()), *period, *one));
    // One by one, so that the order counts; many go in pieces first.
    let mut piece = if parts.len() <= ONE_BY_ONE_MAX { 1 } else { parts.len().div_ceil(2) };
    loop {
        let before = parts.len();
        let mut at = 0;
        while at < parts.len() {
            let mut rest = parts.clone();
            rest.drain(at..(at + piece).min(rest.len()));
            if length(&rest).is_admissible() {
                at += piece;
            } else {
                parts = rest;
            }
        }
        if piece > 1 {
            piece = piece.div_ceil(2);
        } else if parts.len() == before {
            break;
        }
    }
    parts.sort_unstable();
    let declaration = |one: &Rated| match one {
        Rated::Task(index) => Declaration::task(job, &job.tasks[*index]),
        Rated::Channel(index) => Declaration::channel(job, *index),
    };
    parts.iter().map(|(one, _)| declaration(one)).collect()
}

/// So many declarations are left out one by one.
const ONE_BY_ONE_MAX: usize = 256;
/// Most candidates for one group of declarations that change together.
const NEAREST_MAX: usize = 4;
/// Most periods that others are fitted to.
const BASES_MAX: usize = 16;
/// Divisors of the others' round are looked for so far around the one that the period is nearest to.
const DIVISORS_SEARCHED: i64 = 4_096;

/// Periods near the present ones with which the table is short enough: of one group of declarations, where that does, else of several;
/// and whether it does. Nobody has planned them yet. Empty where the table is not too long.
pub(super) fn repairs(job: &Job, own: &Own) -> (Vec<Remedy>, bool) {
    if length(&rated(job)).is_admissible() {
        return (Vec::new(), true);
    }
    let groups = rates::groups(job);
    let mut found = Vec::new();
    for group in &groups {
        for to in nearest(job, group) {
            found.extend(rates::change(job, own, group, |_| Nanos(to)));
        }
    }
    if found.is_empty() { (fitted(job, own, &groups), false) } else { (found, true) }
}

fn period_of(job: &Job, group: &[Rated]) -> i64 {
    group.first().and_then(|one| one.period(job)).map_or(1, |period| period.0.max(1))
}

/// Periods for one group with which all others are short enough, nearest first.
fn nearest(job: &Job, group: &[Rated]) -> Vec<i64> {
    let present = period_of(job, group);
    let others: Vec<(Rated, i64)> =
        rated(job).into_iter().filter(|(one, _)| group.binary_search(one).is_err()).collect();
    let around = length(&others);
    if !around.is_admissible() {
        return Vec::new();
    }
    let mut candidates: BTreeSet<i64> = BTreeSet::new();
    let mut bases: Vec<i64> = others.iter().map(|(_, period)| *period).collect();
    bases.sort_unstable_by_key(|base| (base.abs_diff(present), *base));
    bases.dedup();
    bases.truncate(BASES_MAX);
    for base in bases {
        candidates.insert(rounded(present, base));
        candidates.insert(base);
    }
    if let Some(round) = around.round.and_then(|round| i64::try_from(round).ok()) {
        candidates.insert(rounded(present, round));
        let parts = (round / present).max(1);
        for distance in 0..DIVISORS_SEARCHED {
            for part in [parts.saturating_sub(distance), parts + distance] {
                if part > 0 && round % part == 0 {
                    candidates.insert(round / part);
                }
            }
        }
    }
    let admissible = |period: &i64| {
        let with = others.iter().map(|(_, period)| *period).chain(group.iter().map(|_| *period));
        *period != present && Length::of(with).is_admissible()
    };
    let mut candidates: Vec<i64> = candidates.into_iter().collect();
    candidates.sort_by_key(|period| (period.abs_diff(present), *period));
    candidates.into_iter().filter(admissible).take(NEAREST_MAX).collect()
}

/// The multiple of `base` that is nearest; at least `base`.
fn rounded(period: i64, base: i64) -> i64 {
    let times = (period / base + i64::from(period % base >= base - base / 2)).max(1);
    base.saturating_mul(times)
}

/// 1, 2, 4, 5 or 10 and so on times `base`, whichever is nearest: these go well together.
fn rounded_well(period: i64, base: i64) -> i64 {
    let mut best = base;
    let mut decade = base;
    while decade <= period.saturating_mul(10) && decade < TIME_NS_MAX {
        for times in [1, 2, 4, 5] {
            let candidate = decade.saturating_mul(times);
            if candidate.abs_diff(period) < best.abs_diff(period) {
                best = candidate;
            }
        }
        decade = decade.saturating_mul(10);
    }
    best
}

/// All that does not go with one base fitted to it: for each of some bases, the least that must change.
fn fitted(job: &Job, own: &Own, groups: &[Vec<Rated>]) -> Vec<Remedy> {
    let mut bases: Vec<i64> = groups.iter().map(|group| period_of(job, group)).collect();
    bases.sort_unstable();
    bases.dedup();
    bases.truncate(BASES_MAX);
    let mut found = Vec::new();
    for base in bases {
        for round in [rounded, rounded_well] {
            let mut periods: Vec<i64> =
                groups.iter().map(|group| round(period_of(job, group), base)).collect();
            let admissible = |periods: &[i64]| {
                let each = groups.iter().zip(periods);
                Length::of(each.flat_map(|(group, period)| group.iter().map(|_| *period))).is_admissible()
            };
            if !admissible(&periods) {
                continue;
            }
            for (place, group) in groups.iter().enumerate() {
                let fitted = std::mem::replace(&mut periods[place], period_of(job, group));
                if !admissible(&periods) {
                    periods[place] = fitted;
                }
            }
            let changed =
                groups.iter().zip(&periods).filter(|(group, period)| period_of(job, group) != **period);
            let parts: Option<Vec<Remedy>> =
                changed.map(|(group, period)| rates::change(job, own, group, |_| Nanos(*period))).collect();
            let changes: Vec<_> = parts.into_iter().flatten().flat_map(|part| part.changes).collect();
            if !changes.is_empty() {
                found.push(Remedy { changes });
            }
        }
    }
    found.sort_by_key(|remedy| (remedy.decisions(), remedy.size()));
    found.dedup();
    found.truncate(2 * NEAREST_MAX);
    found
}
