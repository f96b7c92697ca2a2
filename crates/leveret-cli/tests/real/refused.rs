//! Jobs that are not admitted: one explanation for everybody, and nothing runs.

use crate::harness::{Outcome, Workplace, turn};
use crate::job::{Job, core, ring};
use leveret_report::record::Ending;

/// Every member heard the same refusal, and it is what the user reads.
fn assert_refused_alike(outcome: &Outcome, members: &[&str], says: &[&str]) {
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    assert!(outcome.record.is_none(), "{}", outcome.said());
    for text in says {
        assert!(outcome.stderr.contains(text), "\"{text}\" is missing: {}", outcome.said());
    }
    let heard: Vec<&str> = members
        .iter()
        .map(|member| {
            let start = format!("refused {member}: ");
            let place = outcome.stdout.find(&start).unwrap_or_else(|| panic!("{member}: {}", outcome.said()));
            let rest = &outcome.stdout[place + start.len()..];
            rest.lines().next().unwrap_or(rest)
        })
        .collect();
    assert!(heard.iter().all(|reason| *reason == heard[0]), "not the same for all: {heard:?}");
}

const END: &str = "on-refusal=end";

// spec: SETUP-COMMIT-02, QOS-ADMIT-03
#[test]
fn an_impossible_job_is_explained_to_everybody() {
    let _turn = turn();
    let job = Job::new(20, "")
        .member("A", core(0), "test-node", &["task=A.user", END])
        .member("B", core(0), "test-node", &["task=B.user", END])
        .task("A.user", ["0ms", "10ms"], "8ms", "")
        .task("B.user", ["0ms", "10ms"], "8ms", "");
    let outcome = Workplace::new().start(&job.text()).finish_alone();
    assert_refused_alike(&outcome, &["A", "B"], &["the job is refused", "A.user", "B.user", "hint:"]);
}

/// Its plan is longer than a message to a member.
#[test]
fn a_job_that_is_too_large_to_be_told_is_refused_to_everybody() {
    let _turn = turn();
    let job = Job::new(1, "")
        .member("A", core(0), "test-node", &["task=A.user", END])
        .member("B", core(1), "test-node", &["task=B.user", END])
        .task_every("100us", "A.user", ["0us", "100us"], "1us", "")
        .task_every("20s", "B.user", ["0ms", "10ms"], "1ms", "");
    // A guard that fits into the short period.
    let job = job.text().replace("guard = \"100us\"", "guard = \"10us\"");
    let outcome = Workplace::new().start(&job).finish_alone();
    assert_refused_alike(&outcome, &["A", "B"], &["the job is refused", "the job is too large", "hint:"]);
}

/// What was declared could be as good as can be.
#[test]
fn a_member_that_ends_before_the_commit_is_no_refusal() {
    let _turn = turn();
    let job = Job::new(20, "")
        .member("A", core(0), "test-node", &["task=A.user", END])
        .command("B", core(1), "/bin/sh", &["-c", "exit 3"])
        .task("A.user", ["0ms", "10ms"], "1ms", "");
    let outcome = Workplace::new().start(&job.text()).finish_alone();
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    for text in ["the job ended before its first commit", "\"B\"", "exit status 3"] {
        assert!(outcome.stderr.contains(text), "\"{text}\" is missing: {}", outcome.said());
    }
    assert!(!outcome.stderr.contains("is refused"), "{}", outcome.said());
}

// spec: CHANNEL-MATCH-04, SETUP-COMMIT-02
#[test]
fn ends_that_differ_are_both_named() {
    let _turn = turn();
    let extra: [&[&str]; 3] = [&["size=64", END], &["size=128", END], &["size=128", END]];
    let outcome = Workplace::new().start(&ring(20, "", extra).text()).finish_alone();
    let says = ["channel \"AB\"", "size differs", "64", "128", "\"A\"", "\"B\""];
    assert_refused_alike(&outcome, &["A", "B", "C"], &says);
    assert!(!outcome.stdout.contains(": 0 mismatches"), "{}", outcome.said());
}

