//! The two members of the experiment in [`crate::time_vs_best_effort`], and the child in which their agent runs.
//!
//! ```text
//!  sender's task, at 0 of each period               receiver's task, at the deadline
//!  time-driven   channels "first" and "second"   -->  reads both
//!  best effort   draws, queues, sends at most 2  -->  takes what is there, at most 2
//! ```
//!
//! A message is its instant of insertion, in every word of it. The receiver prints, once its job has ended, the line
//! `latencies MISSING NANOSECONDS NANOSECONDS ...`; the agent's child then prints `ended`, or `error TEXT`.

use crate::BenchError;
use crate::child::{Order, fill, first_word};
use crate::job::{self, Role};
use crate::planner::Random;
use leveret::{
    ByteSize, Declarations, Ended, Horizon, Input, Member, MissingPolicy, Nanos, Source, Target, TaskContext,
};
use std::collections::VecDeque;
use std::fmt::Display;
use std::io::{BufRead, Write};
use std::sync::mpsc;

/// Period of both tasks and of the time-driven channels.
pub const PERIOD: Nanos = Nanos::from_millis(1);
/// From the start of the period: when the messages of the period have arrived by definition.
pub const DEADLINE: Nanos = Nanos::from_micros(200);
/// Served in a period, and drawn in the mean.
pub const SERVED: u64 = 2;
/// The most messages that the best-effort sender draws in a period.
pub const DRAWN_MOST: u64 = 4;
/// What the receiver's line begins with.
pub const LATENCIES: &str = "latencies ";
/// What the agent's child says when a job has run to its end.
pub const ENDED: &str = "ended";

const SENDER_WINDOW: [Nanos; 2] = [Nanos::ZERO, Nanos::from_micros(100)];
const RECEIVER_WINDOW: [Nanos; 2] = [DEADLINE, Nanos::from_micros(300)];
const BUDGET: Nanos = Nanos::from_micros(50);
const TIME_DRIVEN_CHANNELS: [&str; SERVED as usize] = ["first", "second"];
const BUFFERS: u32 = 64;

fn broken(error: impl Display) -> BenchError {
    BenchError::Round { subject: "leveret".to_owned(), reason: error.to_string() }
}

/// Who decides how many messages there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Traffic {
    /// Two messages each period.
    TimeDriven,
    /// As many as a die says.
    BestEffort {
        /// Of the die.
        seed: u64,
    },
}

impl Traffic {
    /// As an order carries it: `time-driven`, `best-effort-SEED`.
    pub fn kind(self) -> String {
        match self {
            Self::TimeDriven => "time-driven".to_owned(),
            Self::BestEffort { seed } => format!("best-effort-{seed}"),
        }
    }

    fn parse(kind: &str) -> Option<Self> {
        match kind.strip_prefix("best-effort-") {
            Some(seed) => Some(Self::BestEffort { seed: seed.parse().ok()? }),
            None => (kind == "time-driven").then_some(Self::TimeDriven),
        }
    }
}

/// What a member is told on its command line.
struct Setting {
    traffic: Traffic,
    size: usize,
    periods: u64,
}

impl Setting {
    fn parse([kind, size, periods]: [&str; 3]) -> Result<Self, BenchError> {
        let traffic = Traffic::parse(kind).ok_or_else(|| broken(format!("{kind} is no traffic")))?;
        Ok(Self { traffic, size: size.parse().map_err(broken)?, periods: periods.parse().map_err(broken)? })
    }
}

/// The child that the harness starts, `child exchange CORE_SENDER CORE_RECEIVER`: a job for each order.
pub fn agent(cores: [&str; 2]) -> Result<(), BenchError> {
    let cores: Vec<usize> =
        cores.iter().map(|core| core.parse().map_err(broken)).collect::<Result<_, _>>()?;
    say(&format!("ready {}", env!("CARGO_PKG_VERSION")))?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let outcome = Order::parse(&line).ok_or_else(|| broken(format!("this is not an order: {line}")));
        match outcome.and_then(|order| exchange(&order, &cores)) {
            Ok(()) => say(ENDED)?,
            Err(error) => say(&format!("error {error}"))?,
        }
    }
    Ok(())
}

