//! Changes that fit only together, for jobs that no single change makes fit. Each way below proposes a list of changes with which
//! the job is admitted; then what is not needed is taken away again, so that without any one of them it is refused.

use super::fits::{self, changeable};
use super::rates::{self, Rated};
use super::relief::{self, Gift};
use super::trials::{Target, Trials};
use super::{
    Change, Declaration, DeclarationKind, ObjectName, Own, Remedy, conflict, declarations, harmonic,
};
use crate::admission::solve;
use crate::search::Effort;
use crate::validate::error_count;
use crate::{CoreChoice, Job, validate};
use leveret_types::Nanos;
use std::mem::discriminant;

/// Ways to look for combinations.
const WAYS: u64 = 7;
/// The first so many are those of `relief.rs`.
const RELIEFS: u64 = 3;
/// So many changes are proposed at first, in the hope that not all are needed.
const CHANGES_TRIED_MAX: usize = 4 * CHANGES_TOLD_MAX;
/// Conflicts that are settled one after the other, each by the first change that does.
const GREEDY_DEEP_MAX: usize = 16;
/// The same where other changes are tried too.
const STEPS_DEEP_MAX: usize = 4;
/// Changes tried for each of them before the one above is given up.
const STEPS_WIDE_MAX: usize = 3;
/// Factors by which periods are made longer.
const FACTORS: [i64; 14] = [2, 3, 4, 5, 6, 8, 10, 16, 20, 25, 50, 100, 200, 500];
/// Up to this factor, eighths are tried too.
const FINER_MAX: i64 = 10;
/// Longer lists help nobody.
pub(super) const CHANGES_TOLD_MAX: usize = 32;
/// Smaller budgets are none.
const BUDGET_PERMILLE_LEAST: i64 = 50;

/// Combinations that make the job fit, with the fewest decisions first, and whether one of them turned out to be a single change.
pub(super) fn combinations<'a>(
    (job, own): (&'a Job, &'a Own),
    conflict: &[Declaration],
    trials: &'a mut Trials,
) -> (Vec<Remedy>, bool) {
    let mut combine = Combine { job, own, target: Target::new(job), trials };
    let objects = changeable((job, own), conflict);
    let (mut found, mut is_single) = (Vec::new(), false);
    let total = combine.trials.most();
    // What mends a job of contradictions can be several changes at once.
    let is_sound = error_count(job) == 0;
    for way in 0..WAYS {
        // Each gets a part of what is left, so that none leaves nothing for the others.
        combine.trials.allow(total - total / WAYS * (WAYS - 1 - way));
        let parts = match way {
            0 => combine.by_room(),
            1 => combine.by_largest(Gift::Budget),
            2 => combine.by_largest(Gift::Period),
            3 => combine.by_cores(&objects),
            4 => combine.by_periods(&objects),
            5 => combine.by_budgets(&objects),
            _ => combine.by_steps(),
        };
        let needed = parts.and_then(|parts| {
            let kept = (way < RELIEFS).then(|| parts.clone());
            // Of what was found soon it is not always known that all of it is needed; that it fits, is.
            combine.needed(parts).or(kept)
        });
        is_single |= is_sound && needed.as_ref().is_some_and(|parts| parts.len() == 1);
        found.extend(needed.map(|parts| Remedy::joined(&parts)));
    }
    found.retain(|remedy| remedy.changes.len() <= CHANGES_TOLD_MAX);
    fits::sort(&mut found);
    (found, is_single)
}

struct Combine<'a> {
    job: &'a Job,
    own: &'a Own,
    target: Target<'a>,
    trials: &'a mut Trials,
}

