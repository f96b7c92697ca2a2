//! From objects to declarations, and back: what commit binds and uncommit unbinds.

use super::collective_commit::Edges;
use super::committed::{Committed, CommittedTask, End, FreeCollective, Ranked, Service, TimedEnd, within};
use super::error::Code;
use super::events::{EventPlan, EventThreads};
use super::handle::Handle;
use super::keep::Kept;
use super::mapping::Mappings;
use super::movers::{Load, Movers};
use super::object::{Body, ChannelBody, Dataspec, Qos, TaskBody, TaskInstance};
use super::qos::QosBody;
use super::world::World;
use crate::activation::Activation;
use crate::binding::BindError;
use crate::declare::{Declarations, EndBuilder, Lines, Source, Target};
use crate::free_end::{ReceivingEnd, SendingEnd};
use crate::member::CommitError;
use crate::session::{AnyEnd, Prospect, Running};
use crate::watch::Watch;
use leveret_memory::sync::Ordering;
use leveret_plan::CoreChoice;
use leveret_protocol::declaration::GROUP_WORLD;
use leveret_types::{ByteSize, MemberId, Nanos};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What one commit is about to bind.
pub(super) struct Binding {
    pub(super) declarations: Declarations,
    pub(super) committed: Arc<Committed>,
    /// Every declared end, with its channel's index.
    declared: HashMap<u32, usize>,
    pub(super) events: EventPlan,
    /// Ends that the program's threads move, by the channel's index.
    sources: Vec<(usize, Source)>,
    targets: Vec<(usize, Target)>,
    /// Ends that tasks move.
    timed: Vec<TimedBinding>,
    /// Collective ends that the program's threads move.
    collectives: Vec<(usize, Edges)>,
}

/// A time-driven end at this member.
struct TimedBinding {
    channel: usize,
    end: AnyEnd,
    is_source: bool,
    peers: Box<[MemberId]>,
    /// From the instant at which the end is served to the transfer's.
    delay: Nanos,
}

/// A channel's ends at this member, declared.
#[derive(Clone, Copy, Default)]
pub(super) struct Ends {
    pub(super) source: Option<Source>,
    pub(super) target: Option<Target>,
}

/// Why the objects cannot be committed.
pub(super) struct Unfit {
    pub(super) code: Code,
    /// One sentence, or nothing beyond the code.
    pub(super) detail: String,
}

impl Unfit {
    /// As all members are told.
    pub(super) fn told(self) -> leveret_protocol::declaration::Unfit {
        let reason = match self.detail {
            detail if detail.is_empty() => format!("{}; {}", self.code.text(), self.code.remedy()),
            detail => detail,
        };
        leveret_protocol::declaration::Unfit { code: self.code as i32, reason }
    }
}

impl From<Code> for Unfit {
    fn from(code: Code) -> Self {
        Self { code, detail: String::new() }
    }
}

