//! Planning on several threads: the answer is that of as many searches in turn, however the threads are scheduled.

use leveret::planning::plan_network;
use leveret_plan::network::{Attempt, Effort, NetworkPlan, NetworkRefusal, Race, SLICE_STEPS, attempt};
use std::num::NonZeroU32;

#[path = "../../leveret-plan/tests/common/packed.rs"]
mod packed;

use packed::packed;

const EFFORT: Effort = Effort { seed: 0, steps: 5 * SLICE_STEPS };

/// All searches to their ends, one after the other.
fn in_turn(traffic: &leveret_plan::network::Traffic, searches: u32) -> Result<NetworkPlan, NetworkRefusal> {
    let mut race = Race::default();
    for strategy in 0..searches {
        let ended = attempt(traffic, EFFORT, strategy, &mut |_| true);
        race.ended(ended.expect("nobody stops it"));
    }
    let Attempt { result, .. } = race.answer().expect("all have ended");
    result.map(|(plan, _)| plan)
}

#[test]
fn threads_answer_what_as_many_searches_do_in_turn() {
    let mut found = 0;
    for seed in 0..4 {
        let traffic = packed(seed, 6, 5, 150);
        for threads in [1, 2, 3, 5] {
            let expected = in_turn(&traffic, threads);
            found += u32::from(expected.is_ok());
            let threads = NonZeroU32::new(threads).expect("not 0");
            for _ in 0..2 {
                assert!(
                    plan_network(&traffic, EFFORT, threads) == expected,
                    "seed {seed}, {threads} threads"
                );
            }
        }
    }
    assert!((1..16).contains(&found), "all of them are found, or none: {found}");
}

#[test]
fn what_is_found_at_once_is_the_same_on_any_number_of_threads() {
    let traffic = packed(1, 3, 4, 2_000);
    let on = |threads| plan_network(&traffic, EFFORT, NonZeroU32::new(threads).expect("not 0"));
    let one = on(1);
    assert!(one.is_ok());
    assert_eq!((&one, &one), (&on(2), &on(7)));
}
