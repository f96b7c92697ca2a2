//! What is advised where a system is refused, and what is said to show that it has no plan.

use crate::common::systems::{add_crossing, add_local, add_task, bare, cell, systems};
use crate::common::us;
use leveret_plan::checker::{check_system, check_system_certificate};
use leveret_plan::network::{Effort, NetworkRefusal};
use leveret_plan::system::{
    ChainLimit, Element, Step, System, SystemCertificate, SystemChange, SystemExplanation, SystemPlan,
    SystemRefusal, Window, explain_system, plan_system, plan_system_within, system_certificate,
};
use leveret_plan::{CoreChoice, ExplainBudget};
use leveret_types::{Nanos, TaskId};
use proptest::prelude::*;

const EFFORT: Effort = Effort { seed: 0, steps: 100_000 };
const BUDGET: ExplainBudget = ExplainBudget { conflict: 200_000, changes: 400_000 };

fn quick(system: &System) -> Result<SystemPlan, SystemRefusal> {
    plan_system_within(system, EFFORT, ExplainBudget { conflict: 20_000, changes: 20_000 })
}

fn explained(system: &System, refusal: &SystemRefusal) -> SystemExplanation {
    explain_system(system, refusal, (EFFORT, BUDGET), 24)
}

#[track_caller]
fn refused(system: &System) -> (SystemRefusal, SystemExplanation) {
    let refusal = plan_system(system, EFFORT).expect_err("no plan");
    let told = explained(system, &refusal);
    for change in &told.fits {
        let mut changed = system.clone();
        change.apply(&mut changed);
        let plan = quick(&changed).unwrap_or_else(|no| panic!("{}: {}", change.words(system), no.reason()));
        check_system(&plan, &changed).expect("a right plan");
    }
    (refusal, told)
}

fn words(system: &System, told: &SystemExplanation) -> Vec<String> {
    told.fits.iter().map(|change| change.words(system)).collect()
}

#[track_caller]
fn advises(system: &System, told: &SystemExplanation, wanted: &str) {
    let words = words(system, told);
    assert!(words.iter().any(|words| words.contains(wanted)), "no \"{wanted}\" in {words:#?}");
}

fn pinned(system: &mut System, host: u16, name: &str, budget: i64) -> Step {
    let step = add_task(system, host, name, 2000, (0, 2000), budget);
    let Step::Task { task, .. } = step else { panic!("a task") };
    system.hosts[usize::from(host)].job.tasks[task.index()].core = CoreChoice::Pinned(0);
    step
}

#[test]
fn what_collides_on_a_core_goes_to_another_or_takes_less() {
    let mut system = cell(false, None);
    pinned(&mut system, 1, "greedy", 1000);
    pinned(&mut system, 1, "greedier", 1100);
    let (refusal, told) = refused(&system);
    assert!(refusal.is_proven() && told.minimal);
    let conflict: Vec<_> = told.conflict.iter().map(|element| element.words(&system)).collect();
    assert_eq!(conflict, ["task \"greedy\"", "task \"greedier\""]);
    assert_eq!(told.bottleneck.as_deref(), Some("core 0 of host \"h1\""));
    advises(&system, &told, "run task `greedy` on core 1 instead of core 0 (host \"h1\")");
    advises(&system, &told, "lower the budget of task `greedier`");
}

#[test]
fn what_a_host_has_no_time_for_goes_to_another_host() {
    let mut system = bare(1, 3, 0);
    let make = add_task(&mut system, 0, "make", 1000, (0, 1000), 100);
    let turn = add_task(&mut system, 1, "turn", 1000, (0, 1000), 700);
    add_task(&mut system, 1, "more", 1000, (0, 1000), 700);
    add_crossing(&mut system, "made", make, &[turn], 64, None);
    let turned = add_task(&mut system, 0, "read", 1000, (0, 1000), 50);
    let out = add_crossing(&mut system, "turned", turn, &[turned], 64, None);
    let Step::Crossing(out) = out else { panic!("a crossing") };
    crate::common::systems::add_chain(&mut system, &[turn, Step::Crossing(out), turned], None, None);
    // One core for what needs two; the third host has nothing to do. It has a member of the same name.
    system.hosts[1].job.cores = vec![0];
    system.hosts[1].job.members[0].name = "busy".to_owned();
    let (_, told) = refused(&system);
    advises(&system, &told, "member \"busy\": host = ");
    let moved = told.fits.iter().find(|change| matches!(change, SystemChange::Move { to: 2, .. }));
    let mut changed = system.clone();
    moved.expect("to the third host").apply(&mut changed);
    assert!(changed.hosts[1].job.tasks.is_empty());
    assert_eq!(changed.validate(), Ok(()));
    assert_eq!(changed.crossings[0].targets[0].host, 2);
}

