//! Why work cannot run beside the table in time, and what would let it.

use super::{
    Change, Declaration, DeclarationKind, ExplainSearch, ObjectName, Own, Refusal, RefusalKind, Remedy,
    Scope, trials,
};
use crate::sporadic::{self, Beside, Cause, Late, SHARE_PARTS};
use crate::{CoreChoice, Job, Sporadic, validate};
use leveret_types::Nanos;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Work that cannot be promised its deadline.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LateWork {
    /// Which; where a core is asked for too much, the least urgent on it.
    pub task: ObjectName,
    /// The core it was to run on; one of them, where it may choose.
    pub core: u32,
    /// Whether it may choose.
    pub any_core: bool,
    /// Its deadline; `None` where it has none, and the core is asked for too much.
    pub deadline: Option<Nanos>,
    /// Why not.
    pub cause: LateCause,
}

/// Why work cannot be promised its deadline.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LateCause {
    /// Its response can take this long.
    Response {
        /// From arrival to end.
        bound: Nanos,
    },
    /// Its response and that of what serves the other end of its channel can together take this long.
    BothEnds {
        /// From start to completion.
        bound: Nanos,
    },
    /// As urgent work on the core may be started at any rate.
    NoInterval,
    /// The core is asked for too much.
    Overload {
        /// Parts of a thousand million.
        asked: i64,
        /// What there is.
        most: i64,
    },
    /// The analysis was cut short; it may fit.
    NotFound,
}

impl fmt::Display for LateWork {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { task, core, any_core, deadline, cause } = self;
        let within = deadline.map_or_else(|| "any time".to_owned(), |deadline| deadline.to_string());
        let place = if *any_core { format!("any core; on core {core}") } else { format!("core {core}") };
        match cause {
            LateCause::Response { bound } => write!(
                out,
                "{task} cannot be promised to end within {within} of its start on {place}, beside the time table that was \
                 found, it can take {bound}"
            ),
            LateCause::BothEnds { bound } => write!(
                out,
                "{task} and what serves the sending end of its channel cannot together be promised to end within {within} of the start; \
                 beside the time table that was found, they can take {bound}"
            ),
            LateCause::NoInterval => write!(
                out,
                "{task} cannot be promised to end within {within} of its start on {place}: work there that is as urgent \
                 may be started at any rate; give that an interval, or a lower priority"
            ),
            LateCause::Overload { asked, most } => write!(
                out,
                "core {core} is asked for {:.1} % of its time by the time table and the work beside it, costs included, of \
                 which tasks may use {:.1} %",
                percent(*asked),
                percent(*most)
            ),
            LateCause::NotFound => write!(
                out,
                "no bound of {task} on {place} was found within the steps of the analysis; it is not proven impossible"
            ),
        }
    }
}

fn percent(parts: i64) -> f64 {
    parts as f64 * 100.0 / SHARE_PARTS as f64
}

/// Factors by which intervals and budgets change together.
const FACTORS: [i64; 6] = [2, 3, 4, 5, 10, 100];
/// Admissions that the search for changes may try.
const TRIALS_MAX: u32 = 600;

pub(super) fn refuse(job: &Job, late: &Late, scope: Scope<'_>) -> Refusal {
    let failing = &job.sporadics[late.sporadic];
    let name = |sporadic: &Sporadic| ObjectName { kind: DeclarationKind::Task, name: sporadic.name.clone() };
    let (sporadics, tasks, minimal) = reduce(job, late);
    let mut conflict: Vec<Declaration> =
        sporadics.iter().map(|index| Declaration::sporadic(job, &job.sporadics[*index])).collect();
    conflict.extend(tasks.iter().map(|index| Declaration::task(job, &job.tasks[*index])));
    let cause = match late.cause {
        Cause::Bound(bound) => LateCause::Response { bound: Nanos(bound) },
        Cause::Together(bound) => LateCause::BothEnds { bound: Nanos(bound) },
        Cause::Unbounded => LateCause::NoInterval,
        Cause::Overload { asked, most } => LateCause::Overload { asked, most },
        Cause::GaveUp => LateCause::NotFound,
    };
    let told = LateWork {
        task: name(failing),
        core: job.cores[late.core],
        any_core: failing.core == CoreChoice::Any,
        deadline: failing.deadline,
        cause,
    };
    let (fits, search) = fits(job, late, (&sporadics, &tasks), scope);
    Refusal {
        kind: if late.cause == Cause::GaveUp {
            RefusalKind::NotFound { steps: 0 }
        } else {
            RefusalKind::Infeasible
        },
        conflict,
        overload: None,
        buffers: None,
        late: Some(Box::new(told)),
        minimal,
        fits,
        search: Box::new(search),
        bottleneck: None,
    }
}

