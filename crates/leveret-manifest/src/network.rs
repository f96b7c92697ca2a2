//! The manifest of a network: hosts, switches, links, and channels between hosts. The format is described in `docs/network-manifest.md`.
//!
//! ```text
//!  [job] [network]   [[host]] [[switch]] ── nodes, by name        [[channel]] ── streams and flows, whose ends and ways are names of nodes
//!                    [[link]]            ── two directed links, or one
//! ```

mod channel;
mod flow;
mod link;
mod render;
mod schema;
mod system;

pub(crate) use schema::NETWORK_TABLES;

use crate::error::ManifestError;
use crate::names::Unique;
use crate::section::{Section, check_top_level, several, single};
use crate::source::{Located, Problems, Source, quoted};
use crate::syntax;
use leveret_plan::network::{STREAMS_MAX, Traffic, TrafficError};
use leveret_plan::system::System;
use leveret_protocol::nearest::nearest;
use leveret_topology::{Forwarding, FrameFormat, Graph, Network, Node, NodeKind};
use leveret_types::{ByteSize, Nanos, NodeId};
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::DeTable;

/// Most bytes of the manifest of a network.
pub const NETWORK_BYTES_MAX: usize = 64 << 20;
/// Most hosts and switches.
const NODES_MAX: usize = 1 << 20;
/// Longest clock error.
const CLOCK_ERROR_MAX: Nanos = Nanos::from_secs(1);

/// A network and what moves over it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NetworkManifest {
    /// The job's name.
    pub name: String,
    /// What is to be planned; [`Traffic::validate`] accepted it.
    pub traffic: Traffic,
    /// The same with what runs on its hosts, where that is declared; [`System::validate`] accepted it.
    pub system: Option<Box<System>>,
}

/// Nodes by their names.
struct Names {
    nodes: BTreeMap<String, (NodeId, NodeKind)>,
}

/// Whether a manifest describes a network, by its tables.
pub(crate) fn describes_network(root: &DeTable<'_>) -> bool {
    let several_hosts = root.get("host").is_some_and(|host| host.get_ref().as_array().is_some());
    several_hosts || ["network", "switch", "link"].iter().any(|name| root.get(*name).is_some())
}

/// Whether a text is the manifest of a network, and not that of a job on one host: by the headers of its tables, or, where they have none,
/// by the tables themselves; then text that is no TOML is not.
pub fn is_network(text: &str) -> bool {
    const HEADERS: [&str; 4] = ["[[host]]", "[network]", "[[switch]]", "[[link]]"];
    let is_header = |line: &str| {
        let header = line.split('#').next().unwrap_or_default().trim();
        HEADERS.contains(&header)
    };
    // All of a long text with an error in each line would be kept by the parser.
    let is_whole = || syntax::told(text).len() == text.len();
    text.lines().any(is_header)
        || (is_whole() && DeTable::parse(text).is_ok_and(|root| describes_network(root.get_ref())))
}

/// Reads the manifest of a network. `path` is what errors name as the file; nothing is opened.
///
/// # Errors
/// Everything that is wrong, in the order of the file.
pub fn parse_network(text: &str, path: &str) -> Result<NetworkManifest, Vec<ManifestError>> {
    let source = Source::new(text, path);
    let mut problems = Problems::new(&source);
    let manifest = if text.len() > NETWORK_BYTES_MAX {
        let message = format!("the manifest has {} bytes; the most is {NETWORK_BYTES_MAX}", text.len());
        problems.add(0..0, message, "plan parts of the network that share no link by themselves");
        None
    } else {
        syntax::read(text, &mut problems).and_then(|root| read(&root, &mut problems))
    };
    match (manifest, problems.into_errors()) {
        (Some(manifest), errors) if errors.is_empty() => Ok(manifest),
        (_, errors) => Err(errors),
    }
}

impl NetworkManifest {
    /// The network and its traffic as text, which [`parse_network`] reads back as they are.
    pub fn render(&self) -> String {
        render::render(self)
    }
}

