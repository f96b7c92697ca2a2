//! What triggers, receptors and handlers are made of.

use crate::objects::Committed;
use crate::objects::handle::Handle;
use leveret_types::Nanos;
use std::sync::Arc;

/// On what a trigger fires; the numbers are those of `mpirt.h`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(i32)]
pub enum EventKind {
    /// On a call.
    Call = 0,
    /// On each completed transfer of a channel.
    Completion = 1,
    /// On each instance of a channel or task that missed its deadline.
    Miss = 2,
    /// On each instance of a channel that lacked a buffer at this end.
    MissingBuffer = 3,
    /// On each other failure of a channel.
    Error = 4,
    /// At an instant, or periodically.
    Time = 5,
}

impl EventKind {
    /// How many there are.
    pub const COUNT: usize = 6;

    /// All of them, in the order of their numbers.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Call, Self::Completion, Self::Miss, Self::MissingBuffer, Self::Error, Self::Time];

    /// The kind of this number.
    pub fn of(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as i32 == number)
    }
}

/// How receptors are combined; the numbers are those of `mpirt.h`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(i32)]
pub enum ReceptorCombination {
    /// Occurs once for each firing of any of its parts.
    Any = 0,
    /// Occurs when each of its parts has a pending firing, and consumes one of each.
    All = 1,
}

impl ReceptorCombination {
    /// The combination of this number.
    pub fn of(number: i32) -> Option<Self> {
        [Self::Any, Self::All].into_iter().find(|combination| *combination as i32 == number)
    }
}

/// A firing as its receptor gets it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Firing {
    /// The rank of who fired, in the event's group.
    pub source: u32,
    /// Counts the firings of its trigger, from 0.
    pub number: u64,
    /// When it was, on the job's clock; `None` when so many have come since that it is not known any more.
    pub time: Option<Nanos>,
    /// How many more the receptor has pending.
    pub pending: u64,
    /// Of how many firings, this one included, the receptor did not learn the time, since the commit.
    pub lost: u64,
}

/// What runs at a firing: it gets the receptor, the firing, and what is committed.
pub type HandlerFunction = Arc<dyn Fn(Handle, Firing, &Arc<Committed>) + Send + Sync>;

/// A trigger as the program describes it. Its name is the event's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TriggerDescription {
    /// On what it fires.
    pub kind: EventKind,
    /// The channel or task that it watches; null for the kinds call and time.
    pub source: Handle,
    /// Where the event's receptors are.
    pub group: Handle,
    /// The priority of delivery; null: best effort.
    pub qos: Handle,
}

#[derive(Clone, Copy)]
pub(in crate::objects) struct TriggerBody {
    pub(super) about: TriggerDescription,
    /// Of the kind time: the first firing, from the epoch, and the time between firings, 0 for one firing.
    pub(super) times: Option<(Nanos, Nanos)>,
}

impl TriggerBody {
    /// What it watches.
    pub(in crate::objects) fn source(&self) -> Option<Handle> {
        Some(self.about.source).filter(|source| !source.is_null())
    }

    pub(in crate::objects) fn references(&self) -> Vec<Handle> {
        [self.about.source, self.about.group, self.about.qos]
            .into_iter()
            .filter(|handle| !handle.is_null())
            .collect()
    }
}

#[derive(Clone)]
pub(in crate::objects) enum Form {
    /// The event of its name in this group.
    Event(Handle),
    Combined(ReceptorCombination, Vec<Handle>),
}

#[derive(Clone)]
pub(in crate::objects) struct ReceptorBody {
    pub(super) form: Form,
    /// In the order in which they run.
    pub(super) handlers: Vec<Handle>,
}

impl ReceptorBody {
    /// What it combines.
    pub(in crate::objects) fn parts(&self) -> &[Handle] {
        match &self.form {
            Form::Event(_) => &[],
            Form::Combined(_, parts) => parts,
        }
    }

    pub(in crate::objects) fn references(&self) -> Vec<Handle> {
        let of_form = match &self.form {
            Form::Event(group) => vec![*group],
            Form::Combined(_, parts) => parts.clone(),
        };
        of_form.into_iter().chain(self.handlers.iter().copied()).collect()
    }
}

#[derive(Clone)]
pub(in crate::objects) struct HandlerBody {
    /// Null: best effort.
    pub(super) qos: Handle,
    pub(super) function: HandlerFunction,
}

impl HandlerBody {
    pub(in crate::objects) fn references(&self) -> Vec<Handle> {
        if self.qos.is_null() { Vec::new() } else { vec![self.qos] }
    }
}
