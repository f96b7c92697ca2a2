//! From a manifest's path to the job's model, as far as it can be known before a run.

use crate::failure::Failure;
use crate::files;
use leveret_manifest::{
    ERRORS_MAX, Guard, MANIFEST_BYTES_MAX, Manifest, ManifestError, NETWORK_BYTES_MAX, NetworkManifest,
};
use leveret_plan::{Costs, Job};
use leveret_protocol::assemble::assemble;
use leveret_types::Nanos;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// What a manifest may describe.
pub enum Document {
    /// A job on this host.
    Job(Box<Manifest>),
    /// A network.
    Network(Box<NetworkManifest>),
}

/// Reads a manifest of either kind.
///
/// # Errors
/// Everything that is wrong with it, placed.
pub fn document(path: &Path) -> Result<Document, Failure> {
    refuse_program(path)?;
    let bytes = files::read(path, "manifest", NETWORK_BYTES_MAX as u64)?;
    let shown = path.display().to_string();
    match std::str::from_utf8(&bytes) {
        Ok(text) if leveret_manifest::is_network(text) => {
            let manifest = leveret_manifest::parse_network(text, &shown);
            manifest
                .map(Box::new)
                .map(Document::Network)
                .map_err(|errors| wrong(&shown, "network-manifest", &errors))
        }
        _ => job_of(&bytes, &shown).map(Box::new).map(Document::Job),
    }
}

/// Reads the manifest of a job.
///
/// # Errors
/// Everything that is wrong with it, placed.
pub fn manifest(path: &Path) -> Result<Manifest, Failure> {
    refuse_program(path)?;
    let bytes = files::read(path, "manifest", MANIFEST_BYTES_MAX as u64)?;
    job_of(&bytes, &path.display().to_string())
}

/// Whoever forgets `-n` names a program where a manifest is read.
fn refuse_program(path: &Path) -> Result<(), Failure> {
    let mut begin = [0; 4];
    // Of a pipe whoever reads it first has all of it. What cannot be read is told where it is read whole.
    if !path.is_file() {
        return Ok(());
    }
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    if read.is_err() || !(begin == *b"\x7fELF" || begin.starts_with(b"#!")) {
        return Ok(());
    }
    let shown = path.display();
    Err(Failure {
        details: String::new(),
        sentence: format!("{shown} is a program, and no manifest"),
        hint: format!(
            "run it as N members: `leveret run -n N {shown}`; or name it as `command` of a [[member]] in a manifest"
        ),
    })
}

fn job_of(bytes: &[u8], shown: &str) -> Result<Manifest, Failure> {
    leveret_manifest::parse_bytes(bytes, shown).map_err(|errors| wrong(shown, "manifest", &errors))
}

/// `page` describes the keys.
fn wrong(shown: &str, page: &str, errors: &[ManifestError]) -> Failure {
    let details: Vec<_> = errors.iter().map(ToString::to_string).collect();
    let count = match errors.len() {
        1 => "1 error".to_owned(),
        count if count > ERRORS_MAX => format!("more than {ERRORS_MAX} errors"),
        count => format!("{count} errors"),
    };
    Failure {
        details: details.join("\n"),
        sentence: format!("{shown}: the manifest has {count}"),
        hint: format!("mend the places above; docs/{page}.md describes every key"),
    }
}

/// The model that the manifest alone declares, planned with `guard` where the manifest leaves it to be measured.
///
/// # Errors
/// What the manifest leaves to the code of the members.
pub fn job(manifest: &Manifest, path: &Path, guard: Option<Nanos>) -> Result<Job, Failure> {
    let assembled = assemble(&manifest.declaration, &[], manifest.costs.costs(guard));
    assembled.map(|assembled| assembled.job).map_err(|mismatches| {
        let shown = path.display();
        let details: Vec<_> = mismatches.iter().map(|mismatch| format!("{shown}: {mismatch}")).collect();
        Failure {
            details: details.join("\n"),
            sentence: format!("{shown}: the manifest alone does not say enough to plan the job"),
            hint: "planning before a run sees the manifest only: declare there what the members declare in code, \
                   or use `leveret run`"
                .to_owned(),
        }
    })
}

/// A line that says which guard is assumed, when the manifest leaves it to be measured.
pub fn guard_note(manifest: &Manifest) -> Option<String> {
    (manifest.costs.guard == Guard::Measured).then(|| {
        format!(
            "The guard is measured when the job runs; {} is assumed here (state one: `guard = \"...\"` in [host]).",
            Costs::default().guard
        )
    })
}
