//! The agent's side of commit as a state machine: all or nothing, for every member alike.
//!
//! ```text
//!  Gathering --all declared--> Planning --admitted--> Segments --all sent--> Readying --all ready--> Running
//!      ^                          |refused                                                             |
//!      |<-------------------------+                                          all finished              |
//!      |<-------------------------------------------------------------------------------- Finishing <--+
//! ```
//! Beside what runs a second set of objects can be committed, and take its place: `coordinator/upcoming.rs`.
//!
//! A run ends when all members have finished or want to uncommit, or by a stop: then everybody stops at one instant.
//! A death during commit refuses the commit for everybody. A death while running follows the policy.
//!
//! A coordinator is of all members, or of a group that commits by itself: then the others are outside.
//!
//! What a member sends may cross what it is sent: declarations name the attempt that they are for, everything after
//! them names its commit's generation, so what belongs to a refused attempt is known and passed over, and only what
//! no honest member can send is a breach of the protocol.

mod group;
mod upcoming;

use crate::control::{EndReason, FromMember, RefusalCause};
use crate::declaration::{MemberDeclarations, Unfit};
use crate::mode::ModeRequest;
use leveret_types::{Generation, MemberId, Nanos};
use upcoming::Upcoming;

/// What to do when a member dies while the job runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeathPolicy {
    /// Everybody stops at the next period.
    #[default]
    Stop,
    /// The others go on; the dead member's messages are missing.
    Continue,
    /// Everybody stops, the dead member is started again, and all commit again.
    Restart,
}

/// Where the job stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Waiting for declarations.
    Gathering,
    /// The agent plans.
    Planning,
    /// Waiting for segments.
    Segments,
    /// Waiting for members to be ready.
    Readying,
    /// The epoch is set.
    Running,
    /// A stop was ordered; waiting for members to finish.
    Finishing,
}

impl Stage {
    /// For what people read.
    fn name(self) -> &'static str {
        match self {
            Self::Gathering => "declarations are awaited",
            Self::Planning => "a commit is planned",
            Self::Segments => "segments are awaited",
            Self::Readying => "members set up a commit",
            Self::Running => "a commit runs",
            Self::Finishing => "a commit ends",
        }
    }
}

/// What the agent must do.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Assemble and plan these declarations (rank order), then call [`Coordinator::planned`].
    Plan(Vec<MemberDeclarations>),
    /// Send every member its peers' segments.
    DistributePeers,
    /// Choose an epoch and send it to everybody, or call [`Coordinator::cannot_start`].
    Start,
    /// Tell everybody that the commit is refused.
    Refuse {
        /// Why.
        reason: String,
        /// What kind of reason that is.
        cause: RefusalCause,
        /// Whether another commit may be tried; if not, the job is over.
        may_retry: bool,
    },
    /// Order everybody to stop at one instant: at the end of a round when all want to uncommit
    /// ([`EndReason::Completed`]), soon for any other reason. May come a second time, with a reason that cannot wait.
    StopAll(EndReason),
    /// Tell the survivors that a peer is gone.
    AnnounceDeath(MemberId, String),
    /// Start this member again.
    Restart(MemberId),
    /// Everybody has finished: tell them, and close the phase's record.
    Uncommitted(EndReason),
    /// Nobody is left, or nobody is needed any more. Nothing follows it.
    JobEnded,
    /// Assemble and plan a mode beside what runs (both in rank order), then call [`Coordinator::mode_planned`].
    PlanMode {
        /// The name that each member gives it.
        names: Vec<String>,
        /// Each member's declarations.
        declarations: Vec<MemberDeclarations>,
    },
    /// Tell everybody that the mode is refused.
    RefuseMode {
        /// Why.
        reason: String,
        /// What kind of reason that is.
        cause: RefusalCause,
    },
    /// Send every member its peers' segments of the mode.
    DistributeModePeers,
    /// Tell everybody that the mode is committed.
    ModeStands(Generation),
    /// Choose the instant of the switch and send it to everybody, or call [`Coordinator::switch_impossible`].
    Switch {
        /// The mode's commit.
        generation: Generation,
        /// Not before this instant.
        earliest: Option<Nanos>,
    },
    /// Tell everybody that there is no switch.
    RefuseSwitch {
        /// The mode's commit.
        generation: Generation,
        /// Why.
        reason: String,
        /// What kind of reason that is.
        cause: RefusalCause,
    },
    /// Nothing of what ran before is left: close its record. This commit is what runs.
    TakenOver(Generation),
    /// End this member's process: it broke the protocol, for this reason. Its death is then reported as any other.
    Expel(MemberId, String),
}

