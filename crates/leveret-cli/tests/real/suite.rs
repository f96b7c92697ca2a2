//! How the programs of the conformance suite (`tests/mpirt/`) are compiled and run.

use crate::harness::{Outcome, Running, Workplace, program, turn};
use leveret_os::process::{PidFd, Signal};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The suite runs at each of these numbers of members.
pub const MEMBERS: [u32; 4] = [1, 2, 3, 4];

pub const C: [&str; 2] = ["cc", "-std=c11"];
pub const CPP: [&str; 2] = ["c++", "-std=c++17"];
/// Makes of a compiler one whose programs end where they do what C does not define, or touch memory that is not theirs, or leak.
const SANITIZERS: [&str; 3] =
    ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"];

/// What does not run under sanitizers: they stand in for the allocator, or count pages and time, which a sanitizer changes; or they
/// miss instances on purpose, or stop the agent.
const NOT_UNDER_SANITIZERS: [&str; 12] = [
    "again.c",
    "bound.c",
    "law.c",
    "life.c",
    "memory.c",
    "memory_commit.c",
    "metrics.c",
    "miss_stops.c",
    "mode_many.c",
    "served_law.c",
    "unsaid.c",
    "windows.c",
];

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles a C or C++ file, as strictly as a careful user would, and gives the program.
pub fn compile(place: &Workplace, source: &str, compiler: &[&str]) -> PathBuf {
    let library = program().parent().expect("a program lies in a folder");
    let file = library.join("libmpirt.so");
    assert!(file.is_file(), "{} is missing; build it: cargo build -p leveret-capi", file.display());
    // Programs look for the library by its name with the major version, as it would be installed.
    let named = place.path("libmpirt.so.0");
    if !named.exists() {
        std::os::unix::fs::symlink(&file, &named).expect("a link to the library");
    }
    let target = place.path("program");
    let output = Command::new(compiler[0])
        .args(&compiler[1..])
        .args(["-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-g"])
        .arg("-I")
        .arg(root().join("crates/leveret-capi/include"))
        .arg(root().join(source))
        .arg("-o")
        .arg(&target)
        .arg("-L")
        .arg(library)
        .arg("-lmpirt")
        .arg(format!("-Wl,-rpath,{}", named.parent().unwrap_or(library).display()))
        .output()
        .unwrap_or_else(|error| panic!("{} does not start: {error}", compiler[0]));
    assert!(output.status.success(), "{source}: {}", String::from_utf8_lossy(&output.stderr));
    target
}

/// Starts a program with so many members.
pub fn run(place: &Workplace, program_file: &Path, members: u32, arguments: &[&str]) -> Outcome {
    run_with(place, program_file, members, (arguments, &[]))
}

/// As [`run`], with the arguments to `leveret run` and those to the program.
pub fn run_with(place: &Workplace, file: &Path, members: u32, arguments: (&[&str], &[&str])) -> Outcome {
    place.spawn(command(place, file, members, arguments)).finish_alone()
}

fn command(
    place: &Workplace,
    file: &Path,
    members: u32,
    (to_run, to_program): (&[&str], &[&str]),
) -> Command {
    let mut command = Command::new(program());
    command.arg("run").args(["-n", &members.to_string(), "--output"]).arg(place.path("out"));
    command.args(to_run).arg(file).arg("--").args(to_program);
    command
}

/// A program, compiled once for all of its runs.
pub struct Program {
    place: Workplace,
    pub file: PathBuf,
    source: String,
}

impl Program {
    pub fn compiled(source: &str, compiler: &[&str]) -> Self {
        let place = Workplace::new();
        let file = compile(&place, source, compiler);
        Self { place, file, source: source.to_owned() }
    }

    /// Runs it, with these arguments to `leveret run`.
    pub fn run(&self, members: u32, arguments: &[&str]) -> Outcome {
        run(&self.place, &self.file, members, arguments)
    }

    /// Runs it with an argument of its own.
    pub fn run_with(&self, members: u32, argument: &str) -> Outcome {
        run_with(&self.place, &self.file, members, (&[], &[argument]))
    }

