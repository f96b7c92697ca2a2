//! Tasks on the hosts of a network: members, tasks, channels between members, chains.
//!
//! ```text
//!  [[member]] ── on a host    [[task]] ── of a member    [[channel]] between members ─┬─ of one host: a channel of its job
//!       │                         │                                                   └─ of several: a port of each job, and a crossing
//!       └── JobDeclaration of each host ── assemble ── Job                            [[chain]] ── names of tasks and channels
//! ```

mod chains;
mod channels;
mod jobs;

use super::{Names, schema};
use crate::model::CostChoice;
use crate::names::Unique;
use crate::references;
use crate::section::{Section, several};
use crate::sections::{MemberSection, Parts, TaskSection, host, task};
use crate::source::{Located, Problems, quoted};
use leveret_plan::network::Traffic;
use leveret_plan::system::System;
use leveret_protocol::nearest::nearest;
use leveret_topology::{Graph, NodeKind};
use leveret_types::{MEMBERS_MAX, NodeId, TASKS_MAX};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::de::DeTable;

pub(super) use channels::is_between_members;

/// A host that may run tasks.
pub(super) struct HostPart {
    node: NodeId,
    name: String,
    span: Range<usize>,
    cores: Vec<u32>,
    costs: CostChoice,
}

/// The cores and costs of a host, if it has any.
pub(super) fn host_part(
    section: &Section<'_, '_>,
    node: NodeId,
    name: &str,
    problems: &mut Problems<'_>,
) -> Option<HostPart> {
    let keys = schema::HOST.keys.iter().filter(|key| **key != "name");
    if keys.clone().all(|key| section.value(key).is_none()) {
        return None;
    }
    let read = host::read(section, problems);
    Some(HostPart {
        node,
        name: name.to_owned(),
        span: section.span.clone(),
        cores: read.cores?,
        costs: read.costs,
    })
}

/// A member, and the place of its host among [`HostPart`]s.
struct MemberPart {
    section: MemberSection,
    /// `None` where that was told to be wrong.
    host: Option<usize>,
}

/// Members by name.
pub(super) struct Members {
    by_name: BTreeMap<String, usize>,
    parts: Vec<MemberPart>,
}

impl Members {
    /// Whether the manifest speaks of tasks at all.
    pub(super) fn are_in(root: &DeTable<'_>) -> bool {
        [schema::MEMBER.name, crate::schema::TASK.name, schema::CHAIN.name]
            .iter()
            .any(|name| root.get(*name).is_some())
    }

    /// `[[member]]`.
    pub(super) fn read(
        root: &DeTable<'_>,
        names: &Names,
        hosts: &[HostPart],
        problems: &mut Problems<'_>,
    ) -> Self {
        let mut members = Self { by_name: BTreeMap::new(), parts: Vec::new() };
        let mut unique = Unique::new("member");
        let sections = several(root, &schema::MEMBER, problems);
        if let Some(beyond) = sections.get(MEMBERS_MAX * hosts.len().max(1)) {
            let message = format!("the manifest has more than {MEMBERS_MAX} members for each host");
            problems.add(beyond.span.clone(), message, "split the job");
        }
        for section in sections {
            section.require("name", "\"camera\"", problems);
            section.require("host", "\"h0\"", problems);
            let host = section.text("host", problems).and_then(|host| home(&host, names, hosts, problems));
            let core = section.integer("core", &(0..=host::CORE_MAX), problems);
            let core = core.and_then(|core| u32::try_from(core).ok());
            let core = core.map(|value| Located { value, span: section.place("core") });
            let Some(name) = section.name("name", problems) else { continue };
            unique.note(name.value.clone(), &name, problems);
            if names.nodes.contains_key(&name.value) {
                let message = format!("a host or switch is named {} too", quoted(&name.value));
                problems.add(name.span.clone(), message, "give the member another name");
            }
            if let (Some(core), Some(host)) = (&core, host) {
                check_core(core, &hosts[host], problems);
            }
            members.by_name.entry(name.value.clone()).or_insert(members.parts.len());
            members.parts.push(MemberPart { section: MemberSection::without_program(name, core), host });
        }
        members
    }

    fn part(&self, name: &str) -> Option<&MemberPart> {
        self.by_name.get(name).and_then(|index| self.parts.get(*index))
    }
}

