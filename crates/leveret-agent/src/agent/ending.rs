//! How a job ends: nobody is waited for without end, nobody is left behind, and the record says why.

use super::starved::bound_of;
use super::{Agent, AgentError, GRACE, TICK};
use crate::patience::{FINISH_WITHIN, JOIN_WITHIN, Waiting, commit_limit};
use leveret_os::clock;
use leveret_os::control::poll;
use leveret_os::process::Change;
use leveret_protocol::control::{EndReason, RefusalCause};
use leveret_protocol::coordinator::Stage;
use leveret_report::record::{Ending, EventKind, RunRecord};
use leveret_types::{MemberId, Nanos};
use std::os::fd::{AsFd, BorrowedFd};

impl Agent<'_> {
    /// Ends members that do not come or do not stop. A starved member gets more time.
    pub(super) fn lose_patience(&mut self, now: Nanos) {
        self.look_for_starved(now);
        for rank in 0..self.seats.len() {
            if self.seats[rank].child.is_none() {
                continue;
            }
            let now = now - self.presence_lateness.starved_for(MemberId(rank as u16));
            if self.patience.is_join_over(rank, now) {
                let still = if self.seats[rank].stopped.is_some() { ", and is stopped" } else { "" };
                self.expel(rank, &format!("it has not joined within {JOIN_WITHIN} of its start{still}"));
            } else if self.patience.is_leave_over(rank, now) {
                self.end_who_stays(rank, now);
            }
        }
        self.lose_patience_with_commit(now);
        let running = matches!(self.coordinator.stage(), Stage::Running | Stage::Finishing);
        let is_ended = running && self.patience.is_run_over(now);
        let late: Vec<MemberId> = self.coordinator.unfinished().filter(|_| is_ended).collect();
        let processes = self.processes_of(&late);
        for member in self.finish_lateness.over(self.patience.end(), &processes, now) {
            self.expel_for_staying(member);
        }
        let starved = self.finish_lateness.starved();
        let bound = bound_of(&starved);
        self.name_holders(starved, "should have stopped", now);
        if let Waiting::Told(waited) = self.finish_patience.committing(&late, Nanos::MAX, now) {
            let (names, waited) = (self.named(&late), waited.0 / 1_000_000_000);
            self.note(&format!("{names} should have stopped {waited} s ago; {bound}"));
        }
        for seat in self.seats.iter_mut().filter(|seat| seat.expelled.is_some()) {
            seat.try_another_core();
        }
    }

    /// A member whose task has no thread any more runs on without it: it is ended, once it is seen not to end by itself.
    pub(super) fn end_threadless(&mut self, found: Vec<(MemberId, Nanos, String)>) {
        for (member, since, why) in found {
            let seat = &self.seats[member.index()];
            // The threads of one that has closed its connection end for that, and it is given its time.
            let is_of_job = seat.child.is_some() && seat.connection.is_some();
            if is_of_job && seat.expelled.is_none() && seat.gave_up.is_none() {
                let kind = EventKind::GaveUp { member: member.0, since, why: why.clone() };
                self.event_of_member(member.index(), clock::now(), kind);
                self.expel(member.index(), &why);
            }
        }
    }

    /// A member lives on though it has closed its connection or given up, or though nothing more can be committed. In the middle of a commit its
    /// process is killed. Otherwise the others are told, once, that it has left.
    fn end_who_stays(&mut self, rank: usize, now: Nanos) {
        let seat = &self.seats[rank];
        let may_stay =
            self.coordinator.stage() == Stage::Gathering && !self.groups.has(MemberId(rank as u16));
        if seat.expelled.is_some() || (may_stay && seat.gave_up.is_none()) {
            self.patience.joined(rank);
            return self.gone_for_good(rank);
        }
        let what = match seat.gave_up {
            Some(_) => "giving up",
            None => {
                let (at, member) = (now - FINISH_WITHIN, rank as u16);
                let why = "it closed its connection in the middle of a commit".to_owned();
                self.event_of_member(rank, at, EventKind::GaveUp { member, since: at, why });
                "closing its connection in the middle of a commit"
            }
        };
        // A process that a debugger holds does not end for that either, and is given up after this time again.
        self.patience.leaving(rank, now);
        self.expel(rank, &format!("it has not ended within {FINISH_WITHIN} of {what}"));
    }

    /// One that was ended, and whose process has not ended for it, is held by a debugger, most likely.
    fn gone_for_good(&mut self, rank: usize) {
        let member = MemberId(rank as u16);
        let actions = match self.seats[rank].expelled.clone() {
            Some(reason) => {
                let how = format!(
                    "expelled: {reason}, and killed; its process has not ended, as of one that a debugger holds"
                );
                self.event_of_member(
                    rank,
                    clock::now(),
                    EventKind::MemberDied { member: member.0, how: how.clone() },
                );
                self.coordinator.died(member, &how)
            }
            None => self.coordinator.left(member),
        };
        self.act(actions);
    }

    /// Ends one that goes on after the end of what it ran.
    pub(super) fn expel_for_staying(&mut self, member: MemberId) {
        let seat = &mut self.seats[member.index()];
        seat.outstayed = true;
        let still = if seat.stopped.is_some() { ", stopped by a signal" } else { "" };
        // One that got no core was waited for.
        let waited = clock::now() - self.patience.end();
        let what = match waited >= FINISH_WITHIN + Nanos::from_secs(1) {
            true => {
                format!("it had not stopped {} s after the end of the run{still}", waited.0 / 1_000_000_000)
            }
            false => format!("it did not stop within {FINISH_WITHIN} of the end of the run{still}"),
        };
        self.expel(member.index(), &what);
    }

    /// Names members that keep the others waiting, and ends them in the end. Those that have not joined have a time
    /// limit of their own.
    fn lose_patience_with_commit(&mut self, now: Nanos) {
        let runs_on = self.coordinator.awaited_to_uncommit();
        let uncommitting = !runs_on.is_empty();
        // A member may run as long as it likes; that the others wait for it is told.
        let setting_up = self.coordinator.is_setting_up();
        let missing = if uncommitting { runs_on } else { self.coordinator.awaited() };
        // One that is in a group's commit may be so as long as it likes too.
        let is_bound = |member: &MemberId| !uncommitting && !self.groups.has(*member);
        let bound = missing.iter().copied().filter(is_bound);
        let bound: Vec<_> = bound.map(|member| (member, self.allowed(setting_up, member, now))).collect();
        match self.patience.committing_some(&missing, &bound, now) {
            Waiting::Quiet => {}
            Waiting::Told(waited) => {
                let waited = waited.0 / 1_000_000_000;
                let names = self.named(&missing);
                self.note(&if setting_up {
                    format!(
                        "{names} still set{} up what is to be committed, after {waited} s",
                        s_of_one(&missing)
                    )
                } else if uncommitting {
                    format!("waiting for {names} to uncommit too: the others wait for {waited} s")
                } else {
                    let (within, all) = (self.config.commit_within, missing.len());
                    let bound: Vec<MemberId> = bound.iter().map(|(member, _)| *member).collect();
                    let limit = match (bound.len(), all) {
                        (0, 1) => "as long as it is in another commit".to_owned(),
                        (0, _) => "as long as they are in other commits".to_owned(),
                        (some, all) if some < all => format!("for {within} for {}", self.named(&bound)),
                        _ => format!("for {within}"),
                    };
                    let elsewhere = self.elsewhere(&missing);
                    format!(
                        "waiting for {names} to commit: the others wait for {waited} s, and will {limit}{elsewhere}"
                    )
                });
            }
            Waiting::Over(over) => {
                for member in over {
                    let within = self.limit(setting_up, member, now);
                    self.coordinator.overdue(member);
                    self.overdue_to_groups(member);
                    self.expel(member.index(), &overdue(setting_up, within));
                }
            }
        }
    }

    /// Of members that one commit waits for: which other they are in. Members that commit different things wait for each other.
    pub(super) fn elsewhere(&self, missing: &[MemberId]) -> String {
        let told = missing.iter().filter_map(|member| {
            let of_all = || {
                let is_in = self.coordinator.is_committing(*member);
                is_in.then(|| {
                    let awaited = self.named(&self.coordinator.awaited());
                    (self.coordinator.stage(), "all members".to_owned(), format!("who wait for {awaited}"))
                })
            };
            let (stage, with, awaiting) = self.in_a_group(*member).or_else(of_all)?;
            let where_it_is = match stage {
                Stage::Gathering => format!("commits with {with}, {awaiting}"),
                Stage::Running | Stage::Finishing => format!("is committed with {with}"),
                _ => format!("commits with {with}"),
            };
            Some(format!("; {} {where_it_is}", self.named(&[*member])))
        });
        told.collect()
    }

    /// How long a member may keep a commit waiting, if it gets a core.
    pub(super) fn limit(&self, setting_up: bool, member: MemberId, now: Nanos) -> Nanos {
        let stopped = self.seats[member.index()].stands_still().map(|(since, _)| since);
        commit_limit(self.config.commit_within, setting_up, stopped, now)
    }

    /// The same, with the time in which it got none.
    pub(super) fn allowed(&self, setting_up: bool, member: MemberId, now: Nanos) -> Nanos {
        self.limit(setting_up, member, now) + self.commit_lateness.starved_for(member)
    }

    /// Members with their processes, of those that have one.
    pub(super) fn processes_of(&self, members: &[MemberId]) -> Vec<(MemberId, u32)> {
        let process = |member: &MemberId| Some((*member, self.seats[member.index()].process()?));
        members.iter().filter_map(process).collect()
    }

    /// Members as they are told to the user, with what keeps them if that is known.
    pub(super) fn named(&self, members: &[MemberId]) -> String {
        let named = members.iter().map(|member| {
            let (seat, name) = (&self.seats[member.index()], &self.config.launch[member.index()].member);
            match seat.stands_still() {
                Some((_, process)) => {
                    format!("member \"{name}\" (stopped; `kill -CONT {process}` lets it go on)")
                }
                None => format!("member \"{name}\""),
            }
        });
        named.collect::<Vec<_>>().join(", ")
    }

    /// Names members that keep those waiting that finalize. They may do so as long as they like.
    pub(super) fn lose_patience_with_leaving(&mut self, now: Nanos) {
        let is_waited = self.seats.iter().any(|seat| seat.leaving && seat.connection.is_some());
        let stay = self.seats.iter().enumerate().filter(|(_, seat)| is_waited && seat.may_commit());
        let stay: Vec<MemberId> = stay.map(|(rank, _)| MemberId(rank as u16)).collect();
        if let Waiting::Told(waited) = self.leave_patience.committing(&stay, Nanos::MAX, now) {
            let (names, waited) = (self.named(&stay), waited.0 / 1_000_000_000);
            self.note(&format!("waiting for {names} to finalize too: the others wait for {waited} s"));
        }
    }

    /// No commit is possible any more, so every member should end soon.
    pub(super) fn dismiss_all(&mut self) {
        let now = clock::now();
        for rank in 0..self.seats.len() {
            self.patience.leaving(rank, now);
        }
    }

    /// Lets members that have joined end by themselves, then ends those that do not.
    pub(super) fn end_members(&mut self) {
        let limit = clock::now() + GRACE;
        self.strangers.dismiss();
        for seat in &mut self.seats {
            seat.connection = None;
            // It has not heard of the job, so it would not notice its end either.
            if !seat.joined {
                seat.kill();
            }
        }
        while clock::now() < limit
            && !self.interrupt.is_repeated()
            && self.seats.iter().any(|seat| seat.child.is_some())
        {
            let descriptors: Vec<BorrowedFd<'_>> = self
                .seats
                .iter()
                .filter_map(|seat| seat.child.as_ref())
                .map(|child| child.pidfd.as_fd())
                .collect();
            if poll(&descriptors, Some(TICK)).is_err() {
                break;
            }
            for seat in &mut self.seats {
                if let Some(Change::Ended(_)) = seat.change() {
                    seat.child = None;
                }
            }
        }
        let left = self.seats.iter().enumerate().filter(|(_, seat)| seat.joined && seat.child.is_some());
        let left: Vec<MemberId> = left.map(|(rank, _)| MemberId(rank as u16)).collect();
        if !left.is_empty() {
            let names = self.named(&left);
            if self.interrupt.is_repeated() {
                self.note(&format!(
                    "asked again: {names} ended at once; once more to end `leveret run` itself, without its report"
                ));
            } else {
                let why = format!("{names} did not end within {GRACE} of the job's end, and was ended");
                self.warn([why.clone()]);
                self.fail_after_the_run(why);
            }
        }
        // Until now they had instances to run: who did nothing to the end is seen by that.
        for member in left.into_iter().filter(|_| self.interrupt.is_repeated()).collect::<Vec<_>>() {
            let how = "by `leveret run`, which was asked again to end".to_owned();
            let kind = EventKind::MemberEnded { member: member.0, how };
            self.event_of_member(member.index(), clock::now(), kind);
        }
        for seat in &self.seats {
            seat.kill();
        }
        for seat in &mut self.seats {
            // It was killed; polling or reaping it cannot fail in a way that matters.
            while let Some(child) = &seat.child
                && poll(&[child.pidfd.as_fd()], Some(TICK)).is_ok_and(|ready| !ready[0].any())
            {
                seat.try_another_core();
            }
            if let Some(child) = seat.child.take() {
                let _ = child.pidfd.wait();
            }
        }
    }

    /// A job whose programs had to be killed has not succeeded, though all that it was to run ran. What it ended with before stands.
    fn fail_after_the_run(&mut self, why: String) {
        let is_orderly =
            matches!(self.ending, Ending::Completed | Ending::Interrupted | Ending::InterruptedAfter);
        if is_orderly && self.refusal.is_none() && self.ended.count() > 0 {
            let failed = Ending::Stopped(why);
            self.ending = if self.is_cut { failed } else { failed.after_all_rounds() };
        }
    }

    pub(super) fn into_record(mut self) -> Result<RunRecord, AgentError> {
        if self.monitor.is_some() {
            self.close_phase(&EndReason::Interrupted);
        }
        self.close_groups();
        if let Some(journal) = self.journal.take() {
            journal.finish();
        }
        if self.ended.count() == 0 {
            let of_group = self.groups.refusal.take();
            let decided = self.ending.reason().unwrap_or_default();
            return Err(match self.ending {
                Ending::Aborted { code, .. } => AgentError::Aborted { code, reason: decided },
                Ending::Stopped(reason) | Ending::FailedAfter(reason) => AgentError::NothingRan(reason),
                ending => nothing_ran(ending == Ending::Completed, self.refusal, of_group),
            });
        }
        // A later commit that was refused for good ended the job before its program did.
        if let (Ending::Completed, Some((cause, reason))) = (&self.ending, self.refusal.take()) {
            let what = if is_of_declarations(cause) { "was refused" } else { "was not made" };
            self.ending = Ending::Stopped(format!("commit {} {what}: {reason}", self.ended.count() + 1));
        }
        if self.ending == Ending::Interrupted && !self.is_cut {
            self.ending = Ending::InterruptedAfter;
        }
        let folded = self.folded();
        self.warn(folded);
        Ok(RunRecord {
            job: self.config.declaration.name.clone(),
            started_unix_s: self.started_unix_s,
            machine: self.facts,
            phases: self.ended.into_phases(),
            ending: self.ending,
        })
    }
}

