//! Combinations against an oracle that keeps lists of firings.

use super::*;
use leveret_memory::{
    EventSpec, FiringWriter, HeapRegion, OwnSegment, PeerSegment, Region, SegmentLayout, SegmentSpec,
    TriggerSpec,
};
use leveret_types::{Generation, TriggerId};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;

const KEPT: u32 = 64;

/// So many triggers of a member, as it fires and as a receptor reads them. Trigger k has priority k modulo 2.
pub(super) fn triggers(count: u16) -> (Vec<FiringWriter>, Vec<FiringSource>) {
    triggers_over(count, |_| 0)
}

/// The same in memory that holds these words.
fn triggers_over(count: u16, word: impl FnMut(usize) -> u64) -> (Vec<FiringWriter>, Vec<FiringSource>) {
    let spec = TriggerSpec { trigger: TriggerId(0), kept: KEPT };
    let triggers = (0..count).map(|trigger| TriggerSpec { trigger: TriggerId(trigger), ..spec }).collect();
    let (member, generation) = (MemberId(0), Generation(1));
    let layout = SegmentLayout::new(&SegmentSpec {
        member,
        generation,
        sources: Vec::new(),
        targets: Vec::new(),
        tasks: Vec::new(),
        message_records: 1,
        events: EventSpec { triggers, listeners: Vec::new() },
    });
    let layout = layout.expect("the specification is good");
    let region: Arc<dyn Region> = Arc::new(HeapRegion::filled(layout.size(), word));
    let mut own = OwnSegment::create(region.clone(), &layout).expect("fresh memory");
    let peer = PeerSegment::attach(region, &layout, member, generation).expect("a good header");
    (0..count)
        .map(|trigger| {
            let reader = peer.trigger(TriggerId(trigger), Nanos::ZERO).expect("declared");
            let source = FiringSource { reader, member, rank: trigger, priority: (trigger % 2) as u8 };
            (own.take_trigger(TriggerId(trigger)).expect("not taken"), source)
        })
        .unzip()
}

/// A combination by the numbers of its triggers.
#[derive(Clone, Debug)]
enum Shape {
    Fired(u16),
    Combined(bool, Vec<Shape>),
}

/// Combinations of all of `count` triggers, each once.
fn shape(count: u16) -> impl Strategy<Value = Shape> {
    (prop::collection::vec((any::<bool>(), 2..4_usize), 1..4), any::<bool>()).prop_map(
        move |(steps, last)| {
            let mut open: VecDeque<Shape> = (0..count).map(Shape::Fired).collect();
            for (all, width) in steps {
                let taken: Vec<Shape> = (0..width).filter_map(|_| open.pop_front()).collect();
                if !taken.is_empty() {
                    open.push_back(Shape::Combined(all, taken));
                }
            }
            Shape::Combined(last, open.into())
        },
    )
}

fn occurrence(shape: &Shape, sources: &[FiringSource]) -> Occurrence {
    match shape {
        Shape::Fired(trigger) => Occurrence::of_sources(vec![sources[usize::from(*trigger)].clone()]),
        Shape::Combined(all, parts) => {
            let parts = parts.iter().map(|part| occurrence(part, sources)).collect();
            let combination = if *all { ReceptorCombination::All } else { ReceptorCombination::Any };
            Occurrence::combined(combination, parts)
        }
    }
}

/// The oracle: what each trigger has fired and is not consumed.
type Fired = Vec<VecDeque<(u64, i64)>>;

fn urgency(shape: &Shape, fired: &Fired) -> Option<(Reverse<u8>, i64, u16)> {
    match shape {
        Shape::Fired(trigger) => {
            let (_, time) = fired[usize::from(*trigger)].front()?;
            Some((Reverse((trigger % 2) as u8), *time, *trigger))
        }
        Shape::Combined(false, parts) => parts.iter().filter_map(|part| urgency(part, fired)).min(),
        Shape::Combined(true, parts) => {
            let all: Option<Vec<_>> = parts.iter().map(|part| urgency(part, fired)).collect();
            let all = all?;
            Some((
                all.iter().map(|u| u.0).max()?,
                all.iter().map(|u| u.1).max()?,
                all.iter().map(|u| u.2).max()?,
            ))
        }
    }
}

/// Takes an occurrence that is there; every firing that it consumes.
fn take(shape: &Shape, fired: &mut Fired) -> Vec<(u16, u64, i64)> {
    match shape {
        Shape::Fired(trigger) => {
            let (number, time) = fired[usize::from(*trigger)].pop_front().expect("it is there");
            vec![(*trigger, number, time)]
        }
        Shape::Combined(false, parts) => {
            let first = parts.iter().filter_map(|part| Some((urgency(part, fired)?, part)));
            let (_, part) = first.min_by_key(|(urgency, _)| *urgency).expect("it is there");
            take(part, fired)
        }
        Shape::Combined(true, parts) => parts.iter().flat_map(|part| take(part, fired)).collect(),
    }
}

