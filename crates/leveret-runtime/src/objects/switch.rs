//! A mode's way from its objects to what runs: commit beside the run, agreement, switch.

use super::commit::{Binding, Unfit};
use super::error::Code;
use super::events::{EventThreads, Words};
use super::handle::Handle;
use super::keep::Kept;
use super::library::Library;
use super::world::World;
use crate::member::CommitError;
use crate::mode::{Standing, SwitchError};
use crate::session::Running;
use crate::watch::Watch;
use leveret_os::clock;
use leveret_protocol::control::RefusalCause;
use leveret_types::{Generation, Nanos};

/// A committed mode.
pub(super) struct StandingMode {
    standing: Standing,
    binding: Binding,
    /// Its objects.
    view: World,
    kept: Kept,
    threads: EventThreads,
}

impl StandingMode {
    /// It will not run.
    pub(super) fn discard(self) {
        self.standing.discard();
        self.threads.join();
        self.view.release_memory(&self.kept);
    }
}

impl Library {
    /// Binds a mode and tests its admission and that of the switch, beside what runs, together with all members (collective).
    ///
    /// # Errors
    /// [`Code::NotCommitted`]; [`Code::ObjectCommitted`] of one that is committed; with the reason in [`Library::refusal`] [`Code::Argument`],
    /// [`Code::Mismatch`], [`Code::Admission`], [`Code::PeerLost`], [`Code::Timeout`], and [`Code::Uncommitted`] when what runs is being ended. Then the
    /// mode is open as before.
    pub fn commit_mode(&mut self, mode: Handle) -> Result<(), Code> {
        self.refusal.clear();
        let beside = self.running.as_ref().ok_or(Code::NotCommitted)?.generation();
        let set = self.world.open_set(mode)?;
        let name = self.world.name(mode)?.to_owned();
        let kept = self.world.kept(self.committed.as_ref().ok_or(Code::NotCommitted)?);
        let bound = self.world.of_set(set, &kept).and_then(|view| match view.bind(&kept) {
            Ok(binding) => Ok((view, binding)),
            Err(unfit) => {
                view.release_memory(&kept);
                Err(unfit)
            }
        });
        let (view, mut binding) = bound.map_err(|unfit| self.mode_declined(beside, &name, unfit))?;
        let declarations = std::mem::replace(&mut binding.declarations, crate::Declarations::new(""));
        let mut threads = EventThreads::default();
        let settle = |prospect| binding.settle(prospect, &kept).map(|prepared| threads = prepared);
        match self.member.commit_mode(beside, &name, declarations, settle) {
            Ok(standing) => {
                self.refusal.clear();
                self.world.stands(set, &view);
                self.standing = Some(StandingMode { standing, binding, view, kept, threads });
                Ok(())
            }
            Err(error) => {
                threads.join();
                view.release_memory(&kept);
                Err(self.mode_refused(&error))
            }
        }
    }

    /// As [`Library::decline`], of a mode beside what runs (collective): it is open as before.
    pub fn decline_mode(&mut self, mode: Handle, code: Code) -> Code {
        self.refusal.clear();
        let Some(running) = &self.running else { return Code::NotCommitted };
        let beside = running.generation();
        let name = self.world.open_set(mode).and_then(|_| Ok(self.world.name(mode)?.to_owned()));
        match name {
            Ok(name) => self.mode_declined(beside, &name, code.into()),
            Err(error) => error,
        }
    }

    fn mode_declined(&mut self, beside: Generation, name: &str, unfit: Unfit) -> Code {
        let refusal = self.member.decline_mode(beside, name, unfit.told());
        self.mode_refused(&refusal)
    }

    /// As [`Library::refused`]: a mode comes too late when what runs is being ended.
    fn mode_refused(&mut self, error: &CommitError) -> Code {
        let code = self.refused(error);
        match error {
            CommitError::Refused { cause: RefusalCause::TooLate | RefusalCause::Over, .. } => {
                Code::Uncommitted
            }
            _ => code,
        }
    }

