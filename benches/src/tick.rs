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
const BUDGET: Nanos = Nanos::from_micros(30);
/// How much later than its release a task may start.
const ROOM: Nanos = Nanos::from_micros(60);
const SECONDS_DEFAULT: f64 = 60.0;
const ROUND_MAX: Duration = Duration::from_secs(1);
const OFF: &str = "off the tick";
const ANYWHERE: &str = "as early as can be";

/// Tasks of one core, and how far their starts lie apart.
#[derive(Clone, Copy)]
struct Table {
    case: &'static str,
    tasks: usize,
    apart: Nanos,
}

/// The epoch alone keeps the tick away from the first ones. The starts of the others lie all round modulo the 1 ms that period and tick share, so that
/// one of them is moved within its window wherever the epoch lies.
const TABLES: [Table; 2] = [
    Table { case: "5 starts every 5 ms", tasks: 5, apart: Nanos::from_micros(180) },
    Table { case: "28 starts every 5 ms", tasks: 28, apart: Nanos(PERIOD.0 / 28) },
];

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
    let subjects = |table: Table| {
        vec![
            Subject::new(OFF, move || task_round(table, core, round, true)),
            Subject::new(ANYWHERE, move || task_round(table, core, round, false)),
        ]
    };
    let cases: Vec<_> =
        TABLES.into_iter().map(|table| interleave(table.case, subjects(table), how)).collect();
    report.add_cases(&cases, &comparisons());
    for Table { case, tasks, apart } in TABLES {
        report.notes.push(format!(
            "{case}: tasks of one member on one core, period {PERIOD}, {tasks} starts {apart} apart, each with {ROOM} of room. The values are \
             the latenesses of all starts."
        ));
    }
    Ok(())
}

fn task_round(table: Table, core: usize, round: Duration, off_tick: bool) -> Result<Measured, BenchError> {
    let periods = (round.as_nanos() as i64 / PERIOD.0).max(4).unsigned_abs();
    let role = [Role::new("periodic", core, ["tick-tasks".to_owned(), table.tasks.to_string()])];
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

/// The member: `child tick-tasks TASKS`.
pub fn member(tasks: &str) -> Result<(), BenchError> {
    let table = TABLES.into_iter().find(|table| table.tasks.to_string() == tasks);
    let Table { tasks, apart, .. } = table.ok_or_else(|| broken("there is no such table"))?;
    let mut member = Member::join().map_err(broken)?;
    let mut declarations = member.declare("5 ms");
    for place in 0..tasks {
        let release = apart.saturating_mul(place as i64);
        let task = declarations.task(&format!("t{place}")).period(PERIOD);
        task.window(release, release + BUDGET + ROOM).budget(BUDGET).body(|_| ());
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
