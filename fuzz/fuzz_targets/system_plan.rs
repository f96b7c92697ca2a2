//! Plans of tasks on several hosts: whatever they hold, the checker answers, and what it accepts is drawn, as tables and as a picture, compared with the
//! example's plan, and kept.
//!
//! JSON: a plan for the example. Anything else: changes of the example's plan and of its manifest.

use crate::changes;
use crate::networks;
use leveret_exchange::tables;
use leveret_manifest::parse_network;
use leveret_plan::ExplainBudget;
use leveret_plan::checker::check_system;
use leveret_plan::network::{Effort, plan_network};
use leveret_plan::system::{
    HostDiff, KeptSystem, System, SystemDiff, SystemPlan, diff_systems, keep_system, plan_system,
    plan_system_by, render_system, summarise_system,
};
use leveret_report::picture;
use serde_json::Value;
use std::sync::OnceLock;

const MANIFEST: &str = include_str!("../../examples/system/job.toml");

fn read(text: &str) -> Option<System> {
    parse_network(text, "job.toml").ok()?.system.map(|system| *system)
}

fn good() -> &'static (System, Value) {
    static GOOD: OnceLock<(System, Value)> = OnceLock::new();
    GOOD.get_or_init(|| {
        let system = read(MANIFEST).expect("the example has tasks");
        let plan =
            plan_system(&system, Effort::default()).unwrap_or_else(|refusal| panic!("{}", refusal.reason()));
        let tree = serde_json::to_value(&plan).expect("can be written");
        (system, tree)
    })
}

fn examine(system: &System, plan: &SystemPlan) {
    match check_system(plan, system) {
        Ok(()) => {
            assert!(!summarise_system(system, plan).render().is_empty());
            assert!(!render_system(system, plan).is_empty());
            assert!(tables::write_system(system, plan).starts_with("host,"));
            if let Ok(drawn) = picture::system(system, plan) {
                networks::pictures::drawn(&drawn);
            }
            let (first, _) = good();
            let old = good_plan();
            assert!(compared((system, plan), (system, plan)).is_empty(), "a plan differs from itself");
            compared((first, old), (system, plan));
            if networks::is_small_system(system) {
                kept((first, old), system);
                kept((system, plan), first);
                // A table that keeps less apart than ours do is planned anew.
                if let Some(same) = kept((system, plan), system).filter(|same| same.moved.is_ok()) {
                    let diff = compared((system, plan), (system, &same.plan));
                    assert!(diff.is_empty(), "what nobody touched has moved: {}", diff.render());
                }
            }
        }
        Err(violations) => {
            assert!(!violations.is_empty() && violations.iter().all(|one| !one.to_string().is_empty()));
        }
    }
}

fn good_plan() -> &'static SystemPlan {
    static PLAN: OnceLock<SystemPlan> = OnceLock::new();
    PLAN.get_or_init(|| serde_json::from_value(good().1.clone()).expect("it was written"))
}

/// What differs, told in both directions.
fn compared(first: (&System, &SystemPlan), second: (&System, &SystemPlan)) -> SystemDiff {
    let (there, back) = (diff_systems(first, second), diff_systems(second, first));
    assert_eq!(there.is_empty(), back.is_empty(), "what differs differs either way");
    assert_eq!((&there.added_chains, &there.removed_chains), (&back.removed_chains, &back.added_chains));
    let (ours, theirs) = (&there.network, &back.network);
    assert_eq!((&ours.added, &ours.removed), (&theirs.removed, &theirs.added));
    assert!(!there.render().is_empty() && !back.render().is_empty());
    serde_json::to_string(&there).expect("it is written as JSON");
    there
}

/// A plan of what is wanted that keeps another's, if there is one. It keeps every rule, and what it says is kept has not moved.
fn kept((old, plan): (&System, &SystemPlan), wanted: &System) -> Option<KeptSystem> {
    let effort = Effort { seed: 0, steps: networks::STEPS };
    let network = |traffic: &_| plan_network(traffic, effort).map(|(plan, _)| plan);
    let planner = |system: &System| plan_system_by(system, &network, ExplainBudget::NONE);
    let kept = keep_system((old, plan), wanted, &planner).ok()?;
    if let Err(violations) = check_system(&kept.plan, wanted) {
        panic!("what is kept is no plan: {}", violations[0]);
    }
    let diff = diff_systems((old, plan), (wanted, &kept.plan));
    if let Ok(others) = &kept.moved {
        let told = |name: &String| others.contains(name);
        let silent = diff
            .network
            .changed
            .iter()
            .find(|one| one.moved > 0 && !one.declared_otherwise && !told(&one.name));
        assert!(silent.is_none(), "a channel has moved in silence: {}", diff.render());
    }
    let told = |host: &&HostDiff| !kept.hosts.contains(&host.name);
    let silent = diff.hosts.iter().filter(told).flat_map(|host| &host.changed).find(|task| task.moved > 0);
    assert!(silent.is_none(), "a task has moved in silence: {}", diff.render());
    Some(kept)
}

pub fn run(bytes: &[u8]) {
    let (system, tree) = good();
    if bytes.first() == Some(&b'{') {
        if let Ok(plan) = serde_json::from_slice(bytes) {
            examine(system, &plan);
        }
        return;
    }
    let (mut plan, mut manifest) = (tree.clone(), None);
    for change in changes::all(bytes) {
        if change.what < 192 {
            change.tree(&mut plan);
        } else {
            manifest = Some(change.text(manifest.as_deref().unwrap_or(MANIFEST)));
        }
    }
    let Ok(plan) = serde_json::from_value(plan) else { return };
    match manifest {
        None => examine(system, &plan),
        Some(text) => read(&text).iter().for_each(|system| examine(system, &plan)),
    }
}
