//! All ways of a stream, where they can be counted.

use super::super::problem::Problem;
use leveret_topology::{Graph, Tree, routes};
use leveret_types::{LinkId, NodeId, StreamId};

/// Routes, or trees, from which on nobody tries them all.
pub(in super::super) const ROUTES_MAX: usize = 256;

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
            let mut trees = vec![Tree::default()];
            for target in &stream.targets {
                trees = longer(graph, &trees, &every(*target)?)?;
            }
            Some(trees.into_iter().map(|tree| vec![tree]).collect())
        }
    }
}

/// Every tree with every route that comes to each node as the tree does: each tree that leads to all targets and no further is made once.
fn longer(graph: &Graph, trees: &[Tree], routes: &[Vec<LinkId>]) -> Option<Vec<Tree>> {
    let mut found = Vec::new();
    for tree in trees {
        let as_before = |link: &LinkId| {
            tree.links().all(|known| known == *link || graph.target(known) != graph.target(*link))
        };
        for route in routes.iter().filter(|route| route.iter().all(as_before)) {
            if found.len() == ROUTES_MAX {
                return None;
            }
            let mut tree = tree.clone();
            tree.add(graph, route);
            found.push(tree);
        }
    }
    Some(found)
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
