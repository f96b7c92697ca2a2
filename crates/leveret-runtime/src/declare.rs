//! Declarations: everything a member wants, before commit. After commit they are gone, so they cannot change.

use crate::context::TaskContext;
use crate::gate::Gate;
use crate::port::{InputPort, OutputPort};
use crate::runner::TaskEstate;
use crate::succession::Line;
use crate::task_tally::TaskTally;
use leveret_plan::{CoreChoice, MissingPolicy, OverrunPolicy, Placement, Qos};
use leveret_protocol::declaration::{
    BufferMemory, ChannelDeclaration, ChannelEndDeclaration, CollectiveDeclaration, End, GROUP_WORLD,
    GroupDeclaration, IteratorPolicy, MemberDeclarations, ReceptorDeclaration, SporadicDeclaration,
    TaskDeclaration, TriggerDeclaration, WaitMode,
};
use leveret_types::{ByteSize, Nanos};
use std::sync::Arc;

/// The body of a task: called once per instance, on the task's thread.
pub type Body = Box<dyn FnMut(&mut TaskContext<'_>) + Send>;

/// The sending end of a declared channel: give it to one task, or take it from the session after commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Source {
    pub(crate) end: u32,
}

/// The receiving end of a declared channel: give it to one task, or take it from the session after commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    pub(crate) end: u32,
}

/// A task's name, body and ends.
pub(crate) struct DeclaredTask {
    pub(crate) name: String,
    pub(crate) body: Body,
    pub(crate) reads: Vec<Target>,
    pub(crate) writes: Vec<Source>,
    /// Best-effort ends.
    pub(crate) receives: Vec<Target>,
    pub(crate) sends: Vec<Source>,
    /// Whether its time-driven ends take no part until they are activated or started.
    pub(crate) idle: bool,
    /// Where its thread leaves its counts.
    pub(crate) tally: Arc<TaskTally>,
    /// Ends of which something else decides when they take part.
    pub(crate) leads: Vec<(u32, Lead)>,
    /// What may be kept in another mode.
    pub(crate) lines: Lines,
}

/// What of a task may be kept in another mode, or is kept from the one before.
#[derive(Default)]
pub(crate) struct Lines {
    pub(crate) task: Option<Line<TaskEstate>>,
    /// By declared end.
    pub(crate) inputs: Vec<(u32, Line<InputPort>)>,
    pub(crate) outputs: Vec<(u32, Line<OutputPort>)>,
}

/// When an end takes part, where that is not for its own activation to say.
#[derive(Clone, Debug)]
pub(crate) enum Lead {
    /// In every instance, as far as this member is concerned.
    Always,
    /// In those that the gate lets pass.
    Follows(Arc<Gate>),
    /// By its activation; a message that it receives opens the gate for others.
    Opens(Arc<Gate>),
}

impl DeclaredTask {
    /// Every end that the task owns.
    pub(crate) fn ends(&self) -> impl Iterator<Item = (u32, End)> + '_ {
        let targets = self.reads.iter().chain(&self.receives).map(|target| (target.end, End::Target));
        let sources = self.writes.iter().chain(&self.sends).map(|source| (source.end, End::Source));
        targets.chain(sources)
    }
}

/// Everything one member declares for one commit.
///
/// What the manifest also says must agree; what it says alone need not be repeated.
pub struct Declarations {
    pub(crate) wire: MemberDeclarations,
    pub(crate) tasks: Vec<DeclaredTask>,
}

/// Why declarations contradict themselves, before anybody else sees them.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeclarationError {
    /// An end is given to two tasks, or twice to one.
    #[error(
        "the {end} end of channel \"{channel}\" is given to task \"{first}\" and to task \"{second}\"; an end has one owner"
    )]
    EndGivenTwice {
        /// `source` or `target`.
        end: &'static str,
        /// The channel.
        channel: String,
        /// One task.
        first: String,
        /// The other.
        second: String,
    },
    /// An end of other declarations.
    #[error(
        "task \"{task}\" uses an end that was not declared here; declare it with `source` or `target` of the same declarations"
    )]
    ForeignEnd {
        /// The task.
        task: String,
    },
}

impl Declarations {
    /// Nothing yet. The label names this commit in reports.
    pub fn new(label: &str) -> Self {
        let wire = MemberDeclarations { label: label.to_owned(), ..MemberDeclarations::default() };
        Self { wire, tasks: Vec::new() }
    }

