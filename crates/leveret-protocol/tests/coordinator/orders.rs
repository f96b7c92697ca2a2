//! Orders of events that went wrong once, or that say what a policy means.

use crate::world::{OWN_ERROR, no_memory, unfit};
use leveret_protocol::control::{EndReason, FromMember, RefusalCause};
use leveret_protocol::coordinator::{Action, Coordinator, DeathPolicy, Stage};
use leveret_protocol::declaration::MemberDeclarations;
use leveret_types::{Generation, MemberId};

const A: MemberId = MemberId(0);
const B: MemberId = MemberId(1);
const C: MemberId = MemberId(2);

fn declare(attempt: u32) -> FromMember {
    FromMember::Declare { attempt, declarations: MemberDeclarations::default() }
}

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

/// All members up to the stage in which segments are awaited.
fn admitted(members: u16, policy: DeathPolicy) -> Coordinator {
    let mut coordinator = Coordinator::new(usize::from(members), policy);
    for rank in 0..members {
        coordinator.message(MemberId(rank), declare(0));
    }
    assert_eq!(coordinator.planned(Ok(())), []);
    coordinator
}

fn running(members: u16, policy: DeathPolicy) -> Coordinator {
    let mut coordinator = admitted(members, policy);
    let generation = coordinator.generation();
    for message in [segment(generation), ready(generation)] {
        for rank in 0..members {
            coordinator.message(MemberId(rank), message.clone());
        }
    }
    assert_eq!(coordinator.stage(), Stage::Running);
    coordinator
}

fn is_refusal(actions: &[Action], retry: bool) -> bool {
    matches!(actions, [Action::Refuse { may_retry, .. }, ..] if *may_retry == retry)
}

#[test]
fn the_walk_of_a_commit() {
    let mut coordinator = Coordinator::new(2, DeathPolicy::Stop);
    assert_eq!(coordinator.message(A, declare(0)), []);
    assert!(matches!(&coordinator.message(B, declare(0))[..], [Action::Plan(all)] if all.len() == 2));
    assert_eq!(coordinator.planned(Ok(())), []);
    let generation = coordinator.generation();
    assert_eq!(generation, Generation(1));
    assert_eq!(coordinator.message(B, segment(generation)), []);
    assert_eq!(coordinator.message(A, segment(generation)), [Action::DistributePeers]);
    assert_eq!(coordinator.message(A, ready(generation)), []);
    assert_eq!(coordinator.message(B, ready(generation)), [Action::Start]);
    assert_eq!(coordinator.message(A, finished(generation)), []);
    assert_eq!(coordinator.message(B, finished(generation)), [Action::Uncommitted(EndReason::Completed)]);
    assert_eq!(coordinator.left(A), []);
    assert_eq!(coordinator.left(B), [Action::JobEnded]);
}

#[test]
fn a_commit_without_an_epoch_is_refused_to_everybody_and_can_be_tried_again() {
    let mut coordinator = running(2, DeathPolicy::Stop);
    let generation = coordinator.generation();
    let actions = coordinator.cannot_start("an instant has passed".to_owned());
    assert!(is_refusal(&actions, true), "{actions:?}");
    assert!(matches!(&actions[..], [Action::Refuse { cause: RefusalCause::TooLate, .. }]), "{actions:?}");
    assert_eq!(coordinator.stage(), Stage::Gathering);
    // What crossed the refusal is passed over.
    assert_eq!(coordinator.message(A, ready(generation)), []);
    assert_eq!(coordinator.message(A, declare(1)), []);
    assert!(matches!(&coordinator.message(B, declare(1))[..], [Action::Plan(_)]));
}

#[test]
fn whoever_has_not_done_its_part_is_awaited_once_another_has() {
    let mut coordinator = Coordinator::new(3, DeathPolicy::Stop);
    assert_eq!(coordinator.awaited(), [], "nobody waits yet");
    coordinator.message(B, declare(0));
    assert_eq!(coordinator.awaited(), [A, C]);
    coordinator.message(A, declare(0));
    assert_eq!(coordinator.awaited(), [C]);
    let mut coordinator = admitted(3, DeathPolicy::Stop);
    let generation = coordinator.generation();
    coordinator.message(C, segment(generation));
    assert_eq!(coordinator.awaited(), [A, B]);
    for member in [A, B] {
        coordinator.message(member, segment(generation));
    }
    coordinator.message(A, ready(generation));
    assert_eq!(coordinator.awaited(), [B, C]);
    assert_eq!(running(3, DeathPolicy::Stop).awaited(), [], "a run waits for nobody's commit");
}

