//! Refusals of jobs that nobody can look through: many tasks, and periods that have no common measure.

use crate::common::{US, empty, guard_only, task, time_driven};
use leveret_plan::{Change, CoreChoice, ExplainBudget, Job, Refusal, RefusalKind, plan, plan_within};
use leveret_types::{ChannelId, INSTANCES_MAX, Nanos};

const ON_0: CoreChoice = CoreChoice::Pinned(0);

fn names(refusal: &Refusal) -> Vec<&str> {
    refusal.conflict.iter().map(|declaration| declaration.object.name.as_str()).collect()
}

/// The conflict has no plan, and has one without any single task. (The jobs here have no channels.)
fn is_minimal(job: &Job, refusal: &Refusal) {
    assert!(refusal.minimal, "{refusal}");
    let named = names(refusal);
    let only = |left_out: Option<&str>| {
        let mut part = job.clone();
        part.tasks.retain(|task| named.contains(&task.name.as_str()) && Some(task.name.as_str()) != left_out);
        part
    };
    assert!(plan(&only(None)).is_err(), "{refusal}");
    for left_out in &named {
        assert!(plan(&only(Some(left_out))).is_ok(), "{left_out} is needless in {refusal}");
    }
}

fn remedies_fit(job: &Job, refusal: &Refusal) {
    for remedy in &refusal.fits {
        let changed = remedy.apply(job).expect("applies");
        assert!(plan(&changed).is_ok(), "{remedy}");
    }
}

/// 30,030 ms in all; the two with the narrow windows meet somewhere, whatever the others do.
fn coprime() -> Job {
    let mut job = empty(&[0], guard_only(0));
    for (name, period, window, budget) in [
        ("two", 2, 2_000, 100),
        ("three", 3, 3_000, 200),
        ("five", 5, 500, 400),
        ("seven", 7, 500, 400),
        ("eleven", 11, 11_000, 300),
        ("thirteen", 13, 13_000, 300),
    ] {
        job.tasks.push(task(name, ON_0, period * 1_000 * US, (0, window * US), budget * US));
    }
    job
}

#[test]
fn six_coprime_periods_have_a_smallest_conflict() {
    let job = coprime();
    let refusal = plan(&job).expect_err("five and seven are due at once every 35 ms");
    assert_eq!(names(&refusal), ["five", "seven"], "{refusal}");
    is_minimal(&job, &refusal);
    remedies_fit(&job, &refusal);
    assert!(!refusal.fits.is_empty(), "{refusal}");
}

#[test]
fn an_overload_of_six_coprime_periods_is_the_fewest_that_are_too_many() {
    let mut job = empty(&[0], guard_only(0));
    for period in [2, 3, 5, 7, 11, 13] {
        let name = format!("p{period}");
        job.tasks.push(task(&name, ON_0, period * 1_000 * US, (0, period * 1_000 * US), period * 300 * US));
    }
    let refusal = plan(&job).expect_err("each asks for 30 %");
    assert_eq!(refusal.conflict.len(), 4, "{refusal}");
    assert!(refusal.overload.is_some());
    remedies_fit(&job, &refusal);
    let says = |words: &str| refusal.to_string().contains(words);
    assert!(refusal.minimal || says("was cut short after"), "{refusal}");
}

/// `count` tasks at ease on four cores, among which two collide.
fn planted(count: usize) -> Job {
    let mut job = empty(&[0, 1, 2, 3], guard_only(1_000));
    for number in 0..count {
        let period = [1_000, 2_000, 4_000, 5_000, 10_000][number % 5] * US;
        let core = CoreChoice::Pinned(number as u32 % 4);
        let mut at_ease = task(&format!("t{number}"), core, period, (0, period), period / (count as i64));
        at_ease.preemptible = false;
        job.tasks.push(at_ease);
    }
    for (name, release) in [("left", 100), ("right", 120)] {
        let at = count / 2;
        job.tasks.insert(
            at,
            task(name, CoreChoice::Pinned(2), 5_000 * US, (release * US, (release + 60) * US), 50 * US),
        );
    }
    job
}

#[test]
fn a_conflict_among_hundreds_of_tasks_is_found() {
    for count in [40, 100, 300] {
        let job = planted(count);
        let refusal = plan(&job).expect_err("50 and 50 in 80");
        let mut named = names(&refusal);
        named.sort_unstable();
        assert_eq!(named, ["left", "right"], "{count}: {refusal}");
        assert_eq!(refusal.kind, RefusalKind::Infeasible, "{count}");
        is_minimal(&job, &refusal);
        remedies_fit(&job, &refusal);
        assert!(!refusal.fits.is_empty(), "{refusal}");
    }
}

/// On each of three cores `at_once` tasks have one short window each of which holds half of them, beside many others.
fn conflicts(at_once: i64) -> Job {
    let mut job = empty(&[0, 1, 2, 3], guard_only(1_000));
    for number in 0..120_i64 {
        let period = [1_000, 2_000, 5_000, 10_000][number as usize % 4] * US;
        let core = CoreChoice::Pinned(number as u32 % 4);
        job.tasks.push(task(&format!("t{number}"), core, period, (0, period), period / 60));
    }
    for number in 0..3 * at_once {
        let (core, window) =
            (CoreChoice::Pinned((number % 3) as u32), (1_500 * US, (1_500 + 60 * at_once / 2) * US));
        job.tasks.push(task(&format!("w{number}"), core, 5_000 * US, window, 50 * US));
    }
    job
}

