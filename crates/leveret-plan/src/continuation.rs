//! Channels and tasks that go on from one plan in another: whether each instance finds in the other plan what it would have found in
//! its own.
//!
//! ```text
//!  before  ...|=writer k=|    |=reader k=|.
//!  after                                  |=writer k+1=|    |=reader k+1=|...
//!                                         the switch
//! ```
//! What is declared of them must be the same, each instance must meet the same messages, and whoever goes on must begin after
//! whoever it goes on for has ended, on whatever core. Then nothing is lost, and nothing comes twice.

use crate::words::or_none;
use crate::{Channel, Job, OverrunPolicy, Placement, Plan, PlannedTask, Qos, Sporadic, Start, Task};
use leveret_types::{ByteSize, ChannelId, MemberId, Nanos, TaskId};
use std::fmt;

/// What a mode goes on with, by its own numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// Its channels.
    pub channels: Vec<ChannelId>,
    /// Its tasks.
    pub tasks: Vec<TaskId>,
    /// Its work that events start, beside the time table.
    pub works: Vec<u16>,
}

/// How many instances of each task and each time-driven channel of a plan there were before its epoch, of what goes on over that.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InstancesBefore {
    /// By task; a task that is not here began at the epoch.
    pub tasks: Vec<u64>,
    /// By channel.
    pub channels: Vec<u64>,
}

impl InstancesBefore {
    /// The same of `after`, whose epoch comes so many rounds after that of `before`.
    #[must_use]
    pub fn next(&self, before: (&Job, &Plan), rounds: u64, after: &Job, kept: &Kept) -> Self {
        let mut next = Self { tasks: vec![0; after.tasks.len()], channels: vec![0; after.channels.len()] };
        let sum = |counted: &[u64], index: usize, in_round: Option<usize>| {
            let since = rounds.saturating_mul(in_round.unwrap_or(0) as u64);
            counted.get(index).copied().unwrap_or(0).saturating_add(since)
        };
        for task in &kept.tasks {
            let Some(index) = after.tasks.get(task.index()).and_then(|task| task_like(before.0, task)) else {
                continue;
            };
            let in_round = before.1.tasks.get(index).map(|planned| planned.instances.len());
            next.tasks[task.index()] = sum(&self.tasks, index, in_round);
        }
        for channel in &kept.channels {
            let declared = after.channels.get(channel.index());
            let Some(index) = declared.and_then(|declared| channel_like(before.0, declared)) else {
                continue;
            };
            let in_round = before.1.channels.get(index).map(|planned| planned.instances.len());
            next.channels[channel.index()] = sum(&self.channels, index, in_round);
        }
        next
    }
}

/// What a task or a channel that is kept goes on with.
fn task_like(job: &Job, kept: &Task) -> Option<usize> {
    job.tasks.iter().position(|known| known.name == kept.name && known.member == kept.member)
}

fn channel_like(job: &Job, kept: &Channel) -> Option<usize> {
    job.channels.iter().position(|known| known.name == kept.name && known.group == kept.group)
}

/// Why a channel or a task cannot go on in another plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ContinuationConflict {
    /// There is nothing to go on with.
    Absent {
        /// Such as `task "control"`.
        what: String,
    },
    /// It is declared in another way.
    Altered {
        /// What.
        what: String,
        /// The property that differs.
        property: &'static str,
        /// As it runs.
        before: String,
        /// As the mode has it.
        after: String,
    },
    /// The instances of a task meet other messages of a channel than before.
    OtherMessages {
        /// The channel.
        channel: String,
        /// Who serves it in the mode.
        task: String,
    },
    /// The first instance would begin before the last one has ended.
    Meets {
        /// What.
        what: String,
        /// From the switch to the end of the last instance.
        ends: Nanos,
        /// From the switch to the start of the first.
        starts: Nanos,
    },
    /// The mode would need more buffers than the channel has.
    Buffers {
        /// The channel.
        channel: String,
        /// How many there are.
        has: u32,
        /// How many it would need.
        needs: u32,
    },
}

impl fmt::Display for ContinuationConflict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent { what } => {
                write!(out, "{what} is kept, and is not part of what runs; make it in the mode")
            }
            Self::Altered { what, property, before, after } => write!(
                out,
                "{what} is kept, and its {property} differs: {before} in what runs, {after} in the mode; what is kept stays as it is: \
                 make another for the mode"
            ),
            Self::OtherMessages { channel, task } => write!(
                out,
                "channel \"{channel}\" is kept, and the instances of task \"{task}\" would meet other messages of it than in what \
                 runs, so that one would be lost or come twice; let the windows around it leave as much time as before"
            ),
            Self::Meets { what, ends, starts } => write!(
                out,
                "{what} is kept, and its last instance before the switch ends {ends} after it, while its first one in the mode would \
                 start {starts} after it; let its window end within the period that it begins in"
            ),
            Self::Buffers { channel, has, needs } => write!(
                out,
                "channel \"{channel}\" is kept with its {has} buffers, and would need {needs} around the switch; let the tasks at its \
                 ends have the same windows in both, or declare more buffers"
            ),
        }
    }
}

