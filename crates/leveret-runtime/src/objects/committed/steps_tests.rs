//! How many steps (operations on atomics) the functions of the data path take, with few buffers and with many.
//!
//! What may grow with what is said at each bound. The calls of a best-effort end move what has become possible since the last one, so their
//! steps count the transfers that one call may move: the ring's buffers, and at the sender what the receiver has taken since, which
//! is at most the slack more.

use super::{ChannelMapping, Committed, End};
use crate::in_process::InProcessJob;
use crate::objects::error::Code;
use crate::objects::handle::Handle;
use crate::objects::{
    BufferDescription, BufiterPolicy, ChannelDescription, Dataspec, EndState, Form, OwnedStorage, Policy,
    Qos, Storage, World, job_in_tests,
};
use leveret_memory::sync::steps;
use leveret_types::{MemberId, Nanos};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, mpsc};

const SIZE: usize = 8;

/// Memory that commit may put where it likes. Nobody looks at it here.
struct System(OwnedStorage);

impl Storage for System {
    fn prepare(&self, size: usize) -> Result<(), Code> {
        self.0.prepare(size)
    }
    fn release(&self) {
        self.0.release();
    }
    fn read(&self, reader: &mut dyn FnMut(&[u8])) {
        self.0.read(reader);
    }
    fn address(&self) -> usize {
        self.0.address()
    }
    fn write(&self, writer: &mut dyn FnMut(&mut [u8])) {
        self.0.write(writer);
    }
    fn resize(&self, size: usize) -> Result<(), Code> {
        self.0.resize(size)
    }
    fn is_system(&self) -> bool {
        true
    }
}

/// The label of the k-th buffer.
type Label = fn(usize) -> i64;

/// A channel between two members.
#[derive(Clone, Copy, Debug)]
struct Case {
    policy: BufiterPolicy,
    buffers: usize,
    /// How many of them are ever inserted.
    used: usize,
    slack: u32,
    /// Whether the iterators say which buffers may be in them.
    is_allowed: bool,
    is_aliased: bool,
    label: Label,
    qos: Option<Qos>,
}

impl Case {
    fn new(base: Policy, form: Form, buffers: usize) -> Self {
        Self {
            policy: BufiterPolicy { base, form },
            buffers,
            used: buffers,
            slack: 4,
            is_allowed: true,
            is_aliased: false,
            label: |_| 7,
            qos: None,
        }
    }
}

struct Side {
    committed: Arc<Committed>,
    channel: Handle,
    input: Handle,
    output: Handle,
    buffers: Vec<Handle>,
}

