//! What members keep in a mode, they keep together.

use crate::{end, manifest, meet, sized, text, two_ends};
use leveret_plan::Kept;
use leveret_protocol::assemble::kept;
use leveret_protocol::declaration::*;
use leveret_types::{ChannelId, Nanos, TaskId};

/// A task at A, and the channel "AB"; what each member keeps is left open.
fn code() -> Vec<MemberDeclarations> {
    let mut code = two_ends(end(End::Source, sized()), end(End::Target, sized()));
    code[0].tasks.push(TaskDeclaration {
        name: "A.task".to_owned(),
        period: Some(Nanos::from_millis(1)),
        budget: Some(Nanos::from_micros(10)),
        ..TaskDeclaration::default()
    });
    code
}

fn keeps_channel(member: &mut MemberDeclarations) {
    member.kept.channels.push((GROUP_WORLD.to_owned(), "AB".to_owned()));
}

fn refused(code: &[MemberDeclarations], words: &[&str]) {
    let errors = kept(&meet(&manifest(), code), code).expect_err("they do not keep it together");
    let text = text(&errors);
    assert_eq!(errors.len(), 1, "{text}");
    for word in words {
        assert!(text.contains(word), "\"{word}\" is not in: {text}");
    }
}

// spec: MPIRTX_Mode_commit/MISMATCH
#[test]
fn both_ends_keep_a_channel_or_neither() {
    let mut code = code();
    assert_eq!(kept(&meet(&manifest(), &code), &code), Ok(Kept::default()));
    keeps_channel(&mut code[1]);
    refused(&code, &["channel \"AB\"", "member \"A\" says not kept", "member \"B\" says kept"]);
    keeps_channel(&mut code[0]);
    code[0].kept.tasks.push("A.task".to_owned());
    let expected = Kept { channels: vec![ChannelId(0)], tasks: vec![TaskId(0)], ..Kept::default() };
    assert_eq!(kept(&meet(&manifest(), &code), &code), Ok(expected));
}

/// Whoever keeps what is not its own, or what is not there, is told so and does no harm.
#[test]
fn what_is_kept_is_declared_by_who_keeps_it() {
    let mut stranger = code();
    keeps_channel(&mut stranger[2]);
    refused(&stranger, &["member \"C\" keeps the channel \"AB\""]);
    let mut absent = code();
    absent[1].kept.tasks.push("A.task".to_owned());
    refused(&absent, &["member \"B\" keeps the task \"A.task\""]);
}
