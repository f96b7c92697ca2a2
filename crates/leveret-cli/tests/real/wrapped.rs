//! Commands that are wrappers around the member, and processes that are stopped or refused on their way to their program.

use crate::harness::{Outcome, Workplace, member, turn};
use crate::job::{Job, core, ring};
use std::process::Command;

/// Two members, of which B is started by a wrapper.
fn wrapped(wrapper: &[&str]) -> Outcome {
    let node = member("test-node");
    let (program, arguments) = wrapper.split_first().expect("a wrapper");
    let arguments: Vec<&str> = arguments.iter().copied().chain([&*node, "task=B.user"]).collect();
    let job = Job::new(20, "")
        .member("A", core(0), "test-node", &["task=A.user"])
        .command("B", core(0), program, &arguments)
        .task("A.user", ["0ms", "10ms"], "1ms", "")
        .task("B.user", ["10ms", "20ms"], "1ms", "");
    Workplace::new().start(&job.text()).finish_alone()
}

fn is_installed(program: &str) -> bool {
    Command::new("sh")
        .args(["-c", &format!("command -v {program}")])
        .output()
        .is_ok_and(|found| found.status.success())
}

#[test]
fn a_member_may_be_started_by_a_wrapper() {
    let _turn = turn();
    let wrappers: [&[&str]; 9] = [
        &["env", "A_VARIABLE=1"],
        &["nice"],
        &["taskset", "-a", "ffffffff"],
        // Not replaced by the member: it stays above it.
        &["sh", "-c", "\"$0\" \"$@\"; exit $?"],
        &["sh", "-c", "exec \"$0\" \"$@\""],
        &["setsid", "--wait"],
        // Ends at once, and leaves the member behind.
        &["setsid"],
        &["strace", "-f", "-o", "/dev/null"],
        &["gdb", "-q", "-batch", "-ex", "run", "-ex", "quit $_exitcode", "--args"],
    ];
    for wrapper in wrappers {
        if !is_installed(wrapper[0]) {
            println!("SKIPPED: {} is not installed", wrapper[0]);
            continue;
        }
        let outcome = wrapped(wrapper);
        let record = outcome.record();
        let ran: Vec<usize> = record.phases[0].tasks.iter().map(|task| task.instances.len()).collect();
        assert_eq!(ran, [20, 20], "{wrapper:?}: {}", outcome.said());
        assert_eq!(
            record.ending,
            leveret_report::record::Ending::Completed,
            "{wrapper:?}: {}",
            outcome.said()
        );
    }
}

/// The job is started by a shell to which `prefix` was done.
fn under(prefix: &[&str]) -> (Option<i32>, String) {
    let place = Workplace::new();
    let command = place.command(&ring(5, "", [&[], &[], &[]]).text(), &[]);
    let mut prefixed = Command::new(prefix[0]);
    prefixed.args(&prefix[1..]).arg(command.get_program()).args(command.get_args());
    let (code, _, stderr) = place.spawn(prefixed).finish_without_record();
    (code, stderr)
}

#[test]
fn a_job_is_started_from_a_shell_under_deadline_scheduling() {
    let _turn = turn();
    let deadline = ["chrt", "-d", "-T", "5000000", "-D", "10000000", "-P", "10000000", "0"];
    let may =
        Command::new("chrt").args(&deadline[1..]).arg("true").status().is_ok_and(|status| status.success());
    if !may {
        println!("SKIPPED: no right to SCHED_DEADLINE");
        return;
    }
    let (code, stderr) = under(&deadline);
    assert!(matches!(code, Some(0 | 1 | 3)), "{code:?}: {stderr}");
    assert!(stderr.contains("started under SCHED_DEADLINE") && stderr.contains("running node"), "{stderr}");
}

#[test]
fn a_small_address_space_is_named_before_anything_starts() {
    let _turn = turn();
    let (_, stderr) = under(&["sh", "-c", "ulimit -v 1500000; exec \"$@\"", "sh"]);
    assert!(stderr.contains("the limit on address space is 1464 MiB (`ulimit -v`)"), "{stderr}");
    let (code, stderr) = under(&["sh", "-c", "ulimit -v 150000; exec \"$@\"", "sh"]);
    assert!(matches!(code, Some(0 | 1 | 3 | 4)), "{code:?}: {stderr}");
    assert!(
        stderr.contains("the record is limited to 29 MiB") && stderr.contains("running node"),
        "{stderr}"
    );
    let (code, stderr) = under(&["sh", "-c", "ulimit -v 100000; exec \"$@\"", "sh"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.contains("97 MiB (`ulimit -v`), which is too little") && stderr.contains("hint: raise it"),
        "{stderr}"
    );
}

/// Stops every process that is about to become `test-node`.
const STOPS_BEFORE_EXEC: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
int execvp(const char *file, char *const argv[]) {
    if (strstr(file, "test-node")) { raise(SIGSTOP); }
    return ((int (*)(const char *, char *const[]))dlsym(RTLD_NEXT, "execvp"))(file, argv);
}
"#;

#[test]
fn a_member_that_is_stopped_on_the_way_to_its_program_holds_nobody() {
    let _turn = turn();
    let place = Workplace::new();
    let (source, library) = (place.path("stops.c"), place.path("stops.so"));
    std::fs::write(&source, STOPS_BEFORE_EXEC).expect("a file");
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(compiled.is_ok_and(|status| status.success()), "the C compiler makes a library");
    let job = Job::new(5, "").member("A", core(0), "test-node", &["task=A.user"]).task(
        "A.user",
        ["0ms", "10ms"],
        "1ms",
        "",
    );
    let mut command = place.command(&job.text(), &[]);
    command.env("LD_PRELOAD", library);
    let (code, _, stderr) = place.spawn(command).finish_without_record();
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("it has not joined within 20s of its start, and is stopped"), "{stderr}");
}

#[test]
fn a_member_that_is_stopped_inside_a_commit_is_bound_by_its_limit() {
    let _turn = turn();
    let hostile = member("test-hostile");
    // Of a member behind a wrapper nobody is told that it was stopped.
    let commands: [&[&str]; 2] = [
        &[&hostile, "stopped-inside"],
        &["/bin/sh", "-c", "\"$0\" \"$@\"; exit $?", &hostile, "stopped-inside"],
    ];
    for command in commands {
        let place = Workplace::new();
        let job = Job::new(5, "")
            .member("A", core(0), "test-node", &["task=A.user", "on-refusal=end"])
            .command("H", core(0), command[0], &command[1..])
            .task("A.user", ["0ms", "10ms"], "1ms", "");
        let run = place.start_with(&job.text(), &["--commit-within", "3s"]);
        let (code, _, stderr) = run.finish_without_record();
        assert_eq!(code, Some(1), "{command:?}: {stderr}");
        assert!(stderr.contains("member \"H\" (stopped; `kill -CONT "), "{command:?}: {stderr}");
        let why = "it has not set up within 3s what is to be committed";
        assert!(stderr.contains(why), "{command:?}: {stderr}");
    }
}
