//! What shows that a system has no plan, for a checker that trusts nobody.

use super::explain::{ChainLimit, SystemRefusal};
use super::model::System;
use super::project::{parts, relaxed, widest};
use crate::network::{self, Certificate};
use crate::validate;
use crate::windows::charged;
use crate::{DeclarationKind, Refusal, Task};
use leveret_types::{Nanos, TaskId};
use serde::{Deserialize, Serialize};

/// Why a system has no plan, whatever windows are chosen for channels that declare none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SystemCertificate {
    /// The network has none for its own channels, or for channels between members.
    Network(Certificate),
    /// What must run on a core, or on all cores of a host, does not fit.
    Core {
        /// Index of the host.
        host: u16,
        /// The core, by the kernel's number; none: all cores of the host together.
        core: Option<u32>,
        /// The stretch of time; none: the whole round of the host.
        within: Option<(Nanos, Nanos)>,
    },
    /// A task that does not fit into its window, or needs more than a core has.
    Task {
        /// Index of the host.
        host: u16,
        /// The task.
        task: TaskId,
    },
    /// A chain that takes longer than it may whenever its tasks run within their windows.
    Chain {
        /// Its place among the chains.
        chain: u16,
        /// Which limit.
        limit: ChainLimit,
    },
}

/// The certificate of a refusal. None where nothing is proven, where a declaration itself is wrong, and where only a search of every order
/// on a host's cores is the proof.
pub fn system_certificate(system: &System, refusal: &SystemRefusal) -> Option<SystemCertificate> {
    // What a job itself declares wrongly is no argument, on whichever host.
    if !refusal.is_proven() || system.hosts.iter().any(|host| validate(&host.job).is_err()) {
        return None;
    }
    match refusal {
        SystemRefusal::Network { refusal, .. } => {
            let traffic = parts(system, &widest(system)).traffic;
            network::certificate(&traffic, refusal).map(SystemCertificate::Network)
        }
        SystemRefusal::Host { host, refusal, .. } => {
            let hosts = 0..system.hosts.len() as u16;
            let host = hosts.into_iter().find(|index| system.host_name(*index) == host)?;
            of_host(system, host, refusal)
        }
        SystemRefusal::Chain { chain, limit, least: true, .. } => {
            let chain = system.chains.iter().position(|one| one.name == *chain)?;
            Some(SystemCertificate::Chain { chain: chain as u16, limit: *limit })
        }
        _ => None,
    }
}

fn of_host(system: &System, host: u16, refusal: &Refusal) -> Option<SystemCertificate> {
    let job = relaxed(system, usize::from(host), &widest(system));
    let tasks = refusal.conflict.iter().filter(|one| one.object.kind == DeclarationKind::Task);
    let mut tasks = tasks.filter_map(|one| job.tasks.iter().position(|task| task.name == one.object.name));
    let alone = tasks.next().filter(|_| tasks.next().is_none());
    let by_itself = alone.map(|task| SystemCertificate::Task { host, task: TaskId(task as u16) });
    match refusal.overload.as_deref() {
        Some(overload) if overload.core.is_some() || overload.cores == job.cores.len() => {
            Some(SystemCertificate::Core { host, core: overload.core, within: overload.within })
        }
        // One core, of several that the task could choose from.
        Some(_) => by_itself,
        None => by_itself.filter(|_| {
            let task = alone.map(|task| &job.tasks[task]);
            let room = |task: &Task| task.deadline - task.release - job.costs.clock_error.saturating_mul(2);
            task.is_some_and(|task| charged(&job, task) > room(task).0)
        }),
    }
}

impl SystemCertificate {
    /// What it is about, in the words of the manifest.
    pub fn about(&self, system: &System) -> Vec<String> {
        let own = |host: u16| system.hosts.get(usize::from(host)).map(|host| &host.job);
        match self {
            Self::Network(network) => {
                let traffic = parts(system, &widest(system)).traffic;
                let streams = network.streams().iter().filter(|id| id.index() < traffic.streams.len());
                streams.map(|id| format!("channel \"{}\"", traffic.name(*id))).collect()
            }
            Self::Core { host, core, .. } => {
                let core = core.map_or_else(|| "the cores".to_owned(), |core| format!("core {core}"));
                vec![format!("{core} of host \"{}\"", system.host_name(*host))]
            }
            Self::Task { host, task } => {
                let task = own(*host).and_then(|job| job.tasks.get(task.index()));
                task.iter().map(|task| format!("task \"{}\"", task.name)).collect()
            }
            Self::Chain { chain, .. } => {
                let chain = system.chains.get(usize::from(*chain));
                chain.iter().map(|chain| format!("chain \"{}\"", chain.name)).collect()
            }
        }
    }
}
