//! Declarations of a system that do not go together, while without any one of them the others do.
//!
//! Where a host or the network refuses by itself, its planner names them. What only the search for windows does not reconcile is freed of
//! everything that it fails without: halves first, then quarters, at last each declaration by itself (A. Zeller, R. Hildebrandt,
//! "Simplifying and isolating failure-inducing input", 2002).

use super::explain::SystemRefusal;
use super::model::{Crossing, Port, System};
use super::part::{Element, along, elements};
use super::search;
use crate::network::{Effort, NetworkRefusal};
use crate::{DeclarationKind, Refusal};
use leveret_types::{ChannelId, StreamId, TaskId};
use std::collections::BTreeSet;

/// Steps of the network's planner in each trial.
const STEPS_PER_PLAN: u64 = 400_000;

/// Plans changed systems within a number of steps.
pub(super) struct Trials {
    left: u64,
    /// Whether something was left untried for want of steps.
    pub exhausted: bool,
}

impl Trials {
    pub fn new(most: u64) -> Self {
        Self { left: most, exhausted: false }
    }

    /// Whether there are no steps left.
    pub fn is_spent(&mut self) -> bool {
        self.exhausted |= self.left == 0;
        self.left == 0
    }

    /// Whether a system has a plan that is found soon.
    pub fn fits(&mut self, system: &System) -> bool {
        if self.is_spent() {
            return false;
        }
        let effort = Effort { seed: 0, steps: STEPS_PER_PLAN.min(self.left) };
        let (fits, steps) = search::has_plan(system, effort, self.left);
        self.left = self.left.saturating_sub(steps);
        fits
    }
}

/// Declarations that do not go together.
pub(super) struct Conflict {
    pub elements: BTreeSet<Element>,
    /// Whether without any one of them the others have a plan.
    pub minimal: bool,
}

/// What does not go together in a system that was refused.
pub(super) fn find(system: &System, refusal: &SystemRefusal, trials: &mut Trials) -> Conflict {
    let named = named(system, refusal);
    let all = elements(system);
    if refusal.is_proven() && !named.is_empty() {
        // What a planner proved, it has freed of the rest by itself.
        let minimal = match refusal {
            SystemRefusal::Host { refusal, .. } => refusal.minimal,
            SystemRefusal::Network { refusal, .. } => {
                !matches!(&**refusal, NetworkRefusal::Conflict { minimal: false, .. })
            }
            _ => true,
        };
        return Conflict { elements: named, minimal };
    }
    // A set that is named soon saves the search for it.
    let start = if !named.is_empty() && !trials.fits(&system.only(&named)) { named } else { all };
    shrink(system, start, trials)
}

/// What a refusal names.
fn named(system: &System, refusal: &SystemRefusal) -> BTreeSet<Element> {
    match refusal {
        SystemRefusal::Host { host, refusal, .. } => {
            let hosts = 0..system.hosts.len() as u16;
            let host = hosts.into_iter().find(|index| system.host_name(*index) == host);
            host.map_or_else(BTreeSet::new, |host| of_host(system, host, refusal))
        }
        SystemRefusal::Network { refusal, .. } => of_network(system, refusal),
        SystemRefusal::Chain { chain, .. } | SystemRefusal::Unfollowed { chain } => {
            let found = (0u16..).zip(&system.chains).find(|(_, one)| one.name == *chain);
            let elements = found.map(|(index, one)| {
                std::iter::once(Element::Chain(index)).chain(along(system, one)).collect()
            });
            elements.unwrap_or_default()
        }
        SystemRefusal::Invalid(_) | SystemRefusal::Rejected { .. } => BTreeSet::new(),
    }
}

/// The tasks and channels of a host's conflict.
fn of_host(system: &System, host: u16, refusal: &Refusal) -> BTreeSet<Element> {
    let job = &system.hosts[usize::from(host)].job;
    let mut found = BTreeSet::new();
    for declaration in &refusal.conflict {
        let name = &declaration.object.name;
        match declaration.object.kind {
            DeclarationKind::Task => {
                let task = job.tasks.iter().position(|task| task.name == *name);
                found.extend(task.map(|task| Element::Task { host, task: TaskId(task as u16) }));
            }
            DeclarationKind::Channel => {
                let is_named = |place: &usize| crate::validate::channel_name(&job.channels[*place]) == *name;
                for place in (0..job.channels.len()).filter(is_named) {
                    found.extend(channel(system, Port { host, channel: ChannelId(place as u16) }));
                }
            }
        }
    }
    found
}

/// The declaration that a channel of a host is of.
fn channel(system: &System, port: Port) -> Option<Element> {
    let ends = |crossing: &Crossing| crossing.ports().any(|end| end == port);
    match system.crossings.iter().position(ends) {
        Some(crossing) => Some(Element::Crossing(crossing as u16)),
        None => elements(system).get(&Element::Channel(port)).copied(),
    }
}

fn of_network(system: &System, refusal: &NetworkRefusal) -> BTreeSet<Element> {
    if let NetworkRefusal::Late(late) = refusal {
        return BTreeSet::from([Element::Flow(late.flow as u32)]);
    }
    let first = system.traffic.streams.len();
    let element = |stream: &StreamId| match stream.index().checked_sub(first) {
        Some(crossing) => Element::Crossing(crossing as u16),
        None => Element::Stream(*stream),
    };
    refusal.streams().iter().map(element).collect()
}

/// Frees a set without a plan of what it has none without.
fn shrink(system: &System, mut set: BTreeSet<Element>, trials: &mut Trials) -> Conflict {
    if trials.fits(&system.only(&set)) {
        // Less effort finds a plan here than was made in vain before: there is nothing to be said of parts.
        return Conflict { elements: set, minimal: false };
    }
    let mut length = set.len().div_ceil(2);
    while length > 0 {
        let mut shrunk = false;
        let order: Vec<Element> = set.iter().copied().collect();
        for some in order.chunks(length) {
            let fewer: BTreeSet<Element> = set.iter().copied().filter(|one| !some.contains(one)).collect();
            if fewer.len() < set.len() && !fewer.is_empty() && !trials.fits(&system.only(&fewer)) {
                if trials.is_spent() {
                    return Conflict { elements: set, minimal: false };
                }
                set = fewer;
                shrunk = true;
            }
        }
        // A declaration that was needed before need not be any more.
        length = if length > 1 { length / 2 } else { usize::from(shrunk) };
    }
    Conflict { elements: set, minimal: true }
}
