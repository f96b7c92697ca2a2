//! What members keep from what runs when they change the mode: the two ends of a channel keep it together, or neither does.

use super::errors::Errors;
use super::{Assembled, EventBinding, Mismatch};
use crate::declaration::{INTERNAL_EVENT, MemberDeclarations};
use leveret_plan::{Channel, Kept};
use leveret_types::{ChannelId, MemberId, TaskId};

/// What the members of a mode keep together; `code` is what they declared for it.
///
/// # Errors
/// A mismatch for each channel that one end keeps and the other does not, and for each thing that a member keeps and does not declare.
pub fn kept(assembled: &Assembled, code: &[MemberDeclarations]) -> Result<Kept, Vec<Mismatch>> {
    let job = &assembled.job;
    let mut errors = Errors::default();
    let mut kept = Kept::default();
    let side = |member: MemberId| {
        let name = job.members.get(member.index()).map_or("?", |member| member.name.as_str());
        format!("member \"{name}\"")
    };
    for (index, channel) in job.channels.iter().enumerate() {
        let ends = [channel.source, channel.target];
        match ends.map(|member| keeps_channel(code, member, channel)) {
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
    errors.unless(kept, &job.name)
}

/// What of `before` is kept by some of the members that share it and not by others, be it that these have it no longer or make it anew.
pub fn kept_in_part(before: &Assembled, code: &[MemberDeclarations]) -> Vec<Mismatch> {
    let mut loose = Errors::default();
    let mut told = |object: String, ends: Vec<(String, bool)>| {
        let named = |keeps: bool| {
            let of_kind = ends.iter().filter(|(_, is_kept)| *is_kept == keeps);
            let mut named: Vec<&str> = of_kind.map(|(end, _)| end.as_str()).collect();
            named.dedup();
            named.join(" and ")
        };
        if ends.iter().any(|(_, is_kept)| *is_kept) && !ends.iter().all(|(_, is_kept)| *is_kept) {
            loose.push(Mismatch::KeptInPart { object, keeps: named(true), lacks: named(false) });
        }
    };
    let name = |member: MemberId| {
        let name = before.job.members.get(member.index()).map_or("?", |member| member.name.as_str());
        format!("member \"{name}\"")
    };
    for channel in &before.job.channels {
        let ends = [channel.source, channel.target].map(|end| (name(end), keeps_channel(code, end, channel)));
        let object = format!("channel \"{}\" of group \"{}\"", channel.name, channel.group);
        told(object, ends.to_vec());
    }
    // Those within the library go with the channel that they are of.
    for event in before.events.iter().filter(|event| !event.name.starts_with(INTERNAL_EVENT)) {
        let triggers = event.triggers.iter().map(|trigger| (trigger.member, End::Trigger));
        let receptors = event.listeners.iter().map(|member| (*member, End::Receptor));
        let end = |(member, end): (MemberId, End)| {
            (format!("{} ({})", name(member), end.word()), end.is_kept(event, code.get(member.index())))
        };
        let object = format!("event \"{}\" of group \"{}\"", event.name, event.group);
        told(object, triggers.chain(receptors).map(end).collect());
    }
    loose.into_told(&before.job.name)
}

fn keeps_channel(code: &[MemberDeclarations], member: MemberId, channel: &Channel) -> bool {
    let of_member = code.get(member.index()).map_or(&[][..], |declared| &declared.kept.channels);
    of_member.iter().any(|(group, name)| *group == channel.group && *name == channel.name)
}

/// What a member has of an event.
#[derive(Clone, Copy)]
enum End {
    Trigger,
    Receptor,
}

impl End {
    fn word(self) -> &'static str {
        match self {
            Self::Trigger => "its trigger",
            Self::Receptor => "its receptor",
        }
    }

    /// Whether a member keeps one of an event.
    fn is_kept(self, event: &EventBinding, declared: Option<&MemberDeclarations>) -> bool {
        let Some(MemberDeclarations { events, kept, .. }) = declared else { return false };
        let is_of = |name: &str, group: &str| name == event.name && group == event.group;
        let kept_of = |places: &[u32], is_one: &dyn Fn(usize) -> bool| {
            places.iter().any(|place| is_one(*place as usize))
        };
        match self {
            Self::Trigger => kept_of(&kept.triggers, &|place| {
                events.triggers.get(place).is_some_and(|trigger| is_of(&trigger.event, &trigger.group))
            }),
            Self::Receptor => kept_of(&kept.receptors, &|place| {
                events.receptors.get(place).is_some_and(|receptor| is_of(&receptor.event, &receptor.group))
            }),
        }
    }
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
    let mut errors = Errors::default();
    for event in &after.events {
        let ends = ends_of(event, code);
        let side = |(member, kind, _): &(MemberId, &str, bool)| {
            let name = after.job.members.get(member.index()).map_or("?", |member| member.name.as_str());
            format!("member \"{name}\" of its {kind}")
        };
        let object = format!("event \"{}\" of group \"{}\"", event.name, event.group);
        let Some(kept) = ends.iter().find(|(_, _, is_kept)| *is_kept) else { continue };
        if let Some(loose) = ends.iter().find(|(_, _, is_kept)| !*is_kept) {
            // What was there before is told of already.
            errors.push(Mismatch::Impossible(format!(
                "{object} is kept in the mode by {}, and that of {} is new in it; give the new one another event, or keep none",
                side(kept),
                side(loose),
            )));
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
    errors.unless((), &after.job.name)
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
