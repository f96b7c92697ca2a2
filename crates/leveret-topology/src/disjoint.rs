//! Two routes that share nothing but their ends (R. Bhandari, *Survivable Networks*, 1999, section 3).

use crate::Graph;
use leveret_types::{LinkId, NodeId};
use std::collections::VecDeque;

/// A node of the split graph: where a node is entered, and where it is left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    In,
    Out,
}

/// Two routes with the fewest links together that share no switch and no link, if there are such. A switch that a host hangs
/// on by its only cable cannot be avoided and may be shared, as may that cable.
pub fn disjoint_pair(graph: &Graph, source: NodeId, target: NodeId) -> Option<(Vec<LinkId>, Vec<LinkId>)> {
    let (head, source_inside) = descend(graph, source, target, true)?;
    let (tail, target_inside) = descend(graph, target, source, false)?;
    if source_inside == target_inside {
        return None;
    }
    let first = augment(graph, source_inside, target_inside, &[])?;
    let second = augment(graph, source_inside, target_inside, &first)?;
    let routes = join(graph, source_inside, target_inside, &second)?;
    let whole =
        |route: Vec<LinkId>| head.iter().copied().chain(route).chain(tail.iter().rev().copied()).collect();
    let [one, two] = routes.map(whole);
    Some((one, two))
}

/// From a node over cables without alternative: they are shared by both routes.
fn descend(graph: &Graph, from: NodeId, to: NodeId, forwards: bool) -> Option<(Vec<LinkId>, NodeId)> {
    let mut shared = Vec::new();
    let mut node = from;
    loop {
        let links = if forwards { graph.outgoing(node) } else { graph.incoming(node) };
        let next = |link: LinkId| if forwards { graph.target(link) } else { graph.source(link) };
        let came_from =
            shared.last().map(|link| if forwards { graph.source(*link) } else { graph.target(*link) });
        let mut onward = links.iter().filter(|link| {
            Some(next(**link)) != came_from && (graph.forwards(next(**link)) || next(**link) == to)
        });
        let (Some(&only), None) = (onward.next(), onward.next()) else {
            return (!links.is_empty()).then_some((shared, node));
        };
        if next(only) == to || shared.len() > graph.nodes() {
            return None;
        }
        shared.push(only);
        node = next(only);
    }
}

/// The links of a flow of one more, with the links of `flow` reversible: breadth-first where lengths are equal would not be
/// shortest once links turn, so distances are relaxed until nothing changes.
fn augment(graph: &Graph, source: NodeId, target: NodeId, flow: &[LinkId]) -> Option<Vec<LinkId>> {
    let in_flow = |link: LinkId| flow.contains(&link);
    let on_flow = |node: NodeId| {
        flow.iter().any(|link| graph.target(*link) == node) && node != target && node != source
    };
    let place = |node: NodeId, side: Side| node.index() * 2 + usize::from(side == Side::Out);
    let mut best = vec![(i64::MAX, None::<(usize, Option<LinkId>)>); graph.nodes() * 2];
    let start = place(source, Side::Out);
    best[start].0 = 0;
    let mut queue = VecDeque::from([(source, Side::Out)]);
    let mut relaxations = graph.nodes() * graph.links() * 4 + 4;
    while let Some((node, side)) = queue.pop_front() {
        relaxations = relaxations.checked_sub(1)?;
        let here = place(node, side);
        let distance = best[here].0;
        let mut relax = |to: NodeId, to_side: Side, cost: i64, link: Option<LinkId>| {
            let there = place(to, to_side);
            if distance + cost < best[there].0 {
                best[there] = (distance + cost, Some((here, link)));
                queue.push_back((to, to_side));
            }
        };
        match side {
            Side::Out => {
                for &link in graph.outgoing(node).iter().filter(|link| !in_flow(**link)) {
                    let next = graph.target(link);
                    if next == target || graph.forwards(next) {
                        relax(next, Side::In, 1, Some(link));
                    }
                }
                if on_flow(node) {
                    relax(node, Side::In, 0, None);
                }
            }
            Side::In => {
                if node != target && !on_flow(node) {
                    relax(node, Side::Out, 0, None);
                }
                for &link in graph.incoming(node).iter().filter(|link| in_flow(**link)) {
                    relax(graph.source(link), Side::Out, -1, Some(link));
                }
            }
        }
    }
    let mut place_now = place(target, Side::In);
    let mut result = flow.to_vec();
    while place_now != start {
        let (previous, link) = best[place_now].1?;
        if let Some(link) = link {
            match result.iter().position(|other| *other == link) {
                Some(turned) => drop(result.remove(turned)),
                None => result.push(link),
            }
        }
        place_now = previous;
    }
    Some(result)
}

/// A flow of two as two routes, the shorter first.
fn join(graph: &Graph, source: NodeId, target: NodeId, flow: &[LinkId]) -> Option<[Vec<LinkId>; 2]> {
    let mut rest = flow.to_vec();
    rest.sort_unstable();
    let mut take = || {
        let mut route = Vec::new();
        let mut node = source;
        while node != target {
            let next = rest.iter().position(|link| graph.source(*link) == node)?;
            let link = rest.remove(next);
            node = graph.target(link);
            route.push(link);
        }
        Some(route)
    };
    let mut routes = [take()?, take()?];
    routes.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    Some(routes)
}
