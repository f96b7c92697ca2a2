//! Refusals of tasks on several hosts: what would fit, made in the manifest by hand, and certificates.

use super::{outcome, root, shown};
use std::path::{Path, PathBuf};

fn example() -> String {
    std::fs::read_to_string(root().join("examples/system/job.toml")).expect("a manifest")
}

fn write(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("job.toml");
    std::fs::write(&path, text).expect("a file");
    path
}

/// The example with one line changed, refused; then with the advice made, admitted.
#[track_caller]
fn refused_then_fits((from, to): (&str, &str), advice: &str, (line, changed): (&str, &str)) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let text = example();
    assert!(text.contains(from));
    let text = text.replacen(from, to, 1);
    let (said, _, code) = outcome(&["explain", shown(&write(folder.path(), &text))]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(advice), "no \"{advice}\" in {said}");
    assert!(text.contains(line), "no {line}");
    let (admitted, _, code) =
        outcome(&["check", shown(&write(folder.path(), &text.replacen(line, changed, 1)))]);
    assert_eq!(code, Some(0), "{admitted}");
    said
}

#[test]
fn what_is_advised_is_admitted_when_it_is_written() {
    let limit = "chain \"image-to-motion\": age = \"1.064ms\" in place of 600us";
    refused_then_fits(("age = \"3ms\"", "age = \"600us\""), limit, ("age = \"600us\"", "age = \"1064us\""));
    refused_then_fits(
        ("size = \"20000B\"", "size = \"20000B\"\nlatency = \"150us\""),
        "channel \"image\": latency = \"199us\" in place of 150us",
        ("latency = \"150us\"", "latency = \"199us\""),
    );
    let said = refused_then_fits(
        ("age = \"3ms\"", "age = \"1010us\""),
        "period = \"2ms\" for task \"drive.act\" (now 1ms)",
        ("period = \"1ms\"\nbudget = \"50us\"", "period = \"2ms\"\nbudget = \"50us\""),
    );
    assert!(said.starts_with("no plan found: system \"cell\""), "{said}");
    let (further, advice) = (said.find("--seed"), said.find("Any one of these would fit"));
    assert!(further.is_some() && further < advice, "first what leaves the design as it is: {said}");
    assert!(
        said.contains("without any one of them the others have one: chain \"image-to-motion\""),
        "{said}"
    );
    // A period that several must have.
    let tied = "for task \"camera.take\" (now 2ms), task \"control.step\" (now 2ms), channel \"image\" (now 2ms), channel \"setpoint\" (now 2ms)";
    assert!(said.contains(&format!("period = \"1ms\" {tied}")), "{said}");
    let folder = tempfile::tempdir().expect("a folder");
    let text = example()
        .replace("age = \"3ms\"", "age = \"1010us\"")
        .replace("period = \"2ms\"", "period = \"1ms\"");
    let (said, _, code) = outcome(&["check", shown(&write(folder.path(), &text))]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn what_is_proven_can_be_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let certificate = folder.path().join("no.json");
    let cases = [
        ("age = \"3ms\"", "age = \"600us\"", "for chain \"image-to-motion\""),
        ("cores = [0, 1]", "cores = [0]", "for the cores of host \"control-host\""),
        ("size = \"20000B\"", "size = \"20000B\"\nlatency = \"150us\"", "for channel \"image\""),
    ];
    for (from, to, about) in cases {
        let text = example().replace("budget = \"400us\"", "budget = \"500us\"").replacen(from, to, 1);
        // More than one core has; with two the example is admitted.
        let text = text.replace("budget = \"800us\"", "budget = \"2900us\"");
        let job = write(folder.path(), &text);
        let (said, wrong, code) = outcome(&["explain", shown(&job), "--certificate", shown(&certificate)]);
        assert_eq!(code, Some(1), "{said}{wrong}");
        let (said, _, code) = outcome(&["verify", shown(&certificate), shown(&job)]);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains(about), "{said}");
        let (said, _, code) = outcome(&["verify", shown(&certificate), "examples/system/job.toml"]);
        assert_eq!(code, Some(1));
        assert!(said.contains("does not show that"), "{said}");
    }
    let job = write(folder.path(), &example().replace("age = \"3ms\"", "age = \"1010us\""));
    let (_, said, code) = outcome(&["explain", shown(&job), "--certificate", shown(&certificate)]);
    assert_eq!(code, Some(2));
    assert!(said.contains("nothing is proven here that a certificate could show"), "{said}");
}

#[test]
fn programs_get_what_people_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = write(folder.path(), &example().replace("age = \"3ms\"", "age = \"600us\""));
    let (said, _, code) = outcome(&["check", shown(&job), "--format", "json"]);
    assert_eq!(code, Some(1));
    let answer: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(answer["conflict"].as_array().map(Vec::len), Some(6), "{said}");
    assert_eq!((&answer["minimal"], &answer["infeasible"]), (&true.into(), &true.into()));
    assert_eq!(answer["bottleneck"], "`control.step` 409us of chain \"image-to-motion\"");
    let remedy = &answer["remedies"][0];
    assert_eq!(remedy["sentence"], "chain \"image-to-motion\": age = \"1.064ms\" in place of 600us");
    assert_eq!(
        (&remedy["kind"], &remedy["to"], &remedy["unit"]),
        (&"age".into(), &1_064_000.into(), &"ns".into())
    );
}
