//! Declarations of any kind: they meet in one valid model whose every part somebody declared, or every reason
//! names an object.

use crate::text;
use leveret_plan::{CoreChoice, Costs, MissingPolicy, Placement, Qos};
use leveret_protocol::assemble::{Mismatch, assemble};
use leveret_protocol::declaration::*;
use leveret_types::{ByteSize, Nanos};
use proptest::option;
use proptest::prelude::*;

/// Few names, so that they meet often.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["A", "B", "C", "AB", "pair", "world", "pair/AB", "", "é"])
        .prop_map(str::to_owned)
}

fn nanos() -> impl Strategy<Value = Nanos> {
    prop_oneof![Just(Nanos::from_micros(100)), Just(Nanos::ZERO), any::<i64>().prop_map(Nanos)]
}

fn qos() -> impl Strategy<Value = Qos> {
    let timed = (nanos(), nanos(), nanos()).prop_map(|(period, release, deadline)| Qos::TimeDriven {
        period,
        release,
        deadline,
        missing: MissingPolicy::HoldLast,
    });
    prop_oneof![timed, Just(Qos::BestEffort)]
}

fn channel() -> impl Strategy<Value = ChannelDeclaration> {
    let who = (name(), option::of(name()), option::of(name()), option::of(name()));
    let size = option::of(prop_oneof![Just(64), any::<u64>()].prop_map(ByteSize));
    let placement = option::of(prop_oneof![Just(Placement::Aliased), Just(Placement::Separate)]);
    let what = (size, option::of(0..4_u32), placement, option::of(qos()));
    (who, what).prop_map(|((name, group, source, target), (size, buffers, placement, qos))| {
        ChannelDeclaration {
            name,
            group,
            source,
            target,
            size,
            buffers,
            placement,
            qos,
            ..ChannelDeclaration::default()
        }
    })
}

fn task() -> impl Strategy<Value = TaskDeclaration> {
    let times = (option::of(nanos()), option::of(nanos()), option::of(nanos()), option::of(nanos()));
    let core = option::of(prop_oneof![Just(CoreChoice::Any), any::<u32>().prop_map(CoreChoice::Pinned)]);
    let ends = (prop::collection::vec(name(), 0..3), prop::collection::vec(name(), 0..3));
    (name(), times, core, ends, any::<bool>()).prop_map(
        |(name, (period, release, deadline, budget), core, (reads, writes), once)| TaskDeclaration {
            name,
            period,
            release,
            deadline,
            budget,
            core,
            once,
            reads,
            writes,
            ..TaskDeclaration::default()
        },
    )
}

fn end() -> impl Strategy<Value = ChannelEndDeclaration> {
    let memory = prop_oneof![Just(BufferMemory::System), Just(BufferMemory::Application)];
    let policy = prop_oneof![Just(IteratorPolicy::Fifo), Just(IteratorPolicy::FifoMapped)];
    (prop_oneof![Just(End::Source), Just(End::Target)], channel(), memory, policy, prop::option::of(1..4_u32))
        .prop_map(|(end, channel, memory, policy, allowed)| ChannelEndDeclaration {
            served: allowed == Some(1),
            outgoing: allowed,
            end,
            channel,
            memory,
            policy,
            allowed,
        })
}

fn events() -> impl Strategy<Value = EventDeclarations> {
    let group = || prop_oneof![Just("world".to_owned()), name()];
    let trigger = (name(), group(), any::<u8>()).prop_map(|(event, group, priority)| TriggerDeclaration {
        event,
        group,
        priority,
    });
    let receptor = (name(), group()).prop_map(|(event, group)| ReceptorDeclaration { event, group });
    (prop::collection::vec(trigger, 0..3), prop::collection::vec(receptor, 0..3))
        .prop_map(|(triggers, receptors)| EventDeclarations { triggers, receptors })
}

fn collective() -> impl Strategy<Value = CollectiveDeclaration> {
    let form = prop_oneof![
        Just(CollectiveForm::Scatter),
        Just(CollectiveForm::Gather),
        Just(CollectiveForm::Barrier),
        Just(CollectiveForm::AllToAll),
    ];
    let size = || option::of(prop_oneof![Just(64), any::<u64>()].prop_map(ByteSize));
    let group = prop_oneof![Just("world".to_owned()), name()];
    (name(), group, form, (size(), size()), qos(), any::<u32>()).prop_map(
        |(name, group, form, (sends, receives), qos, element)| CollectiveDeclaration {
            name,
            group,
            form,
            root: None,
            operation: None,
            dataspec: None,
            element,
            sends,
            receives,
            qos,
            slack: 1,
        },
    )
}

fn member() -> impl Strategy<Value = MemberDeclarations> {
    let group = (name(), prop::collection::vec(name(), 0..3))
        .prop_map(|(name, members)| GroupDeclaration { name, members });
    let groups = prop::collection::vec(group, 0..2);
    let collectives = prop::collection::vec(collective(), 0..3);
    let lists = (prop::collection::vec(task(), 0..3), prop::collection::vec(sporadic(), 0..2));
    (groups, lists, prop::collection::vec(end(), 0..3), events(), collectives).prop_map(
        |(groups, (tasks, sporadics), ends, events, collectives)| MemberDeclarations {
            label: String::new(),
            groups,
            tasks,
            sporadics,
            ends,
            events,
            collectives,
            kept: KeptDeclarations::default(),
            unfit: None,
        },
    )
}

