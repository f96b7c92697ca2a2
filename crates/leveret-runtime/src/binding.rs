//! From the plan to ends: which segment holds what, and the ports of each task. The same code binds members in
//! processes of their own and members that share one process.

use crate::activation::Spans;
use crate::declare::{Declarations, DeclaredTask, Lead, Lines};
use crate::event_end::{self, EventEnds};
use crate::free_end::{ReceivingEnd, SendingEnd};
use crate::port::{InputPort, OutputPort};
use crate::runner::{Ports, TaskRunner};
use crate::succession::{Heir, Line};
use crate::timing::{Arrival, Bindings, Place, TaskTiming};
use crate::watch::Watch;
use leveret_memory::{
    Borrower, LayoutError, Lender, Mapping, OwnSegment, PeerSegment, Receiver, Region, SegmentError,
    SegmentLayout, SegmentSpec, Sender, Shelf, SourceSpec, TargetSpec, TaskSpec,
};
use leveret_plan::{Job, Placement, Plan, Qos};
use leveret_protocol::assemble::Assembled;
use leveret_protocol::declaration::{ChannelEndDeclaration, End, GROUP_WORLD, WaitMode};
use leveret_types::{ChannelId, Generation, MemberId, TaskId};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Records kept per task or per channel end, at most and at least.
const RECORDS: [u32; 2] = [4096, 256];
/// Records kept of all of a member's tasks, and of all its ends: they are present and locked, and with those of every peer it takes long to
/// make them so.
const STAMPS_OF_ALL: u32 = 1 << 18;
const MESSAGE_RECORDS_OF_ALL: u32 = 1 << 21;

/// Records kept of each, of a member that has so many: where they are few at 1 kHz the watcher may fall behind by four seconds before any
/// is lost, and never by less than a quarter.
fn records_of_each(count: usize, of_all: u32) -> u32 {
    let [most, least] = RECORDS;
    let each = of_all / u32::try_from(count.max(1)).unwrap_or(u32::MAX);
    let power = 1 << each.max(1).ilog2();
    power.clamp(least, most)
}

/// Why a member cannot be bound to an admitted plan.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The segment cannot be laid out.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A segment, ours or a peer's, is not what the plan says.
    #[error("segment of member {member}: {error}")]
    Segment {
        /// Whose.
        member: MemberId,
        /// Why.
        error: SegmentError,
    },
    /// The plan names something that this member did not declare.
    #[error(
        "the plan gives this member {0}, which it did not declare; agent and member disagree about the job"
    )]
    NotDeclared(String),
    /// A peer's segment was not handed over.
    #[error("the segment of member {0} was not handed over, though the plan names it as a peer")]
    PeerMissing(MemberId),
    /// The program's buffers cannot be used as the plan says.
    #[error("{0}")]
    Buffers(String),
}

/// The plan as one member receives it.
#[derive(Clone, Copy)]
pub struct Admitted<'a> {
    /// The job and the channels' bindings.
    pub assembled: &'a Assembled,
    /// The plan.
    pub plan: &'a Plan,
    /// Number of the commit.
    pub generation: Generation,
}

