//! Where objects stand: places with generations, and counts of who refers to them.
//!
//! A freed object goes when nothing refers to it any more, so a program may free in any order. Its handle ends at once.

use super::error::Code;
use super::handle::{GENERATION_MAX, Handle};
use super::object::{Body, Object};
use leveret_types::NAME_BYTES_MAX;

/// Most objects at one time.
pub const OBJECTS_MAX: usize = 1 << 16;

#[derive(Clone, Default)]
struct Place {
    generation: u32,
    object: Option<Object>,
    /// How many other objects refer to this one.
    references: u32,
    /// The program has given up its handle.
    freed: bool,
    /// In which set it was made.
    set: u32,
    /// In a copy: not of the set that is bound.
    outside: bool,
}

/// Every object of one member.
#[derive(Clone, Default)]
pub(super) struct Table {
    places: Vec<Place>,
    vacant: Vec<u32>,
}

impl Table {
    /// Takes in an object, and counts what it refers to.
    pub(super) fn insert(&mut self, name: &str, body: Body) -> Result<Handle, Code> {
        if name.len() >= NAME_BYTES_MAX {
            return Err(Code::Name);
        }
        for referred in body.references() {
            self.place(referred)?;
        }
        let place = match self.vacant.pop() {
            Some(place) => place,
            None if self.places.len() < OBJECTS_MAX => {
                self.places.try_reserve(1).map_err(|_| Code::NoMemory)?;
                self.places.push(Place::default());
                self.places.len() as u32 - 1
            }
            None => return Err(Code::Limit),
        };
        for referred in body.references() {
            self.refer(referred);
        }
        let class = body.class();
        let entry = &mut self.places[place as usize];
        entry.object = Some(Object { name: name.to_owned(), body, changes: 0 });
        entry.freed = false;
        entry.set = 0;
        Ok(Handle::new(class, entry.generation, place))
    }

    /// The place of a handle that the program may still use.
    fn place(&self, handle: Handle) -> Result<usize, Code> {
        let place = handle.place()?;
        let entry = self.places.get(place).ok_or(Code::InvObject)?;
        match &entry.object {
            Some(object) if entry.generation == handle.generation() => {
                if handle.class() != Some(object.body.class()) {
                    return Err(Code::InvObject);
                }
                if entry.freed { Err(Code::StaleObject) } else { Ok(place) }
            }
            Some(_) => Err(handle.absence(entry.generation)),
            // Removed: the generation is that of the next one already.
            None => Err(handle.absence(entry.generation.saturating_sub(1))),
        }
    }

    /// The object of a handle.
    pub(super) fn get(&self, handle: Handle) -> Result<&Object, Code> {
        let place = self.place(handle)?;
        self.places[place].object.as_ref().ok_or(Code::StaleObject)
    }

    /// As [`Table::get`], to be changed; references must stay as they are.
    pub(super) fn get_mut(&mut self, handle: Handle) -> Result<&mut Object, Code> {
        let place = self.place(handle)?;
        self.places[place].object.as_mut().ok_or(Code::StaleObject)
    }

    /// An object that another refers to, whether or not the program has freed its handle.
    pub(super) fn referred(&self, handle: Handle) -> Option<&Object> {
        let entry = self.places.get(handle.place().ok()?)?;
        entry.object.as_ref().filter(|_| entry.generation == handle.generation())
    }

    /// As [`Table::referred`], to be changed.
    pub(super) fn referred_mut(&mut self, handle: Handle) -> Result<&mut Object, Code> {
        let entry = self.places.get_mut(handle.place()?).ok_or(Code::StaleObject)?;
        let known = entry.generation == handle.generation();
        entry.object.as_mut().filter(|_| known).ok_or(Code::StaleObject)
    }

    /// Replaces an object's body by one that may refer to others.
    pub(super) fn replace(&mut self, handle: Handle, body: Body) -> Result<(), Code> {
        self.place(handle)?;
        self.replace_referred(handle, body)
    }

    /// As [`Table::replace`], of an object that may live by references alone.
    pub(super) fn replace_referred(&mut self, handle: Handle, body: Body) -> Result<(), Code> {
        for referred in body.references() {
            if self.referred(referred).is_none() {
                self.place(referred)?;
            }
        }
        let former = {
            let object = self.referred_mut(handle)?;
            object.changes += 1;
            std::mem::replace(&mut object.body, body)
        };
        let references = self.referred(handle).map(|object| object.body.references()).unwrap_or_default();
        for referred in references {
            self.refer(referred);
        }
        self.release(former.references());
        Ok(())
    }

