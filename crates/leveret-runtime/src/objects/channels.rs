//! Channels and their qualities of service, before commit.

use super::collectives::is_for_channels;
use super::error::Code;
use super::handle::{Class, Handle};
use super::object::{Body, ChannelBody};
use super::world::World;
use leveret_types::Nanos;

/// The greatest slack of a channel.
pub const SLACK_MAX: u32 = 64;

/// A channel as the program describes it.
#[derive(Clone, Copy, Debug)]
pub struct ChannelDescription {
    /// Where buffers for a transfer are taken: full ones at the source, empty ones at the target.
    pub input: Handle,
    /// Where they are put afterwards.
    pub output: Handle,
    /// Rank of the sender in the group.
    pub source: u32,
    /// Rank of the receiver in the group.
    pub target: u32,
    /// Null: the world.
    pub group: Handle,
    /// Null: best effort.
    pub qos: Handle,
}

/// For the errors of wrong handles: what is no channel is not a point-to-point one either.
fn class_of_channel(channel: Handle) -> Class {
    channel.class().filter(|class| class.is_channel()).unwrap_or(Class::Ptchannel)
}

impl World {
    /// One end of a channel from one member to another. Iterators may be set later; commit refuses two that are not alike.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::Name`], [`Code::InvRank`], [`Code::NotMember`], [`Code::Limit`] and those of wrong handles.
    pub fn ptchannel(&mut self, name: &str, channel: ChannelDescription) -> Result<Handle, Code> {
        let ChannelDescription { input, output, source, target, group, qos } = channel;
        let members = self.members(group)?;
        let member = |rank: u32| members.get(rank as usize).copied().ok_or(Code::InvRank);
        if ![member(source)?, member(target)?].contains(&self.rank()) {
            return Err(Code::NotMember);
        }
        is_for_channels(self.qos_body(qos)?.kind)?;
        self.are_iterators([input, output])?;
        self.insert(
            name,
            Body::Ptchannel(ChannelBody {
                input,
                output,
                receives: [Handle::default(); 2],
                source,
                target,
                group,
                qos,
                slack: 1,
                polls: false,
                checksum: None,
                mover_budget: None,
            }),
        )
    }

    /// Whether this member is the sender, where it has an end at all.
    pub(super) fn is_source(&self, channel: &ChannelBody) -> Option<bool> {
        let Some(Body::Group(members)) = self.table.referred(channel.group).map(|object| &object.body) else {
            return None;
        };
        let own = |rank: u32| members.get(rank as usize) == Some(&self.rank());
        match (own(channel.source), own(channel.target)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }

    /// They are live, or null.
    fn are_iterators(&self, iterators: [Handle; 2]) -> Result<(), Code> {
        iterators.into_iter().filter(|iterator| !iterator.is_null()).try_for_each(|iterator| {
            self.bufiter_body(iterator)?;
            Ok(())
        })
    }

    /// The iterators of one end hold buffers of one size and type.
    pub(super) fn same_shape(&self, iterators: [Handle; 2]) -> Result<(), Code> {
        let mut shape = None;
        for iterator in iterators.into_iter().filter(|iterator| !iterator.is_null()) {
            let body = self.bufiter_body(iterator)?;
            let found = (body.size, body.dataspec);
            match shape {
                Some((size, _)) if size != found.0 => return Err(Code::Bufsize),
                Some((_, dataspec)) if dataspec != found.1 => return Err(Code::Dataspec),
                _ => shape = Some(found),
            }
        }
        Ok(())
    }

    /// A channel of any kind.
    pub(super) fn any_channel(&self, channel: Handle) -> Result<&Body, Code> {
        Ok(&self.of(channel, class_of_channel(channel))?.body)
    }

    fn channel_body(&self, channel: Handle) -> Result<ChannelBody, Code> {
        self.any_channel(channel)?.channel().copied().ok_or(Code::Internal)
    }

    pub(super) fn may_change_channel(&mut self, channel: Handle) -> Result<(), Code> {
        self.change(channel, class_of_channel(channel)).map(|_| ())
    }

    pub(super) fn change_channel(
        &mut self,
        channel: Handle,
        change: impl FnOnce(&mut ChannelBody),
    ) -> Result<(), Code> {
        self.may_change_channel(channel)?;
        let mut body = self.any_channel(channel)?.clone();
        change(body.channel_mut().ok_or(Code::Internal)?);
        self.table.replace(channel, body)
    }

    /// The iterators of a channel: where buffers are taken from, and where they are put.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] of a barrier, and those of wrong handles.
    pub fn iterators(&self, channel: Handle) -> Result<[Handle; 2], Code> {
        self.has_iterators(channel)?;
        let body = self.channel_body(channel)?;
        Ok([body.input, body.output])
    }

    /// Sets the iterators of a channel. Commit refuses two that are not alike.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] of a barrier, and of an end that does not send on a collective channel, of which
    /// [`Code::Bufsize`] and [`Code::Dataspec`] say at once that the two differ; and those of wrong handles.
    pub fn set_iterators(&mut self, channel: Handle, iterators: [Handle; 2]) -> Result<(), Code> {
        self.may_change_channel(channel)?;
        self.are_iterators(iterators)?;
        if self.any_channel(channel)?.collective().is_some() {
            self.same_shape(iterators)?;
        }
        self.may_have(channel, iterators, true)?;
        self.change_channel(channel, |body| [body.input, body.output] = iterators)
    }

    /// The quality of service of a channel; best effort when it was given none.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn channel_qos(&self, channel: Handle) -> Result<Handle, Code> {
        let qos = self.channel_body(channel)?.qos;
        Ok(if qos.is_null() { Handle::BEST_EFFORT } else { qos })
    }

