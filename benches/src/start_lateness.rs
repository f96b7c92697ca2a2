//! How late a 1 ms task starts: a task of ours, run and watched by the agent, beside `cyclictest` at the same priority,
//! a bare spin and a bare sleep on the same core, idle and under `stress-ng`. One at a time, never two on one core.
//!
//! What is counted, the same for all (`cyclictest.c`, `timerthread`): the lateness of a start, and after it the next
//! start that still lies ahead. Starts that pass meanwhile are no samples of their own: one stall of the machine is one
//! late start.
//!
//! ```text
//!  planned   |0        |1        |2        |3        |4
//!  reached    0              1                        4       counted: 0, 1, 4; passed: 2, 3
//! ```

use crate::child::Counts;
use crate::cyclictest::cyclictest;
use crate::harness::{Interleaving, Measured, Missing, Subject, interleave};
use crate::job::{self, Role};
use crate::report::{Comparison, Metric, Report};
use crate::{BenchError, Options};
use leveret::{Horizon, Member};
use leveret_os::clock;
use leveret_os::scheduling::{Class, apply, lock_memory, pin, prefault_stack};
use leveret_report::record::{InstanceRecord, RunRecord, TaskRecord};
use leveret_types::{IdleCores, Nanos};
use std::cell::Cell;
use std::fmt::Display;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Period of the task.
pub const PERIOD: Nanos = Nanos::from_millis(1);
const BUDGET: Nanos = Nanos::from_micros(50);
const SECONDS_DEFAULT: f64 = 60.0;
const ROUND_MAX: Duration = Duration::from_secs(2);
const STACK_BYTES: usize = 64 * 1024;

/// How a bare thread waits for the start of its period.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    /// Spins all the time.
    Spin,
    /// Sleeps to the instant.
    Sleep,
}

/// Runs both cases and fills the report.
pub fn run(options: &Options, report: &mut Report) -> Result<(), BenchError> {
    let total = options.duration(SECONDS_DEFAULT);
    let round = total.min(ROUND_MAX);
    let rounds = (total.as_secs_f64() / round.as_secs_f64()).ceil() as usize;
    let how = Interleaving { cores: options.cores(), rounds, extra_rounds: 0, least: 1 };
    let core = options.cores()[1] as u32;
    if let Err(error) = lock_memory() {
        report.notes.push(format!("Pages are not locked: {error}."));
    }
    let priority = task_of(&run_task(core, PERIODS_TO_ASK, IdleCores::Sleep)?)?.priority;
    let class = class_of(priority);
    let mut cases = Vec::new();
    for (case, stressed) in [("idle", false), ("stress-ng --cpu 2", true)] {
        let stress = match stressed.then(Stress::start).transpose() {
            Err(BenchError::Missing { subject, reason }) => {
                report.missing.push(Missing { subject: format!("everything under {subject}"), reason });
                continue;
            }
            started => started?,
        };
        let guards = Cell::new((Nanos::MAX, Nanos::ZERO));
        let (spin_class, spin_name) =
            if stressed { (class, "bare spin (FIFO)") } else { (Class::Other, "bare spin") };
        let asleep_guards = Cell::new((Nanos::MAX, Nanos::ZERO));
        let mut subjects = vec![
            Subject::new("leveret", || task_round(core, round, (&guards, IdleCores::Auto))),
            Subject::new("cyclictest", move || cyclictest(core, priority, round)),
            Subject::new(spin_name, move || waiting(core, spin_class, Waiting::Spin, round)),
            Subject::new("bare sleep", move || waiting(core, class, Waiting::Sleep, round)),
        ];
        if !stressed {
            // Under load the cores are awake anyhow.
            subjects
                .push(Subject::new(ASLEEP, || task_round(core, round, (&asleep_guards, IdleCores::Sleep))));
        }
        cases.push(interleave(case, subjects, how));
        drop(stress);
        let (least, most) = guards.get();
        report.notes.push(format!(
            "{case}: guard of ours {least} to {most}, as the agent measured it before each round."
        ));
    }
    report.add_cases(&cases, &comparisons());
    report.notes.push(format!(
        "leveret: a job of one member with one task, run and watched by the agent; its lateness and spinning are those \
         of the run's record. All at the priority that the plan gave the task (SCHED_FIFO {priority}) on one core, but \
         the idle bare spin, which runs under SCHED_OTHER: the kernel takes 50 ms of every second from a FIFO thread \
         that never sleeps. Starts that pass while a late one is awaited are no samples of their own, as in \
         cyclictest, whether our task skipped them or not. cyclictest counts whole microseconds, rounded down."
    ));
    Ok(())
}