#[test]
fn a_channel_that_takes_too_long_is_made_smaller_or_may_take_longer() {
    let mut system = cell(true, None);
    system.crossings[0].latency = Some(us(100));
    let (refusal, told) = refused(&system);
    assert!(refusal.is_proven());
    assert_eq!(told.conflict.len(), 1);
    advises(&system, &told, "channel \"image\": latency = ");
    advises(&system, &told, "channel \"image\": size = ");
    // Narrow windows, as declared.
    let mut system = cell(true, None);
    system.crossings[0].window = Some(Window { release: us(400), deadline: us(450) });
    let (_, told) = refused(&system);
    advises(&system, &told, "channel \"image\": window = [\"400us\", ");
    advises(&system, &told, "channel \"image\": no `window`");
}

#[test]
fn a_chain_gets_another_limit_or_period() {
    let system = cell(true, Some(1600));
    let (refusal, told) = refused(&system);
    assert!(refusal.is_proven(), "the windows are declared");
    assert!(told.conflict.contains(&Element::Chain(0)) && told.conflict.len() == 6);
    advises(&system, &told, "chain \"chain0\": age = ");
    advises(&system, &told, "channel \"setpoint\": no `window`");
    advises(&system, &told, "earlier");
    let mut system = cell(false, None);
    system.chains[0].reaction = Some(us(2500));
    let (_, told) = refused(&system);
    advises(&system, &told, "period = \"1ms\" for task \"take\" (now 2ms)");
}

/// Of what is searched and not found, the smallest set that is not found is named: without any one of it the search finds a plan.
#[test]
fn a_search_that_finds_nothing_names_a_smallest_set() {
    let mut system = cell(false, None);
    let act = &mut system.hosts[2].job.tasks[0];
    (act.period, act.deadline) = (us(1000), us(1000));
    system.chains[0].age = Some(us(1000));
    let other = add_task(&mut system, 2, "other", 4000, (0, 4000), 300);
    add_task(&mut system, 0, "alone", 4000, (0, 4000), 100);
    let back = add_crossing(&mut system, "back", other, &[Step::Task { host: 0, task: TaskId(1) }], 64, None);
    let (refusal, told) = refused(&system);
    assert!(!refusal.is_proven() && told.minimal, "{}", refusal.reason());
    let Step::Crossing(back) = back else { panic!("a crossing") };
    assert!(!told.conflict.contains(&Element::Crossing(back)), "{:?}", told.conflict);
    assert!(quick(&system.only(&told.conflict)).is_err());
    for one in &told.conflict {
        let mut others = told.conflict.clone();
        others.remove(one);
        assert!(quick(&system.only(&others)).is_ok(), "without {}", one.words(&system));
    }
}

