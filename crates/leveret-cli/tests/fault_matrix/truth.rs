//! Whether what the report says of a miss is true, by the scheduler's trace and the logs of those who planted.

use crate::case::PERIOD;
use crate::judge::{Judge, evidence};
use crate::witness::Trace;
use leveret_types::Nanos;
use serde_json::Value;
use std::collections::BTreeSet;

/// Two ways to look at the same switches of a core differ by less than this, and by less than a quarter.
const NEAR: i64 = 500_000;
/// The stamps of a thread are earlier or later than the switches that they follow.
const GRAIN: i64 = 100_000;
/// Who held the core like this does not take turns.
const RANKED: &[&str] =
    &["fifo", "first", "equal", "rr", "row", "deadline", "namespaced", "raising", "boosted", "becoming"];

/// A thread as a sentence names it.
#[derive(PartialEq, Debug)]
struct Named<'t> {
    thread: u32,
    rank: &'t str,
}

/// A thread that is said to have had a core for a time, from an instant on if the sentence says when.
#[derive(PartialEq, Debug)]
struct Claim<'t> {
    who: Named<'t>,
    core: u32,
    time: i64,
    from: Option<i64>,
}

/// The thread with which a text ends: `... plant (thread 812, real-time priority 95)`, or the idle task.
fn named(text: &str) -> Option<Named<'_>> {
    if text.ends_with("the idle task") {
        return Some(Named { thread: 0, rank: "" });
    }
    let (_, last) = text.rsplit_once("(thread ")?;
    let (inside, after) = last.split_once(')')?;
    let kind = [", no task", ", not identified"].iter().find_map(|kind| inside.strip_suffix(kind));
    let inside = kind.unwrap_or(inside);
    let (thread, rank) = inside.split_once(", ").unwrap_or((inside, ""));
    after.is_empty().then_some(Named { thread: thread.parse().ok()?, rank })
}

fn nanos(text: &str) -> Option<i64> {
    text.parse::<Nanos>().ok().map(|length| length.0)
}

/// `... (thread 812, real-time priority 95) had core 0 for 5.2ms of the wait ...`, any number of times.
fn waits(line: &str) -> Vec<Claim<'_>> {
    let places = line.match_indices(" had core ");
    let claim = |(place, words): (usize, &str)| {
        let (core, rest) = line[place + words.len()..].split_once(" for ")?;
        let (time, _) = rest.split_once(" of the wait")?;
        let who = named(&line[..place])?;
        Some(Claim { who, core: core.parse().ok()?, time: nanos(time)?, from: None })
    };
    places.filter_map(claim).collect()
}

/// `off core 0 for 3.1ms from 68ms while plant (thread 812, real-time priority 1) had it ...`.
fn absence(line: &str) -> Option<Claim<'_>> {
    let (core, rest) = line.split_once("off core ")?.1.split_once(" for ")?;
    let (time, rest) = rest.split_once(" from ")?;
    let (from, rest) = rest.split_once(" while ")?;
    let who = named(rest.split_once(" had it")?.0)?;
    Some(Claim { who, core: core.parse().ok()?, time: nanos(time)?, from: nanos(from) })
}

/// Who a line says did something: `by plant (pid 812)`.
fn actors(line: &str) -> impl Iterator<Item = u64> {
    let all =
        line.match_indices("(pid ").filter_map(|(place, words)| line[place + words.len()..].split_once(')'));
    all.filter_map(|(pid, _)| pid.parse().ok())
}

fn agrees(said: i64, seen: i64) -> bool {
    (said - seen).abs() <= seen / 4 + NEAR
}

/// Statements of the report about a miss that are false.
pub fn lies(judge: &Judge<'_>, miss: &Value) -> Vec<String> {
    let text = evidence(miss);
    let mut lies: Vec<String> = did_not_run(judge, miss).into_iter().collect();
    for line in text.lines() {
        lies.extend(turns(judge, line));
        let Some(trace) = &judge.ran.trace else { continue };
        lies.extend(strangers(judge, line));
        for claim in waits(line).into_iter().chain(absence(line)) {
            lies.extend(untrue(judge, trace, miss, &claim));
        }
    }
    lies
}

/// A culprit that is said to have had a core, and had none.
fn did_not_run(judge: &Judge<'_>, miss: &Value) -> Option<String> {
    let culprit = &miss["culprit"];
    let (thread, trace) = (culprit["thread"].as_u64()?, judge.ran.trace.as_ref()?);
    let instance = miss["instance"].as_u64()?;
    // Its period, and whatever it follows from.
    let end = judge.span(instance).1.max(judge.window(instance).0 + PERIOD);
    let about = (judge.since(instance) - PERIOD / 2, end);
    let logged =
        judge.planters().any(|entry| entry.thread == thread && entry.from < about.1 && entry.to > about.0);
    let is_silent = logged || culprit["what"] != "preempted" || trace.has_hole(about);
    (!is_silent && judge.time_of(thread, about) == 0).then(|| "the culprit did not run then".to_owned())
}