/// Ours with `idle = "sleep"`.
const ASLEEP: &str = "leveret, cores asleep";
/// Enough to learn the priority.
const PERIODS_TO_ASK: u64 = 5;

fn class_of(priority: u8) -> Class {
    if priority == 0 { Class::Other } else { Class::Fifo { priority } }
}

fn broken(error: impl Display) -> BenchError {
    BenchError::Round { subject: "leveret".to_owned(), reason: error.to_string() }
}

/// A job of one member with one task.
fn run_task(core: u32, periods: u64, idle: IdleCores) -> Result<RunRecord, BenchError> {
    let role = Role::new("periodic", core as usize, ["start-lateness-task".to_owned()]);
    let record = job::run_on("start-lateness", &[role], Horizon::Rounds(periods), idle)?;
    job::completed(&record)?;
    Ok(record)
}

/// The member of that job: `child start-lateness-task`. Its task does nothing but start.
pub fn task_member() -> Result<(), BenchError> {
    let mut member = Member::join().map_err(broken)?;
    let mut declarations = member.declare("1 ms");
    declarations.task("periodic.task").period(PERIOD).budget(BUDGET).body(|_| ());
    member.commit(declarations).map_err(broken)?.run().map_err(broken)?;
    Ok(())
}

fn task_of(record: &RunRecord) -> Result<&TaskRecord, BenchError> {
    record
        .phases
        .first()
        .and_then(|phase| phase.tasks.first())
        .ok_or_else(|| broken("the record has no task"))
}

/// One round of ours.
fn task_round(
    core: u32,
    round: Duration,
    (guards, idle): (&Cell<(Nanos, Nanos)>, IdleCores),
) -> Result<Measured, BenchError> {
    let periods = (round.as_nanos() as i64 / PERIOD.0).max(1).unsigned_abs();
    let record = run_task(core, periods, idle)?;
    let task = task_of(&record)?;
    let recorded = task.instances.len() as u64;
    if recorded != periods || task.records_lost > 0 {
        return Err(broken(format!("{recorded} of {periods} instances left a record")));
    }
    let guard = record.phases[0].plan.costs.guard;
    let (least, most) = guards.get();
    guards.set((least.min(guard), most.max(guard)));
    let mut counts = Counts::default();
    latenesses(&task.instances).for_each(|lateness_ns| counts.record(lateness_ns));
    let in_guards = task.spin_total.0 as f64 / PERIOD.saturating_mul(periods as i64).0 as f64;
    let spin_share = if record.machine.kept_awake { 1.0 } else { in_guards };
    Ok(Measured { values: counts.values().collect(), plain_ns: None, spin_share: Some(spin_share) })
}

/// The lateness of each start that did not pass while an earlier one was awaited.
pub fn latenesses(instances: &[InstanceRecord]) -> impl Iterator<Item = u64> + '_ {
    let mut reached = None;
    instances.iter().filter_map(move |instance| {
        if reached.is_some_and(|reached| instance.planned < reached) {
            return None;
        }
        reached = Some(instance.started);
        Some((instance.started - instance.planned).0.max(0).unsigned_abs())
    })
}

/// The machine alone: lateness of a thread that spins all the time, under `SCHED_OTHER`.
pub fn bare_spin(core: u32, round: Duration) -> Result<Measured, BenchError> {
    waiting(core, Class::Other, Waiting::Spin, round)
}

