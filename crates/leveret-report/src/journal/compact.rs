//! A shorter journal that says the same.

use super::{Chunk, Grown, Growth, number_of_instance, number_of_message, update};
use crate::record::{ChannelRecord, InstanceRecord, MessageRecord, TaskRecord};
use leveret_types::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// Details that are joined in one chunk.
const JOINED: usize = 1 << 14;

/// Which detail of which phase.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Stream {
    Task(u32, u16),
    Channel(u32, u16),
    Switches(u32),
    Timers(u32),
}

/// What of a journal is no longer kept.
#[derive(Debug, Default)]
pub struct Dropped {
    /// Of switches and timers instant and core, of others number and 0.
    of: BTreeMap<Stream, BTreeSet<(i64, u32)>>,
}

fn numbered(number: u64) -> (i64, u32) {
    // Numbers are compared for equality alone.
    (number.cast_signed(), 0)
}

fn timed((at, core): (Nanos, u32)) -> (i64, u32) {
    (at.0, core)
}

impl Dropped {
    /// Takes note of the next chunk.
    pub fn note(&mut self, chunk: &Chunk) {
        let Chunk::Growth(growth) = chunk else { return };
        let number = growth.number;
        for (index, grown) in &growth.tasks {
            let came = grown.record.instances.iter().map(number_of_instance);
            self.change(
                Stream::Task(number, *index),
                grown.dropped.iter().copied().map(numbered),
                came.map(numbered),
            );
        }
        for (index, grown) in &growth.channels {
            let came = grown.record.messages.iter().map(number_of_message);
            self.change(
                Stream::Channel(number, *index),
                grown.dropped.iter().copied().map(numbered),
                came.map(numbered),
            );
        }
        let came = growth.switches.iter().map(|switch| (switch.at, switch.core));
        let dropped = growth.switches_dropped.iter().copied();
        self.change(Stream::Switches(number), dropped.map(timed), came.map(timed));
        let came = growth.timers.iter().map(|timer| (timer.at, timer.core));
        let dropped = growth.timers_dropped.iter().copied();
        self.change(Stream::Timers(number), dropped.map(timed), came.map(timed));
    }

    fn change(
        &mut self,
        stream: Stream,
        dropped: impl Iterator<Item = (i64, u32)>,
        came: impl Iterator<Item = (i64, u32)>,
    ) {
        let known = self.of.entry(stream).or_default();
        known.extend(dropped);
        if known.is_empty() {
            return;
        }
        came.for_each(|detail| {
            known.remove(&detail);
        });
    }

    fn has(&self, stream: Stream, detail: (i64, u32)) -> bool {
        self.of.get(&stream).is_some_and(|known| known.contains(&detail))
    }

    /// Leaves out of a chunk what is no longer kept.
    fn strip(&self, growth: &mut Growth) {
        let number = growth.number;
        for (index, grown) in &mut growth.tasks {
            let stream = Stream::Task(number, *index);
            grown.record.instances.retain(|instance| !self.has(stream, numbered(instance.instance)));
            grown.dropped.clear();
        }
        for (index, grown) in &mut growth.channels {
            let stream = Stream::Channel(number, *index);
            grown.record.messages.retain(|message| !self.has(stream, numbered(message.instance)));
            grown.dropped.clear();
        }
        let stream = Stream::Switches(number);
        growth.switches.retain(|switch| !self.has(stream, (switch.at.0, switch.core)));
        let stream = Stream::Timers(number);
        growth.timers.retain(|timer| !self.has(stream, (timer.at.0, timer.core)));
        growth.switches_dropped.clear();
        growth.timers_dropped.clear();
    }
}

/// Makes the chunks of a shorter journal, one after the other.
#[derive(Debug)]
pub struct Compactor {
    dropped: Dropped,
    /// Of each phase, what is not yet given out.
    joined: Option<Box<Growth>>,
}

impl Compactor {
    /// `dropped` has taken note of all chunks that will be given.
    pub fn new(dropped: Dropped) -> Self {
        Self { dropped, joined: None }
    }

    /// Takes the next chunk; gives those that are complete.
    pub fn take(&mut self, chunk: Chunk) -> Vec<Chunk> {
        let mut growth = match chunk {
            Chunk::Growth(growth) => growth,
            other => return self.joined.take().map(Chunk::Growth).into_iter().chain([other]).collect(),
        };
        self.dropped.strip(&mut growth);
        match &mut self.joined {
            Some(joined) if joined.number == growth.number && joined.details() < JOINED => {
                joined.join(*growth);
                None
            }
            joined => joined.replace(growth),
        }
        .map(Chunk::Growth)
        .into_iter()
        .collect()
    }

    /// What is left.
    pub fn finish(self) -> Option<Chunk> {
        self.joined.map(Chunk::Growth)
    }
}

impl Growth {
    fn details(&self) -> usize {
        let instances = self.tasks.iter().map(|(_, grown)| grown.record.instances.len());
        let messages = self.channels.iter().map(|(_, grown)| grown.record.messages.len());
        let log = self.switches.len() + self.timers.len() + self.events.len();
        instances.chain(messages).sum::<usize>() + log
    }

    /// Goes on with what came next, of which nothing was dropped.
    fn join(&mut self, next: Growth) {
        (self.until, self.rounds) = (next.until, next.rounds);
        let mut tasks: BTreeMap<u16, Grown<TaskRecord, _>> =
            std::mem::take(&mut self.tasks).into_iter().collect();
        for (index, grown) in next.tasks {
            let before = tasks.remove(&index).unwrap_or_default();
            let mut instances = before.record.instances;
            update(&mut instances, &grown.record.instances, &[], |instance: &InstanceRecord| {
                instance.instance
            });
            let thinned = grown.thinned.or(before.thinned);
            let record = TaskRecord { instances, ..grown.record };
            tasks.insert(index, Grown { record, dropped: Vec::new(), thinned });
        }
        self.tasks = tasks.into_iter().collect();
        let mut channels: BTreeMap<u16, Grown<ChannelRecord, _>> =
            std::mem::take(&mut self.channels).into_iter().collect();
        for (index, grown) in next.channels {
            let before = channels.remove(&index).unwrap_or_default();
            let mut messages = before.record.messages;
            update(&mut messages, &grown.record.messages, &[], |message: &MessageRecord| message.instance);
            let thinned = grown.thinned.or(before.thinned);
            let record = ChannelRecord { messages, ..grown.record };
            channels.insert(index, Grown { record, dropped: Vec::new(), thinned });
        }
        self.channels = channels.into_iter().collect();
        self.events.extend(next.events);
        update(&mut self.switches, &next.switches, &[], |switch| (switch.at, switch.core));
        update(&mut self.timers, &next.timers, &[], |timer| (timer.at, timer.core));
        self.ended = next.ended;
    }
}
