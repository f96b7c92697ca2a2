//! Members that do not keep the protocol, or do not come at all: named, expelled, and no hang.

use crate::harness::{Outcome, Workplace, member, program, turn};
use crate::job::{Job, core};
use leveret_report::record::EventKind;
use leveret_types::Nanos;
use std::process::Command;

/// A proper member A and a hostile H.
fn beside(how: &str, policy: &str) -> Outcome {
    let job = Job::new(20, &format!("policy = \"{policy}\""))
        .member("A", core(0), "test-node", &["task=A.user"])
        .member("H", core(1), "test-hostile", &[how])
        .task("A.user", ["0ms", "5ms"], "1ms", "");
    Workplace::new().start(&job.text()).finish_alone()
}

/// The run ends refused, and says of H what it did.
fn assert_expelled(how: &str, says: &str) {
    let _turn = turn();
    let outcome = beside(how, "stop");
    assert_eq!(outcome.code, Some(1), "{how}: {}", outcome.said());
    assert!(outcome.record.is_none(), "{how}: {}", outcome.said());
    assert!(outcome.stderr.contains("member \"H\""), "{how}: {}", outcome.said());
    assert!(outcome.stderr.contains(says), "{how}: \"{says}\" is missing: {}", outcome.said());
    assert!(!outcome.stderr.contains("panicked"), "{how}: {}", outcome.said());
}

#[test]
fn bytes_that_are_no_message_are_an_end() {
    assert_expelled("not-json", "control message not understood");
}

#[test]
fn a_frame_beyond_all_bounds_is_an_end() {
    assert_expelled("huge", "the limit is");
}

#[test]
fn a_wrong_secret_does_not_join() {
    assert_expelled("wrong-secret", "ended: exit status 1");
}

#[test]
fn a_member_of_another_version_is_to_be_built_again() {
    let _turn = turn();
    for how in ["old-library", "older-library"] {
        let outcome = beside(how, "stop");
        assert_eq!(outcome.code, Some(1), "{how}: {}", outcome.said());
        assert!(outcome.stdout.contains("build it again with the library"), "{how}: {}", outcome.said());
        assert!(outcome.stderr.contains("member \"H\" ended: exit status 1"), "{how}: {}", outcome.said());
    }
}

#[test]
fn a_message_out_of_place_is_an_end() {
    assert_expelled("finished-first", "a finished message is out of place");
}

#[test]
fn a_segment_that_is_not_sealed_is_an_end() {
    assert_expelled("unsealed", "memory file");
}

#[test]
fn a_segment_of_another_size_is_an_end() {
    assert_expelled("wrong-size", "the plan says");
    assert_expelled("small-segment", "is expelled");
}

/// Tasks are numbered through all members: A has the first.
#[test]
fn threads_that_are_not_its_own_are_an_end() {
    assert_expelled("foreign-thread", "is not of its process");
    assert_expelled("first-thread", "thread 1 of task 1 is not of its process");
    assert_expelled("two-threads", "task 1 has two threads");
}

#[test]
fn threads_of_a_mode_that_are_not_its_own_are_an_end() {
    let _turn = turn();
    // Alone, so that the mode waits for nobody else; until the job is stopped for it.
    let job = Job::new(100_000, "policy = \"stop\"").member("H", core(0), "test-hostile", &["mode-thread"]);
    let outcome = Workplace::new().run(&job.text());
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    assert!(outcome.stderr.contains("is not of its process"), "{}", outcome.said());
}

#[test]
fn a_segment_without_descriptor_or_header_is_an_end() {
    assert_expelled("no-segment", "carries one descriptor");
    assert_expelled("empty-segment", "is expelled");
}

/// It would take an hour to close what these send.
#[test]
fn descriptors_that_nobody_asked_for_are_an_end_and_hold_up_nobody() {
    assert_expelled("lingering", "it sent 1 descriptors with a message that carries none");
    assert_expelled("lingering-segment", "is expelled");
}

#[test]
fn another_members_task_is_refused() {
    let _turn = turn();
    let outcome = beside("others-task", "stop");
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    assert!(outcome.stderr.contains("task \"A.user\""), "{}", outcome.said());
    assert!(outcome.stderr.contains("\"A\"") && outcome.stderr.contains("\"H\""), "{}", outcome.said());
}