/// Both ends, the buffers of the channel's ring, and what keeps them.
fn committed(case: &Case) -> ([Side; 2], u64, InProcessJob) {
    let names = ["a".to_owned(), "b".to_owned()];
    let (mut sides, mut bindings) = (Vec::new(), Vec::new());
    for rank in 0..2 {
        let mut world = World::new(MemberId(rank), &names).expect("a world");
        let buffers: Vec<Handle> = (0..case.buffers)
            .map(|number| {
                let own = OwnedStorage::new(SIZE);
                let storage: Arc<dyn Storage> =
                    if case.is_aliased { Arc::new(System(own)) } else { Arc::new(own) };
                let description = BufferDescription { size: SIZE, dataspec: Dataspec::Int64, storage };
                let buffer = world.buffer("b", description).expect("a buffer");
                world.set_label(buffer, (case.label)(number)).expect("not committed yet");
                buffer
            })
            .collect();
        let allowed =
            if case.is_allowed { world.cvector("v", &buffers).expect("a vector") } else { Handle::default() };
        let shape = (SIZE, Dataspec::Int64);
        let input = world.bufiter("i", case.policy, shape, allowed).expect("an iterator");
        let plain = BufiterPolicy { form: Form::Plain, ..case.policy };
        let output = world.bufiter("o", plain, shape, allowed).expect("an iterator");
        let qos = case.qos.map_or(Handle::BEST_EFFORT, |qos| world.qos("q", qos).expect("a QoS"));
        let group = Handle::GROUP_WORLD;
        let description = ChannelDescription { input, output, source: 0, target: 1, group, qos };
        let channel = world.ptchannel("c", description).expect("a channel");
        world.set_slack(channel, case.slack).expect("not committed yet");
        let binding = world
            .bind(&crate::objects::keep::Kept::default())
            .unwrap_or_else(|unfit| panic!("{:?} {}", unfit.code, unfit.detail));
        sides.push(Side { committed: binding.committed.clone(), channel, input, output, buffers });
        bindings.push(binding);
    }
    let mut job = job_in_tests(&mut bindings);
    let ring = job.sources.first().map_or(0, |(_, end)| end.buffers());
    for (rank, binding) in bindings.iter().enumerate() {
        let of_member = job.mapped.iter().filter(|(member, ..)| member.index() == rank);
        let mapped = of_member.map(|(.., mapped)| (0, mapped.clone()));
        binding.committed.settle(mapped).expect("they fit");
        binding.attach_timed(|end| job.shared_activation(MemberId(rank as u16), end.0));
        let channel = &binding.committed.channels[0];
        if case.qos.is_none() {
            channel.attach(match rank {
                0 => End::source(job.sources.pop().expect("a source").1),
                _ => End::target(job.targets.pop().expect("a target").1),
            });
        }
        let is_lent =
            matches!(channel.mapping.get(), Some(ChannelMapping::Lends(_) | ChannelMapping::Borrows(..)));
        assert_eq!(is_lent, case.is_aliased, "{case:?}");
    }
    (sides.try_into().unwrap_or_else(|_| panic!("two sides")), ring, job)
}

