//! A thread of the dispatch in a job of its own.

use super::*;
use crate::objects::{EventKind, Handle, Library, TriggerDescription};

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
