//! Attributes, walks, vectors, groups against oracles of lists; and graphs of references freed in any order.

use super::*;
use leveret_memory::sync::{AtomicUsize, Ordering};
use leveret_types::MemberId;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

fn world() -> World {
    let names: Vec<String> = (0..5).map(|member| format!("m{member}")).collect();
    World::new(MemberId(0), &names).expect("a world")
}

fn leaf(world: &mut World) -> Handle {
    let storage = Arc::new(OwnedStorage::new(8));
    world.buffer("b", BufferDescription { size: 8, dataspec: Dataspec::Byte, storage }).expect("a buffer")
}

/// Predefined objects alone are left.
fn is_empty(world: &World) -> bool {
    world.table.all().count() == 2
}

proptest! {
    // spec: OBJECT-FREE-03, OBJECT-FREE-04, CONTAINER-REF-01, CONTAINER-CVECTOR-05, OBJECT-HANDLE-02
    #[test]
    fn graphs_of_references_go_in_any_order(
        kinds in prop::collection::vec(0..4_u8, 1..24),
        edges in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..80),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..24),
    ) {
        let mut world = world();
        let mut handles: Vec<Handle> = Vec::new();
        for kind in &kinds {
            let made = match kind {
                0 => leaf(&mut world),
                1 => world.cset("s").expect("a set"),
                2 => world.cvector("v", &[Handle::default(); 4]).expect("a vector"),
                // A walk over what was made before, where that can be walked.
                _ => match handles.last().map(|last| world.container_iterator("w", *last)) {
                    Some(Ok(walk)) => walk,
                    _ => world.cset("s").expect("a set"),
                },
            };
            handles.push(made);
        }
        for (place, (from, to)) in edges.iter().enumerate() {
            let (from, to) = (*from.get(&handles), *to.get(&handles));
            let answer = match from.class() {
                Some(Class::Cset) => world.cset_insert(from, to),
                Some(Class::Cvector) => world.cvector_set_element(from, place % 4, to),
                _ => continue,
            };
            // A cycle is refused; everything else is taken.
            prop_assert!(matches!(answer, Ok(()) | Err(Code::Argument)), "{answer:?}");
        }
        let mut left = handles.clone();
        for next in order {
            if left.is_empty() {
                break;
            }
            let freed = left.remove(next.index(left.len()));
            prop_assert_eq!(world.free(freed), Ok(()));
            prop_assert_eq!(world.class(freed), Err(Code::StaleObject));
            // What is left is whole.
            for handle in &left {
                prop_assert!(world.name(*handle).is_ok());
            }
        }
        for handle in left {
            prop_assert_eq!(world.free(handle), Ok(()));
        }
        prop_assert!(is_empty(&world), "only what is predefined is left");
        for handle in handles {
            prop_assert_eq!(world.free(handle), Err(Code::StaleObject));
        }
    }

    // spec: CONTAINER-CVECTOR-01, CONTAINER-CVECTOR-03, CONTAINER-CVECTOR-04, CONTAINER-ITER-02, CONTAINER-ITER-03, CONTAINER-ITER-04
    // spec: CONTAINER-ITER-06
    #[test]
    fn vectors_and_walks_answer_as_lists_do(
        calls in prop::collection::vec((0..6_u8, 0..6_usize, 0..4_usize), 1..120),
    ) {
        let mut world = world();
        let objects: Vec<Handle> = (0..3).map(|_| leaf(&mut world)).chain([Handle::null(Class::Buffer)]).collect();
        let vector = world.cvector("v", &[objects[0]; 4]).expect("a vector");
        let mut list = [objects[0]; 4];
        let walks: Vec<Handle> =
            (0..2).map(|_| world.container_iterator("w", vector).expect("a walk")).collect();
        // Where each walk stands, and how often the vector had changed when it began.
        let mut stands = [(0, 0); 2];
        let mut changes = 0;
        for (what, index, object) in calls {
            let walk = index % 2;
            match what {
                0 => {
                    let answer = world.cvector_set_element(vector, index, objects[object]);
                    prop_assert_eq!(answer, if index < 4 { Ok(()) } else { Err(Code::Index) });
                    if let Some(place) = list.get_mut(index) {
                        *place = if object == 3 { Handle::default() } else { objects[object] };
                        changes += 1;
                    }
                }
                1 => {
                    let expected = list.get(index).copied().ok_or(Code::Index);
                    prop_assert_eq!(world.cvector_element(vector, index), expected);
                }
                2 => {
                    prop_assert_eq!(world.container_iterator_reset(walks[walk]), Ok(()));
                    stands[walk] = (0, changes);
                }
                _ => {
                    let (place, began) = stands[walk];
                    let expected = match list.get(place) {
                        _ if began != changes => Err(Code::Changed),
                        Some(element) => Ok(*element),
                        None => Err(Code::End),
                    };
                    prop_assert_eq!(world.container_iterator_next(walks[walk]), expected);
                    if expected.is_ok() {
                        stands[walk].0 += 1;
                    }
                }
            }
        }
        prop_assert_eq!(world.cvector_size(vector), Ok(4));
    }

    // spec: ATTR-KEY-01, ATTR-KEY-02, ATTR-KEY-03, ATTR-PUT-01, ATTR-GET-01, ATTR-DELETE-01, ATTR-DELETE-02, ATTR-DELETE-03
    #[test]
    fn attributes_answer_as_a_map_does(
        calls in prop::collection::vec((0..8_u8, 0..3_usize, 0..4_usize, any::<bool>()), 1..120),
    ) {
        let mut world = world();
        let deleted = Arc::new(AtomicUsize::new(0));
        let refuses = Arc::new(AtomicUsize::new(0));
        let mut objects: Vec<Handle> = (0..3).map(|_| world.cset("o").expect("a set")).collect();
        let new_key = |world: &mut World| counting_key(world, &deleted, &refuses);
        let mut keys: Vec<(Keyval, bool)> = (0..4).map(|_| (new_key(&mut world), true)).collect();
        let mut known: BTreeMap<(Handle, Keyval), u64> = BTreeMap::new();
        let mut expected_calls = 0;
        for (number, (what, object, key, refuse)) in calls.into_iter().enumerate() {
            refuses.store(usize::from(refuse), Ordering::Relaxed);
            let (place, (handle, (key, is_live))) = (key, (objects[object], keys[key]));
            let is_stored = known.contains_key(&(handle, key));
            let refused = if refuse { Err(Code::Full) } else { Ok(()) };
            match what {
                0..=2 => {
                    let value: Value = Arc::new(number as u64);
                    let expected = match (is_live, is_stored) {
                        (false, _) => Err(Code::InvKeyval),
                        (true, true) => { expected_calls += 1; refused }
                        (true, false) => Ok(()),
                    };
                    prop_assert_eq!(world.put_attribute(handle, key, &value), expected);
                    if expected.is_ok() {
                        known.insert((handle, key), number as u64);
                    }
                }
                3 | 4 => {
                    let found = world.attribute(handle, key).map(|value| {
                        value.map(|value| *value.downcast_ref::<u64>().expect("what was stored"))
                    });
                    let expected = known.get(&(handle, key)).copied();
                    prop_assert_eq!(found, if is_live { Ok(expected) } else { Err(Code::InvKeyval) });
                }
                5 => {
                    let expected = match is_live && is_stored {
                        false => Err(Code::InvKeyval),
                        true => { expected_calls += 1; refused }
                    };
                    prop_assert_eq!(world.delete_attribute(handle, key), expected);
                    if expected.is_ok() {
                        known.remove(&(handle, key));
                    }
                }
                6 => {
                    prop_assert_eq!(world.keyval_free(key), if is_live { Ok(()) } else { Err(Code::InvKeyval) });
                    keys[place].1 = false;
                    if !is_live {
                        keys[place] = (new_key(&mut world), true);
                    }
                }
                _ => {
                    let stored = known.keys().filter(|(owner, _)| *owner == handle).count();
                    let is_kept = refuse && stored > 0;
                    expected_calls += if is_kept { 1 } else { stored };
                    prop_assert_eq!(world.free(handle), if is_kept { Err(Code::Full) } else { Ok(()) });
                    if !is_kept {
                        known.retain(|(owner, _), _| *owner != handle);
                        prop_assert_eq!(world.attribute(handle, key).err(), Some(Code::StaleObject));
                        objects[object] = world.cset("o").expect("a set");
                    }
                }
            }
            prop_assert_eq!(deleted.load(Ordering::Relaxed), expected_calls);
        }
    }

    // spec: GROUP-INCL-01, GROUP-INCL-02, GROUP-EXCL-01, GROUP-UNION-01, GROUP-INTER-01, GROUP-DIFF-01, GROUP-EMPTY-01
    // spec: GROUP-TRANSLATE-01, GROUP-COMPARE-01, GROUP-RANK-01, GROUP-RANK-02
    #[test]
    fn groups_answer_as_lists_do(
        first in prop::collection::vec(0..7_u32, 0..6),
        second in prop::collection::vec(0..7_u32, 0..6),
    ) {
        let mut world = world();
        let is_right = |ranks: &[u32]| {
            let twice = ranks.iter().enumerate().any(|(place, rank)| ranks[..place].contains(rank));
            !twice && ranks.iter().all(|rank| *rank < 5)
        };
        let mut made = Vec::new();
        for ranks in [&first, &second] {
            let included = world.group_include("g", Handle::GROUP_WORLD, ranks);
            let excluded = world.group_exclude("g", Handle::GROUP_WORLD, ranks);
            if !is_right(ranks) {
                prop_assert_eq!((included, excluded), (Err(Code::InvRank), Err(Code::InvRank)));
                return Ok(());
            }
            let rest: Vec<u32> = (0..5).filter(|rank| !ranks.contains(rank)).collect();
            let (included, excluded) = (included.expect("a group"), excluded.expect("a group"));
            prop_assert_eq!(list(&world, included), ranks.clone());
            prop_assert_eq!(list(&world, excluded), rest);
            prop_assert_eq!(world.group_rank(included), Ok(ranks.iter().position(|rank| *rank == 0)));
            prop_assert_eq!(world.group_size(included), Ok(ranks.len()));
            made.push(included);
        }
        let of_second = |rank: &u32| second.contains(rank);
        let union: Vec<u32> =
            first.iter().chain(second.iter().filter(|rank| !first.contains(rank))).copied().collect();
        let both: Vec<u32> = first.iter().copied().filter(of_second).collect();
        let only: Vec<u32> = first.iter().copied().filter(|rank| !of_second(rank)).collect();
        for (combination, expected) in
            [(Combination::Union, union), (Combination::Intersection, both), (Combination::Difference, only)]
        {
            let group = world.group_combine("g", combination, made[0], made[1]).expect("a group");
            prop_assert!(!group.is_null(), "an empty group is a group");
            prop_assert_eq!(list(&world, group), expected);
        }
        let (mut sorted_first, mut sorted_second) = (first.clone(), second.clone());
        sorted_first.sort_unstable();
        sorted_second.sort_unstable();
        let expected = if first == second {
            Comparison::Identical
        } else if sorted_first == sorted_second {
            Comparison::Similar
        } else {
            Comparison::Unequal
        };
        prop_assert_eq!(world.group_compare(made[0], made[1]), Ok(expected));
        let ranks: Vec<u32> = (0..first.len() as u32).collect();
        let translated: Vec<Option<usize>> =
            first.iter().map(|member| second.iter().position(|other| other == member)).collect();
        prop_assert_eq!(world.group_translate(made[0], &ranks, made[1]), Ok(translated));
        prop_assert_eq!(world.group_translate(made[0], &[first.len() as u32], made[1]), Err(Code::InvRank));
    }
}

