//! Where a run's report goes: a former one is kept apart, and what cannot be written does not take the rest with it.

use crate::harness::{Workplace, program, turn};
use crate::job::{Job, core, ring};
use crate::suite::{C, compile};
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};

const FILES: [&str; 4] = ["record.leveret", "report.html", "report.json", "trace.json"];

#[test]
fn a_run_that_fails_leaves_no_former_report_as_its_own() {
    let _turn = turn();
    let place = Workplace::new();
    place.run(&ring(5, "", [&[], &[], &[]]).text()).assert_ran();
    let first = fs::read(place.path("out/record.leveret")).expect("a record");
    fs::write(place.path("out/notes.txt"), "the user's").expect("a file of the user's");
    // Not admitted: nothing runs.
    let end = "on-refusal=end";
    let refused = Job::new(20, "")
        .member("A", core(0), "test-node", &["task=A.user", end])
        .member("B", core(0), "test-node", &["task=B.user", end])
        .task("A.user", ["0ms", "10ms"], "8ms", "")
        .task("B.user", ["0ms", "10ms"], "8ms", "");
    let outcome = place.run(&refused.text());
    assert_eq!(outcome.code, Some(1), "{}", outcome.said());
    assert!(outcome.stderr.contains("the former report was moved to "), "{}", outcome.said());
    for file in FILES {
        assert!(!place.path("out").join(file).exists(), "{file} is not of this run");
        assert!(place.path("out/previous").join(file).is_file(), "{file} is lost");
    }
    assert_eq!(fs::read(place.path("out/previous/record.leveret")).ok(), Some(first));
    assert_eq!(place.text("out/notes.txt"), "the user's");
    // A bad manifest starts nothing, and moves nothing.
    place.run(&ring(5, "", [&[], &[], &[]]).text()).assert_ran();
    let (code, _, stderr) = place.start("[job]\n").finish_without_record();
    assert_eq!(code, Some(2), "{stderr}");
    assert!(place.path("out/report.html").is_file());
}

/// A directory that takes nothing more while the run lasts: the summary is printed all the same.
#[test]
fn a_report_that_cannot_be_written_costs_no_summary() {
    let _turn = turn();
    let place = Workplace::new();
    let pid = format!("pid={}", place.shown("A"));
    let run = place.start(&ring(50, "", [&[&pid, "started=3"], &[], &[]]).text());
    run.await_text("A", "started");
    // In the place of two files stand directories; no rename replaces them.
    for file in ["record.leveret", "report.json"] {
        // The record is written from the first half second on.
        let _ = fs::remove_file(place.path("out").join(file));
        fs::create_dir(place.path("out").join(file)).expect("a directory");
    }
    let (code, stdout, stderr) = run.finish_without_record();
    assert_eq!(code, Some(2), "{stdout}{stderr}");
    assert!(stdout.contains("verdict: "), "{stdout}{stderr}");
    assert!(stderr.contains("record.leveret: the file could not be written"), "{stderr}");
    assert!(stderr.contains("hint: "), "{stderr}");
    for file in ["report.html", "trace.json"] {
        assert!(place.path("out").join(file).is_file(), "{file} could have been written");
    }
}

/// The ring of five rounds under a limit of the shell's: the exit code, and what it said of errors.
fn run_with_limit(option: &str, limit: u64) -> (Option<i32>, String) {
    let place = Workplace::new();
    let (code, _, stderr) = place.spawn(limited(&place, option, limit)).finish_without_record();
    (code, stderr)
}

/// The command of that ring under that limit.
fn limited(place: &Workplace, option: &str, limit: u64) -> std::process::Command {
    let command = place.command(&ring(5, "", [&[], &[], &[]]).text(), &[]);
    let mut limited = std::process::Command::new("/bin/sh");
    limited
        .args(["-c", &format!("ulimit {option} {limit}; exec \"$0\" \"$@\"")])
        .arg(command.get_program())
        .args(command.get_args());
    limited
}

#[test]
fn too_few_open_files_are_named_before_anything_starts() {
    let _turn = turn();
    let (code, stderr) = run_with_limit("-n", 14);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(!stderr.contains("node: "), "nothing was started: {stderr}");
    // How many depends on what this process was started with; with as many as the remedy says it runs.
    let needed = stderr.split_once("needs ").and_then(|(_, rest)| rest.split_once(" open files"));
    let needed: u64 =
        needed.and_then(|(number, _)| number.parse().ok()).unwrap_or_else(|| panic!("{stderr}"));
    assert!(needed > 14 && stderr.contains(&format!("`ulimit -n {needed}`")), "{stderr}");
    let place = Workplace::new();
    place.spawn(limited(&place, "-n", needed)).finish().assert_ran();
}

/// The limit holds for memory files as for others.
#[test]
fn too_small_a_limit_on_files_is_named_with_its_remedy() {
    let _turn = turn();
    let (code, stderr) = run_with_limit("-f", 100);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("memory file") && stderr.contains("`ulimit -f unlimited`"), "{stderr}");
    assert!(!stderr.contains("SIGXFSZ") && !stderr.contains("panicked"), "{stderr}");
}

/// A program without a manifest is named from where the user stands.
#[test]
fn a_program_is_found_by_a_relative_path() {
    let _turn = turn();
    let place = Workplace::new();
    let file = compile(&place, "examples/farm/farm.c", &C);
    let folder = file.parent().and_then(std::path::Path::parent).expect("a folder in a folder");
    let named = file.strip_prefix(folder).expect("it lies there");
    let mut command = Command::new(program());
    command.args(["run", "-n", "3", "--output"]).arg(place.path("out")).arg(named).current_dir(folder);
    let outcome = place.spawn(command).finish_alone();
    assert!(outcome.stdout.contains("farmer: 12 squared is 144"), "{}", outcome.said());
}

/// What processes of a job say at once stays apart: each write is one or more whole lines, the agent's and the members' alike. A datagram is
/// one write.
#[test]
fn each_line_on_standard_error_is_one_write() {
    let _turn = turn();
    let place = Workplace::new();
    let file = compile(&place, "tests/mpirt/ended_task.c", &C);
    let (heard, said) = UnixDatagram::pair().expect("sockets");
    let end = said.try_clone().expect("a socket");
    let listener = std::thread::spawn(move || {
        let mut writes = Vec::new();
        let mut room = vec![0; 1 << 16];
        loop {
            let length = heard.recv(&mut room).expect("a datagram");
            match &room[..length] {
                [] => return writes,
                written => writes.push(String::from_utf8_lossy(written).into_owned()),
            }
        }
    });
    let mut command = Command::new(program());
    command.args(["run", "-n", "2", "--output"]).arg(place.path("out")).arg(file);
    for name in ["stdout", "stderr"] {
        fs::write(place.path(name), "").expect("a file");
    }
    let out = fs::File::create(place.path("stdout")).expect("a file");
    command.stdout(out).stderr(Stdio::from(OwnedFd::from(said)));
    let running = place.spawn_as_it_is(command);
    let (code, _, _) = running.finish_without_record();
    end.send(&[]).expect("the end");
    let writes: Vec<String> = listener.join().expect("it listens");
    assert_eq!(code, Some(1), "{writes:?}");
    for words in ["running ", "leveret: the function of the task \"ends-0\"", "report: "] {
        assert!(writes.iter().any(|write| write.contains(words)), "{words}: {writes:?}");
    }
    assert!(writes.iter().all(|write| write.ends_with('\n')), "{writes:?}");
}
