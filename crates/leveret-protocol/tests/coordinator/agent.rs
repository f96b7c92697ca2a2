//! The agent's part of the world: it performs actions, and every action is held against what the members really do.

use crate::world::{Doing, Told, World};
use leveret_protocol::control::{EndReason, RefusalCause};
use leveret_protocol::coordinator::{Action, DeathPolicy, Stage};
use leveret_types::{Generation, MemberId};

impl World {
    pub fn perform(&mut self, actions: Vec<Action>) {
        for action in actions {
            assert!(!self.ended, "{action:?} after the job's end");
            self.perform_one(action);
        }
    }

    fn perform_one(&mut self, action: Action) {
        let generation = self.coordinator.generation();
        match action {
            Action::Plan(declared) => {
                assert_eq!(declared.len(), self.processes.len(), "everybody's declarations");
                assert!(!self.over, "no commit after the end");
                assert!(
                    declared.iter().all(|declared| declared.unfit.is_none()),
                    "nobody plans what cannot be"
                );
                self.everybody_is(Doing::AwaitingPlan, "a plan is asked for");
                self.plans += 1;
            }
            Action::DistributePeers => {
                self.everybody_is(Doing::AwaitingPeers(generation), "peers are handed out");
                self.tell(&Told::Peers(generation));
            }
            Action::Start => {
                self.everybody_is(Doing::AwaitingEpoch(generation), "the epoch is set");
                assert!(!self.over, "nothing starts after the end");
                self.runs += 1;
                self.tell(&Told::Go(generation));
            }
            Action::Refuse { reason, cause, may_retry } => {
                assert!(!reason.is_empty());
                let honest = self.processes.iter().all(|process| process.honest);
                assert!(cause != RefusalCause::Over || self.over || !honest, "{reason}");
                let lost =
                    (0..self.processes.len()).any(|rank| !self.coordinator.is_alive(MemberId(rank as u16)));
                assert!(may_retry || lost || self.over || !honest, "why not once more? {reason}");
                assert_eq!(self.coordinator.stage(), Stage::Gathering);
                self.nobody_runs(generation);
                self.tell(&Told::Refused { may_retry });
            }
            Action::StopAll(reason) => {
                let by_policy = matches!(reason, EndReason::PeerRestarted(_));
                assert!(!by_policy || self.policy == DeathPolicy::Restart);
                if reason == EndReason::Completed {
                    self.nobody_runs_on(generation);
                }
                self.tell(&Told::StopAt(generation));
            }
            Action::AnnounceDeath(member, how) => {
                assert_eq!(self.processes[member.index()].doing, Doing::Gone, "{member} lives");
                assert!(!how.is_empty());
            }
            Action::Restart(member) => self.restart(member),
            Action::Uncommitted(reason) => {
                assert_eq!(self.coordinator.stage(), Stage::Gathering);
                if let EndReason::PeerRestarted(_) = reason {
                    let all = (0..self.processes.len())
                        .all(|rank| self.coordinator.is_alive(MemberId(rank as u16)));
                    assert!(all, "after a restart nobody is missing");
                }
                self.everybody_is(Doing::AwaitingEnd(generation), "the commit ends");
                self.tell(&Told::Uncommitted(generation));
            }
            Action::JobEnded => self.ended = true,
            Action::Expel(member, reason) => {
                let process = &mut self.processes[member.index()];
                assert!(!process.honest, "{member} kept the protocol but is expelled: {reason}");
                if process.doing != Doing::Gone {
                    process.doing = Doing::Gone;
                    process.inbox.clear();
                    process.unreported_end = Some(false);
                }
            }
            of_mode => unreachable!("nobody asks for a mode here: {of_mode:?}"),
        }
    }

    fn restart(&mut self, member: MemberId) {
        assert_eq!(self.policy, DeathPolicy::Restart);
        assert!(!self.over, "{member} is started again although the job is over");
        self.restarts += 1;
        let process = &mut self.processes[member.index()];
        assert_eq!(process.doing, Doing::Gone, "only who is gone is started");
        assert_eq!(process.unreported_end, None, "its end was told");
        assert!(process.outbox.is_empty());
        process.doing = Doing::Joining;
        process.wants = 1;
    }

    /// Every honest process that the agent holds for alive, and that lives, is at this point and has nothing
    /// unheard: what comes next reaches all of them in the same state. One may have given up meanwhile.
    fn everybody_is(&self, doing: Doing, when: &str) {
        for (rank, process) in self.processes.iter().enumerate().filter(|(_, process)| process.honest) {
            let known = self.coordinator.is_alive(MemberId(rank as u16));
            let withdraws = matches!(process.doing, Doing::Withdrawn) && !process.outbox.is_empty();
            if known && process.doing != Doing::Gone && !withdraws {
                assert_eq!(process.doing, doing, "{when}, member {rank}");
                let unheard = process.inbox.iter().any(|told| !matches!(told, Told::StopAt(_)));
                assert!(!unheard, "{when}: member {rank} has not heard {:?}", process.inbox);
            }
        }
    }

    /// A commit ends by common consent only.
    fn nobody_runs_on(&self, generation: Generation) {
        for (rank, process) in self.processes.iter().enumerate().filter(|(_, process)| process.honest) {
            let alive = self.coordinator.is_alive(MemberId(rank as u16));
            assert!(!alive || process.doing != Doing::Running(generation), "member {rank} was not asked");
        }
    }

    fn nobody_runs(&self, generation: Generation) {
        for process in self.processes.iter().filter(|process| process.honest) {
            let runs = matches!(process.doing, Doing::Running(g) | Doing::Uncommitting(g) | Doing::AwaitingEnd(g) if g == generation)
                && !process.inbox.contains(&Told::Uncommitted(generation));
            let will = process.inbox.contains(&Told::Go(generation));
            assert!(!runs && !will, "a commit is refused while a member runs it");
        }
    }

    /// Holds after every step.
    pub fn check(&self) {
        if self.ended {
            return;
        }
        let waiting = self.moves().is_empty();
        let someone_else_moves =
            self.processes.iter().any(|process| !process.honest && process.doing != Doing::Gone);
        assert!(!waiting || someone_else_moves, "everybody waits, and nothing happens: {self:?}");
    }
}
