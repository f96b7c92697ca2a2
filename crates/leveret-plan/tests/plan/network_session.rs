//! A plan that is kept: after any changes it is a plan of what is declared, and what need not move stays where it is.

use leveret_plan::checker::check_network;
use leveret_plan::network::{Effort, Session, SessionError, Stream, Traffic, diff_networks, plan_network};
use leveret_topology::{Shape, shape};
use leveret_types::{ByteSize, Nanos, NodeId};
use proptest::prelude::*;

const SWITCHES: u32 = 4;
const HOSTS: u32 = 6;

type Wish = (u32, u32, u64, usize, Option<i64>, Option<i64>, u8);

fn wish() -> impl Strategy<Value = Wish> {
    (
        0..HOSTS,
        1..HOSTS,
        100u64..4000,
        0usize..3,
        prop::option::weighted(0.3, 60i64..200),
        prop::option::weighted(0.2, 0i64..40),
        prop::sample::select(vec![1u8, 1, 2]),
    )
}

fn stream(name: &str, wish: Wish) -> Stream {
    let (source, distance, size, period, latency, jitter, copies) = wish;
    let (from, to) = (NodeId(SWITCHES + source), NodeId(SWITCHES + (source + distance) % HOSTS));
    let period = Nanos::from_micros([200, 400, 800][period]);
    let mut one = Stream::new(name, from, to, ByteSize(size), period);
    (one.latency, one.jitter) = (latency.map(Nanos::from_micros), jitter.map(Nanos::from_micros));
    one.copies = copies;
    one
}

fn traffic(wishes: &[Wish]) -> Traffic {
    let mut streams: Vec<_> =
        wishes.iter().enumerate().map(|(index, wish)| stream(&format!("s{index}"), *wish)).collect();
    // So that every period divides the hyperperiod.
    streams.push(stream("slow", (0, 1, 100, 2, None, None, 1)));
    Traffic {
        network: shape(Shape::Ring, SWITCHES, HOSTS),
        streams,
        flows: Vec::new(),
        clock_error: Nanos::ZERO,
        whole_cycles: false,
    }
}

#[derive(Clone, Debug)]
enum Act {
    Add(Wish),
    Remove(usize),
    Alter(usize, Wish),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        2 => wish().prop_map(Act::Add),
        1 => (0usize..40).prop_map(Act::Remove),
        1 => (0usize..40, wish()).prop_map(|(which, wish)| Act::Alter(which, wish)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn whatever_changes_the_plan_is_one(wishes in prop::collection::vec(wish(), 1..30), acts in prop::collection::vec(act(), 1..25)) {
        let first = traffic(&wishes);
        let Ok((plan, _)) = plan_network(&first, Effort::default()) else { return Ok(()) };
        let mut session = match Session::new(first, &plan) {
            Ok(session) => session,
            // Of the complete search, which keeps no more apart than it must.
            Err(error) => { prop_assert_eq!(error, SessionError::Foreign); return Ok(()) }
        };
        let mut names: Vec<String> = (0..wishes.len()).map(|index| format!("s{index}")).collect();
        for (number, act) in acts.into_iter().enumerate() {
            let before = session.plan();
            let done = match act {
                Act::Add(wish) => {
                    let name = format!("new{number}");
                    let done = session.add(stream(&name, wish)).map(|moved| (Some(name.clone()), moved));
                    if done.is_ok() {
                        names.push(name);
                    }
                    done
                }
                Act::Remove(which) if !names.is_empty() => {
                    let name = names.swap_remove(which % names.len());
                    session.remove(&name).map(|()| (Some(name), leveret_plan::network::Moved::default()))
                }
                Act::Alter(which, wish) if !names.is_empty() => {
                    let name = names[which % names.len()].clone();
                    session.alter(&name, stream(&name, wish)).map(|moved| (Some(name), moved))
                }
                Act::Remove(_) | Act::Alter(..) => continue,
            };
            let after = session.plan();
            prop_assert_eq!(check_network(&after.1, &after.0), Ok(()));
            let diff = diff_networks((&before.0, &before.1), (&after.0, &after.1));
            match done {
                Ok((name, moved)) => {
                    let others: Vec<_> = diff.changed.iter().map(|changed| changed.name.clone()).filter(|other| Some(other) != name.as_ref()).collect();
                    // A queue may be another though the instants are the same.
                    for other in &moved.others {
                        prop_assert!(others.contains(other), "{other} was said to move");
                    }
                    for other in diff.changed.iter().filter(|other| other.moved > 0 && Some(&other.name) != name.as_ref()) {
                        prop_assert!(moved.others.contains(&other.name), "{} moved in silence", other.name);
                    }
                }
                Err(_) => prop_assert!(diff.is_empty(), "{}", diff.render()),
            }
        }
        prop_assert_eq!(session.len(), names.len() + 1);
    }
}

#[test]
fn what_is_wrong_changes_nothing() {
    let first = traffic(&[(0, 2, 500, 0, None, None, 1), (1, 2, 500, 1, None, None, 2)]);
    let (plan, _) = plan_network(&first, Effort::default()).expect("a plan");
    let mut session = Session::new(first.clone(), &plan).expect("its own plan");
    assert_eq!(session.plan(), (first.clone(), plan.clone()));
    let mut odd = stream("odd", (0, 1, 100, 0, None, None, 1));
    odd.period = Nanos::from_micros(300);
    assert!(matches!(session.add(odd), Err(SessionError::Period { .. })));
    assert!(matches!(
        session.add(stream("s0", (0, 1, 100, 0, None, None, 1))),
        Err(SessionError::Traffic(_))
    ));
    assert!(matches!(session.remove("nobody"), Err(SessionError::Unknown(_))));
    // 300 us on each link of a period of 200.
    let large = stream("large", (0, 1, 37_000, 0, None, None, 1));
    assert!(matches!(session.add(large.clone()), Err(SessionError::NoPlace(..))));
    assert!(matches!(session.alter("s1", large), Err(SessionError::NoPlace(..))));
    assert_eq!(session.plan(), (first.clone(), plan.clone()));
    let mut other = plan;
    other.links[0].clear();
    assert_eq!(Session::new(first, &other).err(), Some(SessionError::Foreign));
}

#[test]
fn a_session_has_no_more_messages_than_a_plan() {
    let mut first = traffic(&[]);
    first.streams[0].period = Nanos::from_secs(3600);
    first.streams[0].deadline = first.streams[0].period;
    let (plan, _) = plan_network(&first, Effort::default()).expect("a plan");
    let mut session = Session::new(first, &plan).expect("its own plan");
    let before = session.plan();
    let mut quick = stream("quick", (0, 1, 1, 0, None, None, 1));
    (quick.period, quick.deadline) = (Nanos::from_micros(100), Nanos::from_micros(100));
    let error = session.add(quick.clone()).expect_err("36,000,000 messages");
    assert!(error.to_string().contains("36000001"), "{error}");
    assert!(session.alter("slow", quick.clone()).is_err());
    (quick.period, quick.deadline) = (Nanos::from_millis(100), Nanos::from_millis(100));
    assert!(session.alter("slow", quick).is_ok());
    assert_ne!(session.plan(), before);
}
