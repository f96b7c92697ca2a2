//! What the logs of those who planted, and the scheduler's trace, demand of the report of one run.

use crate::case::{Cause, Culprit, PERIOD, Party, Plant};
use crate::run::{Entry, Ran};
use crate::truth;
use crate::witness::{Ahead, Trace};
use leveret_report::record::InstanceRecord;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Only beyond this do the logs and the trace contradict a verdict of the machine: an instance may be late by less without them.
const MARGIN: i64 = 300_000;
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

/// What delayed an instance, by the logs and the trace.
struct Delays {
    /// What its own body, or another part of its job, did wrong; less what others took of the core meanwhile.
    own: i64,
    /// Other threads of its job, the agent's above all, which had the core while this one waited.
    internal: i64,
    /// Those who planted from outside.
    planted: i64,
    /// Threads outside of the job, planted or not, which had the core while this one waited.
    foreign: i64,
    /// All together: by how much longer it took than its plan.
    total: i64,
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
    let own = processes.chain([ran.agent]).collect();
    let (guard, is_throttled) = (record.plan.costs.guard.0, record.tasks[task].priority >= DEADLINE);
    let victim = Victim { name, guard, is_throttled, thread, core, instances, window, budget };
    let epoch = record.epoch_monotonic.0;
    let mut judge = Judge { cause, ran, epoch, victim, own, judged: Judged::default() };
    judge.every_miss();
    judge.exit_code();
    judge.judged
}

fn by_sender(cause: &Cause) -> bool {
    cause.plants.iter().any(|plant| matches!(plant, Plant::Sender(..)))
}

/// Which instances a debt delays is the kernel's to say.
pub fn in_debt(cause: &Cause) -> bool {
    cause.plants.iter().any(|plant| matches!(plant, Plant::Debt(_)))
}

/// Low-ranking hogs, and one who only holds a lock, keep nobody from running.
fn is_harmless(kind: &str) -> bool {
    matches!(kind, "low" | "idle" | "lock")
}

