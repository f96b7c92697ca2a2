//! Ctrl-C, SIGTERM and a closed terminal: once for a clean end with a report, twice for one that waits for no member.

use crate::harness::{Workplace, turn};
use crate::job::{Job, core, ring};
use leveret_os::clock;
use leveret_os::process::{PidFd, Signal};
use leveret_report::record::Ending;
use leveret_types::Nanos;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::OpenOptions;

/// Far more rounds than any of these tests waits for.
const ENDLESS: u64 = 1_000_000;

#[test]
fn one_interrupt_ends_the_run_with_its_report() {
    let _turn = turn();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let place = Workplace::new();
        let run = place.start(&ring(ENDLESS, "", [&[], &[], &[]]).text());
        run.await_text("stderr", "running node");
        run.signal(signal);
        let outcome = run.finish_alone();
        outcome.assert_consistent();
        outcome.assert_ran();
        let record = outcome.record();
        assert_eq!(record.ending, Ending::Interrupted);
        let counts: Vec<usize> = record.phases[0].tasks.iter().map(|task| task.instances.len()).collect();
        assert!(counts.iter().all(|count| *count == counts[0]), "not the same round for all: {counts:?}");
        assert!(place.path("out/report.html").is_file());
    }
}

#[test]
fn a_signal_to_the_whole_group_kills_no_member() {
    let _turn = turn();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let place = Workplace::new();
        let run = place.start(&ring(ENDLESS, "", [&[], &[], &[]]).text());
        run.await_text("stderr", "running node");
        // Ctrl-Z stops nobody.
        run.signal_group(Signal::TSTP);
        // As `timeout` does: the process, and then its group with it.
        run.signal(signal);
        run.signal_group(signal);
        let outcome = run.finish_alone();
        outcome.assert_ran();
        assert_eq!(outcome.record().ending, Ending::Interrupted);
        assert!(!outcome.stderr.contains(" ended: "), "a member died: {}", outcome.said());
    }
}

#[test]
fn a_closed_terminal_ends_the_run_with_its_report() {
    let _turn = turn();
    let place = Workplace::new();
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).and_then(|()| unlockpt(&terminal)).expect("a terminal");
    let name = ptsname(&terminal, Vec::new()).expect("a terminal has a name");
    let name = name.to_str().expect("a path in ASCII");
    let stream = || OpenOptions::new().read(true).write(true).open(name).expect("the terminal opens");
    let pid = format!("pid={}", place.shown("A"));
    let mut command = place.command(&ring(ENDLESS, "", [&[&pid, "started=7"], &[], &[]]).text(), &[]);
    command.stdout(stream()).stderr(stream());
    let run = place.spawn_as_it_is(command);
    run.await_text("A", "started");
    drop(terminal);
    run.signal_group(Signal::HUP);
    let outcome = run.finish_alone();
    outcome.assert_ran();
    assert_eq!(outcome.record().ending, Ending::Interrupted);
    assert!(place.path("out/report.html").is_file());
}

/// Tasks asleep until the next round, far off, are woken; nobody has to be ended for not stopping.
#[test]
fn a_long_round_is_not_waited_for() {
    let _turn = turn();
    let pair = |place: &Workplace| {
        let pids = [format!("pid={}", place.shown("A")), format!("pid={}", place.shown("B"))];
        Job::new(ENDLESS, "")
            .member("A", core(0), "test-node", &["task=A.user", &pids[0], "started=0"])
            .member("B", core(1), "test-node", &["task=B.user", &pids[1]])
            .task_every("1000s", "A.user", ["0ms", "10s"], "1ms", "")
            .task_every("1000s", "B.user", ["900s", "901s"], "1ms", "")
            .text()
    };
    for signal in [Signal::INT, Signal::KILL] {
        let place = Workplace::new();
        let run = place.start(&pair(&place));
        run.await_text("A", "started");
        if signal == Signal::KILL {
            kill_member(&place, "A");
        } else {
            run.signal(signal);
        }
        let outcome = run.finish_alone();
        let phase = &outcome.record().phases[0];
        assert_eq!((phase.rounds, phase.tasks[1].instances.len()), (0, 0), "{}", outcome.said());
        assert!(!outcome.stderr.contains("did not stop"), "{}", outcome.said());
        assert_eq!(
            outcome.report()["data_path"]["allocations_after_commit"],
            0,
            "{signal:?} {}",
            outcome.said()
        );
        if signal == Signal::INT {
            assert_eq!(outcome.record().ending, Ending::Interrupted);
            outcome.assert_ran();
        }
    }
}

