//! When a host hands over its messages: launch times for network interfaces that send at an instant (`SO_TXTIME` with the queueing discipline `etf`;
//! tc-etf(8)), or for a program that sends by the clock.

use crate::classes::Priorities;
use crate::plain::table;
use leveret_plan::network::{NetworkPlan, Traffic};
use leveret_types::NodeId;
use std::fmt::Write;

/// One line for each message of a hyperperiod that a host sends, ordered by host, then by instant; above it in comments what the columns mean.
pub fn write(name: &str, traffic: &Traffic, plan: &NetworkPlan, priorities: &Priorities) -> String {
    let mut text = String::new();
    let network = &traffic.network;
    // Writing to a text does not fail.
    let _ = writeln!(
        text,
        "# Launch times of network {name}; everything repeats every {} ns.
#
# Message `instance` of `stream` is sent at BASE + n * {} + launch_ns on CLOCK_TAI, in round n = 0, 1, ... BASE is an instant at which a
# hyperperiod starts, the same on all hosts and for all gates (0: at multiples of its length). launch_ns may lie beyond the round. The first
# frame leaves then, those after it without a gap; all of them take length_ns of the link.
#
# setsockopt(SOL_SOCKET, SO_TXTIME) with clockid CLOCK_TAI, SO_PRIORITY with `priority`, and the instant of each frame with sendmsg as SCM_TXTIME. Below
# `etf` (tc qdisc ... etf clockid CLOCK_TAI delta NS offload) hand a frame over earlier than delta before its instant, and after the frame before it.
# An empty priority: no one fits all ports on the way, which must know the stream by its addresses.",
        plan.hyperperiod.0, plan.hyperperiod.0
    );
    let mut launches = Vec::new();
    for (index, slots) in plan.links.iter().enumerate() {
        let link = &network.links[index];
        for slot in slots {
            let way = &plan.ways[slot.stream.index()][usize::from(slot.copy)];
            if way.tree.hops[usize::from(slot.hop)].parent.is_none() {
                launches.push((link.source, slot.start, index, *slot));
            }
        }
    }
    launches.sort_by_key(|(host, start, link, slot)| (*host, *start, *link, slot.stream, slot.copy));
    let rows = launches.into_iter().map(|(host, start, index, slot)| {
        let (link, stream) = (&network.links[index], &traffic.streams[slot.stream.index()]);
        let node = |node: NodeId| network.nodes[node.index()].name.clone();
        let length = network.frames.occupation(stream.size, link.rate);
        let priority = priorities.of[slot.stream.index()].map(|priority| priority.to_string());
        let [copy, instance] = [u32::from(slot.copy), slot.instance].map(|value| value.to_string());
        let [start, length] = [start, length].map(|time| time.0.to_string());
        let name = stream.name.clone();
        [node(host), node(link.target), name, copy, instance, start, length, priority.unwrap_or_default()]
    });
    let columns = ["host", "to", "stream", "copy", "instance", "launch_ns", "length_ns", "priority"];
    text.push_str(&table(columns, rows));
    text
}