/// A task that must insert sooner reads an older message, and may start sooner: what its host has no plan for while its message is due at
/// the end of its window is no proof.
#[test]
fn a_window_can_help_a_task_that_reads() {
    let mut system = bare(1, 2, 0);
    let make = add_task(&mut system, 0, "make", 2000, (0, 700), 50);
    let task = pinned(&mut system, 0, "turn", 300);
    let block = pinned(&mut system, 0, "block", 150);
    let read = add_task(&mut system, 1, "read", 2000, (0, 2000), 50);
    for (step, window) in [(task, (0, 1200)), (block, (800, 1200))] {
        let Step::Task { host, task } = step else { panic!("a task") };
        let own = &mut system.hosts[usize::from(host)].job.tasks[task.index()];
        (own.release, own.deadline) = (us(window.0), us(window.1));
    }
    add_local(&mut system, "made", make, task, (0, 800));
    add_crossing(&mut system, "turned", task, &[read], 64, Some((700, 1500)));
    assert!(quick(&system).is_ok(), "with a window there is a plan");
    system.crossings[0].window = Some(Window { release: us(1300), deadline: us(1900) });
    let late = quick(&system).expect_err("what is made is read then, and the rest is too short");
    assert!(late.is_proven() && matches!(late, SystemRefusal::Host { .. }), "{}", late.reason());
    system.crossings[0].window = None;
    if let Err(refusal) = quick(&system) {
        assert!(!refusal.is_proven(), "{}", refusal.reason());
        let (_, told) = refused(&system);
        assert!(!told.fits.is_empty());
    }
}

/// A refusal of each sort that is proven, with its certificate.
fn certified() -> Vec<(System, SystemCertificate)> {
    let mut core = cell(false, None);
    pinned(&mut core, 1, "greedy", 1000);
    pinned(&mut core, 1, "greedier", 1100);
    let mut stretch = cell(true, None);
    for name in ["first", "second"] {
        let step = pinned(&mut stretch, 0, name, 300);
        let Step::Task { task, .. } = step else { panic!("a task") };
        let own = &mut stretch.hosts[0].job.tasks[task.index()];
        (own.release, own.deadline) = (us(500), us(1000));
    }
    let mut long = cell(false, None);
    add_task(&mut long, 2, "long", 2000, (0, 300), 298);
    let mut network = cell(false, None);
    network.crossings[0].latency = Some(us(50));
    let all = [core, stretch, long, network, cell(false, Some(600)), cell(true, Some(1600))];
    let certify = |system: System| {
        let refusal = plan_system(&system, EFFORT).expect_err("no plan");
        assert!(refusal.is_proven(), "{}", refusal.reason());
        let certificate = system_certificate(&system, &refusal);
        let certificate = certificate.unwrap_or_else(|| panic!("no certificate: {}", refusal.reason()));
        (system, certificate)
    };
    all.into_iter().map(certify).collect()
}

#[test]
fn what_is_proven_has_a_certificate_of_its_sort() {
    let all = certified();
    for (system, certificate) in &all {
        assert_eq!(check_system_certificate(certificate, system), Ok(()), "{certificate:?}");
        assert!(!certificate.about(system).is_empty());
    }
    assert!(matches!(all[0].1, SystemCertificate::Core { host: 1, core: Some(0), within: None }));
    assert!(matches!(all[1].1, SystemCertificate::Core { host: 0, core: Some(0), within: Some(_) }));
    assert!(matches!(all[2].1, SystemCertificate::Task { host: 2, task: TaskId(1) }));
    assert!(matches!(all[3].1, SystemCertificate::Network(_)));
    assert!(matches!(all[4].1, SystemCertificate::Chain { chain: 0, limit: ChainLimit::Age }));
    assert!(matches!(all[5].1, SystemCertificate::Chain { chain: 0, limit: ChainLimit::Age }));
}

#[test]
fn a_certificate_shows_nothing_of_a_system_that_has_a_plan() {
    let (with_core, chain) = (cell(false, None), cell(true, Some(10_000)));
    for (_, certificate) in certified() {
        for system in [&with_core, &chain] {
            assert!(check_system_certificate(&certificate, system).is_err(), "{certificate:?}");
        }
    }
    // By one nanosecond.
    let (mut system, certificate) = certified().swap_remove(5);
    let SystemRefusal::Chain { takes, .. } = quick(&system).expect_err("no plan") else { panic!("a chain") };
    system.chains[0].age = Some(takes - Nanos(1));
    assert_eq!(check_system_certificate(&certificate, &system), Ok(()));
    system.chains[0].age = Some(takes);
    assert!(check_system_certificate(&certificate, &system).is_err());
}

