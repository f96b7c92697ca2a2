//! No mutation of a valid plan passes the checker, and no plan, however hostile, makes it panic.

use crate::common::generate::{Shape, jobs};
use crate::common::{empty, guard_only, ring, task, time_driven};
use leveret_plan::{CoreChoice, Job, Plan, checker, plan, render_table};
use leveret_types::ChannelId;
use proptest::prelude::*;
use serde_json::Value;

/// A job whose plan needs preemption, several instances, over- and undersampling, and all sorts of channels.
fn varied() -> Job {
    let mut job = empty(&[0, 1], guard_only(3));
    job.costs.switch.0 = 2;
    let long = task("long", CoreChoice::Pinned(0), 400, (0, 400), 150);
    job.tasks.push(long);
    job.tasks[0].preemptible = true;
    job.tasks.push(task("short", CoreChoice::Pinned(0), 100, (20, 50), 20));
    job.tasks.push(task("reader", CoreChoice::Pinned(1), 200, (10, 190), 20));
    job.tasks.push(task("free", CoreChoice::Any, 50, (0, 60), 6));
    job.channels.push(time_driven("fast", (0, 0), 100, (50, 80)));
    job.channels.push(time_driven("slow", (0, 0), 400, (350, 420)));
    let mut plain = time_driven("plain", (0, 0), 400, (0, 10));
    plain.qos = leveret_plan::Qos::BestEffort;
    job.channels.push(plain);
    job.tasks[0].writes = vec![ChannelId(1), ChannelId(2)];
    job.tasks[1].writes = vec![ChannelId(0)];
    job.tasks[2].reads = vec![ChannelId(0), ChannelId(1), ChannelId(2)];
    job
}

/// Paths of all values below `value`, as JSON pointers.
fn pointers(value: &Value, prefix: &str, out: &mut Vec<String>) {
    out.push(prefix.to_owned());
    match value {
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| pointers(item, &format!("{prefix}/{index}"), out));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, item)| pointers(item, &format!("{prefix}/{name}"), out));
        }
        _ => {}
    }
}

/// Everything that one value can be turned into.
fn mutants(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(number) => {
            let number = number.as_i64().map_or(i128::from(number.as_u64().unwrap_or(0)), i128::from);
            let others = [
                number + 1,
                number - 1,
                number + 1000,
                number - 1000,
                -number,
                number * 2,
                number ^ (1 << 40),
                0,
                i128::from(i64::MAX),
                i128::from(i64::MIN),
                i128::from(u32::MAX),
            ];
            let as_value =
                |n: &i128| i64::try_from(*n).map(Value::from).or_else(|_| u64::try_from(*n).map(Value::from));
            others.iter().filter_map(|n| as_value(n).ok()).collect()
        }
        Value::String(text) => vec![Value::from(format!("{text}x")), Value::from("")],
        Value::Array(items) => {
            let mut all = vec![Value::Array(Vec::new())];
            for place in 0..items.len() {
                let mut shorter = items.clone();
                shorter.remove(place);
                let mut longer = items.clone();
                longer.insert(place, items[place].clone());
                let mut swapped = items.clone();
                swapped.swap(place, (place + 1) % items.len());
                all.extend([shorter, longer, swapped].map(Value::Array));
            }
            all
        }
        _ => Vec::new(),
    }
}

/// Tries every mutation of every part; the number of mutants that were refused.
fn all_mutants_are_refused(job: &Job) -> usize {
    let original = plan(job).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(checker::check(&original, job), Ok(()));
    let tree = serde_json::to_value(&original).expect("a plan can be written");
    let mut places = Vec::new();
    pointers(&tree, "", &mut places);
    let mut refused = 0;
    for place in places {
        for mutant in mutants(tree.pointer(&place).expect("just listed")) {
            let mut mutated = tree.clone();
            *mutated.pointer_mut(&place).expect("just listed") = mutant;
            let Ok(mutated) = serde_json::from_value::<Plan>(mutated) else { continue };
            if mutated != original {
                assert!(checker::check(&mutated, job).is_err(), "a mutant at {place} passed");
                refused += 1;
            }
        }
    }
    refused
}

