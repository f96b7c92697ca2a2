//! `leveret diff`.

use crate::arguments::{DiffArguments, Format};
use crate::failure::{EXIT_NO, Failure};
use crate::load::{self, Document};
use crate::{network, output};
use leveret_manifest::NetworkManifest;
use leveret_plan::checker::check_network;
use leveret_plan::network::{NetworkPlan, diff_networks};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Says what differs between two plans.
///
/// # Errors
/// When a file cannot be read, or a plan is not one of its manifest.
pub fn execute(arguments: &DiffArguments) -> Result<ExitCode, Failure> {
    let (one, two) = (pair(&arguments.first)?, pair(&arguments.second)?);
    let diff = diff_networks((&one.0.traffic, &one.1), (&two.0.traffic, &two.1));
    match arguments.format {
        Format::Json => output::print(&output::json(&diff)?)?,
        Format::Table => output::print(&diff.render())?,
    }
    Ok(if diff.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_NO) })
}

/// A plan with its manifest, which it keeps.
///
/// # Errors
/// When a file cannot be read, or the plan is not one of the manifest.
pub fn pair(files: &[PathBuf]) -> Result<(Box<NetworkManifest>, NetworkPlan), Failure> {
    let [plan, manifest] = files else {
        return Err(Failure::new("a plan and its manifest are needed", "name both: PLAN.json JOB.toml"));
    };
    let of = network_of(manifest)?;
    let read = network::read(plan)?;
    check_network(&read, &of.traffic).map_err(|violation| {
        let (plan, manifest) = (plan.display(), manifest.display());
        let sentence = format!("{plan} does not fit {manifest}: {violation}");
        Failure::new(sentence, "name each plan with the manifest that it was made of")
    })?;
    Ok((of, read))
}

fn network_of(path: &Path) -> Result<Box<NetworkManifest>, Failure> {
    match load::document(path)? {
        Document::Network(manifest) => Ok(manifest),
        Document::Job(_) => Err(Failure::new(
            format!("{}: this is the manifest of a job on one host", path.display()),
            "plans of networks are compared; `leveret plan --format json` and any text comparison do for a job",
        )),
    }
}
