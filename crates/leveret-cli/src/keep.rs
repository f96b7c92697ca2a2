//! `leveret plan --keep`: a new plan in which what can stay stays.

use crate::failure::Failure;
use crate::network::{self, Sought};
use crate::{diff, output, system};
use leveret_manifest::NetworkManifest;
use leveret_plan::checker::{check_network, check_system};
use leveret_plan::network::{KeepError, NetworkPlan, NetworkRefusal, keep_network};
use leveret_plan::system::{System, SystemPlan, SystemRefusal, keep_system};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A plan of a network that keeps what the files' plan has. Says on the standard error what had to move.
///
/// # Errors
/// When a file cannot be read, or the plan is not one of its manifest. The inner error: there is no plan.
pub fn of_network(
    files: &[PathBuf],
    manifest: &NetworkManifest,
    sought: Sought,
) -> Result<Result<NetworkPlan, NetworkRefusal>, Failure> {
    let old = diff::pair(files)?;
    if old.has_hosts {
        return Err(other_kind("a network with tasks on its hosts, and the new one has none"));
    }
    let wanted = &manifest.traffic;
    match keep_network((&old.system.traffic, &old.plan.network), wanted) {
        Ok((plan, others)) => {
            if let Err(violation) = check_network(&plan, wanted) {
                return Ok(Err(NetworkRefusal::Rejected { violation: violation.to_string() }));
            }
            output::note(&told(&others));
            Ok(Ok(plan))
        }
        Err(KeepError::Flows(refusal)) => Ok(Err(*refusal)),
        Err(error) => {
            output::note(&format!("{error}; planned anew"));
            Ok(network::accepted(wanted, sought))
        }
    }
}

/// A plan of a system that keeps what the files' plan has. Says on the standard error what it did not keep.
///
/// # Errors
/// When a file cannot be read, or the plan is not one of its manifest. The inner error: there is no plan.
pub fn of_system(
    files: &[PathBuf],
    wanted: &System,
    sought: Sought,
) -> Result<Result<SystemPlan, SystemRefusal>, Failure> {
    let old = diff::pair(files)?;
    if !old.has_hosts {
        return Err(other_kind("a network without tasks, and the new one has some"));
    }
    let kept = match keep_system((&old.system, &old.plan), wanted, &|system| system::accepted(system, sought))
    {
        Ok(kept) => kept,
        Err(refusal) => {
            let reason = refusal.reason().replace('\n', "\n  ");
            output::note(&format!(
                "with the windows as they were there is no plan; planned anew\n  {reason}"
            ));
            return Ok(system::accepted(wanted, sought));
        }
    };
    if let Err(violations) = check_system(&kept.plan, wanted) {
        let violation = violations.first().map(ToString::to_string).unwrap_or_default();
        return Ok(Err(SystemRefusal::Rejected { violation }));
    }
    output::note(&match kept.hosts.as_slice() {
        [] => "kept: the tables of all hosts".to_owned(),
        hosts => format!("planned anew: the tables of {}", hosts.join(", ")),
    });
    match &kept.moved {
        Ok(others) => output::note(&told(others)),
        Err(error) => output::note(&format!("{error}; all links were planned anew")),
    }
    Ok(Ok(kept.plan))
}

fn other_kind(what: &str) -> Failure {
    Failure::new(format!("the plan to keep is one of {what}"), "leave --keep out")
}

/// Names that are told one by one.
const NAMED_MAX: usize = 12;

fn told(others: &BTreeSet<String>) -> String {
    if others.is_empty() {
        return "kept: no channel that is declared as before has moved".to_owned();
    }
    let named: Vec<_> = others.iter().take(NAMED_MAX).map(|name| format!("\"{name}\"")).collect();
    let more = others.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("kept, but for channels that had to move: {}{more}", named.join(", "))
}
