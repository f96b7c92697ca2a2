//! A change of mode as one member makes it: a second set is bound and its threads are set up while the first runs, and at
//! the agreed instant the one ends where the other begins.
//!
//! ```text
//!  first set   --|==|----|==|----|==|.  drops to SCHED_OTHER, ends, is joined
//!                                      |<- the instant: stop of the first, epoch of the second
//!  second set  (set up, asleep) ~~~~~~~|==|--|==|--|==|--
//! ```
//! Threads of the second set are set up at `SCHED_OTHER` on whatever core is free, and get their own core and class while they
//! sleep until their first instance.

use crate::activation::Activation;
use crate::binding::{Admitted, bind};
use crate::declare::Declarations;
use crate::listen::{Current, Next, lock};
use crate::mailbox::mailbox;
use crate::member::{Admission, CommitError, Member};
use crate::objects::Code;
use crate::session::{Prospect, Running, SessionParts};
use crate::thread::{TaskThread, ThreadPlan};
use crate::watch::Watch;
use leveret_memory::{OwnSegment, Region};
use leveret_os::{clock, nudge};
use leveret_protocol::control::{FromMember, RefusalCause, ToMember};
use leveret_protocol::declaration::{MemberDeclarations, Unfit};
use leveret_protocol::mode::{ModeAnswer, ModeRequest};
use leveret_types::{Generation, MemberId, Nanos};
use std::sync::Arc;

/// After this time a thread that said that it is about to sleep does so.
pub(crate) const ASLEEP_AFTER: Nanos = Nanos::from_millis(1);

/// What a member counts beside one commit, to tell its requests from those that a refusal has crossed.
#[derive(Default)]
pub(crate) struct Modes {
    beside: Generation,
    attempt: u32,
}

impl Modes {
    /// The number of the next attempt beside this commit.
    fn attempt(&mut self, beside: Generation) -> u32 {
        if self.beside != beside {
            *self = Self { beside, attempt: 0 };
        }
        self.attempt
    }

    pub(crate) fn refused(&mut self) {
        self.attempt = self.attempt.saturating_add(1);
    }
}

/// Why a switch does not take place.
#[derive(Debug, thiserror::Error)]
pub enum SwitchError {
    /// The agent refused it, to every member; the mode stays committed.
    #[error("{reason}")]
    Refused {
        /// Why.
        reason: String,
        /// What kind of reason that is.
        cause: RefusalCause,
    },
    /// What runs was ended before the agreed instant.
    #[error("the run was ended before the switch at which the mode was to take over{}", because_of(lost))]
    Ended {
        /// The members that had died or left, as they are told; empty: none had.
        lost: String,
    },
    /// The control connection broke.
    #[error(transparent)]
    Agent(#[from] CommitError),
}

fn because_of(lost: &str) -> String {
    if lost.is_empty() { String::new() } else { format!(": {lost} died or left") }
}

/// A mode that is committed and waits for its switch.
pub(crate) struct Standing {
    parts: SessionParts,
    /// Kernel thread ids of the tasks, and how each is to be scheduled.
    threads: Vec<(u32, ThreadPlan)>,
    switch_attempt: u32,
}

impl Member {
    /// Commits a mode beside what runs, together with every other member (collective). What runs does not notice.
    pub(crate) fn commit_mode(
        &mut self,
        beside: Generation,
        name: &str,
        declarations: Declarations,
        settle: impl FnOnce(Prospect) -> Result<(), CommitError>,
    ) -> Result<Standing, CommitError> {
        if let Err(error) = declarations.check() {
            let unfit = Unfit { code: Code::Argument as i32, reason: error.to_string() };
            return Err(self.decline_mode(beside, name, unfit));
        }
        self.declare_mode(beside, name, declarations.wire.clone())?;
        let admission = self.await_plan()?;
        let standing = match self.carry_out_mode(&admission, declarations, settle) {
            Ok(standing) => standing,
            Err(error @ (CommitError::Bind(_) | CommitError::System { .. })) => {
                self.forget_next();
                return Err(self.withdraw(admission.generation, error));
            }
            Err(error) => {
                self.forget_next();
                return Err(error);
            }
        };
        Ok(standing)
    }

