//! Gates as `tc` sets them on Linux: the queueing discipline `taprio` (tc-taprio(8)), for the ports of hosts and of switches that run Linux; below it `cbs`
//! (tc-cbs(8)) for shaped classes.

use crate::beside::Beside;
use crate::classes::Priorities;
use crate::gates::Gates;
use crate::netlink::TC_ENTRIES_MAX;
use crate::plain::{plain, unique};
use leveret_plan::network::Traffic;
use leveret_topology::Link;
use leveret_types::{ByteSize, NodeId};
use std::fmt::Write;

/// One shell script for each node that sends planned frames, or frames of channels with a priority beside the table: its name, and what stands in it. `largest` is what [`crate::gates::gates`] was given.
pub fn write(
    traffic: &Traffic,
    gates: &[Gates],
    priorities: &Priorities,
    largest: ByteSize,
) -> Vec<(String, String)> {
    let mut scripts = Vec::new();
    for node in 0..traffic.network.nodes.len() {
        let own = |gates: &&Gates| traffic.network.links[gates.link.index()].source == NodeId(node as u32);
        let ports: Vec<_> = gates.iter().filter(own).collect();
        if ports.is_empty() {
            continue;
        }
        let name = plain(&traffic.network.nodes[node].name);
        let mut script = head(&name, largest);
        for port in ports {
            script.push_str(&one(traffic, port, priorities));
        }
        scripts.push((unique(&name, node, traffic) + ".sh", script));
    }
    scripts
}

fn head(node: &str, largest: ByteSize) -> String {
    format!(
        "#!/bin/sh
# Gates of {node}. Run on it as root, once its clock follows those of all others (CLOCK_TAI: ptp4l and phc2sys).
# Name its interfaces, one for each neighbour: DEV_...=eth0 DEV_...=eth1 sh {node}.sh
#
# BASE_TIME  an instant at which a hyperperiod starts, in ns of CLOCK_TAI, the same on all nodes. 0: hyperperiods start at multiples of their length.
# MODE       how gates are kept: \"clockid CLOCK_TAI\" by the kernel, \"flags 0x2\" by the interface, if it can.
# CBS_OFFLOAD  1: shapers (cbs), where there are any, are kept by the interface.
# PLAN, JOB  the plan and its manifest, for ports whose lists are too long for tc; APPLY: \"--offload\" there, where MODE is \"flags 0x2\".
#
# Class 0 is for all other traffic, whose longest frame has {largest} on the wire, preamble and gap included. Above it are classes for channels
# beside the table, where there are any, and above these the plan's: one transmit queue each, the higher class first. A frame comes to its class by its
# priority (SO_PRIORITY; of what is forwarded, the VLAN tag by ingress-qos-map or a filter); 8 and more are the classes themselves, for filters that name
# a stream: `action skbedit priority 9` is class 1.
set -e
BASE_TIME=\"${{BASE_TIME:-0}}\"
MODE=\"${{MODE:-clockid CLOCK_TAI}}\"
"
    )
}

/// The command for one port.
fn one(traffic: &Traffic, gates: &Gates, priorities: &Priorities) -> String {
    let link = &traffic.network.links[gates.link.index()];
    let target = plain(&traffic.network.nodes[link.target.index()].name);
    let variable = variable(traffic, link);
    let classes = gates.classes();
    let map = class_map(gates, priorities).map(|class| class.to_string());
    let queues: Vec<_> = (0..classes).map(|class| format!("1@{class}")).collect();
    let kept_free =
        if link.preemption { "the rest of a frame that cannot be cut" } else { "a whole largest frame" };
    let mut text = match gates.queues.is_empty() {
        true => format!("\n# To {target}: no slots, so all gates are open; the higher class goes first.\n"),
        false => format!(
            "\n# To {target}: {} entries in {}. Class 0 closes {} before a slot, for {kept_free}.\n",
            gates.entries.len(),
            gates.cycle,
            gates.guard,
        ),
    };
    for one in &gates.beside {
        text.push_str(&beside(gates, one, priorities));
    }
    // Writing to a text does not fail.
    if link.preemption {
        let (cut, express) = (" P".repeat(1 + gates.beside.len()), " E".repeat(gates.queues.len()));
        let _ = writeln!(
            text,
            "# The link preempts: planned classes must be express and the others preemptible (ethtool --set-mm; `fp{cut}{express}` of taprio, where tc knows it)."
        );
    }
    if gates.short > 0 {
        let _ = writeln!(
            text,
            "# {} of them are shorter than the smallest frame, since slots of one queue lie that close: the kernel's own mode refuses the list, and so may the \
             interface.",
            gates.short
        );
    }
    if gates.entries.len() > TC_ENTRIES_MAX {
        text.push_str(&applied(traffic, gates, &variable, &target));
        return text;
    }
    let _ = write!(
        text,
        "tc qdisc replace dev \"${{DEV_{variable}:?the interface that leads to {target}}}\" parent root handle 100 taprio \\
  num_tc {classes} map {} queues {} \\
  base-time \"$((BASE_TIME + {}))\" cycle-time {} \\
",
        map.join(" "),
        queues.join(" "),
        gates.offset.0,
        gates.cycle.0,
    );
    for entry in &gates.entries {
        let _ = writeln!(text, "  sched-entry S {:02x} {} \\", entry.open, entry.length.0);
    }
    text.push_str("  $MODE\n");
    for one in &gates.beside {
        text.push_str(&shaper(gates, one, &variable));
    }
    text
}