/// A key whose delete function counts its calls, and refuses when it is told to.
fn counting_key(world: &mut World, deleted: &Arc<AtomicUsize>, refuses: &Arc<AtomicUsize>) -> Keyval {
    let (deleted, refuses) = (deleted.clone(), refuses.clone());
    let delete: DeleteFunction = Arc::new(move |_, _, _| {
        deleted.fetch_add(1, Ordering::Relaxed);
        if refuses.load(Ordering::Relaxed) == 1 { Err(Code::Full) } else { Ok(()) }
    });
    world.keyval(Some(delete)).expect("a key")
}

/// The members of a group by their ranks in the world.
fn list(world: &World, group: Handle) -> Vec<u32> {
    world.members(group).expect("a group").iter().map(|member| u32::from(member.0)).collect()
}

// spec: OBJECT-HANDLE-01
#[test]
fn a_handle_is_64_bits_in_rust_too() {
    assert_eq!((size_of::<Handle>(), align_of::<Handle>()), (size_of::<u64>(), align_of::<u64>()));
}

// spec: OBJECT-HANDLE-07
#[test]
fn a_place_is_used_once_a_generation_and_then_no_more() {
    let mut world = world();
    let set = world.cset("s").expect("a set");
    world.free(set).expect("freed");
    world.table.use_up(2, 2);
    let before_last = world.cset("s").expect("a set");
    world.free(before_last).expect("freed");
    let last = world.cset("s").expect("a set");
    world.free(last).expect("freed");
    let elsewhere = world.cset("s").expect("a set");
    let places: Vec<_> = [set, before_last, last].iter().map(|handle| handle.place()).collect();
    assert_eq!(places, [Ok(2), Ok(2), Ok(2)]);
    assert_eq!([before_last, last].map(Handle::generation), [(1 << 24) - 2, (1 << 24) - 1]);
    assert_eq!(elsewhere.place(), Ok(3));
    for handle in [set, before_last, last] {
        assert_eq!(world.class(handle), Err(Code::StaleObject));
    }
}

