//! Short runs of every fuzz target.

use super::command::{Log, cargo, failure, must_succeed, program, run};
use super::{Context, Outcome, tools};
use std::path::{Path, PathBuf};

/// Folders of the repository that serve a target as seeds, beside `fuzz/seeds/TARGET`.
const SEEDS_ELSEWHERE: [(&str, &str); 3] = [
    ("manifest", "tests/manifests"),
    ("network_manifest", "examples/network"),
    ("network_manifest", "examples/system"),
];

/// What libFuzzer needs of the compiler: counters at every edge, comparisons shown to it, and AddressSanitizer. `cargo fuzz build` gives the
/// same; building without it spares the build of that tool, which takes longer than the targets.
const INSTRUMENTED: &str = "--cfg fuzzing -Zsanitizer=address -Cdebug-assertions -Cpasses=sancov-module \
     -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
     -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";
/// Sanitizers want the target named, so that build scripts and macros are built without them.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Builds all targets, then runs each for the asked time. A target that executes nothing fails.
pub fn run_targets(context: &Context) -> Outcome {
    let nightly = match tools::nightly(context) {
        Ok(name) => name,
        Err(reason) => return Outcome::Skipped(reason),
    };
    let targets = match targets(&context.root) {
        Ok(targets) if targets.is_empty() => {
            return Outcome::Failed("fuzz/Cargo.toml names no target".into());
        }
        Ok(targets) => targets,
        Err(error) => return Outcome::Failed(error),
    };
    let arguments = format!(
        "+{nightly} build --manifest-path fuzz/Cargo.toml --release --locked --bins --target {TARGET}"
    );
    let mut build = cargo(context, &arguments);
    build.env("RUSTFLAGS", INSTRUMENTED).env("CARGO_TARGET_DIR", "fuzz/target");
    match must_succeed(context, build) {
        Outcome::Passed(_) => {}
        failed => return failed,
    }
    let mut executed = Vec::new();
    for target in &targets {
        match fuzz(context, target) {
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

/// Runs one built target for the asked time.
fn fuzz(context: &Context, target: &str) -> Result<Log, String> {
    let [corpus, artifacts] =
        ["corpus", "artifacts"].map(|kind| context.root.join("fuzz").join(kind).join(target));
    for folder in [&corpus, &artifacts] {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let built = context.root.join("fuzz/target").join(TARGET).join("release").join(target);
    let mut command = program(context, &built.to_string_lossy(), "");
    command.arg(&corpus).args(seeds(context, target));
    command.args([
        format!("-artifact_prefix={}/", artifacts.display()),
        format!("-max_total_time={}", context.fuzz_seconds),
        "-rss_limit_mb=4096".into(),
    ]);
    run(context, command)
}

/// The programs of the fuzz crate.
fn targets(root: &Path) -> Result<Vec<String>, String> {
    #[derive(serde::Deserialize)]
    struct Manifest {
        bin: Vec<Program>,
    }
    #[derive(serde::Deserialize)]
    struct Program {
        name: String,
    }
    let path = root.join("fuzz/Cargo.toml");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let manifest: Manifest = toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(manifest.bin.into_iter().map(|program| program.name).collect())
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
        let context =
            Context { root: crate::workspace::root(), step: "x", fuzz_seconds: 1, gives_way: false };
        for (target, folder) in SEEDS_ELSEWHERE {
            let found = seeds(&context, target);
            assert!(found.iter().any(|seeds| seeds.ends_with(folder)), "{target}: {found:?}");
        }
    }

    #[test]
    fn targets_are_those_of_the_manifest() {
        let targets = targets(&crate::workspace::root()).expect("a manifest");
        assert!(targets.len() > 5 && targets.iter().any(|target| target == "plan_file"), "{targets:?}");
    }

    #[test]
    fn the_closing_line_tells_the_executions() {
        let log = |text: &str| Log { code: Some(0), text: text.into(), path: "x.log".into() };
        assert_eq!(executions(&log("INFO: seed\nDone 1234 runs in 21 second(s)\n")), 1234);
        assert_eq!(executions(&log("INFO: seed\n")), 0);
    }
}