fn read(root: &Spanned<DeTable<'_>>, problems: &mut Problems<'_>) -> Option<NetworkManifest> {
    let root = root.get_ref();
    check_top_level(root, &NETWORK_TABLES, problems);
    let job = single(root, &schema::JOB, problems);
    if root.get(schema::JOB.name).is_none() {
        problems.add(0..0, "the manifest has no [job]", "add [job] with `name = \"my-network\"`");
    }
    let name = job.as_ref().and_then(|job| {
        job.require("name", "\"my-network\"", problems);
        job.name("name", problems)
    });
    let general = general(root, problems);
    let (nodes, names, hosts) = nodes(root, problems);
    let links = link::links(root, &names, problems);
    let network =
        Network { nodes, links: links.into_iter().map(|link| link.value).collect(), frames: general.frames };
    let sections = several(root, &schema::CHANNEL, problems);
    if let Some(beyond) = sections.get(STREAMS_MAX) {
        problems.add(
            beyond.span.clone(),
            format!("the manifest has more than {STREAMS_MAX} channels"),
            "plan a part of them",
        );
        return None;
    }
    let graph = graph_of(&network);
    let members =
        system::Members::are_in(root).then(|| system::Members::read(root, &names, &hosts, problems));
    let between = |section: &&Section<'_, '_>| {
        members.as_ref().is_some_and(|members| system::is_between_members(section, members, &names))
    };
    let (channels, sections): (Vec<_>, Vec<_>) = sections.iter().partition(between);
    let mut traffic = Traffic {
        network,
        streams: Vec::with_capacity(sections.len()),
        flows: Vec::new(),
        clock_error: general.clock_error,
        whole_cycles: general.whole_cycles,
    };
    let mut unique = Unique::new("channel");
    note_names(&channels, &mut unique, problems);
    between_hosts((&sections, graph.as_ref()), &names, (&mut traffic, &mut unique), problems);
    if problems.is_empty() {
        settle(&traffic, &sections, problems);
    }
    let name = name?.value;
    let parts = members.map(|members| system::Source {
        root,
        names: &names,
        graph: graph.as_ref(),
        hosts: &hosts,
        members,
        channels,
    });
    let system = parts.and_then(|parts| system::read(parts, &name, &traffic, problems));
    Some(NetworkManifest { name, traffic, system: system.map(Box::new) })
}

/// Channels between hosts: streams, and flows beside the table.
fn between_hosts(
    (sections, graph): (&[&Section<'_, '_>], Option<&Graph>),
    names: &Names,
    (traffic, unique): (&mut Traffic, &mut Unique),
    problems: &mut Problems<'_>,
) {
    for section in sections {
        let name = if flow::is_one(section, problems) {
            let flow = flow::read(section, names, graph, problems);
            flow.map(|flow| {
                let name = flow.name.clone();
                traffic.flows.push(flow);
                name
            })
        } else {
            let stream = channel::read(section, names, graph, problems);
            stream.map(|stream| {
                let name = stream.name.clone();
                traffic.streams.push(stream);
                name
            })
        };
        if let Some(name) = name {
            unique.note(name.clone(), &Located { value: name, span: section.place("name") }, problems);
        }
    }
}

/// Names of channels between members, which no stream may have.
fn note_names(channels: &[&Section<'_, '_>], unique: &mut Unique, problems: &mut Problems<'_>) {
    for section in channels {
        let Some(value) = section.value("name") else { continue };
        if let Some(name) = value.get_ref().as_str() {
            let name = Located { value: name.to_owned(), span: value.span() };
            unique.note(name.value.clone(), &name, problems);
        }
    }
}

/// What only the whole can tell.
fn settle(traffic: &Traffic, sections: &[&Section<'_, '_>], problems: &mut Problems<'_>) {
    let Err(error) = traffic.validate() else { return };
    let named = |section: &&Section<'_, '_>| match &error {
        TrafficError::Stream { name, .. } => {
            section.value("name").is_some_and(|value| value.get_ref().as_str() == Some(name))
        }
        _ => false,
    };
    let span = sections.iter().copied().find(named).map_or(0..0, |section| section.span.clone());
    let text = error.to_string();
    let (message, hint) =
        text.split_once("; ").unwrap_or((&text, "docs/network-manifest.md describes every key"));
    problems.add(span, message, hint);
}

/// For ways; only of links whose ends exist.
fn graph_of(network: &Network) -> Option<Graph> {
    network.validate().is_ok().then(|| Graph::new(network))
}

struct General {
    frames: FrameFormat,
    clock_error: Nanos,
    whole_cycles: bool,
}