impl World {
    /// Everything that exists now, as declarations and as the data path will use it.
    pub(super) fn bind(&self, kept: &Kept) -> Result<Binding, Unfit> {
        self.check_channels()?;
        self.check_windows()?;
        self.check_collectives()?;
        self.check_iterators()?;
        let mappings = Mappings::of(self);
        let mut declared = HashMap::new();
        let prepared = self.prepare(kept);
        let committed = Arc::new(prepared.map_err(|code| Unfit { code, detail: self.why_unprepared(code) })?);
        let mut declarations = Declarations::new("commit");
        let mut free = Vec::new();
        let mut timed = BTreeMap::new();
        let mut bindings = Vec::new();
        let mut collectives = Vec::new();
        for (index, found) in committed.channels.iter().enumerate() {
            let object = self.table.referred(found.handle).ok_or(Code::Internal)?;
            if let Some((edges, qos)) =
                self.declare_edges(&mut declarations, object, committed.outgoing(found))?
            {
                collectives.push((index, edges, qos));
                continue;
            }
            let Body::Ptchannel(channel) = &object.body else { return Err(Code::Internal.into()) };
            let known = (object.name.as_str(), committed.outgoing(found));
            let ends = self.declare_channel(&mut declarations, &mappings, known, channel)?;
            if found.is_kept {
                let group = self.declare_group(&mut declarations, channel.group)?;
                declarations.keep_channel(&group, &object.name);
            }
            let tokens = [ends.source.map(|source| source.end), ends.target.map(|target| target.end)];
            declared.extend(tokens.into_iter().flatten().map(|end| (end, index)));
            if matches!(self.referred_qos(channel.qos).kind, Qos::Time { .. }) {
                timed.insert(index, ends);
                bindings.extend(self.timed_bindings(index, channel, ends));
            } else {
                free.push((index, ends));
            }
        }
        self.declare_tasks(&mut declarations, &committed, &mut timed)?;
        let mut movers = Movers::new(committed.clone());
        for (index, ends) in timed {
            let object = self.table.referred(committed.channels[index].handle).ok_or(Code::Internal)?;
            let Body::Ptchannel(channel) = &object.body else { return Err(Code::Internal.into()) };
            let load = match channel.mover_budget {
                Some(budget) => Load::Given(budget),
                None => Load::Bytes(self.size_of(channel)?.0),
            };
            movers.serve(index, load, &self.referred_qos(channel.qos), ends);
        }
        let collectives = serve_collectives(&committed, collectives, &mut movers, &mut bindings)?;
        movers.declare(&mut declarations, &self.names()[self.rank().index()]);
        let sources = free.iter().filter_map(|(index, ends)| Some((*index, ends.source?))).collect();
        let targets = free.iter().filter_map(|(index, ends)| Some((*index, ends.target?))).collect();
        let mut events = self.plan_events(&mut declarations, kept)?;
        self.plan_ends(&mut declarations, &mut events, (&committed, &free))?;
        self.plan_collective_ends(&mut declarations, &mut events, (&committed, &collectives))?;
        Ok(Binding {
            declarations,
            committed,
            declared,
            events,
            sources,
            targets,
            timed: bindings,
            collectives,
        })
    }

    /// Declares the tasks with what they serve of the time-driven ends; the rest stays in the list.
    fn declare_tasks(
        &self,
        declarations: &mut Declarations,
        committed: &Arc<Committed>,
        timed: &mut BTreeMap<usize, Ends>,
    ) -> Result<(), Code> {
        let index: HashMap<Handle, usize> =
            committed.channels.iter().enumerate().map(|(index, channel)| (channel.handle, index)).collect();
        for (handle, object) in self.table.all() {
            let Body::Task(task) = &object.body else { continue };
            let mut service = Service::new(committed.clone());
            for channel in &task.channels {
                // A best-effort end that a task is bound to is the program's to start and test, in the task or outside.
                let Some(index) = index.get(channel).copied() else { continue };
                let Some(ends) = timed.remove(&index) else { continue };
                service.writes.extend(ends.source.map(|source| (index, source)));
                service.reads.extend(ends.target.map(|target| (index, target)));
            }
            let known = committed.tasks.iter().find(|known| known.handle == handle).ok_or(Code::Internal)?;
            if known.is_kept {
                declarations.keep_task(&object.name);
            }
            let timing = (self.referred_qos(task.qos), task);
            declare_task(declarations, (known, &object.name), timing, service);
        }
        Ok(())
    }

    /// Declares what those of the ends fire and wait for that threads serve.
    fn plan_ends(
        &self,
        declarations: &mut Declarations,
        events: &mut EventPlan,
        (committed, ends): (&Committed, &[(usize, Ends)]),
    ) -> Result<(), Code> {
        for (index, ends) in ends {
            let handle = committed.channels[*index].handle;
            let object = self.table.referred(handle).ok_or(Code::Internal)?;
            let Body::Ptchannel(channel) = &object.body else { return Err(Code::Internal) };
            self.plan_end(declarations, events, (*index, &object.name, channel, ends.source.is_some()))?;
        }
        Ok(())
    }

    /// The same of channels of groups.
    fn plan_collective_ends(
        &self,
        declarations: &mut Declarations,
        events: &mut EventPlan,
        (committed, collectives): (&Committed, &[(usize, Edges)]),
    ) -> Result<(), Code> {
        for (index, edges) in collectives {
            let object = self.table.referred(committed.channels[*index].handle).ok_or(Code::Internal)?;
            let collective = object.body.collective().ok_or(Code::Internal)?;
            let end = (*index, object.name.as_str(), &collective, edges.carrier.clone());
            self.plan_collective_end(declarations, events, end)?;
        }
        Ok(())
    }