/// Kills the member whose number stands in the first line of the file.
fn kill_member(place: &Workplace, name: &str) {
    let text = place.text(name);
    let number = text.lines().next().and_then(|line| line.parse().ok()).expect("a process number");
    let process = leveret_os::process::PidFd::open(number).expect("the member lives");
    process.signal(Signal::KILL).expect("the member lives");
}

#[test]
fn an_interrupt_before_the_first_commit_ends_the_run() {
    let _turn = turn();
    let place = Workplace::new();
    // One that never joins keeps the others waiting.
    let pid = format!("pid={}", place.shown("A"));
    let job = Job::new(ENDLESS, "")
        .member("A", core(0), "test-node", &["task=A.user", &pid])
        .command("B", core(1), "/bin/sleep", &["1000"])
        .task("A.user", ["0ms", "5ms"], "1ms", "");
    let run = place.start(&job.text());
    run.await_file("A");
    run.signal(Signal::INT);
    let outcome = run.finish_alone();
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    assert!(outcome.stderr.contains("interrupted"), "{}", outcome.said());
}

/// It has not heard of the job, so it could not notice the end either.
#[test]
fn a_member_that_has_not_joined_is_not_waited_for_at_the_end() {
    let _turn = turn();
    let place = Workplace::new();
    let [pid, lived] = [format!("pid={}", place.shown("A")), place.shown("lived")];
    let job = Job::new(ENDLESS, "")
        .member("A", core(0), "test-node", &["task=A.user", &pid])
        .command("B", core(1), "/bin/sh", &["-c", &format!("while sleep 1; do echo > '{lived}'; done")])
        .task("A.user", ["0ms", "5ms"], "1ms", "");
    let run = place.start(&job.text());
    run.await_file("A");
    // Later than the signal, whatever the machine does.
    run.await_file("lived");
    run.signal(Signal::TERM);
    run.await_text("stderr", "asked to end");
    std::fs::remove_file(place.path("lived")).expect("it was written");
    let outcome = run.finish();
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    assert!(!place.path("lived").exists(), "it lived on for more than a second");
}

/// Of the jobs here.
const PERIOD: Nanos = Nanos::from_millis(20);
/// Both parts of one wish come within this time.
const ONE_WISH: Nanos = Nanos::from_millis(300);

#[test]
fn a_second_interrupt_ends_the_members_at_once_and_leaves_the_report() {
    let _turn = turn();
    let place = Workplace::new();
    // A body that does not come back keeps the run from ending by itself.
    let run = place.start(&ring(ENDLESS, "", [&["overrun=1000s@3"], &[], &[]]).text());
    run.await_text("stderr", "node A: overrun in instance 3");
    run.signal(Signal::INT);
    run.await_text("stderr", "interrupted");
    // What comes at once after the first is one wish with it.
    let next = clock::now() + ONE_WISH;
    run.await_until("the time of another wish", || clock::now() > next);
    run.signal(Signal::INT);
    let outcome = run.finish_alone();
    assert!(outcome.stderr.contains("asked again: member \"A\""), "{}", outcome.said());
    // It has not had its time to stop.
    assert!(!outcome.stderr.contains("did not stop"), "{}", outcome.said());
    assert_eq!(outcome.record().ending, Ending::Interrupted, "{}", outcome.said());
    assert_eq!(ended_as(&outcome), outcome.code, "{}", outcome.said());
    assert!(place.path("out/report.html").is_file());
}