#[test]
fn leaving_in_the_middle_of_a_commit_refuses_it() {
    let _turn = turn();
    let outcome = beside("vanish-after-declare", "stop");
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    assert!(outcome.record.is_none(), "{}", outcome.said());
}

/// Warnings, failures and overruns without end, with what commands a terminal in them.
#[test]
fn what_a_member_says_is_bounded_and_commands_nothing() {
    const SAID_MAX: usize = 300;
    let _turn = turn();
    let place = Workplace::new();
    let job = Job::new(20, "policy = \"stop\"")
        .member("A", core(0), "test-node", &["task=A.user"])
        .member("H", core(1), "test-hostile", &["loud"])
        .task("A.user", ["0ms", "5ms"], "1ms", "");
    let outcome = place.run(&job.text());
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    assert!(outcome.stderr.contains("member \"H\" has given 256 warnings"), "{}", outcome.stderr);
    assert!(outcome.stderr.matches("warning: ").count() <= SAID_MAX, "{}", outcome.stderr);
    let record = outcome.record();
    assert!(record.machine.warnings.len() <= SAID_MAX);
    let failed = record.phases.iter().flat_map(|phase| &phase.events).filter_map(|event| match &event.kind {
        EventKind::RunsFailed { times, .. } => Some((event.at, *times)),
        _ => None,
    });
    let failed: Vec<_> = failed.collect();
    assert!((1..=SAID_MAX).contains(&failed.len()), "{failed:?}");
    for (at, times) in failed {
        // They are watched from before the epoch on.
        let possible = u64::try_from((at + Nanos::from_secs(1)).0 / 1000).unwrap_or(0);
        assert!(times <= possible, "{times} failures {at} after the epoch");
    }
    let commands_nothing = |text: &str| !text.contains(['\u{1b}', '\u{9b}']);
    assert!(commands_nothing(&outcome.stdout) && commands_nothing(&outcome.stderr), "{}", outcome.said());
    for arguments in [&["report"][..], &["why", "A.user", "0"]] {
        let (command, rest) = arguments.split_first().expect("a command");
        let told = Command::new(program()).arg(command).arg(place.path("out")).args(rest).output();
        let told = String::from_utf8(told.expect("it starts").stdout).expect("text");
        assert!(!told.is_empty() && commands_nothing(&told), "{command}: {told:?}");
    }
}

#[test]
fn a_breaker_of_the_protocol_is_not_restarted_for_ever() {
    let _turn = turn();
    let outcome = beside("not-json", "restart");
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    assert!(outcome.stderr.contains("member \"H\" died 11 times"), "{}", outcome.said());
}

#[test]
fn whoever_never_joins_does_not_hang_the_job() {
    // Nothing runs in these jobs, so they need no turn and wait side by side. The first three stay strangers: they
    // never say who they are, or say too much.
    let hostile = member("test-hostile");
    let programs = [
        (hostile.as_str(), "garbage", "has not joined within"),
        (&hostile, "silent", "has not joined within"),
        (&hostile, "endless-name", "has not joined within"),
        ("/bin/sleep", "1000", "has not joined within"),
        ("/bin/true", "", "has ended"),
        ("/bin/false", "", "exit status 1"),
    ];
    let places = programs.map(|_| Workplace::new());
    let runs: Vec<_> = (programs.iter().zip(&places))
        .map(|((program, argument, _), place)| {
            let job = Job::new(20, "")
                .member("A", core(0), "test-node", &["task=A.user"])
                .command("H", core(1), program, &[argument])
                .task("A.user", ["0ms", "5ms"], "1ms", "");
            place.start(&job.text())
        })
        .collect();
    for (run, (program, argument, says)) in runs.into_iter().zip(programs) {
        let outcome = run.finish_alone();
        assert_eq!(outcome.code, Some(1), "{program} {argument}: {}", outcome.said());
        assert!(outcome.stderr.contains(says), "{program} {argument}: {}", outcome.said());
    }
}
