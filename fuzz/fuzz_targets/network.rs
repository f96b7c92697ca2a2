//! Networks from outside: manifests, the files of the tsnkit collection, and plans of a network. What is read is planned, and the plan kept to its
//! rules; a plan that comes with its traffic is judged. Nothing panics.
#![no_main]

use leveret_exchange::tsnkit;
use leveret_plan::checker::check_network;
use leveret_plan::network::{Effort, NetworkPlan, Traffic, plan_network, summarise};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok((traffic, plan)) = serde_json::from_slice::<(Traffic, NetworkPlan)>(bytes) {
        if traffic.validate().is_ok()
            && let Err(violation) = check_network(&plan, &traffic)
        {
            assert!(!violation.to_string().is_empty());
        }
        return;
    }
    let text = String::from_utf8_lossy(bytes);
    if leveret_manifest::is_network(&text) {
        if let Ok(manifest) = leveret_manifest::parse_network(&text, "job.toml") {
            planned(&manifest.traffic);
        }
        return;
    }
    let Some((topology, streams)) = text.split_once("\n\n") else { return };
    match tsnkit::read(("topology", topology), ("streams", streams)) {
        Err(error) => assert!(error.to_string().contains("line")),
        Ok(traffic) => {
            if let Some(plan) = planned(&traffic) {
                tsnkit::write(&traffic, &plan);
            }
        }
    }
});

/// A plan that keeps every rule, of traffic that is small enough; a refusal has words.
fn planned(traffic: &Traffic) -> Option<NetworkPlan> {
    let channels = traffic.streams.len() + traffic.flows.len();
    let round = traffic.validate().ok()?;
    let instances: i64 = traffic.streams.iter().map(|stream| round.0 / stream.period.0).sum();
    if channels * traffic.network.links.len() >= 2_000 || instances >= 5_000 {
        return None;
    }
    match plan_network(traffic, Effort { seed: 0, steps: 10_000 }) {
        Ok((plan, _)) => {
            check_network(&plan, traffic).expect("a plan of ours keeps every rule");
            assert!(!summarise(traffic, &plan).render().is_empty());
            Some(plan)
        }
        Err(refusal) => {
            assert!(!refusal.reason(traffic).is_empty());
            None
        }
    }
}