    /// Declares a group of members; the position is the rank in it. Every member that declares it must agree.
    pub fn group(&mut self, name: &str, members: &[&str]) -> &mut Self {
        let members = members.iter().map(|name| (*name).to_owned()).collect();
        self.wire.groups.push(GroupDeclaration { name: name.to_owned(), members });
        self
    }

    /// Whether a group of this name is declared.
    pub(crate) fn has_group(&self, name: &str) -> bool {
        self.wire.groups.iter().any(|group| group.name == name)
    }

    /// Declares the sending end of a channel.
    pub fn source(&mut self, channel: &str) -> EndBuilder<'_, Source> {
        self.end(channel, End::Source, |end| Source { end })
    }

    /// Declares the receiving end of a channel.
    pub fn target(&mut self, channel: &str) -> EndBuilder<'_, Target> {
        self.end(channel, End::Target, |end| Target { end })
    }

    fn end<T>(&mut self, channel: &str, end: End, token: fn(u32) -> T) -> EndBuilder<'_, T> {
        let index = self.wire.ends.len() as u32;
        self.wire.ends.push(ChannelEndDeclaration {
            end,
            channel: ChannelDeclaration { name: channel.to_owned(), ..ChannelDeclaration::default() },
            memory: BufferMemory::default(),
            policy: IteratorPolicy::default(),
            allowed: None,
            outgoing: None,
            served: false,
        });
        let declared = self.wire.ends.last_mut().expect("an end was just pushed");
        EndBuilder { declared, token: token(index) }
    }

    /// Declares a task; its body comes last.
    pub fn task(&mut self, name: &str) -> TaskBuilder<'_> {
        TaskBuilder {
            declarations: self,
            wire: TaskDeclaration { name: name.to_owned(), ..TaskDeclaration::default() },
            reads: Vec::new(),
            writes: Vec::new(),
            receives: Vec::new(),
            sends: Vec::new(),
            idle: false,
            tally: Arc::default(),
            leads: Vec::new(),
            lines: Lines::default(),
        }
    }

    /// The channel of a declared end; with its group where that is not the world.
    pub(crate) fn channel_of(&self, end: u32) -> Option<String> {
        let declared = &self.wire.ends.get(end as usize)?.channel;
        Some(match declared.group.as_deref() {
            None | Some(GROUP_WORLD) => declared.name.clone(),
            Some(group) => format!("{group}/{}", declared.name),
        })
    }

    /// Says that this member keeps a channel from what runs.
    pub(crate) fn keep_channel(&mut self, group: &str, name: &str) {
        self.wire.kept.channels.push((group.to_owned(), name.to_owned()));
    }

    /// Says that this member keeps a task from what runs.
    pub(crate) fn keep_task(&mut self, name: &str) {
        self.wire.kept.tasks.push(name.to_owned());
    }

    /// Says that this member keeps the trigger of this number.
    pub(crate) fn keep_trigger(&mut self, number: usize) {
        self.wire.kept.triggers.push(number as u32);
    }

    /// Says that this member keeps the receptor of this number.
    pub(crate) fn keep_receptor(&mut self, number: usize) {
        self.wire.kept.receptors.push(number as u32);
    }

    /// Says that this member keeps work that an event starts.
    pub(crate) fn keep_work(&mut self, name: &str) {
        if !self.wire.kept.works.iter().any(|known| known == name) {
            self.wire.kept.works.push(name.to_owned());
        }
    }

    /// Declares what this member says of a collective channel; the ends that carry it are declared one by one.
    pub(crate) fn collective(&mut self, collective: CollectiveDeclaration) {
        self.wire.collectives.push(collective);
    }

    /// Declares a trigger of an event; the number counts this member's triggers from 0.
    pub(crate) fn trigger(&mut self, event: &str, group: &str, priority: u8) -> usize {
        let (event, group) = (event.to_owned(), group.to_owned());
        self.wire.events.triggers.push(TriggerDeclaration { event, group, priority });
        self.wire.events.triggers.len() - 1
    }

    /// Declares a receptor of an event; the number counts this member's receptors from 0.
    pub(crate) fn receptor(&mut self, event: &str, group: &str) -> usize {
        let (event, group) = (event.to_owned(), group.to_owned());
        self.wire.events.receptors.push(ReceptorDeclaration { event, group });
        self.wire.events.receptors.len() - 1
    }

    /// Declares work beside the time table.
    pub(crate) fn sporadic(&mut self, sporadic: SporadicDeclaration) {
        self.wire.sporadics.push(sporadic);
    }

    /// Each end has at most one owner, and is declared here.
    pub(crate) fn check(&self) -> Result<(), DeclarationError> {
        let mut owners: Vec<Option<&str>> = vec![None; self.wire.ends.len()];
        for task in &self.tasks {
            for (index, end) in task.ends() {
                let declared = self.wire.ends.get(index as usize).filter(|declared| declared.end == end);
                let Some(declared) = declared else {
                    return Err(DeclarationError::ForeignEnd { task: task.name.clone() });
                };
                if let Some(first) = owners[index as usize].replace(&task.name) {
                    return Err(DeclarationError::EndGivenTwice {
                        end: if end == End::Source { "source" } else { "target" },
                        channel: declared.channel.name.clone(),
                        first: first.to_owned(),
                        second: task.name.clone(),
                    });
                }
            }
        }
        Ok(())
    }
}

