//! Channels of a whole group, before commit: creation and attributes.

use super::error::Code;
use super::handle::{Class, Handle};
use super::object::{Body, ChannelBody, Qos};
use super::reduction::Operation;
use super::world::World;
use leveret_protocol::declaration::CollectiveForm;

/// What a collective channel does with its members' data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CollectiveKind {
    /// Every member receives what the root sends.
    Broadcast,
    /// Every member receives the section of what the root sends that its rank names.
    Scatter,
    /// The root receives what every member sends, section by section in the order of rank.
    Gather,
    /// The root receives what the operation makes of what every member sends, in the order of rank.
    Reduce(Operation),
    /// Nothing is sent; whoever has waited knows that all have started.
    Barrier,
    /// The i-th piece of what each member sends goes to the i-th member.
    Alltoall,
}

impl CollectiveKind {
    pub(super) fn class(self) -> Class {
        match self {
            Self::Broadcast => Class::BcastChannel,
            Self::Scatter => Class::ScatterChannel,
            Self::Gather => Class::GatherChannel,
            Self::Reduce(_) => Class::ReduceChannel,
            Self::Barrier => Class::BarrierChannel,
            Self::Alltoall => Class::AlltoallChannel,
        }
    }

    pub(super) fn form(self) -> CollectiveForm {
        match self {
            Self::Broadcast => CollectiveForm::Broadcast,
            Self::Scatter => CollectiveForm::Scatter,
            Self::Gather => CollectiveForm::Gather,
            Self::Reduce(_) => CollectiveForm::Reduction,
            Self::Barrier => CollectiveForm::Barrier,
            Self::Alltoall => CollectiveForm::AllToAll,
        }
    }

    /// Whether one member is special.
    pub(super) fn has_root(self) -> bool {
        !matches!(self, Self::Barrier | Self::Alltoall)
    }

    /// Whether a member sends data, and whether it receives some.
    pub(super) fn roles(self, is_root: bool) -> [bool; 2] {
        match self {
            Self::Broadcast | Self::Scatter => [is_root, true],
            Self::Gather | Self::Reduce(_) => [true, is_root],
            Self::Barrier => [false, false],
            Self::Alltoall => [true, true],
        }
    }

    /// Whether messages are whole buffers of a fixed length: what is cut, joined or computed cannot be shorter.
    pub(super) fn is_fixed(self) -> bool {
        self != Self::Broadcast
    }
}

/// A collective channel as the program describes it.
#[derive(Clone, Copy, Debug)]
pub struct CollectiveDescription {
    /// What it does.
    pub kind: CollectiveKind,
    /// Where buffers to send are taken from, and where they are put; null where the caller sends nothing.
    pub sends: [Handle; 2],
    /// Where buffers to receive into are taken from, and where they are put; null where the caller receives nothing.
    pub receives: [Handle; 2],
    /// Rank of the root in the group; 0 where there is none.
    pub root: u32,
    /// Its members.
    pub group: Handle,
    /// Null: best effort.
    pub qos: Handle,
}

/// One member's end of a collective channel.
#[derive(Clone, Copy)]
pub(super) struct CollectiveBody {
    pub(super) kind: CollectiveKind,
    /// Source is the root's rank.
    pub(super) base: ChannelBody,
}

impl Body {
    /// A channel that is served like a collective one: those of groups, and those from a member to itself, which are broadcasts
    /// in a group of one.
    pub(super) fn collective(&self) -> Option<CollectiveBody> {
        match self {
            Self::Collective(collective) => Some(*collective),
            Self::Ptchannel(base) if base.is_loop() => {
                Some(CollectiveBody { kind: CollectiveKind::Broadcast, base: *base })
            }
            _ => None,
        }
    }
}

/// Which qualities of service are for channels.
pub(super) fn is_for_channels(qos: Qos) -> Result<(), Code> {
    match qos {
        Qos::Handler { .. } => Err(Code::UndefForObject),
        Qos::BestEffort | Qos::Time { .. } | Qos::Priority { .. } | Qos::Event { .. } => Ok(()),
    }
}

impl World {
    /// This member's end of a channel of a whole group.
    ///
    /// # Errors
    /// [`Code::NotMember`], [`Code::InvRank`], [`Code::UndefForObject`] of a handler's quality of service, [`Code::Operation`] when the iterators' type does not allow the operation,
    /// [`Code::Argument`] when an iterator is missing that this member needs or is given that it does not, [`Code::Bufsize`] and
    /// [`Code::Dataspec`] when iterators do not fit each other, and those of wrong handles.
    pub fn collective(&mut self, name: &str, channel: CollectiveDescription) -> Result<Handle, Code> {
        let CollectiveDescription { kind, sends, receives, root, group, qos } = channel;
        let rank = self.group_rank(group)?.ok_or(Code::NotMember)?;
        if root as usize >= self.group_size(group)? {
            return Err(Code::InvRank);
        }
        is_for_channels(self.qos_body(qos)?.kind)?;
        self.same_shape(sends)?;
        self.same_shape(receives)?;
        let is_used = kind.roles(rank == root as usize);
        for (pair, is_used) in [sends, receives].into_iter().zip(is_used) {
            if pair.into_iter().any(|iterator| iterator.is_null() == is_used) {
                return Err(Code::Argument);
            }
        }
        self.check_pairs(kind, sends, receives)?;
        let [input, output] = sends;
        let base = ChannelBody {
            input,
            output,
            receives,
            source: root,
            target: root,
            group,
            qos,
            slack: 1,
            polls: false,
            checksum: None,
            mover_budget: None,
        };
        self.insert(name, Body::Collective(CollectiveBody { kind, base }))
    }

