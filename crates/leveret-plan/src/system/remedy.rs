//! Changes with which a refused system would have a plan, each of them planned before it is named.
//!
//! The least of each is sought with what conflicts alone, which is quick; then the whole system is planned with it, and with more of it
//! where the others do not leave that much. What the planners of a host and of the network found for themselves comes first.

use super::change::{Paced, SystemChange};
use super::conflict::{self, Trials};
use super::explain::{ChainLimit, SystemRefusal};
use super::model::{Chain, Crossing, Port, System, Window};
use super::moved::can_move;
use super::needs::Needs;
use super::part::{Element, elements};
use super::plan::SystemPlan;
use super::search::plan_system_within;
use crate::explain::{Rated, together};
use crate::network::{Effort, NetworkChange, RATES, StreamChange, remedies};
use crate::scale::Scale;
use crate::{Change, CoreChoice, DeclarationKind, ExplainBudget, ObjectName, Qos, Task};
use leveret_types::{BitRate, ByteSize, LinkId, Nanos, TaskId};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::mem::discriminant;

/// More about a refusal than its reason.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SystemExplanation {
    /// Declarations that do not go together.
    pub conflict: BTreeSet<Element>,
    /// Whether without any one of them the others have a plan.
    pub minimal: bool,
    /// What is short of time: a core, a link, or a part of a chain.
    pub bottleneck: Option<String>,
    /// Single changes with each of which the whole system has a plan, the smallest first.
    pub fits: Vec<SystemChange>,
    /// Whether something was left untried, since the search ended at its bound of steps.
    pub exhausted: bool,
}

/// Declarations of one sort of a conflict that are changed, the first ones.
const CHANGED_MAX: usize = 8;
/// Cables that are made faster.
const LINKS_MAX: usize = 4;
/// What a period is made longer and shorter by.
const FACTORS: [i64; 4] = [2, 4, 5, 10];
/// Cores that are tried for one task.
const CORES_MAX: usize = 8;
/// Other hosts that are tried for one member.
const HOSTS_MAX: usize = 4;
/// Times below which nothing is sought.
const MICRO: i64 = 1_000;
/// Narrower windows that are tried.
const STEPS: i64 = 8;

/// Says what does not go together in a refused system, and which changes would fit, at most `most`. The effort is that with which it was
/// refused; the budget bounds the steps of either search.
pub fn explain_system(
    system: &System,
    refusal: &SystemRefusal,
    (effort, budget): (Effort, ExplainBudget),
    most: usize,
) -> SystemExplanation {
    if matches!(refusal, SystemRefusal::Invalid(_) | SystemRefusal::Rejected { .. }) {
        return SystemExplanation::default();
    }
    let mut trials = Trials::new(budget.conflict);
    let conflict = conflict::find(system, refusal, &mut trials);
    let mut finder = Finder::new(system, &conflict.elements, (effort, budget.changes));
    let mut fits = finder.proposed(refusal);
    fits.extend(finder.least(refusal, &fits));
    fits.sort_by_cached_key(|change| change.size(system));
    // Who proposes may differ, and make the same of the system.
    let mut made: Vec<System> = Vec::new();
    fits.retain(|change| {
        let mut changed = system.clone();
        change.apply(&mut changed);
        let is_new = !made.contains(&changed);
        made.extend(is_new.then_some(changed));
        is_new
    });
    fits.truncate(most);
    let exhausted = trials.exhausted || finder.trials.exhausted;
    let bottleneck = refusal.bottleneck();
    SystemExplanation { conflict: conflict.elements, minimal: conflict.minimal, bottleneck, fits, exhausted }
}

struct Finder<'a> {
    system: &'a System,
    /// What conflicts, by itself: it has no plan.
    part: System,
    elements: &'a BTreeSet<Element>,
    effort: Effort,
    trials: Trials,
}

impl<'a> Finder<'a> {
    fn new(system: &'a System, elements: &'a BTreeSet<Element>, (effort, most): (Effort, u64)) -> Self {
        let mut trials = Trials::new(most);
        let part = system.only(elements);
        // What a host refuses need not be refused where channels are left out.
        let part = if trials.fits(&part) { system.clone() } else { part };
        Self { system, part, elements, effort, trials }
    }

