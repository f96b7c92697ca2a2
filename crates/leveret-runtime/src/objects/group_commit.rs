//! Commits of a group: its members alone bind their objects, beside whatever other members have committed.

use super::error::Code;
use super::handle::Handle;
use super::library::Library;
use crate::session::Ended;
use leveret_types::MemberId;

/// Members of a group beyond these are only counted in a sentence.
const MEMBERS_LISTED: usize = 4;

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
        self.commit_with(members)?;
        self.world.name(group)?.clone_into(&mut self.together_as);
        Ok(())
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
        let group = self.group_together();
        format!("this member has committed with the group {group}; give that group, or call MPIRT_Uncommit")
    }

    /// What to do about [`Code::ObjectCommitted`] where a group has committed; `None` where all members have, or none.
    pub fn remedy_of_group(&self) -> Option<String> {
        let is_groups = self.running.is_some() && !self.is_everybody(&self.together);
        is_groups.then(|| {
            let group = self.group_together();
            format!("do it before MPIRTX_Commit_group, or after MPIRTX_Uncommit_group, of the group {group}")
        })
    }

    /// `"left" of "a", "b" and 3 more`: what is committed together.
    fn group_together(&self) -> String {
        let name =
            if self.together_as.is_empty() { String::new() } else { format!("\"{}\" ", self.together_as) };
        let listed = self.together.iter().take(MEMBERS_LISTED);
        let listed: Vec<String> =
            listed.map(|member| format!("\"{}\"", self.world.names()[member.index()])).collect();
        let more = match self.together.len().saturating_sub(MEMBERS_LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{name}of {}{more}", listed.join(", "))
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
