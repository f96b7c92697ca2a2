//! `leveret doctor`.

use crate::arguments::{DoctorArguments, Format};
use crate::failure::{EXIT_NO, Failure};
use crate::output::{self, Paint};
use leveret_os::doctor::{Finding, State, examine};
use serde::Serialize;
use std::fmt::Write;
use std::process::ExitCode;

/// The findings for programs.
#[derive(Serialize)]
struct Answer<'a> {
    missing: usize,
    findings: &'a [Finding],
}

/// Says what this machine lacks for real time.
///
/// # Errors
/// When the findings cannot be printed.
pub fn execute(arguments: &DoctorArguments) -> Result<ExitCode, Failure> {
    let findings = examine();
    let missing = findings.iter().filter(|finding| finding.state == State::Missing).count();
    let text = match arguments.format {
        Format::Json => output::json(&Answer { missing, findings: &findings })?,
        Format::Table => table(&findings, missing, Paint::for_stdout()),
    };
    output::print(&text)?;
    Ok(if missing == 0 { ExitCode::SUCCESS } else { ExitCode::from(EXIT_NO) })
}

fn table(findings: &[Finding], missing: usize, paint: Paint) -> String {
    let mut text = String::new();
    for finding in findings {
        let word = match finding.state {
            State::Ok => paint.green("ok     "),
            State::Missing => paint.red("missing"),
            State::Unknown => paint.bold("unknown"),
        };
        let _ = writeln!(text, "{word}  {}: {}", finding.name, finding.found);
        if !finding.loss.is_empty() {
            let _ = writeln!(text, "         lost: {}", finding.loss);
        }
        for (number, line) in finding.fix.iter().enumerate() {
            let label = if number == 0 { "fix: " } else { "" };
            let _ = writeln!(text, "         {label:<5} {line}");
        }
    }
    let conclusion = match missing {
        0 => "This machine lacks nothing that could be examined.".to_owned(),
        1 => "This machine lacks one thing for real time; the job still runs, with the loss named above."
            .to_owned(),
        _ => format!(
            "This machine lacks {missing} things for real time; jobs still run, with the losses named above."
        ),
    };
    let _ = writeln!(text, "\n{conclusion}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(state: State) -> Finding {
        let (loss, fix) = match state {
            State::Ok => (String::new(), Vec::new()),
            _ => ("starts come late".to_owned(), vec!["first line".to_owned(), "second line".to_owned()]),
        };
        Finding { name: "a right".to_owned(), state, found: "what was found".to_owned(), loss, fix }
    }

    #[test]
    fn what_is_missing_comes_with_its_loss_and_every_line_of_its_fix() {
        let text = table(&[finding(State::Ok), finding(State::Missing)], 1, Paint::none());
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "ok       a right: what was found");
        assert_eq!(lines[1], "missing  a right: what was found");
        assert_eq!(lines[2], "         lost: starts come late");
        assert_eq!(lines[3], "         fix:  first line");
        assert_eq!(lines[4], "               second line");
        assert!(text.contains("lacks one thing"));
    }
}
