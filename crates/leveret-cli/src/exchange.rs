//! `leveret import` and `leveret export`.

use crate::arguments::{ExportArguments, ExportFormat, ImportArguments, ImportFormat};
use crate::failure::{EXIT_NO, Failure};
use crate::load::Document;
use crate::{files, load, network, output};
use leveret_exchange::tsnkit;
use leveret_manifest::{NETWORK_BYTES_MAX, NetworkManifest};
use leveret_plan::checker::check_network;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Makes the manifest of a network.
///
/// # Errors
/// When the files cannot be read, or the manifest not be written.
pub fn import(arguments: &ImportArguments) -> Result<ExitCode, Failure> {
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
    let manifest = NetworkManifest { name, traffic, system: None }.render();
    match &arguments.output {
        Some(path) => files::write(path, manifest.as_bytes())?,
        None => output::print(&manifest)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn text(path: &Path) -> Result<String, Failure> {
    let bytes = files::read(path, "file", NETWORK_BYTES_MAX as u64)?;
    String::from_utf8(bytes).map_err(|error| {
        let sentence = format!("{}: the file is not UTF-8 text: {error}", path.display());
        Failure::new(sentence, "see that it is a file of comma-separated values")
    })
}

/// Writes a plan of a network in another tool's files, once the checker has accepted it.
///
/// # Errors
/// When the plan or its manifest cannot be read, or a file not be written.
pub fn export(arguments: &ExportArguments) -> Result<ExitCode, Failure> {
    let ExportFormat::Tsnkit = arguments.to;
    let Document::Network(manifest) = load::document(&arguments.manifest)? else {
        let sentence = format!("{}: this is the manifest of a job on one host", arguments.manifest.display());
        return Err(Failure::new(sentence, "plans of networks can be exported; docs/network-manifest.md"));
    };
    network::without_tasks(&arguments.manifest, &manifest)?;
    let plan = network::read(&arguments.plan)?;
    if let Err(violation) = check_network(&plan, &manifest.traffic) {
        output::print(&network::not_valid(&arguments.plan, &arguments.manifest, &violation))?;
        return Ok(ExitCode::from(EXIT_NO));
    }
    let schedule = tsnkit::write(&manifest.traffic, &plan);
    for (end, content) in [
        ("GCL", &schedule.gates),
        ("OFFSET", &schedule.offsets),
        ("QUEUE", &schedule.queues),
        ("ROUTE", &schedule.routes),
    ] {
        let mut path = arguments.output.clone().into_os_string();
        path.push(format!("-{end}.csv"));
        files::write(&PathBuf::from(path), content.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}
