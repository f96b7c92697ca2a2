//! One operation on every member of a container; containers made of containers.
//!
//! A container may hold others, and one of them several times, but never itself. So every list below is made by a walk that
//! comes to each container once, with a list of its own instead of recursion: nesting may be deep.

use super::containers::CONTAINER_MAX;
use super::error::Code;
use super::handle::{Class, Handle};
use super::object::Body;
use super::world::World;
use std::collections::{HashMap, HashSet};

/// Most channels that the lists of all containers have together.
pub const CONTAINERS_REACH_MAX: usize = 16 * CONTAINER_MAX;

/// What [`World::filter`] keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Objects of one leaf class.
    Leaf(Class),
    /// Sets, vectors and groups.
    Container,
    /// Channels of every kind.
    Channel,
}

impl Kind {
    fn holds(self, class: Class) -> bool {
        match self {
            Self::Leaf(leaf) => leaf == class,
            Self::Container => class.is_container(),
            Self::Channel => class.is_channel(),
        }
    }
}

/// Every channel that a container reaches, in order and as often as it stands there; or why no operation reaches them.
pub(super) type Reached = Result<Vec<Handle>, Code>;

impl World {
    /// A container of the same class with the members of contained containers in their place, each object once; without groups and
    /// null elements. Of a group, a group of the same members.
    ///
    /// # Errors
    /// [`Code::Limit`] and those of wrong handles.
    pub fn flatten(&mut self, name: &str, container: Handle) -> Result<Handle, Code> {
        if let Body::Group(members) = &self.table.get(container)?.body {
            let members = members.clone();
            return self.insert(name, Body::Group(members));
        }
        let mut flat = Vec::new();
        let mut seen = HashSet::new();
        let mut open: Vec<Handle> = self.members_of(container)?.iter().rev().copied().collect();
        while let Some(next) = open.pop() {
            if next.is_null() || !seen.insert(next) {
                continue;
            }
            match self.table.referred(next).map(|object| &object.body) {
                Some(Body::Cset(members) | Body::Cvector(members)) => open.extend(members.iter().rev()),
                Some(Body::Group(_)) => {}
                _ => flat.push(next),
            }
        }
        self.container_of(name, container, flat)
    }

    /// A container of the same class with the members of one kind, each once.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] of a group, [`Code::Limit`], and those of wrong handles.
    pub fn filter(&mut self, name: &str, container: Handle, kind: Kind) -> Result<Handle, Code> {
        let mut seen = HashSet::new();
        let is_kept =
            |member: &Handle| member.class().is_some_and(|class| kind.holds(class)) && seen.insert(*member);
        let kept = self.members_of(container)?.iter().copied().filter(is_kept).collect();
        self.container_of(name, container, kept)
    }

    /// A container of the class of another. Members may be objects that live by references alone.
    fn container_of(&mut self, name: &str, model: Handle, members: Vec<Handle>) -> Result<Handle, Code> {
        let remedy = "make it of smaller containers";
        let what = |world: &Self| world.called("members of what is made of the container", model);
        self.keep_to((members.len(), CONTAINER_MAX), remedy, what)?;
        let body = |members| match model.class() {
            Some(Class::Cvector) => Body::Cvector(members),
            _ => Body::Cset(members),
        };
        let made = self.insert(name, body(Vec::new()))?;
        self.table.replace(made, body(members))?;
        Ok(made)
    }

    /// Sets the quality of service of every channel of a container; null: best effort.
    ///
    /// # Errors
    /// [`Code::UndefForObject`] when a member is neither channel nor container of channels; then nothing has changed. And those of
    /// wrong handles.
    pub fn container_set_qos(&mut self, container: Handle, qos: Handle) -> Result<(), Code> {
        self.members_of(container)?;
        super::collectives::is_for_channels(self.qos_body(qos)?.kind)?;
        self.loose(container)?;
        let mut channels = Vec::new();
        let mut seen = HashSet::new();
        let mut open = vec![container];
        while let Some(next) = open.pop() {
            if next.is_null() || !seen.insert(next) {
                continue;
            }
            match self.table.referred(next).map(|object| &object.body) {
                Some(Body::Cset(members) | Body::Cvector(members)) => open.extend(members),
                Some(body) if body.channel().is_some() => {
                    self.loose(next)?;
                    channels.push(next);
                }
                _ => return Err(Code::UndefForObject),
            }
        }
        for channel in channels {
            let Some(mut body) = self.table.referred(channel).map(|object| object.body.clone()) else {
                continue;
            };
            if let Some(base) = body.channel_mut() {
                base.qos = qos;
            }
            self.table.replace_referred(channel, body)?;
        }
        Ok(())
    }

    /// For commit: what the operations on each container reach.
    pub(super) fn reached(&self) -> HashMap<Handle, Reached> {
        let mut known: HashMap<Handle, Reached> = HashMap::new();
        let mut total = 0;
        for (container, object) in self.table.all() {
            if object.body.class().is_container() {
                self.reach(container, &mut known, &mut total);
            }
        }
        known
    }

    fn reach(&self, container: Handle, known: &mut HashMap<Handle, Reached>, total: &mut usize) {
        // Containers that wait for the ones that they hold, with the member that is next.
        let mut open = vec![(container, 0)];
        while let Some((container, next)) = open.pop() {
            if known.contains_key(&container) {
                continue;
            }
            let members: &[Handle] = match self.table.referred(container).map(|object| &object.body) {
                Some(Body::Cset(members) | Body::Cvector(members)) => members,
                _ => {
                    known.insert(container, Err(Code::UndefForObject));
                    continue;
                }
            };
            let is_open = |member: &Handle| {
                member.class().is_some_and(Class::is_container)
                    && !member.is_null()
                    && !known.contains_key(member)
            };
            if let Some(place) = members[next..].iter().position(is_open) {
                let place = next + place;
                open.push((container, place + 1));
                open.push((members[place], 0));
                continue;
            }
            let reached = reached_by(members, known, CONTAINERS_REACH_MAX - *total);
            *total += reached.as_ref().map_or(0, Vec::len);
            known.insert(container, reached);
        }
    }
}

/// What members reach whose containers are known.
fn reached_by(members: &[Handle], known: &HashMap<Handle, Reached>, left: usize) -> Reached {
    let mut channels = Vec::new();
    let mut is_too_long = false;
    for member in members.iter().filter(|member| !member.is_null()) {
        let more: &[Handle] = match (member.class(), known.get(member)) {
            (_, Some(Ok(reached))) => reached,
            (_, Some(Err(Code::Limit))) => {
                is_too_long = true;
                &[]
            }
            (Some(class), None) if class.is_channel() => std::slice::from_ref(member),
            // No channel, or a container that holds such a thing.
            _ => return Err(Code::UndefForObject),
        };
        is_too_long |= channels.len() + more.len() > left.min(CONTAINER_MAX);
        if !is_too_long {
            channels.extend(more);
        }
    }
    if is_too_long { Err(Code::Limit) } else { Ok(channels) }
}
