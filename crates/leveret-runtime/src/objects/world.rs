//! The objects of one member before commit: creation, attributes, freeing.

use super::committed::Committed;
use super::error::Code;
use super::handle::{Class, Handle};
use super::object::{
    Body, BufferBody, BufiterBody, ChannelBody, Dataspec, Object, Qos, TaskBody, TaskFunction,
};
use super::storage::Storage;
use super::table::Table;
use leveret_memory::iterator::Policy;
use leveret_memory::sync::Ordering;
use leveret_types::{BUFFERS_MAX, MESSAGE_BYTES_MAX, MemberId, NAME_BYTES_MAX, Nanos};
use std::sync::Arc;

/// The objects of one member. Everything here may allocate and take time; nothing is possible while committed.
pub struct World {
    pub(super) table: Table,
    rank: MemberId,
    /// The members' names in rank order.
    names: Vec<String>,
    pub(super) committed: bool,
}

/// A buffer as the program describes it.
pub struct BufferDescription {
    /// Bytes.
    pub size: usize,
    /// What they mean.
    pub dataspec: Dataspec,
    /// Where they lie.
    pub storage: Arc<dyn Storage>,
}

/// A channel as the program describes it.
#[derive(Clone, Copy, Debug)]
pub struct ChannelDescription {
    /// Where buffers for a transfer are taken: full ones at the source, empty ones at the target.
    pub input: Handle,
    /// Where they are put afterwards.
    pub output: Handle,
    /// Rank of the sender in the group.
    pub source: u32,
    /// Rank of the receiver in the group.
    pub target: u32,
    /// Null: the world.
    pub group: Handle,
    /// Null: best effort.
    pub qos: Handle,
}

impl World {
    /// Only what is predefined: the group of all members, of which this process is `rank`, and best effort.
    pub fn new(rank: MemberId, names: &[String]) -> Result<Self, Code> {
        let mut table = Table::default();
        let all = (0..names.len()).map(|member| MemberId(member as u16)).collect();
        let world = table.insert("world", Body::Group(all))?;
        let best_effort = table.insert("best-effort", Body::Qos(Qos::BestEffort))?;
        assert_eq!((world, best_effort), (Handle::GROUP_WORLD, Handle::BEST_EFFORT), "they come first");
        Ok(Self { table, rank, names: names.to_vec(), committed: false })
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

    fn change(&mut self, handle: Handle, class: Class) -> Result<&mut Object, Code> {
        check_class(handle, class)?;
        self.unfrozen()?;
        self.table.get_mut(handle)
    }

    pub(super) fn unfrozen(&self) -> Result<(), Code> {
        if self.committed { Err(Code::ObjectCommitted) } else { Ok(()) }
    }

    pub(super) fn insert(&mut self, name: &str, body: Body) -> Result<Handle, Code> {
        self.unfrozen()?;
        self.table.insert(name, body)
    }

    /// The class of an object.
    pub fn class(&self, handle: Handle) -> Result<Class, Code> {
        Ok(self.table.get(handle)?.body.class())
    }

    /// The name of an object.
    pub fn name(&self, handle: Handle) -> Result<&str, Code> {
        Ok(&self.table.get(handle)?.name)
    }

    /// Renames an object.
    pub fn set_name(&mut self, handle: Handle, name: &str) -> Result<(), Code> {
        if name.len() >= NAME_BYTES_MAX {
            return Err(Code::Name);
        }
        if handle.is_predefined() {
            return Err(Code::UndefForObject);
        }
        self.unfrozen()?;
        name.clone_into(&mut self.table.get_mut(handle)?.name);
        Ok(())
    }

    /// Ends a handle. The object goes when nothing refers to it any more.
    pub fn free(&mut self, handle: Handle) -> Result<(), Code> {
        if handle.is_predefined() {
            return Err(Code::UndefForObject);
        }
        self.table.get(handle)?;
        self.unfrozen()?;
        if self.is_stocked(handle) {
            return Err(Code::BufferInUse);
        }
        self.table.free(handle)
    }

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

    /// A buffer.
    pub fn buffer(&mut self, name: &str, description: BufferDescription) -> Result<Handle, Code> {
        let BufferDescription { size, dataspec, storage } = description;
        check_size(size, dataspec)?;
        self.insert(name, Body::Buffer(BufferBody { size, dataspec, label: 0, length: None, storage }))
    }

    /// A buffer's size in bytes.
    pub fn buffer_size(&self, buffer: Handle) -> Result<usize, Code> {
        Ok(self.buffer_body(buffer)?.size)
    }

    pub(super) fn buffer_body(&self, buffer: Handle) -> Result<&BufferBody, Code> {
        match &self.of(buffer, Class::Buffer)?.body {
            Body::Buffer(buffer) => Ok(buffer),
            _ => Err(Code::Internal),
        }
    }

    /// An iterator over buffers of one size and type; without an allowed set, over any such buffers.
    pub fn bufiter(
        &mut self,
        name: &str,
        policy: Policy,
        (size, dataspec): (usize, Dataspec),
        allowed: Handle,
    ) -> Result<Handle, Code> {
        check_size(size, dataspec)?;
        let allowed = if allowed.is_null() { None } else { Some(self.allowed(allowed, size, dataspec)?) };
        if policy == Policy::Ordered && allowed.is_none() {
            // Nothing would say which order was promised.
            return Err(Code::Argument);
        }
        let body = BufiterBody { policy, size, dataspec, allowed, stocked: Vec::new() };
        self.insert(name, Body::Bufiter(body))
    }

    /// The buffers of a container, each of this size and type.
    fn allowed(&self, container: Handle, size: usize, dataspec: Dataspec) -> Result<Vec<Handle>, Code> {
        let (Body::Cset(members) | Body::Cvector(members)) = &self.table.get(container)?.body else {
            return Err(Code::WrongClass);
        };
        if members.is_empty() {
            return Err(Code::Argument);
        }
        if members.len() > BUFFERS_MAX as usize {
            return Err(Code::Limit);
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
                return Err(Code::BufferInUse);
            }
        }
        Ok(members.clone())
    }

