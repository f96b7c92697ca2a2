//! Members that commit by themselves, those that no job has started, and what a group does at priorities.

use crate::harness::{Workplace, turn};
use crate::mpirt::{compile, conforms_as, run};
use crate::sanitized::compilers;
use std::process::Command;

const C: [&str; 2] = ["cc", "-std=c11"];

#[test]
fn collective_served() {
    conforms_as("tests/mpirt/collective_served.c", &C, &[]);
}

/// Started by nobody.
#[test]
fn alone() {
    let _turn = turn();
    for compiler in compilers() {
        let place = Workplace::new();
        let built = compile(&place, "tests/mpirt/alone.c", compiler);
        let output = Command::new(&built).env_remove("LEVERET_SOCKET").output().expect("it starts");
        let said = format!("{:?}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{said}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "member 0: passed\n", "{said}");
    }
}

#[test]
fn group_commit() {
    conforms_as("tests/mpirt/group_commit.c", &C, &[]);
}

/// Three members, of which the last does not come, and then dies.
#[test]
fn group_commit_without_a_member() {
    let _turn = turn();
    for compiler in compilers() {
        let place = Workplace::new();
        let built = compile(&place, "tests/mpirt/group_lost.c", compiler);
        let outcome = run(&place, &built, 3, &["--commit-within", "3s"]);
        assert!(outcome.signal.is_none(), "{}", outcome.said());
        assert_eq!(outcome.stdout.matches(": passed").count(), 2, "{}", outcome.said());
        let told = "waiting for member \"2\" to commit with the group of";
        assert!(outcome.stderr.contains(told), "{}", outcome.said());
    }
}
