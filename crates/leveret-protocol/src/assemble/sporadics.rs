//! Work beside the time table: what serves the ends of priority- and event-driven channels, and what members declare.

use super::errors::Errors;
use super::tasks::show_core;
use super::{HINTS_MAX, MANIFEST, MemberNames, Mismatch, Property};
use crate::declaration::*;
use crate::nearest::nearest;
use leveret_plan::{Channel, CoreChoice, Sporadic, Start, Task};
use leveret_types::{ChannelId, MemberId, NAME_BYTES_MAX, Nanos};

/// Processor time of one transfer at one end, its copy not included.
const TRANSFER: Nanos = Nanos::from_micros(15);

/// One work's declarations from both sides.
type Sides<'a> = (usize, Option<&'a SporadicDeclaration>, Option<&'a SporadicDeclaration>);

pub(super) fn sporadics(
    (manifest, code): (&JobDeclaration, &[MemberDeclarations]),
    names: &MemberNames<'_>,
    channels: &[Channel],
    tasks: &[Task],
    errors: &mut Errors,
) -> Vec<Sporadic> {
    let mut all: Vec<Sporadic> = channels
        .iter()
        .enumerate()
        .flat_map(|(index, channel)| servers(ChannelId(index as u16), channel, manifest))
        .collect();
    for (name, sides) in declared(manifest, code, names, errors) {
        if let Some(task) = tasks.iter().find(|task| task.name == name) {
            errors.push(Mismatch::Twice {
                object: format!("task \"{name}\""),
                left: names.side(task.member.index()),
                right: names.side(sides.0),
                what: "it, once with a period and once without".to_owned(),
            });
        }
        if !code.is_empty() && sides.2.is_none() {
            errors.push(without_body(&name, sides.0, code, names, errors.len()));
        }
        all.push(sporadic(&name, sides, manifest, names, errors));
    }
    all
}

/// Where work of a member runs that may choose: all on one core, so that of two that are ready the more urgent one runs.
fn core_of(manifest: &JobDeclaration, member: MemberId) -> CoreChoice {
    let own = manifest.members.get(member.index()).and_then(|member| member.core);
    let any = || manifest.cores.get(member.index() % manifest.cores.len().max(1)).copied();
    own.or_else(any).map_or(CoreChoice::Any, CoreChoice::Pinned)
}

/// What moves the messages of a channel at its two ends, the source first.
fn servers(id: ChannelId, channel: &Channel, manifest: &JobDeclaration) -> Vec<Sporadic> {
    let Some((priority, interval, deadline)) = channel.qos.service() else { return Vec::new() };
    let server = |(start, member, what): (Start, MemberId, &str)| Sporadic {
        name: server_name(id, channel, what),
        member,
        start,
        priority,
        interval,
        deadline,
        budget: TRANSFER,
        core: core_of(manifest, member),
    };
    let source = (Start::Request(id), channel.source, "send");
    let target = (Start::Message(id), channel.target, "receive");
    [source, target].map(server).into()
}

fn server_name(id: ChannelId, channel: &Channel, what: &str) -> String {
    let name = match channel.group.as_str() {
        GROUP_WORLD => format!("{}:{what}", channel.name),
        group => format!("{group}/{}:{what}", channel.name),
    };
    // A colon keeps it apart from the names that programs use by habit.
    if name.len() <= NAME_BYTES_MAX { name } else { format!("{id}:{what}") }
}

/// What is declared, in the order of the manifest, then of the code.
fn declared<'a>(
    manifest: &'a JobDeclaration,
    code: &'a [MemberDeclarations],
    names: &MemberNames<'_>,
    errors: &mut Errors,
) -> Vec<(String, Sides<'a>)> {
    let mut order: Vec<(String, Sides<'a>)> = Vec::new();
    for (member, declared) in &manifest.sporadics {
        let object = format!("task \"{}\"", declared.name);
        let Some(owner) = names.find(member, &object, errors) else { continue };
        if order.iter().any(|(name, _)| *name == declared.name) {
            let (left, right) = (MANIFEST.to_owned(), MANIFEST.to_owned());
            errors.push(Mismatch::Twice { object, left, right, what: "it".to_owned() });
        } else {
            order.push((declared.name.clone(), (owner.index(), Some(declared), None)));
        }
    }
    for (rank, declarations) in code.iter().enumerate() {
        for declared in &declarations.sporadics {
            match order.iter_mut().find(|(name, _)| *name == declared.name) {
                None => order.push((declared.name.clone(), (rank, None, Some(declared)))),
                Some((_, (owner, _, slot @ None))) if *owner == rank => *slot = Some(declared),
                Some((name, (owner, ..))) => errors.push(Mismatch::Twice {
                    object: format!("task \"{name}\""),
                    left: names.side(*owner),
                    right: names.side(rank),
                    what: "it".to_owned(),
                }),
            }
        }
    }
    order
}

fn without_body(
    name: &str,
    rank: usize,
    code: &[MemberDeclarations],
    names: &MemberNames<'_>,
    errors: usize,
) -> Mismatch {
    let known = code.get(rank).into_iter().flat_map(|declared| &declared.sporadics);
    let near = if errors < HINTS_MAX { nearest(name, known.map(|other| other.name.as_str())) } else { None };
    let hint = near.map_or(String::new(), |near| format!("; it declares \"{near}\": name them alike"));
    Mismatch::Impossible(format!(
        "task \"{name}\": the manifest gives it to {0}, but the code of {0} gives it no body{hint}",
        names.side(rank)
    ))
}

fn sporadic(
    name: &str,
    (rank, in_manifest, in_code): Sides<'_>,
    manifest: &JobDeclaration,
    names: &MemberNames<'_>,
    errors: &mut Errors,
) -> Sporadic {
    let object = format!("task \"{name}\"");
    let side = names.side(rank);
    let sides = [(MANIFEST, in_manifest), (side.as_str(), in_code)];
    macro_rules! agreed {
        ($field:ident, $show:expr) => {{
            let mut property = Property::new(&object, stringify!($field));
            for (by, declared) in sides {
                property.offer(by, declared.and_then(|task| task.$field.as_ref()), $show, errors);
            }
            property.value()
        }};
    }
    let event = agreed!(event, |(group, name)| format!("\"{name}\" of group \"{group}\""));
    let priority = agreed!(priority, u8::to_string);
    let interval = agreed!(interval, Nanos::to_string);
    let deadline = agreed!(deadline, Nanos::to_string);
    let budget = agreed!(budget, Nanos::to_string);
    let core = agreed!(core, show_core);
    let mut open = |property: &str| {
        errors.push(Mismatch::Open {
            object: object.clone(),
            property: property.to_owned(),
            owner: side.clone(),
        });
    };
    if priority.is_none() {
        open("priority");
    }
    if budget.is_none() {
        open("budget");
    }
    let member = MemberId(rank as u16);
    let (group, event) = event.unwrap_or_else(|| (GROUP_WORLD.to_owned(), name.to_owned()));
    Sporadic {
        name: name.to_owned(),
        member,
        start: Start::Event { group, name: event },
        priority: priority.unwrap_or(1),
        interval,
        deadline,
        budget: budget.unwrap_or(Nanos(1)),
        core: core.unwrap_or_else(|| core_of(manifest, member)),
    }
}
