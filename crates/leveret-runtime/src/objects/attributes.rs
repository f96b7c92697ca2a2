//! Keys and attributes: what a program hangs on objects for itself. Commit does not know of them.
//!
//! A delete function is the program's, and may call whatever setup calls it likes. So it runs between two steps: the first marks the
//! attribute as leaving, the second takes it away or keeps it. Whoever shares a world between threads lets go of it between them;
//! [`World`]'s own functions run both.

use super::error::Code;
use super::handle::Handle;
use super::world::World;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most keys at one time.
pub(super) const KEYS_MAX: usize = 1 << 16;
/// Most attributes at one time.
const ATTRIBUTES_MAX: usize = 1 << 20;

/// What stands under a key at an object.
pub type Value = Arc<dyn Any + Send + Sync>;

/// Called with object, key and value before an attribute goes; an error keeps it.
pub type DeleteFunction = Arc<dyn Fn(Handle, Keyval, &Value) -> Result<(), Code> + Send + Sync>;

/// A key, under which each object can have one attribute. A number, so a wrong one is an error.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Keyval(i32);

impl Keyval {
    /// From the number that a program gave.
    pub const fn from_number(number: i32) -> Self {
        Self(number)
    }

    /// As a program keeps it.
    pub const fn number(self) -> i32 {
        self.0
    }
}

/// An attribute that is about to go, while its delete function runs.
#[derive(Clone)]
pub struct Departure {
    object: Handle,
    key: Keyval,
    value: Value,
    delete: Option<DeleteFunction>,
}

impl Departure {
    /// Runs the delete function, if the key has one.
    ///
    /// # Errors
    /// What it answers.
    pub fn run(&self) -> Result<(), Code> {
        self.delete.as_ref().map_or(Ok(()), |delete| delete(self.object, self.key, &self.value))
    }
}

struct Attribute {
    key: Keyval,
    value: Value,
    /// Of the key, which may have been freed since.
    delete: Option<DeleteFunction>,
    /// Its delete function runs.
    is_leaving: bool,
}

/// The attributes of one object.
#[derive(Default)]
struct Owned {
    attributes: Vec<Attribute>,
    /// The object is being freed, so nothing is added.
    is_ending: bool,
}

/// Every key and attribute of one member.
#[derive(Default)]
pub(super) struct Attributes {
    keys: BTreeMap<Keyval, Option<DeleteFunction>>,
    last_key: i32,
    owned: BTreeMap<Handle, Owned>,
    count: usize,
    /// The whole world ends, so nothing is added.
    is_ending: bool,
}

impl Attributes {
    /// Marks an attribute as leaving.
    fn depart(&mut self, object: Handle, place: usize) -> Result<Departure, Code> {
        let attributes = &mut self.owned.get_mut(&object).ok_or(Code::InvKeyval)?.attributes;
        let attribute = attributes.get_mut(place).ok_or(Code::InvKeyval)?;
        if attribute.is_leaving {
            return Err(Code::InvKeyval);
        }
        attribute.is_leaving = true;
        let (value, delete) = (attribute.value.clone(), attribute.delete.clone());
        Ok(Departure { object, key: attribute.key, value, delete })
    }

    fn place(&self, object: Handle, key: Keyval) -> Option<usize> {
        self.owned.get(&object)?.attributes.iter().position(|attribute| attribute.key == key)
    }
}

impl World {
    /// A new key. `delete` is called before a value under it goes.
    ///
    /// # Errors
    /// [`Code::Limit`].
    pub fn keyval(&mut self, delete: Option<DeleteFunction>) -> Result<Keyval, Code> {
        let remedy = "free the keys that are not needed any more";
        self.keep_to((self.attributes.keys.len() + 1, KEYS_MAX), remedy, |_| {
            "keys of attributes".to_owned()
        })?;
        // Numbers do not come again, so a freed key stays an error.
        let made = self.attributes.last_key as usize;
        let remedy = "keep keys, and do not make one for each use";
        self.keep_to((made + 1, i32::MAX as usize), remedy, |_| "keys since Init".to_owned())?;
        let known = &mut self.attributes;
        let key = known.last_key + 1;
        known.last_key = key;
        known.keys.insert(Keyval(key), delete);
        Ok(Keyval(key))
    }

    /// Ends a key. Values under it stay where they are, and reach their delete function when they go.
    ///
    /// # Errors
    /// [`Code::InvKeyval`].
    pub fn keyval_free(&mut self, key: Keyval) -> Result<(), Code> {
        self.attributes.keys.remove(&key).map(|_| ()).ok_or(Code::InvKeyval)
    }

    fn check_key(&self, object: Handle, key: Keyval) -> Result<(), Code> {
        self.table.get(object)?;
        if self.attributes.keys.contains_key(&key) { Ok(()) } else { Err(Code::InvKeyval) }
    }

    /// The value under a key at an object.
    ///
    /// # Errors
    /// [`Code::InvKeyval`], and those of wrong handles.
    pub fn attribute(&self, object: Handle, key: Keyval) -> Result<Option<Value>, Code> {
        self.check_key(object, key)?;
        let place = self.attributes.place(object, key);
        Ok(place.map(|place| self.attributes.owned[&object].attributes[place].value.clone()))
    }

