//! Time-driven against best effort, after the HARE thesis, section 5.5 and Table 5.3.
//!
//! ```text
//!  period k        sender, at its start                    receiver, at its deadline
//!  time-driven     inserts 2 messages                      takes these 2: visible by the clock
//!  best effort     draws 0..4 messages, sends at most 2,   takes what is there, at most 2
//!                  the rest waits for the next period
//! ```
//!
//! Both sides are jobs of a sending and a receiving member, run and watched by the agent ([`crate::exchange`]). Latency
//! counts from just before the insertion to just after the extraction, in the tasks' bodies, as in the thesis; of a
//! best-effort message from when it was drawn. Both senders send two messages a period in the long run; what differs is
//! who knows about it beforehand.

use crate::child::Counts;
use crate::exchange::{DEADLINE, DRAWN_MOST, ENDED, LATENCIES, PERIOD, SERVED, Traffic};
use crate::harness::{Interleaving, Measured, Subject, interleave};
use crate::peer::{Peer, SharedPeer};
use crate::report::{Comparison, Metric, Report};
use crate::start_lateness::bare_spin;
use crate::table::{Table, nanoseconds};
use crate::{BenchError, Options};
use std::cell::RefCell;
use std::fmt::Display;
use std::process::Command;
use std::time::Duration;

const SECONDS_DEFAULT: f64 = 30.0;
const ROUND_MAX: Duration = Duration::from_secs(2);
const SIZES: [(usize, &str); 2] = [(8, "8 B"), (1024, "1 KiB")];
const JITTER_NS_MAX: u64 = 10_000;
/// As many latencies as Table 5.3 shows.
const SHOWN: usize = 10;

/// What a subject leaves beside its histogram.
#[derive(Default)]
struct Trail {
    first: Vec<u64>,
    jitter: Vec<(u64, u64)>,
    /// Latencies by the number of whole periods in them; the last holds all above.
    by_periods: [u64; 5],
    missing: u64,
}

/// Runs both sizes and fills the report.
pub fn run(options: &Options, report: &mut Report) -> Result<(), BenchError> {
    let total = options.duration(SECONDS_DEFAULT);
    let round = total.min(ROUND_MAX);
    let rounds = (total.as_secs_f64() / round.as_secs_f64()).ceil() as usize;
    let how = Interleaving { cores: options.cores(), rounds, extra_rounds: 0, least: 1 };
    let cores = options.cores();
    let job = job(cores)?;
    let mut cases = Vec::new();
    let mut shown = Table::new(&["message", "size", "best effort", "time-driven"]);
    let mut jumps = Table::new(&["size", "subject", "same period", "+1", "+2", "+3", "more", "missing"]);
    for (size, name) in SIZES {
        let trails = [RefCell::new(Trail::default()), RefCell::new(Trail::default())];
        let seeds = RefCell::new(0);
        let next = || {
            *seeds.borrow_mut() += 1;
            Traffic::BestEffort { seed: *seeds.borrow() }
        };
        let subjects = vec![
            Subject::new("time-driven", || exchange(&job, Traffic::TimeDriven, (size, round), &trails[0])),
            Subject::new("time-driven jitter", || jitter_of(&trails[0])),
            Subject::new("best effort", || exchange(&job, next(), (size, round), &trails[1])),
            Subject::new("best effort jitter", || jitter_of(&trails[1])),
            Subject::new("bare spin", || bare_spin(cores[1] as u32, round)),
        ];
        cases.push(interleave(name, subjects, how));
        let [time_driven, best_effort] = trails.map(RefCell::into_inner);
        for (place, (best, time)) in best_effort.first.iter().zip(&time_driven.first).enumerate() {
            shown.push([(place + 1).to_string(), name.to_owned(), nanoseconds(*best), nanoseconds(*time)]);
        }
        for (subject, trail) in [("best effort", &best_effort), ("time-driven", &time_driven)] {
            let all = trail.by_periods.iter().sum::<u64>().max(1);
            let share = |count: &u64| format!("{:.2} %", *count as f64 * 100.0 / all as f64);
            let mut cells = vec![name.to_owned(), subject.to_owned()];
            cells.extend(trail.by_periods.iter().map(share));
            cells.push(trail.missing.to_string());
            jumps.push(cells);
        }
    }
    report.add_cases(&cases, &comparisons());
    verdicts(report);
    report.add_table(jumps);
    report.add_table(shown);
    report.notes.push(format!(
        "Period {PERIOD}, deadline {DEADLINE} after its start. Time-driven: 2 messages a period. Best \
         effort: 0 to {DRAWN_MOST} drawn, at most {SERVED} sent, the rest queues. Jitter: distance from the round's \
         median latency; a time-driven message that was not there counts as one of {PERIOD}. The last two tables: whole periods in the latency, and the first ten latencies, as in Table \
         5.3 of the HARE thesis (there: 423 us to 15.4 ms against 255 to 265 us at 8 bytes and a period of 5 ms)."
    ));
    Ok(())
}