impl Admitted<'_> {
    fn job(&self) -> &Job {
        &self.assembled.job
    }

    /// What the segment of `member` holds; the same wherever it is computed.
    pub fn layout(&self, member: MemberId) -> Result<SegmentLayout, LayoutError> {
        let waits = |index: usize| self.assembled.bindings[index].wait == WaitMode::Wake;
        let mapping = |index: usize| {
            let mapped = self.assembled.bindings[index].mapped;
            match self.job().channels[index].placement {
                _ if mapped == 0 => Mapping::None,
                Placement::Separate => Mapping::Indexed(mapped),
                Placement::Aliased => Mapping::Aliased(mapped),
            }
        };
        let channels = || self.job().channels.iter().enumerate();
        let sources: Vec<_> = channels()
            .filter(|(_, channel)| channel.source == member)
            .map(|(index, channel)| SourceSpec {
                channel: ChannelId(index as u16),
                size: u32::try_from(channel.size.0).unwrap_or(u32::MAX),
                buffers: self.plan.channels[index].buffers.max(channel.buffers),
                waits: waits(index),
                mapping: mapping(index),
                checksum: self.assembled.bindings[index].checksum,
            })
            .collect();
        let targets: Vec<_> = channels()
            .filter(|(_, channel)| channel.target == member)
            .map(|(index, _)| TargetSpec {
                channel: ChannelId(index as u16),
                waits: waits(index),
                mapping: mapping(index),
            })
            .collect();
        let tasks = || (self.job().tasks.iter().enumerate()).filter(|(_, task)| task.member == member);
        let records = records_of_each(tasks().count(), STAMPS_OF_ALL);
        let tasks = tasks().map(|(index, _)| TaskSpec { task: TaskId(index as u16), records }).collect();
        let message_records = records_of_each(sources.len() + targets.len(), MESSAGE_RECORDS_OF_ALL);
        SegmentLayout::new(&SegmentSpec {
            member,
            generation: self.generation,
            sources,
            targets,
            tasks,
            message_records,
            events: event_end::spec(&self.assembled.events, member),
        })
    }

    /// The members whose segments `member` needs to see: the other ends of its channels, and who fires or waits for what it
    /// waits for or fires.
    pub fn peers(&self, member: MemberId) -> BTreeSet<MemberId> {
        let channels = self.job().channels.iter();
        channels
            .filter_map(|channel| match (channel.source == member, channel.target == member) {
                (true, _) => Some(channel.target),
                (_, true) => Some(channel.source),
                _ => None,
            })
            .chain(event_end::peers(&self.assembled.events, member))
            .collect()
    }
}

/// A member's ends and tasks, bound.
pub struct Bound {
    /// Tasks in the order of the declarations.
    pub tasks: Vec<(TaskId, TaskRunner)>,
    /// Sending ends that no task owns, by declared end.
    pub sources: Vec<(u32, SendingEnd)>,
    /// Receiving ends that no task owns, by declared end.
    pub targets: Vec<(u32, ReceivingEnd)>,
    /// Its triggers and receptors.
    pub events: EventEnds,
    /// Ends whose buffers belong to those of the other, by declared end.
    pub(crate) mapped: Vec<(u32, MappedEnd)>,
}

/// An end whose buffers belong, one by one, to those of the other end.
#[derive(Clone)]
pub(crate) enum MappedEnd {
    /// Messages are copied, and say which buffer they belong into.
    Indexed,
    /// At the sending end: the buffers lie on the shelf, and come back.
    Lends(Shelf, Lender),
    /// At the receiving end: the buffers are those of the sender.
    Borrows(Shelf, Borrower),
}

/// Binds `declarations` of `member` to its own segment and to its peers'.
pub fn bind(
    admitted: &Admitted<'_>,
    member: MemberId,
    declarations: Declarations,
    own: &mut OwnSegment,
    peer: impl Fn(MemberId) -> Option<Arc<dyn Region>>,
    watch: &Arc<Watch>,
) -> Result<Bound, BindError> {
    let Declarations { wire, tasks: declared } = declarations;
    let mut binder = Binder::new(admitted, member, &wire.ends, own, &peer);
    let mut owned = BTreeSet::new();
    let mut tasks = Vec::new();
    for task in declared {
        owned.extend(task.ends().map(|(end, _)| end));
        tasks.push(binder.task(task, watch)?);
    }
    let events = {
        let attach = |peer_member| attach(admitted, peer_member, &peer);
        event_end::bind(admitted, member, &wire.events, binder.own, attach)?
    };
    let mapped = std::mem::take(&mut binder.mapped);
    let mut bound = Bound { tasks, sources: Vec::new(), targets: Vec::new(), events, mapped };
    for (index, end) in wire.ends.iter().enumerate() {
        let index = index as u32;
        if owned.contains(&index) {
            continue;
        }
        match end.end {
            End::Source => bound.sources.push((index, binder.sending_end(index, watch)?)),
            End::Target => bound.targets.push((index, binder.receiving_end(index, watch)?)),
        }
    }
    bound.mapped.append(&mut binder.mapped);
    Ok(bound)
}

