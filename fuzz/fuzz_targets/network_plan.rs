//! Plans of networks: whatever they hold, the checker answers; what it accepts keeps its promises, and pages, gates and all else are made of it.
//!
//! `{"traffic": ..., "plan": ...}`: both as they stand. Other JSON: a plan for the example. Anything else: changes of a good plan and its traffic.

use crate::changes;
use crate::networks;
use leveret_exchange::tsnkit;
use leveret_plan::checker::check_network;
use leveret_plan::network::{NetworkPlan, Traffic};
use serde::Deserialize;
use serde_json::Value;
use std::sync::OnceLock;

#[derive(Deserialize)]
struct Pair {
    traffic: Traffic,
    plan: NetworkPlan,
}

/// Good networks; each with its traffic and plan as trees.
fn good() -> &'static [(Traffic, [Value; 2])] {
    static GOOD: OnceLock<Vec<(Traffic, [Value; 2])>> = OnceLock::new();
    GOOD.get_or_init(|| {
        let cells = networks::good(include_str!("../../examples/network/two-cells.toml")).traffic;
        let (topology, streams) = (
            include_str!("../../examples/network/topology.csv"),
            include_str!("../../examples/network/streams.csv"),
        );
        let imported =
            tsnkit::read(("topology", topology), ("streams", streams)).expect("the example is good");
        let tree = |traffic: Traffic| {
            let plan = networks::planned(&traffic).expect("the example has a plan");
            let trees = [serde_json::to_value(&traffic), serde_json::to_value(&plan)];
            (traffic, trees.map(|tree| tree.expect("can be written")))
        };
        vec![tree(cells), tree(imported)]
    })
}

fn examine(traffic: &Traffic, plan: &NetworkPlan) {
    if !networks::is_small(traffic) {
        return;
    }
    match check_network(plan, traffic) {
        Ok(()) => {
            networks::kept(plan, traffic);
            networks::used("fuzzed", traffic, plan);
        }
        Err(violation) => assert!(!violation.to_string().is_empty()),
    }
}

pub fn run(bytes: &[u8]) {
    if bytes.first() == Some(&b'{') {
        if let Ok(pair) = serde_json::from_slice::<Pair>(bytes) {
            examine(&pair.traffic, &pair.plan);
        } else if let Ok(plan) = serde_json::from_slice(bytes) {
            examine(&good()[0].0, &plan);
        }
        return;
    }
    let Some((which, rest)) = bytes.split_first() else { return };
    let [mut traffic, mut plan] = good()[usize::from(*which) % good().len()].1.clone();
    for change in changes::all(rest) {
        change.tree(if change.what < 160 { &mut plan } else { &mut traffic });
    }
    if let (Ok(traffic), Ok(plan)) = (serde_json::from_value(traffic), serde_json::from_value(plan)) {
        examine(&traffic, &plan);
    }
}
