//! `leveret import`.

use crate::arguments::{ImportArguments, ImportFormat};
use crate::failure::Failure;
use crate::{files, network, output};
use leveret_exchange::tsnkit;
use leveret_manifest::{NETWORK_BYTES_MAX, NetworkManifest};
use std::path::Path;
use std::process::ExitCode;

/// Makes the manifest of a network.
///
/// # Errors
/// When the files cannot be read, or the manifest not be written.
pub fn execute(arguments: &ImportArguments) -> Result<ExitCode, Failure> {
    let ImportFormat::Tsnkit = arguments.from;
    let (topology, streams) = (text(&arguments.topology)?, text(&arguments.streams)?);
    let shown = |path: &Path| path.display().to_string();
    let (topology_name, streams_name) = (shown(&arguments.topology), shown(&arguments.streams));
    let traffic = tsnkit::read((&topology_name, &topology), (&streams_name, &streams)).map_err(|error| {
        let hint = "an instance of the collection is a topology and its streams, in this order";
        Failure::new(error.to_string(), hint)
    })?;
    let name =
        arguments.streams.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let name: String =
        name.chars().filter(|c| c.is_ascii_alphanumeric() || "._-".contains(*c)).take(64).collect();
    let name = name.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let name = if name.is_empty() { "network".to_owned() } else { name.to_owned() };
    let manifest = NetworkManifest { name, traffic };
    let text = manifest.render();
    match &arguments.output {
        Some(path) => files::write(path, text.as_bytes())?,
        None => output::print(&text)?,
    }
    let to = arguments.output.as_deref().map_or_else(|| "standard output".to_owned(), shown);
    output::note(&format!("written: {to}: {}", network::described(&manifest)));
    Ok(ExitCode::SUCCESS)
}

fn text(path: &Path) -> Result<String, Failure> {
    let bytes = files::read(path, "file", NETWORK_BYTES_MAX as u64)?;
    String::from_utf8(bytes).map_err(|error| {
        let sentence = format!("{}: the file is not UTF-8 text: {error}", path.display());
        Failure::new(sentence, "see that it is a file of comma-separated values")
    })
}