fn exchange(order: &Order, cores: &[usize]) -> Result<(), BenchError> {
    let periods = (order.duration.as_nanos() as u64 / PERIOD.0.unsigned_abs()).max(SERVED);
    let role = |name, core| {
        let words =
            [format!("exchange-{name}"), order.kind.clone(), order.size.to_string(), periods.to_string()];
        Role::new(name, core, words)
    };
    let roles = [role("sender", cores[0]), role("receiver", cores[1])];
    job::completed(&job::run("time-vs-best-effort", &roles, Horizon::Rounds(periods))?)
}

/// The members write to the same pipe, but never at the same time.
fn say(line: &str) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}

fn run(mut member: Member, declarations: Declarations) -> Result<(), BenchError> {
    match member.commit(declarations).map_err(broken)?.run().map_err(broken)? {
        Ended::Completed => Ok(()),
        other => Err(broken(format!("the job ended early: {other:?}"))),
    }
}

/// `child exchange-sender KIND SIZE PERIODS`.
pub fn sender(words: [&str; 3]) -> Result<(), BenchError> {
    let setting = Setting::parse(words)?;
    let member = Member::join().map_err(broken)?;
    let mut declarations = member.declare(words[0]);
    let size = ByteSize(setting.size as u64);
    let [release, deadline] = SENDER_WINDOW;
    match setting.traffic {
        Traffic::TimeDriven => {
            let ends = TIME_DRIVEN_CHANNELS.map(|name| {
                let window = [deadline, DEADLINE];
                let end = declarations.source(name).size(size);
                end.time_driven(PERIOD, window, MissingPolicy::Skip).declare()
            });
            let task =
                declarations.task("sender.task").period(PERIOD).window(release, deadline).budget(BUDGET);
            let task = ends.into_iter().fold(task, |task, end| task.writes(end));
            task.body(move |instance| ends.into_iter().for_each(|end| insert(instance, end)));
        }
        Traffic::BestEffort { seed } => {
            let end = declarations.source("messages").size(size).buffers(BUFFERS).best_effort().declare();
            let task =
                declarations.task("sender.task").period(PERIOD).window(release, deadline).budget(BUDGET);
            let mut die = Random::new(seed);
            let mut queue = VecDeque::with_capacity((setting.periods * DRAWN_MOST) as usize);
            task.sends(end).body(move |instance| {
                (0..die.below(DRAWN_MOST + 1)).for_each(|_| queue.push_back(instance.now()));
                serve(instance, end, &mut queue);
            });
        }
    }
    run(member, declarations)
}

/// Time-driven: fills the instance's buffer where it lies.
fn insert(instance: &mut TaskContext<'_>, end: Source) {
    let inserted = instance.now();
    // What cannot be inserted is missing at the other end, and counted there.
    if let Ok(mut slot) = instance.output(end) {
        fill(slot.bytes_mut(), inserted.0.unsigned_abs());
        let length = slot.bytes_mut().len();
        _ = slot.insert(length);
    }
}

/// Best effort: the oldest of the queue, as many as are served; what finds no buffer stays in the queue.
fn serve(instance: &mut TaskContext<'_>, end: Source, queue: &mut VecDeque<Nanos>) {
    let Some(sending) = instance.sender(end) else { return };
    for _ in 0..SERVED {
        let Some(inserted) = queue.front() else { return };
        let Ok(slot) = sending.slot() else { return };
        slot.insert_with(|buffer| {
            fill(buffer, inserted.0.unsigned_abs());
            buffer.len()
        });
        queue.pop_front();
    }
}