/// Properties of one channel end. What is left open is taken from the manifest or from the other end.
pub struct EndBuilder<'d, T> {
    declared: &'d mut ChannelEndDeclaration,
    token: T,
}

impl<T> EndBuilder<'_, T> {
    /// The group within which the name is matched; `world` if left open.
    pub fn group(self, name: &str) -> Self {
        self.declared.channel.group = Some(name.to_owned());
        self
    }
    /// Largest message.
    pub fn size(self, size: ByteSize) -> Self {
        self.declared.channel.size = Some(size);
        self
    }
    /// What the bytes mean, in one word; both ends must agree if both say it.
    pub fn dataspec(self, word: &str) -> Self {
        self.declared.channel.dataspec = Some(word.to_owned());
        self
    }
    /// Number of buffers; the plan may give more.
    pub fn buffers(self, count: u32) -> Self {
        self.declared.channel.buffers = Some(count);
        self
    }
    /// How many started transfers may be under way; both ends must agree.
    pub fn slack(self, slack: u32) -> Self {
        self.declared.channel.slack = Some(slack);
        self
    }
    /// Order of the buffer iterator at this end.
    pub fn policy(self, policy: IteratorPolicy) -> Self {
        self.declared.policy = policy;
        self
    }
    /// How many buffers the program provides at this end.
    pub(crate) fn allowed(self, count: u32) -> Self {
        self.declared.allowed = Some(count);
        self
    }
    /// How many messages the program can have under way at once from this end, where no window bounds them.
    pub(crate) fn outgoing(self, count: usize) -> Self {
        self.declared.outgoing = u32::try_from(count).ok();
        self
    }
    /// Whose memory the buffers at this end are.
    pub fn memory(self, memory: BufferMemory) -> Self {
        self.declared.memory = memory;
        self
    }
    /// Insists on where the receiver reads.
    pub fn placement(self, placement: Placement) -> Self {
        self.declared.channel.placement = Some(placement);
        self
    }
    /// Time-driven: instance k arrives at `epoch + k*period + deadline`. The period is above 0: single shots are objects' alone.
    pub fn time_driven(self, period: Nanos, window: [Nanos; 2], missing: MissingPolicy) -> Self {
        let [release, deadline] = window;
        self.declared.channel.qos = Some(Qos::TimeDriven { period, release, deadline, missing });
        self
    }
    /// Best effort: visible at once.
    pub fn best_effort(self) -> Self {
        self.declared.channel.qos = Some(Qos::BestEffort);
        self
    }
    /// Moved by the library's threads, at a priority.
    pub(crate) fn served(self, qos: Qos) -> Self {
        self.declared.channel.qos = Some(qos);
        self.declared.served = true;
        self
    }
    /// As [`EndBuilder::checksum`], where the program may have left it open.
    pub(crate) fn checksum_if_said(self, checksum: Option<bool>) -> Self {
        self.declared.channel.checksum = checksum;
        self
    }
    /// How the receiver waits (best effort).
    pub fn wait(self, mode: WaitMode) -> Self {
        self.declared.channel.wait = Some(mode);
        self
    }
    /// Whether each message carries a checksum of its payload, which the sender computes and the receiver compares; both ends must agree.
    pub fn checksum(self, checksum: bool) -> Self {
        self.declared.channel.checksum = Some(checksum);
        self
    }
    /// Ends the declaration and gives the end.
    pub fn declare(self) -> T {
        self.token
    }
}