    /// Stores a value under a key at an object, or says what has to leave first.
    ///
    /// # Errors
    /// As [`World::put_attribute`].
    pub fn store_attribute(
        &mut self,
        object: Handle,
        key: Keyval,
        value: &Value,
    ) -> Result<Option<Departure>, Code> {
        self.check_key(object, key)?;
        let known = &mut self.attributes;
        if known.is_ending || known.owned.get(&object).is_some_and(|owned| owned.is_ending) {
            return Err(Code::UndefForObject);
        }
        if let Some(place) = known.place(object, key) {
            return known.depart(object, place).map(Some);
        }
        let remedy = "delete the attributes that are not needed any more";
        self.keep_to((self.attributes.count + 1, ATTRIBUTES_MAX), remedy, |_| "attributes".to_owned())?;
        let known = &mut self.attributes;
        let delete = known.keys.get(&key).cloned().flatten();
        let attribute = Attribute { key, value: value.clone(), delete, is_leaving: false };
        known.owned.entry(object).or_default().attributes.push(attribute);
        known.count += 1;
        Ok(None)
    }

    /// Stores a value under a key at an object, after the former one's delete function.
    ///
    /// # Errors
    /// [`Code::InvKeyval`] of a wrong key, or while the former value's delete function runs; [`Code::UndefForObject`] while the
    /// object is being freed; [`Code::Limit`]; what the delete function answers; and those of wrong handles.
    pub fn put_attribute(&mut self, object: Handle, key: Keyval, value: &Value) -> Result<(), Code> {
        while let Some(departure) = self.store_attribute(object, key, value)? {
            let answer = departure.run();
            self.end_departure(&departure, answer)?;
        }
        Ok(())
    }

    /// Marks the value under a key at an object as leaving.
    ///
    /// # Errors
    /// As [`World::delete_attribute`].
    pub fn begin_departure(&mut self, object: Handle, key: Keyval) -> Result<Departure, Code> {
        self.check_key(object, key)?;
        let place = self.attributes.place(object, key).ok_or(Code::InvKeyval)?;
        self.attributes.depart(object, place)
    }

    /// After the delete function: takes the attribute away, or keeps it if the answer was an error, which is then given back.
    ///
    /// # Errors
    /// The answer.
    pub fn end_departure(&mut self, departure: &Departure, answer: Result<(), Code>) -> Result<(), Code> {
        let known = &mut self.attributes;
        if let (Some(place), Some(owned)) =
            (known.place(departure.object, departure.key), known.owned.get_mut(&departure.object))
        {
            if answer.is_ok() {
                owned.attributes.remove(place);
                known.count -= 1;
            } else {
                owned.attributes[place].is_leaving = false;
                owned.is_ending = false;
            }
            if owned.attributes.is_empty() && !owned.is_ending {
                known.owned.remove(&departure.object);
            }
        }
        if answer.is_err() {
            known.is_ending = false;
        }
        answer
    }

    /// Removes the value under a key at an object, after its delete function.
    ///
    /// # Errors
    /// [`Code::InvKeyval`] of a wrong key, where nothing is stored, or while the delete function runs; what that answers; and those
    /// of wrong handles.
    pub fn delete_attribute(&mut self, object: Handle, key: Keyval) -> Result<(), Code> {
        let departure = self.begin_departure(object, key)?;
        let answer = departure.run();
        self.end_departure(&departure, answer)
    }

    /// What has to leave before an object can be freed. `is_begun`: this is not the first step of this free.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] when the object is being freed already, or one of its delete functions runs.
    pub(super) fn depart_from(&mut self, object: Handle, is_begun: bool) -> Result<Option<Departure>, Code> {
        let Some(owned) = self.attributes.owned.get_mut(&object) else { return Ok(None) };
        let is_leaving = owned.attributes.iter().any(|attribute| attribute.is_leaving);
        if is_leaving || (owned.is_ending && !is_begun) {
            return Err(Code::UndefForObject);
        }
        owned.is_ending = true;
        if owned.attributes.is_empty() {
            self.attributes.owned.remove(&object);
            return Ok(None);
        }
        self.attributes.depart(object, 0).map(Some)
    }

    /// What has to leave before the world ends.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] when a delete function runs.
    pub fn begin_end(&mut self) -> Result<Option<Departure>, Code> {
        self.attributes.is_ending = true;
        while let Some((object, _)) = self.attributes.owned.first_key_value() {
            let object = *object;
            match self.depart_from(object, true) {
                Ok(None) => {}
                Ok(departure) => return Ok(departure),
                Err(code) => {
                    self.attributes.is_ending = false;
                    return Err(code);
                }
            }
        }
        Ok(None)
    }

    /// A free that cannot go on: the object stays, and takes attributes again.
    pub(super) fn stay(&mut self, object: Handle) {
        if let Some(owned) = self.attributes.owned.get_mut(&object) {
            owned.is_ending = false;
        }
    }
}