/// The latencies, handed over when the task's body goes: on the data path it only fills what lies ready.
struct Ledger {
    latencies: Vec<u64>,
    private: Vec<u8>,
    handed_over: mpsc::Sender<Vec<u64>>,
}

impl Ledger {
    /// The message was just extracted into the private buffer.
    fn enter(&mut self, instance: &TaskContext<'_>) {
        let now = instance.now();
        let inserted = first_word(&self.private);
        let last = self.private.rchunks_exact(8).next().map_or(0, first_word);
        if inserted != last {
            instance.stop_job("a message is not what was sent");
        }
        self.latencies.push(now.0.unsigned_abs().saturating_sub(inserted));
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        // The other end is gone only if the member is giving up.
        _ = self.handed_over.send(std::mem::take(&mut self.latencies));
    }
}

/// `child exchange-receiver KIND SIZE PERIODS`.
pub fn receiver(words: [&str; 3]) -> Result<(), BenchError> {
    let setting = Setting::parse(words)?;
    let member = Member::join().map_err(broken)?;
    let mut declarations = member.declare(words[0]);
    let (handed_over, ledgers) = mpsc::channel();
    let latencies = Vec::with_capacity((setting.periods * SERVED) as usize);
    let mut ledger = Ledger { latencies, private: vec![0; setting.size], handed_over };
    let [release, deadline] = RECEIVER_WINDOW;
    match setting.traffic {
        Traffic::TimeDriven => {
            let ends = TIME_DRIVEN_CHANNELS.map(|name| declarations.target(name).declare());
            let task =
                declarations.task("receiver.task").period(PERIOD).window(release, deadline).budget(BUDGET);
            let task = ends.into_iter().fold(task, |task, end| task.reads(end));
            task.body(move |instance| ends.into_iter().for_each(|end| extract(instance, end, &mut ledger)));
        }
        Traffic::BestEffort { .. } => {
            let end = declarations.target("messages").declare();
            let task =
                declarations.task("receiver.task").period(PERIOD).window(release, deadline).budget(BUDGET);
            task.receives(end)
                .body(move |instance| (0..SERVED).for_each(|_| take(instance, end, &mut ledger)));
        }
    }
    run(member, declarations)?;
    let latencies = ledgers.try_recv().map_err(|_| broken("the task has left no latencies"))?;
    let missing = match setting.traffic {
        Traffic::TimeDriven => (setting.periods * SERVED).saturating_sub(latencies.len() as u64),
        // They are under way, or still with the sender.
        Traffic::BestEffort { .. } => 0,
    };
    let mut line = format!("{LATENCIES}{missing}");
    latencies.iter().for_each(|latency_ns| line.push_str(&format!(" {latency_ns}")));
    Ok(say(&line)?)
}

/// Time-driven: the message that the plan has for this instance.
fn extract(instance: &mut TaskContext<'_>, end: Target, ledger: &mut Ledger) {
    let copied = match instance.input(end) {
        Input::Message(message) => message.copy_to(&mut ledger.private).is_ok(),
        Input::Held(..) | Input::Absent(_) => false,
    };
    if copied {
        ledger.enter(instance);
    }
}

/// Best effort: the next message if it is there.
fn take(instance: &mut TaskContext<'_>, end: Target, ledger: &mut Ledger) {
    let Some(receiving) = instance.receiver(end) else { return };
    let copied = match receiving.try_receive() {
        Some(message) => message.copy_to(&mut ledger.private).is_ok(),
        None => false,
    };
    if copied {
        ledger.enter(instance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traffic_is_read_as_it_is_written() {
        for traffic in [Traffic::TimeDriven, Traffic::BestEffort { seed: 7 }] {
            assert_eq!(Traffic::parse(&traffic.kind()), Some(traffic));
        }
        assert_eq!(Traffic::parse("best-effort-"), None);
        assert_eq!(Traffic::parse("time"), None);
    }
}
