//! Tasks on several hosts and the network between them: planned, verified, drawn, written down, kept and compared.

use super::{outcome, shown};
use std::path::Path;

const SYSTEM: &str = "examples/system/job.toml";

/// Tasks on several hosts: planned, written, verified, and refused with the parts of the chain that is too long.
#[test]
fn tasks_and_network_are_planned_in_one_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let (job, plan) = (at("job.toml"), at("plan.json"));
    let (text, said, code) = outcome(&["plan", SYSTEM, "--output", shown(&plan)]);
    assert_eq!(code, Some(0), "{said}");
    for part in ["host camera-host: plan of", "camera.take #0", "image-to-motion", "channel between hosts"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (text, _, code) = outcome(&["verify", shown(&plan), SYSTEM]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("valid: "), "{text}");
    let (text, _, code) = outcome(&["plan", SYSTEM, "--format", "json"]);
    assert_eq!(code, Some(0));
    // What is printed for programs has a summary beside the plan, and is a plan all the same.
    let read = |text: &str| -> serde_json::Value { serde_json::from_str(text).expect("JSON") };
    let (mut printed, written) = (read(&text), read(&std::fs::read_to_string(&plan).expect("a plan")));
    std::fs::write(at("printed.json"), &text).expect("a file");
    let summary = printed.as_object_mut().expect("an object").remove("summary").expect("a summary");
    assert_eq!(printed, written);
    assert!(
        summary["hosts"][0]["tasks"][0]["slack"].is_i64() && summary["hosts"][0]["cores"][0]["left"].is_i64()
    );
    assert!(summary["channels"][0]["source_buffers"].is_u64() && summary["chains"][0]["age_slack"].is_i64());
    assert!(summary["network"]["links"][0]["queue_use"][0]["backlog"].is_u64());
    let (text, _, code) = outcome(&["verify", shown(&at("printed.json")), SYSTEM]);
    assert_eq!(code, Some(0), "{text}");

    let manifest = std::fs::read_to_string(super::root().join(SYSTEM)).expect("a manifest");
    std::fs::write(&job, manifest.replace("age = \"3ms\"", "age = \"600us\"")).expect("a manifest");
    let (text, _, code) = outcome(&["check", shown(&job)]);
    assert_eq!(code, Some(1));
    let expected = "refused: system \"cell\"\n  chain \"image-to-motion\" has a data age of at least 987.904us, and its limit is 600us: ";
    assert!(text.starts_with(expected), "{text}");
    let (text, _, code) = outcome(&["verify", shown(&plan), shown(&job)]);
    assert_eq!(code, Some(1));
    assert!(text.contains("chain `image-to-motion`: its data age is within its limit"), "{text}");
    let (text, _, _) = outcome(&["check", shown(&job), "--format", "json"]);
    let refused: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&refused["admitted"], &refused["infeasible"]), (&false.into(), &true.into()));
    let (text, _, _) = outcome(&["check", SYSTEM, "--format", "json"]);
    let admitted: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(admitted["summary"]["chains"][0]["exact"], true);
    let (_, said, code) = outcome(&["export", "tsnkit", shown(&plan), SYSTEM]);
    assert_eq!(code, Some(2));
    assert!(said.contains("the simulator of tsnkit knows no tasks"), "{said}");
    let (text, _, code) = outcome(&["explain", shown(&job)]);
    assert_eq!(code, Some(1));
    assert!(text.starts_with(expected), "{text}");
}