    /// Starts it with an argument of its own.
    pub fn start_with(&self, members: u32, argument: &str) -> Running<'_> {
        self.place.spawn(command(&self.place, &self.file, members, (&[], &[argument])))
    }

    /// Runs it as the argument of another program.
    pub fn run_under(&self, other: &[&str], members: u32) -> Outcome {
        let file = self.file.display().to_string();
        let to_program: Vec<&str> = other[1..].iter().copied().chain([&*file]).collect();
        run_with(&self.place, Path::new(other[0]), members, (&[], &to_program))
    }

    /// Runs it, or another program with it as the last argument, as a job of its own that no agent has started.
    pub fn run_alone(&self, under: &[&str]) -> std::process::Output {
        let file = self.file.as_os_str();
        let words: Vec<&OsStr> = under.iter().map(OsStr::new).chain([file]).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).env_remove("LEVERET_SOCKET").output().expect("it starts")
    }

    /// Runs it while `meanwhile` watches it, with what `leveret run` has said so far, and acts.
    pub fn run_while(
        &self,
        members: u32,
        meanwhile: impl FnOnce(&Running<'_>, &dyn Fn() -> String),
    ) -> Outcome {
        let running = self.place.spawn(command(&self.place, &self.file, members, (&[], &[])));
        meanwhile(&running, &|| self.place.text("stderr"));
        running.finish_alone()
    }

    /// Runs it as one member that kills its agent, with an argument of its own; gives what was written until both have ended.
    pub fn outlives_its_agent(&self, argument: &str) -> (String, String) {
        // What members print goes through the agent otherwise, which is gone.
        let raw = ["--member-output", "raw"];
        let running = self.place.spawn(command(&self.place, &self.file, 1, (&raw, &[argument])));
        let (_, _, stderr) = running.finish_without_record();
        self.place.await_nobody();
        (self.place.text("stdout"), stderr)
    }

    /// Runs it as one member that kills the agent, with a file to write to; gives what it wrote there until it has ended.
    pub fn writes_without_its_agent(&self) -> String {
        let witness = self.place.shown("witness");
        let running = self.place.spawn(command(&self.place, &self.file, 1, (&[], &[&witness])));
        let _ = running.finish_without_record();
        self.place.await_nobody();
        self.place.text("witness")
    }

    /// As [`Program::run`]; so many members must pass.
    pub fn passes(&self, (members, passing): (u32, u32), arguments: &[&str]) -> Outcome {
        let outcome = self.run(members, arguments);
        self.assert_passed(&outcome, passing);
        outcome
    }

    /// Every member passes; what the report makes of the run is the caller's to judge.
    pub fn all_pass(&self, members: u32) -> Outcome {
        self.passes((members, members), &[])
    }

    /// Runs it as the members of a manifest under which a death does not end the job; so many must pass.
    pub fn survives(&self, names: &[&str], cores: &str, passing: u32) -> Outcome {
        let mut job =
            format!("[job]\nname = \"survived\"\npolicy = \"continue\"\n\n[host]\ncores = {cores}\n");
        for name in names {
            job += &format!("\n[[member]]\nname = \"{name}\"\ncommand = [\"{}\"]\n", self.file.display());
        }
        let outcome = self.place.start(&job).finish_alone();
        assert!(outcome.signal.is_none(), "{}", outcome.said());
        self.assert_passed(&outcome, passing);
        outcome
    }

    pub fn assert_passed(&self, outcome: &Outcome, passing: u32) {
        let passed = || outcome.stdout.lines().filter_map(|line| line.strip_suffix(": passed"));
        assert_eq!(passed().count(), passing as usize, "{}: {}", self.source, outcome.said());
        // Each is another member, and not one that every process takes itself for.
        let ranks: BTreeSet<&str> = passed().filter_map(|line| line.rsplit(' ').next()).collect();
        assert_eq!(ranks.len(), passing as usize, "{}: {}", self.source, outcome.said());
    }
}

/// Lets a member go on as the line says that has these words.
pub fn continue_the_stopped(said: &str, words: &str, member: u32) {
    let stopped = format!("member \"{member}\" (stopped; `kill -CONT ");
    let line = said.lines().find(|line| line.contains(&stopped) && line.contains(words));
    let rest = line.and_then(|line| line.split_once(&stopped)).map(|(_, rest)| rest);
    let pid = rest.and_then(|rest| rest.split_once('`')).and_then(|(pid, _)| pid.parse().ok());
    let pid: u32 = pid.unwrap_or_else(|| panic!("{words}: {said}"));
    PidFd::open(pid).expect("the member").signal(Signal::CONT).expect("it goes on");
}

/// Programs of which a handler fails on purpose.
const FAILS_RUNS: [&str; 4] = ["/event_handlers.c", "/ended.c", "/thrown.cpp", "/surface.cpp"];

/// Runs a program of the suite with each of these numbers of members: under sanitizers, unless it does not run under them or they cannot
/// be had. What users compile without is tried with the examples.
pub fn with_members(source: &str, compiler: &[&str], numbers: &[u32], body: impl Fn(&Program, u32)) {
    let _turn = turn();
    let name = source.rsplit('/').next().unwrap_or(source);
    let checked = with_sanitizers(compiler).filter(|_| !NOT_UNDER_SANITIZERS.contains(&name));
    let program = Program::compiled(source, checked.as_deref().unwrap_or(compiler));
    for members in numbers {
        body(&program, *members);
    }
}

/// Every member passes, whatever their number.
pub fn conforms(source: &str) {
    conforms_at(source, &MEMBERS);
}

/// Every member passes with each of these numbers of members.
pub fn conforms_at(source: &str, numbers: &[u32]) {
    conforms_as(source, &C, numbers, &[]);
}

