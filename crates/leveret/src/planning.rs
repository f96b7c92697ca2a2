//! Planning on several cores.

use leveret_plan::network::{
    Attempt, Effort, NetworkPlan, NetworkRefusal, Race, SLICE_STEPS, Traffic, admit_flows, attempt,
};
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, scope};

/// Plans a network by as many searches as threads, each by another strategy.
///
/// The same traffic, effort and number of threads give the same answer, byte for byte, on any machine and however the threads are scheduled: time is
/// counted in steps. With one thread it is what [`leveret_plan::network::plan_network`] says, and so it is whatever that ends with in its first
/// slice of steps; other threads start only then. The steps of the effort are those of each search.
///
/// # Errors
/// Why there is no plan, or none was found by any search.
pub fn plan_network(
    traffic: &Traffic,
    effort: Effort,
    threads: NonZeroU32,
) -> Result<NetworkPlan, NetworkRefusal> {
    let answer = race(traffic, effort, threads.get()).answer();
    // The first search is never ended from outside but by another's answer.
    let Some(Attempt { result, .. }) = answer else {
        unreachable!("every search ends, or another has ended")
    };
    let (plan, _) = result?;
    admit_flows(traffic, plan)
}

/// All searches, until one has the answer or all have ended without.
fn race(traffic: &Traffic, effort: Effort, threads: u32) -> Race {
    let race = Mutex::new(Race::default());
    let run = |strategy: u32| {
        let mut go_on = |steps: u64| locked(&race).goes_on(strategy, steps);
        if let Some(ended) = attempt(traffic, effort, strategy, &mut go_on) {
            locked(&race).ended(ended);
        }
    };
    scope(|scope| {
        // Who gets no thread has its turn at the end.
        let mut waiting: Vec<u32> = (1..threads).rev().collect();
        let begin = |waiting: &mut Vec<u32>| {
            waiting.retain(|strategy| {
                let strategy = *strategy;
                let run = &run;
                Builder::new().spawn_scoped(scope, move || run(strategy)).is_err()
            });
        };
        let mut is_begun = false;
        let mut go_on = |steps: u64| {
            if steps >= SLICE_STEPS && !std::mem::replace(&mut is_begun, true) {
                begin(&mut waiting);
            }
            locked(&race).goes_on(0, steps)
        };
        if let Some(ended) = attempt(traffic, effort, 0, &mut go_on) {
            locked(&race).ended(ended);
        }
        while let Some(strategy) = waiting.pop()
            && locked(&race).goes_on(strategy, 0)
        {
            run(strategy);
        }
    });
    race.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What a thread that panicked has left is as good as any: it is written whole. The panic itself is passed on at the end of the scope.
fn locked(race: &Mutex<Race>) -> MutexGuard<'_, Race> {
    race.lock().unwrap_or_else(PoisonError::into_inner)
}
