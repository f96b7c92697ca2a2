//! `leveret check`, `explain`, `plan` and `verify` of tasks on several hosts.

use crate::arguments::{ExplainArguments, Format, PlanArguments, VerifyArguments};
use crate::check::counted;
use crate::explain::Uncertified;
use crate::failure::{EXIT_NO, Failure};
use crate::network::Sought;
use crate::output::{self, Paint};
use crate::refusal::Remedy;
use crate::{explain, keep, network, verify};
use leveret_plan::ExplainBudget;
use leveret_plan::checker::{check_system, check_system_certificate};
use leveret_plan::system::{
    SYSTEM_PLAN_VERSION, System, SystemCertificate, SystemChange, SystemExplanation, SystemPlan,
    SystemRefusal, SystemSummary, explain_system, plan_system_by, render_system, summarise_system,
    system_certificate,
};
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// Says whether everything has a place and every chain keeps its limits, and why not.
///
/// # Errors
/// When the answer cannot be printed.
pub fn check(format: Format, system: &System, sought: Sought) -> Result<ExitCode, Failure> {
    tell(format, system, accepted(system, sought), (sought, network::REMEDIES_MAX), "")
}

/// Says at length why there is no plan, and writes what shows it where asked.
///
/// # Errors
/// When the answer cannot be printed, or there is nothing to write.
pub fn explain(
    arguments: &ExplainArguments,
    system: &System,
    (remedies, lines): (usize, usize),
) -> Result<ExitCode, Failure> {
    let sought = explain::sought(arguments);
    let answer = accepted(system, sought);
    let certificate = answer.as_ref().err().and_then(|refusal| system_certificate(system, refusal));
    if let Some(certificate) = &certificate {
        // Nobody has seen this; should the planner be wrong, it is not told.
        check_system_certificate(certificate, system).map_err(explain::unfounded)?;
    }
    let mut uncertified = None;
    if let (Some(path), Err(refusal)) = (&arguments.certificate, &answer) {
        match &certificate {
            Some(certificate) => explain::write_certificate(path, certificate)?,
            None if refusal.is_proven() => uncertified = Some(Uncertified::Declaration),
            None => uncertified = Some(Uncertified::NotFound),
        }
    }
    let mut argument = String::new();
    if let (Err(SystemRefusal::Network { traffic, .. }), Some(SystemCertificate::Network(shown))) =
        (&answer, &certificate)
    {
        argument = explain::argument(shown, traffic, lines);
    }
    let told = tell(arguments.format, system, answer, (sought, remedies), &argument)?;
    uncertified.map_or(Ok(told), |why| Err(explain::no_certificate(why)))
}

/// Prints an answer; a refusal with changes that would fit.
fn tell(
    format: Format,
    system: &System,
    answer: Result<SystemPlan, SystemRefusal>,
    (sought, remedies): (Sought, usize),
    argument: &str,
) -> Result<ExitCode, Failure> {
    let told = answer.as_ref().err().map(|refusal| explained(system, refusal, sought, remedies));
    let told = told.unwrap_or_default();
    match format {
        Format::Json => output::print(&output::json(&Answer::new(system, &answer, &told))?)?,
        Format::Table => match &answer {
            Ok(plan) => {
                let word = Paint::for_stdout().green("admitted");
                let text = format!("{word}: {}\n\n", headline(system, plan));
                output::print(&(text + &summarise_system(system, plan).render()))?;
            }
            Err(refusal) => {
                let text = words(system, refusal, &told, Paint::for_stdout());
                output::print(&(text + argument))?;
            }
        },
    }
    Ok(if answer.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_NO) })
}

/// Prints the table of every host, the channels, chains and links, and writes the plan where asked.
///
/// # Errors
/// When the plan cannot be written.
pub fn plan(arguments: &PlanArguments, system: &System) -> Result<ExitCode, Failure> {
    if arguments.partial.is_some() {
        let sentence = "--partial is for networks without tasks on their hosts";
        return Err(Failure::new(sentence, "leave --partial out"));
    }
    let sought = Sought::new(arguments.search);
    let found = match &arguments.keep {
        None => accepted(system, sought),
        Some(files) => keep::of_system(files, system, sought)?,
    };
    let plan = match found {
        Ok(plan) => plan,
        Err(refusal) => {
            output::note(refused(system, &refusal, sought, Paint::for_stderr()).trim_end());
            return Ok(ExitCode::from(EXIT_NO));
        }
    };
    let written = output::plan_file(arguments.output.as_deref(), &plan);
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
    written.map(|()| ExitCode::SUCCESS)
}

