//! Short runs of every fuzz target.

use super::command::{Log, cargo, failure, program, run};
use super::{Context, Outcome, tools};
use std::path::PathBuf;

/// Folders of the repository that serve a target as seeds, beside `fuzz/seeds/TARGET`.
const SEEDS_ELSEWHERE: [(&str, &str); 1] = [("manifest", "tests/manifests")];

/// Builds all targets, then runs each for the asked time. A target that executes nothing fails.
pub fn run_targets(context: &Context) -> Outcome {
    let nightly = match tools::nightly(context) {
        Ok(name) => name,
        Err(reason) => return Outcome::Skipped(reason),
    };
    let tool = match tools::cargo_fuzz(context) {
        Ok(path) => path,
        Err(reason) => return Outcome::Skipped(reason),
    };
    let fuzz = |arguments: &str| {
        let mut command = program(context, &tool.to_string_lossy(), arguments);
        command.env("RUSTUP_TOOLCHAIN", &nightly);
        command
    };
    let listed = match fuzz("list").output() {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        Ok(output) => return Outcome::Failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => return Outcome::Failed(format!("cargo-fuzz could not start: {error}")),
    };
    let targets: Vec<&str> = listed.split_whitespace().collect();
    if targets.is_empty() {
        return Outcome::Failed("fuzz/ has no target".into());
    }
    match run(context, fuzz("build")) {
        Ok(log) if log.code == Some(0) => {}
        Ok(log) => return failure(&log),
        Err(error) => return Outcome::Failed(error),
    }
    let mut executed = Vec::new();
    for target in targets {
        let corpus = context.root.join("fuzz/corpus").join(target);
        if let Err(error) = std::fs::create_dir_all(&corpus) {
            return Outcome::Failed(format!("{}: {error}", corpus.display()));
        }
        let mut command = fuzz(&format!("run {target}"));
        command.arg(&corpus).args(seeds(context, target)).arg("--");
        command.args([format!("-max_total_time={}", context.fuzz_seconds), "-rss_limit_mb=4096".into()]);
        match run(context, command) {
            Ok(log) if log.code == Some(0) => match executions(&log) {
                0 => {
                    return Outcome::Failed(format!("{target} executed nothing; see {}", log.path.display()));
                }
                count => executed.push(format!("{target} {count}")),
            },
            Ok(log) => {
                println!("  fuzz target {target}:");
                return failure(&log);
            }
            Err(error) => return Outcome::Failed(format!("{target}: {error}")),
        }
    }
    Outcome::Passed(format!("executions: {}", executed.join(", ")))
}

/// The folders that a target starts from.
fn seeds(context: &Context, target: &str) -> Vec<PathBuf> {
    let elsewhere = SEEDS_ELSEWHERE.iter().filter(|(of, _)| *of == target).map(|(_, folder)| *folder);
    let own = format!("fuzz/seeds/{target}");
    let folders = elsewhere.chain([own.as_str()]).map(|folder| context.root.join(folder));
    folders.filter(|folder| folder.is_dir()).collect()
}

/// The number in libFuzzer's closing line, `Done N runs in S second(s)`.
fn executions(log: &Log) -> u64 {
    let line = log.text.lines().find_map(|line| line.strip_prefix("Done ")).unwrap_or_default();
    line.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Formats are checked with the stable toolchain, since the fuzz crate is a workspace of its own.
pub fn check_format(context: &Context) -> std::process::Command {
    cargo(context, "fmt --manifest-path fuzz/Cargo.toml -- --check")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_that_lie_elsewhere_are_there() {
        let context = Context { root: crate::workspace::root(), step: "x", fuzz_seconds: 1 };
        for (target, folder) in SEEDS_ELSEWHERE {
            let found = seeds(&context, target);
            assert!(found.iter().any(|seeds| seeds.ends_with(folder)), "{target}: {found:?}");
        }
    }

    #[test]
    fn the_closing_line_tells_the_executions() {
        let log = |text: &str| Log { code: Some(0), text: text.into(), path: "x.log".into() };
        assert_eq!(executions(&log("INFO: seed\nDone 1234 runs in 21 second(s)\n")), 1234);
        assert_eq!(executions(&log("INFO: seed\n")), 0);
    }
}
