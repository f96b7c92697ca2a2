//! Networks from outside: the files of the tsnkit collection, and plans of a network. What is read is planned, and the plan kept to its rules;
//! a plan that comes with its traffic is judged. Nothing panics.
#![no_main]

use leveret_exchange::tsnkit;
use leveret_plan::checker::check_network;
use leveret_plan::network::{Effort, NetworkPlan, Traffic, plan_network};

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
    let Some((topology, streams)) = text.split_once("\n\n") else { return };
    match tsnkit::read(("topology", topology), ("streams", streams)) {
        Err(error) => assert!(error.to_string().contains("line")),
        Ok(traffic) if traffic.streams.len() * traffic.network.links.len() < 2_000 => {
            let instances: i64 = traffic
                .validate()
                .map_or(0, |round| traffic.streams.iter().map(|stream| round.0 / stream.period.0).sum());
            if instances < 5_000
                && let Ok((plan, _)) = plan_network(&traffic, Effort { seed: 0, steps: 10_000 })
            {
                check_network(&plan, &traffic).expect("a plan of ours keeps every rule");
                tsnkit::write(&traffic, &plan);
            }
        }
        Ok(_) => {}
    }
});
