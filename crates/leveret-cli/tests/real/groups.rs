//! Members that commit by themselves, those that no job has started, and what a group does at priorities.

use crate::suite::{C, conforms, with_members};

#[test]
fn collective_served() {
    conforms("tests/mpirt/collective_served.c");
}

/// Started by nobody.
#[test]
fn alone() {
    with_members("tests/mpirt/alone.c", &C, &[1], |program, _| {
        let output = program.run_alone(&[]);
        let said = format!("{:?}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{said}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "member 0: passed\n", "{said}");
    });
}

#[test]
fn group_commit() {
    conforms("tests/mpirt/group_commit.c");
}

/// Three members, of which the last does not come, and then dies.
#[test]
fn group_commit_without_a_member() {
    with_members("tests/mpirt/group_lost.c", &C, &[3], |program, members| {
        let outcome = program.passes((members, members - 1), &["--commit-within", "3s"]);
        assert!(outcome.signal.is_none(), "{}", outcome.said());
        let told = "waiting for member \"2\" to commit with the group of";
        assert!(outcome.stderr.contains(told), "{}", outcome.said());
    });
}

/// Whom each commit waits for, where that one is, and how long it may be there; and the cause is where the run ends.
#[test]
fn members_that_commit_different_things() {
    with_members("tests/mpirt/crossed.c", &C, &[3], |program, members| {
        let outcome = program.passes((members, members - 1), &["--commit-within", "3s"]);
        for words in [
            "as long as it is in another commit; member \"1\" commits with the group of 1, 2, which waits for member \"2\"",
            "to commit with the group of 1, 2: the others wait for 2 s; member \"2\" commits with all members, who wait for member \"1\"",
            "waiting for member \"1\", member \"2\" to commit: the others wait for 2 s, and will for 3s for member \"2\"; member \"1\" commits with",
        ] {
            assert!(outcome.stderr.contains(words), "{words}: {}", outcome.said());
        }
        let cause = "stopped: member \"2\" ended: signal 9 (SIGKILL), expelled: it has not committed within 3s of the others";
        assert_eq!(outcome.code, Some(1), "{}", outcome.said());
        assert!(outcome.stdout.contains(cause), "{}", outcome.said());
    });
}
