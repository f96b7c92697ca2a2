//! A wait with several causes while one thread had the core: each has its part of the time, and the claim about the core is of all of it.

use crate::held::{Held, actor, hog, micros};
use leveret_report::record::{EventKind, InstanceRecord, Left, SwitchEvent, ThreadKind};
use leveret_report::synthetic::{A, DUMMY, Ring, ring};
use leveret_report::verdict::{Cause, Party, Subject, verdicts};

const MEMBER: u16 = 0;

fn frozen(group: &str) -> EventKind {
    EventKind::Frozen { member: MEMBER, group: group.to_owned(), by: actor(Some(false)) }
}

fn thawed(group: &str) -> EventKind {
    EventKind::Thawed { member: MEMBER, group: group.to_owned() }
}

/// An instance that was lost when it did not begin within 300 us of when its wake-up was due.
fn lost_after_300_us() -> Held {
    let mut held = Held::new(hog(), Left::Asleep);
    let due = held.due;
    let phase = &mut held.record.phases[0];
    phase.tasks[A].instances[200].deadline = due + micros(300) + phase.job.tasks[A].budget;
    held
}

/// Frozen from before its wake-up until `let_go` after it, and queued from then on, while a hog has its core for 350 us of it all.
fn let_go_after(let_go: i64) -> Held {
    let held = lost_after_300_us();
    let (before, after) = (held.due - micros(100), held.due + micros(let_go));
    // A freezer wakes whom it freezes: that one wants a core, and stops there.
    let by_freezer = EventKind::Woken { task: A as u16, core: 0, by: Some(701) };
    let held = held.with(before, frozen("/box")).with(before + micros(3), by_freezer);
    held.with(after, thawed("/box"))
}

#[test]
fn who_has_the_core_of_a_frozen_thread_does_not_hold_it_up() {
    // Until after the wake-up; and for the larger part of the wait, of which a queue behind the hog is the rest.
    for let_go in [400, 200] {
        let miss = let_go_after(let_go).expect(Cause::Frozen, Party::Process, false);
        assert_eq!(miss.culprit.as_ref().and_then(|culprit| culprit.pid), Some(700), "{miss:#?}");
    }
    let miss = let_go_after(200).miss();
    assert!(miss.evidence[0].contains("froze") && miss.evidence[1].contains("behind hog"), "{miss:#?}");
    assert!(miss.evidence[0].contains("(here of 200us of it, from "), "{miss:#?}");
}

#[test]
fn who_was_let_go_in_time_is_held_up_by_who_has_the_core() {
    let miss = let_go_after(20).expect(Cause::RunQueueWait, Party::Process, false);
    assert_eq!(miss.culprit.map(|culprit| culprit.name).as_deref(), Some("hog"));
}

#[test]
fn one_of_two_groups_that_is_let_go_leaves_the_other_frozen() {
    let held = Held::new(hog(), Left::Asleep);
    let before = held.due - micros(100);
    let both = held.with(before, frozen("/box")).with(before + micros(1), frozen("/box/inner"));
    let miss =
        both.with(before + micros(2), thawed("/box/inner")).expect(Cause::Frozen, Party::Process, false);
    assert!(miss.evidence[0].contains("control group /box was frozen"), "{miss:#?}");
}

#[test]
fn a_freezer_that_nobody_can_name_has_its_part_of_the_time_too() {
    // Version 1: no event of the freezing; what let it go woke it, long after its time.
    let woken_by_call = |after: i64| {
        let held = lost_after_300_us();
        let at = held.due + micros(after);
        held.with(at, EventKind::Woken { task: A as u16, core: 0, by: Some(701) })
    };
    woken_by_call(200).expect(Cause::Frozen, Party::Job, true);
    woken_by_call(120).expect(Cause::RunQueueWait, Party::Process, false);
}

/// Two instances of the foreign task, without a pause between them, while A should have been woken.
#[test]
fn who_had_the_core_for_two_instances_is_said_to_have_had_it_for_both() {
    let mut record = ring(&Ring { rounds: 400, ..Ring::default() });
    let phase = &mut record.phases[0];
    let (thread, other) = (phase.tasks[A].thread, phase.tasks[DUMMY].thread);
    let late = &mut phase.tasks[A].instances[200];
    let (due, by) = (late.planned - micros(50), micros(420));
    (late.woken, late.started, late.ended) = (due + by, due + by, due + by + micros(3));
    late.deadline = due + micros(300);
    let core = phase.plan.tasks[A].core;
    phase.plan.tasks[DUMMY].core = core;
    let instance = |number, planned, woken, ended| InstanceRecord {
        instance: number,
        planned,
        deadline: planned + micros(100),
        woken,
        started: woken,
        ended,
        ..InstanceRecord::default()
    };
    // The first takes far more than its budget, so that the second begins late, at once.
    let turn = due + micros(310);
    phase.tasks[DUMMY].instances = vec![
        instance(0, due - micros(200), due - micros(200), turn),
        instance(1, due + micros(100), turn, due + by),
    ];
    phase.job.tasks[DUMMY].budget = micros(50);
    let came = |at, from, to, task: usize| SwitchEvent {
        at,
        core,
        from,
        to,
        left: Left::Asleep,
        to_kind: ThreadKind::Task(task as u16),
        to_process: None,
        to_name: String::new(),
    };
    phase.switches = vec![came(due - micros(200), 0, other, DUMMY), came(due + by, other, thread, A)];
    let misses = verdicts(&record);
    let miss = misses.iter().find(|miss| miss.subject == Subject::Task(A) && miss.instance == 200);
    let miss = miss.expect("it is late");
    let claims: Vec<&String> = miss.evidence.iter().filter(|line| line.contains("had core")).collect();
    assert!(
        !claims.is_empty() && claims.iter().all(|line| line.contains("for 420us of the wait")),
        "{miss:#?}"
    );
}
