//! `[[chain]]`.

use super::super::schema;
use crate::names::Unique;
use crate::section::{Section, several};
use crate::source::{Located, Problems, quoted};
use crate::values::DURATION_MAX;
use leveret_plan::system::{CHAIN_STEPS_MAX, Chain, NETWORK_MEMBER, Port, SYSTEM_PARTS_MAX, Step, System};
use leveret_protocol::nearest::nearest;
use leveret_types::{ChannelId, Nanos, TaskId};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::de::DeTable;

/// Tasks and channels by name.
struct Steps<'s> {
    tasks: BTreeMap<&'s str, Step>,
    channels: BTreeMap<&'s str, Step>,
}

impl<'s> Steps<'s> {
    fn new(system: &'s System) -> Self {
        let mut steps = Self { tasks: BTreeMap::new(), channels: BTreeMap::new() };
        for (host, part) in (0u16..).zip(&system.hosts) {
            for (index, task) in (0u16..).zip(&part.job.tasks) {
                steps.tasks.insert(&task.name, Step::Task { host, task: TaskId(index) });
            }
            for (work, own) in (0u16..).zip(&part.job.sporadics) {
                steps.tasks.insert(&own.name, Step::Work { host, work });
            }
            for (index, channel) in (0u16..).zip(&part.job.channels) {
                let ends = [channel.source, channel.target].map(|end| &part.job.members[end.index()].name);
                if ends.iter().all(|end| *end != NETWORK_MEMBER) {
                    let port = Port { host, channel: ChannelId(index) };
                    steps.channels.insert(&channel.name, Step::Channel(port));
                }
            }
        }
        for (index, crossing) in (0u16..).zip(&system.crossings) {
            steps.channels.insert(&crossing.name, Step::Crossing(index));
        }
        steps
    }

    /// The element of a path at a place: tasks and channels in turn.
    fn find(&self, place: usize, name: &Located<String>, problems: &mut Problems<'_>) -> Option<Step> {
        let (own, other, kind) = if place.is_multiple_of(2) {
            (&self.tasks, &self.channels, "task")
        } else {
            (&self.channels, &self.tasks, "channel")
        };
        if let Some(step) = own.get(name.value.as_str()) {
            return Some(*step);
        }
        let found = quoted(&name.value);
        let hint = match nearest(&name.value, own.keys().copied()) {
            _ if other.contains_key(name.value.as_str()) => {
                "name tasks and channels in turn, from a task to a task".to_owned()
            }
            Some(near) => format!("did you mean {}?", quoted(near)),
            None => format!("declare it under [[{kind}]]"),
        };
        problems.add(name.span.clone(), format!("there is no {kind} {found}"), hint);
        None
    }
}

/// Adds the chains to a system that has everything else, and notes where their paths stand.
pub(super) fn read(
    root: &DeTable<'_>,
    system: &mut System,
    labels: &mut BTreeMap<String, Range<usize>>,
    problems: &mut Problems<'_>,
) {
    let sections = several(root, &schema::CHAIN, problems);
    if let Some(beyond) = sections.get(SYSTEM_PARTS_MAX) {
        let message = format!("the manifest has more than {SYSTEM_PARTS_MAX} chains");
        problems.add(beyond.span.clone(), message, "plan a part of them");
        return;
    }
    let mut unique = Unique::new("chain");
    let steps = Steps::new(system);
    let mut chains = Vec::new();
    for section in &sections {
        let Some((name, chain)) = chain(section, &steps, problems) else { continue };
        unique.note(name.value.clone(), &name, problems);
        labels.insert(format!("chain `{}`", name.value), section.place("path"));
        chains.push(chain);
    }
    system.chains = chains;
}

fn chain(
    section: &Section<'_, '_>,
    steps: &Steps<'_>,
    problems: &mut Problems<'_>,
) -> Option<(Located<String>, Chain)> {
    let example = "[\"camera.take\", \"image\", \"control.step\"]";
    section.require("name", "\"camera-to-drive\"", problems);
    section.require("path", example, problems);
    let limit =
        |key, problems: &mut Problems<'_>| section.duration(key, &(Nanos(1)..=DURATION_MAX), problems);
    let (reaction, age) = (limit("reaction", problems), limit("age", problems));
    let name = section.name("name", problems);
    let path = section.texts("path", example, problems)?;
    if path.len().is_multiple_of(2) || path.len() > CHAIN_STEPS_MAX {
        let message = format!("the path of {} has {} elements", section.label, path.len());
        let hint = format!(
            "name tasks and channels in turn, from a task to a task, at most {CHAIN_STEPS_MAX} in all"
        );
        problems.add(section.place("path"), message, hint);
        return None;
    }
    let path: Vec<Option<Step>> =
        path.iter().enumerate().map(|(place, name)| steps.find(place, name, problems)).collect();
    let path = path.into_iter().collect::<Option<Vec<Step>>>()?;
    let name = name?;
    let chain = Chain { name: name.value.clone(), path, reaction, age };
    Some((name, chain))
}