/// The part of `docs/planning.md` that shows a plan and keeps it.
#[test]
fn a_plan_is_drawn_and_written_down() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let (plan, page) = (at("plan.json"), at("plan.html"));
    outcome(&["plan", SYSTEM, "--output", shown(&plan)]);
    let draw = ["gantt", SYSTEM, "--plan", shown(&plan), "--output", shown(&page)];
    let size = |more: &[&str]| {
        let (_, said, code) = outcome(&[&draw[..], more].concat());
        assert_eq!(code, Some(0), "{said}");
        std::fs::read_to_string(&page).expect("a page").len()
    };
    let whole = size(&[]);
    let text = std::fs::read_to_string(&page).expect("a page");
    assert!(text.contains("<title>Plan of system &quot;cell&quot;</title>"));
    for words in
        ["control-host core 1", "s0 -> s1", "image-to-motion", "2.987904ms of 5ms", "1.063104ms of 3ms"]
    {
        assert!(text.contains(words), "{words}");
    }
    assert!(size(&["--channel", "image-to-motion"]) < whole);
    assert!(size(&["--until", "1ms"]) < whole);
    // Without a plan one is made, and the same is drawn.
    let other = at("other.html");
    let (_, said, code) = outcome(&["gantt", SYSTEM, "--output", shown(&other)]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(std::fs::read_to_string(other).expect("a page"), text);

    let (text, said, code) = outcome(&["export", "tables", shown(&plan), SYSTEM]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        text.starts_with("host,core,task,instance,part,start_ns,end_ns,order,reads,writes\ncamera-host,0,"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1 + 1 + 3 + 2);
    let (text, said, code) = outcome(&["export", "tables", shown(&plan), SYSTEM, "--format", "json"]);
    assert_eq!(code, Some(0), "{said}");
    let tables: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(tables["hosts"][0]["table"][0]["writes"][0]["channel"], "image");
    let (text, said, code) = outcome(&["export", "launch", shown(&plan), SYSTEM]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 1 + 2 + 2 + 1);
    let (text, said, code) =
        outcome(&["export", "taprio", shown(&plan), SYSTEM, "--output", shown(&at("gates"))]);
    assert!(code == Some(0) && text.contains("longest list"), "{said}");
    assert!(at("gates/s0.sh").is_file());
    let (_, said, code) =
        outcome(&["export", "yang", shown(&plan), SYSTEM, "--output", shown(&at("gates.json"))]);
    assert!(code == Some(0) && at("gates.json").is_file(), "{said}");
}

/// Writes the example with changes.
fn changed(path: &Path, changes: &[(&str, &str)]) {
    let mut text = std::fs::read_to_string(super::root().join(SYSTEM)).expect("a manifest");
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    std::fs::write(path, text).expect("a manifest");
}

#[test]
fn a_plan_that_does_not_fit_is_neither_drawn_nor_written_down() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let (plan, other) = (at("plan.json"), at("other.toml"));
    outcome(&["plan", SYSTEM, "--output", shown(&plan)]);
    changed(&other, &[("budget = \"300us\"", "budget = \"310us\"")]);
    let page = at("plan.html");
    let (_, said, code) =
        outcome(&["gantt", shown(&other), "--plan", shown(&plan), "--output", shown(&page)]);
    assert!(code == Some(1) && said.starts_with("not valid") && !page.exists(), "{said}");
    let (text, _, code) = outcome(&["export", "tables", shown(&plan), shown(&other)]);
    assert!(code == Some(1) && text.starts_with("not valid"), "{text}");
    let (_, said, code) = outcome(&["diff", shown(&plan), shown(&other), "--to", shown(&plan), SYSTEM]);
    assert!(code == Some(2) && said.contains("does not fit"), "{said}");
    changed(&other, &[("age = \"3ms\"", "age = \"600us\"")]);
    let (_, said, code) = outcome(&["gantt", shown(&other), "--output", shown(&page)]);
    assert!(code == Some(1) && said.starts_with("refused"), "{said}");
}

