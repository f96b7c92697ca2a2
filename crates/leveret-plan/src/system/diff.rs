//! What differs between two plans of systems, by the names of hosts, tasks, channels and chains.

use super::model::{Chain, System, Window};
use super::plan::SystemPlan;
use super::project::parts;
use crate::network::{NetworkDiff, diff_networks};
use crate::{Channel, Job, Plan, PlannedTask, Sporadic, Start, Task};
use leveret_types::{ChannelId, MemberId, Nanos};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What became of a plan in another.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct SystemDiff {
    /// Hosts on which something differs.
    pub hosts: Vec<HostDiff>,
    /// Channels between hosts that both have, in other windows.
    pub windows: Vec<WindowDiff>,
    /// Channels on the links.
    pub network: NetworkDiff,
    /// Chains of the second alone.
    pub added_chains: Vec<String>,
    /// Chains of the first alone.
    pub removed_chains: Vec<String>,
    /// Chains of both that are declared otherwise, or take another time.
    pub chains: Vec<ChainDiff>,
    /// How many tasks are as they were.
    pub kept_tasks: usize,
}

/// What became of the tasks and channels of a host.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct HostDiff {
    /// Its name.
    pub name: String,
    /// Tasks of the second alone.
    pub added: Vec<String>,
    /// Tasks of the first alone.
    pub removed: Vec<String>,
    /// Tasks of both that are not where they were, or not what they were.
    pub changed: Vec<TaskDiff>,
    /// Channels between its members: of the second alone.
    pub added_channels: Vec<String>,
    /// Of the first alone.
    pub removed_channels: Vec<String>,
    /// Of both, declared otherwise; and what has another number of buffers, ends of channels between hosts included.
    pub changed_channels: Vec<LocalChannelDiff>,
}

/// What became of a task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TaskDiff {
    /// Its name.
    pub name: String,
    /// Whether it is declared otherwise.
    pub declared_otherwise: bool,
    /// Its core before and after, if that is another.
    pub core: Option<[u32; 2]>,
    /// How many of its instances run at other times.
    pub moved: usize,
    /// Of how many.
    pub instances: usize,
    /// The longest way that the start or the end of one of them moved: later if it is positive.
    pub farthest: Nanos,
    /// Beside the table, the bound of its response before and after, where it differs.
    pub bound: Option<[Nanos; 2]>,
}

/// What became of a channel at a host.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LocalChannelDiff {
    /// Its name.
    pub name: String,
    /// Whether it is declared otherwise.
    pub declared_otherwise: bool,
    /// Its buffers before and after, if they are others.
    pub buffers: Option<[u32; 2]>,
}

/// What became of the window of a channel between hosts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct WindowDiff {
    /// The channel's name.
    pub name: String,
    /// Its window in the first plan.
    pub before: Window,
    /// Its window in the second.
    pub after: Window,
}

/// What became of a chain.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ChainDiff {
    /// Its name.
    pub name: String,
    /// Whether it is declared otherwise: its path or its limits.
    pub declared_otherwise: bool,
    /// Its longest reaction time before and after, if that is another; [`Nanos::MAX`] is no bound.
    pub reaction: Option<[Nanos; 2]>,
    /// The same of its greatest age.
    pub age: Option<[Nanos; 2]>,
}

/// Compares two plans. Where tables repeat at different intervals, the first common one is compared.
pub fn diff_systems(first: (&System, &SystemPlan), second: (&System, &SystemPlan)) -> SystemDiff {
    let traffic = [first, second].map(|(system, plan)| parts(system, &plan.windows).traffic);
    let network = diff_networks((&traffic[0], &first.1.network), (&traffic[1], &second.1.network));
    let mut diff = SystemDiff { network, windows: windows(first, second), ..SystemDiff::default() };
    let (before, after) = (named(first.0), named(second.0));
    for name in before.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
        let old = before.get(name).map(|host| Side::of(first, *host));
        let new = after.get(name).map(|host| Side::of(second, *host));
        let mut host = HostDiff { name: name.clone(), ..HostDiff::default() };
        diff.kept_tasks += tasks(&mut host, (old.as_ref(), new.as_ref()));
        local_channels(&mut host, (old.as_ref(), new.as_ref()));
        let untouched = HostDiff { name: name.clone(), ..HostDiff::default() };
        diff.hosts.extend((host != untouched).then_some(host));
    }
    chains(&mut diff, first, second);
    diff
}

fn named(system: &System) -> BTreeMap<String, usize> {
    (0..system.hosts.len()).map(|host| (system.host_name(host as u16).to_owned(), host)).collect()
}

/// A host under a plan.
struct Side<'a> {
    job: &'a Job,
    plan: &'a Plan,
    /// Channels of the job that are ends of channels between hosts.
    ports: BTreeSet<ChannelId>,
}

impl<'a> Side<'a> {
    fn of((system, plan): (&'a System, &'a SystemPlan), host: usize) -> Self {
        let ports = system.crossings.iter().flat_map(|one| one.targets.iter().chain([&one.source]));
        let own = ports.filter(|port| usize::from(port.host) == host);
        let ports = own.map(|port| port.channel).collect();
        Self { job: &system.hosts[host].job, plan: &plan.hosts[host], ports }
    }

