//! The life of a member's objects: join, commit, uncommit.

use super::commit::Unfit;
use super::committed::Committed;
use super::descriptors::Descriptor;
use super::error::Code;
use super::events::EventThreads;
use super::handle::Handle;
use super::keep::Kept;
use super::switch::StandingMode;
use super::world::World;
use crate::abort::{Aborter, cut};
use crate::member::{CommitError, JoinError, Member};
use crate::session::{Ended, INTERRUPTED, Running};
use leveret_protocol::assemble::Mismatch;
use leveret_protocol::control::RefusalCause;
use leveret_types::{MemberId, Nanos};
use std::sync::Arc;

/// A member with its objects.
pub struct Library {
    /// Its objects.
    pub world: World,
    pub(super) member: Member,
    pub(super) running: Option<Running>,
    pub(super) committed: Option<Arc<Committed>>,
    pub(super) standing: Option<StandingMode>,
    /// Who is committed together, in the order of rank, while something is.
    pub(super) together: Vec<MemberId>,
    /// The name of the group that is, where it has one.
    pub(super) together_as: String,
    pub(super) refusal: String,
    pub(super) event_threads: EventThreads,
    /// Of what is committed.
    pub(super) descriptors: Vec<Descriptor>,
}

impl Library {
    /// Joins the job. A process that was not started as a member of one is a job of its own, of one member, which nobody watches: there
    /// is no record, no report and no horizon.
    ///
    /// # Errors
    /// Why this process cannot join; nothing has changed then, and it may be tried again. Its [`Code`] is [`Code::Agent`] when the agent
    /// cannot be reached or does not take this process, and [`Code::NoMemory`] when a thread cannot be had.
    ///
    /// # Panics
    /// Never: a world of its own has room for what is predefined.
    pub fn join() -> Result<Self, JoinError> {
        let member = Member::join_or_alone()?;
        let mut world = World::new(member.rank(), member.members()).expect("an empty world has room");
        world.teller = Some(member.teller());
        Ok(Self {
            world,
            member,
            running: None,
            committed: None,
            standing: None,
            together: Vec::new(),
            together_as: String::new(),
            refusal: String::new(),
            event_threads: EventThreads::default(),
            descriptors: Vec::new(),
        })
    }

