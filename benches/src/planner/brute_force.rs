//! Every order on every core, for jobs whose tasks are not preemptible, read no channel and cost nothing beside
//! their budget. Shares nothing with the planner.

use leveret_plan::Job;

/// What brute force found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is a plan.
    Feasible,
    /// There is none.
    Infeasible,
    /// Too many possibilities.
    GaveUp,
}

/// Steps after which it gives up.
const STEPS_MAX: u64 = 3_000_000;

/// An instance: earliest start, latest end, length, in nanoseconds.
#[derive(Clone, Copy)]
struct Instance {
    release: i64,
    deadline: i64,
    length: i64,
}

/// Tries every assignment of tasks to cores, and on each core every order.
pub fn feasible(job: &Job) -> Verdict {
    let hyperperiod = job.tasks.iter().map(|task| task.period.0).max().unwrap_or(1);
    let cores = job.cores.len();
    let mut steps = 0;
    let mut core_of = vec![0; job.tasks.len()];
    loop {
        let fits = (0..cores).try_fold(true, |all, core| {
            let mut instances = Vec::new();
            for (task, _) in job.tasks.iter().zip(&core_of).filter(|(_, chosen)| **chosen == core) {
                instances.extend((0..hyperperiod / task.period.0).map(|k| Instance {
                    release: k * task.period.0 + task.release.0,
                    deadline: k * task.period.0 + task.deadline.0,
                    length: task.budget.0,
                }));
            }
            let mut done = vec![false; instances.len()];
            Some(all && order(&instances, &mut done, 0, &mut steps)?)
        });
        match fits {
            None => return Verdict::GaveUp,
            Some(true) => return Verdict::Feasible,
            Some(false) => {}
        }
        // The next assignment, counting in base `cores`.
        let Some(place) = core_of.iter().position(|core| *core + 1 < cores) else {
            return Verdict::Infeasible;
        };
        core_of[place] += 1;
        core_of[..place].fill(0);
    }
}

/// Whether the instances that are left fit after `now` in some order; `None` when the steps are used up.
fn order(instances: &[Instance], done: &mut [bool], now: i64, steps: &mut u64) -> Option<bool> {
    *steps += 1;
    if *steps > STEPS_MAX {
        return None;
    }
    if done.iter().all(|done| *done) {
        return Some(true);
    }
    for place in 0..instances.len() {
        let one = instances[place];
        let end = now.max(one.release) + one.length;
        if done[place] || end > one.deadline {
            continue;
        }
        done[place] = true;
        let fits = order(instances, done, end, steps);
        done[place] = false;
        if fits != Some(false) {
            return fits;
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(release: i64, deadline: i64, length: i64) -> Instance {
        Instance { release, deadline, length }
    }

    fn fits(instances: &[Instance]) -> Option<bool> {
        order(instances, &mut vec![false; instances.len()], 0, &mut 0)
    }

    #[test]
    fn an_order_that_leaves_the_processor_idle_is_found() {
        // Starting the long one at once would make the short one late.
        assert_eq!(fits(&[one(0, 20, 10), one(1, 3, 2)]), Some(true));
        assert_eq!(fits(&[one(0, 11, 10), one(1, 3, 2)]), Some(false));
    }
}
