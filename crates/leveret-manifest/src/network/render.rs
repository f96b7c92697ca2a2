//! A network's manifest as text.

use super::NetworkManifest;
use leveret_plan::network::{Flow, Stream};
use leveret_topology::{Forwarding, FrameFormat, Link, Network, NodeKind, Tree};
use leveret_types::{BitRate, LinkId, Nanos, NodeId};
use std::collections::BTreeSet;
use std::fmt::Write;

// Writing to a text does not fail: results of `writeln!` are dropped throughout.

pub(super) fn render(manifest: &NetworkManifest) -> String {
    let traffic = &manifest.traffic;
    let network = &traffic.network;
    let mut text = format!("[job]\nname = \"{}\"\n\n[network]\n", manifest.name);
    let frames = &network.frames;
    let default = FrameFormat::default();
    if traffic.clock_error != Nanos::ZERO {
        let _ = writeln!(text, "clock-error = \"{}\"", exact(traffic.clock_error));
    }
    if traffic.whole_cycles {
        let _ = writeln!(text, "whole-cycles = true");
    }
    for (key, value, otherwise) in [
        ("payload-max", frames.payload_max, default.payload_max),
        ("payload-min", frames.payload_min, default.payload_min),
        ("overhead", frames.overhead, default.overhead),
    ] {
        if value != otherwise {
            let _ = writeln!(text, "{key} = \"{}B\"", value.0);
        }
    }
    for node in &network.nodes {
        let header = if node.kind == NodeKind::Host { "host" } else { "switch" };
        let _ = writeln!(text, "\n[[{header}]]\nname = \"{}\"", node.name);
        if let NodeKind::Switch(Forwarding::CutThrough { header }) = node.kind {
            let _ = writeln!(text, "cut-through = \"{}B\"", header.0);
        }
    }
    links(&mut text, network);
    for stream in &traffic.streams {
        channel(&mut text, network, stream);
    }
    for flow in &traffic.flows {
        self::flow(&mut text, network, flow);
    }
    text
}

/// Exactly, in nanoseconds where nothing larger is.
fn exact(time: Nanos) -> String {
    match time.0 {
        0 => "0ns".to_owned(),
        time if time % 1_000_000 == 0 => format!("{}ms", time / 1_000_000),
        time if time % 1_000 == 0 => format!("{}us", time / 1_000),
        time => format!("{time}ns"),
    }
}

fn rate(rate: BitRate) -> String {
    rate.to_string().replace(' ', "")
}

fn links(text: &mut String, network: &Network) {
    let mut written = BTreeSet::new();
    for (index, link) in network.links.iter().enumerate() {
        if written.contains(&index) {
            continue;
        }
        let back = Link { source: link.target, target: link.source, ..link.clone() };
        // Read back, the other direction comes right behind; only there it keeps its place.
        let both = network.links.get(index + 1) == Some(&back);
        if both {
            written.insert(index + 1);
        }
        let (source, target) = network.ends(link);
        let _ =
            writeln!(text, "\n[[link]]\nends = [\"{source}\", \"{target}\"]\nrate = \"{}\"", rate(link.rate));
        for (key, value) in [("propagation", link.propagation), ("processing", link.processing)] {
            if value != Nanos::ZERO {
                let _ = writeln!(text, "{key} = \"{}\"", exact(value));
            }
        }
        if link.queues != 8 {
            let _ = writeln!(text, "queues = {}", link.queues);
        }
        if link.preemption {
            let _ = writeln!(text, "preemption = true");
        }
        if !both {
            let _ = writeln!(text, "one-way = true");
        }
        if !link.reserved.is_empty() {
            let one = |reservation: &leveret_topology::Reservation| {
                let [period, start, length] =
                    [reservation.period, reservation.start, reservation.length].map(exact);
                format!("{{ period = \"{period}\", start = \"{start}\", length = \"{length}\" }}")
            };
            let all: Vec<_> = link.reserved.iter().map(one).collect();
            let _ = writeln!(text, "reserved = [{}]", all.join(", "));
        }
        if !link.shaping.is_empty() {
            let one = |shaper: &leveret_topology::Shaper| {
                format!("{{ class = {}, idle-slope = \"{}\" }}", shaper.class, rate(shaper.idle_slope))
            };
            let all: Vec<_> = link.shaping.iter().map(one).collect();
            let _ = writeln!(text, "shaping = [{}]", all.join(", "));
        }
    }
}

