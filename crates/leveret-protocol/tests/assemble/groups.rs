//! What a commit of a group covers.

use super::{end, every, manifest, open_channel, sized, text, two_ends};
use leveret_protocol::declaration::*;
use leveret_protocol::group::{beyond_group, of_group};
use leveret_types::MemberId;

const A_AND_B: [MemberId; 2] = [MemberId(0), MemberId(1)];

fn named(name: &str, members: &[&str]) -> GroupDeclaration {
    let members = members.iter().map(|name| (*name).to_owned()).collect();
    GroupDeclaration { name: name.to_owned(), members }
}

/// A and B have the ends of "AB" in this group.
fn in_group(group: Option<&str>, members: &[&str]) -> Vec<MemberDeclarations> {
    let channel = || ChannelDeclaration { group: group.map(str::to_owned), ..sized() };
    let mut code = two_ends(end(End::Source, channel()), end(End::Target, channel()));
    for declared in &mut code[..2] {
        declared.groups = group.map(|group| named(group, members)).into_iter().collect();
    }
    code
}

// spec: SETUP-GROUP-02
#[test]
fn a_channel_of_a_group_that_reaches_beyond_is_named_with_who_is_not_there() {
    for (group, members) in
        [(None, &[][..]), (Some("all"), &["A", "B", "C"]), (Some("some"), &["C", "A", "B"])]
    {
        let beyond = beyond_group(&manifest(), &in_group(group, members), &A_AND_B);
        let text = text(&beyond);
        assert_eq!(beyond.len(), 1, "{text}");
        let object = format!("channel \"AB\" of group \"{}\"", group.unwrap_or("world"));
        for word in [object.as_str(), "member \"A\" declares it", "\"A\", \"B\": member \"C\" is in it"] {
            assert!(text.contains(word), "\"{word}\" is not in: {text}");
        }
    }
    assert_eq!(beyond_group(&manifest(), &in_group(Some("pair"), &["B", "A"]), &A_AND_B), []);
    let all = [MemberId(0), MemberId(1), MemberId(2)];
    assert_eq!(beyond_group(&manifest(), &in_group(None, &[]), &all), []);
}

#[test]
fn events_are_named_and_those_of_the_library_are_not() {
    let mut code = in_group(Some("pair"), &["A", "B"]);
    let receptor =
        |event: &str| ReceptorDeclaration { event: event.to_owned(), group: GROUP_WORLD.to_owned() };
    code[1].events.receptors = vec![receptor("alarm"), receptor(&format!("{INTERNAL_EVENT}sent AB"))];
    let text = text(&beyond_group(&manifest(), &code, &A_AND_B));
    assert!(text.contains("event \"alarm\" of group \"world\": member \"B\""), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn a_collective_channel_is_named_once() {
    let mut code = in_group(None, &[]);
    for declared in &mut code[..2] {
        declared.collectives.push(CollectiveDeclaration {
            name: "sum".to_owned(),
            group: GROUP_WORLD.to_owned(),
            form: CollectiveForm::Barrier,
            root: None,
            operation: None,
            dataspec: None,
            element: 1,
            sends: None,
            receives: None,
            qos: every(1_000),
            slack: 1,
        });
        declared.ends[0].channel.name = CollectiveDeclaration::edge("sum", 0, 1);
    }
    let text = text(&beyond_group(&manifest(), &code, &A_AND_B));
    assert!(text.contains("channel \"sum\" of group \"world\""), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn of_the_manifest_a_group_has_its_members_tasks_and_the_channels_within() {
    let mut job = manifest();
    let task = |name: &str| TaskDeclaration { name: name.to_owned(), ..TaskDeclaration::default() };
    job.tasks = vec![("A".to_owned(), task("first")), ("C".to_owned(), task("third"))];
    let within = ChannelDeclaration { group: Some("pair".to_owned()), ..open_channel() };
    let unknown = ChannelDeclaration { group: Some("elsewhere".to_owned()), ..open_channel() };
    job.channels = vec![open_channel(), within.clone(), unknown];
    let of_group = of_group(&job, &in_group(Some("pair"), &["A", "B"]), &A_AND_B);
    assert_eq!(of_group.members, job.members);
    assert_eq!(of_group.tasks, [("A".to_owned(), task("first"))]);
    assert_eq!(of_group.channels, [within]);
}