    /// Puts a buffer into an iterator before commit.
    pub fn stock(&mut self, iterator: Handle, buffer: Handle) -> Result<(), Code> {
        let (size, dataspec) = {
            let body = self.buffer_body(buffer)?;
            (body.size, body.dataspec)
        };
        self.bufiter_body(iterator)?;
        if self.is_stocked(buffer) {
            return Err(Code::BufferInUse);
        }
        let Body::Bufiter(iterator) = &mut self.change(iterator, Class::Bufiter)?.body else {
            return Err(Code::Internal);
        };
        match &iterator.allowed {
            Some(allowed) if !allowed.contains(&buffer) => return Err(Code::NotAllowed),
            None if iterator.size != size => return Err(Code::Bufsize),
            None if iterator.dataspec != dataspec => return Err(Code::Dataspec),
            _ => iterator.stocked.push(buffer),
        }
        Ok(())
    }

    /// Whether a buffer is in an iterator.
    fn is_stocked(&self, buffer: Handle) -> bool {
        let is_in =
            |object: &Object| matches!(&object.body, Body::Bufiter(other) if other.stocked.contains(&buffer));
        self.table.all().any(|(_, object)| is_in(object))
    }

    /// Takes the next buffer out of an iterator before commit, in the order of insertion.
    pub fn unstock(&mut self, iterator: Handle) -> Result<Handle, Code> {
        let Body::Bufiter(iterator) = &mut self.change(iterator, Class::Bufiter)?.body else {
            return Err(Code::Internal);
        };
        if iterator.stocked.is_empty() { Err(Code::Empty) } else { Ok(iterator.stocked.remove(0)) }
    }

    /// The address of a buffer's first byte; 0 when the library has made no memory yet.
    pub fn buffer_address(&self, buffer: Handle) -> Result<usize, Code> {
        Ok(self.buffer_body(buffer)?.storage.address())
    }

    /// A buffer's label.
    pub fn label(&self, buffer: Handle) -> Result<i64, Code> {
        Ok(self.buffer_body(buffer)?.label)
    }

    /// Labels a buffer; SORTED iterators give the lowest label first.
    pub fn set_label(&mut self, buffer: Handle, label: i64) -> Result<(), Code> {
        match &mut self.change(buffer, Class::Buffer)?.body {
            Body::Buffer(buffer) => buffer.label = label,
            _ => return Err(Code::Internal),
        }
        Ok(())
    }

    /// After a commit that failed: what it made for buffers goes again.
    pub(super) fn release_memory(&self) {
        for (_, object) in self.table.all() {
            if let Body::Buffer(buffer) = &object.body {
                buffer.storage.release();
            }
        }
    }

    /// After uncommit: every buffer is the program's, with its label and length, and iterators are empty.
    pub(super) fn take_back(&mut self, committed: &Committed) {
        for entry in &committed.buffers {
            if let Ok(Object { body: Body::Buffer(buffer), .. }) = self.table.referred_mut(entry.handle) {
                buffer.label = entry.label.load(Ordering::Relaxed);
                buffer.length = Some(entry.length.load(Ordering::Relaxed));
                buffer.storage.release();
            }
        }
        for entry in &committed.iterators {
            if let Ok(Object { body: Body::Bufiter(iterator), .. }) = self.table.referred_mut(entry.handle) {
                iterator.stocked.clear();
            }
        }
    }

    /// A quality of service.
    pub fn qos(&mut self, name: &str, qos: Qos) -> Result<Handle, Code> {
        if let Qos::Time { start, deadline, period } = qos
            && !(Nanos::ZERO <= start && start < deadline && deadline <= period)
        {
            return Err(Code::Time);
        }
        self.insert(name, Body::Qos(qos))
    }