/// One that had raised itself, or that the kernel had raised, is not of the rank of ordinary threads.
fn turns(judge: &Judge<'_>, line: &str) -> Option<String> {
    let claims = waits(line).into_iter().chain(absence(line));
    // Before it was raised it was ordinary.
    let long = claims.filter(|claim| claim.time > NEAR);
    let threads: BTreeSet<u64> = long.map(|claim| claim.who.thread.into()).collect();
    let is_ranked = judge
        .planters()
        .any(|entry| RANKED.contains(&entry.kind.as_str()) && threads.contains(&entry.thread));
    let claims_turns = line.contains("take turns") && !line.contains("or it was raised in between");
    (claims_turns && is_ranked).then(|| "the planter did not take turns".to_owned())
}

/// Whoever is said to have stopped, frozen or traced the member is one who planted, or of the job.
fn strangers(judge: &Judge<'_>, line: &str) -> Option<String> {
    let mut all = actors(line);
    let is_stranger = |pid: &u64| !judge.is_own(*pid) && !judge.planters().any(|entry| entry.pid == *pid);
    all.find(is_stranger).map(|pid| format!("process {pid} did nothing to it"))
}

/// A thread that is said to have had a core for another time than it had, or with another rank.
fn untrue(judge: &Judge<'_>, trace: &Trace, miss: &Value, claim: &Claim<'_>) -> Option<String> {
    let instance = miss["instance"].as_u64()?;
    let interval = match claim.from {
        Some(from) => (judge.epoch + from, judge.epoch + from + claim.time),
        None if miss["name"] == judge.name() => judge.wait(instance)?,
        // That of another task.
        None => return None,
    };
    let about = (interval.0 - GRAIN, interval.1 + GRAIN);
    if trace.has_hole(about) {
        return None;
    }
    let ranks = trace.ranks(claim.who.thread, about);
    let rank = claim.who.rank.replace("SCHED_FIFO", "real-time priority");
    if !rank.is_empty() && !ranks.is_empty() && !ranks.contains(&rank) {
        return Some(format!("thread {} had {ranks:?}, not {rank}", claim.who.thread));
    }
    let own = trace.of(claim.who.thread).filter(|stretch| stretch.core == claim.core);
    let parts: Vec<i64> = own.map(|stretch| stretch.to.min(about.1) - stretch.from.max(about.0)).collect();
    let whole: i64 = parts.iter().filter(|part| **part > 0).sum();
    let ahead =
        trace.ahead_of(judge.thread(), about).into_iter().find(|each| each.thread == claim.who.thread);
    let logged = judge.logged(claim.who.thread.into(), about);
    let mut seen = parts.iter().copied().chain([whole, ahead.map_or(0, |each| each.time), logged]);
    let is_seen = seen.any(|seen| agrees(claim.time, seen));
    (!is_seen).then(|| {
        let (thread, core) = (claim.who.thread, claim.core);
        format!("thread {thread} had core {core} for {} us, not {} us", whole / 1000, claim.time / 1000)
    })
}

#[test]
fn claims_are_read_as_the_report_writes_them() {
    let line = "run-queue wait behind plant (thread 8704, real-time priority 95): woken 5.2ms after the planned start; plant \
                (thread 8704, real-time priority 95) had core 0 for 5.5ms of the wait; it goes before this thread";
    let who = |thread, rank| Named { thread, rank };
    let claim = Claim { who: who(8704, "real-time priority 95"), core: 0, time: 5_500_000, from: None };
    assert_eq!((waits(line), absence(line)), (vec![claim], None));
    let line = "off core 1 for 6us from 68.5ms while opt 9f us (thread 10527, ordinary scheduling) had it: the kernel";
    let claim =
        Claim { who: who(10527, "ordinary scheduling"), core: 1, time: 6_000, from: Some(68_500_000) };
    assert_eq!((waits(line), absence(line)), (Vec::new(), Some(claim)));
    assert_eq!(named("woken 5ms late; the idle task"), Some(who(0, "")));
    assert_eq!(named("behind plant (thread 3, SCHED_DEADLINE): something"), None);
    assert_eq!(
        named("this job's own helper (thread 3, SCHED_FIFO 95, no task)"),
        Some(who(3, "SCHED_FIFO 95"))
    );
    assert_eq!(named("plant (thread 3, not identified)"), Some(who(3, "")));
    assert_eq!(actors("held it, by plant (pid 12), and by x (pid 13)").collect::<Vec<_>>(), [12, 13]);
}
