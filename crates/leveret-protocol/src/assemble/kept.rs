//! What members keep from what runs when they change the mode: the two ends of a channel keep it together, or neither does.

use super::{Assembled, Mismatch};
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
    }
    if errors.is_empty() { Ok(kept) } else { Err(errors) }
}