    pub(super) fn qos_body(&self, qos: Handle) -> Result<Qos, Code> {
        if qos.is_null() {
            return Ok(Qos::BestEffort);
        }
        match &self.of(qos, Class::Qos)?.body {
            Body::Qos(qos) => Ok(*qos),
            _ => Err(Code::Internal),
        }
    }

    /// One end of a channel from one member to another. Iterators may be set later.
    pub fn ptchannel(&mut self, name: &str, channel: ChannelDescription) -> Result<Handle, Code> {
        let ChannelDescription { input, output, source, target, group, qos } = channel;
        let members = self.members(group)?;
        let member = |rank: u32| members.get(rank as usize).copied().ok_or(Code::InvRank);
        if ![member(source)?, member(target)?].contains(&self.rank) {
            return Err(Code::NotMember);
        }
        self.qos_body(qos)?;
        self.same_shape([input, output])?;
        self.insert(name, Body::Ptchannel(ChannelBody { input, output, source, target, group, qos }))
    }

    /// The iterators of one end hold buffers of one size and type.
    fn same_shape(&self, iterators: [Handle; 2]) -> Result<(), Code> {
        let mut shape = None;
        for iterator in iterators.into_iter().filter(|iterator| !iterator.is_null()) {
            let body = self.bufiter_body(iterator)?;
            let found = (body.size, body.dataspec);
            match shape {
                Some((size, _)) if size != found.0 => return Err(Code::Bufsize),
                Some((_, dataspec)) if dataspec != found.1 => return Err(Code::Dataspec),
                _ => shape = Some(found),
            }
        }
        Ok(())
    }

    /// The iterators of a channel: where buffers are taken from, and where they are put.
    pub fn iterators(&self, channel: Handle) -> Result<[Handle; 2], Code> {
        match &self.of(channel, Class::Ptchannel)?.body {
            Body::Ptchannel(channel) => Ok([channel.input, channel.output]),
            _ => Err(Code::Internal),
        }
    }

    /// Sets the iterators of a channel.
    pub fn set_iterators(&mut self, channel: Handle, iterators: [Handle; 2]) -> Result<(), Code> {
        let Body::Ptchannel(body) = &self.change(channel, Class::Ptchannel)?.body else {
            return Err(Code::Internal);
        };
        let mut body = *body;
        self.same_shape(iterators)?;
        [body.input, body.output] = iterators;
        self.table.replace(channel, Body::Ptchannel(body))
    }

    pub(super) fn bufiter_body(&self, iterator: Handle) -> Result<&BufiterBody, Code> {
        match &self.of(iterator, Class::Bufiter)?.body {
            Body::Bufiter(iterator) => Ok(iterator),
            _ => Err(Code::Internal),
        }
    }

    /// A task with a window. `function` is told the task's own handle.
    pub fn task(
        &mut self,
        name: &str,
        (qos, budget): (Handle, Nanos),
        function: impl FnOnce(Handle) -> TaskFunction,
    ) -> Result<Handle, Code> {
        let qos = self.qos_body(qos)?;
        let Qos::Time { start, deadline, .. } = qos else { return Err(Code::UndefForObject) };
        if !(Nanos::ZERO < budget && budget <= deadline - start) {
            return Err(Code::Time);
        }
        let idle: TaskFunction = Arc::new(|_, _| {});
        let task =
            self.insert(name, Body::Task(TaskBody { qos, budget, function: idle, channels: Vec::new() }))?;
        if let Body::Task(body) = &mut self.table.get_mut(task)?.body {
            body.function = function(task);
        }
        Ok(task)
    }

    /// Lets a task serve the ends that this member has of a channel.
    pub fn bind_channel(&mut self, task: Handle, channel: Handle) -> Result<(), Code> {
        self.of(channel, Class::Ptchannel)?;
        let Body::Task(body) = &self.change(task, Class::Task)?.body else { return Err(Code::Internal) };
        let mut channels = body.channels.clone();
        let (qos, budget, function) = (body.qos, body.budget, body.function.clone());
        let is_bound =
            |object: &Object| matches!(&object.body, Body::Task(other) if other.channels.contains(&channel));
        if self.table.all().any(|(_, object)| is_bound(object)) {
            return Err(Code::Argument);
        }
        channels.push(channel);
        self.table.replace(task, Body::Task(TaskBody { qos, budget, function, channels }))
    }
}

fn members_of(body: &Body) -> &[Handle] {
    match body {
        Body::Cset(members) | Body::Cvector(members) => members,
        _ => &[],
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

fn check_size(size: usize, dataspec: Dataspec) -> Result<(), Code> {
    if size == 0 || size as u64 > MESSAGE_BYTES_MAX || !size.is_multiple_of(dataspec.size()) {
        return Err(Code::Bufsize);
    }
    Ok(())
}
