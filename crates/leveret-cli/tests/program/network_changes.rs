//! Networks that are refused, explained, changed and compared.

use super::{outcome, shown};
use std::path::PathBuf;

/// Two channels that leave each other no place on one cable, unless the first may arrive by `deadline`.
fn manifest(deadline: &str) -> String {
    format!(
        r#"
[job]
name = "cells"
[[host]]
name = "camera"
[[host]]
name = "controller"
[[switch]]
name = "s0"
[[link]]
ends = ["camera", "s0"]
rate = "1Gbit/s"
[[link]]
ends = ["controller", "s0"]
rate = "1Gbit/s"
[[channel]]
name = "image"
source = "camera"
target = "controller"
period = "1ms"
window = ["0us", "{deadline}"]
size = "1458B"
[[channel]]
name = "state"
source = "camera"
target = "controller"
period = "1ms"
window = ["8us", "34us"]
size = "1458B"
"#
    )
}

struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.at(name), text).expect("a file");
        self.at(name)
    }
}

#[test]
fn a_refusal_is_explained_and_can_be_checked() {
    let folder = Folder::new();
    let tight = folder.write("tight.toml", &manifest("36us"));
    let certificate = folder.at("no.json");
    let (text, said, code) = outcome(&["explain", shown(&tight), "--certificate", shown(&certificate)]);
    assert_eq!(code, Some(1), "{said}");
    assert!(text.contains("channels \"image\", \"state\" have no plan together"), "{text}");
    assert!(text.contains("channel \"image\": window = [\"0ns\", \"44us\"], 8us later"), "{text}");
    assert!(text.contains("if \"image\" #0 has camera -> s0 before \"state\" #0:"), "{text}");
    let (text, _, code) = outcome(&["verify", shown(&certificate), shown(&tight)]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("has no plan, for \"image\", \"state\""), "{text}");
    // What is advised is right, and with it nothing is shown any more.
    let advised = folder.write("advised.toml", &manifest("44us"));
    let (text, _, code) = outcome(&["check", shown(&advised)]);
    assert_eq!(code, Some(0), "{text}");
    let (text, _, code) = outcome(&["verify", shown(&certificate), shown(&advised)]);
    assert_eq!(code, Some(1));
    assert!(text.contains("does not show that"), "{text}");
    let (text, _, code) = outcome(&["explain", shown(&advised)]);
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn a_plan_is_kept_where_it_can_be() {
    let folder = Folder::new();
    let old = folder.write("old.toml", &manifest("80us"));
    let log = "[[channel]]\nname = \"log\"\nsource = \"camera\"\ntarget = \"controller\"\nperiod = \"500us\"\nsize = \"600B\"\n";
    let new = folder.write("new.toml", &(manifest("90us") + log));
    let (old_plan, new_plan) = (folder.at("old.json"), folder.at("new.json"));
    let (_, said, code) = outcome(&["plan", shown(&old), "--output", shown(&old_plan)]);
    assert_eq!(code, Some(0), "{said}");
    let (_, said, code) = outcome(&[
        "plan",
        shown(&new),
        "--keep",
        shown(&old_plan),
        shown(&old),
        "--output",
        shown(&new_plan),
    ]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("kept: no channel that is declared as before has moved"), "{said}");
    let (_, said, code) = outcome(&["verify", shown(&new_plan), shown(&new)]);
    assert_eq!(code, Some(0), "{said}");
    let diff = ["diff", shown(&old_plan), shown(&old), "--to", shown(&new_plan), shown(&new)];
    let (text, _, code) = outcome(&diff);
    assert_eq!(code, Some(1));
    assert!(text.starts_with("1 kept, 1 changed, 1 added, 0 removed\n"), "{text}");
    assert!(text.contains("image: declared otherwise"), "{text}");
    let (text, _, _) = outcome(&[&diff[..], &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&json["added"][0], &json["kept"]), (&"log".into(), &1.into()));
    let same = ["diff", shown(&old_plan), shown(&old), "--to", shown(&old_plan), shown(&old)];
    assert_eq!(outcome(&same).2, Some(0));
    let (_, said, code) =
        outcome(&["diff", shown(&new_plan), shown(&old), "--to", shown(&old_plan), shown(&old)]);
    assert_eq!(code, Some(2));
    assert!(said.contains("does not fit"), "{said}");
    // A network that is another: nothing can be kept.
    let faster = folder.write("faster.toml", &manifest("80us").replace("1Gbit/s", "10Gbit/s"));
    let (_, said, code) = outcome(&["plan", shown(&faster), "--keep", shown(&old_plan), shown(&old)]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("planned anew"), "{said}");
}

#[test]
fn what_has_no_certificate_is_explained_all_the_same() {
    let folder = Folder::new();
    // Two ways are asked for where there is one.
    let text = manifest("44us").replace("name = \"image\"\n", "name = \"image\"\ncopies = 2\n");
    let doubled = folder.write("doubled.toml", &text);
    let certificate = folder.at("no.json");
    let (text, said, code) = outcome(&["explain", shown(&doubled), "--certificate", shown(&certificate)]);
    assert_eq!(code, Some(2), "{said}");
    assert!(text.contains("This would fit: channel \"image\": copies = 1 in place of 2"), "{text}");
    assert!(said.contains("no certificate is written of this refusal"), "{said}");
    assert!(!certificate.exists());
}

#[test]
fn what_is_admitted_is_told_to_programs_too() {
    let folder = Folder::new();
    let admitted = folder.write("admitted.toml", &manifest("44us"));
    let (text, _, code) = outcome(&["explain", shown(&admitted), "--format", "json"]);
    assert_eq!(code, Some(0), "{text}");
    let answer: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&answer["admitted"], &answer["infeasible"]), (&true.into(), &false.into()));
}

