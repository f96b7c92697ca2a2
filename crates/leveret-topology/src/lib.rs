//! Networks as graphs: hosts, switches and directed links, what a message costs on each, and the routes through them.
//! Pure: the same network gives the same routes in the same order.
//!
//! ```text
//!  host ──link──► switch ──link──► switch ──link──► host        a link is one direction of a cable, with the
//!       ◄──link──        ◄──link──        ◄──link──             port (and its queues) that sends into it
//! ```
#![forbid(unsafe_code)]

mod disjoint;
mod generate;
mod graph;
mod model;
mod routes;
mod tree;

pub use disjoint::disjoint_pair;
pub use generate::{Shape, shape};
pub use graph::Graph;
pub use model::{Forwarding, FrameFormat, Link, Network, NetworkError, Node, NodeKind, Reservation, Shaper};
pub use routes::{first_route, routes, shortest};
pub use tree::{Tree, TreeHop};
