//! From objects to declarations, and back: what commit binds and uncommit unbinds.

use super::committed::{Committed, CommittedBuffer, CommittedChannel, CommittedIterator, End};
use super::error::Code;
use super::handle::Handle;
use super::object::{Body, BufferBody, ChannelBody, Qos, TaskFunction};
use super::world::World;
use crate::context::TaskContext;
use crate::declare::{Declarations, Source, Target};
use crate::message::Input;
use crate::session::Running;
use leveret_memory::iterator::IteratorStore;
use leveret_plan::MissingPolicy;
use leveret_protocol::declaration::BufferMemory;
use leveret_types::{BUFFERS_MAX, ByteSize, Nanos};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex};

/// What one commit is about to bind.
pub(super) struct Binding {
    pub(super) declarations: Declarations,
    pub(super) committed: Arc<Committed>,
    /// Ends that no task serves, by the channel's index.
    sources: Vec<(usize, Source)>,
    targets: Vec<(usize, Target)>,
}

/// A channel's ends at this member, declared.
#[derive(Clone, Copy, Default)]
struct Ends {
    source: Option<Source>,
    target: Option<Target>,
}

impl World {
    /// Everything that exists now, as declarations and as the data path will use it.
    pub(super) fn bind(&self) -> Result<Binding, Code> {
        let committed = Arc::new(self.prepare()?);
        let mut declarations = Declarations::new("commit");
        let mut ends = HashMap::new();
        for (handle, object) in self.table.all() {
            if let Body::Ptchannel(channel) = &object.body {
                ends.insert(handle, self.declare_channel(&mut declarations, &object.name, channel)?);
            }
        }
        let index: HashMap<Handle, usize> =
            committed.channels.iter().enumerate().map(|(index, channel)| (channel.handle, index)).collect();
        for (_, object) in self.table.all() {
            let Body::Task(task) = &object.body else { continue };
            let mut service = Service { committed: committed.clone(), reads: Vec::new(), writes: Vec::new() };
            for channel in &task.channels {
                let Some(given) = ends.get_mut(channel) else { continue };
                let Ends { source, target } = std::mem::take(given);
                service.writes.extend(source.map(|source| (index[channel], source)));
                service.reads.extend(target.map(|target| (index[channel], target)));
            }
            declare_task(
                &mut declarations,
                &object.name,
                (task.qos, task.budget),
                service,
                task.function.clone(),
            );
        }
        let free = || ends.iter().filter_map(|(handle, ends)| Some((*index.get(handle)?, ends)));
        let sources = free().filter_map(|(index, ends)| Some((index, ends.source?))).collect();
        let targets = free().filter_map(|(index, ends)| Some((index, ends.target?))).collect();
        Ok(Binding { declarations, committed, sources, targets })
    }

    fn declare_channel(
        &self,
        declarations: &mut Declarations,
        name: &str,
        channel: &ChannelBody,
    ) -> Result<Ends, Code> {
        let referred = |handle: Handle| self.table.referred(handle).map(|object| &object.body);
        let Some(Body::Group(members)) = referred(channel.group) else { return Err(Code::Internal) };
        let qos = match referred(channel.qos) {
            Some(Body::Qos(qos)) => *qos,
            _ => Qos::BestEffort,
        };
        let own = |rank: u32| members[rank as usize] == self.rank();
        let mut ends = Ends::default();
        if !own(channel.source) && !own(channel.target) {
            return Ok(ends);
        }
        let Some(Body::Bufiter(iterator)) = referred(channel.input) else { return Err(Code::Internal) };
        let size = ByteSize(iterator.size as u64);
        if own(channel.source) {
            let end = declarations.source(name).size(size).memory(BufferMemory::Application);
            ends.source = Some(
                match qos {
                    Qos::BestEffort => end.best_effort(),
                    Qos::Time { start, deadline, period } => {
                        end.time_driven(period, [start, deadline], MissingPolicy::default())
                    }
                }
                .declare(),
            );
        }
        if own(channel.target) {
            let end = declarations.target(name).size(size).memory(BufferMemory::Application);
            ends.target = Some(
                match qos {
                    Qos::BestEffort => end.best_effort(),
                    Qos::Time { start, deadline, period } => {
                        end.time_driven(period, [start, deadline], MissingPolicy::default())
                    }
                }
                .declare(),
            );
        }
        Ok(ends)
    }

