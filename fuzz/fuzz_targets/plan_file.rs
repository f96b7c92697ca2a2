//! Plan files: whatever they hold, the checker answers and the table is drawn; and what the checker accepts keeps the
//! promises that are computed here once more, in another way.
//!
//! Three sorts of input. `{"job": ..., "plan": ...}`: both as they stand. Other JSON: a plan for the ring. Anything
//! else: changes of single numbers in a good plan and its job, which lead deeper than text that is hardly ever a plan.
#![no_main]

mod promises;

use leveret_plan::{CoreChoice, Costs, Job, OverrunPolicy, Plan, Task, checker, digest, plan, render_table};
use leveret_types::Nanos;
use serde::Deserialize;
use serde_json::Value;
use std::sync::OnceLock;

/// Bytes of one change: what to change, where, how, and a number.
const CHANGE_BYTES: usize = 6;
/// A table has a line for each stretch of execution of each core; plans of more text than this draw none.
const TABLE_TEXT_BYTES_MAX: usize = 1 << 16;

#[derive(Deserialize)]
struct Pair {
    job: Job,
    plan: Plan,
}

fn example(text: &str) -> Job {
    let manifest = leveret_manifest::parse_bytes(text.as_bytes(), "job.toml").expect("the example is good");
    let costs = manifest.costs.costs(Some(Nanos::from_micros(50)));
    leveret_protocol::assemble::assemble(&manifest.declaration, &[], costs).expect("it needs no code").job
}

/// A task that is interrupted, and tasks that choose their core.
fn preempted() -> Job {
    let costs = Costs { guard: Nanos(3), switch: Nanos(2), preemption: Nanos(1), ..Costs::default() };
    let task = |name: &str, core, period, window: (i64, i64), budget| Task {
        name: name.to_owned(),
        member: leveret_types::MemberId(0),
        period: Nanos(period),
        release: Nanos(window.0),
        deadline: Nanos(window.1),
        budget: Nanos(budget),
        core,
        preemptible: name == "long",
        overrun: OverrunPolicy::Skip,
        reads: Vec::new(),
        writes: Vec::new(),
        mover: false,
    };
    let (pinned, free) = (CoreChoice::Pinned(0), CoreChoice::Any);
    Job {
        name: "preempted".to_owned(),
        cores: vec![0, 1],
        members: vec![leveret_plan::Member { name: "m".to_owned() }],
        tasks: vec![
            task("long", pinned, 400, (0, 400), 150),
            task("short", pinned, 100, (20, 50), 20),
            task("free", free, 50, (0, 60), 6),
        ],
        channels: Vec::new(),
        sporadics: Vec::new(),
        costs,
    }
}

/// Good jobs, and with each its plan: both as values and as trees.
fn good() -> &'static [(Job, [Value; 2])] {
    static GOOD: OnceLock<Vec<(Job, [Value; 2])>> = OnceLock::new();
    GOOD.get_or_init(|| {
        let ring = example(include_str!("../../examples/ring/job.toml"));
        let tutorial = example(include_str!("../../examples/tutorial/fits.toml"));
        [ring, tutorial, preempted()]
            .map(|job| {
                let planned = plan(&job).expect("admitted");
                checker::check(&planned, &job).expect("and rightly so");
                promises::kept(&planned, &job);
                let trees = [serde_json::to_value(&planned), serde_json::to_value(&job)];
                (job, trees.map(|tree| tree.expect("can be written")))
            })
            .into()
    })
}

/// All numbers in a tree.
fn numbers<'a>(tree: &'a mut Value, out: &mut Vec<&'a mut Value>) {
    match tree {
        Value::Number(_) => out.push(tree),
        Value::Array(items) => items.iter_mut().for_each(|item| numbers(item, out)),
        Value::Object(fields) => fields.values_mut().for_each(|item| numbers(item, out)),
        _ => {}
    }
}

fn changed(old: &Value, how: u8, number: i16) -> Value {
    let (old, number) = (old.as_i64().unwrap_or(0), i64::from(number));
    Value::from(match how % 8 {
        0 => old.wrapping_add(number),
        1 => old.wrapping_mul(number),
        2 => number,
        3 => old ^ (1 << (number & 63)),
        4 => i64::MAX - number.abs(),
        5 => i64::MIN + number.abs(),
        6 => 1 << (number & 63),
        _ => old.wrapping_add(number * 1_000),
    })
}

fn examine(planned: &Plan, job: &Job, text_bytes: usize) {
    if checker::check(planned, job).is_ok() {
        promises::kept(planned, job);
    }
    if text_bytes <= TABLE_TEXT_BYTES_MAX {
        let _any = render_table(planned, job);
    }
}

fn change(bytes: &[u8]) {
    let Some((which, changes)) = bytes.split_first() else { return };
    let (_, trees) = &good()[usize::from(*which) % good().len()];
    let mut trees = trees.clone();
    for change in changes.chunks_exact(CHANGE_BYTES) {
        let [plan_tree, job_tree] = &mut trees;
        let mut places = Vec::new();
        numbers(if change[0] < 224 { plan_tree } else { job_tree }, &mut places);
        let place = usize::from(u16::from_le_bytes([change[1], change[2]])) % places.len();
        *places[place] = changed(places[place], change[3], i16::from_le_bytes([change[4], change[5]]));
    }
    let [plan_tree, job_tree] = trees;
    if let (Ok(mut planned), Ok(job)) =
        (serde_json::from_value::<Plan>(plan_tree), serde_json::from_value(job_tree))
    {
        // No change could guess it, and all that lies behind would stay unseen.
        planned.job_digest = digest(&job);
        examine(&planned, &job, 0);
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if bytes.first() != Some(&b'{') {
        change(bytes);
    } else if let Ok(mut pair) = serde_json::from_slice::<Pair>(bytes) {
        pair.plan.job_digest = digest(&pair.job);
        examine(&pair.plan, &pair.job, bytes.len());
    } else if let Ok(planned) = serde_json::from_slice::<Plan>(bytes) {
        examine(&planned, &good()[0].0, bytes.len());
    }
});