    /// Adds a member to a set, without a look at those that are in it.
    pub(super) fn add_to_set(&mut self, set: Handle, member: Handle) -> Result<(), Code> {
        self.place(member)?;
        let object = self.get_mut(set)?;
        let Body::Cset(members) = &mut object.body else { return Err(Code::Internal) };
        members.try_reserve(1).map_err(|_| Code::NoMemory)?;
        members.push(member);
        object.changes += 1;
        self.refer(member);
        Ok(())
    }

    fn refer(&mut self, handle: Handle) {
        if let Ok(place) = handle.place() {
            self.places[place].references += 1;
        }
    }

    /// Ends a handle.
    pub(super) fn free(&mut self, handle: Handle) -> Result<(), Code> {
        let place = self.place(handle)?;
        self.places[place].freed = true;
        self.remove_if_unused(place);
        Ok(())
    }

    /// Objects that are gone release theirs in turn; a list instead of recursion, since sets may be deep.
    fn release(&mut self, references: Vec<Handle>) {
        for referred in references {
            let Ok(place) = referred.place() else { continue };
            let entry = &mut self.places[place];
            entry.references = entry.references.saturating_sub(1);
            self.remove_if_unused(place);
        }
    }

    fn remove_if_unused(&mut self, first: usize) {
        let mut open = vec![first];
        while let Some(place) = open.pop() {
            let entry = &mut self.places[place];
            if !entry.freed || entry.references > 0 {
                continue;
            }
            let Some(object) = entry.object.take() else { continue };
            // One beyond the last: the place is used up.
            entry.generation += 1;
            if entry.generation <= GENERATION_MAX {
                self.vacant.push(place as u32);
            }
            for referred in object.body.references() {
                if let Ok(place) = referred.place() {
                    self.places[place].references = self.places[place].references.saturating_sub(1);
                    open.push(place);
                }
            }
        }
    }

    /// As if a vacant place had been used until so many generations are left.
    #[cfg(test)]
    pub(super) fn use_up(&mut self, place: usize, left: u32) {
        self.places[place].generation = GENERATION_MAX + 1 - left;
    }

    /// Whether the program has given up the handle of an object that lives on.
    pub(super) fn is_freed(&self, handle: Handle) -> bool {
        handle.place().is_ok_and(|place| self.places.get(place).is_some_and(|entry| entry.freed))
    }

    /// The set of an object, freed or not.
    pub(super) fn set_of(&self, handle: Handle) -> Option<u32> {
        let entry = self.places.get(handle.place().ok()?)?;
        (entry.object.is_some() && entry.generation == handle.generation()).then_some(entry.set)
    }

    /// Moves an object to a set.
    pub(super) fn put_into(&mut self, handle: Handle, set: u32) {
        if self.set_of(handle).is_some()
            && let Ok(place) = handle.place()
        {
            self.places[place].set = set;
        }
    }

    pub(super) fn put_all_into(&mut self, set: u32) {
        self.places.iter_mut().for_each(|entry| entry.set = set);
    }

    /// Of a copy: [`Table::all`] gives only these from here on.
    pub(super) fn restrict(&mut self, is_inside: impl Fn(Handle) -> bool) {
        for (place, entry) in self.places.iter_mut().enumerate() {
            let handle = entry
                .object
                .as_ref()
                .map(|object| Handle::new(object.body.class(), entry.generation, place as u32));
            entry.outside = handle.is_some_and(|handle| !is_inside(handle));
        }
    }

    /// The places of objects that are not of the set that is bound.
    pub(super) fn outside(&self) -> impl Iterator<Item = usize> + '_ {
        self.places.iter().enumerate().filter(|(_, entry)| entry.outside).map(|(place, _)| place)
    }

    /// How many places were ever used.
    pub(super) fn place_count(&self) -> usize {
        self.places.len()
    }

    /// Every place that was ever used, with the handle that was given out for it last; one that is vacant has a handle of no class.
    pub(super) fn last_known(&self) -> impl Iterator<Item = (usize, Handle)> + '_ {
        self.places.iter().enumerate().filter_map(|(place, entry)| {
            let handle = match &entry.object {
                Some(object) => Handle::new(object.body.class(), entry.generation, place as u32),
                // The generation is that of the next one.
                None => Handle::vacant(entry.generation.checked_sub(1)?, place as u32),
            };
            Some((place, handle))
        })
    }

    /// Every object, freed or not, with its handle.
    pub(super) fn all(&self) -> impl Iterator<Item = (Handle, &Object)> + '_ {
        self.places.iter().enumerate().filter(|(_, entry)| !entry.outside).filter_map(|(place, entry)| {
            let object = entry.object.as_ref()?;
            Some((Handle::new(object.body.class(), entry.generation, place as u32), object))
        })
    }
}
