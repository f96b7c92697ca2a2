//! Sets and arrays of objects.

use super::error::Code;
use super::handle::{Class, Handle};
use super::object::Body;
use super::world::World;

impl World {
    /// An empty set.
    pub fn cset(&mut self, name: &str) -> Result<Handle, Code> {
        self.insert(name, Body::Cset(Vec::new()))
    }

    /// Adds an object to a set; one that is in it changes nothing, and neither does null.
    pub fn cset_insert(&mut self, set: Handle, object: Handle) -> Result<(), Code> {
        let Body::Cset(members) = &self.change(set, Class::Cset)?.body else { return Err(Code::Internal) };
        if object.is_null() || members.contains(&object) {
            return Ok(());
        }
        self.table.get(object)?;
        // A set that held itself could never go.
        if object == set || self.reaches(object, set) {
            return Err(Code::Argument);
        }
        let members = members_of(&self.table.get(set)?.body).iter().copied().chain([object]).collect();
        self.table.replace(set, Body::Cset(members))
    }

    /// Takes an object out of a set.
    pub fn cset_remove(&mut self, set: Handle, object: Handle) -> Result<(), Code> {
        let Body::Cset(members) = &self.change(set, Class::Cset)?.body else { return Err(Code::Internal) };
        if !members.contains(&object) {
            return Err(Code::CsetMemberNotFound);
        }
        let rest = members.iter().copied().filter(|member| *member != object).collect();
        self.table.replace(set, Body::Cset(rest))
    }

    /// An array of these objects; null stands for none.
    pub fn cvector(&mut self, name: &str, elements: &[Handle]) -> Result<Handle, Code> {
        self.insert(name, Body::Cvector(elements.to_vec()))
    }

    /// Number of members of a container.
    pub fn count(&self, container: Handle) -> Result<usize, Code> {
        match &self.table.get(container)?.body {
            Body::Cset(members) | Body::Cvector(members) => Ok(members.len()),
            Body::Group(members) => Ok(members.len()),
            _ => Err(Code::WrongClass),
        }
    }

    /// Whether `from`, or what it refers to, refers to `to`.
    fn reaches(&self, from: Handle, to: Handle) -> bool {
        let mut open = vec![from];
        let mut seen = std::collections::HashSet::new();
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

fn members_of(body: &Body) -> &[Handle] {
    match body {
        Body::Cset(members) | Body::Cvector(members) => members,
        _ => &[],
    }
}
