//! A job as the coordinator may meet it: processes that keep the protocol, some that do not, queues between them
//! and the agent, and an agent that does what it is told. Whatever happens, happens as a [`Move`]; which one, the
//! test chooses.

use leveret_protocol::control::{EndReason, FromMember, Place, Wish};
use leveret_protocol::coordinator::{Action, Coordinator, DeathPolicy, Stage};
use leveret_protocol::declaration::{MemberDeclarations, Unfit};
use leveret_types::{Generation, MemberId, Nanos};
use std::collections::VecDeque;

/// What one process does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Doing {
    /// Started, not yet welcomed.
    Joining,
    /// Between two commits.
    Idle,
    /// Declared.
    AwaitingPlan,
    /// Sent its segment.
    AwaitingPeers(Generation),
    /// Gave up what it was admitted for.
    Withdrawn,
    /// Ready.
    AwaitingEpoch(Generation),
    /// Its tasks run.
    Running(Generation),
    /// Its tasks run, and it wants to uncommit.
    Uncommitting(Generation),
    /// Its tasks have ended.
    AwaitingEnd(Generation),
    /// No process is there.
    Gone,
}

/// From the agent to a member, as far as it matters here.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Told {
    Refused { may_retry: bool },
    Planned(Generation),
    Peers(Generation),
    Go(Generation),
    StopAt(Generation),
    Uncommitted(Generation),
}

/// A member's process.
#[derive(Clone, Debug)]
pub struct Process {
    pub doing: Doing,
    pub attempt: u32,
    /// Commits that it still wants.
    pub wants: u32,
    /// It keeps the protocol.
    pub honest: bool,
    pub inbox: VecDeque<Told>,
    pub outbox: VecDeque<FromMember>,
    /// Its process has ended, in order or not, and the agent has not heard of it.
    pub unreported_end: Option<bool>,
}

/// Something that can happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    /// The agent welcomes a process.
    Join(usize),
    /// An idle process declares.
    Declare(usize),
    /// An idle process has found that it cannot commit what it has, and says so.
    Decline(usize),
    /// A process acts on the first message in its inbox.
    Hear(usize),
    /// A process gives up what it was admitted for, if it can at this point.
    Withdraw(usize),
    /// A process whose tasks run wants to uncommit.
    Uncommit(usize),
    /// The tasks of a process end; it may want the job to stop.
    Finish(usize, bool),
    /// A process that wants nothing more ends in order.
    Leave(usize),
    /// A process dies.
    Die(usize),
    /// A process that does not keep the protocol sends the message of this kind, for the attempt or generation
    /// this much off the present one.
    Misbehave(usize, u8, i8),
    /// The agent takes the first message of a process.
    Receive(usize),
    /// The agent hears that a process has ended.
    Report(usize),
    /// The planner admits or refuses the oldest plan that it was asked for.
    Plan(bool),
    /// The user interrupts.
    Interrupt,
}

/// Everything.
#[derive(Clone, Debug)]
pub struct World {
    pub coordinator: Coordinator,
    pub policy: DeathPolicy,
    pub processes: Vec<Process>,
    /// Plans asked for and not answered.
    pub plans: u32,
    pub ended: bool,
    pub interrupted: bool,
    /// A stop was asked for by a member, a policy or the user: no further commit may run.
    pub over: bool,
    pub runs: u32,
    pub restarts: u32,
}

/// Every process wants this many commits.
const COMMITS_WANTED: u32 = 2;

impl World {
    pub fn new(members: usize, policy: DeathPolicy, honest: impl Fn(usize) -> bool) -> Self {
        let process = |rank| Process {
            doing: Doing::Joining,
            attempt: 0,
            wants: COMMITS_WANTED,
            honest: honest(rank),
            inbox: VecDeque::new(),
            outbox: VecDeque::new(),
            unreported_end: None,
        };
        Self {
            coordinator: Coordinator::new(members, policy),
            policy,
            processes: (0..members).map(process).collect(),
            plans: 0,
            ended: false,
            interrupted: false,
            over: false,
            runs: 0,
            restarts: 0,
        }
    }

    /// What honest processes, the agent and the planner can do now: without deaths, without the user.
    pub fn moves(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        if self.ended {
            return moves;
        }
        for (rank, process) in self.processes.iter().enumerate() {
            if !process.outbox.is_empty() {
                moves.push(Move::Receive(rank));
            } else if process.unreported_end.is_some() {
                // What a process wrote before its end is read before its end is heard of.
                moves.push(Move::Report(rank));
            }
            match process.doing {
                Doing::Joining => moves.push(Move::Join(rank)),
                Doing::Idle if process.wants > 0 => moves.push(Move::Declare(rank)),
                Doing::Idle => moves.push(Move::Leave(rank)),
                Doing::Running(_) => moves.extend([Move::Finish(rank, false), Move::Uncommit(rank)]),
                Doing::AwaitingPlan
                | Doing::AwaitingPeers(_)
                | Doing::AwaitingEpoch(_)
                | Doing::Uncommitting(_)
                | Doing::AwaitingEnd(_)
                | Doing::Withdrawn
                    if !process.inbox.is_empty() =>
                {
                    moves.push(Move::Hear(rank));
                }
                _ => {}
            }
        }
        if self.plans > 0 {
            moves.push(Move::Plan(true));
        }
        moves
    }

