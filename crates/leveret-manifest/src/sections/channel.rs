//! `[[channel]]`.

use super::task::served_times;
use crate::section::Section;
use crate::source::{Located, Problems};
use crate::values::DURATION_MAX;
use leveret_plan::{EVENT_PRIORITY, MissingPolicy, PRIORITY_MAX, Placement, Qos};
use leveret_protocol::declaration::{ChannelDeclaration, WaitMode};
use leveret_types::{BUFFERS_MAX, MESSAGE_BYTES_MAX, Nanos};

#[derive(Clone)]
pub(crate) struct ChannelSection {
    pub(crate) name: Located<String>,
    pub(crate) source: Option<Located<String>>,
    pub(crate) target: Option<Located<String>>,
    pub(crate) declaration: ChannelDeclaration,
}

impl ChannelSection {
    pub(crate) fn into_declaration(self) -> ChannelDeclaration {
        let value = |name: Option<Located<String>>| name.map(|name| name.value);
        ChannelDeclaration {
            name: self.name.value,
            source: value(self.source),
            target: value(self.target),
            ..self.declaration
        }
    }
}

pub(crate) fn read(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> Option<ChannelSection> {
    section.require("name", "\"AB\"", problems);
    let placements = [("separate", Placement::Separate), ("aliased", Placement::Aliased)];
    let waits = [("poll", WaitMode::Poll), ("wake", WaitMode::Wake)];
    let buffers = section.integer("buffers", &(1..=u64::from(BUFFERS_MAX)), problems);
    let declaration = ChannelDeclaration {
        group: section.name("group", problems).map(|group| group.value),
        size: section.size("size", &(1..=MESSAGE_BYTES_MAX), problems),
        buffers: buffers.and_then(|buffers| u32::try_from(buffers).ok()),
        placement: section.choice("placement", &placements, problems),
        wait: section.choice("wait", &waits, problems),
        checksum: section.boolean("checksum", problems),
        slack: None,
        qos: qos(section, problems),
        ..ChannelDeclaration::default()
    };
    let source = section.text("source", problems);
    let target = section.text("target", problems);
    let name = section.name("name", problems)?;
    Some(ChannelSection { name, source, target, declaration })
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    TimeDriven,
    BestEffort,
    PriorityDriven,
    EventDriven,
}

/// Keys of channels that the clock moves.
const TIMED: [&str; 3] = ["period", "window", "missing"];
/// Keys of channels that are served beside the time table.
const SERVED: [&str; 3] = ["priority", "interval", "deadline"];
/// Keys of event-driven channels.
const EVENTS: [&str; 2] = ["start-event", "completion-event"];

/// A period makes a channel time-driven; without one it is best effort, or left to the code of its ends.
fn qos(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> Option<Qos> {
    let kinds = [
        ("time-driven", Kind::TimeDriven),
        ("best-effort", Kind::BestEffort),
        ("priority-driven", Kind::PriorityDriven),
        ("event-driven", Kind::EventDriven),
    ];
    let stated = section.choice("qos", &kinds, problems);
    let policies = [
        ("skip", MissingPolicy::Skip),
        ("hold-last", MissingPolicy::HoldLast),
        ("stop", MissingPolicy::Stop),
    ];
    let missing = section.choice("missing", &policies, problems);
    let period = section.duration("period", &(Nanos(1)..=DURATION_MAX), problems);
    let window = section.window(problems);
    let timed = section.value("period").is_some();
    if let Some(kind @ (Kind::PriorityDriven | Kind::EventDriven)) = stated {
        return served(section, kind, problems);
    }
    for key in SERVED.iter().chain(&EVENTS).filter(|key| section.value(key).is_some()) {
        let (kinds, qos) = match EVENTS.contains(key) {
            true => ("event-driven", "event-driven"),
            false => ("priority- and event-driven", "priority-driven"),
        };
        let message = format!("`{key}` is for {kinds} channels, and {} is not one", section.label);
        let remedy = format!("add `qos = \"{qos}\"`, or remove this key");
        problems.add(section.place(key), message, &remedy);
    }
    if stated == Some(Kind::BestEffort) {
        check_only_for(section, &TIMED, "time-driven", problems);
        return Some(Qos::BestEffort);
    }
    if stated == Some(Kind::TimeDriven) && !timed {
        section.require("period", "\"5ms\"", problems);
    } else if !timed {
        check_only_for(section, &["window", "missing"], "time-driven", problems);
    }
    if !timed {
        return None;
    }
    check_only_for(section, &["wait"], "best-effort", problems);
    let period = period?;
    let (release, deadline) = window.unwrap_or((Nanos::ZERO, period));
    Some(Qos::TimeDriven { period, release, deadline, missing: missing.unwrap_or_default() })
}

/// A channel that is served at its priority beside the time table.
fn served(section: &Section<'_, '_>, kind: Kind, problems: &mut Problems<'_>) -> Option<Qos> {
    for key in TIMED.iter().chain(&["wait"]).filter(|key| section.value(key).is_some()) {
        let message = format!("`{key}` means nothing for {}, which has a priority", section.label);
        problems.add(
            section.place(key),
            message,
            "remove this key, or make the channel time-driven or best effort",
        );
    }
    let [start, completion] = EVENTS.map(|key| section.name(key, problems).map(|event| event.value));
    let priority = section.integer("priority", &(1..=u64::from(PRIORITY_MAX)), problems);
    let [interval, deadline] = served_times(section, problems);
    if kind == Kind::PriorityDriven {
        for key in EVENTS.iter().filter(|key| section.value(key).is_some()) {
            let message = format!("`{key}` is for event-driven channels, and {} is not one", section.label);
            problems.add(section.place(key), message, "remove this key, or write `qos = \"event-driven\"`");
        }
        section.require("priority", "7", problems);
        return Some(Qos::PriorityDriven { priority: u8::try_from(priority?).ok()?, interval, deadline });
    }
    if EVENTS.iter().all(|key| section.value(key).is_none()) {
        section.require("start-event", "\"go\"", problems);
    }
    let priority = priority.and_then(|priority| u8::try_from(priority).ok()).unwrap_or(EVENT_PRIORITY);
    Some(Qos::EventDriven { start, completion, priority, interval, deadline })
}

/// Reports keys that mean nothing for this channel.
fn check_only_for(section: &Section<'_, '_>, keys: &[&str], kind: &str, problems: &mut Problems<'_>) {
    let hint = match (kind, section.value("period").is_some()) {
        ("time-driven", false) => "add a `period`, or remove this key",
        ("time-driven", true) => "remove this key, or remove `qos = \"best-effort\"`",
        _ => "remove this key, or remove `period` and `window`",
    };
    for key in keys.iter().filter(|key| section.value(key).is_some()) {
        let message = format!("`{key}` is for {kind} channels, and {} is not one", section.label);
        problems.add(section.place(key), message, hint);
    }
}