/// As [`conforms_at`], with this compiler and these arguments to `leveret run`.
pub fn conforms_as(source: &str, compiler: &[&str], numbers: &[u32], arguments: &[&str]) {
    with_members(source, compiler, numbers, |program, members| {
        let outcome = program.passes((members, members), arguments);
        outcome.assert_no_miss_of_the_job();
        let irregularities = outcome.assessment().irregularities;
        let fails = FAILS_RUNS.iter().any(|name| source.ends_with(name));
        let has_failed = irregularities.iter().any(|found| found.kind == "runs-failed");
        assert_eq!(has_failed, fails, "{source} at {members}: {}", outcome.said());
        // How long a transfer beside the table takes is the machine's too.
        let is_fit = |kind: &str| matches!(kind, "beyond-deadline" | "runs-failed");
        let wrong = irregularities.iter().find(|found| !is_fit(&found.kind));
        assert!(wrong.is_none(), "{source} at {members}: {wrong:?} {}", outcome.said());
    });
}

/// This compiler with sanitizers; says what is skipped where it has none here.
pub fn with_sanitizers<'a>(compiler: &[&'a str]) -> Option<Vec<&'a str>> {
    static KNOWN: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let probe = [&compiler[..1], &SANITIZERS[..1]].concat();
    let is_there =
        known.entry(compiler[0].to_owned()).or_insert_with(|| links(&probe, "what runs under sanitizers"));
    is_there.then(|| [compiler, &SANITIZERS].concat())
}

/// Whether programs that a compiler makes with these flags link here; says what is skipped if not.
pub fn links(compiler: &[&str], what: &str) -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("empty.c");
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("a file");
    let mut command = Command::new(compiler[0]);
    command.args(&compiler[1..]).arg(&source).arg("-o").arg(folder.path().join("empty"));
    let is_there = command.output().is_ok_and(|output| output.status.success());
    if !is_there {
        println!("SKIPPED: {} makes no program here, so {what} was not tried", compiler.join(" "));
    }
    is_there
}

/// What the suite would be blind to, if the sanitizers were not there or a member's end by one of them counted as passed: faults that
/// programs have here on purpose, after they have done all that a member has to.
// spec: LANG-SANITIZE-01
#[test]
fn a_fault_in_a_file_of_the_suite_is_found_with_every_number_of_members() {
    const FAULTS: [(&str, &str); 3] = [
        (
            "int *volatile one = calloc(1, sizeof *one); CHECK(one[1] == 0);",
            "AddressSanitizer: heap-buffer-overflow",
        ),
        ("volatile int most = INT32_MAX; CHECK(most + 1 != 0);", "runtime error: signed integer overflow"),
        (
            "void *volatile lost = malloc(7); lost = NULL; CHECK(lost == NULL);",
            "LeakSanitizer: detected memory leaks",
        ),
    ];
    assert_eq!(MEMBERS, [1, 2, 3, 4]);
    if with_sanitizers(&C).is_none() {
        return;
    }
    let place = Workplace::new();
    let source = place.path("faulty.c");
    let harness = root().join("tests/mpirt/harness.h");
    for (fault, report) in FAULTS {
        let text = format!(
            "#include \"{}\"\nstatic int sound(void) {{ return end(); }}\nint main(int argc, char **argv)\n\
             {{\n    begin(&argc, &argv);\n    {{ {fault} }}\n    return sound();\n}}\n",
            harness.display()
        );
        std::fs::write(&source, text).expect("a file");
        with_members(&source.display().to_string(), &C, &MEMBERS, |program, members| {
            let outcome = program.run(members, &[]);
            assert!(outcome.said().contains(report), "{fault} with {members}: {}", outcome.said());
            assert_ne!(outcome.code, Some(0), "{fault} with {members}: {}", outcome.said());
        });
    }
}

/// Every file of the suite is run by one of these tests, and what is said of files that do not run under sanitizers is said of files
/// that are there.
#[test]
fn every_file_of_the_suite_is_run() {
    let read = |folder: PathBuf| {
        let entries = std::fs::read_dir(&folder).expect("a folder").filter_map(Result::ok);
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let tests: String = read(root().join("crates/leveret-cli/tests/real"))
        .iter()
        .map(|file| std::fs::read_to_string(file).expect("a test"))
        .collect();
    let sources: Vec<String> = read(root().join("tests/mpirt"))
        .iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "c" || extension == "cpp"))
        .filter_map(|file| Some(file.file_name()?.to_str()?.to_owned()))
        .collect();
    assert!(sources.len() > 20, "{sources:?}");
    for source in &sources {
        assert!(tests.contains(&format!("tests/mpirt/{source}\"")), "no test runs tests/mpirt/{source}");
    }
    for name in NOT_UNDER_SANITIZERS {
        assert!(sources.iter().any(|source| source == name), "tests/mpirt/{name} is no file of the suite");
    }
}
