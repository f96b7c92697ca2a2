use crate::{end, every, manifest, meet, open_channel, refused, sized, text, two_ends};
use leveret_plan::{Costs, Placement, Qos};
use leveret_protocol::assemble::assemble;
use leveret_protocol::declaration::*;
use leveret_types::{ByteSize, MemberId};

/// Sets one property of a channel to the first or to the second of two values.
type Set = fn(&mut ChannelDeclaration, bool);

const PROPERTIES: [(&str, Set, [&str; 2]); 8] = [
    ("size", |channel, other| channel.size = Some(ByteSize(if other { 8 } else { 64 })), ["64 B", "8 B"]),
    ("number of buffers", |channel, other| channel.buffers = Some(if other { 3 } else { 2 }), ["2", "3"]),
    (
        "placement",
        |channel, other| {
            channel.placement = Some(if other { Placement::Aliased } else { Placement::Separate });
        },
        ["separate", "aliased"],
    ),
    (
        "quality of service",
        |channel, other| channel.qos = Some(if other { Qos::BestEffort } else { every(100) }),
        ["time-driven, period", "best effort"],
    ),
    (
        "way of waiting",
        |channel, other| channel.wait = Some(if other { WaitMode::Wake } else { WaitMode::Poll }),
        ["poll", "wake"],
    ),
    ("checksum", |channel, other| channel.checksum = Some(other), ["false", "true"]),
    (
        "source",
        |channel, other| channel.source = Some(if other { "C" } else { "A" }.to_owned()),
        ["\"A\"", "\"C\""],
    ),
    (
        "target",
        |channel, other| channel.target = Some(if other { "C" } else { "B" }.to_owned()),
        ["\"B\"", "\"C\""],
    ),
];

// spec: CHANNEL-MATCH-04
#[test]
fn two_ends_that_differ_are_both_named_with_what_they_say() {
    for (property, set, [first, second]) in PROPERTIES {
        let (mut source, mut target) = (sized(), sized());
        set(&mut source, false);
        set(&mut target, true);
        let code = two_ends(end(End::Source, source), end(End::Target, target));
        let errors = assemble(&manifest(), &code, Costs::default()).expect_err(property);
        let text = text(&errors);
        for word in
            ["channel \"AB\" of group \"world\"", property, "member \"A\"", "member \"B\"", first, second]
        {
            assert!(text.contains(word), "{property}: \"{word}\" is not in: {text}");
        }
    }
}

#[test]
fn the_manifest_and_an_end_that_differ_are_both_named() {
    // The size of the manifest is a limit; it has a test of its own.
    for (property, set, [first, second]) in PROPERTIES.into_iter().filter(|(name, ..)| *name != "size") {
        let mut manifest = manifest();
        let mut declared = open_channel();
        set(&mut declared, true);
        manifest.channels.push(declared);
        let mut source = sized();
        set(&mut source, false);
        let code = two_ends(end(End::Source, source), end(End::Target, sized()));
        let errors = assemble(&manifest, &code, Costs::default()).expect_err(property);
        let text = text(&errors);
        for word in [property, "the manifest", "member \"A\"", first, second] {
            assert!(text.contains(word), "{property}: \"{word}\" is not in: {text}");
        }
    }
}

#[test]
fn what_one_side_leaves_open_another_gives() {
    for (property, set, _) in PROPERTIES {
        for side in 0..3 {
            let mut sides = [open_channel(), sized(), sized()];
            set(&mut sides[side], false);
            let [of_manifest, source, target] = sides;
            let manifest = JobDeclaration { channels: vec![of_manifest], ..manifest() };
            let assembled = meet(&manifest, &two_ends(end(End::Source, source), end(End::Target, target)));
            let channel = &assembled.job.channels[0];
            assert_eq!((channel.source, channel.target), (MemberId(0), MemberId(1)), "{property}");
            let period = if property == "quality of service" { every(100) } else { Qos::BestEffort };
            assert_eq!(channel.qos, period);
        }
    }
}

#[test]
fn nothing_given_means_the_defaults() {
    let code = two_ends(end(End::Source, sized()), end(End::Target, sized()));
    let assembled = meet(&manifest(), &code);
    let channel = &assembled.job.channels[0];
    assert_eq!((channel.group.as_str(), channel.buffers), (GROUP_WORLD, 2));
    assert_eq!((channel.placement, channel.qos.clone()), (Placement::Separate, Qos::BestEffort));
    assert_eq!(assembled.bindings[0].wait, WaitMode::Poll);
}

