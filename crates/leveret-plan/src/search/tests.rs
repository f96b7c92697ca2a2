//! The exhaustive search by itself. In a whole plan insertion comes first and finds nearly everything, so a branch that
//! the exhaustive search lacks would not be missed there.

#[path = "../../tests/common/mod.rs"]
mod common;

use super::{Effort, Outcome, assign, demand, insertion};
use crate::windows::Problem;
use crate::{CoreChoice, Costs, Job, Plan, assemble, checker};
use common::generate::{Shape, jobs};
use common::{empty, guard_only, oracle, task};
use leveret_types::Nanos;
use proptest::prelude::*;

/// A plan by exhaustive search alone; `None` is a proof that there is none.
fn alone(job: &Job) -> Option<Plan> {
    let problem = Problem::new(job).ok()?;
    if demand::hyperperiod_overload(&problem).is_some() {
        return None;
    }
    match assign::assign(&problem, &mut Effort::full()) {
        Outcome::Found(placement) => {
            let plan = assemble::assemble(job, &problem, &placement).expect("few buffers are needed");
            assert_eq!(checker::check(&plan, job), Ok(()));
            Some(plan)
        }
        Outcome::Impossible(_) | Outcome::Overloaded(_) => None,
        Outcome::Unknown { steps } => panic!("gave up after {steps} steps"),
    }
}

fn inserted(job: &Job) -> bool {
    Problem::new(job).is_ok_and(|problem| insertion::insert(&problem, &mut Effort::full(), 48).is_some())
}

#[test]
fn a_window_is_used_in_its_later_turn() {
    // `a` has the least room and starts at 3 at the latest. `c` must be over before that, and `b` before `c`: seen from
    // `a`, both come in the next round, although `b` alone could follow `a` at once.
    let mut job = empty(&[0], guard_only(0));
    for (name, window, budget) in [("a", (0, 9), 6), ("b", (0, 8), 1), ("c", (1, 7), 2)] {
        job.tasks.push(task(name, CoreChoice::Pinned(0), 20, window, budget));
    }
    assert!(alone(&job).is_some());
}

#[test]
fn a_failed_state_refutes_only_states_with_no_more_freedom() {
    // Found by chance: lost when the memory of failed states forgets how late the first instance may start.
    let mut job = empty(&[0], guard_only(0));
    let draws = [((9, 20), 3), ((2, 15), 5), ((5, 17), 2), ((2, 16), 4), ((4, 16), 2)];
    for (index, (window, budget)) in draws.into_iter().enumerate() {
        job.tasks.push(task(&format!("t{index}"), CoreChoice::Pinned(0), 20, window, budget));
    }
    assert!(oracle::feasible(&job) && alone(&job).is_some());
}

/// Two tasks that can interrupt each other, in several instances.
fn rivals() -> impl Strategy<Value = Job> {
    let draw = || (0..6_i64, 0..10_i64, 1..8_i64, any::<bool>());
    (draw(), draw(), 0..2_i64, 0..3_i64).prop_map(|(one, other, guard, preemption)| {
        let mut job = empty(&[0], guard_only(guard));
        job.costs.preemption.0 = preemption;
        for (name, (release, room, budget, preemptible), period) in [("one", one, 12), ("other", other, 18)] {
            let mut new =
                task(name, CoreChoice::Pinned(0), period, (release, release + budget + room), budget);
            new.preemptible = preemptible || room > 4;
            job.tasks.push(new);
        }
        job
    })
}

/// A core with hardly any time to spare and windows that cross the end of the hyperperiod, so that much depends on where the
/// circle is cut.
fn full_circles() -> impl Strategy<Value = Job> {
    prop::collection::vec((0..20_i64, 2..6_i64, 0..12_i64), 5).prop_map(|draws| {
        let mut job = empty(&[0], guard_only(0));
        for (index, (release, budget, room)) in draws.into_iter().enumerate() {
            let window = (release, release + budget + room);
            job.tasks.push(task(&format!("t{index}"), CoreChoice::Pinned(0), 20, window, budget));
        }
        job
    })
}

const ONE_CORE: Shape =
    Shape { cores: 1, tasks: 5, instances: 8, preemptible: false, channels: false, periods: &[8, 12, 24] };
const PREEMPTIBLE: Shape =
    Shape { preemptible: true, tasks: 4, instances: 5, periods: &[12, 24], ..ONE_CORE };
