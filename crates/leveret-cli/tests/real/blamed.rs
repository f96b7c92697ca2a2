//! Whom a failed run names: who failed first, and not who ended for it; with the words of what failed, and not of a stop that there was none of.

use crate::harness::{Outcome, Workplace, member, turn};
use crate::job::{Job, core};
use crate::suite::{CPP, Program};
use leveret_os::process::{PidFd, Signal};
use leveret_report::record::{Ending, EventKind};
use leveret_report::verdict::{Cause, Party};

/// Ranks of those that died, and of those that ended since the run was being ended.
fn ended(outcome: &Outcome) -> (Vec<u16>, Vec<u16>) {
    let events = outcome.record().phases.iter().flat_map(|phase| &phase.events);
    let (mut died, mut followed) = (Vec::new(), Vec::new());
    for event in events {
        match event.kind {
            EventKind::MemberDied { member, .. } => died.push(member),
            EventKind::MemberEnded { member, .. } => followed.push(member),
            _ => {}
        }
    }
    followed.sort_unstable();
    (died, followed)
}

/// What leaves their commit is the exception of a wait that came back for the end.
#[test]
fn who_waits_while_another_fails_is_not_blamed() {
    let _turn = turn();
    let program = Program::compiled("tests/mpirt/waits_ended.cpp", &CPP);
    for way in ["sleep", "short", "event", "channel"] {
        let outcome = program.run_with(3, way);
        assert_eq!(outcome.code, Some(1), "{way}: {}", outcome.said());
        assert_eq!(ended(&outcome), (vec![0], vec![1, 2]), "{way}: {}", outcome.said());
        let Ending::Stopped(reason) = &outcome.record().ending else { panic!("{way}: {}", outcome.said()) };
        assert_eq!(reason, "member \"0\" died: exit status 7", "{way}");
        let blamed = outcome.assessment().irregularities;
        let of_members = blamed.iter().filter(|found| found.kind == "member-died");
        assert_eq!(of_members.map(|found| &*found.name).collect::<Vec<_>>(), ["0"], "{way}: {blamed:?}");
        let followed = "member \"1\" ended while the run was being ended: exit status 1";
        assert!(outcome.stderr.contains(followed), "{way}: {}", outcome.said());
        if way == "sleep" {
            let told = "member 1: MPIRT_Sleep: the end of what is committed has ended the wait or the sleep; the job was stopped: member \
                        \"0\" died: exit status 7";
            assert!(outcome.stderr.contains(told), "{}", outcome.said());
        }
    }
}

#[test]
fn who_waits_when_the_user_ends_the_run_has_not_failed() {
    let _turn = turn();
    let program = Program::compiled("tests/mpirt/waits_ended.cpp", &CPP);
    let running = program.start_with(2, "interrupted");
    running.await_text("stderr", "member 0 waits");
    running.await_text("stderr", "member 1 waits");
    running.signal(Signal::INT);
    let outcome = running.finish_alone();
    assert_eq!(outcome.record().ending, Ending::Interrupted, "{}", outcome.said());
    assert_eq!(ended(&outcome), (vec![], vec![0, 1]), "{}", outcome.said());
    assert!(outcome.assessment().irregularities.is_empty(), "{}", outcome.said());
}

/// A job of two, of which B is a shell that does something more once its member has run to the end.
fn with_more(place: &Workplace, more: &str) -> String {
    let node = member("test-node");
    let more = more.replace("PLACE", &place.path("").display().to_string());
    Job::new(20, "")
        .member("A", core(0), "test-node", &["task=A.user"])
        .command("B", core(1), "/bin/sh", &["-c", &format!("'{node}' task=B.user; {more}")])
        .task("A.user", ["0ms", "5ms"], "1ms", "")
        .task("B.user", ["7ms", "11ms"], "1ms", "")
        .text()
}

#[test]
fn a_member_that_fails_after_every_round_has_not_stopped_the_run() {
    let _turn = turn();
    let place = Workplace::new();
    let outcome = place.start(&with_more(&place, "exit 3")).finish_alone();
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    assert_eq!(
        outcome.record().ending,
        Ending::FailedAfter("member \"B\" ended: exit status 3".to_owned()),
        "{}",
        outcome.said()
    );
    assert!(!outcome.stdout.contains("stopped"), "{}", outcome.said());
    assert!(
        outcome.stdout.contains("run to its end; after that member \"B\" ended: exit status 3"),
        "{}",
        outcome.said()
    );
}

