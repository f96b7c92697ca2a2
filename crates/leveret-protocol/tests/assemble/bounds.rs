//! Declarations of a member that fill a control message: what is told of them to everybody fits into another one.

use super::*;
use leveret_types::{MEMBERS_MAX, NAME_BYTES_MAX};

/// Far less than a control message may have.
const REFUSAL_BYTES_MAX: usize = 1 << 20;

#[track_caller]
fn refusal(code: &[MemberDeclarations], words: &[&str]) {
    let errors = assemble(&manifest(), code, Costs::default()).expect_err("these do not meet");
    let bytes = leveret_protocol::control::encode(&errors).len();
    assert!(bytes + text(&errors).len() < REFUSAL_BYTES_MAX, "{} reasons in {bytes} B", errors.len());
    for word in words {
        assert!(text(&errors).contains(word), "\"{word}\" is not in: {}", text(&errors));
    }
}

fn with(change: impl FnOnce(&mut MemberDeclarations)) -> Vec<MemberDeclarations> {
    let mut code = vec![MemberDeclarations::default(); 3];
    change(&mut code[1]);
    code
}

fn receptor(event: String, group: &str) -> ReceptorDeclaration {
    ReceptorDeclaration { event, group: group.to_owned() }
}

#[test]
fn many_reasons_are_told_in_part_and_counted() {
    let code = with(|member| {
        let receptors = (0..16_000).map(|index| receptor(format!("e{index}"), "nowhere"));
        member.events.receptors.extend(receptors);
    });
    refusal(&code, &["event \"e0\"", "no group \"nowhere\"", "the first 256 of 16000 reasons"]);
}

#[test]
fn a_list_of_names_is_told_in_part() {
    let name = |index: usize| format!("{index:0>width$}", width = NAME_BYTES_MAX);
    let code = with(|member| {
        let long = end(End::Source, sized());
        member.ends.extend((0..4000).map(|index| {
            let channel = ChannelDeclaration { name: name(index), ..long.channel.clone() };
            ChannelEndDeclaration { channel, ..long.clone() }
        }));
        member.tasks.extend((0..1000).map(|index| TaskDeclaration {
            name: format!("t{index}"),
            writes: vec![format!("nothing is named so, {index}")],
            ..TaskDeclaration::default()
        }));
    });
    refusal(&code, &["reasons; mend them"]);
    // A group that is declared again and again, never as at first.
    let group = |members: Vec<String>| GroupDeclaration { name: "large".to_owned(), members };
    let code = with(|member| {
        member.groups.push(group(vec!["A".to_owned(); MEMBERS_MAX]));
        member.groups.extend((0..4000).map(|_| group(Vec::new())));
    });
    refusal(&code, &["group \"large\"", "and 240 more", "reasons; mend them"]);
}

#[test]
fn a_name_that_is_none_is_told_in_part() {
    let long = "x".repeat(4 << 20);
    let said = ["member \"B\"", "has a name of 4194304 bytes", "name it with at most"];
    let changes: [fn(&mut MemberDeclarations, String); 12] = [
        |member, name| member.tasks.push(TaskDeclaration { name, ..TaskDeclaration::default() }),
        |member, name| {
            member.tasks.push(TaskDeclaration { reads: vec![name], ..TaskDeclaration::default() });
        },
        |member, name| member.sporadics.push(SporadicDeclaration { name, ..SporadicDeclaration::default() }),
        |member, name| {
            let event = Some((GROUP_WORLD.to_owned(), name));
            member.sporadics.push(SporadicDeclaration { event, ..SporadicDeclaration::default() });
        },
        |member, name| member.ends.push(end(End::Source, ChannelDeclaration { name, ..sized() })),
        |member, name| {
            member.ends.push(end(End::Source, ChannelDeclaration { group: Some(name), ..sized() }));
        },
        |member, name| {
            member.ends.push(end(End::Source, ChannelDeclaration { target: Some(name), ..sized() }));
        },
        |member, name| {
            member.ends.push(end(End::Source, ChannelDeclaration { dataspec: Some(name), ..sized() }));
        },
        |member, name| {
            let qos = Qos::EventDriven {
                start: Some(name),
                completion: None,
                priority: 1,
                interval: None,
                deadline: None,
            };
            member.ends.push(end(End::Source, ChannelDeclaration { qos: Some(qos), ..sized() }));
        },
        |member, name| member.groups.push(GroupDeclaration { name, members: Vec::new() }),
        |member, name| member.events.receptors.push(receptor(name, GROUP_WORLD)),
        |member, name| member.kept.tasks.push(name),
    ];
    for change in changes {
        refusal(&with(|member| change(member, long.clone())), &said);
    }
    for change in changes {
        let with_control = with(|member| change(member, "a\u{1b}[2J".to_owned()));
        refusal(&with_control, &["a\\u{1b}[2J", "control characters"]);
    }
}

#[test]
fn a_group_of_more_than_all_and_a_task_of_all_channels_again_and_again_are_too_many() {
    let members = vec!["A".to_owned(); 100_000];
    let group = GroupDeclaration { name: "large".to_owned(), members };
    refusal(&with(|member| member.groups.push(group)), &["100000 members in group \"large\""]);
    let reads = vec!["AB".to_owned(); 1_000_000];
    let task = TaskDeclaration { name: "t".to_owned(), reads, ..TaskDeclaration::default() };
    refusal(&with(|member| member.tasks.push(task)), &["1000000 channels of tasks"]);
}
