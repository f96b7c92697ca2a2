//! Work beside the table: bounds against a played processor, refusals, and what the checker makes of changed plans.

use crate::common::player::{Arrivals, play};
use crate::common::{US, empty, guard_only, ring, sporadic, task, time_driven, us};
use leveret_plan::{
    Change, CoreChoice, Costs, Job, LateCause, Plan, Qos, Refusal, RefusalKind, Start, checker, digest, plan,
    validate,
};
use leveret_types::{ChannelId, MemberId, Nanos};
use proptest::prelude::*;

const ON_0: CoreChoice = CoreChoice::Pinned(0);

/// A table of up to three tasks and up to four works beside it, on one core.
fn jobs(preemption: std::ops::Range<i64>) -> impl Strategy<Value = Job> {
    let period = prop_oneof![Just(12_i64), Just(24), Just(48)];
    let tasks = prop::collection::vec((period, 0..8_i64, 1..4_i64, any::<bool>()), 0..=3);
    let works = prop::collection::vec((1..4_u8, 10..80_i64, 0..6_i64), 1..=4);
    let costs = (0..3_i64, 0..2_i64, preemption, 0..3_i64);
    (tasks, works, costs).prop_map(|(tasks, works, (guard, switch, preemption, publish))| {
        let costs = Costs { switch: Nanos(switch), publish: Nanos(publish), ..guard_only(guard) };
        let mut job = empty(&[0], Costs { preemption: Nanos(preemption), ..costs });
        for (index, (period, release, budget, preemptible)) in tasks.into_iter().enumerate() {
            let mut new = task(&format!("t{index}"), ON_0, period, (release, release + 20), budget);
            new.preemptible = preemptible;
            job.tasks.push(new);
        }
        for (index, (priority, interval, budget)) in works.into_iter().enumerate() {
            let name = format!("s{index}");
            job.sporadics.push(sporadic(&name, ON_0, priority, (interval, 10_000), budget));
        }
        job
    })
}

fn delay(job: &Job) -> i64 {
    (job.costs.publish + job.costs.guard).0
}