    /// The data path's view of every object.
    fn prepare(&self) -> Result<Committed, Code> {
        let mut buffers = Vec::new();
        let mut bodies: Vec<&BufferBody> = Vec::new();
        let mut numbers = HashMap::new();
        for (handle, object) in self.table.all() {
            let Body::Buffer(buffer) = &object.body else { continue };
            buffer.storage.prepare(buffer.size)?;
            numbers.insert(handle, buffers.len() as u32);
            bodies.push(buffer);
            buffers.push(CommittedBuffer {
                handle,
                size: buffer.size,
                storage: buffer.storage.clone(),
                length: AtomicUsize::new(buffer.length.unwrap_or(buffer.size)),
                label: AtomicI64::new(buffer.label),
                place: AtomicU32::new(0),
            });
        }
        let mut iterators = Vec::new();
        let mut iterator_numbers = HashMap::new();
        let mut stocked = Vec::new();
        for (handle, object) in self.table.all() {
            let Body::Bufiter(iterator) = &object.body else { continue };
            let order: Vec<u32> = match &iterator.allowed {
                Some(allowed) => allowed.iter().filter_map(|buffer| numbers.get(buffer).copied()).collect(),
                None => (0..bodies.len() as u32)
                    .filter(|number| {
                        let buffer = bodies[*number as usize];
                        buffer.size == iterator.size && buffer.dataspec == iterator.dataspec
                    })
                    .collect(),
            };
            if order.len() > BUFFERS_MAX as usize {
                return Err(Code::Limit);
            }
            let mut places = vec![u32::MAX; buffers.len()];
            for (place, buffer) in order.iter().enumerate() {
                places[*buffer as usize] = place as u32;
            }
            stocked.extend(iterator.stocked.iter().map(|buffer| (iterators.len(), numbers[buffer])));
            iterator_numbers.insert(handle, iterators.len() as u32);
            iterators.push(CommittedIterator {
                handle,
                store: IteratorStore::new(iterator.policy, (order.len() as u32).max(1)),
                places,
                buffers: order,
                channels: Vec::new(),
            });
        }
        let mut channels: Vec<CommittedChannel> = Vec::new();
        for (handle, object) in self.table.all() {
            let Body::Ptchannel(channel) = &object.body else { continue };
            let of = |iterator: Handle| iterator_numbers.get(&iterator).copied();
            let (Some(input), Some(output)) = (of(channel.input), of(channel.output)) else { continue };
            for iterator in [input, output] {
                iterators[iterator as usize].channels.push(channels.len() as u32);
            }
            channels.push(CommittedChannel {
                handle,
                input,
                output,
                end: Mutex::new(End::None),
                pending: AtomicBool::new(false),
                without_buffer: AtomicU64::new(0),
                performed: AtomicU64::new(0),
            });
        }
        let mut index = Vec::new();
        let numbered = buffers.iter().map(|buffer| buffer.handle).enumerate();
        let numbered = numbered.chain(iterators.iter().map(|iterator| iterator.handle).enumerate());
        for (number, handle) in numbered.chain(channels.iter().map(|channel| channel.handle).enumerate()) {
            let place = handle.place()?;
            if index.len() <= place {
                index.resize(place + 1, (Handle::default(), 0));
            }
            index[place] = (handle, number as u32);
        }
        let committed = Committed { buffers, iterators, channels, index };
        for (iterator, buffer) in stocked {
            committed.put(iterator, buffer as usize, super::committed::WITH_PROGRAM)?;
        }
        Ok(committed)
    }
}

/// What a task does around its function: receptions before it, transfers after it.
struct Service {
    committed: Arc<Committed>,
    reads: Vec<(usize, Target)>,
    writes: Vec<(usize, Source)>,
}

impl Service {
    fn receive(&self, context: &mut TaskContext<'_>) {
        for (channel, target) in &self.reads {
            let channel = &self.committed.channels[*channel];
            let Input::Message(message) = context.input(*target) else { continue };
            // A transfer without a buffer is not performed; it is counted.
            let Some(buffer) = self.committed.take_for(channel) else { continue };
            let mut unused = None;
            let filled = self.committed.fill(channel, (buffer, &mut unused), |bytes| {
                message.copy_to(bytes).map_err(|_| Code::Missed)
            });
            if let (Err(_), Some(buffer)) = (filled, unused) {
                let _ = self.committed.hand_back(channel, buffer);
            }
        }
    }

    fn send(&self, context: &mut TaskContext<'_>) {
        for (channel, source) in &self.writes {
            let channel = &self.committed.channels[*channel];
            let Some(buffer) = self.committed.take_for(channel) else { continue };
            // An instance that cannot be sent is told by the port's own records.
            let _ = self
                .committed
                .send_out(channel, buffer, |bytes| context.send(*source, bytes).map_err(|_| Code::Missed));
        }
    }
}

fn declare_task(
    declarations: &mut Declarations,
    name: &str,
    (qos, budget): (Qos, Nanos),
    service: Service,
    function: TaskFunction,
) {
    let Qos::Time { start, deadline, period } = qos else { return };
    let mut task = declarations.task(name).period(period).window(start, deadline).budget(budget);
    for (_, target) in &service.reads {
        task = task.reads(*target);
    }
    for (_, source) in &service.writes {
        task = task.writes(*source);
    }
    task.body(move |context| {
        service.receive(context);
        function(context.instance().0, &service.committed);
        service.send(context);
    });
}

impl Binding {
    /// Gives the ends that no task serves to their channels.
    pub(super) fn attach(&self, running: &mut Running) {
        let end_of = |index: usize| self.committed.channels[index].end.lock();
        for (index, source) in &self.sources {
            if let (Some(end), Ok(mut place)) = (running.sender(*source), end_of(*index)) {
                *place = End::source(end);
            }
        }
        for (index, target) in &self.targets {
            if let (Some(end), Ok(mut place)) = (running.receiver(*target), end_of(*index)) {
                *place = End::target(end);
            }
        }
    }
}