    /// Makes a move that is possible.
    pub fn make(&mut self, what: Move) {
        let actions = match what {
            Move::Join(rank) => {
                let attempt = self.coordinator.attempt();
                let process = &mut self.processes[rank];
                process.doing = Doing::Idle;
                process.attempt = attempt;
                Vec::new()
            }
            Move::Declare(rank) => {
                self.processes[rank].declare(MemberDeclarations::default());
                Vec::new()
            }
            Move::Decline(rank) => {
                self.processes[rank].declare(unfit());
                Vec::new()
            }
            Move::Hear(rank) => {
                self.hear(rank);
                Vec::new()
            }
            Move::Withdraw(rank) => {
                self.processes[rank].withdraw();
                Vec::new()
            }
            Move::Uncommit(rank) => {
                let process = &mut self.processes[rank];
                if let Doing::Running(generation) = process.doing {
                    process.doing = Doing::Uncommitting(generation);
                    process.outbox.push_back(FromMember::Uncommit { generation });
                }
                Vec::new()
            }
            Move::Finish(rank, stop) => {
                let process = &mut self.processes[rank];
                if let Doing::Running(generation) = process.doing {
                    process.doing = Doing::AwaitingEnd(generation);
                    let why = "its policy".to_owned();
                    let stop = stop.then_some(Wish { at: Nanos::ZERO, why, place: Place::Nowhere });
                    process.outbox.push_back(FromMember::Finished { generation, stop });
                }
                Vec::new()
            }
            Move::Leave(rank) => {
                self.end_process(rank, true);
                Vec::new()
            }
            Move::Die(rank) => {
                self.end_process(rank, false);
                Vec::new()
            }
            Move::Misbehave(rank, kind, off) => {
                self.misbehave(rank, kind, off);
                Vec::new()
            }
            Move::Receive(rank) => self.receive(rank),
            Move::Report(rank) => self.report(rank),
            Move::Plan(admit) => self.answer_plan(admit),
            Move::Interrupt => {
                self.interrupted = true;
                self.over = true;
                self.coordinator.stop(EndReason::Interrupted)
            }
        };
        self.perform(actions);
        self.check();
    }

    fn end_process(&mut self, rank: usize, in_order: bool) {
        let process = &mut self.processes[rank];
        process.doing = Doing::Gone;
        process.inbox.clear();
        process.unreported_end = Some(in_order);
    }

    fn receive(&mut self, rank: usize) -> Vec<Action> {
        let Some(message) = self.processes[rank].outbox.pop_front() else { return Vec::new() };
        let stopping = matches!(&message, FromMember::Finished { stop: Some(_), .. });
        self.over |= stopping && self.processes[rank].honest;
        let was = (self.coordinator.stage(), self.coordinator.generation());
        let actions = self.coordinator.message(MemberId(rank as u16), message);
        if was.0 == Stage::Running && stopping && self.processes[rank].honest {
            assert!(actions.iter().any(|action| matches!(action, Action::StopAll(EndReason::Stopped(_)))));
        }
        actions
    }

    fn report(&mut self, rank: usize) -> Vec<Action> {
        let member = MemberId(rank as u16);
        let in_order = self.processes[rank].unreported_end.take().unwrap_or(false);
        let stage = self.coordinator.stage();
        let known = self.coordinator.is_alive(member);
        let finished = !self.coordinator.unfinished().any(|unfinished| unfinished == member);
        let actions = if in_order && stage == Stage::Gathering {
            self.coordinator.left(member)
        } else {
            self.coordinator.died(member, "signal 9")
        };
        if known && stage == Stage::Running && !finished {
            self.check_death_while_running(member, &actions);
        }
        actions
    }

    /// A death in mid-run follows the policy, at once.
    fn check_death_while_running(&mut self, member: MemberId, actions: &[Action]) {
        let announced =
            |action: &&Action| matches!(action, Action::AnnounceDeath(dead, _) if *dead == member);
        assert_eq!(actions.iter().filter(announced).count(), 1, "told once: {actions:?}");
        let stop = actions.iter().find_map(|action| match action {
            Action::StopAll(reason) => Some(reason),
            _ => None,
        });
        match self.policy {
            DeathPolicy::Stop => {
                self.over = true;
                assert!(matches!(stop, Some(EndReason::Stopped(_))), "{actions:?}");
            }
            // The others go on, unless they had only waited for this one.
            DeathPolicy::Continue => assert!(matches!(stop, None | Some(EndReason::Completed)), "{stop:?}"),
            DeathPolicy::Restart => assert_eq!(stop, Some(&EndReason::PeerRestarted(member))),
        }
    }

