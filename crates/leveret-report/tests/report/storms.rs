//! A thread that has its core and does not get out of its planned sleep: signals in any number, or the machine.

use crate::held::{Held, actor, idle, micros};
use leveret_report::record::{EventKind, Left, Outcome, SwitchEvent, ThreadKind};
use leveret_report::synthetic::{A, Plant};
use leveret_report::verdict::{Cause, Party};

/// A's thread comes to its core so many microseconds after its wake-up is due, and says 350 us later that it was woken.
fn on_its_core(after: i64) -> Held {
    let mut held = Held::new(idle(), Left::Asleep);
    let (thread, due) = (held.thread, held.due);
    held.record.phases[0].switches.retain(|event| event.from != event.to);
    let came = held.record.phases[0].switches.iter_mut().find(|event| event.to == thread && event.at > due);
    came.expect("it comes").at = due + micros(after);
    held
}

fn woken(held: Held, after: i64, by: Option<u32>) -> Held {
    let at = held.due + micros(after);
    held.with(at, EventKind::Woken { task: A as u16, core: 0, by })
}

#[test]
fn a_thread_that_is_slow_on_its_way_out_of_the_sleep_stood_still_with_its_core() {
    let held = woken(on_its_core(3), 2, None);
    let miss = held.expect(Cause::StallInSpin, Party::Machine, false);
    assert!(miss.evidence[0].contains("was not out of its sleep though the end of it had come"), "{miss:#?}");
}

#[test]
fn a_thread_that_a_call_woke_or_that_was_awake_before_proves_nothing_of_the_machine() {
    let by_call = woken(on_its_core(3), 2, Some(701));
    let miss = by_call.expect(Cause::Unexplained, Party::Job, true);
    assert!(miss.evidence[0].contains("thread 701"), "{miss:#?}");
    // As when a handler of the program's own runs.
    let before = woken(on_its_core(-20), -21, None);
    before.expect(Cause::Unexplained, Party::Job, true);
}

#[test]
fn who_stops_a_member_and_lets_it_go_on_again_and_again_is_named() {
    let by_whom =
        [(Some(false), Party::Process, false), (Some(true), Party::Job, false), (None, Party::Job, true)];
    for (is_own, party, unproven) in by_whom {
        let storm = |signals: i64| {
            let held = on_its_core(3);
            let sent = EventKind::StopSent { member: 0, signal: 19, by: actor(is_own) };
            let at = held.due - micros(700);
            (0..signals).fold(held.with(at, sent), |held, turn| woken(held, 2 + 30 * turn, Some(701)))
        };
        let miss = storm(10).expect(Cause::StoppedMember, party, unproven);
        assert_eq!(miss.culprit.and_then(|culprit| culprit.pid), is_own.map(|_| 700));
        assert!(
            miss.evidence[0].contains("stopped by signals and let go on again and again"),
            "{:?}",
            miss.evidence
        );
        // A single stop ends.
        storm(1).expect(Cause::Unexplained, Party::Job, true);
    }
}

/// A member that stood still until 300 us after its start, and computed for so long then that it ended this much after its window.
fn stood_and_computed(late_by: i64) -> Held {
    let mut held = Held::new(idle(), Left::Stopped);
    held.record.phases[0].switches.retain(|event| event.from != event.to);
    let late = held.record.phases[0].tasks[A].instances.iter_mut().find(|each| each.woken == held.woken);
    let late = late.expect("the late one");
    (late.outcome, late.started) = (Outcome::RanLate, late.woken + micros(1));
    late.deadline = late.started + micros(100);
    late.ended = late.deadline + micros(late_by);
    late.cpu = late.ended - late.started;
    // It keeps its core.
    let (thread, from, to) = (held.thread, late.started, late.ended);
    held.record.phases[0].switches.retain(|event| event.from != thread || event.at < from || event.at > to);
    let sent = EventKind::StopSent { member: 0, signal: 19, by: actor(Some(false)) };
    let (sent_at, known) = (held.due - micros(200), held.due + micros(150));
    woken(held.with(sent_at, sent).with(known, EventKind::MemberStopped { member: 0 }), 2, None)
}

/// Whoever stopped it is not to blame for a body that takes too long in any case.
#[test]
fn a_member_that_stood_still_and_then_computed_too_long_has_its_own_part() {
    let miss = stood_and_computed(350).expect(Cause::Overrun, Party::Job, false);
    assert!(miss.evidence.iter().any(|words| words.contains("had not gone on when")), "{miss:#?}");
    assert!(miss.evidence.iter().any(|words| words.contains("executed for")), "{miss:#?}");
    stood_and_computed(250).expect(Cause::StoppedMember, Party::Process, false);
}

