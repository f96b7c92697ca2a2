//! `cargo xtask deny`: licences, sources and double versions of everything we depend on, without a network.

mod expression;

use crate::workspace::{self, Package};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The one registry that packages may come from, as cargo names it.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The part of `deny.toml` that this check reads; `cargo deny` reads the rest too.
#[derive(Deserialize)]
struct Policy {
    licenses: Licences,
    bans: Bans,
}

#[derive(Deserialize)]
struct Licences {
    allow: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Bans {
    multiple_versions: Level,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Level {
    Allow,
    Warn,
    Deny,
}

/// Checks every package that a Linux build uses. Gives a summary, or the findings.
pub fn run(root: &Path) -> Result<String, Vec<String>> {
    let failed = |error: String| vec![error];
    let policy: Policy = workspace::read_toml(&root.join("deny.toml")).map_err(failed)?;
    let target = "--filter-platform=x86_64-unknown-linux-gnu";
    let metadata = workspace::metadata(root, &["--locked", "--offline", target])
        .or_else(|_| workspace::metadata(root, &["--locked", target]))
        .map_err(failed)?;
    let foreign: Vec<&Package> = metadata
        .packages
        .iter()
        .filter(|package| !metadata.workspace_members.contains(&package.id))
        .collect();
    let mut findings: Vec<String> =
        foreign.iter().filter_map(|package| objection(package, &policy.licenses.allow)).collect();
    let doubles = double_versions(&foreign);
    match policy.bans.multiple_versions {
        Level::Allow => {}
        Level::Warn => doubles.iter().for_each(|double| println!("  note: {double}")),
        Level::Deny => findings.extend(doubles.iter().cloned()),
    }
    if findings.is_empty() {
        Ok(format!("{} packages, {} in more than one version", foreign.len(), doubles.len()))
    } else {
        Err(findings)
    }
}

/// Why a package may not come in; none if it may.
fn objection(package: &Package, allowed: &BTreeSet<String>) -> Option<String> {
    let name = format!("{} {}", package.name, package.version);
    if package.source.as_deref() != Some(REGISTRY) {
        let source = package.source.as_deref().unwrap_or("a path outside the workspace");
        return Some(format!("{name} comes from {source}, not from the registry"));
    }
    let Some(licence) = &package.license else {
        return Some(format!("{name} states no licence"));
    };
    match expression::satisfied(licence, allowed) {
        Ok(true) => None,
        Ok(false) => Some(format!("{name} is under '{licence}', which deny.toml does not allow")),
        Err(error) => Some(format!("{name}: licence '{licence}' is not understood: {error}")),
    }
}

/// Packages present in more than one version.
fn double_versions(packages: &[&Package]) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().insert(&package.version);
    }
    versions
        .into_iter()
        .filter(|(_, versions)| versions.len() > 1)
        .map(|(name, versions)| {
            format!("{name} in versions {}", versions.into_iter().collect::<Vec<_>>().join(", "))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, version: &str, license: Option<&str>, source: Option<&str>) -> Package {
        Package {
            name: name.into(),
            version: version.into(),
            id: format!("{name}@{version}"),
            license: license.map(str::to_owned),
            source: source.map(str::to_owned),
            manifest_path: "Cargo.toml".into(),
            dependencies: Vec::new(),
            targets: Vec::new(),
        }
    }

    #[test]
    fn licence_and_source_are_both_asked_for() {
        let allowed = BTreeSet::from(["MIT".to_owned()]);
        assert_eq!(objection(&package("a", "1.0.0", Some("MIT"), Some(REGISTRY)), &allowed), None);
        for (license, source, word) in [
            (Some("GPL-3.0"), Some(REGISTRY), "does not allow"),
            (Some("MIT ("), Some(REGISTRY), "not understood"),
            (None, Some(REGISTRY), "states no licence"),
            (Some("MIT"), Some("git+https://example.invalid/a"), "comes from"),
            (Some("MIT"), None, "comes from"),
        ] {
            let message =
                objection(&package("a", "1.0.0", license, source), &allowed).expect("it is refused");
            assert!(message.contains(word), "{message}");
        }
    }

    #[test]
    fn double_versions_are_named() {
        let packages = [("a", "1.0.0"), ("a", "2.0.0"), ("b", "1.0.0")]
            .map(|(name, version)| package(name, version, None, None));
        let found = double_versions(&packages.iter().collect::<Vec<_>>());
        assert_eq!(found, ["a in versions 1.0.0, 2.0.0"]);
    }
}