#[test]
fn a_segment_that_crosses_a_refusal_is_no_breach() {
    let mut coordinator = admitted(3, DeathPolicy::Restart);
    let generation = coordinator.generation();
    let actions = coordinator.died(C, "signal 9");
    assert!(is_refusal(&actions, true) && actions.contains(&Action::Restart(C)), "{actions:?}");
    assert_eq!(coordinator.message(A, segment(generation)), []);
    assert!(coordinator.is_alive(A));
}

#[test]
fn declarations_that_cross_a_refusal_are_answered_by_it() {
    let mut coordinator = Coordinator::new(3, DeathPolicy::Restart);
    coordinator.message(A, declare(0));
    assert!(is_refusal(&coordinator.died(C, "signal 9"), true));
    // B had not heard of the refusal when it declared; it will, and then it declares anew.
    assert_eq!(coordinator.message(B, declare(0)), []);
    coordinator.message(A, declare(1));
    assert_eq!(coordinator.message(C, declare(1)), [], "B is awaited");
    assert!(matches!(coordinator.message(B, declare(1))[..], [Action::Plan(_)]));
}

#[test]
fn one_that_cannot_go_on_ends_the_commit_for_all() {
    let mut coordinator = admitted(2, DeathPolicy::Stop);
    let generation = coordinator.generation();
    coordinator.message(A, segment(generation));
    let withdrawal = FromMember::Withdraw { generation, unfit: no_memory() };
    let actions = coordinator.message(B, withdrawal);
    assert!(is_refusal(&actions, true), "{actions:?}");
    let Action::Refuse { reason, .. } = &actions[0] else { unreachable!("it was looked at") };
    assert!(reason.contains("member1") && reason.contains("no memory"), "{reason}");
    assert_eq!(coordinator.stage(), Stage::Gathering);
}

// spec: SETUP-COMMIT-02
#[test]
fn what_one_cannot_commit_is_refused_to_all_once_all_have_declared() {
    let decline = |attempt| FromMember::Declare { attempt, declarations: unfit() };
    for rank in 0..3 {
        let mut coordinator = Coordinator::new(3, DeathPolicy::Restart);
        let mut actions = Vec::new();
        for member in [A, B, C] {
            assert_eq!(actions, [], "others are awaited");
            actions =
                coordinator.message(member, if member.index() == rank { decline(0) } else { declare(0) });
        }
        let [Action::Refuse { reason, cause, may_retry: true }] = &actions[..] else { panic!("{actions:?}") };
        assert_eq!(*cause, RefusalCause::Declined(OWN_ERROR));
        assert!(reason.contains(&format!("member{rank}")) && reason.contains("no iterator"), "{reason}");
        // The next attempt finds nothing of it.
        coordinator.message(A, declare(1));
        coordinator.message(B, declare(1));
        assert!(matches!(coordinator.message(C, declare(1))[..], [Action::Plan(_)]));
    }
    // All that cannot are named.
    let mut coordinator = Coordinator::new(2, DeathPolicy::Stop);
    coordinator.message(A, decline(0));
    let actions = coordinator.message(B, decline(0));
    assert!(
        matches!(&actions[..], [Action::Refuse { reason, .. }] if reason.contains("member0") && reason.contains("member1")),
        "{actions:?}"
    );
}

#[test]
fn a_verdict_on_a_plan_that_a_death_has_overtaken_changes_nothing() {
    let mut coordinator = Coordinator::new(2, DeathPolicy::Restart);
    coordinator.message(A, declare(0));
    coordinator.message(B, declare(0));
    coordinator.died(B, "signal 9");
    coordinator.message(A, declare(1));
    coordinator.message(B, declare(1));
    assert_eq!(coordinator.stage(), Stage::Planning);
    assert_eq!(coordinator.planned(Ok(())), [], "the verdict on the first");
    assert_eq!((coordinator.stage(), coordinator.generation()), (Stage::Planning, Generation(0)));
    assert_eq!(coordinator.planned(Ok(())), []);
    assert_eq!((coordinator.stage(), coordinator.generation()), (Stage::Segments, Generation(1)));
}

#[test]
fn an_interrupt_outweighs_a_restart_under_way() {
    let mut coordinator = running(3, DeathPolicy::Restart);
    let generation = coordinator.generation();
    let actions = coordinator.died(C, "signal 9");
    assert!(actions.contains(&Action::StopAll(EndReason::PeerRestarted(C))), "{actions:?}");
    assert_eq!(coordinator.stop(EndReason::Interrupted), [], "the stop is ordered already");
    coordinator.message(A, finished(generation));
    let actions = coordinator.message(B, finished(generation));
    assert_eq!(actions, [Action::Uncommitted(EndReason::Interrupted)], "nobody is started again");
}

