//! Where the Python with the tsnkit collection and the program z3 lie.

use crate::BenchError;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names a Python that has tsnkit; where it is not given, the one that `make bench-plan` made is taken.
pub const PYTHON_VARIABLE: &str = "LEVERET_TSNKIT_PYTHON";

/// What `make bench-plan` makes, from the root of the sources.
const MADE: &str = "target/peers/tsnkit/bin/python";

/// A Python that has tsnkit, and what it says of its version.
pub fn python() -> Result<(PathBuf, String), BenchError> {
    let named = std::env::var_os(PYTHON_VARIABLE).map(PathBuf::from);
    let made = || Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(MADE);
    let python = named.unwrap_or_else(made);
    let script = "import importlib.metadata as m, tsnkit.core; print('tsnkit', m.version('tsnkit'))";
    let said = said(&python, &["-c", script]).map_err(|reason| missing("tsnkit", &reason))?;
    Ok((python, said))
}

/// The program z3: beside that Python, or in the search path.
pub fn z3() -> Result<(PathBuf, String), BenchError> {
    let beside = python().ok().and_then(|(python, _)| Some(python.parent()?.join("z3")));
    let program = beside.filter(|program| program.is_file()).unwrap_or_else(|| PathBuf::from("z3"));
    let said = said(&program, &["--version"]).map_err(|reason| missing("z3", &reason))?;
    Ok((program, said))
}

/// The program `leveret`, built beside this one.
pub fn leveret() -> Result<PathBuf, BenchError> {
    let program = std::env::current_exe()?.with_file_name("leveret");
    if program.is_file() {
        return Ok(program);
    }
    let reason = format!("{} is not built; cargo build --profile dist -p leveret-cli", program.display());
    Err(BenchError::Missing { subject: "leveret plan".to_owned(), reason })
}

fn missing(subject: &str, reason: &str) -> BenchError {
    let reason = format!(
        "{reason}; `make bench-plan` installs it under target/peers, or {PYTHON_VARIABLE} names a Python that has it"
    );
    BenchError::Missing { subject: subject.to_owned(), reason }
}

/// The first line that a program prints.
fn said(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{} does not start: {error}", program.display()))?;
    let first = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().next_back().unwrap_or("").to_owned();
    match output.status.success() {
        true => Ok(first(&output.stdout)),
        false => Err(format!("{}: {}", program.display(), first(&output.stderr))),
    }
}