    fn member(&self, member: MemberId) -> &str {
        self.job.members.get(member.index()).map_or("?", |member| member.name.as_str())
    }

    fn channel(&self, channel: ChannelId) -> (&str, &str) {
        let channel = self.job.channels.get(channel.index());
        channel.map_or(("?", "?"), |channel| (channel.group.as_str(), channel.name.as_str()))
    }

    /// A task as it is declared, without numbers that mean other things elsewhere: these stand beside it as names.
    fn task(&self, task: &Task) -> (Task, Vec<String>) {
        let ends = [&task.reads, &task.writes].map(|ends| {
            let names: Vec<_> = ends.iter().map(|id| self.channel(*id)).collect();
            format!("{names:?}")
        });
        let plain = Task { member: MemberId(0), reads: Vec::new(), writes: Vec::new(), ..task.clone() };
        (plain, [&[self.member(task.member).to_owned()], &ends[..]].concat())
    }

    fn work(&self, work: &Sporadic) -> (Sporadic, Vec<String>) {
        let (start, name) = match &work.start {
            Start::Message(id) => (Start::Message(ChannelId(0)), format!("{:?}", self.channel(*id))),
            Start::Request(id) => (Start::Request(ChannelId(0)), format!("{:?}", self.channel(*id))),
            event @ Start::Event { .. } => (event.clone(), String::new()),
        };
        let plain = Sporadic { member: MemberId(0), start, ..work.clone() };
        (plain, vec![self.member(work.member).to_owned(), name])
    }

    fn local(&self, channel: &Channel) -> (Channel, [String; 2]) {
        let ends = [channel.source, channel.target].map(|member| self.member(member).to_owned());
        (Channel { source: MemberId(0), target: MemberId(0), ..channel.clone() }, ends)
    }
}

/// Tasks and work beside the table, by name.
fn units<'a>(side: Option<&'a Side<'_>>) -> BTreeMap<&'a str, usize> {
    let Some(side) = side else { return BTreeMap::new() };
    let tasks = side.job.tasks.iter().map(|task| task.name.as_str());
    tasks.chain(side.job.sporadics.iter().map(|work| work.name.as_str())).zip(0..).collect()
}

/// Tells what became of tasks; how many are as they were.
fn tasks(host: &mut HostDiff, (old, new): (Option<&Side<'_>>, Option<&Side<'_>>)) -> usize {
    let (before, after) = (units(old), units(new));
    (host.removed, host.added) = (missing(&before, &after), missing(&after, &before));
    let (Some(old), Some(new)) = (old, new) else { return 0 };
    let mut kept = 0;
    for (name, was) in &before {
        let Some(is) = after.get(name) else { continue };
        match compare(name, (old, *was), (new, *is)) {
            Some(changed) => host.changed.push(changed),
            None => kept += 1,
        }
    }
    kept
}

/// Names of the one that the other has not.
fn missing<T>(one: &BTreeMap<&str, T>, other: &BTreeMap<&str, T>) -> Vec<String> {
    one.keys().filter(|name| !other.contains_key(*name)).map(|name| (*name).to_owned()).collect()
}

fn compare(name: &str, (old, was): (&Side<'_>, usize), (new, is): (&Side<'_>, usize)) -> Option<TaskDiff> {
    let mut changed = TaskDiff {
        name: name.to_owned(),
        declared_otherwise: true,
        core: None,
        moved: 0,
        instances: 0,
        farthest: Nanos::ZERO,
        bound: None,
    };
    let works = |side: &Side<'_>, unit: usize| unit.checked_sub(side.job.tasks.len());
    let cores = match (works(old, was), works(new, is)) {
        (None, None) => {
            let (before, after) = (&old.plan.tasks[was], &new.plan.tasks[is]);
            changed.declared_otherwise = old.task(&old.job.tasks[was]) != new.task(&new.job.tasks[is]);
            moved(&mut changed, (before, old.plan.hyperperiod), (after, new.plan.hyperperiod));
            [before.core, after.core]
        }
        (Some(was), Some(is)) => {
            let (before, after) = (&old.plan.sporadics[was], &new.plan.sporadics[is]);
            changed.declared_otherwise =
                old.work(&old.job.sporadics[was]) != new.work(&new.job.sporadics[is]);
            let bounds = [before.response_bound, after.response_bound];
            changed.bound = (bounds[0] != bounds[1]).then_some(bounds);
            [before.core, after.core]
        }
        // What had a period runs for events now, or the other way round.
        _ => return Some(changed),
    };
    changed.core = (cores[0] != cores[1]).then_some(cores);
    let same = !changed.declared_otherwise
        && changed.core.is_none()
        && changed.moved == 0
        && changed.bound.is_none();
    (!same).then_some(changed)
}

