//! Planted causes: what was done on purpose is what the verdict names, and never the machine.

use crate::harness::{Outcome, Workplace, turn};
use crate::job::{Job, core, ring};
use crate::stalls::Watch;
use leveret_os::{clock, scheduling};
use leveret_report::Report;
use leveret_report::record::{Ending, EventKind};
use leveret_report::verdict::{Cause, Miss, Party};
use leveret_report::why::why;
use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

/// Instances in which something is planted.
const PLANTED: [u64; 3] = [10, 20, 30];
const ROUNDS: u64 = 40;

/// Each instance of `name` in which this was really done was missed by this cause, which is the job's.
fn assert_named(outcome: &Outcome, (name, said): (&str, &str), cause: Cause) -> Vec<u64> {
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    assert_laid(outcome, (name, said), cause, Party::Job)
}

/// As [`assert_named`], of any party. Gives the instances that were judged: those in which nothing but the plant happened.
fn assert_laid(outcome: &Outcome, (name, said): (&str, &str), cause: Cause, party: Party) -> Vec<u64> {
    outcome.assert_consistent();
    let judged = outcome.undisturbed(outcome.done(said, &PLANTED));
    for instance in judged.iter().copied() {
        let miss = outcome.miss(name, instance);
        assert_eq!(miss.party, party, "{name} {instance}: {:?}", miss.evidence);
        assert_eq!(miss.cause, cause, "{name} {instance}: {:?}", miss.evidence);
    }
    judged
}

/// One task with a window of 2 ms in the middle of its period, and another member beside it.
fn victim(arguments: &[&str], other: (&str, &[&str])) -> String {
    let own: Vec<&str> = ["task=V.user"].iter().chain(arguments).copied().collect();
    Job::new(ROUNDS, "")
        .member("V", core(0), "test-node", &own)
        .member("other", core(1), other.0, other.1)
        .task("V.user", ["6ms", "8ms"], "500us", "")
        .text()
}

const HELD: &str = "hog: held the core";

#[test]
fn a_hog_of_the_job_itself_is_named() {
    let _turn = turn();
    assert_hog_is_named();
}

fn assert_hog_is_named() {
    let place = Workplace::new();
    let on = format!("core={}", core(0));
    // Below the witness, which is to see through it.
    let hog = [on.as_str(), "priority=60", "period=20ms", "from=5ms", "for=6ms", "at=10,20,30"];
    let outcome = place.run_watched(&victim(&[], ("test-hog", &hog)));
    for instance in assert_laid(&outcome, ("V.user", HELD), Cause::RunQueueWait, Party::Job) {
        let miss = outcome.miss("V.user", instance);
        let culprit = miss.culprit.as_ref().map(|culprit| (culprit.name.as_str(), culprit.rank.as_str()));
        // Who cannot see the whole core cannot name it.
        let whole = outcome.record().machine.switch_log_whole_core;
        assert_eq!((culprit, miss.unproven), (whole.then_some(("hog", "SCHED_FIFO 60")), !whole), "{miss:?}");
    }
}

/// Passes a byte on, again and again, until the other end is closed; says how often.
fn passed_on(mut end: UnixStream) -> u64 {
    scheduling::pin(core(0)).expect("the core of the task is allowed");
    let (mut byte, mut turns) = ([0], 0);
    while end.write_all(&byte).and(end.read_exact(&mut byte)).is_ok() {
        turns += 1;
    }
    turns
}

/// Most of them are never read: what the agent needs of them it finds when it asks.
#[test]
fn a_hog_is_named_among_many_thousand_switches() {
    let _turn = turn();
    let (one, other) = UnixStream::pair().expect("a pair of sockets");
    let close = one.try_clone().expect("a descriptor more");
    let began = clock::now();
    std::thread::scope(|threads| {
        let ends = [one, other].map(|end| threads.spawn(|| passed_on(end)));
        let outcome = std::panic::catch_unwind(assert_hog_is_named);
        close.shutdown(Shutdown::Both).expect("it is open");
        let turns: u64 = ends.into_iter().map(|end| end.join().expect("it ends")).sum();
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let seconds = (clock::now() - began).0 / 1_000_000_000 + 1;
        assert!(turns > 20_000 * seconds.unsigned_abs(), "{turns} switches in {seconds} s are few");
    });
}