    /// Binds every object, together with all members (collective).
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`] when it is committed; [`Code::Admission`], [`Code::Mismatch`] and [`Code::TimePast`], when a single shot can no
    /// longer be met, with the reason in [`Library::refusal`]; then nothing has changed.
    pub fn commit(&mut self) -> Result<(), Code> {
        self.commit_with(self.everybody())
    }

    /// Binds every object, together with these members: all, or a group.
    pub(super) fn commit_with(&mut self, together: Vec<MemberId>) -> Result<(), Code> {
        self.world.unfrozen()?;
        let mut binding = match self.world.bind(&Kept::default()) {
            Ok(binding) => binding,
            Err(unfit) => {
                self.world.release_memory(&Kept::default());
                return Err(self.declined(together, unfit));
            }
        };
        let declarations = std::mem::replace(&mut binding.declarations, crate::Declarations::new(""));
        let mut threads = EventThreads::default();
        let settle = |prospect| binding.settle(prospect, &Kept::default()).map(|prepared| threads = prepared);
        let committed = if self.is_everybody(&together) {
            self.member.commit_unborrowed(declarations, settle)
        } else {
            self.member.commit_group(together.clone(), declarations, settle)
        };
        let mut running = match committed {
            Ok(running) => running,
            Err(error) => {
                threads.join();
                self.world.release_memory(&Kept::default());
                return Err(self.refused(&error));
            }
        };
        binding.attach(&mut running);
        // Set once, and only here.
        let _ = binding.committed.epoch.set(running.epoch());
        threads.arm(running.epoch());
        self.event_threads = threads;
        self.refusal.clear();
        self.running = Some(running);
        self.committed = Some(binding.committed.clone());
        self.together = together;
        self.together_as.clear();
        self.world.committed = true;
        Ok(())
    }

    /// Takes part in a commit of all members, or of those of a group, for which this one lacks what it needs before it has begun
    /// (collective). Nobody waits for it: all are refused with this code, or with what another member has said first.
    pub fn decline(&mut self, group: Option<Handle>, code: Code) -> Code {
        self.refusal.clear();
        let together = match group.map(|group| self.members_in_order(group)) {
            None => self.everybody(),
            Some(Ok(members)) => members,
            Some(Err(error)) => return error,
        };
        match self.world.unfrozen() {
            Ok(()) => self.declined(together, code.into()),
            Err(error) => error,
        }
    }

    fn declined(&mut self, together: Vec<MemberId>, unfit: Unfit) -> Code {
        let group = (!self.is_everybody(&together)).then_some(together);
        let refusal = self.member.decline(group, unfit.told());
        self.refused(&refusal)
    }

    fn everybody(&self) -> Vec<MemberId> {
        (0..self.world.names().len()).map(|rank| MemberId(rank as u16)).collect()
    }

    pub(super) fn is_everybody(&self, together: &[MemberId]) -> bool {
        together.len() == self.world.names().len()
    }

    /// Keeps the reason, and gives the code that goes with it.
    pub(super) fn refused(&mut self, error: &CommitError) -> Code {
        let (code, reason) = match (self.member.take_told(), error) {
            (Some((code, reason)), _) => (Code::of(code).unwrap_or(Code::Admission), reason),
            (None, CommitError::Refused { reason, .. } | CommitError::Over { reason, .. }) => {
                (Code::from(error), reason.clone())
            }
            (None, other) => (Code::from(error), other.to_string()),
        };
        self.refusal = reason;
        code
    }

    /// What the data path works on; `None` while not committed.
    pub fn committed(&self) -> Option<&Arc<Committed>> {
        self.committed.as_ref()
    }

    /// The instant of period 0.
    ///
    /// # Errors
    /// [`Code::NotCommitted`].
    pub fn epoch(&self) -> Result<Nanos, Code> {
        self.committed.as_ref().ok_or(Code::NotCommitted)?.epoch()
    }

    /// Whether the horizon is reached or the job is stopping; while not committed, whether the job is over.
    pub fn is_over(&self) -> bool {
        self.running.as_ref().map_or_else(|| self.member.is_job_over(), Running::is_over)
    }

    /// Why what is committed has ended before its horizon, if it has.
    pub fn end_reason(&self) -> Option<&str> {
        self.running.as_ref().filter(|running| running.is_over())?.watch().end_reason()
    }

    /// What ends the whole job, for any thread.
    pub fn aborter(&self) -> Aborter {
        self.member.aborter()
    }

    /// Why the last commit was refused; empty when it was not.
    pub fn refusal(&self) -> &str {
        &self.refusal
    }

    /// Uncommits (collective): once every member wants it, the tasks end at the end of a round that all can still make.
    ///
    /// # Errors
    /// [`Code::NotCommitted`]. With any other nothing is committed afterwards all the same: [`Code::PeerLost`] when a member has died since the
    /// commit, [`Code::Agent`] when the agent is gone.
    pub fn uncommit(&mut self) -> Result<Ended, Code> {
        // An agent that is gone cannot be asked; the control thread has ended the tasks then.
        let _ = self.running.as_ref().ok_or(Code::NotCommitted)?.ask_to_end(&self.member);
        self.run()
    }

    /// Ends this member's part in the job (collective): returns when all have said so that live. Nothing can be committed afterwards.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`]; then nothing has changed. [`Code::Agent`] when this member has failed: it waits for nobody.
    pub fn leave(&mut self) -> Result<(), Code> {
        if self.running.is_some() {
            return Err(Code::ObjectCommitted);
        }
        self.member.leave().map_err(|error| self.refused(&error))
    }

    /// This member has failed: its tasks and handlers begin no further run, and nothing is waited for. To the others it has died when its
    /// process ends, which the agent ends if it does not end by itself within 5 s; the reason stands in the report. What is
    /// committed stays as it is until then, for threads that use it.
    ///
    /// # Errors
    /// [`Code::NotCommitted`].
    pub fn give_up(&mut self, reason: &str) -> Result<(), Code> {
        let wish = self.running.as_ref().ok_or(Code::NotCommitted)?.abandon("its program has failed");
        self.member.give_up(wish.told(cut(reason).to_owned()));
        Ok(())
    }

    /// Waits until the horizon, a stop or a restart, and uncommits (collective).
    ///
    /// # Errors
    /// As [`Library::uncommit`].
    pub fn run(&mut self) -> Result<Ended, Code> {
        let mut running = self.running.take().ok_or(Code::NotCommitted)?;
        self.refusal.clear();
        // They end with the tasks, at the stop instant.
        std::mem::take(&mut self.event_threads).join();
        self.descriptors.clear();
        let ended = running.finish(&mut self.member);
        let lost = self.lost(&running);
        if let Some(committed) = self.committed.take() {
            self.world.take_back(&committed, &Kept::default());
        }
        if let Some(standing) = self.standing.take() {
            standing.discard();
        }
        self.world.end_modes();
        self.world.committed = false;
        match ended {
            Ok(_) if !lost.is_empty() => {
                let why = running.watch().end_reason().map_or_else(String::new, |why| format!("; {why}"));
                self.refusal = format!(
                    "{lost} died or left while this was committed, which has been released all the same{why}"
                );
                Err(Code::PeerLost)
            }
            ended => ended.map_err(|error| self.refused(&error)),
        }
    }

    /// As [`Library::run`], for a program that waits for the end and has not asked for it.
    ///
    /// # Errors
    /// As [`Library::uncommit`]; nothing is committed afterwards. [`Code::Missed`] when a member has stopped the job, as the miss policy `stop` does.
    pub fn run_to_end(&mut self) -> Result<Ended, Code> {
        match self.run()? {
            Ended::Stopped(reason) if reason != INTERRUPTED => {
                self.refusal = format!("the job was stopped: {reason}");
                Err(Code::Missed)
            }
            ended => Ok(ended),
        }
    }

    /// The names of members that died or left while this ran.
    pub(super) fn lost(&self, running: &Running) -> String {
        let names = self.world.names().iter().enumerate();
        let lost = names.filter(|(rank, _)| running.watch().is_dead(MemberId(*rank as u16)));
        lost.map(|(_, name)| format!("member \"{name}\"")).collect::<Vec<_>>().join(", ")
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        if let Some(mut running) = self.running.take() {
            // Threads of a program that fails are not waited for: what they run may not return.
            if running.is_over() && !std::thread::panicking() {
                std::mem::take(&mut self.event_threads).join();
            }
            running.give_up(&mut self.member);
        }
    }
}