impl Combine<'_> {
    /// Those without any one of which the job is refused; halves go first. `None` if it is refused with all of them.
    fn needed(&mut self, mut parts: Vec<Remedy>) -> Option<Vec<Remedy>> {
        if parts.is_empty() || !self.trials.fits(&self.target, &Remedy::joined(&parts)) {
            return None;
        }
        let mut piece = parts.len().div_ceil(2);
        loop {
            let before = parts.len();
            let mut at = 0;
            while at < parts.len() {
                if self.trials.is_spent() {
                    // What is not known to be needed is not told.
                    return None;
                }
                let mut rest = parts.clone();
                rest.drain(at..(at + piece).min(rest.len()));
                if !rest.is_empty() && self.trials.fits(&self.target, &Remedy::joined(&rest)) {
                    parts = rest;
                } else {
                    at += piece;
                }
            }
            if piece > 1 {
                piece = piece.div_ceil(2);
            } else if parts.len() == before {
                return Some(parts);
            }
        }
    }

    /// More room for what finds no place.
    fn by_room(&mut self) -> Option<Vec<Remedy>> {
        let parts = relief::room((self.job, self.own), CHANGES_TRIED_MAX, self.trials)?;
        self.fewer(parts)
    }

    /// Less of what asks for most.
    fn by_largest(&mut self, gift: Gift) -> Option<Vec<Remedy>> {
        if error_count(self.job) > 0 {
            return None;
        }
        let parts = relief::TARGETS_PERMILLE.into_iter().find_map(|target| {
            let few = [CHANGES_TOLD_MAX, CHANGES_TRIED_MAX].into_iter();
            let mut parts =
                few.filter_map(|most| relief::by_largest((self.job, self.own), gift, target, most));
            let parts = parts.next()?;
            self.trials.fits_soon(&self.target, &Remedy::joined(&parts)).then_some(parts)
        })?;
        self.fewer(parts)
    }

    /// Without what is soon known to be needless; `None` if it is refused then, or too long to be told.
    fn fewer(&mut self, mut parts: Vec<Remedy>) -> Option<Vec<Remedy>> {
        let mut piece = parts.len().div_ceil(2);
        while piece > 0 {
            let mut at = 0;
            while at < parts.len() && parts.len() > 1 {
                let mut rest = parts.clone();
                rest.drain(at..(at + piece).min(rest.len()));
                if !rest.is_empty() && self.trials.fits_soon(&self.target, &Remedy::joined(&rest)) {
                    parts = rest;
                } else {
                    at += piece;
                }
            }
            piece = if piece > 1 { piece.div_ceil(2) } else { 0 };
        }
        let is_told = parts.len() <= CHANGES_TOLD_MAX;
        (is_told && self.trials.fits(&self.target, &Remedy::joined(&parts))).then_some(parts)
    }

    /// All tasks that the program can change.
    fn all(&self) -> Vec<ObjectName> {
        self.own.tasks().map(|task| Rated::Task(task).name(self.job)).collect()
    }

    /// One conflict after the other, each by a single change that settles it.
    fn by_steps(&mut self) -> Option<Vec<Remedy>> {
        let mut greedy = Vec::new();
        let found = self.descend(&self.job.clone(), &mut greedy, (GREEDY_DEEP_MAX, 1)).then_some(greedy);
        let fewer =
            found.as_ref().map_or(STEPS_DEEP_MAX, |found| STEPS_DEEP_MAX.min(found.len().saturating_sub(1)));
        let deeper = |deepest| {
            let mut parts = Vec::new();
            self.descend(&self.job.clone(), &mut parts, (deepest, STEPS_WIDE_MAX)).then_some(parts)
        };
        (2..=fewer).find_map(deeper).or(found)
    }

    fn descend(&mut self, current: &Job, parts: &mut Vec<Remedy>, (deepest, widest): (usize, usize)) -> bool {
        if self.trials.admits(current) {
            return true;
        }
        if parts.len() >= deepest || self.trials.is_spent() {
            return false;
        }
        let mut candidates = self.settling(current);
        candidates.retain(|candidate| !parts.iter().any(|part| touches(part, candidate)));
        // A move to another core settles the conflict here and may make one there.
        candidates.sort_by_key(|candidate| matches!(candidate.changes[0], Change::Core { .. }));
        for candidate in candidates.into_iter().take(widest) {
            let Some(next) = candidate.apply(current) else { continue };
            parts.push(candidate);
            if self.descend(&next, parts, (deepest, widest)) {
                return true;
            }
            parts.pop();
        }
        false
    }

    /// Changes that settle one conflict of the job, whatever else is wrong with it.
    fn settling(&mut self, current: &Job) -> Vec<Remedy> {
        if let Err(errors) = validate(current) {
            let mut repairs = errors.first().map(|error| error.repairs.clone()).unwrap_or_default();
            repairs.extend(harmonic::repairs(current, self.own).0);
            repairs.retain(|repair| self.own.allows(current, repair));
            return mending(current, repairs, errors.len());
        }
        let mut effort = Effort::light();
        let failure = match solve(current, &mut effort) {
            Err(failure) if failure.late.is_none() => failure,
            _ => return Vec::new(),
        };
        let kept = conflict::lightly(current, &failure, self.trials.left() / 8);
        self.trials.spend(effort.spent.saturating_add(kept.spent));
        let alone = kept.job(current);
        fits::settling((current, self.own), &alone, &declarations(&alone), self.trials)
    }

    /// Everything where the planner would put it, were it free to.
    fn by_cores(&mut self, objects: &[ObjectName]) -> Option<Vec<Remedy>> {
        if self.job.cores.len() < 2 || validate(self.job).is_err() {
            return None;
        }
        let all = self.all();
        self.freed(objects).or_else(|| self.freed(&all))
    }

    /// The cores that a plan gives to these tasks when they may choose.
    fn freed(&mut self, objects: &[ObjectName]) -> Option<Vec<Remedy>> {
        let mut free = self.job.clone();
        let is_free = |task: &crate::Task| {
            !task.mover
                && objects
                    .iter()
                    .any(|object| object.kind == DeclarationKind::Task && object.name == task.name)
        };
        free.tasks.iter_mut().filter(|task| is_free(task)).for_each(|task| task.core = CoreChoice::Any);
        if free == *self.job || self.trials.is_spent() {
            return None;
        }
        let mut effort = Effort::light();
        let plan = solve(&free, &mut effort);
        self.trials.spend(effort.spent);
        let moved = self.job.tasks.iter().zip(plan.ok()?.tasks).filter_map(|(task, planned)| {
            let CoreChoice::Pinned(from) = task.core else { return None };
            let object = ObjectName { kind: DeclarationKind::Task, name: task.name.clone() };
            let change = Change::Core { object, from: Some(from), to: planned.core };
            (from != planned.core).then(|| Remedy::from(change))
        });
        Some(moved.collect())
    }

    /// Longer periods: of all that the conflict needs, or else of everything, by one factor.
    fn by_periods(&mut self, objects: &[ObjectName]) -> Option<Vec<Remedy>> {
        let groups = rates::groups(self.job);
        let involved: Vec<Rated> =
            objects.iter().filter_map(|object| Rated::find(self.job, object)).collect();
        let of_conflict: Vec<Vec<Rated>> =
            groups.iter().filter(|group| group.iter().any(|one| involved.contains(one))).cloned().collect();
        self.longer(&of_conflict).or_else(|| self.longer(&groups))
    }

    fn longer(&mut self, groups: &[Vec<Rated>]) -> Option<Vec<Remedy>> {
        let mut factors = FACTORS.into_iter();
        let mut tried = |eighths: i64| {
            let parts = self.longer_by(groups, eighths)?;
            self.trials.fits(&self.target, &Remedy::joined(&parts)).then_some((eighths, parts))
        };
        let (eighths, parts) = factors.find_map(|factor| tried(8 * factor))?;
        // The least that does may lie between, or below: what fits is not a matter of more or less alone.
        let finer = (9..eighths.min(8 * FINER_MAX)).find_map(tried);
        Some(finer.map_or(parts, |(_, parts)| parts))
    }

    /// So many eighths of each group's period; `None` where one of them cannot be divided so.
    fn longer_by(&self, groups: &[Vec<Rated>], eighths: i64) -> Option<Vec<Remedy>> {
        let mut parts = Vec::new();
        for group in groups {
            let period = group[0].period(self.job)?.0;
            if period % 8 != 0 && eighths % 8 != 0 {
                return None;
            }
            let to = match period % 8 {
                0 => Nanos((period / 8).saturating_mul(eighths)),
                _ => Nanos(period.saturating_mul(eighths / 8)),
            };
            // Those that hang on it come along, so that each group by itself leaves nothing behind.
            let all = rates::together(self.job, group[0], to);
            parts.extend(rates::change(self.job, self.own, &all, |_| to));
        }
        Some(parts)
    }

    /// Smaller budgets, by one factor: of the conflict, or else of everything.
    fn by_budgets(&mut self, objects: &[ObjectName]) -> Option<Vec<Remedy>> {
        let all = self.all();
        self.smaller(objects).or_else(|| self.smaller(&all))
    }

    fn smaller(&mut self, objects: &[ObjectName]) -> Option<Vec<Remedy>> {
        let parts = |permille: i64| -> Vec<Remedy> {
            let tasks = self.own.tasks().map(|task| &self.job.tasks[task]).filter(|task| {
                let is =
                    |object: &ObjectName| object.kind == DeclarationKind::Task && object.name == task.name;
                !task.mover && objects.iter().any(is)
            });
            let smaller = tasks.filter_map(|task| {
                let to = i128::from(task.budget.0) * i128::from(permille) / 1000;
                let to = i64::try_from(to).ok()?;
                let to = if to > 1_000 { to / 100 * 100 } else { to };
                let object = ObjectName { kind: DeclarationKind::Task, name: task.name.clone() };
                let change = Change::Budget { object, from: task.budget, to: Nanos(to) };
                (to > 0 && to < task.budget.0).then(|| Remedy::from(change))
            });
            smaller.collect()
        };
        let (mut low, mut high) = (BUDGET_PERMILLE_LEAST, 1000);
        if !self.trials.fits(&self.target, &Remedy::joined(&parts(low))) {
            return None;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.trials.fits(&self.target, &Remedy::joined(&parts(middle))) {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(parts(low))
    }
}

/// Whether two remedies change the same of the same object.
fn touches(one: &Remedy, other: &Remedy) -> bool {
    let is_window = |change: &Change| {
        matches!(change, Change::Window { .. } | Change::Release { .. } | Change::Deadline { .. })
    };
    let same = |one: &Change, other: &Change| {
        one.object() == other.object()
            && (discriminant(one) == discriminant(other) || (is_window(one) && is_window(other)))
    };
    one.changes.iter().any(|change| other.changes.iter().any(|next| same(change, next)))
}

/// Those that leave fewer errors.
fn mending(job: &Job, mut repairs: Vec<Remedy>, errors: usize) -> Vec<Remedy> {
    repairs.retain(|repair| repair.apply(job).is_some_and(|changed| error_count(&changed) < errors));
    repairs
}
