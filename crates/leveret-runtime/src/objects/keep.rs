//! Objects that a mode takes over from what runs: which they are, and what of them goes on.
//!
//! ```text
//!  program keeps      taken along
//!  a channel          its iterators, and the buffers that those take
//!  a task             the channels that it serves, with theirs
//!  a trigger          the channel or task that it watches, with theirs
//!  a receptor         its handlers, and the receptors that it combines
//! ```
//! Nothing of a kept object is made anew: both sets have the same state, and threads of the one leave their ports to those of the
//! other (`succession.rs`). The objects themselves stay fixed, so what a mode declares of them is what runs; that the members keep
//! the same, and that the plans fit, is for admission.

use super::commit::Unfit;
use super::committed::{Committed, CommittedBuffer, CommittedChannel, CommittedIterator, CommittedTask};
use super::error::Code;
use super::handle::{Class, Handle};
use super::object::{Body, Object, Qos};
use super::world::World;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What a mode goes on with of what runs; nothing, where no mode is bound.
#[derive(Default)]
pub(super) struct Kept {
    objects: HashSet<Handle>,
    from: Option<Arc<Committed>>,
    /// Where an object stands in its list.
    numbers: HashMap<Handle, usize>,
}

impl Kept {
    fn new(objects: HashSet<Handle>, from: Arc<Committed>) -> Self {
        let mut numbers = HashMap::new();
        numbers.extend(from.buffers.iter().enumerate().map(|(number, entry)| (entry.handle, number)));
        numbers.extend(from.iterators.iter().enumerate().map(|(number, entry)| (entry.handle, number)));
        numbers.extend(from.channels.iter().enumerate().map(|(number, entry)| (entry.handle, number)));
        numbers.extend(from.tasks.iter().enumerate().map(|(number, entry)| (entry.handle, number)));
        numbers.retain(|handle, _| objects.contains(handle));
        Self { objects, from: Some(from), numbers }
    }

    pub(super) fn contains(&self, handle: Handle) -> bool {
        self.objects.contains(&handle)
    }

    pub(super) fn objects(&self) -> impl Iterator<Item = Handle> + '_ {
        self.objects.iter().copied()
    }

    fn find(&self, handle: Handle) -> Option<(&Committed, usize)> {
        Some((self.from.as_deref()?, *self.numbers.get(&handle)?))
    }

    pub(super) fn buffer(&self, handle: Handle) -> Option<&Arc<CommittedBuffer>> {
        self.find(handle).map(|(from, number)| &from.buffers[number])
    }

    /// An iterator, with the buffers that it takes in their places.
    pub(super) fn iterator(&self, handle: Handle) -> Option<(&CommittedIterator, Vec<Handle>)> {
        let (from, number) = self.find(handle)?;
        let iterator = &from.iterators[number];
        let buffers = iterator.buffers.iter().map(|buffer| from.buffers[*buffer as usize].handle);
        Some((iterator, buffers.collect()))
    }

    /// The set from which this mode goes on.
    pub(super) fn before(&self) -> Option<&Committed> {
        self.from.as_deref()
    }

    /// Where a trigger or a receptor that is kept stands in the set before.
    pub(super) fn number(&self, handle: Handle, class: Class) -> Option<usize> {
        self.from.as_deref().filter(|_| self.contains(handle))?.find(handle, class).ok()
    }

    pub(super) fn channel(&self, handle: Handle) -> Option<&CommittedChannel> {
        self.find(handle).map(|(from, number)| &from.channels[number])
    }

    pub(super) fn task(&self, handle: Handle) -> Option<&CommittedTask> {
        self.find(handle).map(|(from, number)| &from.tasks[number])
    }
}

impl World {
    /// Takes a channel, a task, a trigger or a receptor of what runs over into a mode, with what it uses: iterators and their buffers, the
    /// channels that a task serves, what a trigger watches, and what a receptor combines and its handlers.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`] of a mode that is committed or runs, [`Code::Argument`] of one that has run and of an object that is not of what
    /// runs, [`Code::UndefForObject`] of an event-driven task or channel, a channel of a group or from a member to itself, a trigger that
    /// watches one of those, a receptor that is part of another, and of any other class, and those of wrong handles.
    pub fn keep(&mut self, mode: Handle, object: Handle) -> Result<(), Code> {
        self.of(mode, Class::Mode)?;
        self.class(object)?;
        self.open_set(mode)?;
        if !self.is_kept_by_itself(&self.table.get(object)?.body, object) {
            return Err(Code::UndefForObject);
        }
        if self.table.set_of(object) != Some(self.modes.running()) {
            return Err(Code::Argument);
        }
        self.modes.keep(object);
        Ok(())
    }

