//! Members as processes: started, ended, stopped, started again.

use super::{Agent, AgentError};
use leveret_os::clock;
use leveret_os::process::{Change, Exit};
use leveret_protocol::control::EndReason;
use leveret_protocol::coordinator::{Action, DeathPolicy, Stage};
use leveret_report::record::{Ending, EventKind};
use leveret_types::MemberId;

/// A member that dies again and again is not started for ever.
const RESTARTS_MAX: u32 = 10;

impl Agent<'_> {
    pub(super) fn launch_all(&mut self) -> Result<(), AgentError> {
        (0..self.seats.len()).try_for_each(|rank| self.launch(rank))
    }

    pub(super) fn launch(&mut self, rank: usize) -> Result<(), AgentError> {
        let launch = &self.config.launch[rank];
        self.patience.launched(rank, clock::now());
        self.seats[rank]
            .launch(launch, self.listener.path())
            .map_err(|error| AgentError::Launch { member: launch.member.clone(), cause: error })
    }

    /// A member that breaks the protocol is a member that has died.
    pub(super) fn expel(&mut self, rank: usize, reason: &str) {
        let name = self.config.launch[rank].member.clone();
        self.warn([format!("member \"{name}\" is expelled: {reason}")]);
        self.seats[rank].kill();
    }

    pub(super) fn on_change(&mut self, rank: usize) {
        // What the member wrote before its end counts.
        self.on_frames(rank);
        match self.seats[rank].change() {
            Some(Change::Ended(exit)) => self.on_exit(rank, exit),
            Some(Change::Stopped(_)) => self.on_stop_or_continue(rank, true),
            Some(Change::Continued) => self.on_stop_or_continue(rank, false),
            None => {}
        }
    }

    pub(super) fn on_stop_or_continue(&mut self, rank: usize, stopped: bool) {
        let member = rank as u16;
        // A stop is found at a tick: it happened after the one before.
        let (at, kind) = if stopped {
            (self.last_tick, EventKind::MemberStopped { member })
        } else {
            (clock::now(), EventKind::MemberContinued { member })
        };
        if let Some(monitor) = &mut self.monitor {
            monitor.event(at, kind);
        }
    }

    pub(super) fn on_exit(&mut self, rank: usize, exit: Exit) {
        let member = MemberId(rank as u16);
        let how = exit.to_string();
        let seat = &mut self.seats[rank];
        seat.child = None;
        seat.connection = None;
        seat.token.clear();
        let orderly = exit.is_success() && self.coordinator.stage() == Stage::Gathering;
        let actions = if orderly {
            self.coordinator.left(member)
        } else {
            let name = self.config.launch[rank].member.clone();
            // After a refusal members end with an error of their own; that is no news.
            if self.refusal.is_none() && !matches!(self.ending, Ending::Interrupted) {
                self.warn([format!("member \"{name}\" ended: {how}")]);
            }
            if let Some(monitor) = &mut self.monitor {
                monitor.event(clock::now(), EventKind::MemberDied { member: member.0, how: how.clone() });
            }
            self.coordinator.died(member, &how)
        };
        self.act(actions);
        if !orderly && self.config.policy == DeathPolicy::Stop && self.coordinator.stage() == Stage::Gathering
        {
            self.dismiss_all();
        }
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
