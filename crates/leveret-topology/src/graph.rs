//! Who can send to whom, ready for walks.

use crate::{Network, NodeKind};
use leveret_types::{LinkId, NodeId};

/// The links of a network by their ends.
#[derive(Clone, Debug)]
pub struct Graph {
    /// `first_out[n]..first_out[n + 1]` are the places of `n`'s links in `out`.
    first_out: Vec<u32>,
    out: Vec<LinkId>,
    first_in: Vec<u32>,
    into: Vec<LinkId>,
    ends: Vec<(NodeId, NodeId)>,
    forwards: Vec<bool>,
}

impl Graph {
    /// Of a network that [`Network::validate`] accepted.
    pub fn new(network: &Network) -> Self {
        let nodes = network.nodes.len();
        let ends: Vec<_> = network.links.iter().map(|link| (link.source, link.target)).collect();
        let (first_out, out) = by_end(nodes, ends.iter().map(|(source, _)| *source));
        let (first_in, into) = by_end(nodes, ends.iter().map(|(_, target)| *target));
        let forwards = network.nodes.iter().map(|node| matches!(node.kind, NodeKind::Switch(_))).collect();
        Self { first_out, out, first_in, into, ends, forwards }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.forwards.len()
    }

    /// How many links there are.
    pub fn links(&self) -> usize {
        self.ends.len()
    }

    /// Links that leave a node, in the model's order.
    pub fn outgoing(&self, node: NodeId) -> &[LinkId] {
        &self.out[self.first_out[node.index()] as usize..self.first_out[node.index() + 1] as usize]
    }

    /// Links that come to a node, in the model's order.
    pub fn incoming(&self, node: NodeId) -> &[LinkId] {
        &self.into[self.first_in[node.index()] as usize..self.first_in[node.index() + 1] as usize]
    }

    /// Who sends into a link.
    pub fn source(&self, link: LinkId) -> NodeId {
        self.ends[link.index()].0
    }

    /// Who receives from it.
    pub fn target(&self, link: LinkId) -> NodeId {
        self.ends[link.index()].1
    }

    /// Whether a node is a switch.
    pub fn forwards(&self, node: NodeId) -> bool {
        self.forwards[node.index()]
    }
}

fn by_end(nodes: usize, ends: impl Iterator<Item = NodeId> + Clone) -> (Vec<u32>, Vec<LinkId>) {
    let mut first = vec![0u32; nodes + 1];
    for end in ends.clone() {
        first[end.index() + 1] += 1;
    }
    for node in 0..nodes {
        first[node + 1] += first[node];
    }
    let mut next = first.clone();
    let mut links = vec![LinkId(0); ends.clone().count()];
    for (link, end) in ends.enumerate() {
        links[next[end.index()] as usize] = LinkId(link as u32);
        next[end.index()] += 1;
    }
    (first, links)
}