/// A member's segment, for reading.
fn attach(
    admitted: &Admitted<'_>,
    member: MemberId,
    peer: &dyn Fn(MemberId) -> Option<Arc<dyn Region>>,
) -> Result<PeerSegment, BindError> {
    let region = peer(member).ok_or(BindError::PeerMissing(member))?;
    let layout = admitted.layout(member)?;
    PeerSegment::attach(region, &layout, member, admitted.generation)
        .map_err(|error| BindError::Segment { member, error })
}

struct Binder<'a> {
    admitted: &'a Admitted<'a>,
    member: MemberId,
    declarations: &'a [ChannelEndDeclaration],
    own: &'a mut OwnSegment,
    peer: &'a dyn Fn(MemberId) -> Option<Arc<dyn Region>>,
    mapped: Vec<(u32, MappedEnd)>,
    /// The job's channels by group and name.
    channels: HashMap<(&'a str, &'a str), ChannelId>,
    /// The peers' segments that were looked at: laying one out takes as long as it has ends.
    attached: BTreeMap<MemberId, PeerSegment>,
}

impl<'a> Binder<'a> {
    fn new(
        admitted: &'a Admitted<'a>,
        member: MemberId,
        declarations: &'a [ChannelEndDeclaration],
        own: &'a mut OwnSegment,
        peer: &'a dyn Fn(MemberId) -> Option<Arc<dyn Region>>,
    ) -> Self {
        let named = admitted.job().channels.iter().enumerate();
        let channels = named
            .map(|(index, channel)| ((&*channel.group, &*channel.name), ChannelId(index as u16)))
            .collect();
        let (mapped, attached) = Default::default();
        Self { admitted, member, declarations, own, peer, mapped, channels, attached }
    }

    /// The job's channel of a declared end.
    fn channel(&self, end: u32) -> Result<ChannelId, BindError> {
        let declared = &self.declarations[end as usize].channel;
        let group = declared.group.as_deref().unwrap_or(GROUP_WORLD);
        let found = self.channels.get(&(group, &*declared.name)).copied();
        found.ok_or_else(|| BindError::NotDeclared(format!("no channel \"{}\"", declared.name)))
    }

    fn arrival(&self, channel: ChannelId) -> Option<Arrival> {
        Arrival::new(self.admitted.assembled, self.admitted.plan, channel)
    }

    /// Where the plan keeps room for a single shot.
    fn place(&self, channel: ChannelId) -> Option<Place> {
        let at = self.admitted.assembled.shot(channel)?.at;
        match self.admitted.job().channels[channel.index()].qos {
            Qos::TimeDriven { period, release, .. } => Some(Place { at, release, round: period }),
            _ => None,
        }
    }

