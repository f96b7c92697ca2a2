//! Why a system has no plan: told with the part, and, of a chain, with where its time goes.

use crate::common::systems::{add_chain, add_crossing, add_local, add_task, bare, cell};
use crate::common::{sporadic, us};
use leveret_plan::checker::check_system;
use leveret_plan::network::Effort;
use leveret_plan::system::{Chain, ChainLimit, Port, Step, System, SystemRefusal, plan_system};
use leveret_plan::{Channel, CoreChoice, Qos, Start};
use leveret_types::{ChannelId, MemberId, Nanos};

fn refused(system: &System) -> SystemRefusal {
    plan_system(system, Effort::default()).expect_err("no plan")
}

#[test]
fn a_limit_below_what_the_parts_need_is_impossible_and_told_by_parts() {
    let refusal = refused(&cell(false, Some(600)));
    assert!(refusal.is_proven());
    let SystemRefusal::Chain { limit, takes, most, parts, .. } = &refusal else {
        panic!("{}", refusal.reason())
    };
    assert_eq!((*limit, *most), (ChainLimit::Age, us(600)));
    let sum: Nanos = parts.iter().fold(Nanos::ZERO, |sum, part| sum + part.length);
    assert_eq!(sum, *takes);
    let reason = refusal.reason();
    assert!(reason.starts_with("chain \"chain0\" has a data age of at least"), "{reason}");
    assert!(reason.contains("; most of it is `step` 3"), "{reason}");
    for part in ["`take`", "`image`", "`step`", "`setpoint`", "`act`", "error of the clocks 1us"] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
}

#[test]
fn first_and_last_task_make_room_for_a_chain_within_declared_windows() {
    let free = plan_system(&cell(true, None), Effort::default()).expect("a plan").chains[0].age;
    let system = cell(true, Some(1650));
    assert!(free > us(1650), "the first task starts as soon as it can, where nobody asks for less: {free}");
    let plan =
        plan_system(&system, Effort::default()).unwrap_or_else(|refusal| panic!("{}", refusal.reason()));
    check_system(&plan, &system).expect("a right plan");
}

#[test]
fn a_limit_that_no_plan_within_declared_windows_meets_is_impossible() {
    // The parts alone would fit, but the windows let a message wait.
    let refusal = refused(&cell(true, Some(1600)));
    assert!(refusal.is_proven());
    let SystemRefusal::Chain { takes, parts, .. } = &refusal else { panic!("{}", refusal.reason()) };
    // Inserted by 398.5 us after 205 us of work; visible at 1700.5 us, before 105.2 us of work; and twice the clock error.
    assert_eq!(*takes, Nanos(1_700_500 + 105_200 - (398_500 - 205_000) + 1_000));
    assert_eq!(parts.iter().fold(Nanos::ZERO, |sum, part| sum + part.length), *takes);
    assert!(refusal.reason().contains("has a data age of at least 1.6132ms"), "{}", refusal.reason());
    assert!(refusal.reason().contains("until the window of `setpoint`"), "{}", refusal.reason());
}

#[test]
fn the_least_of_a_chain_is_reached_where_nothing_else_is_in_the_way() {
    let mut system = cell(false, None);
    let plan = plan_system(&system, Effort::default()).expect("a plan");
    let age = plan.chains[0].age;
    // Guards are no part of the chain, and starts are where they can be: 2 us are left that no plan saves.
    system.chains[0].age = Some(age - us(3));
    let refusal = refused(&system);
    let SystemRefusal::Chain { takes, .. } = &refusal else { panic!("{}", refusal.reason()) };
    assert!(*takes > age - us(3));
}

#[test]
fn a_host_is_named() {
    let mut system = cell(false, None);
    let pinned = add_task(&mut system, 1, "greedy", 2000, (0, 2000), 1500);
    if let Step::Task { task, .. } = pinned {
        system.hosts[1].job.tasks[task.index()].core = CoreChoice::Pinned(0);
    }
    let second = add_task(&mut system, 1, "greedier", 2000, (0, 2000), 1500);
    if let Step::Task { task, .. } = second {
        system.hosts[1].job.tasks[task.index()].core = CoreChoice::Pinned(0);
    }
    let refusal = refused(&system);
    let reason = refusal.reason();
    assert!(reason.starts_with("host \"h1\": core 0 is asked for"), "{reason}");
    assert!(reason.contains("greedier"), "{reason}");
}

