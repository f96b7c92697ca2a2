//! A second set beside the one that runs: agreed on by all or by none, and nobody left behind.

use crate::world::{OWN_ERROR, no_memory, unfit};
use leveret_protocol::control::{EndReason, FromMember, RefusalCause};
use leveret_protocol::coordinator::{Action, Coordinator, DeathPolicy, Stage};
use leveret_protocol::declaration::MemberDeclarations;
use leveret_protocol::mode::ModeRequest;
use leveret_types::{Generation, MemberId, Nanos};

const A: MemberId = MemberId(0);
const B: MemberId = MemberId(1);
const C: MemberId = MemberId(2);

fn segment(generation: Generation) -> FromMember {
    FromMember::Segment { generation, size: 4096 }
}

fn ready(generation: Generation) -> FromMember {
    let (threads, scheduling, warnings) = (Vec::new(), String::new(), Vec::new());
    FromMember::Ready { generation, threads, scheduling, warnings }
}

fn finished(generation: Generation) -> FromMember {
    FromMember::Finished { generation, stop: None }
}

fn declare(beside: Generation, attempt: u32) -> FromMember {
    let declarations = MemberDeclarations::default();
    FromMember::Mode(ModeRequest::Declare {
        beside,
        attempt,
        name: "quick".to_owned(),
        declarations: Box::new(declarations),
    })
}

fn switch(generation: Generation, attempt: u32, earliest: Option<Nanos>) -> FromMember {
    FromMember::Mode(ModeRequest::Switch { generation, attempt, earliest })
}

fn switched(generation: Generation) -> FromMember {
    FromMember::Mode(ModeRequest::Switched { generation })
}

fn running(policy: DeathPolicy) -> Coordinator {
    let mut coordinator = Coordinator::new(3, policy);
    for member in [A, B, C] {
        let declarations = MemberDeclarations::default();
        coordinator.message(member, FromMember::Declare { attempt: 0, declarations });
    }
    assert_eq!(coordinator.planned(Ok(())), []);
    let generation = coordinator.generation();
    for message in [segment(generation), ready(generation)] {
        for member in [A, B, C] {
            coordinator.message(member, message.clone());
        }
    }
    assert_eq!(coordinator.stage(), Stage::Running);
    coordinator
}

/// A mode is committed beside what runs.
fn standing(policy: DeathPolicy) -> (Coordinator, Generation) {
    let mut coordinator = running(policy);
    let beside = coordinator.generation();
    for member in [A, B] {
        assert_eq!(coordinator.message(member, declare(beside, 0)), []);
    }
    let asked = coordinator.message(C, declare(beside, 0));
    assert!(matches!(&asked[..], [Action::PlanMode { names, .. }] if names.len() == 3), "{asked:?}");
    assert_eq!(coordinator.mode_planned(Ok(())), []);
    let generation = coordinator.mode_generation().expect("a mode is being made");
    assert!(generation > beside);
    for member in [A, B] {
        assert_eq!(coordinator.message(member, segment(generation)), []);
    }
    assert_eq!(coordinator.message(C, segment(generation)), [Action::DistributeModePeers]);
    for member in [A, B] {
        assert_eq!(coordinator.message(member, ready(generation)), []);
    }
    assert_eq!(coordinator.message(C, ready(generation)), [Action::ModeStands(generation)]);
    assert_eq!((coordinator.stage(), coordinator.generation()), (Stage::Running, beside));
    (coordinator, generation)
}

/// The instant is set.
fn agreed(policy: DeathPolicy) -> (Coordinator, Generation) {
    let (mut coordinator, generation) = standing(policy);
    assert_eq!(coordinator.message(A, switch(generation, 0, Some(Nanos(5)))), []);
    assert_eq!(coordinator.message(B, switch(generation, 0, Some(Nanos(7)))), []);
    let earliest = Some(Nanos(7));
    let expected = [Action::Switch { generation, earliest }];
    assert_eq!(coordinator.message(C, switch(generation, 0, None)), expected, "the latest wish of all");
    (coordinator, generation)
}

fn refusal_of_mode(actions: &[Action]) -> Option<RefusalCause> {
    actions.iter().find_map(|action| match action {
        Action::RefuseMode { cause, .. } => Some(*cause),
        _ => None,
    })
}

fn refusal_of_switch(actions: &[Action]) -> Option<RefusalCause> {
    actions.iter().find_map(|action| match action {
        Action::RefuseSwitch { cause, .. } => Some(*cause),
        _ => None,
    })
}

