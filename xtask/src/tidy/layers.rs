//! The layers: which arrows between crates may exist, and where `unsafe` may stand.

use super::{Finding, RustFile, crate_directory};
use crate::workspace::{Metadata, Package};
use serde::Deserialize;
use std::path::Path;

/// The table of `xtask/tiers.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layers {
    #[serde(rename = "crate")]
    crates: Vec<Layer>,
    #[serde(default)]
    only: Vec<Only>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Layer {
    name: String,
    tier: Tier,
    #[serde(default)]
    beside: Vec<String>,
    #[serde(default, rename = "unsafe")]
    may_be_unsafe: bool,
    directory: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Only {
    dependency: String,
    crates: Vec<String>,
    why: String,
}

/// A number, or the word `dev`.
#[derive(Deserialize)]
#[serde(try_from = "toml::Value")]
enum Tier {
    Shipped(u8),
    Development,
}

impl TryFrom<toml::Value> for Tier {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        let number = value.as_integer().and_then(|number| u8::try_from(number).ok());
        match (number, value.as_str()) {
            (Some(number), _) => Ok(Self::Shipped(number)),
            (None, Some("dev")) => Ok(Self::Development),
            _ => Err(format!("tier is {value}; write a small number or \"dev\"")),
        }
    }
}

impl Layers {
    fn layer(&self, name: &str) -> Option<&Layer> {
        self.crates.iter().find(|layer| layer.name == name)
    }

    /// The tier of a shipped crate; none for development crates and strangers.
    pub fn tier_number(&self, name: &str) -> Option<u8> {
        match self.layer(name)?.tier {
            Tier::Shipped(number) => Some(number),
            Tier::Development => None,
        }
    }

    /// Why `from` may not depend on the workspace crate `to`; none if it may.
    fn objection(&self, from: &str, to: &str) -> Option<String> {
        let (Some(source), Some(target)) = (self.layer(from), self.layer(to)) else {
            return Some(format!("{to} is not in xtask/tiers.toml: give it a tier"));
        };
        match (&source.tier, &target.tier) {
            (Tier::Development, _) => None,
            (Tier::Shipped(_), Tier::Development) => {
                Some(format!("{to} is a development crate: nothing depends on it"))
            }
            (Tier::Shipped(high), Tier::Shipped(low)) if low < high => None,
            (Tier::Shipped(high), Tier::Shipped(low)) if low == high => {
                let named = source.beside.iter().any(|name| name == to);
                (!named).then(|| format!("{to} is on the same tier and not in the 'beside' of {from}"))
            }
            (Tier::Shipped(high), Tier::Shipped(low)) => {
                Some(format!("{from} is on tier {high} and {to} above it on tier {low}: arrows point down"))
            }
        }
    }
}

/// Checks names, places and dependencies of the workspace's crates.
pub fn check(layers: &Layers, metadata: &Metadata, root: &Path) -> Vec<Finding> {
    let names: Vec<&str> = metadata.members().map(|package| package.name.as_str()).collect();
    metadata.members().flat_map(|package| check_crate(layers, package, &names, root)).collect()
}

fn check_crate(layers: &Layers, package: &Package, names: &[&str], root: &Path) -> Vec<Finding> {
    let directory = crate_directory(package, root).unwrap_or_default();
    let manifest = format!("{directory}/Cargo.toml");
    let finding =
        |rule: &str, message: String| Finding::new(rule, &manifest, 0, message).about(&package.name);
    let Some(layer) = layers.layer(&package.name) else {
        return vec![finding(
            "layer",
            format!("{} is not in xtask/tiers.toml: give it a tier", package.name),
        )];
    };
    let mut findings = Vec::new();
    let expected = layer.directory.clone().unwrap_or_else(|| format!("crates/{}", package.name));
    if directory != expected {
        findings.push(finding("folder", format!("{} lies in {directory}, not in {expected}", package.name)));
    }
    let text = std::fs::read_to_string(root.join(&manifest)).unwrap_or_default();
    if !takes_workspace_lints(&text) {
        findings.push(finding("lints", "write [lints] workspace = true".into()));
    }
    for dependency in &package.dependencies {
        let name = dependency.name.as_str();
        if names.contains(&name) && name != package.name {
            let objection = layers.objection(&package.name, name);
            findings.extend(objection.map(|message| finding("layer", message).about(name)));
        }
        let kept = layers.only.iter().find(|only| only.dependency == name);
        if let Some(only) = kept.filter(|only| !permits(only, &package.name, dependency.kind.as_deref())) {
            findings.push(finding("only", format!("{name} is for {}: {}", only.crates.join(", "), only.why)));
        }
    }
    findings
}

