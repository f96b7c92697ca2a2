//! `leveret report`.

use crate::arguments::{Format, ReportArguments};
use crate::failure::Failure;
use crate::{files, output, record};
use leveret_report::{Report, html, json, text, trace};
use std::path::Path;
use std::process::ExitCode;

/// Makes the report anew from the record and prints the results.
///
/// # Errors
/// When there is no record, or the report cannot be written.
pub fn execute(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    let record = record::read(&arguments.directory)?;
    let report = Report::of(&record);
    write(&report, &arguments.directory)?;
    match arguments.format {
        Format::Json => output::print(&json::text(&report))?,
        Format::Table => {
            output::print(&text::table(&report))?;
            output::note(&format!("written: {}", arguments.directory.join("report.html").display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes `report.html`, `report.json` and `trace.json` into a directory.
///
/// # Errors
/// When one of them cannot be written.
pub fn write(report: &Report<'_>, directory: &Path) -> Result<(), Failure> {
    files::write(&directory.join("report.html"), html::page(report).as_bytes())?;
    files::write(&directory.join("report.json"), json::text(report).as_bytes())?;
    files::write(&directory.join("trace.json"), trace::text(report).as_bytes())
}
