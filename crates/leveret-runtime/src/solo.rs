//! A job of one member: a program that nobody started as a member of a job. A thread of its own process is its agent, with the
//! messages and the states of every job. Nobody watches such a job: there is no record, no report and no horizon.

use leveret_os::control::Connection;
use leveret_os::scheduling::allowed_cores;
use leveret_os::thread::Thread;
use leveret_os::{Failure, clock};
use leveret_plan::{Costs, Plan};
use leveret_protocol::admission::{Refused, admit, admit_switch};
use leveret_protocol::assemble::{Assembled, Mismatch};
use leveret_protocol::control::{
    CONTROL_VERSION, EndReason, FromMember, Horizon, Scheduling, ToMember, decode_from_member, encode,
};
use leveret_protocol::coordinator::{Action, Coordinator, DeathPolicy, Stage};
use leveret_protocol::declaration::{JobDeclaration, MemberDeclaration, MemberDeclarations};
use leveret_protocol::mode::{ModeAnswer, unreachable};
use leveret_types::{Generation, MemberId, Nanos};
use std::collections::VecDeque;

/// The job and its member.
const JOB: &str = "alone";
pub(crate) const MEMBER: &str = "0";
const RANK: MemberId = MemberId(0);

/// From `Go` to the epoch: long enough for every thread to be asleep by then.
const LEAD: Nanos = Nanos::from_millis(60);
/// From the order to end to its instant at least: long enough for the control thread to have heard of it.
const END_LEAD: Nanos = Nanos::from_millis(40);
/// From the agreement on a switch to its instant at least: every thread of the mode sleeps by then.
const SWITCH_LEAD: Nanos = Nanos::from_millis(100);

/// A set of objects that is planned.
struct Set {
    assembled: Assembled,
    plan: Plan,
    epoch: Nanos,
}

impl Set {
    /// The first end of a round at or after `at`, where there are rounds.
    fn end_of_round(&self, at: Nanos) -> Nanos {
        let (elapsed, round) = (at - self.epoch, self.plan.hyperperiod.0.max(1));
        let is_periodic = self.plan.tasks.iter().any(|task| !task.instances.is_empty())
            || self.plan.channels.iter().any(|channel| !channel.instances.is_empty());
        if elapsed <= Nanos::ZERO || !is_periodic {
            return at;
        }
        let rounds = (elapsed.0 - 1) / round + 1;
        self.epoch.saturating_add(Nanos(round.saturating_mul(rounds)))
    }
}

/// The agent of one member.
struct Solo {
    connection: Connection,
    coordinator: Coordinator,
    declaration: JobDeclaration,
    running: Option<Set>,
    /// A mode from its plan to its switch.
    next: Option<Set>,
    mismatches: Vec<Mismatch>,
}

/// Serves the member at the other end of this connection until it leaves.
///
/// # Errors
/// When the system has no thread for it.
pub(crate) fn serve(connection: Connection) -> Result<(), Failure> {
    let declaration = JobDeclaration {
        name: JOB.to_owned(),
        cores: allowed_cores(),
        members: vec![MemberDeclaration { name: MEMBER.to_owned(), core: None }],
        ..JobDeclaration::default()
    };
    let coordinator = Coordinator::new(1, DeathPolicy::Stop).with_names(vec![MEMBER.to_owned()]);
    let (running, next, mismatches) = Default::default();
    let mut solo = Solo { connection, coordinator, declaration, running, next, mismatches };
    Thread::start("leveret-solo", move || while solo.turn().is_some() {}).map(drop)
}

impl Solo {
    /// One message of the member's; `None` when it was the last.
    fn turn(&mut self) -> Option<()> {
        let frame = self.connection.receive().ok()?;
        match decode_from_member(&frame.bytes).ok()? {
            FromMember::Hello { version: CONTROL_VERSION, .. } => self.send(&ToMember::Welcome {
                job: JOB.to_owned(),
                rank: RANK,
                members: vec![MEMBER.to_owned()],
                scheduling: Scheduling::Fifo,
                restarted: false,
                attempt: self.coordinator.attempt(),
            }),
            FromMember::Hello { .. }
            | FromMember::GiveUp { .. }
            | FromMember::Abort { .. }
            | FromMember::Leave => None,
            message => {
                let mut queue = VecDeque::from(self.coordinator.message(RANK, message));
                while let Some(action) = queue.pop_front() {
                    queue.extend(self.perform(action)?);
                }
                Some(())
            }
        }
    }

    fn send(&self, message: &ToMember) -> Option<()> {
        self.connection.send(&encode(message), &[]).ok()
    }

    fn admit(&mut self, declarations: &[MemberDeclarations]) -> Result<Set, String> {
        // A guard that is not measured is the usual one, or less where that does not fit.
        let admitted = admit(&self.declaration, declarations, (Costs::default(), false), &[]);
        match admitted {
            Ok((assembled, plan, _)) => Ok(Set { assembled, plan, epoch: Nanos::MAX }),
            Err(Refused { reason, mismatches }) => {
                self.mismatches = mismatches;
                Err(reason)
            }
        }
    }