/// Every number of a certificate, changed: nothing panics, and what is still accepted is another proof of the same.
#[test]
fn no_number_of_a_certificate_makes_the_checker_panic() {
    for (system, certificate) in certified() {
        let planned = cell(false, None);
        let tree = serde_json::to_value(&certificate).expect("JSON");
        for path in numbers(&tree) {
            for other in [i64::MIN, -1, 0, 1, 7, i64::MAX - 1, i64::MAX] {
                let mut changed = tree.clone();
                *changed.pointer_mut(&path).expect("a number") = other.into();
                if let Ok(changed) = serde_json::from_value::<SystemCertificate>(changed) {
                    let _ = check_system_certificate(&changed, &system);
                    assert!(check_system_certificate(&changed, &planned).is_err(), "{changed:?}");
                }
            }
        }
    }
}

fn numbers(tree: &serde_json::Value) -> Vec<String> {
    let below = |key: String, part: &serde_json::Value| {
        numbers(part).into_iter().map(move |path| format!("/{key}{path}")).collect::<Vec<_>>()
    };
    match tree {
        serde_json::Value::Number(_) => vec![String::new()],
        serde_json::Value::Array(all) => {
            all.iter().enumerate().flat_map(|(place, part)| below(place.to_string(), part)).collect()
        }
        serde_json::Value::Object(all) => {
            all.iter().flat_map(|(key, part)| below(key.clone(), part)).collect()
        }
        _ => Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Every change that is named fits when it is made, and what is proven has nothing to fear from the checker.
    #[test]
    fn what_is_advised_fits(system in systems()) {
        let Err(refusal) = quick(&system) else { return Ok(()) };
        let told = explained(&system, &refusal);
        for change in &told.fits {
            let mut changed = system.clone();
            change.apply(&mut changed);
            prop_assert!(changed != system, "{}", change.words(&system));
            match quick(&changed) {
                Ok(plan) => prop_assert_eq!(check_system(&plan, &changed), Ok(())),
                Err(no) => prop_assert!(false, "{}: {}", change.words(&system), no.reason()),
            }
        }
        if let Some(certificate) = system_certificate(&system, &refusal) {
            prop_assert_eq!(check_system_certificate(&certificate, &system), Ok(()), "{}", refusal.reason());
        }
        let is_network = matches!(&refusal, SystemRefusal::Network { refusal, .. } if matches!(**refusal, NetworkRefusal::Conflict { .. } | NetworkRefusal::Overload { .. }));
        if refusal.is_proven() && is_network {
            prop_assert!(system_certificate(&system, &refusal).is_some());
        }
    }

    /// No claim is accepted of a system that has a plan.
    #[test]
    fn nothing_is_shown_of_what_has_a_plan(system in systems(), from in 0..8_000_i64, length in 1..8_000_i64) {
        if quick(&system).is_err() {
            return Ok(());
        }
        let within = [None, Some((us(from), us(from + length)))];
        for (host, own) in (0u16..).zip(&system.hosts) {
            for within in within {
                for core in [None, Some(0), Some(1)] {
                    let claim = SystemCertificate::Core { host, core, within };
                    prop_assert!(check_system_certificate(&claim, &system).is_err(), "{:?}", claim);
                }
            }
            for task in 0..own.job.tasks.len() as u16 {
                let claim = SystemCertificate::Task { host, task: TaskId(task) };
                prop_assert!(check_system_certificate(&claim, &system).is_err(), "{:?}", claim);
            }
        }
        for chain in 0..system.chains.len() as u16 {
            for limit in [ChainLimit::Reaction, ChainLimit::Age] {
                let claim = SystemCertificate::Chain { chain, limit };
                prop_assert!(check_system_certificate(&claim, &system).is_err(), "{:?}", claim);
            }
        }
    }
}

/// A change names what it changes, and changes nothing else.
#[test]
fn a_change_of_what_is_not_there_changes_nothing() {
    let system = cell(true, Some(1600));
    let mut changed = system.clone();
    SystemChange::OpenWindow { channel: "none".to_owned() }.apply(&mut changed);
    SystemChange::Limit { chain: "none".to_owned(), limit: ChainLimit::Age, to: us(1) }.apply(&mut changed);
    assert_eq!(changed, system);
}