    /// Whether the whole system has a plan with a change.
    fn fits(&mut self, change: &SystemChange) -> bool {
        let mut changed = self.system.clone();
        change.apply(&mut changed);
        self.trials.fits(&changed) && planned(&changed, self.effort).is_some()
    }

    /// Of what the planner of a host or of the network proposes, what the whole has a plan with.
    fn proposed(&mut self, refusal: &SystemRefusal) -> Vec<SystemChange> {
        let changes: Vec<SystemChange> = match refusal {
            SystemRefusal::Host { host, refusal, .. } => {
                let hosts = 0..self.system.hosts.len() as u16;
                let host = hosts.into_iter().find(|index| self.system.host_name(*index) == host);
                let told = host.map(|host| {
                    refusal.fits.iter().map(move |remedy| SystemChange::Host { host, remedy: remedy.clone() })
                });
                told.into_iter().flatten().collect()
            }
            SystemRefusal::Network { refusal, traffic, chosen } => {
                let found = remedies(traffic, refusal, usize::MAX);
                let is_chosen = |name: &str| chosen.iter().any(|(chosen, _)| chosen == name);
                found.into_iter().filter_map(|change| self.of_network(change, is_chosen)).collect()
            }
            _ => Vec::new(),
        };
        changes.into_iter().filter(|change| self.fits(change)).collect()
    }

    /// A change of the network's traffic as one of the system; none where that has no such declaration, or more must change with it.
    fn of_network(&self, change: NetworkChange, is_chosen: impl Fn(&str) -> bool) -> Option<SystemChange> {
        let (stream, change) = match change {
            NetworkChange::Stream(stream, change) => (stream, change),
            NetworkChange::Flow(flow, change) => {
                let channel = self.system.traffic.flows.get(flow)?.name.clone();
                return Some(SystemChange::Flow { channel, change });
            }
            other => return Some(SystemChange::Network(other)),
        };
        let first = self.system.traffic.streams.len();
        let Some(crossing) = stream.index().checked_sub(first) else {
            let channel = self.system.traffic.name(stream).to_owned();
            return Some(SystemChange::Channel { channel, change });
        };
        let crossing = &self.system.crossings[crossing];
        match change {
            StreamChange::Period(to) => {
                self.period(crossing.source.host, Rated::Channel(crossing.source.channel.index()), to)
            }
            StreamChange::Release(_) | StreamChange::Deadline(_) if is_chosen(&crossing.name) => None,
            StreamChange::Release(_) | StreamChange::Deadline(_) if crossing.window.is_none() => None,
            _ => Some(SystemChange::Channel { channel: crossing.name.clone(), change }),
        }
    }

    /// A period for a task or channel, and all that must have it then, on every host.
    fn period(&self, host: u16, first: Rated, to: Nanos) -> Option<SystemChange> {
        let mut found: BTreeSet<(u16, Rated)> = BTreeSet::new();
        let mut next = vec![(host, first)];
        while let Some((host, rated)) = next.pop() {
            for tied in together(&self.system.hosts[usize::from(host)].job, rated, to) {
                if !found.insert((host, tied)) {
                    continue;
                }
                let Rated::Channel(channel) = tied else { continue };
                let is_end = |crossing: &&Crossing| {
                    crossing.ports().any(|port| port.host == host && port.channel.index() == channel)
                };
                let ends = self.system.crossings.iter().filter(is_end).flat_map(Crossing::ports);
                next.extend(ends.map(|port| (port.host, Rated::Channel(port.channel.index()))));
            }
        }
        let mut of: Vec<Paced> =
            found.into_iter().filter_map(|(host, rated)| Paced::of(self.system, host, rated)).collect();
        of.retain(|paced| paced.from != to);
        of.sort();
        of.dedup();
        (!of.is_empty()).then_some(SystemChange::Period { of, to })
    }