/// The host that a member names, which must have cores.
fn home(
    name: &Located<String>,
    names: &Names,
    hosts: &[HostPart],
    problems: &mut Problems<'_>,
) -> Option<usize> {
    let known = names.nodes.iter().filter(|(_, (_, kind))| *kind == NodeKind::Host);
    let Some((node, NodeKind::Host)) = names.nodes.get(&name.value) else {
        let near = nearest(&name.value, known.map(|(name, _)| name.as_str()));
        let hint = near.map_or_else(
            || format!("add [[host]] with `name = {}` and `cores = [0]`", quoted(&name.value)),
            |near| format!("did you mean {}?", quoted(near)),
        );
        problems.add(name.span.clone(), format!("there is no host {}", quoted(&name.value)), hint);
        return None;
    };
    let found = hosts.iter().position(|host| host.node == *node);
    if found.is_none() {
        let message = format!("host {} has no `cores`", quoted(&name.value));
        problems.add(name.span.clone(), message, "add `cores = [0, 1]` to its [[host]]");
    }
    found
}

fn check_core(core: &Located<u32>, host: &HostPart, problems: &mut Problems<'_>) {
    if !host.cores.contains(&core.value) {
        let listed: Vec<_> = host.cores.iter().map(u32::to_string).collect();
        problems.add(
            core.span.clone(),
            format!("core {} is not one of those of host {}", core.value, quoted(&host.name)),
            format!("use one of {}, or add {} to its `cores`", listed.join(", "), core.value),
        );
    }
}

/// Everything beside the traffic.
pub(super) struct Source<'s, 't, 'i> {
    pub(super) root: &'t DeTable<'i>,
    pub(super) names: &'s Names,
    pub(super) graph: Option<&'s Graph>,
    pub(super) hosts: &'s [HostPart],
    pub(super) members: Members,
    /// Of `[[channel]]`, those between members.
    pub(super) channels: Vec<&'s Section<'t, 'i>>,
}

/// The system that a manifest describes; worth something only if no problem was added.
pub(super) fn read(
    source: Source<'_, '_, '_>,
    name: &str,
    traffic: &Traffic,
    problems: &mut Problems<'_>,
) -> Option<System> {
    let Source { root, names, graph, hosts, members, channels } = source;
    let tasks = tasks(root, &members, hosts, problems);
    let channels: Vec<_> = channels
        .iter()
        .filter_map(|section| channels::read(section, (names, graph), &members, problems))
        .collect();
    let (sections, members): (Vec<_>, Vec<_>) =
        members.parts.into_iter().map(|part| (part.section, part.host)).unzip();
    let parts = Parts {
        cores: None,
        members: sections,
        tasks,
        channels: channels.iter().flat_map(channels::ChannelPart::ends).collect(),
    };
    references::check(&parts, problems);
    if !problems.is_empty() {
        return None;
    }
    let members: Vec<usize> = members.into_iter().collect::<Option<_>>()?;
    // Where what only the whole system can find wrong stands, by the words that it uses.
    let place = |name: &Located<String>| (format!("channel `{}`", name.value), name.span.clone());
    let mut labels: BTreeMap<_, _> = channels.iter().map(|channel| place(&channel.section.name)).collect();
    let mut system = System { name: name.to_owned(), traffic: traffic.clone(), ..System::default() };
    jobs::fill(&mut system, hosts, (parts.members, &members), (parts.tasks, channels), problems)?;
    chains::read(root, &mut system, &mut labels, problems);
    if problems.is_empty()
        && let Err(error) = system.validate()
    {
        let span = labels.get(&error.object).cloned().unwrap_or(0..0);
        problems.add(span, format!("{} {}", error.object, error.problem), error.remedy);
    }
    problems.is_empty().then_some(system)
}

/// `[[task]]`, as in the manifest of a job; but what is left out nobody else gives.
fn tasks(
    root: &DeTable<'_>,
    members: &Members,
    hosts: &[HostPart],
    problems: &mut Problems<'_>,
) -> Vec<TaskSection> {
    let sections = several(root, &crate::schema::TASK, problems);
    if let Some(beyond) = sections.get(TASKS_MAX) {
        let message = format!("the manifest has more than {TASKS_MAX} tasks");
        problems.add(beyond.span.clone(), message, "split the job");
        return Vec::new();
    }
    let mut unique = Unique::new("task");
    let mut tasks = Vec::new();
    for section in &sections {
        section.require("budget", "\"100us\"", problems);
        if section.value("priority").is_none() {
            section.require("period", "\"1ms\"", problems);
        }
        let Some(task) = task::read(section, problems) else { continue };
        unique.note(task.name.value.clone(), &task.name, problems);
        let member = task.member.as_ref().and_then(|member| members.part(&member.value));
        let host = member.and_then(|member| member.host);
        if let (Some(host), Some(core)) = (host, task.pinned()) {
            check_core(&core, &hosts[host], problems);
        }
        tasks.push(task);
    }
    tasks
}