fn sporadic() -> impl Strategy<Value = SporadicDeclaration> {
    let times = prop::option::of((1..1000_i64).prop_map(Nanos));
    (name(), prop::option::of(any::<u8>()), times).prop_map(|(name, priority, interval)| {
        SporadicDeclaration { name, priority, interval, budget: interval, ..SporadicDeclaration::default() }
    })
}

fn manifest() -> impl Strategy<Value = JobDeclaration> {
    let tasks = prop::collection::vec((name(), task()), 0..3);
    (tasks, prop::collection::vec(channel(), 0..3)).prop_map(|(tasks, channels)| JobDeclaration {
        tasks,
        channels,
        ..crate::manifest()
    })
}

/// A channel whose every property is given.
fn whole() -> impl Strategy<Value = ChannelDeclaration> {
    let size = (1..1000_u64).prop_map(ByteSize);
    // What moves once has ends that the library moves, which are not declared here.
    let repeats = |qos: &Qos| !matches!(qos, Qos::TimeDriven { period: Nanos::ZERO, .. });
    let qos = qos().prop_filter("a single shot", repeats);
    (size, 2..5_u32, qos).prop_map(|(size, buffers, qos)| ChannelDeclaration {
        name: "AB".to_owned(),
        group: None,
        source: Some("A".to_owned()),
        target: Some("B".to_owned()),
        size: Some(size),
        dataspec: Some("int".to_owned()),
        buffers: Some(buffers),
        placement: Some(Placement::Separate),
        qos: Some(qos),
        wait: Some(WaitMode::Poll),
        slack: Some(1),
        checksum: Some(true),
    })
}

/// Keeps of `whole` what `mask` says.
fn part(whole: &ChannelDeclaration, mask: u8) -> ChannelDeclaration {
    fn kept<T: Clone>(value: &Option<T>, keep: bool) -> Option<T> {
        value.clone().filter(|_| keep)
    }
    let bit = |index: u8| mask & (1 << index) != 0;
    ChannelDeclaration {
        name: whole.name.clone(),
        group: None,
        source: kept(&whole.source, bit(0)),
        target: kept(&whole.target, bit(1)),
        size: kept(&whole.size, bit(2)),
        dataspec: kept(&whole.dataspec, bit(2)),
        buffers: kept(&whole.buffers, bit(3)),
        placement: kept(&whole.placement, bit(4)),
        qos: kept(&whole.qos, bit(5)),
        wait: kept(&whole.wait, bit(6)),
        slack: kept(&whole.slack, bit(7)),
        checksum: kept(&whole.checksum, bit(7)),
    }
}

proptest! {
    #[test]
    fn any_declarations_meet_or_say_why(manifest in manifest(), code in prop::collection::vec(member(), 3)) {
        for code in [&code[..], &[]] {
            match assemble(&manifest, code, Costs::default()) {
                Ok(assembled) => {
                    let job = &assembled.job;
                    prop_assert_eq!(assembled.bindings.len(), job.channels.len());
                    for channel in &job.channels {
                        prop_assert!(channel.source.index() < 3 && channel.target.index() < 3);
                    }
                    for task in &job.tasks {
                        prop_assert!(task.reads.iter().all(|id| job.channels[id.index()].target == task.member));
                        prop_assert!(task.writes.iter().all(|id| job.channels[id.index()].source == task.member));
                    }
                }
                Err(errors) => {
                    prop_assert!(!errors.is_empty());
                    for error in &errors {
                        prop_assert!(error.to_string().contains('"'), "no object is named: {}", error);
                    }
                }
            }
        }
    }

    /// However a channel's properties are spread over manifest and ends, the model is the same.
    #[test]
    fn who_gives_a_property_does_not_matter(whole in whole(), masks in any::<[u8; 3]>()) {
        let everywhere = crate::two_ends(crate::end(End::Source, whole.clone()), crate::end(End::Target, whole.clone()));
        let expected = crate::meet(&crate::manifest(), &everywhere);
        let [of_manifest, source, target] = masks;
        // Whatever nobody keeps, the target gives.
        let target = target | !(of_manifest | source);
        let manifest = JobDeclaration { channels: vec![part(&whole, of_manifest)], ..crate::manifest() };
        let code = crate::two_ends(
            crate::end(End::Source, part(&whole, source)),
            crate::end(End::Target, part(&whole, target)),
        );
        prop_assert_eq!(crate::meet(&manifest, &code), expected);
    }

    /// Mismatches travel in control messages: both what they say and what they are survives.
    #[test]
    fn mismatches_survive_their_bytes(manifest in manifest(), code in prop::collection::vec(member(), 3)) {
        if let Err(errors) = assemble(&manifest, &code, Costs::default()) {
            let bytes = leveret_protocol::control::encode(&errors);
            let again: Vec<Mismatch> = serde_json::from_slice(&bytes).expect("what was encoded is understood");
            prop_assert_eq!(text(&again), text(&errors));
            prop_assert_eq!(again, errors);
        }
    }
}
