//! `[[channel]]` between members.

use super::super::{Names, channel};
use super::{MemberPart, Members};
use crate::section::Section;
use crate::sections::{ChannelSection, channel as job_channel};
use crate::source::{Located, Problems, quoted};
use leveret_plan::network::STREAM_TIME_MAX;
use leveret_plan::system::Window;
use leveret_plan::{Placement, Qos};
use leveret_protocol::nearest::nearest;
use leveret_topology::{Graph, Tree};
use leveret_types::Nanos;

/// Keys that only channels over the network have.
const ACROSS: [&str; 5] = ["latency", "jitter", "copies", "way", "ways"];
/// Keys that no channel over the network has.
const WITHIN: [&str; 7] =
    ["wait", "checksum", "priority", "interval", "deadline", "start-event", "completion-event"];

/// Keys that no channel between members has.
const BETWEEN_HOSTS: [&str; 1] = ["burst"];

/// A channel between members.
pub(super) struct ChannelPart {
    pub(super) section: ChannelSection,
    pub(super) targets: Vec<Located<String>>,
    /// What the network is to know, of a channel between hosts.
    pub(super) across: Option<Across>,
}

/// What a channel over the network has beside its declaration.
pub(super) struct Across {
    pub(super) period: Nanos,
    pub(super) window: Option<Window>,
    pub(super) latency: Option<Nanos>,
    pub(super) jitter: Option<Nanos>,
    pub(super) copies: u8,
    pub(super) ways: Option<Vec<Tree>>,
}

impl ChannelPart {
    /// One channel for each target: so those who refer to it look at it.
    pub(super) fn ends(&self) -> Vec<ChannelSection> {
        let end = |target: Option<&Located<String>>| ChannelSection {
            target: target.cloned(),
            ..self.section.clone()
        };
        // Without a target, which was told, it is still there.
        let none = self.targets.is_empty().then(|| end(None));
        self.targets.iter().map(|target| end(Some(target))).chain(none).collect()
    }
}

/// Whether a channel joins members: its source is one, or is no node.
pub(in super::super) fn is_between_members(
    section: &Section<'_, '_>,
    members: &Members,
    names: &Names,
) -> bool {
    let source = section.value("source").and_then(|source| source.get_ref().as_str());
    source.is_some_and(|source| members.by_name.contains_key(source) || !names.nodes.contains_key(source))
}

pub(super) fn read(
    section: &Section<'_, '_>,
    (names, graph): (&Names, Option<&Graph>),
    members: &Members,
    problems: &mut Problems<'_>,
) -> Option<ChannelPart> {
    section.require("size", "\"64B\"", problems);
    foreign(section, &BETWEEN_HOSTS, "between hosts", problems);
    let targets = channel::target_names(section, problems);
    let declared = job_channel::read(section, problems);
    let source = section.text("source", problems).and_then(|name| find(&name, members, problems));
    let (targets, declared) = (targets.unwrap_or_default(), declared?);
    let found: Vec<Option<&MemberPart>> =
        targets.iter().map(|target| find(target, members, problems)).collect();
    let ends = found.into_iter().collect::<Option<Vec<&MemberPart>>>();
    let (Some(source), Some(ends)) = (source, ends) else {
        return Some(ChannelPart { section: declared, targets, across: None });
    };
    let mut seen: Vec<&str> = Vec::new();
    for target in &targets {
        if seen.contains(&target.value.as_str()) {
            let message = format!("{} is a target twice", quoted(&target.value));
            problems.add(target.span.clone(), message, "remove one");
        }
        seen.push(&target.value);
    }
    let here = ends.iter().filter(|end| end.host == source.host).count();
    if here > 0 && targets.len() > 1 {
        let message = format!("{} leads to its source's own host and to another target", section.label);
        let hint = "declare a channel for the target on the same host, and one for the others";
        problems.add(section.place("targets"), message, hint);
        return None;
    }
    let unknown = source.host.is_none() || ends.iter().any(|end| end.host.is_none());
    let across = if unknown {
        None
    } else if here > 0 {
        foreign(section, &ACROSS, "between members of different hosts", problems);
        None
    } else {
        foreign(section, &WITHIN, "between members of one host", problems);
        Some(across(section, &declared, (names, graph), problems)?)
    };
    Some(ChannelPart { section: declared, targets, across })
}

fn foreign(section: &Section<'_, '_>, keys: &[&str], of: &str, problems: &mut Problems<'_>) {
    for key in keys.iter().filter(|key| section.value(key).is_some()) {
        let message = format!("`{key}` is for channels {of}, and {} is not one", section.label);
        let hint = match *key {
            "deadline" => "write `window = [\"RELEASE\", \"DEADLINE\"]` in its place",
            _ => "remove this key",
        };
        problems.add(section.place(key), message, hint);
    }
}

fn across(
    section: &Section<'_, '_>,
    declared: &ChannelSection,
    (names, graph): (&Names, Option<&Graph>),
    problems: &mut Problems<'_>,
) -> Option<Across> {
    match declared.declaration.qos {
        Some(Qos::TimeDriven { .. }) => {}
        None if section.value("period").is_none() => section.require("period", "\"1ms\"", problems),
        None => {}
        Some(_) => {
            let message = format!("{} joins different hosts, and is not time-driven", section.label);
            let hint = "give it a `period`, and no other `qos`; or declare a channel between the hosts themselves, which moves beside the time table";
            problems.add(section.place("qos"), message, hint);
        }
    }
    if declared.declaration.placement == Some(Placement::Aliased) {
        let message = format!("{} joins different hosts, which share no buffer", section.label);
        problems.add(
            section.place("placement"),
            message,
            "write `placement = \"separate\"`, or remove this key",
        );
    }
    let period = section.duration("period", &(Nanos(1)..=STREAM_TIME_MAX), problems);
    let limit =
        |key, problems: &mut Problems<'_>| section.duration(key, &(Nanos::ZERO..=STREAM_TIME_MAX), problems);
    let (latency, jitter) = (limit("latency", problems), limit("jitter", problems));
    let window = section.window(problems);
    let copies = section.integer("copies", &(1..=2), problems).unwrap_or(1) as u8;
    Some(Across {
        period: period?,
        window: window.map(|(release, deadline)| Window { release, deadline }),
        latency,
        jitter,
        copies,
        ways: channel::ways(section, names, graph, copies, problems),
    })
}

fn find<'m>(
    name: &Located<String>,
    members: &'m Members,
    problems: &mut Problems<'_>,
) -> Option<&'m MemberPart> {
    if let Some(index) = members.by_name.get(&name.value) {
        return members.parts.get(*index);
    }
    let near = nearest(&name.value, members.by_name.keys().map(String::as_str));
    let hint = near.map_or_else(
        || "both ends of a channel are members, or both are hosts; declare it under [[member]]".to_owned(),
        |near| format!("did you mean {}?", quoted(near)),
    );
    problems.add(name.span.clone(), format!("there is no member {}", quoted(&name.value)), hint);
    None
}
