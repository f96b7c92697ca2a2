//! The written half of the project: decisions are numbered, crates and dependencies are described, links lead somewhere.

use super::Finding;
use crate::workspace::{Metadata, TrackedFile};
use std::collections::BTreeSet;
use std::path::Path;

const DECISIONS: &str = "docs/decisions/";
const ARCHITECTURE: &str = "ARCHITECTURE.md";
const DEPENDENCIES: &str = "docs/dependencies.md";

/// Checks all documents together.
pub fn check(files: &[TrackedFile], metadata: &Metadata, root: &Path) -> Vec<Finding> {
    let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let text_of = |path: &str| files.iter().find(|file| file.path == path).and_then(TrackedFile::text);
    let mut findings = check_decisions(&paths);
    if let Some(text) = text_of(ARCHITECTURE) {
        let names: Vec<&str> = metadata.members().map(|package| package.name.as_str()).collect();
        findings.extend(check_architecture(text, &names));
    }
    let manifests = ["Cargo.toml", "fuzz/Cargo.toml"].into_iter().filter_map(text_of);
    let mut dependencies: BTreeSet<String> = manifests.flat_map(foreign_dependencies).collect();
    let declared = metadata.members().flat_map(|package| &package.dependencies);
    dependencies.extend(
        declared.filter(|dependency| dependency.path.is_none()).map(|dependency| dependency.name.clone()),
    );
    findings.extend(check_dependencies(text_of(DEPENDENCIES).unwrap_or_default(), &dependencies));
    for file in files.iter().filter(|file| file.path.ends_with(".md")) {
        findings.extend(check_links(&file.path, file.text().unwrap_or_default(), root));
    }
    findings
}

/// `NNN-title.md`, counted from 000 without gaps or repetitions.
fn check_decisions(paths: &BTreeSet<&str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut expected = 0;
    for path in paths.iter().filter(|path| path.starts_with(DECISIONS)) {
        let number = path[DECISIONS.len()..].split('-').next().filter(|digits| digits.len() == 3);
        match number.and_then(|digits| digits.parse::<usize>().ok()) {
            Some(number) if number == expected => expected += 1,
            Some(_) => {
                let message =
                    format!("the next number is {expected:03}: decisions have neither gaps nor twins");
                findings.push(Finding::new("decision-number", path, 0, message));
            }
            None => {
                let message = "a decision is called NNN-title.md".into();
                findings.push(Finding::new("decision-number", path, 0, message));
            }
        }
    }
    findings
}

fn check_architecture(text: &str, names: &[&str]) -> Vec<Finding> {
    let missing = names.iter().filter(|name| !text.contains(&format!("`{name}`")));
    missing
        .map(|name| {
            let message = format!("`{name}` is not described: say in one sentence what it is");
            Finding::new("architecture", ARCHITECTURE, 0, message).about(name)
        })
        .collect()
}

/// Names in the dependency tables of a manifest that are not paths.
fn foreign_dependencies(manifest: &str) -> Vec<String> {
    let Ok(table) = manifest.parse::<toml::Table>() else { return Vec::new() };
    let tables = [
        table.get("dependencies"),
        table.get("workspace").and_then(|workspace| workspace.get("dependencies")),
    ];
    let tables = tables.into_iter().flatten().filter_map(toml::Value::as_table);
    let foreign = |value: &toml::Value| value.get("path").is_none() && value.get("workspace").is_none();
    tables.flatten().filter(|(_, value)| foreign(value)).map(|(name, _)| name.clone()).collect()
}

/// Every dependency has a row in the table of `docs/dependencies.md`, and every row a dependency.
fn check_dependencies(text: &str, dependencies: &BTreeSet<String>) -> Vec<Finding> {
    let rows: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter_map(|(at, line)| Some((at + 1, line.strip_prefix("| `")?.split('`').next()?)))
        .collect();
    let finding =
        |line, name: &str, message| Finding::new("dependency", DEPENDENCIES, line, message).about(name);
    let missing = dependencies.iter().filter(|name| !rows.iter().any(|(_, row)| row == name));
    let idle = rows.iter().filter(|(_, row)| !dependencies.contains(*row));
    missing
        .map(|name| {
            finding(0, name, format!("`{name}` has no row: what for, why this one, what else was weighed"))
        })
        .chain(
            idle.map(|(line, row)| {
                finding(*line, row, format!("nothing depends on `{row}`: remove the row"))
            }),
        )
        .collect()
}