    /// Sets the quality of service of a channel; null: best effort.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::UndefForObject`] and those of wrong handles.
    pub fn set_channel_qos(&mut self, channel: Handle, qos: Handle) -> Result<(), Code> {
        self.may_change_channel(channel)?;
        is_for_channels(self.qos_body(qos)?.kind)?;
        self.change_channel(channel, |body| body.qos = qos)
    }

    /// The group of a channel.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn channel_group(&self, channel: Handle) -> Result<Handle, Code> {
        Ok(self.channel_body(channel)?.group)
    }

    /// Sender and receiver of a channel from one member to another, by their ranks in its group.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] of a channel of a whole group, and those of wrong handles.
    pub fn channel_ends(&self, channel: Handle) -> Result<[u32; 2], Code> {
        match self.any_channel(channel)? {
            Body::Ptchannel(body) => Ok([body.source, body.target]),
            _ => Err(Code::UndefForObject),
        }
    }

    /// How many started transfers may be under way on a channel.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn slack(&self, channel: Handle) -> Result<u32, Code> {
        Ok(self.channel_body(channel)?.slack)
    }

    /// Whether a wait at this end of a best-effort channel never sleeps.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn polling(&self, channel: Handle) -> Result<bool, Code> {
        Ok(self.channel_body(channel)?.polls)
    }

    /// Sets whether a wait at this end of a best-effort channel polls for as long as it takes. Otherwise it sleeps when some microseconds
    /// have not sufficed.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`] and those of wrong handles.
    pub fn set_polling(&mut self, channel: Handle, polls: bool) -> Result<(), Code> {
        self.may_change_channel(channel)?;
        self.change_channel(channel, |body| body.polls = polls)
    }

    /// Whether each message of a channel carries a checksum of its payload, as far as this end says.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn checksum(&self, channel: Handle) -> Result<bool, Code> {
        Ok(self.channel_body(channel)?.checksum == Some(true))
    }

    /// Sets whether each message of a channel carries a checksum of its payload, which its sender computes and its receiver compares. An end
    /// that does not say takes what the other end or the manifest says; commit refuses ends that say different things.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`] and those of wrong handles.
    pub fn set_checksum(&mut self, channel: Handle, checksum: bool) -> Result<(), Code> {
        self.may_change_channel(channel)?;
        self.change_channel(channel, |body| body.checksum = Some(checksum))
    }

    /// The processor time that moving one message takes at this end, where a mover of the library's does it; `None`: as estimated.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] of a collective channel, and those of wrong handles.
    pub fn mover_budget(&self, channel: Handle) -> Result<Option<Nanos>, Code> {
        match self.any_channel(channel)? {
            Body::Ptchannel(body) => Ok(body.mover_budget),
            _ => Err(Code::UndefForObject),
        }
    }

    /// Sets the processor time that moving one message takes at this end at most, where a mover of the library's does it. `None`: as
    /// estimated.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::UndefForObject`] of a collective channel, [`Code::Time`] unless it is positive, and those of wrong
    /// handles.
    pub fn set_mover_budget(&mut self, channel: Handle, budget: Option<Nanos>) -> Result<(), Code> {
        self.may_change_channel(channel)?;
        self.mover_budget(channel)?;
        if budget.is_some_and(|budget| budget <= Nanos::ZERO) {
            return Err(Code::Time);
        }
        self.change_channel(channel, |body| body.mover_budget = budget)
    }

    /// Sets how many started transfers may be under way on a channel, 1 to [`SLACK_MAX`].
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::Argument`] and those of wrong handles.
    pub fn set_slack(&mut self, channel: Handle, slack: impl Into<i64>) -> Result<(), Code> {
        self.may_change_channel(channel)?;
        let given = slack.into();
        match u32::try_from(given) {
            Ok(slack @ 1..=SLACK_MAX) => self.change_channel(channel, |body| body.slack = slack),
            _ => {
                let channel = self.called("channel", channel);
                let why = format!(
                    "the slack of the {channel} cannot be {given}; give it one from 1 to {SLACK_MAX}"
                );
                Err(self.wrong(Code::Argument, why))
            }
        }
    }
}
