//! The data path's view of every object, made at commit.

use super::apply::Reached;
use super::committed::{
    Collective, Committed, CommittedBuffer, CommittedChannel, CommittedContainer, CommittedIterator,
    CommittedTask, ELSEWHERE, NEVER, ServedEnd, WITH_PROGRAM,
};
use super::error::Code;
use super::handle::{Class, Handle};
use super::keep::Kept;
use super::neighbours::note_neighbours;
use super::object::{Body, BufferBody, BufiterBody, ChannelBody, Qos};
use super::world::World;
use crate::succession::Line;
use leveret_memory::sync::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize};
use leveret_types::BUFFERS_MAX;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// What is known while the lists grow.
struct Preparation<'w> {
    buffers: Vec<Arc<CommittedBuffer>>,
    bodies: Vec<&'w BufferBody>,
    iterators: Vec<CommittedIterator>,
    channels: Vec<CommittedChannel>,
    /// Where a buffer or an iterator stands in its list.
    numbers: HashMap<Handle, u32>,
    /// Iterators and the buffers that the program has put into them.
    stocked: Vec<(u32, u32)>,
    containers: Vec<CommittedContainer>,
    tasks: Vec<CommittedTask>,
    kept: &'w Kept,
}

impl World {
    /// What `Committed::settle` completes, once it is known which buffers belong to those of other members.
    ///
    /// # Errors
    /// [`Code::Limit`], [`Code::NoMemory`], or [`Code::Argument`] where a channel has no iterator.
    pub(super) fn prepare(&self, kept: &Kept) -> Result<Committed, Code> {
        let mut preparation = Preparation::new(kept);
        for (handle, object) in self.table.all() {
            if let Body::Buffer(buffer) = &object.body {
                preparation.buffer(handle, buffer)?;
            }
        }
        for (handle, object) in self.table.all() {
            if let Body::Bufiter(iterator) = &object.body {
                preparation.iterator(handle, iterator)?;
            }
        }
        for (handle, object) in self.table.all() {
            match &object.body {
                Body::Ptchannel(channel) if !channel.is_loop() => {
                    let is_source = self.is_source(channel) == Some(true);
                    let served = self.served_end(channel, is_source);
                    preparation.channel(handle, channel, (is_source, served))?;
                }
                body => {
                    let Some(collective) = body.collective() else { continue };
                    let mut prepared = self.prepare_collective(&collective, &preparation.numbers);
                    if body.class() == Class::Ptchannel {
                        prepared.others = Box::default();
                    }
                    let served = self.served_collective(&collective, &prepared.others);
                    preparation.collective(
                        handle,
                        prepared,
                        ((collective.base.slack, collective.base.polls), served),
                    );
                }
            }
        }
        let tasks = self.table.all().filter(|(_, object)| matches!(object.body, Body::Task(_)));
        preparation.tasks = tasks.map(|(handle, _)| CommittedTask::new(handle, kept.task(handle))).collect();
        self.served_by_tasks(&mut preparation.channels);
        preparation.containers(self.reached());
        preparation.finish(self)
    }

    /// What [`World::prepare`] has to say beyond its code.
    pub(super) fn why_unprepared(&self, code: Code) -> String {
        if code != Code::Limit {
            return String::new();
        }
        for (handle, object) in self.table.all() {
            let Body::Bufiter(BufiterBody { allowed: None, size, dataspec, .. }) = &object.body else {
                continue;
            };
            let fits = |body: &Body| matches!(body, Body::Buffer(buffer) if buffer.size == *size && buffer.dataspec == *dataspec);
            let count = self.table.all().filter(|(_, object)| fits(&object.body)).count();
            if count > BUFFERS_MAX as usize {
                return format!(
                    "{} at member \"{}\" takes any buffer of {size} bytes of {dataspec}, of which there are {count}, and an \
                     iterator can have {BUFFERS_MAX}; give it a container of the buffers that it may have, or make fewer",
                    self.called("the iterator", handle),
                    self.names()[self.rank().index()]
                );
            }
        }
        String::new()
    }

