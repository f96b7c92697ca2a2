//! The same in Rust.

use crate::call::{Answer, Call, Interface};
use leveret_runtime::objects::{
    BufferDescription, BufiterPolicy, ChannelDescription, Code, Committed, Dataspec, Form, Handle, Library,
    OwnedStorage, Policy, Storage,
};
use leveret_types::Nanos;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The objects of this process.
pub struct Rust {
    library: Library,
    /// Memory of the buffers.
    memory: BTreeMap<u64, Arc<OwnedStorage>>,
}

impl Rust {
    pub fn join() -> Self {
        let library = Library::join().unwrap_or_else(|error| panic!("{error}"));
        Self { library, memory: BTreeMap::new() }
    }

    pub fn leave(mut self) {
        assert_eq!(self.library.leave(), Ok(()));
    }

    fn committed(&self) -> Result<&Committed, Code> {
        self.library.committed().map(|committed| &**committed).ok_or(Code::NotCommitted)
    }

    /// An operation on a channel, which may be of a mode that does not run.
    fn on<T>(
        &self,
        channel: u64,
        operation: impl FnOnce(&Committed, Handle) -> Result<T, Code>,
    ) -> Result<T, Code> {
        let channel = Handle::from_number(channel);
        operation(self.committed()?, channel).map_err(|code| self.library.world.code_beside(code, channel))
    }

    fn create(&mut self, call: &Call) -> Result<u64, Code> {
        let world = &mut self.library.world;
        let made = match call {
            Call::Buffer { size, dataspec } => {
                let memory = Arc::new(OwnedStorage::new(*size as usize));
                let dataspec = Dataspec::of(*dataspec).ok_or(Code::Dataspec)?;
                let description =
                    BufferDescription { size: *size as usize, dataspec, storage: memory.clone() };
                let made = world.buffer("", description)?;
                self.memory.insert(made.number(), memory);
                made
            }
            Call::Mode => world.open_mode("mode")?,
            Call::Vector(members) => {
                let members: Vec<Handle> =
                    members.iter().map(|member| Handle::from_number(*member)).collect();
                world.cvector("", &members)?
            }
            Call::Iterator { policy, size, dataspec, allowed } => {
                let dataspec = Dataspec::of(*dataspec).ok_or(Code::Dataspec)?;
                world.bufiter(
                    "",
                    policy_of(*policy),
                    (*size as usize, dataspec),
                    Handle::from_number(*allowed),
                )?
            }
            Call::Channel { name, iterators, slack } => {
                let [input, output] = iterators.map(Handle::from_number);
                let (group, qos) = (Handle::GROUP_WORLD, Handle::BEST_EFFORT);
                let description = ChannelDescription { input, output, source: 0, target: 1, group, qos };
                let made = world.ptchannel(name, description)?;
                world.set_slack(made, *slack as u32)?;
                made
            }
            other => unreachable!("{other:?} creates nothing"),
        };
        Ok(made.number())
    }

    fn number(&mut self, call: &Call) -> Result<u64, Code> {
        match call {
            Call::Remove(iterator) => {
                let iterator = Handle::from_number(*iterator);
                let removed = match self.committed() {
                    Ok(committed) => committed.remove(iterator),
                    Err(_) => self.library.world.unstock(iterator),
                };
                Ok(removed?.number())
            }
            Call::Count(iterator) => {
                let iterator = Handle::from_number(*iterator);
                let count = match self.committed() {
                    Ok(committed) => committed.count(iterator),
                    Err(_) => self.library.world.bufiter_count(iterator),
                };
                Ok(count? as u64)
            }
            Call::Label(buffer) => {
                let buffer = Handle::from_number(*buffer);
                let label = match self.committed() {
                    Ok(committed) => committed.label(buffer),
                    Err(_) => self.library.world.label(buffer),
                };
                Ok(label? as u64)
            }
            Call::Read(buffer) => {
                let mut number = 0;
                let memory = self.memory.get(buffer).ok_or(Code::InvObject)?;
                memory.read(&mut |bytes| {
                    number = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
                });
                Ok(number)
            }
            Call::Test(channel) => {
                self.on(*channel, |committed, channel| committed.test(channel)).map(u64::from)
            }
            other => self.create(other),
        }
    }

    fn act(&mut self, call: &Call) -> Result<(), Code> {
        match call {
            Call::Free(object) => self.library.world.free(Handle::from_number(*object)),
            Call::Commit => self.library.commit(),
            Call::Uncommit => self.library.uncommit().map(|_| ()),
            Call::Insert { iterator, buffer } => {
                let (iterator, buffer) = (Handle::from_number(*iterator), Handle::from_number(*buffer));
                match self.committed() {
                    Ok(committed) => committed.insert(iterator, buffer),
                    Err(_) => self.library.world.stock(iterator, buffer),
                }
            }
            Call::SetLabel(buffer, label) => {
                let buffer = Handle::from_number(*buffer);
                match self.committed() {
                    Ok(committed) => committed.set_label(buffer, *label),
                    Err(_) => self.library.world.set_label(buffer, *label),
                }
            }
            Call::Write(buffer, number) => {
                let memory = self.memory.get(buffer).ok_or(Code::InvObject)?;
                memory.write(&mut |bytes| bytes[..8].copy_from_slice(&number.to_le_bytes()));
                Ok(())
            }
            Call::Start(channel) => self.on(*channel, Committed::start),
            Call::Activate(channel) => self.on(*channel, Committed::activate),
            Call::Deactivate(channel) => self.on(*channel, Committed::deactivate),
            Call::Wait(channel, timeout) => {
                self.on(*channel, |committed, channel| committed.wait(channel, Nanos(*timeout)))
            }
            Call::End => Ok(()),
            other => unreachable!("{other:?} gives a number"),
        }
    }
}

fn policy_of(number: i32) -> BufiterPolicy {
    let bases = [Policy::Fifo, Policy::Lifo, Policy::Sorted, Policy::Unordered];
    let forms = [Form::Plain, Form::Mapped, Form::Ordered];
    BufiterPolicy { base: bases[number as usize % 4], form: forms[number as usize / 4] }
}

impl Interface for Rust {
    fn call(&mut self, call: &Call) -> Answer {
        match call {
            Call::Status(channel) => match self.on(*channel, Committed::status) {
                Ok(status) => Answer {
                    code: 0,
                    values: [status.state as u64, status.outcome as u64, status.instance, status.under_way],
                },
                Err(code) => Answer::code(code as i32),
            },
            Call::Buffer { .. }
            | Call::Vector(_)
            | Call::Iterator { .. }
            | Call::Channel { .. }
            | Call::Mode
            | Call::Remove(_)
            | Call::Count(_)
            | Call::Label(_)
            | Call::Read(_)
            | Call::Test(_) => match self.number(call) {
                Ok(value) => Answer::value(value),
                Err(code) => Answer::code(code as i32),
            },
            other => Answer::code(self.act(other).map_or_else(|code| code as i32, |()| 0)),
        }
    }
}
