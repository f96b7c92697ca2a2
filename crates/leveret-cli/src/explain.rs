//! `leveret explain`.

use crate::arguments::{ExplainArguments, Format};
use crate::check::{self, Shown};
use crate::failure::{EXIT_NO, Failure};
use crate::load::Document;
use crate::network::Sought;
use crate::output::{self, Paint};
use crate::{files, load, network, system};
use leveret_manifest::NetworkManifest;
use leveret_plan::checker::{Violation, check_certificate};
use leveret_plan::network::{Certificate, NetworkRefusal, Traffic, advice, certificate};
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// Remedies that are looked for.
const REMEDIES_MAX: usize = 24;
/// Lines of an argument that are printed.
const LINES_MAX: usize = 40;

/// Says at length why a manifest is refused, and what would fit.
///
/// # Errors
/// When the manifest has errors, or the certificate cannot be written.
pub fn execute(arguments: &ExplainArguments) -> Result<ExitCode, Failure> {
    match load::document(&arguments.manifest)? {
        Document::Network(manifest) => match &manifest.system {
            Some(system) => system::explain(arguments, system, (REMEDIES_MAX, LINES_MAX)),
            None => network(arguments, &manifest),
        },
        Document::Job(_) if arguments.certificate.is_some() => Err(Failure::new(
            "certificates are of networks; the refusal of a job names its proof itself",
            "leave --certificate out",
        )),
        Document::Job(manifest) => {
            let job = load::job(&manifest, &arguments.manifest, None)?;
            check::show(Shown { manifest: &manifest, job: &job, lessons: None }, arguments.format)
        }
    }
}

fn network(arguments: &ExplainArguments, manifest: &NetworkManifest) -> Result<ExitCode, Failure> {
    let traffic = &manifest.traffic;
    let mut sought = Sought::new(arguments.search);
    sought.effort.steps = arguments.steps;
    let refusal = match network::accepted(traffic, sought) {
        Ok(_) => {
            let word = Paint::for_stdout().green("admitted");
            output::print(&format!(
                "{word}: network \"{}\"; there is nothing to explain. `leveret plan` shows its plan.\n",
                manifest.name
            ))?;
            return Ok(ExitCode::SUCCESS);
        }
        Err(refusal) => refusal,
    };
    let shown = certificate(traffic, &refusal);
    if let Some(shown) = &shown {
        // Nobody has seen this; should the planner be wrong, it is not told.
        check_certificate(shown, traffic).map_err(unfounded)?;
    }
    if let Some(path) = &arguments.certificate {
        write_certificate(path, shown.as_ref())?;
    }
    let words = advice(traffic, &refusal, REMEDIES_MAX);
    match arguments.format {
        Format::Json => output::print(&output::json(&Explanation::new(manifest, &refusal, &words))?)?,
        Format::Table => {
            let text = network::refused(manifest, &refusal, &words, Paint::for_stdout());
            let argument = shown.map(|shown| argument(&shown, traffic, LINES_MAX)).unwrap_or_default();
            output::print(&(text + &argument))?;
        }
    }
    Ok(ExitCode::from(EXIT_NO))
}

/// A certificate of ours that the checker does not accept.
pub fn unfounded(violation: Violation) -> Failure {
    Failure::new(format!("the planner's own argument does not hold: {violation}"), "please report it")
}

/// Writes a certificate.
///
/// # Errors
/// When there is none, or it cannot be written.
pub fn write_certificate(path: &Path, certificate: Option<&impl Serialize>) -> Result<(), Failure> {
    let Some(certificate) = certificate else {
        let sentence = "nothing is proven here that a certificate could show";
        return Err(Failure::new(sentence, "search longer: --steps"));
    };
    files::write(path, format!("{}\n", output::json(certificate)?).as_bytes())
}

/// What is printed of an argument, where a certificate is one.
pub fn argument(certificate: &Certificate, traffic: &Traffic, lines: usize) -> String {
    match certificate {
        Certificate::Argument(proof) => {
            format!("Why, each step of which the checker has repeated:\n{}", proof.render(traffic, lines))
        }
        _ => String::new(),
    }
}

/// The answer for programs.
#[derive(Serialize)]
struct Explanation<'a> {
    network: &'a str,
    infeasible: bool,
    reason: String,
    streams: Vec<&'a str>,
    remedies: &'a [String],
}

impl<'a> Explanation<'a> {
    fn new(manifest: &'a NetworkManifest, refusal: &NetworkRefusal, remedies: &'a [String]) -> Self {
        let traffic = &manifest.traffic;
        Self {
            network: &manifest.name,
            infeasible: refusal.is_proven(),
            reason: refusal.reason(traffic),
            streams: refusal.streams().iter().map(|stream| traffic.name(*stream)).collect(),
            remedies,
        }
    }
}
