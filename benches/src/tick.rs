//! Starts that beat with the kernel's tick: a job whose epoch lies off the tick, as every job's, beside the same job with its epoch as early as can
//! be, which is anywhere. Each round is a job of its own, so the second one's rounds meet the tick at all places.
//!
//! ```text
//!  plan   |a|  |b|  |c|  |d|  |e|        |a|  |b|  |c|  |d|  |e|        period 5 ms, starts 180 us apart
//!  tick        ^                             ^                          every 4 ms: hits b once in four periods, or nobody
//! ```

use crate::child::Counts;
use crate::harness::{Interleaving, Measured, Subject, interleave};
use crate::job::{self, Role};
use crate::report::{Comparison, Metric, Report};
use crate::start_lateness::latenesses;
use crate::{BenchError, Options};
use leveret::{Horizon, Member};
use leveret_types::Nanos;
use std::fmt::Display;
use std::time::Duration;

const PERIOD: Nanos = Nanos::from_millis(5);
const APART: Nanos = Nanos::from_micros(180);
const BUDGET: Nanos = Nanos::from_micros(30);
const TASKS: [&str; 5] = ["a", "b", "c", "d", "e"];
const SECONDS_DEFAULT: f64 = 60.0;
const ROUND_MAX: Duration = Duration::from_secs(1);
const OFF: &str = "off the tick";
const ANYWHERE: &str = "as early as can be";

fn broken(error: impl Display) -> BenchError {
    BenchError::Round { subject: "leveret".to_owned(), reason: error.to_string() }
}

/// Runs both and fills the report.
pub fn run(options: &Options, report: &mut Report) -> Result<(), BenchError> {
    let total = options.duration(SECONDS_DEFAULT);
    let round = total.min(ROUND_MAX);
    let rounds = (total.as_secs_f64() / round.as_secs_f64()).ceil() as usize;
    let how = Interleaving { cores: options.cores(), rounds, extra_rounds: 0, least: 1 };
    let core = options.cores()[1];
    let subjects = vec![
        Subject::new(OFF, move || task_round(core, round, true)),
        Subject::new(ANYWHERE, move || task_round(core, round, false)),
    ];
    report.add_cases(&[interleave("starts every 5 ms", subjects, how)], &comparisons());
    let tasks = TASKS.len();
    report.notes.push(format!(
        "{tasks} tasks of one member on one core, period {PERIOD}, their starts {APART} apart. The values are the latenesses of all starts."
    ));
    Ok(())
}

fn task_round(core: usize, round: Duration, off_tick: bool) -> Result<Measured, BenchError> {
    let periods = (round.as_nanos() as i64 / PERIOD.0).max(4).unsigned_abs();
    let role = [Role::new("periodic", core, ["tick-tasks".to_owned()])];
    let horizon = Horizon::Rounds(periods);
    let record = match off_tick {
        true => job::run("tick", &role, horizon)?,
        false => job::run_anywhere("tick", &role, horizon)?,
    };
    job::completed(&record)?;
    let tasks = &record.phases.first().ok_or_else(|| broken("the record is empty"))?.tasks;
    let mut counts = Counts::default();
    let all = tasks.iter().flat_map(|task| latenesses(&task.instances));
    all.for_each(|lateness_ns| counts.record(lateness_ns));
    Ok(Measured { values: counts.values().collect(), plain_ns: None, spin_share: None })
}

/// The member: `child tick-tasks`.
pub fn member() -> Result<(), BenchError> {
    let mut member = Member::join().map_err(broken)?;
    let mut declarations = member.declare("5 ms");
    for (place, name) in TASKS.into_iter().enumerate() {
        let release = APART.saturating_mul(place as i64);
        let task = declarations.task(name).period(PERIOD).window(release, release + APART);
        task.budget(BUDGET).body(|_| ());
    }
    member.commit(declarations).map_err(broken)?.run().map_err(broken)?;
    Ok(())
}

fn comparisons() -> Vec<Comparison> {
    let ratio = |metric| Comparison {
        cases: |_| true,
        subject: OFF.to_owned(),
        reference: ANYWHERE.to_owned(),
        metric,
        at_most: None,
    };
    [Metric::P50, Metric::P99, Metric::P999, Metric::P9999].map(ratio).into()
}
