//! The conformance suite's part on what the clock moves: windows, misses, tasks that serve channels, single shots.

use crate::suite::{C, MEMBERS, conforms, continue_the_stopped, with_members};
use leveret_report::record::{Ending, Fate};
use leveret_types::Nanos;

/// The ends of what moves once agree, and the record has each transfer at its instant.
#[test]
fn shots() {
    with_members("tests/mpirt/shots.c", &C, &MEMBERS, |program, members| {
        let outcome = program.all_pass(members);
        outcome.assert_consistent();
        let mut transfers = 0;
        for phase in &outcome.record().phases {
            for (channel, found) in phase.job.channels.iter().zip(&phase.channels) {
                let is_shot = ["started-", "activated-"].iter().any(|name| channel.name.starts_with(name));
                for message in found.messages.iter().filter(|_| is_shot) {
                    assert_eq!(found.messages.len(), 1, "{}: {}", channel.name, outcome.said());
                    assert!(message.taken >= Some(message.due), "{}: {}", channel.name, outcome.said());
                    transfers += 1;
                }
            }
        }
        assert_eq!(transfers, 2 * (members - 1), "{}", outcome.said());
    });
}

/// What is delivered was inserted within its window and taken at its end or later, by the plan's own account.
// spec: QOS-TIME-WINDOW-01, QOS-TIME-PHASE-01
#[test]
fn windows() {
    /// Start, deadline, period and phase of each channel, in milliseconds.
    const TIMES: [[i64; 4]; 3] = [[4, 12, 40, 0], [4, 12, 40, 17], [0, 20, 20, 19]];
    with_members("tests/mpirt/windows.c", &C, &MEMBERS, |program, members| {
        let outcome = program.all_pass(members);
        let mut compared = 0;
        for phase in &outcome.record().phases {
            for (channel, found) in phase.job.channels.iter().zip(&phase.channels) {
                let Some(place) = channel.name.strip_prefix("window-") else { continue };
                let [start, deadline, period, phase] =
                    TIMES[place.parse::<usize>().expect("a number")].map(Nanos::from_millis);
                for message in &found.messages {
                    let begin = phase + period.saturating_mul(message.instance as i64);
                    assert_eq!(message.due, begin + deadline, "{} {}", channel.name, message.instance);
                    if message.fate == Fate::Taken {
                        assert!(message.inserted >= Some(begin + start), "{}", outcome.said());
                        assert!(message.inserted <= Some(message.due), "{}", outcome.said());
                        assert!(message.taken >= Some(message.due), "{}", outcome.said());
                        compared += 1;
                    }
                }
            }
        }
        assert!(members == 1 || compared >= 24, "{compared}: {}", outcome.said());
    });
}

/// Every member ends in good order, and the run says why it ended.
// spec: CHANNEL-MISS-06
// spec: QOS-TIME-MISS-01
#[test]
fn a_miss_under_stop_ends_the_job() {
    with_members("tests/mpirt/miss_stops.c", &C, &[2, 3], |program, members| {
        let outcome = program.all_pass(members);
        assert_eq!(outcome.code, Some(1), "{}", outcome.said());
        let reason = "has stopped it: a message of a channel with the policy `missing = \"stop\"` did not arrive in time";
        let ending = &outcome.record().ending;
        let Ending::Stopped(why) = ending else { panic!("{ending:?}: {}", outcome.said()) };
        let place = why.split_once(reason).map_or("", |(_, place)| place);
        // The sender has two messages.
        let instance = place.strip_prefix(": channel must-come, instance ").and_then(|at| at.parse().ok());
        assert!(instance.is_some_and(|at: u64| at >= 2), "{ending:?}: {}", outcome.said());
        assert!(outcome.said().contains(reason), "{}", outcome.said());
        // Those that the stop left without their messages have missed nothing.
        let assessment = outcome.assessment();
        let unproven = assessment.misses.iter().find(|miss| miss.unproven);
        assert!(unproven.is_none(), "{unproven:?}");
        let kinds: Vec<&str> = assessment.irregularities.iter().map(|found| found.kind.as_str()).collect();
        assert_eq!(kinds, ["stopped"], "{:?}", assessment.irregularities);
        assert_eq!(outcome.record().phases.len(), 1, "{}", outcome.said());
    });
}

/// Every second instance is missed on purpose.
#[test]
fn tasks_wait_for_nothing_that_they_serve() {
    with_members("tests/mpirt/bound.c", &C, &MEMBERS, |program, members| {
        program.all_pass(members);
    });
}

#[test]
fn shapes() {
    conforms("tests/mpirt/shapes.c");
}

#[test]
fn who_stands_still_is_named() {
    with_members("tests/mpirt/halted.c", &C, &[2, 3], |program, members| {
        let outcome = program.run_while(members, |running, text| {
            for what in ["to uncommit too", "to finalize too"] {
                running.await_text("stderr", what);
                continue_the_stopped(&text(), what, members - 1);
            }
        });
        program.assert_passed(&outcome, members);
    });
}

/// The agent stands still for a moment, so what is late is not looked at.
#[test]
fn nothing_is_said_after_commit() {
    with_members("tests/mpirt/unsaid.c", &C, &[2, 3], |program, members| {
        program.all_pass(members);
    });
}
