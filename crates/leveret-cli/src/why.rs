//! `leveret why`.

use crate::arguments::{Format, WhyArguments};
use crate::failure::Failure;
use crate::{output, record};
use leveret_report::Report;
use leveret_report::why::{self, WhyError};
use leveret_types::printable;
use std::process::ExitCode;

/// Explains one instance: its timeline and the verdict.
///
/// # Errors
/// When there is no such record, name or instance.
pub fn execute(arguments: &WhyArguments) -> Result<ExitCode, Failure> {
    let record = record::read(&arguments.directory)?;
    let report = Report::of(&record);
    let place = arguments.directory.display();
    let of_place = |error: WhyError| Failure::from_text(&place.to_string(), &error.to_string());
    let (name, instance) = (&arguments.name, arguments.instance);
    let text = match arguments.format {
        // Names in it may be of other programs' making.
        Format::Table => printable(&why::why(&report, name, instance).map_err(of_place)?),
        Format::Json => output::json(&why::json(&report, name, instance).map_err(of_place)?)?,
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