#[derive(Clone, Debug, Default)]
struct Seat {
    alive: bool,
    left: bool,
    /// The commit is of a group, which this member is not in.
    outside: bool,
    /// It broke the protocol; its death is awaited.
    expelled: bool,
    /// Its last declarations were not admitted, and it has made no others.
    turned_down: bool,
    declared: Option<MemberDeclarations>,
    segment: bool,
    ready: bool,
    /// It wants the commit to end.
    uncommitting: bool,
    finished: bool,
    /// It is about to be ended for keeping the others waiting.
    overdue: bool,
}

impl Seat {
    fn vacant(left: bool) -> Self {
        Self { left, ..Self::default() }
    }

    fn is_gone(&self) -> bool {
        !self.alive && !self.outside
    }

    fn occupied() -> Self {
        Self { alive: true, ..Self::default() }
    }

    /// Forgets the commit that has ended.
    fn uncommit(&mut self) {
        self.declared = None;
        self.segment = false;
        self.ready = false;
        self.uncommitting = false;
        self.finished = false;
    }
}

/// The state machine.
#[derive(Clone, Debug)]
pub struct Coordinator {
    seats: Vec<Seat>,
    /// By rank; shorter where ranks must do.
    names: Vec<String>,
    stage: Stage,
    generation: Generation,
    /// The highest that was given; those of modes that were refused are not used again.
    last_generation: Generation,
    upcoming: Upcoming,
    policy: DeathPolicy,
    ending: EndReason,
    /// Attempts to commit that were refused so far: the number of the next.
    attempt: u32,
    /// The commit of the present generation was refused after it was admitted.
    cancelled: bool,
    /// Plans asked for and then overtaken by a refusal; their verdicts are still to come.
    plans_overtaken: u32,
    /// Why no further commit is possible.
    over: Option<String>,
    ended: bool,
}

impl Coordinator {
    /// For this many members.
    pub fn new(members: usize, policy: DeathPolicy) -> Self {
        Self {
            seats: vec![Seat::occupied(); members],
            names: Vec::new(),
            stage: Stage::Gathering,
            generation: Generation::default(),
            last_generation: Generation::default(),
            upcoming: Upcoming::new(members),
            policy,
            ending: EndReason::Completed,
            attempt: 0,
            cancelled: false,
            plans_overtaken: 0,
            over: None,
            ended: false,
        }
    }

    /// With the members' names, in order of rank, for what people read.
    #[must_use]
    pub fn with_names(self, names: Vec<String>) -> Self {
        Self { names, ..self }
    }

    fn name(&self, member: MemberId) -> String {
        self.names.get(member.index()).map_or_else(|| member.to_string(), |name| format!("member \"{name}\""))
    }

    /// Where the job stands.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// The present commit.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// The attempt to commit that declarations are taken for now; a member is told it when it is welcomed.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Whether every member is inside its commit: those that the others wait for work on it, or are kept from working.
    pub fn is_setting_up(&self) -> bool {
        matches!(self.stage, Stage::Segments | Stage::Readying)
    }

    /// Members that the others wait for in the present commit; nobody while no member has declared.
    pub fn awaited(&self) -> Vec<MemberId> {
        let has_done = |seat: &Seat| match self.stage {
            Stage::Gathering => seat.declared.is_some(),
            Stage::Segments => seat.segment,
            Stage::Readying => seat.ready,
            Stage::Planning | Stage::Running | Stage::Finishing => true,
        };
        if !self.seats.iter().any(|seat| seat.declared.is_some()) {
            return Vec::new();
        }
        let seats = self.seats.iter().enumerate();
        seats
            .filter(|(_, seat)| seat.alive && !has_done(seat))
            .map(|(rank, _)| MemberId(rank as u16))
            .collect()
    }

    /// Members that run on while others want to uncommit; nobody while no member wants it.
    pub fn awaited_to_uncommit(&self) -> Vec<MemberId> {
        let wanted = self.seats.iter().any(|seat| seat.alive && seat.uncommitting);
        if self.stage != Stage::Running || !wanted {
            return Vec::new();
        }
        let seats = self.seats.iter().enumerate();
        seats
            .filter(|(_, seat)| seat.alive && !seat.uncommitting && !seat.finished)
            .map(|(rank, _)| MemberId(rank as u16))
            .collect()
    }

