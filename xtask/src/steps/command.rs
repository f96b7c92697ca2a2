//! Runs a command with its output in a log, under a time limit, and counts the tests that it reports.

use super::{Context, Outcome};
use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A command that runs longer hangs.
const LIMIT: Duration = Duration::from_secs(50 * 60);
/// Lines of the log that a failure shows.
const TAIL_LINES: usize = 120;
/// Lines of what one failed test printed.
const TEST_LINES: usize = 40;

/// What a command left behind.
pub struct Log {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Standard output and error together.
    pub text: String,
    /// Where that lies.
    pub path: PathBuf,
}

/// How many tests a log reports.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TestCount {
    /// Ran and passed.
    pub passed: u64,
    /// Present but marked to be ignored.
    pub ignored: u64,
    /// Checks within passing tests that this machine or user did not allow, as they told by a line `SKIPPED: why`; seen
    /// only where the output of passing tests is shown.
    pub skipped: Vec<String>,
}

/// `cargo` with `arguments` (separated by spaces) in the root of the repository.
pub fn cargo(context: &Context, arguments: &str) -> Command {
    program(context, "cargo", arguments)
}

/// A program with `arguments` (separated by spaces) in the root of the repository.
pub fn program(context: &Context, name: &str, arguments: &str) -> Command {
    let mut command = if context.gives_way {
        let mut command = Command::new("nice");
        command.args(["-n", "19", name]);
        command
    } else {
        Command::new(name)
    };
    command.args(arguments.split_whitespace()).current_dir(&context.root);
    // What `cargo run` set for this program must not steer the toolchain of another.
    for name in
        ["RUSTUP_TOOLCHAIN", "CARGO", "RUSTFLAGS", "CARGO_TARGET_DIR", "LD_LIBRARY_PATH", "RUSTDOCFLAGS"]
    {
        command.env_remove(name);
    }
    // A step is built once: what the next build could reuse takes half of the disk that all of them need.
    command.env("CARGO_INCREMENTAL", "0");
    command
}

/// Runs a command to its end. An error means that it could not start or hung.
pub fn run(context: &Context, mut command: Command) -> Result<Log, String> {
    let directory = context.root.join("target/ci");
    let path = directory.join(format!("{}.log", context.step));
    let open = || -> std::io::Result<(File, File)> {
        std::fs::create_dir_all(&directory)?;
        let file = File::create(&path)?;
        Ok((file.try_clone()?, file))
    };
    let (output, errors) = open().map_err(|error| format!("{}: {error}", path.display()))?;
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .spawn()
        .map_err(|error| format!("{name} could not start: {error}"))?;
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    let waiter = std::thread::spawn(move || sender.send(child.wait()));
    let ended = receiver.recv_timeout(LIMIT);
    if ended.is_err() {
        end_tree(id);
    }
    drop(waiter.join());
    let text = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let text = String::from_utf8_lossy(&text).into_owned();
    match ended {
        Ok(Ok(status)) => Ok(Log { code: status.code(), text, path }),
        Ok(Err(error)) => Err(format!("{name} could not be waited for: {error}")),
        Err(_) => {
            println!("{}", tail(&text));
            Err(format!("{name} ran for more than {} s and was ended: it hangs", LIMIT.as_secs()))
        }
    }
}

/// Ends a process and all its descendants, the youngest last so that none escapes to another parent unseen.
fn end_tree(id: u32) {
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    // The result does not matter: a process that has ended by itself is just as well.
    drop(Command::new("kill").args(["-KILL", &id.to_string()]).stderr(Stdio::null()).status());
    children.split_whitespace().filter_map(|child| child.parse().ok()).for_each(end_tree);
}

/// Runs a command that must succeed.
pub fn must_succeed(context: &Context, command: Command) -> Outcome {
    match run(context, command) {
        Ok(log) if log.code == Some(0) => Outcome::Passed(String::new()),
        Ok(log) => failure(&log),
        Err(error) => Outcome::Failed(error),
    }
}

/// Runs a command that must succeed and must have run at least one test.
pub fn must_test(context: &Context, command: Command) -> Outcome {
    match run(context, command) {
        Ok(log) if log.code == Some(0) => judge_tests(&count_tests(&log.text)),
        Ok(log) => failure(&log),
        Err(error) => Outcome::Failed(error),
    }
}

fn judge_tests(TestCount { passed, ignored, skipped }: &TestCount) -> Outcome {
    if *passed == 0 {
        return Outcome::Failed(format!("no test ran ({ignored} are marked ignored)"));
    }
    let mut about = format!("{passed} tests");
    if *ignored > 0 {
        about += &format!(", {ignored} marked ignored");
    }
    if skipped.is_empty() {
        return Outcome::Passed(about);
    }
    about += &format!(", {} checks skipped: {}", skipped.len(), skipped.join("; "));
    Outcome::PassedInPart(about, skipped.len())
}

/// Prints what a failed command's log says of its failed tests, or its end if it names none.
pub fn failure(log: &Log) -> Outcome {
    let failed = failed_tests(&log.text);
    if failed.is_empty() {
        println!("{}", tail(&log.text));
    }
    for (name, said) in &failed {
        println!("---- {name}\n{}", ends(said));
    }
    let code = log.code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
    let names: Vec<String> =
        failed.iter().map(|(name, said)| format!("{name} ({})", message(said))).collect();
    let of = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
    Outcome::Failed(format!("{code}{of}; the whole log is {}", log.path.display()))
}

