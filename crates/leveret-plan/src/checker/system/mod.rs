//! The independent checker of a system's plan: each host's table by the checker of jobs, the links by the checker of networks, what joins
//! them, and every chain. It shares the data types with the planner and no code: it takes the system apart by itself, and follows chains
//! from their first task on, where the planner follows them back from the last.
//!
//! ```text
//!  frame ─► windows ─► parts ─┬─ each host ── check
//!                             └─ network ──── check_network ─► chains (forwards)
//! ```

mod bounds;
mod chains;
mod least;
mod parts;
mod refusal;

pub use refusal::check_system_certificate;

use super::{Violation, check, check_network, wide};
use crate::network::STREAM_TIME_MAX;
use crate::system::{SYSTEM_PLAN_VERSION, System, SystemPlan};
use leveret_types::Nanos;

/// Accepts a system's plan if it keeps every rule of `docs/planning.md`, for a system that [`System::validate`] accepted.
///
/// # Errors
/// What does not hold: of the frame, the windows, a host, the network or a chain, in this order, where all before it holds.
pub fn check_system(plan: &SystemPlan, system: &System) -> Result<(), Vec<Violation>> {
    frame(plan, system).map_err(|found| vec![found])?;
    windows(plan, system).map_err(|found| vec![found])?;
    let parts = parts::parts(system, &plan.windows);
    for (own, job) in plan.hosts.iter().zip(&parts.jobs) {
        let named =
            |found: Violation| Violation { place: format!("host `{}`, {}", job.name, found.place), ..found };
        check(own, job).map_err(|all| all.into_iter().map(named).collect::<Vec<_>>())?;
    }
    check_network(&plan.network, &parts.traffic).map_err(|found| vec![found])?;
    for (index, chain) in system.chains.iter().enumerate() {
        let planned = plan.chains[index];
        let taken = chains::taken(plan, system, chain).map_err(|found| vec![found])?;
        let place = || format!("chain `{}`", chain.name);
        if planned != taken {
            let (rule, found) = (
                "its reaction time and its data age are what the plan makes them",
                format!(
                    "the plan says {} and {}, they are {} and {}, {}",
                    planned.reaction,
                    planned.age,
                    taken.reaction,
                    taken.age,
                    if taken.exact { "exactly" } else { "as bounds" }
                ),
            );
            return Err(vec![violation(place(), rule, found)]);
        }
        for (limit, value, rule) in [
            (chain.reaction, taken.reaction, "its reaction time is within its limit"),
            (chain.age, taken.age, "its data age is within its limit"),
        ] {
            if limit.is_some_and(|limit| value > limit) {
                let found = format!("{value}, limit {}", limit.unwrap_or_default());
                return Err(vec![violation(place(), rule, found)]);
            }
        }
    }
    Ok(())
}

fn violation(place: String, rule: &str, found: String) -> Violation {
    Violation { place, rule: rule.to_owned(), found }
}

/// Version, name and sizes.
fn frame(plan: &SystemPlan, system: &System) -> Result<(), Violation> {
    let place = || "plan".to_owned();
    if plan.version != SYSTEM_PLAN_VERSION {
        let found = format!("{} and not {SYSTEM_PLAN_VERSION}", plan.version);
        return Err(violation(place(), "its version is known", found));
    }
    if plan.system != system.name {
        let found = format!("it was made for `{}`", plan.system.escape_debug());
        return Err(violation(place(), "it was made for this system", found));
    }
    let sizes = [
        ("windows", plan.windows.len(), system.crossings.len()),
        ("hosts", plan.hosts.len(), system.hosts.len()),
        ("chains", plan.chains.len(), system.chains.len()),
    ];
    for (what, own, declared) in sizes {
        if own != declared {
            let found = format!("{own} {what}, and {declared} are declared");
            return Err(violation(place(), "it covers every host, channel and chain in order", found));
        }
    }
    Ok(())
}

/// Declared windows are kept; chosen ones are windows.
fn windows(plan: &SystemPlan, system: &System) -> Result<(), Violation> {
    for (crossing, window) in system.crossings.iter().zip(&plan.windows) {
        let place = || format!("channel `{}`", crossing.name);
        let found = || format!("[{}, {}]", window.release, window.deadline);
        match crossing.window {
            Some(declared) if declared != *window => {
                return Err(violation(place(), "its window is the declared one", found()));
            }
            _ => {}
        }
        let error = wide(system.traffic.clock_error);
        let sound = window.release >= Nanos::ZERO
            && wide(window.release) + 2 * error < wide(window.deadline)
            && window.deadline <= STREAM_TIME_MAX;
        if !sound {
            let rule = "its window begins at 0 or later, is longer than twice the clock error, and ends within an hour";
            return Err(violation(place(), rule, found()));
        }
    }
    Ok(())
}
