//! The program as its users meet it: exit codes, messages, files.

mod admission;
mod conflicts;
mod documents;
mod errors;
mod network_changes;
mod networks;
mod reference;
mod runs;
mod seeds;
mod system_refusals;
mod systems;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program, in the root of the repository, without the caller's taste in colours.
fn leveret(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_leveret"))
        .args(arguments)
        .current_dir(root())
        .env_remove("NO_COLOR")
        .output()
        .expect("the program starts")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Standard output, standard error and exit code.
fn outcome(arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = leveret(arguments);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program writes UTF-8");
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// Whether the expected texts are to be written anew.
#[allow(
    clippy::disallowed_methods,
    reason = "whoever changes a text blesses it by a variable of the test run"
)]
fn is_blessing() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// A file's path as an argument.
fn shown(path: &Path) -> &str {
    path.to_str().expect("temporary paths are UTF-8")
}
