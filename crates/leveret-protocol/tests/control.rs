//! Control messages and their bytes.
#![allow(missing_docs, reason = "a test has no public interface")]

use leveret_plan::{CoreChoice, Costs, Job, Member, MissingPolicy, Plan, PlannedCore, PlannedTask, Qos};
use leveret_protocol::assemble::{Assembled, Mismatch};
use leveret_protocol::control::*;
use leveret_protocol::declaration::*;
use leveret_types::{Generation, MemberId, Nanos, TaskId};
use proptest::prelude::*;
use std::num::NonZeroU8;

fn declarations() -> impl Strategy<Value = MemberDeclarations> {
    let task = (any::<String>(), any::<Option<i64>>(), any::<u32>()).prop_map(|(name, period, core)| {
        let (period, core) = (period.map(Nanos), Some(CoreChoice::Pinned(core)));
        TaskDeclaration { name, period, core, reads: vec![String::new()], ..TaskDeclaration::default() }
    });
    let end = (any::<String>(), any::<i64>(), any::<bool>()).prop_map(|(name, time, source)| {
        let (period, release, deadline) = (Nanos(time), Nanos(i64::MIN), Nanos::MAX);
        let qos = Some(Qos::TimeDriven { period, release, deadline, missing: MissingPolicy::Stop });
        ChannelEndDeclaration {
            end: if source { End::Source } else { End::Target },
            channel: ChannelDeclaration {
                name,
                qos,
                wait: Some(WaitMode::Wake),
                ..ChannelDeclaration::default()
            },
            memory: BufferMemory::Application,
            policy: IteratorPolicy::FifoOrdered,
            allowed: Some(3),
            outgoing: Some(7),
            served: true,
        }
    });
    let group = (any::<String>(), any::<Vec<String>>())
        .prop_map(|(name, members)| GroupDeclaration { name, members });
    let unfit = prop::option::of(unfit());
    let lists = (
        prop::collection::vec(group, 0..3),
        prop::collection::vec(task, 0..3),
        prop::collection::vec(end, 0..3),
    );
    (any::<String>(), lists, unfit).prop_map(|(label, (groups, tasks, ends), unfit)| MemberDeclarations {
        label,
        groups,
        tasks,
        sporadics: vec![SporadicDeclaration {
            name: "s".to_owned(),
            event: Some(("g".to_owned(), "e".to_owned())),
            priority: Some(9),
            interval: Some(Nanos(7)),
            ..SporadicDeclaration::default()
        }],
        ends,
        events: EventDeclarations {
            triggers: vec![TriggerDeclaration { event: "e".to_owned(), group: "g".to_owned(), priority: 7 }],
            receptors: vec![ReceptorDeclaration { event: "e".to_owned(), group: "g".to_owned() }],
        },
        collectives: Vec::new(),
        kept: KeptDeclarations {
            channels: vec![("g".to_owned(), "c".to_owned())],
            tasks: vec!["t".to_owned()],
            triggers: vec![0],
            receptors: vec![1],
            works: vec!["w".to_owned()],
        },
        unfit,
    })
}

fn unfit() -> impl Strategy<Value = Unfit> {
    (any::<i32>(), any::<String>()).prop_map(|(code, reason)| Unfit { code, reason })
}

fn wish() -> impl Strategy<Value = Wish> {
    let place = prop_oneof![
        Just(Place::Nowhere),
        any::<(u16, u64)>().prop_map(|(task, instance)| Place::Task(task, instance)),
        any::<(u16, u64)>().prop_map(|(channel, instance)| Place::Channel(channel, instance)),
    ];
    (any::<i64>(), any::<String>(), place).prop_map(|(at, why, place)| Wish { at: Nanos(at), why, place })
}

