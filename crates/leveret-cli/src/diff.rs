//! `leveret diff`.

use crate::arguments::{DiffArguments, Format};
use crate::failure::{EXIT_NO, Failure};
use crate::load::{self, Document};
use crate::{network, output, system};
use leveret_plan::checker::{Violation, check_network, check_system};
use leveret_plan::network::diff_networks;
use leveret_plan::system::{SYSTEM_PLAN_VERSION, System, SystemPlan, diff_systems};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Says what differs between two plans.
///
/// # Errors
/// When a file cannot be read, or a plan is not one of its manifest.
pub fn execute(arguments: &DiffArguments) -> Result<ExitCode, Failure> {
    let (one, two) = (pair(&arguments.first)?, pair(&arguments.second)?);
    if one.has_hosts || two.has_hosts {
        let diff = diff_systems((&one.system, &one.plan), (&two.system, &two.plan));
        return told(arguments.format, &diff, diff.is_empty(), diff.render());
    }
    let traffic = (&one.system.traffic, &two.system.traffic);
    let diff = diff_networks((traffic.0, &one.plan.network), (traffic.1, &two.plan.network));
    told(arguments.format, &diff, diff.is_empty(), diff.render())
}

fn told(format: Format, diff: &impl Serialize, is_empty: bool, text: String) -> Result<ExitCode, Failure> {
    match format {
        Format::Json => output::print(&output::json(diff)?)?,
        Format::Table => output::print(&text)?,
    }
    Ok(if is_empty { ExitCode::SUCCESS } else { ExitCode::from(EXIT_NO) })
}

/// A plan with what it was made of, and keeps. A network alone is a system without tasks.
pub struct Pair {
    /// What was planned.
    pub system: System,
    /// Its plan.
    pub plan: SystemPlan,
    /// Whether tasks run on the hosts.
    pub has_hosts: bool,
}

/// A plan with its manifest, which it keeps.
///
/// # Errors
/// When a file cannot be read, or the plan is not one of the manifest.
pub fn pair(files: &[PathBuf]) -> Result<Pair, Failure> {
    let [plan, manifest] = files else {
        return Err(Failure::new("a plan and its manifest are needed", "name both: PLAN.json JOB.toml"));
    };
    let of = match load::document(manifest)? {
        Document::Network(of) => *of,
        Document::Job(_) => {
            let sentence = format!("{}: this is the manifest of a job on one host", manifest.display());
            let hint = "plans of networks are compared, with or without tasks; `leveret plan --format json` and any text comparison do for a job";
            return Err(Failure::new(sentence, hint));
        }
    };
    if let Some(system) = of.system {
        let read = system::read(plan)?;
        check_system(&read, &system).map_err(|violations| not_of(plan, manifest, &violations[0]))?;
        return Ok(Pair { system: *system, plan: read, has_hosts: true });
    }
    let read = network::read(plan)?;
    check_network(&read, &of.traffic).map_err(|violation| not_of(plan, manifest, &violation))?;
    let plan = SystemPlan {
        version: SYSTEM_PLAN_VERSION,
        system: of.name.clone(),
        windows: Vec::new(),
        hosts: Vec::new(),
        network: read,
        chains: Vec::new(),
    };
    let system = System { name: of.name, traffic: of.traffic, ..System::default() };
    Ok(Pair { system, plan, has_hosts: false })
}

fn not_of(plan: &Path, manifest: &Path, violation: &Violation) -> Failure {
    let sentence = format!("{} does not fit {}: {violation}", plan.display(), manifest.display());
    Failure::new(sentence, "name each plan with the manifest that it was made of")
}
