//! `leveret check`, `plan` and `verify` of a network; what has tasks on its hosts goes on in `system`.

use crate::arguments::{CheckArguments, Format, PlanArguments, SearchArguments, VerifyArguments};
use crate::failure::{EXIT_NO, Failure};
use crate::output::{self, Paint};
use crate::refusal::{self, Refused};
use crate::{files, keep, system, verify};
use leveret::planning::plan_network;
use leveret_manifest::NetworkManifest;
use leveret_plan::checker::{Violation, check_certificate, check_network};
use leveret_plan::network::{
    Certificate, Effort, NETWORK_PLAN_VERSION, NetworkExplanation, NetworkPlan, NetworkRefusal,
    NetworkSummary, Traffic, render_slots, summarise,
};
use serde::Serialize;
use std::num::NonZeroU32;
use std::path::Path;
use std::process::ExitCode;

/// Says whether all channels have a place, and why not.
///
/// # Errors
/// When the answer cannot be printed, or a run was named to learn from.
pub fn check(arguments: &CheckArguments, manifest: &NetworkManifest) -> Result<ExitCode, Failure> {
    if arguments.learn.is_some() {
        let sentence = "a network has no budgets that a run could teach";
        return Err(Failure::new(sentence, "leave --learn out"));
    }
    if let Some(system) = &manifest.system {
        return system::check(arguments.format, system, Sought::new(arguments.search));
    }
    let sought = Sought::new(arguments.search);
    let answer = accepted(&manifest.traffic, sought)
        .map_err(|refusal| refusal::explained(manifest, refusal, sought, REMEDIES_MAX));
    match arguments.format {
        Format::Json => output::print(&output::json(&Answer::new(manifest, &answer))?)?,
        Format::Table => match &answer {
            Ok(plan) => {
                let word = Paint::for_stdout().green("admitted");
                let text = format!("{word}: {}\n", headline(manifest, plan));
                output::print(&(text + &summarise(&manifest.traffic, plan).render()))?;
            }
            Err(told) => output::print(&refusal::render(manifest, told, Paint::for_stdout()))?,
        },
    }
    Ok(if answer.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_NO) })
}

/// Prints what the plan gives and leaves, and writes it where asked.
///
/// # Errors
/// When the plan cannot be written.
pub fn plan(arguments: &PlanArguments, manifest: &NetworkManifest) -> Result<ExitCode, Failure> {
    if let Some(system) = &manifest.system {
        return system::plan(arguments, system);
    }
    let sought = Sought::new(arguments.search);
    let found = match &arguments.keep {
        None => accepted(&manifest.traffic, sought),
        Some(files) => keep::of_network(files, manifest, sought)?,
    };
    let plan = match found {
        Ok(plan) => plan,
        Err(refusal) => {
            let told = refusal::explained(manifest, refusal, sought, REMEDIES_MAX);
            output::note(refusal::render(manifest, &told, Paint::for_stderr()).trim_end());
            let first = told.conflicts.first().map(|one| &one.refusal);
            if let (Some(path), Some(NetworkRefusal::NotFound { partial, unplaced, .. })) =
                (&arguments.partial, first)
            {
                files::write(path, format!("{}\n", output::json(partial)?).as_bytes())?;
                let all = manifest.traffic.streams.len();
                let placed = all - unplaced.len();
                output::note(&format!("written: {}, with {placed} of {all} channels", path.display()));
            }
            return Ok(ExitCode::from(EXIT_NO));
        }
    };
    let written = output::plan_file(arguments.output.as_deref(), &plan);
    match arguments.format {
        Format::Json => {
            let summary = summarise(&manifest.traffic, &plan);
            output::print(&output::json(&system::Planned { plan: &plan, summary })?)?;
        }
        Format::Table => {
            let text = format!("plan of {}\n", headline(manifest, &plan));
            let listed = render_slots(&manifest.traffic, &plan);
            output::print(&(text + &listed + "\n" + &summarise(&manifest.traffic, &plan).render()))?;
        }
    }
    written.map(|()| ExitCode::SUCCESS)
}

/// Checks a stored plan of a network.
///
/// # Errors
/// When it cannot be read.
pub fn verify(arguments: &VerifyArguments, manifest: &NetworkManifest) -> Result<ExitCode, Failure> {
    if let Some(system) = &manifest.system {
        return system::verify(arguments, system);
    }
    let bytes = verify::bytes(&arguments.plan)?;
    if let Ok(certificate) = verify::parse::<Certificate>(&arguments.plan, &bytes) {
        return verify_certificate(arguments, manifest, &certificate);
    }
    let plan = parse(&arguments.plan, &bytes)?;
    match check_network(&plan, &manifest.traffic) {
        Ok(()) => {
            verify::print_valid(arguments, &summarise(&manifest.traffic, &plan).render())?;
            Ok(ExitCode::SUCCESS)
        }
        Err(violation) => {
            output::print(&not_valid(&arguments.plan, &arguments.manifest, &violation))?;
            Ok(ExitCode::from(EXIT_NO))
        }
    }
}

/// Checks what is said to show that a network has no plan.
fn verify_certificate(
    arguments: &VerifyArguments,
    manifest: &NetworkManifest,
    certificate: &Certificate,
) -> Result<ExitCode, Failure> {
    let checked = check_certificate(certificate, &manifest.traffic);
    let traffic = &manifest.traffic;
    // What is not valid may name streams that there are not.
    let named = if checked.is_ok() { certificate.streams() } else { &[] };
    let names: Vec<_> = named.iter().map(|id| format!("\"{}\"", traffic.name(*id))).collect();
    print_certified(arguments, checked, &names)
}

