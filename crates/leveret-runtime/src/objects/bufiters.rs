//! Buffer iterators before commit.

use super::buffers::check_size;
use super::error::Code;
use super::handle::{Class, Handle};
use super::object::{Body, BufiterBody, BufiterPolicy, Dataspec, Form};
use super::world::World;
use leveret_memory::iterator::Policy;
use leveret_types::BUFFERS_MAX;

impl World {
    /// An iterator over buffers of one size and type; without an allowed set, over any such buffers.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::Name`], [`Code::Argument`], [`Code::Bufsize`], [`Code::Dataspec`], [`Code::Limit`] and those of wrong
    /// handles.
    pub fn bufiter(
        &mut self,
        name: &str,
        policy: impl Into<BufiterPolicy>,
        (size, dataspec): (usize, Dataspec),
        allowed: Handle,
    ) -> Result<Handle, Code> {
        let policy = policy.into();
        check_size(size, dataspec)?;
        // MAPPED and ORDERED speak of the i-th buffer, so the set must have an order.
        if policy.form != Form::Plain && allowed.is_null() {
            return Err(Code::Argument);
        }
        let set = if allowed.is_null() { Handle::default() } else { allowed };
        if !allowed.is_null() {
            self.check_count(allowed)?;
        }
        let allowed = if allowed.is_null() { None } else { Some(self.allowed(allowed, size, dataspec)?) };
        if policy.form != Form::Plain && set.class() != Some(Class::Cvector) {
            return Err(Code::Argument);
        }
        let stocked = Vec::new();
        let body = BufiterBody { policy, size, dataspec, set, allowed, stocked, due: 0 };
        self.insert(name, Body::Bufiter(body))
    }

    /// As many buffers as an iterator can hold, or fewer.
    fn check_count(&mut self, allowed: Handle) -> Result<(), Code> {
        let (Body::Cset(members) | Body::Cvector(members)) = &self.table.get(allowed)?.body else {
            return Err(Code::WrongClass);
        };
        if members.iter().any(|member| member.is_null()) {
            return Err(Code::Argument);
        }
        let remedy = "share the buffers out among several iterators";
        let what = |world: &Self| world.called("buffers of an iterator, in the allowed container", allowed);
        self.keep_to((members.len(), BUFFERS_MAX as usize), remedy, what)
    }

    /// The buffers of a container, each of this size and type.
    fn allowed(&self, container: Handle, size: usize, dataspec: Dataspec) -> Result<Vec<Handle>, Code> {
        let (Body::Cset(members) | Body::Cvector(members)) = &self.table.get(container)?.body else {
            return Err(Code::WrongClass);
        };
        if members.is_empty() || members.iter().any(|member| member.is_null()) {
            return Err(Code::Argument);
        }
        for (place, member) in members.iter().enumerate() {
            let buffer = self.buffer_body(*member)?;
            if buffer.size != size {
                return Err(Code::Bufsize);
            }
            if buffer.dataspec != dataspec {
                return Err(Code::Dataspec);
            }
            if members[..place].contains(member) {
                return Err(Code::Argument);
            }
        }
        Ok(members.clone())
    }

    pub(super) fn bufiter_body(&self, iterator: Handle) -> Result<&BufiterBody, Code> {
        match &self.of(iterator, Class::Bufiter)?.body {
            Body::Bufiter(iterator) => Ok(iterator),
            _ => Err(Code::Internal),
        }
    }

    fn change_bufiter(&mut self, iterator: Handle) -> Result<&mut BufiterBody, Code> {
        match &mut self.change(iterator, Class::Bufiter)?.body {
            Body::Bufiter(iterator) => Ok(iterator),
            _ => Err(Code::Internal),
        }
    }

