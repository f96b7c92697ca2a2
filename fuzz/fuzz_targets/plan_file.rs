//! Plan files: whatever they hold, the checker answers and the table is drawn; and what the checker accepts keeps the
//! promises that are computed here once more, in another way, and is drawn as a page and exported.
//!
//! Three sorts of input. `{"job": ..., "plan": ...}`: both as they stand. Other JSON: a plan for the ring. Anything
//! else: changes of single numbers in a good plan and its job, which lead deeper than text that is hardly ever a plan.

use crate::changes;
use crate::promises;
use leveret_exchange::tables;
use leveret_plan::{CoreChoice, Costs, Job, OverrunPolicy, Plan, Task, checker, digest, plan, render_table};
use leveret_report::picture;
use leveret_types::Nanos;
use serde::Deserialize;
use serde_json::Value;
use std::sync::OnceLock;

/// A table has a line for each stretch of execution of each core; plans of more text than this draw none.
const TABLE_TEXT_BYTES_MAX: usize = 1 << 16;
/// Instances beyond which a plan is neither drawn nor exported.
const DRAWN_INSTANCES_MAX: usize = 1_000;

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

fn examine(planned: &Plan, job: &Job, text_bytes: usize) {
    if checker::check(planned, job).is_ok() {
        promises::kept(planned, job);
        if planned.tasks.iter().map(|task| task.instances.len()).sum::<usize>() <= DRAWN_INSTANCES_MAX {
            assert!(tables::write(job, planned).lines().count() > 0);
            let page = picture::page(&picture::job(job, planned)).expect("it is small");
            assert!(page.trim_end().ends_with("</html>"), "the page is whole");
        }
    }
    if text_bytes <= TABLE_TEXT_BYTES_MAX {
        let _any = render_table(planned, job);
    }
}

fn change(bytes: &[u8]) {
    let Some((which, changes)) = bytes.split_first() else { return };
    let (_, trees) = &good()[usize::from(*which) % good().len()];
    let mut trees = trees.clone();
    for change in changes::all(changes) {
        let [plan_tree, job_tree] = &mut trees;
        change.tree(if change.what < 224 { plan_tree } else { job_tree });
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

pub fn run(bytes: &[u8]) {
    if bytes.first() != Some(&b'{') {
        change(bytes);
    } else if let Ok(mut pair) = serde_json::from_slice::<Pair>(bytes) {
        pair.plan.job_digest = digest(&pair.job);
        examine(&pair.plan, &pair.job, bytes.len());
    } else if let Ok(planned) = serde_json::from_slice::<Plan>(bytes) {
        examine(&planned, &good()[0].0, bytes.len());
    }
}