#[test]
fn all_that_died_in_one_run_are_started_again() {
    let mut coordinator = running(3, DeathPolicy::Restart);
    let generation = coordinator.generation();
    coordinator.died(B, "signal 9");
    coordinator.died(C, "signal 9");
    let actions = coordinator.message(A, finished(generation));
    let expected = [Action::Uncommitted(EndReason::PeerRestarted(B)), Action::Restart(B), Action::Restart(C)];
    assert_eq!(actions, expected);
}

#[test]
fn nobody_is_started_again_for_what_the_planner_refuses() {
    let mut coordinator = Coordinator::new(2, DeathPolicy::Restart);
    coordinator.message(A, declare(0));
    coordinator.message(B, declare(0));
    assert!(is_refusal(&coordinator.planned(Err("too much".to_owned())), true));
    assert_eq!(coordinator.died(A, "exit status 1"), []);
    assert_eq!(coordinator.died(B, "exit status 1"), [Action::JobEnded]);
}

#[test]
fn nobody_is_started_again_when_another_has_left() {
    let mut coordinator = Coordinator::new(2, DeathPolicy::Restart);
    assert_eq!(coordinator.left(A), []);
    assert_eq!(coordinator.died(B, "exit status 1"), [Action::JobEnded]);
}

#[test]
fn with_stop_a_death_ends_the_run_and_with_continue_it_does_not() {
    let mut coordinator = running(2, DeathPolicy::Stop);
    let generation = coordinator.generation();
    let actions = coordinator.died(B, "signal 9");
    assert!(matches!(&actions[..], [Action::AnnounceDeath(B, _), Action::StopAll(EndReason::Stopped(_))]));
    let actions = coordinator.message(A, finished(generation));
    assert!(matches!(&actions[..], [Action::Uncommitted(EndReason::Stopped(_))]), "{actions:?}");
    assert!(is_refusal(&coordinator.message(A, declare(0)), false), "no further commit");

    let mut coordinator = running(2, DeathPolicy::Continue);
    assert_eq!(coordinator.died(B, "signal 9"), [Action::AnnounceDeath(B, "signal 9".to_owned())]);
    let actions = coordinator.message(A, finished(generation));
    assert_eq!(actions, [Action::Uncommitted(EndReason::Completed)]);
}

#[test]
fn a_breach_costs_its_author_alone_and_is_punished_once() {
    let mut coordinator = running(2, DeathPolicy::Continue);
    let generation = coordinator.generation();
    let actions = coordinator.message(B, ready(generation));
    assert!(matches!(&actions[..], [Action::Expel(B, reason)] if reason.contains("out of place")));
    assert_eq!(coordinator.message(B, finished(generation)), [], "it is heard no more");
    assert_eq!(coordinator.died(B, "signal 9"), [Action::AnnounceDeath(B, "signal 9".to_owned())]);
    let actions = coordinator.message(A, finished(generation));
    assert_eq!(actions, [Action::Uncommitted(EndReason::Completed)]);
}

#[test]
fn nothing_follows_the_end_of_the_job() {
    let mut coordinator = Coordinator::new(2, DeathPolicy::Restart);
    coordinator.message(A, declare(0));
    let actions = coordinator.stop(EndReason::Interrupted);
    assert!(is_refusal(&actions, false) && actions.last() == Some(&Action::JobEnded), "{actions:?}");
    assert_eq!(coordinator.message(B, declare(1)), []);
    assert_eq!(coordinator.died(A, "signal 9"), []);
    assert_eq!(coordinator.left(A), []);
    assert_eq!(coordinator.left(B), []);
    assert_eq!(coordinator.stop(EndReason::Interrupted), []);
}

fn uncommit(generation: Generation) -> FromMember {
    FromMember::Uncommit { generation }
}

#[test]
fn a_run_ends_once_all_want_to_uncommit_and_no_earlier() {
    let mut coordinator = running(3, DeathPolicy::Stop);
    let generation = coordinator.generation();
    assert_eq!(coordinator.awaited_to_uncommit(), [], "nobody waits yet");
    assert_eq!(coordinator.message(A, uncommit(generation)), []);
    assert_eq!(coordinator.awaited_to_uncommit(), [B, C]);
    // One that is at its horizon has no objection.
    assert_eq!(coordinator.message(C, finished(generation)), []);
    assert_eq!(coordinator.awaited_to_uncommit(), [B]);
    assert_eq!(coordinator.message(B, uncommit(generation)), [Action::StopAll(EndReason::Completed)]);
    assert_eq!(coordinator.awaited_to_uncommit(), []);
    assert_eq!(coordinator.message(A, finished(generation)), []);
    let actions = coordinator.message(B, finished(generation));
    assert_eq!(actions, [Action::Uncommitted(EndReason::Completed)]);
    assert_eq!(coordinator.message(A, declare(0)), [], "another commit may follow");
}

