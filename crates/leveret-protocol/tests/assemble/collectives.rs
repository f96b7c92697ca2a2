//! Collective channels: who differs or is missing is named, and what carries them is not told of one by one.

use super::*;

/// Members "A" and "B".
fn two_members() -> JobDeclaration {
    let mut manifest = manifest();
    manifest.members.truncate(2);
    manifest
}

fn declared(form: CollectiveForm) -> CollectiveDeclaration {
    CollectiveDeclaration {
        name: "all".to_owned(),
        group: GROUP_WORLD.to_owned(),
        form,
        root: Some(0),
        operation: None,
        dataspec: Some("int32".to_owned()),
        element: 4,
        sends: Some(ByteSize(8)),
        receives: Some(ByteSize(8)),
        qos: Qos::BestEffort,
        slack: 1,
    }
}

/// Two members that declare these, each with an edge of the channel that has no other end.
fn errors_of(left: &[CollectiveDeclaration], right: &[CollectiveDeclaration]) -> Vec<String> {
    let member = |which, collectives: &[CollectiveDeclaration]| {
        let name = CollectiveDeclaration::edge("all", 0, 1);
        let mut channel = sized();
        channel.name = name.clone();
        let task =
            TaskDeclaration { name: format!("{which:?}"), writes: vec![name], ..TaskDeclaration::default() };
        MemberDeclarations {
            ends: vec![end(End::Source, channel)],
            tasks: vec![task],
            collectives: collectives.to_vec(),
            ..MemberDeclarations::default()
        }
    };
    let code = [member(End::Source, left), member(End::Target, right)];
    let Err(errors) = assemble(&two_members(), &code, Costs::default()) else { return Vec::new() };
    errors.iter().map(Mismatch::to_string).collect()
}

fn changed(change: impl FnOnce(&mut CollectiveDeclaration)) -> CollectiveDeclaration {
    let mut declared = declared(CollectiveForm::Broadcast);
    change(&mut declared);
    declared
}

// spec: COLLECTIVE-CREATE-05
#[test]
fn each_property_that_differs_is_told_with_both_sides() {
    let one = declared(CollectiveForm::Broadcast);
    let with =
        |change: fn(&mut CollectiveDeclaration)| errors_of(std::slice::from_ref(&one), &[changed(change)]);
    let object = "collective channel \"all\" of group \"world\"";
    let cases: [(Vec<String>, &str); 7] = [
        (
            with(|other| other.form = CollectiveForm::Scatter),
            "kind differs: member \"A\" says broadcast, member \"B\" says scatter",
        ),
        (
            with(|other| other.root = Some(1)),
            "root differs: member \"A\" says rank 0, member \"B\" says rank 1",
        ),
        (
            with(|other| other.dataspec = Some("byte".to_owned())),
            "dataspec differs: member \"A\" says int32, member \"B\" says byte",
        ),
        (with(|other| other.slack = 2), "slack differs: member \"A\" says 1, member \"B\" says 2"),
        (
            with(|other| other.receives = Some(ByteSize(12))),
            "size of buffers differs: member \"A\" says 8 B, member \"B\" says 12 B",
        ),
        (
            with(|other| other.sends = Some(ByteSize(12))),
            "size of buffers differs: member \"A\" says 8 B, member \"B\" says 12 B",
        ),
        (
            with(|other| {
                other.qos = Qos::TimeDriven {
                    period: Nanos(9),
                    release: Nanos(0),
                    deadline: Nanos(3),
                    missing: MissingPolicy::Skip,
                }
            }),
            "quality of service differs: member \"A\" says best effort, member \"B\" says time-driven",
        ),
    ];
    for (errors, expected) in cases {
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].starts_with(&format!("{object}: {expected}")), "{errors:?}");
    }
}