/// Properties of a task. What is left open is taken from the manifest.
pub struct TaskBuilder<'d> {
    declarations: &'d mut Declarations,
    wire: TaskDeclaration,
    reads: Vec<Target>,
    writes: Vec<Source>,
    receives: Vec<Target>,
    sends: Vec<Source>,
    idle: bool,
    tally: Arc<TaskTally>,
    leads: Vec<(u32, Lead)>,
    lines: Lines,
}

impl TaskBuilder<'_> {
    /// Distance between instances.
    pub fn period(mut self, period: Nanos) -> Self {
        self.wire.period = Some(period);
        self
    }
    /// Earliest start and latest end, from the start of the period.
    pub fn window(mut self, release: Nanos, deadline: Nanos) -> Self {
        self.wire.release = Some(release);
        self.wire.deadline = Some(deadline);
        self
    }
    /// Longest execution time of one instance.
    pub fn budget(mut self, budget: Nanos) -> Self {
        self.wire.budget = Some(budget);
        self
    }
    /// Where it runs.
    pub fn core(mut self, core: CoreChoice) -> Self {
        self.wire.core = Some(core);
        self
    }
    /// Whether the planner may interrupt it.
    pub fn preemptible(mut self, preemptible: bool) -> Self {
        self.wire.preemptible = Some(preemptible);
        self
    }
    /// What happens on an overrun.
    pub fn overrun(mut self, policy: OverrunPolicy) -> Self {
        self.wire.overrun = Some(policy);
        self
    }
    /// The task takes one message of this channel per instance.
    pub fn reads(mut self, target: Target) -> Self {
        self.reads.push(target);
        self
    }
    /// The task inserts one message into this channel per instance.
    pub fn writes(mut self, source: Source) -> Self {
        self.writes.push(source);
        self
    }
    /// The task takes from this best-effort channel, as much and as often as it likes.
    pub fn receives(mut self, target: Target) -> Self {
        self.receives.push(target);
        self
    }
    /// The task sends on this best-effort channel, as much and as often as it likes.
    pub fn sends(mut self, source: Source) -> Self {
        self.sends.push(source);
        self
    }
    /// Its time-driven ends take no part until they are activated; otherwise they do from the epoch on.
    pub fn idle_ends(mut self) -> Self {
        self.idle = true;
        self
    }
    /// It is the library's own, and has the times of the channels that it serves.
    pub(crate) fn mover(mut self) -> Self {
        self.wire.mover = true;
        self
    }
    /// It moves single shots: its window is absolute.
    pub(crate) fn once(mut self) -> Self {
        self.wire.once = true;
        self
    }
    /// Where its thread leaves its counts, for who wants to read them.
    pub(crate) fn tally(mut self, tally: Arc<TaskTally>) -> Self {
        self.tally = tally;
        self
    }
    /// Something else decides when these ends take part.
    pub(crate) fn led(mut self, leads: Vec<(u32, Lead)>) -> Self {
        self.leads = leads;
        self
    }
    /// What of it may be kept.
    pub(crate) fn in_lines(mut self, lines: Lines) -> Self {
        self.lines = lines;
        self
    }
    /// Ends the declaration. The body runs once per instance; it must not block or allocate.
    pub fn body(mut self, body: impl FnMut(&mut TaskContext<'_>) + Send + 'static) {
        let channel = |end: u32| self.declarations.channel_of(end);
        self.wire.reads = self.reads.iter().filter_map(|target| channel(target.end)).collect();
        self.wire.writes = self.writes.iter().filter_map(|source| channel(source.end)).collect();
        let name = self.wire.name.clone();
        self.declarations.wire.tasks.push(std::mem::take(&mut self.wire));
        let Self { declarations, reads, writes, receives, sends, idle, leads, tally, lines, .. } = self;
        let body = Box::new(body);
        let task = DeclaredTask { name, body, reads, writes, receives, sends, idle, leads, tally, lines };
        declarations.tasks.push(task);
    }
}
