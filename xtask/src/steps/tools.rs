//! Tools that do not come with the pinned toolchain. Each function gives what is needed to use the tool, installing it if
//! it can be had, or the reason why it cannot.

use super::Context;
use super::command::{program, run};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

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