    /// A member has had its time to commit; its process is about to be ended, and its death will be told as a timeout.
    pub fn overdue(&mut self, member: MemberId) {
        if let Some(seat) = self.seats.get_mut(member.index()) {
            seat.overdue = true;
        }
    }

    /// Members whose tasks have not ended though the others' may have.
    pub fn unfinished(&self) -> impl Iterator<Item = MemberId> + '_ {
        let seats = self.seats.iter().enumerate();
        seats.filter(|(_, seat)| seat.alive && !seat.finished).map(|(rank, _)| MemberId(rank as u16))
    }

    /// Whether this member takes part.
    pub fn is_alive(&self, member: MemberId) -> bool {
        self.seats.get(member.index()).is_some_and(|seat| seat.alive)
    }

    /// A message from a member that has been welcomed.
    pub fn message(&mut self, member: MemberId, message: FromMember) -> Vec<Action> {
        if self.ended || !self.is_alive(member) || self.seats[member.index()].expelled {
            return Vec::new();
        }
        if self.crossed_a_refusal(&message) {
            return Vec::new();
        }
        let said = kind(&message);
        if self.is_of_mode(member, &message) {
            return self.mode_message(member, message).unwrap_or_else(|| self.out_of_place(member, said));
        }
        let generation = self.generation;
        let stage = self.stage;
        let attempt = self.attempt;
        let seat = &mut self.seats[member.index()];
        match (stage, message) {
            (Stage::Gathering, FromMember::Declare { attempt: a, declarations })
                if a == attempt && seat.declared.is_none() =>
            {
                seat.declared = Some(declarations);
                seat.turned_down = false;
                match self.obstacle() {
                    Some((cause, reason)) => self.refuse(cause, reason),
                    None => self.advance(),
                }
            }
            (Stage::Segments, FromMember::Segment { generation: g, .. })
                if g == generation && !seat.segment =>
            {
                seat.segment = true;
                self.advance()
            }
            (Stage::Readying, FromMember::Ready { generation: g, .. }) if g == generation && !seat.ready => {
                seat.ready = true;
                self.advance()
            }
            (Stage::Segments | Stage::Readying, FromMember::Withdraw { generation: g, unfit })
                if g == generation && !seat.ready =>
            {
                seat.turned_down = true;
                let (cause, reason) = self.withdrawn(member, &unfit);
                self.refuse(cause, reason)
            }
            (Stage::Running | Stage::Finishing, FromMember::Uncommit { generation: g })
                if g == generation && !seat.uncommitting && !seat.finished =>
            {
                seat.uncommitting = true;
                let why = format!("{} uncommits", self.name(member));
                let mut actions = self.hinder_mode(RefusalCause::Over, &why);
                actions.extend(self.advance());
                actions
            }
            (Stage::Running | Stage::Finishing, FromMember::Finished { generation: g, stop })
                if g == generation && !seat.finished =>
            {
                seat.finished = true;
                let why = format!("{} is at its horizon", self.name(member));
                let mut actions = self.hinder_mode(RefusalCause::Over, &why);
                if let Some(wish) = stop {
                    let reason = format!("{} has stopped it: {}", self.name(member), wish.why);
                    actions.extend(self.stop_running(EndReason::Stopped(reason)));
                }
                actions.extend(self.advance());
                actions
            }
            _ => self.out_of_place(member, said),
        }
    }

    /// What all are told when a member cannot go on with what was admitted.
    fn withdrawn(&self, member: MemberId, unfit: &Unfit) -> (RefusalCause, String) {
        let reason = format!("{} cannot go on: {}", self.name(member), unfit.reason);
        (RefusalCause::Declined(unfit.code), reason)
    }

    /// What all are told when some have found by themselves that they cannot commit.
    fn declined<'d>(
        &self,
        declared: impl Iterator<Item = Option<&'d MemberDeclarations>>,
    ) -> Option<(RefusalCause, String)> {
        let unfit =
            declared.enumerate().filter_map(|(rank, declared)| Some((rank, declared?.unfit.as_ref()?)));
        let unfit: Vec<(usize, &Unfit)> = unfit.collect();
        let (_, first) = unfit.first()?;
        let sentence = |(rank, unfit): &(usize, &Unfit)| {
            format!("{} cannot commit: {}", self.name(MemberId(*rank as u16)), unfit.reason)
        };
        let reason = unfit.iter().map(sentence).collect::<Vec<_>>().join("\n");
        Some((RefusalCause::Declined(first.code), reason))
    }

    /// No honest member can send this now.
    fn out_of_place(&mut self, member: MemberId, said: &str) -> Vec<Action> {
        self.seats[member.index()].expelled = true;
        vec![Action::Expel(member, format!("{said} is out of place while {}", self.stage.name()))]
    }

    /// Whether a message belongs to an attempt that was refused while it was under way.
    fn crossed_a_refusal(&self, message: &FromMember) -> bool {
        match message {
            FromMember::Declare { attempt, .. } => *attempt < self.attempt,
            FromMember::Segment { generation, .. }
            | FromMember::Ready { generation, .. }
            | FromMember::Withdraw { generation, .. } => {
                self.stage == Stage::Gathering && self.cancelled && *generation == self.generation
            }
            FromMember::Hello { .. }
            | FromMember::DeclareGroup { .. }
            | FromMember::Uncommit { .. }
            | FromMember::Finished { .. }
            | FromMember::GiveUp { .. }
            | FromMember::RunsFailed { .. }
            | FromMember::RunOverran { .. }
            | FromMember::Abort { .. }
            | FromMember::Leave
            | FromMember::Mode(_) => false,
        }
    }

    /// The agent admitted (`Ok`) or refused (`Err`) the declarations of the oldest [`Action::Plan`] that it has not
    /// answered. The verdict on a plan that a death or a stop has overtaken changes nothing.
    ///
    /// # Panics
    /// Without such an action.
    pub fn planned(&mut self, verdict: Result<(), String>) -> Vec<Action> {
        if self.plans_overtaken > 0 {
            self.plans_overtaken -= 1;
            return Vec::new();
        }
        assert_eq!(self.stage, Stage::Planning, "a plan answers Action::Plan only");
        match verdict {
            Ok(()) => {
                self.generation = self.next_generation();
                self.cancelled = false;
                self.ending = EndReason::Completed;
                self.stage = Stage::Segments;
                Vec::new()
            }
            Err(reason) => {
                self.turn_all_down();
                // This plan has its verdict; it is not overtaken.
                self.stage = Stage::Gathering;
                self.refuse(RefusalCause::Unfit, reason)
            }
        }
    }

    /// The plan that [`Coordinator::planned`] took cannot be sent to the members.
    ///
    /// # Panics
    /// Without such a plan.
    pub fn plan_unsent(&mut self, reason: String) -> Vec<Action> {
        assert_eq!(self.stage, Stage::Segments, "what is unsent has been planned");
        self.turn_all_down();
        self.refuse(RefusalCause::Unfit, reason)
    }

    /// What they declared was not admitted.
    fn turn_all_down(&mut self) {
        for seat in self.seats.iter_mut().filter(|seat| seat.alive) {
            seat.turned_down = true;
        }
    }

    /// The agent found no epoch that [`Action::Start`] could begin with: what was to be done at an absolute time comes too late.
    ///
    /// # Panics
    /// Without such an action.
    pub fn cannot_start(&mut self, reason: String) -> Vec<Action> {
        assert_eq!(self.stage, Stage::Running, "an epoch answers Action::Start only");
        self.turn_all_down();
        self.stage = Stage::Readying;
        self.refuse(RefusalCause::TooLate, reason)
    }

    /// The user or a policy wants the job to stop.
    pub fn stop(&mut self, reason: EndReason) -> Vec<Action> {
        if self.ended {
            return Vec::new();
        }
        match self.stage {
            Stage::Running | Stage::Finishing => self.stop_running(reason),
            Stage::Gathering | Stage::Planning | Stage::Segments | Stage::Readying => {
                self.over = Some(reason.to_string());
                let mut actions = self.refuse(RefusalCause::Over, reason.to_string());
                actions.extend(self.end());
                actions
            }
        }
    }

    /// Orders a stop. A reason that ends the job outweighs the restart of a member, and both outweigh a common wish to
    /// uncommit, whose instant may lie far ahead.
    fn stop_running(&mut self, reason: EndReason) -> Vec<Action> {
        if self.stage == Stage::Running || self.ending == EndReason::Completed {
            let mut actions = self.hinder_mode(RefusalCause::Over, &reason.to_string());
            self.stage = Stage::Finishing;
            self.ending = reason.clone();
            actions.push(Action::StopAll(reason));
            return actions;
        }
        if matches!(
            (&self.ending, &reason),
            (EndReason::PeerRestarted(_), EndReason::Stopped(_) | EndReason::Interrupted)
        ) {
            self.ending = reason;
        }
        Vec::new()
    }

    /// A member's process ended in order, after its last commit.
    pub fn left(&mut self, member: MemberId) -> Vec<Action> {
        if self.stage != Stage::Gathering {
            return self.died(member, "left in the middle of a commit");
        }
        if self.ended || !self.is_alive(member) {
            return Vec::new();
        }
        self.seats[member.index()] = Seat::vacant(true);
        self.after_a_departure()
    }

    /// What has ended the run before its horizon and without a common wish, while members still finish.
    pub fn stopping(&self) -> Option<&EndReason> {
        let is_stopping = self.stage == Stage::Finishing && self.ending != EndReason::Completed;
        is_stopping.then_some(&self.ending)
    }

    /// A member's process ended once the run had been ended, and did not say before that it has finished: nobody lacks anything of it.
    pub fn ended_with_the_run(&mut self, member: MemberId) -> Vec<Action> {
        if self.is_alive(member) {
            self.seats[member.index()].finished = true;
        }
        self.died(member, "ended with the run")
    }

    /// A member's process died.
    pub fn died(&mut self, member: MemberId, how: &str) -> Vec<Action> {
        if self.ended || !self.is_alive(member) {
            return Vec::new();
        }
        let was = std::mem::replace(&mut self.seats[member.index()], Seat::vacant(false));
        self.leave_mode(member);
        if matches!(self.stage, Stage::Running | Stage::Finishing) {
            return self.died_while_running(member, how, was.finished);
        }
        let restarted = !was.turned_down && self.may_restart(member);
        if restarted {
            self.seats[member.index()] = Seat::occupied();
        }
        let mut actions = Vec::new();
        let waited_for = self.stage != Stage::Gathering || was.declared.is_some();
        if waited_for || self.seats.iter().any(|seat| seat.declared.is_some()) {
            let (cause, what) = if was.overdue {
                (RefusalCause::TimedOut, "was ended since it did not commit in time")
            } else {
                (RefusalCause::PeerLost, "died during commit")
            };
            actions.extend(self.refuse(cause, format!("{} {what} ({how})", self.name(member))));
        }
        if restarted {
            actions.push(Action::Restart(member));
        } else {
            actions.extend(self.after_a_departure());
        }
        actions
    }

    fn died_while_running(&mut self, member: MemberId, how: &str, finished: bool) -> Vec<Action> {
        let mut actions =
            self.hinder_mode(RefusalCause::PeerLost, &format!("{} died ({how})", self.name(member)));
        if !finished {
            actions.push(Action::AnnounceDeath(member, how.to_owned()));
            match self.policy {
                DeathPolicy::Continue => {}
                DeathPolicy::Stop => {
                    actions.extend(
                        self.stop_running(EndReason::Stopped(format!("{} died: {how}", self.name(member)))),
                    );
                }
                DeathPolicy::Restart => actions.extend(self.stop_running(EndReason::PeerRestarted(member))),
            }
        }
        actions.extend(self.advance());
        if self.stage == Stage::Gathering {
            actions.extend(self.after_a_departure());
        }
        actions
    }

    /// While nobody runs: refuses what can no longer be committed, and ends the job when nobody is left.
    fn after_a_departure(&mut self) -> Vec<Action> {
        if self.seats.iter().all(|seat| !seat.alive) {
            return self.end();
        }
        match self.obstacle() {
            Some((cause, reason)) if self.seats.iter().any(|seat| seat.declared.is_some()) => {
                self.refuse(cause, reason)
            }
            _ => Vec::new(),
        }
    }

    /// A member is started again only if another commit is possible then: not when the job is over, and not when
    /// somebody else is gone for good.
    fn may_restart(&self, member: MemberId) -> bool {
        let others =
            self.seats.iter().enumerate().filter(|(index, _)| *index != member.index()).map(|(_, seat)| seat);
        self.policy == DeathPolicy::Restart
            && self.over.is_none()
            && others.into_iter().all(|seat| !seat.is_gone())
    }

    /// Why a commit can never complete: the set of members is static.
    fn obstacle(&self) -> Option<(RefusalCause, String)> {
        let gone = || {
            let gone = self.seats.iter().position(Seat::is_gone)?;
            let how = if self.seats[gone].left { "has ended" } else { "has died" };
            let who = if self.is_of_group() { "all members of the group" } else { "all members" };
            let reason = format!("{} {how}; {who} must commit together", self.name(MemberId(gone as u16)));
            Some((RefusalCause::PeerLost, reason))
        };
        // That a member died says more than that the job was stopped for it.
        let died = self.seats.iter().any(|seat| seat.is_gone() && !seat.left);
        let cause = if died { RefusalCause::PeerLost } else { RefusalCause::Over };
        self.over.clone().map(|reason| (cause, reason)).or_else(gone)
    }

    fn refuse(&mut self, cause: RefusalCause, reason: String) -> Vec<Action> {
        let may_retry = self.obstacle().is_none();
        match self.stage {
            Stage::Planning => self.plans_overtaken += 1,
            Stage::Segments | Stage::Readying => self.cancelled = true,
            Stage::Gathering | Stage::Running | Stage::Finishing => {}
        }
        self.stage = Stage::Gathering;
        self.attempt = self.attempt.saturating_add(1);
        self.seats.iter_mut().for_each(Seat::uncommit);
        vec![Action::Refuse { reason, cause, may_retry }]
    }

    fn end(&mut self) -> Vec<Action> {
        self.ended = true;
        vec![Action::JobEnded]
    }

    fn all(&self, done: impl Fn(&Seat) -> bool) -> bool {
        self.seats.iter().any(|seat| seat.alive) && self.seats.iter().filter(|seat| seat.alive).all(done)
    }

    fn advance(&mut self) -> Vec<Action> {
        match self.stage {
            Stage::Gathering
                if !self.seats.iter().any(Seat::is_gone) && self.all(|seat| seat.declared.is_some()) =>
            {
                if let Some((cause, reason)) =
                    self.declined(self.seats.iter().map(|seat| seat.declared.as_ref()))
                {
                    self.turn_all_down();
                    return self.refuse(cause, reason);
                }
                self.stage = Stage::Planning;
                // Who is outside declares nothing.
                let declared = self.seats.iter().map(|seat| seat.declared.clone().unwrap_or_default());
                vec![Action::Plan(declared.collect())]
            }
            Stage::Segments if self.all(|seat| seat.segment) => {
                self.stage = Stage::Readying;
                vec![Action::DistributePeers]
            }
            Stage::Readying if self.all(|seat| seat.ready) => {
                self.stage = Stage::Running;
                vec![Action::Start]
            }
            Stage::Running | Stage::Finishing
                if self.seats.iter().all(|seat| !seat.alive || seat.finished) =>
            {
                self.finish()
            }
            Stage::Running | Stage::Finishing if self.may_take_over() => self.take_over(),
            Stage::Running
                if self.all(|seat| seat.uncommitting || seat.finished)
                    && self.seats.iter().any(|seat| seat.alive && seat.uncommitting) =>
            {
                self.stop_running(EndReason::Completed)
            }
            _ => Vec::new(),
        }
    }

    fn finish(&mut self) -> Vec<Action> {
        let reason = std::mem::replace(&mut self.ending, EndReason::Completed);
        self.stage = Stage::Gathering;
        if let EndReason::Interrupted | EndReason::Stopped(_) = &reason {
            self.over = Some(reason.to_string());
        }
        self.seats.iter_mut().for_each(Seat::uncommit);
        self.upcoming.clear();
        let mut actions = vec![Action::Uncommitted(reason)];
        if self.policy == DeathPolicy::Restart && self.over.is_none() {
            for (index, seat) in self.seats.iter_mut().enumerate().filter(|(_, seat)| seat.is_gone()) {
                *seat = Seat::occupied();
                actions.push(Action::Restart(MemberId(index as u16)));
            }
        }
        actions
    }
}

fn kind(message: &FromMember) -> &'static str {
    match message {
        FromMember::Hello { .. } => "a second Hello",
        FromMember::Declare { .. } | FromMember::DeclareGroup { .. } => "a declaration",
        FromMember::Segment { .. } => "a segment",
        FromMember::Ready { .. } => "a ready message",
        FromMember::Withdraw { .. } => "a withdrawal",
        FromMember::Uncommit { .. } => "a wish to uncommit",
        FromMember::Finished { .. } => "a finished message",
        FromMember::Mode(ModeRequest::Declare { .. }) => "a mode's declaration",
        FromMember::Mode(ModeRequest::Switch { .. }) => "a wish to switch",
        FromMember::Mode(ModeRequest::Switched { .. }) => "a message that it has switched",
        FromMember::GiveUp { .. } => "giving up",
        FromMember::RunsFailed { .. } => "a failure of a handler",
        FromMember::RunOverran { .. } => "an overrun of a handler",
        FromMember::Abort { .. } => "an abort",
        FromMember::Leave => "a farewell",
    }
}
