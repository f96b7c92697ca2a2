//! Odd numbers in a manifest: every instance that is due runs or is accounted for, whatever they are.

use crate::harness::{Outcome, Workplace, turn};
use crate::job::{Job, core, ring};
use leveret_report::record::Ending;

fn assert_accounted(outcome: &Outcome) {
    outcome.assert_consistent();
    assert_eq!(outcome.record().ending, Ending::Completed, "{}", outcome.said());
    outcome.assert_no_miss_of_the_job();
}

#[test]
fn one_round() {
    let _turn = turn();
    let outcome = Workplace::new().run(&ring(1, "", [&[], &[], &[]]).text());
    assert_accounted(&outcome);
    let counts: Vec<usize> =
        outcome.record().phases[0].tasks.iter().map(|task| task.instances.len()).collect();
    assert_eq!(counts, [1, 1, 1]);
}

#[test]
fn a_horizon_shorter_than_a_round() {
    let _turn = turn();
    for (duration, counts) in [("1us", [1, 0, 0]), ("12ms", [1, 1, 0]), ("21ms", [2, 1, 1])] {
        let job = ring(1, "", [&[], &[], &[]]).text();
        let job = job.replace("rounds = 1\n", &format!("duration = \"{duration}\"\n"));
        let outcome = Workplace::new().run(&job);
        assert_accounted(&outcome);
        let ran: Vec<usize> =
            outcome.record().phases[0].tasks.iter().map(|task| task.instances.len()).collect();
        assert_eq!(ran, counts, "{duration}: {}", outcome.said());
    }
}

/// The reader starts periods after the epoch: messages before its first one hold no buffer.
#[test]
fn a_window_beyond_the_period() {
    let _turn = turn();
    let job = Job::new(20, "")
        .member("A", core(0), "test-node", &["task=A.user", "writes=AB"])
        .member("B", core(1), "test-node", &["task=B.user", "reads=AB"])
        .task("A.user", ["0ms", "5ms"], "1ms", "writes = [\"AB\"]")
        .task("B.user", ["87ms", "95ms"], "1ms", "reads = [\"AB\"]")
        .channel("AB", ["5ms", "7ms"], "");
    let outcome = Workplace::new().run(&job.text());
    assert_accounted(&outcome);
    let phase = &outcome.record().phases[0];
    assert_eq!(phase.tasks[0].instances.len(), 20, "{}", outcome.said());
    assert_eq!(phase.tasks[1].instances.len(), 16, "{}", outcome.said());
}

#[test]
fn a_period_shorter_than_the_guard_is_refused_with_its_reason() {
    let _turn = turn();
    let end = "on-refusal=end";
    let job = Job::new(20, "").member("A", core(0), "test-node", &["task=A.user", end]).task_every(
        "50us",
        "A.user",
        ["0us", "20us"],
        "5us",
        "",
    );
    let (code, _, stderr) = Workplace::new().start(&job.text()).finish_without_record();
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("A.user") && stderr.contains("guard"), "{stderr}");
}
