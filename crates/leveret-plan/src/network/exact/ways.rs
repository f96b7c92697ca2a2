//! All ways of a stream, where they can be counted.

use super::super::problem::Problem;
use leveret_topology::{Graph, Tree, routes};
use leveret_types::{LinkId, NodeId, StreamId};

/// Routes from which on nobody tries them all.
pub(in super::super) const ROUTES_MAX: usize = 48;

/// Each choice has a way for each copy. None: there may be others.
pub(super) fn all(problem: &Problem<'_>, id: StreamId) -> Option<Vec<Vec<Tree>>> {
    let stream = &problem.traffic.streams[id.index()];
    let graph = &problem.graph;
    if let Some(ways) = &stream.ways {
        return Some(vec![ways.clone()]);
    }
    let every = |target: NodeId| {
        let (found, no_other) = routes(graph, stream.source, target, ROUTES_MAX);
        no_other.then_some(found)
    };
    match stream.targets[..] {
        [target] if stream.copies == 2 => Some(pairs(graph, target, &every(target)?)),
        [target] => Some(every(target)?.iter().map(|route| vec![Tree::path(route)]).collect()),
        _ => {
            let mut tree = Tree::default();
            for target in &stream.targets {
                // Several routes to one of several targets make more trees than these.
                let [route] = &every(*target)?[..] else { return None };
                tree.add(graph, route);
            }
            Some(vec![vec![tree]])
        }
    }
}

/// Pairs that share only what every route takes. Which of two is the first copy makes no difference.
fn pairs(graph: &Graph, target: NodeId, routes: &[Vec<LinkId>]) -> Vec<Vec<Tree>> {
    let everywhere = |link: LinkId| routes.iter().all(|route| route.contains(&link));
    let meets = |route: &[LinkId], node: NodeId| route.iter().any(|link| graph.target(*link) == node);
    let always_met = |node: NodeId| routes.iter().all(|route| meets(route, node));
    let apart = |one: &[LinkId], two: &[LinkId]| {
        one.iter().all(|link| {
            let node = graph.target(*link);
            (!two.contains(link) || everywhere(*link))
                && (node == target || !meets(two, node) || always_met(node))
        })
    };
    let mut found = Vec::new();
    for (index, one) in routes.iter().enumerate() {
        for two in routes[index..].iter().filter(|two| apart(one, two)) {
            found.push(vec![Tree::path(one), Tree::path(two)]);
        }
    }
    found
}
