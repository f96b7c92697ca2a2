//! Networks of known shapes, for tests, benchmarks and first steps.

use crate::{Forwarding, FrameFormat, Link, Network, Node, NodeKind};
use leveret_types::{BitRate, Nanos, NodeId};

/// What a generated network looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Switches in a row.
    Line,
    /// Switches in a circle.
    Ring,
    /// A binary tree.
    Tree,
    /// A ring with rungs across: switch i is also joined with switch n - 1 - i.
    Mesh,
    /// A ring of rings: as many inner switches, each the first of a ring of `cell` outer ones.
    Hierarchy {
        /// Switches of an outer ring, the one in the inner ring among them.
        cell: u32,
    },
}

/// A network of `switches` switches `s0`, `s1`, ... (`1 Gbit/s`, `2 us` of processing, 8 queues) with `hosts` hosts `h0`, `h1`,
/// ... spread over them evenly: in a tree over its leaves, in a hierarchy over the outer switches.
pub fn shape(shape: Shape, switches: u32, hosts: u32) -> Network {
    let mut cables = between_switches(shape, switches);
    let carriers: Vec<u32> = match shape {
        Shape::Tree => (0..switches).filter(|switch| switch * 2 + 1 >= switches).collect(),
        Shape::Hierarchy { cell } if cell > 1 => (0..switches).filter(|switch| switch % cell != 0).collect(),
        _ => (0..switches).collect(),
    };
    for host in 0..hosts {
        if let Some(switch) = carriers.get(host as usize % carriers.len().max(1)) {
            cables.push((switches + host, *switch));
        }
    }
    let node = |name: String, kind| Node { name, kind };
    let switch = |index| node(format!("s{index}"), NodeKind::Switch(Forwarding::StoreAndForward));
    let host = |index| node(format!("h{index}"), NodeKind::Host);
    Network {
        nodes: (0..switches).map(switch).chain((0..hosts).map(host)).collect(),
        links: cables.iter().flat_map(|(a, b)| [gigabit(*a, *b), gigabit(*b, *a)]).collect(),
        frames: FrameFormat::default(),
    }
}

fn between_switches(shape: Shape, switches: u32) -> Vec<(u32, u32)> {
    let ring = |first: u32, count: u32, step: u32| {
        let cables = if count > 2 { count } else { count.saturating_sub(1) };
        (0..cables).map(move |index| (first + index * step, first + (index + 1) % count * step))
    };
    match shape {
        Shape::Line => (1..switches).map(|switch| (switch - 1, switch)).collect(),
        Shape::Ring => ring(0, switches, 1).collect(),
        Shape::Tree => (1..switches).map(|switch| ((switch - 1) / 2, switch)).collect(),
        Shape::Mesh => {
            let rungs = (0..switches / 2).map(|switch| (switch, switches - 1 - switch));
            // The outermost and the innermost rungs are cables of the ring already.
            let new = rungs.filter(|(a, b)| b - a > 1 && b - a < switches - 1);
            ring(0, switches, 1).chain(new).collect()
        }
        Shape::Hierarchy { cell } => {
            let cell = cell.max(1);
            let cells = switches / cell;
            (0..cells).flat_map(|index| ring(index * cell, cell, 1)).chain(ring(0, cells, cell)).collect()
        }
    }
}

fn gigabit(source: u32, target: u32) -> Link {
    Link {
        source: NodeId(source),
        target: NodeId(target),
        rate: BitRate(1_000_000_000),
        propagation: Nanos::ZERO,
        processing: Nanos::from_micros(2),
        queues: 8,
        preemption: false,
        reserved: Vec::new(),
        shaping: Vec::new(),
    }
}
