//! `leveret plan`.

use crate::arguments::{Format, PlanArguments};
use crate::check::refused;
use crate::failure::{EXIT_NO, Failure};
use crate::load::Document;
use crate::output::{self, Paint};
use crate::{load, network};
use std::process::ExitCode;

/// Prints the time table, and writes it where asked.
///
/// # Errors
/// When the manifest has errors or the plan cannot be written.
pub fn execute(arguments: &PlanArguments) -> Result<ExitCode, Failure> {
    let manifest = match load::document(&arguments.manifest)? {
        Document::Job(manifest) => *manifest,
        Document::Network(manifest) => return network::plan(arguments, &manifest),
    };
    if arguments.partial.is_some() {
        let sentence = "--partial is for networks; the plan of a job on one host is whole, or there is none";
        return Err(Failure::new(sentence, "leave --partial out"));
    }
    if arguments.keep.is_some() {
        let sentence =
            "--keep is for networks; the plan of a job on one host is made anew, the same for the same job";
        return Err(Failure::new(sentence, "leave --keep out"));
    }
    let job = load::job(&manifest, &arguments.manifest, None)?;
    let plan = match leveret_plan::plan(&job) {
        Ok(plan) => plan,
        Err(refusal) => {
            output::note(refused(&job, &refusal, Paint::for_stderr()).trim_end());
            return Ok(ExitCode::from(EXIT_NO));
        }
    };
    let written = output::plan_file(arguments.output.as_deref(), &plan);
    if let Some(note) = load::guard_note(&manifest) {
        output::note(&note);
    }
    match arguments.format {
        Format::Json => output::print(&output::json(&plan)?)?,
        Format::Table => output::print(&leveret_plan::render_table(&plan, &job))?,
    }
    written.map(|()| ExitCode::SUCCESS)
}
