//! Jobs that share cores with others that run.

use crate::common::{US, empty, guard_only, sporadic, task};
use leveret_plan::{
    CoreChoice, Costs, Job, Other, Plan, Task, checker, collisions, cores_beside, plan, plan_beside,
};
use leveret_types::Nanos;

const GUARD: i64 = 50;

fn job(cores: &[u32], tasks: Vec<Task>) -> Job {
    Job { tasks, ..empty(cores, guard_only(GUARD)) }
}

fn planned(job: Job) -> (Job, Plan) {
    let planned = plan(&job).unwrap_or_else(|refusal| panic!("{refusal}"));
    (job, planned)
}

fn other(of: &(Job, Plan)) -> Other<'_> {
    Other { name: "first", job: &of.0, plan: &of.1 }
}

fn free(name: &str, period: i64, budget: i64) -> Task {
    task(name, CoreChoice::Any, period, (0, period), budget)
}

/// Who holds a core at this instant: the stretches of all instances, guards included.
fn holds((_, plan): &(Job, Plan), core: u32, at: i64) -> bool {
    let on_core = plan.tasks.iter().filter(|task| task.core == core);
    on_core.flat_map(|task| &task.instances).any(|instance| {
        let from = (instance.start() - plan.costs.guard).0;
        (at - from).rem_euclid(plan.hyperperiod.0) < instance.end().0 - from
    })
}

/// Nanosecond by nanosecond, over all rounds.
fn are_apart(one: &(Job, Plan), two: &(Job, Plan), until: i64) -> bool {
    one.0.cores.iter().all(|core| (0..until).all(|at| !(holds(one, *core, at) && holds(two, *core, at))))
}

// spec: SETUP-GROUP-03
#[test]
fn a_job_finds_its_places_around_one_that_runs() {
    // Rounds that are equal, multiples, divisors, and neither.
    for (first, second, budgets) in [
        (1_000, 1_000, (300, 300)),
        (1_000, 2_000, (300, 300)),
        (2_000, 1_000, (300, 200)),
        (1_200, 800, (100, 100)),
    ] {
        let running = planned(job(&[0], vec![free("a", first, budgets.0)]));
        let joining = job(&[0], vec![free("b", second, budgets.1)]);
        assert_eq!(cores_beside(&joining, &[other(&running)]), [0]);
        let plan = plan_beside(&joining, &[other(&running)]).unwrap_or_else(|refusal| panic!("{refusal}"));
        assert_eq!(checker::check(&plan, &joining), Ok(()));
        assert_eq!(plan.hyperperiod, Nanos(second));
        assert_eq!(collisions((&joining, &plan), &[other(&running)]), []);
        assert!(are_apart(&running, &(joining, plan), 6_000), "{first} {second}");
    }
}

#[test]
fn several_that_run_stay_apart_from_each_other() {
    let first = planned(job(&[0, 1], vec![free("a", 1_000, 400), free("b", 1_000, 400)]));
    let second = job(&[0, 1], vec![free("c", 2_000, 200), free("d", 1_000, 100)]);
    let plan = plan_beside(&second, &[other(&first)]).unwrap_or_else(|refusal| panic!("{refusal}"));
    let second = (second, plan);
    let third = job(&[0, 1], vec![free("e", 4_000, 50)]);
    let plan =
        plan_beside(&third, &[other(&first), other(&second)]).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(checker::check(&plan, &third), Ok(()));
    let third = (third, plan);
    assert!(are_apart(&first, &second, 8_000) && are_apart(&first, &third, 8_000));
    assert!(are_apart(&second, &third, 8_000));
}

