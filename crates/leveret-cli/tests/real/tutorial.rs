//! The jobs of the documents run as the documents say.

use crate::harness::{Workplace, turn};
use crate::job::core;
use std::path::Path;

/// An example's manifest, on a core that this process may use.
fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let text = std::fs::read_to_string(path).expect("the example is there");
    let core = core(0);
    text.replace("cores = [0]", &format!("cores = [{core}]")).replace("core = 0", &format!("core = {core}"))
}

#[test]
fn the_tutorial_runs() {
    let _turn = turn();
    let place = Workplace::new();
    let outcome = place.start_with(&example("tutorial/job.toml"), &["--rounds", "50"]).finish_alone();
    outcome.assert_consistent();
    assert_eq!(outcome.report()["ending"]["kind"], "completed", "{}", outcome.said());
    let out = place.text("stdout");
    assert!(out.contains("sensor: Completed") && out.contains("controller: Completed"), "{out}");
    assert_eq!(outcome.report()["data_path"]["allocations_after_commit"], 0, "{}", outcome.said());
}

#[test]
fn questions_are_answered_on_best_effort_channels() {
    let _turn = turn();
    let place = Workplace::new();
    let outcome = place.run(&example("best-effort/job.toml"));
    assert_eq!(outcome.code, Some(0), "{}", outcome.said());
    assert!(place.text("stdout").contains("client: 1000 answers"), "{}", outcome.said());
    assert_eq!(outcome.report()["phases"][0]["channels"][0]["taken"], 1000, "{}", outcome.said());
}

#[test]
fn members_of_a_program_need_no_manifest() {
    let _turn = turn();
    let place = Workplace::new();
    let mut command = std::process::Command::new(crate::harness::program());
    command.args(["run", "-n", "2", "pair", "--output"]).arg(place.path("out"));
    let outcome = place.spawn(command).finish_alone();
    assert_eq!(outcome.code, Some(0), "{}", outcome.said());
    assert!(place.text("stdout").contains("client: 1000 answers"), "{}", outcome.said());
    let report = outcome.report();
    assert_eq!(report["job"], "pair", "{}", outcome.said());
    assert_eq!(report["phases"][0]["channels"][0]["taken"], 1000, "{}", outcome.said());
}
