//! For how long each target was run, and on which sources.

use crate::workspace;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const PATH: &str = "fuzz/record.toml";
const HEADING: &str =
    "# The last long run of each fuzz target without a finding. Written by `cargo xtask fuzz`.\n\n";

/// The whole record.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// By the target's name.
    #[serde(default)]
    pub target: BTreeMap<String, Entry>,
}

/// One target's last long run, which found nothing.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// How long it ran.
    pub seconds: u32,
    /// How long all runs took whose corpus it goes on with, its own included.
    pub seconds_in_all: u32,
    /// Inputs that were executed.
    pub executions: u64,
    /// Inputs that were kept for the repository.
    pub inputs: u64,
    /// Digest of the sources that it reaches.
    pub sources: String,
}

impl Record {
    /// Reads it; one that does not exist is empty.
    pub fn read(root: &Path) -> Result<Self, String> {
        let path = root.join(PATH);
        if path.exists() { workspace::read_toml(&path) } else { Ok(Self::default()) }
    }

    /// Writes it.
    pub fn write(&self, root: &Path) -> Result<(), String> {
        let text = toml::to_string(self).map_err(|error| error.to_string())?;
        std::fs::write(root.join(PATH), format!("{HEADING}{text}"))
            .map_err(|error| format!("{PATH}: {error}"))
    }
}

/// Digest of all that a target runs: its own file, the files that it shares, and the workspace's crates that these name, with those below them.
pub fn sources(root: &Path, target: &str) -> Result<String, String> {
    let folder = Path::new("fuzz/fuzz_targets");
    let mut own = BTreeSet::from([folder.join(format!("{target}.rs"))]);
    let mut text = read(root, &own)?;
    for shared in ["changes", "networks", "pictures", "promises"] {
        if text.contains(&format!("{shared}::")) || text.contains(&format!("crate::{shared}")) {
            own.insert(folder.join(shared).join("mod.rs"));
            text = read(root, &own)?;
        }
    }
    let metadata = workspace::metadata(root, &["--no-deps"])?;
    let mut folders: BTreeMap<String, (PathBuf, Vec<String>)> = BTreeMap::new();
    for package in metadata.members() {
        let folder = package.manifest_path.parent().and_then(|path| path.strip_prefix(root).ok());
        let Some(folder) = folder else { continue };
        let below = package.dependencies.iter().filter(|one| one.path.is_some() && one.kind.is_none());
        let below = below.map(|one| one.name.clone()).collect();
        folders.insert(package.name.clone(), (folder.to_owned(), below));
    }
    let named = |name: &str| {
        text.contains(&name.replace('-', "_")) || name == "leveret-capi" && text.contains("mpirt")
    };
    let mut waiting: Vec<String> = folders.keys().filter(|name| named(name)).cloned().collect();
    let mut reached = BTreeSet::new();
    while let Some(name) = waiting.pop() {
        if let Some((_, below)) = folders.get(&name)
            && reached.insert(name)
        {
            waiting.extend(below.iter().cloned());
        }
    }
    let crates: Vec<PathBuf> = reached.iter().map(|name| folders[name].0.join("src")).collect();
    let mut digest = Digest::new();
    for file in workspace::tracked_files(root)? {
        let path = Path::new(&file.path);
        let calls = target == "c_calls" && path.starts_with("fuzz/c");
        if calls || own.contains(path) || crates.iter().any(|folder| path.starts_with(folder)) {
            digest.take(file.path.as_bytes());
            digest.take(&file.bytes);
        }
    }
    Ok(format!("{:016x}", digest.0))
}

fn read(root: &Path, files: &BTreeSet<PathBuf>) -> Result<String, String> {
    let one = |path: &PathBuf| {
        std::fs::read_to_string(root.join(path)).map_err(|error| format!("{}: {error}", path.display()))
    };
    files.iter().map(one).collect()
}

/// FNV-1a, 64 bits: it only has to notice that something was edited.
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    fn take(&mut self, bytes: &[u8]) {
        let length = (bytes.len() as u64).to_le_bytes();
        for byte in length.iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_reach_different_sources() {
        let root = workspace::root();
        let of = |target| sources(&root, target).expect("the target is there");
        let digests = BTreeSet::from(["quantity", "record", "session", "c_calls"].map(of));
        assert_eq!(digests.len(), 4);
        assert_eq!(of("quantity"), of("quantity"));
        assert!(sources(&root, "no_such_target").is_err());
    }

    #[test]
    fn what_is_written_is_read() {
        let entry =
            Entry { seconds: 3600, seconds_in_all: 3600, executions: 5, inputs: 2, sources: "00ff".into() };
        let record = Record { target: BTreeMap::from([("record".to_owned(), entry)]) };
        let text = toml::to_string(&record).expect("plain values");
        let again: Record = toml::from_str(&text).expect("its own text");
        assert_eq!(again.target["record"].executions, 5);
        assert!(toml::from_str::<Record>("[target.a]\nsecond = 1").is_err());
    }
}
