//! `leveret why`.

use crate::arguments::WhyArguments;
use crate::failure::Failure;
use crate::{output, record};
use leveret_report::Report;
use std::process::ExitCode;

/// Explains one instance: its timeline and the verdict.
///
/// # Errors
/// When there is no such record, name or instance.
pub fn execute(arguments: &WhyArguments) -> Result<ExitCode, Failure> {
    let record = record::read(&arguments.directory)?;
    let report = Report::of(&record);
    let text = leveret_report::why::why(&report, &arguments.name, arguments.instance).map_err(|error| {
        Failure::from_text(&arguments.directory.display().to_string(), &error.to_string())
    })?;
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
