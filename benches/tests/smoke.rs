//! Every benchmark runs with tiny inputs and writes what it promises.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    _ = std::fs::remove_dir_all(&folder);
    folder
}

fn run(topic: &str) -> Value {
    let folder = folder(topic);
    let output = Command::new(env!("CARGO_BIN_EXE_leveret-benches"))
        .args([topic, "--smoke", "--output"])
        .arg(&folder)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{topic}: {errors}");
    let json = std::fs::read_to_string(folder.join(format!("{topic}.json"))).unwrap();
    serde_json::from_str(&json).unwrap()
}

fn count(report: &Value, subject: &str) -> usize {
    let rows = report["rows"].as_array().unwrap();
    let rows = rows.iter().filter(|row| row["subject"].as_str().unwrap().starts_with(subject));
    rows.inspect(|row| assert!(row["count"].as_u64().unwrap() > 0)).count()
}

/// Present, or named as missing with a reason.
fn accounted_for(report: &Value, subject: &str) {
    let missing = report["missing"].as_array().unwrap();
    let named = missing.iter().any(|one| one["subject"].as_str().unwrap().contains(subject));
    assert!(count(report, subject) > 0 || named, "{subject} is neither measured nor missing: {report}");
}

/// Whether the table has a row of `subject` in `case`, or says that in none of its rounds the machine kept one speed. That is measured by
/// a probe before and after each round, and is no failure of the round.
fn stands_or_the_machine_changed(report: &Value, case: &str, subject: &str) -> bool {
    let of_subject = |one: &&Value| one["subject"] == subject;
    let rows = report["rows"].as_array().unwrap();
    let changed = format!("{case}: the machine changed its speed in every round");
    rows.iter().filter(of_subject).any(|row| row["case"] == case)
        || report["missing"].as_array().unwrap().iter().filter(of_subject).any(|one| one["reason"] == changed)
}

#[test]
fn the_list_names_every_benchmark() {
    let output = Command::new(env!("CARGO_BIN_EXE_leveret-benches")).arg("--list").output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "round-trip\nstart-lateness\ntick\ntime-vs-best-effort\nevents\nplanner\nnetwork-plan\nc-abi\nring-c\n"
    );
}

#[test]
fn round_trip_measures_or_names_everybody() {
    let report = run("round-trip");
    for subject in ["leveret", "leveret watched", "raw", "iceoryx2", "Aeron", "MPICH", "Open MPI"] {
        accounted_for(&report, subject);
    }
}

#[test]
fn start_lateness_measures_or_names_everybody() {
    let report = run("start-lateness");
    for subject in ["leveret", "cyclictest", "bare spin", "bare sleep"] {
        accounted_for(&report, subject);
    }
}

#[test]
fn tick_measures_both_places_of_the_epoch() {
    let report = run("tick");
    for subject in ["off the tick", "as early as can be"] {
        accounted_for(&report, subject);
    }
}

#[test]
fn time_vs_best_effort_measures_both_and_the_machine() {
    let report = run("time-vs-best-effort");
    for subject in ["time-driven", "best effort", "bare spin"] {
        accounted_for(&report, subject);
    }
}

#[test]
fn events_measures_or_names_everybody() {
    let report = run("events");
    for subject in ["leveret", "eventfd", "condition variable"] {
        accounted_for(&report, subject);
    }
    // Every burst of ours was handled in the order of its priorities: a round with an inversion would be missing.
    for priority in [10, 20, 30, 40] {
        let case = format!("priority {priority}");
        assert!(stands_or_the_machine_changed(&report, &case, "leveret"), "{case}: {report}");
    }
}

#[test]
fn planner_plans_and_checks() {
    let report = run("planner");
    for subject in ["leveret plan", "leveret check", "brute force"] {
        assert!(count(&report, subject) > 0, "{subject} is not measured: {report}");
    }
}

#[test]
fn network_plan_measures_ours_and_measures_or_names_its_peers() {
    let report = run("network-plan");
    let ours = ["leveret plan", "leveret check", "leveret adds", "leveret refuses", "leveret decides"];
    for subject in ours {
        assert!(count(&report, subject) > 0, "{subject} is not measured: {report}");
    }
    for subject in ["tsnkit", "z3"] {
        accounted_for(&report, subject);
    }
    let targets = report["targets"].as_array().unwrap();
    let undecided = targets.iter().find(|one| one["measure"].as_str().unwrap().ends_with("does not decide"));
    assert_eq!(undecided.unwrap()["value"], "0", "{report}");
}

#[test]
fn calls_through_c_are_measured_beside_rust_and_mpi() {
    let report = run("c-abi");
    for subject in ["C", "Rust", "MPICH", "Open MPI"] {
        accounted_for(&report, subject);
    }
    // Each of the calls by itself, in both languages.
    if count(&report, "C") > 0 {
        for (call, subject) in
            ["insert", "remove", "start", "wait", "test"].map(|call| [(call, "C"), (call, "Rust")]).concat()
        {
            assert!(stands_or_the_machine_changed(&report, call, subject), "{call} in {subject}: {report}");
        }
    }
}

#[test]
fn the_ring_through_c_is_measured_beside_rust() {
    let report = run("ring-c");
    for subject in ["C", "Rust"] {
        accounted_for(&report, subject);
    }
}
