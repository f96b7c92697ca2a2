//! The plan of a job on one host: a row for each core, a bar for each stretch of an instance, an arrow for each message that is read.

use super::{Arrow, Bar, Group, Instance, Picture, Row};
use leveret_plan::{Channel, Job, NO_INSTANCE, Plan, Qos, Task};
use leveret_types::{ChannelId, Nanos};

/// The picture of a plan that the checker accepted for this job. Only what the clock moves is drawn: what else runs has no place in the table.
pub fn job(job: &Job, plan: &Plan) -> Picture {
    part(job, plan, |_| true)
}

/// The picture of a job with some of its channels.
pub(super) fn part(job: &Job, plan: &Plan, is_drawn: impl Fn(ChannelId) -> bool) -> Picture {
    let mut picture = Picture {
        title: format!("job \"{}\"", job.name),
        round: plan.hyperperiod,
        span: (Nanos::ZERO, plan.hyperperiod),
        rows: job.cores.iter().map(|core| row(*core)).collect(),
        groups: job.tasks.iter().map(|task| task_group(job, task)).collect(),
        ..Picture::default()
    };
    // By task, then instance: its first and its last bar.
    let mut ends: Vec<Vec<(u32, u32)>> = Vec::with_capacity(plan.tasks.len());
    for planned in &plan.tasks {
        let row = job.cores.iter().position(|core| *core == planned.core).unwrap_or(0) as u32;
        let mut bars = Vec::with_capacity(planned.instances.len());
        for (number, instance) in planned.instances.iter().enumerate() {
            let index = picture.instances.len() as u32;
            picture.instances.push(Instance {
                group: planned.task.index() as u32,
                number: number as u32,
                copy: 0,
                earliest: instance.earliest,
                latest: instance.latest,
                end: instance.end(),
            });
            let first = picture.bars.len() as u32;
            for (part, segment) in instance.segments.iter().enumerate() {
                picture.bars.push(Bar {
                    row,
                    instance: index,
                    start: segment.start,
                    length: segment.end - segment.start,
                    lead: if part == 0 { plan.costs.guard } else { Nanos::ZERO },
                    part: part as u16,
                    after: part.checked_sub(1).map(|before| first + before as u32),
                });
            }
            bars.push((first, (picture.bars.len() as u32).saturating_sub(1).max(first)));
        }
        ends.push(bars);
    }
    let drawn = |(index, _): &(usize, &Channel)| is_drawn(ChannelId(*index as u16));
    for (index, channel) in job.channels.iter().enumerate().filter(drawn) {
        messages(&mut picture, (job, plan), (index, channel), &ends);
    }
    picture
}

fn row(core: u32) -> Row {
    Row { name: format!("core {core}"), ..Row::default() }
}

fn task_group(job: &Job, task: &Task) -> Group {
    let names = |channels: &[ChannelId]| {
        let names: Vec<_> = channels
            .iter()
            .filter_map(|id| job.channels.get(id.index()))
            .map(|one| one.name.clone())
            .collect();
        names.join(", ")
    };
    let mut facts = vec![
        ("member", job.members.get(task.member.index()).map_or_else(String::new, |one| one.name.clone())),
        ("period", task.period.to_string()),
        ("window", format!("{} to {}", task.release, task.deadline)),
        ("budget", task.budget.to_string()),
    ];
    facts.extend((!task.reads.is_empty()).then(|| ("reads", names(&task.reads))));
    facts.extend((!task.writes.is_empty()).then(|| ("writes", names(&task.writes))));
    Group { name: task.name.clone(), kind: "task", part: "part", facts, members: Vec::new() }
}

/// The group of a time-driven channel, and an arrow from who writes each message to everybody who reads it.
fn messages(
    picture: &mut Picture,
    (job, plan): (&Job, &Plan),
    (index, channel): (usize, &Channel),
    ends: &[Vec<(u32, u32)>],
) {
    let Qos::TimeDriven { period, release, deadline, .. } = &channel.qos else { return };
    let transfers = plan.channels.get(index).map_or(&[][..], |planned| &planned.instances[..]);
    let group = picture.groups.len() as u32;
    let member = |id: leveret_types::MemberId| {
        job.members.get(id.index()).map_or_else(String::new, |one| one.name.clone())
    };
    picture.groups.push(Group {
        name: channel.name.clone(),
        kind: "channel",
        part: "part",
        facts: vec![
            ("source", member(channel.source)),
            ("target", member(channel.target)),
            ("size", channel.size.to_string()),
            ("period", period.to_string()),
            ("window", format!("{release} to {deadline}")),
        ],
        members: Vec::new(),
    });
    let Some(count) = i64::try_from(transfers.len()).ok().filter(|count| *count > 0) else { return };
    // By message of a round: the last bar of who writes it, and the round whose message that is.
    let mut writers = vec![None; transfers.len()];
    let bound = |numbers: &[i64], channels: &[ChannelId]| {
        let place = channels.iter().position(|id| id.index() == index)?;
        numbers.get(place).copied().filter(|number| *number != NO_INSTANCE)
    };
    let each = || {
        let tasks = job.tasks.iter().zip(plan.tasks.iter().zip(ends));
        tasks.flat_map(|(task, (planned, bars))| {
            planned.instances.iter().zip(bars).map(move |(instance, bars)| (task, instance, bars))
        })
    };
    for (task, instance, (_, last)) in each() {
        if let Some(message) = bound(&instance.writes, &task.writes) {
            writers[message.rem_euclid(count) as usize] = Some((*last, message.div_euclid(count)));
        }
    }
    for (task, instance, (first, _)) in each() {
        let Some(message) = bound(&instance.reads, &task.reads) else { continue };
        let (round, message) = (message.div_euclid(count), message.rem_euclid(count) as usize);
        let Some((from, written)) = writers[message] else { continue };
        let at = transfers[message].visible_at;
        picture.arrows.push(Arrow { group, from, to: *first, rounds: written - round, at });
    }
}