    /// The least of each change of what conflicts with which the whole system has a plan. What was found is not sought again.
    fn least(&mut self, refusal: &SystemRefusal, known: &[SystemChange]) -> Vec<SystemChange> {
        let mut found: Vec<SystemChange> = Vec::new();
        for scale in self.scales(refusal) {
            let probe = (scale.make)(scale.most);
            if self.trials.is_spent() || known.iter().chain(&found).any(|one| is_alike(one, &probe)) {
                continue;
            }
            let least = {
                // One budget of steps for both.
                let trials = RefCell::new(&mut self.trials);
                let with = |system: &System, change: &SystemChange| {
                    let mut changed = system.clone();
                    change.apply(&mut changed);
                    changed
                };
                let whole = |change: &SystemChange| {
                    let changed = with(self.system, change);
                    trials.borrow_mut().fits(&changed) && planned(&changed, self.effort).is_some()
                };
                scale.least(|change| trials.borrow_mut().fits(&with(&self.part, change)), whole)
            };
            found.extend(least);
        }
        found
    }

    /// What may be changed: chains, windows, what moves, what runs, the network.
    fn scales(&self, refusal: &SystemRefusal) -> Vec<Scale<SystemChange>> {
        let mut scales = Vec::new();
        // Of a conflict of everything, nothing says where to begin.
        let elements = if self.elements.is_empty() { elements(self.system) } else { self.elements.clone() };
        let some = |is_one: fn(&Element) -> bool| elements.iter().copied().filter(is_one).take(CHANGED_MAX);
        let chains = some(|element| matches!(element, Element::Chain(_)));
        for element in chains {
            let Element::Chain(index) = element else { continue };
            scales.extend(self.of_chain(&self.system.chains[usize::from(index)]));
        }
        for element in some(|element| matches!(element, Element::Crossing(_))) {
            let Element::Crossing(index) = element else { continue };
            scales.extend(self.of_crossing(index));
        }
        for element in some(|element| matches!(element, Element::Task { .. })) {
            let Element::Task { host, task } = element else { continue };
            scales.extend(self.of_task(host, task));
        }
        for element in some(|element| matches!(element, Element::Channel(_))) {
            let Element::Channel(port) = element else { continue };
            scales.extend(of_channel(self.system, port));
        }
        scales.extend(self.of_links(refusal, &elements));
        if self.system.traffic.clock_error > Nanos::ZERO {
            let make = |value| SystemChange::Network(NetworkChange::ClockError(Nanos(value)));
            scales.push(scale(make, self.system.traffic.clock_error.0, 0));
        }
        scales
    }

    /// The limits of a chain, up to what it takes when nobody asks for less.
    fn of_chain(&self, chain: &Chain) -> Vec<Scale<SystemChange>> {
        let mut free = self.system.clone();
        for other in free.chains.iter_mut().filter(|other| other.name == chain.name) {
            (other.reaction, other.age) = (None, None);
        }
        let place = self.system.chains.iter().position(|other| other.name == chain.name);
        let plan = planned(&free, self.effort);
        let taken = place.zip(plan).and_then(|(place, plan)| plan.chains.get(place).copied());
        let Some(taken) = taken else { return Vec::new() };
        let mut scales = Vec::new();
        for limit in [ChainLimit::Reaction, ChainLimit::Age] {
            let (Some(now), takes) = (limit.of(chain), limit.takes(taken)) else { continue };
            if takes > now && takes < Nanos::MAX {
                let name = chain.name.clone();
                let make = move |value| SystemChange::Limit { chain: name.clone(), limit, to: Nanos(value) };
                scales.push(scale(make, now.0, (takes.0 + MICRO - 1) / MICRO * MICRO));
            }
        }
        scales
    }

