//! Counts, numbers and times against an oracle.

use super::*;
use crate::region::HeapRegion;
use proptest::prelude::*;
use std::sync::Arc;

fn trigger(kept: u32, near: Nanos) -> (FiringWriter, FiringReader) {
    let place = TriggerPlace {
        spec: TriggerSpec { trigger: TriggerId(0), kept },
        offset: 0,
        length: TIMES + kept as usize * 8,
    };
    let window = Window::whole(Arc::new(HeapRegion::new(place.length)));
    (FiringWriter::new(&window, &place), FiringReader::new(&window, &place, near))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: if cfg!(miri) { 4 } else { 256 }, ..ProptestConfig::default() })]

    /// The oracle is the list of all times.
    #[test]
    fn counts_never_err_and_the_last_times_are_kept(
        power in 0..5_u32,
        near in 0..i64::MAX / 4,
        steps in prop::collection::vec(0..1_000_000_000_i64, 0..if cfg!(miri) { 40 } else { 700 }),
    ) {
        let kept = 1 << power;
        let (writer, reader) = trigger(kept, Nanos(near));
        let mut times = Vec::new();
        let mut now = near;
        for step in steps {
            now += step;
            prop_assert_eq!(writer.fire(Nanos(now)), times.len() as u64);
            times.push(Nanos(now));
            prop_assert_eq!(reader.fired(), Some(times.len() as u64));
        }
        for (number, time) in times.iter().enumerate() {
            let is_kept = times.len() - number <= kept as usize;
            prop_assert_eq!(reader.time(number as u64), is_kept.then_some(*time));
        }
        prop_assert_eq!(reader.time(times.len() as u64), None);
    }
}

#[test]
fn laps_beyond_their_eight_bits_are_told_apart_by_the_count() {
    let (writer, reader) = trigger(1, Nanos::ZERO);
    for number in 0..1000 {
        assert_eq!(writer.fire(Nanos(number as i64)), number);
    }
    assert_eq!(reader.time(999), Some(Nanos(999)));
    assert_eq!(reader.time(999 - 256), None, "the same lap modulo 256");
}

#[test]
fn threads_that_fire_at_once_lose_nothing() {
    const EACH: u64 = if cfg!(miri) { 50 } else { 20_000 };
    let (writer, reader) = trigger(8, Nanos::ZERO);
    let mut numbers: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| (0..EACH).map(|k| writer.fire(Nanos(k as i64))).collect::<Vec<_>>()))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| {
                let own = thread.join().unwrap();
                assert!(own.is_sorted(), "a thread's firings are in its order");
                own
            })
            .collect()
    });
    numbers.sort_unstable();
    assert!(numbers.iter().copied().eq(0..3 * EACH));
    assert_eq!(reader.fired(), Some(3 * EACH));
}

#[test]
fn a_count_with_any_bit_changed_is_not_believed() {
    for number in [0, 1, 7, 1023, 1024, 278_646, 1 << 40, COUNT_MASK] {
        let word = counted(number);
        assert_eq!(count_of(word), Some(number));
        for bit in 0..64 {
            assert_eq!(count_of(word ^ 1 << bit), None, "{number} with bit {bit}");
            for other in 0..bit {
                assert_eq!(
                    count_of(word ^ 1 << bit ^ 1 << other),
                    None,
                    "{number} with bits {bit} and {other}"
                );
            }
        }
    }
}

/// Well-formed numbers, as another trigger's count is one: what was not timed was not fired.
#[test]
fn a_count_of_firings_that_nobody_timed_is_not_believed() {
    for kept in [1, 2, 8, 64] {
        for fired in [0, 1, 7, 8, 9, 300] {
            let (writer, reader) = trigger(kept, Nanos::ZERO);
            (0..fired).for_each(|number| assert_eq!(writer.fire(Nanos(number)), number as u64));
            assert_eq!(reader.fired(), Some(fired as u64));
            let word = reader.firings.window.word(FIRED);
            let whole = word.load(Ordering::Relaxed);
            // Laps have eight bits: none of these is a multiple of 256 of them ahead.
            for more in [100, 1000, 278_646, (1 << 40) + 77] {
                word.store(counted(fired as u64 + more), Ordering::Relaxed);
                assert_eq!(reader.fired(), None, "{more} after {fired}, {kept} kept");
            }
            word.store(whole, Ordering::Relaxed);
            assert_eq!(reader.fired(), Some(fired as u64), "mended");
        }
    }
}

/// Whoever writes over the count again and again is believed no more than who does it once.
#[cfg(debug_assertions)]
#[test]
fn a_count_that_changes_with_each_look_is_not_believed() {
    let (writer, reader) = trigger(8, Nanos::ZERO);
    (0..3).for_each(|number| assert_eq!(writer.fire(Nanos(number)), number as u64));
    let word = reader.firings.window.word(FIRED);
    let mut count = 1000;
    let mut scribble = || {
        count += 1;
        word.store(counted(count), Ordering::Relaxed);
    };
    let found = crate::sync::steps::beside(1 + 2 * u64::from(LOOKS_MAX), &mut scribble, || reader.fired());
    assert_eq!(found.0, None);
}