#[test]
fn a_hog_of_another_process_is_named_with_its_number() {
    if core(0) == core(1) {
        return;
    }
    let _turn = turn();
    let place = Workplace::new();
    let pid = format!("pid={}", place.shown("V.pid"));
    let own = ["task=V.user", pid.as_str(), "started=5"];
    let job =
        Job::new(100, "").member("V", core(0), "test-node", &own).task("V.user", ["6ms", "8ms"], "500us", "");
    let watch = Watch::begin();
    let run = place.start(&job.text());
    run.await_text("V.pid", "started");
    // Some ten periods long. The shell takes the place, and the number, of what starts it.
    let spin = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let mut hog = Command::new("taskset")
        .args(["-c", &core(0).to_string(), "chrt", "-f", "60", "sh", "-c", spin])
        .spawn()
        .expect("util-linux is there");
    let process = hog.id();
    let may_be_ranked = hog.wait().expect("a child can be waited for").success();
    let ended = clock::now();
    let outcome = run.finish().watched(watch);
    if !may_be_ranked {
        return eprintln!("SKIPPED: the right to real-time scheduling is missing");
    }
    let misses = outcome.assessment().misses;
    let is_its = |miss: &Miss| miss.culprit.as_ref().is_some_and(|culprit| culprit.pid == Some(process));
    let first = misses.iter().find(|miss| is_its(miss)).map(|miss| miss.deadline);
    let first = first.unwrap_or_else(|| panic!("nothing is the hog's: {}", outcome.said()));
    let until = ended - outcome.record().phases[0].epoch_monotonic;
    let meanwhile = misses.iter().filter(|miss| miss.deadline >= first && miss.deadline < until);
    for miss in meanwhile.filter(|miss| !outcome.stood_still_in_round(miss.instance)) {
        assert!(is_its(miss), "{miss:?}");
        let cause = miss.root.as_ref().map_or(miss.cause, |root| root.cause);
        assert_eq!((cause, miss.party), (Cause::RunQueueWait, Party::Process), "{miss:?}");
    }
    // Its name is the one that it had when it came to the core.
    assert!(outcome.stdout.contains(&format!(", pid {process}")), "{}", outcome.said());
}

#[test]
fn page_faults_in_the_body_are_named() {
    let _turn = turn();
    let outcome = Workplace::new().run_watched(&victim(&["fault=64@10,20,30"], ("test-node", &[])));
    assert_named(&outcome, ("V.user", "node V: faulted"), Cause::PageFault);
}

#[test]
fn an_overrun_is_named() {
    let _turn = turn();
    let outcome = Workplace::new().run_watched(&victim(&["overrun=5ms@10,20,30"], ("test-node", &[])));
    assert_named(&outcome, ("V.user", "node V: overrun"), Cause::Overrun);
}

#[test]
fn a_late_peer_is_named_with_its_root() {
    let _turn = turn();
    let job = ring(ROUNDS, "", [&["overrun=9ms@10,20,30"], &[], &[]]);
    let outcome = Workplace::new().run_watched(&job.text());
    assert_named(&outcome, ("A.user", "node A: overrun"), Cause::Overrun);
    for instance in assert_named(&outcome, ("AB", "node A: overrun"), Cause::LatePeer) {
        let root = outcome.miss("AB", instance).root.expect("a late message has a root");
        assert_eq!((root.name.as_str(), root.instance), ("A.user", instance));
        assert_eq!((root.cause, root.blame.party), (Cause::Overrun, Party::Job));
    }
}

#[test]
fn a_stopped_member_is_named() {
    let _turn = turn();
    let place = Workplace::new();
    let pid = format!("pid={}", place.shown("V.pid"));
    // Stopped before its instance 10, and on again before its instance 15, or as soon after as W has a core.
    let stop = format!("signal=STOP:{}@10", place.shown("V.pid"));
    let go = format!("signal=CONT:{}@15", place.shown("V.pid"));
    let job = Job::new(ROUNDS, "")
        .member("V", core(0), "test-node", &["task=V.user", &pid])
        .member("W", core(1), "test-node", &["task=W.user", &stop, &go])
        .task("V.user", ["8ms", "12ms"], "500us", "")
        .task("W.user", ["0ms", "4ms"], "500us", "");
    let outcome = place.run_watched(&job.text());
    outcome.assert_consistent();
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    let signalled: Vec<u64> = (0..ROUNDS)
        .filter(|round| outcome.stderr.contains(&format!("node W: signalled in instance {round}\n")))
        .collect();
    let [stopped, went_on] = signalled[..] else { panic!("not stopped and continued: {}", outcome.said()) };
    for instance in outcome.undisturbed(stopped..went_on) {
        let miss = outcome.miss("V.user", instance);
        // Where W was late itself, an instance of V had begun already, and those after it follow upon that one.
        let cause = miss.root.map_or(miss.cause, |root| root.cause);
        assert_eq!((cause, miss.party), (Cause::StoppedMember, Party::Job), "{:?}", miss.evidence);
    }
}