const TRIGGERS: u16 = 5;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // spec: EVENT-DELIVER-01, EVENT-DELIVER-02, EVENT-DELIVER-03, EVENT-DELIVER-09, EVENT-COMBINE-01, EVENT-COMBINE-02
    #[test]
    fn occurrences_are_those_of_the_oracle(
        shape in shape(TRIGGERS),
        steps in prop::collection::vec(prop_oneof![2 => (0..TRIGGERS).prop_map(Some), 1 => Just(None)], 0..150),
    ) {
        let (writers, sources) = triggers(TRIGGERS);
        let receptor = occurrence(&shape, &sources);
        let mut fired: Fired = vec![VecDeque::new(); usize::from(TRIGGERS)];
        for (number, step) in steps.into_iter().enumerate() {
            // Several firings share an instant, so that the rank decides too.
            let now = (number / 4) as i64;
            if let Some(trigger) = step {
                // Beyond what is kept the oracle would have to forget times too.
                if fired[usize::from(trigger)].len() < KEPT as usize {
                    let number = writers[usize::from(trigger)].fire(Nanos(now));
                    fired[usize::from(trigger)].push_back((number, now));
                }
                continue;
            }
            let expected = urgency(&shape, &fired).map(|_| take(&shape, &mut fired));
            let found = receptor.consume();
            prop_assert_eq!(found.is_some(), expected.is_some());
            if let (Some(found), Some(expected)) = (found, expected) {
                let last = expected.iter().map(|(_, _, time)| *time).max();
                prop_assert_eq!(found.time.map(|time| time.0), last, "the firing that made it occur");
                prop_assert!(expected.contains(&(found.rank, found.number, last.unwrap_or(-1))));
                prop_assert_eq!(found.lost, 0);
            }
        }
        prop_assert_eq!(receptor.pending() > 0, urgency(&shape, &fired).is_some());
    }
}

/// Threads that consume at once: each firing goes to one of them, whatever the combination.
#[test]
fn in_process_no_firing_is_consumed_twice_or_left() {
    const EACH: u64 = 20_000;
    let (writers, sources) = triggers(3);
    let any = Shape::Combined(false, vec![Shape::Fired(0), Shape::Fired(1)]);
    let receptor = occurrence(&Shape::Combined(true, vec![any, Shape::Fired(2)]), &sources);
    let consumed = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let firing = |count: u64, places: &'static [usize]| {
            let writers = &writers;
            scope.spawn(move || {
                for k in 0..count {
                    for place in places {
                        writers[*place].fire(Nanos(k as i64));
                    }
                }
            });
        };
        firing(EACH, &[0, 1]);
        firing(2 * EACH, &[2]);
        for _ in 0..2 {
            scope.spawn(|| {
                while consumed.load(Ordering::Relaxed) < 2 * EACH {
                    if receptor.consume().is_some() {
                        consumed.fetch_add(1, Ordering::Relaxed);
                    } else {
                        std::thread::yield_now();
                    }
                }
            });
        }
    });
    assert_eq!((consumed.load(Ordering::Relaxed), receptor.pending()), (2 * EACH, 0));
    let mut leaves = Vec::new();
    receptor.collect_sources(&mut leaves);
    assert!(leaves.iter().map(|leaf| leaf.reader.fired()).eq([EACH, EACH, 2 * EACH].map(Some)));
    let Form::Combined(_, parts) = &receptor.form else { panic!("a combination") };
    assert!(parts.iter().all(|part| part.pending() == 0), "every part is consumed as often as the whole");
    let Form::Combined(_, inner) = &parts[0].form else { panic!("a combination") };
    assert!(inner.iter().all(|leaf| leaf.pending() == 0));
}

#[test]
fn what_can_never_occur_is_told() {
    let (writers, sources) = triggers(2);
    let both = |all| occurrence(&Shape::Combined(all, vec![Shape::Fired(0), Shape::Fired(1)]), &sources);
    assert!(both(true).is_possible(&|_| false));
    assert!(!both(true).is_possible(&|_| true) && !both(false).is_possible(&|_| true));
    writers[0].fire(Nanos(1));
    assert!(both(false).is_possible(&|_| true), "it has occurred already");
    assert!(!both(true).is_possible(&|_| true), "one part never will");
}

// spec: LAW-VALID-01
#[test]
fn a_damaged_count_runs_nothing_and_holds_up_no_other_trigger() {
    for nonsense in [1, 278_646, 1 << 20, 1 << 63, u64::MAX] {
        let (_, damaged) = triggers_over(1, |place| if place == 0 { 0 } else { nonsense });
        let (writers, honest) = triggers(1);
        let alone = Occurrence::of_sources(damaged.clone());
        assert_eq!((alone.pending(), alone.consume(), alone.drain()), (0, None, None), "{nonsense}");
        let both = [damaged, honest].concat();
        let any = Occurrence::of_sources(both.clone());
        let parts = both.into_iter().map(|source| Occurrence::of_sources(vec![source])).collect();
        let all = Occurrence::combined(ReceptorCombination::All, parts);
        for number in 0..3 {
            writers[0].fire(Nanos(100));
            assert_eq!(any.pending(), 1);
            assert_eq!(any.consume().map(|consumed| consumed.number), Some(number));
        }
        assert_eq!((any.pending(), any.consume(), all.consume()), (0, None, None), "{nonsense}");
    }
}

/// A peer that takes back what it has fired keeps nobody else's firings from being consumed.
// spec: LAW-VALID-01
#[test]
fn a_count_that_falls_hides_no_firing_of_another_trigger() {
    const FIRED: u64 = 40;
    let (liars, liar) = triggers(1);
    let (writers, honest) = triggers(1);
    let mut any = Occurrence::of_sources([liar, honest].concat());
    for number in 0..FIRED {
        liars[0].fire(Nanos(number as i64));
    }
    for _ in 0..FIRED {
        assert!(any.consume().is_some());
    }
    // As it was before anything was fired.
    let Form::Combined(_, parts) = &mut any.form else { panic!("a combination") };
    let Form::Fired(source, _) = &mut parts[0].form else { panic!("a trigger") };
    *source = triggers(1).1.remove(0);
    for number in 0..3 {
        writers[0].fire(Nanos(100));
        assert_eq!(any.pending(), 1);
        assert_eq!(any.consume().map(|consumed| (consumed.number, consumed.lost)), Some((number, 0)));
    }
    assert_eq!((any.pending(), any.consume()), (0, None));
}
