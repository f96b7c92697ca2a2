//! Members as processes: started, ended, stopped, started again.

use super::{Agent, AgentError};
use crate::monitor::Monitor;
use leveret_os::clock;
use leveret_os::process::{Change, Child, Exit, Orphan};
use leveret_protocol::control::EndReason;
use leveret_protocol::coordinator::{Action, DeathPolicy, Stage};
use leveret_report::record::{Ending, EventKind};
use leveret_runtime::TOKEN_VARIABLE;
use leveret_types::{MemberId, Nanos};

/// A member that dies again and again is not started for ever.
const RESTARTS_MAX: u32 = 10;
/// From a stop to the agent's learning of it.
const STOP_NEWS_WITHIN: Nanos = Nanos::from_millis(2);

/// Processes that were killed may take this long to end.
const ORPHANS_WITHIN: Nanos = Nanos::from_secs(5);
/// Of more than these the others are not named.
const ORPHANS_NAMED: usize = 8;

fn count(processes: usize) -> String {
    if processes == 1 { "a process".to_owned() } else { format!("{processes} processes") }
}

impl Agent<'_> {
    pub(super) fn launch_all(&mut self) -> Result<(), AgentError> {
        (0..self.seats.len()).try_for_each(|rank| self.launch(rank))
    }

    pub(super) fn launch(&mut self, rank: usize) -> Result<(), AgentError> {
        let launch = &self.config.launch[rank];
        self.patience.launched(rank, clock::now());
        self.seats[rank]
            .launch(launch, (&self.config.declaration.name, self.listener.path()), self.carriers.as_ref())
            .map_err(|error| AgentError::Launch { member: launch.member.clone(), cause: error })
    }

    /// A member that breaks the protocol is a member that has died.
    pub(super) fn expel(&mut self, rank: usize, reason: &str) {
        let name = self.config.launch[rank].member.clone();
        // The first reason is why it ends.
        if self.seats[rank].expelled.is_none() {
            self.warn([format!("member \"{name}\" is expelled: {reason}")]);
            self.seats[rank].expelled = Some(reason.to_owned());
        }
        self.seats[rank].kill();
        let member = MemberId(rank as u16);
        self.monitor.iter_mut().chain(self.groups.monitors()).for_each(|monitor| monitor.ends(member));
    }

    pub(super) fn on_change(&mut self, rank: usize) {
        // What the member wrote before its end counts.
        self.on_frames(rank);
        while let Some(change) = self.seats[rank].change() {
            match change {
                Change::Ended(exit) => return self.on_exit(rank, exit),
                Change::Stopped(_) => self.on_stop_or_continue(rank, true),
                Change::Continued => self.on_stop_or_continue(rank, false),
            }
        }
    }

    /// Something may have happened to some of them.
    pub(super) fn on_changes(&mut self) {
        if let Some(changes) = &self.changes {
            changes.seen();
        }
        for rank in 0..self.seats.len() {
            if self.seats[rank].child.is_some() {
                self.on_change(rank);
            }
        }
        if let Some(adoption) = &self.adoption {
            adoption.reap(|pid| self.seats.iter().any(|seat| seat.is(pid)));
        }
    }

    /// Ends what members started and did not end: it is the job's, in whatever session it hides.
    pub(super) fn end_orphans(&mut self) {
        let Some(adoption) = &self.adoption else { return };
        let (killed, left) = adoption.end(ORPHANS_WITHIN);
        let listed = |orphans: &[Orphan]| {
            let shown =
                orphans.iter().take(ORPHANS_NAMED).map(|orphan| format!("{} ({})", orphan.pid, orphan.name));
            let shown = shown.collect::<Vec<_>>().join(", ");
            if orphans.len() > ORPHANS_NAMED { format!("{shown} and more") } else { shown }
        };
        if !killed.is_empty() {
            self.note(&format!(
                "ended {} that members had started and left behind: {}",
                count(killed.len()),
                listed(&killed)
            ));
        }
        if !left.is_empty() {
            self.warn([format!(
                "{} that members had started did not end within {ORPHANS_WITHIN} of SIGKILL: {}; look at them with `ps`",
                count(left.len()),
                listed(&left)
            )]);
        }
    }

    pub(super) fn on_stop_or_continue(&mut self, rank: usize, stopped: bool) {
        let member = rank as u16;
        let now = clock::now();
        // The news of a stop comes a little after it.
        let since = self.last_tick.max(now - STOP_NEWS_WITHIN);
        let before = self.seats[rank].stopped;
        self.seats[rank].stopped = stopped.then(|| before.unwrap_or(since));
        // Of a stop and a continuation that follow each other closely only the latter is told.
        if before.is_none() {
            self.event_of_member(rank, since, EventKind::MemberStopped { member });
        }
        if !stopped {
            self.event_of_member(rank, now, EventKind::MemberContinued { member });
        }
    }

    /// Into the record of what the member runs, and of what it is about to.
    pub(super) fn event_of_member(&mut self, rank: usize, at: Nanos, kind: EventKind) {
        self.event_of_next(at, &kind);
        if let Some(monitor) = self.monitor_of(rank) {
            monitor.event(at, kind);
        }
    }

    /// Of what the member runs.
    pub(super) fn monitor_of(&mut self, rank: usize) -> Option<&mut Monitor> {
        if self.monitor.is_some() { self.monitor.as_mut() } else { self.monitor_of_group(rank) }
    }

    /// A command such as `setsid` ends at once and leaves the member's process behind, which has not joined yet: then that is the member.
    fn take_what_was_left(&mut self, rank: usize, exit: Exit) -> bool {
        let seat = &mut self.seats[rank];
        if !exit.is_success() || seat.joined || seat.expelled.is_some() {
            return false;
        }
        let found = self.adoption.as_ref().and_then(|adoption| adoption.find(TOKEN_VARIABLE, &seat.token));
        match found.map(Child::adopted) {
            Some(Ok(child)) => {
                seat.child = Some(child);
                true
            }
            _ => false,
        }
    }

    pub(super) fn on_exit(&mut self, rank: usize, exit: Exit) {
        if self.take_what_was_left(rank, exit) {
            return;
        }
        let member = MemberId(rank as u16);
        let is_because_of_the_end = self.ends_because_of_the_end(rank, exit);
        let seat = &mut self.seats[rank];
        let is_success = exit.is_success() && seat.gave_up.is_none();
        let was_expelled = seat.expelled.is_some();
        let unstarted = seat.child.as_ref().and_then(Child::start_failure);
        let how = match (seat.gave_up.take(), seat.expelled.take()) {
            (Some(reason), _) => format!("{exit}, {reason}"),
            (None, Some(reason)) if !exit.is_success() => format!("{exit}, expelled: {reason}"),
            _ => unstarted.map_or_else(|| exit.to_string(), |error| error.to_string()),
        };
        seat.child = None;
        // Of a wrapper that ended before what it had started: it must not go on beside one that takes its place.
        seat.kill();
        seat.peer = None;
        seat.connection = None;
        seat.token.clear();
        let was_in_group = self.lost_to_groups(rank, (is_success, is_because_of_the_end), &how);
        let orderly = is_success && self.coordinator.stage() == Stage::Gathering && !was_in_group;
        let actions = if orderly {
            self.coordinator.left(member)
        } else if is_because_of_the_end {
            self.tell_of_an_end_for_the_end((rank, was_in_group), &how);
            self.coordinator.ended_with_the_run(member)
        } else {
            let name = self.config.launch[rank].member.clone();
            // After a refusal members end with an error of their own; that is no news. After an interrupt they may, for waits that came back.
            let may_follow = matches!(self.ending, Ending::Interrupted) && exit.is_by_program();
            if self.refusal.is_none() && !may_follow {
                self.warn([format!("member \"{name}\" ended: {how}")]);
            } else if may_follow {
                self.note(&format!("member \"{name}\" ended after the run had been interrupted: {how}"));
            }
            let (now, died) = (clock::now(), EventKind::MemberDied { member: member.0, how: how.clone() });
            self.event_of_next(now, &died);
            if let Some(monitor) = &mut self.monitor {
                monitor.event(now, died);
            } else if !was_in_group && !may_follow && self.fails_after_a_run() {
                let ended = format!("member \"{name}\" ended: {how}{}", self.after_a_death());
                let stopped = Ending::Stopped(self.groups.after_refusal(ended));
                // One that was ended for not committing has kept the others from a further commit.
                let is_after = !self.is_cut && !was_expelled && self.groups.refusal.is_none();
                self.ending = if is_after { stopped.after_all_rounds() } else { stopped };
            }
            self.coordinator.died(member, &how)
        };
        self.act(actions);
        self.let_go();
        let is_gathering = self.coordinator.stage() == Stage::Gathering;
        // Groups without the dead can still commit.
        if !orderly && self.config.policy == DeathPolicy::Stop && is_gathering && !self.groups.are_used() {
            self.dismiss_all();
        }
    }

    /// Whether what a member runs is being ended before its time, for something that is not its own doing. Waits for a peer that has died come
    /// back at once, all others when the run is over.
    pub(super) fn has_been_ended(&self, rank: usize, now: Nanos) -> bool {
        let of_group = self.stopping_of_group(rank, now);
        let (reason, is_over) =
            of_group.unwrap_or_else(|| (self.coordinator.stopping(), self.patience.is_run_over(now)));
        reason.is_some_and(|reason| is_over || *reason != EndReason::Interrupted)
    }

    /// Whether a member ends because the run has been ended: its waits came back, and its program took that for an error.
    fn ends_because_of_the_end(&self, rank: usize, exit: Exit) -> bool {
        let seat = &self.seats[rank];
        if seat.gave_up.is_some() {
            return seat.gave_up_after_end;
        }
        seat.expelled.is_none() && exit.is_by_program() && self.has_been_ended(rank, clock::now())
    }

    /// It is no death: who has ended the run is named as its cause.
    fn tell_of_an_end_for_the_end(&mut self, (rank, is_of_group): (usize, bool), how: &str) {
        if !is_of_group {
            let kind = EventKind::MemberEnded { member: rank as u16, how: how.to_owned() };
            self.event_of_member(rank, clock::now(), kind);
        }
        // An end that the user has asked for needs no cause.
        if !matches!(self.ending, Ending::Interrupted) {
            let name = self.config.launch[rank].member.clone();
            self.warn([format!("member \"{name}\" ended while the run was being ended: {how}")]);
        }
    }

    /// A member whose peer has died in the run may end with an error for that.
    fn after_a_death(&self) -> String {
        let Some((rank, how)) = self.ended.first_death() else { return String::new() };
        format!("; member \"{}\" had died in the run ({how})", self.config.launch[rank].member)
    }

    /// Whether a member that ends in disorder now makes the whole job a failure, though every commit was whole: it told
    /// so by its exit code, and nobody takes its place.
    fn fails_after_a_run(&self) -> bool {
        let has_run = self.ended.count() > 0 && self.refusal.is_none();
        let is_undecided = matches!(self.ending, Ending::Completed | Ending::Interrupted);
        has_run && is_undecided && self.config.policy != DeathPolicy::Restart
    }

    pub(super) fn restart(&mut self, member: MemberId) -> Vec<Action> {
        let rank = member.index();
        let seat = &mut self.seats[rank];
        seat.failures += 1;
        seat.restarted = true;
        seat.segment = None;
        let failures = seat.failures;
        let name = self.config.launch[rank].member.clone();
        if failures > RESTARTS_MAX {
            self.ending = Ending::Stopped(format!("member \"{name}\" died {failures} times"));
            return self
                .coordinator
                .stop(EndReason::Stopped(format!("member \"{name}\" died {failures} times")));
        }
        self.note(&format!("member \"{name}\" is started again"));
        match self.launch(rank) {
            Ok(()) => Vec::new(),
            Err(error) => self.coordinator.died(member, &error.to_string()),
        }
    }
}