    /// Window, size and ways of a channel between hosts.
    fn of_crossing(&self, index: u16) -> Vec<Scale<SystemChange>> {
        let crossing = &self.system.crossings[usize::from(index)];
        // What it takes at least, with the network for itself.
        let least = Needs::of(self.system).map_or(MICRO, |needs| needs.crossings[usize::from(index)]);
        let name = || crossing.name.clone();
        let mut scales = Vec::new();
        let change = |change: fn(Nanos) -> StreamChange| {
            let channel = name();
            move |value: i64| SystemChange::Channel { channel: channel.clone(), change: change(Nanos(value)) }
        };
        if let Some(Window { release, deadline }) = crossing.window {
            scales.push(Scale::fixed(SystemChange::OpenWindow { channel: name() }));
            scales.push(scale(change(StreamChange::Deadline), deadline.0, deadline.0 + crossing.period.0));
            scales.push(scale(change(StreamChange::Release), release.0, 0));
            scales.extend(steps(&change(StreamChange::Deadline), deadline.0, release.0 + least));
            scales.extend(steps(&change(StreamChange::Release), release.0, deadline.0 - least));
        }
        if let Some(latency) = crossing.latency {
            scales.push(scale(change(StreamChange::Latency), latency.0, latency.0.max(crossing.period.0)));
        }
        if let Some(jitter) = crossing.jitter {
            scales.push(scale(change(StreamChange::Jitter), jitter.0, jitter.0.max(crossing.period.0)));
        }
        let fixed = |change| Scale::fixed(SystemChange::Channel { channel: name(), change });
        if crossing.ways.is_some() {
            scales.push(fixed(StreamChange::FreeWays));
        }
        if crossing.copies == 2 {
            scales.push(fixed(StreamChange::OneWay));
        }
        let channel = name();
        let size = move |value: i64| {
            let change = StreamChange::Size(ByteSize(value.cast_unsigned()));
            SystemChange::Channel { channel: channel.clone(), change }
        };
        let now = i64::try_from(crossing.size.0).unwrap_or(i64::MAX);
        scales.push(Scale { step: 1, ..scale(size, now, 1) });
        let source = crossing.source;
        scales.extend(self.periods(source.host, Rated::Channel(source.channel.index()), crossing.period));
        scales
    }

    /// Other periods: the nearest longer and shorter ones of what has this one.
    fn periods(&self, host: u16, rated: Rated, now: Nanos) -> Vec<Scale<SystemChange>> {
        let longer = FACTORS.iter().map(|factor| now.saturating_mul(*factor));
        let shorter =
            FACTORS.iter().filter(|factor| now.0 % **factor == 0).map(|factor| Nanos(now.0 / factor));
        longer.chain(shorter).filter_map(|to| self.period(host, rated, to)).map(Scale::fixed).collect()
    }

    /// Core, budget, window and period of a task.
    fn of_task(&self, host: u16, id: TaskId) -> Vec<Scale<SystemChange>> {
        let task = self.system.task(host, id);
        let object = ObjectName { kind: DeclarationKind::Task, name: task.name.clone() };
        let mut scales = of_core(&self.system.hosts[usize::from(host)].job.cores, host, task);
        let hosts =
            (0..self.system.hosts.len() as u16).filter(|to| can_move(self.system, task.member, (host, *to)));
        let member = &self.system.hosts[usize::from(host)].job.members[task.member.index()].name;
        let other = |to: u16| SystemChange::Move { member: member.clone(), from: host, to };
        scales.extend(hosts.take(HOSTS_MAX).map(other).map(Scale::fixed));
        let from = task.budget;
        let budget = object.clone();
        let make = move |value: i64| {
            of_host(host, Change::Budget { object: budget.clone(), from, to: Nanos(value) })
        };
        scales.push(scale(make, from.0, (from.0 / 16).max(1)));
        let (release, deadline) = (task.release, task.deadline);
        let end = object.clone();
        let to_end = move |value: i64| {
            of_host(host, Change::Deadline { object: end.clone(), from: deadline, to: Nanos(value) })
        };
        let begin = move |value: i64| {
            of_host(host, Change::Release { object: object.clone(), from: release, to: Nanos(value) })
        };
        scales.push(scale(to_end, deadline.0, deadline.0 + task.period.0));
        scales.push(scale(begin, release.0, 0));
        scales.extend(self.periods(host, Rated::Task(id.index()), task.period));
        scales
    }

    /// Faster cables: the one that is short of time, and those at the ends of what conflicts.
    fn of_links(&self, refusal: &SystemRefusal, elements: &BTreeSet<Element>) -> Vec<Scale<SystemChange>> {
        let network = &self.system.traffic.network;
        let mut links: Vec<LinkId> = Vec::new();
        if let SystemRefusal::Network { refusal, traffic, .. } = refusal {
            links.extend(refusal.bottleneck(traffic));
        }
        for element in elements {
            let Element::Crossing(index) = element else { continue };
            let ports = self.system.crossings[usize::from(*index)].ports();
            let nodes: Vec<_> = ports.map(|port| self.system.hosts[usize::from(port.host)].node).collect();
            for (place, _) in
                network.links.iter().enumerate().filter(|(_, link)| nodes.contains(&link.source))
            {
                if !links.contains(&LinkId(place as u32)) {
                    links.push(LinkId(place as u32));
                }
            }
        }
        let faster = |link: &LinkId| {
            let (link, now) = (*link, network.links[link.index()].rate.0);
            let rates = RATES.into_iter().filter(move |rate| *rate > now).take(2);
            rates.map(move |rate| {
                Scale::fixed(SystemChange::Network(NetworkChange::Rate(link, BitRate(rate))))
            })
        };
        links.iter().take(LINKS_MAX).flat_map(faster).collect()
    }
}

