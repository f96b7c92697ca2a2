//! Gates as a configuration of managed nodes, in the shape of the published YANG modules, encoded as RFC 7951 says: of bridges by IEEE Std 802.1Qcw-2023 (`ieee802-dot1q-sched`,
//! `ieee802-dot1q-sched-bridge`; the class of each priority in `ieee802-dot1q-bridge`, `traffic-class`), of end stations, whose interfaces are no bridge ports, by IEEE Std
//! 802.1DC-2024 (`ieee802-dot1dc-sched-if`). The parameters are those of IEEE Std 802.1Q-2022, 12.29, 12.6.3 and 8.6.9.4.
//!
//! ```text
//!  nodes: by name
//!    configuration   what the node is given: its interfaces, each with its gate-parameter-table, and of a bridge its class table
//!    ports           (ours) what each traffic class of an interface is for, the class of each priority (PCP) of end stations too, shapers
//!    streams         (ours) by stream and copy: where it leaves the node, in which queue and traffic class, by which priority
//!    flows           (ours) channels beside the table likewise
//! ```

use crate::classes::Priorities;
use crate::gates::{CLASSES_MAX, Entry, Gates};
use leveret_plan::network::{NetworkPlan, Traffic};
use leveret_topology::NodeKind;
use leveret_types::{Nanos, NodeId};
use serde_json::{Map, Value, json};

/// Why a port's list cannot be written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the gates of {link} repeat every {cycle}, and the standard counts a cycle as a fraction of seconds with 32 bits above and below; \
     choose periods that are whole microseconds"
)]
pub struct CycleError {
    /// Which.
    link: String,
    /// Its cycle.
    cycle: Nanos,
}

/// One document for all nodes. An interface is called as the node that it leads to.
///
/// # Errors
/// A cycle that the standard cannot count.
pub fn write(
    name: &str,
    traffic: &Traffic,
    plan: &NetworkPlan,
    gates: &[Gates],
    priorities: &Priorities,
) -> Result<String, CycleError> {
    let network = &traffic.network;
    let mut nodes = Map::new();
    for (index, node) in network.nodes.iter().enumerate() {
        let own = |gates: &&Gates| network.links[gates.link.index()].source == NodeId(index as u32);
        let ports: Vec<_> = gates.iter().filter(own).map(|gates| port(traffic, gates, priorities)).collect();
        let interfaces = gates.iter().filter(own).map(|port| interface(traffic, port, priorities));
        let interfaces = interfaces.collect::<Result<Vec<_>, _>>()?;
        let streams = streams(traffic, plan, gates, priorities, NodeId(index as u32));
        let flows = flows(traffic, plan, gates, priorities, NodeId(index as u32));
        if interfaces.is_empty() && streams.is_empty() && flows.is_empty() {
            continue;
        }
        let kind = if node.kind == NodeKind::Host { "host" } else { "bridge" };
        let configuration = json!({ "ietf-interfaces:interfaces": { "interface": interfaces } });
        let mut known =
            json!({ "kind": kind, "configuration": configuration, "ports": ports, "streams": streams });
        if !flows.is_empty() {
            known["flows"] = Value::Array(flows);
        }
        nodes.insert(node.name.clone(), known);
    }
    let document = json!({ "network": name, "hyperperiod-ns": plan.hyperperiod.0, "nodes": nodes });
    Ok(format!("{document:#}\n"))
}

fn interface(traffic: &Traffic, gates: &Gates, priorities: &Priorities) -> Result<Value, CycleError> {
    let network = &traffic.network;
    let (numerator, denominator) = fraction(gates.cycle)
        .ok_or_else(|| CycleError { link: network.link_name(gates.link), cycle: gates.cycle })?;
    let (seconds, nanoseconds) = (gates.offset.0 / SECOND, gates.offset.0 % SECOND);
    let entries: Vec<_> = gates.entries.iter().enumerate().map(entry).collect();
    let link = &network.links[gates.link.index()];
    let cycle = json!({ "numerator": numerator, "denominator": denominator });
    let longest = gates.entries.iter().map(|entry| entry.length.0).max().unwrap_or(0);
    let table = json!({
        "gate-enabled": true,
        "admin-gate-states": 255,
        "admin-control-list": { "gate-control-entry": entries },
        "admin-cycle-time": cycle,
        "admin-cycle-time-extension": 0,
        // 64 bits are a string (RFC 7951, 6.1).
        "admin-base-time": { "seconds": seconds.to_string(), "nanoseconds": nanoseconds },
        "config-change": true,
        // The modules hold a list against these, so a document without them is not valid. They are what the port must support at least.
        "supported-list-max": gates.entries.len(),
        "supported-cycle-max": cycle,
        "supported-interval-max": longest,
    });
    let mut interface = json!({
        "name": &network.nodes[link.target.index()].name,
        "type": "iana-if-type:ethernetCsmacd",
    });
    // An end station is no bridge: its interface has gates without being a bridge port.
    if network.nodes[link.source.index()].kind == NodeKind::Host {
        interface["ieee802-dot1dc-sched-if:gate-parameter-table"] = table;
    } else {
        interface["ieee802-dot1q-bridge:bridge-port"] = json!({
            "traffic-class": { "traffic-class-map": class_map(gates, priorities) },
            "ieee802-dot1q-sched-bridge:gate-parameter-table": table,
        });
    }
    Ok(interface)
}

