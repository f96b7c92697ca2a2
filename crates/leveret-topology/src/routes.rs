//! Routes between two nodes, shortest first.

use crate::Graph;
use leveret_types::{LinkId, NodeId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Steps of [`routes`] for each route that is asked for, so that a network of many detours cannot hold it up.
const STEPS_PER_ROUTE: usize = 4_096;

/// The lightest route; of equal ones that which leaves over the earlier link. Nodes between the ends are switches.
pub fn shortest(
    graph: &Graph,
    source: NodeId,
    target: NodeId,
    weight: impl Fn(LinkId) -> u64,
) -> Option<Vec<LinkId>> {
    let mut best = vec![(u64::MAX, LinkId(u32::MAX)); graph.nodes()];
    let mut heap = BinaryHeap::new();
    best[source.index()].0 = 0;
    heap.push(Reverse((0u64, source)));
    while let Some(Reverse((distance, node))) = heap.pop() {
        if node == target {
            return Some(walk_back(graph, source, target, &best));
        }
        if distance > best[node.index()].0 || (node != source && !graph.forwards(node)) {
            continue;
        }
        for &link in graph.outgoing(node) {
            let next = graph.target(link);
            let length = distance.saturating_add(weight(link).max(1));
            if length < best[next.index()].0 {
                best[next.index()] = (length, link);
                heap.push(Reverse((length, next)));
            }
        }
    }
    None
}

fn walk_back(graph: &Graph, source: NodeId, target: NodeId, best: &[(u64, LinkId)]) -> Vec<LinkId> {
    let mut route = Vec::new();
    let mut node = target;
    while node != source {
        let link = best[node.index()].1;
        route.push(link);
        node = graph.source(link);
    }
    route.reverse();
    route
}

/// The first of [`routes`], for less.
pub fn first_route(graph: &Graph, source: NodeId, target: NodeId) -> Option<Vec<LinkId>> {
    let hops = hops_to(graph, target, Some(source));
    let mut left = hops[source.index()];
    if left == u32::MAX || left == 0 {
        return None;
    }
    let mut route = Vec::with_capacity(left as usize);
    let mut at = source;
    while at != target {
        left -= 1;
        let nearer = |link: &LinkId| {
            let next = graph.target(*link);
            hops[next.index()] == left && (next == target || graph.forwards(next))
        };
        let link = graph.outgoing(at).iter().copied().filter(nearer).min()?;
        route.push(link);
        at = graph.target(link);
    }
    Some(route)
}

/// Up to `most` routes that meet no node twice, by number of links, then by the links' order. `true` beside them: there is
/// no other.
pub fn routes(graph: &Graph, source: NodeId, target: NodeId, most: usize) -> (Vec<Vec<LinkId>>, bool) {
    let hops = hops_to(graph, target, None);
    let mut found = Vec::new();
    let mut heap = BinaryHeap::new();
    if hops[source.index()] != u32::MAX && source != target {
        heap.push(Reverse((hops[source.index()], Vec::new())));
    }
    let mut steps = most.saturating_mul(STEPS_PER_ROUTE);
    while let Some(Reverse((_, route))) = heap.pop() {
        if found.len() == most || steps == 0 {
            return (found, false);
        }
        steps -= 1;
        let end = route.last().map_or(source, |link| graph.target(*link));
        if end == target {
            found.push(route);
            continue;
        }
        for &link in graph.outgoing(end) {
            let next = graph.target(link);
            let passes = next == target || graph.forwards(next);
            let met = next == source || route.iter().any(|link: &LinkId| graph.target(*link) == next);
            if passes && !met && hops[next.index()] != u32::MAX {
                let mut longer: Vec<LinkId> = Vec::with_capacity(route.len() + 1);
                longer.extend(&route);
                longer.push(link);
                heap.push(Reverse((longer.len() as u32 + hops[next.index()], longer)));
            }
        }
    }
    (found, true)
}

/// How many links each node is from the target, at least. With a node to reach, only of those that are nearer than it.
fn hops_to(graph: &Graph, target: NodeId, reach: Option<NodeId>) -> Vec<u32> {
    let mut hops = vec![u32::MAX; graph.nodes()];
    hops[target.index()] = 0;
    let mut queue = std::collections::VecDeque::from([target]);
    while let Some(node) = queue.pop_front() {
        for &link in graph.incoming(node) {
            let previous = graph.source(link);
            if hops[previous.index()] == u32::MAX {
                hops[previous.index()] = hops[node.index()] + 1;
                if graph.forwards(previous) {
                    queue.push_back(previous);
                }
            }
        }
        if reach.is_some_and(|reach| hops[reach.index()] != u32::MAX) {
            break;
        }
    }
    hops
}