    fn attach(&mut self, member: MemberId) -> Result<&PeerSegment, BindError> {
        Ok(match self.attached.entry(member) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(attach(self.admitted, member, self.peer)?),
        })
    }

    fn sender(&mut self, declared: u32, channel: ChannelId) -> Result<Sender, BindError> {
        let target = self.admitted.job().channels[channel.index()].target;
        let missing = || BindError::NotDeclared(format!("the source of {channel}"));
        let peer = self.attach(target)?.target(channel).ok_or_else(missing)?;
        let end = self.own.take_source(channel).ok_or_else(missing)?;
        if let (Some(shelf), Some(lender)) = (end.shelf(), peer.lender()) {
            self.mapped.push((declared, MappedEnd::Lends(shelf.clone(), lender)));
        } else if self.admitted.assembled.bindings[channel.index()].mapped > 0 {
            self.mapped.push((declared, MappedEnd::Indexed));
        }
        Ok(Sender::new(end, peer))
    }

    fn receiver(&mut self, declared: u32, channel: ChannelId) -> Result<Receiver, BindError> {
        let source = self.admitted.job().channels[channel.index()].source;
        let missing = || BindError::NotDeclared(format!("the target of {channel}"));
        let peer = self.attach(source)?.source(channel).ok_or_else(missing)?;
        let end = self.own.take_target(channel).ok_or_else(missing)?;
        if let (Some(shelf), Some(borrower)) = (peer.shelf(), end.borrower()) {
            self.mapped.push((declared, MappedEnd::Borrows(shelf.clone(), borrower)));
        } else if self.admitted.assembled.bindings[channel.index()].mapped > 0 {
            self.mapped.push((declared, MappedEnd::Indexed));
        }
        Ok(Receiver::new(end, peer))
    }

    fn sending_end(&mut self, end: u32, watch: &Arc<Watch>) -> Result<SendingEnd, BindError> {
        let channel = self.channel(end)?;
        let peer = self.admitted.job().channels[channel.index()].target;
        Ok(SendingEnd::new(self.sender(end, channel)?, self.arrival(channel), peer, watch.clone()))
    }

    fn receiving_end(&mut self, end: u32, watch: &Arc<Watch>) -> Result<ReceivingEnd, BindError> {
        let channel = self.channel(end)?;
        let peer = self.admitted.job().channels[channel.index()].source;
        Ok(ReceivingEnd::new(self.receiver(end, channel)?, self.arrival(channel), peer, watch.clone()))
    }

    fn task(
        &mut self,
        mut task: DeclaredTask,
        watch: &Arc<Watch>,
    ) -> Result<(TaskId, TaskRunner), BindError> {
        let job = self.admitted.job();
        let id = job
            .tasks
            .iter()
            .position(|candidate| candidate.name == task.name && candidate.member == self.member)
            .map(|index| TaskId(index as u16))
            .ok_or_else(|| BindError::NotDeclared(format!("no task \"{}\"", task.name)))?;
        let ports = self.ports(id, &mut task, watch)?;
        let stamps = self.own.take_task(id).ok_or_else(|| BindError::NotDeclared(format!("{id} twice")))?;
        let timing = TaskTiming::new(job, self.admitted.plan, id);
        let policy = job.tasks[id.index()].overrun;
        let runner = TaskRunner::new(timing, policy, ports, task.body, stamps, watch.clone());
        Ok((id, runner.counting_in(task.tally, task.lines.task)))
    }

    fn ports(&mut self, id: TaskId, task: &mut DeclaredTask, watch: &Arc<Watch>) -> Result<Ports, BindError> {
        let Lines { inputs, outputs, .. } = &mut task.lines;
        let (mut input_lines, mut output_lines) = (std::mem::take(inputs), std::mem::take(outputs));
        let Admitted { assembled, plan, .. } = *self.admitted;
        let declared = &assembled.job.tasks[id.index()];
        let planned = &plan.tasks[id.index()].instances;
        let per_round = |channel: ChannelId| plan.channels[channel.index()].instances.len();
        let lead = |end: u32| task.leads.iter().find(|(led, _)| *led == end).map(|(_, lead)| lead);
        let initial = |end: u32| match lead(end) {
            Some(Lead::Always | Lead::Follows(_)) => Spans::ALWAYS,
            Some(Lead::Opens(_)) | None if task.idle => Spans::IDLE,
            Some(Lead::Opens(_)) | None => Spans::ALWAYS,
        };
        let mut ports = Ports::default();
        for target in &task.reads {
            let channel = self.channel(target.end)?;
            let place = position(&declared.reads, channel, &task.name)?;
            let slots = planned.iter().map(|instance| instance.reads[place]).collect();
            let bindings = Bindings::new(slots, per_round(channel)).once(self.place(channel));
            let arrival = self.timed(channel, &task.name)?;
            let receiver = self.receiver(target.end, channel)?;
            let first = self.first_written(channel);
            let declared = &assembled.job.channels[channel.index()];
            let initial = (arrival, initial(target.end));
            let mut port =
                InputPort::new(target.end, (channel, declared), receiver, bindings, first, initial);
            if let Some(lead) = lead(target.end) {
                port.lead(lead);
            }
            if let Some(line) = take_line(&mut input_lines, target.end) {
                port.in_line(line);
            }
            ports.inputs.push(port);
        }
        for source in &task.writes {
            let channel = self.channel(source.end)?;
            let place = position(&declared.writes, channel, &task.name)?;
            let slots = planned.iter().map(|instance| instance.writes[place]).collect();
            let bindings = Bindings::new(slots, per_round(channel)).once(self.place(channel));
            let arrival = self.timed(channel, &task.name)?;
            let sender = self.sender(source.end, channel)?;
            let size = assembled.job.channels[channel.index()].size;
            let initial = (arrival, initial(source.end));
            let mut port = OutputPort::new(source.end, size, sender, bindings, initial);
            if let Some(lead) = lead(source.end) {
                port.lead(lead);
            }
            if let Some(line) = take_line(&mut output_lines, source.end) {
                port.in_line(line);
            }
            ports.outputs.push(port);
        }
        for source in &task.sends {
            ports.sources.push((source.end, self.sending_end(source.end, watch)?));
        }
        for target in &task.receives {
            ports.targets.push((target.end, self.receiving_end(target.end, watch)?));
        }
        Ok(ports)
    }

    /// The first instance of `channel` that its writer's plan fills: a writer that works ahead leaves out the first
    /// ones, and nobody must miss them.
    fn first_written(&self, channel: ChannelId) -> u64 {
        let Admitted { assembled, plan, .. } = *self.admitted;
        if assembled.shot(channel).is_some() {
            return 0;
        }
        let writers = assembled.job.tasks.iter().zip(&plan.tasks);
        let first = writers.filter_map(|(task, planned)| {
            let place = task.writes.iter().position(|candidate| *candidate == channel)?;
            planned.instances.first()?.writes.get(place).copied()
        });
        first.min().and_then(|instance| u64::try_from(instance).ok()).unwrap_or(0)
    }

    /// Tasks walk time-driven channels; best-effort ends belong to the application's own threads.
    fn timed(&self, channel: ChannelId, task: &str) -> Result<Arrival, BindError> {
        self.arrival(channel).ok_or_else(|| {
            let name = &self.admitted.job().channels[channel.index()].name;
            BindError::NotDeclared(format!(
                "the best-effort channel \"{name}\" in task \"{task}\"; declare it with `sends` or `receives` instead"
            ))
        })
    }
}

