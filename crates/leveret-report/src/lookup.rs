//! Finding things in a phase: the record of an instance, the writer and the reader of a message, the core of a task.
//!
//! Records may be incomplete or foreign, so every look-up may fail and none panics.

use crate::record::{EventKind, InstanceRecord, MessageRecord, Phase};
use leveret_plan::Qos;
use leveret_types::Nanos;
use std::cmp::Reverse;
use std::collections::HashMap;

/// A phase with its cross references.
pub(crate) struct Index<'a> {
    /// What is indexed.
    pub phase: &'a Phase,
    writers: HashMap<(usize, u64), Access>,
    readers: HashMap<(usize, u64), Access>,
    last_readers: HashMap<(usize, u64), Access>,
    /// By task.
    unended: HashMap<usize, (u64, Nanos)>,
}

/// Which planned instance of which task accesses a channel instance; `rounds` is how many hyperperiods the
/// channel instance lies after the task instance.
#[derive(Clone, Copy)]
struct Access {
    task: usize,
    position: u64,
    rounds: i64,
}

impl Access {
    /// A message of an earlier round is read later in the task's own count.
    fn place(self) -> (Reverse<i64>, u64) {
        (Reverse(self.rounds), self.position)
    }

    fn min_by_time(self, other: Self) -> Self {
        if other.place() < self.place() { other } else { self }
    }

    fn max_by_time(self, other: Self) -> Self {
        if other.place() > self.place() { other } else { self }
    }
}

impl<'a> Index<'a> {
    pub fn new(phase: &'a Phase) -> Self {
        let (mut writers, mut readers) = (HashMap::new(), HashMap::new());
        let mut last_readers: HashMap<(usize, u64), Access> = HashMap::new();
        for (task, planned) in phase.plan.tasks.iter().enumerate() {
            let Some(model) = phase.job.tasks.get(task) else { continue };
            for (position, instance) in planned.instances.iter().enumerate() {
                let ends = [
                    (&mut writers, &model.writes, &instance.writes),
                    (&mut readers, &model.reads, &instance.reads),
                ];
                for (map, channels, numbers) in ends {
                    for (channel, number) in channels.iter().zip(numbers) {
                        let channel = channel.index();
                        let count = per_round(phase.plan.channels.get(channel).map(|c| c.instances.len()));
                        let access =
                            Access { task, position: position as u64, rounds: number.div_euclid(count) };
                        let key = (channel, number.rem_euclid(count) as u64);
                        // A reader that is faster than the channel reads a message several times.
                        let first = map.entry(key).or_insert(access);
                        *first = (*first).min_by_time(access);
                        if channels == &model.reads {
                            let last = last_readers.entry(key).or_insert(access);
                            *last = (*last).max_by_time(access);
                        }
                    }
                }
            }
        }
        let unended = phase.events.iter().filter_map(|event| match event.kind {
            EventKind::NeverEnded { task, instance } => Some((usize::from(task), (instance, event.at))),
            _ => None,
        });
        Self { phase, writers, readers, last_readers, unended: unended.collect() }
    }

    /// Position and record of a task's instance.
    pub fn instance(&self, task: usize, instance: u64) -> Option<(usize, &'a InstanceRecord)> {
        let instances = &self.phase.tasks.get(task)?.instances;
        let position = instances.binary_search_by_key(&instance, |record| record.instance).ok()?;
        Some((position, &instances[position]))
    }

