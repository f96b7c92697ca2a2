//! Aliased buffers: what the sender's program writes is what the receiver's reads, and a buffer has one of them at a time.
#![cfg(not(loom))]

mod common;

use common::{CHANNEL, GENERATION, SegmentPair, attach, create, source_spec, target_spec, words};
use leveret_memory::sync::Ordering;
use leveret_memory::{InvalidReason, Mapping, Receiver, Sender, Taken};
use leveret_types::Nanos;

const SIZE: u32 = 1 << 16;
const BUFFERS: u32 = 3;

#[test]
fn a_buffer_is_the_same_bytes_at_both_ends_and_comes_back_when_given_back() {
    let SegmentPair { mut source, peer_source, mut target, peer_target } =
        common::segments(SIZE, 2, false, Mapping::Aliased(BUFFERS));
    let own = source.take_source(CHANNEL).expect("declared");
    let end = target.take_target(CHANNEL).expect("declared");
    let (to, from) =
        (peer_target.target(CHANNEL).expect("declared"), peer_source.source(CHANNEL).expect("declared"));
    let (here, there) = (own.shelf().expect("aliased").clone(), from.shelf().expect("aliased").clone());
    assert_eq!((here.buffers(), here.size(), there.buffers()), (BUFFERS, SIZE as usize, BUFFERS));
    for place in 0..BUFFERS {
        assert_eq!(here.address(place), there.address(place), "one process maps it once here");
        assert!(here.address(place).as_ptr().addr().is_multiple_of(64));
    }
    let (lender, borrower) = (to.lender().expect("aliased"), end.borrower().expect("aliased"));
    let (mut sender, mut receiver) = (Sender::new(own, to), Receiver::new(end, from));
    assert_eq!((sender.capacity(), receiver.capacity()), (SIZE as usize, SIZE as usize));

    for (instance, place) in [(0, 2), (1, 0), (2, 1)] {
        sender.reserve(instance).expect("free").publish_for(place, SIZE, Nanos(5));
        assert!(!lender.is_back(place, instance), "not even taken");
    }
    let Taken::Message(first) = receiver.take(0) else { panic!("published") };
    assert_eq!((first.index(), first.length(), first.bytes().len()), (Some(2), SIZE as usize, 0));
    borrower.keep(2, 0);
    first.release();
    assert!(!lender.is_back(2, 0), "in use");
    // What is passed over is back at once, and the order of giving back is free.
    receiver.release_through(1);
    assert!(lender.is_back(0, 1));
    let Taken::Message(third) = receiver.take(2) else { panic!("published") };
    borrower.keep(1, 2);
    third.release();
    let before = lender.returns();
    borrower.give_back(1);
    borrower.give_back(0);
    assert!(lender.is_back(1, 2) && !lender.is_back(2, 0));
    assert_eq!(lender.returns(), before + 1, "one that was not in use is not given back");
    borrower.give_back(2);
    assert!(lender.is_back(2, 0));
}

#[test]
fn a_message_for_a_buffer_that_there_is_not_names_none() {
    let SegmentPair { mut source, peer_source, mut target, peer_target } =
        common::segments(8, 2, false, Mapping::Indexed(BUFFERS));
    let mut sender = Sender::new(
        source.take_source(CHANNEL).expect("declared"),
        peer_target.target(CHANNEL).expect("declared"),
    );
    let mut receiver = Receiver::new(
        target.take_target(CHANNEL).expect("declared"),
        peer_source.source(CHANNEL).expect("declared"),
    );
    let mut slot = sender.reserve(0).expect("free");
    slot.write(&7_u64.to_le_bytes());
    slot.publish_for(BUFFERS - 1, 8, Nanos::ZERO);
    let Taken::Message(message) = receiver.take(0) else { panic!("published") };
    assert_eq!((message.index(), message.bytes().read_u64_le(0)), (Some(BUFFERS - 1), Some(7)));
    message.release();
    let slot = sender.reserve(1).expect("free");
    let outside = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        slot.publish_for(BUFFERS, 8, Nanos::ZERO);
    }));
    assert!(outside.is_err(), "the sender's own mistake");
}

/// The number that a peer says is checked, and not what its lowest bits are: whoever takes it indexes own memory with it.
// spec: LAW-VALID-01
#[test]
fn a_forged_number_of_a_buffer_names_none() {
    for mapping in [Mapping::Indexed(BUFFERS), Mapping::Aliased(BUFFERS)] {
        let mut spec = source_spec(8, 2, false);
        spec.sources[0].mapping = mapping;
        let (mut source, region, source_layout) = create(&spec);
        let mut spec = target_spec(false);
        spec.targets[0].mapping = mapping;
        let (mut target, target_region, target_layout) = create(&spec);
        let to = attach(&target_region, &target_layout).target(CHANNEL).expect("declared");
        let from = attach(&region, &source_layout).source(CHANNEL).expect("declared");
        let mut sender = Sender::new(source.take_source(CHANNEL).expect("declared"), to);
        let mut receiver = Receiver::new(target.take_target(CHANNEL).expect("declared"), from);
        sender.reserve(0).expect("free").publish_for(1, 0, Nanos(1));
        // The head: sequence, length and check, stamp, index.
        let sequence = u64::from(GENERATION.0) << 48 | 1;
        let words = words(&region);
        let head = words.iter().position(|word| word.load(Ordering::Relaxed) == sequence).expect("published");
        let index = &words[head + 3];
        assert_eq!(index.load(Ordering::Relaxed), 1);
        for said in [0, 2, u64::from(BUFFERS), 1 << 32 | 1, u64::MAX] {
            index.store(said, Ordering::Relaxed);
            let is_found = matches!(receiver.take(0), Taken::Invalid(InvalidReason::Check));
            assert!(is_found, "{said:#x} of {mapping:?}");
        }
        // And after the head was looked at.
        index.store(1, Ordering::Relaxed);
        let Taken::Message(message) = receiver.take(0) else { panic!("it is whole again") };
        assert_eq!(message.index(), Some(1));
        index.store(2, Ordering::Relaxed);
        assert_eq!(message.index(), None);
    }
}