fn from_member() -> impl Strategy<Value = FromMember> {
    let generation = || any::<u32>().prop_map(Generation);
    prop_oneof![
        (any::<[u32; 2]>(), any::<String>(), any::<String>()).prop_map(
            |([version, layout], token, member)| FromMember::Hello { version, layout, token, member }
        ),
        (any::<u32>(), declarations())
            .prop_map(|(attempt, declarations)| FromMember::Declare { attempt, declarations }),
        (generation(), any::<u64>()).prop_map(|(generation, size)| FromMember::Segment { generation, size }),
        (generation(), any::<Vec<(u16, u32)>>(), any::<String>(), any::<Vec<String>>()).prop_map(
            |(generation, threads, scheduling, warnings)| FromMember::Ready {
                generation,
                threads,
                scheduling,
                warnings
            }
        ),
        (generation(), unfit()).prop_map(|(generation, unfit)| FromMember::Withdraw { generation, unfit }),
        generation().prop_map(|generation| FromMember::Uncommit { generation }),
        (generation(), prop::option::of(wish()))
            .prop_map(|(generation, stop)| FromMember::Finished { generation, stop }),
        wish().prop_map(FromMember::GiveUp),
        (any::<String>(), any::<u64>()).prop_map(|(what, times)| FromMember::RunsFailed { what, times }),
        any::<String>().prop_map(|what| FromMember::RunOverran { what }),
        (any::<NonZeroU8>(), any::<String>()).prop_map(|(code, message)| FromMember::Abort { code, message }),
        Just(FromMember::Leave),
    ]
}

fn admitted() -> (Box<Assembled>, Box<Plan>) {
    let members = vec![Member { name: "A".to_owned() }];
    let costs = Costs::default();
    let job = Job {
        name: "job".to_owned(),
        cores: vec![3],
        members,
        tasks: vec![],
        channels: vec![],
        sporadics: vec![],
        costs,
    };
    let plan = Plan {
        version: u32::MAX,
        job: "job".to_owned(),
        job_digest: u64::MAX,
        hyperperiod: Nanos::MAX,
        costs,
        tasks: vec![PlannedTask {
            task: TaskId(0),
            core: 3,
            order: 1,
            instances: Vec::new(),
            response_bound: Nanos(i64::MIN),
        }],
        channels: Vec::new(),
        sporadics: vec![],
        cores: vec![PlannedCore {
            core: 3,
            used: Nanos(1),
            sporadic: Nanos::ZERO,
            left: Nanos(2),
            longest_gap: Nanos(3),
        }],
    };
    (Box::new(Assembled { job, bindings: Vec::new(), events: Vec::new(), shots: Vec::new() }), Box::new(plan))
}

fn end_reason() -> impl Strategy<Value = EndReason> {
    prop_oneof![
        Just(EndReason::Completed),
        Just(EndReason::Interrupted),
        any::<String>().prop_map(EndReason::Stopped),
        any::<u16>().prop_map(|rank| EndReason::PeerRestarted(MemberId(rank))),
    ]
}

fn cause() -> impl Strategy<Value = RefusalCause> {
    prop_oneof![
        Just(RefusalCause::Unfit),
        Just(RefusalCause::PeerLost),
        Just(RefusalCause::TimedOut),
        Just(RefusalCause::Over),
        any::<i32>().prop_map(RefusalCause::Declined),
    ]
}

fn to_member() -> impl Strategy<Value = ToMember> {
    let generation = || any::<u32>().prop_map(Generation);
    let nanos = || any::<i64>().prop_map(Nanos);
    let horizon = prop_oneof![
        any::<u64>().prop_map(Horizon::Rounds),
        nanos().prop_map(Horizon::Duration),
        Just(Horizon::Unbounded),
    ];
    prop_oneof![
        (any::<String>(), any::<u16>(), any::<Vec<String>>(), any::<bool>(), any::<u32>()).prop_map(
            |(job, rank, members, restarted, attempt)| {
                let (rank, scheduling) = (MemberId(rank), Scheduling::Deadline);
                ToMember::Welcome { job, rank, members, scheduling, restarted, attempt }
            }
        ),
        (any::<String>(), cause(), any::<Vec<String>>(), any::<bool>()).prop_map(
            |(reason, cause, texts, may_retry)| {
                let mismatches = texts.into_iter().map(Mismatch::Impossible).collect();
                ToMember::Refused { reason, cause, mismatches, may_retry }
            }
        ),
        (generation(), horizon).prop_map(|(generation, horizon)| {
            let (assembled, plan) = admitted();
            ToMember::Planned { generation, assembled, plan, horizon }
        }),
        (generation(), any::<Vec<u16>>()).prop_map(|(generation, ranks)| {
            ToMember::Peers { generation, members: ranks.into_iter().map(MemberId).collect() }
        }),
        (generation(), nanos()).prop_map(|(generation, epoch)| ToMember::Go { generation, epoch }),
        (generation(), nanos(), end_reason()).prop_map(|(generation, instant, reason)| ToMember::StopAt {
            generation,
            instant,
            reason
        }),
        (any::<u16>(), any::<String>())
            .prop_map(|(rank, how)| ToMember::PeerDied { member: MemberId(rank), how }),
        (generation(), end_reason())
            .prop_map(|(generation, reason)| ToMember::Uncommitted { generation, reason }),
    ]
}

