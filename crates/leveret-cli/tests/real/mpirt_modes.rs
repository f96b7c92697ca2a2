//! Changes of mode in the conformance suite in C (`tests/mpirt/mode*.c`), and what the record says of them.

use crate::harness::Outcome;
use crate::suite::{C, MEMBERS, with_members};
use leveret_report::verdict::Door;

/// Both modes are in the record, each with its rounds; every instance of both is accounted for.
#[test]
fn mode() {
    with_members("tests/mpirt/mode.c", &C, &MEMBERS, |program, members| {
        let outcome = program.all_pass(members);
        outcome.assert_consistent();
        let record = outcome.record();
        let quick = record.phases.iter().position(|phase| phase.label == "quick").expect("the mode's phase");
        let (before, after) = (&record.phases[quick - 1], &record.phases[quick]);
        let round = before.plan.hyperperiod;
        assert_eq!(
            after.epoch_monotonic - before.epoch_monotonic,
            round.saturating_mul(before.rounds as i64)
        );
        for phase in [before, after] {
            assert_eq!(phase.tasks.len(), members as usize);
            let counts: Vec<usize> = phase.tasks.iter().map(|task| task.instances.len()).collect();
            let is_whole = counts.iter().all(|count| *count as u64 == phase.rounds);
            assert!(phase.rounds > 0 && is_whole, "{counts:?} in {} rounds", phase.rounds);
        }
    });
}

/// What is refused costs what runs no instance.
#[test]
fn mode_refused() {
    with_members("tests/mpirt/mode_refused.c", &C, &MEMBERS, |program, members| {
        program.all_pass(members).assert_consistent();
    });
}

// spec: MODE-KEEP-01, MODE-SWITCH-02
/// Each switch begins a phase, and no instance of a task is missing between two: each phase has all of its rounds, and begins where the
/// one before ends.
#[test]
fn mode_keep() {
    with_members("tests/mpirt/mode_keep.c", &C, &MEMBERS, |program, members| {
        let outcome = program.all_pass(members);
        outcome.assert_consistent();
        let phases = &outcome.record().phases;
        let is_mode = |label: &str| label.starts_with("own");
        assert_eq!(
            phases.iter().filter(|phase| is_mode(&phase.label)).count(),
            if members > 1 { 6 } else { 0 }
        );
        for pair in phases.windows(2).filter(|pair| is_mode(&pair[1].label)) {
            let lasted = pair[0].plan.hyperperiod.saturating_mul(pair[0].rounds as i64);
            assert_eq!(pair[1].epoch_monotonic - pair[0].epoch_monotonic, lasted);
            for (planned, task) in pair[1].plan.tasks.iter().zip(&pair[1].tasks) {
                let all = planned.instances.len() as u64 * pair[1].rounds;
                assert_eq!(task.instances.len() as u64, all, "at {members}: {}", outcome.said());
            }
        }
    });
}

// spec: MODE-COMMIT-02, MODE-COMMIT-03
/// What runs misses nothing because of a thread that commits beside it, or of one of a mode that waits.
#[test]
fn mode_beside() {
    with_members("tests/mpirt/mode_beside.c", &C, &MEMBERS, |program, members| {
        let outcome = program.all_pass(members);
        outcome.assert_consistent();
        let record = outcome.record();
        let phase = record.phases.iter().find(|phase| phase.rounds > 0).expect("it ran");
        for task in &phase.tasks {
            assert_eq!(task.instances.len() as u64, phase.rounds, "at {members}: {}", outcome.said());
        }
        blames_nobody_of(&outcome, &["program (", "heavy", "light", "leveret-planner"]);
    });
}

/// No miss of ours is a wait behind a thread whose name begins so.
fn blames_nobody_of(outcome: &Outcome, own: &[&str]) {
    for miss in outcome.assessment().misses.iter().filter(|miss| miss.door == Door::Ours) {
        let behind = miss.evidence.iter().filter_map(|line| line.split_once("run-queue wait behind "));
        for (_, blamed) in behind {
            assert!(!own.iter().any(|own| blamed.starts_with(own)), "{blamed}: {}", outcome.said());
        }
    }
}

#[test]
fn mode_without_a_member_that_is_late() {
    with_members("tests/mpirt/mode_late.c", &C, &[1, 3], |program, members| {
        let outcome = program.passes((members, members), &["--commit-within", "1s"]);
        assert!(matches!(outcome.code, Some(0 | 3)), "at {members}: {}", outcome.said());
    });
}

/// Each number of members is another moment of the death.
#[test]
fn mode_with_a_member_that_dies() {
    with_members("tests/mpirt/mode_lost.c", &C, &[2, 3, 4], |program, members| {
        let outcome = program.passes((members, members - 1), &[]);
        assert_eq!(outcome.code, Some(1), "{}", outcome.said());
        assert_eq!(outcome.record().phases.len(), 1, "the mode never ran: {}", outcome.said());
    });
}

/// The others have switched already.
#[test]
fn mode_with_a_member_that_is_stopped() {
    with_members("tests/mpirt/mode_halted.c", &C, &[2, 3], |program, members| {
        let outcome = program.passes((members, members - 1), &[]);
        assert_eq!(outcome.code, Some(1), "{}", outcome.said());
        assert!(outcome.said().contains("it did not change the mode within 5s"), "{}", outcome.said());
        let labels: Vec<String> = outcome.record().phases.iter().map(|phase| phase.label.clone()).collect();
        assert_eq!(labels, ["commit", "halted"], "{}", outcome.said());
    });
}

/// Under *continue* the survivors switch.
#[test]
fn mode_whose_kept_channels_lose_a_member() {
    with_members("tests/mpirt/mode_keep_lost.c", &C, &[3], |program, _| {
        program.survives(&["zero", "one", "two"], "[0, 1]", 2).assert_consistent();
    });
}

#[test]
fn mode_without_a_member_that_has_died() {
    with_members("tests/mpirt/mode_survived.c", &C, &[3], |program, _| {
        let outcome = program.survives(&["zero", "one", "two"], "[0, 1]", 2);
        outcome.assert_consistent();
        let labels: Vec<String> = outcome.record().phases.iter().map(|phase| phase.label.clone()).collect();
        assert_eq!(labels, ["commit", "survived"], "{}", outcome.said());
    });
}

#[test]
fn mode_of_a_job_that_is_stopped() {
    with_members("tests/mpirt/mode_stopped.c", &C, &[1, 2], |program, members| {
        let outcome = program.all_pass(members);
        assert_eq!(outcome.record().phases.len(), 1, "the mode never ran: {}", outcome.said());
        assert!(!outcome.said().contains("changed from outside"), "{}", outcome.said());
    });
}

// spec: MODE-COMMIT-03
/// A hundred commits beside a run: what it misses on a busy machine it never misses because of a thread that commits, or of one of
/// another mode.
#[test]
fn a_hundred_modes() {
    with_members("tests/mpirt/mode_many.c", &C, &[2], |program, members| {
        let outcome = program.all_pass(members);
        outcome.assert_consistent();
        let ran = outcome.record().phases.iter().filter(|phase| phase.rounds > 0).count();
        assert_eq!(ran, 101, "{}", outcome.said());
        blames_nobody_of(&outcome, &["program (", "odd-", "even-", "leveret-planner"]);
    });
}