    fn answer_plan(&mut self, admit: bool) -> Vec<Action> {
        self.plans -= 1;
        let before = (self.coordinator.stage(), self.coordinator.generation());
        let actions = self.coordinator.planned(if admit { Ok(()) } else { Err("too much".to_owned()) });
        let generation = self.coordinator.generation();
        let admitted = before.0 == Stage::Planning && self.coordinator.stage() == Stage::Segments;
        if admitted {
            assert!(generation > before.1, "the generation grows");
            self.tell(&Told::Planned(generation));
        } else {
            assert_eq!(generation, before.1, "a refused commit changes nothing");
        }
        actions
    }

    /// To everybody who is connected.
    pub fn tell(&mut self, what: &Told) {
        let connected = |process: &&mut Process| !matches!(process.doing, Doing::Joining | Doing::Gone);
        for process in self.processes.iter_mut().filter(connected) {
            process.inbox.push_back(what.clone());
        }
    }

    fn misbehave(&mut self, rank: usize, kind: u8, off: i8) {
        let generation = Generation(self.coordinator.generation().0.wrapping_add_signed(off.into()));
        let attempt = self.coordinator.attempt().saturating_add_signed(off.into());
        let message = match kind % 7 {
            0 => FromMember::Declare { attempt, declarations: MemberDeclarations::default() },
            1 => FromMember::Segment { generation, size: u64::MAX },
            2 => ready(generation),
            3 => FromMember::Withdraw { generation, unfit: Unfit::default() },
            4 => FromMember::Finished { generation, stop: None },
            5 => FromMember::Uncommit { generation },
            _ => FromMember::Hello { version: 0, layout: 0, token: String::new(), member: String::new() },
        };
        self.processes[rank].outbox.push_back(message);
    }

    fn hear(&mut self, rank: usize) {
        let process = &mut self.processes[rank];
        let Some(told) = process.inbox.pop_front() else { return };
        if let Told::StopAt(generation) = told {
            // Its tasks end at the instant, whatever it waits for.
            if process.doing == Doing::Uncommitting(generation) {
                process.doing = Doing::AwaitingEnd(generation);
                process.outbox.push_back(FromMember::Finished { generation, stop: None });
            }
            return;
        }
        process.doing = match (process.doing, told) {
            (
                Doing::AwaitingPlan | Doing::AwaitingPeers(_) | Doing::AwaitingEpoch(_) | Doing::Withdrawn,
                Told::Refused { may_retry },
            ) => {
                process.attempt += 1;
                process.wants = if may_retry { process.wants } else { 0 };
                Doing::Idle
            }
            (Doing::AwaitingPlan, Told::Planned(generation)) => {
                process.outbox.push_back(FromMember::Segment { generation, size: 4096 });
                Doing::AwaitingPeers(generation)
            }
            (Doing::AwaitingPeers(mine), Told::Peers(generation)) if mine == generation => {
                process.outbox.push_back(ready(generation));
                Doing::AwaitingEpoch(generation)
            }
            (Doing::AwaitingEpoch(mine), Told::Go(generation)) if mine == generation => Doing::Running(mine),
            (Doing::AwaitingEnd(mine), Told::Uncommitted(generation)) if mine == generation => {
                process.wants = process.wants.saturating_sub(1);
                Doing::Idle
            }
            (Doing::Withdrawn, Told::Peers(_)) => Doing::Withdrawn,
            (doing, told) => {
                assert!(!process.honest, "member {rank} hears {told:?} while {doing:?}");
                doing
            }
        };
    }
}

/// The number of a member's own error.
pub const OWN_ERROR: i32 = 16;

/// What a member declares that cannot commit.
pub fn unfit() -> MemberDeclarations {
    let unfit = Some(Unfit { code: OWN_ERROR, reason: "no iterator".to_owned() });
    MemberDeclarations { unfit, ..MemberDeclarations::default() }
}

pub fn no_memory() -> Unfit {
    Unfit { code: OWN_ERROR, reason: "no memory".to_owned() }
}

impl Process {
    fn declare(&mut self, declarations: MemberDeclarations) {
        self.doing = Doing::AwaitingPlan;
        self.outbox.push_back(FromMember::Declare { attempt: self.attempt, declarations });
    }

    /// Before its segment is there, or after.
    fn withdraw(&mut self) {
        let generation = match (self.doing, self.inbox.front()) {
            (Doing::AwaitingPeers(generation), _) => generation,
            (Doing::AwaitingPlan, Some(Told::Planned(generation))) => {
                let generation = *generation;
                self.inbox.pop_front();
                generation
            }
            _ => return,
        };
        self.outbox.push_back(FromMember::Withdraw { generation, unfit: no_memory() });
        self.doing = Doing::Withdrawn;
    }
}

fn ready(generation: Generation) -> FromMember {
    let (threads, scheduling, warnings) = (Vec::new(), String::new(), Vec::new());
    FromMember::Ready { generation, threads, scheduling, warnings }
}
