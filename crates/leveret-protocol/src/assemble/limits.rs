//! What there can be only so many of in a job. What is beyond a limit is told as the programs declare it: they do not know what a channel
//! takes of the library's own.

use super::Mismatch;
use crate::declaration::*;
use leveret_plan::{Channel, Job, PRIORITY_LEVELS_MAX, Start};
use leveret_types::{CHANNELS_MAX, EVENTS_MAX, MEMBERS_MAX, TASKS_MAX, TRIGGERS_MAX};
use std::collections::BTreeSet;

/// What is declared of one kind, and how many it takes of what is limited.
struct Share {
    what: &'static str,
    declared: usize,
    takes: usize,
}

/// What stands for itself.
fn plain(what: &'static str, count: usize) -> Share {
    Share { what, declared: count, takes: count }
}

/// One limit, and what is told where the shares together are beyond it. What takes most is what there are too many of.
fn beyond(
    job: &str,
    (limited, limit): (&str, usize),
    shares: impl IntoIterator<Item = Share>,
) -> Option<Mismatch> {
    let mut shares: Vec<Share> = shares.into_iter().filter(|share| share.takes > 0).collect();
    let all: usize = shares.iter().map(|share| share.takes).sum();
    if all <= limit {
        return None;
    }
    shares.sort_by_key(|share| std::cmp::Reverse(share.takes));
    let (most, others) = shares.split_first()?;
    let left = limit.saturating_sub(all - most.takes);
    let allowed = (most.declared * left / most.takes).min(most.declared.saturating_sub(1));
    let mut what = format!("{} {}, but at most {allowed} are possible", most.declared, most.what);
    for (place, other) in others.iter().enumerate() {
        let link = if place == 0 { "beside" } else { "and" };
        what += &format!(" {link} {} {}", other.declared, other.what);
    }
    if shares.iter().any(|share| share.takes != share.declared) {
        what += &format!(": they take {all} {limited}, and there can be {limit}");
    }
    Some(Mismatch::TooMany { object: format!("job \"{job}\""), what })
}

/// What is beyond a limit is not even looked at: identifiers could not name it.
pub(super) fn too_many(manifest: &JobDeclaration, code: &[MemberDeclarations]) -> Vec<Mismatch> {
    let in_code = |count: fn(&MemberDeclarations) -> usize| code.iter().map(count).sum::<usize>();
    let counts = [
        ("members", manifest.members.len(), MEMBERS_MAX),
        ("channels in the manifest", manifest.channels.len(), CHANNELS_MAX),
        ("tasks in the manifest", manifest.tasks.len(), TASKS_MAX),
        ("tasks at a priority in the manifest", manifest.sporadics.len(), TASKS_MAX),
        ("handlers and tasks at a priority", in_code(|declared| declared.sporadics.len()), TASKS_MAX),
        ("receptors of kept events", in_code(|declared| declared.kept.receptors.len()), 4 * EVENTS_MAX),
        ("triggers of kept events", in_code(|declared| declared.kept.triggers.len()), TRIGGERS_MAX),
        ("ends of kept channels", in_code(|declared| declared.kept.channels.len()), 2 * CHANNELS_MAX),
        ("kept tasks", in_code(|declared| declared.kept.tasks.len()), TASKS_MAX),
        ("kept handlers", in_code(|declared| declared.kept.works.len()), TASKS_MAX),
        ("channels of tasks", in_code(ends_of_tasks), ENDS_OF_TASKS_MAX),
        (
            "groups of one member",
            code.iter().map(|declared| declared.groups.len()).max().unwrap_or(0),
            CHANNELS_MAX,
        ),
        ("groups", distinct(code.iter().flat_map(|declared| &declared.groups), group_name), CHANNELS_MAX),
    ];
    let counted = counts
        .into_iter()
        .map(|(what, count, limit)| beyond(&manifest.name, (what, limit), [plain(what, count)]));
    let collectives = Collectives::of(code);
    let found = counted.chain([
        beyond(&manifest.name, (COLLECTIVE, CHANNELS_MAX), [plain(COLLECTIVE, collectives.0.len())]),
        beyond(&manifest.name, ("channels between two members", CHANNELS_MAX), of_ends(code, &collectives)),
        beyond(&manifest.name, ("triggers", TRIGGERS_MAX), of_triggers(code, &collectives)),
        beyond(&manifest.name, ("receptors", 4 * EVENTS_MAX), of_receptors(code, &collectives)),
        beyond(&manifest.name, ("tasks", TASKS_MAX), of_tasks(code)),
    ]);
    found.flatten().collect()
}

/// Far more than there are ends of channels: each name is looked for.
const ENDS_OF_TASKS_MAX: usize = 4 * CHANNELS_MAX;

fn ends_of_tasks(declared: &MemberDeclarations) -> usize {
    declared.tasks.iter().map(|task| task.reads.len() + task.writes.len()).sum()
}

fn group_name(group: &GroupDeclaration) -> &str {
    &group.name
}

fn distinct<'a, T: 'a, K: Ord>(all: impl Iterator<Item = &'a T>, key: impl Fn(&'a T) -> K) -> usize {
    all.map(key).collect::<BTreeSet<K>>().len()
}

/// The collective channels of a job, whoever declares them.
struct Collectives<'a>(BTreeSet<(&'a str, &'a str)>);

