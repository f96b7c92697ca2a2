//! Identifiers. An identifier is an index into the job's model; names are for people.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! index_id {
    ($name:ident, $repr:ty, $word:literal) => {
        #[doc = concat!("Index of a ", $word, " in its model.")]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub struct $name(pub $repr);

        impl $name {
            /// The index as a `usize`, for table look-ups.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(out, "{}{}", $word, self.0)
            }
        }
    };
}

index_id!(MemberId, u16, "member");
index_id!(ChannelId, u16, "channel");
index_id!(TaskId, u16, "task");
index_id!(EventId, u16, "event");
index_id!(TriggerId, u16, "trigger");
index_id!(NodeId, u32, "node");
index_id!(LinkId, u32, "link");
index_id!(StreamId, u32, "stream");

/// Number of a commit. Every commit of a job, and every restart of a member, gets the next one, so that
/// whatever a dead or earlier peer left behind is recognised as stale.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Generation(pub u32);

impl Generation {
    /// The generation after this one.
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0)
    }
}

/// The k-th activation of a task or transfer of a channel, counted from the epoch. `(channel, instance)` is a
/// message's identity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Instance(pub u64);

impl Instance {
    /// The instance after this one.
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Instance {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0)
    }
}
