//! What members keep in a mode, they keep together.

use crate::{end, manifest, meet, sized, text, two_ends};
use leveret_plan::Kept;
use leveret_protocol::assemble::{kept, kept_events, kept_in_part};
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

/// Both members fire "go", at these priorities, and B hears it.
fn event_code(priorities: [u8; 2]) -> Vec<MemberDeclarations> {
    let mut code = two_ends(end(End::Source, sized()), end(End::Target, sized()));
    let (event, group) = ("go".to_owned(), GROUP_WORLD.to_owned());
    for (member, priority) in code.iter_mut().zip(priorities) {
        let trigger = TriggerDeclaration { event: event.clone(), group: group.clone(), priority };
        member.events.triggers.push(trigger);
    }
    code[1].events.receptors.push(ReceptorDeclaration { event, group });
    code
}

// spec: MODE-KEEP-04
#[test]
fn an_event_is_kept_with_all_that_fires_it_and_hears_it_or_not_at_all() {
    let before = meet(&manifest(), &event_code([0, 3]));
    let told = |code: &[MemberDeclarations]| {
        kept_events(&before.events, &meet(&manifest(), code), code).err().map(|errors| text(&errors))
    };
    let mut code = event_code([0, 3]);
    assert_eq!(told(&code), None, "nobody keeps it");
    code[0].kept.triggers.push(0);
    code[1].kept.triggers.push(0);
    let told_of_receptor = told(&code).expect("its receptor is not kept");
    for word in [
        "event \"go\"",
        "by member \"A\" of its trigger",
        "that of member \"B\" of its receptor is new in it",
    ] {
        assert!(told_of_receptor.contains(word), "\"{word}\" is not in: {told_of_receptor}");
    }
    code[1].kept.receptors.push(0);
    assert_eq!(told(&code), None, "all keep it");
    // What is not kept is not declared either: the event has lost a trigger, or has another priority.
    code[0].events.triggers.clear();
    code[0].kept.triggers.clear();
    let told_of_trigger = told(&code).expect("a trigger is missing");
    for word in
        ["what runs says triggers: A, B at 3; receptors: B", "the mode says triggers: B at 3; receptors: B"]
    {
        assert!(told_of_trigger.contains(word), "\"{word}\" is not in: {told_of_trigger}");
    }
    let mut altered = event_code([1, 3]);
    for member in &mut altered {
        member.kept.triggers.push(0);
    }
    altered[1].kept.receptors.push(0);
    assert!(told(&altered).is_some_and(|text| text.contains("A at 1")));
}

/// The remedy is to keep it there too, and not to declare what the mode lacks.
// spec: MODE-KEEP-04, MPIRTX_Mode_commit/MISMATCH
#[test]
fn what_is_kept_in_part_is_told_with_who_keeps_it_and_who_does_not() {
    let before = meet(&manifest(), &event_code([0, 3]));
    let told = |code: &[MemberDeclarations]| text(&kept_in_part(&before, code));
    let mut code = event_code([0, 3]);
    assert_eq!(told(&code), "", "nobody keeps anything");
    // B alone has kept its receptor: nobody fires it in the mode.
    code[0].events.triggers.clear();
    code[1].events.triggers.clear();
    code[1].kept.receptors.push(0);
    assert_eq!(
        told(&code),
        "event \"go\" of group \"world\" is kept in the mode by member \"B\" (its receptor) only; keep it at member \"A\" (its \
         trigger) and member \"B\" (its trigger) too (MPIRTX_Mode_keep there), or at none"
    );
    // A has lost its end of the channel, or has made another.
    for has_another in [true, false] {
        let mut code = event_code([0, 3]);
        keeps_channel(&mut code[1]);
        if !has_another {
            code[0].ends.clear();
        }
        assert_eq!(
            told(&code),
            "channel \"AB\" of group \"world\" is kept in the mode by member \"B\" only; keep it at member \"A\" too \
             (MPIRTX_Mode_keep there), or at none"
        );
        keeps_channel(&mut code[0]);
        assert_eq!(told(&code), "");
    }
    // What is new in the mode is not of what runs.
    let mut anew = event_code([0, 3]);
    anew[0].kept.triggers.push(7);
    anew[1].kept.channels.push((GROUP_WORLD.to_owned(), "BA".to_owned()));
    assert_eq!(told(&anew), "");
}

#[test]
fn work_that_is_kept_is_declared() {
    let mut code = code();
    code[0].kept.works.push("A:handler-0".to_owned());
    refused(&code, &["member \"A\"", "\"A:handler-0\"", "declare it"]);
}
