//! Causes planted in virtual time: the verdict names each, and calls none of the job's the machine's.
#![allow(missing_docs, reason = "a test has no public interface")]

mod clock_steps;
mod pair;

use leveret_plan::{Costs, OverrunPolicy};
use leveret_report::record::{Event, EventKind, Fate, InstanceRecord, Outcome, RunRecord};
use leveret_report::verdict::{Cause, Party, Stage, assess};
use leveret_types::Nanos;
use pair::{
    AT, BUDGET, READER, ROUNDS, Script, WRITER, all, instance, message, never_the_machine, of_channel,
    of_task, run, run_planted, us,
};

#[test]
fn nothing_planted_nothing_missed() {
    let record = run(&Script::default(), |_, _, _| {});
    let assessment = assess(&record);
    assert_eq!(assessment.exit_code(), 0, "{}", all(&assessment));
    assert_eq!(record.phases[0].events, []);
    for task in &record.phases[0].tasks {
        assert_eq!((task.instances.len() as u64, task.records_lost), (ROUNDS, 0));
        assert_eq!(task.data_path.planned_sleeps, ROUNDS);
        assert!(task.spin_total > Nanos::ZERO);
    }
    let messages = &record.phases[0].channels[0].messages;
    assert_eq!(messages.iter().filter(|message| message.fate == Fate::Taken).count() as u64, ROUNDS);
}

#[test]
fn a_body_that_takes_too_long_is_an_overrun() {
    let record = run(&Script::works(AT, us(2_500)), |_, _, _| {});
    let assessment = assess(&record);
    never_the_machine(&assessment);
    let miss = of_task(&assessment, WRITER, AT);
    assert_eq!((miss.cause, miss.stage), (Cause::Overrun, Stage::Execution), "{miss:#?}");
    assert_eq!(message(&record, AT).fate, Fate::Taken, "it was still in time for the channel");
    assert_eq!(assessment.misses.len(), 1, "{}", all(&assessment));
}

#[test]
fn an_overrun_for_which_the_next_instance_is_skipped_is_an_event() {
    let record = run(&Script::works(AT, us(12_500)), |_, _, _| {});
    let phase = &record.phases[0];
    let skipped = |instance: &&InstanceRecord| instance.outcome == Outcome::SkippedOverrun;
    let after = phase.tasks[WRITER.index()].instances.iter().find(skipped).expect("one was skipped for it");
    assert_eq!(after.instance, AT + 1);
    let policed: Vec<_> = (phase.events.iter())
        .filter_map(|event| match event.kind {
            EventKind::Overrun { task, instance } => Some((usize::from(task), instance)),
            _ => None,
        })
        .collect();
    assert_eq!(policed, [(WRITER.index(), AT)], "{:?}", phase.events);
}

#[test]
fn bodies_that_take_too_long_again_and_again_are_overruns() {
    let work = (AT..AT + 3).map(|number| (number, us(2_500))).collect();
    let record = run(&Script { work, ..Script::default() }, |_, _, _| {});
    let assessment = assess(&record);
    never_the_machine(&assessment);
    let causes: Vec<_> = assessment.misses.iter().map(|miss| (miss.instance, miss.cause)).collect();
    assert_eq!(causes, [(AT, Cause::Overrun), (AT + 1, Cause::Overrun), (AT + 2, Cause::Overrun)]);
}

#[test]
fn a_late_sender_is_a_late_peer_with_its_root() {
    let record = run(&Script::works(AT, us(4_500)), |_, _, _| {});
    let assessment = assess(&record);
    never_the_machine(&assessment);
    assert_eq!(message(&record, AT).fate, Fate::Late);
    let miss = of_channel(&assessment, AT);
    assert_eq!(miss.cause, Cause::LatePeer, "{miss:#?}");
    let root = miss.root.as_ref().expect("a root");
    assert_eq!((root.task, root.instance, root.cause), (WRITER.index(), AT, Cause::Overrun));
}

#[test]
fn a_silent_sender_inserted_nothing() {
    let record = run(&Script { silent: vec![AT], ..Script::default() }, |_, _, _| {});
    let assessment = assess(&record);
    never_the_machine(&assessment);
    assert_eq!(message(&record, AT).fate, Fate::Missing);
    let miss = of_channel(&assessment, AT);
    assert_eq!((miss.cause, miss.stage), (Cause::NotInserted, Stage::Insertion), "{miss:#?}");
    assert_eq!(assessment.misses.len(), 1, "{}", all(&assessment));
}

/// An overrun of more than a period, and what becomes of the instance after it.
fn after_an_overrun(policy: OverrunPolicy) -> RunRecord {
    run(&Script { policy, ..Script::works(AT, us(12_000)) }, |_, _, _| {})
}

