//! Walks over sets and vectors.

use super::error::Code;
use super::handle::{Class, Handle};
use super::object::{Body, WalkBody};
use super::world::World;

impl World {
    /// A walk over a set or a vector, which it keeps from going. Possible while committed too: nothing that is committed changes.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] of a group, and those of wrong handles.
    pub fn container_iterator(&mut self, name: &str, container: Handle) -> Result<Handle, Code> {
        self.members_of(container)?;
        let changes = self.table.get(container)?.changes;
        self.insert_anyway(name, Body::ContainerIterator(WalkBody { container, next: 0, changes }))
    }

    /// The next member: of a set in the order of insertion, of a vector by index, null elements too.
    ///
    /// # Errors
    /// [`Code::End`], [`Code::Changed`] when the container changed since the walk began, and those of wrong handles.
    pub fn container_iterator_next(&mut self, iterator: Handle) -> Result<Handle, Code> {
        let walk = self.walk(iterator)?;
        let container = self.table.referred(walk.container).ok_or(Code::Internal)?;
        if container.changes != walk.changes {
            return Err(Code::Changed);
        }
        let (Body::Cset(members) | Body::Cvector(members)) = &container.body else {
            return Err(Code::Internal);
        };
        let next = members.get(walk.next).copied().ok_or(Code::End)?;
        self.set_walk(iterator, WalkBody { next: walk.next + 1, ..walk })?;
        Ok(next)
    }

    /// Before the first member again.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn container_iterator_reset(&mut self, iterator: Handle) -> Result<(), Code> {
        let walk = self.walk(iterator)?;
        let changes = self.table.referred(walk.container).ok_or(Code::Internal)?.changes;
        self.set_walk(iterator, WalkBody { next: 0, changes, ..walk })
    }

    /// Whether a handle is a walk's.
    ///
    /// # Errors
    /// Those of wrong handles.
    pub fn container_iterator_check(&self, iterator: Handle) -> Result<(), Code> {
        self.walk(iterator).map(|_| ())
    }

    fn walk(&self, iterator: Handle) -> Result<WalkBody, Code> {
        match &self.of(iterator, Class::ContainerIterator)?.body {
            Body::ContainerIterator(walk) => Ok(*walk),
            _ => Err(Code::Internal),
        }
    }

    fn set_walk(&mut self, iterator: Handle, walk: WalkBody) -> Result<(), Code> {
        self.table.get_mut(iterator)?.body = Body::ContainerIterator(walk);
        Ok(())
    }
}