// spec: MPIRT_Container_start/LIMIT, MPIRT_Container_test/LIMIT, MPIRT_Container_wait/LIMIT
// spec: MPIRT_Container_activate/LIMIT, MPIRT_Container_deactivate/LIMIT
// spec: MPIRTX_Container_wait_any/LIMIT, MPIRTX_Container_test_any/LIMIT
#[test]
fn operations_reach_so_many_channels_and_no_more() {
    let mut world = world();
    let iterator =
        world.bufiter("i", Policy::Fifo, (8, Dataspec::Byte), Handle::default()).expect("an iterator");
    let channel = ChannelDescription {
        input: iterator,
        output: iterator,
        source: 0,
        target: 1,
        group: Handle::GROUP_WORLD,
        qos: Handle::default(),
    };
    let channel = world.ptchannel("c", channel).expect("a channel");
    // Each holds the one before it twice.
    let mut levels = vec![world.cvector("v", &[channel, channel]).expect("a vector")];
    for _ in 0..40 {
        let inner = levels[levels.len() - 1];
        levels.push(world.cvector("v", &[inner, inner]).expect("a vector"));
    }
    let committed = world.prepare(&crate::objects::keep::Kept::default()).expect("everything fits");
    assert_eq!(committed.start_all(levels[15]), Err(Code::UndefForObject), "a channel without an end here");
    for level in [16, 40] {
        assert_eq!(committed.start_all(levels[level]), Err(Code::Limit));
        assert_eq!(committed.test_all(levels[level]), Err(Code::Limit));
        assert_eq!(committed.activate_all(levels[level]), Err(Code::Limit));
        assert_eq!(committed.deactivate_all(levels[level]), Err(Code::Limit));
        assert_eq!(committed.wait_all(levels[level], leveret_types::Nanos::ZERO), Err(Code::Limit));
        assert_eq!(committed.test_any(levels[level]), Err(Code::Limit));
        assert_eq!(committed.wait_any(levels[level], leveret_types::Nanos::ZERO), Err(Code::Limit));
    }
    // What is freed and lives by references is reached through its container alone.
    world.free(channel).expect("freed");
    let committed = world.prepare(&crate::objects::keep::Kept::default()).expect("everything fits");
    assert_eq!(committed.start(channel), Err(Code::StaleObject));
    assert_eq!(committed.start_all(levels[0]), Err(Code::UndefForObject));
}

// spec: OBJECT-FREE-09
#[test]
fn a_freed_buffer_takes_part_through_an_allowed_set() {
    let mut world = world();
    let buffer = leaf(&mut world);
    let allowed = world.cvector("a", &[buffer]).expect("a vector");
    world.bufiter("i", Policy::Fifo, (8, Dataspec::Byte), allowed).expect("an iterator");
    world.free(allowed).expect("freed");
    world.free(buffer).expect("freed");
    let committed = world.prepare(&crate::objects::keep::Kept::default()).expect("everything fits");
    assert_eq!((committed.buffers.len(), committed.iterators[0].buffers.len()), (1, 1));
}
