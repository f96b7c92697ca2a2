//! The smallest single changes after which planning succeeds. Every one is found and verified by planning again.

use super::overload::Demand;
use super::{Change, Declaration, DeclarationKind, ObjectName};
use crate::admission::solve;
use crate::search::Effort;
use crate::{CoreChoice, Job, Qos, Task, validate};
use leveret_types::Nanos;
use std::cmp::Reverse;

/// Most changes that a refusal lists.
const CHANGES_MAX: usize = 6;
/// Instances and gaps that the search for changes may look at, all plans together.
const SPENT_MAX: u64 = 20_000_000;
/// Periods tried: these multiples and fractions of the periods in the job.
const MULTIPLES: [i64; 6] = [1, 2, 3, 4, 5, 10];
/// Conflicts up to this size are gone through in the model's order.
const CONFLICT_SMALL_MAX: usize = 32;
/// Most other cores that are tried.
const CORES_TRIED_MAX: usize = 16;

/// Those of `changes` that make the job fit, smallest first.
pub(super) fn verified(job: &Job, changes: Vec<Change>) -> Vec<Change> {
    let mut trials = Trials::default();
    let target = Target { job, demand: None };
    let mut fits: Vec<Change> = changes.into_iter().filter(|change| trials.fits(&target, change)).collect();
    sort(&mut fits);
    fits
}

/// The smallest change of each sort in each declaration of the conflict after which `job` has a plan, smallest
/// first. `alone` is the conflict by itself: what does not settle that need not be tried on the whole.
pub(super) fn smallest_changes(job: &Job, alone: &Job, conflict: &[Declaration]) -> Vec<Change> {
    let mut trials = Trials::default();
    let both = Both { whole: Target::new(job), alone: Target::new(alone) };
    let mut found = Vec::new();
    let mut objects: Vec<&ObjectName> = conflict.iter().map(|declaration| &declaration.object).collect();
    if objects.len() > CONFLICT_SMALL_MAX
        && let Some(demand) = &both.whole.demand
    {
        // Those that ask for most have most to give, and not all can be tried.
        objects.sort_by_key(|object| Reverse(demand.share(&object.name)));
    }
    for object in &objects {
        found.extend(other_cores(job, object).into_iter().find(|change| trials.fits_both(&both, change)));
        if found.len() >= CHANGES_MAX {
            break;
        }
    }
    for object in &objects {
        for family in families(job, object) {
            found.extend(family.smallest(&both, &mut trials));
        }
    }
    let periods = good_periods(job);
    for object in &objects {
        found.extend(
            other_periods(job, object, &periods).into_iter().find(|change| trials.fits_both(&both, change)),
        );
    }
    sort(&mut found);
    found
}

fn sort(changes: &mut Vec<Change>) {
    changes.sort_by_key(|change| (change.size(), change.object().clone()));
    changes.dedup();
    changes.truncate(CHANGES_MAX);
}

/// A job to be changed, with what is asked of its cores.
struct Target<'a> {
    job: &'a Job,
    demand: Option<Demand<'a>>,
}

impl<'a> Target<'a> {
    fn new(job: &'a Job) -> Self {
        // A declaration that contradicts itself asks for nothing that could be summed up.
        Self { job, demand: validate(job).ok().and_then(|()| Demand::of(job)) }
    }
}

/// The whole job, and its conflict by itself.
struct Both<'a> {
    whole: Target<'a>,
    alone: Target<'a>,
}

/// Plans again and again, within bounds.
struct Trials(Effort);

impl Default for Trials {
    fn default() -> Self {
        Self(Effort::light())
    }
}

impl Trials {
    fn fits(&mut self, target: &Target<'_>, change: &Change) -> bool {
        if target.demand.as_ref().is_some_and(|demand| !demand.allows(change)) {
            return false;
        }
        // Even a job that is refused at once costs something.
        self.0.spend(32);
        self.0.spent <= SPENT_MAX
            && change
                .apply(target.job)
                .is_some_and(|changed| validate(&changed).is_ok() && solve(&changed, &mut self.0).is_ok())
    }

    fn fits_both(&mut self, both: &Both<'_>, change: &Change) -> bool {
        let allowed = |target: &Target<'_>| target.demand.as_ref().is_none_or(|demand| demand.allows(change));
        allowed(&both.whole) && self.fits(&both.alone, change) && self.fits(&both.whole, change)
    }
}

/// Changes of one number by a growing amount.
struct Family<'a> {
    object: &'a ObjectName,
    sort: Sort,
    /// Present start and end of the window, or the budget twice.
    from: (Nanos, Nanos),
    most: i64,
}

#[derive(Clone, Copy)]
enum Sort {
    Budget,
    DeadlineLater,
    DeadlineEarlier,
    ReleaseEarlier,
    WindowLater,
    WindowEarlier,
}

