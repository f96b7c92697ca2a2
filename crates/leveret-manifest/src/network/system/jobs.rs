//! The job of each host, put together as that of a job on one host is.

use super::HostPart;
use super::channels::{Across, ChannelPart};
use crate::sections::{ChannelSection, MemberSection, TaskSection};
use crate::source::{Problems, quoted};
use leveret_plan::Qos;
use leveret_plan::system::{Crossing, NETWORK_MEMBER, Port, System, SystemHost};
use leveret_protocol::assemble::assemble;
use leveret_protocol::declaration::{ChannelDeclaration, JobDeclaration, MemberDeclaration};
use leveret_types::{ByteSize, CHANNELS_MAX, ChannelId, Nanos};
use std::collections::BTreeMap;

/// One host's declarations, and where its channels come from.
struct Draft {
    declaration: JobDeclaration,
    place: usize,
}

/// Gives a system its hosts and crossings. `None` where they cannot be put together; that was told.
pub(super) fn fill(
    system: &mut System,
    hosts: &[HostPart],
    (members, homes): (Vec<MemberSection>, &[usize]),
    (tasks, channels): (Vec<TaskSection>, Vec<ChannelPart>),
    problems: &mut Problems<'_>,
) -> Option<()> {
    let mut drafts = drafts(hosts, homes);
    let of_host: BTreeMap<usize, usize> =
        drafts.iter().enumerate().map(|(index, draft)| (draft.place, index)).collect();
    let mut home: BTreeMap<String, usize> = BTreeMap::new();
    for (member, place) in members.into_iter().zip(homes) {
        home.insert(member.name.value.clone(), of_host[place]);
        let (_, declaration) = member.into_parts();
        drafts[of_host[place]].declaration.members.push(declaration);
    }
    for draft in &mut drafts {
        draft.declaration.members.push(MemberDeclaration { name: NETWORK_MEMBER.to_owned(), core: None });
    }
    for task in tasks {
        let host = task.member.as_ref().and_then(|member| home.get(&member.value));
        let draft = &mut drafts[*host?].declaration;
        if task.is_sporadic() {
            draft.sporadics.push(task.into_sporadic());
        } else {
            draft.tasks.push(task.into_declaration());
        }
    }
    for channel in channels {
        let source = channel.section.source.as_ref().and_then(|source| home.get(&source.value));
        place(system, &mut drafts, *source?, channel, &home);
    }
    for draft in drafts {
        let host = &hosts[draft.place];
        if draft.declaration.channels.len() > CHANNELS_MAX {
            let message = format!("host {} has more than {CHANNELS_MAX} channels", quoted(&host.name));
            problems.add(host.span.clone(), message, "split the job");
            continue;
        }
        let mut costs = host.costs.costs(None);
        costs.clock_error = system.traffic.clock_error;
        match assemble(&draft.declaration, &[], costs) {
            Ok(assembled) => system.hosts.push(SystemHost { node: host.node, job: assembled.job }),
            Err(mismatches) => {
                for mismatch in mismatches {
                    let text = mismatch.to_string();
                    let (message, hint) = text
                        .split_once("; ")
                        .unwrap_or((&text, "docs/network-manifest.md describes every key"));
                    problems.add(host.span.clone(), message, hint);
                }
            }
        }
    }
    problems.is_empty().then_some(())
}

/// A job for each host that has members, without them.
fn drafts(hosts: &[HostPart], homes: &[usize]) -> Vec<Draft> {
    let inhabited = hosts.iter().enumerate().filter(|(place, _)| homes.contains(place));
    inhabited
        .map(|(place, host)| Draft {
            declaration: JobDeclaration {
                name: host.name.clone(),
                cores: host.cores.clone(),
                ..JobDeclaration::default()
            },
            place,
        })
        .collect()
}

/// Puts a channel into the job of its host, or a port of it into each job and a crossing into the system.
fn place(
    system: &mut System,
    drafts: &mut [Draft],
    source: usize,
    part: ChannelPart,
    home: &BTreeMap<String, usize>,
) {
    let ChannelPart { section, targets, across } = part;
    let Some(across) = across else {
        let section = ChannelSection { target: targets.into_iter().next(), ..section };
        drafts[source].declaration.channels.push(section.into_declaration());
        return;
    };
    let Across { period, window, latency, jitter, copies, ways } = across;
    let declared = section.into_declaration();
    let missing = match &declared.qos {
        Some(Qos::TimeDriven { missing, .. }) => *missing,
        _ => Default::default(),
    };
    // The planner gives ports their windows.
    let qos = Qos::TimeDriven { period, release: Nanos::ZERO, deadline: period, missing };
    let mut port = |host: usize, ends: (Option<String>, Option<String>), group: Option<String>| {
        let channels = &mut drafts[host].declaration.channels;
        let network = || Some(NETWORK_MEMBER.to_owned());
        let (from, to) = (ends.0.or_else(network), ends.1.or_else(network));
        let qos = Some(qos.clone());
        channels.push(ChannelDeclaration { group, source: from, target: to, qos, ..declared.clone() });
        Port { host: host as u16, channel: ChannelId(channels.len().saturating_sub(1) as u16) }
    };
    let first = port(source, (declared.source.clone(), None), None);
    let target = |name: &str| {
        let host = home[name];
        // Two members of one host: each has a port of its own, of the same name.
        let shared = targets.iter().filter(|other| home[&other.value] == host).count() > 1;
        port(host, (None, Some(name.to_owned())), shared.then(|| name.to_owned()))
    };
    let targets_of = targets.iter().map(|name| name.value.as_str());
    let ports = targets_of.map(target).collect();
    system.crossings.push(Crossing {
        name: declared.name.clone(),
        source: first,
        targets: ports,
        size: declared.size.unwrap_or(ByteSize(1)),
        period,
        window,
        latency,
        jitter,
        copies,
        ways,
    });
}
