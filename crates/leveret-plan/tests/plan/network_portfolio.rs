//! Several searches for one plan: which of them answers follows from steps alone.

use crate::common::packed::packed;
use leveret_plan::checker::check_network;
use leveret_plan::network::{Attempt, Effort, NetworkRefusal, Race, SLICE_STEPS, attempt, plan_network};
use proptest::prelude::*;

const SEARCHES: u32 = 5;
const EFFORT: Effort = Effort { seed: 0, steps: 6 * SLICE_STEPS };

/// The answer of all searches, run one after the other in some order; each stops once another is ahead of it. And how many were stopped.
fn raced(traffic: &leveret_plan::network::Traffic, order: &[u32]) -> (Attempt, usize) {
    let mut race = Race::default();
    let mut stopped = 0;
    for strategy in order {
        match attempt(traffic, EFFORT, *strategy, &mut |steps| race.goes_on(*strategy, steps)) {
            Some(ended) => race.ended(ended),
            None => stopped += 1,
        }
    }
    (race.answer().expect("some search has ended"), stopped)
}

#[test]
fn whoever_runs_first_the_same_search_answers() {
    let (mut by_others, mut all_stopped) = (0, 0);
    for seed in 0..4 {
        let traffic = packed(seed, 6, 5, 150);
        let order: Vec<u32> = (0..SEARCHES).collect();
        let (answer, _) = raced(&traffic, &order);
        if let Ok((plan, _)) = &answer.result {
            assert_eq!(check_network(plan, &traffic), Ok(()));
        }
        by_others += u32::from(answer.strategy != 0);
        for turn in [1, 3] {
            let mut other = order.clone();
            other.rotate_left(turn);
            other.swap(0, turn);
            let (again, stopped) = raced(&traffic, &other);
            assert!(again == answer, "seed {seed}: the order {other:?} gives another answer");
            all_stopped += stopped;
        }
    }
    assert!(
        by_others > 0 && all_stopped > 0,
        "{by_others} answers of others than the first, {all_stopped} stopped"
    );
}

#[test]
fn the_first_search_is_the_planner_s_own() {
    for seed in [0, 1, 7] {
        let traffic = packed(seed, 3, 4, 800);
        let effort = Effort { seed, ..EFFORT };
        let own = attempt(&traffic, effort, 0, &mut |_| true).map(|attempt| attempt.result);
        assert_eq!(own, Some(plan_network(&traffic, effort)));
    }
}

#[test]
fn without_an_answer_the_one_that_placed_most_is_told_with_all_steps() {
    // Too many for the complete search.
    let traffic = packed(3, 8, 5, 0);
    let effort = Effort { seed: 0, steps: 20_000 };
    let each: Vec<Attempt> =
        (0..3).filter_map(|strategy| attempt(&traffic, effort, strategy, &mut |_| true)).collect();
    let mut race = Race::default();
    each.iter().rev().for_each(|attempt| race.ended(attempt.clone()));
    assert!(!race.is_answered() && race.goes_on(9, u64::MAX));
    let answer = race.answer().expect("three have ended");
    let left = |attempt: &Attempt| match &attempt.result {
        Err(NetworkRefusal::NotFound { unplaced, .. }) => unplaced.len(),
        other => panic!("not found, and not {other:?}"),
    };
    assert_eq!(Some(left(&answer)), each.iter().map(left).min());
    let sum = each.iter().map(|attempt| attempt.steps).sum::<u64>();
    assert!(matches!(answer.result, Err(NetworkRefusal::NotFound { steps, .. }) if steps == sum));
}

/// An attempt that ended so, with nothing in it.
fn ended(strategy: u32, steps: u64) -> Attempt {
    let stream = leveret_types::StreamId(strategy);
    Attempt { strategy, steps, result: Err(NetworkRefusal::Reserved { stream }) }
}

proptest! {
    /// Ends and questions in any order: nobody who could answer is ever stopped, and the answer is the one in the earliest slice.
    #[test]
    fn who_could_answer_goes_on(
        ends in prop::collection::vec(0..8 * SLICE_STEPS, 1..8), order in prop::collection::vec(any::<u64>(), 8),
    ) {
        let rank = |strategy: usize| (ends[strategy] / SLICE_STEPS, strategy);
        let best = (0..ends.len()).min_by_key(|strategy| rank(*strategy)).unwrap_or(0);
        let mut turns: Vec<usize> = (0..ends.len()).collect();
        turns.sort_by_key(|strategy| order[*strategy]);
        let mut race = Race::default();
        for strategy in turns {
            if race.goes_on(strategy as u32, ends[strategy]) {
                race.ended(ended(strategy as u32, ends[strategy]));
            } else {
                prop_assert!(strategy != best);
            }
        }
        prop_assert!(race.is_answered());
        prop_assert_eq!(race.answer(), Some(ended(best as u32, ends[best])));
    }
}
