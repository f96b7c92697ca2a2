//! Plans that break one rule and keep all others: each rule of the checker bites by itself.
//!
//! A mutation of a single number usually breaks several rules at once, so it would be refused even if one of them were
//! not looked at. Here every number that follows from the forgery is forged with it.

use crate::common::{empty, guard_only, task, time_driven};
use leveret_plan::{CoreChoice, Job, Plan, PlannedInstance, Segment, checker, plan};
use leveret_types::{ChannelId, Nanos};

/// The rules that a forged plan breaks.
fn broken(job: &Job, forge: impl Fn(&mut Plan)) -> Vec<String> {
    let mut planned = plan(job).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(checker::check(&planned, job), Ok(()));
    forge(&mut planned);
    let violations = checker::check(&planned, job).expect_err("a forgery");
    let mut rules: Vec<String> = violations.into_iter().map(|violation| violation.rule).collect();
    rules.dedup();
    rules
}

/// Moves the only segment of an instance.
fn put(plan: &mut Plan, task: usize, instance: usize, start: i64, end: i64) {
    plan.tasks[task].instances[instance].segments = vec![Segment { start: Nanos(start), end: Nanos(end) }];
}

/// Two tasks on one core, [3, 13) and [16, 26) of every 100, after guards of 3.
fn pair() -> Job {
    let mut job = empty(&[0, 1], guard_only(3));
    for name in ["a", "b"] {
        job.tasks.push(task(name, CoreChoice::Pinned(0), 100, (3, 90), 10));
    }
    job
}

fn starts(job: &Job) -> Vec<i64> {
    let planned = plan(job).unwrap_or_else(|refusal| panic!("{refusal}"));
    planned.tasks.iter().map(|task| task.instances[0].start().0).collect()
}

#[test]
fn overlapping_executions() {
    let job = pair();
    assert_eq!(starts(&job), [3, 16]);
    let rules = broken(&job, |plan| {
        put(plan, 1, 0, 8, 18);
        plan.tasks[1].response_bound = Nanos(15);
        plan.cores[0].longest_gap = Nanos(82);
    });
    assert_eq!(rules, ["no two occupancies overlap"]);
}

#[test]
fn a_guard_within_another_execution() {
    let job = pair();
    let rules = broken(&job, |plan| {
        put(plan, 1, 0, 15, 25);
        plan.tasks[1].response_bound = Nanos(22);
        plan.cores[0].longest_gap = Nanos(75);
    });
    assert_eq!(rules, ["no two occupancies overlap"]);
}

#[test]
fn an_overlap_across_the_end_of_the_hyperperiod() {
    let mut job = pair();
    for task in &mut job.tasks {
        (task.release, task.deadline) = (Nanos(0), Nanos(120));
    }
    let rules = broken(&job, |plan| {
        // The first reaches from its guard at 97 to 10; the second ends at 99.
        put(plan, 0, 0, 0, 10);
        put(plan, 1, 0, 89, 99);
        plan.tasks[0].response_bound = Nanos(10);
        plan.tasks[1].response_bound = Nanos(99);
        plan.cores[0].longest_gap = Nanos(76);
    });
    assert_eq!(rules, ["no two occupancies overlap"]);
}

#[test]
fn an_execution_outside_its_window() {
    let job = pair();
    let rules = broken(&job, |plan| {
        put(plan, 1, 0, 81, 91);
        plan.tasks[1].response_bound = Nanos(88);
        plan.cores[0].longest_gap = Nanos(65);
    });
    assert_eq!(rules, ["it runs within its window, in one piece unless preemptible"]);
}

#[test]
fn a_shorter_execution() {
    let job = pair();
    let rules = broken(&job, |plan| {
        put(plan, 1, 0, 16, 25);
        plan.tasks[1].response_bound = Nanos(22);
        let core = &mut plan.cores[0];
        (core.used, core.left, core.longest_gap) = (Nanos(25), Nanos(75), Nanos(75));
    });
    assert_eq!(rules, ["it runs for its budget and every cost charged to it"]);
}

#[test]
fn another_core_than_the_one_pinned_to() {
    let job = pair();
    let rules = broken(&job, |plan| {
        plan.tasks[1].core = 1;
        let [one, other] = &mut plan.cores[..] else { panic!("two cores") };
        (one.used, one.left, one.longest_gap) = (Nanos(13), Nanos(87), Nanos(87));
        (other.used, other.left, other.longest_gap) = (Nanos(13), Nanos(87), Nanos(87));
    });
    assert_eq!(rules, ["it runs on the core it is pinned to, one of the job's"]);
}

#[test]
fn more_than_the_share_of_a_core() {
    let mut job = pair();
    job.costs.utilisation_permille = 260;
    let rules = broken(&job, |plan| {
        // One nanosecond longer, and no word of it.
        put(plan, 1, 0, 16, 27);
        plan.tasks[1].response_bound = Nanos(24);
        let core = &mut plan.cores[0];
        (core.used, core.left, core.longest_gap) = (Nanos(27), Nanos(73), Nanos(73));
    });
    assert_eq!(
        rules,
        ["no more than its share is used", "it runs for its budget and every cost charged to it"]
    );
}