    /// Notes at time-driven ends which task serves them.
    fn served_by_tasks(&self, channels: &mut [CommittedChannel]) {
        for (task, object) in self.table.all() {
            let Body::Task(body) = &object.body else { continue };
            for channel in channels.iter_mut().filter(|channel| body.channels.contains(&channel.handle)) {
                let served = self.table.referred(channel.handle).and_then(|object| object.body.channel());
                let is_timed =
                    served.is_some_and(|served| matches!(self.qos_of(served).kind, Qos::Time { .. }));
                channel.served_by = is_timed.then_some(task);
            }
        }
    }
}

impl<'w> Preparation<'w> {
    fn new(kept: &'w Kept) -> Self {
        Self {
            buffers: Vec::new(),
            bodies: Vec::new(),
            iterators: Vec::new(),
            channels: Vec::new(),
            numbers: HashMap::new(),
            stocked: Vec::new(),
            containers: Vec::new(),
            tasks: Vec::new(),
            kept,
        }
    }

    fn buffer(&mut self, handle: Handle, buffer: &'w BufferBody) -> Result<(), Code> {
        self.numbers.insert(handle, self.buffers.len() as u32);
        self.bodies.push(buffer);
        if let Some(kept) = self.kept.buffer(handle) {
            self.buffers.push(kept.clone());
            return Ok(());
        }
        buffer.storage.prepare(buffer.size)?;
        self.buffers.push(Arc::new(CommittedBuffer {
            handle,
            size: buffer.size,
            dataspec: buffer.dataspec,
            storage: buffer.storage.clone(),
            length: AtomicUsize::new(buffer.length.unwrap_or(buffer.size)),
            has_length: AtomicBool::new(buffer.length.is_some()),
            instance: AtomicU64::new(NEVER),
            inserted: AtomicI64::new(0),
            is_borrowed: AtomicBool::new(false),
            label: AtomicI64::new(buffer.label),
            place: AtomicU32::new(WITH_PROGRAM),
        }));
        Ok(())
    }

    fn iterator(&mut self, handle: Handle, iterator: &BufiterBody) -> Result<(), Code> {
        let fits = |number: &u32| {
            let buffer = self.bodies[*number as usize];
            buffer.size == iterator.size && buffer.dataspec == iterator.dataspec
        };
        let kept = self.kept.iterator(handle);
        let buffers: Vec<u32> = match (&kept, &iterator.allowed) {
            (Some((_, buffers)), _) => buffers.iter().map(|buffer| self.numbers[buffer]).collect(),
            (None, Some(allowed)) => {
                allowed.iter().filter_map(|buffer| self.numbers.get(buffer).copied()).collect()
            }
            (None, None) => (0..self.bodies.len() as u32).filter(fits).collect(),
        };
        if buffers.len() > BUFFERS_MAX as usize {
            return Err(Code::Limit);
        }
        let mut places = vec![u32::MAX; self.buffers.len()];
        for (place, buffer) in buffers.iter().enumerate() {
            places[*buffer as usize] = place as u32;
        }
        let number = self.iterators.len() as u32;
        if kept.is_none() {
            self.stocked.extend(iterator.stocked.iter().map(|buffer| (number, self.numbers[buffer])));
        }
        self.numbers.insert(handle, number);
        let any = iterator.allowed.is_none().then_some((iterator.size, iterator.dataspec));
        self.iterators.push(CommittedIterator {
            handle,
            is_kept: kept.is_some(),
            policy: iterator.policy,
            state: kept.map_or_else(Arc::default, |(iterator, _)| iterator.state.clone()),
            places,
            buffers,
            any,
            channels: Vec::new(),
        });
        Ok(())
    }

    fn channel(
        &mut self,
        handle: Handle,
        channel: &ChannelBody,
        (is_source, served): (bool, Option<ServedEnd>),
    ) -> Result<(), Code> {
        let iterators = [channel.input, channel.output];
        let [Some(input), Some(output)] = iterators.map(|iterator| self.numbers.get(&iterator).copied())
        else {
            return Err(Code::Argument);
        };
        for iterator in [input, output] {
            self.iterators[iterator as usize].channels.push(self.channels.len() as u32);
        }
        let kept = self.kept.channel(handle);
        let lines = kept.map(|before| (before.input_line.next(), before.output_line.next()));
        let (input_line, output_line) = lines.unwrap_or_default();
        self.channels.push(CommittedChannel {
            handle,
            is_kept: kept.is_some(),
            input,
            output,
            is_source,
            served: kept.map_or_else(|| served.map(Arc::new), |before| before.served.clone()),
            serving: AtomicUsize::new(usize::MAX),
            fresh: Mutex::default(),
            served_by: None,
            slack: channel.slack,
            polls: channel.polls,
            feeders: Box::default(),
            followers: Box::default(),
            collective: None,
            input_line,
            output_line,
            state: kept.map_or_else(Arc::default, |before| before.state.clone()),
        });
        Ok(())
    }