#[test]
fn the_size_of_the_manifest_is_the_most_that_an_end_may_ask_for() {
    let limited = |size| {
        let channel = ChannelDeclaration { size: Some(ByteSize(size)), ..open_channel() };
        JobDeclaration { channels: vec![channel], ..manifest() }
    };
    let ends =
        |channel: ChannelDeclaration| two_ends(end(End::Source, channel), end(End::Target, open_channel()));
    assert_eq!(meet(&limited(128), &ends(sized())).job.channels[0].size, ByteSize(64));
    assert_eq!(meet(&limited(64), &ends(sized())).job.channels[0].size, ByteSize(64));
    assert_eq!(meet(&limited(128), &ends(open_channel())).job.channels[0].size, ByteSize(128));
    refused(&limited(63), &ends(sized()), &["size", "the manifest", "at most 63 B", "member \"A\"", "64 B"]);
    refused(&manifest(), &ends(open_channel()), &["no size is given", "channel \"AB\""]);
    // Both who ask for more are named, and less would do; where the ends differ, so is what is allowed.
    let both = two_ends(end(End::Source, sized()), end(End::Target, sized()));
    refused(&limited(63), &both, &["code of member \"A\" and member \"B\" asks for 64 B", "ask for less"]);
    let less = ChannelDeclaration { size: Some(ByteSize(8)), ..open_channel() };
    let differ = two_ends(end(End::Source, sized()), end(End::Target, less));
    refused(&limited(128), &differ, &["says 64 B", "says 8 B", "the manifest allows at most 128 B"]);
}

// spec: CHANNEL-MATCH-05
#[test]
fn an_end_without_a_counterpart_names_who_should_declare_it() {
    let only = |end| {
        let mut code = vec![MemberDeclarations::default(); 3];
        code[0].ends.push(end);
        code
    };
    let named = |channel: ChannelDeclaration| ChannelDeclaration { target: Some("C".to_owned()), ..channel };
    refused(
        &manifest(),
        &only(end(End::Source, named(sized()))),
        &[
            "channel \"AB\"",
            "member \"A\" declares the source end",
            "nobody declares the target end",
            "code of member \"C\"",
        ],
    );
    refused(&manifest(), &only(end(End::Target, sized())), &["declares the target end", "the source end"]);
}

#[test]
fn two_half_channels_of_far_names_are_told_of_each_other() {
    let named = |name: &str| ChannelDeclaration { name: name.to_owned(), ..sized() };
    let code = |name: &str| two_ends(end(End::Source, sized()), end(End::Target, named(name)));
    let said = |code: &[MemberDeclarations]| {
        text(&assemble(&manifest(), code, Costs::default()).expect_err("no channel has two ends"))
    };
    let text = said(&code("pictures"));
    assert!(text.contains("or did you mean \"pictures\", whose target end member \"B\" declares?"), "{text}");
    assert!(text.contains("or did you mean \"AB\", whose source end member \"A\" declares?"), "{text}");
    // Of two it may be either.
    let mut three = code("pictures");
    three[2].ends.push(end(End::Target, named("sounds")));
    let text = said(&three);
    assert!(
        !text.contains("did you mean \"pictures\"") && !text.contains("did you mean \"sounds\""),
        "{text}"
    );
}

#[test]
fn a_channel_that_the_library_serves_says_which_ends_it_takes() {
    let qos =
        Some(Qos::EventDriven { priority: 1, interval: None, deadline: None, start: None, completion: None });
    let served = ChannelDeclaration { qos, ..sized() };
    let declared = JobDeclaration {
        channels: vec![ChannelDeclaration {
            source: Some("A".to_owned()),
            target: Some("B".to_owned()),
            ..served.clone()
        }],
        ..manifest()
    };
    let nothing = vec![MemberDeclarations::default(); 3];
    let lacking = text(&assemble(&declared, &nothing, Costs::default()).expect_err("nobody declares it"));
    let as_object = "as an object (`leveret::objects` or `mpirt.h`)";
    assert!(lacking.contains("the manifest declares it, but nobody declares the source end"), "{lacking}");
    assert_eq!(lacking.matches(as_object).count(), 2, "{lacking}");
    let by_itself = two_ends(end(End::Source, sized()), end(End::Target, sized()));
    let by_itself = text(&assemble(&declared, &by_itself, Costs::default()).expect_err("no objects"));
    assert!(by_itself.contains("it is event-driven") && by_itself.contains(as_object), "{by_itself}");
}

#[test]
fn an_end_that_two_members_declare_names_both() {
    let mut code = two_ends(end(End::Source, sized()), end(End::Target, sized()));
    code[2].ends.push(end(End::Source, sized()));
    refused(&manifest(), &code, &["member \"A\"", "member \"C\"", "the source end", "only one may"]);
}

#[test]
fn a_member_that_does_not_exist_is_named_with_those_that_do() {
    let source = ChannelDeclaration { source: Some("Z".to_owned()), ..sized() };
    let manifest = JobDeclaration { channels: vec![source], ..manifest() };
    let text = text(&assemble(&manifest, &[], Costs::default()).expect_err("there is no Z"));
    assert!(text.contains("no member \"Z\"") && text.contains("A, B, C"), "{text}");
}