#[test]
fn two_tasks_that_interrupt_each_other() {
    // `a` lies around `b` in the first 50, `b` around `a` in the second; both have 20 to run and 4 for an interruption.
    let mut job = empty(&[0], guard_only(0));
    job.costs.preemption = Nanos(4);
    for name in ["a", "b"] {
        let mut new = task(name, CoreChoice::Pinned(0), 50, (0, 50), 20);
        new.preemptible = true;
        job.tasks.push(new);
    }
    // So that two instances of each are planned.
    job.tasks.push(task("c", CoreChoice::Pinned(0), 100, (98, 99), 1));
    let segments = |parts: &[(i64, i64)]| -> Vec<Segment> {
        parts.iter().map(|(start, end)| Segment { start: Nanos(*start), end: Nanos(*end) }).collect()
    };
    for orders in [[0, 1], [1, 0], [1, 1], [0, 0]] {
        let rules = broken(&job, |plan| {
            let around = |at: i64| segments(&[(at, at + 2), (at + 22, at + 44)]);
            let inside = |at: i64| segments(&[(at + 2, at + 22)]);
            let fill = |instance: &mut PlannedInstance, parts| instance.segments = parts;
            let [a, b, _] = &mut plan.tasks[..] else { panic!("three tasks") };
            fill(&mut a.instances[0], around(0));
            fill(&mut b.instances[0], inside(0));
            fill(&mut b.instances[1], around(50));
            fill(&mut a.instances[1], inside(50));
            (a.response_bound, b.response_bound) = (Nanos(44), Nanos(44));
            (a.order, b.order) = (orders[0], orders[1]);
            let core = &mut plan.cores[0];
            (core.used, core.left, core.longest_gap) = (Nanos(89), Nanos(11), Nanos(6));
        });
        assert!(
            rules.contains(&"it is interrupted by whole instances of higher order".to_owned()),
            "{rules:?}"
        );
    }
}

#[test]
fn a_message_read_before_it_is_there() {
    let mut job = empty(&[0], guard_only(0));
    job.costs.publish = Nanos(2);
    job.channels.push(time_driven("ab", (0, 0), 100, (0, 50)));
    job.tasks.push(task("a", CoreChoice::Pinned(0), 100, (0, 60), 10));
    job.tasks.push(task("b", CoreChoice::Pinned(0), 100, (20, 90), 10));
    job.tasks[0].writes = vec![ChannelId(0)];
    job.tasks[1].reads = vec![ChannelId(0)];
    assert_eq!(starts(&job), [0, 50]);
    let rules = broken(&job, |plan| {
        put(plan, 1, 0, 49, 59);
        plan.tasks[1].response_bound = Nanos(39);
        plan.channels[0].latency_bound = Nanos(59);
        plan.cores[0].longest_gap = Nanos(41);
    });
    assert_eq!(rules, ["it runs within its window, in one piece unless preemptible"]);
    let rules = broken(&job, |plan| {
        // The insertion limit is 48.
        put(plan, 0, 0, 39, 49);
        plan.tasks[0].response_bound = Nanos(49);
        plan.channels[0].latency_bound = Nanos(21);
        plan.cores[0].longest_gap = Nanos(79);
    });
    assert_eq!(rules, ["it runs within its window, in one piece unless preemptible"]);
}

/// What a person reads of a forged plan first.
fn first_violation(job: &Job, changed: &Job, forge: impl Fn(&mut Plan)) -> String {
    let mut planned = plan(job).unwrap_or_else(|refusal| panic!("{refusal}"));
    forge(&mut planned);
    checker::check(&planned, changed).expect_err("a forgery")[0].to_string()
}

#[test]
fn a_violation_names_instance_and_instants() {
    let job = pair();
    let outside = first_violation(&job, &job, |plan| put(plan, 1, 0, 85, 95));
    assert_eq!(
        outside,
        "task `b` instance 0: it runs within its window, in one piece unless preemptible (it runs from 85ns to 95ns, its \
         window is [3ns, 90ns])"
    );
    let overlap = first_violation(&job, &job, |plan| {
        put(plan, 1, 0, 8, 18);
        plan.tasks[1].response_bound = Nanos(15);
        plan.cores[0].longest_gap = Nanos(82);
    });
    assert_eq!(
        overlap,
        "core 0: no two occupancies overlap (task `a` instance 0 from 3ns to 13ns and task `b` instance 0 from 8ns to \
         18ns, guards included, at 5ns)"
    );
}

/// A plan of the job as it was before a declaration changed: what no longer holds is named, then why.
#[test]
fn an_outdated_plan_is_told_what_it_breaks() {
    let job = pair();
    let mut changed = job.clone();
    changed.tasks[1].deadline = Nanos(20);
    let planned = plan(&job).unwrap_or_else(|refusal| panic!("{refusal}"));
    let violations = checker::check(&planned, &changed).expect_err("it was made for another job");
    assert_eq!(
        violations[0].to_string(),
        "task `b` instance 0: its window follows from its declaration and its messages (the plan has [3ns, 90ns], the job \
         makes it [3ns, 20ns])"
    );
    let last = violations.last().map(ToString::to_string).unwrap_or_default();
    assert!(last.contains("others when it was made"), "{last}");
    // Where all else holds, it was made for another job all the same.
    changed = job.clone();
    changed.members[0].name.push('x');
    let violations = checker::check(&planned, &changed).expect_err("it was made for another job");
    assert_eq!(violations.len(), 1, "{violations:?}");
}

#[test]
fn a_wrong_instant_of_a_channel_is_named() {
    let mut job = pair();
    job.channels.push(time_driven("ab", (0, 0), 100, (20, 60)));
    (job.tasks[0].writes, job.tasks[1].reads) = (vec![ChannelId(0)], vec![ChannelId(0)]);
    let wrong = first_violation(&job, &job, |plan| plan.channels[0].instances[0].visible_at = Nanos(61));
    assert!(
        wrong.starts_with("channel `ab`: ") && wrong.contains("instance 0: the plan has insert by "),
        "{wrong}"
    );
    assert!(wrong.contains("visible at 61ns, the job makes it ") && wrong.ends_with(" and 60ns)"), "{wrong}");
}