// spec: TASK-OVERRUN-01
#[test]
fn with_skip_the_instance_after_an_overrun_is_left_out() {
    let record = after_an_overrun(OverrunPolicy::Skip);
    assert_eq!(instance(&record, WRITER, AT + 1).outcome, Outcome::SkippedOverrun);
    assert_eq!(instance(&record, WRITER, AT + 2).outcome, Outcome::Ran);
    assert_eq!(message(&record, AT + 1).fate, Fate::Missing);
    assert_eq!(message(&record, AT + 2).fate, Fate::Taken);
    let assessment = assess(&record);
    never_the_machine(&assessment);
    let miss = of_task(&assessment, WRITER, AT + 1);
    assert_eq!(miss.cause, Cause::PreviousInstance, "{miss:#?}");
    assert_eq!(miss.root.as_ref().map(|root| (root.instance, root.cause)), Some((AT, Cause::Overrun)));
}

// spec: TASK-OVERRUN-01
#[test]
fn with_late_the_instance_after_an_overrun_runs_late() {
    let record = after_an_overrun(OverrunPolicy::Late);
    let after = instance(&record, WRITER, AT + 1);
    assert_eq!(after.outcome, Outcome::RanLate);
    assert!(after.ended > after.deadline);
    assert_eq!(message(&record, AT + 1).fate, Fate::Taken, "late for the task, in time for the channel");
    let assessment = assess(&record);
    never_the_machine(&assessment);
    assert_eq!(of_task(&assessment, WRITER, AT + 1).cause, Cause::PreviousInstance);
    assert!(assessment.misses.iter().all(|miss| miss.instance <= AT + 1), "{}", all(&assessment));
}

// spec: TASK-OVERRUN-01
#[test]
fn with_stop_an_overrun_ends_the_members_tasks() {
    let record = after_an_overrun(OverrunPolicy::Stop);
    let last = record.phases[0].tasks[0].instances.last().expect("some ran");
    assert_eq!((last.instance, last.outcome), (AT, Outcome::Ran), "it ends where it overran");
    let assessment = assess(&record);
    assert_eq!(assessment.counts.machine, 0, "{}", all(&assessment));
    assert_eq!(of_task(&assessment, WRITER, AT).cause, Cause::Overrun);
}

/// The planned start of the writer and the last start that meets its window, from the start of its period.
fn planned_and_critical() -> (Nanos, Nanos) {
    let record = run(&Script::default(), |_, _, _| {});
    let planned = &record.phases[0].plan.tasks[0].instances[0];
    (planned.start(), planned.latest - BUDGET)
}

#[test]
fn an_instance_is_left_out_from_the_critical_start_on_and_not_before() {
    let (start, critical) = planned_and_critical();
    let guard = Costs::default().guard;
    for (beyond, expected) in [(us(-2), Outcome::Ran), (us(2), Outcome::SkippedCritical)] {
        let record = run_planted(&Script::default(), |clock| {
            clock.delay_next_wake(guard + critical - start + beyond);
        });
        let found = instance(&record, WRITER, AT);
        assert_eq!(found.outcome, expected, "{beyond} beyond the critical start: {found:?}");
        let assessment = assess(&record);
        never_the_machine(&assessment);
        if expected == Outcome::SkippedCritical {
            assert_eq!(of_task(&assessment, WRITER, AT).stage, Stage::Wake, "{}", all(&assessment));
            assert_eq!(of_channel(&assessment, AT).cause, Cause::LatePeer);
        } else {
            assert_eq!(assessment.exit_code(), 0, "{}", all(&assessment));
        }
    }
}

#[test]
fn a_stall_in_the_spin_without_any_switch_is_the_machines() {
    let mut record = run_planted(&Script::default(), |clock| clock.stall_at_reading(5, us(2_500)));
    let found = instance(&record, WRITER, AT);
    assert_eq!((found.outcome, found.switches, found.faults), (Outcome::SkippedCritical, 0, 0));
    assert!(found.gap >= us(2_500), "{found:?}");
    // Without the kernel's word that it was woken by the end of its sleep, it may have served signals.
    never_the_machine(&assess(&record));
    let kind = EventKind::Woken { task: WRITER.0, core: 0, by: None };
    record.phases[0].events.push(Event { at: found.woken - us(1), kind });
    let assessment = assess(&record);
    assert_eq!((assessment.counts.job, assessment.exit_code()), (0, 3), "{}", all(&assessment));
    let miss = of_task(&assessment, WRITER, AT);
    assert_eq!((miss.cause, miss.party), (Cause::StallInSpin, Party::Machine), "{miss:#?}");
    let miss = of_channel(&assessment, AT);
    assert_eq!(miss.party, Party::Machine, "what follows from it takes its party: {miss:#?}");
    assert_eq!(miss.root.as_ref().map(|root| root.cause), Some(Cause::StallInSpin));
}

#[test]
fn a_late_reader_is_its_own_fault_and_costs_the_sender_nothing() {
    let record = run(&Script::default(), |task, number, clock| {
        if (task, number) == (READER, AT) {
            clock.delay_next_wake(us(4_500));
        }
    });
    let assessment = assess(&record);
    never_the_machine(&assessment);
    assert_eq!(instance(&record, READER, AT).outcome, Outcome::SkippedCritical);
    assert_eq!(message(&record, AT).fate, Fate::Untaken);
    assert_eq!(assessment.misses.len(), 1, "{}", all(&assessment));
    assert_eq!(message(&record, AT + 1).fate, Fate::Taken);
}
