//! How many steps (operations on atomics) the functions of events and of priority-driven channels take in a process that is a job of its
//! own, with the library's threads at work beside.
#![cfg(debug_assertions)]

use leveret_memory::sync::steps;
use leveret_runtime::objects::{
    BufferDescription, ChannelDescription, Code, Dataspec, EventKind, Handle, Library, OwnedStorage, Policy,
    Qos, TriggerDescription,
};
use leveret_types::Nanos;
use std::sync::Arc;

const PATIENCE: Nanos = Nanos::from_secs(20);
const SIZE: usize = 8;

struct Objects {
    trigger: Handle,
    /// That hears the trigger, and one that hears the channel's completions.
    receptor: Handle,
    completed: Handle,
    channel: Handle,
    /// Where buffers are put, and where they come out: of the sending half and of the receiving one.
    input: [Handle; 2],
    output: [Handle; 2],
    buffers: Vec<Handle>,
}

fn objects(library: &mut Library, count: usize) -> Objects {
    let world = &mut library.world;
    let group = Handle::GROUP_WORLD;
    let shape = (SIZE, Dataspec::Byte);
    let mut iterator = || world.bufiter("i", Policy::Fifo, shape, Handle::default()).expect("an iterator");
    let (input, output) = ([(); 2].map(|()| iterator()), [(); 2].map(|()| iterator()));
    let qos = world.qos("q", Qos::Priority { priority: 3 }).expect("a QoS");
    let description =
        ChannelDescription { input: input[0], output: output[0], source: 0, target: 0, group, qos };
    let channel = world.ptchannel("to itself", description).expect("a channel");
    world.set_receive_iterators(channel, [input[1], output[1]]).expect("it is to itself");
    let about = |kind, source| TriggerDescription { kind, source, group, qos: Handle::default() };
    let trigger = world.trigger("call", about(EventKind::Call, Handle::default())).expect("a trigger");
    world.trigger("done", about(EventKind::Completion, channel)).expect("a trigger");
    let receptor = world.receptor("call", group, Handle::default()).expect("a receptor");
    let completed = world.receptor("done", group, Handle::default()).expect("a receptor");
    let buffers = (0..2 * count).map(|_| {
        let storage = Arc::new(OwnedStorage::new(SIZE));
        let description = BufferDescription { size: SIZE, dataspec: Dataspec::Byte, storage };
        world.buffer("b", description).expect("a buffer")
    });
    Objects { buffers: buffers.collect(), trigger, receptor, completed, channel, input, output }
}

// spec: LAW-STEPS-02
#[test]
fn events_and_priority_driven_channels_answer_within_their_bounds() {
    for count in [2, 200] {
        let mut library = Library::join().expect("a job of its own");
        let Objects { trigger, receptor, completed, channel, input, output, buffers } =
            objects(&mut library, count);
        library.commit().unwrap_or_else(|code| panic!("{code}: {}", library.refusal()));
        let committed = library.committed().expect("it is committed").clone();
        // A firing, who listens, and whether that wakes somebody; the clock is no step.
        for number in 0..300 {
            assert_eq!(steps::of(6, || committed.fire(trigger)).0, Ok(()));
            if number % 3 == 0 {
                let firing = steps::of(30, || committed.receptor_wait(receptor, PATIENCE)).0;
                assert_eq!(firing.map(|firing| firing.pending), Ok(number - number / 3));
                assert!(steps::of(20, || committed.receptor_event(receptor)).0.is_ok());
            }
        }
        while let Some(_firing) = steps::of(30, || committed.receptor_test(receptor)).0.expect("a receptor") {
        }
        assert_eq!(steps::of(30, || committed.receptor_wait(receptor, Nanos::ZERO)).0, Err(Code::Timeout));
        // The thread of the channel's priority moves; these only ask. Where it is at the same store, an insertion may begin again.
        for (place, buffer) in buffers.iter().enumerate() {
            let into = input[place % 2];
            assert_eq!(steps::of(80, || committed.insert(into, *buffer)).0, Ok(()));
        }
        for _ in 0..20 {
            assert_eq!(steps::of(80, || committed.start(channel)).0, Ok(()));
            assert_eq!(committed.wait(channel, PATIENCE), Ok(()));
            assert_eq!(steps::of(40, || committed.test(channel)).0, Ok(true));
            steps::of(20, || committed.status(channel)).0.expect("an end");
            steps::of(40, || committed.metrics(channel)).0.expect("an end");
            for half in [0, 1] {
                let buffer =
                    steps::of(40, || committed.remove(output[half])).0.expect("the transfer is over");
                assert_eq!(steps::of(80, || committed.insert(input[half], buffer)).0, Ok(()));
            }
            committed.receptor_wait(completed, PATIENCE).expect("it is complete");
        }
        assert_eq!(steps::of(40, || committed.activate(channel)).0, Ok(()));
        assert_eq!(steps::of(40, || committed.start(channel)).0, Err(Code::Active));
        assert_eq!(steps::of(20, || committed.deactivate(channel)).0, Ok(()));
        library.uncommit().expect("nobody else is there");
        library.leave().expect("nothing is committed");
    }
}
