//! Handles: what a program holds of an object. A number, never a pointer, so a wrong one is an error and no crash.
//!
//! ```text
//!   63    56 55              32 31                0
//!  +--------+------------------+------------------+
//!  | class  |   generation     |  place + 1       |   place 0: the class's null handle; all zero: null of no class
//!  +--------+------------------+------------------+
//! ```

use super::error::Code;

/// The leaf classes, and the abstract ones that stand for several of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Class {
    /// An unordered set of objects.
    Cset = 1,
    /// An array of objects.
    Cvector = 2,
    /// An ordered set of members.
    Group = 3,
    /// Storage for one message.
    Buffer = 4,
    /// An ordered store of buffers.
    Bufiter = 5,
    /// A conduit from one member to another.
    Ptchannel = 6,
    /// When and how a channel's transfers happen.
    Qos = 7,
    /// A periodic computation (our extension).
    Task = 8,
    /// A walk over a set or a vector.
    ContainerIterator = 20,
    /// A second set of objects, to switch to.
    Mode = 9,
    /// What fires an event.
    Trigger = 10,
    /// What takes the firings of an event.
    Receptor = 11,
    /// What runs at a firing.
    Handler = 12,
    /// A channel on which every member receives what one sends.
    BcastChannel = 21,
    /// A channel on which every member receives its section of what one sends.
    ScatterChannel = 22,
    /// A channel on which one member receives what every member sends, section by section.
    GatherChannel = 23,
    /// A channel on which one member receives what an operation makes of what every member sends.
    ReduceChannel = 24,
    /// A channel without messages: whoever has waited knows that all have started.
    BarrierChannel = 25,
    /// A channel on which every member sends a piece to every member.
    AlltoallChannel = 26,
}

impl Class {
    /// Every class.
    pub const ALL: [Self; 19] = [
        Self::Cset,
        Self::Cvector,
        Self::Group,
        Self::Buffer,
        Self::Bufiter,
        Self::Ptchannel,
        Self::Qos,
        Self::Task,
        Self::ContainerIterator,
        Self::Mode,
        Self::Trigger,
        Self::Receptor,
        Self::Handler,
        Self::BcastChannel,
        Self::ScatterChannel,
        Self::GatherChannel,
        Self::ReduceChannel,
        Self::BarrierChannel,
        Self::AlltoallChannel,
    ];

    /// Whether it is a leaf of Container.
    pub const fn is_container(self) -> bool {
        matches!(self, Self::Cset | Self::Cvector | Self::Group)
    }

    /// Whether it is a leaf of Channel.
    pub const fn is_channel(self) -> bool {
        matches!(self, Self::Ptchannel) || self.is_collective()
    }

    /// Whether it is a channel of a whole group.
    pub const fn is_collective(self) -> bool {
        matches!(
            self,
            Self::BcastChannel
                | Self::ScatterChannel
                | Self::GatherChannel
                | Self::ReduceChannel
                | Self::BarrierChannel
                | Self::AlltoallChannel
        )
    }

    fn of(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|class| *class as u8 == number)
    }
}

/// Generations are 24 bits wide; a place whose generations are used up is not used again.
pub(super) const GENERATION_MAX: u32 = (1 << 24) - 1;

/// What a program holds of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Handle(u64);

impl Handle {
    /// The group of all members: the first object of every world.
    pub const GROUP_WORLD: Self = Self::at(Class::Group, 0, 0);
    /// The quality of service without a promise: the second object of every world.
    pub const BEST_EFFORT: Self = Self::at(Class::Qos, 0, 1);

    const fn at(class: Class, generation: u32, place: u32) -> Self {
        Self((class as u64) << 56 | (generation as u64) << 32 | (place as u64 + 1))
    }

    /// The null handle of a class.
    pub const fn null(class: Class) -> Self {
        Self((class as u64) << 56)
    }

    pub(super) fn new(class: Class, generation: u32, place: u32) -> Self {
        Self::at(class, generation & GENERATION_MAX, place)
    }

    /// What stands for a place whose object is gone: of no class, so it is nobody's handle.
    pub(super) fn vacant(generation: u32, place: u32) -> Self {
        Self(u64::from(generation & GENERATION_MAX) << 32 | (u64::from(place) + 1))
    }

    /// From the number that a program gave.
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// As a program keeps it.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Whether it is the null handle of some class, or of none.
    pub const fn is_null(self) -> bool {
        self.0 as u32 == 0
    }

    /// Whether the library made it, and it stays.
    pub fn is_predefined(self) -> bool {
        [Self::GROUP_WORLD, Self::BEST_EFFORT].contains(&self)
    }

    /// Its class; `None` for the null handle of no class and for numbers that were never given out.
    pub fn class(self) -> Option<Class> {
        Class::of((self.0 >> 56) as u8)
    }

    pub(super) fn generation(self) -> u32 {
        (self.0 >> 32) as u32 & GENERATION_MAX
    }

    /// What stands for its place once it is no handle any more: of no class, so it is nobody's handle.
    pub(super) fn succeeded(self) -> Self {
        Self((u64::from(self.generation()) + 1) << 32 | self.0 & u64::from(u32::MAX))
    }

    /// Why it does not name what stands in its place, which was last given out with `generation`.
    pub(super) fn absence(self, generation: u32) -> Code {
        if self.class().is_some() && self.generation() <= generation {
            Code::StaleObject
        } else {
            Code::InvObject
        }
    }

    /// Where the object stands.
    pub(super) fn place(self) -> Result<usize, Code> {
        match (self.0 as u32).checked_sub(1) {
            Some(place) => Ok(place as usize),
            None => Err(Code::NullObject),
        }
    }
}