fn bounds(plan: &Plan) -> Vec<i64> {
    plan.sporadics.iter().map(|planned| planned.response_bound.0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_played_response_is_beyond_its_bound(
        job in jobs(0..4),
        gaps in prop::collection::vec((0..40_i64, 0..6_i64), 200),
        first in prop::collection::vec(0..60_i64, 4),
    ) {
        let Ok(plan) = plan(&job) else { return Ok(()) };
        let until = 2_000;
        let arrivals: Vec<Arrivals> = job.sporadics.iter().enumerate().map(|(work, sporadic)| {
            let mut at = first[work];
            let mut arrivals = Vec::new();
            for (gap, wait) in gaps.iter().skip(work * 7) {
                arrivals.push((at, (*wait).min(delay(&job))));
                // Often as soon as may be, sometimes later.
                at += sporadic.interval.unwrap().0 + if *gap < 20 { 0 } else { *gap };
            }
            arrivals
        }).collect();
        let played = play(&job, &plan, 0, &arrivals, until);
        for (longest, bound) in played.iter().zip(bounds(&plan)) {
            prop_assert!(*longest <= bound, "{longest} beyond {bound} of {job:#?}");
        }
    }

    #[test]
    fn the_checker_finds_the_same_bounds(job in jobs(0..4)) {
        let Ok(plan) = plan(&job) else { return Ok(()) };
        prop_assert_eq!(checker::check(&plan, &job), Ok(()));
        for index in 0..plan.sporadics.len() {
            for by in [-1, 1] {
                let mut changed = plan.clone();
                changed.sporadics[index].response_bound = changed.sporadics[index].response_bound + Nanos(by);
                prop_assert!(checker::check(&changed, &job).is_err());
            }
        }
    }

    // spec: EVENT-HANDLER-09
    #[test]
    fn more_budget_is_never_answered_sooner(job in jobs(0..4), which in 0..4_usize, more in 1..4_i64) {
        let mut heavier = job.clone();
        let which = which % job.sporadics.len();
        heavier.sporadics[which].budget = heavier.sporadics[which].budget + Nanos(more);
        match (plan(&job), plan(&heavier)) {
            (Ok(light), Ok(heavy)) => {
                for (light, heavy) in bounds(&light).iter().zip(bounds(&heavy)) {
                    prop_assert!(*light <= heavy);
                }
            }
            (Err(_), Ok(_)) => prop_assert!(false, "admitted with more, refused with less"),
            _ => {}
        }
    }

    #[test]
    fn a_refusal_keeps_what_it_says(job in jobs(0..4), tight in 5..60_i64) {
        let mut job = job;
        job.sporadics.iter_mut().for_each(|sporadic| sporadic.deadline = Some(Nanos(tight)));
        let Err(refusal) = plan(&job) else { return Ok(()) };
        let Some(late) = refusal.late.as_ref() else { return Ok(()) };
        let names_it = refusal.to_string().contains(&late.task.name);
        let is_overload = matches!(late.cause, LateCause::Overload { .. });
        prop_assert!(names_it || is_overload);
        prop_assert!(refusal.fits.is_sorted_by_key(|remedy| (remedy.decisions(), remedy.size())));
        for change in &refusal.fits {
            let changed = change.apply(&job).expect("the change names an object of the job");
            prop_assert!(plan(&changed).is_ok(), "{change} does not fit");
        }
    }
}

/// The ring, and beside it a channel from A to B whose messages are served on core 1.
fn ring_and_alarm(deadline: i64) -> Job {
    let mut job = ring(1_000);
    let mut alarm = time_driven("alarm", (0, 1), 1, (0, 1));
    let (priority, interval, deadline) = (7, Some(us(2_000)), Some(us(deadline)));
    alarm.qos = Qos::PriorityDriven { priority, interval, deadline };
    job.channels.push(alarm);
    let mut served = sporadic("alarm.service", CoreChoice::Pinned(1), 7, (2_000 * US, 0), 20 * US);
    (served.member, served.deadline) = (MemberId(1), deadline);
    served.start = Start::Message(ChannelId(3));
    job.sporadics.push(served);
    job
}

// spec: QOS-ADMIT-02, QOS-PRIORITY-04
#[test]
fn a_channel_beside_the_ring_has_a_bound_and_best_effort_the_rest() {
    let job = ring_and_alarm(500);
    let plan = plan(&job).unwrap();
    let bound = plan.sporadics[0].response_bound;
    assert_eq!(plan.channels[3].latency_bound, bound);
    // 1 us to be seen, 50 us to wake, 20 us and a switch and a copy, and B and its neighbour on the core in between.
    assert!(bound > us(76) && bound <= us(500), "{bound}");
    let core = &plan.cores[1];
    assert_eq!(core.used + core.sporadic + core.left, plan.hyperperiod);
    // 35.2 us of every 2 ms.
    assert_eq!(core.sporadic, Nanos(17_600));
    assert_eq!(plan.cores[0].sporadic, Nanos::ZERO);
    assert_eq!(checker::check(&plan, &job), Ok(()));
}

/// The single changes.
fn changes(refusal: &Refusal) -> impl Iterator<Item = &Change> {
    refusal.fits.iter().filter(|remedy| remedy.changes.len() == 1).map(|remedy| &remedy.changes[0])
}

fn refused(job: &Job) -> Refusal {
    plan(job).expect_err("it is refused")
}

#[test]
fn a_deadline_below_the_bound_is_refused_with_what_would_fit() {
    let bound = plan(&ring_and_alarm(500)).unwrap().sporadics[0].response_bound;
    let job = ring_and_alarm(bound.0 / US - 1);
    let refusal = refused(&job);
    assert_eq!(refusal.kind, RefusalKind::Infeasible);
    let late = refusal.late.as_ref().unwrap();
    assert_eq!((late.cause, late.core), (LateCause::Response { bound }, 1));
    assert!(refusal.minimal && refusal.conflict[0].object.name == "alarm.service", "{refusal}");
    let text = refusal.to_string();
    assert!(text.contains("`alarm.service`") && text.contains(&bound.to_string()), "{text}");
    let deadline = changes(&refusal).find(|change| matches!(change, Change::Deadline { .. })).unwrap();
    assert!(matches!(deadline, Change::Deadline { to, .. } if *to == bound));
    assert!(changes(&refusal).any(|change| matches!(change, Change::Budget { .. })), "{text}");
    for change in &refusal.fits {
        assert!(plan(&change.apply(&job).unwrap()).is_ok(), "{change}");
    }
}

#[test]
fn the_conflict_is_what_is_as_urgent_and_no_more() {
    let mut job = empty(&[0], guard_only(0));
    job.sporadics.push(sporadic("slow", ON_0, 1, (1_000, 90), 50));
    job.sporadics.push(sporadic("urgent", ON_0, 2, (1_000, 900), 50));
    job.sporadics.push(sporadic("idle", ON_0, 1, (1_000_000, 900), 1));
    job.sporadics.push(sporadic("background", ON_0, 1, (100_000, 90_000), 0));
    // Less urgent still: it has no part in it.
    job.sporadics[3].priority = 1;
    let refusal = refused(&job);
    let names: Vec<&str> = refusal.conflict.iter().map(|d| d.object.name.as_str()).collect();
    assert_eq!(names, ["slow", "urgent"], "{refusal}");
}

#[test]
fn a_deadline_without_an_interval_is_refused_with_the_remedy() {
    let mut job = ring_and_alarm(500);
    job.sporadics[0].interval = None;
    if let Qos::PriorityDriven { interval, .. } = &mut job.channels[3].qos {
        *interval = None;
    }
    let text = refused(&job).to_string();
    assert!(text.contains("`alarm.service`") && text.contains("smallest interval"), "{text}");
    // Without a deadline it is admitted, without a bound, and leaves nothing that could be promised.
    job.sporadics[0].deadline = None;
    if let Qos::PriorityDriven { deadline, .. } = &mut job.channels[3].qos {
        *deadline = None;
    }
    let plan = plan(&job).unwrap();
    assert_eq!((plan.sporadics[0].response_bound, plan.cores[1].left), (Nanos::MAX, Nanos::ZERO));
    assert_eq!(checker::check(&plan, &job), Ok(()));
}

#[test]
fn what_may_come_at_any_rate_spoils_only_what_is_less_urgent() {
    let mut job = empty(&[0], guard_only(0));
    job.sporadics.push(sporadic("promised", ON_0, 2, (1_000, 500), 50));
    job.sporadics.push(sporadic("any", ON_0, 1, (1_000, 500), 50));
    (job.sporadics[1].interval, job.sporadics[1].deadline) = (None, None);
    assert_eq!(plan(&job).unwrap().sporadics[0].response_bound, Nanos(50));
    job.sporadics[1].priority = 3;
    let refusal = refused(&job);
    assert_eq!(refusal.late.as_ref().unwrap().cause, LateCause::NoInterval);
    let names: Vec<&str> = refusal.conflict.iter().map(|d| d.object.name.as_str()).collect();
    assert_eq!(names, ["promised", "any"]);
}

#[test]
fn a_core_that_is_asked_for_too_much_is_told_with_the_share() {
    let mut job = empty(&[0, 1], guard_only(0));
    job.sporadics.push(sporadic("a", ON_0, 2, (100, 100), 60));
    job.sporadics.push(sporadic("b", ON_0, 1, (100, 1_000_000), 50));
    let refusal = refused(&job);
    assert!(matches!(refusal.late.as_ref().unwrap().cause, LateCause::Overload { .. }), "{refusal}");
    assert!(changes(&refusal).any(|change| matches!(change, Change::Core { to: 1, .. })), "{refusal}");
    // Free to choose, the second goes to the other core by itself.
    job.sporadics[1].core = CoreChoice::Any;
    let plan = plan(&job).unwrap();
    assert_eq!((plan.sporadics[0].core, plan.sporadics[1].core), (0, 1));
}

#[test]
fn bad_declarations_are_told_with_their_remedy() {
    let told = |change: fn(&mut Job)| {
        let mut job = ring_and_alarm(500);
        change(&mut job);
        validate(&job).expect_err("it is refused").iter().map(ToString::to_string).collect::<String>()
    };
    assert!(told(|job| job.sporadics[0].priority = 0).contains("from 1 to 90"));
    assert!(told(|job| job.sporadics[0].priority = 91).contains("from 1 to 90"));
    assert!(told(|job| job.sporadics[0].interval = Some(Nanos::ZERO)).contains("interval above 0"));
    assert!(told(|job| job.sporadics[0].core = CoreChoice::Pinned(9)).contains("core 9"));
    assert!(told(|job| job.sporadics[0].start = Start::Message(ChannelId(0))).contains("time-driven"));
    assert!(told(|job| job.sporadics.clear()).contains("nothing serves it"));
    assert!(told(|job| job.sporadics[0].name = "A.user".to_owned()).contains("more than once"));
    assert!(told(|job| job.tasks[1].reads.push(ChannelId(3))).contains("started by the channel"));
}

#[test]
fn no_change_of_a_plan_passes_the_checker() {
    let job = ring_and_alarm(500);
    let good = plan(&job).unwrap();
    let changes: [fn(&mut Plan); 7] = [
        |plan| plan.sporadics[0].core = 0,
        |plan| plan.sporadics[0].level = 1,
        |plan| plan.sporadics[0].sporadic = 1,
        |plan| plan.sporadics.clear(),
        |plan| plan.cores[1].sporadic = Nanos::ZERO,
        |plan| plan.cores[1].left = plan.hyperperiod,
        |plan| plan.channels[3].latency_bound = Nanos(1),
    ];
    for change in changes {
        let mut plan = good.clone();
        change(&mut plan);
        assert!(checker::check(&plan, &job).is_err());
    }
}

/// One sporadic task that an event starts, without costs: nothing but its own declaration bounds it.
fn unhindered(interval: i64, budget: i64) -> Job {
    let mut job = empty(&[0], guard_only(0));
    job.costs.preemption = Nanos::ZERO;
    job.sporadics.push(sporadic("alone", ON_0, 5, (interval, interval), budget));
    job
}

/// The same plan, said to be of a job with other declarations.
fn made_for(job: &Job, plan: &Plan) -> Plan {
    Plan { job_digest: digest(job), costs: job.costs, ..plan.clone() }
}

fn broken(job: &Job, plan: &Plan) -> Vec<(String, String)> {
    let violations = checker::check(&made_for(job, plan), job).expect_err("it breaks a rule");
    violations.into_iter().map(|violation| (violation.place, violation.rule)).collect()
}

#[test]
fn the_checker_asks_for_the_deadline_to_the_nanosecond() {
    let mut job = unhindered(1_000, 300);
    let plan = plan(&job).unwrap();
    let bound = plan.sporadics[0].response_bound;
    job.sporadics[0].deadline = Some(bound);
    assert_eq!(checker::check(&made_for(&job, &plan), &job), Ok(()));
    job.sporadics[0].deadline = Some(bound - Nanos(1));
    let rule = ("task `alone`".to_owned(), "it ends within its deadline".to_owned());
    assert_eq!(broken(&job, &plan), [rule]);
}

#[test]
fn the_checker_asks_for_the_share_of_a_core() {
    let mut job = unhindered(1_000, 300);
    let rule = || ("core 0".to_owned(), "no more than its share is used".to_owned());
    let alone = plan(&job).unwrap();
    job.costs.utilisation_permille = 300;
    assert_eq!(checker::check(&made_for(&job, &alone), &job), Ok(()));
    job.costs.utilisation_permille = 299;
    assert_eq!(broken(&job, &alone), [rule()]);

    // A table of 250 in 1000, and what each of its stretches costs by interrupting: together with the sporadic task 270 + 320.
    let mut job = unhindered(1_000, 300);
    job.costs.preemption = Nanos(20);
    job.tasks.push(task("table", ON_0, 1_000, (0, 1_000), 250));
    let both = plan(&job).unwrap();
    job.costs.utilisation_permille = 590;
    assert_eq!(checker::check(&made_for(&job, &both), &job), Ok(()));
    job.costs.utilisation_permille = 589;
    assert_eq!(broken(&job, &both), [rule()]);
}

/// As [`ring_and_alarm`], with a work that sends for A on core 0.
fn served_at_both_ends(deadline: i64) -> Job {
    let mut job = ring_and_alarm(deadline);
    let mut sender = job.sporadics[0].clone();
    (sender.name, sender.member) = ("alarm.sending".to_owned(), MemberId(0));
    (sender.core, sender.start) = (ON_0, Start::Request(ChannelId(3)));
    job.sporadics.push(sender);
    job
}

// spec: QOS-PRIORITY-04
#[test]
fn a_channel_served_at_both_ends_has_the_bound_of_both() {
    let job = served_at_both_ends(2_000);
    let plan = plan(&job).unwrap();
    let [target, source] = [0, 1].map(|index| plan.sporadics[index].response_bound);
    assert_eq!(plan.channels[3].latency_bound, target + source);
    assert_eq!(checker::check(&plan, &job), Ok(()));
    let mut changed = plan.clone();
    changed.channels[3].latency_bound = target;
    assert!(checker::check(&changed, &job).is_err());
    let mut tight = job.clone();
    let just_below = target + source - Nanos(1);
    assert!(target < just_below && source < just_below);
    tight.channels[3].qos =
        Qos::PriorityDriven { priority: 7, interval: Some(us(2_000)), deadline: Some(just_below) };
    tight.sporadics.iter_mut().for_each(|sporadic| sporadic.deadline = Some(just_below));
    let refusal = refused(&tight);
    let late = refusal.late.as_ref().unwrap();
    assert_eq!(late.cause, LateCause::BothEnds { bound: target + source });
    assert!(refusal.to_string().contains("the sending end"), "{refusal}");
    assert!(!refusal.fits.is_empty());
    for change in &refusal.fits {
        assert!(leveret_plan::plan(&change.apply(&tight).unwrap()).is_ok(), "{change} does not fit");
    }
}

#[test]
fn one_work_sends_for_a_channel_and_it_is_its_source_s() {
    let mut job = served_at_both_ends(2_000);
    job.sporadics[1].member = MemberId(1);
    let told = |job: &Job| validate(job).unwrap_err().iter().map(ToString::to_string).collect::<String>();
    assert!(told(&job).contains("comes from"), "{}", told(&job));
    let mut twice = served_at_both_ends(2_000);
    let again = leveret_plan::Sporadic { name: "again".to_owned(), ..twice.sporadics[1].clone() };
    twice.sporadics.push(again);
    assert!(told(&twice).contains("is sent on by both"), "{}", told(&twice));
}
