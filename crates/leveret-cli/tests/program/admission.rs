//! `check`, `plan` and `verify`.

use crate::{is_blessing, outcome, root, shown};
use std::fs;

const RING: &str = "examples/ring/job.toml";

#[test]
fn the_examples_are_admitted() {
    for example in [RING, "examples/ring/demo.toml"] {
        let (out, err, code) = outcome(&["check", example]);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
        assert!(out.starts_with("admitted: job \"ring"), "{out}");
        assert!(out.contains("core 0: ") && out.contains("core 1: "), "{out}");
        assert_eq!(
            out.matches("The guard is measured when the job runs; 50us is assumed here").count(),
            1,
            "{out}"
        );
    }
}

#[test]
fn the_answer_for_programs_is_json() {
    let (out, _, code) = outcome(&["check", RING, "--format", "json"]);
    let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, Some(0));
    assert_eq!(answer["admitted"], true);
    assert_eq!(answer["hyperperiod_ns"], 5_000_000);
    assert_eq!(answer["guard_assumed_ns"], 50_000);
    assert_eq!(answer["cores"].as_array().unwrap().len(), 2);
}

/// Manifests without errors whose jobs cannot be: exit code 1, and the words that the refusal must hold.
#[test]
fn each_refused_manifest_gets_its_reason() {
    let folder = root().join("tests/manifests/refused");
    let mut cases = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        cases += 1;
        let (out, err, code) = outcome(&["check", shown(&path)]);
        assert_eq!((code, err.as_str()), (Some(1), ""), "{}\n{out}", path.display());
        let expected_file = path.with_extension("expected");
        if is_blessing() {
            fs::write(&expected_file, &out).unwrap();
        }
        let expected = fs::read_to_string(&expected_file).unwrap_or_default();
        assert_eq!(out, expected, "{}", path.display());
        assert!(out.starts_with("refused: "), "{out}");
    }
    assert!(cases >= 5, "only {cases} refused manifests");
}

#[test]
fn a_refused_job_has_no_plan() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.json");
    let job = "tests/manifests/refused/windows-collide.toml";
    let (out, err, code) = outcome(&["plan", job, "--output", shown(&plan)]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.starts_with("refused: "), "{err}");
    assert!(!plan.exists());
}

/// Two tasks collide, in a table that is too long to prove it of: the search ends, and what it says is no refusal of the design.
#[test]
fn a_search_that_ends_is_not_called_refused() {
    let task = |name: &str, period: u32, rest: &str| {
        format!("[[task]]\nname = \"{name}\"\nmember = \"m\"\ncore = 0\nperiod = \"{period}ms\"\n{rest}")
    };
    let mut job = "[job]\nname = \"many\"\n[host]\ncores = [0]\nguard = \"0us\"\n[[member]]\nname = \"m\"\ncommand = [\"m\"]\n".to_owned();
    for number in 0..200 {
        job += &task(&format!("t{number}"), [1, 2, 4, 5, 10][number % 5], "budget = \"1us\"\n");
    }
    job += &task("left", 5, "budget = \"50us\"\nwindow = [\"100us\", \"160us\"]\n");
    job += &task("right", 5, "budget = \"50us\"\nwindow = [\"120us\", \"180us\"]\n");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("job.toml");
    fs::write(&path, job).unwrap();
    let (out, err, code) = outcome(&["check", shown(&path)]);
    assert_eq!((code, err.as_str()), (Some(1), ""), "{out}");
    assert!(out.starts_with("no plan found: job \"many\"\n  no plan was found within "), "{out}");
    assert!(out.contains("Try first what leaves less to search: tasks pinned to cores"), "{out}");
}

// spec: QOS-ADMIT-06
#[test]
fn a_plan_is_the_same_each_time_and_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("a.json"), folder.path().join("b.json"));
    for plan in [&first, &second] {
        let (out, _, code) = outcome(&["plan", RING, "--output", shown(plan)]);
        assert_eq!(code, Some(0));
        assert!(out.contains("A.user") && out.contains("dummy.1"), "{out}");
    }
    assert_eq!(fs::read(&first).unwrap(), fs::read(&second).unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file stays behind");
    let (out, err, code) = outcome(&["verify", shown(&first), RING]);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert!(out.starts_with("valid: "), "{out}");
}

#[test]
fn the_json_plan_on_standard_output_is_the_one_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.json");
    let (out, _, _) = outcome(&["plan", RING, "--format", "json", "--output", shown(&file)]);
    assert_eq!(out, fs::read_to_string(&file).unwrap());
}

#[test]
fn a_plan_of_another_job_is_not_valid() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.json");
    outcome(&["plan", "examples/ring/demo.toml", "--output", shown(&plan)]);
    let (out, _, code) = outcome(&["verify", shown(&plan), RING]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.starts_with("not valid: ") && out.contains("\n  - "), "{out}");
}

#[test]
fn a_plan_whose_start_was_moved_is_not_valid() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.json");
    outcome(&["plan", RING, "--output", shown(&file)]);
    let mut plan: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let segment = &mut plan["tasks"][1]["instances"][0]["segments"][0];
    segment["start"] = (segment["start"].as_i64().unwrap() - 100_000).into();
    segment["end"] = (segment["end"].as_i64().unwrap() - 100_000).into();
    fs::write(&file, plan.to_string()).unwrap();
    let (out, _, code) = outcome(&["verify", shown(&file), RING]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("B.user"), "{out}");
}

#[test]
fn a_damaged_plan_file_is_bad_input_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.json");
    outcome(&["plan", RING, "--output", shown(&file)]);
    let whole = fs::read_to_string(&file).unwrap();
    let version = whole.replace("\"version\": 2", "\"version\": 99");
    for (content, expected) in [
        (&whole[..whole.len() / 2], "the file was truncated"),
        ("", "plan.json:1:0: the plan ends in the middle"),
        ("{ \"version\": oops", "plan.json:1:14: this is not JSON"),
        ("{ \"version\": \"one\" }", "this is not a plan: invalid type: string \"one\""),
        ("[1, 2]", "this is not a plan"),
        (version.as_str(), "the plan has format 99, and this program reads format 2"),
    ] {
        fs::write(&file, content).unwrap();
        let (out, err, code) = outcome(&["verify", shown(&file), RING]);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
        assert!(err.starts_with("error: ") && err.contains(expected) && err.contains("hint: "), "{err}");
    }
}

#[test]
fn a_size_that_only_the_code_knows_is_bad_input_here() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("job.toml");
    let text = fs::read_to_string(root().join(RING)).unwrap();
    let start = text.rfind("size = ").unwrap();
    fs::write(&file, &text[..start]).unwrap();
    for command in ["check", "plan"] {
        let (_, err, code) = outcome(&[command, shown(&file)]);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains("channel \"CA\" of group \"world\": no size is given"), "{err}");
        assert!(err.contains("hint: planning before a run sees the manifest only"), "{err}");
    }
}