/// The tests that cargo's test runner reports as failed, each with what it printed.
fn failed_tests(text: &str) -> Vec<(&str, Vec<&str>)> {
    let failed: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"))
        .map(|name| name.split(" - should panic").next().unwrap_or(name))
        .collect();
    let said = |name: &str| {
        let heading = format!("---- {name} stdout ----");
        let lines = text.lines().skip_while(|line| *line != heading).skip(1);
        let is_of_it =
            |line: &&str| !line.starts_with("---- ") && *line != "failures:" && *line != "stack backtrace:";
        lines.take_while(is_of_it).collect()
    };
    failed.into_iter().map(|name| (name, said(name))).collect()
}

/// Why a test panicked, shortly: the line that closes the list of steps is all that some readers see.
fn message(said: &[&str]) -> String {
    const CHARACTERS: usize = 400;
    let after = said.iter().position(|line| line.contains(" panicked at ")).map_or(0, |place| place + 1);
    let lines = said[after..].iter().map(|line| line.trim()).filter(|line| !line.is_empty());
    lines.take(3).collect::<Vec<_>>().join(" ").chars().take(CHARACTERS).collect()
}

/// The first and the last lines of a long text: the message stands at one end or the other.
fn ends(lines: &[&str]) -> String {
    let half = TEST_LINES / 2;
    if lines.len() <= TEST_LINES {
        return lines.join("\n");
    }
    let between = format!("... {} lines more ...", lines.len() - TEST_LINES);
    [&lines[..half], &[between.as_str()], &lines[lines.len() - half..]].concat().join("\n")
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

/// Adds up the closing lines of cargo's test runner.
pub fn count_tests(text: &str) -> TestCount {
    let mut count = TestCount::default();
    for line in text.lines().filter(|line| line.starts_with("test result:")) {
        let number = |word: &str| -> u64 {
            let before = line.split(word).next().unwrap_or_default();
            before.split_whitespace().next_back().and_then(|number| number.parse().ok()).unwrap_or(0)
        };
        count.passed += number(" passed;");
        count.ignored += number(" ignored;");
    }
    count.skipped =
        text.lines().filter_map(|line| line.strip_prefix("SKIPPED: ")).map(str::to_owned).collect();
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> Context {
        Context { root: crate::workspace::root(), step: "xtask-own-test", fuzz_seconds: 1, gives_way: false }
    }

    #[test]
    fn closing_lines_are_added_up() {
        let text = "running 2 tests\ntest result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.02s\n\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        assert_eq!(count_tests(text), TestCount { passed: 15, ignored: 1, skipped: Vec::new() });
    }

    #[test]
    fn a_run_without_tests_fails() {
        assert!(matches!(
            judge_tests(&count_tests("test result: ok. 0 passed; 0 failed; 2 ignored;")),
            Outcome::Failed(_)
        ));
        assert!(matches!(judge_tests(&count_tests("")), Outcome::Failed(_)));
        assert_eq!(
            judge_tests(&count_tests("test result: ok. 2 passed; 0 ignored;")),
            Outcome::Passed("2 tests".into())
        );
    }

    #[test]
    fn a_skipped_check_in_a_passing_test_is_counted() {
        let text = "---- a stdout ----\nSKIPPED: no right\n\nSKIPPED: no core\ntest result: ok. 2 passed; 0 ignored;\n";
        let outcome = judge_tests(&count_tests(text));
        assert_eq!(outcome, Outcome::PassedInPart("2 tests, 2 checks skipped: no right; no core".into(), 2));
    }

    #[test]
    fn failed_tests_are_named_with_what_they_said() {
        let text = "test a::b ... FAILED\ntest c ... ok\n\nsuccesses:\n\n---- c stdout ----\nfine\n\nfailures:\n\n---- a::b stdout ----\nleft 1\nright 2\n\nstack backtrace:\n   0: f\n\nfailures:\n    a::b\n";
        assert_eq!(failed_tests(text), [("a::b", vec!["left 1", "right 2", ""])]);
        let log = Log { code: Some(101), text: text.into(), path: "log".into() };
        let told = "exit code 101: a::b (left 1 right 2); the whole log is log";
        assert_eq!(failure(&log), Outcome::Failed(told.into()));
        let said =
            ["planted", "thread 'a::b' (7) panicked at src/a.rs:1:1:", "## two of four", "", " - wrong"];
        assert_eq!(message(&said), "## two of four - wrong");
        let long: Vec<String> = (0..100).map(|line| line.to_string()).collect();
        let long: Vec<&str> = long.iter().map(String::as_str).collect();
        let shown = ends(&long);
        assert_eq!(shown.lines().count(), TEST_LINES + 1);
        assert!(shown.starts_with("0\n") && shown.contains("... 60 lines more ...") && shown.ends_with("99"));
    }

    #[test]
    fn exit_codes_and_output_come_back() {
        let mut command = program(&context(), "sh", "-c");
        command.arg("echo out; echo err >&2; exit 3");
        let log = run(&context(), command).expect("sh starts");
        assert_eq!((log.code, log.text.as_str()), (Some(3), "out\nerr\n"));
        assert!(run(&context(), program(&context(), "no-such-program-here", "")).is_err());
    }
}
