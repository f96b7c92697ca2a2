//! Routes, trees and disjoint pairs against what can be counted by hand and by brute force.

use leveret_topology::{Graph, Network, Shape, Tree, disjoint_pair, first_route, routes, shape, shortest};
use leveret_types::{LinkId, NodeId};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn node(network: &Network, name: &str) -> NodeId {
    NodeId(network.nodes.iter().position(|node| node.name == name).expect("a node of this name") as u32)
}

fn is_route(graph: &Graph, source: NodeId, target: NodeId, route: &[LinkId]) -> bool {
    let mut at = source;
    let mut met = BTreeSet::from([source]);
    for (index, link) in route.iter().enumerate() {
        if graph.source(*link) != at || (index > 0 && !graph.forwards(at)) {
            return false;
        }
        at = graph.target(*link);
        if !met.insert(at) {
            return false;
        }
    }
    at == target
}

#[test]
fn every_shape_is_valid_and_joined() {
    for which in [Shape::Line, Shape::Ring, Shape::Tree, Shape::Mesh, Shape::Hierarchy { cell: 4 }] {
        for switches in [4, 8, 12] {
            let network = shape(which, switches, 9);
            network.validate().expect("a valid network");
            let graph = Graph::new(&network);
            for host in 1..9 {
                let (source, target) = (node(&network, "h0"), node(&network, &format!("h{host}")));
                let route = shortest(&graph, source, target, |_| 1).expect("a route");
                assert!(is_route(&graph, source, target, &route));
            }
        }
    }
}

#[test]
fn a_ring_has_two_routes_and_a_line_one() {
    let ring = shape(Shape::Ring, 6, 6);
    let graph = Graph::new(&ring);
    let (found, all) = routes(&graph, node(&ring, "h0"), node(&ring, "h2"), 8);
    assert!(all);
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [4, 6]);
    let line = shape(Shape::Line, 6, 6);
    let (found, all) = routes(&Graph::new(&line), node(&line, "h0"), node(&line, "h2"), 8);
    assert!(all);
    assert_eq!(found.len(), 1);
}

#[test]
fn hosts_forward_nothing() {
    let network = shape(Shape::Line, 1, 3);
    let graph = Graph::new(&network);
    let (found, all) = routes(&graph, node(&network, "h0"), node(&network, "h2"), 8);
    assert!(all);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].len(), 2);
}

#[test]
fn a_tree_reaches_each_node_once() {
    let network = shape(Shape::Mesh, 8, 8);
    let graph = Graph::new(&network);
    let targets: Vec<_> = (1..8).map(|host| node(&network, &format!("h{host}"))).collect();
    for variant in 0..4 {
        let tree = Tree::spread(&graph, node(&network, "h0"), &targets, variant).expect("a tree");
        let reached: Vec<_> = tree.links().map(|link| graph.target(link)).collect();
        assert_eq!(reached.iter().collect::<BTreeSet<_>>().len(), reached.len());
        assert!(targets.iter().all(|target| reached.contains(target)));
        for (index, hop) in tree.hops.iter().enumerate() {
            match hop.parent {
                None => assert_eq!(graph.source(hop.link), node(&network, "h0")),
                Some(parent) => {
                    assert!((parent as usize) < index);
                    assert_eq!(graph.target(tree.hops[parent as usize].link), graph.source(hop.link));
                }
            }
        }
    }
}

#[test]
fn a_line_has_no_disjoint_pair() {
    let network = shape(Shape::Line, 4, 4);
    assert_eq!(disjoint_pair(&Graph::new(&network), node(&network, "h0"), node(&network, "h3")), None);
}

/// The least sum of lengths of two simple routes without a common switch, by trying all pairs.
fn brute_force_pair(graph: &Graph, source: NodeId, target: NodeId) -> Option<usize> {
    let (all, complete) = routes(graph, source, target, 4_000);
    assert!(complete);
    let between = |route: &[LinkId]| -> BTreeSet<NodeId> {
        route[..route.len() - 1].iter().map(|link| graph.target(*link)).collect()
    };
    let mut best = None;
    for (index, one) in all.iter().enumerate() {
        for two in &all[index + 1..] {
            if between(one).is_disjoint(&between(two)) {
                best = Some(best.unwrap_or(usize::MAX).min(one.len() + two.len()));
            }
        }
    }
    best
}

proptest! {
    #[test]
    fn pairs_are_disjoint_and_shortest(cables in prop::collection::btree_set((0u32..7, 0u32..7), 4..16)) {
        let mut network = shape(Shape::Line, 7, 0);
        let links: Vec<_> = cables.iter().filter(|(a, b)| a < b).collect();
        let template = network.links[0].clone();
        network.links.clear();
        for (a, b) in links {
            for (source, target) in [(*a, *b), (*b, *a)] {
                network.links.push(leveret_topology::Link { source: NodeId(source), target: NodeId(target), ..template.clone() });
            }
        }
        network.validate().expect("a valid network");
        let graph = Graph::new(&network);
        let (source, target) = (NodeId(0), NodeId(6));
        prop_assert_eq!(first_route(&graph, source, target), routes(&graph, source, target, 1).0.pop());
        let pair = disjoint_pair(&graph, source, target);
        // Cables without alternative at the ends are shared, which the brute force does not know.
        prop_assume!(graph.outgoing(source).len() != 1 && graph.incoming(target).len() != 1);
        prop_assert_eq!(pair.as_ref().map(|(one, two)| one.len() + two.len()), brute_force_pair(&graph, source, target));
        if let Some((one, two)) = pair {
            prop_assert!(is_route(&graph, source, target, &one) && is_route(&graph, source, target, &two));
        }
    }

    #[test]
    fn routes_come_shortest_first_and_simple(switches in 2u32..9, most in 1usize..20) {
        let network = shape(Shape::Mesh, switches, switches);
        let graph = Graph::new(&network);
        let (source, target) = (node(&network, "h0"), node(&network, &format!("h{}", switches - 1)));
        let (found, _) = routes(&graph, source, target, most);
        prop_assert!(!found.is_empty() && found.len() <= most);
        prop_assert!(found.is_sorted_by_key(|route| route.len()));
        prop_assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), found.len());
        prop_assert!(found.iter().all(|route| is_route(&graph, source, target, route)));
        prop_assert_eq!(first_route(&graph, source, target), found.first().cloned());
        prop_assert_eq!(found[0].len(), shortest(&graph, source, target, |_| 1).map_or(0, |route| route.len()));
    }
}