/// (memory, policy) at both ends, a placement that is insisted on, and what comes of it; none where it is refused.
// spec: CHANNEL-ALIAS-01
#[test]
fn buffers_are_aliased_when_both_ends_allow_it_and_never_otherwise() {
    use BufferMemory::{Application, System};
    use IteratorPolicy::{Fifo, FifoMapped, FifoOrdered};
    for memories in
        [[System, System], [System, Application], [Application, System], [Application, Application]]
    {
        for first in [Fifo, FifoMapped, FifoOrdered] {
            for second in [Fifo, FifoMapped, FifoOrdered] {
                for insisted in [None, Some(Placement::Separate), Some(Placement::Aliased)] {
                    let possible = memories == [System, System] && first != Fifo && second != Fifo;
                    check_placement(memories, [first, second], insisted, possible);
                }
            }
        }
    }
}

fn check_placement(
    memories: [BufferMemory; 2],
    policies: [IteratorPolicy; 2],
    insisted: Option<Placement>,
    possible: bool,
) {
    let channel = ChannelDeclaration { placement: insisted, ..sized() };
    let with = |side: usize, which| ChannelEndDeclaration {
        memory: memories[side],
        policy: policies[side],
        ..end(which, channel.clone())
    };
    let code = two_ends(with(0, End::Source), with(1, End::Target));
    if insisted == Some(Placement::Aliased) && !possible {
        refused(&manifest(), &code, &["buffers cannot be aliased", "member \"", "at both ends"]);
        return;
    }
    let expected = insisted.unwrap_or(if possible { Placement::Aliased } else { Placement::Separate });
    let assembled = meet(&manifest(), &code);
    assert_eq!(assembled.job.channels[0].placement, expected, "{memories:?} {policies:?} {insisted:?}");
    let binding = &assembled.bindings[0];
    assert_eq!([binding.source_memory, binding.target_memory], memories);
}

// spec: BUFITER-MAPPED-02, BUFITER-MAPPED-03
#[test]
fn buffers_of_programs_belong_together_in_equal_numbers() {
    use IteratorPolicy::{Fifo, FifoMapped, FifoOrdered};
    let ends = |[(left, one), (right, other)]: [(IteratorPolicy, Option<u32>); 2], memory| {
        let with =
            |which, policy, allowed| ChannelEndDeclaration { memory, policy, allowed, ..end(which, sized()) };
        two_ends(with(End::Source, left, one), with(End::Target, right, other))
    };
    let system = BufferMemory::System;
    for (policies, placement, mapped) in [
        ([FifoMapped, FifoMapped], Placement::Aliased, 3),
        ([FifoMapped, FifoOrdered], Placement::Aliased, 3),
        ([FifoOrdered, FifoOrdered], Placement::Aliased, 3),
        ([FifoOrdered, Fifo], Placement::Separate, 0),
    ] {
        let assembled = meet(&manifest(), &ends(policies.map(|policy| (policy, Some(3))), system));
        assert_eq!(assembled.job.channels[0].placement, placement, "{policies:?}");
        assert_eq!(assembled.bindings[0].mapped, mapped, "{policies:?}");
    }
    // Without one memory the index crosses, but only where it was promised.
    for (policy, mapped) in [(FifoMapped, 3), (FifoOrdered, 0)] {
        let assembled = meet(&manifest(), &ends([(policy, Some(3)); 2], BufferMemory::Application));
        assert_eq!(assembled.bindings[0].mapped, mapped);
    }
    let unequal = meet(&manifest(), &ends([(FifoOrdered, Some(3)), (FifoOrdered, Some(2))], system));
    assert_eq!((unequal.job.channels[0].placement, unequal.bindings[0].mapped), (Placement::Separate, 0));
    let said = ["set of allowed buffers", "mapped, 3 of them", "member \""];
    for other in [(FifoMapped, Some(2)), (Fifo, Some(3)), (FifoMapped, None)] {
        refused(&manifest(), &ends([(FifoMapped, Some(3)), other], system), &said);
        refused(&manifest(), &ends([other, (FifoMapped, Some(3))], system), &said);
    }
}

fn group(name: &str, members: &[&str]) -> GroupDeclaration {
    let members = members.iter().map(|name| (*name).to_owned()).collect();
    GroupDeclaration { name: name.to_owned(), members }
}

// spec: CHANNEL-MATCH-01
#[test]
fn ends_match_by_group_and_name() {
    let in_group = || ChannelDeclaration { group: Some("pair".to_owned()), ..sized() };
    let mut code = two_ends(end(End::Source, sized()), end(End::Target, sized()));
    for (rank, which) in [(0, End::Source), (1, End::Target)] {
        code[rank].ends.push(end(which, in_group()));
        code[rank].groups.push(group("pair", &["A", "B"]));
    }
    let assembled = meet(&manifest(), &code);
    let groups: Vec<_> = assembled.job.channels.iter().map(|channel| channel.group.as_str()).collect();
    assert_eq!(groups, ["world", "pair"]);
}

