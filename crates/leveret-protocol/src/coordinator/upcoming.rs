//! The set of objects that is to follow the one that runs: committed beside it, and switched to.
//!
//! ```text
//!  Gathering --all declared--> Planning --admitted--> Segments --all sent--> Readying --all ready--> Standing
//!      ^                          |refused                |                     |                      | all want it
//!      |<-------------------------+<----------------------+<--------------------+                      v
//!      |<------------------- all have switched: it is what runs ----------------------------------- Agreed
//! ```
//! Until it is agreed nothing here touches the run. From then on a member either switches, or ends what runs before the
//! instant because of a stop; what a member says of the mode before all have switched is kept until then.

use super::{Action, Coordinator, Stage};
use crate::control::{FromMember, RefusalCause};
use crate::declaration::MemberDeclarations;
use crate::mode::ModeRequest;
use leveret_types::{Generation, MemberId, Nanos};

/// Where the mode stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum ModeStage {
    #[default]
    Gathering,
    Planning,
    Segments,
    Readying,
    /// Committed.
    Standing,
    /// The instant is set.
    Agreed,
}

#[derive(Clone, Debug, Default)]
struct ModeSeat {
    declared: Option<(String, MemberDeclarations)>,
    segment: bool,
    ready: bool,
    /// It wants the switch, not before an instant.
    wanted: Option<Option<Nanos>>,
    switched: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Upcoming {
    pub(super) stage: ModeStage,
    generation: Generation,
    seats: Vec<ModeSeat>,
    /// Modes that were refused beside the present commit.
    attempt: u32,
    /// Switches to the present mode that were refused.
    switch_attempt: u32,
    plans_overtaken: u32,
    /// What members that have switched said before the others had.
    kept: Vec<(MemberId, FromMember)>,
}

impl Upcoming {
    pub(super) fn new(members: usize) -> Self {
        Self { seats: vec![ModeSeat::default(); members], ..Self::default() }
    }

    /// As if there had never been one, for a new commit; verdicts on plans are still to come.
    pub(super) fn clear(&mut self) {
        let plans_overtaken = self.plans_overtaken + u32::from(self.stage == ModeStage::Planning);
        *self = Self { plans_overtaken, ..Self::new(self.seats.len()) };
    }

    pub(super) fn has_switched(&self, member: MemberId) -> bool {
        self.stage == ModeStage::Agreed && self.seats[member.index()].switched
    }

    /// Until the others have switched an honest member says each of these once; all else answers what it has not been told yet.
    fn may_keep(&self, member: MemberId, message: &FromMember) -> bool {
        let is_said_before = matches!(
            message,
            FromMember::Uncommit { .. }
                | FromMember::Finished { .. }
                | FromMember::Mode(ModeRequest::Declare { .. })
        );
        let is_again = |(from, kept): &(MemberId, FromMember)| {
            *from == member && std::mem::discriminant(kept) == std::mem::discriminant(message)
        };
        is_said_before && !self.kept.iter().any(is_again)
    }

    fn is_begun(&self) -> bool {
        self.stage != ModeStage::Gathering || self.seats.iter().any(|seat| seat.declared.is_some())
    }
}

impl Coordinator {
    /// The commit of the mode that is being made or waits for its switch.
    pub fn mode_generation(&self) -> Option<Generation> {
        let has_one = !matches!(self.upcoming.stage, ModeStage::Gathering | ModeStage::Planning);
        has_one.then_some(self.upcoming.generation)
    }

    /// Members that the others wait for in the making of a mode or in the agreement on its switch.
    pub fn awaited_for_mode(&self) -> Vec<MemberId> {
        let upcoming = &self.upcoming;
        let has_done = |seat: &ModeSeat| match upcoming.stage {
            ModeStage::Gathering => seat.declared.is_some(),
            ModeStage::Segments => seat.segment,
            ModeStage::Readying => seat.ready,
            ModeStage::Standing => seat.wanted.is_some(),
            ModeStage::Planning | ModeStage::Agreed => true,
        };
        let is_waited = match upcoming.stage {
            ModeStage::Standing => upcoming.seats.iter().any(|seat| seat.wanted.is_some()),
            _ => upcoming.is_begun(),
        };
        if self.stage != Stage::Running || !is_waited {
            return Vec::new();
        }
        let seats = upcoming.seats.iter().zip(&self.seats).enumerate();
        let awaited = seats.filter(|(_, (mode, seat))| seat.alive && !has_done(mode));
        awaited.map(|(rank, _)| MemberId(rank as u16)).collect()
    }

