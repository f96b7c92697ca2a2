//! Time tables as files: what runs when on each core, and what it reads and writes.

use crate::plain::table;
use leveret_plan::system::{System, SystemPlan, parts, port_shifts};
use leveret_plan::{Job, NO_INSTANCE, Plan};
use leveret_types::{ChannelId, Nanos};
use serde_json::{Value, json};

/// One line for each stretch of an instance, ordered by core, then by start: core, task, instance, which stretch of it, start and end in ns from the
/// start of the hyperperiod, and the order (a task interrupts only those of a lower one). With the first stretch stand the messages that are read, with
/// the last those that are written, as `channel#message@ns` with a blank between them: the instant at which the message is visible, or by which it must be
/// inserted. A message below 0 is of the round before.
pub fn write(job: &Job, plan: &Plan) -> String {
    table(COLUMNS, stretches(job, plan, &|_| 0).iter().map(Stretch::cells))
}

/// The same for programs.
pub fn write_json(job: &Job, plan: &Plan) -> String {
    let stretches = stretches(job, plan, &|_| 0);
    let stretches: Vec<Value> = stretches.iter().map(Stretch::value).collect();
    pretty(&json!({ "job": job.name, "hyperperiod_ns": plan.hyperperiod.0, "table": stretches }))
}

/// The same for the hosts of a system, whose names stand in front. Each host's table repeats after its own hyperperiod. Messages between hosts have the numbers
/// and, at the source, the instants of the channel between them.
pub fn write_system(system: &System, plan: &SystemPlan) -> String {
    let columns: [&str; 10] =
        std::array::from_fn(|index| if index == 0 { "host" } else { COLUMNS[index - 1] });
    let hosts = of_hosts(system, plan);
    let rows = hosts.iter().flat_map(|(host, _, stretches)| {
        stretches.iter().map(move |stretch| {
            let cells = stretch.cells();
            std::array::from_fn(|index| if index == 0 { host.clone() } else { cells[index - 1].clone() })
        })
    });
    table(columns, rows)
}

/// The same for programs.
pub fn write_system_json(system: &System, plan: &SystemPlan) -> String {
    let hosts = of_hosts(system, plan).into_iter().map(|(host, round, stretches)| {
        let stretches: Vec<Value> = stretches.iter().map(Stretch::value).collect();
        json!({ "host": host, "hyperperiod_ns": round.0, "table": stretches })
    });
    pretty(&json!({ "system": system.name, "hosts": hosts.collect::<Vec<_>>() }))
}

const COLUMNS: [&str; 9] =
    ["core", "task", "instance", "part", "start_ns", "end_ns", "order", "reads", "writes"];

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// A stretch of an instance.
struct Stretch {
    core: u32,
    task: String,
    instance: usize,
    part: usize,
    start: Nanos,
    end: Nanos,
    order: u16,
    reads: Vec<Message>,
    writes: Vec<Message>,
}

/// A message, and when it is visible or must be inserted.
struct Message {
    channel: String,
    number: i64,
    at: Nanos,
}

impl Stretch {
    fn cells(&self) -> [String; 9] {
        let messages = |all: &[Message]| {
            let words: Vec<_> =
                all.iter().map(|one| format!("{}#{}@{}", one.channel, one.number, one.at.0)).collect();
            words.join(" ")
        };
        [
            self.core.to_string(),
            self.task.clone(),
            self.instance.to_string(),
            self.part.to_string(),
            self.start.0.to_string(),
            self.end.0.to_string(),
            self.order.to_string(),
            messages(&self.reads),
            messages(&self.writes),
        ]
    }

    fn value(&self) -> Value {
        let messages = |all: &[Message], at: &str| -> Vec<Value> {
            let one = |one: &Message| json!({ "channel": one.channel, "message": one.number, at: one.at.0 });
            all.iter().map(one).collect()
        };
        json!({
            "core": self.core,
            "task": self.task,
            "instance": self.instance,
            "part": self.part,
            "start_ns": self.start.0,
            "end_ns": self.end.0,
            "order": self.order,
            "reads": messages(&self.reads, "visible_ns"),
            "writes": messages(&self.writes, "insert_by_ns"),
        })
    }
}

/// By host: its name, its hyperperiod and its table.
fn of_hosts(system: &System, plan: &SystemPlan) -> Vec<(String, Nanos, Vec<Stretch>)> {
    let jobs = parts(system, &plan.windows).jobs;
    let each = jobs.iter().zip(&plan.hosts).enumerate();
    each.map(|(host, (job, own))| {
        let mut shifts = vec![0; job.channels.len()];
        for (crossing, window) in system.crossings.iter().zip(&plan.windows) {
            let found = port_shifts(system, crossing, *window);
            let ports = crossing.targets.iter().zip(found.targets);
            for (port, shift) in ports.chain([(&crossing.source, found.source)]) {
                if usize::from(port.host) == host {
                    shifts[port.channel.index()] = shift;
                }
            }
        }
        let stretches = stretches(job, own, &|id| shifts[id.index()]);
        (system.host_name(host as u16).to_owned(), own.hyperperiod, stretches)
    })
    .collect()
}

/// By core, then by start; `shift` is what the numbers of a channel's messages are too small by.
fn stretches(job: &Job, plan: &Plan, shift: &dyn Fn(ChannelId) -> i64) -> Vec<Stretch> {
    let mut all = Vec::new();
    for planned in &plan.tasks {
        let task = &job.tasks[planned.task.index()];
        for (number, instance) in planned.instances.iter().enumerate() {
            let count = instance.segments.len();
            for (part, segment) in instance.segments.iter().enumerate() {
                let ends = |ends: &[ChannelId], numbers: &[i64], is_here: bool, reads: bool| {
                    if is_here { messages(job, plan, ends, numbers, reads, shift) } else { Vec::new() }
                };
                all.push(Stretch {
                    core: planned.core,
                    task: task.name.clone(),
                    instance: number,
                    part,
                    start: segment.start,
                    end: segment.end,
                    order: planned.order,
                    reads: ends(&task.reads, &instance.reads, part == 0, true),
                    writes: ends(&task.writes, &instance.writes, part + 1 == count, false),
                });
            }
        }
    }
    // Tasks stand in the order of the model, and the sort is stable.
    all.sort_by_key(|stretch| (stretch.core, stretch.start));
    all
}

/// Messages of channels that the clock moves; others have no instants.
fn messages(
    job: &Job,
    plan: &Plan,
    ends: &[ChannelId],
    numbers: &[i64],
    reads: bool,
    shift: &dyn Fn(ChannelId) -> i64,
) -> Vec<Message> {
    let each = ends.iter().zip(numbers).filter(|(_, number)| **number != NO_INSTANCE);
    each.filter_map(|(id, number)| {
        let transfers = &plan.channels[id.index()].instances;
        let count = i64::try_from(transfers.len()).ok().filter(|count| *count > 0)?;
        let transfer = transfers[number.rem_euclid(count) as usize];
        let round = plan.hyperperiod.saturating_mul(number.div_euclid(count));
        let at = if reads { transfer.visible_at } else { transfer.insert_by };
        let channel = job.channels[id.index()].name.clone();
        Some(Message { channel, number: number + shift(*id), at: at + round })
    })
    .collect()
}
