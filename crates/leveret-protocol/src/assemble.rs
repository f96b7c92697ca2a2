//! Declarations of the manifest and of every member meet in one job model, or fail with both sides named.

mod channels;
mod collectives;
mod errors;
mod events;
mod kept;
mod limits;
mod names;
mod shots;
mod sporadics;
mod tasks;

pub use events::{EventBinding, TriggerBinding};
pub use kept::{kept, kept_events, kept_in_part};
pub use shots::Shot;

use crate::declaration::*;
use crate::nearest::nearest;
pub(crate) use errors::Errors;
use errors::listed;
use leveret_plan::{Costs, Job, Member};
use leveret_types::MemberId;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// One reason why declarations do not meet. The text names both sides.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error, serde::Serialize, serde::Deserialize)]
pub enum Mismatch {
    /// Two sides give different values for one property.
    #[error(
        "{object}: {property} differs: {left_side} says {left}, {right_side} says {right}; make them equal"
    )]
    Differs {
        /// Such as `channel "AB" of group "world"`.
        object: String,
        /// Such as `size`.
        property: String,
        /// Who gives the first value.
        left_side: String,
        /// The first value.
        left: String,
        /// Who gives the other value.
        right_side: String,
        /// The other value.
        right: String,
    },
    /// Nobody gives a property that has no default.
    #[error("{object}: no {property} is given; declare it in the manifest or in the code of {owner}")]
    Open {
        /// The object.
        object: String,
        /// The property.
        property: String,
        /// Who could give it.
        owner: String,
    },
    /// A channel end has no counterpart.
    #[error("{object}: {present} declares {has}, but nobody declares the {lacks} end; add it to {owner}")]
    Unmatched {
        /// The channel.
        object: String,
        /// The member that declares an end.
        present: String,
        /// What it declares: the channel or one end, in words.
        has: String,
        /// The end that is missing.
        lacks: String,
        /// Who should declare it.
        owner: String,
    },
    /// A receptor waits for what nobody can fire.
    #[error(
        "{object}: {present}, but no member of the group has a trigger that fires it{hint}; add a trigger, or free what waits for it"
    )]
    NoTrigger {
        /// The event.
        object: String,
        /// Who waits for it, and with what.
        present: String,
        /// A near name, or nothing.
        hint: String,
    },
    /// Two members declare the same thing.
    #[error("{object}: both {left} and {right} declare {what}; only one may")]
    Twice {
        /// The object.
        object: String,
        /// One.
        left: String,
        /// The other.
        right: String,
        /// What.
        what: String,
    },
    /// A name that is not declared.
    #[error("{place}: there is no {kind} \"{name}\"{hint}")]
    Unknown {
        /// Where the name is used.
        place: String,
        /// What is looked for.
        kind: String,
        /// The name.
        name: String,
        /// A near name, or nothing.
        hint: String,
    },
    /// There are more than there can be of something.
    #[error("{object}: {what}; declare fewer")]
    TooMany {
        /// The job.
        object: String,
        /// Of what, how many, and how many there can be.
        what: String,
    },
    /// Of what runs, some of those who share it keep it in a mode, and others do not.
    #[error(
        "{object} is kept in the mode by {keeps} only; keep it at {lacks} too (MPIRTX_Mode_keep there), or at none"
    )]
    KeptInPart {
        /// The channel or the event.
        object: String,
        /// Who keeps it.
        keeps: String,
        /// Who does not.
        lacks: String,
    },
    /// Anything else that makes the declarations impossible.
    #[error("{0}")]
    Impossible(String),
}

/// A channel with what the planner does not need but the runtime does.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct ChannelBinding {
    /// How the receiver waits.
    pub wait: WaitMode,
    /// Memory of the sender's buffers.
    pub source_memory: BufferMemory,
    /// Memory of the receiver's buffers.
    pub target_memory: BufferMemory,
    /// How many buffers the programs provide that belong to each other, one at each end; 0: none do.
    #[serde(default)]
    pub mapped: u32,
    /// Whether each message carries a checksum of its payload.
    #[serde(default)]
    pub checksum: bool,
}

/// The declarations, met.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Assembled {
    /// What is planned.
    pub job: Job,
    /// Per channel, in the job's order.
    pub bindings: Vec<ChannelBinding>,
    /// Events with their triggers and receptors; an event's id is its place here.
    pub events: Vec<EventBinding>,
    /// Channels that move one message, at an absolute time.
    #[serde(default)]
    pub shots: Vec<Shot>,
}

/// A value and who gave it.
struct Given<T> {
    value: T,
    by: String,
}

/// Collects one property from several sides.
struct Property<'a, T> {
    object: &'a str,
    name: &'a str,
    given: Option<Given<T>>,
}

impl<'a, T: PartialEq + Clone + Debug> Property<'a, T> {
    fn new(object: &'a str, name: &'a str) -> Self {
        Self { object, name, given: None }
    }

    fn offer(&mut self, by: &str, value: Option<&T>, show: impl Fn(&T) -> String, errors: &mut Errors) {
        let Some(value) = value else { return };
        match &self.given {
            None => self.given = Some(Given { value: value.clone(), by: by.to_owned() }),
            Some(first) if first.value == *value => {}
            Some(first) => errors.push(Mismatch::Differs {
                object: self.object.to_owned(),
                property: self.name.to_owned(),
                left_side: first.by.clone(),
                left: show(&first.value),
                right_side: by.to_owned(),
                right: show(value),
            }),
        }
    }