/// Whether what is kept can go on in `after` at the end of any round of `before`; otherwise all reasons.
///
/// # Errors
/// The reasons, channels first.
pub fn continuation(
    before: (&Job, &Plan),
    after: (&Job, &Plan),
    kept: &Kept,
) -> Result<(), Vec<ContinuationConflict>> {
    let mut conflicts = Vec::new();
    for channel in &kept.channels {
        let Some(declared) = after.0.channels.get(channel.index()) else { continue };
        match channel_like(before.0, declared) {
            Some(index) => channel_goes_on((before, index), (after, channel.index()), &mut conflicts),
            None => conflicts.push(ContinuationConflict::Absent { what: channel_name(declared) }),
        }
    }
    for task in &kept.tasks {
        let Some(declared) = after.0.tasks.get(task.index()) else { continue };
        match task_like(before.0, declared) {
            Some(index) => {
                let what = format!("task \"{}\"", declared.name);
                compare_tasks(&what, (&before.0.tasks[index], declared), &mut conflicts);
                let planned = (&before.1.tasks[index], &after.1.tasks[task.index()]);
                one_after_the_other(&what, planned, before.1.hyperperiod, &mut conflicts);
            }
            None => {
                conflicts.push(ContinuationConflict::Absent { what: format!("task \"{}\"", declared.name) });
            }
        }
    }
    for work in &kept.works {
        let Some(declared) = after.0.sporadics.get(usize::from(*work)) else { continue };
        let mut known = before.0.sporadics.iter();
        let what = format!("task \"{}\"", declared.name);
        match known.find(|known| known.name == declared.name && known.member == declared.member) {
            Some(known) => compare_works(&what, (known, declared), &mut conflicts),
            None => conflicts.push(ContinuationConflict::Absent { what }),
        }
    }
    if conflicts.is_empty() { Ok(()) } else { Err(conflicts) }
}

fn compare_works(
    what: &str,
    (before, after): (&Sporadic, &Sporadic),
    conflicts: &mut Vec<ContinuationConflict>,
) {
    same(what, "start", (&before.start, &after.start), start, conflicts);
    same(what, "priority", (&before.priority, &after.priority), u8::to_string, conflicts);
    let time = |time: &Option<Nanos>| or_none(*time);
    same(what, "interval", (&before.interval, &after.interval), time, conflicts);
    same(what, "deadline", (&before.deadline, &after.deadline), time, conflicts);
    same(what, "budget", (&before.budget, &after.budget), Nanos::to_string, conflicts);
}

/// What starts work that is kept: an event, as transfers are kept with their channels.
fn start(start: &Start) -> String {
    match start {
        Start::Event { group, name } => format!("event \"{name}\" of group \"{group}\""),
        Start::Message(_) => "a message".to_owned(),
        Start::Request(_) => "a request".to_owned(),
    }
}

fn channel_name(channel: &Channel) -> String {
    format!("channel \"{}\"", channel.name)
}

fn same<T: PartialEq>(
    what: &str,
    property: &'static str,
    (before, after): (&T, &T),
    words: impl Fn(&T) -> String,
    conflicts: &mut Vec<ContinuationConflict>,
) {
    if before != after {
        let (before, after) = (words(before), words(after));
        conflicts.push(ContinuationConflict::Altered { what: what.to_owned(), property, before, after });
    }
}

fn compare_tasks(what: &str, (before, after): (&Task, &Task), conflicts: &mut Vec<ContinuationConflict>) {
    same(what, "period", (&before.period, &after.period), Nanos::to_string, conflicts);
    let windows = [before, after].map(|task| (task.release, task.deadline));
    let window = |(release, deadline): &(Nanos, Nanos)| format!("[{release}, {deadline}]");
    same(what, "window", (&windows[0], &windows[1]), window, conflicts);
    same(what, "budget", (&before.budget, &after.budget), Nanos::to_string, conflicts);
    same(what, "overrun policy", (&before.overrun, &after.overrun), OverrunPolicy::to_string, conflicts);
}

/// The first instance of the one begins when the last of the other has ended.
fn one_after_the_other(
    what: &str,
    (before, after): (&PlannedTask, &PlannedTask),
    switch: Nanos,
    conflicts: &mut Vec<ContinuationConflict>,
) {
    let ends = before.instances.iter().map(|instance| instance.end() - switch).max();
    let starts = after.instances.iter().map(|instance| instance.start()).min();
    if let (Some(ends), Some(starts)) = (ends, starts)
        && ends > starts
    {
        conflicts.push(ContinuationConflict::Meets { what: what.to_owned(), ends, starts });
    }
}

