//! `cargo xtask tidy`: the rules of the code base that no compiler checks.
//!
//! Each module holds one family of rules as pure functions from text to findings, so that each is tested on small
//! texts. This module only gathers the inputs and applies the exception list.

mod bans;
mod documents;
mod exceptions;
mod files;
mod layers;
mod sizes;

use crate::source::Source;
use crate::workspace::{self, Metadata, TrackedFile};
use std::collections::BTreeSet;
use std::path::Path;

/// One breach of one rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Where: a path from the root.
    pub path: String,
    /// Line from 1, or 0 for the file as a whole.
    pub line: usize,
    /// The rule's name, as the exception list writes it.
    pub rule: String,
    /// What in the file is meant (a function, a crate), empty if the file itself.
    pub subject: String,
    /// The measured size, for rules that limit one.
    pub size: Option<usize>,
    /// What is wrong and what to do.
    pub message: String,
}

impl Finding {
    /// A finding about a place in a file.
    pub fn new(rule: &str, path: &str, line: usize, message: String) -> Self {
        Self { path: path.into(), line, rule: rule.into(), subject: String::new(), size: None, message }
    }

    /// Names what in the file is meant.
    pub fn about(mut self, subject: &str) -> Self {
        self.subject = subject.into();
        self
    }

    /// Gives the measured size.
    pub fn measuring(mut self, size: usize) -> Self {
        self.size = Some(size);
        self
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}: {}", self.path, self.line, self.rule, self.message)
    }
}

/// A Rust file with what the rules need to know about it.
pub struct RustFile<'a> {
    /// Path from the root.
    pub path: &'a str,
    /// Name of the crate it belongs to, empty if none.
    pub crate_name: String,
    /// The file's text.
    pub text: &'a str,
    /// The file, taken apart.
    pub source: Source,
}

/// Runs every rule over the repository. Gives what was looked at, in words, or all findings.
pub fn run(root: &Path) -> Result<String, Vec<String>> {
    let failed = |error: String| vec![error];
    let files = workspace::tracked_files(root).map_err(failed)?;
    let metadata = workspace::metadata(root, &["--no-deps", "--offline"]).map_err(failed)?;
    let layers: layers::Layers = workspace::read_toml(&root.join("xtask/tiers.toml")).map_err(failed)?;
    let bans: bans::Bans = workspace::read_toml(&root.join("xtask/bans.toml")).map_err(failed)?;
    let words: files::Words = workspace::read_toml(&root.join("xtask/words.toml")).map_err(failed)?;
    let list = std::fs::read_to_string(root.join(exceptions::PATH)).unwrap_or_default();

    let rust = rust_files(&files, &metadata, root);
    let mut findings = layers::check(&layers, &metadata, root);
    findings.extend(layers::check_sources(&layers, &metadata, &rust, root));
    for file in &rust {
        findings.extend(sizes::check(file));
        findings.extend(bans::check(&bans, &layers, file));
    }
    for file in &files {
        findings.extend(files::check(file, &words));
    }
    findings.extend(documents::check(&files, &metadata, root));

    let count = findings.len();
    let mut left = exceptions::apply(&list, findings);
    left.sort();
    left.dedup();
    if left.is_empty() {
        let excepted = exceptions::count(&list);
        Ok(format!(
            "{} files, {} of them Rust; {count} findings under {excepted} exceptions",
            files.len(),
            rust.len()
        ))
    } else {
        Err(left.iter().map(ToString::to_string).collect())
    }
}

/// The Rust files among `files`, each with its crate and its test regions.
fn rust_files<'a>(files: &'a [TrackedFile], metadata: &Metadata, root: &Path) -> Vec<RustFile<'a>> {
    let crates: Vec<(String, String)> = metadata
        .members()
        .filter_map(|package| Some((crate_directory(package, root)? + "/", package.name.clone())))
        .collect();
    let mut rust: Vec<RustFile<'a>> = files
        .iter()
        .filter(|file| file.path.ends_with(".rs"))
        .filter_map(|file| {
            let text = file.text()?;
            let owner = crates.iter().find(|(directory, _)| file.path.starts_with(directory.as_str()));
            let crate_name = owner.map_or_else(String::new, |(_, name)| name.clone());
            Some(RustFile {
                path: &file.path,
                crate_name,
                text,
                source: Source::new(text, is_test_path(&file.path)),
            })
        })
        .collect();
    let declared: BTreeSet<String> = rust.iter().flat_map(declared_test_files).collect();
    for file in &mut rust {
        let stem = file.path.trim_end_matches(".rs").trim_end_matches("/mod");
        // A test module's own submodules are tests too.
        if declared.iter().any(|test| stem == test || stem.starts_with(&format!("{test}/"))) {
            file.source.all_test = true;
        }
    }
    rust
}

/// A crate's directory from the root.
fn crate_directory(package: &workspace::Package, root: &Path) -> Option<String> {
    let directory = package.manifest_path.parent()?;
    Some(directory.strip_prefix(root).ok()?.to_string_lossy().into_owned())
}

fn is_test_path(path: &str) -> bool {
    let named = path.ends_with("/tests.rs") || path.ends_with("_tests.rs");
    named || path.contains("/tests/") || path.starts_with("tests/") || path.starts_with("fuzz/")
}

/// Paths without `.rs` that this file declares as test modules.
fn declared_test_files(file: &RustFile<'_>) -> Vec<String> {
    let (directory, name) = file.path.rsplit_once('/').unwrap_or(("", file.path));
    let base = match name {
        "lib.rs" | "main.rs" | "mod.rs" => directory.to_owned(),
        other => format!("{directory}/{}", other.trim_end_matches(".rs")),
    };
    file.source.test_modules().iter().map(|module| format!("{base}/{module}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file<'a>(path: &'a str, text: &'a str) -> RustFile<'a> {
        RustFile { path, crate_name: "leveret-plan".into(), text, source: Source::new(text, false) }
    }

    #[test]
    fn test_modules_lie_beside_their_parent() {
        let text = "#[cfg(test)]\nmod oracle;\n";
        assert_eq!(declared_test_files(&file("crates/a/src/lib.rs", text)), ["crates/a/src/oracle"]);
        assert_eq!(declared_test_files(&file("crates/a/src/b.rs", text)), ["crates/a/src/b/oracle"]);
    }

    #[test]
    fn integration_tests_are_tests() {
        assert!(is_test_path("crates/a/tests/ring.rs"));
        assert!(is_test_path("crates/a/src/ring_tests.rs"));
        assert!(!is_test_path("crates/a/src/attests.rs"));
    }
}
