//! A committed set of declarations: it runs, ends, and gives the member back for the next commit.

use crate::activation::Activation;
use crate::binding::{Admitted, MappedEnd};
use crate::declare::{Source, Target};
use crate::event_end::EventEnds;
use crate::free_end::{ReceivingEnd, SendingEnd};
use crate::member::{CommitError, Member};
use crate::thread::{TaskThread, class_of_level};
use crate::watch::{StopWish, Watch};
use leveret_memory::OwnSegment;
use leveret_os::thread::Thread;
use leveret_os::{clock, futex};
use leveret_plan::Start;
use leveret_protocol::control::{EndReason, FromMember, Horizon, Place, Scheduling};
use leveret_types::{Generation, Instance, MemberId, Nanos};
use std::sync::Arc;

/// How a session ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The horizon was reached; another commit may follow.
    Completed,
    /// Ctrl-C or SIGTERM, or a policy: the job is over.
    Stopped(String),
    /// A member died and was started again: commit again with it.
    PeerRestarted,
}

pub(crate) struct SessionParts {
    pub(crate) generation: Generation,
    pub(crate) epoch: Nanos,
    pub(crate) horizon: Horizon,
    pub(crate) hyperperiod: Nanos,
    pub(crate) threads: Vec<TaskThread>,
    pub(crate) sources: Vec<(u32, SendingEnd)>,
    pub(crate) targets: Vec<(u32, ReceivingEnd)>,
    pub(crate) activations: Vec<(u32, Arc<Activation>)>,
    pub(crate) watch: Arc<Watch>,
    pub(crate) segment: OwnSegment,
}

/// What is bound of a commit that can still be refused, for whoever prepares the program's objects for it.
pub(crate) struct Prospect {
    /// The ends whose buffers belong to those of the other.
    pub(crate) mapped: Vec<(u32, MappedEnd)>,
    pub(crate) events: EventEnds,
    pub(crate) watch: Arc<Watch>,
    pub(crate) library_threads: LibraryThreads,
    pub(crate) works: Vec<Work>,
}

impl Prospect {
    pub(crate) fn new(
        admitted: &Admitted<'_>,
        (member, scheduling): (MemberId, Scheduling),
        watch: &Arc<Watch>,
        (mapped, events): (Vec<(u32, MappedEnd)>, EventEnds),
    ) -> Self {
        Self {
            mapped,
            events,
            watch: watch.clone(),
            library_threads: LibraryThreads::new(admitted, member, scheduling),
            works: Work::of(admitted, member),
        }
    }
}

/// Where and how the library's own threads run that serve the program: handlers, and triggers of the kind time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LibraryThreads {
    /// They share one core, so that of two that are ready the one of higher priority runs.
    pub(crate) core: Option<u32>,
    pub(crate) scheduling: Scheduling,
}

impl LibraryThreads {
    /// Where the member's work beside the table runs, or else on the core of its first task, or else on one of the job's.
    pub(crate) fn new(admitted: &Admitted<'_>, member: MemberId, scheduling: Scheduling) -> Self {
        let job = &admitted.assembled.job;
        let works = Work::of(admitted, member);
        let beside = works.first().map(|work| work.core);
        let mut planned = job.tasks.iter().zip(&admitted.plan.tasks);
        let of_task = planned.find(|(task, _)| task.member == member).map(|(_, planned)| planned.core);
        let any = || job.cores.get(member.index() % job.cores.len().max(1)).copied();
        Self { core: beside.or(of_task).or_else(any), scheduling }
    }

    /// Whether a thread of ours may have a real-time class; tried on one of its own.
    ///
    /// # Errors
    /// When that cannot be had.
    pub(crate) fn has_real_time(scheduling: Scheduling) -> Result<bool, CommitError> {
        if scheduling == Scheduling::Plain {
            return Ok(false);
        }
        let may = || leveret_os::scheduling::apply(class_of_level(0)).is_ok();
        let tried = Thread::start("leveret-try", may).map_err(|failure| CommitError::System {
            what: "a thread to try a real-time class on",
            cause: failure.to_string(),
        })?;
        Ok(tried.join().unwrap_or(false))
    }
}

/// Work beside the time table that a member runs, as it was planned.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) name: String,
    /// The channel end that it serves: group, name, whether it sends.
    pub(crate) end: Option<(String, String, bool)>,
    pub(crate) core: u32,
    pub(crate) level: u16,
}