/// Whether a commit was refused for what was declared; others fail because a member is no longer there, or not in time.
fn is_of_declarations(cause: RefusalCause) -> bool {
    match cause {
        RefusalCause::Unfit | RefusalCause::TooLate | RefusalCause::Declined(_) => true,
        RefusalCause::PeerLost | RefusalCause::TimedOut | RefusalCause::Over => false,
    }
}

/// What is told of a job that ended by itself, or by a signal, before its first commit.
fn nothing_ran(
    by_itself: bool,
    of_all: Option<(RefusalCause, String)>,
    of_group: Option<String>,
) -> AgentError {
    let is_refused = by_itself && of_all.as_ref().is_none_or(|(cause, _)| is_of_declarations(*cause));
    let reason = match (of_all, of_group) {
        (Some((_, of_all)), Some(of_group)) => format!("{of_all}; before that {of_group}"),
        (Some((_, reason)), None) | (None, Some(reason)) => reason,
        (None, None) => return AgentError::NothingRan("every member ended without committing".to_owned()),
    };
    if is_refused { AgentError::Refused(reason) } else { AgentError::NothingRan(reason) }
}

/// Why a member is ended that kept a commit waiting.
pub(super) fn overdue(setting_up: bool, within: Nanos) -> String {
    if setting_up {
        format!("it has not set up within {within} what is to be committed")
    } else {
        format!("it has not committed within {within} of the others")
    }
}

/// What one does, and several do without it.
pub(super) fn s_of_one(members: &[MemberId]) -> &'static str {
    if members.len() == 1 { "s" } else { "" }
}
