//! Commits of a group of a job's members.

use leveret_protocol::control::{EndReason, FromMember, RefusalCause};
use leveret_protocol::coordinator::{Action, Coordinator, DeathPolicy, Stage};
use leveret_protocol::declaration::MemberDeclarations;
use leveret_protocol::group::LAST_BEFORE_GROUPS;
use leveret_types::{Generation, MemberId};

fn labelled(label: &str) -> MemberDeclarations {
    MemberDeclarations { label: label.to_owned(), ..MemberDeclarations::default() }
}

/// Members 1 and 3 of four.
fn group(policy: DeathPolicy) -> Coordinator {
    Coordinator::new(4, policy).of_group(&[MemberId(1), MemberId(3)], LAST_BEFORE_GROUPS)
}

fn running(policy: DeathPolicy) -> Coordinator {
    let mut group = group(policy);
    let generation = Generation(LAST_BEFORE_GROUPS.0 + 1);
    for rank in [1, 3] {
        group.declared(MemberId(rank), labelled("both"));
    }
    group.planned(Ok(()));
    assert_eq!(group.generation(), generation);
    let segment = || FromMember::Segment { generation, size: 1 };
    let ready = || FromMember::Ready {
        generation,
        threads: Vec::new(),
        scheduling: "none".to_owned(),
        warnings: Vec::new(),
    };
    assert_eq!(group.message(MemberId(1), segment()), []);
    assert_eq!(group.message(MemberId(3), segment()), [Action::DistributePeers]);
    assert_eq!(group.message(MemberId(3), ready()), []);
    assert_eq!(group.message(MemberId(1), ready()), [Action::Start]);
    group
}

// spec: SETUP-GROUP-01
#[test]
fn a_group_waits_for_its_members_alone() {
    let mut group = group(DeathPolicy::Stop);
    assert_eq!(group.declared(MemberId(3), labelled("three")), []);
    assert_eq!(group.awaited(), [MemberId(1)]);
    let nobody = MemberDeclarations::default;
    let planned = vec![nobody(), labelled("one"), nobody(), labelled("three")];
    assert_eq!(group.declared(MemberId(1), labelled("one")), [Action::Plan(planned)]);
    let mut group = running(DeathPolicy::Stop);
    let generation = group.generation();
    assert_eq!(group.message(MemberId(1), FromMember::Uncommit { generation }), []);
    assert_eq!(group.awaited_to_uncommit(), [MemberId(3)]);
    let all = group.message(MemberId(3), FromMember::Uncommit { generation });
    assert_eq!(all, [Action::StopAll(EndReason::Completed)]);
    group.message(MemberId(1), FromMember::Finished { generation, stop: None });
    let ended = group.message(MemberId(3), FromMember::Finished { generation, stop: None });
    assert_eq!(ended, [Action::Uncommitted(EndReason::Completed)]);
}

#[test]
fn who_is_outside_has_no_part_in_it() {
    let mut group = group(DeathPolicy::Stop);
    assert!(!group.is_inside(MemberId(0)) && group.is_inside(MemberId(1)));
    assert_eq!(group.declared(MemberId(0), labelled("zero")), []);
    assert_eq!(group.died(MemberId(0), "killed"), []);
    assert_eq!(group.left(MemberId(2)), []);
    assert_eq!(group.stage(), Stage::Gathering);
    assert!(!group.is_committing(MemberId(0)));
}

#[test]
fn a_dead_member_refuses_its_group() {
    for in_order in [false, true] {
        let mut group = group(DeathPolicy::Restart);
        group.lacks(MemberId(3), in_order);
        let refused = group.declared(MemberId(1), labelled("one"));
        let [Action::Refuse { reason, cause, .. }] = &refused[..] else { panic!("{refused:?}") };
        assert!(reason.contains("all members of the group must commit together"), "{reason}");
        assert_eq!(*cause, RefusalCause::PeerLost);
    }
}

#[test]
fn nobody_is_started_again_for_a_group() {
    let mut group = running(DeathPolicy::Restart);
    let actions = group.died(MemberId(3), "killed");
    assert!(
        matches!(&actions[..], [Action::AnnounceDeath(..), Action::StopAll(EndReason::Stopped(_))]),
        "{actions:?}"
    );
    let mut group = running(DeathPolicy::Continue);
    let actions = group.died(MemberId(3), "killed");
    assert!(matches!(&actions[..], [Action::AnnounceDeath(MemberId(3), _)]), "{actions:?}");
    assert_eq!(group.stage(), Stage::Running);
}

#[test]
fn an_end_of_the_job_or_of_patience_refuses_an_attempt() {
    let mut waiting = group(DeathPolicy::Stop);
    waiting.declared(MemberId(1), labelled("one"));
    let refused = waiting.give_up("member \"3\" did not commit in time".to_owned());
    assert!(matches!(&refused[..], [Action::Refuse { cause: RefusalCause::TimedOut, .. }]), "{refused:?}");
    let mut late = group(DeathPolicy::Stop);
    late.end_of_job("the job was interrupted".to_owned());
    assert_eq!(late.over(), Some("the job was interrupted"));
    let refused = late.declared(MemberId(1), labelled("one"));
    assert!(matches!(&refused[..], [Action::Refuse { cause: RefusalCause::Over, .. }]), "{refused:?}");
}
