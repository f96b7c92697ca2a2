//! `leveret why` of a message that arrived in time and that nobody took.

use leveret_report::Report;
use leveret_report::record::{Event, EventKind, Fate, Outcome, Phase};
use leveret_report::synthetic::{B, C, Plant, Ring, ring};
use leveret_report::why::why;
use leveret_types::Nanos;

/// The channel from B to C.
const CHANNEL: usize = B;
const INSTANCE: usize = 70;

/// What is said of a message that C did not take, in a phase that `change` has made otherwise.
fn said(change: impl FnOnce(&mut Phase)) -> String {
    let mut record = ring(&Ring { rounds: 100, ..Ring::default() });
    let phase = &mut record.phases[0];
    let message = &mut phase.channels[CHANNEL].messages[INSTANCE];
    (message.taken, message.fate) = (None, Fate::Untaken);
    change(phase);
    why(&Report::of(&record), "b-to-c", INSTANCE as u64).expect("it is there")
}

#[track_caller]
fn expect(text: &str, reader: &str) {
    let verdict = format!("verdict: it arrived in time, and nobody took it: {reader}");
    assert!(text.contains(&verdict) && !text.contains("kept its window"), "no \"{reader}\" in\n{text}");
}

#[test]
fn a_reader_that_was_skipped_is_named_with_its_reason() {
    let skipped = |outcome| said(|phase| phase.tasks[C].instances[INSTANCE].outcome = outcome);
    let text = skipped(Outcome::SkippedCritical);
    expect(&text, "its reader C.user, instance 70, was skipped, since too little of its window was left");
    assert!(text.contains("`leveret why C.user 70`"), "{text}");
    let text = skipped(Outcome::SkippedOverrun);
    expect(&text, "its reader C.user, instance 70, was skipped, since the instance before it overran");
    // The same of a run whose reader was really kept from its window.
    let plants = vec![(INSTANCE as u64, Plant::LateTimer { task: C, by: Nanos::from_micros(900) })];
    let record = ring(&Ring { rounds: 100, plants, ..Ring::default() });
    expect(
        &why(&Report::of(&record), "b-to-c", INSTANCE as u64).expect("it is there"),
        "its reader C.user, instance 70, was skipped",
    );
}

#[test]
fn a_reader_that_ran_and_left_it_is_said_to_have_run() {
    expect(&said(|_| {}), "its reader C.user, instance 70, ran from ");
    let text = said(|phase| {
        let reader = &mut phase.tasks[C].instances[INSTANCE];
        reader.ended = reader.deadline + Nanos::from_micros(30);
    });
    assert!(text.contains("30us after its window's end, and did not take it"), "{text}");
}

#[test]
fn a_reader_that_did_nothing_any_more_is_said_to_have_ended() {
    let text = said(|phase| phase.tasks[C].instances.truncate(60));
    expect(&text, "its reader C.user has no record of instance 70, which was due at ");
    assert!(text.contains(": its last was 59, which ended at "), "{text}");
    let text = said(|phase| {
        phase.tasks[C].instances.truncate(60);
        let member = phase.job.tasks[C].member.0;
        let kind = EventKind::MemberDied { member, how: "signal 9 (SIGKILL)".to_owned() };
        phase.events.push(Event { at: Nanos::from_millis(60), kind });
    });
    assert!(text.contains(": its member C died at 60ms (signal 9 (SIGKILL))"), "{text}");
    let text = said(|phase| {
        phase.tasks[C].instances.remove(INSTANCE);
        phase.tasks[C].records_lost = 1;
    });
    assert!(text.contains(": 1 of its records were lost"), "{text}");
}

#[test]
fn a_reading_member_that_stood_still_is_named() {
    let text = said(|phase| {
        phase.tasks[C].instances.truncate(60);
        let member = phase.job.tasks[C].member.0;
        phase.events.push(Event { at: Nanos::from_millis(61), kind: EventKind::MemberStopped { member } });
    });
    assert!(text.contains("; member C had been stopped by a signal at 61ms"), "{text}");
}

#[test]
fn a_channel_that_no_task_reads_names_the_member() {
    let text = said(|phase| {
        phase.job.tasks[C].reads.clear();
        for planned in &mut phase.plan.tasks[C].instances {
            planned.reads.clear();
        }
    });
    expect(&text, "no task reads this channel; its member C takes messages when it likes, and left this one");
}
