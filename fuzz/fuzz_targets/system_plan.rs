//! Plans of tasks on several hosts: whatever they hold, the checker answers, and what it accepts is drawn as tables.
//!
//! JSON: a plan for the example. Anything else: changes of the example's plan and of its manifest.
#![no_main]

mod changes;

use leveret_manifest::parse_network;
use leveret_plan::checker::check_system;
use leveret_plan::network::Effort;
use leveret_plan::system::{System, SystemPlan, plan_system, render_system, summarise_system};
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
        }
        Err(violations) => {
            assert!(!violations.is_empty() && violations.iter().all(|one| !one.to_string().is_empty()));
        }
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
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
});
