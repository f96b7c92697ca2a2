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

/// The ring, a few rounds of it. The machine may stand still and other processes may take its cores meanwhile; no miss may be shown to be the
/// job's, and nothing may be lost, corrupt or out of order.
pub fn run_ring(context: &Context) -> Outcome {
    let command =
        program(context, LEVERET, "run examples/ring/demo.toml --rounds 200 --output target/ci/demo");
    let log = match run(context, command) {
        Ok(log) => log,
        Err(error) => return Outcome::Failed(error),
    };
    let report = context.root.join("target/ci/demo/report.json");
    let text = std::fs::read_to_string(&report).unwrap_or_default();
    match (log.code, blameless(&text)) {
        (Some(0 | 1 | 3 | 4), Some(about)) => Outcome::Passed(about),
        _ => {
            proven(&text).iter().for_each(|miss| println!("  proven to be the job's: {miss}"));
            failure(&log)
        }
    }
}

/// What a report says of misses, if none of them is proven to be the job's and nothing else is wrong.
fn blameless(report: &str) -> Option<String> {
    let report: serde_json::Value = serde_json::from_str(report).ok()?;
    let count = |name: &str| report["misses"][name].as_u64();
    let (job, unproven) = (count("job")?, count("unproven")?);
    let about = format!(
        "misses: {unproven} unproven, {} another process's, {} the machine's",
        count("process")?,
        count("machine")?
    );
    (job == unproven && report["irregularities"].as_array()?.is_empty()).then_some(about)
}

/// The misses that a report says are proven to be the job's.
fn proven(report: &str) -> Vec<String> {
    let report: serde_json::Value = serde_json::from_str(report).unwrap_or_default();
    let misses = report["misses"]["list"].as_array().into_iter().flatten();
    let proven = misses.filter(|miss| miss["party"] == "job" && miss["unproven"] == false);
    proven.map(|miss| format!("{} {}: {}", miss["name"], miss["instance"], miss["evidence"])).collect()
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

#[cfg(test)]
mod tests {
    use super::{blameless, proven};

    #[test]
    fn a_report_is_blameless_without_proven_misses_and_irregularities() {
        let report = |job: u32, irregular: &str| {
            format!(
                r#"{{"misses": {{"job": {job}, "unproven": 1, "process": 2, "machine": 3}}, "irregularities": [{irregular}]}}"#
            )
        };
        assert!(blameless(&report(1, "")).is_some_and(|about| about.contains("1 unproven")));
        assert_eq!(
            [blameless(&report(2, "")), blameless(&report(1, "{}")), blameless("")],
            [None, None, None]
        );
    }

    #[test]
    fn proven_misses_are_listed() {
        let miss = |name: &str, party: &str, unproven: bool| {
            format!(
                r#"{{"name": "{name}", "instance": 7, "party": "{party}", "unproven": {unproven}, "evidence": ["why"]}}"#
            )
        };
        let list = [miss("a", "job", true), miss("b", "job", false), miss("c", "machine", false)].join(", ");
        let report = format!(r#"{{"misses": {{"list": [{list}]}}}}"#);
        assert_eq!(proven(&report), [r#""b" 7: ["why"]"#]);
    }
}