#[test]
fn a_member_that_runs_on_is_waited_for_until_a_stop_or_its_death() {
    let mut coordinator = running(2, DeathPolicy::Continue);
    let generation = coordinator.generation();
    coordinator.message(A, uncommit(generation));
    let actions = coordinator.died(B, "signal 9");
    assert!(
        matches!(&actions[..], [Action::AnnounceDeath(B, _), Action::StopAll(EndReason::Completed)]),
        "{actions:?}"
    );
    let mut coordinator = running(2, DeathPolicy::Stop);
    let generation = coordinator.generation();
    coordinator.message(A, uncommit(generation));
    let actions = coordinator.stop(EndReason::Interrupted);
    assert_eq!(actions, [Action::StopAll(EndReason::Interrupted)]);
}

/// The end of the round that all uncommit at may be far off.
#[test]
fn an_interrupt_does_not_wait_for_the_instant_of_an_uncommit() {
    let mut coordinator = running(2, DeathPolicy::Restart);
    let generation = coordinator.generation();
    coordinator.message(A, uncommit(generation));
    coordinator.message(B, uncommit(generation));
    let actions = coordinator.died(B, "signal 9");
    assert!(actions.contains(&Action::StopAll(EndReason::PeerRestarted(B))), "{actions:?}");
    assert_eq!(coordinator.stop(EndReason::Interrupted), [], "a stop is ordered already");
    let actions = coordinator.message(A, finished(generation));
    assert_eq!(actions, [Action::Uncommitted(EndReason::Interrupted)]);
}

// spec: SETUP-COMMIT-07
#[test]
fn a_refusal_says_what_kind_of_reason_it_has() {
    let cause = |actions: &[Action]| match actions {
        [Action::Refuse { cause, .. }, ..] => Some(*cause),
        _ => None,
    };
    let declared = || {
        let mut coordinator = Coordinator::new(2, DeathPolicy::Stop);
        coordinator.message(A, declare(0));
        coordinator
    };
    assert_eq!(cause(&declared().died(B, "signal 9")), Some(RefusalCause::PeerLost));
    assert_eq!(cause(&declared().left(B)), Some(RefusalCause::PeerLost));
    assert_eq!(cause(&declared().stop(EndReason::Interrupted)), Some(RefusalCause::Over));
    let mut coordinator = declared();
    coordinator.overdue(B);
    assert_eq!(cause(&coordinator.died(B, "signal 9")), Some(RefusalCause::TimedOut));
    let mut coordinator = declared();
    coordinator.message(B, declare(0));
    assert_eq!(cause(&coordinator.planned(Err("too much".to_owned()))), Some(RefusalCause::Unfit));
    // After a run that a death has ended.
    let mut coordinator = running(2, DeathPolicy::Stop);
    let generation = coordinator.generation();
    coordinator.died(B, "signal 9");
    coordinator.message(A, finished(generation));
    assert_eq!(cause(&coordinator.message(A, declare(0))), Some(RefusalCause::PeerLost));
}

/// A member that ends for the stop that another's death has caused takes nothing from anybody, and nobody is told of a death.
#[test]
fn who_ends_for_a_stop_is_no_death() {
    for policy in [DeathPolicy::Stop, DeathPolicy::Restart] {
        let mut coordinator = running(3, policy);
        let generation = coordinator.generation();
        assert_eq!(coordinator.stopping(), None);
        coordinator.died(C, "signal 9");
        assert!(coordinator.stopping().is_some());
        assert_eq!(coordinator.ended_with_the_run(B), []);
        let actions = coordinator.message(A, finished(generation));
        let [Action::Uncommitted(reason), again @ ..] = actions.as_slice() else { panic!("{actions:?}") };
        let is_restarted = policy == DeathPolicy::Restart;
        assert_eq!(matches!(reason, EndReason::PeerRestarted(C)), is_restarted, "{reason:?}");
        let expected = if is_restarted { vec![Action::Restart(B), Action::Restart(C)] } else { Vec::new() };
        assert_eq!(again, expected);
    }
}
