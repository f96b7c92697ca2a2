//! A coordinator of a group: as if the job had no other members. It lives for one commit, or for one attempt at it.

use super::{Action, Coordinator, DeathPolicy, Seat};
use crate::control::{FromMember, RefusalCause};
use crate::declaration::MemberDeclarations;
use leveret_types::{Generation, MemberId};

impl Coordinator {
    /// For a commit of these members of a job, whose generation comes after `last`. Nobody is started again for it: whoever dies is
    /// missing in it, or ends it.
    #[must_use]
    pub fn of_group(self, members: &[MemberId], last: Generation) -> Self {
        let mut group = self;
        for (rank, seat) in group.seats.iter_mut().enumerate() {
            if !members.contains(&MemberId(rank as u16)) {
                *seat = Seat { outside: true, ..Seat::default() };
            }
        }
        group.last_generation = last;
        if group.policy == DeathPolicy::Restart {
            group.policy = DeathPolicy::Stop;
        }
        group
    }

    /// This member is gone already: in order, or not.
    pub fn lacks(&mut self, member: MemberId, in_order: bool) {
        if let Some(seat) = self.seats.get_mut(member.index()).filter(|seat| !seat.outside) {
            *seat = Seat::vacant(in_order);
        }
    }

    /// The job is over, for this reason: there can be no commit.
    pub fn end_of_job(&mut self, reason: String) {
        self.over = Some(reason);
    }

    /// Why no further commit is possible, if so.
    pub fn over(&self) -> Option<&str> {
        self.over.as_deref()
    }

    pub(super) fn is_of_group(&self) -> bool {
        self.seats.iter().any(|seat| seat.outside)
    }

    /// Whether this member takes part, alive or not.
    pub fn is_inside(&self, member: MemberId) -> bool {
        self.seats.get(member.index()).is_some_and(|seat| !seat.outside)
    }

    /// Whether this member waits for a commit to be made, or is in one.
    pub fn is_committing(&self, member: MemberId) -> bool {
        self.seats.get(member.index()).is_some_and(|seat| seat.declared.is_some())
    }

    /// A member of the group commits.
    pub fn declared(&mut self, member: MemberId, declarations: MemberDeclarations) -> Vec<Action> {
        let attempt = self.attempt;
        self.message(member, FromMember::Declare { attempt, declarations })
    }

    /// Members have not declared in time: those that have are told, and nobody is ended for it.
    pub fn give_up(&mut self, reason: String) -> Vec<Action> {
        self.refuse(RefusalCause::TimedOut, reason)
    }
}