// spec: COLLECTIVE-CREATE-05
#[test]
fn who_does_not_declare_it_is_named_with_what_it_may_have_meant() {
    let one = declared(CollectiveForm::Barrier);
    let errors = errors_of(std::slice::from_ref(&one), &[]);
    assert_eq!(
        errors,
        [
            "collective channel \"all\" of group \"world\": member \"A\" declares it, but member \"B\" of the group does not; add it to the code of member \"B\""
        ]
    );
    let errors = errors_of(std::slice::from_ref(&one), &[changed(|other| other.name = "al".to_owned())]);
    assert!(
        errors.iter().any(|error| error.ends_with("or did it mean \"al\", which it declares?")),
        "{errors:?}"
    );
    let errors = errors_of(&[one.clone(), one.clone()], &[one]);
    assert!(errors[0].contains("both member \"A\" and member \"A\" declare it"), "{errors:?}");
}

// spec: COLLECTIVE-SIZE-01, COLLECTIVE-ALLTOALL-03
#[test]
fn sections_and_pieces_fit_the_number_of_members() {
    let sized = |form, sends, receives| {
        let mut declared = declared(form);
        declared.sends = sends;
        declared.receives = receives;
        declared
    };
    let (small, large) = (Some(ByteSize(8)), Some(ByteSize(17)));
    let scatter = |sends| sized(CollectiveForm::Scatter, sends, small);
    let errors = errors_of(&[scatter(large)], &[scatter(None)]);
    assert!(
        errors[0].contains(
            "the root, member \"A\", has buffers of 17 B for the sections of 2 members of 8 B each"
        ),
        "{errors:?}"
    );
    let gather = |receives| sized(CollectiveForm::Gather, small, receives);
    let errors = errors_of(&[gather(large)], &[gather(None)]);
    assert!(errors[0].contains("make them 2 times 8 B"), "{errors:?}");
    // Too small is as wrong as too large.
    for size in [8, 15] {
        let wrong = Some(ByteSize(size));
        for errors in
            [errors_of(&[scatter(wrong)], &[scatter(None)]), errors_of(&[gather(wrong)], &[gather(None)])]
        {
            assert!(errors[0].contains("for the sections of 2 members of 8 B each"), "{size}: {errors:?}");
        }
    }
    let right = Some(ByteSize(16));
    for errors in
        [errors_of(&[scatter(right)], &[scatter(None)]), errors_of(&[gather(right)], &[gather(None)])]
    {
        assert!(!errors.iter().any(|error| error.contains("collective channel")), "{errors:?}");
    }
    let halves = sized(CollectiveForm::AllToAll, Some(ByteSize(8)), Some(ByteSize(16)));
    let errors = errors_of(std::slice::from_ref(&halves), std::slice::from_ref(&halves));
    assert!(errors[0].contains("size of buffers differs"), "{errors:?}");
    let pieces = |size| sized(CollectiveForm::AllToAll, Some(ByteSize(size)), Some(ByteSize(size)));
    for size in [5, 6] {
        let errors = errors_of(&[pieces(size)], &[pieces(size)]);
        assert!(errors[0].contains("not divisible by its 2 members and by elements of 4 B"), "{errors:?}");
    }
    // Nothing is wrong with it but its edge, which has two senders here and nobody who receives.
    let errors = errors_of(&[pieces(8)], &[pieces(8)]);
    assert!(errors[0].contains("channel \"all[0->1]\""), "{errors:?}");
    assert!(!errors.iter().any(|error| error.contains("collective channel")), "{errors:?}");
}

#[test]
fn edges_are_told_from_other_names_however_long() {
    let mut collective = declared(CollectiveForm::Gather);
    for name in ["all".to_owned(), "x[0->1]".to_owned(), "\u{e4}".repeat(31), "n".repeat(63)] {
        collective.name.clone_from(&name);
        for (from, to) in [(0, 1), (999, 1000)] {
            for edge in
                [CollectiveDeclaration::edge(&name, from, to), CollectiveDeclaration::call(&name, from, to)]
            {
                assert!(edge.len() <= leveret_types::NAME_BYTES_MAX, "{edge}");
                assert!(collective.has_edge(&edge), "{edge} of {name}");
            }
        }
        for other in ["all", "all[]", "all[0-1]", "all[0->]", "all[a->1]", "al[0->1]", "[0->1]"] {
            assert!(!collective.has_edge(other), "{other} of {name}");
        }
    }
    let long = |last: &str| CollectiveDeclaration::edge(&format!("{}{last}", "n".repeat(62)), 0, 1);
    assert_ne!(long("a"), long("b"));
}
