//! Events: the triggers and receptors of all members meet by name and group.

use super::errors::{Errors, listed};
use super::{HINTS_MAX, MemberNames, Mismatch, unknown};
use crate::declaration::{
    ChannelEndDeclaration, CollectiveDeclaration, End, GROUP_WORLD, INTERNAL_EVENT, MOVED_EVENT,
    MemberDeclarations, SENT_EVENT, SporadicDeclaration, TAKEN_EVENT,
};
use crate::nearest::nearest;
use leveret_plan::Qos;
use leveret_types::{EventId, MemberId, TriggerId};
use std::collections::BTreeMap;

/// An event with all who fire it and all who wait for it.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct EventBinding {
    /// Its name.
    pub name: String,
    /// Its group.
    pub group: String,
    /// What fires it, by rank and then in the order of declaration.
    pub triggers: Vec<TriggerBinding>,
    /// Members with a receptor, ascending.
    pub listeners: Vec<MemberId>,
}

/// One trigger of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct TriggerBinding {
    /// Its number in the job.
    pub id: TriggerId,
    /// Who fires.
    pub member: MemberId,
    /// The member's rank in the event's group.
    pub rank: u16,
    /// Its place among the member's triggers.
    pub place: u32,
    /// Firings of a higher one are delivered first.
    pub priority: u8,
}

type Key<'a> = (&'a str, &'a str);

/// Every event, in the order of first declaration, triggers before receptors.
pub(super) fn events(
    code: &[MemberDeclarations],
    names: &MemberNames<'_>,
    groups: &BTreeMap<String, Vec<String>>,
    errors: &mut Errors,
) -> Vec<EventBinding> {
    let mut events: Vec<EventBinding> = Vec::new();
    let mut place: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    let mut triggers = 0;
    for (rank, declarations) in code.iter().enumerate() {
        for (index, trigger) in declarations.events.triggers.iter().enumerate() {
            let key = (trigger.group.as_str(), trigger.event.as_str());
            let Some(in_group) = rank_in_group(key, rank, names, groups, errors) else { continue };
            if !may_have(key, declarations, (in_group, true)) {
                errors.push(of_the_library(key, &names.side(rank)));
                continue;
            }
            let event = *place.entry(key).or_insert_with(|| {
                events.push(EventBinding {
                    name: trigger.event.clone(),
                    group: trigger.group.clone(),
                    triggers: Vec::new(),
                    listeners: Vec::new(),
                });
                events.len() - 1
            });
            events[event].triggers.push(TriggerBinding {
                id: TriggerId(triggers),
                member: MemberId(rank as u16),
                rank: in_group,
                place: index as u32,
                priority: trigger.priority,
            });
            triggers += 1;
        }
    }
    for (rank, declarations) in code.iter().enumerate() {
        for receptor in &declarations.events.receptors {
            let key = (receptor.group.as_str(), receptor.event.as_str());
            let Some(in_group) = rank_in_group(key, rank, names, groups, errors) else { continue };
            if !may_have(key, declarations, (in_group, false)) {
                errors.push(of_the_library(key, &names.side(rank)));
                continue;
            }
            let Some(event) = place.get(&key) else {
                // That the other end is missing is told of the channel.
                if key.1.starts_with(INTERNAL_EVENT) {
                    continue;
                }
                let present = who_waits(key, declarations, &names.side(rank));
                errors.push(no_trigger(key, present, &place, errors.len()));
                continue;
            };
            let (listeners, member) = (&mut events[*event].listeners, MemberId(rank as u16));
            if listeners.last() != Some(&member) {
                listeners.push(member);
            }
        }
    }
    events
}