const LONGER: Shape = Shape { preemptible: true, tasks: 6, instances: 8, periods: &[20, 40], ..ONE_CORE };
const THREE_CORES: Shape = Shape { cores: 3, tasks: 7, instances: 8, periods: &[10, 20], ..ONE_CORE };

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_agrees_with_brute_force_on_one_core(job in jobs(ONE_CORE)) {
        prop_assert_eq!(alone(&job).is_some(), oracle::feasible(&job));
    }

    #[test]
    fn it_agrees_with_brute_force_under_preemption(job in jobs(PREEMPTIBLE)) {
        prop_assert_eq!(alone(&job).is_some(), oracle::feasible(&job));
    }

    #[test]
    fn it_agrees_with_brute_force_on_rivals(job in rivals()) {
        prop_assert_eq!(alone(&job).is_some(), oracle::feasible(&job));
    }

    #[test]
    fn it_agrees_with_brute_force_on_three_cores(job in jobs(THREE_CORES)) {
        prop_assert_eq!(alone(&job).is_some(), oracle::feasible(&job));
    }

    // What the search over assignments concludes from.
    #[test]
    fn a_core_that_can_run_tasks_can_run_fewer(job in jobs(PREEMPTIBLE)) {
        for left_out in 0..job.tasks.len() {
            let mut fewer = job.clone();
            fewer.tasks.remove(left_out);
            prop_assert!(alone(&job).is_none() || alone(&fewer).is_some());
        }
    }

    #[test]
    fn it_finds_what_insertion_finds(job in jobs(LONGER)) {
        prop_assert!(!inserted(&job) || alone(&job).is_some());
    }
}

proptest! {
    // Those that need a certain turn of a window, or all that is remembered of a failed state, are rare.
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_agrees_with_brute_force_on_full_circles(job in full_circles()) {
        prop_assert_eq!(alone(&job).is_some(), oracle::feasible(&job));
    }
}

/// The second task can interrupt the third only because the first, at the end of the round, pushes it far enough to the right.
#[test]
fn an_interruption_that_only_the_end_of_the_round_makes_one() {
    let costs = Costs { switch: Nanos(1), preemption: Nanos::ZERO, ..guard_only(0) };
    let mut job = empty(&[0], costs);
    let pinned = CoreChoice::Pinned(0);
    job.tasks.push(task("t0", pinned, 20, (2, 10), 1));
    job.tasks.push(task("t1", pinned, 40, (11, 14), 1));
    job.tasks.push(task("t2", pinned, 20, (2, 15), 8));
    job.tasks[2].preemptible = true;
    assert!(alone(&job).is_some());
}

/// Every way to give the free tasks cores, each planned with the tasks pinned.
fn some_assignment_fits(job: &Job) -> bool {
    let Some(free) = job.tasks.iter().position(|task| task.core == CoreChoice::Any) else {
        return alone(job).is_some();
    };
    job.cores.iter().any(|core| {
        let mut pinned = job.clone();
        pinned.tasks[free].core = CoreChoice::Pinned(*core);
        some_assignment_fits(&pinned)
    })
}

/// Free tasks of one instance each, tight enough that many sets are too much for a core; some of them alike.
fn crowds(cores: u32, tasks: usize) -> impl Strategy<Value = Job> {
    let draws = prop::collection::vec((0..40_i64, 1..20_i64, 0..16_i64, 0..8_usize), tasks);
    draws.prop_map(move |mut draws| {
        let mut job = empty(&(0..cores).collect::<Vec<_>>(), guard_only(1));
        for index in 0..draws.len() {
            let (like, above) = (draws[index].3, index.min(2));
            if above > 0 && like < above {
                draws[index] = draws[like];
            }
            let (release, budget, room, place) = draws[index];
            let core = if place == 7 { CoreChoice::Pinned(0) } else { CoreChoice::Any };
            job.tasks.push(task(&format!("t{index}"), core, 60, (release, release + budget + room), budget));
        }
        job
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_agrees_with_every_assignment_on_two_cores(job in crowds(2, 9)) {
        prop_assert_eq!(alone(&job).is_some(), some_assignment_fits(&job));
    }

    #[test]
    fn it_agrees_with_every_assignment_on_three_cores(job in crowds(3, 7)) {
        prop_assert_eq!(alone(&job).is_some(), some_assignment_fits(&job));
    }

    #[test]
    fn it_ends_with_eight_instances_for_each_of_two_cores(job in crowds(2, 16)) {
        let _ = alone(&job);
    }

    #[test]
    fn it_ends_with_eight_instances_for_each_of_four_cores(job in crowds(4, 32)) {
        let _ = alone(&job);
    }
}
