//! Every way that a stream may take, counted by the checker itself.

use crate::network::Traffic;
use leveret_topology::{NodeKind, Tree, TreeHop};
use leveret_types::{LinkId, NodeId, StreamId};

/// Ways from which on an argument is not checked.
const WAYS_MAX: usize = 1 << 12;

/// Links by the node that sends into them.
pub(super) struct Net {
    outgoing: Vec<Vec<(LinkId, NodeId)>>,
    is_switch: Vec<bool>,
}

impl Net {
    pub(super) fn new(traffic: &Traffic) -> Self {
        let network = &traffic.network;
        let mut outgoing = vec![Vec::new(); network.nodes.len()];
        for (index, link) in network.links.iter().enumerate() {
            if let Some(list) = outgoing.get_mut(link.source.index()) {
                list.push((LinkId(index as u32), link.target));
            }
        }
        let is_switch = network.nodes.iter().map(|node| node.kind != NodeKind::Host).collect();
        Self { outgoing, is_switch }
    }

    /// Links that leave a node.
    pub(super) fn outgoing(&self, node: NodeId) -> usize {
        self.outgoing[node.index()].len()
    }

    /// Links that come to a node.
    pub(super) fn incoming(&self, node: NodeId) -> usize {
        self.outgoing.iter().flatten().filter(|(_, target)| *target == node).count()
    }

    /// Every route that comes to no node twice. None: too many.
    pub(super) fn routes(&self, from: NodeId, to: NodeId) -> Option<Vec<Vec<LinkId>>> {
        let mut found = Vec::new();
        let mut met = vec![false; self.is_switch.len()];
        met[from.index()] = true;
        // Where the walk is: the node, and which of its links comes next.
        let mut path = vec![(from, 0usize)];
        let mut links: Vec<LinkId> = Vec::new();
        let mut steps = 0usize;
        while let Some((node, next)) = path.last_mut() {
            steps += 1;
            if found.len() > WAYS_MAX || steps > WAYS_MAX * 64 {
                return None;
            }
            let Some(&(link, target)) = self.outgoing[node.index()].get(*next) else {
                met[node.index()] = false;
                path.pop();
                links.pop();
                continue;
            };
            *next += 1;
            if met[target.index()] {
                continue;
            }
            if target == to {
                found.push(links.iter().copied().chain([link]).collect());
            } else if self.is_switch[target.index()] {
                met[target.index()] = true;
                path.push((target, 0));
                links.push(link);
            }
        }
        Some(found)
    }
}

/// Every choice of ways for the copies of a stream, as far as they differ; of two copies in either order. None: too many.
pub(super) fn expected(net: &Net, traffic: &Traffic, id: StreamId) -> Option<Vec<Vec<Tree>>> {
    let stream = &traffic.streams[id.index()];
    if let Some(ways) = &stream.ways {
        return Some(vec![ways.clone()]);
    }
    if let [target] = stream.targets[..] {
        let routes = net.routes(stream.source, target)?;
        if stream.copies == 1 {
            return Some(routes.iter().map(|route| vec![path(route)]).collect());
        }
        let mut pairs = Vec::new();
        for (index, one) in routes.iter().enumerate() {
            for two in &routes[index..] {
                if share_only_what_they_must(traffic, &routes, one, two) {
                    pairs.push(vec![path(one), path(two)]);
                }
            }
        }
        return Some(pairs);
    }
    // What leads to all targets and has a link more than it needs has no plan where it has none without that link.
    let mut trees: Vec<Vec<TreeHop>> = vec![Vec::new()];
    for target in &stream.targets {
        let routes = net.routes(stream.source, *target)?;
        let pairs = trees.iter().flat_map(|hops| routes.iter().map(move |route| (hops, route)));
        let mut with_target = Vec::new();
        for (hops, route) in pairs {
            with_target.extend(with_route(traffic, hops, route));
            if with_target.len() > WAYS_MAX {
                return None;
            }
        }
        trees = with_target;
    }
    Some(trees.into_iter().map(|hops| vec![Tree { hops }]).collect())
}

/// A tree with a route from its source. None: they come to a node over different links.
fn with_route(traffic: &Traffic, hops: &[TreeHop], route: &[LinkId]) -> Option<Vec<TreeHop>> {
    let target = |link: LinkId| traffic.network.links[link.index()].target;
    let mut hops = hops.to_vec();
    let mut parent = None;
    for link in route {
        let place = match hops.iter().position(|hop| target(hop.link) == target(*link)) {
            Some(place) if hops[place].link == *link => place,
            Some(_) => return None,
            None => {
                hops.push(TreeHop { link: *link, parent });
                hops.len() - 1
            }
        };
        parent = Some(place as u32);
    }
    Some(hops)
}

fn path(route: &[LinkId]) -> Tree {
    let mut hops = Vec::with_capacity(route.len());
    for (index, link) in route.iter().enumerate() {
        let parent = if index == 0 { None } else { Some(index as u32 - 1) };
        hops.push(TreeHop { link: *link, parent });
    }
    Tree { hops }
}

fn share_only_what_they_must(
    traffic: &Traffic,
    routes: &[Vec<LinkId>],
    one: &[LinkId],
    two: &[LinkId],
) -> bool {
    let node = |link: &LinkId| traffic.network.links[link.index()].target;
    let (inner_one, inner_two) = (&one[..one.len() - 1], &two[..two.len() - 1]);
    let links = one.iter().filter(|link| two.contains(link));
    let mut nodes = inner_one.iter().map(node).filter(|met| inner_two.iter().any(|link| node(link) == *met));
    links.into_iter().all(|link| routes.iter().all(|route| route.contains(link)))
        && nodes.all(|met| routes.iter().all(|route| route.iter().any(|link| node(link) == met)))
}
