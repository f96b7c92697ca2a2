//! How a message spreads from its source: a path to one target, a tree to several.

use crate::{Graph, routes};
use leveret_types::{LinkId, NodeId};
use serde::{Deserialize, Serialize};

/// The links that a message takes, each after the one it comes from.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tree {
    /// Links in an order in which each comes after its parent.
    pub hops: Vec<TreeHop>,
}

/// One link of a [`Tree`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TreeHop {
    /// Which link.
    pub link: LinkId,
    /// Which hop the message comes from; none at the source.
    pub parent: Option<u32>,
}

impl Tree {
    /// Along one route.
    pub fn path(route: &[LinkId]) -> Self {
        let hop = |(index, link): (usize, &LinkId)| TreeHop {
            link: *link,
            parent: index.checked_sub(1).map(|parent| parent as u32),
        };
        Self { hops: route.iter().enumerate().map(hop).collect() }
    }

    /// Adds a route from the source. Where it comes to a node that the tree has reached, it goes on from there, so that each
    /// node is reached over one link.
    pub fn add(&mut self, graph: &Graph, route: &[LinkId]) {
        let reached =
            |tree: &Self, node: NodeId| tree.hops.iter().position(|hop| graph.target(hop.link) == node);
        let mut first = 0;
        let mut parent = None;
        for (index, link) in route.iter().enumerate() {
            if let Some(hop) = reached(self, graph.target(*link)) {
                first = index + 1;
                parent = Some(hop as u32);
            }
        }
        for link in &route[first..] {
            self.hops.push(TreeHop { link: *link, parent });
            parent = Some(self.hops.len() as u32 - 1);
        }
    }

    /// Shortest routes to every target, joined; `variant` chooses among routes of each target. None where there is no route.
    pub fn spread(graph: &Graph, source: NodeId, targets: &[NodeId], variant: usize) -> Option<Self> {
        let mut tree = Self::default();
        for target in targets {
            let (found, _) = routes(graph, source, *target, variant + 1);
            tree.add(graph, found.last()?);
        }
        Some(tree)
    }

    /// The links without what they hang on.
    pub fn links(&self) -> impl Iterator<Item = LinkId> {
        self.hops.iter().map(|hop| hop.link)
    }
}
