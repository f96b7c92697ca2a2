//! Cheap first answers for large jobs, where one conflict after the other would take too long: of what is asked too much of, the
//! tasks that ask for most give some of it, and what finds no place gets more room.
//!
//! Each gives a list of changes; whoever asked plans the job with them.

use super::rates::{self, Rated};
use super::trials::Trials;
use super::{Change, DeclarationKind, ObjectName, Own, Remedy};
use crate::search::unplaced;
use crate::validate::error_count;
use crate::windows::{Problem, hyperperiod};
use crate::{CoreChoice, Job, Task};
use leveret_types::Nanos;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How much of its capacity, in permille, each core may be asked for: less where more does not go into the windows.
pub(super) const TARGETS_PERMILLE: [i128; 6] = [1000, 970, 930, 880, 800, 700];
/// What is left of a budget, in permille; less where too many would have to give.
const BUDGETS_PERMILLE: [i64; 3] = [500, 250, 100];
/// By what a period is made longer.
const PERIOD_FACTORS: [i64; 3] = [2, 5, 10];
/// How often what finds no place gets more room.
const ROUNDS: usize = 8;

/// What those give that ask for most.
#[derive(Clone, Copy)]
pub(super) enum Gift {
    Budget,
    Period,
}

/// Smaller budgets or longer periods of the tasks that ask for most, until no core is asked for more than the target, and all
/// together are not; `None` where that takes more changes than `most`. Smaller steps come first.
pub(super) fn by_largest(
    (job, own): (&Job, &Own),
    gift: Gift,
    target_permille: i128,
    most: usize,
) -> Option<Vec<Remedy>> {
    let problem = Problem::new(job).ok()?;
    let round = hyperperiod(job)?;
    let steps = (0..BUDGETS_PERMILLE.len().max(PERIOD_FACTORS.len())).map_while(|step| match gift {
        Gift::Budget => BUDGETS_PERMILLE.get(step).copied(),
        Gift::Period => PERIOD_FACTORS.get(step).copied(),
    });
    steps.into_iter().find_map(|step| {
        let given = |task: usize| match gift {
            Gift::Budget => smaller(job, task, step),
            Gift::Period => longer((job, own), task, (round, step)),
        };
        relieved((job, own), &problem, target_permille, given).filter(|parts| parts.len() <= most)
    })
}

/// A change of one task, and what is asked of its core then, in permille of what it was.
type Given = (Remedy, i128);

fn smaller(job: &Job, task: usize, permille: i64) -> Option<Given> {
    let task = &job.tasks[task];
    let to = (task.budget.0 / 1000).saturating_mul(permille);
    let to = Nanos(if to > 1_000 { to / 100 * 100 } else { to });
    let change = Change::Budget { object: object(task), from: task.budget, to };
    // What a switch and a guard cost is left: the sums are right, this only says how many must give.
    (to > Nanos::ZERO && !task.mover).then(|| (Remedy::from(change), i128::from(permille)))
}

fn longer((job, own): (&Job, &Own), task: usize, (round, factor): (i64, i64)) -> Option<Given> {
    let to = job.tasks[task].period.0.checked_mul(factor)?;
    if round % to != 0 {
        return None;
    }
    let all = rates::together(job, Rated::Task(task), Nanos(to));
    Some((rates::change(job, own, &all, |_| Nanos(to))?, 1000 / i128::from(factor)))
}

fn object(task: &Task) -> ObjectName {
    ObjectName { kind: DeclarationKind::Task, name: task.name.clone() }
}

/// The changes of those that ask for most, as many as it takes.
fn relieved(
    (job, own): (&Job, &Own),
    problem: &Problem,
    target_permille: i128,
    given: impl Fn(usize) -> Option<Given>,
) -> Option<Vec<Remedy>> {
    let capacity = i128::from(problem.capacity) * target_permille / 1000;
    let mut pinned = vec![0_i128; problem.cores];
    let mut total = 0;
    for (index, load) in problem.loads.iter().enumerate() {
        let asked = i128::from(problem.demand(index));
        total += asked;
        if let Some(core) = load.pinned {
            pinned[core] += asked;
        }
    }
    let most = capacity * problem.cores as i128;
    let mut largest: Vec<usize> = own.tasks().collect();
    largest.sort_by_key(|task| (Reverse(problem.demand(*task)), *task));
    let mut parts = Vec::new();
    for task in largest {
        let core = problem.loads[task].pinned;
        let is_crowded = core.is_some_and(|core| pinned[core] > capacity);
        if !is_crowded && total <= most {
            continue;
        }
        let Some((remedy, left_permille)) = given(task) else { continue };
        let saved = i128::from(problem.demand(task)) * (1000 - left_permille) / 1000;
        total -= saved;
        if let Some(core) = core {
            pinned[core] -= saved;
        }
        parts.push(remedy);
    }
    let is_relieved = total <= most && pinned.iter().all(|asked| *asked <= capacity);
    (is_relieved && !parts.is_empty() && job.tasks.len() == problem.loads.len()).then_some(parts)
}

/// More room for what finds no place, again and again until all has one: the whole period first, then any core, then smaller budgets.
/// `None` where that takes more changes than `most`.
pub(super) fn room((job, own): (&Job, &Own), most: usize, trials: &mut Trials) -> Option<Vec<Remedy>> {
    let mut levels: BTreeMap<usize, usize> = BTreeMap::new();
    for _ in 0..ROUNDS {
        let mut changed = job.clone();
        for (task, level) in &levels {
            relax(&mut changed.tasks[*task], *level);
        }
        if trials.is_spent() || error_count(&changed) > 0 {
            return None;
        }
        let problem = Problem::new(&changed).ok()?;
        match unplaced(&problem, trials.effort()) {
            Ok(placement) => return Some(parts(job, &changed, &placement.cores)),
            Err(failed) => {
                let before = levels.clone();
                for task in failed.into_iter().filter(|task| own.has(Rated::Task(*task))) {
                    if !job.tasks[task].mover {
                        *levels.entry(task).or_default() += 1;
                    }
                }
                if levels == before || levels.len() > most {
                    return None;
                }
            }
        }
    }
    None
}

/// The level 1 is the whole period, 2 any core, and each further one half of the budget.
fn relax(task: &mut Task, level: usize) {
    (task.release, task.deadline) = (Nanos::ZERO, task.period);
    if level > 1 {
        task.core = CoreChoice::Any;
    }
    for _ in 2..level {
        task.budget = Nanos((task.budget.0 / 2).max(1));
    }
}

/// What has changed, each number by itself; a core that was free to choose is the one that was found.
fn parts(job: &Job, changed: &Job, cores: &[usize]) -> Vec<Remedy> {
    let mut parts = Vec::new();
    for (index, (before, after)) in job.tasks.iter().zip(&changed.tasks).enumerate() {
        let (from, to) = ((before.release, before.deadline), (after.release, after.deadline));
        if from.0 != to.0 {
            parts.push(Change::Release { object: object(before), from: from.0, to: to.0 });
        }
        if from.1 != to.1 {
            parts.push(Change::Deadline { object: object(before), from: from.1, to: to.1 });
        }
        if let (CoreChoice::Pinned(from), CoreChoice::Any) = (before.core, after.core) {
            let found = cores.get(index).and_then(|core| job.cores.get(*core)).copied().unwrap_or(from);
            if found != from {
                parts.push(Change::Core { object: object(before), from: Some(from), to: found });
            }
        }
        if before.budget != after.budget {
            parts.push(Change::Budget { object: object(before), from: before.budget, to: after.budget });
        }
    }
    parts.into_iter().map(Remedy::from).collect()
}
