//! What members keep from what runs when they change the mode: the two ends of a channel keep it together, or neither does.

use super::{Assembled, EventBinding, Mismatch};
use crate::declaration::MemberDeclarations;
use leveret_plan::{Channel, Kept};
use leveret_types::{ChannelId, MemberId, TaskId};

/// What the members of a mode keep together; `code` is what they declared for it.
///
/// # Errors
/// A mismatch for each channel that one end keeps and the other does not, and for each thing that a member keeps and does not declare.
pub fn kept(assembled: &Assembled, code: &[MemberDeclarations]) -> Result<Kept, Vec<Mismatch>> {
    let job = &assembled.job;
    let mut errors = Vec::new();
    let mut kept = Kept::default();
    let side = |member: MemberId| {
        let name = job.members.get(member.index()).map_or("?", |member| member.name.as_str());
        format!("member \"{name}\"")
    };
    let keeps = |member: MemberId, channel: &Channel| {
        let of_member = code.get(member.index()).map_or(&[][..], |declared| &declared.kept.channels);
        of_member.iter().any(|(group, name)| *group == channel.group && *name == channel.name)
    };
    for (index, channel) in job.channels.iter().enumerate() {
        let ends = [channel.source, channel.target];
        match ends.map(|member| keeps(member, channel)) {
            [true, true] => kept.channels.push(ChannelId(index as u16)),
            [false, false] => {}
            [left, right] => {
                let said = |keeps: bool| if keeps { "kept" } else { "not kept" }.to_owned();
                errors.push(Mismatch::Differs {
                    object: format!("channel \"{}\" of group \"{}\"", channel.name, channel.group),
                    property: "what becomes of it in the mode".to_owned(),
                    left_side: side(ends[0]),
                    left: said(left),
                    right_side: side(ends[1]),
                    right: said(right),
                });
            }
        }
    }
    for (rank, declared) in code.iter().enumerate() {
        let member = MemberId(rank as u16);
        let undeclared = |what: &str, name: &str| {
            let side = side(member);
            Mismatch::Impossible(format!(
                "{side} keeps the {what} \"{name}\" and does not declare it; declare it"
            ))
        };
        for (group, name) in &declared.kept.channels {
            let is_own = |channel: &&Channel| channel.source == member || channel.target == member;
            let mut own = job.channels.iter().filter(is_own);
            if !own.any(|channel| channel.name == *name && channel.group == *group) {
                errors.push(undeclared("channel", name));
            }
        }
        for name in &declared.kept.tasks {
            match job.tasks.iter().position(|task| task.member == member && task.name == *name) {
                Some(index) => kept.tasks.push(TaskId(index as u16)),
                None => errors.push(undeclared("task", name)),
            }
        }
        for name in &declared.kept.works {
            match job.sporadics.iter().position(|work| work.member == member && work.name == *name) {
                Some(index) => kept.works.push(index as u16),
                None => errors.push(undeclared("task", name)),
            }
        }
    }
    if errors.is_empty() { Ok(kept) } else { Err(errors) }
}

/// Whether the triggers and receptors of each event are kept all together, and are those of what runs, or none of them is.
///
/// # Errors
/// A mismatch for each event of which that does not hold.
pub fn kept_events(
    before: &[EventBinding],
    after: &Assembled,
    code: &[MemberDeclarations],
) -> Result<(), Vec<Mismatch>> {
    let mut errors = Vec::new();
    for event in &after.events {
        let ends = ends_of(event, code);
        let side = |(member, kind, _): &(MemberId, &str, bool)| {
            let name = after.job.members.get(member.index()).map_or("?", |member| member.name.as_str());
            format!("member \"{name}\" of its {kind}")
        };
        let object = format!("event \"{}\" of group \"{}\"", event.name, event.group);
        let Some(kept) = ends.iter().find(|(_, _, is_kept)| *is_kept) else { continue };
        let property =
            "what becomes of it in the mode (its triggers and receptors are kept all together, or none is)";
        if let Some(loose) = ends.iter().find(|(_, _, is_kept)| !*is_kept) {
            errors.push(Mismatch::Differs {
                object,
                property: property.to_owned(),
                left_side: side(kept),
                left: "kept".to_owned(),
                right_side: side(loose),
                right: "not kept".to_owned(),
            });
            continue;
        }
        let known = before.iter().find(|known| known.name == event.name && known.group == event.group);
        let words =
            |event: Option<&EventBinding>| event.map_or("nothing".to_owned(), |event| shown(event, after));
        let (left, right) = (words(known), words(Some(event)));
        if left != right {
            errors.push(Mismatch::Differs {
                object,
                property: "the set of its triggers and receptors (they are kept all together, or none is)"
                    .to_owned(),
                left_side: "what runs".to_owned(),
                left,
                right_side: "the mode".to_owned(),
                right,
            });
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Every trigger and receptor of an event: whose it is, what it is, and whether it is kept.
fn ends_of(event: &EventBinding, code: &[MemberDeclarations]) -> Vec<(MemberId, &'static str, bool)> {
    let mut ends = Vec::new();
    for trigger in &event.triggers {
        let declared = code.get(trigger.member.index());
        let is_kept = declared.is_some_and(|declared| declared.kept.triggers.contains(&trigger.place));
        ends.push((trigger.member, "trigger", is_kept));
    }
    for member in &event.listeners {
        let Some(declared) = code.get(member.index()) else { continue };
        let receptors = declared.events.receptors.iter().enumerate();
        let of_event =
            receptors.filter(|(_, receptor)| receptor.event == event.name && receptor.group == event.group);
        let is_kept = |place: usize| declared.kept.receptors.contains(&(place as u32));
        ends.extend(of_event.map(|(place, _)| (*member, "receptor", is_kept(place))));
    }
    ends
}

/// Who fires an event, at which priorities, and who waits for it.
fn shown(event: &EventBinding, job: &Assembled) -> String {
    let name =
        |member: MemberId| job.job.members.get(member.index()).map_or("?", |member| member.name.as_str());
    let triggers = event.triggers.iter().map(|trigger| match trigger.priority {
        0 => name(trigger.member).to_owned(),
        priority => format!("{} at {priority}", name(trigger.member)),
    });
    let listeners: Vec<&str> = event.listeners.iter().map(|member| name(*member)).collect();
    let triggers: Vec<String> = triggers.collect();
    let listeners = if listeners.is_empty() { "none".to_owned() } else { listeners.join(", ") };
    format!("triggers: {}; receptors: {listeners}", triggers.join(", "))
}