/// Checks a stored plan.
///
/// # Errors
/// When it cannot be read.
pub fn verify(arguments: &VerifyArguments, system: &System) -> Result<ExitCode, Failure> {
    let bytes = verify::bytes(&arguments.plan)?;
    if let Ok(certificate) = verify::parse::<SystemCertificate>(&arguments.plan, &bytes) {
        let checked = check_system_certificate(&certificate, system);
        return network::print_certified(arguments, checked, &certificate.about(system));
    }
    let plan = parse(&arguments.plan, &bytes)?;
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
    parse(path, &verify::bytes(path)?)
}

fn parse(path: &Path, bytes: &[u8]) -> Result<SystemPlan, Failure> {
    let plan: SystemPlan = verify::parse(path, bytes)?;
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

/// What conflicts, and what would fit.
fn explained(system: &System, refusal: &SystemRefusal, sought: Sought, remedies: usize) -> SystemExplanation {
    explain_system(system, refusal, (sought.effort, ExplainBudget::default()), remedies)
}

fn advice(system: &System, told: &SystemExplanation) -> Vec<String> {
    told.fits.iter().map(|change| change.words(system)).collect()
}

fn conflict(system: &System, told: &SystemExplanation) -> Vec<String> {
    told.conflict.iter().map(|element| element.words(system)).collect()
}

/// A refusal for people, with changes that would fit.
pub fn refused(system: &System, refusal: &SystemRefusal, sought: Sought, paint: Paint) -> String {
    words(system, refusal, &explained(system, refusal, sought, network::REMEDIES_MAX), paint)
}

fn words(system: &System, refusal: &SystemRefusal, told: &SystemExplanation, paint: Paint) -> String {
    let word = if refusal.is_proven() { "refused" } else { network::NOT_FOUND };
    let mut reason = refusal.reason();
    // Where something is proven, it is proven of these, and they were named.
    if !refusal.is_proven() && told.conflict.len() > 1 {
        let which = if told.minimal {
            "for these together none was found, and without any one of them the others have one"
        } else {
            "for these together none was found, nor perhaps for fewer of them"
        };
        let shown = conflict(system, told);
        let shown = shown[..shown.len().min(CONFLICT_MAX)].join(", ");
        let more = match told.conflict.len().saturating_sub(CONFLICT_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        reason += &format!("\n{which}: {shown}{more}");
    }
    let reason = reason.replace('\n', "\n  ");
    let text = format!("{}: system \"{}\"\n  {reason}\n", paint.red(word), system.name);
    let advice = advice(system, told);
    let others = match advice.is_empty() {
        true => {
            "Of a system only the first conflict is printed: where there are others, no single change resolves them all.\n"
        }
        false => "",
    };
    let further = if refusal.is_proven() { "" } else { FURTHER };
    text + further + &network::would_fit(&advice) + others
}

/// What helps first where the search for a system's plan ended without one.
const FURTHER: &str = "A search that ends without a plan proves nothing about the design. Try first: more steps (--steps), other seeds (--seed 1, 2, ...), or a `window` of your own for channels \
                       that declare none.\n";

/// Declarations of a conflict that are named.
const CONFLICT_MAX: usize = 16;

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
    /// Declarations that do not go together.
    conflict: Vec<String>,
    /// Whether without any one of them the others have a plan.
    minimal: bool,
    /// The core, link or part of a chain that is short of time.
    bottleneck: Option<&'a str>,
    /// Single changes that would fit, each planned.
    remedies: Vec<Remedy>,
    summary: Option<SystemSummary>,
}

impl<'a> Answer<'a> {
    fn new(
        system: &'a System,
        answer: &Result<SystemPlan, SystemRefusal>,
        told: &'a SystemExplanation,
    ) -> Self {
        let refusal = answer.as_ref().err();
        let remedy =
            |change: &SystemChange| Remedy { sentence: change.words(system), change: change.fields(system) };
        Self {
            system: &system.name,
            admitted: answer.is_ok(),
            infeasible: refusal.is_some_and(SystemRefusal::is_proven),
            reason: refusal.map(SystemRefusal::reason),
            conflict: conflict(system, told),
            minimal: told.minimal,
            bottleneck: told.bottleneck.as_deref(),
            remedies: told.fits.iter().map(remedy).collect(),
            summary: answer.as_ref().ok().map(|plan| summarise_system(system, plan)),
        }
    }
}
