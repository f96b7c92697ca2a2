//! The objects of one member before commit: creation, attributes, freeing.

use super::attributes::{Attributes, Departure};
use super::committed::Committed;
use super::error::Code;
use super::events::EventKind;
use super::handle::{Class, Handle};
use super::keep::Kept;
use super::limit::LimitReached;
use super::mode::Modes;
use super::object::{Body, Object, Qos};
use super::table::{OBJECTS_MAX, Table};
use crate::abort::Teller;
use leveret_memory::sync::Ordering;
use leveret_types::{MemberId, NAME_BYTES_MAX};

/// The objects of one member. Everything here may allocate and take time; nothing is possible while committed.
pub struct World {
    pub(super) table: Table,
    pub(super) attributes: Attributes,
    rank: MemberId,
    /// The members' names in rank order.
    names: Vec<String>,
    pub(super) committed: bool,
    pub(super) modes: Modes,
    /// By the kind of event; null: none.
    pub(super) default_handlers: [Handle; EventKind::COUNT],
    pub(super) limit: Option<LimitReached>,
    /// What the last call has to say beyond its code.
    pub(super) why: Option<(Code, String)>,
    /// Whom failures of handlers are told to; nobody in a world without a member.
    pub(super) teller: Option<Teller>,
}

impl World {
    /// Only what is predefined: the group of all members, of which this process is `rank`, and best effort.
    pub fn new(rank: MemberId, names: &[String]) -> Result<Self, Code> {
        let mut table = Table::default();
        let all = (0..names.len()).map(|member| MemberId(member as u16)).collect();
        let world = table.insert("world", Body::Group(all))?;
        let best_effort = table.insert("best-effort", Body::Qos(Qos::BestEffort.into()))?;
        assert_eq!((world, best_effort), (Handle::GROUP_WORLD, Handle::BEST_EFFORT), "they come first");
        let (attributes, default_handlers, modes) = Default::default();
        let names = names.to_vec();
        Ok(Self {
            table,
            attributes,
            rank,
            names,
            committed: false,
            modes,
            default_handlers,
            limit: None,
            why: None,
            teller: None,
        })
    }

    /// As it is now, without attributes: what tasks ask while it is committed.
    pub(super) fn snapshot(&self) -> Self {
        let (table, names) = (self.table.clone(), self.names.clone());
        Self {
            table,
            attributes: Attributes::default(),
            rank: self.rank,
            names,
            committed: true,
            modes: Modes::default(),
            default_handlers: self.default_handlers,
            limit: None,
            why: None,
            teller: None,
        }
    }

    /// The members' names in rank order.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// This member's rank in the world.
    pub fn rank(&self) -> MemberId {
        self.rank
    }

    /// An object of a class.
    pub(super) fn of(&self, handle: Handle, class: Class) -> Result<&Object, Code> {
        check_class(handle, class)?;
        self.table.get(handle)
    }

    pub(super) fn change(&mut self, handle: Handle, class: Class) -> Result<&mut Object, Code> {
        self.of(handle, class)?;
        self.loose(handle)?;
        self.table.get_mut(handle)
    }

    /// Nothing is committed.
    pub(super) fn unfrozen(&self) -> Result<(), Code> {
        if self.committed { Err(Code::ObjectCommitted) } else { Ok(()) }
    }

    /// Nothing is committed, or the object is not, and is not another thread's mode's.
    pub(super) fn loose(&self, handle: Handle) -> Result<(), Code> {
        let may_change = |set: u32| self.modes.may_change(set);
        if !self.committed || self.table.set_of(handle).is_some_and(may_change) {
            return Ok(());
        }
        // A wrong handle is wrong whatever is committed.
        if self.table.set_of(handle).is_none() {
            self.table.get(handle)?;
        }
        Err(Code::ObjectCommitted)
    }

    /// What is made while something is committed belongs to a mode.
    pub(super) fn insert(&mut self, name: &str, body: Body) -> Result<Handle, Code> {
        if !self.committed {
            return self.insert_anyway(name, body);
        }
        let set = self.modes.set_here().ok_or(Code::ObjectCommitted)?;
        let made = self.insert_anyway(name, body)?;
        self.table.put_into(made, set);
        Ok(made)
    }

    /// Whatever is committed.
    pub(super) fn insert_anyway(&mut self, name: &str, body: Body) -> Result<Handle, Code> {
        let made = self.table.insert(name, body);
        if made == Err(Code::Limit) {
            let remedy = "free what is not needed any more; an object stays as long as others refer to it";
            self.keep_to((OBJECTS_MAX + 1, OBJECTS_MAX), remedy, |_| "objects".to_owned())?;
        }
        made
    }

