//! Tools that do not come with the pinned toolchain. Each function gives what is needed to use the tool, installing it if
//! it can be had, or the reason why it cannot.

use super::command::{program, run};
use super::{Context, Outcome};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// What the tests use of Debian.
const PACKAGES: &str = "xtask/debian-packages.txt";

/// Two steps that run at once must not install the same toolchain twice.
static INSTALLING: Mutex<()> = Mutex::new(());

/// The pinned nightly toolchain with Miri and the sources of the standard library.
pub fn nightly(context: &Context) -> Result<String, String> {
    let name = pinned(context, "xtask/nightly-version")?;
    let _installing = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let ready = |context: &Context| {
        let miri = succeeds(context, "cargo", &format!("+{name} miri --version"));
        let sources = program(context, "rustc", &format!("+{name} --print sysroot"))
            .output()
            .ok()
            .is_some_and(|output| {
                let sysroot = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
                sysroot.join("lib/rustlib/src/rust/library/Cargo.toml").exists()
            });
        miri && sources
    };
    if ready(context) {
        return Ok(name);
    }
    println!("  installing {name} with Miri and the standard library's sources");
    let arguments =
        format!("toolchain install {name} --profile minimal -c miri -c rust-src --no-self-update");
    let log = run(context, program(context, "rustup", &arguments))
        .map_err(|error| format!("{name} with miri and rust-src cannot be installed: {error}"))?;
    if ready(context) {
        Ok(name)
    } else {
        Err(format!("{name} cannot be installed: {}", last_line(&log.text)))
    }
}

/// The programs of [`PACKAGES`] that the tests use beside the toolchain; installed by apt-get where this user may.
pub fn debian(context: &Context) -> Outcome {
    let path = context.root.join(PACKAGES);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => return Outcome::Failed(format!("{PACKAGES}: {error}")),
    };
    let wanted = match packages(&text) {
        Ok(wanted) => wanted,
        Err(error) => return Outcome::Failed(error),
    };
    let missing = || -> Vec<&Package<'_>> {
        wanted.iter().filter(|package| !is_there(context, package.program)).collect()
    };
    let before = missing();
    if before.is_empty() {
        return Outcome::Passed(format!("{} programs are there", wanted.len()));
    }
    let names: Vec<&str> = before.iter().map(|package| package.name).collect();
    println!("  installing {}", names.join(", "));
    let install = format!("install --yes --quiet --no-install-recommends {}", names.join(" "));
    for arguments in ["update --quiet", &install] {
        let mut command = program(context, "apt-get", arguments);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        if let Err(error) = run(context, command) {
            println!("  apt-get: {error}");
        }
    }
    let still: Vec<String> =
        missing().iter().map(|package| format!("{} ({})", package.program, package.why)).collect();
    if still.is_empty() {
        return Outcome::Passed(format!(
            "{} programs are there, {} of them installed now",
            wanted.len(),
            names.len()
        ));
    }
    Outcome::Skipped(format!("missing: {}; as root: apt-get install {}", still.join(", "), names.join(" ")))
}

/// A program that tests use, and the Debian package that has it.
#[derive(Debug, PartialEq, Eq)]
struct Package<'t> {
    program: &'t str,
    name: &'t str,
    why: &'t str,
}

/// Lines of `program package reason`; `#` begins a comment.
fn packages(text: &str) -> Result<Vec<Package<'_>>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(number, line)| {
            let mut words = line.splitn(3, ' ');
            match (words.next(), words.next(), words.next()) {
                (Some(program), Some(name), Some(why)) => Ok(Package { program, name, why }),
                _ => Err(format!(
                    "{PACKAGES}, line {}: expected a program, its package and the reason",
                    number + 1
                )),
            }
        })
        .collect()
}

fn is_there(context: &Context, name: &str) -> bool {
    let mut command = program(context, "sh", "-c");
    command.arg(format!("command -v {name}"));
    command.output().is_ok_and(|output| output.status.success())
}

/// Whether a program with these arguments ends well.
pub fn succeeds(context: &Context, name: &str, arguments: &str) -> bool {
    program(context, name, arguments).output().is_ok_and(|output| output.status.success())
}

fn pinned(context: &Context, path: &str) -> Result<String, String> {
    let text =
        std::fs::read_to_string(context.root.join(path)).map_err(|error| format!("{path}: {error}"))?;
    Ok(text.trim().to_owned())
}

fn last_line(text: &str) -> &str {
    text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no reason given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_packages_is_well_formed() {
        let text = std::fs::read_to_string(crate::workspace::root().join(PACKAGES)).expect("the list");
        let all = packages(&text).expect("three words a line");
        assert!(all.iter().any(|package| package.program == "chromium"), "{all:?}");
        assert_eq!(
            packages("# comment\n\na b c d"),
            Ok(vec![Package { program: "a", name: "b", why: "c d" }])
        );
        assert!(packages("a b").is_err());
    }
}
