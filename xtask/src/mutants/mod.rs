//! `cargo xtask mutants`: code is changed in one place, and some test must fail.
//!
//! `cargo mutants` changes values and operators, the pass `orderings` weakens memory orderings. What no test kills stands in
//! `xtask/mutants-survivors.txt` with a reason. A survivor that is not listed fails the run; so does a line whose mutant was killed, so
//! that the list only shrinks.

mod orderings;
mod survivors;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use survivors::{Survivors, judge};

/// Part of the code whose mutants run together.
struct Area {
    name: &'static str,
    package: &'static str,
    files: &'static str,
    /// What `cargo test` is given: the targets that could notice.
    tests: &'static [&'static str],
}

const AREAS: [Area; 4] = [
    Area {
        name: "checker",
        package: "leveret-plan",
        files: "crates/leveret-plan/src/checker/**/*.rs",
        // Those of the search take minutes, and are of the planner.
        tests: &["--lib", "--tests", "--", "--skip", "search::"],
    },
    Area {
        name: "memory",
        package: "leveret-memory",
        files: "crates/leveret-memory/src/**/*.rs",
        tests: &["--lib", "--tests"],
    },
    Area {
        name: "runtime",
        package: "leveret-runtime",
        files: "crates/leveret-runtime/src/**/*.rs",
        tests: &["--lib", "--tests"],
    },
    Area {
        name: "verdict",
        package: "leveret-report",
        files: "crates/leveret-report/src/verdict/**/*.rs",
        tests: &["--lib", "--tests"],
    },
];

/// Seconds after which a test that a mutant made endless counts as failed.
const TEST_SECONDS: &str = "300";

/// What became of the mutants that were run, by their stable names.
#[derive(Default)]
struct Outcomes {
    killed: BTreeSet<String>,
    survived: BTreeSet<String>,
    /// All that there are, run or not, in what was looked at.
    known: BTreeSet<String>,
    /// All of the area was looked at.
    is_whole: bool,
}

/// The parts of the command line.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    areas: Vec<String>,
    shard: Option<(usize, usize)>,
    file: Option<String>,
}

/// Runs the mutants of the named areas, or of all. Gives the process's exit code.
pub fn main(root: &Path, arguments: &[String]) -> Result<u8, String> {
    let request = parse(arguments)?;
    let list = root.join(survivors::PATH);
    let text = std::fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
    let survivors = Survivors::parse(&text)?;
    let mut findings = Vec::new();
    for area in AREAS.iter().filter(|area| request.wants(area.name)) {
        let outcomes = run_area(root, area, &request)?;
        note(root, area.name, &request, &outcomes)?;
        findings.extend(report(area.name, &survivors, &outcomes));
    }
    if request.wants(orderings::NAME) {
        let outcomes = orderings::run(root, request.shard, request.file.as_deref())?;
        note(root, orderings::NAME, &request, &outcomes)?;
        findings.extend(report(orderings::NAME, &survivors, &outcomes));
    }
    findings.iter().for_each(|finding| println!("{finding}"));
    println!("{} findings", findings.len());
    Ok(u8::from(!findings.is_empty()))
}

impl Request {
    fn wants(&self, area: &str) -> bool {
        self.areas.is_empty() || self.areas.iter().any(|name| name == area)
    }
}

fn parse(arguments: &[String]) -> Result<Request, String> {
    let mut request = Request::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--shard" => {
                let shard = rest.next().and_then(|text| {
                    let (own, of) = text.split_once('/')?;
                    Some((own.parse().ok()?, of.parse().ok()?))
                });
                let shard = shard.filter(|(own, of)| own < of);
                request.shard = Some(shard.ok_or("--shard takes K/N with K below N, as 0/8")?);
            }
            "--file" => request.file = Some(rest.next().ok_or("--file takes a path")?.clone()),
            name if name == orderings::NAME || AREAS.iter().any(|area| area.name == name) => {
                request.areas.push(name.to_owned());
            }
            other => {
                let names: Vec<&str> = AREAS.iter().map(|area| area.name).collect();
                let names = names.join(", ");
                return Err(format!(
                    "'{other}' is unknown; mutants takes --shard K/N, --file PATH, {names} and {}",
                    orderings::NAME
                ));
            }
        }
    }
    Ok(request)
}

/// Where it is written down what was run.
const RUNS: &str = "xtask/mutants-runs.txt";