/// Whether a plant may keep a sleeping thread from being woken by its timer.
fn keeps_asleep(kind: &str) -> bool {
    matches!(kind, "stop" | "trace" | "syscalls" | "freeze1" | "freeze2" | "timers")
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

    /// Whether the timer of an instance came late, by the trace, and no planter can have delayed it. Whose that is nobody knows.
    fn is_woken_late(&self, instance: u64) -> bool {
        let slept = || self.ran.trace.as_ref()?.slept(self.victim.thread, self.wait(instance)?);
        !self.harming().any(|entry| keeps_asleep(&entry.kind)) && slept().is_some_and(|time| time > MARGIN)
    }

    /// Whether a process is of the job.
    pub fn is_own(&self, process: u64) -> bool {
        self.own.iter().any(|own| u64::from(*own) == process)
    }

    /// For how long of an interval a thread wrote down that it planted.
    pub fn logged(&self, thread: u64, interval: (i64, i64)) -> i64 {
        covered(self.planters().filter(|entry| entry.thread == thread), interval)
    }

    /// Whether a thread is of the job, and not the kernel's own.
    fn is_internal(&self, thread: u32) -> bool {
        let process = self.ran.trace.as_ref().and_then(|trace| trace.process_of(thread));
        self.own.contains(&process.unwrap_or(thread))
    }

    fn is_foreign(&self, thread: u32) -> bool {
        let is_kernel = |trace: &Trace| trace.is_kernel(thread);
        !self.ran.trace.as_ref().is_none_or(is_kernel) && !self.is_internal(thread)
    }

    /// Threads that had the core while the victim waited for it.
    fn ahead(&self, interval: (i64, i64)) -> Vec<Ahead> {
        let trace = self.ran.trace.as_ref();
        trace.map_or_else(Vec::new, |trace| trace.ahead_of(self.victim.thread, interval))
    }

    /// For how long those outside of the job had it.
    fn foreign_ahead(&self, interval: (i64, i64)) -> i64 {
        let all = self.ahead(interval).into_iter().filter(|each| self.is_foreign(each.thread));
        all.map(|each| each.time).sum()
    }

    fn delays(&self, instance: u64) -> Delays {
        let (window, span) = (self.window(instance), self.span(instance));
        let bodies = self.own_entries().filter(|entry| entry.from < span.1 && entry.to > span.0);
        let whole = bodies.clone().filter(|_| !self.victim.is_throttled);
        let meanwhile: i64 =
            whole.map(|entry| self.foreign_ahead((entry.from.max(span.0), entry.to.min(span.1)))).sum();
        let all = (self.since(instance), span.1);
        // What held up one that was lost long ago did not make it late.
        let early = (window.0, span.1.min(window.1 + PERIOD / 2));
        let internal = self.ahead(early).into_iter().filter(|each| self.is_internal(each.thread));
        let threads: BTreeSet<u64> = self.harming().map(|entry| entry.thread).collect();
        let had: i64 = threads.iter().map(|thread| self.time_of(*thread, window)).sum();
        // Ordinary hogs share the core with each other and with whoever else is there.
        let holding = self.harming().filter(|entry| entry.kind != "ordinary" || self.ran.trace.is_none());
        let held = bodies.clone().map(|entry| covered(holding.clone(), (entry.from, entry.to)));
        Delays {
            own: covered(bodies.clone(), span) - meanwhile - held.sum::<i64>(),
            internal: internal.map(|each| each.time).sum(),
            planted: covered(holding, window).max(had),
            foreign: self.foreign_ahead(all),
            total: span.1 - window.0 - self.victim.budget,
        }
    }

    /// Whose a miss of this instance must be; `None` where no plant was enough for it.
    fn expected(&self, instance: u64) -> Option<Party> {
        let slack = self.slack();
        if in_debt(self.cause) {
            return (instance >= self.cause.shape.at[0]).then_some(Party::Job);
        }
        let delays = self.delays(instance);
        if by_sender(self.cause) {
            let silent = self.cause.plants.iter().any(|plant| matches!(plant, Plant::Sender("silent", _)));
            let did_wrong =
                if silent { delays.foreign < slack } else { delays.own >= slack.max(delays.foreign) };
            return (self.cause.shape.at.contains(&instance) && did_wrong).then_some(Party::Job);
        }
        // What delayed the instance before may have been both.
        let is_first = self.since(instance) == self.window(instance).0;
        if delays.own >= slack && (is_first || self.victim.is_throttled || delays.foreign < slack) {
            return Some(Party::Job);
        }
        // One that the instance before made late shares its party.
        let follows = is_first || self.expected(instance - 1) == Some(Party::Process);
        (follows && delays.planted >= slack && delays.own.max(delays.internal) < slack)
            .then_some(Party::Process)
    }

    /// How long a thread had a core within an interval, by the scheduler's own trace.
    pub fn time_of(&self, thread: u64, interval: (i64, i64)) -> i64 {
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
        let _ = write!(text, "\n  the core's time went to {}", self.core_time(self.span(instance)));
        let assessed = self.ran.outcome.assessment().misses;
        let same =
            assessed.iter().find(|each| miss["name"] == each.name.as_str() && each.instance == instance);
        for mark in same.into_iter().flat_map(|miss| &miss.timeline) {
            let _ = write!(text, "\n  {}us: {}", (mark.at.0 + self.epoch - window.0) / 1000, mark.what);
        }
        self.judged.wrong.push(text);
    }

    fn core_time(&self, interval: (i64, i64)) -> String {
        let Some(trace) = &self.ran.trace else { return "nobody knows whom".to_owned() };
        let all = trace.on(self.victim.core, interval).into_iter();
        let shown = all.map(|each| format!("{} ({}) {} us", each.name, each.thread, each.time / 1000));
        shown.collect::<Vec<_>>().join(", ")
    }

    /// Who is named: one who planted, by process or thread and by name.
    fn planter(&self, culprit: &Value) -> Option<&Entry> {
        let (pid, thread) = (culprit["pid"].as_u64(), culprit["thread"].as_u64());
        let mut same = self.planters().filter(|entry| pid == Some(entry.pid) || thread == Some(entry.thread));
        same.next()
    }

    /// For how long a thread that is named had the core while the task waited.
    fn time_ahead(&self, culprit: &Value, instance: u64) -> i64 {
        let ahead = self.ahead((self.since(instance), self.span(instance).1)).into_iter();
        let same = ahead.filter(|each| culprit["thread"].as_u64() == Some(each.thread.into()));
        same.map(|each| each.time).sum()
    }

    /// Another than the planter is named with right if it had the core for longer while the task waited.
    fn was_ahead_for_longer(&self, culprit: &Value, instance: u64) -> bool {
        let span = (self.since(instance), self.span(instance).1);
        let ahead = self.ahead(span);
        let claims = self.harming().map(|entry| {
            let own = ahead.iter().find(|each| u64::from(each.thread) == entry.thread);
            // While it wants a core, and others have it, a thread is not held by whoever wants to hold it.
            let part = (entry.from.max(span.0), entry.to.min(span.1));
            let held = part.1 - part.0 - self.foreign_ahead(part);
            match entry.kind.as_str() {
                // One of several equals that took turns; only what made the instance late counts, and nobody knows whose turn that was.
                "ordinary" => own.map_or(0, |own| own.time / 4),
                _ => own.map_or(held, |own| own.time),
            }
        });
        let time = self.time_ahead(culprit, instance);
        time > claims.max().unwrap_or_default()
    }

    fn planted(&mut self, miss: &Value, expected: Party) {
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
        let named = self.planter(culprit).cloned();
        match (cause.culprit, &named) {
            (Culprit::Planter, None) if !self.was_ahead_for_longer(culprit, instance_of(miss)) => {
                self.wrong(miss, "the culprit is not the planter")
            }
            (Culprit::Unknown, None)
                if !culprit["pid"].is_null() && self.time_ahead(culprit, instance_of(miss)) == 0 =>
            {
                self.wrong(miss, "the culprit is somebody else")
            }
            (Culprit::Nobody, Some(_)) => self.wrong(miss, "the planter was harmless"),
            (_, Some(entry)) if is_harmless(&entry.kind) => self.wrong(miss, "that planter was harmless"),
            (_, Some(entry)) if culprit["name"] != entry.name.as_str() => {
                self.wrong(miss, "the planter has another name")
            }
            _ => {}
        }
        let said = evidence(miss).to_lowercase();
        let is_another = cause.culprit != Culprit::Nobody && named.is_none() && !culprit["pid"].is_null();
        if !is_another
            && !cause.words.is_empty()
            && !cause.words.iter().any(|word| said.contains(&word.to_lowercase()))
        {
            self.wrong(miss, &format!("says nothing of {:?}", cause.words));
        }
        self.judged.parties.insert((party, unproven));
        self.judged.culprits.extend(culprit["name"].as_str().map(str::to_owned));
        if self.judged.sentence.is_empty() {
            self.judged.sentence = miss["evidence"][0].as_str().unwrap_or_default().to_owned();
        }
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

    /// The exit code follows from whose the misses are, and where each was planted, from the plants.
    fn exit_code(&mut self) {
        let report = self.ran.outcome.report();
        let misses = report["misses"]["list"].as_array().expect("misses");
        let any = |party: Party| misses.iter().any(|miss| party_of(miss) == party);
        let irregular = !report["irregularities"].as_array().expect("a list").is_empty();
        let follows = match (irregular || any(Party::Job), any(Party::Process), any(Party::Machine)) {
            (true, ..) => 1,
            (_, true, _) => 4,
            (_, _, true) => 3,
            _ => 0,
        };
        let mut allowed = BTreeSet::from([follows]);
        if self.judged.judged > 0 && misses.len() as u64 == self.judged.judged && !irregular {
            let planted = match (self.cause.party, self.cause.culprit) {
                (None, _) => BTreeSet::from([follows]),
                (Some(Party::Process), Culprit::Unknown) => BTreeSet::from([1, 4]),
                (Some(Party::Process), _) => BTreeSet::from([4]),
                (Some(Party::Job), _) => BTreeSet::from([1]),
                (Some(Party::Machine), _) => BTreeSet::from([3]),
            };
            allowed.retain(|code| planted.contains(code));
        }
        if !self.ran.outcome.code.is_some_and(|code| allowed.contains(&code)) {
            let said = self.ran.outcome.said();
            self.judged.wrong.push(format!("exit code {:?}, not {allowed:?}: {said}", self.ran.outcome.code));
        }
    }
}

#[test]
fn stretches_that_overlap_count_once() {
    let entry = |from, to| Entry { from, to, pid: 1, thread: 1, ..Entry::default() };
    let entries = [entry(0, 10), entry(5, 20), entry(30, 50)];
    assert_eq!(covered(entries.iter(), (8, 40)), 12 + 10);
}
