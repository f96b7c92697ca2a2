//! What cargo and git say about this workspace.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The part of `cargo metadata` that the checks read.
#[derive(Deserialize)]
pub struct Metadata {
    /// Where builds go.
    pub target_directory: PathBuf,
    /// All packages: the members, and with dependencies asked for, those too.
    pub packages: Vec<Package>,
    /// Identifiers of the workspace's own packages.
    pub workspace_members: Vec<String>,
}

/// One package.
#[derive(Deserialize)]
pub struct Package {
    /// Name.
    pub name: String,
    /// Version.
    pub version: String,
    /// Cargo's identifier.
    pub id: String,
    /// SPDX expression, if stated.
    pub license: Option<String>,
    /// Where it came from; none for a path.
    pub source: Option<String>,
    /// Its `Cargo.toml`.
    pub manifest_path: PathBuf,
    /// Declared dependencies.
    pub dependencies: Vec<Dependency>,
    /// Library, binaries, tests.
    pub targets: Vec<Target>,
}

/// One declared dependency.
#[derive(Deserialize)]
pub struct Dependency {
    /// Name of the package depended on.
    pub name: String,
    /// `None` for a normal one, else `dev` or `build`.
    pub kind: Option<String>,
    /// Set for a dependency inside the workspace.
    pub path: Option<PathBuf>,
}

/// One thing that a package builds.
#[derive(Deserialize)]
pub struct Target {
    /// `lib`, `bin`, `test`, `example`, ...
    pub kind: Vec<String>,
    /// Root source file.
    pub src_path: PathBuf,
}

impl Metadata {
    /// The workspace's own packages.
    pub fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }
}

/// A file that git tracks, or would if it were added.
pub struct TrackedFile {
    /// Path from the root of the repository, with forward slashes.
    pub path: String,
    /// The owner may execute it.
    pub executable: bool,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl TrackedFile {
    /// The file's text; none if it is binary.
    pub fn text(&self) -> Option<&str> {
        if self.bytes.contains(&0) { None } else { std::str::from_utf8(&self.bytes).ok() }
    }
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(1).map_or_else(PathBuf::new, Path::to_path_buf)
}

/// Asks cargo. `arguments` follow `cargo metadata --format-version 1`.
pub fn metadata(root: &Path, arguments: &[&str]) -> Result<Metadata, String> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1"])
        .args(arguments)
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo metadata could not start: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata is not understood: {error}"))
}

/// Every tracked file, and every new one that git does not ignore.
pub fn tracked_files(root: &Path) -> Result<Vec<TrackedFile>, String> {
    use std::os::unix::fs::PermissionsExt;
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git ls-files could not start: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "git ls-files failed (tidy works in a git checkout): {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    let mut files = BTreeMap::new();
    for path in String::from_utf8_lossy(&output.stdout).split_terminator('\0') {
        let full = root.join(path);
        // A file deleted but not yet committed is still listed; a link is checked where it points.
        let Ok(about) = std::fs::symlink_metadata(&full) else { continue };
        if !about.is_file() {
            continue;
        }
        let bytes = std::fs::read(&full).map_err(|error| format!("{path}: {error}"))?;
        let executable = about.permissions().mode() & 0o100 != 0;
        files.insert(path.to_owned(), TrackedFile { path: path.to_owned(), executable, bytes });
    }
    Ok(files.into_values().collect())
}

/// Reads a TOML file of the repository.
pub fn read_toml<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}
