//! Networks with several conflicts: what is said to people and to programs.

use super::{outcome, shown};
use serde_json::Value;

/// Three conflicts that have nothing to do with each other.
const THREE: &str = r#"
[job]
name = "three"
[[host]]
name = "a"
[[host]]
name = "b"
[[host]]
name = "c"
[[host]]
name = "d"
[[switch]]
name = "s"
[[switch]]
name = "t"
[[link]]
ends = ["a", "s"]
rate = "100Mbit/s"
[[link]]
ends = ["b", "s"]
rate = "100Mbit/s"
[[link]]
ends = ["s", "t"]
rate = "100Mbit/s"
[[link]]
ends = ["c", "t"]
rate = "100Mbit/s"
[[link]]
ends = ["d", "t"]
rate = "100Mbit/s"
[[channel]]
name = "late"
source = "a"
target = "d"
period = "10ms"
window = ["0us", "200us"]
size = "1500B"
[[channel]]
name = "x"
source = "a"
target = "c"
period = "1ms"
window = ["0us", "390us"]
size = "1200B"
[[channel]]
name = "y"
source = "b"
target = "c"
period = "1ms"
window = ["0us", "390us"]
size = "1200B"
[[channel]]
name = "bulk1"
source = "d"
target = "b"
period = "1ms"
size = "7000B"
[[channel]]
name = "bulk2"
source = "c"
target = "b"
period = "1ms"
size = "7000B"
"#;

#[test]
fn every_conflict_is_told_with_what_resolves_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = folder.path().join("three.toml");
    std::fs::write(&job, THREE).expect("a manifest");
    let (text, said, code) = outcome(&["check", shown(&job)]);
    assert_eq!(code, Some(1), "{said}");
    let page = include_str!("../../../../docs/planning.md");
    let printed = page
        .split("```text\n")
        .find(|block| block.starts_with("refused: network \"three\""))
        .expect("a refusal");
    assert_eq!(Some(text.as_str()), printed.split("```").next());

    // The same for programs, with numbers.
    let certificate = folder.path().join("no.json");
    let explain = ["explain", shown(&job), "--format", "json", "--certificate", shown(&certificate)];
    let (text, _, code) = outcome(&explain);
    assert_eq!(code, Some(1), "{text}");
    let answer: Value = serde_json::from_str(&text).expect("JSON");
    // The first changes, made together, want the same time of s -> t: what resolves each need not resolve all.
    assert_eq!((&answer["complete"], &answer["together"]), (&true.into(), &false.into()));
    let conflicts = answer["conflicts"].as_array().expect("conflicts");
    assert_eq!(conflicts.len(), 3, "{text}");
    assert_eq!(answer["remedies"], conflicts[0]["remedies"]);
    let all = conflicts.iter().flat_map(|one| one["remedies"].as_array().expect("remedies"));
    let remedies: Vec<&Value> = all.collect();
    let window = remedies.iter().find(|one| one["kind"] == "window-end" && one["channel"] == "late");
    let window = window.expect("a later end");
    assert_eq!((&window["from"], &window["unit"]), (&200_000.into(), &"ns".into()));
    assert_eq!((&window["least"], &window["remaining"]), (&true.into(), &2.into()));
    assert!(window["to"].as_i64().is_some_and(|to| to > 200_000) && window["link"].is_null(), "{window}");
    let rate = remedies.iter().find(|one| one["kind"] == "rate").expect("a faster cable");
    assert!(rate["unit"] == "bit/s" && rate["link"].is_string() && rate["channel"].is_null(), "{rate}");
    assert!(remedies.iter().all(|one| one["sentence"].is_string()), "{text}");
    let (text, _, code) = outcome(&["verify", shown(&certificate), shown(&job)]);
    assert_eq!(code, Some(0), "{text}");
}

/// Two channels want two ways where there is one: both are told, and one copy of each fits.
#[test]
fn who_has_no_second_way_hides_no_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = folder.path().join("job.toml");
    let channel = |name: &str, source: &str, target: &str, period: &str| {
        let more = format!("period = \"{period}\"\nsize = \"1500B\"\ncopies = 2\n");
        format!("[[channel]]\nname = \"{name}\"\nsource = \"{source}\"\ntarget = \"{target}\"\n{more}")
    };
    let nodes = THREE.split("[[channel]]").next().expect("a network");
    let text = format!("{nodes}{}{}", channel("one", "a", "c", "1ms"), channel("two", "d", "b", "2ms"));
    std::fs::write(&job, text).expect("a manifest");
    let (text, _, code) = outcome(&["check", shown(&job)]);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("2 conflicts") && text.contains("The first change of each, made together, would fit"),
        "{text}"
    );
    let (text, _, _) = outcome(&["check", shown(&job), "--format", "json"]);
    let answer: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(answer["conflicts"][1]["streams"][0], "two");
    assert_eq!(answer["conflicts"][1]["remedies"][0]["remaining"], 1);
    assert_eq!((&answer["complete"], &answer["together"]), (&true.into(), &true.into()));
}

/// A certificate of streams that there are not is refused, and not looked up; a plan may come through a pipe.
#[test]
fn what_is_verified_may_be_forged_or_a_pipe() {
    let folder = tempfile::tempdir().expect("a folder");
    let (job, forged) = (folder.path().join("job.toml"), folder.path().join("no.json"));
    std::fs::write(&job, THREE).expect("a manifest");
    let claim = r#"{"overload": {"link": 0, "from": 0, "to": 1, "streams": [77]}}"#;
    std::fs::write(&forged, claim).expect("a certificate");
    let (text, said, code) = outcome(&["verify", shown(&forged), shown(&job)]);
    assert_eq!(code, Some(1), "{text}{said}");
    assert!(text.starts_with("not valid"), "{text}");
    let (plan, pipe) = (folder.path().join("plan.json"), folder.path().join("pipe"));
    let network = "examples/network/two-cells.toml";
    outcome(&["plan", network, "--output", shown(&plan)]);
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|made| made.success()));
    let content = std::fs::read(&plan).expect("a plan");
    let into = pipe.clone();
    let writer = std::thread::spawn(move || std::fs::write(into, content));
    let (text, said, code) = outcome(&["verify", shown(&pipe), network]);
    assert_eq!(code, Some(0), "{text}{said}");
    writer.join().expect("the writer").expect("it was read");
}
