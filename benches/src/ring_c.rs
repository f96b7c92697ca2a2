//! The ring of the HARE thesis (section 5.3) through `mpirt.h` beside the same ring over the objects in Rust: how late its tasks
//! start, and how long its messages are on their way. The programs are the examples, run by the agent, in turn.

use crate::child::Counts;
use crate::harness::{Interleaving, Measured, Missing, Subject, interleave};
use crate::job::{self, Role};
use crate::peer::compile_mpirt;
use crate::report::{Comparison, Metric, Report};
use crate::{BenchError, Options};
use leveret::Horizon;
use leveret_report::record::{Phase, RunRecord};
use leveret_types::Nanos;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Of the examples.
const PERIOD: Nanos = Nanos::from_millis(5);
/// Runs of each, in turn.
const PAIRS: usize = 5;
const SECONDS_DEFAULT: f64 = 25.0;
/// What a run measures at least.
const PERIODS_LEAST: u64 = 20;
/// C over Rust: equal, but for the noise of two medians, and of two tails.
const MEDIAN_RATIO: f64 = 1.1;
const TAIL_RATIO: f64 = 1.25;

/// What is taken from a record.
type Values = fn(&Phase, &mut Counts);

/// Runs both cases and fills the report.
pub fn run(options: &Options, report: &mut Report) -> Result<(), BenchError> {
    let pairs = if options.smoke() { 1 } else { PAIRS };
    let round = options.duration(SECONDS_DEFAULT) / pairs as u32;
    let cores = options.cores();
    // A pair counts that ran in one mode of the machine: as many as are wanted, or thrice as many are tried.
    let extra_rounds = if options.smoke() { 0 } else { 2 * pairs };
    let how = Interleaving { cores, rounds: pairs, extra_rounds, least: pairs };
    let candidates = [("C", compile_mpirt("cc", "examples/ring/ring.c")), ("Rust", in_rust())];
    let mut programs = Vec::new();
    for (name, candidate) in candidates {
        match candidate {
            Ok(program) => programs.push((name, program)),
            Err(error) => {
                report.missing.push(Missing { subject: name.to_owned(), reason: error.to_string() })
            }
        }
    }
    let mut cases = Vec::new();
    for (case, values) in [("start lateness", lateness as Values), ("latency", latency as Values)] {
        let subjects = programs.iter().map(|(name, program)| {
            Subject::new(name, move || measured(&run_ring(program, cores, round)?, values))
        });
        cases.push(interleave(case, subjects.collect(), how));
    }
    report.add_cases(&cases, &comparisons());
    report.notes.push(format!(
        "The examples ring.c and objects.rs, three members on two cores, period {PERIOD}. start lateness: of every instance of the \
         three tasks. latency: from a message's insertion to when its receiver takes it, by the plan about 0.1 ms; the \
         last one of C's member waits for the next period. In turn, until {pairs} runs of each count in one mode, or thrice as many have run."
    ));
    Ok(())
}

/// The example in Rust, as cargo leaves it beside this program.
fn in_rust() -> Result<PathBuf, BenchError> {
    let program = std::env::current_exe()?;
    let example = program.parent().unwrap_or(Path::new(".")).join("examples/ring-objects");
    if example.is_file() {
        return Ok(example);
    }
    let reason = format!(
        "{} is not built; cargo build --profile dist -p leveret --example ring-objects",
        example.display()
    );
    Err(BenchError::Missing { subject: "ring-objects".to_owned(), reason })
}

fn run_ring(program: &Path, cores: [usize; 2], round: Duration) -> Result<RunRecord, BenchError> {
    let periods = (round.as_nanos() as i64 / PERIOD.0).unsigned_abs().max(PERIODS_LEAST);
    let roles = [("A", cores[0]), ("B", cores[1]), ("C", cores[0])]
        .map(|(name, core)| Role::of_program(name, core, program.to_owned(), []).telling_errors_only());
    let record = job::run("ring", &roles, Horizon::Rounds(periods))?;
    job::completed(&record)?;
    Ok(record)
}

fn measured(record: &RunRecord, values: Values) -> Result<Measured, BenchError> {
    let mut counts = Counts::default();
    record.phases.iter().for_each(|phase| values(phase, &mut counts));
    let values: Vec<(u64, u64)> = counts.values().collect();
    if values.is_empty() {
        let reason = "the record has nothing of it".to_owned();
        return Err(BenchError::Round { subject: "ring".to_owned(), reason });
    }
    Ok(Measured::of(values))
}

fn lateness(phase: &Phase, counts: &mut Counts) {
    for instance in phase.tasks.iter().flat_map(|task| &task.instances) {
        counts.record((instance.started - instance.planned).0.max(0).unsigned_abs());
    }
}

fn latency(phase: &Phase, counts: &mut Counts) {
    for message in phase.channels.iter().flat_map(|channel| &channel.messages) {
        if let (Some(inserted), Some(taken)) = (message.inserted, message.taken) {
            counts.record((taken - inserted).0.max(0).unsigned_abs());
        }
    }
}

fn comparisons() -> Vec<Comparison> {
    let of = |metric, at_most| Comparison {
        cases: |_| true,
        subject: "C".to_owned(),
        reference: "Rust".to_owned(),
        metric,
        at_most: Some(at_most),
    };
    vec![of(Metric::P50, MEDIAN_RATIO), of(Metric::P99, TAIL_RATIO)]
}