/// Name, source and targets of a channel.
fn ends(text: &mut String, network: &Network, channel: &str, source: NodeId, targets: &[NodeId]) {
    let name = |node: NodeId| format!("\"{}\"", network.nodes[node.index()].name);
    let _ = writeln!(text, "\n[[channel]]\nname = \"{channel}\"\nsource = {}", name(source));
    match targets {
        [target] => drop(writeln!(text, "target = {}", name(*target))),
        targets => {
            let all: Vec<_> = targets.iter().map(|target| name(*target)).collect();
            let _ = writeln!(text, "targets = [{}]", all.join(", "));
        }
    }
}

fn flow(text: &mut String, network: &Network, flow: &Flow) {
    ends(text, network, &flow.name, flow.source, &flow.targets);
    let _ = match flow.class {
        None => writeln!(text, "qos = \"best-effort\""),
        Some(class) => writeln!(text, "qos = \"priority-driven\"\npriority = {class}"),
    };
    let _ = writeln!(text, "size = \"{}B\"", flow.size.0);
    for (key, value) in [("interval", flow.interval), ("deadline", flow.deadline)] {
        if let Some(value) = value {
            let _ = writeln!(text, "{key} = \"{}\"", exact(value));
        }
    }
    if flow.burst != 1 {
        let _ = writeln!(text, "burst = {}", flow.burst);
    }
    if let Some(way) = &flow.way {
        let all = branches(network, flow.source, &flow.targets, way);
        let _ = writeln!(text, "ways = [{}]", all.join(", "));
    }
}

fn channel(text: &mut String, network: &Network, stream: &Stream) {
    ends(text, network, &stream.name, stream.source, &stream.targets);
    let _ = writeln!(text, "period = \"{}\"", exact(stream.period));
    if (stream.release, stream.deadline) != (Nanos::ZERO, stream.period) {
        let _ = writeln!(text, "window = [\"{}\", \"{}\"]", exact(stream.release), exact(stream.deadline));
    }
    let _ = writeln!(text, "size = \"{}B\"", stream.size.0);
    for (key, value) in [("latency", stream.latency), ("jitter", stream.jitter)] {
        if let Some(value) = value {
            let _ = writeln!(text, "{key} = \"{}\"", exact(value));
        }
    }
    if stream.copies != 1 {
        let _ = writeln!(text, "copies = {}", stream.copies);
    }
    if let Some(ways) = &stream.ways {
        let all: Vec<_> =
            ways.iter().flat_map(|way| branches(network, stream.source, &stream.targets, way)).collect();
        let _ = writeln!(text, "ways = [{}]", all.join(", "));
    }
}

/// The way to each target, as a list of nodes.
fn branches(network: &Network, source: NodeId, targets: &[NodeId], way: &Tree) -> Vec<String> {
    let end = |link: LinkId| network.links[link.index()].target;
    let branch = |target: &NodeId| {
        let mut nodes = Vec::new();
        let mut hop = way.hops.iter().find(|hop| end(hop.link) == *target);
        while let Some(at) = hop {
            nodes.push(end(at.link));
            hop = at.parent.map(|parent| &way.hops[parent as usize]);
        }
        nodes.push(source);
        let names: Vec<_> =
            nodes.iter().rev().map(|node| format!("\"{}\"", network.nodes[node.index()].name)).collect();
        format!("[{}]", names.join(", "))
    };
    targets.iter().map(branch).collect()
}
