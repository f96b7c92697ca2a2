//! The examples, used as a user would: checked, planned, verified, run.

use super::command::{failure, program, run};
use super::{Context, Outcome};
use std::path::{Path, PathBuf};

/// The built program.
pub const LEVERET: &str = "target/release/leveret";

/// `check`, `plan` and `verify` for the manifest of every example.
pub fn plan_all(context: &Context) -> Outcome {
    let manifests = manifests(&context.root.join("examples"));
    if manifests.is_empty() {
        return Outcome::Failed("examples/ holds no manifest".into());
    }
    let plan = context.root.join("target/ci/plan.json");
    for manifest in &manifests {
        let [job, plan] = [manifest, &plan].map(|path| path.to_string_lossy().into_owned());
        for arguments in
            [vec!["check", &job], vec!["plan", &job, "--output", &plan], vec!["verify", &plan, &job]]
        {
            let mut command = program(context, LEVERET, "");
            command.args(&arguments);
            match run(context, command) {
                Ok(log) if log.code == Some(0) => {}
                Ok(log) => {
                    println!("  leveret {}", arguments.join(" "));
                    return failure(&log);
                }
                Err(error) => return Outcome::Failed(error),
            }
        }
    }
    Outcome::Passed(format!("{} manifests", manifests.len()))
}

/// The ring, a few rounds of it.
pub fn run_ring(context: &Context) -> Outcome {
    let command =
        program(context, LEVERET, "run examples/ring/demo.toml --rounds 200 --output target/ci/demo");
    match run(context, command) {
        Ok(log) if log.code == Some(0) => Outcome::Passed("no miss".into()),
        Ok(log) if log.code == Some(3) => Outcome::Passed("misses, all of them the machine's".into()),
        Ok(log) => failure(&log),
        Err(error) => Outcome::Failed(error),
    }
}

/// All `examples/*/*.toml` but those of cargo, in the order of their names.
fn manifests(directory: &Path) -> Vec<PathBuf> {
    let entries = |path: &Path| {
        let entries = std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let mut found: Vec<PathBuf> = entries(directory)
        .iter()
        .flat_map(|path| entries(path))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .filter(|path| path.file_name().is_some_and(|name| name != "Cargo.toml"))
        .collect();
    found.sort();
    found
}