    fn timed_bindings(&self, index: usize, channel: &ChannelBody, ends: Ends) -> Vec<TimedBinding> {
        let member = |rank: u32| match self.table.referred(channel.group).map(|object| &object.body) {
            Some(Body::Group(members)) => members.get(rank as usize).copied().unwrap_or(self.rank()),
            _ => self.rank(),
        };
        let source = ends.source.map(|end| (AnyEnd::from(end), true, member(channel.target)));
        let target = ends.target.map(|end| (AnyEnd::from(end), false, member(channel.source)));
        let both = source.into_iter().chain(target);
        let binding = |(end, is_source, peer)| TimedBinding {
            channel: index,
            end,
            is_source,
            peers: Box::new([peer]),
            delay: Nanos::ZERO,
        };
        both.map(binding).collect()
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

    /// Every channel has its iterators, and those of one end are alike.
    fn check_channels(&self) -> Result<(), Unfit> {
        for (handle, object) in self.table.all() {
            let Body::Ptchannel(channel) = &object.body else { continue };
            let unfit = |what: &str| Unfit {
                code: Code::Argument,
                detail: format!("{} {what}", self.called("the channel", handle)),
            };
            match (channel.input.is_null(), channel.output.is_null()) {
                (true, _) => {
                    return Err(unfit("has no input iterator; set one with MPIRT_Channel_set_inbufiter"));
                }
                (_, true) => {
                    return Err(unfit("has no output iterator; set one with MPIRT_Channel_set_outbufiter"));
                }
                _ => {}
            }
            let shape = |iterator| self.iterator_behind(iterator).map(|body| (body.size, body.dataspec));
            if let (Some(input), Some(output)) = (shape(channel.input), shape(channel.output))
                && input != output
            {
                let show = |(size, dataspec): (usize, Dataspec)| format!("{size} bytes of {dataspec}");
                return Err(unfit(&format!(
                    "takes buffers of {} from its input iterator, and its output iterator is for {}; give it two that are alike",
                    show(input),
                    show(output)
                )));
            }
        }
        Ok(())
    }

    fn size_of(&self, channel: &ChannelBody) -> Result<ByteSize, Code> {
        self.iterator_behind(channel.input)
            .map(|iterator| ByteSize(iterator.size as u64))
            .ok_or(Code::Argument)
    }

    pub(super) fn qos_of(&self, channel: &ChannelBody) -> QosBody {
        self.referred_qos(channel.qos)
    }

    fn declare_channel(
        &self,
        declarations: &mut Declarations,
        mappings: &Mappings<'_>,
        (name, outgoing): (&str, usize),
        channel: &ChannelBody,
    ) -> Result<Ends, Code> {
        let referred = |handle: Handle| self.table.referred(handle).map(|object| &object.body);
        let Some(Body::Group(members)) = referred(channel.group) else { return Err(Code::Internal) };
        let qos = self.referred_qos(channel.qos);
        let own = |rank: u32| members[rank as usize] == self.rank();
        let mut ends = Ends::default();
        if !own(channel.source) && !own(channel.target) {
            return Ok(ends);
        }
        let size = self.size_of(channel)?;
        let dataspec = self.iterator_behind(channel.input).ok_or(Code::Argument)?.dataspec.word();
        let group = self.declare_group(declarations, channel.group)?;
        let shape = Shape { group, size, dataspec, slack: channel.slack, checksum: channel.checksum, qos };
        if own(channel.source) {
            let source = declarations.source(name).outgoing(outgoing);
            ends.source = Some(shape.of(mappings.declare(source, channel.input)));
        }
        if own(channel.target) {
            ends.target = Some(shape.of(mappings.declare(declarations.target(name), channel.input)));
        }
        Ok(ends)
    }
}

/// What both ends of a channel must agree in.
struct Shape {
    group: String,
    size: ByteSize,
    dataspec: String,
    slack: u32,
    checksum: Option<bool>,
    qos: QosBody,
}

impl Shape {
    fn of<T>(&self, end: EndBuilder<'_, T>) -> T {
        let end = end.group(&self.group).size(self.size).dataspec(&self.dataspec).slack(self.slack);
        with_qos(end.checksum_if_said(self.checksum), &self.qos).declare()
    }
}

pub(super) fn with_qos<'d, T>(end: EndBuilder<'d, T>, qos: &QosBody) -> EndBuilder<'d, T> {
    match qos.kind {
        Qos::Time { start, deadline, period } => {
            end.time_driven(period, [start, deadline].map(|time| time + qos.phase), qos.missing)
        }
        Qos::Priority { .. } | Qos::Event { .. } => end.served(plan_qos(qos)),
        // A handler's is refused where channels are made.
        Qos::BestEffort | Qos::Handler { .. } => end.best_effort(),
    }
}

