//! Planted causes: what was done on purpose is what the verdict names, and never the machine.

use crate::harness::{Outcome, Workplace, turn};
use crate::job::{Job, core, ring};
use leveret_report::verdict::{Cause, Door};

/// Instances in which something is planted.
const PLANTED: [u64; 3] = [10, 20, 30];
const ROUNDS: u64 = 40;

/// Each planted instance of `name` was missed by this cause, which is ours.
fn assert_named(outcome: &Outcome, name: &str, cause: Cause) {
    outcome.assert_consistent();
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    for instance in PLANTED {
        let miss = outcome.miss(name, instance);
        assert_eq!(miss.door, Door::Ours, "{name} {instance}: {:?}", miss.evidence);
        assert_eq!(miss.cause, cause, "{name} {instance}: {:?}", miss.evidence);
    }
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

#[test]
fn a_hog_at_a_higher_priority_is_named() {
    let _turn = turn();
    let place = Workplace::new();
    let on = format!("core={}", core(0));
    let hog = [on.as_str(), "priority=95", "period=20ms", "from=5ms", "for=6ms", "at=10,20,30"];
    let outcome = place.run(&victim(&[], ("test-hog", &hog)));
    assert_named(&outcome, "V.user", Cause::RunQueueWait);
    let evidence = outcome.miss("V.user", 10).evidence.join("\n");
    let whole = outcome.record().machine.switch_log_whole_core;
    assert!(!whole || evidence.contains("hog"), "the hog is not named: {evidence}");
}

#[test]
fn page_faults_in_the_body_are_named() {
    let _turn = turn();
    let outcome = Workplace::new().run(&victim(&["fault=64@10,20,30"], ("test-node", &[])));
    assert_named(&outcome, "V.user", Cause::PageFault);
}

#[test]
fn an_overrun_is_named() {
    let _turn = turn();
    let outcome = Workplace::new().run(&victim(&["overrun=5ms@10,20,30"], ("test-node", &[])));
    assert_named(&outcome, "V.user", Cause::Overrun);
}

#[test]
fn a_late_peer_is_named_with_its_root() {
    let _turn = turn();
    let outcome = Workplace::new().run(&ring(ROUNDS, "", [&["overrun=9ms@10,20,30"], &[], &[]]).text());
    assert_named(&outcome, "A.user", Cause::Overrun);
    assert_named(&outcome, "AB", Cause::LatePeer);
    for instance in PLANTED {
        let root = outcome.miss("AB", instance).root.expect("a late message has a root");
        assert_eq!((root.name.as_str(), root.instance), ("A.user", instance));
        assert_eq!((root.cause, root.door), (Cause::Overrun, Door::Ours));
    }
}

#[test]
fn a_stopped_member_is_named() {
    let _turn = turn();
    let place = Workplace::new();
    let pid = format!("pid={}", place.shown("V.pid"));
    // Stopped before its instance 10, and on again before its instance 15.
    let stop = format!("signal=STOP:{}@10", place.shown("V.pid"));
    let go = format!("signal=CONT:{}@15", place.shown("V.pid"));
    let job = Job::new(ROUNDS, "")
        .member("V", core(0), "test-node", &["task=V.user", &pid])
        .member("W", core(1), "test-node", &["task=W.user", &stop, &go])
        .task("V.user", ["8ms", "12ms"], "500us", "")
        .task("W.user", ["0ms", "4ms"], "500us", "");
    let outcome = place.run(&job.text());
    outcome.assert_consistent();
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    for instance in 10..15 {
        let miss = outcome.miss("V.user", instance);
        assert_eq!((miss.cause, miss.door), (Cause::StoppedMember, Door::Ours), "{:?}", miss.evidence);
    }
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
    let assessment = outcome.assessment();
    let missed = assessment.irregularities.iter().find(|found| found.kind == "unaccounted");
    let missed = missed.unwrap_or_else(|| panic!("nothing is missed: {}", outcome.said()));
    assert_eq!(missed.name, "V.user");
    assert!(missed.count >= ROUNDS - 12 && missed.sentence.contains("stopped by a signal"), "{missed:?}");
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
    let outcome = Workplace::new().run(&job.text());
    outcome.assert_consistent();
    let miss = outcome.miss("V.user", 10);
    assert_eq!((miss.cause, miss.door), (Cause::Overrun, Door::Ours), "{:?}", miss.evidence);
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
    // Nobody laid a stall of the machine at our door for want of evidence without saying so.
    for miss in outcome.assessment().misses.iter().filter(|miss| miss.door == Door::Ours) {
        let cause = miss.root.as_ref().map_or(miss.cause, |root| root.cause);
        assert_eq!(cause, Cause::EvidenceLost, "{} {}: {:?}", miss.name, miss.instance, miss.evidence);
    }
}