/// The jitter's target: 10 us at p99, or the machine's own lateness if that is larger.
fn verdicts(report: &mut Report) {
    for row in report.rows.iter().filter(|row| row.subject == "time-driven jitter") {
        let same = |other: &&crate::harness::Row| {
            other.case == row.case && other.subject == "bare spin" && other.mode_probe_ns == row.mode_probe_ns
        };
        let machine_ns = report.rows.iter().find(same).map_or(0, |spin| spin.distribution.p99_ns);
        let limit_ns = machine_ns.max(JITTER_NS_MAX);
        report.notes.push(format!(
            "{}: time-driven jitter p99 {} against {} (the larger of {} and the bare spin's p99 of {}): {}.",
            row.case,
            nanoseconds(row.distribution.p99_ns),
            nanoseconds(limit_ns),
            nanoseconds(JITTER_NS_MAX),
            nanoseconds(machine_ns),
            if row.distribution.p99_ns <= limit_ns { "holds" } else { "DOES NOT HOLD" },
        ));
    }
}

fn comparisons() -> Vec<Comparison> {
    let over = |subject: &str, reference: &str, metric| Comparison {
        cases: |_| true,
        subject: subject.to_owned(),
        reference: reference.to_owned(),
        metric,
        at_most: None,
    };
    let mut all = Vec::new();
    for metric in [Metric::P50, Metric::P99] {
        all.push(over("time-driven", "best effort", metric));
        all.push(over("time-driven jitter", "best effort jitter", metric));
        all.push(over("time-driven jitter", "bare spin", metric));
    }
    all
}

fn broken(error: impl Display) -> BenchError {
    BenchError::Round { subject: "leveret".to_owned(), reason: error.to_string() }
}

/// The jitter that the round before has left.
fn jitter_of(trail: &RefCell<Trail>) -> Result<Measured, BenchError> {
    let values = std::mem::take(&mut trail.borrow_mut().jitter);
    if values.is_empty() { Err(broken("the round before gave nothing")) } else { Ok(Measured::of(values)) }
}

/// The child in which the jobs run.
fn job(cores: [usize; 2]) -> Result<SharedPeer, BenchError> {
    let mut command = Command::new(std::env::current_exe()?);
    Peer::start("leveret", command.args(["child", "exchange"]).args(cores.map(|core| core.to_string())))
}

/// One round: a job of its own.
fn exchange(
    job: &SharedPeer,
    traffic: Traffic,
    (size, round): (usize, Duration),
    trail: &RefCell<Trail>,
) -> Result<Measured, BenchError> {
    let mut job = job.borrow_mut();
    job.order(&traffic.kind(), size, round)?;
    let mut given: Option<(Vec<u64>, u64)> = None;
    loop {
        let line = job.answer(round)?;
        if line == ENDED {
            let (latencies, missing) = given.ok_or_else(|| broken("the receiver gave nothing"))?;
            return Ok(trail.borrow_mut().follow(&latencies, missing));
        }
        given = Some(read_latencies(&line).ok_or_else(|| broken(line))?);
    }
}

/// Latencies in the order of the messages, and how many time-driven messages were not there.
fn read_latencies(line: &str) -> Option<(Vec<u64>, u64)> {
    let mut numbers = line.strip_prefix(LATENCIES)?.split_whitespace().map(str::parse);
    let missing = numbers.next()?.ok()?;
    let latencies: Vec<u64> = numbers.collect::<Result<_, _>>().ok()?;
    (!latencies.is_empty()).then_some((latencies, missing))
}

impl Trail {
    fn follow(&mut self, latencies: &[u64], missing: u64) -> Measured {
        let mut sorted = latencies.to_vec();
        sorted.sort_unstable();
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0);
        let (mut counts, mut jitter) = (Counts::default(), Counts::default());
        for latency in latencies {
            counts.record(*latency);
            jitter.record(latency.abs_diff(median));
            let periods = (latency / PERIOD.0.unsigned_abs()) as usize;
            self.by_periods[periods.min(4)] += 1;
        }
        // A message that was not there is late by a period at least.
        (0..missing).for_each(|_| jitter.record(PERIOD.0.unsigned_abs()));
        self.jitter = jitter.values().collect();
        self.missing += missing;
        if self.first.is_empty() {
            self.first = latencies.iter().take(SHOWN).copied().collect();
        }
        Measured::of(counts.values().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_sorted_by_whole_periods() {
        let mut trail = Trail::default();
        let latencies = [200_000, 1_200_000, 201_000, 9_000_000];
        let measured = trail.follow(&latencies, 1);
        assert_eq!(trail.by_periods, [2, 1, 0, 0, 1]);
        assert_eq!((trail.first.len(), trail.missing), (4, 1));
        assert_eq!(measured.values.iter().map(|(_, count)| count).sum::<u64>(), 4);
        // The median is 1.2 ms: three jitters of 1 ms or more, none of 0 but its own, and the missing one.
        let at_least = |nanos: u64| {
            trail.jitter.iter().filter(|(value, _)| *value >= nanos).map(|(_, count)| count).sum::<u64>()
        };
        assert_eq!((at_least(0), at_least(990_000)), (5, 4));
    }

    #[test]
    fn a_line_of_latencies_is_read() {
        assert_eq!(read_latencies("latencies 2 200 1200"), Some((vec![200, 1200], 2)));
        for line in ["latencies 2", "latencies", "error no rights", "latencies x 200"] {
            assert_eq!(read_latencies(line), None, "{line}");
        }
    }
}
