//! `MPIRTX_Abort`: the whole job ends, with the code and the message of whoever ended it.

use crate::harness::{Outcome, Workplace, turn};
use crate::suite::{C, Program, root};
use leveret_report::record::Ending;
use std::process::Command;

const CODE: u8 = 42;
/// As `tests/mpirt/abort.c` says it, without what is no UTF-8, and without what commands a terminal.
const PRINTED: &str = "the program aborts the job with code 42: the \u{fffd} valve \\x1b[31m is stuck";

fn program() -> Program {
    Program::compiled("tests/mpirt/abort.c", &C)
}

/// Whatever the way: the code, the message under the name of who said it, all that this one printed, and nothing after.
fn assert_aborted(outcome: &Outcome, way: &str, last: &str) {
    assert_eq!(outcome.code, Some(i32::from(CODE)), "{way}: {}", outcome.said());
    assert!(outcome.stderr.contains(&format!("leveret: {PRINTED}")), "{way}: {}", outcome.said());
    assert!(
        outcome.stderr.contains(&format!("member \"{last}\" aborted the job with code {CODE}: ")),
        "{way}"
    );
    assert!(outcome.stdout.contains("about to abort"), "{way}: {}", outcome.said());
    assert!(!outcome.stdout.contains("came back"), "{way}: {}", outcome.said());
}

// spec: MPIRTX_Abort, SETUP-ABORT-02, SETUP-ABORT-03
#[test]
fn an_abort_ends_the_job_with_its_code_and_message() {
    let _turn = turn();
    let program = program();
    for way in ["main", "task", "handler"] {
        let outcome = program.run_with(3, way);
        assert_aborted(&outcome, way, "2");
        let Ending::Aborted { member, code, message } = &outcome.record().ending else {
            panic!("{way}: {}", outcome.said())
        };
        assert_eq!((member.as_str(), *code), ("2", CODE), "{way}");
        assert!(message.contains("valve"), "{way}: {message}");
        let report = outcome.report();
        assert_eq!(report["ending"]["kind"], "aborted", "{way}");
        assert_eq!(report["ending"]["code"], CODE, "{way}");
        assert!(report["ending"]["reason"].to_string().contains("valve"), "{way}: {}", report["ending"]);
        assert_eq!(outcome.assessment().exit_code(), CODE, "{way}");
        assert_eq!(outcome.stdout.matches("has stopped").count(), 2, "{way}: {}", outcome.said());
        // Who hears of a death hears of the abort too.
        let heard = format!("the job was stopped: member \"2\" aborted the job with code {CODE}: ");
        assert_eq!(outcome.stdout.matches(&heard).count(), 2, "{way}: {}", outcome.said());
    }
}

/// Nothing has run, so there is no report; the others learn that there is no commit any more.
// spec: SETUP-ABORT-03
#[test]
fn an_abort_ends_a_job_that_has_not_committed() {
    let _turn = turn();
    let program = program();
    // In the second way the first member waits outside of the library; the one that aborts may or may not say it before it ends.
    for (way, waiting) in [("before", &["0", "1"][..]), ("waiting", &["1"])] {
        let running = program.start_with(3, way);
        let (code, stdout, stderr) = running.finish_without_record();
        assert_eq!(code, Some(i32::from(CODE)), "{way}: {stdout}{stderr}");
        assert!(stderr.contains(&format!("leveret: {PRINTED}")), "{way}: {stderr}");
        for member in waiting {
            let told = format!("member {member}: no commit");
            assert_eq!(stdout.matches(&told).count(), 1, "{way}, {member}: {stdout}{stderr}");
        }
    }
}

/// A death would let the others go on, or bring the member back; an abort does neither.
// spec: SETUP-ABORT-01
// spec: SETUP-ABORT-02
#[test]
fn an_abort_counts_under_every_policy() {
    let _turn = turn();
    let program = program();
    for policy in ["continue", "restart", "stop"] {
        let mut job = format!("[job]\nname = \"aborted\"\npolicy = \"{policy}\"\n\n[host]\ncores = [0]\n");
        for name in ["first", "last"] {
            job += &format!(
                "\n[[member]]\nname = \"{name}\"\ncommand = [\"{}\", \"task\"]\n",
                program.file.display()
            );
        }
        let place = Workplace::new();
        let outcome = place.start(&job).finish_alone();
        assert_aborted(&outcome, policy, "last");
        let stderr = std::fs::read_to_string(place.path("stderr")).expect("what was printed");
        assert!(stderr.contains(&format!("[last] leveret: {PRINTED}")), "{policy}: {stderr}");
        assert_eq!(outcome.stdout.matches("has stopped").count(), 1, "{policy}: {}", outcome.said());
        assert!(!outcome.stderr.contains("is started again"), "{policy}: {}", outcome.said());
        assert_eq!(outcome.record().phases.len(), 1, "{policy}: {}", outcome.said());
    }
}

/// Without `leveret run` the process is the job.
// spec: SETUP-ABORT-02
#[test]
fn an_abort_of_a_program_alone_is_its_exit() {
    let _turn = turn();
    let program = program();
    let output = Command::new(&program.file).arg("main").current_dir(root()).output().expect("it starts");
    assert_eq!(output.status.code(), Some(i32::from(CODE)));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("leveret: the program aborts the job with code 42: the \u{fffd} valve"), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("about to abort"));
}