    /// The record of a message.
    pub fn message(&self, channel: usize, instance: u64) -> Option<&'a MessageRecord> {
        let messages = &self.phase.channels.get(channel)?.messages;
        let position = messages.binary_search_by_key(&instance, |record| record.instance).ok()?;
        Some(&messages[position])
    }

    /// The task instance that fills a channel instance.
    pub fn writer(&self, channel: usize, instance: u64) -> Option<(usize, u64)> {
        self.access(&self.writers, channel, instance)
    }

    /// The task instance that has a channel instance last, and so gives its buffer back.
    pub fn last_reader(&self, channel: usize, instance: u64) -> Option<(usize, u64)> {
        self.access(&self.last_readers, channel, instance)
    }

    /// The task instance that takes a channel instance; the first, where several read it.
    pub fn reader(&self, channel: usize, instance: u64) -> Option<(usize, u64)> {
        self.access(&self.readers, channel, instance)
    }

    /// The channel instance that a task instance is planned to see.
    pub fn read_by(&self, task: usize, instance: u64, channel: usize) -> Option<u64> {
        let instance = instance.checked_sub(self.first_of_task(task))?;
        let planned = self.phase.plan.tasks.get(task)?;
        let place = self.phase.job.tasks.get(task)?.reads.iter().position(|id| id.index() == channel)?;
        let count = per_round(Some(planned.instances.len())) as u64;
        let within = planned.instances.get(usize::try_from(instance % count).ok()?)?.reads.get(place)?;
        let per_round = per_round(self.phase.plan.channels.get(channel).map(|c| c.instances.len())) as u64;
        let before = i64::try_from((instance / count).checked_mul(per_round)?).ok()?;
        let since = u64::try_from(within.checked_add(before)?).ok()?;
        since.checked_add(self.first_of_channel(channel))
    }

    /// The number of the first instance of a task in this phase.
    pub fn first_of_task(&self, task: usize) -> u64 {
        self.phase.tasks.get(task).map_or(0, |record| record.before)
    }

    /// The number of the first instance of a channel in this phase.
    pub fn first_of_channel(&self, channel: usize) -> u64 {
        self.phase.channels.get(channel).map_or(0, |record| record.before)
    }

    fn access(
        &self,
        map: &HashMap<(usize, u64), Access>,
        channel: usize,
        instance: u64,
    ) -> Option<(usize, u64)> {
        let instance = instance.checked_sub(self.first_of_channel(channel))?;
        let count = per_round(self.phase.plan.channels.get(channel).map(|c| c.instances.len())) as u64;
        let access = map.get(&(channel, instance % count))?;
        let tasks = per_round(self.phase.plan.tasks.get(access.task).map(|t| t.instances.len())) as u64;
        let round = i64::try_from(instance / count).ok()?.checked_sub(access.rounds)?;
        let first = u64::try_from(round).ok()?.checked_mul(tasks)?;
        let since = first.checked_add(access.position)?;
        Some((access.task, since.checked_add(self.first_of_task(access.task))?))
    }

    /// The processor a task runs on.
    pub fn core(&self, task: usize) -> Option<u32> {
        self.phase.plan.tasks.get(task).map(|planned| planned.core)
    }

    /// The rank of a task's member.
    pub fn member(&self, task: usize) -> Option<u16> {
        self.phase.job.tasks.get(task).map(|model| model.member.0)
    }

    /// By when a task's instance was to have ended, by the plan.
    pub fn deadline(&self, task: usize, instance: u64) -> Nanos {
        let number = instance.saturating_sub(self.first_of_task(task));
        let Some(model) = self.phase.job.tasks.get(task) else { return Nanos::ZERO };
        let periods = model.period.saturating_mul(i64::try_from(number).unwrap_or(i64::MAX));
        periods.saturating_add(model.deadline)
    }

    /// A task's name, or its number when the model does not know it.
    pub fn task_name(&self, task: usize) -> String {
        self.phase.job.tasks.get(task).map_or_else(|| format!("task{task}"), |model| model.name.clone())
    }

    /// A channel's name, or its number when the model does not know it.
    pub fn channel_name(&self, channel: usize) -> String {
        self.phase.job.channels.get(channel).map_or_else(|| format!("channel{channel}"), |c| c.name.clone())
    }

    /// Whether the clock moves a channel, so that its messages have windows.
    pub fn is_time_driven(&self, channel: usize) -> bool {
        let model = self.phase.job.channels.get(channel);
        model.is_some_and(|model| matches!(model.qos, Qos::TimeDriven { .. }))
    }

    /// A member's name, or its rank.
    pub fn member_name(&self, rank: u16) -> String {
        self.phase
            .job
            .members
            .get(usize::from(rank))
            .map_or_else(|| format!("member{rank}"), |m| m.name.clone())
    }

    /// The budget of a task.
    pub fn budget(&self, task: usize) -> Nanos {
        self.phase.job.tasks.get(task).map_or(Nanos::MAX, |model| model.budget)
    }

    /// When the task woke after this instance; never, if it has no later one.
    pub fn idle_until(&self, task: usize, instance: u64) -> Nanos {
        let instances = self.phase.tasks.get(task).map_or(&[][..], |record| &record.instances);
        let next = instances.partition_point(|record| record.instance <= instance);
        instances.get(next).map_or(Nanos::MAX, |record| record.woken)
    }

    /// The instance of a task that began and never ended, and when it began.
    pub fn unended(&self, task: usize) -> Option<(u64, Nanos)> {
        self.unended.get(&task).copied()
    }

    /// The task instance whose body encloses or last began before `at`.
    pub fn running_at(&self, task: usize, at: Nanos) -> Option<(usize, &'a InstanceRecord)> {
        let instances = &self.phase.tasks.get(task)?.instances;
        let position = instances.partition_point(|record| record.woken <= at).checked_sub(1)?;
        instances.get(position).map(|record| (position, record))
    }
}

/// Instances in one hyperperiod, at least one so that it can divide.
fn per_round(count: Option<usize>) -> i64 {
    i64::try_from(count.unwrap_or(1)).unwrap_or(i64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{Ring, ring};

    /// A reader twice as fast as its channel: each message has a first and a last reader.
    #[test]
    fn a_fast_reader_takes_a_message_first_and_holds_it_last() {
        let mut record = ring(&Ring { rounds: 40, ..Ring::default() });
        let phase = &mut record.phases[0];
        let task = phase.job.tasks.iter().position(|task| !task.reads.is_empty()).expect("a reader");
        let channel = phase.job.tasks[task].reads[0].index();
        let planned = &mut phase.plan.tasks[task].instances;
        let mut again = planned[0].clone();
        planned[0].reads = vec![0];
        planned[0].writes.clear();
        again.reads = vec![0];
        planned.push(again);
        let index = Index::new(phase);
        assert_eq!(index.reader(channel, 10), Some((task, 20)));
        assert_eq!(index.last_reader(channel, 10), Some((task, 21)));
    }
}
