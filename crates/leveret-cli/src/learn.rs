//! Budgets proposed from a run (`leveret check --learn`).

use crate::failure::Failure;
use crate::record;
use leveret_plan::Job;
use leveret_report::{Report, learn};
use std::fmt::Write;
use std::path::Path;

/// What a run teaches about a job's budgets.
pub struct Lessons {
    /// For people.
    pub text: String,
    /// For programs.
    pub json: serde_json::Value,
}

/// Reads the run in a directory and proposes budgets for the tasks of the job that it executed.
///
/// # Errors
/// When there is no record, or it executed none of the job's tasks.
pub fn lessons(directory: &Path, job: &Job) -> Result<Lessons, Failure> {
    let record = record::read(directory)?;
    let mut proposals = learn::propose(&Report::of(&record), learn::Options::default());
    proposals.retain_mut(|proposal| {
        let task = job.tasks.iter().find(|task| task.name == proposal.name);
        // The window is the manifest's, which may have changed since the run.
        task.map(|task| proposal.window_ns = task.deadline - task.release).is_some()
    });
    if proposals.is_empty() {
        return Err(Failure::new(
            format!("{}: the run executed no task of job \"{}\"", directory.display(), job.name),
            "name the directory of a run of this job",
        ));
    }
    let mut text = format!("Budgets that the run in {} suggests:\n", directory.display());
    text.push_str(&learn::table(&proposals));
    let too_small: Vec<_> = learn::too_small(&proposals).collect();
    if too_small.is_empty() {
        text.push_str("Every present budget is at least what is proposed.\n");
    } else {
        let _ = writeln!(text, "Too small in the manifest: {}.", too_small.join(", "));
    }
    for sentence in learn::beyond_windows(&proposals) {
        let _ = writeln!(text, "{sentence}.");
    }
    let _ = write!(text, "\n{}", learn::toml(&proposals));
    let json = serde_json::to_value(&proposals).map_err(|error| {
        Failure::new(format!("the proposals have no JSON form: {error}"), "print them with --format table")
    })?;
    Ok(Lessons { text, json })
}