/// As the plan knows it.
pub(super) fn plan_qos(qos: &QosBody) -> leveret_plan::Qos {
    let (interval, deadline) = (qos.interval, qos.deadline);
    match qos.kind {
        // A handler's is refused where channels are made.
        Qos::BestEffort | Qos::Handler { .. } => leveret_plan::Qos::BestEffort,
        Qos::Time { start, deadline, period } => {
            let [release, deadline] = [start, deadline].map(|time| time + qos.phase);
            leveret_plan::Qos::TimeDriven { period, release, deadline, missing: qos.missing }
        }
        Qos::Priority { priority } => leveret_plan::Qos::PriorityDriven { priority, interval, deadline },
        Qos::Event { priority } => {
            let [start, completion] = qos.events.clone();
            leveret_plan::Qos::EventDriven { start, completion, priority, interval, deadline }
        }
    }
}

fn declare_task(
    declarations: &mut Declarations,
    (known, name): (&CommittedTask, &str),
    (qos, body): (QosBody, &TaskBody),
    mut service: Service,
) {
    let Qos::Time { start, deadline, period } = qos.kind else { return };
    let [start, deadline] = [start, deadline].map(|time| time + qos.phase);
    let function = body.function.clone();
    let task = declarations.task(name).period(period).window(start, deadline).budget(body.budget);
    let (handle, next) = (known.handle, known.next.clone());
    let lines = Lines { task: Some(known.line.clone()), ..service.lines() };
    let mut task = task.tally(known.tally.clone()).in_lines(lines);
    if let Some(core) = body.core {
        task = task.core(CoreChoice::Pinned(core));
    }
    if let Some(policy) = body.overrun {
        task = task.overrun(policy);
    }
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
        within(handle, || function(instance, &service.committed));
        service.send(context);
        // Instances that were not run are told with the next one that is.
        let skipped = instance.number.saturating_sub(next.load(Ordering::Relaxed));
        next.store(instance.number + 1, Ordering::Relaxed);
        service.committed.tell_missed(handle, skipped, || context.now() > instance.deadline);
    });
}

/// Gives what is time-driven of the collective channels to movers, and the rest back.
fn serve_collectives(
    committed: &Committed,
    collectives: Vec<(usize, Edges, QosBody)>,
    movers: &mut Movers,
    bindings: &mut Vec<TimedBinding>,
) -> Result<Vec<(usize, Edges)>, Code> {
    let mut free = Vec::new();
    for (index, edges, qos) in collectives {
        let collective = committed.channels[index].collective.as_deref().ok_or(Code::Internal)?;
        if !matches!(qos.kind, Qos::Time { .. }) {
            free.push((index, edges));
            continue;
        }
        let seat = edges.serve(movers, index, collective, &qos).ok_or(Code::Internal)?;
        bindings.push(TimedBinding {
            channel: index,
            end: seat.end,
            is_source: seat.only_sends,
            peers: collective.others.clone(),
            delay: seat.delay,
        });
    }
    Ok(free)
}