    /// Agrees with all members on the instant at which a mode takes over, not before `earliest`, and returns when it runs here
    /// (collective).
    ///
    /// # Errors
    /// [`Code::NotCommitted`]; [`Code::Argument`] when the mode is not committed; with the reason in [`Library::refusal`] [`Code::TimePast`],
    /// [`Code::PeerLost`], [`Code::Timeout`], and [`Code::Uncommitted`] when what runs was ended before. The mode stays committed, but for the last.
    pub fn switch_mode(&mut self, mode: Handle, earliest: Option<Nanos>) -> Result<Nanos, Code> {
        if self.running.is_none() {
            return Err(Code::NotCommitted);
        }
        self.refusal.clear();
        if !self.world.is_standing(mode)? {
            self.refusal =
                format!("{} is not committed; commit it first", self.world.called("the mode", mode));
            return Err(Code::Argument);
        }
        let mut standing = self.standing.take().ok_or(Code::Internal)?;
        // Before there can be an instant: whoever waits at something kept must never see the end of what runs as its own.
        if let (Some(before), Some(committed)) = (&self.running, &self.committed) {
            before.watch().succeeded_by(standing.standing.watch());
            committed.hand_over(&standing.kept, before.watch(), &standing.binding.committed);
        }
        let instant = match self.member.agree_to_switch(&mut standing.standing, earliest) {
            Ok(instant) => instant,
            Err(error) => {
                self.standing = Some(standing);
                self.refusal = error.to_string();
                return Err(code_of_switch(&error));
            }
        };
        let StandingMode { standing, binding, view, kept, threads } = standing;
        let mut next = standing.arm(instant);
        binding.attach(&mut next);
        // Set once: a mode is switched to once.
        let _ = binding.committed.epoch.set(next.epoch());
        threads.arm_aside(instant);
        let mut before = self.running.take().ok_or(Code::Internal)?;
        await_instant(before.watch(), instant);
        let has_made_place = before.make_place(instant);
        std::mem::take(&mut self.event_threads).join();
        self.descriptors.clear();
        if !has_made_place {
            return Err(self.stay(before, (next, threads), (&view, &kept)));
        }
        binding.go_on(&mut next);
        self.take_over(before, next, threads, (&binding, &view, &kept))?;
        Ok(instant)
    }

    fn take_over(
        &mut self,
        before: Running,
        next: Running,
        threads: EventThreads,
        (binding, view, kept): (&Binding, &World, &Kept),
    ) -> Result<(), Code> {
        self.event_threads = threads;
        let told = self.member.take_over(&next);
        if let Some(committed) = self.committed.take() {
            self.world.take_back(&committed, kept);
        }
        self.world.take_over(view);
        drop(before);
        self.committed = Some(binding.committed.clone());
        self.running = Some(next);
        self.refusal.clear();
        told.map_err(|error| Code::from(&error))
    }

    /// What runs was ended before the mode could take over: so it is for every member.
    fn stay(
        &mut self,
        before: Running,
        (mut next, threads): (Running, EventThreads),
        (view, kept): (&World, &Kept),
    ) -> Code {
        let lost = self.lost(&before);
        self.running = Some(before);
        self.member.end_next(&mut next);
        threads.join();
        drop(next);
        view.release_memory(kept);
        self.world.give_up_mode();
        let error = SwitchError::Ended { lost };
        self.refusal = error.to_string();
        code_of_switch(&error)
    }
}

/// Until the instant has come, or what runs is to end before it. Tasks last as long anyhow; a member that has none must not decide before the
/// others, who may still hear of a death, that the mode takes over.
fn await_instant(watch: &Watch, instant: Nanos) {
    loop {
        let mut words = Words::new();
        words.push(watch.bell());
        if watch.stop_at() < instant || clock::now() >= instant {
            return;
        }
        words.sleep(std::iter::empty(), instant);
    }
}

fn code_of_switch(error: &SwitchError) -> Code {
    match error {
        SwitchError::Refused { cause, .. } => match cause {
            RefusalCause::TooLate => Code::TimePast,
            RefusalCause::PeerLost => Code::PeerLost,
            RefusalCause::TimedOut => Code::Timeout,
            RefusalCause::Over => Code::Uncommitted,
            RefusalCause::Unfit | RefusalCause::Declined(_) => Code::Internal,
        },
        SwitchError::Ended { lost } if lost.is_empty() => Code::Uncommitted,
        SwitchError::Ended { .. } => Code::PeerLost,
        SwitchError::Agent(error) => Code::from(error),
    }
}
