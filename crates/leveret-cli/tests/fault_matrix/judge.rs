//! What the logs of those who planted, and the scheduler's trace, demand of the report of one run.

mod culprit;
mod delays;
mod exit;
mod wrong;

pub use delays::in_debt;

use crate::case::{Cause, Culprit, PERIOD, Party, Plant};
use crate::run::{Entry, Ran};
use crate::truth;
use delays::{MARGIN, covered};
use leveret_report::record::InstanceRecord;
use serde_json::Value;
use std::collections::BTreeSet;

/// What records have in place of the priority of a `SCHED_DEADLINE` task.
const DEADLINE: u8 = 100;

/// What a cell of the matrix came to.
#[derive(Default)]
pub struct Judged {
    /// Planted instances of which the report was compared with the plant: misses that it is proven to have caused; of harmless plants, all that
    /// they reached.
    pub judged: u64,
    /// Planted instances that the plant did not reach, or that kept their window.
    pub unreached: u64,
    /// Missed instances that no plant is proven to have caused.
    pub beside: u64,
    /// What was wrong.
    pub wrong: Vec<String>,
    /// Whose the judged misses were, and whether that was said to be unproven.
    pub parties: BTreeSet<(Party, bool)>,
    /// The names of those who were named for them.
    pub culprits: BTreeSet<String>,
    /// What the report said of one of them.
    pub sentence: String,
    /// One of them cannot be proven: the machine itself stalls for as long, or the kernel's log has a hole.
    pub is_excused: bool,
}

/// A task that is disturbed, or that should have sent: what the record and the job have of it.
struct Victim<'r> {
    name: &'static str,
    thread: u32,
    core: u32,
    instances: &'r [InstanceRecord],
    window: (i64, i64),
    budget: i64,
    guard: i64,
    /// Whether the kernel throttles it, whoever has the core then.
    is_throttled: bool,
}

/// A run with what is needed to judge it.
pub struct Judge<'r> {
    pub cause: &'r Cause,
    pub ran: &'r Ran,
    pub epoch: i64,
    victim: Victim<'r>,
    /// The processes of the job.
    own: BTreeSet<u32>,
    judged: Judged,
}

/// Judges a run of a cell.
pub fn judge(cause: &Cause, ran: &Ran) -> Judged {
    let record = &ran.outcome.record().phases[0];
    let (name, window, budget) = match by_sender(cause) {
        true => ("A.user", (0, 4_000_000), 500_000),
        false => ("V.user", cause.shape.window, cause.shape.budget),
    };
    let task = record.job.tasks.iter().position(|task| task.name == name).expect("the task");
    let core = crate::job::core(usize::from(by_sender(cause)));
    let (thread, instances) = (record.tasks[task].thread, &record.tasks[task].instances[..]);
    let threads = record.tasks.iter().map(|task| task.thread);
    let processes = threads.filter_map(|thread| ran.trace.as_ref()?.process_of(thread));
    let relatives = ran.entries.iter().filter(|entry| is_relative(cause, &entry.kind));
    let relatives = relatives.map(|entry| entry.pid as u32);
    let own = processes.chain([ran.agent]).chain(relatives).collect();
    let (guard, is_throttled) = (record.plan.costs.guard.0, record.tasks[task].priority >= DEADLINE);
    let victim = Victim { name, guard, is_throttled, thread, core, instances, window, budget };
    let epoch = record.epoch_monotonic.0;
    let mut judge = Judge { cause, ran, epoch, victim, own, judged: Judged::default() };
    judge.every_miss();
    judge.own_doing_is_proven();
    judge.exit_code();
    judge.judged
}

fn by_sender(cause: &Cause) -> bool {
    cause.plants.iter().any(|plant| matches!(plant, Plant::Sender(..)))
}

/// Whether the job's own processes plant this.
fn is_relative(cause: &Cause, kind: &str) -> bool {
    cause.plants.iter().any(|plant| matches!(plant, Plant::Relative(of) if *of == kind))
}

/// Low-ranking hogs, and one who only holds a lock, keep nobody from running.
fn is_harmless(kind: &str) -> bool {
    matches!(kind, "low" | "idle" | "lock")
}

pub fn party_of(miss: &Value) -> Party {
    Party::of(miss["party"].as_str().expect("a party"))
}

fn instance_of(miss: &Value) -> u64 {
    miss["instance"].as_u64().expect("an instance")
}

pub fn evidence(miss: &Value) -> String {
    let lines = miss["evidence"].as_array().into_iter().flatten().filter_map(Value::as_str);
    lines.collect::<Vec<_>>().join("\n")
}

