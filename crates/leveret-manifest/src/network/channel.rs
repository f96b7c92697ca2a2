//! `[[channel]]` between hosts.

use super::Names;
use crate::section::Section;
use crate::source::{Located, Problems, quoted};
use crate::values::wrong_kind;
use leveret_plan::network::{STREAM_TIME_MAX, Stream};
use leveret_topology::{Graph, Tree};
use leveret_types::{LinkId, MESSAGE_BYTES_MAX, Nanos, NodeId};
use toml::de::DeValue;

pub(super) fn read(
    section: &Section<'_, '_>,
    names: &Names,
    graph: Option<&Graph>,
    problems: &mut Problems<'_>,
) -> Option<Stream> {
    for (key, example) in
        [("name", "\"AB\""), ("source", "\"h0\""), ("period", "\"1ms\""), ("size", "\"64B\"")]
    {
        section.require(key, example, problems);
    }
    let period = section.duration("period", &(Nanos(1)..=STREAM_TIME_MAX), problems);
    let size = section.size("size", &(1..=MESSAGE_BYTES_MAX), problems);
    let limit =
        |key, problems: &mut Problems<'_>| section.duration(key, &(Nanos::ZERO..=STREAM_TIME_MAX), problems);
    let (latency, jitter) = (limit("latency", problems), limit("jitter", problems));
    let window = section.window(problems);
    let copies = section.integer("copies", &(1..=2), problems).unwrap_or(1) as u8;
    let source = section.text("source", problems).and_then(|name| names.find(&name, true, problems));
    let targets = targets(section, names, problems);
    let name = section.name("name", problems);
    let ways = ways(section, names, graph, copies, problems);
    let period = period?;
    let (release, deadline) = window.unwrap_or((Nanos::ZERO, period));
    Some(Stream {
        name: name?.value,
        source: source?,
        targets: targets?,
        size: size?,
        period,
        release,
        deadline,
        latency,
        jitter,
        copies,
        ways,
    })
}

pub(super) fn targets(
    section: &Section<'_, '_>,
    names: &Names,
    problems: &mut Problems<'_>,
) -> Option<Vec<NodeId>> {
    let targets = target_names(section, problems)?;
    targets.iter().map(|target| names.find(target, true, problems)).collect()
}

/// The names in `target` or `targets`.
pub(super) fn target_names(
    section: &Section<'_, '_>,
    problems: &mut Problems<'_>,
) -> Option<Vec<Located<String>>> {
    let one = section.text("target", problems);
    let several = section.texts("targets", "[\"h1\", \"h2\"]", problems);
    match (one, several) {
        (Some(_), Some(_)) => {
            let message = format!("{} has both `target` and `targets`", section.label);
            problems.add(section.place("targets"), message, "keep one of them");
            None
        }
        (Some(target), None) => Some(vec![target]),
        (None, Some(targets)) => Some(targets),
        (None, None) => {
            if section.value("target").is_none() && section.value("targets").is_none() {
                section.require("target", "\"h1\"", problems);
            }
            None
        }
    }
}

/// `way`: the nodes of the one way. `ways`: of each copy, or, of a channel with one copy, the branches of its tree.
pub(super) fn ways(
    section: &Section<'_, '_>,
    names: &Names,
    graph: Option<&Graph>,
    copies: u8,
    problems: &mut Problems<'_>,
) -> Option<Vec<Tree>> {
    let paths = paths(section, problems)?;
    let ends = paths.iter().filter_map(|path| path.last());
    let twice = |(index, end): (usize, &Located<String>)| {
        let before = paths.iter().filter_map(|path| path.last()).take(index);
        before.into_iter().any(|other| other.value == end.value).then(|| end.clone())
    };
    if let Some(end) = ends.enumerate().find_map(twice).filter(|_| copies < 2) {
        let message = format!("two of the ways lead to {}, and the channel has one copy", quoted(&end.value));
        problems.add(end.span, message, "name one way for each target, or give the channel `copies = 2`");
        return None;
    }
    let graph = graph?;
    let routes: Vec<Vec<LinkId>> =
        paths.iter().map(|path| route(path, names, graph, problems)).collect::<Option<_>>()?;
    if routes.is_empty() {
        return None;
    }
    if copies == 2 {
        return Some(routes.iter().map(|route| Tree::path(route)).collect());
    }
    let mut tree = Tree::default();
    routes.iter().for_each(|route| tree.add(graph, route));
    Some(vec![tree])
}

/// The ways that a channel declares, as nodes; none where they cannot be read.
fn paths(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> Option<Vec<Vec<Located<String>>>> {
    let mut paths = Vec::new();
    if let Some(way) = section.texts("way", "[\"h0\", \"s0\", \"h1\"]", problems) {
        paths.push(way);
    }
    if !paths.is_empty() && section.value("ways").is_some() {
        problems.add(
            section.place("way"),
            "`way` stands beside `ways`",
            "keep one of them: `way` for one way, `ways` for several",
        );
        return None;
    }
    let form = "write `ways = [[\"h0\", \"s0\", \"h1\"], [\"h0\", \"s1\", \"h1\"]]`";
    if let Some(value) = section.value("ways") {
        let DeValue::Array(entries) = value.get_ref() else {
            problems.add(value.span(), wrong_kind("ways", "a list of lists of nodes", value.get_ref()), form);
            return None;
        };
        for entry in entries {
            let DeValue::Array(nodes) = entry.get_ref() else {
                problems.add(
                    entry.span(),
                    wrong_kind("ways", "a list of lists of nodes", entry.get_ref()),
                    form,
                );
                return None;
            };
            let mut path = Vec::new();
            for node in nodes {
                let DeValue::String(name) = node.get_ref() else {
                    problems.add(
                        node.span(),
                        wrong_kind("ways", "a list of lists of nodes", node.get_ref()),
                        form,
                    );
                    return None;
                };
                path.push(Located { value: name.to_string(), span: node.span() });
            }
            paths.push(path);
        }
    }
    Some(paths)
}

/// The links between nodes, each joined with the next.
fn route(
    path: &[Located<String>],
    names: &Names,
    graph: &Graph,
    problems: &mut Problems<'_>,
) -> Option<Vec<LinkId>> {
    let nodes: Vec<NodeId> =
        path.iter().map(|name| names.find(name, false, problems)).collect::<Option<_>>()?;
    let mut route = Vec::new();
    for (index, pair) in nodes.windows(2).enumerate() {
        let link = graph.outgoing(pair[0]).iter().find(|link| graph.target(**link) == pair[1]);
        let Some(link) = link else {
            let (from, to) = (&path[index], &path[index + 1]);
            let message = format!("no link leads from {} to {}", quoted(&from.value), quoted(&to.value));
            problems.add(
                to.span.clone(),
                message,
                "name every node of the way, from the source to the target",
            );
            return None;
        };
        route.push(*link);
    }
    Some(route)
}
