//! What the logs of those who planted demand of the report.

use crate::case::{Cause, Culprit, PERIOD, Party, Plant, Scheduling};
use crate::harness::{Workplace, turn};
use crate::run::{Entry, Ran, planter, run};
use crate::{cases, page};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;

/// What a cell of the matrix came to.
#[derive(Default)]
pub struct Judged {
    /// Missed instances that a plant is proven to have caused, and that were compared.
    pub judged: u64,
    /// Planted instances that the plant did not reach, or that kept their window.
    pub unreached: u64,
    /// Planted instances that somebody else disturbed too, by the scheduler's own trace.
    pub disturbed: u64,
    /// Missed instances in which nothing was planted.
    pub beside: u64,
    /// What was wrong.
    pub wrong: Vec<String>,
    /// What the report said of one of them.
    pub sentence: String,
}

/// How much of an interval some stretches cover together.
fn covered<'e>(entries: impl Iterator<Item = &'e Entry>, (from, to): (i64, i64)) -> i64 {
    let mut all: Vec<(i64, i64)> = entries.map(|entry| (entry.from.max(from), entry.to.min(to))).collect();
    all.sort_unstable();
    let mut end = from;
    let mut sum = 0;
    for (began, ended) in all {
        sum += (ended - began.max(end)).max(0);
        end = end.max(ended);
    }
    sum
}

/// A run with what is needed to judge it.
struct Judge<'r> {
    cause: &'r Cause,
    ran: &'r Ran,
    epoch: i64,
    /// Whether the task competes as an equal.
    is_ordinary: bool,
    judged: Judged,
}