impl Family<'_> {
    fn change(&self, amount: i64) -> Change {
        let object = self.object.clone();
        let (start, end) = self.from;
        let amount = Nanos(amount);
        match self.sort {
            Sort::Budget => Change::Budget { object, from: start, to: start - amount },
            Sort::DeadlineLater => Change::Deadline { object, from: end, to: end + amount },
            Sort::DeadlineEarlier => Change::Deadline { object, from: end, to: end - amount },
            Sort::ReleaseEarlier => Change::Release { object, from: start, to: start - amount },
            Sort::WindowLater => {
                Change::Window { object, from: self.from, to: (start + amount, end + amount) }
            }
            Sort::WindowEarlier => {
                Change::Window { object, from: self.from, to: (start - amount, end - amount) }
            }
        }
    }

    /// The smallest amount that settles the conflict alone, then, from there, the whole job.
    fn smallest(&self, both: &Both<'_>, trials: &mut Trials) -> Option<Change> {
        let possible = |target: &Target<'_>| {
            target.demand.as_ref().is_none_or(|demand| demand.allows(&self.change(self.most)))
        };
        if self.most < 1 || !possible(&both.whole) {
            return None;
        }
        let amount = self.first(&both.alone, 1, trials)?;
        if trials.fits(&both.whole, &self.change(amount)) {
            return Some(self.change(amount));
        }
        self.first(&both.whole, amount, trials).map(|amount| self.change(amount))
    }

    /// Doubles the amount from `least` until it fits, then halves the distance to the last that did not.
    fn first(&self, target: &Target<'_>, least: i64, trials: &mut Trials) -> Option<i64> {
        let (mut low, mut high) = (least - 1, least.max(1_000));
        loop {
            high = high.min(self.most);
            if high <= low {
                return None;
            }
            if trials.fits(target, &self.change(high)) {
                break;
            }
            low = high;
            high = high.saturating_mul(2);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if trials.fits(target, &self.change(middle)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        // Out of effort, the search ends at an amount that fits, though perhaps not at the smallest.
        Some(high)
    }
}

fn families<'a>(job: &Job, object: &'a ObjectName) -> Vec<Family<'a>> {
    let family = |sort, from, most| Family { object, sort, from, most };
    if let Some(task) = task(job, object) {
        let (start, end) = (task.release, task.deadline);
        // Beyond one period of room nothing is gained.
        let far = task.period + task.budget;
        return vec![
            family(Sort::Budget, (task.budget, task.budget), task.budget.0 - 1),
            family(Sort::DeadlineLater, (start, end), far.0),
            family(Sort::ReleaseEarlier, (start, end), start.0),
            family(Sort::WindowLater, (start, end), task.period.0),
            family(Sort::WindowEarlier, (start, end), start.0),
        ];
    }
    match channel_window(job, object) {
        Some((period, start, end)) => vec![
            family(Sort::DeadlineLater, (start, end), period.0),
            family(Sort::DeadlineEarlier, (start, end), (end - start).0 - 1),
        ],
        None => Vec::new(),
    }
}

fn task<'a>(job: &'a Job, object: &ObjectName) -> Option<&'a Task> {
    let task = |task: &&Task| object.kind == DeclarationKind::Task && task.name == object.name;
    job.tasks.iter().find(task)
}

/// Period, release and deadline of a time-driven channel.
fn channel_window(job: &Job, object: &ObjectName) -> Option<(Nanos, Nanos, Nanos)> {
    let is = |name: String| object.kind == DeclarationKind::Channel && name == object.name;
    let found = job.channels.iter().find(|channel| is(crate::validate::channel_name(channel)))?;
    match found.qos {
        Qos::TimeDriven { period, release, deadline, .. } => Some((period, release, deadline)),
        _ => None,
    }
}

fn other_cores(job: &Job, object: &ObjectName) -> Vec<Change> {
    let Some(Task { core: CoreChoice::Pinned(present), .. }) = task(job, object) else { return Vec::new() };
    let others = job.cores.iter().filter(|core| *core != present).take(CORES_TRIED_MAX);
    others.map(|to| Change::Core { object: object.clone(), from: Some(*present), to: *to }).collect()
}

/// Periods that go well with those in the job, in order.
fn good_periods(job: &Job) -> Vec<i64> {
    let mut present: Vec<i64> = job.tasks.iter().map(|task| task.period.0).collect();
    present.sort_unstable();
    present.dedup();
    let mut periods: Vec<i64> = Vec::new();
    for period in present {
        for multiple in MULTIPLES {
            periods.push(period.saturating_mul(multiple));
            if period % multiple == 0 {
                periods.push(period / multiple);
            }
        }
    }
    periods.sort_unstable();
    periods.dedup();
    periods
}

/// Changes to one of these periods, nearest first. A writer's period is tied to its channel's.
fn other_periods(job: &Job, object: &ObjectName, periods: &[i64]) -> Vec<Change> {
    let Some(task) = task(job, object) else { return Vec::new() };
    let mut periods: Vec<i64> = periods.iter().copied().filter(|period| *period != task.period.0).collect();
    periods.sort_unstable_by_key(|period| (period.abs_diff(task.period.0), *period));
    periods.truncate(24);
    let to = |period| Change::Period { object: object.clone(), from: task.period, to: Nanos(period) };
    periods.into_iter().map(to).collect()
}
