//! The kinds of tables, each read into its declaration, and the whole manifest from them.

pub(crate) mod channel;
pub(crate) mod host;
mod job;
mod member;
pub(crate) mod task;

pub(crate) use channel::ChannelSection;
pub(crate) use member::MemberSection;
pub(crate) use task::TaskSection;

use crate::model::Manifest;
use crate::names::Unique;
use crate::network::describes_network;
use crate::section::{Section, check_top_level, several, single};
use crate::source::Problems;
use crate::{references, schema};
use leveret_protocol::declaration::{GROUP_WORLD, JobDeclaration};
use leveret_types::{CHANNELS_MAX, MEMBERS_MAX, TASKS_MAX};
use toml::Spanned;
use toml::de::DeTable;

/// Everything that other tables refer to.
pub(crate) struct Parts {
    /// The job's cores, when they could be read.
    pub(crate) cores: Option<Vec<u32>>,
    pub(crate) members: Vec<MemberSection>,
    pub(crate) tasks: Vec<TaskSection>,
    pub(crate) channels: Vec<ChannelSection>,
}

/// Reads the whole file. What it yields is worth something only if no problem was added.
pub(crate) fn manifest(root: &Spanned<DeTable<'_>>, problems: &mut Problems<'_>) -> Option<Manifest> {
    let root = root.get_ref();
    if root.is_empty() {
        problems.add(
            0..0,
            "the manifest is empty",
            "begin with [job], [host] and one [[member]]; `examples/ring/job.toml` is a complete one",
        );
        return None;
    }
    if describes_network(root) {
        problems.add(
            0..0,
            "this manifest describes a network of several hosts, and this command takes a job on one",
            "use `leveret check` or `leveret plan`, which plan networks; a job on one host has one [host], and no [[switch]] or [[link]]",
        );
        return None;
    }
    check_top_level(root, &schema::ALL, problems);
    let job =
        required(root, &schema::JOB, "name = \"my-job\"", problems).map(|job| job::read(&job, problems));
    let host =
        required(root, &schema::HOST, "cores = [0, 1]", problems).map(|host| host::read(&host, problems));
    let parts = Parts {
        cores: host.as_ref().and_then(|host| host.cores.clone()),
        members: member_sections(root, problems),
        tasks: task_sections(root, problems),
        channels: channel_sections(root, problems),
    };
    if parts.members.len() <= MEMBERS_MAX
        && parts.tasks.len() <= TASKS_MAX
        && parts.channels.len() <= CHANNELS_MAX
    {
        references::check(&parts, problems);
    }
    let (job, host) = (job?, host?);
    let (launch, members) = parts.members.into_iter().map(MemberSection::into_parts).unzip();
    let (sporadics, tasks): (Vec<_>, Vec<_>) = parts.tasks.into_iter().partition(TaskSection::is_sporadic);
    let declaration = JobDeclaration {
        name: job.name,
        cores: parts.cores.unwrap_or_default(),
        members,
        tasks: tasks.into_iter().map(TaskSection::into_declaration).collect(),
        sporadics: sporadics.into_iter().map(TaskSection::into_sporadic).collect(),
        channels: parts.channels.into_iter().map(ChannelSection::into_declaration).collect(),
    };
    Some(Manifest {
        declaration,
        launch,
        policy: job.policy,
        rounds: job.rounds,
        duration: job.duration,
        scheduling: job.scheduling,
        costs: host.costs,
        idle: host.idle,
        record_limit: job.record_limit,
    })
}

/// A table that must be there.
fn required<'t, 'i>(
    root: &'t DeTable<'i>,
    schema: &'static schema::Schema,
    example: &str,
    problems: &mut Problems<'_>,
) -> Option<Section<'t, 'i>> {
    if root.get(schema.name).is_none() {
        let message = format!("the manifest has no {}", schema.header);
        problems.add(0..0, message, format!("add {} with at least `{example}`", schema.header));
    }
    single(root, schema, problems)
}

fn member_sections(root: &DeTable<'_>, problems: &mut Problems<'_>) -> Vec<MemberSection> {
    let sections = several(root, &schema::MEMBER, problems);
    if root
        .get(schema::MEMBER.name)
        .is_none_or(|value| value.get_ref().as_array().is_some_and(|all| all.is_empty()))
    {
        let hint = "add [[member]] with at least `name = \"A\"` and `command = [\"program\"]`";
        problems.add(0..0, "the manifest has no [[member]]", hint);
    }
    check_count(&sections, MEMBERS_MAX, "members", problems);
    let mut unique = Unique::new("member");
    let members: Vec<_> = sections.iter().filter_map(|section| member::read(section, problems)).collect();
    for member in &members {
        unique.note(member.name.value.clone(), &member.name, problems);
    }
    members
}

fn task_sections(root: &DeTable<'_>, problems: &mut Problems<'_>) -> Vec<TaskSection> {
    let sections = several(root, &schema::TASK, problems);
    check_count(&sections, TASKS_MAX, "tasks", problems);
    let mut unique = Unique::new("task");
    let tasks: Vec<_> = sections.iter().filter_map(|section| task::read(section, problems)).collect();
    for task in &tasks {
        unique.note(task.name.value.clone(), &task.name, problems);
    }
    tasks
}

fn channel_sections(root: &DeTable<'_>, problems: &mut Problems<'_>) -> Vec<ChannelSection> {
    let sections = several(root, &schema::CHANNEL, problems);
    check_count(&sections, CHANNELS_MAX, "channels", problems);
    let mut unique = Unique::new("channel");
    let channels: Vec<_> = sections.iter().filter_map(|section| channel::read(section, problems)).collect();
    for channel in &channels {
        let group = channel.declaration.group.as_deref().unwrap_or(GROUP_WORLD);
        unique.note(format!("{group}\n{}", channel.name.value), &channel.name, problems);
    }
    channels
}

fn check_count(sections: &[Section<'_, '_>], most: usize, kind: &str, problems: &mut Problems<'_>) {
    if let Some(beyond) = sections.get(most) {
        let message = format!("the manifest has {} {kind}; the most is {most}", sections.len());
        problems.add(beyond.span.clone(), message, "split the job");
    }
}