impl From<JoinError> for Code {
    fn from(error: JoinError) -> Self {
        match error {
            JoinError::NotAMember(_) | JoinError::Unreachable { .. } | JoinError::Refused(_) => Self::Agent,
            JoinError::NoThread(_) => Self::NoMemory,
        }
    }
}

impl From<&CommitError> for Code {
    fn from(error: &CommitError) -> Self {
        match error {
            CommitError::Declaration(_) => Self::Argument,
            CommitError::Refused { cause, mismatches, .. } => match cause {
                RefusalCause::PeerLost => Self::PeerLost,
                RefusalCause::TimedOut => Self::Timeout,
                RefusalCause::TooLate => Self::TimePast,
                RefusalCause::Declined(code) => Self::of(*code).unwrap_or(Self::Admission),
                RefusalCause::Unfit | RefusalCause::Over if mismatches.is_empty() => Self::Admission,
                RefusalCause::Unfit | RefusalCause::Over
                    if mismatches.iter().all(|mismatch| matches!(mismatch, Mismatch::TooMany { .. })) =>
                {
                    Self::Limit
                }
                RefusalCause::Unfit | RefusalCause::Over => Self::Mismatch,
            },
            CommitError::Over { cause: RefusalCause::PeerLost, .. } => Self::PeerLost,
            CommitError::Over { cause: RefusalCause::TimedOut, .. } => Self::Timeout,
            CommitError::Over { .. } | CommitError::AgentLost(_) | CommitError::GaveUp(_) => Self::Agent,
            CommitError::Bind(_) | CommitError::TaskFailed(_) => Self::Internal,
            CommitError::System { .. } => Self::NoMemory,
        }
    }
}