#[test]
fn the_network_is_named_and_what_no_window_helps_is_proven() {
    let mut system = cell(true, None);
    system.crossings[0].latency = Some(us(50));
    let refusal = refused(&system);
    assert!(refusal.is_proven());
    let reason = refusal.reason();
    assert!(reason.starts_with("the network: channel \"image\" takes"), "{reason}");
    assert!(
        reason.ends_with("its latency is 50us, of which the error of the clocks leaves 49us"),
        "{reason}"
    );
}

#[test]
fn windows_that_were_chosen_are_told_with_what_failed() {
    let mut system = cell(false, None);
    // Two readers of which one must have ended before the message can be there.
    system.hosts[1].job.tasks[0].deadline = us(320);
    system.hosts[1].job.tasks[0].release = Nanos::ZERO;
    system.hosts[0].job.tasks[0].deadline = us(215);
    let answer = plan_system(&system, Effort::default());
    // What is read is then older by a period: that is a plan.
    let plan = answer.expect("a plan");
    check_system(&plan, &system).expect("a right plan");
    assert!(plan.chains[0].age > us(2000));
}

#[test]
fn what_does_not_fit_together_is_named() {
    #[track_caller]
    fn wrong(change: impl FnOnce(&mut System), problem: &str) {
        let mut system = cell(true, None);
        change(&mut system);
        let refusal = refused(&system);
        assert!(matches!(refusal, SystemRefusal::Invalid(_)), "{}", refusal.reason());
        assert!(refusal.reason().contains(problem), "expected \"{problem}\", found \"{}\"", refusal.reason());
    }
    wrong(|system| system.traffic.network.nodes[0].name = String::new(), "the network: ");
    wrong(|system| system.hosts[1].node = system.hosts[0].node, "or is there twice");
    wrong(|system| system.hosts[0].job.costs.clock_error = us(1), "a clock error of 1us");
    wrong(|system| system.crossings[1].name = "image".to_owned(), "declared more than once");
    wrong(|system| system.crossings[0].targets.clear(), "must lead to other hosts");
    wrong(|system| system.crossings[0].targets[0].host = 0, "must lead to other hosts");
    wrong(|system| system.crossings[0].targets[0].channel = ChannelId(9), "an end that does not exist");
    wrong(|system| system.crossings[0].size.0 += 1, "the size and period of its ends");
    wrong(|system| system.crossings[0].period = Nanos(1000), "the size and period of its ends");
    wrong(
        |system| system.crossings[0].window.as_mut().expect("declared").deadline = us(401),
        "has a window from 400us to 401us",
    );
    wrong(|system| system.chains[0].path.truncate(2), "a path of 2 elements");
    wrong(|system| system.chains[0].age = Some(Nanos::ZERO), "a limit of 0 or less");
    wrong(|system| system.chains[0].path.swap(0, 1), "is no task");
    wrong(|system| system.chains[0].path.swap(1, 3), "does not write");
    wrong(|system| system.chains[0].path.swap(0, 2), "does not write");
    wrong(|system| system.chains.push(system.chains[0].clone()), "declared more than once");
}

