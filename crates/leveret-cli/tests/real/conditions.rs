//! The same ring under other conditions: other scheduling, no privilege, a second job, no place for the report.

use crate::harness::{Outcome, Workplace, member, program, turn};
use crate::job::{Job, core, ring, ring_model};
use leveret_report::record::Ending;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

const ROUNDS: u64 = 30;

/// Ran to the end, with every message in order. What else runs on this machine may have made instances late; that the exit code is that
/// of the verdict is part of being consistent.
fn assert_completed(outcome: &Outcome) {
    outcome.assert_consistent();
    let record = outcome.record();
    assert_eq!(record.ending, Ending::Completed, "{}", outcome.said());
    for task in &record.phases[0].tasks {
        assert_eq!(task.instances.len() as u64, ROUNDS, "{}", outcome.said());
    }
}

#[test]
fn under_the_deadline_scheduler() {
    let _turn = turn();
    let outcome = Workplace::new()
        .start(&ring(ROUNDS, "scheduling = \"deadline\"", [&[], &[], &[]]).text())
        .finish_alone();
    assert_completed(&outcome);
    let machine = &outcome.record().machine;
    if machine.scheduling == "SCHED_DEADLINE" {
        outcome.assert_no_miss_of_the_job();
    } else {
        assert!(
            machine.warnings.iter().any(|warning| warning.contains("SCHED_DEADLINE")),
            "{}",
            outcome.said()
        );
    }
}

#[test]
fn with_ordinary_scheduling() {
    let _turn = turn();
    let outcome = Workplace::new()
        .start(&ring(ROUNDS, "scheduling = \"plain\"", [&[], &[], &[]]).text())
        .finish_alone();
    assert_completed(&outcome);
    assert_eq!(outcome.record().machine.scheduling, "SCHED_OTHER");
    // Its tasks would wait for what does that.
    assert!(!outcome.record().machine.kept_awake, "{}", outcome.said());
}

/// Copies of the programs where every user may run them.
fn public_copies(place: &Workplace) {
    let folder = place.path("bin");
    fs::create_dir_all(folder.join("examples")).unwrap();
    fs::copy(program(), folder.join("leveret")).unwrap();
    fs::copy(member("test-node"), folder.join("examples/test-node")).unwrap();
    let open = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    for path in [".", "bin", "bin/leveret", "bin/examples", "bin/examples/test-node"] {
        open(&place.path(path));
    }
    fs::create_dir(place.path("out")).unwrap();
    fs::set_permissions(place.path("out"), fs::Permissions::from_mode(0o777)).unwrap();
}

#[test]
fn as_a_user_without_rights() {
    let _turn = turn();
    let place = Workplace::new();
    public_copies(&place);
    let arguments = ["task=A.user", "reads=CA", "writes=AB", "first=yes"];
    let job = Job::new(ROUNDS, "")
        .command("A", core(0), "test-node", &arguments)
        .command("B", core(1), "test-node", &["task=B.user", "reads=AB", "writes=BC"])
        .command("C", core(0), "test-node", &["task=C.user", "reads=BC", "writes=CA"]);
    fs::write(place.path("job.toml"), ring_model(job).text()).unwrap();
    let mut command = Command::new(place.path("bin/leveret"));
    command.arg("run").arg(place.path("job.toml")).arg("--output").arg(place.path("out"));
    command.current_dir("/").env_remove("XDG_RUNTIME_DIR");
    let is_root = leveret_os::user::is_root();
    if is_root {
        command.uid(leveret_os::user::NOBODY).gid(leveret_os::user::NOBODY);
    }
    let outcome = place.spawn(command).finish_alone();
    assert_completed(&outcome);
    let machine = &outcome.record().machine;
    if is_root {
        assert_eq!(machine.scheduling, "SCHED_OTHER", "{}", outcome.said());
        for lost in ["SCHED_FIFO", "cpu_dma_latency"] {
            let told = machine.warnings.iter().any(|warning| warning.contains(lost));
            assert!(told, "no word of {lost}: {:?}", machine.warnings);
            assert!(outcome.stderr.contains(lost), "{}", outcome.said());
        }
        for warning in &machine.warnings {
            let times = outcome.said().matches(warning.as_str()).count();
            assert_eq!(times, 1, "told {times} times: {warning}\n{}", outcome.said());
        }
    }
}

#[test]
fn two_jobs_at_once() {
    let _turn = turn();
    let (left, right) = (Workplace::new(), Workplace::new());
    let job = ring(ROUNDS, "", [&[], &[], &[]]).text();
    let (first, second) = (left.start(&job), right.start(&job));
    for outcome in [first.finish_alone(), second.finish_alone()] {
        assert_completed(&outcome);
    }
}

#[test]
fn without_a_place_for_the_report_nothing_runs() {
    let _turn = turn();
    let place = Workplace::new();
    let pid = format!("pid={}", place.shown("A"));
    let job = ring(ROUNDS, "", [&[&pid], &[], &[]]).text();
    let outcome = place.start_with(&job, &["--output", "/dev/full/out"]).finish_alone();
    assert_eq!(outcome.code, Some(2), "{}", outcome.said());
    assert!(
        outcome.stderr.contains("/dev/full/out") && outcome.stderr.contains("--output"),
        "{}",
        outcome.said()
    );
    assert!(!place.path("A").exists(), "a member was started");
}

#[test]
fn results_are_shown_though_the_report_cannot_be_written() {
    let _turn = turn();
    let place = Workplace::new();
    fs::create_dir(place.path("out")).unwrap();
    // A directory stands where the record should: whoever runs this, even root, cannot write it.
    fs::create_dir_all(place.path("out/record.leveret/in-the-way")).unwrap();
    let job = ring(ROUNDS, "", [&[], &[], &[]]).text();
    let run = place.start(&job);
    let (code, stdout, stderr) = run.finish_without_record();
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("record.leveret") && stderr.contains("hint:"), "{stderr}");
    assert!(stdout.contains("verdict: ") && stdout.contains("A.user"), "{stdout}");
}

#[test]
fn a_panic_in_a_body_stops_the_job_and_is_told() {
    let _turn = turn();
    let outcome = Workplace::new().start(&ring(ROUNDS, "", [&[], &["panic=7"], &[]]).text()).finish_alone();
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    let Ending::Stopped(reason) = &outcome.record().ending else { panic!("{}", outcome.said()) };
    let at = reason.split_once("planted in instance ").map_or("", |(_, at)| at);
    let at: String = at.chars().take_while(char::is_ascii_digit).collect();
    // In that instance, or in the first after it that was not skipped.
    assert!(reason.contains("member \"B\"") && at.parse::<u64>().is_ok_and(|at| at >= 7), "{reason}");
}

#[test]
fn a_task_stops_the_job() {
    let _turn = turn();
    let outcome = Workplace::new().start(&ring(ROUNDS, "", [&[], &["stop=7"], &[]]).text()).finish_alone();
    outcome.assert_consistent();
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    let asked = outcome.record().ending.clone();
    let Ending::Stopped(reason) = &asked else { panic!("{asked:?}") };
    let at = reason.strip_prefix("member \"B\" has stopped it: a test wants it so: task B.user, instance ");
    // In that instance, or in the first after it that was not skipped; none began after it.
    let at = at.and_then(|at| at.parse::<u64>().ok()).filter(|at| *at >= 7);
    let last = outcome.record().phases[0].tasks[1].instances.last().map(|last| last.instance);
    assert!(at.is_some() && last == at, "{reason}, {last:?}");
}
