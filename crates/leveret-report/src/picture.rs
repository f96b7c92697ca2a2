//! A plan as a picture that can be walked through: rows, bars on them, and groups of bars that belong together. What is planned on the
//! links of a network and on the cores of a host are both turned into this, and one page draws it.
//!
//! ```text
//!  camera -> s0  |=image#0=|.............|=image#1=|..     a row
//!  s0 -> s1      ..........|=image#0=|...:reserved:..     a bar of an instance of the group "image", after the one above
//! ```

mod job;
mod join;
mod network;
mod page;
mod select;
mod system;
mod trace;

pub use job::job;
pub use network::network;
pub use page::{BARS_MAX, TooLarge, page};
pub use select::{Selection, UnknownGroup, select};
pub use system::{TooLong, system};

use leveret_types::Nanos;

/// What a page draws: one round of something that repeats.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Picture {
    /// What it is of: `network "cell"`.
    pub title: String,
    /// Everything repeats after it.
    pub round: Nanos,
    /// What is drawn of the round: from, until.
    pub span: (Nanos, Nanos),
    /// From top to bottom.
    pub rows: Vec<Row>,
    /// What bars belong to.
    pub groups: Vec<Group>,
    /// Instances of groups.
    pub instances: Vec<Instance>,
    /// In any order. Bars of one row do not overlap.
    pub bars: Vec<Bar>,
    /// What leads from a bar of one group to one of another.
    pub arrows: Vec<Arrow>,
    /// The longest ways through chains.
    pub traces: Vec<Trace>,
}

/// A link, a core: something that does one thing at a time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Row {
    /// As people call it.
    pub name: String,
    /// Neighbouring rows of one section stand below its heading.
    pub section: String,
    /// Stretches that are not for bars.
    pub reserved: Vec<Reserved>,
}

/// A stretch of every period.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reserved {
    /// Distance between two stretches; the round is a multiple of it.
    pub period: Nanos,
    /// Start, from the start of the period.
    pub start: Nanos,
    /// Length.
    pub length: Nanos,
}

/// A channel, a task, or a chain of both.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Group {
    /// As it is declared.
    pub name: String,
    /// `channel`, `task`, `chain`.
    pub kind: &'static str,
    /// What a part of an instance is called: `hop`, `part`.
    pub part: &'static str,
    /// What is to be told of it: name and value.
    pub facts: Vec<(&'static str, String)>,
    /// Groups that it consists of: they are lit with it.
    pub members: Vec<u32>,
}

/// One activation of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instance {
    /// Of which group.
    pub group: u32,
    /// Which, from 0.
    pub number: u32,
    /// Which copy, from 0, where each instance goes more than one way.
    pub copy: u8,
    /// Earliest start.
    pub earliest: Nanos,
    /// Latest end.
    pub latest: Nanos,
    /// When it is over, all errors counted; `latest` less this is its slack.
    pub end: Nanos,
}

/// A stretch of a row that an instance has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bar {
    /// On which row.
    pub row: u32,
    /// Whose.
    pub instance: u32,
    /// Start, in the round of the instance; may lie beyond its end.
    pub start: Nanos,
    /// Length.
    pub length: Nanos,
    /// How long before it the row is held for it.
    pub lead: Nanos,
    /// Which part of the instance, from 0.
    pub part: u16,
    /// The bar of the same instance that it follows.
    pub after: Option<u32>,
}

/// From the end of a bar to the start of another, by way of a group that has no bars itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrow {
    /// The group that it is part of: a channel between tasks.
    pub group: u32,
    /// Whence.
    pub from: u32,
    /// Whither.
    pub to: u32,
    /// How many rounds after that of the one the other belongs to; may be negative.
    pub rounds: i64,
    /// When what it stands for happens: the message is visible.
    pub at: Nanos,
}

/// The way by which a group takes longest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The group: a chain.
    pub group: u32,
    /// What is longest: `reaction`, `data age`.
    pub name: &'static str,
    /// How long, and of what limit.
    pub value: String,
    /// Begin and end, in the first round or one after it.
    pub span: (Nanos, Nanos),
    /// The bars that it goes over.
    pub bars: Vec<u32>,
    /// What happens on it, one after the other, and when.
    pub steps: Vec<(String, String)>,
}