/// Whether a member can fire an event (`fires`) or hear it: one of the library's own only at its end of the channel that it is of, which it
/// declares. Whoever fired another's would move, or hold up, what is not its own.
fn may_have((group, event): Key<'_>, declared: &MemberDeclarations, (in_group, fires): (u16, bool)) -> bool {
    let Some(own) = event.strip_prefix(INTERNAL_EVENT) else { return true };
    if let Some((rank, name)) = own.strip_prefix(MOVED_EVENT).and_then(|moved| moved.split_once(' ')) {
        let is_of_it = rank.parse() == Ok(in_group);
        let mut collectives = declared.collectives.iter();
        return is_of_it == fires && collectives.any(|whole| whole.group == group && whole.name == name);
    }
    let (fired_at, name) = match (own.strip_prefix(SENT_EVENT), own.strip_prefix(TAKEN_EVENT)) {
        (Some(name), _) => (End::Source, name),
        (_, Some(name)) => (End::Target, name),
        _ => return false,
    };
    let of_channel = |end: &&ChannelEndDeclaration| {
        end.channel.name == name && end.channel.group.as_deref().unwrap_or(GROUP_WORLD) == group
    };
    declared.ends.iter().filter(of_channel).any(|end| (end.end == fired_at) == fires)
}

fn of_the_library(key: Key<'_>, side: &str) -> Mismatch {
    Mismatch::Impossible(format!(
        "{}: {side} has no end of a channel for which the library makes it; events of programs have names of printable text",
        object_of((key.0, &key.1.escape_debug().to_string()))
    ))
}

fn object_of((group, event): Key<'_>) -> String {
    format!("event \"{event}\" of group \"{group}\"")
}

/// What of a member waits for an event: a channel or a task that starts with it, or a receptor of the program's.
fn who_waits((group, event): Key<'_>, declared: &MemberDeclarations, side: &str) -> String {
    let starts = |end: &&ChannelEndDeclaration| {
        let of_group = end.channel.group.as_deref().unwrap_or(GROUP_WORLD) == group;
        let start = match &end.channel.qos {
            Some(Qos::EventDriven { start, .. }) => start.as_deref(),
            _ => None,
        };
        of_group && start == Some(event)
    };
    if let Some(end) = declared.ends.iter().find(starts) {
        let name = &end.channel.name;
        return format!(
            "the transfers of channel \"{}\" start with it at {side}",
            CollectiveDeclaration::base_of_edge(name).unwrap_or(name)
        );
    }
    let is_of = |work: &&SporadicDeclaration| {
        work.event.as_ref().is_some_and(|(g, name)| g == group && name == event)
    };
    // Work of handlers has names of the library's own.
    match declared.sporadics.iter().filter(is_of).find(|work| !work.name.starts_with("handler of ")) {
        Some(task) => format!("task \"{}\" starts with it at {side}", task.name),
        None => format!("{side} has a receptor for it"),
    }
}

fn no_trigger(key: Key<'_>, present: String, known: &BTreeMap<Key<'_>, usize>, errors: usize) -> Mismatch {
    let of_group = known.keys().filter(|(group, _)| *group == key.0).map(|(_, event)| *event);
    let near = if errors < HINTS_MAX { nearest(key.1, of_group) } else { None };
    let hint = near.map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"));
    Mismatch::NoTrigger { object: object_of(key), present, hint }
}

/// The rank of a member in the group of an event that it declares; it must be in there.
fn rank_in_group(
    key: Key<'_>,
    rank: usize,
    names: &MemberNames<'_>,
    groups: &BTreeMap<String, Vec<String>>,
    errors: &mut Errors,
) -> Option<u16> {
    let Some(members) = groups.get(key.0) else {
        unknown((&object_of(key), "group", key.0), groups.keys().map(String::as_str), errors);
        return None;
    };
    let name = names.names.get(rank).copied().unwrap_or("?");
    let found = members.iter().position(|member| member == name);
    if found.is_none() {
        errors.push(Mismatch::Impossible(format!(
            "{}: {} is not in the group; its members are {}",
            object_of(key),
            names.side(rank),
            listed(members.iter().map(String::as_str))
        )));
    }
    found.map(|place| place as u16)
}

impl EventBinding {
    /// The event's id, by its place in the list of all.
    pub fn id(place: usize) -> EventId {
        EventId(place as u16)
    }
}