/// What it keeps from its core has it as its root, and `why` tells of it what is known.
#[test]
fn a_task_that_never_returns_is_told_while_it_runs_and_after() {
    let _turn = turn();
    let job = Job::new(80, "")
        .member("V", core(0), "test-faulty", &["task=V.user", "fault=endless:0ms@10"])
        .member("W", core(0), "test-node", &["task=W.user"])
        .task("V.user", ["0ms", "4ms"], "500us", "")
        .task("W.user", ["8ms", "12ms"], "500us", "");
    let place = Workplace::new();
    let outcome = place.run(&job.text());
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    let told = outcome.stderr.matches("instance 10 of task \"V.user\"").count();
    let has = |words: &str| assert!(outcome.stderr.contains(words), "{words}: {}", outcome.said());
    assert_eq!(told, 1, "{}", outcome.said());
    has("and has not returned: it computes");
    assert!(
        outcome.stdout.contains("V.user 10 [faulty] never ended (execution: overrun)"),
        "{}",
        outcome.said()
    );
    let Ending::FailedAfter(ended) = &outcome.record().ending else { panic!("{}", outcome.said()) };
    assert!(ended.contains("\"V\"") && ended.contains("did not stop within 5s"), "{ended}");
    let misses = outcome.assessment().misses;
    let of_w =
        misses.iter().filter(|miss| miss.name == "W.user" && miss.party == Party::Job && !miss.unproven);
    let roots: Vec<_> = of_w.filter_map(|miss| miss.root.clone()).collect();
    assert!(roots.len() > 40, "{} of {}", roots.len(), outcome.said());
    for root in roots {
        assert_eq!((root.name.as_str(), root.instance, root.cause), ("V.user", 10, Cause::Overrun));
    }
    let why = why(&Report::of(outcome.record()), "V.user", 10).expect("it is known");
    assert!(why.contains("it began") && why.contains("and never ended"), "{why}");
}

#[test]
fn a_member_that_is_stopped_for_good_is_missed() {
    let _turn = turn();
    let place = Workplace::new();
    let pid = format!("pid={}", place.shown("V.pid"));
    let stop = format!("signal=STOP:{}@10", place.shown("V.pid"));
    let job = Job::new(ROUNDS, "")
        .member("V", core(0), "test-node", &["task=V.user", &pid])
        .member("W", core(1), "test-node", &["task=W.user", &stop])
        .task("V.user", ["8ms", "12ms"], "500us", "")
        .task("W.user", ["0ms", "4ms"], "500us", "");
    let outcome = place.run(&job.text());
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    let Ending::FailedAfter(why) = &outcome.record().ending else { panic!("{}", outcome.said()) };
    assert!(why.contains("did not stop within 5s of the end of the run, stopped by a signal"), "{why}");
    let assessment = outcome.assessment();
    let missed = assessment.irregularities.iter().find(|found| found.kind == "unaccounted");
    let missed = missed.unwrap_or_else(|| panic!("nothing is missed: {}", outcome.said()));
    assert_eq!(missed.name, "V.user");
    assert!(missed.count >= ROUNDS - 12 && missed.sentence.contains("stopped by a signal"), "{missed:?}");
}

/// The task's thread of a member whose number stands in the file.
fn thread_of(place: &Workplace, file: &str, task: &str) -> String {
    let pid = place.text(file);
    let pid = pid.lines().next().expect("the member's number");
    let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("the member lives");
    let named = |thread: &String| {
        fs::read_to_string(format!("/proc/{pid}/task/{thread}/comm")).is_ok_and(|name| name.trim() == task)
    };
    let mut numbers = threads.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    numbers.find(named).expect("the task has a thread of its name")
}

