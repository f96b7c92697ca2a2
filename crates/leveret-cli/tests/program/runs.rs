//! `report`, `why` and `check --learn`, from the record of a run made from a seed.

use crate::{outcome, shown};
use leveret_report::{storage, synthetic};
use std::fs;
use std::path::Path;

fn record_in(folder: &Path) {
    let record = synthetic::ring(&synthetic::Ring::default());
    fs::write(folder.join("record.leveret"), storage::encode(&record).unwrap()).unwrap();
}

#[test]
fn a_report_is_made_anew_from_the_record() {
    let folder = tempfile::tempdir().unwrap();
    record_in(folder.path());
    let (out, err, code) = outcome(&["report", shown(folder.path())]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("verdict: "), "{out}");
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("<html"));
    for file in ["report.json", "trace.json"] {
        let text = fs::read(folder.path().join(file)).unwrap();
        serde_json::from_slice::<serde_json::Value>(&text).unwrap();
    }
    let (out, _, code) = outcome(&["report", shown(folder.path()), "--format", "json"]);
    assert_eq!(code, Some(0));
    assert_eq!(out.trim_end(), fs::read_to_string(folder.path().join("report.json")).unwrap().trim_end());
}

#[test]
fn one_instance_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    record_in(folder.path());
    let record = synthetic::ring(&synthetic::Ring::default());
    let task = &record.phases[0].job.tasks[0].name;
    let (out, err, code) = outcome(&["why", shown(folder.path()), task, "3"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains(task.as_str()) && out.contains("verdict: "), "{out}");
}

#[test]
fn what_the_run_did_not_have_is_bad_input() {
    let folder = tempfile::tempdir().unwrap();
    record_in(folder.path());
    let (_, err, code) = outcome(&["why", shown(folder.path()), "no-such-name", "3"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("no task or channel \"no-such-name\"") && err.contains("hint: "), "{err}");
    let record = synthetic::ring(&synthetic::Ring::default());
    let task = &record.phases[0].job.tasks[0].name;
    let (_, err, code) = outcome(&["why", shown(folder.path()), task, "99999999"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("99999999") && err.contains("hint: "), "{err}");
}

#[test]
fn a_folder_without_a_record_is_bad_input() {
    let folder = tempfile::tempdir().unwrap();
    let at = shown(folder.path());
    for arguments in [
        vec!["report", at],
        vec!["why", at, "A", "0"],
        vec!["check", "examples/ring/job.toml", "--learn", at],
    ] {
        let (_, err, code) = outcome(&arguments);
        assert_eq!(code, Some(2));
        assert!(err.contains("there is no record.leveret in this directory"), "{err}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn where_the_last_run_left_nothing_the_one_before_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let former = folder.path().join("previous");
    fs::create_dir(&former).unwrap();
    record_in(&former);
    for arguments in [
        vec!["why", shown(folder.path()), "A.user", "0"],
        vec!["check", "examples/ring/job.toml", "--learn", shown(folder.path())],
    ] {
        let (_, err, code) = outcome(&arguments);
        assert_eq!(code, Some(2));
        let (_, hint) = err.split_once("hint: ").expect("a hint");
        assert!(hint.contains(&format!("the run before lies in {}", former.display())), "{err}");
    }
}

#[test]
fn a_damaged_record_is_bad_input() {
    let folder = tempfile::tempdir().unwrap();
    record_in(folder.path());
    let file = folder.path().join("record.leveret");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let (_, err, code) = outcome(&["report", shown(folder.path())]);
    assert_eq!(code, Some(2));
    assert!(err.contains("record.leveret: ") && err.contains("hint: "), "{err}");
    assert!(!folder.path().join("report.html").exists());
}

#[test]
fn members_of_a_manifest_are_bad_input() {
    for (arguments, said) in [
        (["run", "-n", "2", "job.toml"], "this is a manifest"),
        (["run", "-n", "2", "./no-such-program"], "is not found"),
        (["run", "-n", "0", "./program"], "0 is not in 1..=256"),
        (["run", "-n", "two", "./program"], "it takes a whole number"),
        (["run", "-n", "300", "./program"], "300 is not in 1..=256"),
        (["run", "--rounds", "0", "./program"], "it takes a whole number from 1"),
        (["run", "--rounds", "ten", "./program"], "it takes a whole number"),
        (["why", "out", "AB", "x"], "an instance is a whole number from 0"),
        (["why", "out", "AB", "1.5"], "an instance is a whole number from 0"),
    ] {
        let (_, err, code) = outcome(&arguments);
        assert!(!err.contains("digit found in string"), "{err}");
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(said), "{err}");
    }
}