    fn declare_mode(
        &mut self,
        beside: Generation,
        name: &str,
        declarations: MemberDeclarations,
    ) -> Result<(), CommitError> {
        let attempt = self.modes.attempt(beside);
        let (name, declarations) = (name.to_owned(), Box::new(declarations));
        let request = ModeRequest::Declare { beside, attempt, name, declarations };
        self.send(&FromMember::Mode(request), &[])
    }

    /// As [`Member::decline`], of a mode.
    pub(crate) fn decline_mode(&mut self, beside: Generation, name: &str, unfit: Unfit) -> CommitError {
        let declarations = MemberDeclarations { unfit: Some(unfit), ..MemberDeclarations::default() };
        let said = self.declare_mode(beside, name, declarations);
        said.err().unwrap_or_else(|| self.await_refusal())
    }

    fn carry_out_mode(
        &mut self,
        admission: &Admission,
        declarations: Declarations,
        settle: impl FnOnce(Prospect) -> Result<(), CommitError>,
    ) -> Result<Standing, CommitError> {
        let Admission { generation, assembled, plan, horizon } = admission;
        let (generation, rank) = (*generation, self.rank());
        let admitted = Admitted { assembled, plan, generation };
        let (mut segment, region): (OwnSegment, Arc<dyn Region>) = self.make_segment(&admitted)?;
        let peers = self.await_peers(&admitted)?;
        let watch = Arc::new(Watch::new(self.members().len(), Nanos::MAX));
        let next = Next { generation, watch: watch.clone(), threads: Vec::new() };
        if let Some(current) = &mut *lock(&self.current) {
            current.next = Some(next);
        }
        let find = |member: MemberId| {
            peers.iter().find(|(peer, _)| *peer == member).map(|(_, region)| region.clone())
        };
        let peer = |member: MemberId| if member == rank { Some(region.clone()) } else { find(member) };
        let bound = bind(&admitted, rank, declarations, &mut segment, peer, &watch)?;
        let how = (rank, self.scheduling);
        settle(Prospect::new(&admitted, how, &watch, (bound.mapped, bound.events)))?;
        let plans: Vec<ThreadPlan> = bound
            .tasks
            .iter()
            .map(|(task, _)| ThreadPlan::new(&assembled.job, plan, *task, self.scheduling))
            .collect();
        let (threads, mut ready, activations) =
            self.start_threads(&admitted, bound.tasks, ThreadPlan::aside)?;
        clock::sleep_until(clock::now() + ASLEEP_AFTER);
        let mut raised = Vec::with_capacity(plans.len());
        for plan in plans {
            let Some(report) = ready.iter_mut().find(|report| report.task == plan.task) else { continue };
            plan.try_to_raise(report.thread, report);
            raised.push((report.thread, plan));
        }
        if let Some(Current { next: Some(next), .. }) = &mut *lock(&self.current) {
            next.threads = raised.iter().map(|(thread, _)| *thread).collect();
        }
        self.report_ready(generation, ready, None)?;
        match self.next_of_commit()?.0 {
            ToMember::Mode(ModeAnswer::Stands { generation: g }) if g == generation => {}
            _ => {
                return Err(CommitError::AgentLost(
                    "it spoke out of turn instead of committing the mode".to_owned(),
                ));
            }
        }
        Ok(Standing {
            parts: SessionParts {
                generation,
                epoch: Nanos::MAX,
                horizon: *horizon,
                hyperperiod: plan.hyperperiod,
                threads,
                sources: bound.sources,
                targets: bound.targets,
                activations,
                watch,
                segment,
            },
            threads: raised,
            switch_attempt: 0,
        })
    }

