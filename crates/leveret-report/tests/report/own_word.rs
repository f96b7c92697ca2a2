//! Its stamps are what a member says of itself: what contradicts them, or would not be seen, proves no stall of the machine.

use crate::planted_causes::{micros, of_task, with};
use leveret_report::record::{
    Event, EventKind, Fate, Left, RunRecord, SwitchEvent, ThreadKind, TimerInterrupt,
};
use leveret_report::synthetic::{A, B, Plant, Ring, ring};
use leveret_report::verdict::{Cause, Miss, Party, Subject, verdicts};
use leveret_types::Nanos;

#[test]
fn a_core_that_took_interrupts_in_the_middle_of_a_stall_did_not_stand_still() {
    let found = |plant: Plant, change: fn(&mut RunRecord, Nanos)| {
        let mut record = ring(&with(vec![(200, plant)]));
        let instance = &record.phases[0].tasks[B].instances[200];
        let middle = match instance.gap > micros(100) {
            true => instance.gap_at + Nanos(instance.gap.0 / 2),
            false => instance.started + Nanos((instance.ended - instance.started).0 / 2),
        };
        let before = of_task(&verdicts(&record), B, 200).party;
        let core = record.phases[0].plan.tasks[B].core;
        change(&mut record, middle);
        let timers = &mut record.phases[0].timers;
        // Of another core nothing follows.
        timers.push(TimerInterrupt { at: middle, core: core + 1 });
        let elsewhere = of_task(&verdicts(&record), B, 200).party;
        record.phases[0].timers.push(TimerInterrupt { at: middle, core });
        record.phases[0].timers.sort_by_key(|timer| timer.at);
        let misses = verdicts(&record);
        let miss = of_task(&misses, B, 200).clone();
        assert!(miss.evidence[0].contains("did not stand still"), "{miss:#?}");
        [(before, false), (elsewhere, false), (miss.party, miss.unproven)]
    };
    let stall = found(Plant::StallInSpin { task: B, by: micros(300) }, |_, _| {});
    assert_eq!(stall, [(Party::Machine, false), (Party::Machine, false), (Party::Job, true)]);
    let stolen = found(Plant::StallInBody { task: B, by: micros(300) }, |record, _| {
        let instance = &mut record.phases[0].tasks[B].instances[200];
        (instance.cpu, instance.switches) = (micros(50), 0);
    });
    assert_eq!(stolen[1..], [(Party::Machine, false), (Party::Job, true)]);
}

/// Of the delay a stretch may have a share that is longer than itself.
#[test]
fn a_core_that_took_no_interrupt_is_not_said_to_have_gone_on() {
    let mut record = ring(&with(vec![(200, Plant::LateTimer { task: A, by: micros(900) })]));
    let phase = &mut record.phases[0];
    let (thread, planned) = (phase.tasks[A].thread, phase.tasks[A].instances[200].planned);
    let due = planned - phase.plan.costs.guard;
    let change = |at: Nanos, from: u32, to: u32, to_kind: ThreadKind| SwitchEvent {
        at,
        core: 0,
        from,
        to,
        left: Left::Asleep,
        to_kind,
        to_process: None,
        to_name: String::new(),
    };
    phase.switches.push(change(due + micros(1), 0, thread, ThreadKind::Task(A as u16)));
    phase.switches.push(change(due + micros(17), thread, 0, ThreadKind::Idle));
    phase.switches.sort_by_key(|event| event.at);
    phase.timers.clear();
    phase
        .events
        .push(Event { at: due + Nanos(500), kind: EventKind::Woken { task: A as u16, core: 0, by: None } });
    let misses = verdicts(&record);
    let miss = of_task(&misses, A, 200);
    assert!(miss.evidence.iter().any(|line| line.contains("was not out of its sleep")), "{miss:#?}");
    assert!(!miss.evidence.iter().any(|line| line.contains("timer interrupts came")), "{miss:#?}");
}

#[test]
fn a_clock_that_one_task_found_to_have_moved_says_nothing_of_another_s_instances() {
    let mut record = ring(&with(vec![(200, Plant::Hog { task: B, priority: 95, by: micros(300) })]));
    let planned = record.phases[0].tasks[B].instances[200].planned;
    let step =
        |task| Event { at: planned, kind: EventKind::ClockStepped { task, by: Nanos::from_secs(3600) } };
    let party = |record: &RunRecord| of_task(&verdicts(record), B, 200).party;
    record.phases[0].events.push(step(A as u16));
    assert_eq!(party(&record), Party::Process);
    record.phases[0].events.push(step(B as u16));
    assert_eq!(party(&record), Party::Job);
}

/// A call from another core may have put the thread on its queue for a signal.
#[test]
fn a_stall_in_the_spin_proves_nothing_where_no_wake_up_is_logged() {
    let plants = vec![(200, Plant::StallInSpin { task: B, by: micros(300) })];
    let mut record = ring(&with(plants));
    record.phases[0].events.retain(|event| !matches!(event.kind, EventKind::Woken { .. }));
    let misses = verdicts(&record);
    let miss = of_task(&misses, B, 200);
    assert_eq!((miss.party, miss.unproven), (Party::Job, true), "{miss:#?}");
    assert!(miss.evidence[0].contains("were not logged; what is not proven"), "{miss:#?}");
}

#[test]
fn without_a_log_nothing_is_proven_and_the_evidence_says_so() {
    let plants = vec![(200, Plant::LateTimer { task: A, by: micros(300) })];
    let record = ring(&Ring { whole_core_log: false, ..with(plants) });
    let misses = verdicts(&record);
    let miss = of_task(&misses, A, 200);
    assert_eq!((miss.cause, miss.party, miss.unproven), (Cause::Unexplained, Party::Job, true), "{miss:#?}");
    // Frozen or traced it waited for no core.
    assert!(miss.evidence[0].contains("if anybody, is not known (coarse"), "{miss:#?}");
}

#[test]
fn ends_that_contradict_each_other_prove_nothing_of_either() {
    let mut record = ring(&with(Vec::new()));
    let message = &mut record.phases[0].channels[A].messages[200];
    let due = message.due;
    let mut found = |inserted: Nanos| {
        let message = &mut record.phases[0].channels[A].messages[200];
        (message.fate, message.inserted, message.taken) = (Fate::Late, Some(inserted), None);
        let misses = verdicts(&record);
        let of_it = |miss: &&Miss| miss.subject == Subject::Channel(A) && miss.instance == 200;
        misses.iter().find(of_it).expect("it is late").clone()
    };
    let miss = found(due - micros(3));
    assert_eq!((miss.party, miss.unproven, miss.cause), (Party::Job, true, Cause::Unexplained), "{miss:#?}");
    let said = "has stamped it 3us before it was due, and member";
    assert!(miss.evidence[0].contains(said), "{miss:#?}");
    assert!(!found(due + micros(3)).evidence[0].contains("records is wrong"));
}
