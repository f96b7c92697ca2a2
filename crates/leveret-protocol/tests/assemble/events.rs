//! Triggers and receptors meet by name and group.

use super::*;
use leveret_types::{MemberId, TriggerId};

fn trigger(event: &str, group: &str) -> TriggerDeclaration {
    TriggerDeclaration { event: event.to_owned(), group: group.to_owned(), priority: 3 }
}

fn receptor(event: &str, group: &str) -> ReceptorDeclaration {
    ReceptorDeclaration { event: event.to_owned(), group: group.to_owned() }
}

fn member(triggers: &[(&str, &str)], receptors: &[(&str, &str)]) -> MemberDeclarations {
    let events = EventDeclarations {
        triggers: triggers.iter().map(|(event, group)| trigger(event, group)).collect(),
        receptors: receptors.iter().map(|(event, group)| receptor(event, group)).collect(),
    };
    MemberDeclarations { events, ..MemberDeclarations::default() }
}

// spec: EVENT-NAME-01
#[test]
fn triggers_and_receptors_meet_by_name_and_group() {
    let pair = GroupDeclaration { name: "pair".to_owned(), members: vec!["C".to_owned(), "B".to_owned()] };
    let mut code = vec![
        member(&[("go", "world"), ("go", "world")], &[("go", "world")]),
        member(&[("go", "pair")], &[("go", "pair"), ("go", "world"), ("go", "world")]),
        member(&[("go", "world")], &[]),
    ];
    code[1].groups.push(pair);
    let events = meet(&manifest(), &code).events;
    let [world, pair] = &events[..] else { panic!("two events, not {events:?}") };
    let fired_by = |event: &EventBinding| -> Vec<_> {
        event
            .triggers
            .iter()
            .map(|trigger| (trigger.id.0, trigger.member.0, trigger.rank, trigger.place))
            .collect()
    };
    assert_eq!(fired_by(world), [(0, 0, 0, 0), (1, 0, 0, 1), (3, 2, 2, 0)]);
    assert_eq!(world.listeners, [MemberId(0), MemberId(1)], "each member once");
    assert_eq!(fired_by(pair), [(2, 1, 1, 0)], "B has rank 1 there");
    assert_eq!((pair.listeners.as_slice(), pair.triggers[0].priority), (&[MemberId(1)][..], 3));
    assert_eq!(pair.triggers[0].id, TriggerId(2));
}

// spec: EVENT-NAME-02
#[test]
fn a_receptor_needs_a_trigger_and_a_trigger_no_receptor() {
    let alone = meet(&manifest(), &[member(&[("go", "world")], &[]), member(&[], &[]), member(&[], &[])]);
    assert!(alone.events[0].listeners.is_empty());
    let code = [member(&[("start", "world")], &[]), member(&[], &[("strat", "world")]), member(&[], &[])];
    refused(
        &manifest(),
        &code,
        &["event \"strat\" of group \"world\"", "member \"B\"", "did you mean \"start\""],
    );
    let code = [member(&[], &[("go", "wrold")]), member(&[], &[]), member(&[], &[])];
    refused(&manifest(), &code, &["no group \"wrold\"", "did you mean \"world\""]);
}

#[test]
fn who_is_not_in_the_group_has_no_part_in_its_events() {
    let pair = GroupDeclaration { name: "pair".to_owned(), members: vec!["A".to_owned(), "B".to_owned()] };
    let mut code = vec![member(&[], &[]), member(&[], &[]), member(&[("go", "pair")], &[])];
    code[2].groups.push(pair);
    refused(&manifest(), &code, &["member \"C\" is not in the group", "A, B"]);
}

/// Such an event rings at who moves a channel's messages, so that whoever fired another's would hold them up.
#[test]
fn an_event_of_the_librarys_own_is_had_at_its_end_of_the_channel_only() {
    let [sent, taken] = [SENT_EVENT, TAKEN_EVENT].map(|what| format!("{INTERNAL_EVENT}{what}AB"));
    let code = |fires: [&str; 3], hears: [&str; 3]| {
        let mut code = two_ends(end(End::Source, sized()), end(End::Target, sized()));
        for (member, (fires, hears)) in code.iter_mut().zip(fires.into_iter().zip(hears)) {
            let named = |event: &&str| !event.is_empty();
            member.events.triggers.extend([fires].iter().filter(|e| named(e)).map(|e| trigger(e, "world")));
            member.events.receptors.extend([hears].iter().filter(|e| named(e)).map(|e| receptor(e, "world")));
        }
        code
    };
    let events = meet(&manifest(), &code([&sent, &taken, ""], [&taken, &sent, ""])).events;
    assert_eq!(events.len(), 2);
    let unknown = format!("{INTERNAL_EVENT}AB");
    let moved = format!("{INTERNAL_EVENT}{MOVED_EVENT}2 AB");
    let wrong = [
        code([&sent, &taken, &sent], ["", "", ""]),
        code([&sent, &taken, ""], ["", "", &taken]),
        code([&taken, "", ""], ["", "", ""]),
        code([&sent, "", ""], [&sent, "", ""]),
        code([&unknown, "", ""], ["", "", ""]),
        code(["", "", &moved], ["", "", ""]),
    ];
    for code in wrong {
        refused(&manifest(), &code, &["of group \"world\"", "no end of a channel", "printable text"]);
    }
}

#[test]
fn what_a_channel_of_a_group_moves_is_told_by_each_rank_of_itself() {
    let whole = CollectiveDeclaration {
        name: "all".to_owned(),
        group: GROUP_WORLD.to_owned(),
        form: CollectiveForm::Barrier,
        root: None,
        operation: None,
        dataspec: None,
        element: 1,
        sends: None,
        receives: None,
        qos: every(100),
        slack: 1,
    };
    let moved = |rank: usize| format!("{INTERNAL_EVENT}{MOVED_EVENT}{rank} all");
    let code = |ranks: [usize; 3]| {
        ranks.map(|rank| {
            let others = (0..3).filter(|other| *other != rank).map(|other| receptor(&moved(other), "world"));
            MemberDeclarations {
                collectives: vec![whole.clone()],
                events: EventDeclarations {
                    triggers: vec![trigger(&moved(rank), "world")],
                    receptors: others.collect(),
                },
                ..MemberDeclarations::default()
            }
        })
    };
    assert_eq!(meet(&manifest(), &code([0, 1, 2])).events.len(), 3);
    let errors = assemble(&manifest(), &code([0, 1, 1]), Costs::default()).expect_err("not C's own");
    assert!(text(&errors).contains("member \"C\" has no end of a channel"), "{}", text(&errors));
}
