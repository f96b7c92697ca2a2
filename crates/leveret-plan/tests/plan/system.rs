//! Plans of systems: what is planned passes the checker, and does in virtual time what it says.

use crate::common::system_player::{Measured, play};
use crate::common::systems::{add_chain, add_crossing, add_task, bare, cell, systems};
use leveret_plan::ExplainBudget;
use leveret_plan::checker::check_system;
use leveret_plan::network::Effort;
use leveret_plan::system::{System, SystemPlan, SystemRefusal, plan_system, plan_system_within};
use leveret_types::{BitRate, Nanos};
use proptest::prelude::*;

/// Without an explanation of what a host refuses.
fn quick(system: &System) -> Result<SystemPlan, SystemRefusal> {
    plan_system_within(system, Effort { seed: 0, steps: 100_000 }, ExplainBudget::NONE)
}

fn planned(system: &System) -> Option<SystemPlan> {
    match quick(system) {
        Ok(plan) => Some(plan),
        Err(SystemRefusal::Invalid(error)) => panic!("{error}"),
        Err(_) => None,
    }
}

/// The chains as the plan has them, once it was checked and played.
#[track_caller]
fn shown(system: &System) -> SystemPlan {
    let plan =
        plan_system(system, Effort::default()).unwrap_or_else(|refusal| panic!("{}", refusal.reason()));
    check_system(&plan, system).expect("a valid plan");
    let measured = play(system, &plan).expect("as planned");
    assert_eq!(measured, stated(&plan));
    plan
}

fn stated(plan: &SystemPlan) -> Vec<Measured> {
    let stated = |chain: &leveret_plan::system::PlannedChain| Measured {
        reaction: chain.reaction.0,
        age: chain.age.0,
    };
    plan.chains.iter().map(stated).collect()
}

#[test]
fn declared_windows_are_kept() {
    let system = cell(true, None);
    let plan = shown(&system);
    assert_eq!(plan.windows[0], system.crossings[0].window.expect("declared"));
    // From the camera's start at 0 to the drive's end after 1700 us: two clock errors, the wait for the visible instant included.
    assert!(plan.chains[0].exact);
    assert!(plan.chains[0].age >= crate::common::us(1700), "{}", plan.chains[0].age);
}

#[test]
fn windows_that_are_left_out_are_chosen_tightly() {
    let system = cell(false, None);
    let plan = shown(&system);
    let declared = shown(&cell(true, None));
    assert!(plan.chains[0].age < declared.chains[0].age, "{} {}", plan.chains[0].age, declared.chains[0].age);
}

/// A controller that reads from all drives and writes to all of them, in a star of 100 Mbit/s; each loop may take 3 ms.
fn controller_and_drives(drives: u16, size: u64, step: i64) -> System {
    let mut system = bare(1, u32::from(drives) + 1, 500);
    for link in &mut system.traffic.network.links {
        link.rate = BitRate(100_000_000);
    }
    let controller = add_task(&mut system, 0, "step", 1000, (0, 1000), step);
    for drive in 1..=drives {
        let sense = add_task(&mut system, drive, &format!("sense{drive}"), 1000, (0, 1000), 50);
        let act = add_task(&mut system, drive, &format!("act{drive}"), 1000, (0, 1000), 50);
        let actual = add_crossing(&mut system, &format!("actual{drive}"), sense, &[controller], size, None);
        let setpoint = add_crossing(&mut system, &format!("setpoint{drive}"), controller, &[act], size, None);
        add_chain(&mut system, &[sense, actual, controller, setpoint, act], Some(3000), None);
    }
    system
}

#[test]
fn a_controller_has_time_for_all_its_drives() {
    for (drives, size, step) in
        [(1, 500, 480), (2, 500, 480), (4, 500, 480), (8, 500, 480), (16, 250, 400), (20, 200, 400)]
    {
        let plan = shown(&controller_and_drives(drives, size, step));
        assert_eq!(plan.chains.len(), usize::from(drives));
        assert!(plan.chains.iter().all(|chain| chain.reaction <= crate::common::us(3000)));
    }
}

#[test]
fn a_limit_of_a_chain_draws_windows_together() {
    let loose = shown(&cell(false, None)).chains[0].age;
    let plan = shown(&cell(false, Some(loose.0 / 1000 + 1)));
    assert!(plan.chains[0].age <= loose + crate::common::us(1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn what_is_planned_is_right_and_does_what_it_says(system in systems()) {
        prop_assert!(system.validate().is_ok(), "{:?}", system.validate());
        let Some(plan) = planned(&system) else { return Ok(()) };
        if let Err(violations) = check_system(&plan, &system) {
            prop_assert!(false, "{}", violations[0]);
        }
        let measured = play(&system, &plan);
        prop_assert_eq!(measured, Ok(stated(&plan)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// What is called the least is no more than what some plan takes.
    #[test]
    fn no_plan_goes_below_what_is_called_the_least(system in systems(), below in 1..200_000_i64) {
        let Some(plan) = planned(&system) else { return Ok(()) };
        for (index, chain) in plan.chains.iter().enumerate() {
            let mut tighter = system.clone();
            (tighter.chains[index].reaction, tighter.chains[index].age) = (Some(chain.reaction - Nanos(below)), None);
            let limits = [(tighter.clone(), chain.reaction), (
                { tighter.chains[index].reaction = None; tighter.chains[index].age = Some(chain.age - Nanos(below)); tighter },
                chain.age,
            )];
            for (tighter, takes) in limits {
                if tighter.validate().is_err() {
                    continue;
                }
                match quick(&tighter) {
                    Err(SystemRefusal::Chain { chain, least: true, takes: least, .. }) => {
                        prop_assert!(chain != system.chains[index].name || least <= takes, "{least} and {takes}");
                    }
                    Ok(better) => prop_assert_eq!(check_system(&better, &tighter), Ok(())),
                    Err(_) => {}
                }
            }
        }
    }

    #[test]
    fn the_same_system_gives_the_same_plan(system in systems()) {
        prop_assert_eq!(planned(&system), planned(&system));
    }
}