impl Judge<'_> {
    /// The entries of those who plant from outside, or of the job's own.
    fn entries(&self, outside: bool) -> impl Iterator<Item = &Entry> + Clone {
        let kinds = self.cause.plants.iter().filter_map(|plant| plant.outside());
        let kinds: Vec<&str> = kinds.map(|(kind, _)| kind).filter(|kind| !is_harmless(kind)).collect();
        let all: Vec<&str> =
            self.cause.plants.iter().filter_map(|plant| plant.outside()).map(|(kind, _)| kind).collect();
        self.ran.entries.iter().filter(move |entry| {
            if outside { kinds.contains(&entry.kind.as_str()) } else { !all.contains(&entry.kind.as_str()) }
        })
    }

    /// Whose a miss of this instance must be, by what those who plant wrote down and by how long they had the core; `None` where no plant was
    /// enough for it.
    fn expected(&self, window: (i64, i64)) -> Option<Party> {
        let least = window.1 - window.0 - self.cause.shape.budget;
        // Writing it down takes time too.
        let threads: BTreeSet<u64> = self.entries(true).map(|entry| entry.thread).collect();
        let had: i64 = threads.iter().map(|thread| self.time_of(*thread, window)).sum();
        if covered(self.entries(false), window) >= least {
            return Some(Party::Job);
        }
        (covered(self.entries(true), window).max(had) >= least).then_some(Party::Process)
    }

    /// How long a thread had a core within an interval, by the scheduler's own trace.
    fn time_of(&self, thread: u64, interval: (i64, i64)) -> i64 {
        let thread = u32::try_from(thread).unwrap_or(u32::MAX);
        self.ran.trace.as_ref().map_or(0, |trace| trace.time_of(thread, interval))
    }

    fn wrong(&mut self, miss: &Value, what: &str) {
        let instance = miss["instance"].as_u64().unwrap_or_default();
        let window = self.window(instance);
        let mut text = format!(
            "{what}: {} {instance}: {}, unproven: {}, culprit: {}, {}, {}",
            miss["name"], miss["party"], miss["unproven"], miss["culprit"], miss["cause"], miss["evidence"]
        );
        let near = self
            .ran
            .entries
            .iter()
            .filter(|entry| entry.to > window.0 - PERIOD && entry.from < window.1 + PERIOD);
        for entry in near {
            let _ = write!(
                text,
                "\n  planted: {} by process {}, thread {}, from {} to {} us of the window",
                entry.kind,
                entry.pid,
                entry.thread,
                (entry.from - window.0) / 1000,
                (entry.to - window.0) / 1000
            );
        }
        if let Some(trace) = &self.ran.trace {
            let _ = write!(text, "\n  the core's time went to {:?}", trace.on(crate::job::core(0), window));
        }
        let assessed = self.ran.outcome.assessment().misses;
        let same =
            assessed.iter().find(|each| miss["name"] == each.name.as_str() && each.instance == instance);
        for mark in same.into_iter().flat_map(|miss| &miss.timeline) {
            let _ = write!(text, "\n  {}us: {}", (mark.at.0 + self.epoch - window.0) / 1000, mark.what);
        }
        self.judged.wrong.push(text);
    }

    fn window(&self, instance: u64) -> (i64, i64) {
        let start = self.epoch + instance as i64 * PERIOD;
        (start + self.cause.shape.window.0, start + self.cause.shape.window.1)
    }

    /// Whether the culprit is the planter's, and had a core when it is said to have had it.
    fn is_planter(&self, culprit: &Value) -> bool {
        let pid = culprit["pid"].as_u64();
        let thread = culprit["thread"].as_u64();
        self.entries(true).any(|entry| pid == Some(entry.pid) || thread == Some(entry.thread))
    }

    /// Ordinary threads share the core with whoever else runs here: the one named may be another, if it really had the core for longer.
    fn had_the_core(&self, culprit: &Value, miss: &Value) -> bool {
        let (Some(thread), Some(_)) = (culprit["thread"].as_u64(), &self.ran.trace) else { return false };
        let window = self.window(miss["instance"].as_u64().expect("an instance"));
        let mut planters = self.entries(true).map(|entry| self.time_of(entry.thread, window));
        planters.all(|time| time <= self.time_of(thread, window))
    }

    /// Whether others of this machine took so much of the core within an interval that they alone may have made the instance late. They
    /// cannot where the task outranks them.
    fn is_disturbed(&self, core: u32, interval: (i64, i64)) -> bool {
        let Some(trace) = self.ran.trace.as_ref().filter(|_| self.is_ordinary) else { return false };
        let tasks = &self.ran.outcome.record().phases[0].tasks;
        let is_own = |thread: u32| {
            thread == 0
                || tasks.iter().any(|task| task.thread == thread)
                || self.ran.entries.iter().any(|entry| entry.thread == u64::from(thread))
        };
        let others = trace.on(core, interval).into_iter().filter(|(_, thread, _)| !is_own(*thread));
        let time: i64 = others.map(|(_, _, time)| time).sum();
        time > (self.cause.shape.window.1 - self.cause.shape.window.0 - self.cause.shape.budget) / 2
    }

    /// As [`Judge::is_disturbed`], of the task whose miss this is, or of the one that should have sent.
    fn others_disturb(&self, instance: u64) -> bool {
        let window = self.window(instance);
        let by_sender = self.cause.plants.iter().any(|plant| matches!(plant, Plant::Sender(..)));
        let start = self.epoch + instance as i64 * PERIOD;
        // What the body does wrong takes longer where others take its core meanwhile.
        let bodies = self.entries(false).filter(|entry| entry.from < window.1 && entry.to > window.0);
        let until = bodies.map(|entry| entry.to).fold(window.1, i64::max);
        self.is_disturbed(crate::job::core(0), (self.since(instance), until))
            || by_sender && self.is_disturbed(crate::job::core(1), (start, window.0))
    }

    /// The begin of an instance's window, or of that of the earlier one by which, each delaying the next, it was delayed.
    fn since(&self, instance: u64) -> i64 {
        let record = &self.ran.outcome.record().phases[0];
        let task = record.job.tasks.iter().position(|task| task.name == "V.user").expect("the task");
        let mut first = instance;
        let ended = |number: u64| {
            let found = record.tasks[task].instances.iter().find(|each| each.instance == number);
            found.map_or(0, |found| self.epoch + found.ended.0)
        };
        while first > 0 && ended(first - 1) > self.window(first).0 {
            first -= 1;
        }
        self.window(first).0
    }

    fn planted(&mut self, miss: &Value, expected: Party) {
        if self.others_disturb(miss["instance"].as_u64().expect("an instance")) {
            self.judged.disturbed += 1;
            return;
        }
        self.judged.judged += 1;
        let party = party_of(miss);
        let unproven = miss["unproven"].as_bool().unwrap_or_default();
        let cause = self.cause;
        // Where the kernel does not say who did it, nothing proves that it was not the job.
        let left_open = unproven && cause.culprit == Culprit::Unknown && party == Party::Job;
        if party != expected && !left_open {
            self.wrong(miss, &format!("{expected}'s, not {party}'s"));
        }
        let culprit = &miss["culprit"];
        let named = self.is_planter(culprit);
        match cause.culprit {
            Culprit::Planter if !named && !self.had_the_core(culprit, miss) => {
                self.wrong(miss, "the culprit is not the planter")
            }
            Culprit::Unknown if !culprit["pid"].is_null() && !named => {
                self.wrong(miss, "the culprit is somebody else")
            }
            Culprit::Nobody if named => self.wrong(miss, "the planter was harmless"),
            _ => {}
        }
        let evidence = evidence(miss);
        let said = evidence.to_lowercase();
        if !cause.words.is_empty() && !cause.words.iter().any(|word| said.contains(&word.to_lowercase())) {
            self.wrong(miss, &format!("says nothing of {:?}", cause.words));
        }
        if self.judged.sentence.is_empty() {
            self.judged.sentence = miss["evidence"][0].as_str().unwrap_or_default().to_owned();
        }
    }

    /// A miss that nobody planted: the machine's only if no other process had the core for long enough, and nobody's who did not plant then.
    fn beside(&mut self, miss: &Value) {
        self.judged.beside += 1;
        let instance = miss["instance"].as_u64().expect("an instance");
        let window = self.window(instance);
        let party = party_of(miss);
        let touched = covered(self.entries(true), (window.0 - PERIOD / 4, window.1));
        if party == Party::Machine && touched > 0 {
            self.wrong(miss, "the machine's, though a planter was at work");
        }
        if let Some(trace) = &self.ran.trace {
            println!(
                "  not planted: {} {instance}, {party}: the core's time went to {:?}",
                miss["name"],
                trace.on(crate::job::core(0), window)
            );
        }
    }

    /// What the trace says of a culprit that is said to have had a core.
    fn is_true(&mut self, miss: &Value) {
        let culprit = &miss["culprit"];
        let (Some(thread), Some(_)) = (culprit["thread"].as_u64(), &self.ran.trace) else { return };
        let window = self.window(miss["instance"].as_u64().expect("an instance"));
        // Threads whose count of nested events the kernel has got wrong are missing in its trace.
        let logged = self
            .entries(true)
            .any(|entry| entry.thread == thread && entry.from < window.1 && entry.to > window.0);
        if logged {
            return;
        }
        let ran_at_all = culprit["rank"].as_str().is_some_and(|rank| !rank.is_empty());
        let about = (window.0 - PERIOD / 2, window.1 + 2 * PERIOD);
        if ran_at_all && self.time_of(thread, about) == 0 {
            self.wrong(miss, "the culprit did not run then");
        }
    }

    fn every_miss(&mut self) {
        let report = self.ran.outcome.report();
        let misses = report["misses"]["list"].as_array().expect("misses");
        let by_sender = self.cause.plants.iter().any(|plant| matches!(plant, Plant::Sender(..)));
        let in_debt = self.cause.plants.iter().any(|plant| matches!(plant, Plant::Debt(_)));
        let subject = if by_sender { "AV" } else { "V.user" };
        for miss in misses {
            let instance = miss["instance"].as_u64().expect("an instance");
            self.is_true(miss);
            if miss["name"] != subject {
                continue;
            }
            let expected = if by_sender {
                self.cause.shape.at.contains(&instance).then_some(Party::Job)
            } else if in_debt {
                (instance >= self.cause.shape.at[0]).then_some(Party::Job)
            } else {
                self.expected(self.window(instance))
            };
            match expected.filter(|_| self.cause.party.is_some()) {
                Some(expected) => self.planted(miss, expected),
                None => {
                    // One that others kept from its core was late before its plant could make it so.
                    let is_planted = self.cause.shape.at.contains(&instance);
                    self.judged.disturbed += u64::from(is_planted && self.others_disturb(instance));
                    self.beside(miss);
                }
            }
        }
        let met = self.judged.judged + self.judged.disturbed;
        self.judged.unreached = (self.cause.shape.at.len() as u64).saturating_sub(met);
    }
}