    fn collective(
        &mut self,
        handle: Handle,
        collective: Collective,
        ((slack, polls), served): ((u32, bool), Option<ServedEnd>),
    ) {
        let pairs = [collective.sends, collective.receives];
        for iterator in pairs.into_iter().flatten().flatten() {
            self.iterators[iterator as usize].channels.push(self.channels.len() as u32);
        }
        let [input, output] = pairs.into_iter().flatten().next().unwrap_or([u32::MAX; 2]);
        self.channels.push(CommittedChannel {
            handle,
            is_kept: false,
            input,
            output,
            is_source: collective.sends.is_some(),
            served: served.map(Arc::new),
            serving: AtomicUsize::new(usize::MAX),
            fresh: Mutex::default(),
            served_by: None,
            slack,
            polls,
            feeders: Box::default(),
            followers: Box::default(),
            collective: Some(Box::new(collective)),
            input_line: Line::default(),
            output_line: Line::default(),
            state: Arc::default(),
        });
    }

    /// Containers, with the channels that they reach by their places in the list.
    fn containers(&mut self, reached: HashMap<Handle, Reached>) {
        let places = self.channels.iter().enumerate().map(|(place, channel)| (channel.handle, place as u32));
        let places: HashMap<Handle, u32> = places.collect();
        let with_places = |(handle, reached): (Handle, Reached)| {
            let channels = reached
                .map(|reached| reached.iter().filter_map(|channel| places.get(channel).copied()).collect());
            CommittedContainer { handle, channels, next: AtomicU32::new(0) }
        };
        self.containers = reached.into_iter().map(with_places).collect();
    }

    fn finish(self, world: &World) -> Result<Committed, Code> {
        let Self { buffers, mut iterators, mut channels, containers, tasks, stocked, .. } = self;
        // A buffer that comes is for the most urgent transfer that waits.
        let priority =
            |channel: &u32| channels[*channel as usize].served.as_ref().map_or(0, |end| end.priority);
        iterators
            .iter_mut()
            .for_each(|iterator| iterator.channels.sort_by_key(|channel| Reverse(priority(channel))));
        note_neighbours(&mut channels, iterators.len());
        let mut index: Vec<(Handle, u32)> = Vec::new();
        let numbered = buffers.iter().map(|buffer| buffer.handle).enumerate();
        let numbered = numbered.chain(iterators.iter().map(|iterator| iterator.handle).enumerate());
        let numbered = numbered.chain(channels.iter().map(|channel| channel.handle).enumerate());
        let numbered = numbered.chain(containers.iter().map(|container| container.handle).enumerate());
        let numbered = numbered.chain(tasks.iter().map(|task| task.handle).enumerate());
        let of_events = world.event_numbers().into_iter().map(|(handle, number)| (number as usize, handle));
        for (number, handle) in numbered.chain(of_events) {
            let place = handle.place()?;
            if index.len() <= place {
                index.resize(place + 1, (Handle::default(), 0));
            }
            // Of what lives by references alone no handle is good any more.
            let known = if world.table.is_freed(handle) { handle.succeeded() } else { handle };
            index[place] = (known, number as u32);
        }
        // Objects of other sets: handles that are good, and nothing to this commit.
        for place in world.table.outside() {
            if index.len() <= place {
                index.resize(place + 1, (Handle::default(), 0));
            }
            index[place] = (Handle::default(), ELSEWHERE);
        }
        // What the data path has no use for, and what is gone: to tell a freed handle from one that never was.
        for (place, known) in world.table.last_known() {
            if index.len() <= place {
                index.resize(place + 1, (Handle::default(), 0));
            }
            if index[place].0.is_null() && index[place].1 != ELSEWHERE {
                index[place].0 = known;
            }
        }
        let world = world.snapshot();
        let (epoch, events, successor) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Ok(Committed {
            buffers,
            iterators,
            channels,
            containers,
            tasks,
            world,
            index,
            stocked,
            epoch,
            events,
            successor,
        })
    }
}