/// Sporadic work and tasks of the table that are late together, while without any one of them nobody is: halves are
/// left out, then smaller pieces, then one by one. What is left out of the table leaves the rest of it as it is.
fn reduce(job: &Job, late: &Late) -> (Vec<usize>, Vec<usize>, bool) {
    #[derive(Clone, Copy, PartialEq)]
    enum Part {
        Sporadic(usize),
        Task(usize),
    }
    let core = job.cores[late.core];
    let on_core = late.table.tasks.iter().filter(|task| task.core == core);
    let mut parts: Vec<Part> = on_core.map(|task| Part::Task(task.task.index())).collect();
    parts.extend(late.beside.iter().map(|index| Part::Sporadic(*index)));
    let split = |parts: &[Part]| {
        let sporadics = parts.iter().filter_map(|part| match part {
            Part::Sporadic(index) => Some(*index),
            Part::Task(_) => None,
        });
        let tasks = parts.iter().filter_map(|part| match part {
            Part::Task(index) => Some(*index),
            Part::Sporadic(_) => None,
        });
        (sporadics.collect::<Vec<_>>(), tasks.collect::<Vec<_>>())
    };
    let mut minimal = !matches!(late.cause, Cause::GaveUp | Cause::Together(_));
    let mut still_late = |parts: &[Part]| {
        let (sporadics, tasks) = split(parts);
        let mut beside = Beside::new(job, &late.table, |task| tasks.contains(&task));
        let fails = beside.check_these(late.core, &sporadics).is_err();
        minimal &= !beside.is_spent();
        fails
    };
    let mut piece = parts.len().div_ceil(2).max(1);
    loop {
        let before = parts.len();
        let mut at = 0;
        while at < parts.len() {
            let mut rest = parts.clone();
            rest.drain(at..(at + piece).min(rest.len()));
            if still_late(&rest) {
                parts = rest;
            } else {
                at += piece;
            }
        }
        if piece > 1 {
            piece = piece.div_ceil(2);
        } else if parts.len() == before {
            break;
        }
    }
    let (mut sporadics, tasks) = split(&parts);
    // The one that is late comes first.
    sporadics.sort_by_key(|index| (*index != late.sporadic, *index));
    (sporadics, tasks, minimal)
}

/// The smallest change of each sort after which everything is admitted, smallest first; where there is none, several together.
/// What runs beside the table does not change it, so the table stays.
fn fits(
    job: &Job,
    late: &Late,
    (conflict, tasks): (&[usize], &[usize]),
    scope: Scope<'_>,
) -> (Vec<Remedy>, ExplainSearch) {
    let mut trials = Trials { job, late, left: TRIALS_MAX };
    let own: Vec<usize> = conflict.iter().copied().filter(|index| scope.own.has_work(*index)).collect();
    let mut found = single((job, scope.own), late, &own, &mut trials);
    let mut planned = trials::Trials::new(scope.budget.changes / 2);
    let tasks: Vec<Declaration> =
        tasks.iter().map(|index| Declaration::task(job, &job.tasks[*index])).collect();
    if found.is_empty() {
        found = super::fits::smallest_changes((job, scope.own), job, &tasks, &mut planned);
    }
    let single_failed = found.iter().all(|remedy| remedy.decisions() > 1);
    if single_failed {
        found.extend(several(job, &own, &mut trials));
        found.extend(super::combine::combinations((job, scope.own), &tasks, &mut planned).0);
    }
    super::fits::sort(&mut found);
    let steps = u64::from(TRIALS_MAX - trials.left) + planned.spent();
    (
        found,
        ExplainSearch {
            conflict_steps: 0,
            steps,
            exhausted: trials.left == 0 || planned.exhausted,
            single_failed,
        },
    )
}

fn object(job: &Job, index: usize) -> ObjectName {
    ObjectName { kind: DeclarationKind::Task, name: job.sporadics[index].name.clone() }
}

