//! Every fuzz target: shortly, as a step of CI, and for long, as `cargo xtask fuzz`.
//!
//! All targets are one program, built once. Each starts from its seeds and from the corpus that earlier long runs left, which lies in the
//! repository as `fuzz/corpora/TARGET.tar.gz`. `fuzz/record.toml` says for how long each was run and on which sources, so that CI spends its
//! time on what has changed since.

mod record;

use super::command::{Log, cargo, failure, must_succeed, program, run};
use super::{Context, Outcome, tools};
use record::{Entry, Record};
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
/// The program's own choice of target.
const CHOICE: &str = "LEVERET_FUZZ_TARGET";
/// A long run of one target.
const LONG_SECONDS: u32 = 3600;
/// Inputs longer than this are not kept for the repository.
const KEPT_BYTES_MAX: u32 = 16 * 1024;

/// The step of CI: targets whose sources have changed since their long run are fuzzed for the asked time, the others run their corpus.
pub fn run_targets(context: &Context) -> Outcome {
    match prepare(context) {
        Ok((targets, record)) => run_shortly(context, &targets, &record),
        Err(outcome) => outcome,
    }
}

fn run_shortly(context: &Context, targets: &[String], record: &Record) -> Outcome {
    let mut executed = Vec::new();
    for target in targets {
        let sources = match record::sources(&context.root, target) {
            Ok(sources) => sources,
            Err(error) => return Outcome::Failed(format!("{target}: {error}")),
        };
        let changed = record.target.get(target).is_none_or(|entry| entry.sources != sources);
        let limit =
            if changed { format!("-max_total_time={}", context.fuzz_seconds) } else { "-runs=0".into() };
        match fuzz(context, target, &limit) {
            Ok(log) if log.code == Some(0) => match executions(&log) {
                0 => {
                    return Outcome::Failed(format!("{target} executed nothing; see {}", log.path.display()));
                }
                count => executed.push(format!("{target} {count}{}", if changed { "" } else { " (corpus)" })),
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

/// `cargo xtask fuzz [--seconds N] [TARGET...]`: a long run, after which the corpus is minimised and the record written.
pub fn main(root: PathBuf, arguments: &[String]) -> Result<u8, String> {
    let (seconds, names) = parse(arguments)?;
    let context = Context { root, step: "fuzz-long", fuzz_seconds: seconds, gives_way: true };
    let (targets, mut record) = match prepare(&context) {
        Ok(prepared) => prepared,
        Err(Outcome::Skipped(why) | Outcome::Failed(why)) => return Err(why),
        Err(_) => return Err("the targets could not be built".into()),
    };
    if let Some(name) = names.iter().find(|name| !targets.contains(name)) {
        return Err(format!("there is no target '{name}'; the targets are {}", targets.join(", ")));
    }
    let chosen: Vec<&String> =
        targets.iter().filter(|name| names.is_empty() || names.contains(name)).collect();
    for (number, target) in chosen.iter().enumerate() {
        println!("{} of {}: {target}, {seconds} s", number + 1, chosen.len());
        let log = fuzz(&context, target, &format!("-max_total_time={seconds}"))?;
        if log.code != Some(0) {
            println!("{:?}", failure(&log));
            return Ok(1);
        }
        let executions = executions(&log);
        let inputs = keep_corpus(&context, target)?;
        println!("  {executions} executions, {inputs} inputs kept");
        let sources = record::sources(&context.root, target)?;
        let before = record.target.get(*target).map_or(0, |entry| entry.seconds_in_all);
        let seconds_in_all = before.saturating_add(seconds);
        let entry = Entry { seconds, seconds_in_all, executions, inputs, sources };
        record.target.insert((*target).clone(), entry);
        record.write(&context.root)?;
    }
    Ok(0)
}

fn parse(arguments: &[String]) -> Result<(u32, Vec<String>), String> {
    let (mut seconds, mut names) = (LONG_SECONDS, Vec::new());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--seconds" => {
                let number = rest.next().and_then(|text| text.parse().ok()).filter(|number| *number > 0);
                seconds = number.ok_or("--seconds takes a number of at least 1")?;
            }
            other if other.starts_with('-') => {
                return Err(format!("'{other}' is unknown; fuzz takes --seconds N and names of targets"));
            }
            name => names.push(name.to_owned()),
        }
    }
    Ok((seconds, names))
}

/// Builds the program, unpacks the corpora, and gives the targets and what is recorded of them.
fn prepare(context: &Context) -> Result<(Vec<String>, Record), Outcome> {
    let nightly = tools::nightly(context).map_err(Outcome::Skipped)?;
    let targets = targets(&context.root).map_err(Outcome::Failed)?;
    let record = Record::read(&context.root).map_err(Outcome::Failed)?;
    let arguments = format!(
        "+{nightly} build --manifest-path fuzz/Cargo.toml --release --locked --bins --target {TARGET}"
    );
    let mut build = cargo(context, &arguments);
    build.env("RUSTFLAGS", INSTRUMENTED).env("CARGO_TARGET_DIR", "fuzz/target");
    match must_succeed(context, build) {
        Outcome::Passed(_) => {}
        failed => return Err(failed),
    }
    for target in &targets {
        unpack(context, target).map_err(Outcome::Failed)?;
    }
    Ok((targets, record))
}

/// The folder that a target adds to, with what the repository keeps of it.
fn unpack(context: &Context, target: &str) -> Result<(), String> {
    let corpus = context.root.join("fuzz/corpus").join(target);
    std::fs::create_dir_all(&corpus).map_err(|error| format!("{}: {error}", corpus.display()))?;
    let archive = archive(context, target);
    if !archive.exists() {
        return Ok(());
    }
    let mut tar = program(context, "tar", "--extract --gzip --file");
    tar.arg(&archive).arg("--directory").arg(&corpus);
    succeed(context, tar, target).map(|_| ())
}

fn archive(context: &Context, target: &str) -> PathBuf {
    context.root.join("fuzz/corpora").join(format!("{target}.tar.gz"))
}

/// Reduces the corpus to inputs that each reach something of their own, and packs them alike on every machine. Gives their number.
fn keep_corpus(context: &Context, target: &str) -> Result<u64, String> {
    let folder = |kind: &str| context.root.join("fuzz").join(kind).join(target);
    let (corpus, kept) = (folder("corpus"), folder("kept"));
    drop(std::fs::remove_dir_all(&kept));
    let corpora = context.root.join("fuzz/corpora");
    for path in [&kept, &corpora] {
        std::fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let mut merge = built(context, target);
    merge.args(["-merge=1".to_owned(), format!("-max_len={KEPT_BYTES_MAX}")]).args([&kept, &corpus]);
    succeed(context, merge, target)?;
    let inputs = std::fs::read_dir(&kept).map_err(|error| format!("{}: {error}", kept.display()))?.count();
    let packing =
        "--create --gzip --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 --file";
    let mut tar = program(context, "tar", packing);
    tar.env("GZIP", "-n").arg(archive(context, target)).arg("--directory").arg(&kept).arg(".");
    succeed(context, tar, target)?;
    Ok(inputs as u64)
}

fn succeed(context: &Context, command: std::process::Command, what: &str) -> Result<Log, String> {
    let log = run(context, command)?;
    if log.code == Some(0) { Ok(log) } else { Err(format!("{what}: see {}", log.path.display())) }
}

/// The program, told which target it is.
fn built(context: &Context, target: &str) -> std::process::Command {
    let built = context.root.join("fuzz/target").join(TARGET).join("release/leveret-fuzz");
    let mut command = program(context, &built.to_string_lossy(), "");
    command.env(CHOICE, target).arg("-rss_limit_mb=4096");
    command
}

/// Runs one target within a limit.
fn fuzz(context: &Context, target: &str, limit: &str) -> Result<Log, String> {
    let artifacts = context.root.join("fuzz/artifacts").join(target);
    std::fs::create_dir_all(&artifacts).map_err(|error| format!("{}: {error}", artifacts.display()))?;
    let mut command = built(context, target);
    command.arg(context.root.join("fuzz/corpus").join(target)).args(seeds(context, target));
    command.args([format!("-artifact_prefix={}/", artifacts.display()), limit.to_owned()]);
    run(context, command)
}

/// The names in the program's own table, which are those of its modules.
fn targets(root: &Path) -> Result<Vec<String>, String> {
    let path = root.join("fuzz/fuzz_targets/main.rs");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let names = text.lines().filter_map(|line| line.trim().strip_prefix("(\"")?.strip_suffix("::run),"));
    let names: Vec<String> = names.filter_map(|line| Some(line.split_once('"')?.0.to_owned())).collect();
    if names.is_empty() { Err(format!("{} names no target", path.display())) } else { Ok(names) }
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
    use crate::workspace;

    #[test]
    fn seeds_that_lie_elsewhere_are_there() {
        let context = Context { root: workspace::root(), step: "x", fuzz_seconds: 1, gives_way: false };
        for (target, folder) in SEEDS_ELSEWHERE {
            let found = seeds(&context, target);
            assert!(found.iter().any(|seeds| seeds.ends_with(folder)), "{target}: {found:?}");
        }
    }

    #[test]
    fn targets_are_those_of_the_table() {
        let targets = targets(&workspace::root()).expect("a table");
        assert!(targets.len() > 5 && targets.iter().any(|target| target == "plan_file"), "{targets:?}");
        for target in targets {
            let path = workspace::root().join("fuzz/fuzz_targets").join(format!("{target}.rs"));
            assert!(path.is_file(), "{target}");
        }
    }

    #[test]
    fn the_closing_line_tells_the_executions() {
        let log = |text: &str| Log { code: Some(0), text: text.into(), path: "x.log".into() };
        assert_eq!(executions(&log("INFO: seed\nDone 1234 runs in 21 second(s)\n")), 1234);
        assert_eq!(executions(&log("INFO: seed\n")), 0);
    }

    #[test]
    fn a_long_run_takes_seconds_and_names() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(parse(&[]), Ok((LONG_SECONDS, Vec::new())));
        assert_eq!(parse(&words("record --seconds 9 manifest")), Ok((9, words("record manifest"))));
        assert!(parse(&words("--seconds 0")).is_err() && parse(&words("--second 3")).is_err());
    }
}
