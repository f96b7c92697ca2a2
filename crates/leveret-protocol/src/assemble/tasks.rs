//! Tasks: the manifest's part and the code's.

use super::channels::end_word;
use super::errors::Errors;
use super::{HINTS_MAX, MANIFEST, MemberNames, Mismatch, Property, unknown};
use crate::declaration::*;
use crate::nearest::nearest;
use leveret_plan::{Channel, CoreChoice, Task};
use leveret_types::{ChannelId, MemberId, Nanos};

/// A core as declarations have it.
pub(super) fn show_core(core: &CoreChoice) -> String {
    match core {
        CoreChoice::Pinned(core) => format!("core {core}"),
        CoreChoice::Any => "any core".to_owned(),
    }
}

/// One task's declarations from both sides.
type TaskSides<'a> = (usize, Option<&'a TaskDeclaration>, Option<&'a TaskDeclaration>);

pub(super) fn tasks(
    manifest: &JobDeclaration,
    code: &[MemberDeclarations],
    names: &MemberNames<'_>,
    channels: &[Channel],
    errors: &mut Errors,
) -> Vec<Task> {
    let mut order: Vec<(String, TaskSides<'_>)> = Vec::new();
    for (member, task) in &manifest.tasks {
        let object = format!("task \"{}\"", task.name);
        let Some(owner) = names.find(member, &object, errors) else { continue };
        if order.iter().any(|(name, _)| *name == task.name) {
            let (left, right) = (MANIFEST.to_owned(), MANIFEST.to_owned());
            errors.push(Mismatch::Twice { object, left, right, what: "it".to_owned() });
        } else {
            order.push((task.name.clone(), (owner.index(), Some(task), None)));
        }
    }
    for (rank, declarations) in code.iter().enumerate() {
        for task in &declarations.tasks {
            match order.iter_mut().find(|(name, _)| *name == task.name) {
                None => order.push((task.name.clone(), (rank, None, Some(task)))),
                Some((_, (owner, _, slot @ None))) if *owner == rank => *slot = Some(task),
                Some((name, (owner, ..))) => errors.push(Mismatch::Twice {
                    object: format!("task \"{name}\""),
                    left: names.side(*owner),
                    right: names.side(rank),
                    what: "it".to_owned(),
                }),
            }
        }
    }
    let online = !code.is_empty();
    order
        .iter()
        .map(|(name, sides)| {
            if online && sides.2.is_none() {
                // What the same code declares and the manifest does not, may be the same task by another spelling.
                let only_in_code = order
                    .iter()
                    .filter(|(_, (owner, manifest, _))| *owner == sides.0 && manifest.is_none())
                    .map(|(name, _)| name.as_str());
                let near = if errors.len() < HINTS_MAX { nearest(name, only_in_code) } else { None };
                let hint = near.map_or(String::new(), |near| {
                    format!("; it declares \"{near}\", which the manifest does not: name them alike")
                });
                errors.push(Mismatch::Impossible(format!(
                    "task \"{name}\": the manifest gives it to {0}, but the code of {0} gives it no body{hint}",
                    names.side(sides.0)
                )));
            }
            task(name, *sides, manifest, names, channels, errors)
        })
        .collect()
}

fn task(
    name: &str,
    (rank, in_manifest, in_code): TaskSides<'_>,
    manifest: &JobDeclaration,
    names: &MemberNames<'_>,
    channels: &[Channel],
    errors: &mut Errors,
) -> Task {
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
    let period = agreed!(period, Nanos::to_string);
    let is_mover = in_code.is_some_and(|task| task.mover);
    // What the library estimates gives way to what the manifest says.
    let budget = match in_manifest.and_then(|task| task.budget).filter(|_| is_mover) {
        Some(budget) => Some(budget),
        None => agreed!(budget, Nanos::to_string),
    };
    let release = agreed!(release, Nanos::to_string);
    let deadline = agreed!(deadline, Nanos::to_string);
    let core = agreed!(core, show_core);
    let preemptible = agreed!(preemptible, bool::to_string);
    let overrun = agreed!(overrun, ToString::to_string);
    let mut needed = |value: Option<Nanos>, property: &str| {
        value.unwrap_or_else(|| {
            errors.push(Mismatch::Open {
                object: object.clone(),
                property: property.to_owned(),
                owner: side.clone(),
            });
            Nanos(1)
        })
    };
    let period = needed(period, "period");
    let budget = needed(budget, "budget");
    let member_core = manifest.members.get(rank).and_then(|member| member.core);
    let member = MemberId(rank as u16);
    let mut ends = |pick: fn(&TaskDeclaration) -> &Vec<String>, end: End| {
        let listed = sides.iter().filter_map(|(_, task)| *task).flat_map(pick);
        bound_channels(listed, end, member, &object, channels, errors)
    };
    let reads = ends(|task| &task.reads, End::Target);
    let writes = ends(|task| &task.writes, End::Source);
    Task {
        name: name.to_owned(),
        member,
        period,
        release: release.unwrap_or(Nanos::ZERO),
        deadline: deadline.unwrap_or(period),
        budget,
        core: core.unwrap_or_else(|| member_core.map_or(CoreChoice::Any, CoreChoice::Pinned)),
        preemptible: preemptible.unwrap_or(false),
        overrun: overrun.unwrap_or_default(),
        reads,
        writes,
        mover: is_mover,
    }
}

/// Channel names of one task to ids, each once; a name is looked for among the channels of this member's end.
fn bound_channels<'a>(
    listed: impl Iterator<Item = &'a String>,
    end: End,
    member: MemberId,
    object: &str,
    channels: &[Channel],
    errors: &mut Errors,
) -> Vec<ChannelId> {
    let mut bound = Vec::new();
    let holder = |channel: &Channel| if end == End::Source { channel.source } else { channel.target };
    let held: Vec<(usize, &Channel)> =
        channels.iter().enumerate().filter(|(_, channel)| holder(channel) == member).collect();
    for name in listed {
        match look_up(&held, name).as_slice() {
            [] => {
                let kind = format!("channel whose {} is this task's member, named", end_word(end));
                unknown((object, &kind, name), held.iter().map(|(_, channel)| channel.name.as_str()), errors);
            }
            [index] => {
                let id = ChannelId(*index as u16);
                if !bound.contains(&id) {
                    bound.push(id);
                }
            }
            several => {
                let groups: Vec<_> = several.iter().map(|index| channels[*index].group.as_str()).collect();
                errors.push(Mismatch::Impossible(format!(
                    "{object}: channel \"{name}\" can be that of group {}; write GROUP/{name}",
                    groups.join(" or ")
                )));
            }
        }
    }
    bound
}

/// A plain name means the channel of group `world`, else the only one of that name; `GROUP/NAME` means that group's.
fn look_up(held: &[(usize, &Channel)], name: &str) -> Vec<usize> {
    let of = |wanted: &dyn Fn(&Channel) -> bool| -> Vec<usize> {
        held.iter().filter(|(_, channel)| wanted(channel)).map(|(index, _)| *index).collect()
    };
    let in_world = of(&|channel| channel.name == name && channel.group == GROUP_WORLD);
    if !in_world.is_empty() {
        return in_world;
    }
    let qualified = of(&|channel| {
        name.split_once('/').is_some_and(|(group, rest)| channel.group == group && channel.name == rest)
    });
    if qualified.is_empty() { of(&|channel| channel.name == name) } else { qualified }
}