#[test]
fn no_mutant_of_the_ring_passes() {
    assert!(all_mutants_are_refused(&ring(1_000)) > 500);
}

#[test]
fn no_mutant_of_a_varied_plan_passes() {
    let job = varied();
    let planned = plan(&job).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert!(planned.tasks[0].instances[0].segments.len() > 1, "it is there to be interrupted");
    assert!(planned.tasks[1].order > planned.tasks[0].order);
    assert!(all_mutants_are_refused(&job) > 1_000);
}

/// What a hostile value may be.
fn hostile() -> impl Strategy<Value = i64> {
    prop_oneof![
        any::<i64>(),
        -300..300_i64,
        Just(i64::MAX),
        Just(i64::MIN),
        Just(1 << 53),
        Just(-(1 << 53)),
        Just(0),
    ]
}

/// Overwrites numbers all over a tree.
fn spoil(tree: &mut Value, changes: &[(usize, i64)]) {
    let mut places = Vec::new();
    pointers(tree, "", &mut places);
    for (place, number) in changes {
        if let Some(value @ Value::Number(_)) = tree.pointer_mut(&places[place % places.len()]) {
            *value = Value::from(*number);
        }
    }
}

const SMALL: Shape =
    Shape { cores: 2, tasks: 4, instances: 24, preemptible: true, channels: true, periods: &[8, 12, 24] };

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_hostile_plan_is_refused_without_panic(
        job in jobs(SMALL),
        changes in prop::collection::vec((any::<usize>(), hostile()), 1..12),
    ) {
        if let Ok(original) = plan(&job) {
            let mut tree = serde_json::to_value(&original).expect("a plan can be written");
            spoil(&mut tree, &changes);
            if let Ok(mutated) = serde_json::from_value::<Plan>(tree) {
                let _ = checker::check(&mutated, &job);
                let _ = render_table(&mutated, &job);
            }
        }
    }

    #[test]
    fn a_hostile_job_is_planned_or_refused_without_panic(
        job in jobs(SMALL),
        changes in prop::collection::vec((any::<usize>(), hostile()), 1..4),
    ) {
        let original = plan(&job);
        let mut tree = serde_json::to_value(&job).expect("a job can be written");
        spoil(&mut tree, &changes);
        if let Ok(mutated) = serde_json::from_value::<Job>(tree) {
            if let Ok(original) = original {
                prop_assert!(mutated == job || checker::check(&original, &mutated).is_err());
            }
            if let Ok(plan) = plan(&mutated) {
                prop_assert_eq!(checker::check(&plan, &mutated), Ok(()));
            }
        }
    }
}

/// Found by chance: each turn of a window that has millions of them leaves a state that failed, and looked through all of them. It did not end in
/// twenty minutes.
#[test]
fn a_search_through_many_turns_of_a_window_ends() {
    let mut job = empty(&[0, 1], guard_only(2));
    (job.costs.switch.0, job.costs.preemption.0, job.costs.clock_error.0, job.costs.copy_per_kib.0) =
        (1, 1, 1, 1);
    let draws = [
        (12, (0, 7), 2, false),
        (12, (9, 21), 3, false),
        (12, (11, 1 << 53), 7, true),
        (8, (7, 24), 5, true),
    ];
    for (index, (period, window, budget, preemptible)) in draws.into_iter().enumerate() {
        job.tasks.push(task(&format!("t{index}"), CoreChoice::Any, period, window, budget));
        job.tasks[index].preemptible = preemptible;
    }
    job.channels.push(time_driven("c0", (0, 0), 12, (3, 11)));
    job.channels[0].size.0 = 1106;
    job.tasks[1].writes = vec![ChannelId(0)];
    job.tasks[2].reads = vec![ChannelId(0)];
    assert!(plan(&job).is_err(), "two cores have too little time for it");
}
