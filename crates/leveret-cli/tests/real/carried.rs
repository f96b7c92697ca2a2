//! What members print: whole lines with their names, nothing that commands a terminal, and no limit to how much.

use crate::harness::{Workplace, turn};
use crate::job::{Job, core};
use leveret_os::process::Signal;
use std::fs;

/// A job whose one member is a script, which joins nothing. What it printed: standard output, standard error.
fn printed(script: &str, arguments: &[&str]) -> (String, String) {
    let place = Workplace::new();
    let job = Job::new(1, "").command("A", core(0), "sh", &["-c", script]).text();
    let (code, _, stderr) = place.start_with(&job, arguments).finish_without_record();
    assert_eq!(code, Some(1), "{stderr}");
    let text = |name| String::from_utf8_lossy(&fs::read(place.path(name)).expect("a file")).into_owned();
    (text("stdout"), text("stderr"))
}

const SCRIPT: &str =
    r"printf 'one\n\033[31mred\033]0;title\007\nöäü\t\377\n\nlast'; printf 'wrong\r\n\000' >&2";

#[test]
fn each_line_carries_its_members_name_and_commands_nothing() {
    let _turn = turn();
    let (stdout, stderr) = printed(SCRIPT, &[]);
    assert_eq!(stdout, "[A] one\n[A] \\x1b[31mred\\x1b]0;title\\x07\n[A] öäü\t\\xff\n[A] \n[A] last\n");
    assert!(stderr.contains("[A] wrong\n[A] \\x00\n"), "{stderr}");
    assert!(!stderr.contains("[A] one"), "{stderr}");
}

#[test]
fn raw_output_is_what_the_member_printed() {
    let _turn = turn();
    let (stdout, stderr) = printed(SCRIPT, &["--member-output", "raw"]);
    assert_eq!(stdout, "one\n\u{1b}[31mred\u{1b}]0;title\u{7}\nöäü\t\u{fffd}\n\nlast");
    assert!(stderr.contains("wrong\r\n\0"), "{stderr:?}");
}

#[test]
fn for_programs_standard_output_is_the_reports() {
    let _turn = turn();
    let (stdout, stderr) = printed(SCRIPT, &["--format", "json"]);
    // It is no member of the library, so that the job ends before its first commit: that alone stands there.
    let told: serde_json::Value =
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"));
    let error = told["error"].as_str().unwrap_or_default();
    assert!(error.contains("every member ended without committing"), "{told}");
    assert!(stderr.contains("[A] one\n") && stderr.contains("[A] wrong\n"), "{stderr}");
}

/// What the agent itself says of a member is no way around it.
#[test]
fn the_reason_of_a_member_commands_nothing() {
    let _turn = turn();
    let place = Workplace::new();
    let job = Job::new(1, "").member("H", core(0), "test-hostile", &["finished-first"]).member(
        "E",
        core(0),
        "test-hostile",
        &["command\u{1b}[2J"],
    );
    // TOML writes the character in another way than Rust.
    let job = job.text().replace("\\u{1b}", "\\u001b");
    let (code, _, stderr) = place.start(&job).finish_without_record();
    assert_eq!(code, Some(1), "{stderr}");
    assert!(!stderr.contains('\u{1b}'), "{stderr:?}");
}

/// Of the process with this number: the most memory that it ever had, in KiB.
fn memory_most(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("it lives");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line of its memory");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[test]
fn a_flood_is_carried_whole_and_takes_no_memory() {
    const BYTES: usize = 64 << 20;
    let _turn = turn();
    let place = Workplace::new();
    // The last line is one of 32 MiB.
    let script = format!(
        "yes 0123456789abcdef | head -c {half}; head -c {half} /dev/zero | tr '\\0' x; echo; echo printed >&2; exec sleep 1000",
        half = BYTES / 2
    );
    let job = Job::new(1, "").command("A", core(0), "sh", &["-c", &script]).text();
    let run = place.start(&job);
    run.await_text("stderr", "printed");
    let memory = memory_most(run.pid());
    run.signal(Signal::INT);
    run.finish_without_record();
    assert!(memory < 64 << 10, "{memory} KiB");
    let text = fs::read_to_string(place.path("stdout")).expect("a file");
    let carried =
        text.lines().map(|line| line.split_once("] ").or(line.split_once("]+ ")).expect("a name").1.len());
    let newlines = BYTES / 2 / 17;
    assert_eq!(carried.sum::<usize>(), BYTES - newlines);
}
