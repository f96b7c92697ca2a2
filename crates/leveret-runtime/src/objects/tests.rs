//! Random calls, right and wrong, against an oracle that knows only lists.

use super::*;
use leveret_types::{MemberId, Nanos};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;

const SIZE: usize = 8;

fn world() -> World {
    World::new(MemberId(0), &["zero".to_owned(), "one".to_owned()]).expect("a world")
}

fn buffer(world: &mut World, size: usize) -> Handle {
    let storage = Arc::new(OwnedStorage::new(size));
    world.buffer("b", BufferDescription { size, dataspec: Dataspec::Byte, storage }).expect("a buffer")
}

/// One of the objects that a sequence of calls has made, or something that is none.
#[derive(Clone, Copy, Debug)]
enum Which {
    Made(usize),
    Null(Class),
    Number(u64),
}

#[derive(Clone, Copy, Debug)]
enum Call {
    Buffer,
    Cset,
    Insert(Which, Which),
    Remove(Which, Which),
    Free(Which),
    Count(Which),
}

fn which() -> impl Strategy<Value = Which> {
    prop_oneof![
        8 => (0..12_usize).prop_map(Which::Made),
        1 => (0..Class::ALL.len()).prop_map(|class| Which::Null(Class::ALL[class])),
        1 => any::<u64>().prop_map(Which::Number),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        2 => Just(Call::Buffer),
        2 => Just(Call::Cset),
        4 => (which(), which()).prop_map(|(set, object)| Call::Insert(set, object)),
        2 => (which(), which()).prop_map(|(set, object)| Call::Remove(set, object)),
        2 => which().prop_map(Call::Free),
        1 => which().prop_map(Call::Count),
    ]
}

/// An object as the oracle knows it.
struct Known {
    handle: Handle,
    class: Class,
    is_freed: bool,
    members: Vec<usize>,
}

struct Oracle {
    known: Vec<Known>,
}

impl Oracle {
    fn handle(&self, which: Which) -> Handle {
        match which {
            Which::Made(index) => self.known.get(index).map_or(Handle::default(), |known| known.handle),
            Which::Null(class) => Handle::null(class),
            Which::Number(number) => Handle::from_number(number),
        }
    }

    /// What a function for `class` finds behind a handle.
    fn find(&self, which: Which, class: Option<Class>) -> Result<usize, Code> {
        let handle = self.handle(which);
        if handle.is_null() {
            return Err(Code::NullObject);
        }
        match handle.class() {
            None => return Err(Code::InvObject),
            Some(found) if class.is_some_and(|class| class != found) => return Err(Code::WrongClass),
            Some(_) => {}
        }
        let found = self.known.iter().position(|known| known.handle == handle).ok_or(Code::InvObject)?;
        if self.known[found].is_freed { Err(Code::StaleObject) } else { Ok(found) }
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        from == to || self.known[from].members.iter().any(|member| self.reaches(*member, to))
    }

    fn insert(&mut self, set: Which, object: Which) -> Result<(), Code> {
        let set = self.find(set, Some(Class::Cset))?;
        if self.handle(object).is_null() {
            return Ok(());
        }
        let handle = self.handle(object);
        if self.known[set].members.iter().any(|member| self.known[*member].handle == handle) {
            return Ok(());
        }
        let object = self.find(object, None)?;
        if self.reaches(object, set) {
            return Err(Code::Argument);
        }
        self.known[set].members.push(object);
        Ok(())
    }

    fn remove(&mut self, set: Which, object: Which) -> Result<(), Code> {
        let set = self.find(set, Some(Class::Cset))?;
        let handle = self.handle(object);
        let place = self.known[set].members.iter().position(|member| self.known[*member].handle == handle);
        // A member whose handle was freed can be taken out by it; what else is no object is told as such.
        let Some(place) = place.filter(|_| !handle.is_null()) else {
            let object = if handle.is_null() { Ok(0) } else { self.find(object, None) };
            return object.and(Err(Code::CsetMemberNotFound));
        };
        self.known[set].members.remove(place);
        Ok(())
    }
}

