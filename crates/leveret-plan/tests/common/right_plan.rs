//! Plans of networks that the checker accepts, and what it refuses of them once something is changed.
#![allow(dead_code, reason = "each test program uses its own part")]

use leveret_plan::checker::check_network;
use leveret_plan::network::{Effort, NetworkPlan, Traffic, plan_network};

#[track_caller]
pub fn planned(traffic: &Traffic) -> NetworkPlan {
    let (plan, _) = plan_network(traffic, Effort::default()).expect("a plan");
    check_network(&plan, traffic).expect("a right plan");
    plan
}

/// A changed plan breaks a rule, and it is that one which the checker names.
#[track_caller]
pub fn refuses(traffic: &Traffic, rule: &str, change: impl FnOnce(&mut NetworkPlan)) {
    let mut plan = planned(traffic);
    change(&mut plan);
    let violation = check_network(&plan, traffic).expect_err("a wrong plan");
    assert!(violation.rule.contains(rule), "expected \"{rule}\", found \"{violation}\"");
}
