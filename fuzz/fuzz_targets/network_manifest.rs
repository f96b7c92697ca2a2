//! Manifests of networks, with and without tasks on the hosts: any bytes, and good manifests with changed numbers, lines, sections and names. What is
//! read is planned, and the plan keeps its promises; what is not has errors that name a place.

use crate::changes;
use crate::networks;
use leveret_manifest::parse_network;
use leveret_plan::ExplainBudget;
use leveret_plan::checker::check_system;
use leveret_plan::network::{Effort, plan_network};
use leveret_plan::system::{System, plan_system_by, render_system, summarise_system};

const GOOD: [&str; 5] = [
    include_str!("../../examples/network/two-cells.toml"),
    include_str!("../../examples/system/job.toml"),
    include_str!("../seeds/network_manifest/overload.toml"),
    include_str!("../seeds/network_manifest/unison.toml"),
    include_str!("../seeds/network_manifest/argument.toml"),
];
/// What changed manifests begin with; no text does.
const CHANGED: u8 = 0xff;

pub fn run(bytes: &[u8]) {
    let text = match bytes {
        [CHANGED, which, rest @ ..] => {
            let good = GOOD[usize::from(*which) % GOOD.len()].to_owned();
            changes::all(rest).fold(good, |text, change| change.text(&text))
        }
        _ => String::from_utf8_lossy(bytes).into_owned(),
    };
    match parse_network(&text, "job.toml") {
        Err(errors) => {
            assert!(!errors.is_empty(), "refused without a reason");
            assert!(errors.iter().all(|error| error.to_string().contains("job.toml")), "no place is named");
        }
        Ok(manifest) => match &manifest.system {
            Some(system) => examine(system),
            None => {
                let again = parse_network(&manifest.render(), "again.toml");
                assert_eq!(again.as_ref(), Ok(&manifest), "what is written is read back");
                if let Some(plan) = networks::planned(&manifest.traffic) {
                    networks::used(&manifest.name, &manifest.traffic, &plan);
                }
            }
        },
    }
}

fn examine(system: &System) {
    if !networks::is_small_system(system) {
        return;
    }
    let effort = Effort { seed: 0, steps: networks::STEPS };
    let network = |traffic: &_| plan_network(traffic, effort).map(|(plan, _)| plan);
    match plan_system_by(system, &network, ExplainBudget::NONE) {
        Ok(plan) => {
            if let Err(violations) = check_system(&plan, system) {
                panic!("a plan of ours keeps every rule: {}", violations[0]);
            }
            assert!(!summarise_system(system, &plan).render().is_empty());
            assert!(!render_system(system, &plan).is_empty());
        }
        Err(refusal) => assert!(!refusal.reason().is_empty()),
    }
}
