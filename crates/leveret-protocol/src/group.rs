//! What a commit of a group covers: the objects whose groups lie within it.

use crate::assemble::{Errors, Mismatch};
use crate::declaration::{GROUP_WORLD, INTERNAL_EVENT, JobDeclaration, MemberDeclarations};
use leveret_types::{Generation, MemberId};
use std::collections::{BTreeMap, BTreeSet};

/// Generations of groups' commits come after this one, those of the whole job's never reach it: what a member says of one is never
/// taken for the other.
pub const LAST_BEFORE_GROUPS: Generation = Generation(1 << 31);

/// The members of each group that a member names.
type Groups<'a> = BTreeMap<&'a str, &'a [String]>;

fn groups(code: &[MemberDeclarations]) -> Groups<'_> {
    let declared = code.iter().flat_map(|declarations| &declarations.groups);
    declared.map(|group| (group.name.as_str(), group.members.as_slice())).collect()
}

/// Who commits, by name.
struct Within<'a> {
    names: BTreeSet<&'a str>,
    all: Vec<&'a str>,
}

impl<'a> Within<'a> {
    fn new(manifest: &'a JobDeclaration, members: &[MemberId]) -> Self {
        let all: Vec<&str> = manifest.members.iter().map(|member| member.name.as_str()).collect();
        let names = members.iter().filter_map(|member| all.get(member.index()).copied()).collect();
        Self { names, all }
    }

    /// A member of this group that does not commit.
    fn beyond<'g>(&'g self, groups: &Groups<'g>, group: &str) -> Option<&'g str> {
        let is_outside = |name: &&'g str| !self.names.contains(name);
        match groups.get(group) {
            _ if group == GROUP_WORLD => self.all.iter().copied().find(is_outside),
            Some(members) => members.iter().map(String::as_str).find(is_outside),
            // That there is no such group is told where it is used.
            None => None,
        }
    }
}

/// What the manifest declares for a commit of these members: their tasks, and the channels whose groups lie within theirs.
pub fn of_group(
    manifest: &JobDeclaration,
    code: &[MemberDeclarations],
    members: &[MemberId],
) -> JobDeclaration {
    let (within, groups) = (Within::new(manifest, members), groups(code));
    let is_named = |group: &str| group == GROUP_WORLD || groups.contains_key(group);
    let mut of_group = manifest.clone();
    of_group.tasks.retain(|(member, _)| within.names.contains(member.as_str()));
    of_group.sporadics.retain(|(member, _)| within.names.contains(member.as_str()));
    of_group.channels.retain(|channel| {
        let group = channel.group.as_deref().unwrap_or(GROUP_WORLD);
        is_named(group) && within.beyond(&groups, group).is_none()
    });
    of_group
}

/// What these members declare in groups that reach beyond theirs, each named once.
pub fn beyond_group(
    manifest: &JobDeclaration,
    code: &[MemberDeclarations],
    members: &[MemberId],
) -> Vec<Mismatch> {
    let (within, groups) = (Within::new(manifest, members), groups(code));
    let listed = within.names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let mut found: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for (rank, declared) in code.iter().enumerate() {
        let is_edge = |group: &str, channel: &str| {
            declared.collectives.iter().any(|whole| whole.group == group && whole.has_edge(channel))
        };
        let ends = declared.ends.iter().map(|end| &end.channel);
        let ends =
            ends.map(|channel| (channel.group.as_deref().unwrap_or(GROUP_WORLD), channel.name.as_str()));
        let ends = ends.filter(|(group, name)| !is_edge(group, name));
        let collectives =
            declared.collectives.iter().map(|whole| (whole.group.as_str(), whole.name.as_str()));
        let channels = ends.chain(collectives).map(|(group, name)| ("channel", group, name));
        let triggers = declared.events.triggers.iter().map(|end| (end.group.as_str(), end.event.as_str()));
        let receptors = declared.events.receptors.iter().map(|end| (end.group.as_str(), end.event.as_str()));
        let events = triggers.chain(receptors).filter(|(_, name)| !name.starts_with(INTERNAL_EVENT));
        let events = events.map(|(group, name)| ("event", group, name));
        for (kind, group, name) in channels.chain(events) {
            if let Some(outside) = within.beyond(&groups, group) {
                let object = format!("{kind} \"{name}\" of group \"{group}\"");
                found.entry((object, outside)).or_insert(rank);
            }
        }
    }
    let mismatch = |((object, outside), rank): ((String, &str), usize)| {
        let side = within.all.get(rank).copied().unwrap_or("?");
        Mismatch::Impossible(format!(
            "{object}: member \"{side}\" declares it, but its group reaches beyond those who commit, which are {listed}: member \
             \"{outside}\" is in it; create it in a group of these, or commit together with member \"{outside}\""
        ))
    };
    let mut errors = Errors::default();
    errors.extend(found.into_iter().map(mismatch));
    errors.into_told(&manifest.name)
}
