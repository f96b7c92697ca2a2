//! `leveret verify`.

use crate::arguments::VerifyArguments;
use crate::failure::{EXIT_NO, Failure};
use crate::load::Document;
use crate::output::{self, Paint};
use crate::{files, load, network};
use leveret_manifest::Manifest;
use leveret_plan::checker::{self, Violation};
use leveret_plan::{Job, PLAN_VERSION, Plan};
use std::path::Path;
use std::process::ExitCode;

/// Most bytes of a plan file: a plan at the limits of the model, written with indentation.
const PLAN_BYTES_MAX: u64 = 1 << 30;

/// Checks a stored plan against its job.
///
/// # Errors
/// When either file cannot be read.
pub fn execute(arguments: &VerifyArguments) -> Result<ExitCode, Failure> {
    let manifest = match load::document(&arguments.manifest)? {
        Document::Job(manifest) => *manifest,
        Document::Network(manifest) => return network::verify(arguments, &manifest),
    };
    let (plan, job) = plan_and_job(&arguments.plan, &arguments.manifest, &manifest)?;
    let Err(violations) = checker::check(&plan, &job) else {
        print_valid(arguments, &leveret_plan::render_bounds(&plan, &job))?;
        return Ok(ExitCode::SUCCESS);
    };
    output::print(&not_valid(&arguments.plan, &arguments.manifest, &violations))?;
    Ok(ExitCode::from(EXIT_NO))
}

/// Says that a plan is right, and then what it gives.
///
/// # Errors
/// When that cannot be printed.
pub fn print_valid(arguments: &VerifyArguments, gives: &str) -> Result<(), Failure> {
    let word = Paint::for_stdout().green("valid");
    let (plan, manifest) = (arguments.plan.display(), arguments.manifest.display());
    let text = format!("{word}: {plan} keeps every declaration of {manifest}\n{gives}");
    output::print(text.trim_end())
}

/// A stored plan, and the job of a manifest with the guard that the plan has.
///
/// # Errors
/// When the plan cannot be read, or the manifest leaves too much to code.
pub fn plan_and_job(path: &Path, place: &Path, manifest: &Manifest) -> Result<(Plan, Job), Failure> {
    let plan: Plan = parse(path, &bytes(path)?)?;
    check_version(path, plan.version, PLAN_VERSION)?;
    let job = load::job(manifest, place, Some(plan.costs.guard))?;
    Ok((plan, job))
}

/// What is printed of a plan that does not fit its manifest.
pub fn not_valid(plan: &Path, manifest: &Path, violations: &[Violation]) -> String {
    let word = Paint::for_stdout().red("not valid");
    let mut text =
        format!("{word}: {} does not fit {}; what does not hold:\n", plan.display(), manifest.display());
    for violation in violations {
        text.push_str(&format!("  - {violation}\n"));
    }
    text
}

/// How to get a plan file that can be read.
const AGAIN: &str = "make it again: `leveret plan JOB.toml --output plan.json`";

/// A plan file as it is. A pipe can be read once only.
///
/// # Errors
/// When it cannot be read.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    files::read(path, "plan", PLAN_BYTES_MAX)
}

/// What a plan file holds.
///
/// # Errors
/// When it holds something else.
pub fn parse<T: serde::de::DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, Failure> {
    let shown = path.display();
    serde_json::from_slice(bytes).map_err(|error| {
        let found = match error.classify() {
            serde_json::error::Category::Eof => {
                "the plan ends in the middle; the file was truncated".to_owned()
            }
            serde_json::error::Category::Syntax => format!("this is not JSON: {}", reason(&error)),
            _ => format!("this is not a plan: {}", reason(&error)),
        };
        Failure::new(format!("{shown}:{}:{}: {found}", error.line(), error.column()), AGAIN)
    })
}

/// Refuses a plan of another format than the one that is read.
///
/// # Errors
/// When it has one.
pub fn check_version(path: &Path, found: u32, known: u32) -> Result<(), Failure> {
    if found == known {
        return Ok(());
    }
    let shown = path.display();
    let sentence = format!("{shown}: the plan has format {found}, and this program reads format {known}");
    Err(Failure::new(sentence, AGAIN))
}

/// The reason without its place, which stands before it already.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    text.replace(char::is_control, " ")
}
