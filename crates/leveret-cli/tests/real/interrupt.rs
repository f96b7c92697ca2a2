//! Ctrl-C: once for a clean end with a report, twice for an end at once.

use crate::harness::{Workplace, turn};
use crate::job::{Job, core, ring};
use leveret_os::process::Signal;
use leveret_report::record::Ending;

/// Far more rounds than any of these tests waits for.
const ENDLESS: u64 = 1_000_000;

#[test]
fn one_interrupt_ends_the_run_with_its_report() {
    let _turn = turn();
    for signal in [Signal::INT, Signal::TERM] {
        let place = Workplace::new();
        let run = place.start(&ring(ENDLESS, "", [&[], &[], &[]]).text());
        run.await_text("stderr", "running node");
        run.signal(signal);
        let outcome = run.finish_alone();
        outcome.assert_consistent();
        assert!(matches!(outcome.code, Some(0 | 3)), "{}", outcome.said());
        let record = outcome.record();
        assert_eq!(record.ending, Ending::Interrupted);
        let counts: Vec<usize> = record.phases[0].tasks.iter().map(|task| task.instances.len()).collect();
        assert!(counts.iter().all(|count| *count == counts[0]), "not the same round for all: {counts:?}");
        assert!(place.path("out/report.html").is_file());
    }
}

#[test]
fn an_interrupt_from_a_terminal_kills_no_member() {
    let _turn = turn();
    let place = Workplace::new();
    let run = place.start(&ring(ENDLESS, "", [&[], &[], &[]]).text());
    run.await_text("stderr", "running node");
    run.interrupt_all();
    let outcome = run.finish_alone();
    assert!(matches!(outcome.code, Some(0 | 3)), "{}", outcome.said());
    assert_eq!(outcome.record().ending, Ending::Interrupted);
}

#[test]
fn an_interrupt_before_the_first_commit_ends_the_run() {
    let _turn = turn();
    let place = Workplace::new();
    // One that never joins keeps the others waiting.
    let pid = format!("pid={}", place.shown("A"));
    let job = Job::new(ENDLESS, "")
        .member("A", core(0), "test-node", &["task=A.user", &pid])
        .command("B", core(1), "/bin/sleep", &["1000"])
        .task("A.user", ["0ms", "5ms"], "1ms", "");
    let run = place.start(&job.text());
    run.await_file("A");
    run.signal(Signal::INT);
    let outcome = run.finish_alone();
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    assert!(outcome.stderr.contains("interrupted"), "{}", outcome.said());
}

#[test]
fn a_second_interrupt_ends_the_run_at_once() {
    let _turn = turn();
    let place = Workplace::new();
    // A body that does not come back keeps the run from ending by itself.
    let run = place.start(&ring(ENDLESS, "", [&["overrun=1000s@3"], &[], &[]]).text());
    run.await_text("stderr", "node A: overrun in instance 3");
    run.signal(Signal::INT);
    run.await_text("stderr", "interrupted");
    run.signal(Signal::INT);
    let outcome = run.finish();
    assert_eq!(outcome.code, Some(130), "{}", outcome.said());
    place.await_nobody();
}

#[test]
fn a_member_that_does_not_stop_is_stopped() {
    let _turn = turn();
    let place = Workplace::new();
    let run = place.start(&ring(ENDLESS, "", [&["overrun=1000s@3"], &[], &[]]).text());
    run.await_text("stderr", "node A: overrun in instance 3");
    run.signal(Signal::INT);
    let outcome = run.finish_alone();
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    assert_eq!(outcome.record().ending, Ending::Interrupted);
    assert!(
        outcome.stderr.contains("member \"A\"") && outcome.stderr.contains("did not stop"),
        "{}",
        outcome.said()
    );
}
