//! How many steps (operations on atomics) it takes to consume a firing: alone, and with other threads that do the same.

use super::tests::triggers;
use super::*;
use leveret_memory::sync::steps;

const KEPT: u64 = 64;

/// Most steps of a look at the urgency or the total of one trigger: what is consumed, what was believed to be fired, what was fired with the
/// time of the last, that it is believed, and the time with what was fired once more.
const LOOK: u64 = 7;

fn of(
    combination: Option<ReceptorCombination>,
    count: u16,
) -> (Vec<leveret_memory::FiringWriter>, Occurrence) {
    let (writers, sources) = triggers(count);
    let parts = || sources.iter().map(|source| Occurrence::of_sources(vec![source.clone()])).collect();
    let occurrence = match combination {
        None => Occurrence::of_sources(sources),
        Some(combination) => Occurrence::combined(combination, parts()),
    };
    (writers, occurrence)
}

/// Most steps to consume one when nobody else does: the totals, the claim, the urgencies, and the same of each part that is consumed.
fn consume_most(count: u16) -> u64 {
    (2 * LOOK + 4) * u64::from(count) + 4
}

const COMBINATIONS: [Option<ReceptorCombination>; 3] =
    [None, Some(ReceptorCombination::Any), Some(ReceptorCombination::All)];

// spec: LAW-STEPS-02
#[test]
fn a_firing_is_consumed_in_as_many_steps_whatever_is_pending() {
    for combination in COMBINATIONS {
        for count in [1, 2, 17, 100] {
            for pending in [0, 1, KEPT, 5 * KEPT] {
                let (writers, occurrence) = of(combination, count);
                for number in 0..pending {
                    for writer in &writers {
                        writer.fire(Nanos(number as i64));
                    }
                }
                let most = consume_most(count);
                let mut consumed = 0;
                while steps::of(most, || occurrence.consume()).0.is_some() {
                    consumed += 1;
                    steps::of(most, || (occurrence.pending(), occurrence.next_time()));
                }
                let all = match combination {
                    Some(ReceptorCombination::All) => pending,
                    _ => pending * u64::from(count),
                };
                assert_eq!(consumed, all, "{combination:?} of {count}, {pending} of each");
                steps::of(4 * u64::from(count), || occurrence.is_possible(&|_| true));
            }
        }
    }
}

// spec: LAW-STEPS-03
#[test]
fn a_claim_begins_again_only_when_another_thread_has_consumed_one() {
    for combination in COMBINATIONS {
        for count in [1, 3] {
            for others in [0, 1, 5, 50] {
                let (writers, occurrence) = of(combination, count);
                for number in 0..60 {
                    for writer in &writers {
                        writer.fire(Nanos(number));
                    }
                }
                let mut done = 0;
                let mut consume = || {
                    if done < others && occurrence.consume().is_some() {
                        done += 1;
                    }
                };
                let most = consume_most(count) * (others + 1);
                let consumed = steps::beside(most, &mut consume, || occurrence.consume()).0;
                assert!(consumed.is_some_and(|consumed| consumed.lost == 0), "{combination:?}: {consumed:?}");
            }
        }
    }
}

/// A peer's count that goes up and down between any two steps: an occurrence that was claimed and is not to be found is given up.
// spec: LAW-STEPS-02
#[test]
fn a_count_that_a_peer_changes_all_the_time_keeps_nobody() {
    for combination in [ReceptorCombination::Any, ReceptorCombination::All] {
        let (writers, occurrence) = of(Some(combination), 3);
        let mut turn = 0_u64;
        let mut fire = || {
            turn += 1;
            for writer in writers.iter().take(turn as usize % 4) {
                writer.fire(Nanos(turn as i64));
            }
        };
        for _ in 0..1000 {
            steps::beside(consume_most(3) * u64::from(LOOKS_MAX), &mut fire, || occurrence.consume());
        }
    }
}
