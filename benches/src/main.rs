//! Benchmarks: ours, the peers and the machine alone, interleaved in one run and compared in one mode.
//!
//! `leveret-benches round-trip` and the others print ratios first, then every row, and write
//! `out/bench/NAME.json`. `docs/performance.md` holds what they printed.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a benchmark reads clocks and starts processes"
)]

mod c_abi;
mod child;
mod cyclictest;
mod events;
mod exchange;
mod harness;
mod job;
mod machine;
mod mode;
mod network_plan;
mod page;
mod peer;
mod planner;
mod report;
mod ring_c;
mod round_trip;
mod start_lateness;
mod statistics;
mod table;
mod tick;
mod time_vs_best_effort;

use clap::{Parser, ValueEnum};
use leveret_os::latency::IdleStatesHeld;
use machine::Machine;
use report::Report;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Why a benchmark, or a part of it, could not run.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A subject is not there.
    #[error("{subject}: {reason}")]
    Missing {
        /// Who.
        subject: String,
        /// Why.
        reason: String,
    },
    /// A subject broke in a round.
    #[error("{subject} broke: {reason}")]
    Round {
        /// Who.
        subject: String,
        /// What it said.
        reason: String,
    },
    /// The operating system refused.
    #[error(transparent)]
    System(#[from] std::io::Error),
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Topic {
    /// A best-effort channel between two pinned processes, there and back.
    RoundTrip,
    /// How late a 1 ms task starts, beside cyclictest, a bare spin and a bare sleep.
    StartLateness,
    /// Starts that beat with the kernel's tick: the epoch off it, beside the epoch as early as it can be.
    Tick,
    /// Latencies of time-driven and best-effort messages, after the HARE thesis, section 5.5.
    TimeVsBestEffort,
    /// From raising an event to a waiting thread or a handler, and back, beside eventfd and a condition variable.
    Events,
    /// Time and success of the planner, against brute force where it ends.
    Planner,
    /// The planner of networks beside the tsnkit collection and z3, at size, and against planted conflicts.
    NetworkPlan,
    /// What the calls of mpirt.h cost over those in Rust, and beside MPI's persistent start and wait.
    CAbi,
    /// The ring through C beside the ring through Rust.
    RingC,
}

/// How long, where, and with what.
#[derive(Clone, Debug, Parser)]
#[command(name = "leveret-benches", about = "Measures ours, the peers and the machine alone, side by side.")]
pub struct Options {
    /// What to measure; everything when not given.
    topic: Option<Topic>,
    /// Measured seconds for each subject of each case; every benchmark has its own default.
    #[arg(long)]
    seconds: Option<f64>,
    /// Tiny inputs: shows that everything runs, measures nothing of worth.
    #[arg(long)]
    smoke: bool,
    /// Names the benchmarks and stops.
    #[arg(long)]
    list: bool,
    /// The two processors to use.
    #[arg(long, num_args = 2, default_values_t = [0, 1])]
    cores: Vec<usize>,
    /// Of the benchmark network-plan, only these parts; all when not given.
    #[arg(long = "part", value_name = "PART")]
    parts: Vec<network_plan::Part>,
    /// Of the benchmark round-trip, only cases whose name begins so, such as `copy-wake` or `untouched 8 B`.
    #[arg(long = "case", value_name = "BEGIN")]
    cases: Vec<String>,
    /// Where NAME.json and NAME.md go; `out/bench` when not given, and with --smoke `out/bench/smoke`.
    #[arg(long)]
    output: Option<PathBuf>,
    /// Puts the tables of the output folder into this page, between its marks, and stops.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

impl Options {
    /// Measured time per subject and case.
    pub fn duration(&self, default_seconds: f64) -> Duration {
        let default = if self.smoke { 0.01 } else { default_seconds };
        Duration::try_from_secs_f64(self.seconds.unwrap_or(default)).unwrap_or_default()
    }

    /// Whether a case is to be measured.
    pub fn selects(&self, case: &str) -> bool {
        self.cases.is_empty() || self.cases.iter().any(|begin| case.starts_with(begin))
    }

    /// Where results go. Those of a smoke run never take the place of measured ones.
    fn output(&self) -> &Path {
        let default = if self.smoke { "out/bench/smoke" } else { "out/bench" };
        self.output.as_deref().unwrap_or(Path::new(default))
    }

    /// Whether only the working is shown.
    pub fn smoke(&self) -> bool {
        self.smoke
    }

    /// The two processors.
    pub fn cores(&self) -> [usize; 2] {
        [self.cores.first().copied().unwrap_or(0), self.cores.get(1).copied().unwrap_or(1)]
    }
}

impl Topic {
    fn name(self) -> &'static str {
        match self {
            Self::RoundTrip => "round-trip",
            Self::StartLateness => "start-lateness",
            Self::Tick => "tick",
            Self::TimeVsBestEffort => "time-vs-best-effort",
            Self::Events => "events",
            Self::Planner => "planner",
            Self::NetworkPlan => "network-plan",
            Self::CAbi => "c-abi",
            Self::RingC => "ring-c",
        }
    }

    fn run(self, options: &Options, report: &mut Report) -> Result<(), BenchError> {
        match self {
            Self::RoundTrip => round_trip::run(options, report),
            Self::StartLateness => start_lateness::run(options, report),
            Self::Tick => tick::run(options, report),
            Self::TimeVsBestEffort => time_vs_best_effort::run(options, report),
            Self::Events => events::run(options, report),
            Self::Planner => planner::run(options, report),
            Self::NetworkPlan => network_plan::run(options, report),
            Self::CAbi => c_abi::run(options, report),
            Self::RingC => ring_c::run(options, report),
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let outcome = match arguments.get(1).map(String::as_str) {
        Some("child") => run_child(&arguments[2..]),
        _ => run(&Options::parse(), &arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The process is one of a benchmark's own children.
fn run_child(arguments: &[String]) -> Result<(), BenchError> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["round-trip", ping, pong] => round_trip::ours::agent([*ping, *pong]),
        ["round-trip-ping", core] => round_trip::ours::ping(core),
        ["round-trip-pong", core] => round_trip::ours::pong(core),
        ["c-abi", language, ping, pong] => c_abi::agent([*language, *ping, *pong]),
        ["c-abi-member", core] => c_abi::member::member(core),
        ["start-lateness-task"] => start_lateness::task_member(),
        ["tick-tasks", tasks] => tick::member(tasks),
        ["events", place, receiver, ping, pong] => events::ours::agent([*place, *receiver, *ping, *pong]),
        ["events-ping", place, receiver, core, other] => {
            events::ours::ping([*place, *receiver, *core, *other])
        }
        ["events-pong", place, receiver, core, other] => {
            events::ours::pong([*place, *receiver, *core, *other])
        }
        ["events-priorities", raiser, server] => events::priorities::agent([*raiser, *server]),
        ["events-priorities-member", core] => events::priorities::member(core),
        ["network-scale", streams] => network_plan::scale::child(streams),
        ["exchange", sender, receiver] => exchange::agent([*sender, *receiver]),
        ["exchange-sender", kind, size, periods] => exchange::sender([*kind, *size, *periods]),
        ["exchange-receiver", kind, size, periods] => exchange::receiver([*kind, *size, *periods]),
        other => {
            let reason = format!("no child is called {other:?}");
            Err(BenchError::Missing { subject: "child".to_owned(), reason })
        }
    }
}

fn run(options: &Options, arguments: &[String]) -> Result<(), BenchError> {
    if options.list {
        Topic::value_variants().iter().for_each(|topic| println!("{}", topic.name()));
        return Ok(());
    }
    if let Some(page) = &options.page {
        return page::refresh(page, options.output());
    }
    // cyclictest holds idle states off by default; all subjects get the same.
    let held = IdleStatesHeld::hold().inspect_err(|error| eprintln!("warning: {error}")).ok();
    let topics = options.topic.map_or(Topic::value_variants().to_vec(), |topic| vec![topic]);
    for topic in topics {
        let machine = Machine::observe(options.cores(), held.is_some());
        let mut command = vec!["leveret-benches".to_owned()];
        command.extend(arguments.iter().skip(1).cloned());
        let mut report = Report::new(topic.name(), &command.join(" "), machine);
        topic.run(options, &mut report)?;
        report.publish(options.output())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smoke_run_does_not_overwrite_what_was_measured() {
        let output = |arguments: &[&str]| Options::parse_from(arguments).output().to_owned();
        assert_eq!(output(&["leveret-benches"]), Path::new("out/bench"));
        assert_eq!(output(&["leveret-benches", "--smoke"]), Path::new("out/bench/smoke"));
        assert_eq!(output(&["leveret-benches", "--smoke", "--output", "here"]), Path::new("here"));
    }
}
