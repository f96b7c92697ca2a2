//! What is said to prove that a network has no plan: whatever it says, the checker answers; and of what it accepts no plan is found.
//!
//! JSON: a certificate for one of the refused examples. Anything else: changes of a good certificate and its traffic.

use crate::changes;
use crate::networks;
use leveret_plan::checker::{check_certificate, check_network};
use leveret_plan::network::{Certificate, Effort, Traffic, certificate, plan_network};
use serde_json::Value;
use std::sync::OnceLock;

/// Lines of an argument that are printed.
const LINES: usize = 40;

/// Refused networks; each with its traffic and certificate as trees.
fn good() -> &'static [(Traffic, [Value; 2])] {
    static GOOD: OnceLock<Vec<(Traffic, [Value; 2])>> = OnceLock::new();
    GOOD.get_or_init(|| {
        let texts = [
            include_str!("../seeds/network_manifest/overload.toml"),
            include_str!("../seeds/network_manifest/unison.toml"),
            include_str!("../seeds/network_manifest/argument.toml"),
        ];
        let tree = |text: &str| {
            let traffic = networks::good(text).traffic;
            let refusal = plan_network(&traffic, Effort::default()).expect_err("it has no plan");
            let shown = certificate(&traffic, &refusal).expect("and that is proven");
            check_certificate(&shown, &traffic).expect("rightly so");
            let trees = [serde_json::to_value(&traffic), serde_json::to_value(&shown)];
            (traffic, trees.map(|tree| tree.expect("can be written")))
        };
        texts.map(tree).into()
    })
}

fn examine(traffic: &Traffic, shown: &Certificate) {
    if !networks::is_small(traffic) {
        return;
    }
    if let Certificate::Argument(proof) = shown {
        // Whoever prints it has had it checked, as the program does.
        if check_certificate(shown, traffic).is_ok() {
            assert!(!proof.render(traffic, LINES).is_empty());
        }
    }
    match check_certificate(shown, traffic) {
        Err(violation) => assert!(!violation.to_string().is_empty()),
        Ok(()) => {
            let found = plan_network(traffic, Effort { seed: 0, steps: networks::STEPS });
            let is_plan = found.is_ok_and(|(plan, _)| check_network(&plan, traffic).is_ok());
            assert!(!is_plan, "there is a plan, and it was shown that there is none");
        }
    }
}

pub fn run(bytes: &[u8]) {
    if bytes.first() == Some(&b'{') {
        if let Ok(shown) = serde_json::from_slice(bytes) {
            good().iter().for_each(|(traffic, _)| examine(traffic, &shown));
        }
        return;
    }
    let Some((which, rest)) = bytes.split_first() else { return };
    let [mut traffic, mut shown] = good()[usize::from(*which) % good().len()].1.clone();
    for change in changes::all(rest) {
        change.tree(if change.what < 128 { &mut shown } else { &mut traffic });
    }
    if let (Ok(traffic), Ok(shown)) = (serde_json::from_value(traffic), serde_json::from_value(shown)) {
        examine(&traffic, &shown);
    }
}
