//! The independent checker: is this plan right for this job? It shares the data types (and the model's digest)
//! with the planner, and no code. Where the planner computes, the checker states what must hold; all arithmetic is
//! in 128 bits, and sizes are compared before anything is walked, so no plan, however hostile, makes it panic.

mod channels;
mod cores;
mod crossing;
mod network;
mod sporadic;
mod system;
mod tasks;

pub use crossing::check_transition;
pub use network::{check_certificate, check_network, check_refusal};
pub use system::{check_system, check_system_certificate};

use crate::{Channel, Job, PLAN_VERSION, Placement, Plan, Qos, Task, digest};
use leveret_types::{ChannelId, INSTANCES_MAX, Nanos};
use std::fmt;

/// Something in a plan that does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// Where in the plan.
    pub place: String,
    /// What must hold there.
    pub rule: String,
    /// What stands there instead, with its instants; may be empty.
    pub found: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.place, self.rule)?;
        if self.found.is_empty() { Ok(()) } else { write!(out, " ({})", self.found) }
    }
}

/// Accepts a plan if it keeps every rule of `docs/planner.md` for this job.
///
/// # Errors
/// What does not hold. Later rules are looked at only where earlier ones hold, but for a plan that was made for another
/// job: where it has the shape of this one, what it breaks of it comes first.
pub fn check(plan: &Plan, job: &Job) -> Result<(), Vec<Violation>> {
    let mut checker = Checker { plan, job, round: 0, violations: Vec::new() };
    checker.frame();
    let foreign = checker.foreign();
    for stage in [Checker::tasks, Checker::cores, Checker::sporadics, Checker::channels] {
        if checker.violations.is_empty() {
            stage(&mut checker);
        }
    }
    checker.violations.extend(foreign);
    if checker.violations.is_empty() { Ok(()) } else { Err(checker.violations) }
}

/// An instant as people read it, of 128 bits.
fn shown(time: i128) -> String {
    i64::try_from(time).map_or_else(|_| format!("{time}ns"), |time| Nanos(time).to_string())
}

fn wide(time: Nanos) -> i128 {
    i128::from(time.0)
}

/// A channel's instants: period, then offsets.
struct Instants {
    period: i128,
    insert_by: i128,
    visible_at: i128,
    release: i128,
}

struct Checker<'a> {
    plan: &'a Plan,
    job: &'a Job,
    round: i128,
    violations: Vec<Violation>,
}

impl Checker<'_> {
    fn require(&mut self, holds: bool, place: impl Fn() -> String, rule: &str) {
        self.require_found(holds, place, rule, String::new);
    }

    fn require_found(
        &mut self,
        holds: bool,
        place: impl Fn() -> String,
        rule: &str,
        found: impl Fn() -> String,
    ) {
        if !holds && self.violations.len() < 100 {
            self.violations.push(Violation { place: place(), rule: rule.to_owned(), found: found() });
        }
    }

    /// Whether the plan was made for another job, or for this one when its declarations were others.
    fn foreign(&self) -> Option<Violation> {
        let (plan, job) = (self.plan, self.job);
        let found = if plan.job != job.name {
            format!("it was made for job `{}`", plan.job.escape_debug())
        } else if plan.job_digest != digest(job) {
            "the declarations of the job were others when it was made; make it again".to_owned()
        } else {
            return None;
        };
        let (place, rule) = ("plan".to_owned(), "it was made for this job".to_owned());
        Some(Violation { place, rule, found })
    }

    /// The plan has the shape that the job calls for.
    fn frame(&mut self) {
        let (plan, job) = (self.plan, self.job);
        let whole = || "plan".to_owned();
        self.require(plan.version == PLAN_VERSION, whole, "its version is the one this program reads");
        let costs = &job.costs;
        let all = [
            costs.guard,
            costs.switch,
            costs.preemption,
            costs.publish,
            costs.copy_per_kib,
            costs.clock_error,
        ];
        let positive = all.iter().all(|cost| *cost >= Nanos::ZERO);
        self.require(
            positive && plan.costs == job.costs,
            whole,
            "it assumes the job's costs, none below zero",
        );
        let instants = job.channels.iter().filter_map(|channel| self.instants(channel));
        let periods: Vec<i128> =
            job.tasks.iter().map(|task| wide(task.period)).chain(instants.map(|i| i.period)).collect();
        let round = if periods.is_empty() { 1_000_000_000 } else { wide(plan.hyperperiod) };
        let in_step = periods.iter().all(|period| *period > 0 && round % period == 0);
        // No smaller common multiple: the round counts of all periods have no common factor.
        let factor = |a: i128, b: i128| {
            let (mut a, mut b) = (a, b);
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        let least =
            in_step && periods.iter().map(|period| round / period).reduce(factor).is_none_or(|f| f == 1);
        let fits = round > 0 && round == wide(plan.hyperperiod) && least;
        let count: i128 = if fits { periods.iter().map(|period| round / period).sum() } else { 0 };
        let found = || format!("it repeats after {}", plan.hyperperiod);
        let rule = "its hyperperiod is the least common multiple";
        self.require_found(fits && count <= INSTANCES_MAX as i128, whole, rule, found);
        let channel_exists = |id: &ChannelId| id.index() < job.channels.len();
        let ends_exist =
            job.tasks.iter().all(|task| task.reads.iter().chain(&task.writes).all(channel_exists));
        self.require(ends_exist, || "job".to_owned(), "its tasks use channels that exist");
        let names_match = plan.tasks.iter().enumerate().all(|(index, task)| task.task.index() == index)
            && plan.channels.iter().enumerate().all(|(index, channel)| channel.channel.index() == index)
            && plan.cores.iter().map(|core| core.core).eq(job.cores.iter().copied());
        let complete = plan.tasks.len() == job.tasks.len() && plan.channels.len() == job.channels.len();
        self.require(names_match && complete, whole, "it covers every task, channel and core in order");
        self.sporadic_frame();
        self.round = round;
    }

    fn instants(&self, channel: &Channel) -> Option<Instants> {
        instants(self.job, channel)
    }

    /// Budget, switch and copies of one instance.
    fn charged(&self, task: &Task) -> i128 {
        charged(self.job, task)
    }
}

/// The instants of a channel that the clock moves.
fn instants(job: &Job, channel: &Channel) -> Option<Instants> {
    let Qos::TimeDriven { period, release, deadline, .. } = channel.qos else { return None };
    let (error, publish) = (wide(job.costs.clock_error), wide(job.costs.publish));
    let visible_at = wide(deadline) + error;
    let insert_by = visible_at - publish - 2 * error;
    Some(Instants { period: wide(period), insert_by, visible_at, release: wide(release) })
}

/// Budget, switch and copies of one instance of a task.
fn charged(job: &Job, task: &Task) -> i128 {
    let copied = |id: &ChannelId| {
        let channel = &job.channels[id.index()];
        let kib = i128::from(channel.size.0).saturating_add(1023) / 1024;
        if channel.placement == Placement::Separate { kib } else { 0 }
    };
    let copies: i128 = task.reads.iter().map(copied).sum();
    let copying = copies.saturating_mul(wide(job.costs.copy_per_kib)).min(i128::from(u64::MAX));
    wide(task.budget) + wide(job.costs.switch) + copying
}
