//! `leveret apply`.

use crate::arguments::ApplyArguments;
use crate::export::{self, Planned};
use crate::failure::Failure;
use crate::output;
use leveret_exchange::classes::{Priorities, priorities};
use leveret_exchange::gates::Gates;
use leveret_exchange::netlink::{Keeper, messages};
use leveret_os::netlink::{self, Asked};
use std::fmt::Write;
use std::process::ExitCode;

/// Sets the gates of a node's ports on this host.
///
/// # Errors
/// When the plan or its manifest cannot be read, a name is unknown, a list is too long, or the kernel refuses.
pub fn execute(arguments: &ApplyArguments) -> Result<ExitCode, Failure> {
    export::with_network(&arguments.plan, &arguments.manifest, &mut |planned| apply(arguments, planned))
}

/// One interface with its gates.
struct Port<'a> {
    interface: &'a str,
    neighbour: &'a str,
    gates: &'a Gates,
}

fn apply(arguments: &ApplyArguments, planned: &Planned<'_>) -> Result<(), Failure> {
    let given = priorities(planned.traffic, planned.plan);
    let gates = export::gates_of(&arguments.manifest, arguments.largest_frame, planned)?;
    let ports = ports(arguments, planned, &gates)?;
    // All is built before anything is set.
    let mut built = Vec::with_capacity(ports.len());
    for port in &ports {
        let number = match netlink::interface(port.interface) {
            Ok(number) => number,
            // What is only shown need not be there.
            Err(_) if arguments.dry_run => 0,
            Err(error) => {
                return Err(Failure::new(error.to_string(), "name it in --port NEIGHBOUR=INTERFACE"));
            }
        };
        built.push(message(arguments, port, &given, number)?);
    }
    for (port, messages) in ports.iter().zip(&built) {
        if arguments.dry_run {
            output::print(&shown(port, messages))?;
            continue;
        }
        for (index, message) in messages.iter().enumerate() {
            let (kind, option) =
                if index == 0 { ("taprio", "CONFIG_NET_SCH_TAPRIO") } else { ("cbs", "CONFIG_NET_SCH_CBS") };
            netlink::request(message, Asked { kind, option, interface: port.interface })
                .map_err(|error| Failure::new(error.to_string(), "--dry-run shows what would be set"))?;
        }
        let entries = port.gates.entries.len();
        output::note(&format!("set: {} to {}, {entries} entries", port.interface, port.neighbour));
    }
    Ok(())
}

fn message(
    arguments: &ApplyArguments,
    port: &Port<'_>,
    given: &Priorities,
    interface: u32,
) -> Result<Vec<Vec<u8>>, Failure> {
    let keeper = Keeper { gates: arguments.offload, shapers: arguments.offload };
    messages(port.gates, given, interface, leveret_types::Nanos(arguments.base_time), keeper).map_err(
        |error| {
            let sentence = format!("the port of {} to {}: {error}", arguments.node, port.neighbour);
            Failure::new(
                sentence,
                "`leveret export yang` writes lists of any length, for nodes that have room for them",
            )
        },
    )
}

/// The interfaces that are named, each with the gates of its port.
fn ports<'a>(
    arguments: &'a ApplyArguments,
    planned: &Planned<'_>,
    gates: &'a [Gates],
) -> Result<Vec<Port<'a>>, Failure> {
    let network = &planned.traffic.network;
    let ends = |port: &Gates| network.ends(&network.links[port.link.index()]);
    if !network.nodes.iter().any(|node| node.name == arguments.node) {
        let names: Vec<_> = network.nodes.iter().take(NAMED_MAX).map(|node| node.name.as_str()).collect();
        let sentence = format!("--node {}: the network has no such node", arguments.node);
        return Err(Failure::new(sentence, format!("it has {}", names.join(", "))));
    }
    let of_port = |(neighbour, interface): &'a (String, String)| {
        let found = gates.iter().find(|port| ends(port) == (arguments.node.clone(), neighbour.clone()));
        found.map(|gates| Port { interface, neighbour, gates }).ok_or_else(|| {
            let own = gates.iter().map(ends).filter(|(source, _)| *source == arguments.node);
            let own: Vec<_> = own.map(|(_, target)| target).take(NAMED_MAX).collect();
            let sentence = format!(
                "--port {neighbour}={interface}: {} has no port with gates to {neighbour}",
                arguments.node
            );
            Failure::new(sentence, format!("its ports with gates lead to: {}", own.join(", ")))
        })
    };
    arguments.port.iter().map(of_port).collect()
}

/// Names that a remedy lists.
const NAMED_MAX: usize = 12;

/// A port's list and messages for people.
fn shown(port: &Port<'_>, messages: &[Vec<u8>]) -> String {
    let gates = port.gates;
    let mut text = format!(
        "{} to {}: {} classes, {} entries in {}, from {} after the start of a hyperperiod\n",
        port.interface,
        port.neighbour,
        gates.classes(),
        gates.entries.len(),
        gates.cycle,
        gates.offset
    );
    // Writing to a text does not fail.
    for (index, entry) in gates.entries.iter().enumerate() {
        let _ = writeln!(text, "  {index:>5}  gates {:08b}  {}", entry.open, entry.length);
    }
    for message in messages {
        let _ = writeln!(text, "message of {} bytes:", message.len());
        for line in message.chunks(32) {
            let bytes: String = line.iter().map(|byte| format!("{byte:02x}")).collect();
            let _ = writeln!(text, "  {bytes}");
        }
    }
    text
}