    /// Whether every member is inside its commit of the mode, as in [`Coordinator::is_setting_up`].
    pub fn is_setting_up_mode(&self) -> bool {
        matches!(self.upcoming.stage, ModeStage::Segments | ModeStage::Readying)
    }

    /// Members that are neither in the mode nor at their end, though the instant of the switch is agreed on; nobody while none is.
    pub fn awaited_in_mode(&self) -> Vec<MemberId> {
        if self.upcoming.stage != ModeStage::Agreed {
            return Vec::new();
        }
        let seats = self.upcoming.seats.iter().zip(&self.seats).enumerate();
        let awaited = seats.filter(|(_, (mode, seat))| seat.alive && !mode.switched && !seat.finished);
        awaited.map(|(rank, _)| MemberId(rank as u16)).collect()
    }

    /// They have had their time: the others are told, and what runs goes on.
    pub fn mode_overdue(&mut self, names: &str) -> Vec<Action> {
        self.hinder_mode(RefusalCause::TimedOut, &format!("{names} did not take part in time"))
    }

    /// Whether a message is of the mode, or of one that was refused while the message was under way.
    pub(super) fn is_of_mode(&self, member: MemberId, message: &FromMember) -> bool {
        match message {
            FromMember::Mode(_) => true,
            FromMember::Segment { generation, .. }
            | FromMember::Ready { generation, .. }
            | FromMember::Withdraw { generation, .. } => {
                matches!(self.stage, Stage::Running | Stage::Finishing)
                    && *generation > self.generation
                    && *generation <= self.last_generation
            }
            FromMember::Uncommit { generation } | FromMember::Finished { generation, .. } => {
                self.upcoming.has_switched(member) && *generation == self.upcoming.generation
            }
            FromMember::Hello { .. }
            | FromMember::Declare { .. }
            | FromMember::DeclareGroup { .. }
            | FromMember::GiveUp { .. }
            | FromMember::RunsFailed { .. }
            | FromMember::RunOverran { .. }
            | FromMember::Abort { .. }
            | FromMember::Leave => false,
        }
    }

    /// A message for which [`Coordinator::is_of_mode`] holds; `None` where no honest member can send it.
    pub(super) fn mode_message(&mut self, member: MemberId, message: FromMember) -> Option<Vec<Action>> {
        let has_switched = self.upcoming.has_switched(member);
        let (stage, generation) = (self.upcoming.stage, self.upcoming.generation);
        let is_crossed = |g: Generation| g != generation || stage == ModeStage::Gathering;
        let is_running = matches!(self.stage, Stage::Running | Stage::Finishing);
        let seat = &mut self.upcoming.seats[member.index()];
        match message {
            FromMember::Mode(ModeRequest::Declare { beside, attempt, name, declarations })
                if is_running && beside == self.generation && !has_switched =>
            {
                self.declare_mode(member, attempt, (name, *declarations))
            }
            FromMember::Segment { generation: g, .. }
            | FromMember::Ready { generation: g, .. }
            | FromMember::Withdraw { generation: g, .. }
                if is_crossed(g) =>
            {
                Some(Vec::new())
            }
            FromMember::Segment { .. } if stage == ModeStage::Segments && !seat.segment => {
                seat.segment = true;
                Some(self.advance_mode())
            }
            FromMember::Ready { .. } if stage == ModeStage::Readying && !seat.ready => {
                seat.ready = true;
                Some(self.advance_mode())
            }
            FromMember::Withdraw { unfit, .. }
                if matches!(stage, ModeStage::Segments | ModeStage::Readying) && !seat.ready =>
            {
                let (cause, reason) = self.withdrawn(member, &unfit);
                Some(self.refuse_mode(cause, reason))
            }
            FromMember::Mode(ModeRequest::Switch { generation: g, attempt, earliest })
                if is_running && g == generation =>
            {
                self.want_switch(member, attempt, earliest)
            }
            FromMember::Mode(ModeRequest::Switched { generation: g })
                if stage == ModeStage::Agreed && g == generation && !has_switched =>
            {
                seat.switched = true;
                Some(self.advance())
            }
            message if has_switched && self.upcoming.may_keep(member, &message) => {
                self.upcoming.kept.push((member, message));
                Some(Vec::new())
            }
            _ => None,
        }
    }