/// What finds no place gets more room, all at once: one conflict after the other would take more steps than there are.
#[test]
fn many_conflicts_at_once_are_told_what_fits() {
    for at_once in [4, 8, 12] {
        let job = conflicts(at_once);
        let refusal = plan(&job).expect_err("half of them find no room");
        remedies_fit(&job, &refusal);
        let first = refusal.fits.first().unwrap_or_else(|| panic!("{at_once}: {refusal}"));
        assert!(first.changes.len() >= 3, "each core has a conflict of its own: {first}");
    }
}

/// Tasks that ask for more the later they come, so that a few give what is too much of each core.
#[test]
fn of_an_overload_of_many_tasks_those_give_that_ask_for_most() {
    for core in [ON_0, CoreChoice::Any] {
        let cores: &[u32] = if core == ON_0 { &[0] } else { &[0, 1] };
        let mut job = empty(cores, guard_only(0));
        for number in 0..200_i64 * cores.len() as i64 {
            let budget = if number % 20 == 0 { 30 } else { 4 };
            job.tasks.push(task(&format!("t{number}"), core, 1_000 * US, (0, 1_000 * US), budget * US));
        }
        let refusal = plan(&job).expect_err("1.06 ms of every 1 ms");
        remedies_fit(&job, &refusal);
        let first = refusal.fits.first().unwrap_or_else(|| panic!("{refusal}"));
        let gives = |change: &Change| matches!(change, Change::Budget { from: Nanos(30_000), .. });
        assert!(first.changes.iter().all(gives), "{first}");
    }
}

#[test]
fn more_than_32_tasks_that_are_too_many_are_reduced_too() {
    let mut job = empty(&[0], guard_only(0));
    for number in 0..60_i64 {
        let name = format!("t{number}");
        job.tasks.push(task(&name, ON_0, 1_000 * US, (0, 1_000 * US), (15 + number % 7) * US));
    }
    let refusal = plan(&job).expect_err("1.08 ms of every 1 ms");
    assert!(refusal.conflict.len() > 32, "{refusal}");
    is_minimal(&job, &refusal);
}

#[test]
fn a_conflict_that_was_cut_short_says_after_how_many_steps() {
    let job = coprime();
    let refusal = plan_within(&job, ExplainBudget { conflict: 100, changes: 1_000 }).expect_err("as before");
    assert!(!refusal.minimal && refusal.search.conflict_steps >= 100, "{refusal}");
    let told = format!(
        "the search for the smallest set was cut short after {} steps",
        refusal.search.conflict_steps
    );
    assert!(refusal.to_string().contains(&told), "{refusal}");
}

#[test]
fn a_table_that_is_too_full_is_told_with_its_limit_and_a_nearest_period() {
    let mut job = empty(&[0], guard_only(0));
    for (name, period) in [("a", 1_000), ("b", 1_001), ("c", 2_000)] {
        job.tasks.push(task(name, ON_0, period * US, (0, 1_000 * US), 10 * US));
    }
    job.tasks.push(task("odd", ON_0, 1_003 * US, (0, 1_000 * US), 10 * US));
    let refusal = plan(&job).expect_err("two thousand times a thousand and three");
    let text = refusal.to_string();
    let most = format!(" times the {INSTANCES_MAX} that may be");
    for words in [
        "would repeat only after 2008.006s",
        "instances of tasks and transfers",
        &most,
        "`b` (1.001ms)",
        "`odd` (1.003ms)",
    ] {
        assert!(text.contains(words), "{words:?} in:\n{text}");
    }
    assert!(!text.contains("`a` (") && !text.contains("never"), "{text}");
    assert!(!refusal.fits.is_empty(), "{text}");
    remedies_fit(&job, &refusal);
    // The nearest that does is told: the other's, 2 us away.
    let nearest = refusal.fits.iter().flat_map(|remedy| &remedy.changes).any(|change| {
        matches!(change, Change::Period { object, to, .. } if object.name == "odd" && *to == Nanos(1_001 * US))
    });
    assert!(nearest, "{text}");
}

#[test]
fn periods_beyond_all_measure_are_fitted_together() {
    let mut job = empty(&[0], guard_only(0));
    for period in [1_009, 1_013, 1_019, 1_021, 1_031, 1_033] {
        job.tasks.push(task(&format!("p{period}"), ON_0, period * US, (0, 1_000 * US), 10 * US));
    }
    let refusal = plan(&job).expect_err("six primes");
    let text = refusal.to_string();
    assert!(text.contains("more than 292 years, 125738 times the 9007199.254740992s that may be"), "{text}");
    assert!(refusal.search.single_failed && !refusal.fits.is_empty(), "{text}");
    remedies_fit(&job, &refusal);
}

#[test]
fn a_group_that_is_tied_by_channels_gets_one_harmonic_period() {
    let mut job = empty(&[0], guard_only(0));
    job.tasks.push(task("base", ON_0, 1_000_000, (0, 900_000), 1_000));
    job.tasks.push(task("send", ON_0, 999_983, (0, 400_000), 1_000));
    job.tasks.push(task("take", ON_0, 999_983, (500_000, 900_000), 1_000));
    job.channels.push(time_driven("x", (0, 0), 999_983, (400_000, 500_000)));
    (job.tasks[1].writes, job.tasks[2].reads) = (vec![ChannelId(0)], vec![ChannelId(0)]);
    let refusal = plan(&job).expect_err("a prime beside a million");
    remedies_fit(&job, &refusal);
    let together = refusal.fits.iter().any(|remedy| {
        remedy.changes.len() == 3
            && remedy
                .changes
                .iter()
                .all(|change| matches!(change, Change::Period { to: Nanos(1_000_000), .. }))
    });
    assert!(together, "{refusal}");
}