/// Compares instances over the least common multiple of both rounds, or over the first of them where that is long.
fn moved(
    changed: &mut TaskDiff,
    (before, old_round): (&PlannedTask, Nanos),
    (after, new_round): (&PlannedTask, Nanos),
) {
    const TURNS_MAX: i64 = 64;
    let common = crate::windows::least_common_multiple(old_round.0.max(1), new_round.0.max(1));
    let turns = (common / new_round.0.max(1)).clamp(1, TURNS_MAX);
    let at = |planned: &PlannedTask, round: Nanos, instance: i64| -> Option<Vec<Nanos>> {
        let count = planned.instances.len() as i64;
        let own = planned.instances.get(instance.rem_euclid(count.max(1)) as usize)?;
        let shift = round.saturating_mul(instance.div_euclid(count.max(1)));
        let instants = own.segments.iter().flat_map(|segment| [segment.start + shift, segment.end + shift]);
        Some(instants.collect())
    };
    let count = after.instances.len() as i64 * turns;
    changed.instances = count as usize;
    for instance in 0..count {
        let (Some(was), Some(is)) = (at(before, old_round, instance), at(after, new_round, instance)) else {
            continue;
        };
        if was == is {
            continue;
        }
        changed.moved += 1;
        let ends = [(was.first(), is.first()), (was.last(), is.last())];
        let by = ends.into_iter().filter_map(|(was, is)| Some(*is? - *was?));
        let most = by.max_by_key(|by| by.0.abs()).unwrap_or_default();
        if most.0.abs() > changed.farthest.0.abs() {
            changed.farthest = most;
        }
    }
}

fn local_channels(host: &mut HostDiff, (old, new): (Option<&Side<'_>>, Option<&Side<'_>>)) {
    let own = |side: Option<&Side<'_>>, is_port: bool| -> BTreeMap<String, ChannelId> {
        let Some(side) = side else { return BTreeMap::new() };
        let ids = (0..side.job.channels.len()).map(|index| ChannelId(index as u16));
        let ids = ids.filter(|id| side.ports.contains(id) == is_port);
        ids.map(|id| (side.channel(id).1.to_owned(), id)).collect()
    };
    let (before, after) = (own(old, false), own(new, false));
    let names = |one: &BTreeMap<String, ChannelId>, other: &BTreeMap<String, ChannelId>| -> Vec<String> {
        one.keys().filter(|name| !other.contains_key(*name)).cloned().collect()
    };
    (host.removed_channels, host.added_channels) = (names(&before, &after), names(&after, &before));
    let (Some(old), Some(new)) = (old, new) else { return };
    let ports = (own(Some(old), true), own(Some(new), true));
    for (before, after, is_port) in [(&before, &after, false), (&ports.0, &ports.1, true)] {
        for (name, was) in before {
            let Some(is) = after.get(name) else { continue };
            let declared = |side: &Side<'_>, id: ChannelId| side.local(&side.job.channels[id.index()]);
            let buffers = [old.plan.channels[was.index()].buffers, new.plan.channels[is.index()].buffers];
            let changed = LocalChannelDiff {
                name: name.clone(),
                declared_otherwise: !is_port && declared(old, *was) != declared(new, *is),
                buffers: (buffers[0] != buffers[1]).then_some(buffers),
            };
            let same = !changed.declared_otherwise && changed.buffers.is_none();
            host.changed_channels.extend((!same).then_some(changed));
        }
    }
}

fn windows(first: (&System, &SystemPlan), second: (&System, &SystemPlan)) -> Vec<WindowDiff> {
    let own = |(system, plan): (&System, &SystemPlan)| -> BTreeMap<String, Window> {
        let names = system.crossings.iter().map(|crossing| crossing.name.clone());
        names.zip(plan.windows.iter().copied()).collect()
    };
    let after = own(second);
    let both = own(first).into_iter().filter_map(|(name, before)| {
        let after = *after.get(&name)?;
        Some(WindowDiff { name, before, after })
    });
    both.filter(|one| one.before != one.after).collect()
}

fn chains(diff: &mut SystemDiff, first: (&System, &SystemPlan), second: (&System, &SystemPlan)) {
    let names = |system: &System, other: &System| -> Vec<String> {
        let is_new = |chain: &&Chain| other.chains.iter().all(|one| one.name != chain.name);
        system.chains.iter().filter(is_new).map(|chain| chain.name.clone()).collect()
    };
    (diff.removed_chains, diff.added_chains) = (names(first.0, second.0), names(second.0, first.0));
    let declared = |system: &System, chain: &Chain| {
        let path: Vec<_> = chain.path.iter().map(|step| system.step_name(*step).to_owned()).collect();
        (path, chain.reaction, chain.age)
    };
    for (old, was) in first.0.chains.iter().zip(&first.1.chains) {
        let found = second.0.chains.iter().zip(&second.1.chains).find(|(new, _)| new.name == old.name);
        let Some((new, is)) = found else { continue };
        let other = |was: Nanos, is: Nanos| (was != is).then_some([was, is]);
        let changed = ChainDiff {
            name: old.name.clone(),
            declared_otherwise: declared(first.0, old) != declared(second.0, new),
            reaction: other(was.reaction, is.reaction),
            age: other(was.age, is.age),
        };
        let same = !changed.declared_otherwise && changed.reaction.is_none() && changed.age.is_none();
        diff.chains.extend((!same).then_some(changed));
    }
}
