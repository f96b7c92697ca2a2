//! The smallest single changes after which planning succeeds. Every one is found and verified by planning again.

use super::trials::{Both, Target, Trials};
use super::{Change, Declaration, DeclarationKind, ObjectName, Own, Remedy, movers, rates};
use crate::validate::channel_name;
use crate::{CoreChoice, Job, Qos, Task};
use leveret_types::Nanos;
use std::cmp::Reverse;

/// Most remedies that a refusal lists.
pub(super) const REMEDIES_MAX: usize = 6;
/// Periods tried: these multiples and fractions of the periods in the job.
const MULTIPLES: [i64; 6] = [1, 2, 3, 4, 5, 10];
/// Conflicts up to this size are gone through in the model's order.
const CONFLICT_SMALL_MAX: usize = 32;
/// Most other cores that are tried.
const CORES_TRIED_MAX: usize = 16;
/// Most other periods that are tried for one object.
const PERIODS_TRIED_MAX: usize = 24;

/// Those of `remedies` that the program can make and that make the job fit, smallest first.
pub(super) fn verified(
    (job, own): (&Job, &Own),
    mut remedies: Vec<Remedy>,
    trials: &mut Trials,
) -> Vec<Remedy> {
    let target = Target { job, demand: None };
    remedies.retain(|remedy| own.allows(job, remedy));
    let mut fits: Vec<Remedy> = remedies.into_iter().filter(|remedy| trials.fits(&target, remedy)).collect();
    sort(&mut fits);
    fits
}

/// The smallest change of each sort in each declaration of the conflict after which `job` has a plan, smallest
/// first. `alone` is the conflict by itself: what does not settle that need not be tried on the whole.
pub(super) fn smallest_changes(
    (job, own): (&Job, &Own),
    alone: &Job,
    conflict: &[Declaration],
    trials: &mut Trials,
) -> Vec<Remedy> {
    let both = Both { whole: Some(Target::new(job)), ..both((job, own), alone, conflict) };
    changes((job, own), &both, conflict, trials)
}

/// The same after which the conflict alone has a plan, whatever else is wrong with the job.
pub(super) fn settling(
    (job, own): (&Job, &Own),
    alone: &Job,
    conflict: &[Declaration],
    trials: &mut Trials,
) -> Vec<Remedy> {
    changes((job, own), &both((job, own), alone, conflict), conflict, trials)
}

fn both<'a>((job, _): (&'a Job, &Own), alone: &'a Job, conflict: &[Declaration]) -> Both<'a> {
    // A mover follows channels that need not be in the conflict.
    let alone = if conflict.iter().any(|declaration| declaration.mover) { job } else { alone };
    Both { whole: None, alone: Target::new(alone) }
}

fn changes(
    (job, own): (&Job, &Own),
    both: &Both<'_>,
    conflict: &[Declaration],
    trials: &mut Trials,
) -> Vec<Remedy> {
    let mut found = Vec::new();
    let mut objects = changeable((job, own), conflict);
    if objects.len() > CONFLICT_SMALL_MAX
        && let Some(demand) = both.outer().demand.as_ref()
    {
        // Those that ask for most have most to give, and not all can be tried.
        objects.sort_by_key(|object| Reverse(demand.share(&object.name)));
    }
    for object in &objects {
        found.extend(other_cores(job, object).into_iter().find(|remedy| trials.fits_both(both, remedy)));
        if found.len() >= REMEDIES_MAX {
            break;
        }
    }
    for object in &objects {
        for family in families((job, own), object) {
            found.extend(family.smallest(both, trials));
        }
    }
    let periods = good_periods(job);
    for object in &objects {
        let others = other_periods((job, own), object, &periods);
        found.extend(others.into_iter().find(|remedy| trials.fits_both(both, remedy)));
    }
    sort(&mut found);
    found
}

/// What of the conflict a program can change: what the library declares follows its channels.
pub(super) fn changeable((job, own): (&Job, &Own), conflict: &[Declaration]) -> Vec<ObjectName> {
    let mut objects: Vec<ObjectName> = Vec::new();
    for declaration in conflict {
        let Some(place) = rates::Rated::place(job, &declaration.object) else { continue };
        let all = match place {
            rates::Rated::Task(index) if own.has(place) && job.tasks[index].mover => {
                let task = &job.tasks[index];
                task.reads.iter().chain(&task.writes).map(|id| rates::Rated::Channel(id.index())).collect()
            }
            _ => vec![place],
        };
        for object in all.into_iter().filter(|one| own.has(*one)).map(|one| one.name(job)) {
            if !objects.contains(&object) {
                objects.push(object);
            }
        }
    }
    objects
}

/// Smallest first, each once, no more than a refusal lists.
pub(super) fn sort(remedies: &mut Vec<Remedy>) {
    remedies.sort_by_key(|remedy| {
        let first = remedy.changes.first().map(|change| change.object().clone());
        (remedy.decisions(), remedy.size(), first)
    });
    remedies.dedup();
    remedies.truncate(REMEDIES_MAX);
}

