//! Work at priorities across a switch: bounds against a played processor, refusals, and what the checker makes of changed claims.

use crate::common::player::Arrivals;
use crate::common::switch_player::{Side, play};
use crate::common::{empty, guard_only, sporadic, task, time_driven};
use leveret_plan::{
    CoreChoice, Costs, Crossing, Job, Kept, Plan, Qos, Segment, Start, TransitionConflict, checker, plan,
    transition,
};
use leveret_types::{ChannelId, Nanos};
use proptest::prelude::*;

const ON_0: CoreChoice = CoreChoice::Pinned(0);
/// Long against every busy window.
const SPAN: i64 = 1_500;

/// A table of up to two tasks, which leave the ends of their periods free, and up to three works beside it, on one core.
fn jobs() -> impl Strategy<Value = Job> {
    let period = prop_oneof![Just(24_i64), Just(48)];
    let tasks = prop::collection::vec((period, 2..8_i64, 1..4_i64), 0..=2);
    let works = prop::collection::vec((1..4_u8, 30..80_i64, 1..8_i64), 1..=3);
    (tasks, works).prop_map(|(tasks, works)| {
        let mut job = empty(&[0], costs());
        for (index, (period, release, budget)) in tasks.into_iter().enumerate() {
            job.tasks.push(task(&format!("t{index}"), ON_0, period, (release, period - 2), budget));
        }
        for (index, (priority, interval, budget)) in works.into_iter().enumerate() {
            let name = format!("s{index}");
            job.sporadics.push(sporadic(&name, ON_0, priority, (interval, 100_000), budget));
        }
        job
    })
}

fn costs() -> Costs {
    Costs { switch: Nanos(1), publish: Nanos(1), preemption: Nanos(2), ..guard_only(1) }
}

/// The second set keeps the first work of the first where `keeps`.
fn pairs() -> impl Strategy<Value = (Job, Job, bool)> {
    (jobs(), jobs(), any::<bool>()).prop_map(|(before, mut after, keeps)| {
        if keeps {
            after.sporadics[0] = before.sporadics[0].clone();
        }
        (before, after, keeps)
    })
}

fn kept(keeps: bool) -> Kept {
    Kept { works: if keeps { vec![0] } else { Vec::new() }, ..Kept::default() }
}

/// Arrivals from an instant on, often all at once and as soon as may be.
fn arrivals(job: &Job, from: i64, until: i64, gaps: &[(i64, i64)]) -> Vec<Arrivals> {
    let delay = (job.costs.publish + job.costs.guard).0;
    let often_none = |gap: i64| if gap < 25 { 0 } else { gap - 24 };
    let of_work = |(number, work): (usize, &leveret_plan::Sporadic)| {
        let mut at = from + often_none(gaps[number].0);
        let mut arrivals = Vec::new();
        for (gap, wait) in gaps.iter().skip(number * 5 + 3) {
            if at >= until {
                break;
            }
            arrivals.push((at, (*wait).min(delay)));
            at += work.interval.unwrap().0 + often_none(*gap);
        }
        arrivals
    };
    job.sporadics.iter().enumerate().map(of_work).collect()
}

