//! Plans of systems: what is planned passes the checker, and does in virtual time what it says.

mod common;

use common::system_player::{Measured, play};
use common::systems::{cell, systems};
use leveret_plan::ExplainBudget;
use leveret_plan::checker::check_system;
use leveret_plan::network::Effort;
use leveret_plan::system::{System, SystemPlan, SystemRefusal, plan_system, plan_system_within};
use leveret_types::Nanos;
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
    assert!(plan.chains[0].age >= common::us(1700), "{}", plan.chains[0].age);
}

#[test]
fn windows_that_are_left_out_are_chosen_tightly() {
    let system = cell(false, None);
    let plan = shown(&system);
    let declared = shown(&cell(true, None));
    assert!(plan.chains[0].age < declared.chains[0].age, "{} {}", plan.chains[0].age, declared.chains[0].age);
}

#[test]
fn a_limit_of_a_chain_draws_windows_together() {
    let loose = shown(&cell(false, None)).chains[0].age;
    let plan = shown(&cell(false, Some(loose.0 / 1000 + 1)));
    assert!(plan.chains[0].age <= loose + common::us(1));
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