// spec: SETUP-GROUP-03
#[test]
fn what_would_be_too_much_is_refused_with_what_runs_as_a_cause() {
    let running = planned(job(&[0], vec![free("a", 1_000, 600)]));
    let joining = job(&[0], vec![free("b", 1_000, 400)]);
    assert!(plan(&joining).is_ok(), "alone it fits");
    let refusal = plan_beside(&joining, &[other(&running)]).expect_err("1100 of 1000").to_string();
    assert!(refusal.contains("what runs on core 0 (1)") && refusal.contains("`b`"), "{refusal}");
    // Its window is full, though the core is not.
    let running = planned(job(&[0], vec![task("a", CoreChoice::Any, 1_000, (100, 300), 200)]));
    let joining = job(&[0], vec![task("b", CoreChoice::Any, 1_000, (150, 400), 200)]);
    assert!(plan_beside(&joining, &[other(&running)]).is_err());
}

#[test]
fn a_preemptible_task_is_not_interrupted_by_what_runs() {
    let running = planned(job(&[0], vec![task("a", CoreChoice::Any, 1_000, (400, 500), 100)]));
    let mut long = free("b", 1_000, 500);
    long.preemptible = true;
    let joining = job(&[0], vec![long]);
    assert!(plan_beside(&joining, &[other(&running)]).is_err());
    let mut shorter = free("b", 1_000, 300);
    shorter.preemptible = true;
    let joining = job(&[0], vec![shorter]);
    let plan = plan_beside(&joining, &[other(&running)]).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(checker::check(&plan, &joining), Ok(()));
    assert!(are_apart(&running, &(joining, plan), 2_000));
}

#[test]
fn a_longer_guard_than_that_of_what_runs_is_kept_too() {
    let running = planned(job(&[0], vec![free("a", 1_000, 100), free("b", 1_000, 100)]));
    let joining = Job { costs: guard_only(2 * GUARD), ..job(&[0], vec![free("c", 1_000, 100)]) };
    let plan = plan_beside(&joining, &[other(&running)]).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(checker::check(&plan, &joining), Ok(()));
    assert!(are_apart(&running, &(joining, plan), 1_000));
}

#[test]
fn with_real_costs_too() {
    let costs = Costs { clock_error: Nanos(US), ..Costs::default() };
    let with_costs = |tasks| Job { tasks, ..empty(&[0], costs) };
    let running = planned(with_costs(vec![free("a", 1_000 * US, 300 * US)]));
    let joining = with_costs(vec![free("b", 2_000 * US, 300 * US)]);
    let plan = plan_beside(&joining, &[other(&running)]).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(checker::check(&plan, &joining), Ok(()));
    assert_eq!(collisions((&joining, &plan), &[other(&running)]), []);
}

#[test]
fn work_at_priorities_shares_no_core_with_another_job() {
    let work = || vec![sporadic("work", CoreChoice::Any, 5, (1_000, 900), 10)];
    let running = planned(job(&[0], vec![free("a", 1_000, 100)]));
    let joining = Job { sporadics: work(), ..job(&[0, 1], Vec::new()) };
    assert_eq!(cores_beside(&joining, &[other(&running)]), [1]);
    let running = planned(Job { sporadics: work(), ..job(&[0], Vec::new()) });
    let joining = job(&[0, 1], vec![free("b", 1_000, 100)]);
    assert_eq!(cores_beside(&joining, &[other(&running)]), [1]);
}

#[test]
fn a_core_that_is_full_in_every_step_is_none() {
    // Seen by a job of 700, what runs every 1000 comes everywhere.
    let running = planned(job(&[0], vec![free("a", 1_000, 100)]));
    let joining = job(&[0, 1], vec![free("b", 700, 100)]);
    assert_eq!(cores_beside(&joining, &[other(&running)]), [1]);
}

#[test]
fn collisions_are_found() {
    let fixed = |name: &str, at: i64| task(name, CoreChoice::Any, 1_000, (at, at + 100), 100);
    let running = planned(job(&[0], vec![fixed("a", 300)]));
    // It holds [250, 400), and the other wants [at - 50, at + 100).
    for at in [100, 150, 151, 300, 449, 450] {
        let joining = planned(job(&[0], vec![fixed("b", at)]));
        let found = collisions((&joining.0, &joining.1), &[other(&running)]);
        assert_eq!(!found.is_empty(), 150 < at && at < 450, "{at}");
    }
}
