//! What happened when to one instance, in words, for people.

use super::occupancy::Stay;
use super::task::is_skipped;
use super::{Context, Mark};
use crate::format::{from_epoch, instant};
use crate::lookup::Index;
use crate::record::{Event, EventKind, InstanceRecord, MessageRecord, Outcome, ThreadKind};
use leveret_types::Nanos;
use std::collections::BTreeSet;

/// Most lines about switches, or about events, that a timeline shows.
const LINES_MAX: usize = 24;
/// Who had the core more often than this has one line with the count.
const TIMES_MAX: usize = 3;

/// The timeline of a task's instance.
pub(super) fn of_task(context: &Context<'_>, task: usize, place: usize) -> Vec<Mark> {
    let Some(record) = context.phase().tasks.get(task).and_then(|tasks| tasks.instances.get(place)) else {
        return Vec::new();
    };
    let guard = context.phase().plan.costs.guard;
    let budget = context.index.budget(task);
    let due = record.planned - guard;
    let mut marks = vec![
        mark(due, format!("planned: wake ({guard} before the start)")),
        mark(record.planned, "planned: start".to_owned()),
        mark(record.deadline, "planned: end of the window".to_owned()),
        mark(record.woken, format!("measured: woken {}", offset(record.woken, due, "the planned wake"))),
    ];
    if budget != Nanos::MAX {
        marks.push(mark(record.planned + budget, format!("planned: latest end (budget {budget})")));
    }
    body(record, &mut marks);
    let core = context.index.core(task).unwrap_or(u32::MAX);
    let until = record.ended.max(record.woken);
    switches(context, (core, tasks_thread(context, task)), (due, until), &mut marks);
    stopped_before(context, context.index.member(task), due, &mut marks);
    events(context, due, until, &mut marks);
    marks.sort_by_key(|mark| mark.at);
    marks
}

fn body(record: &InstanceRecord, marks: &mut Vec<Mark>) {
    if record.gap > Nanos::ZERO {
        let what = format!("measured: longest gap between two clock readings while spinning, {}", record.gap);
        marks.push(mark(record.gap_at, what));
    }
    match record.outcome {
        Outcome::Ran | Outcome::RanLate => {
            let start = offset(record.started, record.planned, "the planned start");
            marks.push(mark(record.started, format!("measured: start {start}")));
            let end = offset(record.ended, record.deadline, "the window's end");
            let length = record.ended - record.started;
            marks.push(mark(record.ended, format!("measured: end {end}, after {length} of execution")));
        }
        Outcome::SkippedCritical | Outcome::SkippedOverrun => {
            marks.push(mark(record.woken, skipped(record.outcome).to_owned()));
        }
    }
}

/// Why an instance did not run.
fn skipped(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::SkippedOverrun => "skipped: the instance before it overran",
        _ => "skipped: too little of its window was left",
    }
}

fn tasks_thread(context: &Context<'_>, task: usize) -> Option<u32> {
    context.phase().tasks.get(task).map(|record| record.thread)
}

/// Who had a core within an interval: each switch, and one line with the count and the sum for who came back again and again.
fn switches(
    context: &Context<'_>,
    (core, own): (u32, Option<u32>),
    (from, to): (Nanos, Nanos),
    marks: &mut Vec<Mark>,
) {
    let stays = context.log.stays(core, from, to);
    let foreign = |stay: &&Stay| stay.who.thread != own && stay.who.kind != ThreadKind::Idle;
    if let Some(first) = stays.first().filter(foreign).filter(|stay| stay.from < from) {
        let (who, since) = (first.who.describe(), instant(first.from));
        marks.push(mark(from, format!("core {core}: had by {who}, which came {since}")));
    }
    // By words: threads that cannot be told apart are one.
    let mut told: Vec<(String, Vec<&Stay>)> = Vec::new();
    for stay in stays.iter().filter(|stay| stay.from >= from) {
        let who = stay.who.describe();
        match told.iter_mut().find(|(known, _)| *known == who) {
            Some((_, times)) => times.push(stay),
            None => told.push((who, vec![stay])),
        }
    }
    let mut lines = Vec::new();
    for (who, times) in &told {
        match times.as_slice() {
            [first, .., last] if times.len() > TIMES_MAX => {
                let sum = times.iter().fold(Nanos::ZERO, |sum, stay| sum + (stay.to - stay.from));
                let count = times.len();
                lines.push(mark(
                    first.from,
                    format!(
                        "core {core}: to {who}, the first of {count} times until {}, {sum} in all",
                        from_epoch(last.to)
                    ),
                ));
            }
            times => lines.extend(times.iter().map(|stay| mark(stay.from, format!("core {core}: to {who}")))),
        }
    }
    lines.sort_by_key(|line| line.at);
    let hidden = lines.len().saturating_sub(LINES_MAX);
    lines.truncate(LINES_MAX);
    marks.append(&mut lines);
    if hidden > 0 {
        marks.push(mark(to, format!("core {core}: {hidden} more switches not shown")));
    }
}

