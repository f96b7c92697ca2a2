//! The ring as it should be: every message, in order, without a call.

use crate::harness::{Workplace, turn};
use crate::job::ring;
use crate::stalls::Watch;
use leveret_os::perf::SystemCallCounter;
use leveret_report::record::{Ending, Fate, MessageRecord, Outcome};

const ROUNDS: u64 = 100;

// spec: SIDED-ZERO-01, LAW-RING-01
#[test]
fn the_ring_runs_by_the_clock_alone() {
    let _turn = turn();
    let place = Workplace::new();
    let watch = Watch::begin();
    let outcome = place.start(&ring(ROUNDS, "", [&[], &[], &[]]).text()).finish_alone().watched(watch);
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
    assert_taken(&outcome);
}

/// Every instance was due and told of, and the only system calls are the planned sleeps.
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
}

/// Every message was taken, but for those about which the machine stood still: then somebody's core was not there for them.
fn assert_taken(outcome: &crate::harness::Outcome) {
    let phase = &outcome.record().phases[0];
    let round = phase.plan.hyperperiod;
    for (channel, model) in phase.channels.iter().zip(&phase.job.channels) {
        // The last message of C has no reader within the horizon.
        let due = ROUNDS - u64::from(model.name == "CA");
        for instance in 0..due {
            let is_taken =
                |message: &MessageRecord| message.instance == instance && message.fate == Fate::Taken;
            // From the sender's start to the receiver's end at most three rounds go by.
            let begin = round.saturating_mul(instance as i64 - 1);
            let is_excused = outcome.stood_still((begin, begin + round.saturating_mul(3)));
            assert!(
                channel.messages.iter().any(is_taken) || is_excused,
                "{} {instance} was not taken, and no core stood still: {}",
                model.name,
                outcome.said()
            );
        }
    }
}