fn scale(make: impl Fn(i64) -> SystemChange + 'static, now: i64, most: i64) -> Scale<SystemChange> {
    Scale { make: Box::new(make), now, most, step: MICRO }
}

/// Of a change of which too much helps as little as too little: so many steps of it, the smallest first.
fn steps(make: &impl Fn(i64) -> SystemChange, now: i64, most: i64) -> Vec<Scale<SystemChange>> {
    let value = |step: i64| now + (most - now) / STEPS * step;
    (1..=STEPS).map(|step| Scale::fixed(make(value(step)))).collect()
}

fn of_host(host: u16, change: Change) -> SystemChange {
    SystemChange::Host { host, remedy: change.into() }
}

/// The other cores that a task may be pinned to.
fn of_core(cores: &[u32], host: u16, task: &Task) -> Vec<Scale<SystemChange>> {
    let CoreChoice::Pinned(present) = task.core else { return Vec::new() };
    let object = ObjectName { kind: DeclarationKind::Task, name: task.name.clone() };
    let others = cores.iter().filter(|core| **core != present).take(CORES_MAX);
    let change = |to: &u32| Change::Core { object: object.clone(), from: Some(present), to: *to };
    others.map(|to| Scale::fixed(of_host(host, change(to)))).collect()
}

/// The window of a channel within a host.
fn of_channel(system: &System, port: Port) -> Vec<Scale<SystemChange>> {
    let job = &system.hosts[usize::from(port.host)].job;
    let Qos::TimeDriven { period, release, deadline, .. } = job.channels[port.channel.index()].qos else {
        return Vec::new();
    };
    let object = Rated::Channel(port.channel.index()).name(job);
    let change = move |value: i64| {
        of_host(port.host, Change::Deadline { object: object.clone(), from: deadline, to: Nanos(value) })
    };
    let least = (job.costs.publish + job.costs.clock_error).0 + MICRO;
    let earlier = steps(&change, deadline.0, release.0 + least);
    let later = scale(change, deadline.0, deadline.0 + period.0);
    std::iter::once(later).chain(earlier).collect()
}

/// Whether two changes are of the same number of the same declaration.
fn is_alike(one: &SystemChange, other: &SystemChange) -> bool {
    use SystemChange as Of;
    match (one, other) {
        (Of::Host { host: a, remedy: one }, Of::Host { host: b, remedy: two }) => {
            match (&one.changes[..], &two.changes[..]) {
                ([one], [two]) => {
                    a == b && discriminant(one) == discriminant(two) && one.object() == two.object()
                }
                _ => false,
            }
        }
        (Of::Channel { channel: a, change: one }, Of::Channel { channel: b, change: two }) => {
            a == b && discriminant(one) == discriminant(two)
        }
        // A still longer or shorter period says nothing new.
        (Of::Period { of: one, to: a }, Of::Period { of: two, to: b }) => match (&one[..], &two[..]) {
            ([first, ..], [other, ..]) => first == other && (*a < first.from) == (*b < other.from),
            _ => false,
        },
        (Of::Move { member: one, .. }, Of::Move { member: two, .. }) => one == two,
        (Of::Network(NetworkChange::Rate(one, _)), Of::Network(NetworkChange::Rate(two, _))) => one == two,
        (Of::Network(NetworkChange::ClockError(_)), Of::Network(NetworkChange::ClockError(_))) => true,
        (Of::Limit { chain: a, limit: one, .. }, Of::Limit { chain: b, limit: two, .. }) => {
            a == b && one == two
        }
        (one, other) => one == other,
    }
}

/// The plan that everybody would get.
fn planned(system: &System, effort: Effort) -> Option<SystemPlan> {
    plan_system_within(system, effort, ExplainBudget::NONE).ok()
}
