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