/// A task, an event-driven channel that starts work, and nothing else.
fn served(interval: Option<i64>) -> System {
    let mut system = bare(1, 1, 0);
    let take = add_task(&mut system, 0, "take", 2000, (0, 1000), 100);
    let own = add_task(&mut system, 0, "own", 1000, (0, 1000), 50);
    let first = add_local(&mut system, "first", take, own, (0, 700));
    let job = &mut system.hosts[0].job;
    job.channels.push(Channel {
        name: "notes".to_owned(),
        qos: Qos::EventDriven {
            start: None,
            completion: Some("noted".to_owned()),
            priority: 5,
            interval: interval.map(us),
            deadline: None,
        },
        ..job.channels[0].clone()
    });
    let notes = ChannelId(1);
    job.tasks[1].writes.push(notes);
    for start in [Start::Request(notes), Start::Message(notes)] {
        let mut server = sporadic("", CoreChoice::Pinned(0), 5, (1, 1), 15_000);
        server.name = format!("notes:{start:?}");
        (server.start, server.interval, server.deadline) = (start, interval.map(us), None);
        job.sporadics.push(server);
    }
    let mut keep = sporadic("keep", CoreChoice::Pinned(0), 4, (1, 1), 20_000);
    (keep.interval, keep.deadline) = (interval.map(us), None);
    keep.start = Start::Event { group: "world".to_owned(), name: "noted".to_owned() };
    keep.member = MemberId(0);
    job.sporadics.push(keep);
    let notes = Step::Channel(Port { host: 0, channel: notes });
    add_chain(&mut system, &[take, first, own, notes, Step::Work { host: 0, work: 2 }], None, None);
    system
}

#[test]
fn what_not_only_the_clock_moves_has_bounds() {
    let system = served(Some(1000));
    let plan =
        plan_system(&system, Effort::default()).unwrap_or_else(|refusal| panic!("{}", refusal.reason()));
    check_system(&plan, &system).expect("a right plan");
    let chain = plan.chains[0];
    assert!(!chain.exact && chain.reaction < Nanos::MAX && chain.age < Nanos::MAX);
    let host = &plan.hosts[0];
    let (take, own) = (host.tasks[0].response_bound, host.tasks[1].response_bound);
    let first = us(700) - host.tasks[0].instances[0].end();
    let rest = host.channels[1].latency_bound + host.sporadics[2].response_bound;
    assert_eq!(chain.reaction, us(2000) + take + first + us(1000) + own + rest);
    // What is read is read again, until the next message of the channel.
    assert_eq!(chain.age, take + first + us(2000) + own + rest);
}

#[test]
fn what_comes_faster_than_it_is_served_has_no_bound() {
    let mut system = served(Some(1500));
    let plan =
        plan_system(&system, Effort::default()).unwrap_or_else(|refusal| panic!("{}", refusal.reason()));
    check_system(&plan, &system).expect("a right plan");
    assert_eq!((plan.chains[0].reaction, plan.chains[0].age), (Nanos::MAX, Nanos::MAX));
    system.chains[0] = Chain { age: Some(us(50_000)), ..system.chains[0].clone() };
    let reason = refused(&system).reason();
    assert!(reason.contains("has no bound for its data age"), "{reason}");
}

#[test]
fn a_task_that_takes_messages_at_its_own_pace_is_no_part_of_a_chain() {
    let mut system = served(Some(1000));
    let notes = ChannelId(1);
    system.hosts[0].job.tasks[0].reads.push(notes);
    let path = [
        Step::Task { host: 0, task: leveret_types::TaskId(1) },
        Step::Channel(Port { host: 0, channel: notes }),
        Step::Task { host: 0, task: leveret_types::TaskId(0) },
    ];
    system.chains.clear();
    add_chain(&mut system, &path, None, None);
    let reason = refused(&system).reason();
    assert!(reason.contains("in its order and at its own pace"), "{reason}");
}

#[test]
fn crossings_to_two_members_and_back() {
    // A loop over two hosts: each waits for the other, and windows are chosen for both.
    let mut system = bare(1, 2, 100);
    let ping = add_task(&mut system, 0, "ping", 1000, (0, 1000), 50);
    let pong = add_task(&mut system, 1, "pong", 1000, (0, 1000), 50);
    let there = add_crossing(&mut system, "there", ping, &[pong], 64, None);
    let back = add_crossing(&mut system, "back", pong, &[ping], 64, None);
    add_chain(&mut system, &[ping, there, pong, back, ping], None, Some(1500));
    let plan =
        plan_system(&system, Effort::default()).unwrap_or_else(|refusal| panic!("{}", refusal.reason()));
    check_system(&plan, &system).expect("a right plan");
}
