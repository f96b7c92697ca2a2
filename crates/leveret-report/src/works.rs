//! Work beside the time table: what the record has of it, and what it has not.

use crate::record::{ChannelRecord, Phase};
use crate::statistics::Summary;
use leveret_plan::{Qos, Sporadic, Start};
use leveret_types::{ChannelId, Nanos};
use serde::Serialize;

/// Which messages of a channel that the clock does not move are recorded; of a time-driven one all are.
pub(crate) const RECORDED: &str =
    "of a channel that the clock does not move the first message and every 64th after it is recorded";

/// What is said where there is work beside the table.
pub const NOTE: &str = "Work beside the table leaves no record of its own. Runs for a channel are those that the channel's ends counted; \
     times are from insertion to taking, of the messages that are recorded: the first and every 64th after it. They stand in the receiver's row, \
     and not where an event starts the transfers, since the instant of a firing is not recorded. Work that an event starts is \
     counted in the program alone: MPIRTX_Task_get_metrics and MPIRTX_Handler_get_metrics (Committed::task_metrics, handler_metrics) give its \
     runs, times and misses. Work with a period has every instance here.";

/// What one work at a priority did, as far as it is recorded.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct WorkStatistics {
    /// Its name.
    pub name: String,
    /// Its member's name.
    pub member: String,
    /// Its processor.
    pub core: u32,
    /// Higher is more urgent.
    pub priority: u8,
    /// What starts it, in words.
    pub start: String,
    /// Least distance between two arrivals.
    pub interval_ns: Option<Nanos>,
    /// From an arrival to the end of its run.
    pub deadline_ns: Option<Nanos>,
    /// Its budget.
    pub budget_ns: Nanos,
    /// The plan's bound, from an arrival to the end. None where none is promised.
    pub response_bound_ns: Option<Nanos>,
    /// How often it ran, as the end of its channel counted. None: not recorded.
    pub runs: Option<u64>,
    /// Of how many of these runs the message is recorded. None: of work that an event starts.
    pub recorded: Option<u64>,
    /// From insertion to taking, of the messages that were recorded, in the receiver's row. Of work that an event starts, and of a
    /// channel that one starts, nothing: the firing's instant is not recorded.
    pub took_ns: Summary,
    /// Of those, the ones that took longer than the deadline. None: there is none, or no time was recorded.
    pub beyond_deadline: Option<u64>,
}

/// Every work of a phase, in the model's order.
pub(crate) fn works(phase: &Phase) -> Vec<WorkStatistics> {
    phase.job.sporadics.iter().enumerate().map(|(index, work)| of_work(phase, index, work)).collect()
}

fn of_work(phase: &Phase, index: usize, work: &Sporadic) -> WorkStatistics {
    let planned = phase.plan.sporadics.iter().find(|planned| usize::from(planned.sporadic) == index);
    let channel = |id: ChannelId| {
        let name = phase.job.channels.get(id.index()).map_or("?", |channel| &channel.name);
        (name, phase.channels.get(id.index()))
    };
    let (start, runs, record) = match &work.start {
        Start::Message(id) => {
            let (name, record) = channel(*id);
            (format!("each message of {name}"), record.and_then(|record| record.taken), record)
        }
        Start::Request(id) => {
            let (name, record) = channel(*id);
            let start = match phase.job.channels.get(id.index()).and_then(|channel| start_event(&channel.qos))
            {
                Some(event) => format!("each firing of {event}"),
                None => format!("each request on {name}"),
            };
            (start, record.and_then(|record| record.sent), record)
        }
        Start::Event { name, .. } => (format!("each firing of {name}"), None, None),
    };
    let timed = match &work.start {
        Start::Message(id) => record.filter(|_| {
            phase.job.channels.get(id.index()).is_some_and(|channel| starts_at_insertion(&channel.qos))
        }),
        _ => None,
    };
    let took: Vec<i64> = timed.map(took).unwrap_or_default();
    let beyond = |deadline: Nanos| took.iter().filter(|took| **took > deadline.0).count() as u64;
    WorkStatistics {
        name: work.name.clone(),
        member: phase
            .job
            .members
            .get(work.member.index())
            .map_or_else(String::new, |member| member.name.clone()),
        core: planned.map_or(u32::MAX, |planned| planned.core),
        priority: work.priority,
        start,
        interval_ns: work.interval,
        deadline_ns: work.deadline,
        budget_ns: work.budget,
        response_bound_ns: planned.map(|planned| planned.response_bound).filter(|bound| *bound < Nanos::MAX),
        runs,
        recorded: record.map(|record| record.messages.len() as u64),
        beyond_deadline: work.deadline.filter(|_| !took.is_empty()).map(beyond),
        took_ns: Summary::of(took),
    }
}

/// The event whose firings start the transfers of a channel.
fn start_event(qos: &Qos) -> Option<&str> {
    match qos {
        Qos::EventDriven { start, .. } => start.as_deref(),
        _ => None,
    }
}

/// Whether a transfer is asked for when its message is inserted: an event's firing can come much later.
fn starts_at_insertion(qos: &Qos) -> bool {
    match qos {
        Qos::PriorityDriven { .. } => true,
        Qos::EventDriven { start, .. } => start.is_none(),
        _ => false,
    }
}

fn took(record: &ChannelRecord) -> Vec<i64> {
    record.messages.iter().filter_map(|message| Some((message.taken? - message.inserted?).0)).collect()
}

/// How many of the recorded transfers took longer than their deadline, of how many; `None` where none has one.
pub(crate) fn beyond_deadlines<'a>(works: impl Iterator<Item = &'a WorkStatistics>) -> Option<(u64, u64)> {
    let counted = works.filter_map(|work| Some((work.beyond_deadline?, work.took_ns.count)));
    counted.fold(None, |sum, (beyond, of)| {
        let (beyond_before, of_before) = sum.unwrap_or((0, 0));
        Some((beyond_before + beyond, of_before + of))
    })
}