    /// In which order buffers leave an iterator.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn bufiter_policy(&self, iterator: Handle) -> Result<BufiterPolicy, Code> {
        Ok(self.bufiter_body(iterator)?.policy)
    }

    /// Size and type of an iterator's buffers.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn bufiter_shape(&self, iterator: Handle) -> Result<(usize, Dataspec), Code> {
        let body = self.bufiter_body(iterator)?;
        Ok((body.size, body.dataspec))
    }

    /// The container that says which buffers may be inserted; null when any may.
    ///
    /// # Errors
    /// [`Code::StaleObject`] when its handle was freed: the iterator keeps the container, and the program has no part in it.
    pub fn bufiter_allowed(&self, iterator: Handle) -> Result<Handle, Code> {
        let set = self.bufiter_body(iterator)?.set;
        if !set.is_null() {
            self.table.get(set)?;
        }
        Ok(set)
    }

    /// How many buffers an iterator holds before commit.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn bufiter_count(&self, iterator: Handle) -> Result<usize, Code> {
        Ok(self.bufiter_body(iterator)?.stocked.len())
    }

    /// Which buffer an ORDERED iterator takes next; `None` of any other.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn bufiter_due(&self, iterator: Handle) -> Result<Option<Handle>, Code> {
        let body = self.bufiter_body(iterator)?;
        let is_ordered = body.policy.form == Form::Ordered;
        let due = body.allowed.as_ref().filter(|_| is_ordered).and_then(|allowed| allowed.get(body.due));
        Ok(due.copied())
    }

    /// Puts a buffer into an iterator before commit.
    ///
    /// # Errors
    /// [`Code::Bufsize`], [`Code::Dataspec`], [`Code::NotAllowed`], [`Code::BufferInUse`] and those of wrong handles.
    pub fn stock(&mut self, iterator: Handle, buffer: Handle) -> Result<(), Code> {
        self.bufiter_body(iterator)?;
        let (size, dataspec) = {
            let body = self.buffer_body(buffer)?;
            (body.size, body.dataspec)
        };
        self.loose(iterator)?;
        self.loose(buffer)?;
        let is_stocked = self.is_stocked(buffer);
        let iterator = self.change_bufiter(iterator)?;
        let Some(allowed) = &iterator.allowed else {
            return match () {
                () if iterator.size != size => Err(Code::Bufsize),
                () if iterator.dataspec != dataspec => Err(Code::Dataspec),
                () if is_stocked => Err(Code::BufferInUse),
                () => {
                    iterator.stocked.push(buffer);
                    Ok(())
                }
            };
        };
        let place = allowed.iter().position(|member| *member == buffer).ok_or(Code::NotAllowed)?;
        if is_stocked {
            return Err(Code::BufferInUse);
        }
        if iterator.policy.form == Form::Ordered {
            if place != iterator.due {
                return Err(Code::NotAllowed);
            }
            iterator.due = (place + 1) % allowed.len();
        }
        iterator.stocked.push(buffer);
        Ok(())
    }

    /// Takes the next buffer out of an iterator before commit, by its policy.
    ///
    /// # Errors
    /// [`Code::Empty`] and those of wrong handles.
    pub fn unstock(&mut self, iterator: Handle) -> Result<Handle, Code> {
        let body = self.bufiter_body(iterator)?;
        let labels: Vec<i64> = match body.policy.base {
            Policy::Sorted => body.stocked.iter().map(|buffer| self.referred_label(*buffer)).collect(),
            _ => Vec::new(),
        };
        let body = self.change_bufiter(iterator)?;
        let last = body.stocked.len().checked_sub(1).ok_or(Code::Empty)?;
        let next = match body.policy.base {
            Policy::Lifo => last,
            // The first of the lowest.
            Policy::Sorted => (0..=last).min_by_key(|place| labels[*place]).unwrap_or(0),
            Policy::Fifo | Policy::Unordered | Policy::Ordered => 0,
        };
        let removed = body.stocked.remove(next);
        // As at a commit, which allows nothing else: after the first of the order comes the next.
        if let Some(allowed) = &body.allowed
            && body.stocked.iter().zip(allowed).all(|(stocked, due)| stocked == due)
        {
            body.due = body.stocked.len() % allowed.len().max(1);
        }
        Ok(removed)
    }

    fn referred_label(&self, buffer: Handle) -> i64 {
        match self.table.referred(buffer).map(|object| &object.body) {
            Some(Body::Buffer(buffer)) => buffer.label,
            _ => 0,
        }
    }
}
