//! Brute force: every start at every nanosecond, every order of tasks, every assignment of cores. Knows the rules
//! of `docs/planner.md` and nothing of the planner.

use leveret_plan::{CoreChoice, Job, Placement, Qos};

struct Run {
    task: usize,
    earliest: i64,
    latest: i64,
}

struct Oracle<'a> {
    job: &'a Job,
    round: i64,
    lengths: Vec<i64>,
    runs: Vec<Run>,
    /// Core of each task.
    cores: Vec<u32>,
}

/// Whether a plan exists. Only for jobs whose hyperperiod is a few dozen nanoseconds.
pub fn feasible(job: &Job) -> bool {
    let mut periods: Vec<i64> = job.tasks.iter().map(|task| task.period.0).collect();
    for channel in &job.channels {
        if let Qos::TimeDriven { period, .. } = channel.qos {
            periods.push(period.0);
        }
    }
    let Some(round) = (1..=100_000).find(|round| periods.iter().all(|period| round % period == 0)) else {
        panic!("not a job for brute force");
    };
    let mut oracle = Oracle { job, round, lengths: Vec::new(), runs: Vec::new(), cores: Vec::new() };
    for (index, task) in job.tasks.iter().enumerate() {
        let copies = |id: &leveret_types::ChannelId| {
            let channel = &job.channels[id.index()];
            let separate = channel.placement == Placement::Separate;
            if separate { channel.size.0.div_ceil(1024) as i64 * job.costs.copy_per_kib.0 } else { 0 }
        };
        let length = task.budget.0 + job.costs.switch.0 + task.reads.iter().map(copies).sum::<i64>();
        oracle.lengths.push(length);
        for k in 0..round / task.period.0 {
            let (earliest, latest) = window(job, index, k, length);
            if latest - earliest < length {
                return false;
            }
            oracle.runs.push(Run { task: index, earliest, latest });
        }
    }
    oracle.assign()
}

/// The window of an instance, by trying message numbers one after the other.
fn window(job: &Job, index: usize, k: i64, length: i64) -> (i64, i64) {
    let (task, costs) = (&job.tasks[index], &job.costs);
    let mut earliest = k * task.period.0 + task.release.0 + costs.clock_error.0;
    let mut latest = k * task.period.0 + task.deadline.0 - costs.clock_error.0;
    let visible = |id: &leveret_types::ChannelId, message: i64| match job.channels[id.index()].qos {
        Qos::TimeDriven { period, deadline, .. } => {
            Some(message * period.0 + deadline.0 + costs.clock_error.0)
        }
        _ => None,
    };
    for id in &task.writes {
        let limit = |message| visible(id, message).map(|at| at - costs.publish.0 - 2 * costs.clock_error.0);
        let message = (k..).find(|message| limit(*message).is_none_or(|limit| limit >= earliest + length));
        latest = latest.min(message.and_then(limit).unwrap_or(latest));
    }
    for id in &task.reads {
        let seen = |message: &i64| visible(id, *message).is_none_or(|at| at <= latest - length);
        let message = (-200..200).rev().find(seen);
        earliest = earliest.max(message.and_then(|message| visible(id, message)).unwrap_or(earliest));
    }
    (earliest, latest)
}

impl Oracle<'_> {
    fn assign(&mut self) -> bool {
        let Some(task) = self.job.tasks.get(self.cores.len()) else {
            return self.job.cores.iter().all(|core| self.core_fits(*core));
        };
        for core in &self.job.cores {
            if task.core == CoreChoice::Any || task.core == CoreChoice::Pinned(*core) {
                self.cores.push(*core);
                if self.assign() {
                    return true;
                }
                self.cores.pop();
            }
        }
        false
    }

    fn core_fits(&self, core: u32) -> bool {
        let tasks: Vec<usize> = (0..self.cores.len()).filter(|task| self.cores[*task] == core).collect();
        if tasks.iter().any(|task| self.job.tasks[*task].preemptible) {
            orders(&tasks).iter().any(|order| self.fill(order, &mut Vec::new(), 0))
        } else {
            self.fill(&tasks, &mut Vec::new(), 0)
        }
    }

    /// Adds the runs of `order`, highest first, to `roots`: maximal reserved stretches (start, length, tasks).
    fn fill(&self, order: &[usize], roots: &mut Vec<(i64, i64, Vec<usize>)>, used: i64) -> bool {
        let runs: Vec<&Run> =
            order.iter().flat_map(|task| self.runs.iter().filter(move |run| run.task == *task)).collect();
        self.fill_runs(&runs, roots, used)
    }

    fn fill_runs(&self, runs: &[&Run], roots: &mut Vec<(i64, i64, Vec<usize>)>, used: i64) -> bool {
        let Some((run, rest)) = runs.split_first() else {
            return used * 1000 <= self.round * i64::from(self.job.costs.utilisation_permille);
        };
        for start in run.earliest..=run.latest - self.lengths[run.task] {
            let before = roots.clone();
            if let Some(more) = self.run_from(run, start, roots)
                && self.fill_runs(rest, roots, used + more)
            {
                return true;
            }
            *roots = before;
        }
        false
    }

    /// Runs one instance nanosecond by nanosecond around what is there; the processor time it took.
    fn run_from(&self, run: &Run, start: i64, roots: &mut Vec<(i64, i64, Vec<usize>)>) -> Option<i64> {
        let (guard, round) = (self.job.costs.guard.0, self.round);
        let occupied = |now: i64, roots: &[(i64, i64, Vec<usize>)]| {
            roots.iter().position(|(from, length, _)| (now - from).rem_euclid(round) < *length)
        };
        if (start - guard..=start).any(|now| occupied(now, roots).is_some()) {
            return None;
        }
        let (mut now, mut left, mut took) = (start, self.lengths[run.task], guard);
        let (mut inside, mut tasks) = (Vec::new(), vec![run.task]);
        while left > 0 {
            match occupied(now, roots) {
                Some(root) => {
                    let (_, length, ref others) = roots[root];
                    if !self.job.tasks[run.task].preemptible
                        || others.contains(&run.task)
                        || inside.contains(&root)
                    {
                        return None;
                    }
                    inside.push(root);
                    tasks.extend(others);
                    left += self.job.costs.preemption.0;
                    now += length;
                }
                None => {
                    (now, left, took) = (now + 1, left - 1, took + 1);
                }
            }
            if now > run.latest {
                return None;
            }
        }
        if now - start + guard > round {
            return None;
        }
        let mut index = 0;
        roots.retain(|_| {
            index += 1;
            !inside.contains(&(index - 1))
        });
        roots.push(((start - guard).rem_euclid(round), now - start + guard, tasks));
        Some(took)
    }
}

/// Every order of the tasks.
fn orders(tasks: &[usize]) -> Vec<Vec<usize>> {
    if tasks.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (place, task) in tasks.iter().enumerate() {
        let rest: Vec<usize> = [&tasks[..place], &tasks[place + 1..]].concat();
        for mut order in orders(&rest) {
            order.insert(0, *task);
            all.push(order);
        }
    }
    all
}