/// As [`stopped_before`], of both ends of a channel.
fn ends_stopped_before(context: &Context<'_>, channel: usize, from: Nanos, marks: &mut Vec<Mark>) {
    let Some(model) = context.phase().job.channels.get(channel) else { return };
    stopped_before(context, Some(model.source.0), from, marks);
    stopped_before(context, Some(model.target.0), from, marks);
}

/// A member that stood still when the timeline began: since when.
fn stopped_before(context: &Context<'_>, member: Option<u16>, from: Nanos, marks: &mut Vec<Mark>) {
    let change = |event: &&Event| match event.kind {
        EventKind::MemberStopped { member: of } | EventKind::MemberContinued { member: of } => {
            event.at < from && Some(of) == member
        }
        _ => false,
    };
    let Some(last) = context.phase().events.iter().filter(change).max_by_key(|event| event.at) else {
        return;
    };
    if let EventKind::MemberStopped { member } = last.kind {
        let (name, since) = (context.index.member_name(member), instant(last.at));
        let standing = mark(from, format!("event: member {name} stands still, stopped {since}"));
        if !marks.contains(&standing) {
            marks.push(standing);
        }
    }
}

/// The timeline of a message.
pub(super) fn of_message(context: &Context<'_>, channel: usize, message: &MessageRecord) -> Vec<Mark> {
    if !context.index.is_time_driven(channel) {
        return unplanned(context, channel, message);
    }
    let mut marks = vec![mark(message.due, "planned: visible to the receiver".to_owned())];
    let planned = context.phase().plan.channels.get(channel);
    if let Some(planned) = planned.filter(|planned| !planned.instances.is_empty()) {
        let count = planned.instances.len() as u64;
        let since = message.instance.saturating_sub(context.index.first_of_channel(channel));
        let transfer = planned.instances[(since % count) as usize];
        let round = i64::try_from(since / count).unwrap_or(i64::MAX);
        let insert_by = transfer.insert_by + context.phase().plan.hyperperiod.saturating_mul(round);
        marks.push(mark(insert_by, "planned: inserted by now".to_owned()));
    }
    if let Some(at) = message.inserted {
        let offset = offset(at, message.due, "the instant of visibility");
        marks.push(mark(at, format!("measured: inserted ({} bytes), {offset}", message.size)));
    }
    if let Some(at) = message.taken {
        marks.push(mark(
            at,
            format!("measured: taken, {}", offset(at, message.due, "the instant of visibility")),
        ));
    }
    let ends = [
        ("sender", context.index.writer(channel, message.instance)),
        ("receiver", context.index.reader(channel, message.instance)),
    ];
    for (role, end) in ends {
        let found = end.and_then(|(task, instance)| Some((task, context.index.instance(task, instance)?.1)));
        let Some((task, record)) = found else { continue };
        let name = format!("{role} {}, instance {}", context.index.task_name(task), record.instance);
        if is_skipped(record) {
            marks.push(mark(record.woken, format!("measured: {name}: {}", skipped(record.outcome))));
            continue;
        }
        let start = offset(record.started, record.planned, "its planned start");
        marks.push(mark(record.started, format!("measured: {name}: start {start}")));
        let end = offset(record.ended, record.deadline, "its window's end");
        marks.push(mark(record.ended, format!("measured: {name}: end {end}")));
    }
    let from = marks.iter().map(|mark| mark.at).min().unwrap_or_default();
    let to = marks.iter().map(|mark| mark.at).max().unwrap_or_default();
    events(context, from, to, &mut marks);
    ends_stopped_before(context, channel, from, &mut marks);
    marks.sort_by_key(|mark| mark.at);
    marks
}

/// The same of a message for which nothing was planned: it is visible when it was inserted.
fn unplanned(context: &Context<'_>, channel: usize, message: &MessageRecord) -> Vec<Mark> {
    let inserted = message.inserted.unwrap_or(message.due);
    let mut marks = vec![mark(inserted, format!("measured: inserted ({} bytes)", message.size))];
    if let Some(at) = message.taken {
        marks.push(mark(at, format!("measured: taken, {} after it was inserted", at - inserted)));
    }
    events(context, inserted, message.taken.unwrap_or(inserted), &mut marks);
    ends_stopped_before(context, channel, inserted, &mut marks);
    marks.sort_by_key(|mark| mark.at);
    marks
}

/// Events beside the plan within an interval, each once; what happened often is told once.
fn events(context: &Context<'_>, from: Nanos, to: Nanos, marks: &mut Vec<Mark>) {
    let within = context.phase().events.iter().filter(|event| event.at >= from && event.at <= to);
    let mut told: Vec<(&EventKind, BTreeSet<Nanos>)> = Vec::new();
    for event in within {
        let place = told.iter().position(|(kind, _)| *kind == &event.kind).unwrap_or(told.len());
        if place == told.len() && place < LINES_MAX {
            told.push((&event.kind, BTreeSet::new()));
        }
        if let Some((_, times)) = told.get_mut(place) {
            times.insert(event.at);
        }
    }
    for (kind, times) in told {
        let what = describe(&context.index, kind);
        match (times.first(), times.last()) {
            (Some(first), Some(last)) if times.len() > TIMES_MAX => {
                let count = times.len();
                marks.push(mark(
                    *first,
                    format!("event: {what}, the first of {count} times until {}", from_epoch(*last)),
                ));
            }
            _ => marks.extend(times.into_iter().map(|at| mark(at, format!("event: {what}")))),
        }
    }
}

