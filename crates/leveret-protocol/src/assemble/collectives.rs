//! Collective channels: every member of the group declares the same.

use super::errors::Errors;
use super::{HINTS_MAX, MemberNames, Mismatch, Property};
use crate::declaration::*;
use crate::nearest::nearest;
use leveret_types::ByteSize;
use std::collections::BTreeMap;

/// A collective channel from all sides, in the order of rank.
type Sides<'a> = BTreeMap<(&'a str, &'a str), Vec<(usize, &'a CollectiveDeclaration)>>;

/// Notes every way in which members differ. Where they do, gives the declarations without the channels concerned, so that
/// their edges, which cannot match either, are not told one by one.
pub(super) fn check(
    code: &[MemberDeclarations],
    names: &MemberNames<'_>,
    groups: &BTreeMap<String, Vec<String>>,
    errors: &mut Errors,
) -> Option<Vec<MemberDeclarations>> {
    let mut sides: Sides<'_> = BTreeMap::new();
    for (rank, declarations) in code.iter().enumerate() {
        for declared in &declarations.collectives {
            sides.entry((&declared.group, &declared.name)).or_default().push((rank, declared));
        }
    }
    let mut failed = Vec::new();
    for ((group, name), declared) in &sides {
        let before = errors.len();
        let object = format!("collective channel \"{name}\" of group \"{group}\"");
        let members = groups.get(*group).map(Vec::as_slice).unwrap_or_default();
        let context = Context { object: &object, names, members, sides: &sides };
        context.everybody_declares(declared, errors);
        if errors.len() == before {
            context.all_agree(declared, errors);
        }
        if errors.len() == before {
            context.sizes_fit(declared, errors);
        }
        if errors.len() > before {
            failed.extend(declared.first().map(|(_, declared)| (*declared).clone()));
        }
    }
    if failed.is_empty() { None } else { Some(without(code, &failed)) }
}

/// The declarations without some collective channels, their edges, and the tasks that serve them.
fn without(code: &[MemberDeclarations], failed: &[CollectiveDeclaration]) -> Vec<MemberDeclarations> {
    let is_edge = |group: &str, channel: &str| {
        failed.iter().any(|collective| collective.group == group && collective.has_edge(channel))
    };
    let is_bound = |name: &String| match name.split_once('/') {
        Some((group, channel)) => is_edge(group, channel) || is_edge(GROUP_WORLD, name),
        None => is_edge(GROUP_WORLD, name),
    };
    let mut left = code.to_vec();
    for declarations in &mut left {
        declarations
            .ends
            .retain(|end| !is_edge(end.channel.group.as_deref().unwrap_or(GROUP_WORLD), &end.channel.name));
        declarations.tasks.retain(|task| !task.reads.iter().chain(&task.writes).any(is_bound));
    }
    left
}

struct Context<'a> {
    object: &'a str,
    names: &'a MemberNames<'a>,
    /// Of the group, by rank.
    members: &'a [String],
    sides: &'a Sides<'a>,
}

impl Context<'_> {
    fn everybody_declares(&self, declared: &[(usize, &CollectiveDeclaration)], errors: &mut Errors) {
        let Some((first, one)) = declared.first() else { return };
        let present = self.names.side(*first);
        for pair in declared.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            let side = self.names.side(pair[0].0);
            let (left, right) = (side.clone(), side);
            let what = "it".to_owned();
            errors.push(Mismatch::Twice { object: self.object.to_owned(), left, right, what });
        }
        for member in self.members {
            let declares = |(rank, _): &(usize, &CollectiveDeclaration)| {
                self.names.names.get(*rank) == Some(&member.as_str())
            };
            if declared.iter().any(declares) {
                continue;
            }
            let others = self
                .sides
                .iter()
                .filter(|((group, _), sides)| *group == one.group && sides.iter().any(declares));
            let near = if errors.len() < HINTS_MAX {
                nearest(&one.name, others.map(|((_, name), _)| *name))
            } else {
                None
            };
            let near =
                near.map_or(String::new(), |near| format!(", or did it mean \"{near}\", which it declares?"));
            errors.push(Mismatch::Impossible(format!(
                "{}: {present} declares it, but member \"{member}\" of the group does not; add it to the code of member \"{member}\"{near}",
                self.object
            )));
        }
    }

    fn all_agree(&self, declared: &[(usize, &CollectiveDeclaration)], errors: &mut Errors) {
        let mut form = Property::new(self.object, "kind");
        let mut root = Property::new(self.object, "root");
        let mut operation = Property::new(self.object, "operation");
        let mut dataspec = Property::new(self.object, "dataspec");
        let mut qos = Property::new(self.object, "quality of service");
        let mut slack = Property::new(self.object, "slack");
        for (rank, declared) in declared {
            let by = self.names.side(*rank);
            form.offer(&by, Some(&declared.form), |form| form.word().to_owned(), errors);
            root.offer(&by, declared.root.as_ref(), |root| format!("rank {root}"), errors);
            operation.offer(&by, declared.operation.as_ref(), String::clone, errors);
            dataspec.offer(&by, declared.dataspec.as_ref(), String::clone, errors);
            qos.offer(&by, Some(&declared.qos), ToString::to_string, errors);
            slack.offer(&by, Some(&declared.slack), u32::to_string, errors);
        }
    }

    /// Members agree in kind and root.
    fn sizes_fit(&self, declared: &[(usize, &CollectiveDeclaration)], errors: &mut Errors) {
        let Some((_, one)) = declared.first() else { return };
        let members = self.members.len() as u64;
        let mut size = Property::new(self.object, "size of buffers");
        let mut offer = |rank: usize, found: Option<&ByteSize>, errors: &mut Errors| {
            size.offer(&self.names.side(rank), found, ByteSize::to_string, errors);
        };
        for (rank, declared) in declared {
            // What the root cuts or joins is of another size.
            let [own, joined] = match one.form {
                CollectiveForm::Scatter => [declared.receives, declared.sends],
                CollectiveForm::Gather => [declared.sends, declared.receives],
                _ => {
                    offer(*rank, declared.sends.as_ref(), errors);
                    offer(*rank, declared.receives.as_ref(), errors);
                    continue;
                }
            };
            offer(*rank, own.as_ref(), errors);
            if let (Some(own), Some(joined)) = (own, joined)
                && own.0.checked_mul(members) != Some(joined.0)
            {
                errors.push(Mismatch::Impossible(format!(
                    "{}: the root, {}, has buffers of {joined} for the sections of {members} members of {own} each; make them {members} times {own}",
                    self.object,
                    self.names.side(*rank)
                )));
            }
        }
        if one.form == CollectiveForm::AllToAll
            && let Some(size) = one.sends
            && (!size.0.is_multiple_of(members.max(1))
                || !size.0.is_multiple_of(u64::from(one.element).max(1)))
        {
            errors.push(Mismatch::Impossible(format!(
                "{}: buffers of {size} are not divisible by its {members} members and by elements of {} B; choose a size that is divisible by both",
                self.object, one.element
            )));
        }
    }
}
