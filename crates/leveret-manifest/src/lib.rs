//! The manifest of a job (`job.toml`): what is started, on which processors, and what is declared of the model.
//!
//! [`parse`] turns text into a [`Manifest`] or into the list of everything that is wrong with it, each error with
//! its place in the file and its remedy. It is pure: it opens no file and never panics, whatever it is given. The
//! format is described in `docs/manifest.md`.
#![forbid(unsafe_code)]

mod error;
mod model;
mod names;
mod network;
mod references;
mod schema;
mod section;
mod sections;
mod source;
mod syntax;
mod values;

pub use error::{Excerpt, ManifestError, RelatedPlace};
pub use model::{CostChoice, Guard, Launch, Manifest, RECORD_LIMITS};
pub use network::{NETWORK_BYTES_MAX, NetworkManifest, is_network, parse_network};

use source::Source;

/// Most bytes of a manifest. A job at every limit of `leveret_types` stays well below it.
pub const MANIFEST_BYTES_MAX: usize = 4 << 20;
/// Most errors that are reported one by one; the last one then says how many more there are.
pub const ERRORS_MAX: usize = 1000;

/// Reads a manifest.
///
/// `path` is what the errors name as the file; nothing is opened.
///
/// # Errors
/// Everything that is wrong, in the order of the file.
pub fn parse(text: &str, path: &str) -> Result<Manifest, Vec<ManifestError>> {
    let source = Source::new(text, path);
    let mut problems = source::Problems::new(&source);
    let manifest = if text.len() > MANIFEST_BYTES_MAX {
        problems.add(
            0..0,
            format!("the manifest has {} bytes; the most is {MANIFEST_BYTES_MAX}", text.len()),
            "declare part of the job in the code of its members",
        );
        None
    } else {
        syntax::read(text, &mut problems).and_then(|table| sections::manifest(&table, &mut problems))
    };
    match (manifest, problems.into_errors()) {
        (Some(manifest), errors) if errors.is_empty() => Ok(manifest),
        (_, errors) => Err(errors),
    }
}

/// What a program in the system's format begins with.
const PROGRAM_MAGIC: &[u8] = b"\x7fELF";

/// As [`parse`], for bytes of unknown origin, such as the content of a file.
///
/// # Errors
/// As [`parse`]; bytes that are not UTF-8 are one error at the first such byte.
pub fn parse_bytes(bytes: &[u8], path: &str) -> Result<Manifest, Vec<ManifestError>> {
    if bytes.starts_with(PROGRAM_MAGIC) {
        let source = Source::new("", path);
        let mut problems = source::Problems::new(&source);
        problems.add(
            0..0,
            "this is a program, not a manifest".to_owned(),
            "say how many members run it: `leveret run -n N PROGRAM`",
        );
        return Err(problems.into_errors());
    }
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return parse(text, path),
        Err(error) => error,
    };
    let (valid, rest) = bytes.split_at(error.valid_up_to());
    let text = String::from_utf8_lossy(valid);
    let source = Source::new(&text, path);
    let mut problems = source::Problems::new(&source);
    let byte = rest.first().copied().unwrap_or_default();
    problems.add(
        text.len()..text.len(),
        format!("the file is not UTF-8 text: the byte 0x{byte:02x} here has no meaning"),
        "save the file as UTF-8",
    );
    Err(problems.into_errors())
}
