//! Sporadic work by itself and against the channel that starts it.

use super::{Errors, channel_words, member_words};
use crate::words;
use crate::{Channel, CoreChoice, Job, PRIORITY_LEVELS_MAX, PRIORITY_MAX, Qos, Sporadic, Start};
use leveret_types::{NAME_BYTES_MAX, Nanos, TASKS_MAX};
use std::collections::BTreeSet;

impl Errors {
    pub(super) fn sporadics(&mut self, job: &Job) {
        let count = job.tasks.len() + job.sporadics.len();
        let object = format!("job `{}`", job.name.escape_debug().take(NAME_BYTES_MAX).collect::<String>());
        if !job.sporadics.is_empty() && count > TASKS_MAX {
            self.add(
                &object,
                format!("has {count} tasks, those that serve channels included"),
                format!("split it into jobs of at most {TASKS_MAX}"),
            );
        }
        let levels: BTreeSet<u8> = job.sporadics.iter().map(|sporadic| sporadic.priority).collect();
        if levels.len() > PRIORITY_LEVELS_MAX {
            self.add(
                &object,
                format!("has {} different priorities", levels.len()),
                format!("use at most {PRIORITY_LEVELS_MAX}: the kernel has no more below the table's"),
            );
        }
        if job.cores.is_empty() && !job.sporadics.is_empty() && job.tasks.is_empty() {
            self.add(
                &object,
                "has work at a priority but no cores",
                "list the cores it may use, such as cores = [0, 1]",
            );
        }
        for sporadic in &job.sporadics {
            self.sporadic(job, sporadic);
        }
        for (index, channel) in job.channels.iter().enumerate() {
            self.served(job, index, channel);
        }
    }

    fn sporadic(&mut self, job: &Job, sporadic: &Sporadic) {
        let object = format!("task `{}`", sporadic.name);
        if sporadic.member.index() >= job.members.len() {
            self.add(
                &object,
                format!("belongs to {}, which does not exist", sporadic.member),
                "name a declared member",
            );
        }
        if let CoreChoice::Pinned(core) = sporadic.core
            && !job.cores.contains(&core)
        {
            self.add(
                &object,
                format!(
                    "is pinned to core {core}, which is not among the job's {}",
                    words::cores(&job.cores)
                ),
                "pin it to one of them, or add the core to the job",
            );
        }
        if sporadic.priority == 0 || sporadic.priority > PRIORITY_MAX {
            self.add(
                &object,
                format!("has the priority {}", sporadic.priority),
                format!("give it a priority from 1 to {PRIORITY_MAX}; higher is more urgent"),
            );
        }
        if sporadic.budget < Nanos::ZERO {
            self.add(
                &object,
                format!("has a budget of {}", sporadic.budget),
                "give it a budget of 0 or more",
            );
        }
        self.too_long(&object, "budget", sporadic.budget);
        self.times(&object, sporadic);
        if let Start::Message(id) | Start::Request(id) = sporadic.start {
            self.started_by(job, sporadic, &object, id.index());
        }
    }

    fn times(&mut self, object: &str, sporadic: &Sporadic) {
        for (name, time) in [("interval", sporadic.interval), ("deadline", sporadic.deadline)] {
            let Some(time) = time else { continue };
            if time <= Nanos::ZERO {
                self.add(object, format!("has {name} {time}"), format!("give it {name} above 0"));
            }
            self.too_long(object, name, time);
        }
        if let (Some(deadline), None) = (sporadic.deadline, sporadic.interval) {
            self.add(
                object,
                format!(
                    "is promised an end within {deadline}, but says nothing of how often it may be started"
                ),
                "give it its smallest interval, or take the deadline away",
            );
        }
    }

    fn started_by(&mut self, job: &Job, sporadic: &Sporadic, object: &str, index: usize) {
        let Some(channel) = job.channels.get(index) else {
            self.add(object, "is started by a channel that does not exist", "name a declared channel");
            return;
        };
        let name = channel_words(channel);
        let (end, verb) = match sporadic.start {
            Start::Request(_) => (channel.source, "comes from"),
            _ => (channel.target, "goes to"),
        };
        if end != sporadic.member {
            self.add(
                object,
                format!(
                    "of {} is started by {name}, which {verb} {}",
                    member_words(job, sporadic.member),
                    member_words(job, end)
                ),
                "only the member at that end of a channel may use it",
            );
        }
        let Some((priority, interval, deadline)) = channel.qos.service() else {
            self.add(
                object,
                format!("is started by {name}, which is {}", kind_words(&channel.qos)),
                "make the channel priority-driven or event-driven",
            );
            return;
        };
        if (priority, interval, deadline) != (sporadic.priority, sporadic.interval, sporadic.deadline) {
            self.add(
                object,
                format!("and {name}, which starts it, differ in priority, interval or deadline"),
                "make them equal",
            );
        }
    }

    /// A channel that is moved beside the table is served by exactly one work, and read by no task of the table.
    fn served(&mut self, job: &Job, index: usize, channel: &Channel) {
        let name = channel_words(channel);
        let by = |sporadic: &&Sporadic| matches!(sporadic.start, Start::Message(id) if id.index() == index);
        let servers: Vec<&Sporadic> = job.sporadics.iter().filter(by).collect();
        let asked =
            |sporadic: &&Sporadic| matches!(sporadic.start, Start::Request(id) if id.index() == index);
        let senders: Vec<&Sporadic> = job.sporadics.iter().filter(asked).collect();
        if let [first, second, ..] = senders[..] {
            self.add(
                &name,
                format!("is sent on by both `{}` and `{}`", first.name, second.name),
                "let one of them serve its source",
            );
        }
        match servers[..] {
            [] if channel.qos.service().is_some() => self.add(
                &name,
                format!("is {} but nothing serves it", kind_words(&channel.qos)),
                "let a task of its target be started by it",
            ),
            [first, second, ..] => self.add(
                &name,
                format!("starts both `{}` and `{}`", first.name, second.name),
                "let it start one task, or declare a channel for each",
            ),
            _ => {}
        }
        let reads = |task: &&crate::Task| task.reads.iter().any(|id| id.index() == index);
        if let (Some(_), Some(task)) = (channel.qos.service(), job.tasks.iter().find(reads)) {
            self.add(
                format!("task `{}`", task.name),
                format!("has a period but reads {name}, which is {}", kind_words(&channel.qos)),
                "let the task be started by the channel, or give the channel a period",
            );
        }
    }
}

pub(super) fn kind_words(qos: &Qos) -> &'static str {
    match qos {
        Qos::TimeDriven { .. } => "time-driven",
        Qos::BestEffort => "best effort",
        Qos::PriorityDriven { .. } => "priority-driven",
        Qos::EventDriven { .. } => "event-driven",
    }
}