/// Writes down what was run, of which commit, and with what outcome.
fn note(root: &Path, area: &str, request: &Request, outcomes: &Outcomes) -> Result<(), String> {
    let part = match (request.shard, request.file.as_deref()) {
        (None, None) => "all".to_owned(),
        (shard, file) => {
            let shard = shard.map(|(own, of)| format!("{own}/{of}"));
            shard.as_deref().into_iter().chain(file).collect::<Vec<_>>().join(" of ")
        }
    };
    let day = capture(root, "date", &["-u", "+%F"])?;
    let commit = capture(root, "git", &["log", "-1", "--format=%h"])?;
    let (killed, survived, known) = (outcomes.killed.len(), outcomes.survived.len(), outcomes.known.len());
    let line = format!(
        "{} {} {area} {part}: {killed} killed, {survived} survived, of {known}\n",
        day.trim(),
        commit.trim()
    );
    let path = root.join(RUNS);
    let before = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    std::fs::write(&path, before + &line).map_err(|error| format!("{}: {error}", path.display()))
}

fn report(area: &str, survivors: &Survivors, outcomes: &Outcomes) -> Vec<String> {
    let (killed, survived) = (outcomes.killed.len(), outcomes.survived.len());
    println!("{area}: {} of {} mutants run, {survived} survived", killed + survived, outcomes.known.len());
    judge(area, survivors, outcomes)
}

fn run_area(root: &Path, area: &Area, request: &Request) -> Result<Outcomes, String> {
    let files = request.file.as_deref().unwrap_or(area.files);
    let select = ["mutants", "--package", area.package, "--file", files, "--exclude", "**/*tests.rs"];
    let listed = capture(root, "cargo", &[&select[..], &["--list"]].concat()).map_err(|error| {
        format!("{error}; `cargo install cargo-mutants --locked` installs the tool that makes mutants")
    })?;
    let listed: Vec<String> = listed.lines().map(str::to_owned).collect();
    let names: BTreeMap<String, String> = listed.iter().cloned().zip(in_order(&listed)).collect();
    let output = root.join("target/mutants").join(area.name);
    std::fs::create_dir_all(&output).map_err(|error| format!("{}: {error}", output.display()))?;
    let mut command = Command::new("cargo");
    command.args(select).args(["--timeout", TEST_SECONDS, "--cap-lints", "true", "--output"]).arg(&output);
    if let Some((own, of)) = request.shard {
        command.args(["--shard", &format!("{own}/{of}"), "--sharding", "round-robin"]);
    }
    command.arg("--").args(area.tests).current_dir(root);
    let status = command.status().map_err(|error| format!("cargo mutants could not start: {error}"))?;
    // 0: all were killed; 2: some survived; 3: some ran into the time limit.
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        return Err(format!("cargo mutants ended with {status}; its log is in {}", output.display()));
    }
    let read = |name: &str| -> Result<BTreeSet<String>, String> {
        let path = output.join("mutants.out").join(name);
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = |line: &str| {
            names.get(line).cloned().ok_or_else(|| {
                format!(
                    "{}: \"{line}\" is none of the mutants that `cargo mutants --list` named",
                    path.display()
                )
            })
        };
        text.lines().map(name).collect()
    };
    // A test that does not end with a mutant has noticed it.
    let killed = read("caught.txt")?.union(&read("timeout.txt")?).cloned().collect();
    let (survived, is_whole) = (read("missed.txt")?, request.file.is_none());
    Ok(Outcomes { killed, survived, known: names.into_values().collect(), is_whole })
}

/// What a program prints.
fn capture(root: &Path, name: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(name).args(arguments).current_dir(root).output();
    let output = output.map_err(|error| format!("{name} could not start: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{name} {} failed: {}", arguments.join(" "), said.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Names without lines and columns, which every change above them moves: of the same change in the same function the first is `#1`.
fn in_order(listed: &[String]) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let name = |line: &String| {
        let mut parts = line.splitn(4, ':');
        let name = format!("{}:{}", parts.next().unwrap_or_default(), parts.nth(2).unwrap_or_default());
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        format!("{name} #{count}")
    };
    listed.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn names_do_not_move_with_lines() {
        let listed = ["a.rs:3:5: replace + with - in f", "a.rs:9:1: replace + with - in f", "b.rs:1:1: x: y"];
        let names = in_order(&listed.map(str::to_owned));
        assert_eq!(
            names,
            ["a.rs: replace + with - in f #1", "a.rs: replace + with - in f #2", "b.rs: x: y #1"]
        );
        assert_eq!(in_order(&["a.rs:4:5: replace + with - in f".to_owned()]), names[..1]);
    }

    #[test]
    fn areas_shards_and_files_are_understood() {
        let request = parse(&words("checker --shard 1/8 orderings --file x.rs")).expect("right");
        assert_eq!((request.shard, request.file.as_deref()), (Some((1, 8)), Some("x.rs")));
        assert!(request.wants("orderings") && !request.wants("memory"));
        assert!(Request::default().wants("memory"));
        for wrong in ["--shard 8/8", "--shard x", "nothing", "--file"] {
            assert!(parse(&words(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_list_in_the_repository_is_well_formed() {
        let text = std::fs::read_to_string(crate::workspace::root().join(survivors::PATH)).expect("a list");
        Survivors::parse(&text).expect("well formed");
    }
}