/// Two members with a task each.
fn pair(arguments: [&[&str]; 2], program: &str) -> String {
    let own = ["task=A.user", "task=B.user"];
    let [a, b] = [0, 1].map(|rank| [&[own[rank]], arguments[rank]].concat());
    Job::new(ENDLESS, "")
        .member("A", core(0), program, &a)
        .member("B", core(1), program, &b)
        .task("A.user", ["0ms", "10ms"], "1ms", "")
        .task("B.user", ["10ms", "20ms"], "1ms", "")
        .text()
}

/// An error of its own may be that of a wait that came back for the end, so it is told; a crash is none.
#[test]
fn what_a_member_does_after_an_interrupt_is_told() {
    let _turn = turn();
    for (how, code, said) in [
        ("killed-after", 1, "warning: member \"B\" ended: signal 9"),
        ("exit-after", 0, "member \"B\" ended after the run had been interrupted: exit status 7"),
    ] {
        let place = Workplace::new();
        let run = place.start(&pair([&[], &[&format!("how={how}")]], "test-leaver"));
        run.await_text("stderr", "running leaver");
        run.signal(Signal::INT);
        let outcome = run.finish_alone();
        assert!(outcome.stderr.contains(said), "{how}: {}", outcome.said());
        let is_failed = !matches!(outcome.record().ending, Ending::Interrupted | Ending::InterruptedAfter);
        assert_eq!(is_failed, code == 1, "{how}: {:?}", outcome.record().ending);
        assert_eq!(outcome.code == Some(1), code == 1, "{how}: {}", outcome.said());
        assert_eq!(ended_as(&outcome), outcome.code, "{}", outcome.said());
    }
}

/// Nobody's last instance says how long the run went on.
#[test]
fn members_that_stood_still_until_a_second_interrupt_lack_instances() {
    let _turn = turn();
    let place = Workplace::new();
    let files = ["A.pid", "B.pid"];
    let pids = files.map(|file| format!("pid={}", place.shown(file)));
    let run = place.start(&pair([&[&pids[0], "started=5"], &[&pids[1], "started=5"]], "test-node"));
    for file in files {
        run.await_text(file, "started");
        let pid = place.text(file).lines().next().and_then(|pid| pid.parse().ok());
        let process = PidFd::open(pid.expect("the member's number")).expect("it lives");
        process.signal(Signal::STOP).expect("it may be stopped");
    }
    for wait in [20 * PERIOD.0, ONE_WISH.0] {
        let next = clock::now() + Nanos(wait);
        run.await_until("the time of another wish", || clock::now() > next);
        run.signal(Signal::INT);
        run.await_text("stderr", "interrupted");
    }
    let outcome = run.finish_alone();
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    assert_eq!(ended_as(&outcome), outcome.code, "{}", outcome.said());
    let found = outcome.assessment().irregularities;
    for task in ["A.user", "B.user"] {
        let missed = found.iter().find(|found| found.kind == "unaccounted" && found.name == task);
        let missed = missed.unwrap_or_else(|| panic!("nothing is missed of {task}: {}", outcome.said()));
        // Of twenty and what was left of the run.
        assert!(missed.count >= 18 && missed.sentence.contains("stopped by a signal"), "{missed:?}");
    }
}

/// The exit code that the record gives.
fn ended_as(outcome: &crate::harness::Outcome) -> Option<i32> {
    Some(i32::from(outcome.assessment().exit_code()))
}

#[test]
fn a_member_that_does_not_stop_is_stopped() {
    let _turn = turn();
    let place = Workplace::new();
    let run = place.start(&ring(ENDLESS, "", [&["overrun=1000s@3"], &[], &[]]).text());
    run.await_text("stderr", "node A: overrun in instance 3");
    run.signal(Signal::INT);
    let outcome = run.finish_alone();
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    assert_eq!(outcome.record().ending, Ending::Interrupted);
    assert!(
        outcome.stderr.contains("member \"A\"") && outcome.stderr.contains("did not stop"),
        "{}",
        outcome.said()
    );
}