/// The class of each priority, for every number of classes that the port may have and that is enough: a port looks into the row of the number that it has, and most have eight.
fn class_map(gates: &Gates, priorities: &Priorities) -> Vec<Value> {
    let row = |(priority, class): (usize, usize)| {
        let available = (gates.classes().max(1)..=CLASSES_MAX)
            .map(|number| json!({ "num-traffic-class": number, "traffic-class": class }));
        json!({ "priority": priority, "available-traffic-class": available.collect::<Vec<_>>() })
    };
    gates.by_priority(priorities).into_iter().enumerate().map(row).collect()
}

/// What the classes of an interface are for.
fn port(traffic: &Traffic, gates: &Gates, priorities: &Priorities) -> Value {
    let network = &traffic.network;
    let other = json!({ "traffic-class": 0, "for": "other traffic", "closes-before-slot-ns": gates.guard.0 });
    let beside = gates.beside.iter().map(|one| {
        let mut class = json!({
            "traffic-class": gates.class_beside(one.class),
            "for": "channels beside the table",
            "channel-priority": one.class,
            "largest-frame-bytes": one.largest.0,
            "longest-delay-ns": one.delay.map(|delay| delay.0),
            "closes-before-slot-ns": one.guard.0,
        });
        if let Some(credit) = one.shaper {
            class["credit-based-shaper"] = json!({
                "idle-slope-bits-per-second": credit.idle_slope.0,
                "send-slope-bits-per-second": credit.send_slope.0,
                "most-credit-bytes": credit.most,
                "least-credit-bytes": -i64::try_from(credit.least).unwrap_or(i64::MAX),
            });
        }
        class
    });
    let planned = gates.queues.iter().map(
        |queue| json!({ "traffic-class": gates.class(*queue), "for": "planned traffic", "queue": queue }),
    );
    let classes: Vec<_> = std::iter::once(other).chain(beside).chain(planned).collect();
    json!({
        "port": network.nodes[network.links[gates.link.index()].target.index()].name,
        "classes": classes,
        "traffic-class-of-priority": gates.by_priority(priorities),
    })
}

/// Where each channel beside the table leaves a node.
fn flows(
    traffic: &Traffic,
    plan: &NetworkPlan,
    gates: &[Gates],
    priorities: &Priorities,
    node: NodeId,
) -> Vec<Value> {
    let network = &traffic.network;
    let mut found = Vec::new();
    for (flow, way) in traffic.flows.iter().zip(&plan.flows) {
        let own = way.hops.iter().filter(|hop| network.links[hop.link.index()].source == node);
        let leaves: Vec<_> = own
            .map(|hop| {
                let port = gates.iter().find(|port| port.link == hop.link);
                let class = flow.class.zip(port).map_or(0, |(class, port)| port.class_beside(class));
                let target = &network.nodes[network.links[hop.link.index()].target.index()].name;
                json!({ "port": target, "traffic-class": class })
            })
            .collect();
        if !leaves.is_empty() {
            let carried = flow.class.map_or(Some(0), |class| priorities.beside[usize::from(class)]);
            found.push(json!({ "channel": flow.name, "priority": carried, "leaves-by": leaves }));
        }
    }
    found
}

fn entry((index, entry): (usize, &Entry)) -> Value {
    json!({
        "index": index,
        "operation-name": "ieee802-dot1q-sched:set-gate-states",
        "gate-states-value": entry.open,
        "time-interval-value": entry.length.0,
    })
}

const SECOND: i64 = 1_000_000_000;

/// Nanoseconds as a fraction of seconds that cannot be shortened.
fn fraction(time: Nanos) -> Option<(u32, u32)> {
    let (mut a, mut b) = (time.0, SECOND);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    Some((u32::try_from(time.0 / a).ok()?, u32::try_from(SECOND / a).ok()?))
}

/// Where each stream leaves a node.
fn streams(
    traffic: &Traffic,
    plan: &NetworkPlan,
    gates: &[Gates],
    priorities: &Priorities,
    node: NodeId,
) -> Vec<Value> {
    let network = &traffic.network;
    let mut found = Vec::new();
    for (index, ways) in plan.ways.iter().enumerate() {
        let stream = &traffic.streams[index];
        for (copy, way) in ways.iter().enumerate() {
            let link = |hop: u32| &network.links[way.tree.hops[hop as usize].link.index()];
            let mut enters = None;
            let mut leaves = Vec::new();
            for (hop, queue) in way.tree.hops.iter().zip(&way.queues) {
                let own = &network.links[hop.link.index()];
                if own.source != node {
                    continue;
                }
                enters = hop.parent.map(|parent| &network.nodes[link(parent).source.index()].name);
                let class = gates.iter().find(|port| port.link == hop.link).map(|port| port.class(*queue));
                let port = &network.nodes[own.target.index()].name;
                leaves.push(json!({ "port": port, "queue": queue, "traffic-class": class }));
            }
            if leaves.is_empty() {
                continue;
            }
            found.push(json!({
                "stream": stream.name,
                "copy": copy,
                "priority": priorities.of[index],
                "enters-by": enters,
                "leaves-by": leaves,
            }));
        }
    }
    found
}