proptest! {
    // spec: CONTAINER-CSET-INSERT-01
    #[test]
    fn objects_and_sets_answer_as_lists_do(calls in prop::collection::vec(call(), 1..80)) {
        let mut world = world();
        let mut oracle = Oracle { known: Vec::new() };
        for call in calls {
            match call {
                Call::Buffer | Call::Cset => {
                    let (handle, class) = match call {
                        Call::Buffer => (buffer(&mut world, SIZE), Class::Buffer),
                        _ => (world.cset("s").expect("a set"), Class::Cset),
                    };
                    prop_assert!(oracle.known.iter().all(|known| known.handle != handle), "a handle came twice");
                    oracle.known.push(Known { handle, class, is_freed: false, members: Vec::new() });
                }
                Call::Insert(set, object) => {
                    let answer = world.cset_insert(oracle.handle(set), oracle.handle(object));
                    prop_assert_eq!(answer, oracle.insert(set, object), "{:?}", call);
                }
                Call::Remove(set, object) => {
                    let answer = world.cset_remove(oracle.handle(set), oracle.handle(object));
                    prop_assert_eq!(answer, oracle.remove(set, object), "{:?}", call);
                }
                Call::Free(which) => {
                    let answer = world.free(oracle.handle(which));
                    if oracle.handle(which).is_predefined() {
                        prop_assert_eq!(answer, Err(Code::UndefForObject));
                        continue;
                    }
                    let expected = oracle.find(which, None);
                    prop_assert_eq!(answer, expected.map(|_| ()), "{:?}", call);
                    if let Ok(index) = expected {
                        oracle.known[index].is_freed = true;
                    }
                }
                Call::Count(which) => {
                    if oracle.handle(which).is_predefined() {
                        continue;
                    }
                    let expected = oracle.find(which, None).and_then(|index| match oracle.known[index].class {
                        Class::Cset => Ok(oracle.known[index].members.len()),
                        _ => Err(Code::WrongClass),
                    });
                    prop_assert_eq!(world.count(oracle.handle(which)), expected, "{:?}", call);
                }
            }
        }
        // Whatever the order, everything goes in the end.
        for index in 0..oracle.known.len() {
            let known = &oracle.known[index];
            if !known.is_freed {
                prop_assert_eq!(world.free(known.handle), Ok(()));
            }
        }
        prop_assert_eq!(world.table.all().count(), 2, "only what is predefined is left");
    }

    #[test]
    fn buffers_are_in_one_place_and_come_out_in_order(
        policy in prop_oneof![Just(Policy::Fifo), Just(Policy::Lifo), Just(Policy::Sorted)],
        calls in prop::collection::vec((0..3_u8, 0..5_usize, -2..3_i64), 1..80),
    ) {
        let mut world = world();
        let buffers: Vec<Handle> = (0..4).map(|_| buffer(&mut world, SIZE)).collect();
        let stranger = buffer(&mut world, 2 * SIZE);
        let all: Vec<Handle> = buffers.iter().copied().chain([stranger]).collect();
        let iterators: Vec<Handle> = (0..2)
            .map(|_| world.bufiter("i", policy, (SIZE, Dataspec::Byte), Handle::default()).expect("an iterator"))
            .collect();
        let committed = world.prepare(&crate::objects::keep::Kept::default()).expect("everything fits");
        committed.settle([]).expect("nothing is mapped");
        let mut inside = [VecDeque::<(usize, i64)>::new(), VecDeque::new()];
        for (what, which, label) in calls {
            let iterator = which % 2;
            let is_in = |inside: &[VecDeque<(usize, i64)>], which| inside.iter().flatten().any(|(b, _)| *b == which);
            match what {
                0 | 1 => {
                    let labelled = committed.set_label(all[which], label);
                    let is_used = is_in(&inside, which);
                    prop_assert_eq!(labelled, if is_used { Err(Code::BufferInUse) } else { Ok(()) });
                    let answer = committed.insert(iterators[iterator], all[which]);
                    let expected = match which {
                        4 => Err(Code::Bufsize),
                        _ if is_used => Err(Code::BufferInUse),
                        _ => Ok(()),
                    };
                    prop_assert_eq!(answer, expected);
                    if expected.is_ok() {
                        let place = match policy {
                            Policy::Lifo => 0,
                            Policy::Sorted => inside[iterator].iter().take_while(|(_, other)| *other <= label).count(),
                            _ => inside[iterator].len(),
                        };
                        inside[iterator].insert(place, (which, label));
                    }
                }
                _ => {
                    let expected = inside[iterator].pop_front().map(|(which, _)| all[which]);
                    prop_assert_eq!(committed.remove(iterators[iterator]), expected.ok_or(Code::Empty));
                }
            }
        }
    }
}

