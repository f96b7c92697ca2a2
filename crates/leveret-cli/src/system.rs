//! `leveret check`, `plan` and `verify` of tasks on several hosts.

use crate::arguments::{Format, PlanArguments, VerifyArguments};
use crate::check::counted;
use crate::failure::{EXIT_NO, Failure};
use crate::network::Sought;
use crate::output::{self, Paint};
use crate::{files, keep, verify};
use leveret_plan::ExplainBudget;
use leveret_plan::checker::check_system;
use leveret_plan::system::{
    SYSTEM_PLAN_VERSION, System, SystemPlan, SystemRefusal, SystemSummary, plan_system_by, render_system,
    summarise_system,
};
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// Says whether everything has a place and every chain keeps its limits, and why not.
///
/// # Errors
/// When the answer cannot be printed.
pub fn check(format: Format, system: &System, sought: Sought) -> Result<ExitCode, Failure> {
    let answer = accepted(system, sought);
    match format {
        Format::Json => output::print(&output::json(&Answer::new(system, &answer))?)?,
        Format::Table => match &answer {
            Ok(plan) => {
                let word = Paint::for_stdout().green("admitted");
                let text = format!("{word}: {}\n\n", headline(system, plan));
                output::print(&(text + &summarise_system(system, plan).render()))?;
            }
            Err(refusal) => output::print(&refused(system, refusal, Paint::for_stdout()))?,
        },
    }
    Ok(if answer.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_NO) })
}

/// Prints the table of every host, the channels, chains and links, and writes the plan where asked.
///
/// # Errors
/// When the plan cannot be written.
pub fn plan(arguments: &PlanArguments, system: &System) -> Result<ExitCode, Failure> {
    let sought = Sought::new(arguments.search);
    let found = match &arguments.keep {
        None => accepted(system, sought),
        Some(files) => keep::of_system(files, system, sought)?,
    };
    let plan = match found {
        Ok(plan) => plan,
        Err(refusal) => {
            output::note(refused(system, &refusal, Paint::for_stderr()).trim_end());
            return Ok(ExitCode::from(EXIT_NO));
        }
    };
    if let Some(path) = &arguments.output {
        files::write(path, format!("{}\n", output::json(&plan)?).as_bytes())?;
    }
    match arguments.format {
        Format::Json => {
            let summary = summarise_system(system, &plan);
            output::print(&output::json(&Planned { plan: &plan, summary })?)?;
        }
        Format::Table => {
            let text = format!("plan of {}\n\n", headline(system, &plan));
            output::print(&(text + &render_system(system, &plan)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks a stored plan.
///
/// # Errors
/// When it cannot be read.
pub fn verify(arguments: &VerifyArguments, system: &System) -> Result<ExitCode, Failure> {
    let plan = read(&arguments.plan)?;
    let Err(violations) = check_system(&plan, system) else {
        verify::print_valid(arguments, &summarise_system(system, &plan).render())?;
        return Ok(ExitCode::SUCCESS);
    };
    output::print(&verify::not_valid(&arguments.plan, &arguments.manifest, &violations))?;
    Ok(ExitCode::from(EXIT_NO))
}

/// Reads a plan of a system.
///
/// # Errors
/// When it cannot be read, or is of another format.
pub fn read(path: &Path) -> Result<SystemPlan, Failure> {
    let plan: SystemPlan = verify::read(path)?;
    verify::check_version(path, plan.version, SYSTEM_PLAN_VERSION)?;
    Ok(plan)
}

/// A plan that the checker accepted.
///
/// # Errors
/// Why there is none.
pub fn accepted(system: &System, sought: Sought) -> Result<SystemPlan, SystemRefusal> {
    let plan = plan_system_by(system, &|traffic| sought.plan(traffic), ExplainBudget::default())?;
    match check_system(&plan, system) {
        Ok(()) => Ok(plan),
        // Nobody has seen this; should the planner be wrong, its plan is not used.
        Err(violations) => {
            let violation = violations.first().map(ToString::to_string).unwrap_or_default();
            Err(SystemRefusal::Rejected { violation })
        }
    }
}

fn headline(system: &System, plan: &SystemPlan) -> String {
    let tasks: usize = system.hosts.iter().map(|host| host.job.tasks.len() + host.job.sporadics.len()).sum();
    let slots: usize = plan.network.links.iter().map(Vec::len).sum();
    format!(
        "system \"{}\", {} with {}, {} between them, {}, {} on {}",
        system.name,
        counted(system.hosts.len(), "host"),
        counted(tasks, "task"),
        counted(system.crossings.len(), "channel"),
        counted(system.chains.len(), "chain"),
        counted(slots, "slot"),
        counted(system.traffic.network.links.len(), "link")
    )
}

/// A refusal for people.
pub fn refused(system: &System, refusal: &SystemRefusal, paint: Paint) -> String {
    let word = if refusal.is_proven() { "refused" } else { "not planned" };
    let reason = refusal.reason().replace('\n', "\n  ");
    format!("{}: system \"{}\"\n  {reason}\n", paint.red(word), system.name)
}

/// A plan for programs, with what it gives and leaves. It can be read as a plan alone.
#[derive(Serialize)]
pub struct Planned<'a, P, S> {
    /// The plan.
    #[serde(flatten)]
    pub plan: &'a P,
    /// What it gives and leaves.
    pub summary: S,
}

/// The answer for programs.
#[derive(Serialize)]
struct Answer<'a> {
    system: &'a str,
    admitted: bool,
    /// Whether it is known that there is no plan.
    infeasible: bool,
    reason: Option<String>,
    summary: Option<SystemSummary>,
}

impl<'a> Answer<'a> {
    fn new(system: &'a System, answer: &Result<SystemPlan, SystemRefusal>) -> Self {
        let refusal = answer.as_ref().err();
        Self {
            system: &system.name,
            admitted: answer.is_ok(),
            infeasible: refusal.is_some_and(SystemRefusal::is_proven),
            reason: refusal.map(SystemRefusal::reason),
            summary: answer.as_ref().ok().map(|plan| summarise_system(system, plan)),
        }
    }
}