fn single((job, own): (&Job, &Own), late: &Late, conflict: &[usize], trials: &mut Trials<'_>) -> Vec<Remedy> {
    let mut found = Vec::new();
    let failing = &job.sporadics[late.sporadic];
    let object = |index: usize| object(job, index);
    if let (Cause::Bound(bound) | Cause::Together(bound), Some(deadline), true) =
        (late.cause, failing.deadline, own.has_work(late.sporadic))
    {
        let change =
            |to: i64| Change::Deadline { object: object(late.sporadic), from: deadline, to: Nanos(to) };
        let exact = change(bound);
        // The other end of its channel takes time too.
        found.extend(if trials.fits(&exact) { Some(exact) } else { trials.least(bound, change) });
    }
    for index in conflict.iter().copied() {
        let sporadic = &job.sporadics[index];
        if let CoreChoice::Pinned(present) = sporadic.core {
            let others = job.cores.iter().filter(|core| **core != present);
            let change = |to: &u32| Change::Core { object: object(index), from: Some(present), to: *to };
            found.extend(others.map(change).find(|change| trials.fits(change)));
        }
        let budget = |to: i64| Change::Budget { object: object(index), from: sporadic.budget, to: Nanos(to) };
        // A transfer without a body has no budget to lower.
        found.extend(trials.largest(sporadic.budget.0, budget));
        if let Some(interval) = sporadic.interval {
            let longer = |to: i64| Change::Interval { object: object(index), from: interval, to: Nanos(to) };
            found.extend(trials.least(interval.0, longer));
        }
    }
    found.into_iter().map(Remedy::from).collect()
}

/// Longer intervals, or smaller budgets, of all the work in the conflict by one factor, or both.
fn several(job: &Job, conflict: &[usize], trials: &mut Trials<'_>) -> Vec<Remedy> {
    let longer = |factor: i64| {
        let changes = conflict.iter().filter_map(|index| {
            let from = job.sporadics[*index].interval?;
            Some(Change::Interval { object: object(job, *index), from, to: from.saturating_mul(factor) })
        });
        changes.collect::<Vec<_>>()
    };
    let smaller = |divisor: i64| {
        let changes = conflict.iter().filter_map(|index| {
            let from = job.sporadics[*index].budget;
            let to = Nanos(from.0 / divisor);
            (to > Nanos::ZERO && to < from).then(|| Change::Budget { object: object(job, *index), from, to })
        });
        changes.collect::<Vec<_>>()
    };
    let ways: [&dyn Fn(i64) -> Vec<Change>; 3] =
        [&longer, &smaller, &|factor| [longer(factor), smaller(factor)].concat()];
    let mut found = Vec::new();
    for way in ways {
        let remedies = FACTORS.into_iter().map(|factor| Remedy { changes: way(factor) });
        found.extend(
            remedies.filter(|remedy| !remedy.changes.is_empty()).find(|remedy| trials.fits_all(remedy)),
        );
    }
    found
}

/// Admits again and again, within bounds.
struct Trials<'a> {
    job: &'a Job,
    late: &'a Late,
    left: u32,
}

impl Trials<'_> {
    fn fits(&mut self, change: &Change) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        change.apply(self.job).is_some_and(|changed| self.admits(&changed))
    }

    fn fits_all(&mut self, remedy: &Remedy) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        remedy.apply(self.job).is_some_and(|changed| self.admits(&changed))
    }

    fn admits(&self, changed: &Job) -> bool {
        validate(changed).is_ok() && sporadic::admits(changed, (*self.late.table).clone())
    }

    /// The largest value below `present`, at least 1, with which it fits.
    fn largest(&mut self, present: i64, change: impl Fn(i64) -> Change) -> Option<Change> {
        let (mut low, mut high) = (1, present);
        if present <= 1 || !self.fits(&change(low)) {
            return None;
        }
        while high - low > 1 && self.left > 0 {
            let middle = low + (high - low) / 2;
            if self.fits(&change(middle)) {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(change(low))
    }

    /// The least value above `present` with which it fits: doubles, then halves the distance.
    fn least(&mut self, present: i64, change: impl Fn(i64) -> Change) -> Option<Change> {
        let (mut low, mut high) = (present, present.saturating_mul(2));
        while !self.fits(&change(high)) {
            if self.left == 0 || high > present.saturating_mul(1 << 10) {
                return None;
            }
            (low, high) = (high, high.saturating_mul(2));
        }
        while high - low > 1 && self.left > 0 {
            let middle = low + (high - low) / 2;
            if self.fits(&change(middle)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(change(high))
    }
}