/// Damage to a valid message: bytes replaced, cut out, or doubled.
fn damage(mut bytes: Vec<u8>, hits: &[(u16, u8, u8)]) -> Vec<u8> {
    for (place, kind, value) in hits {
        if bytes.is_empty() {
            break;
        }
        let place = usize::from(*place) % bytes.len();
        match kind % 4 {
            0 => bytes[place] = *value,
            1 => bytes.truncate(place),
            2 => bytes.extend_from_within(place..),
            _ => bytes.insert(place, *value),
        }
    }
    bytes
}

proptest! {
    #[test]
    fn a_members_message_survives_its_bytes(message in from_member()) {
        prop_assert_eq!(decode_from_member(&encode(&message)).expect("our own bytes"), message);
    }

    #[test]
    fn an_agents_message_survives_its_bytes(message in to_member()) {
        prop_assert_eq!(decode_to_member(&encode(&message)).expect("our own bytes"), message);
    }

    #[test]
    fn any_bytes_are_a_message_or_an_error_with_a_remedy(bytes in any::<Vec<u8>>()) {
        if let Err(error) = decode_from_member(&bytes) {
            prop_assert!(error.to_string().contains("not understood"));
        }
        drop(decode_to_member(&bytes));
    }

    #[test]
    fn damaged_messages_are_messages_or_errors(
        from in from_member(),
        to in to_member(),
        hits in prop::collection::vec(any::<(u16, u8, u8)>(), 1..6),
    ) {
        if let Ok(message) = decode_from_member(&damage(encode(&from), &hits)) {
            prop_assert_eq!(decode_from_member(&encode(&message)).expect("our own bytes"), message);
        }
        if let Ok(message) = decode_to_member(&damage(encode(&to), &hits)) {
            prop_assert_eq!(decode_to_member(&encode(&message)).expect("our own bytes"), message);
        }
    }
}

#[test]
fn the_two_directions_are_not_confused() {
    let from = encode(&FromMember::Finished { generation: Generation(1), stop: None });
    let to = encode(&ToMember::Go { generation: Generation(1), epoch: Nanos(5) });
    assert!(decode_to_member(&from).is_err());
    assert!(decode_from_member(&to).is_err());
}

#[test]
fn deep_nesting_is_refused_and_does_not_exhaust_the_stack() {
    for opening in ["[", "{\"Declare\":"] {
        let bytes = opening.repeat(200_000);
        assert!(decode_from_member(bytes.as_bytes()).is_err());
        assert!(decode_to_member(bytes.as_bytes()).is_err());
    }
}

#[test]
fn a_horizon_spans_whole_rounds_and_saturates() {
    let round = Nanos::from_millis(10);
    assert_eq!(Horizon::Rounds(3).span(round), Nanos::from_millis(30));
    assert_eq!(Horizon::Rounds(u64::MAX).span(round), Nanos::MAX);
    assert_eq!(Horizon::Duration(Nanos(7)).span(round), Nanos(7));
    assert_eq!(Horizon::Unbounded.span(round), Nanos::MAX);
}