    fn declare_mode(
        &mut self,
        member: MemberId,
        attempt: u32,
        declared: (String, MemberDeclarations),
    ) -> Option<Vec<Action>> {
        if attempt < self.upcoming.attempt {
            return Some(Vec::new());
        }
        let is_first = self.upcoming.seats[member.index()].declared.is_none();
        let may_declare = attempt == self.upcoming.attempt && !self.seats[member.index()].finished;
        if !may_declare || self.upcoming.stage != ModeStage::Gathering || !is_first {
            return None;
        }
        self.upcoming.seats[member.index()].declared = Some(declared);
        Some(match self.obstacle_to_mode() {
            Some((cause, reason)) => self.refuse_mode(cause, reason),
            None => self.advance_mode(),
        })
    }

    fn want_switch(
        &mut self,
        member: MemberId,
        attempt: u32,
        earliest: Option<Nanos>,
    ) -> Option<Vec<Action>> {
        if attempt < self.upcoming.switch_attempt {
            return Some(Vec::new());
        }
        let seat = &mut self.upcoming.seats[member.index()];
        let may_want = attempt == self.upcoming.switch_attempt && seat.wanted.is_none();
        if !may_want || self.upcoming.stage != ModeStage::Standing {
            return None;
        }
        seat.wanted = Some(earliest);
        Some(match self.obstacle_to_mode() {
            Some((cause, reason)) => self.refuse_switch(cause, reason),
            None => self.advance_mode(),
        })
    }

    /// As [`Coordinator::planned`], of the oldest [`Action::PlanMode`] that has no answer.
    ///
    /// # Panics
    /// Without such an action.
    pub fn mode_planned(&mut self, verdict: Result<(), String>) -> Vec<Action> {
        if self.upcoming.plans_overtaken > 0 {
            self.upcoming.plans_overtaken -= 1;
            return Vec::new();
        }
        assert_eq!(self.upcoming.stage, ModeStage::Planning, "a plan answers Action::PlanMode only");
        match verdict {
            Ok(()) => {
                self.upcoming.generation = self.next_generation();
                self.upcoming.stage = ModeStage::Segments;
                Vec::new()
            }
            Err(reason) => {
                self.upcoming.stage = ModeStage::Gathering;
                self.refuse_mode(RefusalCause::Unfit, reason)
            }
        }
    }

    /// As [`Coordinator::plan_unsent`], of the plan that [`Coordinator::mode_planned`] took.
    ///
    /// # Panics
    /// Without such a plan.
    pub fn mode_unsent(&mut self, reason: String) -> Vec<Action> {
        assert_eq!(self.upcoming.stage, ModeStage::Segments, "what is unsent has been planned");
        self.refuse_mode(RefusalCause::Unfit, reason)
    }

    /// The agent has found no instant for [`Action::Switch`].
    pub fn switch_impossible(&mut self, reason: String) -> Vec<Action> {
        self.refuse_switch(RefusalCause::TooLate, reason)
    }

    /// Whoever waits for a mode that is being made, or for an agreement, waits in vain.
    pub(super) fn hinder_mode(&mut self, cause: RefusalCause, reason: &str) -> Vec<Action> {
        match self.upcoming.stage {
            ModeStage::Agreed => Vec::new(),
            ModeStage::Standing if self.upcoming.seats.iter().any(|seat| seat.wanted.is_some()) => {
                self.refuse_switch(cause, reason.to_owned())
            }
            ModeStage::Standing => Vec::new(),
            _ if self.upcoming.is_begun() => self.refuse_mode(cause, reason.to_owned()),
            _ => Vec::new(),
        }
    }