/// Runs one round in a thread of its own and gives the lateness of each start.
fn waiting(core: u32, class: Class, how: Waiting, round: Duration) -> Result<Measured, BenchError> {
    let broken = |reason: String| BenchError::Round { subject: "thread".to_owned(), reason };
    let thread = std::thread::spawn(move || {
        pin(core).map_err(|error| error.to_string())?;
        apply(class).map_err(|error| error.to_string())?;
        prefault_stack(STACK_BYTES);
        Ok(wait_through(how, round))
    });
    thread.join().unwrap_or_else(|_| Err("panicked".to_owned())).map_err(broken)
}

fn wait_through(how: Waiting, round: Duration) -> Measured {
    let mut counts = Counts::default();
    let periods = (round.as_nanos() as i64 / PERIOD.0).max(1);
    let first = clock::now() + PERIOD;
    let end = first + PERIOD.saturating_mul(periods);
    let mut start = first;
    while start < end {
        let reached = match how {
            Waiting::Spin => clock::spin_until(start).reached,
            Waiting::Sleep => {
                clock::sleep_until(start);
                clock::now()
            }
        };
        counts.record((reached - start).0.max(0).unsigned_abs());
        start = start + PERIOD;
        while start < reached {
            start = start + PERIOD;
        }
    }
    let spin_share = if how == Waiting::Spin { 1.0 } else { 0.0 };
    Measured { values: counts.values().collect(), plain_ns: None, spin_share: Some(spin_share) }
}

fn comparisons() -> Vec<Comparison> {
    let ratio = |subject: &str, reference: &str, metric, at_most| Comparison {
        cases: |_| true,
        subject: subject.to_owned(),
        reference: reference.to_owned(),
        metric,
        at_most,
    };
    let over = |reference: &str, metric, at_most| ratio("leveret", reference, metric, at_most);
    let mut all = vec![
        over("cyclictest", Metric::P50, Some(0.1)),
        over("cyclictest", Metric::P99, Some(0.5)),
        over("cyclictest", Metric::P999, Some(1.0)),
    ];
    let asleep = |metric| ratio(ASLEEP, "cyclictest", metric, None);
    all.extend([Metric::P50, Metric::P99, Metric::P999].map(asleep));
    for spin in ["bare spin", "bare spin (FIFO)"] {
        all.extend([Metric::P50, Metric::P99, Metric::P999].map(|metric| over(spin, metric, None)));
    }
    all
}

/// Two busy processes, for as long as it lives.
struct Stress(Child);

impl Stress {
    fn start() -> Result<Self, BenchError> {
        let mut command = Command::new("stress-ng");
        command
            .args(["--cpu", "2", "--quiet"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let missing = |error: std::io::Error| BenchError::Missing {
            subject: "stress-ng".to_owned(),
            reason: format!("{error}; `apt-get install stress-ng`"),
        };
        Ok(Self(command.spawn().map_err(missing)?))
    }
}

impl Drop for Stress {
    /// Asked to end, stress-ng ends its workers; killed, it would leave them behind.
    fn drop(&mut self) {
        _ = Command::new("kill").args(["-INT", &self.0.id().to_string()]).status();
        _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_report::record::Outcome;

    fn instance(number: i64, started_us: i64, outcome: Outcome) -> InstanceRecord {
        let planned = PERIOD.saturating_mul(number);
        let started = Nanos::from_micros(started_us);
        InstanceRecord {
            instance: number.unsigned_abs(),
            planned,
            started,
            outcome,
            ..InstanceRecord::default()
        }
    }

    #[test]
    fn a_stall_is_one_late_start_however_many_starts_passed() {
        let instances = [
            instance(0, 0, Outcome::Ran),
            instance(1, 3_500, Outcome::SkippedCritical),
            instance(2, 3_500, Outcome::SkippedCritical),
            instance(3, 3_501, Outcome::Ran),
            instance(4, 4_002, Outcome::Ran),
        ];
        let counted: Vec<u64> = latenesses(&instances).collect();
        assert_eq!(counted, [0, 2_500_000, 2_000]);
    }
}
