//! Time-driven against best effort, after the HARE thesis, section 5.5 and Table 5.3.
//!
//! ```text
//!  period k        sender, at its start                    receiver, at its deadline
//!  time-driven     inserts 2 messages                      takes these 2: visible by the clock
//!  best effort     draws 0..4 messages, sends at most 2,   takes what is there, at most 2
//!                  the rest waits for the next period
//! ```
//!
//! Latency counts from just before the insertion to just after the extraction, as in the thesis. Both senders send
//! two messages a period in the long run; what differs is who knows about it beforehand.

use crate::child::{Counts, fill, first_word};
use crate::harness::{Interleaving, Measured, Subject, interleave};
use crate::planner::Random;
use crate::report::{Comparison, Metric, Report};
use crate::start_lateness::{PRIORITY, bare_spin, measure_guard};
use crate::table::{Table, nanoseconds};
use crate::{BenchError, Options};
use leveret_memory::{
    HeapRegion, OwnSegment, PeerSegment, Receiver, Region, SegmentLayout, SegmentSpec, Sender, SourceSpec,
    Taken, TargetSpec,
};
use leveret_os::clock;
use leveret_os::scheduling::{Class, apply, pin, prefault_stack};
use leveret_types::{ChannelId, Generation, MemberId, Nanos};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

const SECONDS_DEFAULT: f64 = 30.0;
const ROUND_MAX: Duration = Duration::from_secs(2);
const SIZES: [(usize, &str); 2] = [(8, "8 B"), (1024, "1 KiB")];
const PERIOD: Nanos = Nanos::from_millis(1);
/// From the start of the period: when the messages of the period have arrived by definition.
const DEADLINE: Nanos = Nanos::from_micros(200);
/// Served in a period, and drawn in the mean.
const SERVED: u64 = 2;
const DRAWN_MOST: u64 = 4;
const JITTER_NS_MAX: u64 = 10_000;
const CHANNEL: ChannelId = ChannelId(0);
const GENERATION: Generation = Generation(1);
const BUFFERS: u32 = 64;
const STACK_BYTES: usize = 64 * 1024;
/// As many latencies as Table 5.3 shows.
const SHOWN: usize = 10;

/// Who decides how many messages there are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Traffic {
    TimeDriven,
    BestEffort { seed: u64 },
}