/// The most steps that each function took.
#[derive(Default)]
struct Most(BTreeMap<&'static str, u64>);

impl Most {
    fn of<T>(&mut self, function: &'static str, call: impl FnOnce() -> T) -> T {
        // A loop without an end ends here; the bounds are asserted at the end of all.
        let (answer, taken) = steps::of(10_000_000, call);
        let most = self.0.entry(function).or_default();
        *most = taken.max(*most);
        answer
    }
}

impl Side {
    /// What tells of the end without changing what is asked of it.
    fn look(&self, most: &mut Most) {
        let committed = &self.committed;
        let _ = most.of("test", || committed.test(self.channel));
        let _ = most.of("wait", || committed.wait(self.channel, Nanos::ZERO));
        most.of("status", || committed.status(self.channel)).expect("an end");
        most.of("metrics", || committed.metrics(self.channel)).expect("an end");
        for iterator in [self.input, self.output] {
            most.of("count", || committed.count(iterator)).expect("an iterator");
            most.of("due", || committed.due(iterator)).expect("an iterator");
        }
    }

    fn insert(&self, most: &mut Most, buffer: Handle) {
        most.of("set_length", || self.committed.set_length(buffer, SIZE)).expect("it is the program's");
        most.of("read", || self.committed.read(buffer, |_| {})).expect("it is the program's");
        most.of("insert", || self.committed.insert(self.input, buffer)).expect("it is allowed");
        let again = most.of("insert", || self.committed.insert(self.input, buffer));
        // An active end may have passed it on already, and then it is where it cannot be inserted from either.
        assert_eq!(again, Err(Code::BufferInUse));
    }

    /// Inserts as many as came out: the same, but where the iterator takes all in their order.
    fn insert_again(&self, most: &mut Most, case: &Case, inserted: &mut usize) {
        for drained in self.drain(most) {
            let is_ordered = case.policy.form == Form::Ordered;
            let next = if is_ordered { self.buffers[*inserted % case.buffers] } else { drained };
            self.insert(most, next);
            *inserted += 1;
        }
    }

    /// Takes everything out of the output, and says how much that was.
    fn drain(&self, most: &mut Most) -> Vec<Handle> {
        std::iter::from_fn(|| most.of("remove", || self.committed.remove(self.output)).ok()).collect()
    }

    fn completed(&self) -> u64 {
        self.committed.metrics(self.channel).expect("an end").completed
    }
}

/// Every function, in the states that ask most of it.
fn exercise(case: &Case) -> (Most, u64) {
    let (sides, ring, _job) = committed(case);
    let [from, to] = sides;
    let mut most = Most::default();
    // Empty, with as many transfers started as may be.
    for side in [&from, &to] {
        assert!(side.drain(&mut most).is_empty());
        side.look(&mut most);
        for _ in 0..case.slack {
            assert_eq!(most.of("start", || side.committed.start(side.channel)), Ok(()));
        }
        assert_eq!(most.of("start", || side.committed.start(side.channel)), Err(Code::Slack));
        assert_eq!(most.of("activate", || side.committed.activate(side.channel)), Err(Code::Slack));
        side.look(&mut most);
    }
    // Full, buffer by buffer; those that were waited for go at once.
    for side in [&from, &to] {
        side.buffers[..case.used].iter().for_each(|buffer| side.insert(&mut most, *buffer));
        side.look(&mut most);
    }
    for _ in 0..3 {
        for side in [&to, &from] {
            side.look(&mut most);
        }
    }
    assert_eq!(to.completed(), u64::from(case.slack).min(case.used as u64), "{case:?}");
    let mut inserted = [case.used; 2];
    for (side, inserted) in [&from, &to].into_iter().zip(&mut inserted) {
        side.insert_again(&mut most, case, inserted);
        if (case.slack as usize) < case.used {
            assert_eq!(most.of("activate", || side.committed.activate(side.channel)), Ok(()), "{case:?}");
        }
    }
    // What has piled up goes a ring at a time; what has come is put back, so that some of all are on the way.
    for round in 0..20 {
        for (side, inserted) in [&from, &to].into_iter().zip(&mut inserted).rev() {
            if round % 3 != 0 {
                side.look(&mut most);
            }
            side.insert_again(&mut most, case, inserted);
        }
    }
    for side in [&from, &to] {
        if most.of("deactivate", || side.committed.deactivate(side.channel)).is_ok() {
            let state = side.committed.status(side.channel).expect("an end").state;
            assert_ne!(state, EndState::Active);
        }
        side.drain(&mut most);
    }
    (most, ring)
}

/// How many buffers, and the labels that they have: all equal, rising, falling.
const SHAPES: [(usize, Label); 5] =
    [(1, |_| 7), (4, |_| 7), (64, |number| number as i64), (300, |_| 7), (300, |number| -(number as i64))];

const FORMS: [(Policy, Form); 12] = [
    (Policy::Fifo, Form::Plain),
    (Policy::Lifo, Form::Plain),
    (Policy::Sorted, Form::Plain),
    (Policy::Unordered, Form::Plain),
    (Policy::Fifo, Form::Mapped),
    (Policy::Lifo, Form::Mapped),
    (Policy::Sorted, Form::Mapped),
    (Policy::Unordered, Form::Mapped),
    (Policy::Fifo, Form::Ordered),
    (Policy::Lifo, Form::Ordered),
    (Policy::Sorted, Form::Ordered),
    (Policy::Unordered, Form::Ordered),
];

/// What a call of an end may take that moves what has become possible.
fn moving_most(case: &Case, ring: u64) -> u64 {
    let (n, slack) = (case.buffers as u64, u64::from(case.slack));
    // One word of UNORDERED is for 32 buffers, and each is looked at twice to find none; SORTED is walked.
    let walk = match case.policy.base {
        Policy::Sorted => 3 * n + 8,
        Policy::Unordered => 2 * n.div_ceil(32) + 4,
        _ => 0,
    };
    // Buffers that come back are looked for twice in a call.
    let loans = if case.is_aliased { 24 * n } else { 0 };
    // A message moved, with the taking and the putting of a buffer, and a delivery that is counted.
    32 + ring * (52 + 2 * walk) + (ring + slack) * 8 + walk + loans
}

/// Of those that move nothing.
fn still_most(case: &Case, function: &str) -> Option<u64> {
    let n = case.buffers as u64;
    match function {
        "read" | "due" => Some(1),
        "set_length" => Some(3),
        // The count itself, beside what a moving call takes.
        "count" => Some(match case.policy.base {
            Policy::Lifo | Policy::Sorted => n,
            _ => n.div_ceil(32) + 2,
        }),
        _ => None,
    }
}

// spec: LAW-STEPS-02
#[test]
fn every_function_of_a_best_effort_end_ends_within_its_bound() {
    for (policy, form) in FORMS {
        for is_aliased in [false, true] {
            if is_aliased && form == Form::Plain {
                continue;
            }
            for slack in [1, 4, 64] {
                for (buffers, label) in SHAPES {
                    let case = Case { slack, is_aliased, label, ..Case::new(policy, form, buffers) };
                    let (most, ring) = exercise(&case);
                    for (function, taken) in &most.0 {
                        let moving = moving_most(&case, ring);
                        let bound = match still_most(&case, function) {
                            Some(still) if *function == "count" => moving + still,
                            Some(still) => still,
                            None => moving,
                        };
                        assert!(*taken <= bound, "{function}: {taken} steps, {bound} allowed: {case:?}");
                    }
                }
            }
        }
    }
}

/// What a call moves is its steps, not how many buffers an iterator could hold: with few inserted, many cost no more than few.
// spec: LAW-STEPS-02
#[test]
fn how_many_buffers_there_are_matters_to_walks_alone() {
    let few_used = |case| Case { used: 4, slack: 2, ..case };
    let plain = |policy, form| move |buffers| few_used(Case::new(policy, form, buffers));
    let late =
        |buffers| few_used(Case { is_allowed: false, ..Case::new(Policy::Fifo, Form::Plain, buffers) });
    let cases: [&dyn Fn(usize) -> Case; 5] = [
        &plain(Policy::Fifo, Form::Plain),
        &plain(Policy::Lifo, Form::Plain),
        &plain(Policy::Fifo, Form::Ordered),
        &plain(Policy::Lifo, Form::Ordered),
        &late,
    ];
    for case in cases {
        let [(few, _), (many, _)] = [64, 600].map(|buffers| exercise(&case(buffers)));
        for (function, taken) in &many.0 {
            // LIFO counts one by one.
            if *function != "count" {
                assert!(*taken <= few.0[function], "{function} of {:?}", case(600));
            }
        }
        // And these take so little that nothing of it can be a walk.
        for function in ["insert", "start", "wait", "status", "metrics"] {
            assert!(many.0[function] <= 90, "{function}: {}", many.0[function]);
        }
    }
}

/// What an insertion into an iterator and a removal from it may take where no transfer waits, with so many buffers.
fn iterator_most(policy: BufiterPolicy, buffers: u64, is_aliased: bool) -> [u64; 2] {
    let store = match (policy.base, policy.form) {
        (Policy::Fifo | Policy::Unordered, Form::Ordered) | (Policy::Ordered, _) => [4, 4],
        (Policy::Fifo, _) => [5, 4],
        (Policy::Lifo, _) => [4, 4],
        (Policy::Sorted, _) => [6 + 3 * buffers, 7],
        (Policy::Unordered, _) => [4, 1 + 2 * buffers.div_ceil(32)],
    };
    // Whether it is the buffer's turn.
    let turn = u64::from(policy.form == Form::Ordered);
    // Whether the receiver has any of the aliased buffers.
    let loan = u64::from(is_aliased);
    [store[0] + turn + loan + INSERTED, store[1] + loan + REMOVED]
}

/// Beside those of the store: to claim or leave the buffer, with its length and label, and to see whether a transfer waits.
const INSERTED: u64 = 7;
const REMOVED: u64 = 3;

/// Each form costs what its base policy costs, ORDERED one step more to insert.
// spec: LAW-STEPS-02, BUFITER-ORDERED-04, BUFITER-MAPPED-06
#[test]
fn an_iterator_of_each_form_takes_as_many_steps_as_its_base_policy() {
    for (policy, form) in FORMS {
        for is_aliased in [false, true] {
            if is_aliased && form == Form::Plain {
                continue;
            }
            for (buffers, label) in SHAPES {
                let case = Case { is_aliased, label, ..Case::new(policy, form, buffers) };
                let (sides, ..) = committed(&case);
                let [Side { committed, input, buffers, .. }, _] = &sides;
                let mut most = Most::default();
                for _ in 0..2 {
                    for buffer in buffers {
                        most.of("insert", || committed.insert(*input, *buffer)).expect("it is its turn");
                    }
                    for _ in buffers {
                        most.of("remove", || committed.remove(*input)).expect("all are in");
                    }
                }
                let bounds = iterator_most(case.policy, buffers.len() as u64, is_aliased);
                for (function, bound) in ["insert", "remove"].into_iter().zip(bounds) {
                    let taken = most.0[function];
                    assert!(taken <= bound, "{function}: {taken} steps, {bound} allowed: {case:?}");
                }
            }
        }
    }
}

/// The other end is as quick as can be: between two steps of a call it does all that it can. The call ends all the same.
// spec: LAW-STEPS-02
#[test]
fn a_call_ends_however_quick_the_other_end_is() {
    for (policy, form) in FORMS {
        for is_aliased in [false, true] {
            if is_aliased && form == Form::Plain {
                continue;
            }
            for calls_source in [true, false] {
                let case = Case { is_aliased, slack: 1, ..Case::new(policy, form, 300) };
                let (sides, ring, _job) = committed(&case);
                let mut unused = Most::default();
                for side in &sides {
                    assert_eq!(side.committed.activate(side.channel), Ok(()));
                }
                // Everything is at the source, and at the target for what comes.
                let [from, to] = &sides;
                from.buffers
                    .iter()
                    .for_each(|buffer| from.committed.insert(from.input, *buffer).expect("it is its"));
                to.buffers
                    .iter()
                    .for_each(|buffer| to.committed.insert(to.input, *buffer).expect("it is its"));
                let (own, other) = if calls_source { (from, to) } else { (to, from) };
                let mut others = || {
                    let _ = other.committed.test(other.channel);
                    for buffer in other.drain(&mut Most::default()) {
                        let _ = other.committed.insert(other.input, buffer);
                    }
                };
                let before = own.completed();
                let most = moving_most(&case, ring);
                let _ = steps::beside(most, &mut others, || own.committed.test(own.channel));
                let _ = steps::beside(most, &mut others, || own.committed.wait(own.channel, Nanos::ZERO));
                let _ = steps::beside(most, &mut others, || own.committed.status(own.channel));
                let _ = steps::beside(most, &mut others, || own.committed.metrics(own.channel));
                // Where the ring is for all buffers, they have gone already.
                assert!(own.completed() > before || ring >= 300, "something went on: {case:?}");
                for _ in 0..10 {
                    let removed = steps::beside(most, &mut others, || own.committed.remove(own.output)).0;
                    let Ok(buffer) = removed else { continue };
                    let _ = steps::beside(most, &mut others, || own.committed.insert(own.input, buffer));
                }
                own.look(&mut unused);
            }
        }
    }
}

/// Another thread at an iterator: when it is asked, it removes a buffer and inserts its own.
struct Other {
    ask: mpsc::Sender<()>,
    answers: mpsc::Receiver<Answers>,
}

/// What its removal and its insertion gave.
type Answers = (Result<Handle, Code>, Result<(), Code>);

impl Other {
    fn new(committed: Arc<Committed>, input: Handle, own: Handle) -> Self {
        let ((ask, asked), (answer, answers)) = (mpsc::channel(), mpsc::channel());
        std::thread::spawn(move || {
            if asked.recv().is_ok() {
                let acted =
                    steps::of(STEPS_AT_MOST, || (committed.remove(input), committed.insert(input, own)));
                let _ = answer.send(acted.0);
            }
        });
        Self { ask, answers }
    }

    fn act(&self) -> Answers {
        self.ask.send(()).expect("it goes on");
        self.answers
            .recv_timeout(WATCHDOG)
            .expect("it waits for the thread that stands still inside the iterator")
    }
}

const STEPS_AT_MOST: u64 = 10_000;
/// Not a bound: what waits for a thread that stands still waits for ever.
const WATCHDOG: std::time::Duration = std::time::Duration::from_secs(60);

/// A thread inserts and removes, and stands still before one of its steps while another does the same. Says whether it had so many.
fn stands_still(side: &Side, case: &Case, stop_at: u64) -> bool {
    let Side { committed, input, buffers, .. } = side;
    let others = Other::new(committed.clone(), *input, buffers[4]);
    // In the order of the allowed set, which ORDERED asks for.
    buffers[..3].iter().for_each(|buffer| committed.insert(*input, *buffer).expect("it is the program's"));
    let (mut step, mut answers, has_inserted) = (0, None, Cell::new(false));
    let mut between = || {
        if step == stop_at {
            answers = Some((others.act(), has_inserted.get()));
        }
        step += 1;
    };
    let ((inserted, removed), _) = steps::beside(STEPS_AT_MOST, &mut between, || {
        let inserted = committed.insert(*input, buffers[3]);
        has_inserted.set(true);
        (inserted, committed.remove(*input))
    });
    assert_eq!(inserted, Ok(()), "{case:?} before step {stop_at}");
    let removed = removed.expect("there are more buffers than threads");
    let Some(((of_other, other_inserted), is_after)) = answers else { return false };
    let of_other = of_other.expect("there are more buffers than threads");
    // Before the buffer of the one that stands still is in, that of the other is not the next of the order.
    let may_be_refused = case.policy.form == Form::Ordered && !is_after;
    assert!(
        other_inserted == Ok(()) || may_be_refused && other_inserted == Err(Code::NotAllowed),
        "{other_inserted:?}: {case:?} before step {stop_at}"
    );
    let left = std::iter::from_fn(|| committed.remove(*input).ok());
    let mut found: Vec<Handle> = left.chain([removed, of_other]).collect();
    found.sort_unstable_by_key(|found| buffers.iter().position(|buffer| buffer == found));
    let expected = if other_inserted.is_ok() { 5 } else { 4 };
    assert_eq!(found, buffers[..expected], "{case:?} before step {stop_at}");
    true
}

/// A thread is stopped before each of its steps in turn, as the kernel may: others insert and remove all the same, and when it goes on it
/// ends too. No buffer is lost, and none is there twice.
// spec: BUFITER-LAW-01
#[test]
fn nobody_waits_for_a_thread_that_stands_still_inside_an_iterator() {
    for (base, form) in FORMS {
        for (is_aliased, rank) in [(false, 0), (false, 1), (true, 0), (true, 1)] {
            if is_aliased && form == Form::Plain {
                continue;
            }
            let case = Case { is_aliased, ..Case::new(base, form, 8) };
            let mut stop_at = 0;
            // Until it has been stopped before its last step.
            while stands_still(&committed(&case).0[rank], &case, stop_at) {
                stop_at += 1;
            }
            assert!(stop_at > 4, "{case:?}: an insertion and a removal have steps");
        }
    }
}
