//! The bans of `clippy.toml` bite: a crate that breaks each of them once is refused for each of them.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::Command;

/// Breaks every ban once.
const BREAKER: &str = r#"
    pub fn types(_: &std::collections::LinkedList<u8>) {}

    pub fn methods() {
        let begin = std::time::Instant::now();
        let _ = begin.elapsed();
        let _ = std::time::SystemTime::now();
        std::thread::sleep(std::time::Duration::ZERO);
        let _ = std::env::var("A");
        let _ = std::env::var_os("A");
        let _ = std::env::vars().count();
        unsafe { std::env::set_var("A", "B") };
        std::process::exit(0)
    }
"#;

const MANIFEST: &str =
    "[package]\nname = \"breaker\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n";

/// The paths that `clippy.toml` bans.
fn banned(text: &str) -> Vec<String> {
    let table: toml::Table = text.parse().expect("clippy.toml is TOML");
    let lists = ["disallowed-types", "disallowed-methods"]
        .map(|name| table[name].as_array().expect("a list of bans"));
    lists.into_iter().flatten().map(|ban| ban["path"].as_str().expect("a path").to_owned()).collect()
}

#[test]
fn every_ban_bites() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
    let bans = std::fs::read_to_string(root.join("clippy.toml")).expect("clippy.toml exists");
    let breaker = Path::new(env!("CARGO_TARGET_TMPDIR")).join("breaker");
    std::fs::create_dir_all(breaker.join("src")).expect("the target folder can be written");
    for (name, text) in [("Cargo.toml", MANIFEST), ("src/lib.rs", BREAKER), ("clippy.toml", bans.as_str())] {
        std::fs::write(breaker.join(name), text).expect("the target folder can be written");
    }
    let output = Command::new("cargo")
        .args(["clippy", "--offline", "--quiet", "--", "--deny", "warnings"])
        .current_dir(&breaker)
        .env("CARGO_TARGET_DIR", breaker.join("target"))
        .env_remove("CLIPPY_CONF_DIR")
        .output()
        .expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "the breaker passed:\n{said}");
    let paths = banned(&bans);
    assert!(paths.len() > 5, "clippy.toml bans next to nothing: {paths:?}");
    for path in paths {
        assert!(said.contains(&format!("`{path}`")), "the ban on {path} does not bite:\n{said}");
    }
}