#[test]
fn the_walk_of_a_mode() {
    let (mut coordinator, generation) = agreed(DeathPolicy::Stop);
    assert_eq!(coordinator.message(B, switched(generation)), []);
    assert_eq!(coordinator.message(A, switched(generation)), []);
    assert_eq!(coordinator.message(C, switched(generation)), [Action::TakenOver(generation)]);
    assert_eq!((coordinator.stage(), coordinator.generation()), (Stage::Running, generation));
    // And back, with everything counted from anew.
    assert_eq!(coordinator.message(A, declare(generation, 0)), []);
    for member in [A, B] {
        coordinator.message(member, FromMember::Uncommit { generation });
    }
    let actions = coordinator.message(C, FromMember::Uncommit { generation });
    assert_eq!(actions, [Action::StopAll(EndReason::Completed)]);
    for member in [A, B] {
        assert_eq!(coordinator.message(member, finished(generation)), []);
    }
    let actions = coordinator.message(C, finished(generation));
    assert_eq!(actions, [Action::Uncommitted(EndReason::Completed)]);
}

#[test]
fn what_a_member_says_of_the_mode_waits_until_all_have_switched() {
    let (mut coordinator, generation) = agreed(DeathPolicy::Stop);
    for message in [switched(generation), declare(generation, 0), FromMember::Uncommit { generation }] {
        assert_eq!(coordinator.message(A, message), []);
    }
    assert_eq!(coordinator.message(B, switched(generation)), []);
    let actions = coordinator.message(C, switched(generation));
    assert_eq!(actions.first(), Some(&Action::TakenOver(generation)));
    // It wanted another mode, and then to uncommit: there can be no mode, which all are told.
    assert_eq!(refusal_of_mode(&actions), Some(RefusalCause::Over), "{actions:?}");
    assert_eq!(coordinator.awaited_to_uncommit(), [B, C]);
}

#[test]
fn a_mode_whose_plan_cannot_be_sent_is_refused_and_another_can_be_tried() {
    let mut coordinator = running(DeathPolicy::Stop);
    let beside = coordinator.generation();
    for attempt in 0..2 {
        for member in [A, B, C] {
            coordinator.message(member, declare(beside, attempt));
        }
        assert_eq!(coordinator.mode_planned(Ok(())), []);
        let actions = coordinator.mode_unsent("too large".to_owned());
        assert_eq!(refusal_of_mode(&actions), Some(RefusalCause::Unfit));
        assert_eq!((coordinator.mode_generation(), coordinator.stage()), (None, Stage::Running));
    }
}

#[test]
fn a_commit_whose_plan_cannot_be_sent_is_refused_and_another_can_be_tried() {
    let mut coordinator = Coordinator::new(2, DeathPolicy::Restart);
    for attempt in 0..2 {
        for member in [A, B] {
            let declarations = MemberDeclarations::default();
            coordinator.message(member, FromMember::Declare { attempt, declarations });
        }
        assert_eq!(coordinator.planned(Ok(())), []);
        let actions = coordinator.plan_unsent("too large".to_owned());
        let [Action::Refuse { cause: RefusalCause::Unfit, may_retry: true, .. }] = &actions[..] else {
            panic!("{actions:?}")
        };
        assert_eq!(coordinator.stage(), Stage::Gathering);
    }
    // Whoever ends for that is not started again.
    let actions = coordinator.died(A, "exit status 1");
    assert!(!actions.contains(&Action::Restart(A)), "{actions:?}");
}

/// Otherwise it could fill the agent's memory with what waits.
#[test]
fn who_says_of_the_mode_more_than_once_what_waits_is_expelled() {
    let said = |generation| {
        let uncommit = FromMember::Uncommit { generation };
        [declare(generation, 0), uncommit, finished(generation)]
    };
    for again in 0..3 {
        let (mut coordinator, generation) = agreed(DeathPolicy::Stop);
        assert_eq!(coordinator.message(A, switched(generation)), []);
        for message in said(generation) {
            assert_eq!(coordinator.message(A, message), []);
        }
        let actions = coordinator.message(A, said(generation)[again].clone());
        assert!(matches!(actions[..], [Action::Expel(A, _)]), "{again}: {actions:?}");
    }
    for never in [switched(Generation(77)), switch(Generation(77), 0, None)] {
        let (mut coordinator, generation) = agreed(DeathPolicy::Stop);
        assert_eq!(coordinator.message(A, switched(generation)), []);
        let actions = coordinator.message(A, never);
        assert!(matches!(actions[..], [Action::Expel(A, _)]), "{actions:?}");
    }
}

