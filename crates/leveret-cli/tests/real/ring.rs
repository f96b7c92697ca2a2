//! The ring as it should be: every message, in order, without a call.

use crate::harness::{Workplace, turn};
use crate::job::ring;
use leveret_os::perf::SystemCallCounter;
use leveret_report::record::{Ending, Fate, Outcome};

const ROUNDS: u64 = 100;

// spec: SIDED-ZERO-01, LAW-RING-01
#[test]
fn the_ring_runs_by_the_clock_alone() {
    let _turn = turn();
    let place = Workplace::new();
    let outcome = place.start(&ring(ROUNDS, "", [&[], &[], &[]]).text()).finish_alone();
    outcome.assert_consistent();
    outcome.assert_ran();
    let report = outcome.report();
    assert_eq!(report["rounds"], ROUNDS);
    assert_eq!(report["ending"]["kind"], "completed");
    assert_eq!(report["data_path"]["allocations_after_commit"], 0, "{}", outcome.said());
    let written: serde_json::Value = serde_json::from_str(&place.text("out/report.json")).unwrap();
    assert_eq!(written["misses"], report["misses"]);
    for page in ["report.html", "trace.json"] {
        assert!(place.path("out").join(page).is_file(), "{page} is missing");
    }
    assert_counts(&outcome);
}

/// Every instance ran, every message was taken, and the only system calls are the planned sleeps.
fn assert_counts(outcome: &crate::harness::Outcome) {
    let record = outcome.record();
    assert_eq!(record.ending, Ending::Completed);
    let [phase] = &record.phases[..] else { panic!("one commit, found {}", record.phases.len()) };
    for (task, model) in phase.tasks.iter().zip(&phase.job.tasks) {
        let instances: Vec<u64> = task.instances.iter().map(|instance| instance.instance).collect();
        assert_eq!(instances, (0..ROUNDS).collect::<Vec<_>>(), "{}: {}", model.name, outcome.said());
        let ran = task.instances.iter().filter(|instance| instance.outcome == Outcome::Ran).count() as u64;
        let sleeps = task.data_path.planned_sleeps;
        assert!(sleeps <= ROUNDS && sleeps >= ran.min(ROUNDS / 2), "{}: {sleeps} sleeps", model.name);
        assert_eq!(task.data_path.page_faults, Some(0), "{}: page faults", model.name);
        match task.data_path.system_calls {
            Some(calls) => assert_eq!(calls, sleeps, "{}: system calls", model.name),
            // Whoever may count the calls of this thread may count those of the members.
            None => match SystemCallCounter::open_thread(0) {
                Ok(_) => panic!("{}: system calls could be counted here, and were not", model.name),
                Err(refusal) => eprintln!("SKIPPED: system calls of {}: {refusal}", model.name),
            },
        }
    }
    for (channel, model) in phase.channels.iter().zip(&phase.job.channels) {
        let machine_missed = outcome.assessment().counts.machine as usize;
        let taken = channel.messages.iter().filter(|message| message.fate == Fate::Taken).count();
        // The last message of C has no reader within the horizon.
        let last = usize::from(model.name == "CA");
        assert!(
            taken + last + machine_missed >= ROUNDS as usize,
            "{}: {taken} taken of {ROUNDS}: {}",
            model.name,
            outcome.said()
        );
    }
}
