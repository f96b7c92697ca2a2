//! `leveret explain`.

use crate::arguments::{ExplainArguments, Format, SearchArguments};
use crate::check::{self, Shown};
use crate::failure::{EXIT_NO, Failure};
use crate::load::Document;
use crate::network::Sought;
use crate::output::{self, Paint};
use crate::refusal::{self, Refused};
use crate::{files, load, network, system};
use leveret_manifest::NetworkManifest;
use leveret_plan::checker::{Violation, check_certificate};
use leveret_plan::network::{Certificate, NetworkExplanation, NetworkRefusal, Traffic, certificate};
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// How far a search may go where nothing is said of it: who asks why has time.
const STEPS: u64 = 100_000_000;
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

/// How far a plan is sought.
pub fn sought(arguments: &ExplainArguments) -> Sought {
    let steps = Some(arguments.search.steps.unwrap_or(STEPS));
    Sought::new(SearchArguments { steps, ..arguments.search })
}

fn network(arguments: &ExplainArguments, manifest: &NetworkManifest) -> Result<ExitCode, Failure> {
    let traffic = &manifest.traffic;
    let refusal = match network::accepted(traffic, sought(arguments)) {
        Ok(_) => {
            match arguments.format {
                Format::Json => output::print(&output::json(&Explanation::new(manifest, None))?)?,
                Format::Table => {
                    let word = Paint::for_stdout().green("admitted");
                    output::print(&format!(
                        "{word}: network \"{}\"; there is nothing to explain. `leveret plan` shows its plan.\n",
                        manifest.name
                    ))?;
                }
            }
            return Ok(ExitCode::SUCCESS);
        }
        Err(refusal) => refusal,
    };
    let told = refusal::explained(manifest, refusal, sought(arguments), REMEDIES_MAX);
    let first = told.conflicts.first().map(|one| &one.refusal);
    let shown = first.and_then(|refusal| certificate(traffic, refusal));
    if let Some(shown) = &shown {
        // Nobody has seen this; should the planner be wrong, it is not told.
        check_certificate(shown, traffic).map_err(unfounded)?;
    }
    if let (Some(path), Some(shown)) = (&arguments.certificate, &shown) {
        write_certificate(path, shown)?;
    }
    let without = arguments.certificate.is_some() && shown.is_none();
    match arguments.format {
        Format::Json => output::print(&output::json(&Explanation::new(manifest, Some(&told)))?)?,
        Format::Table => {
            let text = refusal::render(manifest, &told, Paint::for_stdout());
            let argument = shown.map(|shown| argument(&shown, traffic, LINES_MAX)).unwrap_or_default();
            output::print(&(text + &argument))?;
        }
    }
    if without {
        return Err(no_certificate(match first {
            Some(NetworkRefusal::NotFound { .. }) => Uncertified::NotFound,
            Some(NetworkRefusal::Late(_)) => Uncertified::Promise,
            _ => Uncertified::Declaration,
        }));
    }
    Ok(ExitCode::from(EXIT_NO))
}

/// Refusals that nothing certifies.
#[derive(Clone, Copy, Debug)]
pub enum Uncertified {
    /// The search ended.
    NotFound,
    /// What moves beside the table may be late.
    Promise,
    /// What is wrong is a declaration itself, or the proof has no form that is written.
    Declaration,
}

/// Why nothing was written, after the refusal itself.
pub fn no_certificate(why: Uncertified) -> Failure {
    let (sentence, hint) = match why {
        Uncertified::NotFound => {
            ("nothing is proven here that a certificate could show", "search longer: --steps")
        }
        Uncertified::Promise => (
            "a promise that cannot be given has no certificate: its bound is what can be shown, and not that no other is possible",
            "leave --certificate out",
        ),
        Uncertified::Declaration => {
            ("no certificate is written of this refusal: it is as said above", "leave --certificate out")
        }
    };
    Failure::new(sentence, hint)
}

/// A certificate of ours that the checker does not accept.
pub fn unfounded(violation: Violation) -> Failure {
    Failure::new(format!("the planner's own argument does not hold: {violation}"), "please report it")
}

/// Writes a certificate.
///
/// # Errors
/// When it cannot be written.
pub fn write_certificate(path: &Path, certificate: &impl Serialize) -> Result<(), Failure> {
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
    admitted: bool,
    #[serde(flatten)]
    refused: Refused,
}

impl<'a> Explanation<'a> {
    fn new(manifest: &'a NetworkManifest, told: Option<&NetworkExplanation>) -> Self {
        Self {
            network: &manifest.name,
            admitted: told.is_none(),
            refused: Refused::new(&manifest.traffic, told),
        }
    }
}