/// Low-ranking hogs, and one who only holds a lock, keep nobody from running.
fn is_harmless(kind: &str) -> bool {
    matches!(kind, "low" | "idle" | "lock")
}

fn party_of(miss: &Value) -> Party {
    Party::of(miss["party"].as_str().expect("a party"))
}

fn evidence(miss: &Value) -> String {
    let lines = miss["evidence"].as_array().into_iter().flatten().filter_map(Value::as_str);
    lines.collect::<Vec<_>>().join("\n")
}

fn judge(cause: &Cause, scheduling: Scheduling, ran: &Ran) -> Judged {
    let epoch = ran.outcome.record().phases[0].epoch_monotonic.0;
    let is_ordinary = scheduling == Scheduling::Plain
        || cause.plants.iter().any(|plant| matches!(plant, Plant::WithoutRights));
    let mut judge = Judge { cause, ran, epoch, is_ordinary, judged: Judged::default() };
    judge.every_miss();
    let mut judged = judge.judged;
    // Which instances a debt delays is the kernel's to say.
    let is_debt = cause.plants.iter().any(|plant| matches!(plant, Plant::Debt(_)));
    let planted = if is_debt { 2 } else { cause.shape.at.len() as u64 };
    if cause.party.is_some() && judged.judged + judged.disturbed < planted.div_ceil(2) {
        judged.wrong.push(format!(
            "only {} planted misses of {}: {:?}\n{}",
            judged.judged,
            planted,
            ran.entries,
            ran.outcome.said()
        ));
    }
    judged
}