#[test]
fn a_plan_is_kept_and_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let (plan, job, new) = (at("plan.json"), at("new.toml"), at("new.json"));
    outcome(&["plan", SYSTEM, "--output", shown(&plan)]);
    let same = ["diff", shown(&plan), SYSTEM, "--to", shown(&plan), SYSTEM];
    let (text, _, code) = outcome(&same);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("tasks: 4 kept, 0 changed, 0 added, 0 removed\n"), "{text}");

    let status = "[[task]]\nname = \"control.note\"\nmember = \"control\"\nperiod = \"2ms\"\nbudget = \"50us\"\nreads = [\"status\"]\n\n[[task]]\nname = \"drive.tell\"\nmember = \"drive\"\nperiod = \"2ms\"\nbudget = \"50us\"\nwrites = [\"status\"]\n\n\
                  [[channel]]\nname = \"status\"\nsource = \"drive\"\ntarget = \"control\"\nperiod = \"2ms\"\nsize = \"64B\"\n\n[[chain]]";
    changed(&job, &[("[[chain]]", status)]);
    let keep = ["plan", shown(&job), "--keep", shown(&plan), SYSTEM, "--output", shown(&new)];
    let (_, said, code) = outcome(&keep);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("planned anew: the tables of control-host, drive-host"), "{said}");
    assert!(said.contains("kept: no channel that is declared as before has moved"), "{said}");
    let (text, _, code) = outcome(&["verify", shown(&new), shown(&job)]);
    assert_eq!(code, Some(0), "{text}");
    let diff = ["diff", shown(&plan), SYSTEM, "--to", shown(&new), shown(&job)];
    let (text, _, code) = outcome(&diff);
    assert_eq!(code, Some(1), "{text}");
    for line in ["+ drive.tell on drive-host", "+ status\n", "+ control.note on control-host"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(
        !text.contains("camera") && !text.contains("control.step") && !text.contains("between hosts"),
        "{text}"
    );
    let (text, _, _) = outcome(&[&diff[..], &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&json["network"]["added"][0], &json["windows"]), (&"status".into(), &serde_json::json!([])));

    // Nothing fits within the windows as they were.
    changed(&job, &[("budget = \"400us\"", "budget = \"450us\"")]);
    let (_, said, code) = outcome(&keep);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("with the windows as they were there is no plan; planned anew\n"), "{said}");
    // A network alone has nothing to keep for tasks.
    let network = at("network.toml");
    let text = std::fs::read_to_string(super::root().join(SYSTEM)).expect("a manifest");
    let links = text
        .split("[[member]]")
        .next()
        .expect("links")
        .replace("cores = [0, 1]\n", "")
        .replace("cores = [0]\n", "");
    std::fs::write(&network, links.replace("guard = \"20us\"\n", "")).expect("a manifest");
    let bare = at("bare.json");
    let (_, said, code) = outcome(&["plan", shown(&network), "--output", shown(&bare)]);
    assert_eq!(code, Some(0), "{said}");
    let (_, said, code) = outcome(&["plan", SYSTEM, "--keep", shown(&bare), shown(&network)]);
    assert!(code == Some(2) && said.contains("a network without tasks"), "{said}");
    let (text, _, code) = outcome(&["diff", shown(&bare), shown(&network), "--to", shown(&plan), SYSTEM]);
    assert!(code == Some(1) && text.contains("+ camera.take on camera-host"), "{text}");
}

/// A reader that needs most of its period, beside one that is seldom and long: only a window at the end of the period leaves it a whole one.
const LATE_WINDOW: &str = r#"
[job]
name = "late"
[[host]]
name = "a"
cores = [0]
guard = "10us"
[[host]]
name = "b"
cores = [0]
guard = "10us"
[[switch]]
name = "w"
[[link]]
ends = ["a", "w"]
rate = "1Gbit/s"
[[link]]
ends = ["b", "w"]
rate = "1Gbit/s"
[[member]]
name = "A"
host = "a"
[[member]]
name = "B"
host = "b"
[[task]]
name = "fill"
member = "A"
period = "1ms"
budget = "400us"
writes = ["c"]
[[task]]
name = "use"
member = "B"
period = "1ms"
budget = "500us"
reads = ["c"]
[[task]]
name = "seldom"
member = "B"
period = "4ms"
budget = "650us"
[[channel]]
name = "c"
source = "A"
target = "B"
period = "1ms"
size = "100B"
"#;

#[test]
fn a_window_is_chosen_that_leaves_the_reader_a_whole_period() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = folder.path().join("job.toml");
    std::fs::write(&job, LATE_WINDOW).expect("a manifest");
    let (text, said, code) = outcome(&["plan", shown(&job)]);
    assert_eq!(code, Some(0), "{text}{said}");
    assert!(text.contains("a -> w  0"), "the slots of the network are listed: {text}");
}

/// A host whose own declarations contradict each other is refused by `explain` as by `check`, without a certificate.
#[test]
fn a_wrong_host_is_explained() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = folder.path().join("job.toml");
    changed(&job, &[("budget = \"800us\"", "budget = \"8001us\"")]);
    let (checked, _, code) = outcome(&["check", shown(&job)]);
    assert_eq!(code, Some(1), "{checked}");
    let (explained, said, code) = outcome(&["explain", shown(&job)]);
    assert_eq!((code, said.as_str()), (Some(1), ""), "{explained}");
    assert_eq!(checked.lines().nth(1), explained.lines().nth(1));
}