impl Work {
    /// What `member` runs.
    pub(crate) fn of(admitted: &Admitted<'_>, member: MemberId) -> Vec<Self> {
        let job = &admitted.assembled.job;
        let planned = job.sporadics.iter().zip(&admitted.plan.sporadics);
        let own = planned.filter(|(declared, _)| declared.member == member);
        own.map(|(declared, planned)| {
            let end = match declared.start {
                Start::Request(channel) => job.channels.get(channel.index()).map(|channel| (channel, true)),
                Start::Message(channel) => job.channels.get(channel.index()).map(|channel| (channel, false)),
                Start::Event { .. } => None,
            };
            let end = end.map(|(channel, sends)| (channel.group.clone(), channel.name.clone(), sends));
            Self { name: declared.name.clone(), end, core: planned.core, level: planned.level }
        })
        .collect()
    }
}

/// What runs between commit and uncommit, for whoever keeps the member beside it.
pub(crate) struct Running {
    parts: SessionParts,
    finished: bool,
    /// What the panic of a task said.
    panicked: Option<String>,
}

impl Running {
    pub(crate) fn new(mut parts: SessionParts) -> Self {
        for (_, end) in &mut parts.sources {
            end.arm(parts.epoch);
        }
        for (_, end) in &mut parts.targets {
            end.arm(parts.epoch);
        }
        Self { parts, finished: false, panicked: None }
    }

    pub(crate) fn epoch(&self) -> Nanos {
        self.parts.epoch
    }

    pub(crate) fn generation(&self) -> Generation {
        self.parts.generation
    }

    /// Whether a task's thread has not ended.
    pub(crate) fn has_tasks(&self) -> bool {
        self.parts.threads.iter().any(|thread| !thread.is_finished())
    }

    /// Waits for the end of the tasks' threads; whether one has panicked, ever.
    pub(crate) fn join_tasks(&mut self) -> bool {
        for thread in self.parts.threads.drain(..) {
            if let Err(panic) = thread.join() {
                self.panicked = Some(panic);
                self.parts.watch.stop_no_later_than(Nanos::ZERO);
            }
        }
        self.panicked.is_some()
    }

    pub(crate) fn sender(&mut self, source: Source) -> Option<SendingEnd> {
        let place = self.parts.sources.iter().position(|(end, _)| *end == source.end)?;
        Some(self.parts.sources.swap_remove(place).1)
    }

    pub(crate) fn receiver(&mut self, target: Target) -> Option<ReceivingEnd> {
        let place = self.parts.targets.iter().position(|(end, _)| *end == target.end)?;
        Some(self.parts.targets.swap_remove(place).1)
    }

    pub(crate) fn watch(&self) -> &Arc<Watch> {
        &self.parts.watch
    }

    pub(crate) fn activation(&self, end: AnyEnd) -> Option<&Activation> {
        let AnyEnd(index) = end;
        self.parts.activations.iter().find(|(end, _)| *end == index).map(|(_, activation)| &**activation)
    }

    /// As [`Running::activation`], to keep; and what its thread shares with the others.
    pub(crate) fn shared_activation(&self, end: AnyEnd) -> Option<(Arc<Activation>, Arc<Watch>)> {
        let AnyEnd(index) = end;
        let found = self.parts.activations.iter().find(|(end, _)| *end == index);
        found.map(|(_, activation)| (activation.clone(), self.parts.watch.clone()))
    }

    /// Whether the horizon is reached or the job is stopping.
    pub(crate) fn is_over(&self) -> bool {
        clock::now() >= self.parts.watch.stop_at()
    }

    /// Tells the agent that this member wants to uncommit. The tasks run on to the instant that all agree on.
    pub(crate) fn ask_to_end(&self, member: &Member) -> Result<(), CommitError> {
        member.send(&FromMember::Uncommit { generation: self.parts.generation }, &[])
    }

    /// This member cannot go on: its tasks end now, and the agent ends the others'.
    pub(crate) fn abandon(&self, reason: &'static str) -> StopWish {
        self.parts.watch.request_stop(reason, Place::Nowhere)
    }

    /// Waits for the tasks' end, and uncommits (collective).
    pub(crate) fn finish(&mut self, member: &mut Member) -> Result<Ended, CommitError> {
        self.finished = true;
        self.join_tasks();
        if let Some(panic) = self.panicked.take() {
            let failed = CommitError::TaskFailed(panic);
            member.note_given_up(failed.to_string());
            return Err(failed);
        }
        self.await_stop();
        member.check_given_up()?;
        let stop = self.parts.watch.wish().map(|wish| wish.told(wish.reason.to_owned()));
        member.send(&FromMember::Finished { generation: self.parts.generation, stop }, &[])?;
        Ok(match member.await_uncommitted(self.parts.generation)? {
            EndReason::Completed => Ended::Completed,
            EndReason::Interrupted => Ended::Stopped(INTERRUPTED.to_owned()),
            EndReason::Stopped(reason) => Ended::Stopped(reason),
            EndReason::PeerRestarted(_) => Ended::PeerRestarted,
        })
    }

