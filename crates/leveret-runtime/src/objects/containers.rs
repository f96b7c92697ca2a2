//! Sets and arrays of objects.

use super::error::Code;
use super::handle::{Class, Handle};
use super::object::Body;
use super::world::World;
use std::collections::HashSet;

/// Most members of a set or a vector.
pub const CONTAINER_MAX: usize = 1 << 16;

impl World {
    /// An empty set.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::Name`], [`Code::Limit`].
    pub fn cset(&mut self, name: &str) -> Result<Handle, Code> {
        self.insert(name, Body::Cset(Vec::new()))
    }

    /// Adds an object to a set; one that is in it changes nothing, and neither does null.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::Argument`], [`Code::Limit`] and those of wrong handles.
    pub fn cset_insert(&mut self, set: Handle, object: Handle) -> Result<(), Code> {
        let Body::Cset(members) = &self.change(set, Class::Cset)?.body else { return Err(Code::Internal) };
        if object.is_null() || members.contains(&object) {
            return Ok(());
        }
        let count = members.len();
        self.table.get(object)?;
        // A set that held itself could never go.
        if object == set || self.reaches(object, set) {
            return Err(Code::Argument);
        }
        let remedy = "take out what is not needed any more, or make a set of sets";
        self.keep_to((count + 1, CONTAINER_MAX), remedy, |world| world.called("members of the set", set))?;
        self.table.add_to_set(set, object)
    }

    /// Takes an object out of a set.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::CsetMemberNotFound`] and those of wrong handles.
    pub fn cset_remove(&mut self, set: Handle, object: Handle) -> Result<(), Code> {
        let Body::Cset(members) = &self.of(set, Class::Cset)?.body else { return Err(Code::Internal) };
        let is_member = members.contains(&object);
        // A member whose handle was freed can be taken out by it.
        if !is_member && !object.is_null() {
            self.table.get(object)?;
        }
        self.unfrozen()?;
        if !is_member {
            return Err(Code::CsetMemberNotFound);
        }
        let rest = members.iter().copied().filter(|member| *member != object).collect();
        self.table.replace(set, Body::Cset(rest))
    }

    /// Whether an object is in a set; null is in none.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn cset_contains(&self, set: Handle, object: Handle) -> Result<bool, Code> {
        let Body::Cset(members) = &self.of(set, Class::Cset)?.body else { return Err(Code::Internal) };
        if object.is_null() {
            return Ok(false);
        }
        self.table.get(object)?;
        Ok(members.contains(&object))
    }

    /// An array of these objects; null stands for none.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::Name`], [`Code::Argument`], [`Code::Limit`] and those of wrong handles.
    pub fn cvector(&mut self, name: &str, elements: &[Handle]) -> Result<Handle, Code> {
        if elements.len() > CONTAINER_MAX {
            return Err(Code::Argument);
        }
        let elements =
            elements.iter().map(|element| if element.is_null() { Handle::default() } else { *element });
        self.insert(name, Body::Cvector(elements.collect()))
    }

    fn elements(&self, vector: Handle) -> Result<&[Handle], Code> {
        match &self.of(vector, Class::Cvector)?.body {
            Body::Cvector(elements) => Ok(elements),
            _ => Err(Code::Internal),
        }
    }

    /// The length of an array.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn cvector_size(&self, vector: Handle) -> Result<usize, Code> {
        Ok(self.elements(vector)?.len())
    }

    /// One element of an array; the null handle of no class where there is none.
    ///
    /// # Errors
    /// [`Code::Index`] and those of wrong handles.
    pub fn cvector_element(&self, vector: Handle, index: usize) -> Result<Handle, Code> {
        self.elements(vector)?.get(index).copied().ok_or(Code::Index)
    }

    /// Replaces one element of an array; null stands for none.
    ///
    /// # Errors
    /// [`Code::ObjectCommitted`], [`Code::Argument`], [`Code::Index`] and those of wrong handles.
    pub fn cvector_set_element(&mut self, vector: Handle, index: usize, element: Handle) -> Result<(), Code> {
        self.of(vector, Class::Cvector)?;
        if !element.is_null() {
            self.table.get(element)?;
        }
        let mut elements = self.elements(vector)?.to_vec();
        let place = elements.get_mut(index).ok_or(Code::Index)?;
        *place = if element.is_null() { Handle::default() } else { element };
        if element == vector || (!element.is_null() && self.reaches(element, vector)) {
            return Err(Code::Argument);
        }
        self.loose(vector)?;
        self.table.replace(vector, Body::Cvector(elements))
    }

    /// Number of members of a container.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn count(&self, container: Handle) -> Result<usize, Code> {
        match &self.table.get(container)?.body {
            Body::Cset(members) | Body::Cvector(members) => Ok(members.len()),
            Body::Group(members) => Ok(members.len()),
            _ => Err(Code::WrongClass),
        }
    }

    /// The members of a set or a vector.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] of a group, whose members are no objects.
    pub(super) fn members_of(&self, container: Handle) -> Result<&[Handle], Code> {
        match &self.table.get(container)?.body {
            Body::Cset(members) | Body::Cvector(members) => Ok(members),
            Body::Group(_) => Err(Code::UndefForObject),
            _ => Err(Code::WrongClass),
        }
    }

    /// Whether `from`, or what it refers to, refers to `to`.
    fn reaches(&self, from: Handle, to: Handle) -> bool {
        let mut open = vec![from];
        let mut seen = HashSet::new();
        while let Some(next) = open.pop() {
            if next == to {
                return true;
            }
            if let Some(object) = self.table.referred(next).filter(|_| seen.insert(next)) {
                open.extend(object.body.references());
            }
        }
        false
    }
}