#[test]
fn a_member_that_had_gone_on_is_not_said_to_have_stood_still() {
    let stopped = |comes_between: bool| {
        let mut held = Held::new(idle(), Left::Stopped);
        let (thread, due) = (held.thread, held.due);
        held.record.phases[0].switches.retain(|event| event.from != event.to);
        let turn = |at, from, to, left, to_kind| SwitchEvent {
            at,
            core: 0,
            from,
            to,
            left,
            to_kind,
            to_process: None,
            to_name: String::new(),
        };
        if comes_between {
            let switches = &mut held.record.phases[0].switches;
            switches.push(turn(due + micros(100), 0, thread, Left::Runnable, ThreadKind::Task(A as u16)));
            switches.push(turn(due + micros(110), thread, 0, Left::Stopped, ThreadKind::Idle));
            switches.sort_by_key(|event| event.at);
        }
        let sent = EventKind::StopSent { member: 0, signal: 19, by: actor(Some(false)) };
        let held = held.with(due - micros(200), sent);
        let held = held.with(due + micros(150), EventKind::MemberStopped { member: 0 });
        held.expect(Cause::StoppedMember, Party::Process, false).evidence
    };
    let stood = |evidence: &[String]| evidence[0].contains("had not gone on when this instance was due");
    assert!(stood(&stopped(false)));
    let evidence = stopped(true);
    assert!(!stood(&evidence) && evidence[0].contains("it had been stopped by SIGSTOP at"), "{evidence:?}");
}

/// So many stops and continuations, evenly over what the instance takes from its start on.
fn stormed(plant: Plant, signals: i64) -> Held {
    let held = Held::new(plant, Left::Asleep);
    let sent = EventKind::StopSent { member: 0, signal: 19, by: actor(Some(false)) };
    let at = held.due - micros(700);
    (0..signals).fold(held.with(at, sent), |held, turn| woken(held, 60 + turn * 1000 / signals, Some(701)))
}

#[test]
fn a_body_in_which_somebody_sends_signals_all_the_time_is_not_said_to_overrun() {
    let plant = || Plant::Overrun { task: A, by: micros(900) };
    let miss = stormed(plant(), 40).expect(Cause::StoppedMember, Party::Process, false);
    assert!(miss.evidence[0].starts_with("executed for"), "{:?}", miss.evidence);
    assert_eq!(miss.culprit.and_then(|culprit| culprit.pid), Some(700));
    // A handful leave room for most of the overrun.
    stormed(plant(), 1).expect(Cause::Overrun, Party::Job, false);
    stormed(plant(), 0).expect(Cause::Overrun, Party::Job, false);
}

#[test]
fn a_thread_that_serves_signals_before_its_body_did_not_stand_still_with_its_core() {
    let plant = || Plant::StallInSpin { task: A, by: micros(900) };
    stormed(plant(), 40).expect(Cause::StoppedMember, Party::Process, false);
    stormed(plant(), 2).expect(Cause::Unexplained, Party::Job, true);
    stormed(plant(), 0).expect(Cause::StallInSpin, Party::Machine, false);
}

/// Signals that stop a member stop all of its threads, and the kernel may serve those of one that ranks below the task's first.
#[test]
fn a_wait_behind_a_thread_that_serves_the_same_signals_is_the_senders() {
    let behind = |of_process: u32, signals: i64| {
        let plant = Plant::Hog { task: A, priority: 90, by: micros(900) };
        let mut held = stormed(plant, signals);
        let task = held.thread;
        for event in &mut held.record.phases[0].switches {
            if let ThreadKind::Foreign { .. } = event.to_kind {
                (event.to_kind, event.to_process) = (ThreadKind::Own { priority: 0 }, Some(of_process));
            } else if event.to == task {
                event.to_process = Some(500);
            }
        }
        held
    };
    let miss = behind(500, 40).expect(Cause::StoppedMember, Party::Process, false);
    assert!(
        miss.evidence[0].contains("a thread of the same member, which ranks below"),
        "{:?}",
        miss.evidence
    );
    behind(501, 40).expect(Cause::RunQueueWait, Party::Job, true);
    behind(500, 2).expect(Cause::RunQueueWait, Party::Job, true);
}

/// A thread that is on its core's queue all the time is put on none: then the signals themselves tell.
#[test]
fn signals_without_end_are_seen_where_they_wake_nobody() {
    let sent_within = |plant: Plant, signals: i64, number: u8| {
        let held = Held::new(plant, Left::Asleep);
        let first = held.due - micros(700);
        let times: Vec<_> = (0..signals).map(|turn| held.due + micros(60 + turn * 1000 / signals)).collect();
        let sent = || EventKind::StopSent { member: 0, signal: number, by: actor(Some(false)) };
        std::iter::once(first).chain(times).fold(held, |held, at| held.with(at, sent()))
    };
    for plant in
        [Plant::Overrun { task: A, by: micros(900) }, Plant::StallInSpin { task: A, by: micros(900) }]
    {
        let miss = sent_within(plant.clone(), 40, 19).expect(Cause::StoppedMember, Party::Process, false);
        assert_eq!(miss.culprit.and_then(|culprit| culprit.pid), Some(700));
        let sent = miss.timeline.iter().filter(|mark| mark.what.contains("stopped member"));
        assert_eq!(sent.count(), 1, "told once: {:?}", miss.timeline);
        // Who may ignore them, or handle them, does with them what it will.
        let other = sent_within(plant, 40, 20).miss();
        assert_ne!(other.cause, Cause::StoppedMember, "{other:?}");
    }
}

#[test]
fn an_overrun_is_not_proven_where_the_log_has_holes() {
    let plant = || Plant::Overrun { task: A, by: micros(900) };
    let held = Held::new(plant(), Left::Asleep);
    let at = held.due + micros(800);
    let lost = EventKind::EvidenceLost { since: held.due + micros(200), records: 7 };
    let miss = held.with(at, lost).expect(Cause::Overrun, Party::Job, true);
    assert!(
        miss.evidence[0].contains("records of the kernel's log are missing there"),
        "{:?}",
        miss.evidence
    );
}
