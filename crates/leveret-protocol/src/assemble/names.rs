//! The names in what members declare. They are members' words: none is longer than a name may be, and none has control characters, with
//! which the library sets the names of its own events apart.

use super::errors::{Errors, cut};
use super::{MemberNames, Mismatch};
use crate::declaration::*;
use leveret_plan::Qos;
use leveret_types::{MEMBERS_MAX, NAME_BYTES_MAX};

/// A group without a name is called by those of its members.
const GROUP_BYTES_MAX: usize = MEMBERS_MAX * (NAME_BYTES_MAX + 1) + 8;
/// A channel of a group, as a task names it.
const CHANNEL_OF_GROUP_BYTES_MAX: usize = GROUP_BYTES_MAX + 1 + NAME_BYTES_MAX;
/// The library's own events are called by what happens, to which rank, and by their channel.
const EVENT_BYTES_MAX: usize = NAME_BYTES_MAX + 16;
/// What the bytes of a message mean, and what a reduction makes of them.
const MEANING_BYTES_MAX: usize = 256;
/// So much of a name is told.
const TOLD_BYTES_MAX: usize = 64;

/// Notes every name that is none, and lists of names that no group and no task can have.
pub(super) fn check(code: &[MemberDeclarations], names: &MemberNames<'_>, errors: &mut Errors) {
    for (rank, declared) in code.iter().enumerate() {
        let mut names = Names { side: names.side(rank), errors };
        names.of_groups(&declared.groups);
        names.of_tasks(declared);
        names.of_channels(declared);
        names.of_events(declared);
        names.of_kept(&declared.kept);
    }
}

struct Names<'a> {
    side: String,
    errors: &'a mut Errors,
}

impl Names<'_> {
    fn name(&mut self, what: &str, name: &str) {
        self.at_most(NAME_BYTES_MAX, what, name);
    }

    fn group(&mut self, name: &str) {
        self.at_most(GROUP_BYTES_MAX, "group", name);
    }

    fn event(&mut self, name: &str) {
        match name.strip_prefix(INTERNAL_EVENT) {
            Some(own) => self.at_most(EVENT_BYTES_MAX, "event", own),
            None => self.name("event", name),
        }
    }

    fn at_most(&mut self, bytes_max: usize, what: &str, name: &str) {
        if name.len() <= bytes_max && !name.chars().any(char::is_control) {
            return;
        }
        let mut told = name.chars().take(TOLD_BYTES_MAX).collect();
        cut(&mut told, TOLD_BYTES_MAX);
        self.errors.push(Mismatch::Impossible(format!(
            "{}: {what} \"{}\" has a name of {} bytes, or one with control characters; name it with at most {bytes_max} bytes of printable text",
            self.side,
            told.escape_debug(),
            name.len()
        )));
    }

    fn of_groups(&mut self, groups: &[GroupDeclaration]) {
        for group in groups {
            self.group(&group.name);
            group.members.iter().for_each(|member| self.name("member", member));
            if group.members.len() > MEMBERS_MAX {
                self.too_many(
                    &format!("members in group \"{}\"", group.name),
                    group.members.len(),
                    MEMBERS_MAX,
                );
            }
        }
    }

    fn too_many(&mut self, of_what: &str, count: usize, most: usize) {
        let object = self.side.clone();
        let what = format!("{count} {of_what}, but at most {most} are possible");
        self.errors.push(Mismatch::TooMany { object, what });
    }

    fn of_tasks(&mut self, declared: &MemberDeclarations) {
        for task in &declared.tasks {
            self.name("task", &task.name);
            for channel in task.reads.iter().chain(&task.writes) {
                self.at_most(CHANNEL_OF_GROUP_BYTES_MAX, "channel", channel);
            }
        }
        for work in &declared.sporadics {
            self.name("task", &work.name);
            if let Some((group, event)) = &work.event {
                self.group(group);
                self.event(event);
            }
        }
    }

    fn of_channels(&mut self, declared: &MemberDeclarations) {
        for ChannelEndDeclaration { channel, .. } in &declared.ends {
            self.name("channel", &channel.name);
            self.group(channel.group.as_deref().unwrap_or_default());
            let members = [&channel.source, &channel.target];
            members.into_iter().flatten().for_each(|member| self.name("member", member));
            self.at_most(MEANING_BYTES_MAX, "dataspec", channel.dataspec.as_deref().unwrap_or_default());
            channel.qos.iter().for_each(|qos| self.of_qos(qos));
        }
        for collective in &declared.collectives {
            self.name("channel", &collective.name);
            self.group(&collective.group);
            self.at_most(MEANING_BYTES_MAX, "dataspec", collective.dataspec.as_deref().unwrap_or_default());
            self.at_most(MEANING_BYTES_MAX, "operation", collective.operation.as_deref().unwrap_or_default());
            self.of_qos(&collective.qos);
        }
    }

    fn of_qos(&mut self, qos: &Qos) {
        if let Qos::EventDriven { start, completion, .. } = qos {
            [start, completion].into_iter().flatten().for_each(|event| self.event(event));
        }
    }

    fn of_events(&mut self, declared: &MemberDeclarations) {
        let triggers = declared.events.triggers.iter().map(|trigger| (&trigger.group, &trigger.event));
        let receptors = declared.events.receptors.iter().map(|receptor| (&receptor.group, &receptor.event));
        for (group, event) in triggers.chain(receptors) {
            self.group(group);
            self.event(event);
        }
    }

    fn of_kept(&mut self, kept: &KeptDeclarations) {
        for (group, name) in &kept.channels {
            self.group(group);
            self.name("channel", name);
        }
        kept.tasks.iter().chain(&kept.works).for_each(|name| self.name("task", name));
    }
}
