//! What there can be only so many of: told as the programs declare it, with how many there can be.

use super::*;
use leveret_plan::{PRIORITY_LEVELS_MAX, Qos};
use leveret_types::{CHANNELS_MAX, TASKS_MAX, TRIGGERS_MAX};

fn three() -> Vec<MemberDeclarations> {
    vec![MemberDeclarations::default(); 3]
}

/// Every reason is a limit, and the texts are these.
#[track_caller]
fn limited(code: &[MemberDeclarations], texts: &[&str]) {
    let errors = assemble(&manifest(), code, Costs::default()).expect_err("there are too many");
    let is_limit = |error: &Mismatch| matches!(error, Mismatch::TooMany { .. });
    assert!(errors.iter().all(is_limit), "{}", text(&errors));
    let expected: Vec<String> =
        texts.iter().map(|text| format!("job \"job\": {text}; declare fewer")).collect();
    assert_eq!(text(&errors), expected.join("\n"));
}

/// Channels from "A" to "B", as the library declares those that it moves by a priority, or plain ones.
fn channels(code: &mut [MemberDeclarations], count: usize, priority: Option<u8>) {
    for index in 0..count {
        let name = format!("c{index}");
        let sides = [(0, End::Source, "sent", "taken"), (1, End::Target, "taken", "sent")];
        for (rank, which, told, heard) in sides {
            let qos =
                priority.map(|priority| Qos::PriorityDriven { priority, interval: None, deadline: None });
            let channel = ChannelDeclaration { name: name.clone(), qos, ..sized() };
            code[rank].ends.push(ChannelEndDeclaration { served: priority.is_some(), ..end(which, channel) });
            if priority.is_some() {
                let event = |what: &str| format!("{INTERNAL_EVENT}{what} {name}");
                let group = GROUP_WORLD.to_owned();
                let trigger = TriggerDeclaration { event: event(told), group: group.clone(), priority: 0 };
                code[rank].events.triggers.push(trigger);
                code[rank].events.receptors.push(ReceptorDeclaration { event: event(heard), group });
            }
        }
    }
}

fn triggers(code: &mut [MemberDeclarations], count: usize) {
    code[2].events.triggers.extend((0..count).map(|index| TriggerDeclaration {
        event: format!("e{index}"),
        group: GROUP_WORLD.to_owned(),
        priority: 0,
    }));
}

/// Work at these priorities.
fn handlers(code: &mut [MemberDeclarations], count: usize, priority: impl Fn(usize) -> u8) {
    code[0].sporadics.extend((0..count).map(|index| SporadicDeclaration {
        name: format!("h{index}"),
        event: Some((GROUP_WORLD.to_owned(), format!("e{index}"))),
        priority: Some(priority(index)),
        budget: Some(us(1)),
        ..SporadicDeclaration::default()
    }));
}

// spec: SETUP-LIMIT-01
#[test]
fn channels_are_counted_by_what_they_are_and_not_by_their_ends() {
    let mut code = three();
    channels(&mut code, CHANNELS_MAX, None);
    assert_eq!(meet(&manifest(), &code).job.channels.len(), CHANNELS_MAX);
    let mut code = three();
    channels(&mut code, CHANNELS_MAX + 1, None);
    limited(&code, &["4097 channels, but at most 4096 are possible"]);
}

// spec: SETUP-LIMIT-01
#[test]
fn what_channels_take_of_the_librarys_own_is_told_as_channels() {
    let mut code = three();
    channels(&mut code, CHANNELS_MAX / 2, Some(7));
    assert_eq!(meet(&manifest(), &code).job.sporadics.len(), TASKS_MAX);
    let mut code = three();
    channels(&mut code, 2500, Some(7));
    limited(
        &code,
        &[
            "2500 priority- or event-driven channels, but at most 2048 are possible: they take 5000 triggers, and there can be 4096",
        ],
    );
    let mut code = three();
    channels(&mut code, 2000, Some(7));
    triggers(&mut code, 100);
    limited(
        &code,
        &[
            "2000 priority- or event-driven channels, but at most 1998 are possible beside 100 triggers: they take 4100 triggers, and there can be 4096",
        ],
    );
    let mut code = three();
    channels(&mut code, 10, Some(7));
    triggers(&mut code, TRIGGERS_MAX);
    limited(
        &code,
        &[
            "4096 triggers, but at most 4076 are possible beside 10 priority- or event-driven channels: they take 4116 triggers, and there can be 4096",
        ],
    );
    let mut code = three();
    triggers(&mut code, TRIGGERS_MAX + 1);
    limited(&code, &["4097 triggers, but at most 4096 are possible"]);
}