    /// Why there can be no second set beside what runs, or no switch to it.
    fn obstacle_to_mode(&self) -> Option<(RefusalCause, String)> {
        if let Some((cause, reason)) = self.obstacle() {
            return Some((cause, reason));
        }
        if self.stage == Stage::Finishing {
            return Some((RefusalCause::Over, "what runs is being ended".to_owned()));
        }
        let ending = self.seats.iter().position(|seat| seat.uncommitting || seat.finished)?;
        let name = self.name(MemberId(ending as u16));
        Some((RefusalCause::Over, format!("{name} ends what runs; it has uncommitted or is at its horizon")))
    }

    fn refuse_mode(&mut self, cause: RefusalCause, reason: String) -> Vec<Action> {
        let attempt = self.upcoming.attempt.saturating_add(1);
        self.upcoming.clear();
        self.upcoming.attempt = attempt;
        vec![Action::RefuseMode { reason, cause }]
    }

    fn refuse_switch(&mut self, cause: RefusalCause, reason: String) -> Vec<Action> {
        self.upcoming.stage = ModeStage::Standing;
        self.upcoming.switch_attempt = self.upcoming.switch_attempt.saturating_add(1);
        self.upcoming.seats.iter_mut().for_each(|seat| seat.wanted = None);
        vec![Action::RefuseSwitch { generation: self.upcoming.generation, reason, cause }]
    }

    fn all_of_mode(&self, done: impl Fn(&ModeSeat) -> bool) -> bool {
        let mut seats = self.upcoming.seats.iter().zip(&self.seats).filter(|(_, seat)| seat.alive);
        seats.all(|(mode, _)| done(mode))
    }

    fn advance_mode(&mut self) -> Vec<Action> {
        match self.upcoming.stage {
            ModeStage::Gathering if self.all_of_mode(|seat| seat.declared.is_some()) => {
                let declared = self.upcoming.seats.iter().map(|seat| seat.declared.as_ref());
                if let Some((cause, reason)) =
                    self.declined(declared.map(|declared| declared.map(|(_, what)| what)))
                {
                    return self.refuse_mode(cause, reason);
                }
                self.upcoming.stage = ModeStage::Planning;
                let declared = self.upcoming.seats.iter().filter_map(|seat| seat.declared.clone());
                let (names, declarations) = declared.unzip();
                vec![Action::PlanMode { names, declarations }]
            }
            ModeStage::Segments if self.all_of_mode(|seat| seat.segment) => {
                self.upcoming.stage = ModeStage::Readying;
                vec![Action::DistributeModePeers]
            }
            ModeStage::Readying if self.all_of_mode(|seat| seat.ready) => {
                self.upcoming.stage = ModeStage::Standing;
                vec![Action::ModeStands(self.upcoming.generation)]
            }
            ModeStage::Standing if self.all_of_mode(|seat| seat.wanted.is_some()) => {
                let wanted = self.upcoming.seats.iter().filter_map(|seat| seat.wanted.flatten());
                let earliest = wanted.max();
                self.upcoming.stage = ModeStage::Agreed;
                vec![Action::Switch { generation: self.upcoming.generation, earliest }]
            }
            _ => Vec::new(),
        }
    }

    /// Once nobody is left in what ran, and somebody has gone over: the mode is what runs.
    pub(super) fn may_take_over(&self) -> bool {
        let seats = || self.upcoming.seats.iter().zip(&self.seats).filter(|(_, seat)| seat.alive);
        self.upcoming.stage == ModeStage::Agreed
            && seats().all(|(mode, seat)| mode.switched || seat.finished)
            && seats().any(|(mode, _)| mode.switched)
    }

    pub(super) fn take_over(&mut self) -> Vec<Action> {
        self.generation = self.upcoming.generation;
        let kept = std::mem::take(&mut self.upcoming.kept);
        let members = self.seats.len();
        self.upcoming = Upcoming::new(members);
        for seat in &mut self.seats {
            seat.uncommitting = false;
        }
        let mut actions = vec![Action::TakenOver(self.generation)];
        for (member, message) in kept {
            actions.extend(self.message(member, message));
        }
        actions.extend(self.advance());
        actions
    }

    /// A member is gone.
    pub(super) fn leave_mode(&mut self, member: MemberId) {
        self.upcoming.seats[member.index()] = ModeSeat::default();
        self.upcoming.kept.retain(|(from, _)| *from != member);
    }

    pub(super) fn next_generation(&mut self) -> Generation {
        self.last_generation = self.last_generation.next();
        self.last_generation
    }
}