/// Prints whether a certificate shows that there is no plan, and what it is about.
///
/// # Errors
/// When that cannot be printed.
pub fn print_certified(
    arguments: &VerifyArguments,
    checked: Result<(), Violation>,
    about: &[String],
) -> Result<ExitCode, Failure> {
    let (shown, fits) = (arguments.plan.display(), arguments.manifest.display());
    if let Err(violation) = checked {
        let word = Paint::for_stdout().red("not valid");
        let text = format!(
            "{word}: {shown} does not show that {fits} has no plan; what does not follow:\n  - {violation}\n"
        );
        output::print(&text)?;
        return Ok(ExitCode::from(EXIT_NO));
    }
    let word = Paint::for_stdout().green("valid");
    let text = format!("{word}: {shown} shows that {fits} has no plan, for {}\n", about.join(", "));
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// What is printed of a plan that breaks a rule.
pub fn not_valid(plan: &Path, manifest: &Path, violation: &Violation) -> String {
    let word = Paint::for_stdout().red("not valid");
    let (shown, fits) = (plan.display(), manifest.display());
    format!("{word}: {shown} does not fit {fits}; the first rule that is broken:\n  - {violation}\n")
}

/// Reads a plan of a network.
///
/// # Errors
/// When it cannot be read, or is of another format.
pub fn read(path: &Path) -> Result<NetworkPlan, Failure> {
    parse(path, &verify::bytes(path)?)
}

fn parse(path: &Path, bytes: &[u8]) -> Result<NetworkPlan, Failure> {
    let plan: NetworkPlan = verify::parse(path, bytes)?;
    verify::check_version(path, plan.version, NETWORK_PLAN_VERSION)?;
    Ok(plan)
}

/// How far a plan is sought, and on how many threads.
#[derive(Clone, Copy, Debug)]
pub struct Sought {
    pub effort: Effort,
    threads: NonZeroU32,
}

impl Sought {
    /// As the command line says.
    pub fn new(arguments: SearchArguments) -> Self {
        let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        let threads = NonZeroU32::new(arguments.threads.unwrap_or_else(cores)).unwrap_or(NonZeroU32::MIN);
        let steps = arguments.steps.unwrap_or(Effort::default().steps);
        Self { effort: Effort { seed: arguments.seed, steps }, threads }
    }

    /// A plan, as yet unchecked.
    ///
    /// # Errors
    /// Why there is none.
    pub fn plan(self, traffic: &Traffic) -> Result<NetworkPlan, NetworkRefusal> {
        plan_network(traffic, self.effort, self.threads)
    }
}

/// A plan that the checker accepted.
///
/// # Errors
/// Why there is none.
pub fn accepted(traffic: &Traffic, sought: Sought) -> Result<NetworkPlan, NetworkRefusal> {
    let plan = sought.plan(traffic)?;
    match check_network(&plan, traffic) {
        Ok(()) => Ok(plan),
        // Nobody has seen this; should the planner be wrong, its plan is not used.
        Err(violation) => Err(NetworkRefusal::Rejected { violation: violation.to_string() }),
    }
}

fn headline(manifest: &NetworkManifest, plan: &NetworkPlan) -> String {
    let slots: usize = plan.links.iter().map(Vec::len).sum();
    format!("{}, {slots} slots, repeating every {}", described(manifest), plan.hyperperiod)
}

/// A network by its name and its sizes.
pub fn described(manifest: &NetworkManifest) -> String {
    let network = &manifest.traffic.network;
    format!(
        "network \"{}\", {} nodes, {} links, {} channels",
        manifest.name,
        network.nodes.len(),
        network.links.len(),
        manifest.traffic.streams.len() + manifest.traffic.flows.len(),
    )
}

/// Remedies beside a refusal.
pub const REMEDIES_MAX: usize = 8;

/// The first word of an answer where the search ended without a plan and without a proof that there is none.
pub const NOT_FOUND: &str = "no plan found";

/// What helps first then.
pub const SEARCH_FURTHER: &str = "A search that ends without a plan proves nothing about the design. Try first: more steps (--steps), or other seeds (--seed 1, 2, ...).\n";

/// What is printed of changes that would fit.
pub fn would_fit(advice: &[String]) -> String {
    match advice {
        [] => "No single change that was tried would fit.\n".to_owned(),
        [one] => format!("This would fit: {one}\n"),
        several => {
            let lines: String = several.iter().map(|change| format!("  - {change}\n")).collect();
            format!("Any one of these would fit:\n{lines}")
        }
    }
}

/// The answer for programs.
#[derive(Serialize)]
struct Answer<'a> {
    network: &'a str,
    admitted: bool,
    #[serde(flatten)]
    refused: Refused,
    summary: Option<NetworkSummary>,
}

impl<'a> Answer<'a> {
    fn new(manifest: &'a NetworkManifest, answer: &Result<NetworkPlan, NetworkExplanation>) -> Self {
        Self {
            network: &manifest.name,
            admitted: answer.is_ok(),
            refused: Refused::new(&manifest.traffic, answer.as_ref().err()),
            summary: answer.as_ref().ok().map(|plan| summarise(&manifest.traffic, plan)),
        }
    }
}
