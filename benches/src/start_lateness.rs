//! How late a 1 ms task starts: ours (sleep, then spin) beside `cyclictest` at the same priority, a bare spin and a
//! bare sleep on the same core, idle and under `stress-ng`. One at a time, never two on one core.

use crate::child::Counts;
use crate::cyclictest::cyclictest;
use crate::harness::{Interleaving, Measured, Subject, interleave};
use crate::report::{Comparison, Metric, Report};
use crate::{BenchError, Options};
use leveret_os::clock;
use leveret_os::scheduling::{Class, apply, lock_memory, pin, prefault_stack};
use leveret_types::Nanos;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Period of the task.
pub const PERIOD: Nanos = Nanos::from_millis(1);
/// `SCHED_FIFO` priority of ours and of `cyclictest`.
pub const PRIORITY: u8 = 80;
const SECONDS_DEFAULT: f64 = 60.0;
const ROUND_MAX: Duration = Duration::from_secs(2);
/// The guard is measured; it stays within these bounds.
const GUARD_LEAST: Nanos = Nanos::from_micros(20);
const GUARD_MOST: Nanos = Nanos::from_micros(100);
const STACK_BYTES: usize = 64 * 1024;

/// How a thread waits for the start of its period.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    /// Ours: sleep to shortly before it, spin to the instant.
    SleepThenSpin {
        /// How long before.
        guard: Nanos,
    },
    /// The machine alone: spin all the time.
    Spin,
    /// The machine alone: sleep to the instant.
    Sleep,
}

/// Runs both cases and fills the report.
pub fn run(options: &Options, report: &mut Report) -> Result<(), BenchError> {
    let total = options.duration(SECONDS_DEFAULT);
    let round = total.min(ROUND_MAX);
    let rounds = (total.as_secs_f64() / round.as_secs_f64()).ceil() as usize;
    let how = Interleaving { cores: options.cores(), rounds, extra_rounds: 0 };
    let core = options.cores()[1] as u32;
    if let Err(error) = lock_memory() {
        report.notes.push(format!("Pages are not locked: {error}."));
    }
    let mut cases = Vec::new();
    for (case, stressed) in [("idle", false), ("stress-ng --cpu 2", true)] {
        let stress = if stressed { Some(Stress::start()?) } else { None };
        let guard = measure_guard(core, round)?;
        report.notes.push(format!("{case}: guard of ours {guard}, measured as p99.9 of a bare sleep."));
        let (spin_class, spin_name) =
            if stressed { (fifo(), "bare spin (FIFO)") } else { (Class::Other, "bare spin") };
        let subjects = vec![
            Subject::new("leveret", move || waiting(core, fifo(), Waiting::SleepThenSpin { guard }, round)),
            Subject::new("cyclictest", move || cyclictest(core, round)),
            Subject::new(spin_name, move || waiting(core, spin_class, Waiting::Spin, round)),
            Subject::new("bare sleep", move || waiting(core, fifo(), Waiting::Sleep, round)),
        ];
        cases.push(interleave(case, subjects, how));
        drop(stress);
    }
    report.add_cases(&cases, &comparisons());
    report.notes.push(
        "All at SCHED_FIFO priority 80 on one core, but the idle bare spin, which runs under SCHED_OTHER: the kernel \
         takes 50 ms of every second from a FIFO thread that never sleeps. cyclictest counts whole microseconds, \
         rounded down."
            .to_owned(),
    );
    Ok(())
}

fn fifo() -> Class {
    Class::Fifo { priority: PRIORITY }
}

/// p99.9 of a bare sleep's lateness, within bounds.
pub fn measure_guard(core: u32, round: Duration) -> Result<Nanos, BenchError> {
    let measured = waiting(core, fifo(), Waiting::Sleep, round)?;
    let lateness = crate::statistics::Distribution::merge([measured.values.as_slice()]);
    let p999 = lateness.map_or(GUARD_MOST, |all| Nanos(all.p999_ns as i64));
    Ok(p999.clamp(GUARD_LEAST, GUARD_MOST))
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
    let mut spun = Nanos::ZERO;
    let mut start = clock::now() + PERIOD;
    let epoch = start;
    for _ in 0..periods {
        let reached = match how {
            Waiting::SleepThenSpin { guard } => {
                clock::sleep_until(start - guard);
                let woken = clock::now();
                let reached = clock::spin_until(start).reached;
                spun = spun + (reached - woken);
                reached
            }
            Waiting::Spin => clock::spin_until(start).reached,
            Waiting::Sleep => {
                clock::sleep_until(start);
                clock::now()
            }
        };
        counts.record((reached - start).0.max(0).unsigned_abs());
        // A start that has passed is skipped, as cyclictest does: one stall of the machine is one late start.
        start = start + PERIOD;
        while start <= reached {
            start = start + PERIOD;
        }
    }
    let total = (start - epoch).0 as f64;
    let spin_share = match how {
        Waiting::SleepThenSpin { .. } => Some(spun.0 as f64 / total),
        Waiting::Spin => Some(1.0),
        Waiting::Sleep => Some(0.0),
    };
    Measured { values: counts.values().collect(), plain_ns: None, spin_share }
}

fn comparisons() -> Vec<Comparison> {
    let over = |reference: &str, metric, at_most| Comparison {
        cases: |_| true,
        subject: "leveret".to_owned(),
        reference: reference.to_owned(),
        metric,
        at_most,
    };
    let mut all = vec![
        over("cyclictest", Metric::P50, Some(0.1)),
        over("cyclictest", Metric::P99, Some(0.5)),
        over("cyclictest", Metric::P999, Some(1.0)),
    ];
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
