//! From objects to declarations, and back: what commit binds and uncommit unbinds.

use super::committed::{Arrived, Committed, End};
use super::error::Code;
use super::events::EventPlan;
use super::handle::Handle;
use super::mapping::Mappings;
use super::object::{Body, ChannelBody, Qos, TaskFunction, TaskInstance};
use super::world::World;
use crate::binding::MappedEnd;
use crate::context::TaskContext;
use crate::declare::{Declarations, EndBuilder, Source, Target};
use crate::message::Input;
use crate::session::Running;
use leveret_plan::MissingPolicy;
use leveret_protocol::declaration::GROUP_WORLD;
use leveret_types::{ByteSize, Nanos};
use std::collections::HashMap;
use std::sync::Arc;

/// What one commit is about to bind.
pub(super) struct Binding {
    pub(super) declarations: Declarations,
    pub(super) committed: Arc<Committed>,
    /// Every declared end, with its channel's index.
    declared: HashMap<u32, usize>,
    pub(super) events: EventPlan,
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

/// Why the objects cannot be committed.
pub(super) struct Unfit {
    pub(super) code: Code,
    /// One sentence, or nothing beyond the code.
    pub(super) detail: String,
}

impl From<Code> for Unfit {
    fn from(code: Code) -> Self {
        Self { code, detail: String::new() }
    }
}

impl World {
    /// Everything that exists now, as declarations and as the data path will use it.
    pub(super) fn bind(&self) -> Result<Binding, Unfit> {
        self.check_iterators()?;
        let committed = Arc::new(self.prepare()?);
        let mut declarations = Declarations::new("commit");
        let mut ends = HashMap::new();
        let mappings = Mappings::of(self);
        for (handle, object) in self.table.all() {
            if let Body::Ptchannel(channel) = &object.body {
                ends.insert(
                    handle,
                    self.declare_channel(&mut declarations, &mappings, &object.name, channel)?,
                );
            }
        }
        let index: HashMap<Handle, usize> =
            committed.channels.iter().enumerate().map(|(index, channel)| (channel.handle, index)).collect();
        let declared = ends.iter().flat_map(|(handle, ends): (&Handle, &Ends)| {
            let tokens = [ends.source.map(|source| source.end), ends.target.map(|target| target.end)];
            tokens.into_iter().flatten().map(|end| (end, index[handle]))
        });
        let declared = declared.collect();
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
        self.check_service(&ends)?;
        let events = self.plan_events(&mut declarations)?;
        let free = || ends.iter().filter_map(|(handle, ends)| Some((*index.get(handle)?, ends)));
        let sources = free().filter_map(|(index, ends)| Some((index, ends.source?))).collect();
        let targets = free().filter_map(|(index, ends)| Some((index, ends.target?))).collect();
        Ok(Binding { declarations, committed, events, declared, sources, targets })
    }

    /// The name by which a group is matched; groups without one match by their members in order.
    pub(super) fn declare_group(
        &self,
        declarations: &mut Declarations,
        group: Handle,
    ) -> Result<String, Code> {
        if group == Handle::GROUP_WORLD {
            return Ok(GROUP_WORLD.to_owned());
        }
        let object = self.table.referred(group).ok_or(Code::Internal)?;
        let Body::Group(members) = &object.body else { return Err(Code::Internal) };
        let names: Vec<&str> = members.iter().map(|member| self.names()[member.index()].as_str()).collect();
        let name =
            if object.name.is_empty() { format!("of-{}", names.join("-")) } else { object.name.clone() };
        if !declarations.has_group(&name) {
            declarations.group(&name, &names);
        }
        Ok(name)
    }

    /// A time-driven end is served by a task, and no channel leads back to its own member.
    fn check_service(&self, left: &HashMap<Handle, Ends>) -> Result<(), Unfit> {
        for (handle, object) in self.table.all() {
            let Body::Ptchannel(channel) = &object.body else { continue };
            let unfit = |what: &str| Unfit {
                code: Code::Argument,
                detail: format!("the channel \"{}\" {what}", object.name),
            };
            if channel.source == channel.target {
                return Err(unfit("leads from this member to itself; give it another source or target"));
            }
            let is_left =
                left.get(&handle).is_some_and(|ends| ends.source.is_some() || ends.target.is_some());
            if is_left && matches!(self.qos_of(channel), Qos::Time { .. }) {
                return Err(unfit(
                    "is time-driven, and its end at this member is served by no task; bind one to it",
                ));
            }
        }
        Ok(())
    }

