//! Somebody sets the clock while the job runs.

use crate::pair::{
    AT, ROUNDS, Script, USUAL, WRITER, all, instance, never_the_machine, of_task, run, run_planted, us,
};
use leveret_plan::OverrunPolicy;
use leveret_report::record::{EventKind, Outcome, RunRecord};
use leveret_report::verdict::{Cause, Party, assess};

/// How many readings the writer's instance takes, up to the one that ends it.
fn readings() -> u32 {
    let record = run(&Script::default(), |_, _, _| {});
    let found = instance(&record, WRITER, AT);
    // One before the sleep and one after it; then each takes 50 ns, in the spin and, beside the work, in the
    // body.
    let after_wake = (found.ended - found.woken - USUAL).0 / 50;
    u32::try_from(2 + after_wake).expect("some hundreds")
}

fn events(record: &RunRecord) -> Vec<EventKind> {
    record.phases[0].events.iter().map(|event| event.kind.clone()).collect()
}

#[test]
fn a_clock_set_forward_is_named_wherever_it_happens() {
    let by = us(3_000);
    // At the end of the sleep, in the spin, and just before the body ends.
    for reading in [2, 5, readings()] {
        let record = run_planted(&Script::default(), |clock| clock.step_at_reading(reading, by));
        let assessment = assess(&record);
        never_the_machine(&assessment);
        let miss = of_task(&assessment, WRITER, AT);
        let found = (miss.cause, miss.party, miss.unproven);
        assert_eq!(found, (Cause::ClockStep, Party::Job, true), "reading {reading}: {miss:#?}");
        assert_eq!(events(&record), [EventKind::ClockStepped { task: WRITER.0, by }], "reading {reading}");
        let others = assessment.misses.iter().filter(|miss| miss.instance != AT).count();
        assert_eq!(others, 0, "reading {reading}: only this round suffers\n{}", all(&assessment));
    }
}

#[test]
fn a_step_in_the_body_falls_into_the_body() {
    let record = run_planted(&Script::default(), |clock| clock.step_at_reading(readings(), us(3_000)));
    let found = instance(&record, WRITER, AT);
    assert_eq!(found.outcome, Outcome::Ran);
    assert!(found.ended - found.started > us(3_000), "{found:?}");
}

#[test]
fn a_step_that_the_sleep_absorbs_is_told_and_costs_nothing() {
    for by in [us(3_000), us(-3_000)] {
        let record = run_planted(&Script::default(), |clock| clock.step(by));
        assert_eq!(assess(&record).exit_code(), 0, "{}", all(&assess(&record)));
        assert_eq!(events(&record), [EventKind::ClockStepped { task: WRITER.0, by }]);
    }
}

#[test]
fn a_step_in_the_body_is_not_policed_as_an_overrun() {
    let script = Script { policy: OverrunPolicy::Stop, ..Script::default() };
    let record = run_planted(&script, |clock| clock.step_at_reading(readings(), us(3_000)));
    assert_eq!(record.phases[0].tasks[0].instances.len() as u64, ROUNDS, "the job was not stopped");
}