/// Runs one task beside ordinary processes that never sleep, and has `command` done to its thread in mid-run.
fn changed_in_mid_run(command: &[&str]) -> Outcome {
    let _turn = turn();
    let place = Workplace::new();
    let pid = format!("pid={}", place.shown("V.pid"));
    let job = Job::new(100, "").member("V", core(0), "test-node", &["task=V.user", &pid, "started=5"]).task(
        "V.user",
        // Shorter than what an ordinary thread is given at a time.
        ["6ms", "6600us"],
        "100us",
        "",
    );
    // Several, so that one who waits its turn among them waits for longer than any guard.
    let busy = || {
        Command::new("taskset")
            .args(["-c", &core(0).to_string(), "sh", "-c", "while :; do :; done"])
            .spawn()
            .expect("taskset is there")
    };
    let mut busy = [busy(), busy(), busy(), busy()];
    let watch = Watch::begin();
    let run = place.start(&job.text());
    run.await_text("V.pid", "started");
    let thread = thread_of(&place, "V.pid", "V.user");
    let status = Command::new(command[0]).args(&command[1..]).arg(thread).stdout(Stdio::null()).status();
    let outcome = run.finish().watched(watch);
    for busy in &mut busy {
        busy.kill().expect("the busy process never ends by itself");
        busy.wait().expect("a child can be waited for");
    }
    assert!(status.expect("util-linux is there").success(), "{}", outcome.said());
    outcome.assert_consistent();
    outcome
}

#[test]
fn scheduling_changed_from_outside_is_never_the_machines() {
    let outcome = changed_in_mid_run(&["chrt", "--idle", "--pid", "0"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    let phase = &outcome.record().phases[0];
    let seen = phase.events.iter().find_map(|event| match &event.kind {
        EventKind::SchedulingChanged { task: 0, since, now, set } => Some((*since, event.at, now, set)),
        _ => None,
    });
    let (since, at, now, set) = seen.unwrap_or_else(|| panic!("not seen: {}", outcome.said()));
    assert!(since < at && now.starts_with("SCHED_IDLE") && set.starts_with("SCHED_FIFO"), "{now} {set}");
    let misses = outcome.assessment().misses;
    let after: Vec<_> = misses.iter().filter(|miss| miss.deadline > at).collect();
    assert!(!after.is_empty(), "nothing is missed: {}", outcome.said());
    // Where its core stood still as well, the report names the late timer, which came first.
    for miss in after.iter().filter(|miss| !outcome.stood_still_in_round(miss.instance)) {
        let cause = miss.root.as_ref().map_or(miss.cause, |root| root.cause);
        assert_eq!((cause, miss.party), (Cause::SchedulingChanged, Party::Job), "{:?}", miss.evidence);
    }
    assert!(
        outcome.stderr.contains("the scheduling of V.user was changed from outside"),
        "{}",
        outcome.said()
    );
}

#[test]
fn a_thread_that_was_put_on_another_core_is_told() {
    if core(0) == core(1) {
        return;
    }
    let outcome = changed_in_mid_run(&["taskset", "--cpu-list", "--pid", &core(1).to_string()]);
    let told = format!("on core {} was first found", core(1));
    assert!(outcome.stderr.contains(&told), "{}", outcome.said());
}

#[test]
fn one_long_overrun_in_a_very_short_run_is_named() {
    let _turn = turn();
    let job = Job::new(20, "").member("V", core(0), "test-node", &["task=V.user", "overrun=10ms@10"]).task(
        "V.user",
        ["6ms", "8ms"],
        "500us",
        "",
    );
    let outcome = Workplace::new().run_watched(&job.text());
    outcome.assert_consistent();
    for instance in outcome.undisturbed(outcome.done("node V: overrun", &[10])) {
        let miss = outcome.miss("V.user", instance);
        assert_eq!((miss.cause, miss.party), (Cause::Overrun, Party::Job), "{:?}", miss.evidence);
    }
}

#[test]
fn a_stopped_agent_is_no_members_fault() {
    let _turn = turn();
    let place = Workplace::new();
    // B stops the agent for a second of the run, in which the members go on by themselves.
    let stop = format!("signal=STOP:{}@10", place.shown("agent.pid"));
    let go = format!("signal=CONT:{}@60", place.shown("agent.pid"));
    let run = place.start(&ring(90, "", [&[], &[&stop, &go], &[]]).text());
    std::fs::write(place.path("agent.pid"), run.pid().to_string()).expect("a place for the number");
    let outcome = run.finish();
    outcome.assert_consistent();
    for task in &outcome.record().phases[0].tasks {
        assert_eq!(task.instances.len(), 90, "{}", outcome.said());
    }
    // What counts as the job's for want of evidence says so.
    for miss in outcome.assessment().misses.iter().filter(|miss| miss.party == Party::Job) {
        assert!(miss.unproven, "{} {}: {:?}", miss.name, miss.instance, miss.evidence);
    }
}