/// It waits for the end of the run, and is missed like any other.
#[test]
fn the_death_of_a_member_without_tasks_stops_the_job() {
    let _turn = turn();
    for (policy, ends) in [("stop", true), ("continue", false)] {
        let place = Workplace::new();
        let [a, b] = ["A", "B"].map(|name| format!("pid={}", place.shown(name)));
        let job = Job::new(100, &format!("policy = \"{policy}\""))
            .member("A", core(0), "test-node", &["task=A.user", &a, "started=5"])
            .member("B", core(1), "test-node", &[&b])
            .task("A.user", ["0ms", "5ms"], "1ms", "");
        let run = place.start(&job.text());
        run.await_text("A", "started");
        let process = place.text("B").trim().parse().expect("a process number");
        PidFd::open(process).expect("it lives").signal(Signal::KILL).expect("it lives");
        let outcome = run.finish_alone();
        assert_eq!(outcome.code, Some(1), "{}", outcome.said());
        let died = "member \"B\" died: signal 9 (SIGKILL)";
        match &outcome.record().ending {
            Ending::Stopped(why) => assert!(ends && why == died, "{why}"),
            other => assert!(!ends, "{other:?}"),
        }
        let rounds = outcome.record().phases[0].rounds;
        assert_eq!(rounds < 100, ends, "{}", outcome.said());
        let irregularities = outcome.assessment().irregularities;
        assert!(irregularities.iter().any(|found| found.kind == "member-died"), "{irregularities:?}");
    }
}

/// Its last instance never ends, which is no news of one that is known to be dead.
#[test]
fn nobody_waits_for_the_instance_in_which_a_member_has_ended() {
    let _turn = turn();
    let job = Job::new(100, "policy = \"continue\"")
        .member("A", core(0), "test-node", &["task=A.user", "exit=5"])
        .member("B", core(1), "test-node", &["task=B.user"])
        .task("A.user", ["0ms", "5ms"], "1ms", "")
        .task("B.user", ["7ms", "11ms"], "1ms", "");
    let outcome = Workplace::new().start(&job.text()).finish_alone();
    assert_eq!(outcome.record().phases[0].rounds, 100, "{}", outcome.said());
    assert!(outcome.stderr.contains("member \"A\" ended"), "{}", outcome.said());
    assert!(!outcome.stderr.contains("has not returned"), "{}", outcome.said());
    // Nor has it overrun.
    let miss = outcome.miss("A.user", 5);
    assert_eq!((miss.cause, miss.party, miss.unproven), (Cause::MemberDied, Party::Job, false), "{miss:?}");
    assert!(miss.evidence[0].contains("never ended: member A died"), "{miss:?}");
}

/// Where the job goes on without the dead, others may end with an error because of it.
#[test]
fn a_member_that_fails_after_a_death_is_not_named_alone() {
    let _turn = turn();
    let job = Job::new(20, "policy = \"continue\"")
        .member("A", core(0), "test-leaver", &["task=A.user", "how=abort"])
        .command("B", core(1), "/bin/sh", &["-c", &format!("'{}' task=B.user; exit 3", member("test-node"))])
        .task("A.user", ["0ms", "5ms"], "1ms", "")
        .task("B.user", ["7ms", "11ms"], "1ms", "");
    let outcome = Workplace::new().start(&job.text()).finish_alone();
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    let Ending::FailedAfter(why) = &outcome.record().ending else { panic!("{}", outcome.said()) };
    assert!(
        why.starts_with("member \"B\" ended: exit status 3; member \"A\" had died in the run (signal 6"),
        "{why}"
    );
}

#[test]
fn a_run_that_is_interrupted_after_every_round_says_so() {
    let _turn = turn();
    let place = Workplace::new();
    let run = place.start(&with_more(&place, "echo > PLACE/done; exec sleep 1000"));
    run.await_file("done");
    run.signal(Signal::TERM);
    let outcome = run.finish_alone();
    assert_eq!(outcome.record().ending, Ending::InterruptedAfter, "{}", outcome.said());
    assert!(outcome.stdout.contains("20 rounds"), "{}", outcome.said());
    assert!(outcome.stdout.contains("every round run, then interrupted"), "{}", outcome.said());
}
