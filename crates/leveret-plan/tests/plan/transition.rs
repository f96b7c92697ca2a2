//! From one plan to another at the end of a round.

use crate::common::{empty, guard_only, task};
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

/// Of several instances in a round the last of what runs, and the first of the mode, are not the only ones that are judged.
#[test]
fn one_instance_of_several_that_conflicts_is_enough() {
    let twice = |name: &str, window: (i64, i64)| {
        let mut new = tight(name, 0, window);
        new.period = Nanos(PERIOD / 2);
        job(&[0, 1], vec![new, task("whole", CoreChoice::Pinned(1), PERIOD, (GUARD, 500), 10)])
    };
    let (before, after) = (twice("last", (200, 450)), twice("first", (0, 250)));
    assert_eq!(check(&before, &after), Ok(()));
    let before = twice("last", (201, 451));
    let found = check(&before, &after).expect_err("the second of them ends one nanosecond too late");
    assert_eq!(found.len(), 1);
    let claimed = Crossing::default();
    let broken =
        checker::check_transition((&before.0, &before.1), (&after.0, &after.1), &Kept::default(), &claimed);
    let broken = broken.expect_err("one nanosecond too many");
    assert_eq!(broken[0].rule, "it has left its core when the first instance of the mode needs it");
    assert_eq!((broken.len(), broken[0].place.as_str()), (1, "task `last`"));
}

#[test]
fn every_instance_begins_before_the_switch() {
    let mut twice = tight("twice", 0, (200, 450));
    twice.period = Nanos(PERIOD / 2);
    let whole = task("whole", CoreChoice::Pinned(1), PERIOD, (GUARD, 500), 10);
    let (before, after) = (job(&[0, 1], vec![twice, whole]), job(&[0, 1], Vec::new()));
    assert_eq!(check(&before, &after), Ok(()));
    let mut late = before.1.clone();
    late.tasks[0].instances[1].segments[0].start = Nanos(PERIOD);
    let (kept, claimed) = (Kept::default(), Crossing::default());
    let broken = checker::check_transition((&before.0, &late), (&after.0, &after.1), &kept, &claimed);
    assert_eq!(
        broken.expect_err("the second begins late")[0].rule,
        "its last instance begins before the switch"
    );
}

#[test]
fn bounds_of_works_that_one_side_lacks_are_refused() {
    let (before, after) = (job(&[0], Vec::new()), job(&[0], Vec::new()));
    for (left, entered) in [(1, 0), (0, 1)] {
        let bounds = |count| vec![Nanos::ZERO; count];
        let claimed = Crossing { left: bounds(left), entered: bounds(entered) };
        let found = checker::check_transition(
            (&before.0, &before.1),
            (&after.0, &after.1),
            &Kept::default(),
            &claimed,
        );
        assert_eq!(found.expect_err("no such work")[0].rule, "it covers all work of both plans");
    }
    // Nor a plan of other tasks than its job's.
    let other = job(&[0], vec![tight("t", 0, (100, 200))]);
    let claimed = Crossing::default();
    for (job, plan) in [(&before.0, &other.1), (&other.0, &before.1)] {
        let found = checker::check_transition((job, plan), (&after.0, &after.1), &Kept::default(), &claimed);
        assert_eq!(found.expect_err("another job's plan")[0].rule, "it covers all work of both plans");
    }
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