// spec: GROUP-MATCH-01
#[test]
fn groups_must_be_declared_alike_and_hold_both_ends() {
    let in_group = || ChannelDeclaration { group: Some("pair".to_owned()), ..sized() };
    let ends = || two_ends(end(End::Source, in_group()), end(End::Target, in_group()));
    refused(&manifest(), &ends(), &["no group \"pair\"", "world"]);

    let mut code = ends();
    code[0].groups.push(group("pair", &["A", "B"]));
    code[1].groups.push(group("pair", &["B", "A"]));
    refused(&manifest(), &code, &["group \"pair\"", "members", "\"A\" says A, B", "\"B\" says B, A"]);

    // One begins as the other does, and has a member more.
    for longer in [0, 1] {
        let mut code = ends();
        code[longer].groups.push(group("pair", &["A", "B", "C"]));
        code[1 - longer].groups.push(group("pair", &["A", "B"]));
        let says = |rank: usize| {
            let who = ["A", "B"][rank];
            format!("\"{who}\" says A, B{}", if rank == longer { ", C" } else { "" })
        };
        refused(&manifest(), &code, &["group \"pair\"", "members", &says(0), &says(1)]);
    }

    let mut code = ends();
    code[0].groups.push(group("pair", &["A", "C"]));
    refused(&manifest(), &code, &["member \"B\" is not in the group", "A, C"]);

    let mut code = ends();
    code[0].groups.push(group("pair", &["A", "B", "Z"]));
    refused(&manifest(), &code, &["group \"pair\"", "no member \"Z\""]);

    let mut code = two_ends(end(End::Source, sized()), end(End::Target, sized()));
    code[2].groups.push(group(GROUP_WORLD, &["C"]));
    refused(&manifest(), &code, &["group \"world\"", "the manifest", "member \"C\""]);
}

#[test]
fn without_code_the_manifest_alone_must_do() {
    let whole = ChannelDeclaration {
        source: Some("A".to_owned()),
        target: Some("B".to_owned()),
        // Its members are declared in code.
        group: Some("pair".to_owned()),
        ..sized()
    };
    let manifest_of = |channel| JobDeclaration { channels: vec![channel], ..manifest() };
    let assembled = meet(&manifest_of(whole.clone()), &[]);
    assert_eq!(assembled.job.channels[0].size, ByteSize(64));
    let open = ChannelDeclaration { target: None, ..whole.clone() };
    refused(&manifest_of(open), &[], &["no target is given", "channel \"AB\""]);
    let twice = JobDeclaration { channels: vec![whole.clone(), whole], ..manifest() };
    refused(&twice, &[], &["channel \"AB\"", "both the manifest and the manifest"]);
}

#[test]
fn a_channel_of_the_manifest_that_nobody_declares_is_missed_at_both_ends() {
    let whole = ChannelDeclaration { source: Some("A".to_owned()), target: Some("B".to_owned()), ..sized() };
    let manifest = JobDeclaration { channels: vec![whole], ..manifest() };
    let code = vec![MemberDeclarations::default(); 3];
    let errors = assemble(&manifest, &code, Costs::default()).expect_err("nobody declares it");
    assert_eq!(errors.len(), 2, "{}", text(&errors));
    assert!(text(&errors).contains("code of member \"A\"") && text(&errors).contains("code of member \"B\""));
}

// spec: CHANNEL-MATCH-06
#[test]
fn every_mismatch_is_told_not_only_the_first() {
    let source = ChannelDeclaration { buffers: Some(2), wait: Some(WaitMode::Poll), ..sized() };
    let target = ChannelDeclaration { buffers: Some(3), wait: Some(WaitMode::Wake), ..sized() };
    let code = two_ends(end(End::Source, source), end(End::Target, target));
    let errors = assemble(&manifest(), &code, Costs::default()).expect_err("two differ");
    assert_eq!(errors.len(), 2, "{}", text(&errors));
}

#[test]
fn a_channel_by_another_spelling_is_named() {
    let temperature = |name: &str| ChannelDeclaration { name: name.to_owned(), ..sized() };
    let ends = ["temperature", "temperature"].map(temperature);
    let [source, target] = ends;
    let declared = JobDeclaration { channels: vec![temperature("temprature")], ..manifest() };
    let code = two_ends(end(End::Source, source), end(End::Target, target));
    let text = text(&assemble(&declared, &code, Costs::default()).expect_err("no end has that name"));
    assert!(
        text.contains("or did you mean \"temperature\", whose source end member \"A\" declares?"),
        "{text}"
    );
}