// spec: SETUP-LIMIT-01
#[test]
fn what_carries_channels_of_groups_is_told_as_these() {
    let mut code = three();
    let long = "x".repeat(leveret_types::NAME_BYTES_MAX);
    for index in 0..500 {
        // Some with names that have no room for the ranks.
        let digits = index.to_string();
        let name = format!("{}{digits}", &long[..if index % 2 == 0 { 10 } else { 64 - digits.len() }]);
        for (rank, member) in code.iter_mut().enumerate() {
            for other in 0..3 {
                let edge = |from, to| ChannelDeclaration {
                    name: CollectiveDeclaration::edge(&name, from, to),
                    group: Some(GROUP_WORLD.to_owned()),
                    ..sized()
                };
                member.ends.push(end(End::Source, edge(rank, other)));
                member.ends.push(end(End::Target, edge(other, rank)));
            }
            member.collectives.push(CollectiveDeclaration {
                name: name.clone(),
                group: GROUP_WORLD.to_owned(),
                form: CollectiveForm::AllToAll,
                root: None,
                operation: None,
                dataspec: None,
                element: 1,
                sends: Some(ByteSize(64)),
                receives: Some(ByteSize(64)),
                qos: Qos::BestEffort,
                slack: 1,
            });
        }
    }
    limited(
        &code,
        &[
            "500 channels of groups, but at most 455 are possible: they take 4500 channels between two members, and there can be 4096",
        ],
    );
}

// spec: SETUP-LIMIT-01
#[test]
fn tasks_of_the_programs_are_told_as_they_are() {
    let mut code = three();
    let task = |index: usize| TaskDeclaration { name: format!("w{index}"), ..TaskDeclaration::default() };
    code[0].tasks.extend((0..=TASKS_MAX).map(task));
    limited(&code, &["4097 tasks, but at most 4096 are possible"]);
}

#[test]
fn what_moves_channels_by_time_is_told_as_channels() {
    let mut code = three();
    let name = |index: usize| format!("t{index}");
    let mover = |index: usize| TaskDeclaration {
        name: format!("mover of {}", name(index)),
        mover: true,
        writes: vec![name(index)],
        ..TaskDeclaration::default()
    };
    code[0].tasks.extend((0..TASKS_MAX).map(mover));
    code[1].tasks.push(TaskDeclaration { name: "own".to_owned(), ..TaskDeclaration::default() });
    limited(
        &code,
        &["4096 time-driven channels that no task serves, but at most 4095 are possible beside 1 tasks"],
    );
}

// spec: SETUP-LIMIT-02
#[test]
fn so_many_priorities_and_no_more() {
    let mut code = three();
    handlers(&mut code, PRIORITY_LEVELS_MAX, |index| 1 + index as u8);
    triggers(&mut code, PRIORITY_LEVELS_MAX);
    assert_eq!(meet(&manifest(), &code).job.sporadics.len(), PRIORITY_LEVELS_MAX);
    let mut code = three();
    handlers(&mut code, 90, |index| 1 + index as u8);
    triggers(&mut code, 90);
    limited(&code, &["90 different priorities, but at most 40 are possible"]);
}

#[test]
fn work_of_all_kinds_is_counted_together() {
    let mut code = three();
    channels(&mut code, 1000, Some(7));
    handlers(&mut code, 3000, |_| 3);
    limited(
        &code,
        &[
            "3000 handlers and tasks at a priority, but at most 2096 are possible beside 1000 priority- or event-driven channels: they \
           take 5000 tasks, those that move channels included, and there can be 4096",
        ],
    );
}
