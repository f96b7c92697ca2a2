//! `leveret check`.

use crate::arguments::{CheckArguments, Format};
use crate::failure::{EXIT_NO, Failure};
use crate::load::Document;
use crate::output::{self, Paint};
use crate::{learn, load, network};
use leveret_manifest::{Guard, Manifest};
use leveret_plan::{Job, Plan, PlannedCore, Refusal, RefusalKind};
use leveret_types::Nanos;
use serde::Serialize;
use std::fmt::Write;
use std::process::ExitCode;

/// Says whether the job is admitted.
///
/// # Errors
/// When the manifest has errors, or the run to learn from cannot be read.
pub fn execute(arguments: &CheckArguments) -> Result<ExitCode, Failure> {
    let manifest = match load::document(&arguments.manifest)? {
        Document::Job(manifest) => *manifest,
        Document::Network(manifest) => return network::check(arguments, &manifest),
    };
    let job = load::job(&manifest, &arguments.manifest, None)?;
    let lessons = arguments.learn.as_deref().map(|directory| learn::lessons(directory, &job)).transpose()?;
    show(Shown { manifest: &manifest, job: &job, lessons }, arguments.format)
}

/// A job and what is said beside its answer.
pub struct Shown<'a> {
    /// What was declared.
    pub manifest: &'a Manifest,
    /// Its model.
    pub job: &'a Job,
    /// What a run taught.
    pub lessons: Option<learn::Lessons>,
}

/// Plans a job and prints the answer.
///
/// # Errors
/// When it cannot be printed.
pub fn show(shown: Shown<'_>, format: Format) -> Result<ExitCode, Failure> {
    let answer = leveret_plan::plan(shown.job);
    let text = match format {
        Format::Json => json(shown.manifest, shown.job, &answer, shown.lessons)?,
        Format::Table => {
            let mut text = match &answer {
                Ok(plan) => admitted(shown.job, plan),
                Err(refusal) => refused(shown.job, refusal, Paint::for_stdout()),
            };
            if let Some(note) = load::guard_note(shown.manifest) {
                let _ = writeln!(text, "{note}");
            }
            if let Some(lessons) = shown.lessons {
                let _ = write!(text, "\n{}", lessons.text);
            }
            text
        }
    };
    output::print(&text)?;
    Ok(if answer.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_NO) })
}

fn admitted(job: &Job, plan: &Plan) -> String {
    let mut text = format!(
        "{}: job \"{}\", {} on {}, {}, {}\n",
        Paint::for_stdout().green("admitted"),
        job.name,
        counted(job.tasks.len(), "task"),
        counted(job.cores.len(), "core"),
        counted(job.channels.len(), "channel"),
        match job.has_time_table() {
            true => format!("repeating every {}", plan.hyperperiod),
            false => "without a time table".to_owned(),
        }
    );
    for core in &plan.cores {
        let share = core.used.0 as f64 * 100.0 / plan.hyperperiod.0.max(1) as f64;
        let _ = writeln!(
            text,
            "  core {}: {} planned ({share:.1} %, costs included), {}{} left, longest free stretch {}",
            core.core,
            core.used,
            beside(core),
            core.left,
            core.longest_gap
        );
    }
    text + &leveret_plan::render_bounds(plan, job)
}

/// What work beside the time table may use of a core, where there is any.
fn beside(core: &PlannedCore) -> String {
    if core.sporadic == Nanos::ZERO { String::new() } else { format!("{} for priorities, ", core.sporadic) }
}

/// What helps first where the search for a job's plan ended without one.
const LESS_TO_SEARCH: &str = "A search that ends without a plan proves nothing about the design; it takes the same steps each time. Try first what leaves less to search: tasks \
                              pinned to cores (core), periods that divide each other, narrower windows.";

/// The refusal with one remedy a line, where its own text has them in one sentence.
pub fn refused(job: &Job, refusal: &Refusal, paint: Paint) -> String {
    let is_open = matches!(refusal.kind, RefusalKind::NotFound { .. });
    let word = if is_open { network::NOT_FOUND } else { "refused" };
    let mut text = format!("{}: job \"{}\"\n", paint.red(word), job.name);
    for line in refusal.reason().lines() {
        let _ = writeln!(text, "  {line}");
    }
    if is_open {
        let _ = writeln!(text, "  {LESS_TO_SEARCH}");
    }
    if let Some(heading) = refusal.fits_heading() {
        let _ = writeln!(text, "  {heading}:");
    }
    for remedy in &refusal.fits {
        let _ = writeln!(text, "    - {remedy}");
    }
    text
}

/// A number and what it counts.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The answer for programs.
#[derive(Serialize)]
struct Answer<'a> {
    job: &'a str,
    admitted: bool,
    /// The guard that was assumed because the manifest leaves it to be measured.
    guard_assumed_ns: Option<i64>,
    hyperperiod_ns: Option<i64>,
    cores: Vec<CoreAnswer>,
    refusal: Option<&'a Refusal>,
    refusal_text: Option<String>,
    learned: Option<serde_json::Value>,
}

#[derive(Serialize)]
struct CoreAnswer {
    core: u32,
    used_ns: i64,
    beside_ns: i64,
    left_ns: i64,
    longest_gap_ns: i64,
}

fn json(
    manifest: &Manifest,
    job: &Job,
    answer: &Result<Plan, Refusal>,
    lessons: Option<learn::Lessons>,
) -> Result<String, Failure> {
    let plan = answer.as_ref().ok();
    let cores = plan.map(|plan| plan.cores.as_slice()).unwrap_or_default().iter().map(|core| CoreAnswer {
        core: core.core,
        used_ns: core.used.0,
        beside_ns: core.sporadic.0,
        left_ns: core.left.0,
        longest_gap_ns: core.longest_gap.0,
    });
    let answer = Answer {
        job: &job.name,
        admitted: plan.is_some(),
        guard_assumed_ns: (manifest.costs.guard == Guard::Measured).then_some(job.costs.guard.0),
        hyperperiod_ns: plan.map(|plan| plan.hyperperiod.0),
        cores: cores.collect(),
        refusal: answer.as_ref().err(),
        refusal_text: answer.as_ref().err().map(ToString::to_string),
        learned: lessons.map(|lessons| lessons.json),
    };
    output::json(&answer)
}