/// The class of each of 16 priorities: of those that frames carry, and then of the classes by their numbers.
pub(crate) fn class_map(gates: &Gates, priorities: &Priorities) -> [u8; 16] {
    let of_frames = gates.by_priority(priorities);
    let classes = gates.classes();
    std::array::from_fn(|priority| match of_frames.get(priority) {
        Some(class) => *class as u8,
        None if priority - 8 < classes => (priority - 8) as u8,
        None => 0,
    })
}

/// The command for a port whose list `tc` would cut.
fn applied(traffic: &Traffic, gates: &Gates, variable: &str, target: &str) -> String {
    let (source, neighbour) = traffic.network.ends(&traffic.network.links[gates.link.index()]);
    let quoted = |name: &str| format!("'{}'", name.replace('\'', "'\\''"));
    format!(
        "# tc cuts a list behind its entry {TC_ENTRIES_MAX}, so the gates, and shapers below them, are set by `leveret apply`.
leveret apply \"${{PLAN:?the file of the plan}}\" \"${{JOB:?the file of the manifest}}\" --node {} --port {}=\"${{DEV_{variable}:?the interface that leads to {target}}}\" \\
  --base-time \"$BASE_TIME\" $APPLY
",
        quoted(&source),
        quoted(&neighbour)
    )
}

/// What a class of channels beside the table is.
fn beside(gates: &Gates, one: &Beside, priorities: &Priorities) -> String {
    let class = gates.class_beside(one.class);
    let carried = match priorities.beside[usize::from(one.class)] {
        Some(carried) => format!("their frames carry {carried}"),
        None => "none of the seven is left for their frames to carry".to_owned(),
    };
    let promise = match one.delay {
        Some(delay) => format!("sent within {delay}"),
        None => "promised nothing".to_owned(),
    };
    let closes = match gates.queues.is_empty() {
        true => String::new(),
        false => format!("; closes {} before a slot", one.guard),
    };
    format!(
        "# Class {class}: channels of priority {} beside the table ({carried}), longest frame {}, {promise}{closes}.\n",
        one.class, one.largest
    )
}

/// The command that shapes a class, below that of the gates.
fn shaper(gates: &Gates, one: &Beside, variable: &str) -> String {
    let Some(credit) = one.shaper else { return String::new() };
    // Kilobits per second, as tc counts.
    let (idle, send) = (credit.idle_slope.0 / 1000, credit.send_slope.0.div_ceil(1000));
    let most = credit.most.and_then(|most| i32::try_from(most).ok()).unwrap_or(i32::MAX);
    let class = gates.class_beside(one.class);
    let counted = match gates.queues.is_empty() {
        true => "",
        false => {
            "# The promise has credit stand still while the gate is closed; an interface does so (`offload 1`), the kernel's own shaper counts on, and sends more.\n"
        }
    };
    format!(
        "{counted}tc qdisc replace dev \"$DEV_{variable}\" parent 100:{} cbs idleslope {idle} sendslope -{send} hicredit {most} locredit -{} offload \"${{CBS_OFFLOAD:-0}}\"\n",
        class + 1,
        credit.least
    )
}

/// What the script calls the interface of a link: the neighbour's name, with its number where that of another neighbour reads alike.
fn variable(traffic: &Traffic, link: &Link) -> String {
    let name = |node: NodeId| -> String {
        let name = plain(&traffic.network.nodes[node.index()].name);
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
    };
    let own = name(link.target);
    let neighbours = traffic.network.links.iter().filter(|other| other.source == link.source);
    let alike = neighbours.filter(|other| name(other.target) == own).count();
    if alike > 1 { format!("{own}_{}", link.target.0) } else { own }
}
