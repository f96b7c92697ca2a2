//! Groups: ordered sets of members, made of one another.

use super::error::Code;
use super::handle::{Class, Handle};
use super::object::Body;
use super::world::World;
use leveret_types::MemberId;

/// How two groups compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum Comparison {
    /// The same members in the same order.
    Identical = 0,
    /// The same members in another order.
    Similar = 1,
    /// Other members.
    Unequal = 2,
}

/// What is made of two groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Combination {
    /// All of the first, then those of the second that are not in it.
    Union,
    /// Those of the first that are in the second.
    Intersection,
    /// Those of the first that are not in the second.
    Difference,
}

impl World {
    pub(super) fn members(&self, group: Handle) -> Result<&[MemberId], Code> {
        match &self.of(group, Class::Group)?.body {
            Body::Group(members) => Ok(members),
            _ => Err(Code::Internal),
        }
    }

    /// Number of members of a group.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn group_size(&self, group: Handle) -> Result<usize, Code> {
        Ok(self.members(group)?.len())
    }

    /// This member's rank in a group; `None` when it is not in it.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn group_rank(&self, group: Handle) -> Result<Option<usize>, Code> {
        let own = self.rank();
        Ok(self.members(group)?.iter().position(|member| *member == own))
    }

    /// The members of these ranks; each once.
    fn chosen(&self, group: Handle, ranks: &[u32]) -> Result<Vec<MemberId>, Code> {
        let from = self.members(group)?;
        let mut members = Vec::new();
        for rank in ranks {
            let member = *from.get(*rank as usize).ok_or(Code::InvRank)?;
            if members.contains(&member) {
                return Err(Code::InvRank);
            }
            members.push(member);
        }
        Ok(members)
    }

    /// A group of the members with these ranks in another, in this order.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::Name`], [`Code::Argument`], [`Code::InvRank`], [`Code::Limit`] and those of wrong handles.
    pub fn group_include(&mut self, name: &str, group: Handle, ranks: &[u32]) -> Result<Handle, Code> {
        let members = self.chosen(group, ranks)?;
        self.insert(name, Body::Group(members))
    }

    /// A group of the members without these ranks in another, in their order.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::Name`], [`Code::Argument`], [`Code::InvRank`], [`Code::Limit`] and those of wrong handles.
    pub fn group_exclude(&mut self, name: &str, group: Handle, ranks: &[u32]) -> Result<Handle, Code> {
        let out = self.chosen(group, ranks)?;
        let rest = self.members(group)?.iter().filter(|member| !out.contains(member)).copied().collect();
        self.insert(name, Body::Group(rest))
    }

    /// A group made of two.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::Name`], [`Code::Limit`] and those of wrong handles.
    pub fn group_combine(
        &mut self,
        name: &str,
        combination: Combination,
        first: Handle,
        second: Handle,
    ) -> Result<Handle, Code> {
        let (first, second) = (self.members(first)?, self.members(second)?);
        let of_first = first.iter().copied();
        let members = match combination {
            Combination::Union => {
                of_first.chain(second.iter().copied().filter(|member| !first.contains(member))).collect()
            }
            Combination::Intersection => of_first.filter(|member| second.contains(member)).collect(),
            Combination::Difference => of_first.filter(|member| !second.contains(member)).collect(),
        };
        self.insert(name, Body::Group(members))
    }

    /// The ranks in `target` of members given by their ranks in `source`; `None` for who is no member.
    ///
    /// # Errors
    /// [`Code::Argument`], [`Code::InvRank`] and those of wrong handles.
    pub fn group_translate(
        &self,
        source: Handle,
        ranks: &[u32],
        target: Handle,
    ) -> Result<Vec<Option<usize>>, Code> {
        let (source, target) = (self.members(source)?, self.members(target)?);
        let rank_in_target = |rank: &u32| {
            let member = source.get(*rank as usize).ok_or(Code::InvRank)?;
            Ok(target.iter().position(|other| other == member))
        };
        ranks.iter().map(rank_in_target).collect()
    }

    /// How two groups compare.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn group_compare(&self, first: Handle, second: Handle) -> Result<Comparison, Code> {
        let (first, second) = (self.members(first)?, self.members(second)?);
        if first == second {
            return Ok(Comparison::Identical);
        }
        let same = first.len() == second.len() && first.iter().all(|member| second.contains(member));
        Ok(if same { Comparison::Similar } else { Comparison::Unequal })
    }

    /// The rank of the member with this name; `None` when the group has none.
    ///
    /// # Errors
    /// [`Code::Name`] and those of wrong handles.
    pub fn find_member(&self, group: Handle, name: &str) -> Result<Option<usize>, Code> {
        let is_named =
            |member: &MemberId| self.names().get(member.index()).is_some_and(|known| known == name);
        Ok(self.members(group)?.iter().position(is_named))
    }

    /// The name of the member with this rank.
    ///
    /// # Errors
    /// [`Code::InvRank`] and those of wrong handles.
    pub fn member_name(&self, group: Handle, rank: u32) -> Result<&str, Code> {
        let member = *self.members(group)?.get(rank as usize).ok_or(Code::InvRank)?;
        self.names().get(member.index()).map(String::as_str).ok_or(Code::Internal)
    }
}