impl Binding {
    /// Learns which ends have buffers that belong to those of the other, makes memory for those that have none, and threads for events,
    /// which wait for the epoch. Nothing runs yet.
    ///
    /// # Errors
    /// Why the commit must be refused. What was made for buffers is there until it is released.
    pub(super) fn settle(
        &mut self,
        mut prospect: Prospect,
        kept: &Kept,
    ) -> Result<EventThreads, CommitError> {
        let mapped = std::mem::take(&mut prospect.mapped);
        let mapped = mapped.into_iter().filter_map(|(end, mapped)| Some((*self.declared.get(&end)?, mapped)));
        let settled = self.committed.settle(mapped);
        settled.map_err(|code| {
            BindError::Buffers(format!("buffers cannot be put into their iterators: {code}"))
        })?;
        self.committed
            .make_memory()
            .map_err(|error| CommitError::System { what: "memory for buffers", cause: error.to_string() })?;
        EventThreads::prepare(&mut self.events, prospect, &self.committed, kept)
    }

    /// Gives every end to its channel.
    pub(super) fn attach(&self, running: &mut Running) {
        let channels = &self.committed.channels;
        // A kept best-effort end goes on when what runs has ended.
        let goes_on = |index: usize| channels[index].is_kept && channels[index].served.is_none();
        let attach = |index: usize, end: End| match &channels[index] {
            kept if kept.is_kept => kept.succeed_as(end),
            new => new.attach(end),
        };
        for (index, source) in self.sources.iter().filter(|(index, _)| !goes_on(*index)) {
            running.sender(*source).into_iter().for_each(|end| attach(*index, End::source(end)));
        }
        for (index, target) in self.targets.iter().filter(|(index, _)| !goes_on(*index)) {
            running.receiver(*target).into_iter().for_each(|end| attach(*index, End::target(end)));
        }
        let watch = running.watch().clone();
        self.attach_collectives(&watch, |edges| {
            let sends = edges.sends.iter().filter_map(|(rank, end)| Some((*rank, running.sender(*end)?)));
            let sends = sends.collect();
            let receives =
                edges.receives.iter().filter_map(|(rank, end)| Some((*rank, running.receiver(*end)?)));
            (sends, receives.collect())
        });
        self.attach_timed(|end| running.shared_activation(end));
    }

    /// Of a mode that takes over now: ends that it keeps go on in it.
    pub(super) fn go_on(&self, running: &mut Running) {
        let channels = &self.committed.channels;
        let watch = running.watch().clone();
        let is_kept = |index: usize| channels[index].is_kept && channels[index].served.is_none();
        for (index, source) in self.sources.iter().filter(|(index, _)| is_kept(*index)) {
            channels[*index].go_on(&watch, (running.sender(*source), None));
        }
        for (index, target) in self.targets.iter().filter(|(index, _)| is_kept(*index)) {
            channels[*index].go_on(&watch, (None, running.receiver(*target)));
        }
        for binding in self.timed.iter().filter(|binding| is_kept(binding.channel)) {
            channels[binding.channel].go_on(&watch, (None, None));
        }
    }

    /// Gives best-effort ends to their collective channels, by the ranks at the other sides.
    pub(super) fn attach_collectives(
        &self,
        watch: &Arc<Watch>,
        mut ends: impl FnMut(&Edges) -> (Ranked<SendingEnd>, Ranked<ReceivingEnd>),
    ) {
        for (index, edges) in &self.collectives {
            let channel = &self.committed.channels[*index];
            let ends = ends(edges);
            if let (Some(collective), Ok(mut place)) = (channel.collective.as_deref(), channel.end.lock()) {
                *place = End::Collective(FreeCollective::new(collective, ends, watch.clone()));
            }
        }
    }

    /// Gives the time-driven ends to their channels; `shared` knows what each shares with its task.
    pub(super) fn attach_timed(&self, shared: impl Fn(AnyEnd) -> Option<(Arc<Activation>, Arc<Watch>)>) {
        for TimedBinding { channel, end, is_source, peers, delay } in &self.timed {
            let channel = &self.committed.channels[*channel];
            if channel.is_kept {
                continue;
            }
            if let Some(shared) = shared(*end) {
                if let Some(collective) = &channel.collective {
                    collective.seat.take(&shared.0);
                }
                channel.attach(End::Timed(TimedEnd::new(shared, *is_source, (peers.clone(), *delay))));
            }
        }
    }
}