    /// Waits for the instant of the stop. Who has no tasks takes part until then too: one that has finished is not missed if it dies.
    fn await_stop(&self) {
        let watch = &self.parts.watch;
        loop {
            let bell = watch.bell();
            let stop_at = watch.stop_at();
            if clock::now() >= stop_at || futex::wait_any(&[bell], stop_at).is_err() {
                return;
            }
        }
    }

    /// The program has left the commit without ending it, by an error or a panic most likely. Nobody is waited for, so that it comes to
    /// print why and to end: the tasks begin no further instance, and the agent ends the process unless it ends by itself. What has
    /// reached its end anyway is finished in order.
    pub(crate) fn give_up(&mut self, member: &mut Member) {
        if !self.finished {
            let is_panicking = std::thread::panicking();
            if self.is_over() && !is_panicking {
                let _ = self.finish(member);
            } else {
                let reason = if is_panicking { "its program panicked" } else { LEFT };
                member.give_up(self.abandon(reason).told(reason.to_owned()));
            }
        }
        let _ = self.parts.segment.generation();
    }
}

/// Why a job ends that its user stops.
pub(crate) const INTERRUPTED: &str = "interrupted";

/// Why a member fails that drops a session.
const LEFT: &str = "its program left a commit that had neither ended nor been uncommitted";

/// A committed set of declarations. While it lives nothing can be declared or committed. It ends with [`Session::run`] or
/// [`Session::uncommit`]; one that is dropped before its end, as by `?` or a panic, fails the member: its tasks end, and so should the
/// process, or else the agent ends it. To the others it has died.
pub struct Session<'m> {
    member: &'m mut Member,
    running: Running,
}

impl<'m> Session<'m> {
    pub(crate) fn new(member: &'m mut Member, running: Running) -> Self {
        Self { member, running }
    }

    /// The instant, on `CLOCK_MONOTONIC`, at which period 0 of everything starts.
    pub fn epoch(&self) -> Nanos {
        self.running.epoch()
    }

    /// Number of this commit.
    pub fn generation(&self) -> Generation {
        self.running.parts.generation
    }

    /// The job's hyperperiod: a round.
    pub fn hyperperiod(&self) -> Nanos {
        self.running.parts.hyperperiod
    }

    /// How long it runs.
    pub fn horizon(&self) -> Horizon {
        self.running.parts.horizon
    }

    /// Takes a sending end that no task owns; `None` if a task owns it or it was taken before.
    pub fn sender(&mut self, source: Source) -> Option<SendingEnd> {
        self.running.sender(source)
    }

    /// Takes a receiving end that no task owns; `None` if a task owns it or it was taken before.
    pub fn receiver(&mut self, target: Target) -> Option<ReceivingEnd> {
        self.running.receiver(target)
    }

    /// Activates a time-driven end that a task owns, from the first instance that can still be made. One that is active
    /// stays so without a gap.
    pub fn activate(&self, end: impl Into<AnyEnd>) -> Option<Instance> {
        self.running.activation(end.into()).map(|activation| activation.activate(clock::now()))
    }

    /// Activates from the named instance (extension `activate_at`).
    pub fn activate_at(&self, end: impl Into<AnyEnd>, instance: Instance) -> Option<Instance> {
        self.running.activation(end.into()).map(|activation| activation.activate_at(instance, clock::now()))
    }

    /// Deactivates at a period's end; returns the first instance that is not made any more.
    pub fn deactivate(&self, end: impl Into<AnyEnd>) -> Option<Instance> {
        self.running.activation(end.into()).map(|activation| activation.deactivate(clock::now()))
    }

    /// Deactivates at the named instance (extension `deactivate_at`), or at the first that can still be left out.
    pub fn deactivate_at(&self, end: impl Into<AnyEnd>, instance: Instance) -> Option<Instance> {
        self.running.activation(end.into()).map(|activation| activation.deactivate_at(instance, clock::now()))
    }

    /// Runs until the horizon, a stop or a restart, and uncommits (collective).
    pub fn run(mut self) -> Result<Ended, CommitError> {
        self.running.finish(self.member)
    }

    /// Uncommits (collective): once every member wants it, all tasks end at one instant, the end of a round. Until then
    /// they run on; each instance before that instant is performed, and none after it is begun.
    pub fn uncommit(mut self) -> Result<Ended, CommitError> {
        self.running.ask_to_end(self.member)?;
        self.running.finish(self.member)
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.running.give_up(self.member);
    }
}

/// An end of either kind.
#[derive(Clone, Copy, Debug)]
pub struct AnyEnd(pub(crate) u32);

impl From<Source> for AnyEnd {
    fn from(source: Source) -> Self {
        Self(source.end)
    }
}

impl From<Target> for AnyEnd {
    fn from(target: Target) -> Self {
        Self(target.end)
    }
}
