//! Commits of a group: its members alone bind their objects, beside whatever other members have committed.

use super::error::Code;
use super::handle::Handle;
use super::library::Library;
use crate::session::Ended;
use leveret_types::MemberId;

impl Library {
    /// Binds every object, together with the members of a group (collective over the group). Members outside neither call nor wait, and
    /// what they have committed goes on. With the group of all it is [`Library::commit`].
    ///
    /// # Errors
    /// [`Code::NotMember`], those of [`Library::commit`], and of wrong handles. [`Code::Mismatch`] too when a channel or an event is in a group
    /// that reaches beyond: the reason names it. Then nothing has changed.
    pub fn commit_group(&mut self, group: Handle) -> Result<(), Code> {
        self.refusal.clear();
        let members = self.members_in_order(group)?;
        self.commit_with(members)
    }

    /// Uncommits (collective over the group): as [`Library::uncommit`].
    ///
    /// # Errors
    /// Those of [`Library::is_committed_with`] and of [`Library::uncommit`].
    pub fn uncommit_group(&mut self, group: Handle) -> Result<Ended, Code> {
        self.is_committed_with(group)?;
        self.uncommit()
    }

    /// Whether the members of this group, and no others, have committed together.
    ///
    /// # Errors
    /// [`Code::NotCommitted`], [`Code::NotMember`], [`Code::Argument`] when they have not, and those of wrong handles.
    pub fn is_committed_with(&self, group: Handle) -> Result<(), Code> {
        if self.running.is_none() {
            return Err(Code::NotCommitted);
        }
        if self.members_in_order(group)? == self.together { Ok(()) } else { Err(Code::Argument) }
    }

    /// With whom this member has committed, and what to do where another group was meant.
    pub fn told_together(&self) -> String {
        let names = self.together.iter().map(|member| format!("\"{}\"", self.world.names()[member.index()]));
        let names = names.collect::<Vec<_>>().join(", ");
        format!(
            "this member has committed with the group of {names}; give that group, or call MPIRT_Uncommit"
        )
    }

    /// The members of a group that this one is in, in the order of rank in the world.
    pub(super) fn members_in_order(&self, group: Handle) -> Result<Vec<MemberId>, Code> {
        let mut members = self.world.members(group)?.to_vec();
        if !members.contains(&self.world.rank()) {
            return Err(Code::NotMember);
        }
        members.sort_unstable();
        Ok(members)
    }
}