impl Judge<'_> {
    /// What those wrote down who plant from outside, harmless or not.
    pub fn planters(&self) -> impl Iterator<Item = &Entry> + Clone {
        let kinds = self.cause.plants.iter().filter_map(|plant| plant.outside());
        let kinds: Vec<&str> = kinds.map(|(kind, _)| kind).collect();
        self.ran.entries.iter().filter(move |entry| kinds.contains(&entry.kind.as_str()))
    }

    /// Those of them that do harm.
    fn harming(&self) -> impl Iterator<Item = &Entry> + Clone {
        self.planters().filter(|entry| self.cause.party.is_some() && !is_harmless(&entry.kind))
    }

    /// What the job's own wrote down.
    fn own_entries(&self) -> impl Iterator<Item = &Entry> + Clone {
        let kinds = self.cause.plants.iter().filter_map(|plant| plant.outside());
        let kinds: Vec<&str> = kinds.map(|(kind, _)| kind).collect();
        self.ran.entries.iter().filter(move |entry| !kinds.contains(&entry.kind.as_str()))
    }

    pub fn window(&self, instance: u64) -> (i64, i64) {
        let start = self.epoch + instance as i64 * PERIOD;
        (start + self.victim.window.0, start + self.victim.window.1)
    }

    fn slack(&self) -> i64 {
        self.victim.window.1 - self.victim.window.0 - self.victim.budget
    }

    fn recorded(&self, instance: u64) -> Option<&InstanceRecord> {
        self.victim.instances.iter().find(|each| each.instance == instance)
    }

    /// From when an instance could have run to its end.
    pub fn span(&self, instance: u64) -> (i64, i64) {
        let window = self.window(instance);
        let last = self.recorded(instance).map(|found| found.ended.max(found.started).max(found.woken));
        (window.0, last.map_or(window.1, |last| window.1.max(self.epoch + last.0)))
    }

    /// The begin of an instance's window, or of that of the earlier one by which, each delaying the next, it was delayed.
    pub fn since(&self, instance: u64) -> i64 {
        let mut first = instance;
        while first > 0 && self.recorded(first - 1).is_some() && self.span(first - 1).1 > self.window(first).0
        {
            first -= 1;
        }
        self.window(first).0
    }

    /// The name of the task that is disturbed.
    pub fn name(&self) -> &'static str {
        self.victim.name
    }

    /// Its thread.
    pub fn thread(&self) -> u32 {
        self.victim.thread
    }

    /// From when its thread should have had a core until it had.
    pub fn wait(&self, instance: u64) -> Option<(i64, i64)> {
        let found = self.recorded(instance)?;
        Some((self.epoch + found.planned.0 - self.victim.guard, self.epoch + found.woken.0))
    }

    /// Whether a process is of the job.
    pub fn is_own(&self, process: u64) -> bool {
        self.own.iter().any(|own| u64::from(*own) == process)
    }

    /// For how long of an interval a thread wrote down that it planted.
    pub fn logged(&self, thread: u64, interval: (i64, i64)) -> i64 {
        covered(self.planters().filter(|entry| entry.thread == thread), interval)
    }

    /// How long a thread had a core within an interval, by the scheduler's own trace.
    pub fn time_of(&self, thread: u64, interval: (i64, i64)) -> i64 {
        let thread = u32::try_from(thread).unwrap_or(u32::MAX);
        self.ran.trace.as_ref().map_or(0, |trace| trace.time_of(thread, interval))
    }

    /// A miss that no plant explains: the machine's only if no process outside had the core for long enough to make it late while the task waited,
    /// and nobody's who was harmless.
    fn beside(&mut self, miss: &Value) {
        self.judged.beside += 1;
        let instance = instance_of(miss);
        let delays = self.delays(instance);
        let by_machine = party_of(miss) == Party::Machine;
        if by_machine && delays.foreign >= self.slack() + MARGIN {
            self.wrong(miss, "the machine's, though processes had the core for long enough");
        }
        if by_machine && 2 * delays.planted > delays.total + MARGIN {
            self.wrong(miss, "the machine's, though a planter was at work for most of the delay");
        }
        let named = self.planter(&miss["culprit"]).cloned();
        if let Some(planter) = named.filter(|entry| self.cause.party.is_none() || is_harmless(&entry.kind)) {
            self.wrong(miss, &format!("laid on {} ({}), which was harmless", planter.name, planter.kind));
        }
        let time = self.core_time(self.span(instance));
        println!(
            "  not planted: {} {instance}, {}: the core's time went to {time}",
            miss["name"], miss["party"]
        );
    }

    /// What the job does to itself is seen in its own record: a report that calls all of it unproven has not looked.
    fn own_doing_is_proven(&mut self) {
        let is_own = (self.cause.party, self.cause.culprit) == (Some(Party::Job), Culprit::Nobody);
        let is_open = self.judged.parties.contains(&(Party::Job, true));
        let is_proven = self.judged.parties.contains(&(Party::Job, false));
        if is_own && is_open && !is_proven && !self.judged.is_excused {
            self.judged.wrong.push(format!("none is proven to be the job's: {}", self.judged.sentence));
        }
    }

    fn every_miss(&mut self) {
        let report = self.ran.outcome.report();
        let misses = report["misses"]["list"].as_array().expect("misses");
        let subject = if by_sender(self.cause) { "AV" } else { "V.user" };
        for miss in misses {
            for lie in truth::lies(self, miss) {
                self.wrong(miss, &lie);
            }
            if miss["name"] != subject {
                continue;
            }
            let is_open = party_of(miss) == Party::Machine || miss["unproven"] == true;
            let was_woken_late = is_open && self.is_woken_late(instance_of(miss));
            match self.expected(instance_of(miss)).filter(|_| self.cause.party.is_some() && !was_woken_late) {
                Some(expected) => self.planted(miss, expected),
                None => self.beside(miss),
            }
        }
        if self.cause.party.is_none() {
            let reached = |instance: &&u64| covered(self.planters(), self.window(**instance)) > self.slack();
            self.judged.judged = self.cause.shape.at.iter().filter(reached).count() as u64;
        }
        self.judged.unreached = (self.cause.shape.at.len() as u64).saturating_sub(self.judged.judged);
    }
}
