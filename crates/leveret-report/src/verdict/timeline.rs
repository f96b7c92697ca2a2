//! What happened when to one instance, in words, for people.

use super::{Context, Mark};
use crate::lookup::Index;
use crate::record::{EventKind, InstanceRecord, MessageRecord, Outcome};
use leveret_types::Nanos;

/// Most switches that a timeline shows.
const SWITCHES_MAX: usize = 24;

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
    let switches = context.log.within(core, due, until);
    let hidden = switches.len().saturating_sub(SWITCHES_MAX);
    for (at, who) in switches.into_iter().take(SWITCHES_MAX) {
        marks.push(mark(at, format!("core {core}: to {}", who.describe())));
    }
    if hidden > 0 {
        marks.push(mark(until, format!("core {core}: {hidden} more switches not shown")));
    }
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
        Outcome::SkippedCritical => {
            marks.push(mark(record.woken, "skipped: too little of its window was left".to_owned()));
        }
        Outcome::SkippedOverrun => {
            marks.push(mark(record.woken, "skipped: the instance before it overran".to_owned()));
        }
    }
}

/// The timeline of a message.
pub(super) fn of_message(context: &Context<'_>, channel: usize, message: &MessageRecord) -> Vec<Mark> {
    if !context.index.is_time_driven(channel) {
        return unplanned(context, message);
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
        let start = offset(record.started, record.planned, "its planned start");
        marks.push(mark(record.started, format!("measured: {name}: start {start}")));
        let end = offset(record.ended, record.deadline, "its window's end");
        marks.push(mark(record.ended, format!("measured: {name}: end {end}")));
    }
    let from = marks.iter().map(|mark| mark.at).min().unwrap_or_default();
    let to = marks.iter().map(|mark| mark.at).max().unwrap_or_default();
    events(context, from, to, &mut marks);
    marks.sort_by_key(|mark| mark.at);
    marks
}

/// The same of a message for which nothing was planned: it is visible when it was inserted.
fn unplanned(context: &Context<'_>, message: &MessageRecord) -> Vec<Mark> {
    let inserted = message.inserted.unwrap_or(message.due);
    let mut marks = vec![mark(inserted, format!("measured: inserted ({} bytes)", message.size))];
    if let Some(at) = message.taken {
        marks.push(mark(at, format!("measured: taken, {} after it was inserted", at - inserted)));
    }
    events(context, inserted, message.taken.unwrap_or(inserted), &mut marks);
    marks.sort_by_key(|mark| mark.at);
    marks
}

/// Events beside the plan within an interval, each once.
fn events(context: &Context<'_>, from: Nanos, to: Nanos, marks: &mut Vec<Mark>) {
    let within = context.phase().events.iter().filter(|event| event.at >= from && event.at <= to);
    for event in within.take(SWITCHES_MAX) {
        let happened = mark(event.at, format!("event: {}", describe(&context.index, &event.kind)));
        if !marks.contains(&happened) {
            marks.push(happened);
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
        EventKind::MemberRestarted { member: rank } => format!("member {} restarted", member(*rank)),
        EventKind::ClockStepped { by } => format!("the clock moved by {by}"),
        EventKind::EvidenceLost { since, records } => {
            format!(
                "the kernel's log was read again, the first time since {since}; {records} of its records were lost"
            )
        }
        EventKind::SchedulingChanged { task: number, since, now, set } => {
            format!("{} found at {now}, set was {set} (last found unchanged at {since})", task(*number))
        }
        EventKind::Overrun { task: number, instance } => {
            format!("overrun of {}, instance {instance}, policed", task(*number))
        }
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
