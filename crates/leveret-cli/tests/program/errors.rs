//! What goes wrong before any work: arguments, files, pipes.

use crate::{leveret, outcome, root, shown};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

#[test]
fn a_bad_manifest_is_bad_input_for_every_command_that_reads_one() {
    let bad = "tests/manifests/many-errors.toml";
    for arguments in
        [vec!["check", bad], vec!["plan", bad], vec!["run", bad], vec!["verify", "no-such-plan.json", bad]]
    {
        let (out, err, code) = outcome(&arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
        assert!(err.contains("tests/manifests/many-errors.toml:2:1: unknown key `nam` in [job]"), "{err}");
        assert!(err.contains("error: tests/manifests/many-errors.toml: the manifest has "), "{err}");
        assert!(!err.contains('\u{1b}'), "no colour off a terminal: {err:?}");
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let (_, err, code) = outcome(&["check", "no/such/job.toml"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("error: no/such/job.toml: the manifest could not be read: "), "{err}");
    assert!(err.contains("hint: name an existing manifest"), "{err}");
}

#[test]
fn a_folder_is_no_manifest() {
    let (_, err, code) = outcome(&["check", "examples"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("hint: name the manifest in it"), "{err}");
}

#[test]
fn an_endless_file_is_not_read_to_its_end() {
    let (_, err, code) = outcome(&["check", "/dev/zero"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("the manifest has more than 4194304 bytes"), "{err}");
}

#[test]
fn a_plan_that_cannot_be_written_is_an_error_without_remains() {
    let (_, err, code) = outcome(&["plan", "examples/ring/job.toml", "--output", "no/such/plan.json"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("error: no/such/plan.json: the file could not be written"), "{err}");
    assert!(!root().join("no").exists());
}

#[test]
fn unknown_arguments_are_bad_input_with_a_suggestion() {
    let (_, err, code) = outcome(&["chek", "job.toml"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("check"), "{err}");
    let (_, err, code) = outcome(&["run", "job.toml", "--rounds", "0"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("--rounds"), "{err}");
}

/// `leveret plan job.toml | head -0`: the reader is gone before the first byte.
#[test]
fn a_closed_pipe_is_not_a_panic() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_leveret"))
        .args(["completions", "bash"])
        .current_dir(root())
        .stdin(Stdio::null())
        .stdout(closed_pipe())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = child.wait().unwrap();
    let mut err = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut err).unwrap();
    assert_eq!((status.code(), err.as_str()), (Some(0), ""));
}

/// The writing end of a pipe whose reading end is closed.
fn closed_pipe() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn a_full_disk_is_an_error() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_leveret"))
        .args(["completions", "bash"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output could not be written"));
}

#[test]
fn the_version_is_that_of_the_package() {
    let (out, _, code) = outcome(&["--version"]);
    assert_eq!((out.trim(), code), (concat!("leveret ", env!("CARGO_PKG_VERSION")), Some(0)));
}

#[test]
fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = leveret(&["completions", shell]);
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success());
        for command in ["run", "check", "plan", "verify", "report", "why", "doctor"] {
            assert!(script.contains(command), "{shell} lacks {command}");
        }
    }
}

#[test]
fn the_doctor_changes_nothing_and_names_a_fix_for_each_finding() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_leveret"))
        .args(["doctor", "--format", "json"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = answer["findings"].as_array().unwrap();
    assert!(!findings.is_empty());
    let missing: Vec<_> = findings.iter().filter(|finding| finding["state"] == "missing").collect();
    assert_eq!(answer["missing"], missing.len());
    assert_eq!(output.status.code(), Some(if missing.is_empty() { 0 } else { 1 }));
    for finding in missing {
        assert!(finding["loss"].as_str().is_some_and(|loss| !loss.is_empty()), "{finding}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{}", shown(folder.path()));
}

/// Nothing is started, and no directory made, for a job whose programs are not all there.
#[test]
fn a_program_that_is_not_there_is_bad_input() {
    let folder = tempfile::tempdir().unwrap();
    let job = folder.path().join("job.toml");
    let out = folder.path().join("out");
    let manifest =
        "[job]\nname = \"j\"\n[host]\ncores = [0]\n[[member]]\nname = \"A\"\ncommand = [\"./no-such\"]\n";
    fs::write(&job, manifest).unwrap();
    let (_, err, code) = outcome(&["run", shown(&job), "--output", shown(&out)]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("no-such") && err.contains("hint: "), "{err}");
    assert!(!out.exists());
}

#[test]
fn an_argument_for_the_members_that_is_no_text_is_bad_input() {
    let folder = tempfile::tempdir().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_leveret"))
        .args(["run", "examples/ring/job.toml", "--output", shown(folder.path()), "--"])
        .arg(std::ffi::OsStr::from_bytes(b"\xff"))
        .current_dir(root())
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{err}");
    assert!(err.contains("not UTF-8"), "{err}");
}