/// Relative links lead to files that exist; anchors lead to headings.
fn check_links(path: &str, text: &str, root: &Path) -> Vec<Finding> {
    let directory = Path::new(path).parent().unwrap_or(Path::new(""));
    let mut findings = Vec::new();
    for (line, target) in links(text) {
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let foreign = target.contains("://") || target.starts_with("mailto:");
        if foreign {
            continue;
        }
        let full = if file.is_empty() { root.join(path) } else { root.join(directory).join(file) };
        if !full.exists() {
            findings.push(Finding::new("link", path, line, format!("{target} does not exist")).about(target));
        } else if !anchor.is_empty() && file_has_no_heading(&full, anchor) {
            let message = format!("{target}: there is no heading '{anchor}'");
            findings.push(Finding::new("link", path, line, message).about(target));
        }
    }
    findings
}

fn file_has_no_heading(file: &Path, anchor: &str) -> bool {
    let is_markdown = file.extension().is_some_and(|extension| extension == "md");
    let text = std::fs::read_to_string(file).unwrap_or_default();
    is_markdown && !prose(&text).any(|(_, line)| line.starts_with('#') && slug(line) == anchor)
}

/// A heading as the target of a link: lower case, hyphens for spaces, no punctuation.
fn slug(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Lines outside fenced code blocks, with their numbers from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return None;
        }
        (!fenced).then_some((at + 1, line))
    })
}

/// Targets of `[text](target)` outside code.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (line, text) in prose(text) {
        let mut rest = text;
        while let Some(at) = rest.find("](") {
            let in_code = rest[..at].matches('`').count() % 2 == 1;
            let after = &rest[at + 2..];
            let Some(end) = after.find(')') else { break };
            let target = after[..end].split_whitespace().next().unwrap_or_default();
            if !in_code && !target.is_empty() {
                found.push((line, target));
            }
            rest = if in_code { after } else { &after[end..] };
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subjects(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|finding| finding.subject.as_str()).collect()
    }

    #[test]
    fn decisions_are_numbered_without_gaps() {
        let good =
            BTreeSet::from(["docs/decisions/000-template.md", "docs/decisions/001-crates.md", "docs/ci.md"]);
        assert!(check_decisions(&good).is_empty());
        for bad in ["docs/decisions/003-late.md", "docs/decisions/001-twin.md", "docs/decisions/notes.md"] {
            let mut paths = good.clone();
            paths.insert(bad);
            assert_eq!(check_decisions(&paths).len(), 1, "{bad}");
        }
    }

    #[test]
    fn every_crate_is_described() {
        let found = check_architecture("| `leveret-types` | words |", &["leveret-types", "leveret"]);
        assert_eq!(subjects(&found), ["leveret"]);
    }

    #[test]
    fn dependencies_and_rows_match() {
        let manifest = "[workspace.dependencies]\nserde = \"1\"\nown = { path = \"own\" }\n[dependencies]\nclap = { version = \"4\" }\nloom.workspace = true\n";
        let names: BTreeSet<String> = foreign_dependencies(manifest).into_iter().collect();
        assert_eq!(names.iter().map(String::as_str).collect::<Vec<_>>(), ["clap", "serde"]);
        let found = check_dependencies("| `serde` | data |\n| `gone` | what |\n", &names);
        assert_eq!(subjects(&found), ["clap", "gone"]);
    }

    #[test]
    fn links_in_prose_are_found_and_those_in_code_are_not() {
        let text = "see [a](a.md#x \"title\") and `[b](b.md)`\n```\n[c](c.md)\n```\n[d](d.md)\n";
        assert_eq!(links(text), [(1, "a.md#x"), (5, "d.md")]);
    }

    #[test]
    fn links_lead_to_files_and_headings() {
        let root = crate::workspace::root();
        let text = "[a](../Cargo.toml) [b](https://example.invalid/) [c](missing.md)\n";
        assert_eq!(subjects(&check_links("docs/x.md", text, &root)), ["missing.md"]);
        assert_eq!(slug("## What it is: a list"), "what-it-is-a-list");
    }
}
