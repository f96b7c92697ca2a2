//! `docs/cli.md` repeats the help texts; `BLESS=1 cargo test -p leveret-cli` writes them anew.

use crate::{is_blessing, outcome, root};
use std::fs;

const COMMANDS: [&str; 15] = [
    "run",
    "check",
    "explain",
    "plan",
    "verify",
    "diff",
    "gantt",
    "import",
    "export",
    "apply",
    "report",
    "why",
    "doctor",
    "completions",
    "manual",
];

#[test]
fn the_reference_repeats_the_help_texts() {
    let path = root().join("docs/cli.md");
    let mut text = fs::read_to_string(&path).unwrap();
    let mut wrong = Vec::new();
    for command in COMMANDS {
        let (help, _, code) = outcome(&[command, "--help"]);
        assert_eq!(code, Some(0));
        let start =
            text.find(&format!("<!-- help: {command} -->")).unwrap_or_else(|| panic!("no help of {command}"));
        let end = start + text[start..].find("<!-- end -->").expect("each help text has an end");
        let lines: Vec<_> = help.lines().map(str::trim_end).collect();
        let block = format!("<!-- help: {command} -->\n```text\n{}\n```\n", lines.join("\n").trim_end());
        if text[start..end] != block {
            wrong.push(command);
            text.replace_range(start..end, &block);
        }
    }
    if is_blessing() {
        fs::write(&path, &text).unwrap();
        return;
    }
    assert!(wrong.is_empty(), "docs/cli.md is behind the help texts of {}", wrong.join(", "));
}

#[test]
fn every_help_text_has_an_example() {
    for command in COMMANDS {
        let (help, _, _) = outcome(&[command, "--help"]);
        assert!(help.contains(&format!("leveret {command}")) && help.contains("Examples:"), "{command}");
    }
}