/// An event in words.
pub(crate) fn describe(index: &Index<'_>, kind: &EventKind) -> String {
    let member = |rank: u16| index.member_name(rank);
    let task = |task: u16| index.task_name(usize::from(task));
    match kind {
        EventKind::PageFault { task: number, address } => {
            format!("page fault of {} at {address:#x}", task(*number))
        }
        EventKind::MemberStopped { member: rank } => format!("member {} stopped", member(*rank)),
        EventKind::MemberContinued { member: rank } => format!("member {} went on", member(*rank)),
        EventKind::MemberDied { member: rank, how } => {
            format!("member {} died ({how})", member(*rank))
        }
        EventKind::CountDamaged { member: rank, event } => {
            let member = member(*rank);
            format!("the count of event \"{event}\" in the memory of member {member} was found damaged")
        }
        EventKind::MemberEnded { member: rank, how } => {
            format!("member {} ended while the run was being ended ({how})", member(*rank))
        }
        EventKind::MemberRestarted { member: rank } => format!("member {} restarted", member(*rank)),
        EventKind::ClockStepped { task: number, by } => {
            format!("the clock moved by {by}, as {} found", task(*number))
        }
        EventKind::EvidenceLost { since, records } => {
            format!(
                "the kernel's log was read again, the first time since {since}; {records} of its records were lost"
            )
        }
        EventKind::EvidenceForgotten { since } => {
            format!("records of the kernel's log from {since} on were more than are remembered")
        }
        EventKind::SchedulingChanged { task: number, since, now, set } => {
            format!("{} found at {now}, set was {set} (last found unchanged at {since})", task(*number))
        }
        EventKind::StopSent { member: rank, by, .. } => {
            format!("{} (pid {}) stopped member {}", by.name, by.process, member(*rank))
        }
        EventKind::Trapped { task: number, by } => {
            format!("{} stopped for {} (pid {}), which traces it", task(*number), by.name, by.process)
        }
        EventKind::Frozen { member: rank, group, by } => {
            format!("{} (pid {}) froze {group}, in which member {} is", by.name, by.process, member(*rank))
        }
        EventKind::PutIntoFrozen { member: rank, group, by } => {
            let member = member(*rank);
            format!("{} (pid {}) put member {member} into {group}, which is frozen", by.name, by.process)
        }
        EventKind::Thawed { member: rank, group } => {
            format!("{group} let member {} go on, or it was put elsewhere", member(*rank))
        }
        EventKind::Woken { task: number, core, by } => {
            let by = by.map_or_else(String::new, |thread| format!(" by thread {thread}"));
            format!("{} was put on the queue of core {core}{by}", task(*number))
        }
        EventKind::QuotaUsedUp { task: number, .. } | EventKind::RealTimeQuota { task: number, .. } => {
            describe_quota(kind, &task(*number))
        }
        EventKind::StopAsked { member: rank, .. }
        | EventKind::RunsFailed { member: rank, .. }
        | EventKind::GaveUp { member: rank, .. } => describe_own_word(kind, &member(*rank)),
        EventKind::NeverEnded { task: number, instance } => {
            format!("instance {instance} of {} began; it never ended", task(*number))
        }
        EventKind::Overrun { task: number, instance } => {
            format!("overrun of {}, instance {instance}, policed", task(*number))
        }
    }
}

/// What a member says of itself, in words.
fn describe_own_word(kind: &EventKind, member: &str) -> String {
    match kind {
        EventKind::StopAsked { since, why, .. } => {
            format!("member {member} had asked for the end {}: {why}", instant(*since))
        }
        EventKind::RunsFailed { what, times, .. } => {
            format!("{what} of member {member} had failed {times} times")
        }
        EventKind::GaveUp { since, why, .. } => {
            format!("member {member} had failed {}: {why}", instant(*since))
        }
        _ => String::new(),
    }
}

/// What a control group allows a task's thread, in words.
fn describe_quota(kind: &EventKind, task: &str) -> String {
    match kind {
        EventKind::QuotaUsedUp { group, since, length, .. } => {
            format!("since {since} the quota of {group}, in which {task} is, was used up for {length}")
        }
        EventKind::RealTimeQuota { group, quota, period, .. } => {
            format!("{task} is in {group}, which may do real-time work for {quota} in {period}")
        }
        _ => String::new(),
    }
}

fn mark(at: Nanos, what: String) -> Mark {
    Mark { at, what }
}

/// `12us after X` or `12us before X`.
fn offset(at: Nanos, reference: Nanos, name: &str) -> String {
    let difference = at - reference;
    match difference.0 {
        0 => format!("at {name}"),
        1.. => format!("{difference} after {name}"),
        _ => format!("{} before {name}", Nanos(difference.0.saturating_neg())),
    }
}
