//! `leveret plan --keep`: a new plan in which what can stay stays.

use crate::failure::Failure;
use crate::network::{self, Sought};
use crate::{diff, output};
use leveret_manifest::NetworkManifest;
use leveret_plan::checker::check_network;
use leveret_plan::network::{NetworkPlan, NetworkRefusal, Session, SessionError, Traffic, admit_flows};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A plan of the manifest that keeps what the files' plan has. Says on the standard error what had to move.
///
/// # Errors
/// When a file cannot be read, or the plan is not one of its manifest. The inner error: there is no plan.
pub fn plan(
    files: &[PathBuf],
    manifest: &NetworkManifest,
    sought: Sought,
) -> Result<Result<NetworkPlan, NetworkRefusal>, Failure> {
    let (old, kept) = diff::pair(files)?;
    let wanted = &manifest.traffic;
    let same = old.traffic.network == wanted.network
        && old.traffic.clock_error == wanted.clock_error
        && old.traffic.whole_cycles == wanted.whole_cycles;
    if !same {
        output::note("the network itself differs, so nothing can be kept: planned anew");
        return Ok(network::accepted(wanted, sought));
    }
    match changed(old.traffic, &kept, wanted) {
        Ok((plan, others)) => {
            let plan = match admit_flows(wanted, plan, sought.effort) {
                Ok(plan) => plan,
                Err(refusal) => return Ok(Err(refusal)),
            };
            match check_network(&plan, wanted) {
                Ok(()) => {}
                Err(violation) => {
                    return Ok(Err(NetworkRefusal::Rejected { violation: violation.to_string() }));
                }
            }
            output::note(&told(&others));
            Ok(Ok(plan))
        }
        Err(error) => {
            output::note(&format!("{error}; planned anew"));
            Ok(network::accepted(wanted, sought))
        }
    }
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

/// Removes, then alters, then adds; the plan in the order of what is wanted, and who else moved.
fn changed(
    old: Traffic,
    kept: &NetworkPlan,
    wanted: &Traffic,
) -> Result<(NetworkPlan, BTreeSet<String>), SessionError> {
    let before: BTreeMap<String, _> =
        old.streams.iter().map(|stream| (stream.name.clone(), stream.clone())).collect();
    let names: BTreeSet<&str> = wanted.streams.iter().map(|stream| stream.name.as_str()).collect();
    let mut session = Session::new(old, kept)?;
    for name in before.keys().filter(|name| !names.contains(name.as_str())) {
        session.remove(name)?;
    }
    let mut others = BTreeSet::new();
    for stream in &wanted.streams {
        let moved = match before.get(&stream.name) {
            Some(same) if same == stream => continue,
            Some(_) => session.alter(&stream.name, stream.clone())?,
            None => session.add(stream.clone())?,
        };
        others.extend(moved.others);
    }
    for stream in &wanted.streams {
        if before.get(&stream.name) != Some(stream) {
            others.remove(&stream.name);
        }
    }
    Ok((in_order(session.plan(), wanted), others))
}

/// The same plan, with the channels numbered as they are wanted.
fn in_order((traffic, mut plan): (Traffic, NetworkPlan), wanted: &Traffic) -> NetworkPlan {
    let place: BTreeMap<&str, u32> = wanted
        .streams
        .iter()
        .enumerate()
        .map(|(index, stream)| (stream.name.as_str(), index as u32))
        .collect();
    let number: Vec<u32> = traffic.streams.iter().map(|stream| place[stream.name.as_str()]).collect();
    let mut ways = vec![Vec::new(); number.len()];
    for (index, way) in plan.ways.into_iter().enumerate() {
        ways[number[index] as usize] = way;
    }
    plan.ways = ways;
    for slot in plan.links.iter_mut().flatten() {
        slot.stream.0 = number[slot.stream.index()];
    }
    plan
}