/// The tables leave room, and deadlines are far: what is refused is refused for taking still longer, where hardly anything is left of the core.
fn only_late(conflicts: &[TransitionConflict]) -> Result<(), TestCaseError> {
    let is_late = |conflict: &TransitionConflict| matches!(conflict, TransitionConflict::AtPriority { takes, deadline, .. } if takes > deadline);
    prop_assert!(!conflicts.is_empty() && conflicts.iter().all(is_late), "{conflicts:?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    // spec: MODE-COMMIT-01, MODE-PRIORITY-01
    #[test]
    fn no_played_response_across_a_switch_is_beyond_its_bound(
        (before, after, keeps) in pairs(),
        gaps in prop::collection::vec((0..40_i64, 0..3_i64), 120),
        first in prop_oneof![1..12_i64, 1..200_i64],
    ) {
        let (Ok(old), Ok(new)) = (plan(&before), plan(&after)) else { return Ok(()) };
        let crossing = match transition((&before, &old), (&after, &new), &kept(keeps)) {
            Ok(crossing) => crossing,
            Err(conflicts) => return only_late(&conflicts),
        };
        let pairs: &[(usize, usize)] = if keeps { &[(0, 0)] } else { &[] };
        let (last, mut next) = (arrivals(&before, -first, 0, &gaps), arrivals(&after, 0, SPAN / 2, &gaps[40..]));
        if let (true, Some(latest)) = (keeps, last[0].last()) {
            // A kept work keeps its distance across the switch.
            let soonest = latest.0 + before.sporadics[0].interval.unwrap().0;
            next[0].retain(|(at, _)| *at >= soonest);
        }
        let [left, entered] = play(
            &Side { job: &before, plan: &old, arrivals: &last },
            &Side { job: &after, plan: &new, arrivals: &next },
            pairs, 0, (-first - 1, SPAN),
        );
        for (longest, bound) in left.iter().zip(&crossing.left).chain(entered.iter().zip(&crossing.entered)) {
            prop_assert!(*longest <= bound.0, "{longest} beyond {bound} from {before:#?} to {after:#?}");
        }
    }

    // spec: MODE-COMMIT-01
    #[test]
    fn the_checker_finds_the_same_bounds_and_no_others((before, after, keeps) in pairs(), by in 0..8_usize) {
        let (Ok(old), Ok(new)) = (plan(&before), plan(&after)) else { return Ok(()) };
        let crossing = match transition((&before, &old), (&after, &new), &kept(keeps)) {
            Ok(crossing) => crossing,
            Err(conflicts) => return only_late(&conflicts),
        };
        let check = |claimed: &Crossing| {
            checker::check_transition((&before, &old), (&after, &new), &kept(keeps), claimed)
        };
        prop_assert_eq!(check(&crossing), Ok(()));
        for step in [-1, 1] {
            let mut changed = crossing.clone();
            let all = changed.left.len() + changed.entered.len();
            let place = changed.left.iter_mut().chain(&mut changed.entered).nth(by % all).unwrap();
            *place = *place + Nanos(step);
            prop_assert!(check(&changed).is_err());
        }
        let mut short = crossing;
        short.entered.pop();
        prop_assert!(check(&short).is_err());
    }
}

fn planned(job: Job) -> (Job, Plan) {
    let planned = plan(&job).unwrap_or_else(|refusal| panic!("{refusal}"));
    (job, planned)
}

/// One work of this name, budget and deadline every millisecond, without costs.
fn alone(name: &str, budget: i64, deadline: i64) -> Job {
    let mut job = empty(&[0], guard_only(0));
    job.costs.preemption = Nanos::ZERO;
    job.sporadics.push(sporadic(name, ON_0, 5, (1_000_000, deadline), budget));
    job
}

fn cross(
    before: &(Job, Plan),
    after: &(Job, Plan),
    kept: &Kept,
) -> Result<Crossing, Vec<TransitionConflict>> {
    let (before, after) = ((&before.0, &before.1), (&after.0, &after.1));
    let crossing = transition(before, after, kept)?;
    assert_eq!(checker::check_transition(before, after, kept, &crossing), Ok(()));
    Ok(crossing)
}

// spec: MODE-PRIORITY-01
#[test]
fn one_run_of_what_ran_is_left_over_beside_the_mode() {
    let (before, after) = (planned(alone("old", 300, 1_000)), planned(alone("new", 200, 1_000)));
    let crossing = cross(&before, &after, &Kept::default()).expect("there is time");
    // The old run may begin just before its bound ends, and has its successor beside it; the new one waits for it once.
    assert_eq!((crossing.left[0], crossing.entered[0]), (Nanos(300 + 500), Nanos(500)));
    // And into what runs nothing at a priority, or out of it.
    let plain = planned(empty(&[0], guard_only(0)));
    assert_eq!(cross(&plain, &after, &Kept::default()).unwrap().entered, [Nanos(200)]);
    assert_eq!(cross(&before, &plain, &Kept::default()).unwrap().left, [Nanos(600)]);
}

#[test]
fn a_deadline_that_does_not_hold_across_the_switch_is_told_with_what_it_takes() {
    let (before, after) = (planned(alone("old", 300, 799)), planned(alone("new", 200, 1_000)));
    let told = |conflicts: Vec<TransitionConflict>| {
        assert_eq!(conflicts.len(), 1, "{conflicts:?}");
        conflicts[0].to_string()
    };
    let text = told(cross(&before, &after, &Kept::default()).expect_err("1 ns too little"));
    for word in ["\"old\" of what runs", "core 0", "800ns", "799ns"] {
        assert!(text.contains(word), "\"{word}\" is not in: {text}");
    }
    let (before, after) = (planned(alone("old", 300, 1_000)), planned(alone("new", 200, 499)));
    let text = told(cross(&before, &after, &Kept::default()).expect_err("1 ns too little"));
    for word in ["\"new\" of the mode", "500ns", "499ns"] {
        assert!(text.contains(word), "\"{word}\" is not in: {text}");
    }
}

/// Of less urgent work of the one set nothing is in the way of the other.
#[test]
fn levels_of_both_sets_compare() {
    let mut two = alone("low", 300, 10_000);
    two.sporadics.push(sporadic("high", ON_0, 9, (1_000_000, 600), 100));
    let (before, after) = (planned(alone("old", 250, 10_000)), planned(two));
    // "high" is of a level that nothing of what runs has.
    assert_eq!(cross(&before, &after, &Kept::default()).unwrap().entered, [Nanos(650), Nanos(100)]);
    assert_eq!(cross(&after, &before, &Kept::default()).unwrap().left[1], Nanos(200));
}

#[test]
fn what_may_come_at_any_rate_is_left_over_once_and_refused_where_it_spoils_a_promise() {
    let mut any = alone("any", 300, 0);
    (any.sporadics[0].interval, any.sporadics[0].deadline) = (None, None);
    let (any, promised) = (planned(any), planned(alone("promised", 200, 1_000)));
    let crossing = cross(&any, &promised, &Kept::default()).expect("one run of it is known");
    assert_eq!((crossing.left[0], crossing.entered[0]), (Nanos::MAX, Nanos(500)));
    let conflicts = cross(&promised, &any, &Kept::default()).expect_err("the last run of what is promised");
    let text = conflicts[0].to_string();
    assert!(text.contains("\"promised\" of what runs") && text.contains("smallest interval"), "{text}");
}

/// A channel of one priority, served at its two ends on two cores.
fn channel(deadline: i64, before: u16) -> Job {
    let mut job = empty(&[0, 1], guard_only(0));
    for number in 0..before {
        job.channels.push(time_driven(&format!("other{number}"), (0, 0), 1_000, (0, 500)));
        job.channels[usize::from(number)].qos = Qos::BestEffort;
    }
    let mut alarm = time_driven("alarm", (0, 0), 1, (0, 1));
    let (interval, deadline) = (Some(Nanos(1_000_000)), Some(Nanos(deadline)));
    alarm.qos = Qos::PriorityDriven { priority: 5, interval, deadline };
    job.channels.push(alarm);
    for (core, start) in
        [Start::Request(ChannelId(before)), Start::Message(ChannelId(before))].into_iter().enumerate()
    {
        let core = CoreChoice::Pinned(core as u32);
        let mut work = sporadic(&format!("{start:?}"), core, 5, (1_000_000, 0), 100);
        (work.deadline, work.start) = (deadline, start);
        job.sporadics.push(work);
    }
    job
}

// spec: MODE-KEEP-02
#[test]
fn a_kept_channel_has_a_bound_across_the_switch() {
    let kept = Kept { channels: vec![ChannelId(2)], ..Kept::default() };
    let (before, after) = (planned(channel(10_000, 0)), planned(channel(10_000, 2)));
    let crossing = cross(&before, &after, &kept).expect("there is time");
    // Its bound, then the run that is left over, then the one that waited beside that.
    let (first, last) = (crossing.entered[0], crossing.left[0]);
    assert!(first > Nanos(100) && last >= Nanos(300), "{first}, {last}");
    assert_eq!((crossing.entered[1], crossing.left[1]), (first, last));
    let most = last + last.max(first);
    assert!(cross(&planned(channel(most.0, 0)), &planned(channel(most.0, 2)), &kept).is_ok());
    let tight = most.0 - 1;
    let conflicts =
        cross(&planned(channel(tight, 0)), &planned(channel(tight, 2)), &kept).expect_err("1 ns less");
    assert!(conflicts[0].to_string().contains(&most.to_string()), "{}", conflicts[0]);
    // Not kept, it owes less.
    assert!(cross(&planned(channel(tight, 0)), &planned(channel(tight, 2)), &Kept::default()).is_ok());
}

/// The rules that a claim breaks, each with the task.
fn broken(
    before: &(Job, Plan),
    after: &(Job, Plan),
    kept: &Kept,
    claimed: &Crossing,
) -> Vec<(String, String)> {
    let found = checker::check_transition((&before.0, &before.1), (&after.0, &after.1), kept, claimed);
    let violations = found.expect_err("it breaks a rule");
    violations.into_iter().map(|violation| (violation.place, violation.rule)).collect()
}

fn late(task: &str) -> (String, String) {
    (format!("task `{task}`"), "it ends within its deadline across the switch".to_owned())
}

#[test]
fn the_checker_asks_for_deadlines_of_both_sets_across_the_switch() {
    let [mut before, mut after] = [alone("old", 300, 1_000), alone("new", 200, 1_000)].map(planned);
    let claimed = cross(&before, &after, &Kept::default()).expect("there is time");
    let mut with_deadlines = |old: i64, new: i64| {
        before.0.sporadics[0].deadline = Some(Nanos(old));
        after.0.sporadics[0].deadline = Some(Nanos(new));
        (before.clone(), after.clone())
    };
    let (old, new) = with_deadlines(800, 500);
    assert_eq!(
        checker::check_transition((&old.0, &old.1), (&new.0, &new.1), &Kept::default(), &claimed),
        Ok(())
    );
    let (old, new) = with_deadlines(799, 500);
    assert_eq!(broken(&old, &new, &Kept::default(), &claimed), [late("old")]);
    let (old, new) = with_deadlines(800, 499);
    assert_eq!(broken(&old, &new, &Kept::default(), &claimed), [late("new")]);
}

/// The deadline of a channel is that of both of its ends together, of the set before and of the set after.
#[test]
fn the_checker_adds_up_both_ends_of_a_channel_across_the_switch() {
    let [before, after] = [channel(10_000, 0), channel(10_000, 2)].map(planned);
    let kept = Kept { channels: vec![ChannelId(2)], ..Kept::default() };
    for kept in [Kept::default(), kept] {
        let claimed = cross(&before, &after, &kept).expect("there is time");
        let source_before = if kept.channels.is_empty() {
            claimed.left[1] + before.1.sporadics[0].response_bound
        } else {
            claimed.left[1].max(claimed.entered[1]) + claimed.left[0]
        };
        let source_after = claimed.entered[1] + claimed.entered[0];
        // The second work of each set is that of the receiving end.
        let check = |old: Nanos, new: Nanos| {
            let (mut before, mut after) = (before.clone(), after.clone());
            (before.0.sporadics[1].deadline, after.0.sporadics[1].deadline) = (Some(old), Some(new));
            let of = checker::check_transition((&before.0, &before.1), (&after.0, &after.1), &kept, &claimed);
            of.err().map(|violations| violations.into_iter().map(|v| (v.place, v.rule)).collect::<Vec<_>>())
        };
        let name = |job: &Job| job.sporadics[1].name.clone();
        assert_eq!(check(source_before, source_after), None);
        let one = Nanos(1);
        assert_eq!(check(source_before - one, source_after), Some(vec![late(&name(&before.0))]));
        assert_eq!(check(source_before, source_after - one), Some(vec![late(&name(&after.0))]));
    }
}

#[test]
fn the_checker_asks_that_every_instance_begins_before_the_switch() {
    let mut job = empty(&[0], guard_only(0));
    job.tasks.push(task("last", ON_0, 1_000, (900, 1_500), 10));
    let (job, mut plan) = planned(job);
    let nothing = planned(empty(&[0], guard_only(0)));
    let round = plan.hyperperiod;
    let mut begin = |start: Nanos| {
        plan.tasks[0].instances[0].segments = vec![Segment { start, end: start + Nanos(10) }];
        (job.clone(), plan.clone())
    };
    let claimed = Crossing { left: Vec::new(), entered: Vec::new() };
    let in_time = begin(round - Nanos(1));
    let (old, new) = ((&in_time.0, &in_time.1), (&nothing.0, &nothing.1));
    assert_eq!(checker::check_transition(old, new, &Kept::default(), &claimed), Ok(()));
    let late = begin(round);
    let rule = ("task `last`".to_owned(), "its last instance begins before the switch".to_owned());
    assert_eq!(broken(&late, &nothing, &Kept::default(), &claimed), [rule]);
}
