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

/// As whoever forgets `-n` runs one.
#[test]
fn a_program_is_no_manifest() {
    let script = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(script.path(), "#!/bin/sh\nexit 0\n").expect("a file");
    let script = script.path().display().to_string();
    for program in [env!("CARGO_BIN_EXE_leveret"), script.as_str()] {
        for command in ["run", "check"] {
            let (_, err, code) = outcome(&[command, program]);
            assert_eq!(code, Some(2), "{err}");
            assert!(
                err.contains("is a program, and no manifest") && err.contains("`leveret run -n N "),
                "{err}"
            );
        }
    }
}

/// Of commands that fail before there is a result.
#[test]
fn programs_are_told_of_failures_too() {
    for arguments in [
        &["run", "no-such.toml"][..],
        &["check", "no-such.toml"],
        &["plan", "no-such.toml"],
        &["explain", "no-such.toml"],
        &["report", "no-such"],
        &["why", "no-such", "A", "1"],
        &["diff", "no-such.json", "no-such.toml", "--to", "no-such.json", "no-such.toml"],
        &["export", "tables", "no-such.json", "no-such.toml"],
    ] {
        let (out, err, code) = outcome(&[arguments, &["--format", "json"]].concat());
        let told: serde_json::Value =
            serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}"));
        let word = |key: &str| told[key].as_str().unwrap_or_else(|| panic!("{told}")).to_owned();
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(&word("error")) && err.contains(&word("hint")), "{told} {err}");
        let (out, _, _) = outcome(arguments);
        assert!(out.is_empty(), "{arguments:?}: {out}");
    }
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
    assert!(err.contains("the manifest has more than 67108864 bytes"), "{err}");
}

#[test]
fn a_plan_that_cannot_be_written_is_an_error_without_remains() {
    let (_, err, code) = outcome(&["plan", "examples/ring/job.toml", "--output", "no/such/plan.json"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("error: no/such/plan.json: the file could not be written"), "{err}");
    assert!(!root().join("no").exists());
}

#[test]
fn a_link_stays_one_and_what_it_leads_to_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let [file, link, fresh, dangling] =
        ["file", "link", "fresh", "dangling"].map(|name| folder.path().join(name));
    std::fs::write(&file, "old").unwrap();
    for (link, file) in [(&link, &file), (&dangling, &fresh)] {
        std::os::unix::fs::symlink(file, link).unwrap();
        let (_, err, code) = outcome(&["plan", "examples/ring/job.toml", "--output", link.to_str().unwrap()]);
        assert_eq!(code, Some(0), "{err}");
        assert!(link.is_symlink() && !file.is_symlink());
        assert!(std::fs::read_to_string(file).unwrap().contains("\"version\""));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4, "something else was left");
}

/// By way of a link in a folder of its own, so that a mistake costs the link and not the device.
#[test]
fn a_device_is_written_to_and_a_full_one_noticed() {
    let jobs = ["examples/ring/job.toml", "examples/network/two-cells.toml", "examples/system/job.toml"];
    for job in jobs {
        let (planned, _, _) = outcome(&["plan", job]);
        for (device, expected) in [("/dev/null", Some(0)), ("/dev/full", Some(2))] {
            let folder = tempfile::tempdir().unwrap();
            let link = folder.path().join("device");
            std::os::unix::fs::symlink(device, &link).unwrap();
            let (text, err, code) = outcome(&["plan", job, "--output", link.to_str().unwrap()]);
            assert_eq!(code, expected, "{err}");
            assert_eq!(code != Some(0), err.contains("No space left on device"), "{err}");
            assert_eq!(text, planned, "the plan is printed all the same");
            assert!(link.is_symlink() && !std::fs::metadata(&link).unwrap().is_file());
        }
    }
}

/// The same without a link, with a device that nobody else has.
#[test]
fn a_device_of_its_own_stays_one() {
    let folder = tempfile::tempdir().unwrap();
    let device = folder.path().join("null");
    let made = Command::new("mknod").arg(&device).args(["c", "1", "3"]).output();
    if !made.is_ok_and(|made| made.status.success()) {
        eprintln!("SKIPPED: this user may not make a device");
        return;
    }
    let (_, err, code) = outcome(&["plan", "examples/ring/job.toml", "--output", device.to_str().unwrap()]);
    // Where devices do not work (a file system mounted with nodev) it cannot be written to, but it stays.
    assert!(code == Some(0) || err.contains("Permission denied"), "{err}");
    assert!(!std::fs::metadata(&device).unwrap().is_file(), "the device was replaced");
}

#[test]
fn a_file_beyond_the_limit_is_told_with_its_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("/bin/sh")
        .args(["-c", "ulimit -f 0; exec \"$0\" plan examples/ring/job.toml --output \"$1\""])
        .arg(env!("CARGO_BIN_EXE_leveret"))
        .arg(folder.path().join("plan.json"))
        .current_dir(root())
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("plan.json") && err.contains("`ulimit -f unlimited`"), "{err}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "a part was left");
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
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let (_, err, code) = outcome(&["manual", shown(&pages)]);
    assert_eq!((err.as_str(), code), ("", Some(0)));
    for command in ["run", "check", "plan", "verify", "report", "why", "doctor", "completions", "manual"] {
        let page = std::fs::read_to_string(pages.join(format!("leveret-{command}.1"))).unwrap();
        for section in ["NAME", "SYNOPSIS", "OPTIONS", "\"EXAMPLES\""] {
            assert!(page.contains(&format!(".SH {section}\n")), "{command} lacks {section}: {page}");
        }
    }
    let page = std::fs::read_to_string(pages.join("leveret.1")).unwrap();
    assert!(page.contains("leveret\\-run(1)") && page.contains("EXIT STATUS"), "{page}");
    let (_, err, code) = outcome(&["manual", "/proc/no-such-folder"]);
    assert!(err.contains("could not be made") && code == Some(2), "{err}");
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
