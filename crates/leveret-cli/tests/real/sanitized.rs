//! The conformance suite once more, with the C side checked for what C does not define and for memory that is not its own.

use crate::harness::{Workplace, turn, undisturbed};
use crate::mpirt::{GNU, MEMBERS, compile, passes_built, root};
use std::process::Command;

/// What is not run under sanitizers: they stand in for the allocator, or count pages and time, which a sanitizer changes.
const NOT_UNDER_SANITIZERS: [&str; 7] =
    ["again.c", "law.c", "life.c", "memory.c", "metrics.c", "mode_many.c", "served_law.c"];

/// Their members end or are ended before their time, or there is nobody who starts them. Each has a test of its own, which runs it with and without sanitizers.
const WITH_DEATHS: [&str; 13] = [
    "alone.c",
    "collective_lost.c",
    "events_lost.c",
    "group_lost.c",
    "late.c",
    "lost.c",
    "lost_channels.c",
    "lost_running.c",
    "mode_keep_lost.c",
    "mode_late.c",
    "mode_lost.c",
    "mode_stopped.c",
    "mode_survived.c",
];

/// A C compiler with sanitizers.
const CHECKED: [&str; 5] = [
    "cc",
    "-std=gnu11",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
];

/// Without sanitizers, and with them where they can be had.
pub fn compilers() -> impl Iterator<Item = &'static [&'static str]> {
    [&GNU[..], &CHECKED[..]].into_iter().take(if has_sanitizers() { 2 } else { 1 })
}

/// Whether programs with sanitizers can be made here; says what is skipped if not.
fn has_sanitizers() -> bool {
    let place = Workplace::new();
    let probe = place.path("probe.c");
    std::fs::write(&probe, "int main(void) { return 0; }\n").expect("a file");
    let mut command = Command::new(CHECKED[0]);
    let built = command.args(&CHECKED[1..]).arg(&probe).arg("-o").arg(place.path("probe")).status();
    let is_there = built.is_ok_and(|status| status.success());
    if !is_there {
        println!("SKIPPED: cc has no sanitizers here, so the suite was not run under them");
    }
    is_there
}

/// Most of its programs free nothing before Finalize, and the leak checker that runs at their end finds nothing left.
// spec: OBJECT-FREE-07, LANG-SANITIZE-01
#[test]
fn the_suite_under_sanitizers() {
    if !has_sanitizers() {
        return;
    }
    let mut sources: Vec<_> = std::fs::read_dir(root().join("tests/mpirt"))
        .expect("the suite")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".c"))
        .filter(|name| ![&NOT_UNDER_SANITIZERS[..], &WITH_DEATHS[..]].concat().contains(&name.as_str()))
        .collect();
    sources.sort();
    assert!(sources.len() > 20, "{sources:?}");
    let _turn = turn();
    for name in sources {
        let source = format!("tests/mpirt/{name}");
        let arguments: &[&str] = if name == "tasks.c" { &["--rounds", "20"] } else { &[] };
        let place = Workplace::new();
        let built = compile(&place, &source, &CHECKED);
        // One is for one member.
        for members in if name == "any_call.c" { &MEMBERS[..1] } else { &MEMBERS[..] } {
            undisturbed(|| passes_built(&source, (&place, &built), *members, arguments));
        }
    }
}