fn permits(only: &Only, package: &str, kind: Option<&str>) -> bool {
    only.crates.iter().any(|name| match name.strip_suffix("/dev") {
        Some(name) => name == package && kind == Some("dev"),
        None => name == package,
    })
}

fn takes_workspace_lints(manifest: &str) -> bool {
    let table: Option<toml::Table> = toml::from_str(manifest).ok();
    let lints = table.as_ref().and_then(|table| table.get("lints")?.get("workspace")?.as_bool());
    lints == Some(true)
}

/// Checks that `unsafe` stands only where the layers allow it.
pub fn check_sources(
    layers: &Layers,
    metadata: &Metadata,
    files: &[RustFile<'_>],
    root: &Path,
) -> Vec<Finding> {
    let roots: Vec<String> = metadata
        .members()
        .flat_map(|package| &package.targets)
        .filter(|target| {
            target.kind.iter().any(|kind| kind == "lib" || kind == "bin" || kind == "proc-macro")
        })
        .filter_map(|target| Some(target.src_path.strip_prefix(root).ok()?.to_string_lossy().into_owned()))
        .collect();
    files
        .iter()
        .filter(|file| !layers.layer(&file.crate_name).is_some_and(|layer| layer.may_be_unsafe))
        .flat_map(|file| check_safe(file, roots.iter().any(|root| root == file.path)))
        .collect()
}

fn check_safe(file: &RustFile<'_>, is_root: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    if is_root && !file.source.code.contains("#![forbid(unsafe_code)]") {
        let message = "write #![forbid(unsafe_code)] below the crate's first comment".into();
        findings.push(Finding::new("forbid-unsafe", file.path, 1, message));
    }
    for at in file.source.find("unsafe") {
        let message = "unsafe belongs in leveret-memory or leveret-os, behind a safe type".into();
        findings.push(Finding::new("unsafe", file.path, file.source.line_of(at), message));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    fn layers() -> Layers {
        let text = r#"
            [[crate]]
            name = "types"
            tier = 0
            [[crate]]
            name = "plan"
            tier = 0
            beside = ["types"]
            [[crate]]
            name = "runtime"
            tier = 3
            [[crate]]
            name = "xtask"
            tier = "dev"
            [[only]]
            dependency = "libc"
            crates = ["os", "runtime/dev"]
            why = "one place"
        "#;
        toml::from_str(text).expect("the layers of this test are well formed")
    }

    #[test]
    fn arrows_point_down() {
        let layers = layers();
        assert_eq!(layers.objection("runtime", "plan"), None);
        assert_eq!(layers.objection("plan", "types"), None);
        assert_eq!(layers.objection("xtask", "runtime"), None);
        for (from, to, word) in [
            ("plan", "runtime", "arrows point down"),
            ("types", "plan", "same tier"),
            ("runtime", "xtask", "development crate"),
            ("runtime", "stranger", "give it a tier"),
        ] {
            let message = layers.objection(from, to).expect("the arrow is refused");
            assert!(message.contains(word), "{message}");
        }
    }

    #[test]
    fn a_kept_library_is_kept() {
        let layers = layers();
        assert!(permits(&layers.only[0], "os", None));
        assert!(permits(&layers.only[0], "runtime", Some("dev")));
        assert!(!permits(&layers.only[0], "runtime", None));
        assert!(!permits(&layers.only[0], "plan", Some("dev")));
    }

    #[test]
    fn unsafe_is_found_and_forbidden_in_roots() {
        let text = "//! A crate.\nfn a() { unsafe { b() } }\n";
        let file =
            RustFile { path: "lib.rs", crate_name: String::new(), text, source: Source::new(text, false) };
        let rules: Vec<_> = check_safe(&file, true).into_iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, ["forbid-unsafe", "unsafe"]);
        let text = "//! unsafe in words only.\n#![forbid(unsafe_code)]\n";
        let file =
            RustFile { path: "lib.rs", crate_name: String::new(), text, source: Source::new(text, false) };
        assert!(check_safe(&file, true).is_empty());
    }

    #[test]
    fn lints_come_from_the_workspace() {
        assert!(takes_workspace_lints("[package]\nname = \"a\"\n[lints]\nworkspace = true\n"));
        assert!(!takes_workspace_lints("[package]\nname = \"a\"\n"));
    }
}
