//! What members say of their firings.

use super::*;
use crate::counts::Counts;
use leveret_memory::FiringWriter;
use leveret_plan::{Sporadic, Start};
use leveret_protocol::assemble::{EventBinding, TriggerBinding};
use leveret_types::TriggerId;

const SECOND: Nanos = Nanos::from_secs(1);

/// The pair, whose writer fires an event that the reader handles, every 10 ms at most if that is said.
fn alarmed(interval: Option<Nanos>) -> InProcessJob {
    let mut job = pair();
    let (member, id) = (MemberId(0), TriggerId(0));
    let trigger = TriggerBinding { id, member, rank: 0, place: 0, priority: 1 };
    let (name, group) = ("alarm".to_owned(), "world".to_owned());
    let start = Start::Event { group: group.clone(), name: name.clone() };
    job.assembled.events =
        vec![EventBinding { name, group, triggers: vec![trigger], listeners: vec![MemberId(1)] }];
    job.assembled.job.sporadics = vec![Sporadic {
        name: "handler".to_owned(),
        member: MemberId(1),
        start,
        priority: 1,
        interval,
        deadline: None,
        budget: Nanos(1000),
        core: CoreChoice::Any,
    }];
    job
}

/// The writer's trigger, and its count as the agent has it, in memory that holds these words.
fn counted(job: &InProcessJob, word: impl FnMut(usize) -> u64) -> (FiringWriter, Counts) {
    let (mut writer, writer_peer) = segment(job, 0, word);
    let trigger = writer.take_trigger(TriggerId(0)).expect("declared");
    let counts = Counts::new(&job.assembled, &[Some(writer_peer), None], (EPOCH, false));
    (trigger, counts)
}

// spec: LAW-VALID-01
#[test]
fn a_count_that_was_written_over_stands_in_the_report_with_its_member() {
    let job = alarmed(None);
    let (_, mut counts) = counted(&job, |place| if place == 0 { 0 } else { 278_646 });
    let damaged = counts.look(EPOCH + SECOND);
    assert_eq!(damaged, [EventKind::CountDamaged { member: 0, event: "alarm".to_owned() }]);
    assert!(counts.look(EPOCH + SECOND).is_empty(), "once");
    let job = pair();
    let (_, writer_peer) = segment(&job, 0, |_| 0);
    let (_, reader_peer) = segment(&job, 1, |_| 0);
    let mut record = collected(&job, &[writer_peer, reader_peer], &[EPOCH + SECOND]);
    record.phases[0].events = damaged.into_iter().map(|kind| Event { at: SECOND, kind }).collect();
    let report = Report::of(&record);
    let told = "something has written over the count of event \"alarm\" in the memory of member W";
    let found = |kind: &str| {
        let mut all = report.assessment.irregularities.iter();
        all.any(|found| found.kind == kind && found.sentence.contains(told))
    };
    assert!(found("implausible"), "{:?}", report.assessment.irregularities);
    assert!(text::table(&report).contains(told), "{}", text::table(&report));
    assert_eq!(report.assessment.exit_code(), 1);
}

#[test]
fn more_firings_than_the_plan_assumes_are_reported_with_their_member() {
    let fired = |interval: Option<Nanos>, count: i64| {
        let job = alarmed(interval);
        let (trigger, mut counts) = counted(&job, |_| 0);
        (0..count).for_each(|number| assert_eq!(trigger.fire(EPOCH + Nanos(number)), number as u64));
        assert!(counts.look(EPOCH + SECOND).is_empty());
        counts.beyond(&job.assembled, EPOCH + SECOND)
    };
    let interval = Some(Nanos::from_millis(10));
    // A hundred intervals, the firing at their beginning, and 16 that were too soon.
    assert!(fired(interval, 117).is_empty());
    let words = fired(interval, 118);
    assert_eq!(words.len(), 1);
    assert!(words[0].starts_with("member \"W\" fired event \"alarm\" 118 times in 1s;"), "{words:?}");
    assert!(words[0].contains("the interval 10ms of its handlers allows 101"), "{words:?}");
    assert!(fired(None, 5000).is_empty(), "where no interval is declared there is no bound");
}

/// Whatever the plan allows: a member that says so would keep handlers without an interval running for days.
#[test]
fn a_count_beyond_what_anybody_can_fire_is_damaged() {
    let job = alarmed(None);
    let (trigger, mut counts) = counted(&job, |_| 0);
    counts.before = Nanos::ZERO;
    (0..1001).for_each(|number| assert_eq!(trigger.fire(EPOCH + Nanos(number)), number as u64));
    // One in 5 ns.
    assert!(counts.look(EPOCH + Nanos(5005)).is_empty());
    let damaged = counts.look(EPOCH + Nanos(5004));
    assert_eq!(damaged, [EventKind::CountDamaged { member: 0, event: "alarm".to_owned() }]);
}

#[test]
fn firings_of_before_a_mode_are_not_counted_in_it() {
    let job = alarmed(Some(Nanos::from_millis(10)));
    let (mut writer, writer_peer) = segment(&job, 0, |_| 0);
    let trigger = writer.take_trigger(TriggerId(0)).expect("declared");
    (0..5000).for_each(|number| assert_eq!(trigger.fire(EPOCH + Nanos(number)), number as u64));
    let segments = [Some(writer_peer), None];
    for (goes_on, expected) in [(true, 0), (false, 1)] {
        let mut counts = Counts::new(&job.assembled, &segments, (EPOCH, goes_on));
        assert!(counts.look(EPOCH + SECOND).is_empty());
        assert_eq!(counts.beyond(&job.assembled, EPOCH + SECOND).len(), expected);
    }
}
