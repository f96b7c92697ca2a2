//! Every bad manifest of `tests/manifests/` is refused with exactly the text that stands beside it.
//!
//! `BLESS=1 cargo test -p leveret-manifest --test corpus` writes the texts anew; read the difference before keeping it.

use std::path::{Path, PathBuf};

/// A corpus that lost its files must not pass.
const CASES_MIN: usize = 40;

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/manifests");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

/// Whether the texts are to be written anew.
#[allow(
    clippy::disallowed_methods,
    reason = "whoever changes a text blesses it by a variable of the test run"
)]
fn is_blessing() -> bool {
    std::env::var_os("BLESS").is_some()
}

#[test]
fn each_bad_manifest_gets_its_message() {
    let files = corpus();
    assert!(files.len() >= CASES_MIN, "only {} cases in the corpus", files.len());
    let mut wrong = Vec::new();
    for file in &files {
        let name = file.file_name().unwrap().to_string_lossy();
        let errors = match leveret_manifest::parse_bytes(&std::fs::read(file).unwrap(), &name) {
            Ok(_) => panic!("{name} was accepted"),
            Err(errors) => errors,
        };
        let found: String = errors.iter().map(|error| format!("{error}\n")).collect();
        let expected_file = file.with_extension("expected");
        if is_blessing() {
            std::fs::write(&expected_file, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&expected_file).unwrap_or_default();
        if found != expected {
            wrong.push(format!("--- {name}: expected\n{expected}--- found\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_expected_text_has_its_manifest() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/manifests");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "expected") {
            assert!(path.with_extension("toml").exists(), "{} belongs to no manifest", path.display());
        }
    }
}
