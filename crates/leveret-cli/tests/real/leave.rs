//! Members that leave in the middle of a commit: none hangs, none counts as a success, and the policy says how the job goes on.

use crate::harness::{Outcome, Workplace, turn};
use crate::job::{Job, core};
use leveret_report::record::{Ending, EventKind};

/// Far more rounds than pass until the member leaves: a job that misses that is ended by the watchdog.
const ROUNDS: u64 = 1_000_000;

/// A job of two members with a task each, of which B leaves.
fn leaving(policy: &str, rounds: u64, how: &str) -> Outcome {
    let how = format!("how={how}");
    let job = Job::new(rounds, &format!("policy = \"{policy}\""))
        .member("A", core(0), "test-leaver", &["task=A.user"])
        .member("B", core(0), "test-leaver", &["task=B.user", &how])
        .task("A.user", ["0ms", "10ms"], "1ms", "")
        .task("B.user", ["10ms", "20ms"], "1ms", "");
    Workplace::new().start(&job.text()).finish_alone()
}

/// How B died, by the record.
fn death(outcome: &Outcome) -> String {
    let events = outcome.record().phases.iter().flat_map(|phase| &phase.events);
    let mut deaths = events.filter_map(|event| match &event.kind {
        EventKind::MemberDied { member: 1, how } => Some(how.clone()),
        _ => None,
    });
    deaths.next().unwrap_or_else(|| panic!("nobody died: {}", outcome.said()))
}

/// Each way out: the exit status, what the agent knows of the cause, and what the member printed of it.
const WAYS: [(&str, &str, &str); 9] = [
    ("error", "exit status 1, its program left a commit", "planted out of main"),
    ("panic", "exit status 101, its program panicked", "planted in main"),
    ("success", "exit status 0, its program left a commit", ""),
    ("again", "exit status 0, its program left a commit", "no other commit: this member has left a commit"),
    ("stay", "signal 9 (SIGKILL), its program left a commit", ""),
    ("task", "signal 9 (SIGKILL), a task failed: planted in a task", "planted in a task"),
    ("hangup", "signal 9 (SIGKILL), expelled: it has not ended within 5s of closing its connection", ""),
    ("exit", "exit status 3", ""),
    ("abort", "signal 6 (SIGABRT)", ""),
];

#[test]
fn who_leaves_a_commit_has_failed_and_stops_the_job() {
    let _turn = turn();
    for (how, known, printed) in WAYS {
        let outcome = leaving("stop", ROUNDS, how);
        assert_eq!(outcome.code, Some(1), "{how}: {}", outcome.said());
        let death = death(&outcome);
        assert!(death.starts_with(known), "{how}: {death}");
        let Ending::Stopped(reason) = &outcome.record().ending else { panic!("{how}: {}", outcome.said()) };
        assert!(reason.starts_with("member \"B\" died: ") && reason.contains(known), "{how}: {reason}");
        let all = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(all.contains(printed), "{how}: {}", outcome.said());
    }
}

#[test]
fn the_others_go_on_without_a_member_that_failed() {
    let _turn = turn();
    for how in ["error", "panic", "success", "task", "hangup"] {
        let outcome = leaving("continue", 400, how);
        assert_eq!(outcome.code, Some(1), "{how}: {}", outcome.said());
        let record = outcome.record();
        assert_eq!(record.ending, Ending::Completed, "{how}: {}", outcome.said());
        let ran: Vec<usize> = record.phases[0].tasks.iter().map(|task| task.instances.len()).collect();
        assert!(ran[0] == 400 && ran[1] < 400, "{how}: {ran:?} instances ran");
    }
}

#[test]
fn a_member_that_failed_is_started_again() {
    let _turn = turn();
    for how in ["error", "panic", "success", "task"] {
        let outcome = leaving("restart", 20, how);
        assert_eq!(outcome.code, Some(1), "a death is an irregularity: {how}: {}", outcome.said());
        let record = outcome.record();
        assert_eq!(
            (record.phases.len(), &record.ending),
            (2, &Ending::Completed),
            "{how}: {}",
            outcome.said()
        );
        assert_eq!(record.phases[1].tasks[1].instances.len(), 20, "{how}: {}", outcome.said());
    }
}

/// All rounds ran; that its program had to be killed is no success all the same.
#[test]
fn who_does_not_end_after_the_run_has_failed() {
    let _turn = turn();
    let outcome = leaving("stop", 20, "stay-after");
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    let Ending::FailedAfter(reason) = &outcome.record().ending else { panic!("{}", outcome.said()) };
    assert!(reason.contains("member \"B\" did not end within 5s"), "{reason}");
    assert!(!reason.contains("member \"A\""), "{reason}");
}
