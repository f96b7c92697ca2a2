//! A new plan in which what can stay stays: channels go, change and come, one after the other, beside those that are declared as before.

use super::model::Traffic;
use super::plan::NetworkPlan;
use super::session::{Session, SessionError};
use super::{NetworkRefusal, admit_flows};
use std::collections::{BTreeMap, BTreeSet};

/// Why nothing can be kept.
#[derive(Clone, Debug, thiserror::Error)]
pub enum KeepError {
    /// Hosts, switches, links, the error of the clocks or the rules are others.
    #[error("the network itself differs, so nothing can be kept")]
    Network,
    /// A channel cannot be changed so.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Beside the table that is kept, a channel outside it is late.
    #[error("beside what is kept, a channel outside the time table would be late")]
    Flows(Box<NetworkRefusal>),
}

/// A plan of what is wanted that keeps what an old one has: channels that are declared as before stay where they are, unless they must give way. These are
/// named.
///
/// # Errors
/// Why nothing is kept; then it is to be planned anew.
pub fn keep_network(
    (old, kept): (&Traffic, &NetworkPlan),
    wanted: &Traffic,
) -> Result<(NetworkPlan, BTreeSet<String>), KeepError> {
    let same = old.network == wanted.network
        && old.clock_error == wanted.clock_error
        && old.whole_cycles == wanted.whole_cycles;
    if !same {
        return Err(KeepError::Network);
    }
    let (plan, moved) = changed(old, kept, wanted)?;
    let plan = admit_flows(wanted, plan).map_err(|refusal| KeepError::Flows(Box::new(refusal)))?;
    Ok((plan, moved))
}

/// Removes, then alters, then adds; the plan in the order of what is wanted, and who else moved.
fn changed(
    old: &Traffic,
    kept: &NetworkPlan,
    wanted: &Traffic,
) -> Result<(NetworkPlan, BTreeSet<String>), SessionError> {
    let before: BTreeMap<&str, _> = old.streams.iter().map(|stream| (stream.name.as_str(), stream)).collect();
    let names: BTreeSet<&str> = wanted.streams.iter().map(|stream| stream.name.as_str()).collect();
    let mut session = Session::new(old.clone(), kept)?;
    for name in before.keys().filter(|name| !names.contains(*name)) {
        session.remove(name)?;
    }
    let mut others = BTreeSet::new();
    for stream in &wanted.streams {
        let moved = match before.get(stream.name.as_str()) {
            Some(same) if *same == stream => continue,
            Some(_) => session.alter(&stream.name, stream.clone())?,
            None => session.add(stream.clone())?,
        };
        others.extend(moved.others);
    }
    for stream in &wanted.streams {
        if before.get(stream.name.as_str()) != Some(&stream) {
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