/// Whether this machine lets us plant this.
fn can_plant(cause: &Cause) -> bool {
    let missing = cause
        .plants
        .iter()
        .filter_map(|plant| plant.needs())
        .find(|file| !std::path::Path::new(file).exists());
    if let Some(file) = missing {
        println!("SKIPPED: {}: {file} is not there", cause.name);
    }
    missing.is_none()
}

fn may_plant() -> bool {
    let tried = std::process::Command::new("chrt").args(["-f", "95", "true"]).status();
    tried.is_ok_and(|status| status.success()) && crate::job::core(0) != crate::job::core(1)
}

/// The cells that are asked for by name, or `all`; else those that a busy machine cannot spoil.
#[allow(clippy::disallowed_methods, reason = "whoever runs the test chooses by the environment")]
fn wanted() -> Option<String> {
    std::env::var("FAULTS").ok()
}

#[test]
fn every_planted_cause_is_judged_right() {
    let _turn = turn();
    if !may_plant() {
        println!("SKIPPED: planting from outside needs the right to real-time scheduling, and two cores");
        return;
    }
    let wanted = wanted();
    let place = Workplace::new();
    let program = planter(&place);
    let mut rows = Vec::new();
    let mut wrong = String::new();
    let (mut planted, mut disturbed) = (0, 0);
    let is_wanted = |cause: &Cause, scheduling: Scheduling| match wanted.as_deref() {
        None => !needs_quiet(cause, scheduling),
        Some("all") => true,
        Some(text) => format!("{} under {}", cause.name, scheduling.word()).contains(text),
    };
    for cause in cases::CAUSES.iter().filter(|cause| can_plant(cause)) {
        for &scheduling in cause.under {
            if !is_wanted(cause, scheduling) {
                continue;
            }
            let judged = judge(cause, scheduling, &run(&program, cause, scheduling));
            progress(cause, scheduling, &judged);
            if !judged.wrong.is_empty() {
                let _ = writeln!(wrong, "## {} under {}", cause.name, scheduling.word());
                judged.wrong.iter().take(2).for_each(|what| wrong += &format!("- {what}\n"));
            }
            planted += cause.shape.at.len() as u64;
            disturbed += judged.disturbed;
            rows.push(page::Row { cause, scheduling, judged });
        }
    }
    if wanted.as_deref() == Some("all") && page::is_blessing() {
        page::write(&rows);
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(disturbed <= planted / 3, "{disturbed} of {planted} planted instances were disturbed by others");
    page::compare(&rows);
}

/// Whether who is disturbed, or who disturbs, has ordinary scheduling: on a busy machine others may keep it from its core altogether.
fn needs_quiet(cause: &Cause, scheduling: Scheduling) -> bool {
    let is_ordinary = |plant: &Plant| {
        matches!(plant, Plant::WithoutRights) || matches!(plant.outside(), Some(("raising" | "boosted", _)))
    };
    scheduling == Scheduling::Plain || cause.plants.iter().any(is_ordinary)
}

/// A line about a cell, past the capture of the tests' output: all of them together take two minutes.
fn progress(cause: &Cause, scheduling: Scheduling, judged: &Judged) {
    let line = format!(
        "{} under {}: {} judged, {} disturbed, {} not reached, {} not planted, {} wrong\n",
        cause.name,
        scheduling.word(),
        judged.judged,
        judged.disturbed,
        judged.unreached,
        judged.beside,
        judged.wrong.len()
    );
    // Nobody needs it.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
}

#[test]
fn stretches_that_overlap_count_once() {
    let entry = |from, to| Entry { kind: String::new(), from, to, pid: 1, thread: 1 };
    let entries = [entry(0, 10), entry(5, 20), entry(30, 50)];
    assert_eq!(covered(entries.iter(), (8, 40)), 12 + 10);
}