#[test]
fn a_plan_says_where_each_channel_is_on_each_link() {
    let folder = Folder::new();
    let admitted = folder.write("admitted.toml", &manifest("44us"));
    let (text, _, code) = outcome(&["plan", shown(&admitted)]);
    assert_eq!(code, Some(0), "{text}");
    // 12 us of each link; the window of the second begins at 8 us.
    assert!(text.contains("state          camera -> s0      0      8us      12us   1ms"), "{text}");
}

#[test]
fn what_was_placed_when_the_search_ended_is_written() {
    let folder = Folder::new();
    let mut text = manifest("44us");
    // Who comes first takes the place of one that has no other: room must be made, which takes more than one step.
    for index in 0..60 {
        let at = index * 389 % 900;
        text.push_str(&format!(
            "[[channel]]\nname = \"c{index}\"\nsource = \"camera\"\ntarget = \"controller\"\nperiod = \"1ms\"\n\
             window = [\"{at}us\", \"{}us\"]\nsize = \"1458B\"\n",
            at + 100
        ));
    }
    let crowded = folder.write("crowded.toml", &text);
    let partial = folder.at("partial.json");
    let (_, said, code) =
        outcome(&["plan", shown(&crowded), "--steps", "1", "--threads", "1", "--partial", shown(&partial)]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("no plan was found within") && said.contains("of 62 channels"), "{said}");
    assert!(said.starts_with("no plan found: network \"cells\"\n"), "{said}");
    assert!(said.contains("Try first: more steps (--steps), or other seeds (--seed 1, 2, ...)."), "{said}");
    // 62 channels of 1458 B in each ms, with no other route; it says of which case the share is.
    let full = "If every channel took its first route, link camera -> s0 would be asked for most (74.4 % of its time)";
    assert!(said.contains(full), "{said}");
    let (text, _, code) = outcome(&["verify", shown(&partial), shown(&crowded)]);
    assert_eq!(code, Some(1), "a partial plan is none: {text}");
    // Beside a conflict that is proven the search that ended says so too.
    let doubled =
        std::fs::read_to_string(&crowded).expect("a manifest").replacen("size", "copies = 2\nsize", 1);
    let doubled = folder.write("doubled.toml", &doubled);
    let (text, said, code) = outcome(&["check", shown(&doubled), "--steps", "1", "--threads", "1"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(text.starts_with("refused: network \"cells\"\n  2 conflicts"), "{text}");
    assert!(text.contains("no plan was found within") && text.contains("Try first: more steps"), "{text}");
}