#[test]
fn a_refused_mode_changes_nothing_and_can_be_tried_again() {
    let mut coordinator = running(DeathPolicy::Stop);
    let beside = coordinator.generation();
    for member in [A, B, C] {
        coordinator.message(member, declare(beside, 0));
    }
    assert_eq!(
        refusal_of_mode(&coordinator.mode_planned(Err("too much".to_owned()))),
        Some(RefusalCause::Unfit)
    );
    assert_eq!((coordinator.stage(), coordinator.generation()), (Stage::Running, beside));
    for member in [A, B] {
        coordinator.message(member, declare(beside, 1));
    }
    assert!(matches!(&coordinator.message(C, declare(beside, 1))[..], [Action::PlanMode { .. }]));
    assert_eq!(coordinator.mode_planned(Ok(())), []);
    // One cannot carry it out; what the others had sent crosses the refusal.
    let generation = coordinator.mode_generation().expect("a mode is being made");
    let withdraw = FromMember::Withdraw { generation, unfit: no_memory() };
    let own_error = Some(RefusalCause::Declined(OWN_ERROR));
    assert_eq!(refusal_of_mode(&coordinator.message(A, withdraw)), own_error);
    assert_eq!(coordinator.message(B, segment(generation)), []);
    assert_eq!(coordinator.message(C, declare(beside, 1)), [], "for the attempt that was refused");
    // One has nothing that could be committed: once all have declared, all are told.
    let (attempt, name, declarations) = (2, "quick".to_owned(), Box::new(unfit()));
    let decline = FromMember::Mode(ModeRequest::Declare { beside, attempt, name, declarations });
    assert_eq!(coordinator.message(B, decline), []);
    assert_eq!(coordinator.message(A, declare(beside, 2)), []);
    assert_eq!(refusal_of_mode(&coordinator.message(C, declare(beside, 2))), own_error);
    assert_eq!(coordinator.mode_generation(), None);
    assert_eq!(coordinator.stage(), Stage::Running);
}

#[test]
fn a_mode_and_a_switch_are_not_waited_for_without_end() {
    let mut coordinator = running(DeathPolicy::Stop);
    let beside = coordinator.generation();
    coordinator.message(B, declare(beside, 0));
    assert_eq!(coordinator.awaited_for_mode(), [A, C]);
    assert_eq!(refusal_of_mode(&coordinator.mode_overdue("A and C")), Some(RefusalCause::TimedOut));
    assert_eq!(coordinator.awaited_for_mode(), []);

    let (mut coordinator, generation) = standing(DeathPolicy::Stop);
    assert_eq!(coordinator.awaited_for_mode(), [], "a mode may stand for long");
    coordinator.message(B, switch(generation, 0, None));
    assert_eq!(coordinator.awaited_for_mode(), [A, C]);
    assert_eq!(refusal_of_switch(&coordinator.mode_overdue("A and C")), Some(RefusalCause::TimedOut));
    assert_eq!(coordinator.message(A, switch(generation, 0, None)), [], "crosses the refusal");
    for member in [A, B] {
        assert_eq!(coordinator.message(member, switch(generation, 1, None)), []);
    }
    assert!(matches!(&coordinator.message(C, switch(generation, 1, None))[..], [Action::Switch { .. }]));
    let actions = coordinator.switch_impossible("the horizon is near".to_owned());
    assert_eq!(refusal_of_switch(&actions), Some(RefusalCause::TooLate));
}

#[test]
fn who_uncommits_hinders_a_mode_and_a_switch() {
    let mut coordinator = running(DeathPolicy::Stop);
    let beside = coordinator.generation();
    coordinator.message(A, declare(beside, 0));
    let uncommit = FromMember::Uncommit { generation: beside };
    assert_eq!(refusal_of_mode(&coordinator.message(B, uncommit.clone())), Some(RefusalCause::Over));
    assert_eq!(refusal_of_mode(&coordinator.message(A, declare(beside, 1))), Some(RefusalCause::Over));

    let (mut coordinator, generation) = standing(DeathPolicy::Stop);
    coordinator.message(A, switch(generation, 0, None));
    assert_eq!(refusal_of_switch(&coordinator.message(B, uncommit)), Some(RefusalCause::Over));
}

