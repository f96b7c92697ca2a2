//! Changes of mode in the conformance suite in C (`tests/mpirt/mode*.c`), and what the record says of them.

use crate::harness::Outcome;
use crate::suite::{C, MEMBERS, continue_the_stopped, with_members};
use leveret_report::record::EventKind;
use leveret_report::verdict::{Cause, Miss, Party, Subject};
use leveret_types::Nanos;
use std::collections::BTreeSet;

/// Both modes are in the record, each with its rounds; every instance of both is accounted for.
// spec: MODE-SWITCH-01, MODE-SWITCH-02
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

// spec: MODE-KEEP-02, MODE-PRIORITY-01, MODE-PRIORITY-02
/// What the members say of their channels, the record says too: in every phase as much is taken as was sent, or is under way.
#[test]
fn mode_priority() {
    with_members("tests/mpirt/mode_priority.c", &C, &MEMBERS, |program, members| {
        let outcome = program.all_pass(members);
        outcome.assert_consistent();
        let kept = outcome.record().phases.iter().filter(|phase| phase.label.starts_with("own")).count();
        assert_eq!(kept, if members > 1 { 3 } else { 0 }, "{}", outcome.said());
    });
}

// spec: MODE-KEEP-03, MODE-KEEP-04
#[test]
fn mode_events() {
    with_members("tests/mpirt/mode_events.c", &C, &MEMBERS, |program, members| {
        let outcome = program.all_pass(members);
        outcome.assert_consistent();
        let kept = outcome.record().phases.iter().filter(|phase| phase.label.starts_with("own")).count();
        assert_eq!(kept, 3, "{}", outcome.said());
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
    for miss in outcome.assessment().misses.iter().filter(|miss| miss.party == Party::Job) {
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
        outcome.assert_ran();
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

// spec: MODE-SWITCH-04
/// What it missed in either mode is laid at the stop, and nobody is said to have scheduled its threads otherwise, which hand over and are
/// raised late.
#[test]
fn mode_with_a_member_that_goes_on_in_it() {
    with_members("tests/mpirt/mode_paused.c", &C, &[2], |program, members| {
        let outcome = program.run_while(members, |running, text| {
            running.await_text("stderr", "should have changed the mode");
            continue_the_stopped(&text(), "should have changed the mode", 1);
        });
        program.assert_passed(&outcome, members);
        assert!(!outcome.said().contains("changed from outside"), "{}", outcome.said());
        let record = outcome.record();
        let [before, after] = &record.phases[..] else { panic!("{}", outcome.said()) };
        let of = |wanted: fn(&EventKind) -> bool| {
            after.events.iter().find(|event| wanted(&event.kind)).map(|event| event.at)
        };
        let stopped = of(|kind| matches!(kind, EventKind::MemberStopped { member: 1 })).expect("it is told");
        let went_on =
            of(|kind| matches!(kind, EventKind::MemberContinued { member: 1 })).expect("it is told");
        assert!(stopped < Nanos::ZERO && went_on > Nanos::from_secs(2), "{stopped} to {went_on}");
        let misses = outcome.assessment().misses;
        let cause = |miss: &Miss| miss.root.as_ref().map_or(miss.cause, |root| root.cause);
        for (number, phase) in [before, after].into_iter().enumerate() {
            let of_stopped = |miss: &&Miss| {
                let Subject::Task(task) = miss.subject else { return false };
                // What somebody else is proven to have done says nothing of the stop.
                let is_jobs = miss.phase == number && miss.party == Party::Job;
                is_jobs && miss.late_by.is_none() && phase.job.tasks[task].member.0 == 1
            };
            let causes: BTreeSet<Cause> =
                misses.iter().filter(of_stopped).filter(|miss| !miss.unproven).map(cause).collect();
            assert_eq!(Vec::from_iter(causes), [Cause::StoppedMember], "{}", outcome.said());
        }
        // The kept task's instances are numbered on.
        let place = after.job.tasks.iter().position(|task| task.name == "always-0").expect("it is kept");
        let kept = &after.tasks[place];
        assert_eq!(kept.before, before.rounds);
        assert_eq!(kept.instances.first().map(|first| first.instance), Some(before.rounds));
    });
}

/// Under *continue* the survivors switch.
#[test]
fn mode_whose_kept_channels_lose_a_member() {
    with_members("tests/mpirt/mode_keep_lost.c", &C, &[3], |program, _| {
        program.survives(&["zero", "one", "two"], "[0, 1]", 2).assert_consistent();
    });
}

// spec: MODE-KEEP-02
/// All that was sent is taken, says the record too; the death is told once, in the phase in which it was.
#[test]
fn mode_whose_kept_channels_with_a_priority_lose_a_member() {
    with_members("tests/mpirt/mode_priority_lost.c", &C, &[2, 3], |program, members| {
        let names = &["zero", "one", "two"][..members as usize];
        let outcome = program.survives(names, "[0, 1]", members - 1);
        outcome.assert_consistent();
        let phases = &outcome.record().phases;
        let labels: Vec<&str> = phases.iter().map(|phase| phase.label.as_str()).collect();
        assert_eq!(labels, ["commit", "lost"], "{}", outcome.said());
        for name in (0..members - 1).map(|target| format!("urgent-{target}")) {
            let of_channel = phases.iter().flat_map(|phase| phase.job.channels.iter().zip(&phase.channels));
            let taken: u64 = of_channel
                .filter(|(channel, _)| channel.name == name)
                .map(|(_, record)| record.taken.expect("the survivor's own count"))
                .sum();
            assert_eq!(taken, 4, "{name}: {}", outcome.said());
        }
        let irregularities = outcome.assessment().irregularities;
        let deaths: Vec<_> = irregularities.iter().filter(|found| found.kind == "member-died").collect();
        assert_eq!(deaths.len(), 1, "{}", outcome.said());
        assert_eq!(deaths[0].phase, Some(if members == 2 { 0 } else { 1 }), "{}", outcome.said());
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