    /// How many objects there are, predefined ones and those that others keep alive included.
    pub fn object_count(&self) -> usize {
        self.table.all().count()
    }

    /// How many places the table of objects has: as many as there were objects at one time.
    pub fn place_count(&self) -> usize {
        self.table.place_count()
    }

    /// The class of an object.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn class(&self, handle: Handle) -> Result<Class, Code> {
        Ok(self.table.get(handle)?.body.class())
    }

    /// The name of an object.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn name(&self, handle: Handle) -> Result<&str, Code> {
        Ok(&self.table.get(handle)?.name)
    }

    /// Renames an object.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::UndefForObject`], [`Code::Name`] and those of wrong handles.
    pub fn set_name(&mut self, handle: Handle, name: &str) -> Result<(), Code> {
        if name.len() >= NAME_BYTES_MAX {
            return Err(Code::Name);
        }
        if handle.is_predefined() {
            return Err(Code::UndefForObject);
        }
        self.may_change(handle)?;
        name.clone_into(&mut self.table.get_mut(handle)?.name);
        Ok(())
    }

    /// A live object that no commit holds; walks take part in none.
    fn may_change(&self, handle: Handle) -> Result<(), Code> {
        match self.class(handle)? {
            Class::ContainerIterator => Ok(()),
            _ => self.loose(handle),
        }
    }

    /// Ends a handle. The object goes when nothing refers to it any more; its attributes go at once, each after its delete
    /// function.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] of a predefined object, and while one of its delete functions runs; [`Code::ObjectCommitted`];
    /// [`Code::BufferInUse`]; what a delete function answers, which ends it there; and those of wrong handles.
    pub fn free(&mut self, handle: Handle) -> Result<(), Code> {
        let mut is_begun = false;
        while let Some(departure) = self.begin_free(handle, is_begun)? {
            let answer = departure.run();
            self.end_departure(&departure, answer)?;
            is_begun = true;
        }
        Ok(())
    }

    /// One step of [`World::free`]: frees, or says which attribute has to leave first.
    ///
    /// # Errors
    /// As [`World::free`].
    pub fn begin_free(&mut self, handle: Handle, is_begun: bool) -> Result<Option<Departure>, Code> {
        if handle.is_predefined() {
            return Err(Code::UndefForObject);
        }
        let is_stocked = || handle.class() == Some(Class::Buffer) && self.is_stocked(handle);
        let may =
            self.may_change(handle).and_then(|()| if is_stocked() { Err(Code::BufferInUse) } else { Ok(()) });
        if let Err(code) = may {
            if is_begun {
                self.stay(handle);
            }
            return Err(code);
        }
        match self.depart_from(handle, is_begun)? {
            Some(departure) => Ok(Some(departure)),
            None => {
                self.table.free(handle)?;
                self.mode_freed(handle);
                Ok(None)
            }
        }
    }

    /// After a commit that failed: what it made for buffers goes again.
    pub(super) fn release_memory(&self, kept: &Kept) {
        for (handle, object) in self.table.all() {
            if let Body::Buffer(buffer) = &object.body
                && !kept.contains(handle)
            {
                buffer.storage.release();
            }
        }
    }

    /// After uncommit: every buffer is the program's, with its label and length, and iterators are empty.
    /// What a mode keeps stays where it is.
    pub(super) fn take_back(&mut self, committed: &Committed, kept: &Kept) {
        for entry in committed.buffers.iter().filter(|entry| !kept.contains(entry.handle)) {
            if let Ok(Object { body: Body::Buffer(buffer), .. }) = self.table.referred_mut(entry.handle) {
                buffer.label = entry.label.load(Ordering::Relaxed);
                buffer.length = Some(entry.length.load(Ordering::Relaxed));
                buffer.storage.release();
            }
        }
        for entry in committed.iterators.iter().filter(|entry| !kept.contains(entry.handle)) {
            if let Ok(Object { body: Body::Bufiter(iterator), .. }) = self.table.referred_mut(entry.handle) {
                iterator.stocked.clear();
                iterator.due = 0;
            }
        }
    }
}

fn check_class(handle: Handle, class: Class) -> Result<(), Code> {
    match handle.class() {
        _ if handle.is_null() => Err(Code::NullObject),
        Some(found) if found == class => Ok(()),
        Some(_) => Err(Code::WrongClass),
        None => Err(Code::InvObject),
    }
}