/// Changes of one number by a growing amount.
struct Family {
    /// Whose; several where they share a window.
    objects: Vec<ObjectName>,
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

impl Family {
    fn change(&self, amount: i64) -> Remedy {
        let changes = self.objects.iter().map(|object| self.change_of(object.clone(), amount));
        Remedy { changes: changes.collect() }
    }

    fn change_of(&self, object: ObjectName, amount: i64) -> Change {
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
    fn smallest(&self, both: &Both<'_>, trials: &mut Trials) -> Option<Remedy> {
        if self.most < 1 || !both.outer().allows(&self.change(self.most)) {
            return None;
        }
        let amount = self.first(1, |remedy| trials.fits_alone(&both.alone, remedy))?;
        let Some(whole) = &both.whole else { return Some(self.change(amount)) };
        if trials.fits(whole, &self.change(amount)) {
            return Some(self.change(amount));
        }
        self.first(amount, |remedy| trials.fits(whole, remedy)).map(|amount| self.change(amount))
    }

    /// Doubles the amount from `least` until it fits, then halves the distance to the last that did not.
    fn first(&self, least: i64, mut fits: impl FnMut(&Remedy) -> bool) -> Option<i64> {
        let (mut low, mut high) = (least - 1, least.max(1_000));
        loop {
            high = high.min(self.most);
            if high <= low {
                return None;
            }
            if fits(&self.change(high)) {
                break;
            }
            low = high;
            high = high.saturating_mul(2);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fits(&self.change(middle)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        // Out of effort, the search ends at an amount that fits, though perhaps not at the smallest.
        Some(high)
    }
}

fn families((job, own): (&Job, &Own), object: &ObjectName) -> Vec<Family> {
    if let Some(task) = task(job, object) {
        let family = |sort, from, most| Family { objects: vec![object.clone()], sort, from, most };
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
    let Some((index, (period, start, end))) = channel_window(job, object) else { return Vec::new() };
    let together: Vec<rates::Rated> =
        movers::together(job, index).into_iter().map(rates::Rated::Channel).collect();
    if !together.iter().all(|channel| own.has(*channel)) {
        return Vec::new();
    }
    let objects: Vec<ObjectName> = together.iter().map(|channel| channel.name(job)).collect();
    let family = |sort, most| Family { objects: objects.clone(), sort, from: (start, end), most };
    vec![
        family(Sort::DeadlineLater, period.0),
        family(Sort::DeadlineEarlier, (end - start).0.saturating_sub(1)),
        family(Sort::WindowLater, period.0),
        family(Sort::WindowEarlier, start.0),
    ]
}

fn task<'a>(job: &'a Job, object: &ObjectName) -> Option<&'a Task> {
    let task = |task: &&Task| object.kind == DeclarationKind::Task && task.name == object.name;
    job.tasks.iter().find(task)
}

/// Index, and period, release and deadline, of a time-driven channel.
fn channel_window(job: &Job, object: &ObjectName) -> Option<(usize, (Nanos, Nanos, Nanos))> {
    let is = |name: String| object.kind == DeclarationKind::Channel && name == object.name;
    let found = job.channels.iter().position(|channel| is(channel_name(channel)))?;
    match job.channels[found].qos {
        Qos::TimeDriven { period, release, deadline, .. } => Some((found, (period, release, deadline))),
        _ => None,
    }
}

fn other_cores(job: &Job, object: &ObjectName) -> Vec<Remedy> {
    let Some(Task { core: CoreChoice::Pinned(present), .. }) = task(job, object) else { return Vec::new() };
    let others = job.cores.iter().filter(|core| *core != present).take(CORES_TRIED_MAX);
    let change = |to: &u32| Change::Core { object: object.clone(), from: Some(*present), to: *to };
    others.map(|to| Remedy::from(change(to))).collect()
}

/// Periods that go well with those in the job, in order.
fn good_periods(job: &Job) -> Vec<i64> {
    let mut present: Vec<i64> =
        job.tasks.iter().map(|task| task.period.0).filter(|period| *period > 0).collect();
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

/// Changes to one of these periods, nearest first, of all that must change with it.
fn other_periods((job, own): (&Job, &Own), object: &ObjectName, periods: &[i64]) -> Vec<Remedy> {
    let Some(first) = rates::Rated::find(job, object) else { return Vec::new() };
    let Some(present) = first.period(job) else { return Vec::new() };
    let mut periods: Vec<i64> = periods.iter().copied().filter(|period| *period != present.0).collect();
    periods.sort_unstable_by_key(|period| (period.abs_diff(present.0), *period));
    periods.truncate(PERIODS_TRIED_MAX);
    let to = |period| {
        let all = rates::together(job, first, Nanos(period));
        rates::change(job, own, &all, |_| Nanos(period))
    };
    periods.into_iter().filter_map(to).collect()
}
