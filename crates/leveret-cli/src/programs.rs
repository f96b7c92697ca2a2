//! Where a member's program lies.

use crate::failure::Failure;
use std::path::{Path, PathBuf};

/// Finds `program`: with a slash relative to `base`, else in `PATH`, beside this binary, or in its
/// `examples/` folder: what a user builds goes before the examples that are built with this program.
///
/// # Errors
/// When it is nowhere, with the places that were looked at.
#[allow(clippy::disallowed_methods, reason = "the command line may look into PATH")]
pub fn find(program: &str, (base, manifest): (&Path, &Path), member: &str) -> Result<PathBuf, Failure> {
    let candidates: Vec<PathBuf> = if program.contains('/') {
        vec![base.join(program)]
    } else {
        let own = std::env::current_exe().ok();
        let own = own.as_deref().and_then(Path::parent);
        let beside =
            own.into_iter().flat_map(|folder| [folder.join(program), folder.join("examples").join(program)]);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let named = std::env::split_paths(&path).map(|folder| folder.join(program));
        named.chain(beside).collect()
    };
    if let Some(found) = candidates.iter().find(|candidate| candidate.is_file()) {
        return Ok(std::path::absolute(found).unwrap_or_else(|_| found.clone()));
    }
    let of_path = if program.contains('/') { 0 } else { candidates.len().saturating_sub(2) };
    let near: Vec<_> =
        candidates[of_path..].iter().map(|candidate| candidate.display().to_string()).collect();
    Err(Failure::new(
        format!("{}: the program \"{program}\" of member \"{member}\" is not found", manifest.display()),
        format!(
            "build it or name it with a path; looked for {}{}",
            if of_path > 0 { "it in PATH, then " } else { "" },
            near.join(" and "),
        ),
    ))
}
