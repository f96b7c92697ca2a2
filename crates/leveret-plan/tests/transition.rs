//! From one plan to another at the end of a round.

mod common;

use common::{empty, guard_only, task};
use leveret_plan::{
    CoreChoice, Crossing, Job, Kept, Plan, Task, TransitionConflict, checker, plan, transition,
};
use leveret_types::Nanos;

const PERIOD: i64 = 1_000;
const GUARD: i64 = 50;

fn job(cores: &[u32], tasks: Vec<Task>) -> (Job, Plan) {
    let job = Job { tasks, ..empty(cores, guard_only(GUARD)) };
    let planned = plan(&job).unwrap_or_else(|refusal| panic!("{refusal}"));
    (job, planned)
}

/// One task that needs its whole window.
fn tight(name: &str, core: u32, window: (i64, i64)) -> Task {
    task(name, CoreChoice::Pinned(core), PERIOD, window, window.1 - window.0)
}

fn check(before: &(Job, Plan), after: &(Job, Plan)) -> Result<(), Vec<TransitionConflict>> {
    let (before, after) = ((&before.0, &before.1), (&after.0, &after.1));
    let found = transition(before, after, &Kept::default());
    // The tables alone: the checker finds what the planner finds.
    let checked = checker::check_transition(before, after, &Kept::default(), &Crossing::default());
    assert_eq!(found.is_ok(), checked.is_ok(), "{found:?}, {checked:?}");
    found.map(drop)
}

// spec: MODE-COMMIT-01
#[test]
fn the_last_instance_with_its_guard_ends_before_the_first_wakes() {
    let before = job(&[0], vec![tight("last", 0, (600, 900))]);
    // The guard lies before the switch, in what the old plan leaves free: [-50, 0) after [-400, -100).
    let after = job(&[0], vec![tight("first", 0, (0, 300))]);
    assert_eq!(check(&before, &after), Ok(()));
    let before = job(&[0], vec![tight("last", 0, (600, 951))]);
    let conflicts = check(&before, &after).expect_err("one nanosecond too many");
    let expected = TransitionConflict::Overlap {
        core: 0,
        before: "last".to_owned(),
        ends: Nanos(-49),
        after: "first".to_owned(),
        wakes: Nanos(-50),
    };
    assert_eq!(conflicts, [expected]);
    let told = conflicts[0].to_string();
    assert!(told.contains("\"last\" of what runs ends 49ns before") && told.contains("\"first\""), "{told}");
}

#[test]
fn tasks_on_other_cores_and_later_first_instances_are_no_conflict() {
    let before = job(&[0, 1], vec![tight("last", 0, (600, 1_000)), tight("other", 1, (0, 100))]);
    for first in [tight("first", 1, (0, 300)), tight("first", 0, (50, 300))] {
        assert_eq!(check(&before, &job(&[0, 1], vec![first])), Ok(()));
    }
    let conflicts = check(&before, &job(&[0, 1], vec![tight("first", 0, (49, 300))]));
    assert_eq!(conflicts.expect_err("its guard begins one nanosecond before the switch").len(), 1);
}

/// Of two plans that both fit, each on the circle of its own round, every pair is judged.
#[test]
fn every_pair_that_conflicts_is_named() {
    let before = job(&[0, 1], vec![tight("a", 0, (700, 1_000)), tight("b", 1, (700, 1_000))]);
    let after = job(&[0, 1], vec![tight("c", 0, (0, 100)), tight("d", 1, (0, 100))]);
    let conflicts = check(&before, &after).expect_err("both cores");
    assert_eq!(conflicts.len(), 2, "{conflicts:?}");
    assert_eq!(check(&after, &before), Ok(()), "and back it fits");
}