#[test]
fn who_is_not_in_the_mode_after_its_instant_is_known() {
    let (coordinator, _) = standing(DeathPolicy::Stop);
    assert_eq!(coordinator.awaited_in_mode(), []);
    let (mut coordinator, generation) = agreed(DeathPolicy::Stop);
    assert_eq!(coordinator.awaited_in_mode(), [A, B, C]);
    coordinator.message(B, switched(generation));
    assert_eq!(coordinator.awaited_in_mode(), [A, C]);
    // Its process is ended for it, which is a death as any other: the others are in the mode, and stop.
    coordinator.message(A, switched(generation));
    let actions = coordinator.died(C, "signal 9");
    assert!(
        actions.iter().any(|action| matches!(action, Action::StopAll(EndReason::Stopped(_)))),
        "{actions:?}"
    );
    assert!(actions.contains(&Action::TakenOver(generation)), "{actions:?}");
    assert_eq!(coordinator.awaited_in_mode(), []);
}

// spec: MODE-SWITCH-04
#[test]
fn a_death_follows_the_policy_and_nobody_stays_behind() {
    // While a mode is made: what runs follows the policy, and the mode is refused.
    let mut coordinator = running(DeathPolicy::Continue);
    let beside = coordinator.generation();
    coordinator.message(A, declare(beside, 0));
    assert_eq!(refusal_of_mode(&coordinator.died(B, "signal 9")), Some(RefusalCause::PeerLost));
    assert_eq!(refusal_of_mode(&coordinator.message(A, declare(beside, 1))), Some(RefusalCause::PeerLost));

    // Before the agreement: there is no switch.
    let (mut coordinator, generation) = standing(DeathPolicy::Continue);
    coordinator.message(A, switch(generation, 0, None));
    assert_eq!(refusal_of_switch(&coordinator.died(B, "signal 9")), Some(RefusalCause::PeerLost));
    assert_eq!(
        refusal_of_switch(&coordinator.message(C, switch(generation, 1, None))),
        Some(RefusalCause::PeerLost)
    );

    // After it: the survivors switch, all of them.
    let (mut coordinator, generation) = agreed(DeathPolicy::Continue);
    coordinator.message(A, switched(generation));
    assert!(matches!(&coordinator.died(B, "signal 9")[..], [Action::AnnounceDeath(..)]));
    assert_eq!(coordinator.message(C, switched(generation)), [Action::TakenOver(generation)]);

    // The last that had not switched dies: the mode is what runs.
    let (mut coordinator, generation) = agreed(DeathPolicy::Continue);
    coordinator.message(A, switched(generation));
    coordinator.message(C, switched(generation));
    assert!(coordinator.died(B, "signal 9").contains(&Action::TakenOver(generation)));

    // Everybody stops: before the switch what runs ends, and the mode never does.
    let (mut coordinator, generation) = agreed(DeathPolicy::Stop);
    let beside = coordinator.generation();
    let actions = coordinator.died(B, "signal 9");
    assert!(matches!(&actions[..], [Action::AnnounceDeath(..), Action::StopAll(EndReason::Stopped(_))]));
    assert_eq!(coordinator.message(A, finished(beside)), []);
    let actions = coordinator.message(C, finished(beside));
    assert!(matches!(&actions[..], [Action::Uncommitted(EndReason::Stopped(_))]), "{actions:?}");
    assert_eq!(coordinator.mode_generation(), None);
    assert!(generation > beside);

    // Or after it: the mode ends, for all alike.
    let (mut coordinator, generation) = agreed(DeathPolicy::Stop);
    coordinator.message(A, switched(generation));
    coordinator.died(B, "signal 9");
    assert_eq!(coordinator.message(A, finished(generation)), [], "kept until all have switched");
    assert_eq!(coordinator.message(C, switched(generation)), [Action::TakenOver(generation)]);
    let actions = coordinator.message(C, finished(generation));
    assert!(matches!(&actions[..], [Action::Uncommitted(EndReason::Stopped(_))]), "{actions:?}");
}

#[test]
fn nobody_says_of_a_mode_what_it_cannot_know() {
    let mut coordinator = running(DeathPolicy::Stop);
    let beside = coordinator.generation();
    let early = switched(beside.next());
    for message in [declare(beside.next(), 0), declare(beside, 1), switch(beside.next(), 0, None), early] {
        let mut coordinator = coordinator.clone();
        let actions = coordinator.message(A, message);
        assert!(matches!(&actions[..], [Action::Expel(who, _)] if *who == A), "{actions:?}");
    }
    coordinator.message(A, declare(beside, 0));
    let twice = coordinator.message(A, declare(beside, 0));
    assert!(matches!(&twice[..], [Action::Expel(..)]), "{twice:?}");
}
