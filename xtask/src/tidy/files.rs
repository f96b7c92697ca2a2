//! Rules for every tracked file, whatever its language.

use super::Finding;
use crate::workspace::TrackedFile;
use serde::Deserialize;

/// Most bytes that a tracked file may have.
const BYTES_MAX: usize = 1 << 20;
/// The list of foreign words, which alone may contain them.
const WORDS_PATH: &str = "xtask/words.toml";

/// The table of `xtask/words.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    word: Vec<Word>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Word {
    text: String,
    #[serde(default)]
    at_start: bool,
    why: String,
}

/// Checks one file.
pub fn check(file: &TrackedFile, words: &Words) -> Vec<Finding> {
    let mut findings = Vec::new();
    if file.bytes.len() > BYTES_MAX {
        let message = format!("{} bytes, at most {BYTES_MAX}: generate it instead", file.bytes.len());
        findings.push(Finding::new("file-bytes", &file.path, 0, message));
    }
    let script = file.bytes.starts_with(b"#!") && !file.bytes.starts_with(b"#![");
    if script != file.executable {
        let message =
            if script { "begins with #! but is not executable" } else { "is executable but no script" };
        findings.push(Finding::new("executable", &file.path, 0, message.into()));
    }
    let Some(text) = file.text() else { return findings };
    findings.extend(check_lines(&file.path, text));
    if file.path != WORDS_PATH {
        findings.extend(check_words(&file.path, text, words));
    }
    findings
}

fn check_lines(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, line) in text.split('\n').enumerate() {
        if line.ends_with([' ', '\t', '\r']) {
            findings.push(Finding::new(
                "trailing-space",
                path,
                at + 1,
                "space at the end of the line".into(),
            ));
        }
    }
    if !text.is_empty() && (!text.ends_with('\n') || text.ends_with("\n\n")) {
        let line = text.lines().count();
        findings.push(Finding::new("last-line", path, line, "a file ends with exactly one line end".into()));
    }
    findings
}

fn check_words(path: &str, text: &str, words: &Words) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let lower = line.to_lowercase();
        for word in words.word.iter().filter(|word| word.stands_in(&lower)) {
            let message = format!("'{}' is {}", word.text, word.why);
            findings.push(Finding::new("foreign-word", path, at + 1, message).about(&word.text));
        }
    }
    findings
}

impl Word {
    fn stands_in(&self, lower: &str) -> bool {
        let continues_path = |before: char| before.is_alphanumeric() || "./-_$}".contains(before);
        lower
            .match_indices(&self.text)
            .any(|(at, _)| !self.at_start || !lower[..at].chars().next_back().is_some_and(continues_path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: &str, executable: bool) -> Vec<String> {
        let words: Words = toml::from_str(
            "[[word]]\ntext = \"/place/\"\nat_start = true\nwhy = \"a path\"\n[[word]]\ntext = \"foreign\"\nwhy = \"foreign\"\n",
        )
        .expect("the words of this test are well formed");
        let file = TrackedFile { path: path.into(), executable, bytes: text.as_bytes().to_vec() };
        check(&file, &words).into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn a_clean_file_has_no_finding() {
        assert!(rules("a.md", "one\ntwo\n", false).is_empty());
        assert!(rules("a.sh", "#!/bin/sh\n", true).is_empty());
        assert!(rules("lib.rs", "#![forbid(unsafe_code)]\n", false).is_empty());
    }

    #[test]
    fn executable_bits_are_sane() {
        assert_eq!(rules("a.sh", "#!/bin/sh\n", false), ["executable"]);
        assert_eq!(rules("a.md", "text\n", true), ["executable"]);
    }

    #[test]
    fn line_ends_are_sane() {
        assert_eq!(rules("a.md", "one \ntwo\n", false), ["trailing-space"]);
        assert_eq!(rules("a.md", "one\r\n", false), ["trailing-space"]);
        assert_eq!(rules("a.md", "one", false), ["last-line"]);
        assert_eq!(rules("a.md", "one\n\n", false), ["last-line"]);
    }

    #[test]
    fn foreign_words_are_found_in_any_case() {
        assert_eq!(rules("a.md", "a Foreign thing\n", false), ["foreign-word"]);
        assert_eq!(rules("a.md", "see /place/x\n", false), ["foreign-word"]);
        assert!(rules("a.md", "see net/place/x\n", false).is_empty());
        assert!(rules(WORDS_PATH, "foreign\n", false).is_empty());
    }

    #[test]
    fn large_files_are_found() {
        assert_eq!(rules("a.bin", &"\0".repeat(BYTES_MAX + 1), false), ["file-bytes"]);
    }
}