    /// What is sent and what is received is of one type, which allows the operation.
    fn check_pairs(
        &self,
        kind: CollectiveKind,
        sends: [Handle; 2],
        receives: [Handle; 2],
    ) -> Result<(), Code> {
        let mut found = None;
        for iterator in sends.into_iter().chain(receives).filter(|iterator| !iterator.is_null()) {
            // One that the program has freed lives as long as the channel refers to it.
            let Some(dataspec) = self.iterator_behind(iterator).map(|body| body.dataspec) else { continue };
            if *found.get_or_insert(dataspec) != dataspec {
                return Err(Code::Dataspec);
            }
        }
        match (kind, found) {
            (CollectiveKind::Reduce(operation), Some(dataspec)) if !operation.fits(dataspec) => {
                Err(Code::Operation)
            }
            _ => Ok(()),
        }
    }

    /// The root of a channel of a whole group, by its rank in the group.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] of a channel without one, and those of wrong handles.
    pub fn channel_root(&self, channel: Handle) -> Result<u32, Code> {
        match self.any_channel(channel)? {
            Body::Collective(CollectiveBody { kind, base }) if kind.has_root() => Ok(base.source),
            _ => Err(Code::UndefForObject),
        }
    }

    /// The operation of a reduction.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] of any other channel, and those of wrong handles.
    pub fn channel_operation(&self, channel: Handle) -> Result<Operation, Code> {
        match self.any_channel(channel)? {
            Body::Collective(CollectiveBody { kind: CollectiveKind::Reduce(operation), .. }) => {
                Ok(*operation)
            }
            _ => Err(Code::UndefForObject),
        }
    }

    /// A barrier has none.
    pub(super) fn has_iterators(&self, channel: Handle) -> Result<(), Code> {
        match self.any_channel(channel)? {
            Body::Collective(CollectiveBody { kind: CollectiveKind::Barrier, .. }) => {
                Err(Code::UndefForObject)
            }
            _ => Ok(()),
        }
    }

    /// Whether an end may have these iterators, for sending or for receiving: a collective end has those that it uses, and what
    /// goes in and what comes out is alike.
    pub(super) fn may_have(&self, channel: Handle, pair: [Handle; 2], sends: bool) -> Result<(), Code> {
        self.has_iterators(channel)?;
        let Some(collective) = self.any_channel(channel)?.collective() else {
            return if sends { Ok(()) } else { Err(Code::UndefForObject) };
        };
        let rank = self.referred_rank(collective.base.group);
        let roles = collective.kind.roles(rank == Some(collective.base.source as usize));
        if !roles[usize::from(!sends)] && pair.into_iter().any(|iterator| !iterator.is_null()) {
            return Err(Code::UndefForObject);
        }
        let other = if sends { collective.base.receives } else { collective.base.sends() };
        self.check_pairs(collective.kind, pair, other)
    }

    /// This member's rank in a group that may have been freed, since a channel refers to it.
    pub(super) fn referred_rank(&self, group: Handle) -> Option<usize> {
        match self.table.referred(group).map(|object| &object.body) {
            Some(Body::Group(members)) => members.iter().position(|member| *member == self.rank()),
            _ => None,
        }
    }

    /// The iterators for receiving of a collective channel, or of one from a member to itself: where buffers are taken from, and where they are put.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] of a barrier or a channel to another member, and those of wrong handles.
    pub fn receive_iterators(&self, channel: Handle) -> Result<[Handle; 2], Code> {
        self.has_iterators(channel)?;
        let collective = self.any_channel(channel)?.collective().ok_or(Code::UndefForObject)?;
        Ok(collective.base.receives)
    }

    /// Sets the iterators for receiving of a collective channel, or of one from a member to itself.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] of a barrier or a channel to another member, and of an end that does not receive;
    /// [`Code::Bufsize`] and [`Code::Dataspec`] when iterators do not fit each other; and those of wrong handles.
    pub fn set_receive_iterators(&mut self, channel: Handle, iterators: [Handle; 2]) -> Result<(), Code> {
        self.may_change_channel(channel)?;
        self.same_shape(iterators)?;
        self.may_have(channel, iterators, false)?;
        self.change_channel(channel, |base| base.receives = iterators)
    }
}