    /// Of a mode that will not run.
    pub(crate) fn forget_next(&self) {
        if let Some(current) = &mut *lock(&self.current) {
            current.next = None;
        }
    }

    /// Agrees with all members on the instant at which `standing` takes over (collective).
    pub(crate) fn agree_to_switch(
        &mut self,
        standing: &mut Standing,
        earliest: Option<Nanos>,
    ) -> Result<Nanos, SwitchError> {
        let (generation, attempt) = (standing.parts.generation, standing.switch_attempt);
        self.send(&FromMember::Mode(ModeRequest::Switch { generation, attempt, earliest }), &[])?;
        loop {
            match self.next_of_commit()?.0 {
                ToMember::Mode(ModeAnswer::SwitchAt { generation: g, instant }) if g == generation => {
                    return Ok(instant);
                }
                ToMember::Mode(ModeAnswer::SwitchRefused { generation: g, reason, cause })
                    if g == generation =>
                {
                    standing.switch_attempt = attempt.saturating_add(1);
                    return Err(SwitchError::Refused { reason, cause });
                }
                _ => {}
            }
        }
    }

    /// Ends the tasks of a mode that was to take over and does not.
    pub(crate) fn end_next(&self, next: &mut Running) {
        next.watch().stop_no_later_than(Nanos::ZERO);
        let threads = lock(&self.current).as_ref().and_then(|current| current.next.clone());
        let threads = threads.map_or_else(Vec::new, |next| next.threads);
        // One that is just going to sleep misses a signal, so there are more.
        while next.has_tasks() {
            threads.iter().copied().for_each(nudge::nudge);
            clock::sleep_until(clock::now() + ASLEEP_AFTER);
        }
        next.join_tasks();
        self.forget_next();
    }

    /// The mode is what runs at this member; what ran has ended.
    pub(crate) fn take_over(&self, next: &Running) -> Result<(), CommitError> {
        let mut current = lock(&self.current);
        if let Some(Current { next: Some(next), .. }) = current.take() {
            *current = Some(Current { watch: next.watch, threads: next.threads, next: None });
        }
        drop(current);
        self.send(&FromMember::Mode(ModeRequest::Switched { generation: next.generation() }), &[])
    }
}

impl Standing {
    /// What will tell its threads of the end and of deaths.
    pub(crate) fn watch(&self) -> &Arc<Watch> {
        &self.parts.watch
    }

    /// Ends the threads that wait for their epoch.
    pub(crate) fn discard(self) {
        for thread in self.parts.threads {
            // It has run nothing, so there is nothing that could have panicked.
            let _ = thread.join();
        }
    }

    /// Tells the threads their epoch; each then sleeps until its first instance, on its core and in its class.
    pub(crate) fn arm(self, epoch: Nanos) -> Running {
        let Self { mut parts, threads, .. } = self;
        parts.epoch = epoch;
        parts.watch.stop_no_later_than(epoch + parts.horizon.span(parts.hyperperiod));
        let activations: &[(u32, Arc<Activation>)] = &parts.activations;
        for (_, activation) in activations {
            activation.arm(epoch);
        }
        let armed: &[TaskThread] = &parts.threads;
        let (known, told) = mailbox(armed.len());
        for thread in armed {
            thread.arm_and_tell(epoch, known.clone());
        }
        drop(known);
        told.all().for_each(drop);
        clock::sleep_until(clock::now() + ASLEEP_AFTER);
        for (thread, plan) in threads {
            plan.raise(thread);
        }
        Running::new(parts)
    }
}

impl Running {
    /// Waits until what runs has made place for a mode whose epoch is `instant`; whether it ended there and not before.
    pub(crate) fn make_place(&mut self, instant: Nanos) -> bool {
        let has_panicked = self.join_tasks();
        self.watch().stop_at() == instant && !has_panicked && self.watch().wish().is_none()
    }
}