fn general(root: &DeTable<'_>, problems: &mut Problems<'_>) -> General {
    let default = FrameFormat::default();
    let Some(section) = single(root, &schema::NETWORK, problems) else {
        return General { frames: default, clock_error: Nanos::ZERO, whole_cycles: false };
    };
    let mut bytes = |key, least: u64, most: u64, otherwise: ByteSize| match section.value(key) {
        // Nothing is a size too, here.
        Some(value) if value.get_ref().as_str().is_some_and(|text| least == 0 && text == "0B") => ByteSize(0),
        _ => section.size(key, &(least.max(1)..=most), problems).unwrap_or(otherwise),
    };
    let frames = FrameFormat {
        payload_max: bytes("payload-max", 1, 1 << 24, default.payload_max),
        payload_min: bytes("payload-min", 0, 1 << 24, default.payload_min),
        overhead: bytes("overhead", 0, 1 << 10, default.overhead),
    };
    let clock_error =
        section.duration("clock-error", &(Nanos::ZERO..=CLOCK_ERROR_MAX), problems).unwrap_or_default();
    let whole_cycles = section.boolean("whole-cycles", problems).unwrap_or_default();
    General { frames, clock_error, whole_cycles }
}

/// Hosts and switches, in the order of the file.
fn nodes(root: &DeTable<'_>, problems: &mut Problems<'_>) -> (Vec<Node>, Names, Vec<system::HostPart>) {
    let hosts = several(root, &schema::HOST, problems);
    let switches = several(root, &schema::SWITCH, problems);
    if hosts.is_empty() {
        problems.add(
            0..0,
            "the manifest has no [[host]]",
            "add [[host]] with `name = \"h0\"` for each machine that sends or receives",
        );
    }
    if let Some(beyond) = hosts.iter().chain(&switches).nth(NODES_MAX) {
        problems.add(
            beyond.span.clone(),
            format!("the manifest has more than {NODES_MAX} hosts and switches"),
            "plan a part of them",
        );
    }
    let mut nodes = Vec::with_capacity(hosts.len() + switches.len());
    let mut names = Names { nodes: BTreeMap::new() };
    let mut parts = Vec::new();
    let mut unique = Unique::new("node");
    let mut sections: Vec<_> =
        hosts.iter().map(|host| (host, true)).chain(switches.iter().map(|switch| (switch, false))).collect();
    sections.sort_by_key(|(section, _)| section.span.start);
    for (section, is_host) in sections {
        section.require("name", if is_host { "\"h0\"" } else { "\"s0\"" }, problems);
        let kind = if is_host { NodeKind::Host } else { NodeKind::Switch(forwarding(section, problems)) };
        let Some(name) = section.name("name", problems) else { continue };
        unique.note(name.value.clone(), &name, problems);
        let node = NodeId(nodes.len() as u32);
        names.nodes.entry(name.value.clone()).or_insert((node, kind));
        if is_host {
            parts.extend(system::host_part(section, node, &name.value, problems));
        }
        nodes.push(Node { name: name.value, kind });
    }
    (nodes, names, parts)
}

fn forwarding(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> Forwarding {
    section
        .size("cut-through", &(1..=1 << 24), problems)
        .map_or(Forwarding::StoreAndForward, |header| Forwarding::CutThrough { header })
}

impl Names {
    /// The node of a name; reported if there is none, or if it must be a host and is not.
    fn find(
        &self,
        name: &Located<String>,
        must_be_host: bool,
        problems: &mut Problems<'_>,
    ) -> Option<NodeId> {
        match self.nodes.get(&name.value) {
            Some((_, NodeKind::Switch(_))) if must_be_host => {
                let message = format!("{} is a switch; only hosts send and receive", quoted(&name.value));
                problems.add(name.span.clone(), message, "name a [[host]]");
                None
            }
            Some((node, _)) => Some(*node),
            None => {
                let near = nearest(&name.value, self.nodes.keys().map(String::as_str));
                let hint = near.map_or_else(
                    || format!("add [[host]] or [[switch]] with `name = {}`", quoted(&name.value)),
                    |near| format!("did you mean {}?", quoted(near)),
                );
                problems.add(name.span.clone(), format!("there is no node {}", quoted(&name.value)), hint);
                None
            }
        }
    }
}
