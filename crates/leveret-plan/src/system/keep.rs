//! A new plan of a system in which what can stay stays: windows that were chosen, tables of hosts of which nothing changed, and slots.

use super::SystemRefusal;
use super::chain::walk;
use super::model::{Crossing, System, Window};
use super::plan::SystemPlan;
use super::project::parts;
use crate::network::{KeepError, keep_network};
use std::collections::BTreeSet;

/// A plan that keeps what another has, and what it does not keep.
#[derive(Clone, Debug)]
pub struct KeptSystem {
    /// The plan. It is still to be checked.
    pub plan: SystemPlan,
    /// Hosts whose tasks were planned anew.
    pub hosts: Vec<String>,
    /// Channels that are declared as before and had to move on the links; or why all links were planned anew.
    pub moved: Result<BTreeSet<String>, KeepError>,
}

/// How a system is planned.
pub type SystemPlanner<'a> = dyn Fn(&System) -> Result<SystemPlan, SystemRefusal> + 'a;

/// A plan of what is wanted that keeps what an old one has. A window that was chosen stays, where its channel is declared as before; a host whose job is what it was
/// keeps its table; channels keep their slots as [`keep_network`] has it.
///
/// # Errors
/// With the windows as they were there is no plan, or none was found: nothing can be kept.
pub fn keep_system(
    (old, kept): (&System, &SystemPlan),
    wanted: &System,
    planner: &SystemPlanner<'_>,
) -> Result<KeptSystem, SystemRefusal> {
    let mut fixed = wanted.clone();
    for (index, crossing) in wanted.crossings.iter().enumerate() {
        if crossing.window.is_none() {
            fixed.crossings[index].window = window_before((old, kept), wanted, crossing);
        }
    }
    let mut plan = planner(&fixed)?;
    let (before, now) = (parts(old, &kept.windows), parts(wanted, &plan.windows));
    let mut hosts = Vec::new();
    let mut tables = plan.hosts.clone();
    for (index, table) in tables.iter_mut().enumerate() {
        let name = wanted.host_name(index as u16);
        let same = (0..old.hosts.len())
            .find(|host| old.host_name(*host as u16) == name && before.jobs[*host] == now.jobs[index]);
        match same {
            Some(host) => *table = kept.hosts[host].clone(),
            None => hosts.push(name.to_owned()),
        }
    }
    let fitting = SystemPlan { hosts: tables, ..plan.clone() };
    match with_chains(wanted, fitting) {
        Some(fitting) => plan = fitting,
        // A chain that is new or has a new limit needs other tables.
        None => {
            hosts = (0..wanted.hosts.len()).map(|host| wanted.host_name(host as u16).to_owned()).collect()
        }
    }
    let moved = match keep_network((&before.traffic, &kept.network), &now.traffic) {
        Ok((network, moved)) => {
            plan.network = network;
            Ok(moved)
        }
        Err(error) => Err(error),
    };
    Ok(KeptSystem { plan, hosts, moved })
}

/// The plan with the times of its chains, if they keep their limits.
fn with_chains(system: &System, mut plan: SystemPlan) -> Option<SystemPlan> {
    let mut chains = Vec::with_capacity(system.chains.len());
    for chain in &system.chains {
        let planned = walk(system, &plan.windows, &plan.hosts, chain).ok()?.planned;
        let keeps = |limit: Option<leveret_types::Nanos>, takes| limit.is_none_or(|limit| takes <= limit);
        if !keeps(chain.reaction, planned.reaction) || !keeps(chain.age, planned.age) {
            return None;
        }
        chains.push(planned);
    }
    plan.chains = chains;
    Some(plan)
}

/// The window that a crossing had, if it is declared as before.
fn window_before(
    (old, kept): (&System, &SystemPlan),
    wanted: &System,
    crossing: &Crossing,
) -> Option<Window> {
    let place = old.crossings.iter().position(|one| one.name == crossing.name)?;
    (declared(old, &old.crossings[place]) == declared(wanted, crossing)).then(|| kept.windows[place])
}

/// What decides whether a window still fits: all but the numbers of hosts and channels, for which names stand.
fn declared(system: &System, crossing: &Crossing) -> (Crossing, Vec<String>) {
    let ends = crossing.targets.iter().chain([&crossing.source]);
    let names = ends.map(|port| system.host_name(port.host).to_owned()).collect();
    let plain = Crossing {
        source: super::Port { host: 0, channel: leveret_types::ChannelId(0) },
        targets: Vec::new(),
        ways: None,
        ..crossing.clone()
    };
    (plain, names)
}
