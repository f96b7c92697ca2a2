//! Which buffers of this member belong, one by one, to those of another: what each end declares at commit, and what comes of it.
//!
//! An end whose input iterator is MAPPED or ORDERED says so, with the number of allowed buffers. Where both ends say it,
//! and both leave the memory to the library, the buffers are one: they lie in the sender's segment, and the receiver's
//! program reads them there. A buffer can be at one such place only, so an end asks for it when
//!
//! - the library provides the memory of every allowed buffer,
//! - its input iterator is that of no other end of this member, and
//! - no allowed buffer is in the allowed set of another such iterator.
//!
//! Otherwise messages are copied, as with a plain iterator.

use super::commit::Unfit;
use super::error::Code;
use super::handle::Handle;
use super::object::{Body, BufiterBody, Form};
use super::world::World;
use crate::declare::EndBuilder;
use leveret_protocol::declaration::{BufferMemory, IteratorPolicy};
use std::collections::HashMap;

/// What the iterators of this member promise together.
pub(super) struct Mappings<'w> {
    world: &'w World,
    /// Of how many ends an iterator is the input.
    inputs: HashMap<Handle, usize>,
    /// In how many allowed sets of mapped inputs a buffer is.
    sets: HashMap<Handle, usize>,
}

impl<'w> Mappings<'w> {
    pub(super) fn of(world: &'w World) -> Self {
        let mut inputs = HashMap::new();
        for (_, object) in world.table.all() {
            let Some(channel) = object.body.channel() else { continue };
            *inputs.entry(channel.input).or_insert(0) += 1;
            *inputs.entry(channel.receives[0]).or_insert(0) += 1;
        }
        let mut sets = HashMap::new();
        for iterator in inputs.keys() {
            let Some(body) = world.iterator_behind(*iterator) else { continue };
            if body.policy.form != Form::Plain {
                for buffer in body.allowed.iter().flatten() {
                    *sets.entry(*buffer).or_insert(0) += 1;
                }
            }
        }
        Self { world, inputs, sets }
    }

    /// An end with this input iterator says what it promises.
    pub(super) fn declare<'d, T>(&self, end: EndBuilder<'d, T>, input: Handle) -> EndBuilder<'d, T> {
        let Some(body) = self.world.iterator_behind(input) else { return end };
        let policy = match body.policy.form {
            Form::Plain => return end.memory(BufferMemory::Application),
            Form::Mapped => IteratorPolicy::FifoMapped,
            Form::Ordered => IteratorPolicy::FifoOrdered,
        };
        let allowed = body.allowed.as_deref().unwrap_or_default();
        let may_alias = self.inputs.get(&input) == Some(&1)
            && allowed.iter().all(|buffer| {
                let of_system = match self.world.table.referred(*buffer).map(|object| &object.body) {
                    Some(Body::Buffer(buffer)) => buffer.storage.is_system(),
                    _ => false,
                };
                of_system && self.sets.get(buffer) == Some(&1)
            });
        let memory = if may_alias { BufferMemory::System } else { BufferMemory::Application };
        end.policy(policy).allowed(allowed.len() as u32).memory(memory)
    }
}

impl World {
    pub(super) fn iterator_behind(&self, iterator: Handle) -> Option<&BufiterBody> {
        match self.table.referred(iterator).map(|object| &object.body) {
            Some(Body::Bufiter(iterator)) => Some(iterator),
            _ => None,
        }
    }

    /// What was true of iterators when they were made may have been changed since.
    pub(super) fn check_iterators(&self) -> Result<(), Unfit> {
        for (handle, object) in self.table.all() {
            let Body::Bufiter(iterator) = &object.body else { continue };
            let unfit = |code, buffer: Handle, what: &str| {
                let (of, within) = (self.called("the buffer", buffer), self.called("the iterator", handle));
                Err(Unfit { code, detail: format!("{of} of {within} {what}") })
            };
            for buffer in iterator.allowed.iter().flatten().chain(&iterator.stocked) {
                let Some(Body::Buffer(body)) = self.table.referred(*buffer).map(|object| &object.body) else {
                    return Err(Code::Internal.into());
                };
                if body.size != iterator.size {
                    let what = format!(
                        "has {} bytes, and the iterator is for {}; set the one as the other",
                        body.size, iterator.size
                    );
                    return unfit(Code::Bufsize, *buffer, &what);
                }
                if body.dataspec != iterator.dataspec {
                    let what = format!(
                        "holds {}, and the iterator is for {}; set the one as the other",
                        body.dataspec, iterator.dataspec
                    );
                    return unfit(Code::Dataspec, *buffer, &what);
                }
            }
            let Some(allowed) = iterator.allowed.as_deref().filter(|_| iterator.policy.form == Form::Ordered)
            else {
                continue;
            };
            for (inserted, due) in iterator.stocked.iter().zip(allowed) {
                if inserted != due {
                    return unfit(
                        Code::NotAllowed,
                        *inserted,
                        "is in it and not the next of its order, which begins anew with each commit",
                    );
                }
            }
        }
        self.check_uses()
    }

    /// A MAPPED iterator gives what the program put first by its policy, or what a message is for: not both.
    fn check_uses(&self) -> Result<(), Unfit> {
        let mut sends: HashMap<Handle, bool> = HashMap::new();
        for (handle, object) in self.table.all() {
            let Body::Ptchannel(channel) = &object.body else { continue };
            let is_mapped =
                self.iterator_behind(channel.input).is_some_and(|body| body.policy.form != Form::Plain);
            if is_mapped && let Some(own) = self.is_source(channel) {
                let before = *sends.entry(channel.input).or_insert(own);
                if before != own {
                    let detail = format!(
                        "the input iterator of {} is MAPPED or ORDERED, and that of a channel in the other direction too; use one for each",
                        self.called("the channel", handle)
                    );
                    return Err(Unfit { code: Code::Argument, detail });
                }
            }
        }
        Ok(())
    }
}