#[test]
fn a_qos_has_a_window_within_its_period() {
    let mut world = world();
    let mut time = |start, deadline, period| {
        world.qos("q", Qos::Time { start: Nanos(start), deadline: Nanos(deadline), period: Nanos(period) })
    };
    assert!(time(0, 5, 5).is_ok());
    assert!(time(6, 8, 0).is_ok(), "without a period the window is absolute");
    let wrong =
        [(-1, 5, 5), (5, 5, 5), (0, 6, 5), (0, i64::MAX, 5), (0, 5, -5), (0, 0, 0), (-1, 5, 0), (9, 8, 0)];
    for (start, deadline, period) in wrong {
        assert_eq!(time(start, deadline, period), Err(Code::Time), "{start} {deadline} {period}");
    }
}

// spec: CHANNEL-ITER-03
#[test]
fn both_iterators_of_a_channel_are_alike_at_commit_and_both_ranks_exist() {
    let mut world = world();
    let mut iterator = |size| {
        world.bufiter("i", Policy::Fifo, (size, Dataspec::Byte), Handle::default()).expect("an iterator")
    };
    let (narrow, wide) = (iterator(SIZE), iterator(2 * SIZE));
    let words = world.bufiter("w", Policy::Fifo, (SIZE, Dataspec::Int64), Handle::default());
    let words = words.expect("an iterator");
    let channel = ChannelDescription {
        input: narrow,
        output: narrow,
        source: 0,
        target: 1,
        group: Handle::GROUP_WORLD,
        qos: Handle::BEST_EFFORT,
    };
    assert!(world.ptchannel("c", channel).is_ok());
    assert_eq!(world.ptchannel("c", ChannelDescription { target: 2, ..channel }), Err(Code::InvRank));
    assert_eq!(
        world.ptchannel("c", ChannelDescription { group: Handle::default(), ..channel }),
        Err(Code::NullObject)
    );
    let between_others = ChannelDescription { source: 1, ..channel };
    assert_eq!(world.ptchannel("c", between_others), Err(Code::NotMember));
    let later = ChannelDescription { input: Handle::default(), ..channel };
    let later = world.ptchannel("c", later).expect("iterators may be set later");
    assert_eq!(
        world.prepare(&crate::objects::keep::Kept::default()).err(),
        Some(Code::Argument),
        "and must be set at commit"
    );
    for different in [wide, words] {
        assert_eq!(world.set_iterators(later, [narrow, different]), Ok(()));
        let unfit = world.bind(&crate::objects::keep::Kept::default()).err().expect("they are not alike");
        assert_eq!(unfit.code, Code::Argument);
        assert!(unfit.detail.contains("give it two that are alike"), "{}", unfit.detail);
    }
    assert_eq!(world.set_iterators(later, [narrow, narrow]), Ok(()));
    assert!(world.prepare(&crate::objects::keep::Kept::default()).is_ok());
}

#[test]
fn what_is_referred_to_lives_on_and_its_handle_does_not() {
    let mut world = world();
    let (set, inside) = (world.cset("s").expect("a set"), buffer(&mut world, SIZE));
    world.cset_insert(set, inside).expect("inserted");
    world.free(inside).expect("freed");
    assert_eq!(world.buffer_size(inside), Err(Code::StaleObject));
    assert_eq!((world.count(set), world.table.all().count()), (Ok(1), 4));
    world.free(set).expect("freed");
    assert_eq!(world.table.all().count(), 2);
}
