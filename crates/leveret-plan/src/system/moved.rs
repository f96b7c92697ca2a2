//! A member that runs on another host.

use super::model::{Crossing, NETWORK_MEMBER, Port, Step, System};
use crate::{CoreChoice, Job, Member, Qos, Task};
use leveret_types::{ChannelId, MemberId, TaskId};
use std::collections::BTreeMap;

/// Whether a member can run on another host as it is declared: its cores are there, and all its channels lead over the network, to neither
/// host. A channel that would begin or cease to do so is another declaration.
pub(super) fn can_move(system: &System, member: MemberId, (from, to): (u16, u16)) -> bool {
    let (own, other) = (&system.hosts[usize::from(from)].job, &system.hosts[usize::from(to)].job);
    let runs = |task: &Task| match task.core {
        CoreChoice::Any => true,
        CoreChoice::Pinned(core) => other.cores.contains(&core),
    };
    let has_port = |index: usize| {
        let port = Port { host: from, channel: ChannelId(index as u16) };
        let crossing = system.crossings.iter().find(|crossing| crossing.ports().any(|end| end == port));
        crossing.is_some_and(|crossing| crossing.ports().all(|end| end.host != to))
    };
    let is_end = |index: &usize| {
        let channel = &own.channels[*index];
        channel.source == member || channel.target == member
    };
    let name = &own.members[member.index()].name;
    from != to
        && !other.cores.is_empty()
        && other.members.iter().all(|one| one.name != *name)
        && own.tasks.iter().filter(|task| task.member == member).all(runs)
        && own.sporadics.iter().all(|work| work.member != member)
        && (0..own.channels.len()).filter(is_end).all(has_port)
}

/// Moves a member with its tasks and the ends of its channels. What it leaves behind is a channel without instants, which nobody uses.
pub(super) fn move_member(system: &mut System, member: &str, (from, to): (u16, u16)) {
    let job = |host: u16| usize::from(host);
    let members = &system.hosts[job(from)].job.members;
    let Some(own) = members.iter().position(|one| one.name == member) else { return };
    let own = MemberId(own as u16);
    let new = MemberId(enter(&mut system.hosts[job(to)].job, member) as u16);
    let network = MemberId(enter(&mut system.hosts[job(to)].job, NETWORK_MEMBER) as u16);
    let mut channels: BTreeMap<ChannelId, ChannelId> = BTreeMap::new();
    for index in 0..system.crossings.len() {
        for end in 0..=system.crossings[index].targets.len() {
            let port = *port(&mut system.crossings[index], end);
            let channel = &mut system.hosts[job(from)].job.channels;
            if port.host != from
                || ![channel[port.channel.index()].source, channel[port.channel.index()].target]
                    .contains(&own)
            {
                continue;
            }
            let mut channel = channel[port.channel.index()].clone();
            system.hosts[job(from)].job.channels[port.channel.index()].qos = Qos::BestEffort;
            (channel.source, channel.target) = if end == 0 { (new, network) } else { (network, new) };
            let there = &mut system.hosts[job(to)].job.channels;
            if there.iter().any(|other| (&other.name, &other.group) == (&channel.name, &channel.group)) {
                channel.group = member.to_owned();
            }
            there.push(channel);
            let moved = ChannelId(there.len() as u16 - 1);
            channels.insert(port.channel, moved);
            *self::port(&mut system.crossings[index], end) = Port { host: to, channel: moved };
        }
    }
    let tasks = move_tasks(system, (own, new), (from, to), &channels);
    for step in system.chains.iter_mut().flat_map(|chain| &mut chain.path) {
        if let Step::Task { host, task } = step
            && let Some(place) = tasks.get(&(*host, *task))
        {
            (*host, *task) = *place;
        }
    }
}

/// The source of a crossing, or a target.
fn port(crossing: &mut Crossing, end: usize) -> &mut Port {
    match end.checked_sub(1) {
        None => &mut crossing.source,
        Some(target) => &mut crossing.targets[target],
    }
}

/// The index of a member, which is added where it is not there.
fn enter(job: &mut Job, name: &str) -> usize {
    let known = job.members.iter().position(|member| member.name == name);
    known.unwrap_or_else(|| {
        job.members.push(Member { name: name.to_owned() });
        job.members.len() - 1
    })
}

/// Where each task is now, of those that are elsewhere.
fn move_tasks(
    system: &mut System,
    (own, new): (MemberId, MemberId),
    (from, to): (u16, u16),
    channels: &BTreeMap<ChannelId, ChannelId>,
) -> BTreeMap<(u16, TaskId), (u16, TaskId)> {
    let mut places = BTreeMap::new();
    let mut stay: Vec<Task> = Vec::new();
    let before = std::mem::take(&mut system.hosts[usize::from(from)].job.tasks);
    for (index, task) in before.into_iter().enumerate() {
        let id = (from, TaskId(index as u16));
        if task.member != own {
            places.insert(id, (from, TaskId(stay.len() as u16)));
            stay.push(task);
            continue;
        }
        let ends = |ends: &[ChannelId]| ends.iter().filter_map(|id| channels.get(id).copied()).collect();
        let (reads, writes) = (ends(&task.reads), ends(&task.writes));
        let there = &mut system.hosts[usize::from(to)].job.tasks;
        places.insert(id, (to, TaskId(there.len() as u16)));
        there.push(Task { member: new, reads, writes, ..task });
    }
    system.hosts[usize::from(from)].job.tasks = stay;
    places
}
