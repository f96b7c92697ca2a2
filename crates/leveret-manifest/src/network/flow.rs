//! `[[channel]]` between hosts that is not time-driven: a flow, at a priority beside the time table or below all.

use super::Names;
use super::channel::{targets, ways};
use crate::section::Section;
use crate::source::Problems;
use leveret_plan::network::{BURST_MAX, Flow, STREAM_TIME_MAX};
use leveret_topology::Graph;
use leveret_types::{MESSAGE_BYTES_MAX, Nanos, TRAFFIC_CLASSES};

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    TimeDriven,
    PriorityDriven,
    EventDriven,
    BestEffort,
}

/// Keys of channels that the clock moves.
const TIMED: [&str; 5] = ["period", "window", "latency", "jitter", "copies"];
/// Keys of channels that move beside the time table.
const BESIDE: [&str; 4] = ["priority", "interval", "burst", "deadline"];
/// The priority of an event-driven channel that has none: what starts it is rare and urgent.
const EVENT_CLASS: u8 = TRAFFIC_CLASSES - 1;

fn kind(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> Option<Kind> {
    let kinds = [
        ("time-driven", Kind::TimeDriven),
        ("priority-driven", Kind::PriorityDriven),
        ("event-driven", Kind::EventDriven),
        ("best-effort", Kind::BestEffort),
    ];
    section.choice("qos", &kinds, problems)
}

/// Whether a channel is a flow. If not, keys of flows are reported.
pub(super) fn is_one(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> bool {
    // A `qos` that is none of its words is told of where flows are read.
    if section.value("qos").is_some_and(|qos| qos.get_ref().as_str() != Some("time-driven")) {
        return true;
    }
    for key in BESIDE.iter().filter(|key| section.value(key).is_some()) {
        let message = format!("`{key}` is for channels that are not time-driven, and {} is", section.label);
        let hint = match *key {
            "deadline" => "write `window = [\"RELEASE\", \"DEADLINE\"]`, or add `qos = \"priority-driven\"`",
            _ => "add `qos = \"priority-driven\"`, or remove this key",
        };
        problems.add(section.place(key), message, hint);
    }
    false
}

pub(super) fn read(
    section: &Section<'_, '_>,
    names: &Names,
    graph: Option<&Graph>,
    problems: &mut Problems<'_>,
) -> Option<Flow> {
    let kind = kind(section, problems)?;
    for (key, example) in [("name", "\"AB\""), ("source", "\"h0\""), ("size", "\"64B\"")] {
        section.require(key, example, problems);
    }
    for key in TIMED.iter().filter(|key| section.value(key).is_some()) {
        let message = format!("`{key}` is for time-driven channels, and {} is not one", section.label);
        problems.add(section.place(key), message, "remove this key, or remove `qos`");
    }
    if kind == Kind::BestEffort {
        for key in ["priority", "deadline"].iter().filter(|key| section.value(key).is_some()) {
            let message = format!("`{key}` means nothing for {}, which is best effort", section.label);
            problems.add(
                section.place(key),
                message,
                "remove this key, or write `qos = \"priority-driven\"`",
            );
        }
    } else {
        section.require("interval", "\"1ms\"", problems);
    }
    if kind == Kind::PriorityDriven {
        section.require("priority", "5", problems);
    }
    let limits = Nanos(1)..=STREAM_TIME_MAX;
    let interval = section.duration("interval", &limits, problems);
    let deadline = section.duration("deadline", &limits, problems);
    let burst = section.integer("burst", &(1..=u64::from(BURST_MAX)), problems).unwrap_or(1) as u32;
    let priority = section.integer("priority", &(0..=u64::from(TRAFFIC_CLASSES) - 1), problems);
    let class = match kind {
        Kind::BestEffort => None,
        Kind::EventDriven => Some(priority.map_or(EVENT_CLASS, |priority| priority as u8)),
        Kind::PriorityDriven | Kind::TimeDriven => Some(priority? as u8),
    };
    let size = section.size("size", &(1..=MESSAGE_BYTES_MAX), problems);
    let source = section.text("source", problems).and_then(|name| names.find(&name, true, problems));
    let targets = targets(section, names, problems);
    let name = section.name("name", problems);
    let way = ways(section, names, graph, 1, problems).and_then(|ways| ways.into_iter().next());
    Some(Flow {
        name: name?.value,
        source: source?,
        targets: targets?,
        size: size?,
        interval,
        burst,
        class,
        deadline,
        way,
    })
}