    fn value(self) -> Option<T> {
        self.given.map(|given| given.value)
    }
}

/// Brings all declarations together. `code` holds one entry per member in rank order, or is empty when only the
/// manifest is known (admission before a run). Not only the first mismatch is reported.
pub fn assemble(
    manifest: &JobDeclaration,
    code: &[MemberDeclarations],
    costs: Costs,
) -> Result<Assembled, Vec<Mismatch>> {
    let mut errors = Errors::default();
    errors.extend(limits::too_many(manifest, code));
    let names = MemberNames::new(manifest);
    names::check(code, &names, &mut errors);
    if !errors.is_empty() {
        return Err(errors.into_told(&manifest.name));
    }
    let groups = groups(manifest, code, &mut errors);
    let sound = collectives::check(code, &names, &groups, &mut errors);
    let code = sound.as_deref().unwrap_or(code);
    let (channels, bindings) = channels::channels(manifest, code, &names, &groups, &mut errors);
    let tasks = tasks::tasks(manifest, code, &names, &channels, &mut errors);
    let events = events::events(code, &names, &groups, &mut errors);
    let sporadics = sporadics::sporadics((manifest, code), &names, &channels, &tasks, &mut errors);
    if !errors.is_empty() {
        return Err(errors.into_told(&manifest.name));
    }
    let members = manifest.members.iter().map(|member| Member { name: member.name.clone() }).collect();
    let mut job = Job {
        name: manifest.name.clone(),
        cores: manifest.cores.clone(),
        members,
        tasks,
        channels,
        sporadics,
        costs,
    };
    errors.extend(limits::too_much(&job, code));
    if !errors.is_empty() {
        return Err(errors.into_told(&manifest.name));
    }
    let once = code.iter().flat_map(|declared| &declared.tasks).filter(|task| task.once);
    let once = once.map(|task| task.name.as_str()).collect();
    let shots = shots::place(&mut job, &once, !code.is_empty(), &mut errors);
    errors.unless(Assembled { job, bindings, events, shots }, &manifest.name)
}

/// Member names to ranks.
struct MemberNames<'a> {
    names: Vec<&'a str>,
}

impl<'a> MemberNames<'a> {
    fn new(manifest: &'a JobDeclaration) -> Self {
        Self { names: manifest.members.iter().map(|member| member.name.as_str()).collect() }
    }

    fn find(&self, name: &str, place: &str, errors: &mut Errors) -> Option<MemberId> {
        let found = self.names.iter().position(|candidate| *candidate == name);
        if found.is_none() {
            unknown((place, "member", name), self.names.iter().copied(), errors);
        }
        found.map(|rank| MemberId(rank as u16))
    }

    fn side(&self, rank: usize) -> String {
        format!("member \"{}\"", self.names.get(rank).copied().unwrap_or("?"))
    }
}

const MANIFEST: &str = "the manifest";

/// After so many errors no near names are looked for: each search goes through all names, and a member that declares
/// thousands of wrong ones must not hold up the others.
const HINTS_MAX: usize = 64;

fn unknown<'a>(
    (place, kind, name): (&str, &str, &str),
    known: impl Iterator<Item = &'a str>,
    errors: &mut Errors,
) {
    let hint = if errors.len() < HINTS_MAX {
        let known: Vec<_> = known.collect();
        match nearest(name, known.iter().copied()) {
            Some(near) => format!("; did you mean \"{near}\"?"),
            None if known.is_empty() => "; none is declared".to_owned(),
            None => format!("; declared are {}", listed(known)),
        }
    } else {
        String::new()
    };
    let (place, kind, name) = (place.to_owned(), kind.to_owned(), name.to_owned());
    errors.push(Mismatch::Unknown { place, kind, name, hint });
}

/// All groups by name; `world` is predefined.
fn groups(
    manifest: &JobDeclaration,
    code: &[MemberDeclarations],
    errors: &mut Errors,
) -> BTreeMap<String, Vec<String>> {
    let world: Vec<String> = manifest.members.iter().map(|member| member.name.clone()).collect();
    let names = MemberNames::new(manifest);
    let mut groups = BTreeMap::from([(GROUP_WORLD.to_owned(), (world, MANIFEST.to_owned()))]);
    for (rank, declarations) in code.iter().enumerate() {
        for group in &declarations.groups {
            let object = format!("group \"{}\"", group.name);
            for member in &group.members {
                names.find(member, &object, errors);
            }
            let side = names.side(rank);
            match groups.get(&group.name) {
                None => {
                    groups.insert(group.name.clone(), (group.members.clone(), side));
                }
                Some((members, _)) if *members == group.members => {}
                Some((members, by)) => errors.push(Mismatch::Differs {
                    object,
                    property: "list of members".to_owned(),
                    left_side: by.clone(),
                    left: listed(members.iter().map(String::as_str)),
                    right_side: side,
                    right: listed(group.members.iter().map(String::as_str)),
                }),
            }
        }
    }
    groups.into_iter().map(|(name, (members, _))| (name, members)).collect()
}