    fn is_kept_by_itself(&self, body: &Body, object: Handle) -> bool {
        match body {
            Body::Ptchannel(channel) => {
                let kind = self.referred_qos(channel.qos).kind;
                !channel.is_loop()
                    && matches!(kind, Qos::Time { .. } | Qos::BestEffort | Qos::Priority { .. })
            }
            Body::Task(task) => matches!(self.referred_qos(task.qos).kind, Qos::Time { .. }),
            Body::Trigger(trigger) => trigger.source().is_none_or(|source| {
                self.table.referred(source).is_some_and(|object| self.is_kept_by_itself(&object.body, source))
            }),
            Body::Receptor(_) => !self.table.all().any(|(_, other)| match &other.body {
                Body::Receptor(other) => other.parts().contains(&object),
                _ => false,
            }),
            _ => false,
        }
    }

    /// Why [`World::keep`] does not take an object, and what to do instead.
    pub fn why_not_kept(&self, object: Handle) -> Option<String> {
        let known = self.table.get(object).ok()?;
        if self.is_kept_by_itself(&known.body, object) {
            return None;
        }
        let class = known.body.class();
        let why = match &known.body {
            Body::Ptchannel(channel) if channel.is_loop() => {
                "goes from a member to itself; make another in the mode"
            }
            Body::Ptchannel(_) => {
                "is event-driven, and what starts it does not go on; make it priority-driven, or another in the mode"
            }
            Body::Task(_) => "is event-driven, and what starts it does not go on; make another in the mode",
            Body::Trigger(_) => "watches something that cannot be kept; make both anew in the mode",
            Body::Receptor(_) => "is part of another receptor, which counts for it; keep that one",
            body if body.collective().is_some() => "is of a whole group; make another in the mode",
            _ => "is not kept by itself; it goes on with the channel, task or receptor that uses it",
        };
        Some(format!("{} {why}", self.called(&format!("{class:?}"), object)))
    }

    /// What the mode that is open keeps, with all that belongs to it.
    pub(super) fn kept(&self, from: &Arc<Committed>) -> Kept {
        let of_iterators: HashMap<Handle, Vec<Handle>> = from
            .iterators
            .iter()
            .map(|iterator| {
                let buffers = iterator.buffers.iter().map(|buffer| from.buffers[*buffer as usize].handle);
                (iterator.handle, buffers.collect())
            })
            .collect();
        let mut objects = HashSet::new();
        let mut open: Vec<Handle> = self.modes.kept().to_vec();
        while let Some(next) = open.pop() {
            let is_running = self.table.set_of(next) == Some(self.modes.running());
            let Some(object) = self.table.referred(next).filter(|_| is_running) else { continue };
            if objects.insert(next) {
                open.extend(object.body.references());
                open.extend(of_iterators.get(&next).into_iter().flatten());
            }
        }
        Kept::new(objects, from.clone())
    }

    /// What a kept object is used for in a mode is what it was used for before.
    ///
    /// # Errors
    /// [`Code::Argument`] with a sentence.
    pub(super) fn check_kept(&self, kept: &Kept) -> Result<(), Unfit> {
        for (handle, object) in self.table.all() {
            self.check_parts(kept, (handle, object))?;
            let Some(channel) = object.body.channel().filter(|_| !kept.contains(handle)) else { continue };
            let mut used = channel.sends().into_iter().chain(channel.receives);
            let Some(iterator) = used.find(|iterator| kept.contains(*iterator)) else { continue };
            return Err(Unfit {
                code: Code::Argument,
                detail: format!(
                    "{} of the mode uses {}, which is kept for a channel of what runs, at member \"{}\"; give it an iterator of its own, or \
                     free it",
                    self.called("the channel", handle),
                    self.called("the iterator", iterator),
                    self.names()[self.rank().index()]
                ),
            });
        }
        Ok(())
    }

    /// A kept receptor counts for itself.
    fn check_parts(&self, kept: &Kept, (handle, object): (Handle, &Object)) -> Result<(), Unfit> {
        let Body::Receptor(receptor) = &object.body else { return Ok(()) };
        let part = receptor.parts().iter().find(|part| kept.contains(**part) && !kept.contains(handle));
        let Some(part) = part else { return Ok(()) };
        Err(Unfit {
            code: Code::Argument,
            detail: format!(
                "a receptor of the mode combines {}, which is kept and counts for itself, at member \"{}\"; make one for the mode, or keep \
                 neither",
                self.called("the receptor", *part),
                self.names()[self.rank().index()]
            ),
        })
    }
}