/// What a round is run with.
#[derive(Clone, Copy)]
struct Setting {
    cores: [usize; 2],
    size: usize,
    periods: u64,
    guard: Nanos,
}

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
    let how = Interleaving { cores: options.cores(), rounds, extra_rounds: 0 };
    let cores = options.cores();
    let guard = measure_guard(cores[1] as u32, round)?;
    let periods = (round.as_nanos() as u64 / PERIOD.0.unsigned_abs()).max(5);
    let mut cases = Vec::new();
    let mut shown = Table::new(&["message", "size", "best effort", "time-driven"]);
    let mut jumps = Table::new(&["size", "subject", "same period", "+1", "+2", "+3", "more", "missing"]);
    for (size, name) in SIZES {
        let setting = Setting { cores, size, periods, guard };
        let trails = [RefCell::new(Trail::default()), RefCell::new(Trail::default())];
        let seeds = RefCell::new(0);
        let next = || {
            *seeds.borrow_mut() += 1;
            Traffic::BestEffort { seed: *seeds.borrow() }
        };
        let subjects = vec![
            Subject::new("time-driven", || exchange(setting, Traffic::TimeDriven, &trails[0])),
            Subject::new("time-driven jitter", || jitter_of(&trails[0])),
            Subject::new("best effort", || exchange(setting, next(), &trails[1])),
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
        "Period {PERIOD}, deadline {DEADLINE} after its start, guard {guard}. Time-driven: 2 messages a period. Best \
         effort: 0 to {DRAWN_MOST} drawn, at most {SERVED} sent, the rest queues. Jitter: distance from the round's \
         median latency. The last two tables: whole periods in the latency, and the first ten latencies, as in Table \
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

/// One round: a sender and a receiver thread, each on its core.
fn exchange(setting: Setting, traffic: Traffic, trail: &RefCell<Trail>) -> Result<Measured, BenchError> {
    let (mut sender, mut receiver) = join(setting.size)?;
    let epoch = clock::now() + Nanos::from_millis(20);
    let sending = std::thread::spawn(move || {
        prepare(setting.cores[0])?;
        send_all(&mut sender, setting, traffic, epoch)
    });
    let receiving = std::thread::spawn(move || {
        prepare(setting.cores[1])?;
        receive_all(&mut receiver, setting, traffic, epoch)
    });
    let panicked = |_| broken("a thread panicked");
    let received = receiving.join().map_err(panicked)?;
    sending.join().map_err(panicked)??;
    let (latencies, missing) = received?;
    Ok(trail.borrow_mut().follow(&latencies, missing))
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
        self.jitter = jitter.values().collect();
        self.missing += missing;
        if self.first.is_empty() {
            self.first = latencies.iter().take(SHOWN).copied().collect();
        }
        Measured::of(counts.values().collect())
    }
}

fn prepare(core: usize) -> Result<(), BenchError> {
    pin(core as u32).map_err(broken)?;
    apply(Class::Fifo { priority: PRIORITY }).map_err(broken)?;
    prefault_stack(STACK_BYTES);
    Ok(())
}

/// A segment each, in one process, and the two ends of the channel.
fn join(size: usize) -> Result<(Sender, Receiver), BenchError> {
    let spec = |member, sources, targets| SegmentSpec {
        member,
        generation: GENERATION,
        sources,
        targets,
        tasks: Vec::new(),
        message_records: 1,
    };
    let source = SourceSpec { channel: CHANNEL, size: size as u32, buffers: BUFFERS, waits: false };
    let target = TargetSpec { channel: CHANNEL, waits: false };
    let layouts = [spec(MemberId(0), vec![source], vec![]), spec(MemberId(1), vec![], vec![target])];
    let layouts =
        [SegmentLayout::new(&layouts[0]).map_err(broken)?, SegmentLayout::new(&layouts[1]).map_err(broken)?];
    let regions: [Arc<dyn Region>; 2] =
        [0, 1].map(|end| -> Arc<dyn Region> { Arc::new(HeapRegion::new(layouts[end].size())) });
    let mut own = Vec::new();
    let mut peers = Vec::new();
    for end in 0..2 {
        own.push(OwnSegment::create(Arc::clone(&regions[end]), &layouts[end]).map_err(broken)?);
        let member = layouts[end].member();
        peers.push(
            PeerSegment::attach(Arc::clone(&regions[end]), &layouts[end], member, GENERATION)
                .map_err(broken)?,
        );
    }
    let ends = own[0].take_source(CHANNEL).zip(peers[1].target(CHANNEL));
    let backs = own[1].take_target(CHANNEL).zip(peers[0].source(CHANNEL));
    let ((source, peer_target), (target, peer_source)) =
        ends.zip(backs).ok_or_else(|| broken("the channel lacks an end"))?;
    Ok((Sender::new(source, peer_target), Receiver::new(target, peer_source)))
}

/// Sleeps to shortly before the instant and spins to it.
fn await_instant(instant: Nanos, guard: Nanos) {
    clock::sleep_until(instant - guard);
    clock::spin_until(instant);
}

fn send_all(sender: &mut Sender, setting: Setting, traffic: Traffic, epoch: Nanos) -> Result<(), BenchError> {
    let mut random = Random::new(match traffic {
        Traffic::BestEffort { seed } => seed,
        Traffic::TimeDriven => 0,
    });
    let mut queue: VecDeque<Nanos> = VecDeque::with_capacity((setting.periods * DRAWN_MOST) as usize);
    let mut number = 0;
    for period in 0..setting.periods {
        await_instant(epoch + PERIOD.saturating_mul(period as i64), setting.guard);
        let drawn = match traffic {
            Traffic::TimeDriven => SERVED,
            Traffic::BestEffort { .. } => random.below(DRAWN_MOST + 1),
        };
        if traffic != Traffic::TimeDriven {
            (0..drawn).for_each(|_| queue.push_back(clock::now()));
        }
        for _ in 0..SERVED {
            let inserted = match traffic {
                Traffic::TimeDriven => clock::now(),
                Traffic::BestEffort { .. } => match queue.pop_front() {
                    Some(inserted) => inserted,
                    None => break,
                },
            };
            let mut slot = sender.reserve(number).map_err(broken)?;
            fill(slot.bytes_mut(), number);
            slot.publish(setting.size as u32, inserted);
            number += 1;
        }
    }
    Ok(())
}

/// Latencies in the order of the messages, and how many time-driven messages were not there.
fn receive_all(
    receiver: &mut Receiver,
    setting: Setting,
    traffic: Traffic,
    epoch: Nanos,
) -> Result<(Vec<u64>, u64), BenchError> {
    let mut private = vec![0_u8; setting.size];
    let mut latencies = Vec::with_capacity((setting.periods * SERVED) as usize);
    let (mut number, mut missing) = (0, 0);
    for period in 0..setting.periods {
        await_instant(epoch + PERIOD.saturating_mul(period as i64) + DEADLINE, setting.guard);
        for _ in 0..SERVED {
            match receiver.take(number) {
                Taken::Message(message) => {
                    message.copy_to(&mut private).map_err(broken)?;
                    let latency = clock::now() - message.stamp();
                    message.release();
                    if first_word(&private) != number {
                        return Err(broken(format!("message {number} carries {}", first_word(&private))));
                    }
                    latencies.push(latency.0.max(0).unsigned_abs());
                }
                Taken::NotYet if traffic != Traffic::TimeDriven => break,
                // The instance is not performed; the next one is unaffected.
                Taken::NotYet => {
                    missing += 1;
                    receiver.release_through(number);
                }
                Taken::Stale => return Err(broken(format!("message {number} is gone"))),
                Taken::Invalid(reason) => return Err(broken(reason)),
            }
            number += 1;
        }
    }
    Ok((latencies, missing))
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
    }

    #[test]
    fn messages_pass_in_order() {
        let (mut sender, mut receiver) = join(1024).unwrap();
        for number in 0..100 {
            let mut slot = sender.reserve(number).unwrap();
            fill(slot.bytes_mut(), number);
            slot.publish(1024, Nanos(7));
            let Taken::Message(message) = receiver.take(number) else {
                panic!("message {number} is not there")
            };
            let mut private = [0; 1024];
            message.copy_to(&mut private).unwrap();
            assert_eq!(first_word(&private), number);
            message.release();
        }
    }
}
