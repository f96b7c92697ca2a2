//! `leveret report`.

use crate::arguments::{Format, ReportArguments};
use crate::failure::Failure;
use crate::{files, output, record};
use leveret_report::{Report, html, json, text, trace};
use leveret_types::{ByteSize, printable};
use std::path::Path;
use std::process::ExitCode;

/// Makes the report anew from the record and prints the results.
///
/// # Errors
/// When there is no record, or the report cannot be written.
pub fn execute(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    let record = record::read(&arguments.directory)?;
    let report = Report::of(&record);
    write(&report, &arguments.directory, ByteSize(leveret_agent::RECORD_LIMIT))?;
    match arguments.format {
        Format::Json => output::print(&json::text(&report))?,
        Format::Table => {
            // Names in it may be of other programs' making.
            output::print(&printable(&text::table(&report)))?;
            output::note(&format!("written: {}", arguments.directory.join("report.html").display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What a report consists of.
pub const FILES: [&str; 3] = ["report.html", "report.json", "trace.json"];

/// Writes [`FILES`] into a directory; all that can be.
///
/// # Errors
/// When one of them cannot be written.
pub fn write(report: &Report<'_>, directory: &Path, limit: ByteSize) -> Result<(), Failure> {
    let [page, summary, events] = FILES.map(|name| directory.join(name));
    let page = files::write(&page, html::page(report).as_bytes());
    let summary = files::write(&summary, json::text(report).as_bytes());
    page.and(summary).and(files::write(
        &events,
        trace::within(report, usize::try_from(limit.0 / 4).unwrap_or(usize::MAX)).as_bytes(),
    ))
}