/// What channels take that the library moves, and what collective ones do.
const CHANNELS: &str = "channels";
const SERVED: &str = "priority- or event-driven channels";
const COLLECTIVE: &str = "channels of groups";
const TIMED: &str = "time-driven channels that no task serves";

impl<'a> Collectives<'a> {
    fn of(code: &'a [MemberDeclarations]) -> Self {
        let all = code.iter().flat_map(|declared| &declared.collectives);
        Self(all.map(|collective| (&collective.group[..], &collective.name[..])).collect())
    }

    /// Whether a channel of this name carries one of them.
    fn have(&self, group: &str, channel: &str) -> bool {
        let Some(base) = CollectiveDeclaration::base_of_edge(channel) else { return false };
        // A name that is too long for its edges is cut in them; then any of the group will do.
        let of_group = || self.0.range((group, "")..).take_while(|(other, _)| *other == group);
        self.0.contains(&(group, base)) || (base.contains('~') && of_group().next().is_some())
    }

    fn share(&self, takes: usize) -> Share {
        Share { what: COLLECTIVE, declared: self.0.len(), takes }
    }
}

/// The channels that ends in the code ask for, two ends each.
fn of_ends<'a>(code: &'a [MemberDeclarations], collectives: &Collectives<'a>) -> [Share; 2] {
    let ends = code.iter().flat_map(|declared| &declared.ends);
    let group = |end: &'a ChannelEndDeclaration| end.channel.group.as_deref().unwrap_or(GROUP_WORLD);
    let named = distinct(ends.clone(), |end| (group(end), &end.channel.name));
    let all = named.max(ends.clone().count().div_ceil(2));
    if all <= CHANNELS_MAX {
        return [plain(CHANNELS, all), collectives.share(0)];
    }
    let carriers = ends.filter(|end| collectives.have(group(end), &end.channel.name));
    let carriers = distinct(carriers, |end| (group(end), &end.channel.name));
    [plain(CHANNELS, all - carriers), collectives.share(carriers)]
}

/// Of events by which the library's threads at the ends of channels call each other: how many there are of channels between two
/// members, and of those of groups.
fn internal<'a>(events: impl Iterator<Item = &'a str>) -> [usize; 2] {
    let own = events.filter_map(|event| event.strip_prefix(INTERNAL_EVENT));
    own.fold([0, 0], |[served, collective], event| match event.starts_with(MOVED_EVENT) {
        true => [served, collective + 1],
        false => [served + 1, collective],
    })
}

fn of_events<'a>(
    what: &'static str,
    events: impl Iterator<Item = &'a str> + Clone,
    collectives: &Collectives<'_>,
) -> [Share; 3] {
    let all = events.clone().count();
    let [served, collective] = internal(events);
    [
        plain(what, all - served - collective),
        // One at each end.
        Share { what: SERVED, declared: served.div_ceil(2), takes: served },
        collectives.share(collective),
    ]
}

fn of_triggers(code: &[MemberDeclarations], collectives: &Collectives<'_>) -> [Share; 3] {
    let triggers = code.iter().flat_map(|declared| &declared.events.triggers);
    of_events("triggers", triggers.map(|trigger| &trigger.event[..]), collectives)
}

fn of_receptors(code: &[MemberDeclarations], collectives: &Collectives<'_>) -> [Share; 3] {
    let receptors = code.iter().flat_map(|declared| &declared.events.receptors);
    of_events("receptors", receptors.map(|receptor| &receptor.event[..]), collectives)
}

fn of_tasks(code: &[MemberDeclarations]) -> [Share; 2] {
    let tasks = code.iter().flat_map(|declared| &declared.tasks);
    let movers = tasks.clone().filter(|task| task.mover);
    let moved = distinct(movers.clone().flat_map(|task| task.reads.iter().chain(&task.writes)), |name| name);
    [
        plain("tasks", tasks.filter(|task| !task.mover).count()),
        Share { what: TIMED, declared: moved, takes: movers.count() },
    ]
}

/// What the plan cannot have so many of, of a job whose declarations have met.
pub(super) fn too_much(job: &Job, code: &[MemberDeclarations]) -> Vec<Mismatch> {
    let collectives = Collectives::of(code);
    let carries = |channel: &Channel| collectives.have(&channel.group, &channel.name);
    let served = |is_collective: bool| {
        let ends = job.sporadics.iter().filter(|sporadic| match sporadic.start {
            Start::Message(channel) | Start::Request(channel) => {
                carries(&job.channels[channel.index()]) == is_collective
            }
            Start::Event { .. } => false,
        });
        ends.count()
    };
    let started = |sporadic: &&leveret_plan::Sporadic| matches!(sporadic.start, Start::Event { .. });
    let [tasks, timed] = of_tasks(code);
    let in_code = tasks.takes + timed.takes;
    let ends = served(false);
    let works = [
        Share { takes: tasks.takes + job.tasks.len().saturating_sub(in_code), ..tasks },
        timed,
        plain("handlers and tasks at a priority", job.sporadics.iter().filter(started).count()),
        Share { what: SERVED, declared: ends / 2, takes: ends },
        collectives.share(served(true)),
    ];
    let levels = distinct(job.sporadics.iter(), |sporadic| sporadic.priority);
    let levels_max = ("priorities", PRIORITY_LEVELS_MAX);
    let found = [
        beyond(&job.name, ("tasks, those that move channels included", TASKS_MAX), works),
        beyond(&job.name, levels_max, [plain("different priorities", levels)]),
    ];
    found.into_iter().flatten().collect()
}