fn take_line<T>(lines: &mut Vec<(u32, Line<T>)>, end: u32) -> Option<Line<T>> {
    let place = lines.iter().position(|(known, _)| *known == end)?;
    Some(lines.swap_remove(place).1)
}

fn position(list: &[ChannelId], channel: ChannelId, task: &str) -> Result<usize, BindError> {
    list.iter()
        .position(|candidate| *candidate == channel)
        .ok_or_else(|| BindError::NotDeclared(format!("{channel} in task \"{task}\"")))
}

#[cfg(test)]
mod tests {
    use super::{MESSAGE_RECORDS_OF_ALL, STAMPS_OF_ALL, records_of_each};

    #[test]
    fn records_of_many_are_fewer_each_and_no_more_in_all() {
        for (ends, records) in
            [(0, 4096), (1, 4096), (512, 4096), (513, 2048), (2000, 1024), (8192, 256), (1 << 20, 256)]
        {
            assert_eq!(records_of_each(ends, MESSAGE_RECORDS_OF_ALL), records, "{ends}");
        }
        for (tasks, records) in [(0, 4096), (64, 4096), (65, 2048), (1000, 256), (4096, 256)] {
            assert_eq!(records_of_each(tasks, STAMPS_OF_ALL), records, "{tasks}");
        }
    }
}
