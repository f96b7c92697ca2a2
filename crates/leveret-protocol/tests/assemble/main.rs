//! Declarations that meet, and declarations that do not.
#![allow(missing_docs, reason = "a test has no public interface")]

mod arbitrary;
mod bounds;
mod channels;
mod collectives;
mod events;
mod groups;
mod kept;
mod limits;
mod shots;
mod tasks;

use leveret_plan::{Costs, MissingPolicy, Qos};
use leveret_protocol::assemble::{Assembled, EventBinding, Mismatch, assemble};
use leveret_protocol::declaration::*;
use leveret_types::{ByteSize, Nanos};

pub fn us(value: i64) -> Nanos {
    Nanos::from_micros(value)
}

/// Members "A", "B", "C" on cores 0 and 1.
pub fn manifest() -> JobDeclaration {
    let member = |name: &str, core| MemberDeclaration { name: name.to_owned(), core };
    JobDeclaration {
        name: "job".to_owned(),
        cores: vec![0, 1],
        members: vec![member("A", Some(0)), member("B", Some(1)), member("C", None)],
        ..JobDeclaration::default()
    }
}

pub fn every(period: i64) -> Qos {
    Qos::TimeDriven {
        period: us(period),
        release: Nanos::ZERO,
        deadline: us(period),
        missing: MissingPolicy::Skip,
    }
}

/// The channel "AB" as an end or the manifest may give it: everything open.
pub fn open_channel() -> ChannelDeclaration {
    ChannelDeclaration { name: "AB".to_owned(), ..ChannelDeclaration::default() }
}

pub fn end(end: End, channel: ChannelDeclaration) -> ChannelEndDeclaration {
    let (memory, policy) = Default::default();
    ChannelEndDeclaration { end, channel, memory, policy, allowed: None, outgoing: None, served: false }
}

/// A declares the source, B the target, C nothing.
pub fn two_ends(source: ChannelEndDeclaration, target: ChannelEndDeclaration) -> Vec<MemberDeclarations> {
    let with = |end| MemberDeclarations { ends: vec![end], ..MemberDeclarations::default() };
    vec![with(source), with(target), MemberDeclarations::default()]
}

pub fn sized() -> ChannelDeclaration {
    ChannelDeclaration { size: Some(ByteSize(64)), ..open_channel() }
}

pub fn meet(manifest: &JobDeclaration, code: &[MemberDeclarations]) -> Assembled {
    assemble(manifest, code, Costs::default()).unwrap_or_else(|errors| panic!("{}", text(&errors)))
}

pub fn text(errors: &[Mismatch]) -> String {
    errors.iter().map(Mismatch::to_string).collect::<Vec<_>>().join("\n")
}

/// The one mismatch, which must contain every one of these words.
#[track_caller]
pub fn refused(manifest: &JobDeclaration, code: &[MemberDeclarations], words: &[&str]) -> String {
    let errors = assemble(manifest, code, Costs::default()).expect_err("these do not meet");
    let text = text(&errors);
    assert_eq!(errors.len(), 1, "{text}");
    for word in words {
        assert!(text.contains(word), "\"{word}\" is not in: {text}");
    }
    text
}
