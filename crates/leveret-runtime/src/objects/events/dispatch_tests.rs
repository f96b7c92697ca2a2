//! A thread of the dispatch in a job of its own.

use super::*;
use crate::objects::{EventKind, Handle, Library, Qos, TriggerDescription, World};
use leveret_types::MemberId;

/// Not a bound: the thread sleeps as soon as it has looked at everything once.
const WATCHDOG: Nanos = Nanos::from_secs(60);

/// With nothing that is ready and no instant at which anything will be, it leaves its core to others until something is fired.
#[test]
fn a_thread_that_has_nothing_to_run_sleeps() {
    let mut library = Library::join().expect("a job of its own");
    let world = &mut library.world;
    let handler = world.handler("h", Handle::default(), Arc::new(|_, _, _| {})).expect("a handler");
    let handlers = world.cvector("v", &[handler]).expect("a vector");
    world.receptor("e", Handle::GROUP_WORLD, handlers).expect("a receptor");
    let (group, source, qos) = (Handle::GROUP_WORLD, Handle::default(), Handle::default());
    let by_call = TriggerDescription { kind: EventKind::Call, source, group, qos };
    world.trigger("e", by_call).expect("a trigger");
    library.commit().unwrap_or_else(|code| panic!("{code}: {}", library.refusal()));
    let committed = library.committed().expect("it is committed").clone();
    let threads = &committed.committed_events().expect("it has a receptor").dispatch.threads;
    assert_eq!(threads.len(), 1);
    let limit = clock::now() + WATCHDOG;
    while !threads[0].sleeps.load(Ordering::SeqCst) {
        assert!(clock::now() < limit, "it goes round and round");
        std::thread::yield_now();
    }
    library.uncommit().expect("nobody else is there");
    library.leave().expect("nothing is committed");
}

/// Admission counts a handler with the priority, the budget and the interval of its QoS.
// spec: EVENT-HANDLER-09
#[test]
fn a_handler_is_declared_with_its_budget() {
    let mut world = World::new(MemberId(0), &["zero".to_owned()]).expect("a world");
    let (budget, interval) = (Nanos::from_micros(20), Nanos::from_millis(1));
    let qos = world.qos("q", Qos::Handler { priority: 45, budget, interval }).expect("a QoS");
    let handler = world.handler("h", qos, Arc::new(|_, _, _| {})).expect("a handler");
    let handlers = world.cvector("v", &[handler]).expect("a vector");
    world.receptor("e", Handle::GROUP_WORLD, handlers).expect("a receptor");
    let (group, source, qos) = (Handle::GROUP_WORLD, Handle::default(), Handle::default());
    world.trigger("e", TriggerDescription { kind: EventKind::Call, source, group, qos }).expect("a trigger");
    let binding =
        world.bind(&Kept::default()).unwrap_or_else(|unfit| panic!("{:?} {}", unfit.code, unfit.detail));
    let [work] = &binding.declarations.wire.sporadics[..] else { panic!("one handler is one work") };
    assert_eq!((work.priority, work.budget, work.interval), (Some(45), Some(budget), Some(interval)));
}