// spec: CHANNEL-MATCH-05
#[test]
fn an_end_without_its_other_end_is_named() {
    let _turn = turn();
    let job = Job::new(20, "")
        .member("A", core(0), "test-node", &["task=A.user", "writes=AB", END])
        .member("B", core(1), "test-node", &["task=B.user", END])
        .task("A.user", ["0ms", "5ms"], "1ms", "writes = [\"AB\"]")
        .task("B.user", ["7ms", "11ms"], "1ms", "reads = [\"AB\"]")
        .channel("AB", ["5ms", "7ms"], "");
    let outcome = Workplace::new().start(&job.text()).finish_alone();
    assert_refused_alike(&outcome, &["A", "B"], &["\"AB\"", "\"B\""]);
}

#[test]
fn a_task_without_a_body_is_named() {
    let _turn = turn();
    let job = Job::new(20, "")
        .member("A", core(0), "test-node", &["task=A.user", END])
        .member("B", core(1), "test-node", &[END])
        .task("A.user", ["0ms", "5ms"], "1ms", "")
        .task("B.user", ["7ms", "11ms"], "1ms", "");
    let outcome = Workplace::new().start(&job.text()).finish_alone();
    assert_refused_alike(&outcome, &["A", "B"], &["task \"B.user\"", "\"B\""]);
}

#[test]
fn a_second_commit_that_is_refused_fails_the_run_that_the_first_had_won() {
    let _turn = turn();
    let extra: [&[&str]; 3] = [&["again=64"], &["again=128"], &["again=128"]];
    let outcome = Workplace::new().start(&ring(10, "", extra).text()).finish_alone();
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    assert_eq!(outcome.record().phases.len(), 1);
    let Ending::Stopped(reason) = &outcome.record().ending else { panic!("{}", outcome.said()) };
    assert!(reason.contains("commit 2 was refused") && reason.contains("size differs"), "{reason}");
}

// spec: SETUP-COMMIT-07
#[test]
fn a_member_that_leaves_between_two_commits_fails_the_run() {
    let _turn = turn();
    let outcome =
        Workplace::new().start(&ring(10, "", [&["again=64"], &[], &["again=64"]]).text()).finish_alone();
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    let Ending::Stopped(reason) = &outcome.record().ending else { panic!("{}", outcome.said()) };
    assert!(reason.contains("has ended"), "{reason}");
}

// spec: SETUP-UNCOMMIT-04
#[test]
fn two_commits_of_other_sizes_are_two_phases() {
    let _turn = turn();
    let extra: [&[&str]; 3] = [&["again=1024"], &["again=1024"], &["again=1024"]];
    let outcome = Workplace::new().start(&ring(10, "", extra).text()).finish_alone();
    outcome.assert_consistent();
    let sizes: Vec<u64> = outcome.record().phases.iter().map(|phase| phase.job.channels[0].size.0).collect();
    assert_eq!(sizes, [64, 1024]);
    assert_eq!(outcome.report()["data_path"]["allocations_after_commit"], 0);
}

/// Members fail with the error that they got, and do not repeat its reason.
#[test]
fn the_reason_of_a_refusal_is_printed_once() {
    let _turn = turn();
    let extra: [&[&str]; 3] = [&["size=64"], &["size=128"], &["size=128"]];
    let outcome = Workplace::new().start(&ring(20, "", extra).text()).finish_alone();
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    for channel in ["AB", "CA"] {
        let reason = format!("channel \"{channel}\" of group \"world\": size differs");
        assert_eq!(outcome.stderr.matches(&reason).count(), 1, "{}", outcome.said());
    }
    assert!(outcome.stderr.contains("the commit was refused; `leveret run` says why"), "{}", outcome.said());
}

// spec: SETUP-COMMIT-08
#[test]
fn a_member_that_never_commits_is_named_and_not_waited_for_without_end() {
    let _turn = turn();
    let extra: [&[&str]; 3] = [&[], &["idle=yes"], &[]];
    let place = Workplace::new();
    let outcome =
        place.start_with(&ring(20, "", extra).text(), &["--commit-within", "2500ms"]).finish_alone();
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    assert!(outcome.stderr.contains("waiting for member \"B\" to commit"), "{}", outcome.said());
    let expelled = "member \"B\" is expelled: it has not committed within 2.5s of the others";
    assert!(outcome.stderr.contains(expelled), "{}", outcome.said());
    assert!(!outcome.stderr.contains("waiting for member \"A\""), "{}", outcome.said());
}
