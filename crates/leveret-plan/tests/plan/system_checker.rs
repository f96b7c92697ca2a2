//! What the checker of systems refuses: each rule is broken in an otherwise right plan, and the rule is what it names.

use crate::common::systems::cell;
use crate::common::us;
use leveret_plan::checker::check_system;
use leveret_plan::network::Effort;
use leveret_plan::system::{System, SystemPlan, plan_system};
use leveret_types::Nanos;

fn planned(system: &System) -> SystemPlan {
    let plan =
        plan_system(system, Effort::default()).unwrap_or_else(|refusal| panic!("{}", refusal.reason()));
    check_system(&plan, system).expect("a right plan");
    plan
}

#[track_caller]
fn refuses(declared: bool, place: &str, rule: &str, change: impl FnOnce(&mut SystemPlan, &mut System)) {
    let mut system = cell(declared, Some(10_000));
    system.chains[0].reaction = Some(us(12_000));
    let mut plan = planned(&system);
    change(&mut plan, &mut system);
    assert!(system.validate().is_ok());
    let violations = check_system(&plan, &system).expect_err("a wrong plan");
    let told = violations.iter().any(|one| one.place.contains(place) && one.rule.contains(rule));
    assert!(told, "expected \"{place}: {rule}\", found \"{}\"", violations[0]);
}

#[test]
fn another_version_name_or_size() {
    refuses(true, "plan", "its version is known", |plan, _| plan.version += 1);
    refuses(true, "plan", "made for this system", |plan, _| plan.system.push('x'));
    let covers = "covers every host, channel and chain";
    refuses(true, "plan", covers, |plan, _| _ = plan.hosts.pop());
    refuses(true, "plan", covers, |plan, _| _ = plan.windows.pop());
    refuses(true, "plan", covers, |plan, _| _ = plan.chains.pop());
}

#[test]
fn windows_that_are_not_as_declared_or_none() {
    let declared = "its window is the declared one";
    refuses(true, "channel `image`", declared, |plan, _| plan.windows[0].deadline = us(901));
    refuses(true, "channel `image`", declared, |_, system| {
        system.crossings[0].window.as_mut().expect("declared").release = us(401);
    });
    let sound = "its window begins at 0 or later";
    refuses(false, "channel `image`", sound, |plan, _| plan.windows[0].release = Nanos(-1));
    refuses(false, "channel `image`", sound, |plan, _| {
        plan.windows[0].deadline = plan.windows[0].release + Nanos(1000);
    });
    refuses(false, "channel `image`", sound, |plan, _| plan.windows[0].deadline = Nanos::from_secs(4000));
    refuses(false, "channel `setpoint`", sound, |plan, _| plan.windows[1].release = Nanos::MAX);
}

/// A chosen window that is moved belongs to no table any more: first it is the source's host that finds it.
#[test]
fn windows_other_than_those_that_hosts_and_network_have() {
    refuses(false, "host `h0`", "made for this job", |plan, _| plan.windows[0].release.0 -= 1);
    refuses(false, "host `h1`", "made for this job", |plan, _| plan.windows[0].deadline.0 += 1);
}

#[test]
fn what_a_host_breaks_is_told_with_its_name() {
    refuses(true, "host `h1`, task `step`", "it runs within its window", |plan, _| {
        let segment = &mut plan.hosts[1].tasks[0].instances[0].segments[0];
        segment.start.0 -= us(600).0;
        segment.end.0 -= us(600).0;
    });
    refuses(true, "host `h0`", "made for this job", |_, system| system.hosts[0].job.tasks[0].budget.0 += 1);
    refuses(true, "host `h1`", "covers every task", |plan, _| plan.hosts.swap(1, 2));
}

#[test]
fn what_the_network_breaks() {
    refuses(true, "image", "it is sent after its release", |plan, _| {
        let slots = plan.network.links.iter_mut().flatten();
        for slot in slots.filter(|slot| slot.stream.index() == 0) {
            slot.start.0 -= us(100).0;
        }
    });
    refuses(true, "image", "no longer under way than its latency", |_, system| {
        system.crossings[0].latency = Some(us(50));
    });
    // A declared stretch of other traffic, where the message is sent.
    refuses(true, "link", "reserved for other traffic", |plan, system| {
        let reservation = leveret_topology::Reservation {
            period: us(2000),
            start: plan.windows[0].release,
            length: us(100),
        };
        system.traffic.network.links.iter_mut().for_each(|link| link.reserved.push(reservation));
    });
}

#[test]
fn chains_that_take_what_they_do_not_or_too_long() {
    let made = "its reaction time and its data age are what the plan makes them";
    refuses(true, "chain `chain0`", made, |plan, _| plan.chains[0].age.0 -= 1);
    refuses(true, "chain `chain0`", made, |plan, _| plan.chains[0].reaction.0 += 1);
    refuses(true, "chain `chain0`", made, |plan, _| plan.chains[0].exact = false);
    refuses(true, "chain `chain0`", "its data age is within its limit", |plan, system| {
        system.chains[0].age = Some(plan.chains[0].age - Nanos(1));
    });
    refuses(true, "chain `chain0`", "its reaction time is within its limit", |plan, system| {
        system.chains[0].reaction = Some(plan.chains[0].reaction - Nanos(1));
    });
    // Another path than the one that was planned.
    refuses(true, "chain `chain0`", made, |_, system| system.chains[0].path.truncate(3));
}

/// Every number of a plan, changed to what it is not: nothing panics, and whatever is not a slot or a queue, which may lie elsewhere, is
/// refused.
#[test]
fn no_number_of_a_plan_can_be_another() {
    let system = cell(false, None);
    let plan = planned(&system);
    let tree = serde_json::to_value(&plan).expect("JSON");
    let mut paths = Vec::new();
    numbers(&tree, &mut Vec::new(), &mut paths);
    assert!(paths.len() > 100);
    for path in &paths {
        for other in [i64::MIN, i64::MIN + 1, -1, 0, 1, 7, i64::MAX - 1, i64::MAX] {
            let mut changed = tree.clone();
            let at = changed.pointer_mut(path).expect("a number");
            if at.as_i64() == Some(other) {
                continue;
            }
            *at = other.into();
            let Ok(changed) = serde_json::from_value::<SystemPlan>(changed) else { continue };
            let free = path.starts_with("/network/");
            assert!(check_system(&changed, &system).is_err() || free, "{path} = {other}");
        }
    }
}

fn numbers(tree: &serde_json::Value, here: &mut Vec<String>, found: &mut Vec<String>) {
    let parts: Vec<(String, &serde_json::Value)> = match tree {
        serde_json::Value::Array(all) => all.iter().enumerate().map(|(k, v)| (k.to_string(), v)).collect(),
        serde_json::Value::Object(all) => all.iter().map(|(k, v)| (k.clone(), v)).collect(),
        serde_json::Value::Number(_) => {
            found.push(format!("/{}", here.join("/")));
            return;
        }
        _ => return,
    };
    for (key, part) in parts {
        here.push(key);
        numbers(part, here, found);
        here.pop();
    }
}