    fn send_plan(&self, generation: Generation, set: &Set) -> Option<()> {
        self.send(&ToMember::Planned {
            generation,
            assembled: Box::new(set.assembled.clone()),
            plan: Box::new(set.plan.clone()),
            horizon: Horizon::Unbounded,
        })
    }

    /// Does what the coordinator wants, and gives what it wants then; `None` at the end.
    fn perform(&mut self, action: Action) -> Option<Vec<Action>> {
        match action {
            Action::Plan(declarations) => {
                let (set, verdict) = parted(self.admit(&declarations));
                let actions = self.coordinator.planned(verdict);
                if let (Stage::Segments, Some(set)) = (self.coordinator.stage(), &set) {
                    self.send_plan(self.coordinator.generation(), set)?;
                }
                self.running = set;
                return Some(actions);
            }
            Action::DistributePeers => self.send_peers(self.coordinator.generation())?,
            Action::Start => {
                let epoch = clock::now() + LEAD;
                self.running.as_mut()?.epoch = epoch;
                self.send(&ToMember::Go { generation: self.coordinator.generation(), epoch })?;
            }
            Action::Refuse { reason, cause, may_retry } => {
                let mismatches = std::mem::take(&mut self.mismatches);
                self.send(&ToMember::Refused { reason, cause, mismatches, may_retry })?;
            }
            Action::StopAll(reason) => {
                let at = clock::now() + END_LEAD;
                let instant = match reason {
                    EndReason::Completed => self.running.as_ref()?.end_of_round(at),
                    _ => at,
                };
                let generation = self.coordinator.generation();
                self.send(&ToMember::StopAt { generation, instant, reason })?;
            }
            Action::Uncommitted(reason) => {
                (self.running, self.next) = (None, None);
                let generation = self.coordinator.generation();
                self.send(&ToMember::Uncommitted { generation, reason })?;
            }
            of_mode => return self.perform_of_mode(of_mode),
        }
        Some(Vec::new())
    }

    fn send_peers(&self, generation: Generation) -> Option<()> {
        self.send(&ToMember::Peers { generation, members: Vec::new() })
    }

    fn perform_of_mode(&mut self, action: Action) -> Option<Vec<Action>> {
        match action {
            Action::PlanMode { declarations, .. } => {
                let admitted = self.admit(&declarations);
                let running = self.running.as_ref()?;
                let judged = admitted.and_then(|set| {
                    let before = (&running.assembled, &running.plan);
                    admit_switch(before, (&set.assembled, &set.plan), &declarations).map_err(|refused| {
                        self.mismatches = refused.mismatches;
                        refused.reason
                    })?;
                    Ok(set)
                });
                let (set, verdict) = parted(judged);
                let actions = self.coordinator.mode_planned(verdict);
                if let (Some(generation), Some(set)) = (self.coordinator.mode_generation(), set) {
                    self.send_plan(generation, &set)?;
                    self.next = Some(set);
                }
                return Some(actions);
            }
            Action::RefuseMode { reason, cause } => {
                self.next = None;
                let mismatches = std::mem::take(&mut self.mismatches);
                self.send(&ToMember::Mode(ModeAnswer::Refused { reason, cause, mismatches }))?;
            }
            Action::DistributeModePeers => self.send_peers(self.coordinator.mode_generation()?)?,
            Action::ModeStands(generation) => {
                self.send(&ToMember::Mode(ModeAnswer::Stands { generation }))?;
            }
            Action::Switch { generation, earliest } => return self.switch(generation, earliest),
            Action::RefuseSwitch { generation, reason, cause } => {
                let refused = ModeAnswer::SwitchRefused { generation, reason, cause };
                self.send(&ToMember::Mode(refused))?;
            }
            Action::TakenOver(_) => self.running = self.next.take(),
            // One that breaks the protocol, or of whom nothing can come any more, is left alone.
            _ => return None,
        }
        Some(Vec::new())
    }

    fn switch(&mut self, generation: Generation, earliest: Option<Nanos>) -> Option<Vec<Action>> {
        let now = clock::now();
        if let Some(reason) = unreachable(earliest, now) {
            return Some(self.coordinator.switch_impossible(reason));
        }
        let at = earliest.unwrap_or(now).max(now + SWITCH_LEAD);
        // Not before the epoch of what runs.
        let running = self.running.as_ref()?;
        let instant = running.end_of_round(at.max(running.epoch + Nanos(1)));
        self.next.as_mut()?.epoch = instant;
        self.send(&ToMember::Mode(ModeAnswer::SwitchAt { generation, instant }))?;
        Some(Vec::new())
    }
}

/// What was admitted, and the verdict on it.
fn parted(admitted: Result<Set, String>) -> (Option<Set>, Result<(), String>) {
    match admitted {
        Ok(set) => (Some(set), Ok(())),
        Err(reason) => (None, Err(reason)),
    }
}