    fn qos_of(&self, channel: &ChannelBody) -> Qos {
        match self.table.referred(channel.qos).map(|object| &object.body) {
            Some(Body::Qos(qos)) => *qos,
            _ => Qos::BestEffort,
        }
    }

    fn declare_channel(
        &self,
        declarations: &mut Declarations,
        mappings: &Mappings<'_>,
        name: &str,
        channel: &ChannelBody,
    ) -> Result<Ends, Code> {
        let referred = |handle: Handle| self.table.referred(handle).map(|object| &object.body);
        let Some(Body::Group(members)) = referred(channel.group) else { return Err(Code::Internal) };
        let qos = self.qos_of(channel);
        let own = |rank: u32| members[rank as usize] == self.rank();
        let mut ends = Ends::default();
        if !own(channel.source) && !own(channel.target) {
            return Ok(ends);
        }
        let Some(Body::Bufiter(iterator)) = referred(channel.input) else { return Err(Code::Argument) };
        let size = ByteSize(iterator.size as u64);
        let group = self.declare_group(declarations, channel.group)?;
        if own(channel.source) {
            let end = mappings.declare(declarations.source(name).group(&group).size(size), channel.input);
            ends.source = Some(with_qos(end, qos).declare());
        }
        if own(channel.target) {
            let end = mappings.declare(declarations.target(name).group(&group).size(size), channel.input);
            ends.target = Some(with_qos(end, qos).declare());
        }
        Ok(ends)
    }
}

fn with_qos<T>(end: EndBuilder<'_, T>, qos: Qos) -> EndBuilder<'_, T> {
    match qos {
        // A handler's is refused where channels are made.
        Qos::BestEffort | Qos::Handler { .. } => end.best_effort(),
        Qos::Time { start, deadline, period } => {
            end.time_driven(period, [start, deadline], MissingPolicy::default())
        }
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
            if channel.is_mapped() {
                self.committed.receive_mapped(channel, &message);
                continue;
            }
            // A transfer without a buffer is not performed; it is counted.
            let Some(buffer) = self.committed.take_for(channel) else { continue };
            let mut unused = None;
            let filled = self.committed.fill(channel, (buffer, &mut unused), |bytes| {
                let length = message.copy_to(bytes).map_err(|_| Code::Missed)?;
                Ok(Arrived { length, instance: message.instance().0, inserted: message.inserted() })
            });
            if let (Err(_), Some(buffer)) = (filled, unused) {
                let _ = self.committed.hand_back(channel, buffer);
            }
        }
    }

    fn send(&self, context: &mut TaskContext<'_>) {
        for (channel, source) in &self.writes {
            let channel = &self.committed.channels[*channel];
            self.committed.take_back_loans(channel);
            let Some(buffer) = self.committed.take_for(channel) else { continue };
            // An instance that cannot be sent is told by the port's own records.
            let _ = self.committed.send_out(channel, buffer, |outgoing| {
                context.send_outgoing(*source, outgoing).map_err(|_| Code::Missed)
            });
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
        let instance = TaskInstance {
            number: context.instance().0,
            start: context.planned_start(),
            deadline: context.deadline(),
        };
        function(instance, &service.committed);
        service.send(context);
    });
}

impl Binding {
    /// Learns which ends have buffers that belong to those of the other. Nothing runs yet.
    pub(super) fn settle(&self, mapped: Vec<(u32, MappedEnd)>) -> Result<(), String> {
        let mapped = mapped.into_iter().filter_map(|(end, mapped)| Some((*self.declared.get(&end)?, mapped)));
        self.committed
            .settle(mapped)
            .map_err(|code| format!("buffers cannot be put into their iterators: {code}"))
    }

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