/// A task at one end of a channel, and what its instances meet of it.
struct Server<'a> {
    task: &'a Task,
    planned: &'a PlannedTask,
    messages: Vec<i64>,
    transfers: i64,
    hyperperiod: Nanos,
}

impl<'a> Server<'a> {
    fn of((job, plan): (&'a Job, &'a Plan), channel: usize, writes: bool) -> Option<Self> {
        let served = |task: &Task| {
            let ends = if writes { &task.writes } else { &task.reads };
            ends.iter().position(|end| end.index() == channel)
        };
        let (index, place) =
            job.tasks.iter().enumerate().find_map(|(index, task)| Some((index, served(task)?)))?;
        let planned = plan.tasks.get(index)?;
        let of_instance = |instance: &crate::PlannedInstance| {
            if writes { instance.writes.get(place).copied() } else { instance.reads.get(place).copied() }
        };
        Some(Self {
            task: &job.tasks[index],
            planned,
            messages: planned.instances.iter().map(of_instance).collect::<Option<_>>()?,
            transfers: plan.channels.get(channel)?.instances.len() as i64,
            hyperperiod: plan.hyperperiod,
        })
    }

    /// Which message instance `number` meets, counted as its own round 0 does.
    fn message(&self, number: usize) -> i64 {
        let count = self.messages.len().max(1);
        self.messages[number % count] + (number / count) as i64 * self.transfers
    }

    fn start(&self, number: usize) -> Nanos {
        let count = self.planned.instances.len().max(1);
        let round = self.hyperperiod.saturating_mul((number / count) as i64);
        self.planned.instances[number % count].start() + round
    }
}

fn channel_goes_on(
    ((job_before, plan_before), old): ((&Job, &Plan), usize),
    ((job_after, plan_after), new): ((&Job, &Plan), usize),
    conflicts: &mut Vec<ContinuationConflict>,
) {
    let (before, after) = (&job_before.channels[old], &job_after.channels[new]);
    let what = channel_name(after);
    let member = |member: &MemberId| {
        let known = job_after.members.get(member.index());
        known.map_or_else(|| member.to_string(), |known| format!("\"{}\"", known.name))
    };
    same(&what, "source", (&before.source, &after.source), member, conflicts);
    same(&what, "target", (&before.target, &after.target), member, conflicts);
    same(&what, "size", (&before.size, &after.size), ByteSize::to_string, conflicts);
    same(&what, "placement", (&before.placement, &after.placement), Placement::to_string, conflicts);
    same(&what, "quality of service", (&before.qos, &after.qos), Qos::to_string, conflicts);
    if !after.qos.is_time_driven() {
        return;
    }
    let servers = |writes| {
        let before = Server::of((job_before, plan_before), old, writes);
        (before, Server::of((job_after, plan_after), new, writes))
    };
    for (writes, property) in
        [(true, "task that serves its sending end"), (false, "task that serves its receiving end")]
    {
        match servers(writes) {
            (Some(before), Some(after)) => {
                let rounds = before.messages.len().max(after.messages.len());
                let same_messages = (0..rounds).all(|k| before.message(k) == after.message(k));
                if before.task.period != after.task.period || !same_messages {
                    conflicts.push(ContinuationConflict::OtherMessages {
                        channel: job_after.channels[new].name.clone(),
                        task: after.task.name.clone(),
                    });
                }
                one_after_the_other(&what, (before.planned, after.planned), before.hyperperiod, conflicts);
            }
            (None, None) => {}
            (before, after) => {
                let name = |server: Option<Server<'_>>| {
                    server.map_or("none".to_owned(), |server| format!("\"{}\"", server.task.name))
                };
                let (before, after) = (name(before), name(after));
                conflicts.push(ContinuationConflict::Altered { what: what.clone(), property, before, after });
            }
        }
    }
    let has = plan_before.channels.get(old).map_or(0, |planned| planned.buffers);
    let needs = plan_after.channels.get(new).map_or(0, |planned| planned.buffers);
    // The one that writes in the mode may be earlier in its period than the one before, and the last reader later.
    let is_in_the_way = match (servers(false).0, servers(true).1) {
        (Some(reader), Some(writer)) => is_in_the_way(&reader, &writer, i64::from(has)),
        _ => false,
    };
    if needs > has || is_in_the_way {
        let needs = needs.max(has.saturating_add(u32::from(is_in_the_way)));
        conflicts.push(ContinuationConflict::Buffers { channel: after.name.clone(), has, needs });
    }
}

/// Whether a writer of the plan after would begin to fill a buffer that a reader of the plan before still has.
fn is_in_the_way(reader: &Server<'_>, writer: &Server<'_>, buffers: i64) -> bool {
    let ahead = writer.message(0);
    (0..reader.messages.len()).any(|last| {
        let message = reader.message(last) - reader.transfers;
        let ends = reader.planned.instances[last].end() - reader.hyperperiod;
        let filled_by = usize::try_from(message + buffers - ahead);
        filled_by.is_ok_and(|number| writer.start(number) < ends)
    })
}
